/* Do kernels of different streams run together, does a launch return before its kernel ends, and is everything still in
 * order? */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

/* await: until *flag is value; then *out = number of the rounds before, at least 1. With `counts` the registers change
 * in every round, which no one can call a hang. */
#define PTX_AWAIT                                                                            \
    ".visible .entry await(.param .u64 flag, .param .u32 value, .param .u64 out)\n"          \
    "{\n"                                                                                    \
    " .reg .u32 %r<4>; .reg .u64 %d<4>; .reg .pred %p;\n"                                    \
    " ld.param.u64 %d0, [flag]; ld.param.u32 %r0, [value]; ld.param.u64 %d1, [out];\n"       \
    "AGAIN: ld.volatile.global.u32 %r1, [%d0];\n"                                            \
    " setp.ne.u32 %p, %r1, %r0;\n"                                                           \
    " @%p bra AGAIN;\n"                                                                      \
    " st.volatile.global.u32 [%d1], %r0;\n"                                                  \
    " ret;\n"                                                                                \
    "}\n"                                                                                    \
    ".visible .entry await_counting(.param .u64 flag, .param .u32 value, .param .u64 out)\n" \
    "{\n"                                                                                    \
    " .reg .u32 %r<4>; .reg .u64 %d<4>; .reg .pred %p;\n"                                    \
    " ld.param.u64 %d0, [flag]; ld.param.u32 %r0, [value]; ld.param.u64 %d1, [out];\n"       \
    " mov.u32 %r2, 0;\n"                                                                     \
    "AGAIN: ld.volatile.global.u32 %r1, [%d0];\n"                                            \
    " add.u32 %r2, %r2, 1;\n"                                                                \
    " setp.ne.u32 %p, %r1, %r0;\n"                                                           \
    " @%p bra AGAIN;\n"                                                                      \
    " st.volatile.global.u32 [%d1], %r2;\n"                                                  \
    " ret;\n"                                                                                \
    "}\n"

/* Sets *flag. */
#define PTX_RAISE                                                  \
    ".visible .entry raise(.param .u64 flag, .param .u32 value)\n" \
    "{\n"                                                          \
    " .reg .u32 %r<4>; .reg .u64 %d<4>;\n"                         \
    " ld.param.u64 %d0, [flag]; ld.param.u32 %r0, [value];\n"      \
    " st.volatile.global.u32 [%d0], %r0;\n"                        \
    " ret;\n"                                                      \
    "}\n"

/* Answers each of n calls of the host with the same number. */
#define PTX_ANSWER                                                                   \
    ".visible .entry answer(.param .u64 call, .param .u64 reply, .param .u32 n)\n"   \
    "{\n"                                                                            \
    " .reg .u32 %r<4>; .reg .u64 %d<4>; .reg .pred %p;\n"                            \
    " ld.param.u64 %d0, [call]; ld.param.u64 %d1, [reply]; ld.param.u32 %r0, [n];\n" \
    " mov.u32 %r1, 1;\n"                                                             \
    "AGAIN: ld.volatile.global.u32 %r2, [%d0];\n"                                    \
    " setp.ne.u32 %p, %r2, %r1;\n"                                                   \
    " @%p bra AGAIN;\n"                                                              \
    " st.volatile.global.u32 [%d1], %r1;\n"                                          \
    " add.u32 %r1, %r1, 1;\n"                                                        \
    " setp.le.u32 %p, %r1, %r0;\n"                                                   \
    " @%p bra AGAIN;\n"                                                              \
    " ret;\n"                                                                        \
    "}\n"

/* Adds up n numbers in every thread. */
#define PTX_WORK                                             \
    ".visible .entry work(.param .u64 out, .param .u32 n)\n" \
    "{\n"                                                    \
    " .reg .u32 %r<6>; .reg .u64 %d<4>; .reg .pred %p;\n"    \
    " ld.param.u64 %d0, [out]; ld.param.u32 %r0, [n];\n"     \
    " mov.u32 %r1, 0; mov.u32 %r2, 0;\n"                     \
    "AGAIN: mad.lo.u32 %r2, %r2, 3, %r1;\n"                  \
    " add.u32 %r1, %r1, 1;\n"                                \
    " setp.lt.u32 %p, %r1, %r0;\n"                           \
    " @%p bra AGAIN;\n"                                      \
    " st.global.u32 [%d0], %r2;\n"                           \
    " ret;\n"                                                \
    "}\n"

static CUfunction await, await_counting, raise_flag, answer, work, ramp;
static CUstream a, b, blocking;
static atomic_uint *flag, *out; /* kernels look at them, and write them, while the host does */
static CUdeviceptr device_flag, device_out;

