/* What is unloaded, freed or destroyed while a host function runs: work that waits behind the function may use it, so
 * the calls that take such things away wait for that work, and handles whose work goes on may go at once. The function
 * is in one stream, a kernel that uses what goes waits behind it in another. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

enum { COUNT = 64, BYTES = COUNT * 4, HOST_MICROSECONDS = 50000 };

static CUstream slow, after; /* the function's, the kernel's */
static atomic_int state;     /* 1: the function runs, 2: it is over */
static atomic_int may_end;   /* the work that waits behind the function is there: it runs a while longer, and ends */
static CUcontext context;

static void CUDA_CB take_a_while(void *user)
{
    (void)user;
    state = 1;
    while (!may_end)
        usleep(100);
    usleep(HOST_MICROSECONDS);
    state = 2;
}

static void *run_function(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(context));
    OK(cuLaunchHostFunc(slow, take_a_while, NULL));
    OK(cuStreamSynchronize(slow));
    return NULL;
}

static pthread_t begin_function(void)
{
    pthread_t thread;
    CUevent over;
    state = may_end = 0;
    TRUE(pthread_create(&thread, NULL, run_function, NULL) == 0);
    while (!state)
        usleep(100);
    OK(cuEventCreate(&over, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(over, slow));
    OK(cuStreamWaitEvent(after, over, 0));
    OK(cuEventDestroy(over)); /* goes when it is done with */
    TRUE(state == 1);
    may_end = 1;
    return thread;
}

static CUresult launch_ramp(CUfunction f, CUdeviceptr out, unsigned int value)
{
    unsigned int n = COUNT;
    return cuLaunchKernel(f, 1, 1, 1, COUNT, 1, 1, 0, after, (void *[]){&out, &value, &n}, NULL);
}

static int holds_ramp(CUdeviceptr from, unsigned int value)
{
    unsigned int got[COUNT], right = 1;
    OK(cuMemcpyDtoH(got, from, BYTES));
    for (unsigned int i = 0; i < COUNT; i++)
        right &= got[i] == value + i;
    return (int)right;
}

static CUfunction load(CUmodule *m)
{
    CUfunction f = NULL;
    MUST(cuModuleLoadData(m, PTX_HEAD PTX_RAMP));
    MUST(cuModuleGetFunction(&f, *m, "ramp"));
    return f;
}

static void module_goes(CUdeviceptr out)
{
    CUmodule m;
    CUfunction f = load(&m);
    pthread_t thread = begin_function();
    OK(launch_ramp(f, out, 100));
    OK(cuModuleUnload(m));
    TRUE(state == 2);
    TRUE(holds_ramp(out, 100));
    pthread_join(thread, NULL);
}

static void library_goes(CUdeviceptr out)
{
    CUlibrary l;
    CUkernel k;
    MUST(cuLibraryLoadData(&l, PTX_HEAD PTX_RAMP, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&k, l, "ramp"));
    pthread_t thread = begin_function();
    OK(launch_ramp((CUfunction)k, out, 200));
    OK(cuLibraryUnload(l));
    TRUE(state == 2);
    TRUE(holds_ramp(out, 200));
    pthread_join(thread, NULL);
}

static void memory_goes(CUfunction ramp, CUdeviceptr out)
{
    CUdeviceptr used = 0;
    unsigned int *host = NULL;
    OK(cuMemAlloc(&used, BYTES));
    OK(cuMemHostAlloc((void **)&host, BYTES, 0));
    pthread_t thread = begin_function();
    OK(launch_ramp(ramp, used, 300));
    OK(cuMemcpyDtoDAsync(out, used, BYTES, after));
    OK(cuMemFree(used));
    TRUE(state == 2);
    TRUE(holds_ramp(out, 300));
    pthread_join(thread, NULL);

    for (unsigned int i = 0; i < COUNT; i++)
        host[i] = 400 + i;
    thread = begin_function();
    OK(cuMemcpyHtoDAsync(out, host, BYTES, after));
    OK(cuMemFreeHost(host));
    TRUE(state == 2);
    TRUE(holds_ramp(out, 400));
    pthread_join(thread, NULL);
}

static void array_goes(CUdeviceptr out)
{
    CUarray a = NULL;
    CUDA_ARRAY_DESCRIPTOR d = {COUNT, 1, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    unsigned int row[COUNT];
    for (unsigned int i = 0; i < COUNT; i++)
        row[i] = 500 + i;
    OK(cuArrayCreate(&a, &d));
    OK(cuMemcpyHtoA(a, 0, row, BYTES));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = a,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = out,
                          .dstPitch = BYTES,
                          .WidthInBytes = BYTES,
                          .Height = 1};
    pthread_t thread = begin_function();
    OK(cuMemcpy2DAsync(&copy, after));
    OK(cuArrayDestroy(a));
    TRUE(holds_ramp(out, 500));
    pthread_join(thread, NULL);
}

/* A host function in a graph: the instance is changed and destroyed while it runs. */
static void graph_goes(CUfunction ramp, CUdeviceptr out)
{
    CUgraph graphs[2];
    CUgraphExec x = NULL;
    CUgraphExecUpdateResultInfo info;
    for (unsigned int i = 0; i < 2; i++) {
        OK(cuStreamBeginCapture(after, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        OK(launch_ramp(ramp, out, 600 + 100 * i));
        OK(cuStreamEndCapture(after, &graphs[i]));
    }
    OK(cuGraphInstantiate(&x, graphs[0], 0));
    pthread_t thread = begin_function();
    OK(cuGraphLaunch(x, after));
    OK(cuGraphExecUpdate(x, graphs[1], &info)); /* for the launches to come */
    OK(cuStreamSynchronize(after));
    TRUE(holds_ramp(out, 600));
    pthread_join(thread, NULL);

    thread = begin_function();
    OK(cuGraphLaunch(x, after));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(graphs[0]));
    OK(cuGraphDestroy(graphs[1]));
    OK(cuStreamSynchronize(after));
    TRUE(holds_ramp(out, 700));
    pthread_join(thread, NULL);
}

/* What a stream was given is done, also when nobody can ask for it any more. */
static void stream_goes(CUfunction ramp, CUdeviceptr out)
{
    pthread_t thread = begin_function();
    OK(launch_ramp(ramp, out, 800));
    OK(cuStreamDestroy(after));
    OK(cuCtxSynchronize());
    TRUE(holds_ramp(out, 800));
    pthread_join(thread, NULL);
    OK(cuStreamCreate(&after, CU_STREAM_NON_BLOCKING));
}

static void *only_function(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(context));
    OK(cuLaunchHostFunc(slow, take_a_while, NULL));
    return NULL;
}

/* A context goes when its host functions are over. */
static void context_goes(void)
{
    pthread_t thread;
    state = may_end = 0;
    TRUE(pthread_create(&thread, NULL, only_function, NULL) == 0);
    while (!state)
        usleep(100);
    may_end = 1;
    OK(cuCtxDestroy(context));
    TRUE(state == 2);
    pthread_join(thread, NULL);
}

static void new_streams(void)
{
    context = new_context();
    MUST(cuStreamCreate(&slow, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&after, CU_STREAM_NON_BLOCKING));
}

int main(void)
{
    CUmodule m;
    CUdeviceptr out;
    new_streams();
    CUfunction ramp = load(&m);
    MUST(cuMemAlloc(&out, BYTES));
    module_goes(out);
    library_goes(out);
    memory_goes(ramp, out);
    array_goes(out);
    graph_goes(ramp, out);
    stream_goes(ramp, out);
    context_goes();
    return done();
}
