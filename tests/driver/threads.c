/* Does the driver hold when 8 host threads use all of it at once? Each goes round a list of activities, each thread
 * from another one on, so that different calls meet. They share the primary context, a module, a library whose kernels
 * are loaded when they are first asked for, and the legacy stream; everything else is their own. Results are checked.
 * With ThreadSanitizer (make tsan) the same program shows what the driver forgot to lock. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 4, LIVES = 3, COUNT = 512, BLOCK = 64, STEP = 1000, KERNELS = 8, BYTES = COUNT * 4 };

#define PTX_MARK                                \
    ".visible .global .u32 stamp = 7;\n"        \
    ".visible .entry mark(.param .u32 value)\n" \
    "{\n"                                       \
    " .reg .u32 %r;\n"                          \
    " ld.param.u32 %r, [value];\n"              \
    " st.global.u32 [stamp], %r;\n"             \
    " ret;\n"                                   \
    "}\n"

#define PTX_COUNT_UP                                \
    ".visible .entry count_up(.param .u64 total)\n" \
    "{\n"                                           \
    " .reg .u64 %d;\n"                              \
    " ld.param.u64 %d, [total];\n"                  \
    " red.global.add.u32 [%d], 1;\n"                \
    " ret;\n"                                       \
    "}\n"

/* printf("t%d r%d\n", thread, round) */
#define PTX_SPEAK                                                                                \
    ".extern .func (.param .b32 written) vprintf (.param .b64 format, .param .b64 arguments);\n" \
    ".global .align 1 .b8 format[9] = {116, 37, 100, 32, 114, 37, 100, 10, 0};\n"                \
    ".visible .entry speak(.param .u32 thread, .param .u32 round)\n"                             \
    "{\n"                                                                                        \
    " .local .align 8 .b8 arguments[8];\n"                                                       \
    " .reg .b64 %d<2>; .reg .b32 %r<3>;\n"                                                       \
    " ld.param.u32 %r0, [thread]; ld.param.u32 %r1, [round];\n"                                  \
    " st.local.u32 [arguments], %r0; st.local.u32 [arguments+4], %r1;\n"                         \
    " mov.u64 %d0, format; cvta.global.u64 %d0, %d0;\n"                                          \
    " mov.u64 %d1, arguments; cvta.local.u64 %d1, %d1;\n"                                        \
    " { .param .b64 p0; .param .b64 p1; .param .b32 p2;\n"                                       \
    "   st.param.b64 [p0], %d0; st.param.b64 [p1], %d1;\n"                                       \
    "   call.uni (p2), vprintf, (p0, p1);\n"                                                     \
    "   ld.param.b32 %r2, [p2]; }\n"                                                             \
    " ret;\n"                                                                                    \
    "}\n"

/* *out = its number, in kernels of their own */
#define PTX_NUMBER(n)                                 \
    ".visible .entry number" #n "(.param .u64 out)\n" \
    "{ .reg .u64 %d; .reg .u32 %r; ld.param.u64 %d, [out]; mov.u32 %r, " #n "; st.global.u32 [%d], %r; ret; }\n"
#define PTX_NUMBERS \
    PTX_NUMBER(0) PTX_NUMBER(1) PTX_NUMBER(2) PTX_NUMBER(3) PTX_NUMBER(4) PTX_NUMBER(5) PTX_NUMBER(6) PTX_NUMBER(7)

struct worker {
    unsigned int number;
    pthread_t thread;
    CUstream stream;     /* every other one does not wait for the legacy stream */
    CUevent written;     /* after the kernel that filled `memory` last */
    CUdeviceptr memory;  /* COUNT numbers, which the neighbour reads too, */
    CUdeviceptr scratch; /* and as many that it does not */
    unsigned int *pinned;
    unsigned int host_calls, first_seen;
};

static struct worker workers[THREADS];
static pthread_barrier_t all_here;
static CUmodule shared_module;
static CUlibrary shared_library;
static CUfunction ramp, count_up, speak;
static CUdeviceptr total;
static atomic_uint counted, spoken, destroyed;

static unsigned int value_of(const struct worker *w, unsigned int round) { return STEP * (w->number + 1) + round; }

