/* launch_limit HOW FIRST.ptx SECOND.ptx: kernel k of FIRST, then kernel k of SECOND, in one context, and all of that
 * twice. HOW: in the legacy stream, in a stream, as nodes of a graph, with FIRST in a loop of the graph that
 * nobody ends, or with FIRST in two streams at once. Prints what CUDA
 * said of each step. Exit status 0 when SECOND went well. */
#include "heddle/cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(CUresult r)
{
    const char *name = "?";
    cuGetErrorName(r, &name);
    return name;
}

static void must(CUresult r, const char *what)
{
    if (r == CUDA_SUCCESS)
        return;
    fprintf(stderr, "launch_limit: %s: %s\n", what, name_of(r));
    exit(1);
}
#define MUST(call) must((call), #call)

static CUresult launch(CUfunction f, CUdeviceptr *buffer, CUstream stream)
{
    void *arguments[] = {buffer};
    return cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL);
}

static CUfunction kernel_of(const char *file)
{
    CUmodule module;
    CUfunction f;
    MUST(cuModuleLoad(&module, file));
    MUST(cuModuleGetFunction(&f, module, "k"));
    return f;
}

static CUgraphExec graph_of(CUfunction first, CUfunction second, CUdeviceptr *buffers, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(launch(first, &buffers[0], stream));
    MUST(launch(second, &buffers[1], stream));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static CUgraphNode add_kernel(CUgraph graph, CUgraphNode *after, CUfunction f, CUdeviceptr *buffer)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS k = {.func = f,
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 64,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = (void *[]){buffer}};
    MUST(cuGraphAddKernelNode(&node, graph, after, after != NULL, &k));
    return node;
}

static CUgraphExec loop_of(CUfunction first, CUfunction second, CUdeviceptr *buffers, CUcontext context)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode loop;
    CUgraphNodeParams c = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                           .conditional = {.type = CU_GRAPH_COND_TYPE_WHILE, .size = 1, .ctx = context}};
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphConditionalHandleCreate(&c.conditional.handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
#if CUDA_VERSION >= 13000
    MUST(cuGraphAddNode(&loop, graph, NULL, NULL, 0, &c));
#else
    MUST(cuGraphAddNode(&loop, graph, NULL, 0, &c));
#endif
    add_kernel(c.conditional.phGraph_out[0], NULL, first, &buffers[0]);
    add_kernel(graph, &loop, second, &buffers[1]);
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr buffers[2];
    CUstream streams[2] = {NULL, NULL};
    CUgraphExec graph = NULL;
    CUresult result = CUDA_SUCCESS;
    if (argc != 4) {
        fputs("usage: launch_limit legacy|stream|graph|loop|together FIRST.ptx SECOND.ptx\n", stderr);
        return 2;
    }
    const char *how = argv[1];
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    CUfunction first = kernel_of(argv[2]), second = kernel_of(argv[3]);
    MUST(cuMemAlloc(&buffers[0], 4096));
    MUST(cuMemAlloc(&buffers[1], 4096));
    for (int i = 0; i < 2 && strcmp(how, "legacy"); i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    if (!strcmp(how, "graph"))
        graph = graph_of(first, second, buffers, streams[0]);
    if (!strcmp(how, "loop"))
        graph = loop_of(first, second, buffers, context);
    for (int i = 0; i < 2; i++) {
        uint32_t word = 0;
        MUST(cuMemsetD8(buffers[1], 0, 4096));
        result = graph ? cuGraphLaunch(graph, streams[0]) : launch(first, &buffers[0], streams[0]);
        if (!strcmp(how, "together"))
            MUST(launch(first, &buffers[1], streams[1]));
        CUresult told = cuCtxSynchronize(), again = cuCtxSynchronize();
        printf("first: %s, then %s, then %s\n", name_of(result), name_of(told), name_of(again));
        result = graph ? CUDA_SUCCESS : launch(second, &buffers[1], streams[0]);
        result = result ? result : cuCtxSynchronize();
        result = result ? result : cuMemcpyDtoH(&word, buffers[1], sizeof word);
        printf("second: %s, %u\n", name_of(result), word);
    }
    return result != CUDA_SUCCESS;
}