static CUresult launch(CUfunction f, CUstream s, void **params)
{
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

static CUresult launch_await(CUfunction f, CUstream s, unsigned int value)
{
    return launch(f, s, (void *[]){&device_flag, &value, &device_out});
}
static CUresult launch_raise(CUstream s, unsigned int value)
{
    return launch(raise_flag, s, (void *[]){&device_flag, &value});
}

static void begin(void)
{
    *flag = 0;
    *out = 0;
}

static void kernels_hand_over(CUfunction f)
{
    begin();
    OK(launch_await(f, a, 7));
    OK(launch_raise(b, 7));
    OK(cuCtxSynchronize());
    TRUE(*out >= 1);
}

static void kernel_waits_for_the_host(CUfunction f)
{
    begin();
    OK(launch_await(f, a, 8));
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
    TRUE(*out == 0);
    *flag = 8;
    OK(cuStreamSynchronize(a));
    TRUE(*out >= 1);
    OK(cuStreamQuery(a));
}

/* Neither side makes a call. */
static void host_and_kernel_talk(void)
{
    enum { CALLS = 5 };
    unsigned int calls = CALLS;
    begin();
    OK(launch(answer, a, (void *[]){&device_flag, &device_out, &calls}));
    for (unsigned int i = 1; i <= CALLS; i++) {
        *flag = i;
        while (*out != i)
            ;
    }
    OK(cuStreamSynchronize(a));
    TRUE(*out == CALLS);
}

static void *raise_later(void *unused)
{
    (void)unused;
    *flag = 9;
    return NULL;
}

static void another_thread_helps(void)
{
    pthread_t thread;
    begin();
    OK(launch_await(await, a, 9));
    TRUE(pthread_create(&thread, NULL, raise_later, NULL) == 0);
    OK(cuStreamSynchronize(a));
    TRUE(*out == 9);
    TRUE(pthread_join(thread, NULL) == 0);
}

/* Work behind a kernel that has not ended waits for it, in its own stream, behind an event, and where the legacy stream
 * comes in. */
static int calls;
static void CUDA_CB on_host(void *user)
{
    (void)user;
    calls = *out == 3 ? 1 : 100;
}

static void order_holds(void)
{
    CUevent done_a;
    unsigned int *seen = NULL, pageable = 5, count = 1, stamp = 77;
    CUdeviceptr copy, device_seen;
    OK(cuEventCreate(&done_a, CU_EVENT_DISABLE_TIMING));
    OK(cuMemHostAlloc((void **)&seen, 16, 0));
    OK(cuMemAlloc(&copy, 16));
    OK(cuMemHostGetDevicePointer(&device_seen, &seen[3], 0));
    memset(seen, 0, 16);
    begin();
    OK(launch_await(await, a, 3));
    OK(cuLaunchHostFunc(a, on_host, NULL));
    OK(cuMemsetD32Async(copy + 4, 3, 1,
                        a)); /* a copy from *out would be one between host memories, for which CUDA waits */
    OK(cuMemcpyDtoHAsync(&seen[0], copy + 4, 4, a));
    OK(cuMemcpyHtoDAsync(copy, &pageable, 4, a));
    pageable = 6; /* it was taken before the call returned */
    OK(cuMemcpyDtoHAsync(&seen[1], copy, 4, a));
    OK(cuEventRecord(done_a, a));
    EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(done_a));
    OK(cuStreamWaitEvent(b, done_a, 0));
    OK(cuMemcpyDtoHAsync(&seen[2], copy + 4, 4, b));
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(b));
    OK(cuStreamQuery(NULL)); /* the two do not block */
    TRUE(calls == 0 && seen[0] == 0 && seen[2] == 0);
    OK(launch_raise(NULL, 3));
    OK(cuStreamSynchronize(b));
    TRUE(calls == 1 && seen[0] == 3 && seen[1] == 5 && seen[2] == 3);
    OK(cuEventQuery(done_a));

    begin();
    memset(seen, 0, 16);
    OK(launch_await(await, blocking, 4));
    OK(launch(ramp, NULL, (void *[]){&device_seen, &stamp, &count})); /* the legacy stream waits for it, */
    OK(cuMemsetD32Async(copy, stamp, 1, NULL));
    OK(cuMemcpyDtoHAsync(&seen[0], copy, 4, blocking)); /* and it for that */
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    TRUE(seen[3] == 0);
    OK(launch_raise(a, 4));
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamSynchronize(blocking));
    TRUE(seen[3] == 77 && seen[0] == 77);
    OK(cuEventDestroy(done_a));
    OK(cuMemFree(copy));
    OK(cuMemFreeHost(seen));
}

/* A blocking stream waits for the legacy one: a copy that it is given then has taken its source, or filled its target,
 * when the call returns, if that is memory that CUDA knows nothing of. */
static void pageable_memory_is_done_with(void)
{
    unsigned int from = 5, to = 0;
    pthread_t thread;
    CUdeviceptr copy;
    OK(cuMemAlloc(&copy, 4));
    begin();
    OK(launch_await(await, NULL, 9));
    OK(cuMemcpyHtoDAsync(copy, &from, 4, blocking));
    from = 6;
    TRUE(pthread_create(&thread, NULL, raise_later, NULL) == 0);
    OK(cuMemcpyDtoHAsync(&to, copy, 4, blocking));
    TRUE(to == 5);
    TRUE(pthread_join(thread, NULL) == 0);
    OK(cuMemFree(copy));
}

/* A kernel is held up by a host function that another thread is in: what the kernel uses is not taken away before it
 * has run. */
