/* 8 host threads whose kernels fail, each in a context of its own, again and again: everybody is told, callbacks that
 * wait behind a kernel that failed are called all the same, and contexts and streams go while others run. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 6, CALLBACKS = 3 };

#define PTX_WRITE                             \
    ".visible .entry write(.param .u64 to)\n" \
    "{\n"                                     \
    " .reg .u64 %d;\n"                        \
    " ld.param.u64 %d, [to];\n"               \
    " st.global.u32 [%d], 5;\n"               \
    " ret;\n"                                 \
    "}\n"

struct heard {
    atomic_uint calls, lost;
};

/* Long enough for others to come, go and fail meanwhile. */
static void CUDA_CB hear(CUstream stream, CUresult status, void *user)
{
    struct heard *h = user;
    (void)stream;
    usleep(200);
    h->lost += status != CUDA_SUCCESS;
    h->calls++;
}

static CUresult write_to(CUfunction f, CUstream s, CUdeviceptr to)
{
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&to}, NULL);
}

/* A kernel that fails takes those along that run beside it, so that the errors of others may come first, in any
 * call. */
static int is_lost(CUresult r) { return r == CUDA_ERROR_ILLEGAL_ADDRESS || r == CUDA_ERROR_LAUNCH_FAILED; }

static void fail_once(unsigned int number)
{
    struct heard h = {0};
    CUstream a = NULL, b = NULL;
    CUmodule m = NULL;
    CUfunction f = NULL;
    CUdeviceptr p = 0, nowhere = 64;
    unsigned int asked = 0, behind = 0; /* the kernel that fails */
    CUcontext ctx = new_context();
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_DEFAULT));
    OK(cuModuleLoadData(&m, PTX_HEAD PTX_WRITE));
    OK(cuModuleGetFunction(&f, m, "write"));
    OK(cuMemAlloc(&p, 4));
    CUresult r = write_to(f, b, p);
    if (r == CUDA_SUCCESS)
        r = write_to(f, a, number % 4 ? nowhere : p); /* some do nothing wrong */
    for (int i = 0; r == CUDA_SUCCESS && i < CALLBACKS; i++) {
        r = cuStreamAddCallback(i % 2 ? a : b, hear, &h, 0);
        asked += r == CUDA_SUCCESS;
        behind += number % 4 && i % 2;
    }
    CUresult waited = cuStreamSynchronize(a);
    r = cuCtxSynchronize();
    TRUE(number % 4 ? is_lost(r) && is_lost(waited) : r == CUDA_SUCCESS || is_lost(r));
    OK(cuCtxDestroy(ctx));
    TRUE(h.calls >= asked && h.lost >= behind);
}

static void *work(void *number)
{
    for (int i = 0; i < ROUNDS; i++)
        fail_once((unsigned int)(uintptr_t)number);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        TRUE(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return done();
}
