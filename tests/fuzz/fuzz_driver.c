/* Any bytes as calls of the CUDA driver, by several threads at once: modules and libraries come and go, kernels run in
 * streams, kernels launch kernels, memory is taken and given back, work is captured and launched as a graph. Handles of
 * things that are gone are used, too. Every call returns, and nothing is touched that is not there.
 *
 * HEDDLE_OPTIONS says how kernels are run, as for any program. */
#include <cuda.h>

#include "driver_modules.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { THREADS = 3, SLOTS = 4, HOST_BYTES = 4096, MOST_CALLS = 64 };

/* What a thread has. Slot 0 of streams is the null stream. */
struct worker {
    const uint8_t *data;
    size_t size, at;
    CUdeviceptr memory[SLOTS];
    CUstream streams[SLOTS];
    CUevent events[SLOTS];
    CUmodule modules[SLOTS];
    CUlibrary libraries[SLOTS];
    CUfunction functions[SLOTS];
    CUgraph graphs[SLOTS];
    CUgraphExec execs[SLOTS];
    uint8_t *host;
};

static struct {
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    CUfunction function;
} shared;
static CUdevice device;

static uint8_t take(struct worker *w) { return w->at < w->size ? w->data[w->at++] : 0; }
static uint8_t slot(struct worker *w) { return take(w) % SLOTS; }

static CUstream some_stream(struct worker *w)
{
    uint8_t n = take(w);
    return n % 5 == 4 ? shared.stream : w->streams[n % SLOTS];
}

static CUdeviceptr some_memory(struct worker *w)
{
    uint8_t n = take(w);
    return n % 6 == 5 ? shared.memory : w->memory[n % SLOTS] + (n > 240 ? n * 64u : 0);
}

static const char *some_name(struct worker *w)
{
    static const char *const names[] = {"fill", "count", "wait", "nobody"};
    return names[take(w) % 4];
}

static void CUDA_CB host_function(void *user)
{
    CUdeviceptr p;
    *(uint8_t *)user += 1;
    cuMemAlloc(&p, 16); /* is refused here, and must not wait for ever */
}

/* ---- calls; a handle stays in its slot when the thing is gone ---- */

static void memory_call(struct worker *w)
{
    CUdeviceptr *m = &w->memory[slot(w)];
    size_t bytes = 1u << (take(w) % 16);
    switch (take(w) % 8) {
    case 0:
    case 1: cuMemAlloc(m, bytes); break;
    case 2: cuMemFree(*m); break;
    case 3: cuMemAllocAsync(m, bytes, some_stream(w)); break;
    case 4: cuMemFreeAsync(*m, some_stream(w)); break;
    case 5: cuMemAllocManaged(m, bytes, CU_MEM_ATTACH_GLOBAL); break;
    case 6: cuMemGetAddressRange(m, &bytes, *m); break;
    default: cuMemsetD32Async(*m, 7, bytes / 4, some_stream(w)); break;
    }
}

static void copy_call(struct worker *w)
{
    size_t bytes = take(w) * 16u;
    CUdeviceptr to = some_memory(w), from = some_memory(w);
    switch (take(w) % 6) {
    case 0: cuMemcpyHtoD(to, w->host, bytes); break;
    case 1: cuMemcpyDtoH(w->host, from, bytes); break;
    case 2: cuMemcpyHtoDAsync(to, w->host, bytes, some_stream(w)); break;
    case 3: cuMemcpyDtoHAsync(w->host, from, bytes, some_stream(w)); break;
    case 4: cuMemcpyDtoDAsync(to, from, bytes, some_stream(w)); break;
    default: cuMemcpy(to, from, bytes); break;
    }
}

static void launch_call(struct worker *w)
{
    uint8_t n = take(w);
    CUfunction f = n % 5 == 4 ? shared.function : w->functions[n % SLOTS];
    CUdeviceptr to = some_memory(w);
    uint64_t number = take(w);
    void *arguments[] = {&to, &number};
    unsigned grid = take(w) % 6, block = take(w);
    cuLaunchKernel(f, grid, 1, 1, block, 1, 1, take(w) * 16u, some_stream(w), arguments, NULL);
}

static void module_call(struct worker *w)
{
    uint8_t s = slot(w);
    size_t bytes;
    const char *text = modules[take(w) % (sizeof modules / sizeof modules[0])];
    switch (take(w) % 7) {
    case 0: cuModuleLoadData(&w->modules[s], text); break;
    case 1: cuModuleUnload(w->modules[s]); break;
    case 2:
    case 3: cuModuleGetFunction(&w->functions[slot(w)], w->modules[s], some_name(w)); break;
    case 4: cuModuleGetGlobal(&w->memory[slot(w)], &bytes, w->modules[s], "counter"); break;
    case 5: cuFuncSetAttribute(w->functions[s], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, take(w) * 1024); break;
    default: cuOccupancyMaxActiveBlocksPerMultiprocessor(&(int){0}, w->functions[s], take(w), take(w) * 64u); break;
    }
}

