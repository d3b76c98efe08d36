/* A kernel that launches kernels through the device runtime: they run when it has ended, in the order of asking, the
 * tail stream's last, with copies and fills in their places. */
#include <cuda.h>

#include <stdio.h>
#include <string.h>

#define CHECK(call)                                                    \
    do {                                                               \
        CUresult r_ = (call);                                          \
        if (r_ != CUDA_SUCCESS) {                                      \
            fprintf(stderr, "line %d: %s: %d\n", __LINE__, #call, r_); \
            return 1;                                                  \
        }                                                              \
    } while (0)

/* step: out[0] = out[0] * 10 + digit. parent: asks for step(1), a copy of out[0] to out[1], step(3) in the tail stream,
 * step(2), then a fill of out[2]; a buffer that is never launched. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param "
    ".align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(.param .b64 d, .param .b64 s, .param .b64 n, .param .b32 k, "
    ".param .b64 t);\n"
    ".extern .func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 d, .param .b32 v, .param .b64 n, .param .b64 t);\n"
    ".visible .entry step(.param .u64 out, .param .u32 digit)\n{\n"
    " .reg .u64 %d; .reg .u32 %r<3>;\n"
    " ld.param.u64 %d, [out]; ld.param.u32 %r0, [digit];\n"
    " ld.global.u32 %r1, [%d]; mad.lo.u32 %r2, %r1, 10, %r0; st.global.u32 [%d], %r2; ret;\n}\n"
    ".func (.param .b64 r) buffer(.param .b64 out, .param .b32 digit)\n{\n"
    " .reg .u64 %d<4>; .reg .u32 %r<2>;\n"
    " .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 p;\n"
    " mov.u64 %d0, step; st.param.b64 [f], %d0;\n"
    " st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [b], 1; st.param.b32 [b+4], 1; "
    "st.param.b32 [b+8], 1; st.param.b32 [s], 0;\n"
    " call (p), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\n"
    " ld.param.b64 %d1, [p]; ld.param.b64 %d2, [out]; ld.param.b32 %r0, [digit];\n"
    " st.u64 [%d1], %d2; st.u32 [%d1+8], %r0; st.param.b64 [r], %d1; ret;\n}\n"
    ".func start(.param .b64 out, .param .b32 digit, .param .b64 stream)\n{\n"
    " .reg .u64 %d<4>; .reg .u32 %r<2>;\n"
    " .param .b64 o; .param .b32 g; .param .b64 p; .param .b64 s; .param .b32 e; .param .b64 q;\n"
    " ld.param.b64 %d0, [out]; ld.param.b32 %r0, [digit]; ld.param.b64 %d1, [stream]; st.param.b64 [o], %d0; "
    "st.param.b32 [g], %r0;\n"
    " call (p), buffer, (o, g);\n"
    " ld.param.b64 %d2, [p]; st.param.b64 [q], %d2; st.param.b64 [s], %d1;\n"
    " call (e), __cudaCDP2LaunchDeviceV2, (q, s); ret;\n}\n"
    ".visible .entry parent(.param .u64 out)\n{\n"
    " .reg .u64 %d<4>;\n"
    " .param .b64 o; .param .b32 g; .param .b64 s; .param .b64 t; .param .b64 n; .param .b32 k; .param .b32 e; .param "
    ".b64 u; .param .b64 p;\n"
    " ld.param.u64 %d0, [out]; add.u64 %d1, %d0, 4; add.u64 %d2, %d0, 8;\n"
    " st.param.b64 [o], %d0; st.param.b32 [g], 1; st.param.b64 [s], 0; call start, (o, g, s);\n"
    " st.param.b64 [t], %d1; st.param.b64 [o], %d0; st.param.b64 [n], 4; st.param.b32 [k], 3; st.param.b64 [s], 0; "
    "call (e), __cudaCDP2MemcpyAsync, (t, o, n, k, s);\n"
    " st.param.b64 [o], %d0; st.param.b32 [g], 3; st.param.b64 [s], 3; call start, (o, g, s);\n"
    " st.param.b64 [o], %d0; st.param.b32 [g], 2; st.param.b64 [s], 0; call start, (o, g, s);\n"
    " st.param.b64 [t], %d2; st.param.b32 [k], 255; st.param.b64 [n], 2; st.param.b64 [s], 0; call (e), "
    "__cudaCDP2MemsetAsync, (t, k, n, s);\n"
    " st.param.b64 [o], %d0; st.param.b32 [g], 7; call (p), buffer, (o, g);\n"
    " ret;\n}\n"
    ".visible .entry endless(.param .u64 out)\n{\n" /* a kernel that launches itself, for ever */
    " .reg .u64 %d<4>;\n"
    " .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 p; .param .b64 "
    "q; .param .b64 t; .param .b32 e;\n"
    " ld.param.u64 %d0, [out]; mov.u64 %d1, endless; st.param.b64 [f], %d1;\n"
    " st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [b], 1; st.param.b32 [b+4], 1; "
    "st.param.b32 [b+8], 1; st.param.b32 [s], 0;\n"
    " call (p), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\n"
    " ld.param.b64 %d2, [p]; st.u64 [%d2], %d0; st.param.b64 [q], %d2; st.param.b64 [t], 0; call (e), "
    "__cudaCDP2LaunchDeviceV2, (q, t); ret;\n}\n";

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction parent, endless;
    CUdeviceptr out;
    unsigned host[3] = {0, 0, 0};
    size_t before = 0, after = 0, total;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&parent, module, "parent"));
    CHECK(cuModuleGetFunction(&endless, module, "endless"));
    CHECK(cuMemAlloc(&out, sizeof host));
    CHECK(cuMemcpyHtoD(out, host, sizeof host));
    void *params[] = {&out};
    CHECK(cuMemGetInfo(&before, &total));
    CHECK(cuLaunchKernel(parent, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemGetInfo(&after, &total));
    CHECK(cuMemcpyDtoH(host, out, sizeof host));
    if (host[0] != 123 || host[1] != 1 || host[2] != 0xffff || before != after) {
        fprintf(stderr, "%u %u 0x%x, expected 123 1 0xffff; memory %zu, then %zu\n", host[0], host[1], host[2], before,
                after);
        return 1;
    }
    if (cuLaunchKernel(endless, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) == CUDA_SUCCESS) {
        fprintf(stderr, "a kernel that launches itself without end was not stopped\n");
        return 1;
    }
    return 0;
}
