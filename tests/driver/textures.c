/* Arrays, and kernels that read and write them through texture objects, surface objects and texture references. */
#include "check.h"

static const char kernels[] = PTX_HEAD
    ".global .texref ref;\n"
    /* out[y * 4 + x] = texel (x, y), at the middle of the texel */
    ".visible .entry by_object(.param .u64 t, .param .u64 out)\n"
    "{ .reg .u64 %d<5>; .reg .u32 %r<5>; .reg .f32 %f<8>;\n"
    " ld.param.u64 %d0, [t]; ld.param.u64 %d1, [out];\n"
    " mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y;\n"
    " cvt.rn.f32.u32 %f0, %r0; cvt.rn.f32.u32 %f1, %r1; add.f32 %f0, %f0, 0.5; add.f32 %f1, %f1, 0.5;\n"
    " tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d0, {%f0, %f1}];\n"
    " mad.lo.u32 %r2, %r1, 4, %r0; mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d1, %d2; st.global.f32 [%d3], %f4; ret; }\n"
    ".visible .entry by_reference(.param .u64 out)\n"
    "{ .reg .u64 %d<5>; .reg .u32 %r<5>; .reg .f32 %f<8>;\n"
    " ld.param.u64 %d1, [out];\n"
    " mov.u32 %r0, %tid.x;\n"
    " tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [ref, {%r0}];\n"
    " mul.wide.u32 %d2, %r0, 4; add.u64 %d3, %d1, %d2; st.global.f32 [%d3], %f4; ret; }\n"
    ".visible .entry write_surface(.param .u64 s)\n"
    "{ .reg .u64 %d<5>; .reg .u32 %r<5>;\n"
    " ld.param.u64 %d0, [s]; mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mad.lo.u32 %r2, %r1, 10, %r0; shl.b32 %r3, %r0, "
    "2;\n"
    " sust.b.2d.b32.trap [%d0, {%r3, %r1}], {%r2}; ret; }\n";

static CUmodule module;

static void array_copies(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 4,
                                 .Height = 3,
                                 .Depth = 2,
                                 .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                 .NumChannels = 4},
                            got_d = {0};
    CUarray a;
    unsigned int in[2][3][4], out[2][3][4] = {{{0}}};
    for (int i = 0; i < 24; i++)
        ((unsigned int *)in)[i] = 0x01010101u * (unsigned int)i;
    MUST(cuArray3DCreate(&a, &d));
    OK(cuArray3DGetDescriptor(&got_d, a));
    TRUE(got_d.Width == 4 && got_d.Height == 3 && got_d.Depth == 2 && got_d.NumChannels == 4 &&
         got_d.Format == CU_AD_FORMAT_UNSIGNED_INT8);
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = in,
                       .srcPitch = 16,
                       .srcHeight = 3,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a,
                       .WidthInBytes = 16,
                       .Height = 3,
                       .Depth = 2};
    OK(cuMemcpy3D(&c));
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = a,
                          .srcXInBytes = 4,
                          .srcY = 1,
                          .srcZ = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = 16,
                          .dstHeight = 3,
                          .WidthInBytes = 8,
                          .Height = 2,
                          .Depth = 1};
    OK(cuMemcpy3D(&back));
    TRUE(out[0][0][0] == in[1][1][1] && out[0][1][1] == in[1][2][2] && out[0][0][2] == 0);
    back.srcZ = 2;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&back));
    OK(cuArrayDestroy(a));
    d.NumChannels = 3;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&a, &d));
}

static void mipmaps(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1}, level = {0};
    CUmipmappedArray m;
    CUarray a;
    MUST(cuMipmappedArrayCreate(&m, &d, 3));
    OK(cuMipmappedArrayGetLevel(&a, m, 2));
    OK(cuArray3DGetDescriptor(&level, a));
    TRUE(level.Width == 4 && level.Height == 2);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&a, m, 3));
    OK(cuMipmappedArrayDestroy(m));
}