static atomic_int host_state, is_freeing;
static void CUDA_CB take_a_while(void *user)
{
    (void)user;
    host_state = 1;
    for (int i = 0; i < 10000 && !is_freeing; i++)
        usleep(1000);
    usleep(100000); /* a free that does not wait comes back long before */
    host_state = 2;
}

static void *run_host_function(void *ctx)
{
    OK(cuCtxSetCurrent(ctx));
    OK(cuLaunchHostFunc(b, take_a_while, NULL));
    OK(cuStreamSynchronize(b));
    return NULL;
}

static void frees_wait(void)
{
    CUcontext ctx;
    CUevent behind;
    CUdeviceptr used;
    pthread_t thread;
    unsigned int count = 1, stamp = 78;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuEventCreate(&behind, CU_EVENT_DISABLE_TIMING));
    OK(cuMemAlloc(&used, 4096));
    TRUE(pthread_create(&thread, NULL, run_host_function, ctx) == 0);
    while (!host_state)
        usleep(1000);
    OK(cuEventRecord(behind, b));
    OK(cuStreamWaitEvent(a, behind, 0));
    OK(launch(ramp, a, (void *[]){&used, &stamp, &count}));
    is_freeing = 1;
    OK(cuMemFree(used));
    TRUE(host_state == 2);
    OK(cuStreamSynchronize(a));
    TRUE(pthread_join(thread, NULL) == 0);
    OK(cuEventDestroy(behind));
}

static void values_are_waited_for(void)
{
    begin();
    OK(cuStreamWaitValue32(a, device_flag, 2, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuMemsetD32Async(device_out, 11, 1, a));
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
    TRUE(*out == 0);
    OK(cuStreamWriteValue32(b, device_flag, 3, 0));
    OK(cuStreamSynchronize(a));
    TRUE(*out == 11);
}

/* Time: two kernels of one block each take no longer together than one of them alone. */
static float time_of(CUstream second)
{
    CUevent start, end_a, end_b;
    unsigned int n = 20000;
    float first = 0, both = 0;
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end_a, 0));
    OK(cuEventCreate(&end_b, 0));
    OK(cuEventRecord(start, a));
    OK(cuStreamWaitEvent(second, start, 0));
    OK(launch(work, a, (void *[]){&device_out, &n}));
    OK(launch(work, second, (void *[]){&device_flag, &n}));
    OK(cuEventRecord(end_a, a));
    OK(cuEventRecord(end_b, second));
    OK(cuCtxSynchronize());
    OK(cuEventElapsedTime(&first, start, end_a));
    OK(cuEventElapsedTime(&both, start, end_b));
    OK(cuEventDestroy(start));
    OK(cuEventDestroy(end_a));
    OK(cuEventDestroy(end_b));
    TRUE(*flag == *out);
    return both > first ? both : first;
}

static void time_overlaps(void)
{
    const char *options = getenv("HEDDLE_OPTIONS");
    time_of(a);
    float one_stream = time_of(a), two_streams = time_of(b);
    TRUE(one_stream > 0 && two_streams > 0);
    if (on_heddle() && options && strstr(options, "--functional"))
        return; /* the host's time says nothing */
    TRUE(two_streams < 0.6f * one_stream);
}

/* A fault is told to whoever waits, and everything else of the context ends. */
static void faults_are_told(void)
{
    CUdeviceptr nowhere = 64;
    unsigned int value = 1;
    begin();
    OK(launch_await(await, a, 5));
    cuLaunchKernel(raise_flag, 1, 1, 1, 1, 1, 1, 0, b, (void *[]){&nowhere, &value}, NULL);
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(b));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(a));
}

int main(void)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* a GPU does not load a kernel while another runs */
    CUcontext ctx = new_context();
    CUmodule module;
    const struct {
        CUfunction *f;
        const char *name;
    } names[] = {{&await, "await"},      {&await_counting, "await_counting"},
                 {&raise_flag, "raise"}, {&answer, "answer"},
                 {&work, "work"},        {&ramp, "ramp"}};
    MUST(cuModuleLoadData(&module, PTX_HEAD PTX_AWAIT PTX_RAISE PTX_ANSWER PTX_WORK PTX_RAMP));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        MUST(cuModuleGetFunction(names[i].f, module, names[i].name));
    MUST(cuMemHostAlloc((void **)&flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostAlloc((void **)&out, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&device_flag, (void *)(uintptr_t)flag, 0));
    MUST(cuMemHostGetDevicePointer(&device_out, (void *)(uintptr_t)out, 0));
    MUST(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    kernels_hand_over(await);
    kernel_waits_for_the_host(await);
    if (!getenv(
            "TEST_FEW_SPINS")) { /* they run until the driver has had enough: long, where each instruction is slow */
        kernels_hand_over(await_counting);
        kernel_waits_for_the_host(await_counting);
    }
    host_and_kernel_talk();
    another_thread_helps();
    order_holds();
    pageable_memory_is_done_with();
    frees_wait();
    values_are_waited_for();
    time_overlaps();
    faults_are_told();
    cuCtxDestroy(ctx);
    return done();
}