static CUresult launch_ramp(CUfunction f, CUstream s, CUdeviceptr out, unsigned int value)
{
    unsigned int n = COUNT;
    return cuLaunchKernel(f, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0, s, (void *[]){&out, &value, &n}, NULL);
}

static int is_ramp(const unsigned int *got, unsigned int value)
{
    for (unsigned int i = 0; i < COUNT; i++)
        if (got[i] != value + i)
            return 0;
    return 1;
}

static void kernels_in_own_stream(struct worker *w, unsigned int round)
{
    OK(launch_ramp(ramp, w->stream, w->memory, value_of(w, round)));
    OK(cuEventRecord(w->written, w->stream));
    OK(cuMemcpyDtoHAsync(w->pinned, w->memory, BYTES, w->stream));
    OK(cuStreamSynchronize(w->stream));
    TRUE(is_ramp(w->pinned, value_of(w, round)));
    OK(cuEventQuery(w->written));
}

static void kernels_in_the_legacy_stream(struct worker *w, unsigned int round)
{
    unsigned int got[COUNT];
    CUdeviceptr p = 0;
    OK(cuMemAlloc(&p, BYTES));
    OK(launch_ramp(ramp, NULL, p, value_of(w, round)));
    OK(cuLaunchKernel(count_up, 2, 1, 1, BLOCK, 1, 1, 0, NULL, (void *[]){&total}, NULL));
    counted += 2 * BLOCK;
    OK(cuMemcpyDtoH(got, p, BYTES));
    TRUE(is_ramp(got, value_of(w, round)));
    OK(cuMemFree(p));
}

/* What the neighbour wrote last, or is writing. */
static void neighbours(struct worker *w, unsigned int round)
{
    const struct worker *other = &workers[(w->number + 1) % THREADS];
    unsigned int got[COUNT], right = 1;
    OK(cuStreamWaitEvent(w->stream, other->written, 0));
    OK(cuMemcpyDtoHAsync(got, other->memory, BYTES, w->stream));
    OK(cuStreamSynchronize(w->stream));
    for (unsigned int i = 0; i < COUNT; i++)
        right &= got[i] - i - value_of(other, 0) < ROUNDS;
    TRUE(right);
    (void)round;
}

static void own_module(struct worker *w, unsigned int round)
{
    CUmodule m = NULL;
    CUfunction f = NULL, mine = NULL;
    CUdeviceptr stamp = 0;
    size_t bytes = 0;
    unsigned int got = 0, value = value_of(w, round);
    OK(cuModuleLoadData(&m, PTX_HEAD PTX_MARK PTX_RAMP));
    OK(cuModuleGetFunction(&f, m, "mark"));
    OK(cuModuleGetFunction(&mine, m, "ramp"));
    OK(cuModuleGetGlobal(&stamp, &bytes, m, "stamp"));
    OK(cuMemcpyDtoH(&got, stamp, 4));
    TRUE(got == 7 && bytes == 4);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, w->stream, (void *[]){&value}, NULL));
    OK(launch_ramp(mine, w->stream, w->memory, value));
    OK(cuStreamSynchronize(w->stream));
    OK(cuMemcpyDtoH(&got, stamp, 4));
    TRUE(got == value);
    OK(cuModuleUnload(m)); /* while others run */
}