static void texture_object(void)
{
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 4, .Height = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray a;
    CUtexObject t = 0;
    CUdeviceptr out;
    CUfunction f;
    float in[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, got[2][4];
    MUST(cuArrayCreate(&a, &d));
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = in,
                       .srcPitch = 16,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a,
                       .WidthInBytes = 16,
                       .Height = 2};
    OK(cuMemcpy2D(&c));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY}, got_resource;
    CUDA_TEXTURE_DESC sampling = {.filterMode = CU_TR_FILTER_MODE_POINT};
    resource.res.array.hArray = a;
    MUST(cuTexObjectCreate(&t, &resource, &sampling, NULL));
    OK(cuTexObjectGetResourceDesc(&got_resource, t));
    TRUE(got_resource.res.array.hArray == a);
    OK(cuMemAlloc(&out, sizeof got));
    OK(cuModuleGetFunction(&f, module, "by_object"));
    void *params[] = {&t, &out};
    OK(cuLaunchKernel(f, 1, 1, 1, 4, 2, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(got, out, sizeof got));
    TRUE(!memcmp(got, in, sizeof in));
    OK(cuTexObjectDestroy(t));
    /* The same bits, seen as integers. */
    CUDA_RESOURCE_VIEW_DESC view = {.format = CU_RES_VIEW_FORMAT_UINT_1X16, .width = 4, .height = 2};
    sampling.flags = CU_TRSF_READ_AS_INTEGER;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&t, &resource, &sampling, &view));
    view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
    view.width = 3;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&t, &resource, &sampling, &view));
    view.width = 4;
    MUST(cuTexObjectCreate(&t, &resource, &sampling, &view));
    OK(cuLaunchKernel(f, 1, 1, 1, 4, 2, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(got, out, sizeof got));
    TRUE(!memcmp(got, in, sizeof in));
    OK(cuTexObjectDestroy(t));
    OK(cuArrayDestroy(a));
    OK(cuMemFree(out));
}

static void surface_object(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 4,
                                 .Height = 2,
                                 .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                 .NumChannels = 1,
                                 .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    CUarray a;
    CUsurfObject s = 0;
    CUfunction f;
    unsigned int got[2][4];
    MUST(cuArray3DCreate(&a, &d));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    resource.res.array.hArray = a;
    MUST(cuSurfObjectCreate(&s, &resource));
    OK(cuModuleGetFunction(&f, module, "write_surface"));
    void *params[] = {&s};
    OK(cuLaunchKernel(f, 1, 1, 1, 4, 2, 1, 0, NULL, params, NULL));
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = a,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = got,
                       .dstPitch = 16,
                       .WidthInBytes = 16,
                       .Height = 2};
    OK(cuMemcpy2D(&c));
    TRUE(got[0][3] == 3 && got[1][0] == 10 && got[1][3] == 13);
    OK(cuSurfObjectDestroy(s));
    OK(cuArrayDestroy(a));
}

static void texture_reference(void)
{
    CUtexref ref;
    CUdeviceptr in, out;
    CUfunction f;
    size_t offset = 1;
    float values[4] = {10, 20, 30, 40}, got[4] = {0};
    OK(cuModuleGetTexRef(&ref, module, "ref"));
    EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&ref, module, "none"));
    OK(cuMemAlloc(&in, sizeof values));
    OK(cuMemAlloc(&out, sizeof got));
    OK(cuMemcpyHtoD(in, values, sizeof values));
    OK(cuTexRefSetFormat(ref, CU_AD_FORMAT_FLOAT, 1));
    OK(cuTexRefSetAddress(&offset, ref, in, sizeof values));
    TRUE(offset == 0);
    OK(cuModuleGetFunction(&f, module, "by_reference"));
    void *params[] = {&out};
    OK(cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(got, out, sizeof got));
    TRUE(!memcmp(got, values, sizeof got));
    OK(cuMemFree(in));
    OK(cuMemFree(out));
}

int main(void)
{
    CUcontext ctx = new_context();
    array_copies();
    mipmaps();
    MUST(cuModuleLoadData(&module, kernels));
    texture_object();
    surface_object();
    texture_reference();
    OK(cuModuleUnload(module));
    OK(cuCtxDestroy(ctx));
    return done();
}
