/* Does a kernel that does something illegal end with the error a GPU gives, which stays with the context? Each in a
 * process of its own. */
#include "check.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static CUresult run(const char *body, CUcontext *ctx)
{
    char text[2000];
    CUmodule m;
    CUfunction f;
    CUdeviceptr p = 0;
    void *params[] = {&p};
    *ctx = new_context();
    snprintf(
        text, sizeof text,
        PTX_HEAD
        ".visible .entry k(.param .u64 p)\n{ .reg .u64 %%d<4>; .reg .u32 %%r<4>; ld.param.u64 %%d0, [p];\n%s\nret; }\n",
        body);
    MUST(cuModuleLoadData(&m, text));
    MUST(cuModuleGetFunction(&f, m, "k"));
    MUST(cuMemAlloc(&p, 64));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL)); /* the launch itself is in order */
    return cuCtxSynchronize();
}

static void expect_fault(const char *body, CUresult wanted)
{
    CUcontext ctx;
    CUdeviceptr p;
    int word;
    EXPECT(wanted, run(body, &ctx));
    EXPECT(wanted, cuMemAlloc(&p, 4)); /* and stays */
    EXPECT(wanted, cuMemcpyDtoH(&word, 1 << 20, 4));
    EXPECT(wanted, cuCtxSynchronize());
}

static void null_pointer(void) { expect_fault("mov.u64 %d1, 0; st.global.u32 [%d1], 1;", CUDA_ERROR_ILLEGAL_ADDRESS); }
static void wild_pointer(void)
{
    expect_fault("mov.u64 %d1, 0x123456789000; ld.global.u32 %r1, [%d1]; st.global.u32 [%d0], %r1;",
                 CUDA_ERROR_ILLEGAL_ADDRESS);
}
static void misaligned(void) { expect_fault("st.global.u32 [%d0+2], 1;", CUDA_ERROR_MISALIGNED_ADDRESS); }
static void trap(void) { expect_fault("trap;", CUDA_ERROR_LAUNCH_FAILED); }
static void works(void)
{
    CUcontext ctx;
    EXPECT(CUDA_SUCCESS, run("st.global.u32 [%d0+60], 1;", &ctx));
    OK(cuCtxDestroy(ctx));
}

/* What a real GPU need not notice, or need not survive. */
static void past_the_end(void)
{
    if (on_heddle())
        expect_fault("st.global.u32 [%d0+1048576], 1;", CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void bad_function_pointer(void)
{
    if (on_heddle()) /* a GPU runs whatever stands there */
        expect_fault("mov.u64 %d1, 64; P: .callprototype _ (); call %d1, (), P;", CUDA_ERROR_INVALID_PC);
}

/* Memory of a pool on the host is the device's only when it has been given access. */
static CUresult store_in_host_pool(bool granted)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_HOST}};
    CUmemAccessDesc access = {{.type = CU_MEM_LOCATION_TYPE_DEVICE}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    CUmemoryPool pool;
    CUmodule m;
    CUfunction f;
    CUdeviceptr p = 0;
    new_context();
    MUST(cuModuleLoadData(
        &m, PTX_HEAD
        ".visible .entry k(.param .u64 p) { .reg .u64 %d0; ld.param.u64 %d0, [p]; st.global.u32 [%d0], 7; ret; }\n"));
    MUST(cuModuleGetFunction(&f, m, "k"));
    MUST(cuMemPoolCreate(&pool, &props));
    MUST(cuMemAllocFromPoolAsync(&p, 64, pool, NULL));
    MUST(cuStreamSynchronize(NULL));
    *(volatile unsigned int *)(uintptr_t)p = 3;
    if (granted)
        OK(cuMemPoolSetAccess(pool, &access, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &access.location));
    TRUE(flags == (granted ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    CUresult r = cuCtxSynchronize();
    TRUE(!granted || *(volatile unsigned int *)(uintptr_t)p == 7);
    return r;
}
static void host_pool(void) { EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, store_in_host_pool(false)); }
static void host_pool_granted(void) { OK(store_in_host_pool(true)); }

static void CUDA_CB note_status(CUstream s, CUresult status, void *user)
{
    (void)s;
    *(CUresult *)user = status;
}

static void callback_is_told(void)
{
    CUcontext ctx;
    CUresult told = CUDA_SUCCESS;
    if (!on_heddle()) /* a GPU may refuse the call */
        return;
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, run("mov.u64 %d1, 0; st.global.u32 [%d1], 1;", &ctx));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamAddCallback(NULL, note_status, &told, 0));
    TRUE(told == CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* Another context is not touched by it. */
static void other_context(void)
{
    if (!on_heddle())
        return;
    CUcontext good = new_context(), bad;
    CUdeviceptr p;
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, run("mov.u64 %d1, 0; st.global.u32 [%d1], 1;", &bad));
    OK(cuCtxSetCurrent(good));
    OK(cuMemAlloc(&p, 4));
    OK(cuCtxDestroy(bad));
    OK(cuMemFree(p));
    OK(cuCtxDestroy(good));
}

static void primary_reset(void)
{
    if (!on_heddle())
        return;
    CUcontext ctx, again;
    CUdeviceptr p;
    CUmodule m;
    CUfunction f;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&ctx, 0));
    MUST(cuCtxSetCurrent(ctx));
    MUST(cuModuleLoadData(&m, PTX_HEAD ".visible .entry k() { trap; ret; }\n"));
    MUST(cuModuleGetFunction(&f, m, "k"));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    TRUE(again == ctx);
    OK(cuMemAlloc(&p, 4));
    OK(cuMemFree(p));
}

static void in_child(void (*test)(void), const char *name)
{
    int status = 0;
    fflush(stderr);
    pid_t pid = fork();
    if (pid == 0) {
        test();
        exit(failures != 0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
        fprintf(stderr, "%s failed (status 0x%x)\n", name, status);
        failures++;
    }
}

int main(void)
{
#define RUN(test) in_child(test, #test)
    RUN(works);
    RUN(null_pointer);
    RUN(wild_pointer);
    RUN(misaligned);
    RUN(trap);
    RUN(host_pool);
    RUN(host_pool_granted);
    RUN(bad_function_pointer);
    RUN(past_the_end);
    RUN(callback_is_told);
    RUN(other_context);
    RUN(primary_reset);
    return done();
}
