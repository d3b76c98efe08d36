/* Modules, functions, the linker, libraries and launches: are names found, parameters passed in every way, and bad ones
 * refused? */
#include "check.h"

enum { N = 100 };
static CUdeviceptr out;
static unsigned int got[N];

static int is_ramp(unsigned int value)
{
    OK(cuMemcpyDtoH(got, out, sizeof got));
    for (unsigned int i = 0; i < N; i++)
        if (got[i] != value + i)
            return 0;
    return 1;
}

static void launches(CUfunction f)
{
    unsigned int value = 5, n = N;
    void *params[] = {&out, &value, &n};
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    TRUE(is_ramp(5));
    struct {
        CUdeviceptr p;
        unsigned int value, n;
    } packed = {out, 6, N};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, CU_STREAM_LEGACY, NULL, extra));
    TRUE(is_ramp(6));
    CUlaunchConfig c = {.gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
    value = 7;
    OK(cuLaunchKernelEx(&c, f, params, NULL));
    TRUE(is_ramp(7));
    value = 8;
    OK(cuLaunchCooperativeKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, params));
    TRUE(is_ramp(8));
    EXPECT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
           cuLaunchCooperativeKernel(f, 1 << 20, 1, 1, 32, 1, 1, 0, NULL, params));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 65, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 70000, 1, 1, 1, 1, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 100 << 10, NULL, params, NULL)); /* without opting in */
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    TRUE(is_ramp(8)); /* nothing of that has run */
}

static void functions(CUmodule m, CUfunction f)
{
    int value = 0, grid = 0, block = 0, blocks = 0;
    size_t offset = 9, size = 9;
    const char *name = NULL;
    CUmodule of = NULL;
    unsigned int count = 0;
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    TRUE(value == 1024);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    TRUE(value > 0 && value < 64);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
    TRUE(value == 60);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    TRUE(value == 64 << 10);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 28));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 3));
    OK(cuFuncSetCacheConfig(f, CU_FUNC_CACHE_PREFER_SHARED));
    OK(cuFuncGetModule(&of, f));
    TRUE(of == m);
    OK(cuFuncGetName(&name, f));
    TRUE(name && !strcmp(name, "ramp"));
    OK(cuFuncGetParamInfo(f, 1, &offset, &size));
    TRUE(offset == 8 && size == 4);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(f, 3, &offset, &size));
    OK(cuModuleGetFunctionCount(&count, m));
    TRUE(count == 1);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 128, 0));
    TRUE(blocks >= 1);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
    TRUE(grid >= 1 && block >= 32 && block <= 1024);
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&size, f, 1, 128));
    TRUE(size >= 40 << 10);
}

static void globals(void)
{
    CUmodule m;
    CUdeviceptr p = 0;
    size_t size = 0;
    unsigned int words[4] = {0};
    MUST(cuModuleLoadData(
        &m, PTX_HEAD ".visible .global .align 4 .u32 table[4] = {1, 2, 3};\n.visible .const .align 4 .u32 one = 9;\n"));
    OK(cuModuleGetGlobal(&p, &size, m, "table"));
    TRUE(size == 16);
    OK(cuMemcpyDtoH(words, p, 16));
    TRUE(words[0] == 1 && words[2] == 3 && words[3] == 0);
    OK(cuModuleGetGlobal(&p, NULL, m, "one"));
    OK(cuMemcpyDtoH(words, p, 4));
    TRUE(words[0] == 9);
    OK(cuModuleGetGlobal(NULL, &size, m, "one"));
    TRUE(size == 4);
    EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&p, &size, m, "two"));
    OK(cuModuleUnload(m));
}

static void errors_are_logged(void)
{
    char error_log[1000] = "", info_log[100] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error_log, (void *)sizeof error_log, info_log, (void *)sizeof info_log};
    CUmodule m;
    EXPECT(CUDA_ERROR_INVALID_PTX,
           cuModuleLoadDataEx(&m, PTX_HEAD ".visible .entry k() { bogus.u32 %r1, %r2; ret; }\n", 4, options, values));
    TRUE(strlen(error_log) > 10);
    TRUE((size_t)values[1] > 10 && (size_t)values[1] <= sizeof error_log);
    EXPECT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
           cuModuleLoadData(&m, ".version 99.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"));
    EXPECT(CUDA_ERROR_INVALID_PTX,
           cuModuleLoadData(&m, PTX_HEAD ".visible .entry k() { .reg .u32 %r<2>; add.u32 %r1, %r1, %r9; ret; }\n"));
}

