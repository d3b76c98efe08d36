/* gpu.c: see gpu.h. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "workload.h"

extern const char workload_ptx[]; /* embed.S */

void gpu_check(CUresult result, const char *call, const char *file, int line)
{
    const char *name = NULL;
    const char *text = NULL;

    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &text);
    fprintf(stderr, "%s:%d: %s: %s (%d): %s\n", file, line, call, name ? name : "unknown error", (int)result,
            text ? text : "no description");
    exit(EXIT_FAILED);
}

void gpu_open_device(struct gpu *gpu)
{
    CUcontext context;

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&gpu->device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, gpu->device));
    CHECK(cuCtxSetCurrent(context));
}

void gpu_load_module(struct gpu *gpu) { CHECK(cuModuleLoadData(&gpu->module, workload_ptx)); }

void gpu_open(struct gpu *gpu)
{
    gpu_open_device(gpu);
    gpu_load_module(gpu);
}

void gpu_close(struct gpu *gpu)
{
    CHECK(cuModuleUnload(gpu->module));
    CHECK(cuDevicePrimaryCtxRelease(gpu->device));
}

CUfunction gpu_kernel(const struct gpu *gpu, const char *name)
{
    CUfunction kernel;

    CHECK(cuModuleGetFunction(&kernel, gpu->module, name));
    return kernel;
}

CUdeviceptr gpu_alloc_zeroed(size_t bytes)
{
    CUdeviceptr memory;

    CHECK(cuMemAlloc(&memory, bytes));
    CHECK(cuMemsetD8(memory, 0, bytes));
    return memory;
}

CUdeviceptr gpu_upload(const void *data, size_t bytes)
{
    CUdeviceptr memory;

    CHECK(cuMemAlloc(&memory, bytes));
    CHECK(cuMemcpyHtoD(memory, data, bytes));
    return memory;
}

void gpu_download(void *data, CUdeviceptr from, size_t bytes) { CHECK(cuMemcpyDtoH(data, from, bytes)); }

void gpu_free(CUdeviceptr memory) { CHECK(cuMemFree(memory)); }

void gpu_fill_constant(const struct gpu *gpu, const char *name, const void *data, size_t bytes)
{
    CUdeviceptr memory;
    size_t size;

    CHECK(cuModuleGetGlobal(&memory, &size, gpu->module, name));
    if (size != bytes) {
        fprintf(stderr, "%s has %zu bytes in the module, %zu in the program\n", name, size, bytes);
        exit(EXIT_FAILED);
    }
    CHECK(cuMemcpyHtoD(memory, data, bytes));
}

CUtexObject gpu_texture_f32(CUdeviceptr memory, size_t count)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUDA_TEXTURE_DESC texture = {.filterMode = CU_TR_FILTER_MODE_POINT};
    CUtexObject object;

    resource.res.linear.devPtr = memory;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = count * sizeof(float);
    CHECK(cuTexObjectCreate(&object, &resource, &texture, NULL));
    return object;
}

CUarray gpu_upload_array_u8(const void *data, size_t width, size_t height)
{
    CUDA_ARRAY_DESCRIPTOR layout = {width, height, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .dstMemoryType = CU_MEMORYTYPE_ARRAY};
    CUarray array;

    CHECK(cuArrayCreate(&array, &layout));
    copy.srcHost = data;
    copy.srcPitch = width;
    copy.dstArray = array;
    copy.WidthInBytes = width;
    copy.Height = height;
    CHECK(cuMemcpy2D(&copy));
    return array;
}

CUtexObject gpu_texture_u8(CUarray array)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC texture = {
        .addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP},
        .filterMode = CU_TR_FILTER_MODE_POINT,
        .flags = CU_TRSF_READ_AS_INTEGER,
    };
    CUtexObject object;

    resource.res.array.hArray = array;
    CHECK(cuTexObjectCreate(&object, &resource, &texture, NULL));
    return object;
}

void gpu_free_array(CUarray array) { CHECK(cuArrayDestroy(array)); }

void gpu_texture_2d_open(struct gpu_texture_2d *texture, const void *texels, size_t columns, size_t rows,
                         unsigned channels, unsigned channel_bytes)
{
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = columns, .Height = rows, .NumChannels = channels};
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .dstMemoryType = CU_MEMORYTYPE_ARRAY};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC sampling = {.filterMode = CU_TR_FILTER_MODE_POINT, .flags = CU_TRSF_READ_AS_INTEGER};

    shape.Format = channel_bytes == 1 ? CU_AD_FORMAT_UNSIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT32;
    CHECK(cuArrayCreate(&texture->array, &shape));
    copy.srcHost = texels;
    copy.dstArray = texture->array;
    copy.srcPitch = copy.WidthInBytes = columns * channels * channel_bytes;
    copy.Height = rows;
    CHECK(cuMemcpy2D(&copy));
    resource.res.array.hArray = texture->array;
    for (int i = 0; i < 3; i++)
        sampling.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    CHECK(cuTexObjectCreate(&texture->object, &resource, &sampling, NULL));
}

void gpu_texture_2d_close(struct gpu_texture_2d *texture)
{
    CHECK(cuTexObjectDestroy(texture->object));
    CHECK(cuArrayDestroy(texture->array));
}

void gpu_launch(CUfunction kernel, struct shape grid, struct shape block, void **arguments)
{
    CHECK(cuLaunchKernel(kernel, grid.x, grid.y, 1, block.x, block.y, 1, 0, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
}

void gpu_launch_named(const struct gpu *gpu, const char *kernel, unsigned blocks, unsigned threads, void **arguments)
{
    gpu_launch(gpu_kernel(gpu, kernel), (struct shape){blocks, 1}, (struct shape){threads, 1}, arguments);
}

unsigned gpu_blocks(size_t threads, unsigned block) { return (threads + block - 1) / block; }