static void run_number(struct worker *w, CUlibrary l, unsigned int number)
{
    CUkernel kernel = NULL;
    CUfunction f = NULL;
    CUdeviceptr out = 0;
    char name[16];
    unsigned int got = STEP;
    snprintf(name, sizeof name, "number%u", number);
    OK(cuLibraryGetKernel(&kernel, l, name));
    OK(cuKernelGetFunction(&f, kernel));
    OK(cuMemAlloc(&out, 4));
    OK(cuLaunchKernel(number % 2 ? (CUfunction)kernel : f, 1, 1, 1, 1, 1, 1, 0, w->stream, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoHAsync(&got, out, 4, w->stream));
    OK(cuStreamSynchronize(w->stream));
    TRUE(got == number);
    OK(cuMemFree(out));
}

/* All ask for the kernels of one library, which are decoded when the first does. */
static void kernels_of_the_shared_library(struct worker *w, unsigned int round)
{
    for (unsigned int i = 0; i < KERNELS / ROUNDS; i++)
        run_number(w, shared_library, (w->number + round * (KERNELS / ROUNDS) + i) % KERNELS);
}

static void own_library(struct worker *w, unsigned int round)
{
    CUlibrary l = NULL;
    OK(cuLibraryLoadData(&l, PTX_HEAD PTX_NUMBERS, NULL, NULL, 0, NULL, NULL, 0));
    run_number(w, l, (w->number + round) % KERNELS);
    OK(cuLibraryUnload(l));
}

static void CUDA_CB look_at_result(void *user)
{
    struct worker *w = user;
    w->host_calls++;
    w->first_seen = w->pinned[0];
}

static void CUDA_CB look_at_stream(CUstream stream, CUresult status, void *user)
{
    struct worker *w = user;
    TRUE(stream == w->stream && status == CUDA_SUCCESS);
    w->host_calls++;
}

/* The functions come after the copy before them and before the one that follows. */
static void host_functions(struct worker *w, unsigned int round)
{
    unsigned int value = value_of(w, round);
    w->host_calls = w->first_seen = 0;
    memset(w->pinned, 0, BYTES);
    OK(launch_ramp(ramp, w->stream, w->scratch, value));
    OK(cuMemcpyDtoHAsync(w->pinned, w->scratch, BYTES, w->stream));
    OK(cuLaunchHostFunc(w->stream, look_at_result, w));
    OK(cuStreamAddCallback(w->stream, look_at_stream, w, 0));
    OK(cuMemsetD32Async(w->scratch, value, COUNT, w->stream));
    OK(cuMemcpyDtoHAsync(w->pinned, w->scratch, BYTES, w->stream));
    OK(cuStreamSynchronize(w->stream));
    TRUE(w->host_calls == 2 && w->first_seen == value && w->pinned[1] == value);
}

static void memory_comes_and_goes(struct worker *w, unsigned int round)
{
    enum { PIECES = 4 };
    CUdeviceptr pieces[PIECES] = {0};
    unsigned int pageable[COUNT], *host = NULL, value = value_of(w, round);
    OK(cuMemHostAlloc((void **)&host, BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    for (unsigned int i = 0; i < COUNT; i++)
        pageable[i] = value + i;
    for (int i = 0; i < PIECES; i++) {
        OK(cuMemAlloc(&pieces[i], (size_t)BYTES << 2 * i));
        OK(cuMemcpyHtoDAsync(pieces[i], pageable, BYTES, w->stream));
    }
    memset(pageable, 0, BYTES); /* they were taken */
    for (int i = 0; i < PIECES; i++) {
        memset(host, 0, BYTES);
        OK(cuMemcpyDtoHAsync(host, pieces[i], BYTES, w->stream));
        OK(cuStreamSynchronize(w->stream));
        TRUE(is_ramp(host, value));
        OK(cuMemFree(pieces[i]));
    }
    OK(cuMemFreeHost(host));
}

static void memory_of_the_pool(struct worker *w, unsigned int round)
{
    CUdeviceptr p = 0;
    memset(w->pinned, 0, BYTES);
    OK(cuMemAllocAsync(&p, BYTES, w->stream));
    OK(launch_ramp(ramp, w->stream, p, value_of(w, round)));
    OK(cuMemcpyDtoHAsync(w->pinned, p, BYTES, w->stream));
    OK(cuMemFreeAsync(p, w->stream));
    OK(cuStreamSynchronize(w->stream));
    TRUE(is_ramp(w->pinned, value_of(w, round)));
}

static void CUDA_CB count_destroyed(void *user) { atomic_fetch_add((atomic_uint *)user, 1); }

static CUgraph capture(struct worker *w, CUstream s, CUdeviceptr p, unsigned int value)
{
    CUgraph g = NULL;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemsetD32Async(p, 0, COUNT, s));
    OK(launch_ramp(ramp, s, p, value));
    OK(cuMemcpyDtoHAsync(w->pinned, p, BYTES, s));
    OK(cuLaunchHostFunc(s, look_at_result, w));
    OK(cuStreamEndCapture(s, &g));
    return g;
}

static void graphs(struct worker *w, unsigned int round)
{
    CUstream s = NULL;
    CUgraphExec x = NULL;
    CUuserObject u = NULL;
    CUdeviceptr p = 0;
    CUgraphExecUpdateResultInfo info;
    unsigned int value = value_of(w, round);
    OK(cuMemAlloc(&p, BYTES));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING)); /* the legacy stream must not wait for a stream that captures */
    CUgraph g = capture(w, s, p, value), other = capture(w, s, p, value + 1);
    OK(cuUserObjectCreate(&u, &destroyed, count_destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphRetainUserObject(g, u, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphInstantiate(&x, g, 0));
    w->host_calls = 0;
    OK(cuGraphLaunch(x, s));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    TRUE(w->host_calls == 2 && w->first_seen == value && is_ramp(w->pinned, value));
    OK(cuGraphExecUpdate(x, other, &info));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    TRUE(w->host_calls == 3 && is_ramp(w->pinned, value + 1));
    OK(cuGraphDestroy(g));
    OK(cuGraphDestroy(other));
    OK(cuGraphExecDestroy(x));
    OK(cuStreamDestroy(s));
    OK(cuMemFree(p));
}

static void own_context(struct worker *w, unsigned int round)
{
    CUcontext before = NULL, after = NULL, mine = new_context();
    CUmodule m = NULL;
    CUfunction f = NULL;
    CUdeviceptr p = 0;
    unsigned int got[COUNT];
    OK(cuModuleLoadData(&m, PTX_HEAD PTX_RAMP));
    OK(cuModuleGetFunction(&f, m, "ramp"));
    OK(cuMemAlloc(&p, BYTES));
    OK(launch_ramp(f, NULL, p, value_of(w, round)));
    OK(cuMemcpyDtoH(got, p, BYTES));
    TRUE(is_ramp(got, value_of(w, round)));
    OK(cuCtxPopCurrent(&after));
    TRUE(after == mine);
    OK(cuCtxGetCurrent(&before));
    OK(cuCtxPushCurrent(mine));
    OK(cuCtxDestroy(mine)); /* with all that is in it */
    OK(cuCtxGetCurrent(&after));
    TRUE(before == after);
}

static void primary_context(struct worker *w, unsigned int round)
{
    CUcontext primary = NULL, current = NULL;
    unsigned int flags = 0;
    int active = 0;
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxGetCurrent(&current));
    TRUE(primary == current);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    TRUE(active == 1);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuCtxSetCurrent(NULL));
    OK(cuCtxGetCurrent(&current));
    TRUE(current == NULL);
    OK(cuCtxSetCurrent(primary));
    (void)w, (void)round;
}