/* Kernels of a library are loaded when they are asked for. */
static void library_call(struct worker *w)
{
    CUlibrary *library = &w->libraries[slot(w)];
    CUfunction *f = &w->functions[slot(w)];
    CUkernel kernel;
    size_t bytes;
    switch (take(w) % 5) {
    case 0:
    case 1:
        cuLibraryLoadData(library, modules[take(w) % (sizeof modules / sizeof modules[0])], NULL, NULL, 0, NULL, NULL,
                          0);
        break;
    case 2: cuLibraryUnload(*library); break;
    case 3:
        if (cuLibraryGetKernel(&kernel, *library, some_name(w)) != CUDA_SUCCESS)
            break;
        if (take(w) % 2)
            cuKernelGetFunction(f, kernel);
        else
            *f = (CUfunction)kernel;
        break;
    default: cuLibraryGetGlobal(&w->memory[slot(w)], &bytes, *library, "counter"); break;
    }
}

static void stream_call(struct worker *w)
{
    uint8_t s = 1 + take(w) % (SLOTS - 1);
    switch (take(w) % 7) {
    case 0:
    case 1: cuStreamCreate(&w->streams[s], take(w) % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT); break;
    case 2: cuStreamDestroy(w->streams[s]); break;
    case 3: cuStreamSynchronize(some_stream(w)); break;
    case 4: cuStreamQuery(some_stream(w)); break;
    case 5: cuLaunchHostFunc(some_stream(w), host_function, w->host + HOST_BYTES); break;
    default: cuCtxSynchronize(); break;
    }
}

static void event_call(struct worker *w)
{
    CUevent *e = &w->events[slot(w)];
    float milliseconds;
    switch (take(w) % 7) {
    case 0: cuEventCreate(e, take(w) % 2 ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT); break;
    case 1: cuEventRecord(*e, some_stream(w)); break;
    case 2: cuStreamWaitEvent(some_stream(w), take(w) % 3 ? *e : shared.event, 0); break;
    case 3: cuEventSynchronize(*e); break;
    case 4: cuEventQuery(*e); break;
    case 5: cuEventElapsedTime(&milliseconds, *e, w->events[slot(w)]); break;
    default: cuEventDestroy(*e); break;
    }
}

static void graph_call(struct worker *w)
{
    uint8_t s = slot(w);
    switch (take(w) % 8) {
    case 0: cuStreamBeginCapture(some_stream(w), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL); break;
    case 1:
    case 2: cuStreamEndCapture(some_stream(w), &w->graphs[s]); break;
    case 3: cuGraphInstantiate(&w->execs[s], w->graphs[slot(w)], 0); break;
    case 4: cuGraphLaunch(w->execs[s], some_stream(w)); break;
    case 5: cuGraphExecDestroy(w->execs[s]); break;
    case 6: cuGraphDestroy(w->graphs[s]); break;
    default: cuGraphClone(&w->graphs[s], w->graphs[slot(w)]); break;
    }
}

/* Something in the first slots, so that most calls have what they need. */
static void equip(struct worker *w)
{
    cuMemAlloc(&w->memory[0], HOST_BYTES);
    cuMemAlloc(&w->memory[1], HOST_BYTES);
    cuStreamCreate(&w->streams[1], CU_STREAM_NON_BLOCKING);
    cuEventCreate(&w->events[0], CU_EVENT_DEFAULT);
    cuModuleLoadData(&w->modules[0], modules[take(w) % 3]);
    cuModuleGetFunction(&w->functions[0], w->modules[0], some_name(w));
    cuModuleGetFunction(&w->functions[1], w->modules[0], "fill");
    w->memory[2] = w->memory[3] = w->memory[0];
    w->functions[2] = w->functions[3] = w->functions[0];
}

static void *work(void *argument)
{
    static void (*const calls[])(struct worker *) = {memory_call, copy_call,   launch_call,  launch_call,
                                                     module_call, module_call, library_call, library_call,
                                                     stream_call, event_call,  graph_call};
    struct worker *w = argument;
    CUcontext context;
    if (cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS || cuCtxSetCurrent(context) != CUDA_SUCCESS)
        abort();
    equip(w);
    for (int n = 0; n < MOST_CALLS && w->at < w->size; n++)
        calls[take(w) % (sizeof calls / sizeof calls[0])](w);
    cuDevicePrimaryCtxRelease(device);
    return NULL;
}

static void start(CUmodule *module)
{
    CUcontext context;
    if (cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS || cuCtxSetCurrent(context) != CUDA_SUCCESS ||
        cuModuleLoadData(module, modules[0]) != CUDA_SUCCESS ||
        cuModuleGetFunction(&shared.function, *module, "count") != CUDA_SUCCESS ||
        cuMemAlloc(&shared.memory, HOST_BYTES) != CUDA_SUCCESS ||
        cuStreamCreate(&shared.stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
        cuEventCreate(&shared.event, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
        cuEventRecord(shared.event, shared.stream) != CUDA_SUCCESS)
        abort(); /* whatever came before, the context is new */
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setenv("HEDDLE_OPTIONS", "--functional --quiet --set machine.memory_bytes=64M", 0);
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    CUmodule module;
    memset(workers, 0, sizeof workers);
    start(&module);
    for (int i = 0; i < THREADS; i++) {
        workers[i].data = data + size * (size_t)i / THREADS;
        workers[i].size = size * (size_t)(i + 1) / THREADS - size * (size_t)i / THREADS;
        workers[i].host = calloc(1, HOST_BYTES + 1);
        if (!workers[i].host || pthread_create(&threads[i], NULL, work, &workers[i]))
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cuCtxSynchronize();
    if (cuDevicePrimaryCtxReset(device) != CUDA_SUCCESS)
        abort();
    cuDevicePrimaryCtxRelease(device);
    for (int i = 0; i < THREADS; i++)
        free(workers[i].host);
    return 0;
}
