/* Do contexts nest, end and keep apart as they should, in one thread and in several? */
#include "check.h"

#include <pthread.h>

static CUcontext shared_context;

static void stack(void)
{
    CUcontext a = new_context(), b = new_context(), got = NULL;
    CUdevice dev = -1;
    unsigned int version = 0, flags = 1;
    OK(cuCtxGetCurrent(&got));
    TRUE(got == b);
    OK(cuCtxPopCurrent(&got));
    TRUE(got == b);
    OK(cuCtxGetCurrent(&got));
    TRUE(got == a);
    OK(cuCtxPushCurrent(b));
    OK(cuCtxGetDevice(&dev));
    TRUE(dev == 0);
    OK(cuCtxGetApiVersion(b, &version));
    TRUE(version >= 3010);
    OK(cuCtxGetFlags(&flags));
    OK(cuCtxDestroy(b));
    OK(cuCtxGetCurrent(&got));
    TRUE(got == a); /* destroying the current one pops it */
    OK(cuCtxSetCurrent(NULL));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    OK(cuCtxSetCurrent(a));
    OK(cuCtxDestroy(a));
}

static void limits(void)
{
    CUcontext ctx = new_context();
    size_t value = 0;
    CUfunc_cache cache;
    int least, greatest;
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    TRUE(value >= 4096);
    OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    TRUE(value >= 1 << 20);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    EXPECT(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2));
    EXPECT(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
    OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    OK(cuCtxGetCacheConfig(&cache));
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    TRUE(least >= greatest);
    OK(cuCtxDestroy(ctx));
}

static void primary(void)
{
    CUcontext first = NULL, second = NULL;
    CUdeviceptr p;
    unsigned int flags;
    int active = -1;
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    TRUE(active == 0);
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 0));
    TRUE(first == second);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    TRUE(active == 1);
    OK(cuCtxSetCurrent(first));
    OK(cuMemAlloc(&p, 64));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuMemcpyHtoD(p, "abc", 4)); /* one holder is left */
    OK(cuDevicePrimaryCtxRelease(0));
    EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&p, 64));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
    OK(cuCtxSetCurrent(NULL));
}

static void *other_thread(void *unused)
{
    CUcontext got = (CUcontext)1;
    CUdeviceptr p = 0;
    (void)unused;
    OK(cuCtxGetCurrent(&got));
    TRUE(got == NULL); /* each thread has its own */
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    OK(cuCtxSetCurrent(shared_context));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemFree(p));
    return NULL;
}

enum { THREADS = 4, ROUNDS = 20, COUNT = 1000 };

static void *worker(void *number)
{
    CUmodule m = NULL;
    CUfunction f = NULL;
    CUdeviceptr p = 0;
    static const unsigned int n = COUNT;
    unsigned int got[COUNT], value = 1000 * (unsigned int)(uintptr_t)number;
    void *params[] = {&p, &value, (void *)&n};
    CUcontext ctx = new_context();
    OK(cuModuleLoadData(&m, PTX_HEAD PTX_RAMP));
    OK(cuModuleGetFunction(&f, m, "ramp"));
    OK(cuMemAlloc(&p, sizeof got));
    for (int round = 0; round < ROUNDS && !failures; round++, value++) {
        OK(cuLaunchKernel(f, (COUNT + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
        OK(cuMemcpyDtoH(got, p, sizeof got));
        int right = 1;
        for (unsigned int i = 0; i < COUNT; i++)
            right &= got[i] == value + i;
        TRUE(right);
    }
    OK(cuCtxDestroy(ctx)); /* and all that is in it */
    return NULL;
}

static void threads(void)
{
    pthread_t one, many[THREADS];
    shared_context = new_context();
    TRUE(pthread_create(&one, NULL, other_thread, NULL) == 0);
    pthread_join(one, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        TRUE(pthread_create(&many[i], NULL, worker, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(many[i], NULL);
    OK(cuCtxDestroy(shared_context));
}

/* What a context owned is freed with it. */
static void memory_goes_too(void)
{
    CUcontext outer = new_context(), inner;
    size_t before = 0, after = 0, total;
    CUdeviceptr p;
    CUmodule m;
    OK(cuMemGetInfo(&before, &total));
    inner = new_context();
    OK(cuMemAlloc(&p, 64 << 20));
    OK(cuModuleLoadData(&m, PTX_HEAD ".visible .global .b8 big[1048576];\n" PTX_RAMP));
    OK(cuCtxDestroy(inner));
    OK(cuMemGetInfo(&after, &total));
    TRUE(after + (1 << 20) >= before);
    OK(cuCtxDestroy(outer));
}

int main(void)
{
    MUST(cuInit(0));
    primary();
    stack();
    limits();
    threads();
    memory_goes_too();
    return done();
}