static void mistakes(struct worker *w, unsigned int round)
{
    CUfunction f = NULL;
    CUmodule m = NULL;
    CUkernel k = NULL;
    CUevent e = NULL;
    CUdeviceptr p = 0;
    char text[200] = "";
    unsigned int value = 0;
    float ms = 0;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {text, (void *)(uintptr_t)sizeof text};
    EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, shared_module, "nothing"));
    EXPECT(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&k, shared_library, "nothing"));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cuLaunchKernel(ramp, 1, 1, 1, 2048, 1, 1, 0, w->stream, (void *[]){&p, &value, &value}, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&value, 64, 4));
    EXPECT(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&m, PTX_HEAD ".visible .entry broken( {", 2, options, values));
    TRUE(strlen(text) > 0);
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, e, w->written));
    OK(cuEventDestroy(e));
    if (on_heddle()) /* a GPU's driver reads what it is given */
        EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)&value));
    (void)round;
}

static void print(struct worker *w, unsigned int round)
{
    OK(cuLaunchKernel(speak, 1, 1, 1, 4, 1, 1, 0, w->stream, (void *[]){&w->number, &round}, NULL));
    spoken += 4;
    OK(cuStreamSynchronize(w->stream));
}

typedef void activity(struct worker *w, unsigned int round);
static activity *const activities[] = {
    kernels_in_own_stream,
    own_module,
    host_functions,
    memory_comes_and_goes,
    kernels_of_the_shared_library,
    graphs,
    own_context,
    kernels_in_the_legacy_stream,
    memory_of_the_pool,
    neighbours,
    own_library,
    primary_context,
    mistakes,
    print,
};
enum { ACTIVITIES = sizeof activities / sizeof *activities };