static const char caller[] = PTX_HEAD
    ".extern .func (.param .b32 r) twice (.param .b32 x);\n"
    ".extern .global .align 4 .u32 added;\n"
    ".visible .entry linked(.param .u64 out)\n"
    "{ .reg .u32 %r<4>; .reg .u64 %d<2>;\n"
    " ld.param.u64 %d0, [out];\n"
    " { .param .b32 a; .param .b32 b; st.param.b32 [a], 21; call.uni (b), twice, (a); ld.param.b32 %r0, [b]; }\n"
    " ld.global.u32 %r1, [added]; add.u32 %r2, %r0, %r1; st.global.u32 [%d0], %r2; ret; }\n";
static const char callee[] =
    PTX_HEAD ".visible .global .align 4 .u32 added = 100;\n"
             ".visible .func (.param .b32 r) twice (.param .b32 x)\n"
             "{ .reg .u32 %r<2>; ld.param.b32 %r0, [x]; add.u32 %r1, %r0, %r0; st.param.b32 [r], %r1; ret; }\n";

static void linking(void)
{
    CUlinkState s;
    CUmodule m;
    CUfunction f;
    void *cubin = NULL, *params[] = {&out};
    size_t size = 0;
    unsigned int word = 0;
    MUST(cuLinkCreate(0, NULL, NULL, &s));
    OK(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL, NULL));
    OK(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, NULL, NULL));
    MUST(cuLinkComplete(s, &cubin, &size));
    TRUE(cubin && size);
    MUST(cuModuleLoadData(&m, cubin));
    OK(cuLinkDestroy(s));
    OK(cuModuleGetFunction(&f, m, "linked"));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(&word, out, 4));
    TRUE(word == 142);
    OK(cuModuleUnload(m));
    MUST(cuLinkCreate(0, NULL, NULL, &s));
    EXPECT(CUDA_ERROR_INVALID_IMAGE,
           cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)"nonsense", 9, "nonsense", 0, NULL, NULL));
    OK(cuLinkDestroy(s));
}

static void libraries(void)
{
    CUlibrary lib;
    CUkernel k;
    CUfunction f;
    CUdeviceptr p;
    CUmodule m;
    unsigned int value = 11, n = N, count = 0;
    void *params[] = {&out, &value, &n};
    const char *name = NULL;
    size_t size = 0;
    int regs = 0;
    MUST(cuLibraryLoadData(&lib, PTX_HEAD ".visible .global .u32 g;\n" PTX_RAMP, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernelCount(&count, lib));
    TRUE(count == 1);
    OK(cuLibraryGetKernel(&k, lib, "ramp"));
    EXPECT(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&k, lib, "other"));
    OK(cuKernelGetName(&name, k));
    TRUE(name && !strcmp(name, "ramp"));
    OK(cuKernelGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, k, 0));
    TRUE(regs > 0);
    OK(cuLaunchKernel((CUfunction)k, 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL)); /* a kernel stands for its function */
    TRUE(is_ramp(11));
    OK(cuKernelGetFunction(&f, k));
    value = 12;
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    TRUE(is_ramp(12));
    OK(cuLibraryGetGlobal(&p, &size, lib, "g"));
    TRUE(size == 4);
    OK(cuLibraryGetModule(&m, lib));
    OK(cuModuleGetFunction(&f, m, "ramp"));
    OK(cuLibraryUnload(lib));
}

static void from_file(void)
{
    char path[] = "/tmp/driver-test-XXXXXX";
    CUmodule m;
    CUfunction f;
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    TRUE(file != NULL);
    if (!file)
        return;
    fputs(PTX_HEAD PTX_RAMP, file);
    fclose(file);
    OK(cuModuleLoad(&m, path));
    OK(cuModuleGetFunction(&f, m, "ramp"));
    OK(cuModuleUnload(m));
    remove(path);
}

int main(void)
{
    CUmodule m;
    CUfunction f;
    CUcontext ctx = new_context();
    MUST(cuMemAlloc(&out, sizeof got));
    MUST(cuModuleLoadData(&m, PTX_HEAD PTX_RAMP));
    MUST(cuModuleGetFunction(&f, m, "ramp"));
    launches(f);
    functions(m, f);
    globals();
    errors_are_logged();
    linking();
    libraries();
    from_file();
    OK(cuModuleUnload(m));
    OK(cuCtxDestroy(ctx));
    return done();
}
