/* Conditional nodes: do kernels decide which bodies run, and how often? */
#include "check.h"

/* set: the condition; count: counts down *counter and keeps the condition set until it is 0 */
#define PTX_CONDITIONS                                                                                              \
    ".version 8.0\n.target sm_60\n.address_size 64\n"                                                               \
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"                               \
    ".visible .entry set(.param .u64 handle, .param .u32 value)\n"                                                  \
    "{\n"                                                                                                           \
    " .reg .b64 %d0; .reg .b32 %r0;\n"                                                                              \
    " ld.param.u64 %d0, [handle]; ld.param.u32 %r0, [value];\n"                                                     \
    " { .param .b64 a; .param .b32 b; st.param.b64 [a], %d0; st.param.b32 [b], %r0; call cudaGraphSetConditional, " \
    "(a, b); }\n"                                                                                                   \
    " ret;\n"                                                                                                       \
    "}\n"                                                                                                           \
    ".visible .entry count(.param .u64 handle, .param .u64 counter)\n"                                              \
    "{\n"                                                                                                           \
    " .reg .b64 %d<2>; .reg .b32 %r<2>;\n"                                                                          \
    " ld.param.u64 %d0, [handle]; ld.param.u64 %d1, [counter];\n"                                                   \
    " ld.global.u32 %r0, [%d1]; sub.u32 %r0, %r0, 1; st.global.u32 [%d1], %r0;\n"                                   \
    " { .param .b64 a; .param .b32 b; st.param.b64 [a], %d0; st.param.b32 [b], %r0; call cudaGraphSetConditional, " \
    "(a, b); }\n"                                                                                                   \
    " ret;\n"                                                                                                       \
    "}\n"

#if CUDA_VERSION >= 13000
#define NO_EDGE_DATA NULL,
#else
#define NO_EDGE_DATA
#endif

static CUcontext ctx;
static CUfunction set, count;
static CUdeviceptr p;

static void add_kernel(CUgraphNode *out, CUgraph g, CUfunction f, void **params)
{
    CUDA_KERNEL_NODE_PARAMS k = {.func = f,
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 1,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = params};
    MUST(cuGraphAddKernelNode(out, g, NULL, 0, &k));
}

static void add_fill(CUgraph g, unsigned int value)
{
    CUgraphNode n;
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = p, .value = value, .elementSize = 4, .width = 1, .height = 1};
    MUST(cuGraphAddMemsetNode(&n, g, NULL, 0, &fill, ctx));
}

static CUgraph *add_condition(CUgraph g, CUgraphNode after, CUgraphConditionalHandle handle,
                              CUgraphConditionalNodeType type, unsigned int size)
{
    CUgraphNode n;
    CUgraphNodeParams c = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                           .conditional = {.handle = handle, .type = type, .size = size, .ctx = ctx}};
    MUST(cuGraphAddNode(&n, g, after ? &after : NULL, NO_EDGE_DATA after ? 1 : 0, &c));
    return c.conditional.phGraph_out;
}

static unsigned int run(CUgraph g)
{
    CUgraphExec x;
    unsigned int value = 0;
    OK(cuMemsetD32(p, 3, 1));
    MUST(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, NULL));
    OK(cuMemcpyDtoH(&value, p, 4));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return value;
}

static unsigned int choose(CUgraphConditionalNodeType type, unsigned int value)
{
    CUgraph g, *bodies;
    CUgraphNode first;
    CUgraphConditionalHandle handle;
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphConditionalHandleCreate(&handle, g, ctx, 0, 0));
    add_kernel(&first, g, set, (void *[]){&handle, &value});
    bodies = add_condition(g, first, handle, type, 2);
    add_fill(bodies[0], 100);
    add_fill(bodies[1], 200);
    return run(g);
}

static unsigned int repeat(void)
{
    CUgraph g, *bodies;
    CUgraphNode n;
    CUgraphConditionalHandle handle;
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphConditionalHandleCreate(&handle, g, ctx, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    bodies = add_condition(g, NULL, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
    add_kernel(&n, bodies[0], count, (void *[]){&handle, &p});
    return run(g);
}

static void test_no_context(void)
{
    CUgraph g;
    CUgraphConditionalHandle handle;
    MUST(cuGraphCreate(&g, 0));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuGraphConditionalHandleCreate(&handle, g, NULL, 0, 0));
    OK(cuGraphDestroy(g));
}

int main(void)
{
    CUmodule m;
    ctx = new_context();
    test_no_context();
    if (!on_heddle())
        return done(); /* the linker of a GPU's driver wants the device runtime's library */
    MUST(cuModuleLoadData(&m, PTX_CONDITIONS));
    MUST(cuModuleGetFunction(&set, m, "set"));
    MUST(cuModuleGetFunction(&count, m, "count"));
    MUST(cuMemAlloc(&p, 4));
    TRUE(choose(CU_GRAPH_COND_TYPE_IF, 1) == 100);
    TRUE(choose(CU_GRAPH_COND_TYPE_IF, 0) == 200);
    TRUE(choose(CU_GRAPH_COND_TYPE_SWITCH, 0) == 100);
    TRUE(choose(CU_GRAPH_COND_TYPE_SWITCH, 1) == 200);
    TRUE(choose(CU_GRAPH_COND_TYPE_SWITCH, 2) == 3);
    TRUE(repeat() == 0);
    OK(cuCtxDestroy(ctx));
    return done();
}