/* Of all by the first that comes here; a second life of the primary context has it all anew. */
static void load_shared(void)
{
    OK(cuModuleLoadData(&shared_module, PTX_HEAD PTX_RAMP PTX_COUNT_UP PTX_SPEAK));
    OK(cuModuleGetFunction(&ramp, shared_module, "ramp"));
    OK(cuModuleGetFunction(&count_up, shared_module, "count_up"));
    OK(cuModuleGetFunction(&speak, shared_module, "speak"));
    OK(cuLibraryLoadData(&shared_library, PTX_HEAD PTX_NUMBERS, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuMemAlloc(&total, 4));
    OK(cuMemsetD32(total, 0, 1));
    counted = 0;
}

static void check_total(void)
{
    unsigned int got = 0;
    OK(cuMemcpyDtoH(&got, total, 4));
    TRUE(got == counted);
}

static void live(struct worker *w)
{
    CUcontext primary = NULL;
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
    OK(cuStreamCreate(&w->stream, w->number % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    OK(cuEventCreate(&w->written, CU_EVENT_DEFAULT));
    OK(cuMemAlloc(&w->memory, BYTES));
    OK(cuMemAlloc(&w->scratch, BYTES));
    OK(cuMemHostAlloc((void **)&w->pinned, BYTES, 0));
    if (pthread_barrier_wait(&all_here) == PTHREAD_BARRIER_SERIAL_THREAD)
        load_shared();
    pthread_barrier_wait(&all_here);
    kernels_in_own_stream(w, 0);
    pthread_barrier_wait(&all_here);
    for (unsigned int round = 0; round < ROUNDS; round++)
        for (unsigned int i = 0; i < ACTIVITIES; i++)
            activities[(i + w->number * 5) % ACTIVITIES](w, round);
    if (pthread_barrier_wait(&all_here) == PTHREAD_BARRIER_SERIAL_THREAD) {
        OK(cuCtxSynchronize()); /* which nobody may do while a stream captures */
        check_total();
        OK(cuLibraryUnload(shared_library));
    }
    pthread_barrier_wait(&all_here);
    OK(cuStreamDestroy(w->stream));
    OK(cuEventDestroy(w->written));
    OK(cuMemFreeHost(w->pinned));
    OK(cuDevicePrimaryCtxRelease(0)); /* the last one ends it, with the module and the memory that are left */
    OK(cuCtxSetCurrent(NULL));
    pthread_barrier_wait(&all_here);
}

static void *work(void *worker)
{
    pthread_barrier_wait(&all_here);
    OK(cuInit(0));
    for (int i = 0; i < LIVES; i++)
        live(worker);
    return NULL;
}

/* What the kernels print goes to a file: whole lines, and all of them. */
static FILE *printed_to(void)
{
    FILE *f = tmpfile();
    if (!f || dup2(fileno(f), STDOUT_FILENO) < 0)
        exit(1);
    return f;
}

static unsigned int lines_of(FILE *f)
{
    unsigned int lines = 0, thread, round;
    char line[80], again[80];
    fflush(stdout);
    for (rewind(f); fgets(line, sizeof line, f); lines++) {
        TRUE(sscanf(line, "t%u r%u", &thread, &round) == 2 && thread < THREADS && round < ROUNDS);
        snprintf(again, sizeof again, "t%u r%u\n", thread, round);
        TRUE(!strcmp(line, again));
    }
    return lines;
}

int main(void)
{
    FILE *printed = printed_to();
    unsigned int flags = 0;
    int active = 1;
    pthread_barrier_init(&all_here, NULL, THREADS);
    for (unsigned int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        TRUE(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    TRUE(active == 0);
    TRUE(destroyed == THREADS * LIVES * ROUNDS);
    TRUE(lines_of(printed) == spoken && spoken == 4 * THREADS * LIVES * ROUNDS);
    return done();
}
