/* Memory of graphs: is it there when the graph runs, at the address that its node said, gone when it is freed, and what
 * is left behind usable until then? */
#include "check.h"

enum { N = 32, BYTES = N * sizeof(unsigned int) };
static CUcontext ctx;
static unsigned int got[N];

static cuuint64_t used(void)
{
    cuuint64_t bytes = 0;
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
}

static CUdeviceptr add_alloc(CUgraph g, CUgraphNode *node)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = BYTES};
    MUST(cuGraphAddMemAllocNode(node, g, NULL, 0, &p));
    return p.dptr;
}

static void add_fill(CUgraph g, CUgraphNode *node, CUgraphNode after, CUdeviceptr to)
{
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = to, .value = 5, .elementSize = 4, .width = N, .height = 1};
    MUST(cuGraphAddMemsetNode(node, g, &after, 1, &fill, ctx));
}

static void add_copy(CUgraph g, CUgraphNode *node, CUgraphNode after, CUdeviceptr from)
{
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = from,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = got,
                          .WidthInBytes = BYTES,
                          .Height = 1,
                          .Depth = 1};
    MUST(cuGraphAddMemcpyNode(node, g, &after, 1, &back, ctx));
}

/* Allocated and freed inside: as often as it is launched. */
static void test_inside(void)
{
    CUgraph g;
    CUgraphNode alloc, fill, copy, freed;
    CUgraphExec x;
    CUdeviceptr address, seen = 0;
    MUST(cuGraphCreate(&g, 0));
    address = add_alloc(g, &alloc);
    CUDA_MEMSET_NODE_PARAMS byte = {.dst = address, .elementSize = 1, .width = 1, .height = 1};
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cuGraphAddMemsetNode(&fill, g, &alloc, 1, &byte,
                                NULL)); /* memory that is yet to come has no context to stand in */
    add_fill(g, &fill, alloc, address);
    add_copy(g, &copy, fill, address);
    MUST(cuGraphAddMemFreeNode(&freed, g, &copy, 1, address));
    OK(cuGraphMemFreeNodeGetParams(freed, &seen));
    TRUE(seen == address);
    if (on_heddle())
        EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(got, address, 4)); /* nothing is there yet */
    MUST(cuGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 3; i++) {
        memset(got, 0, sizeof got);
        OK(cuGraphLaunch(x, NULL));
        OK(cuStreamSynchronize(NULL));
        TRUE(got[0] == 5 && got[N - 1] == 5);
    }
    if (on_heddle())
        TRUE(used() == 0);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
}

/* Left behind: freed by the program, or by another launch that may do so. */
static void test_left_behind(void)
{
    CUgraph g;
    CUgraphNode alloc, fill;
    CUgraphExec x, again;
    CUdeviceptr address;
    MUST(cuGraphCreate(&g, 0));
    address = add_alloc(g, &alloc);
    add_fill(g, &fill, alloc, address);
    MUST(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, NULL));
    OK(cuMemcpyDtoH(got, address, BYTES));
    TRUE(got[0] == 5 && used() >= BYTES);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(x, NULL)); /* it is still there */
    OK(cuMemFreeAsync(address, NULL));
    OK(cuGraphLaunch(x, NULL));
    OK(cuMemFree(address));
    OK(cuGraphExecDestroy(x));
    MUST(cuGraphInstantiate(&again, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphLaunch(again, NULL));
    OK(cuGraphLaunch(again, NULL));
    OK(cuGraphExecDestroy(again));
    OK(cuGraphDestroy(g));
    OK(cuMemcpyDtoH(got, address, BYTES)); /* without the graph too */
    OK(cuMemFree(address));
    OK(cuStreamSynchronize(NULL));
    if (on_heddle())
        TRUE(used() == 0);
}

static void test_attributes(void)
{
    cuuint64_t bytes = 0;
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &bytes));
    TRUE(bytes >= BYTES);
    bytes = 0;
    OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &bytes));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
    OK(cuDeviceGraphMemTrim(0));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes));
    TRUE(bytes == 0);
}

int main(void)
{
    CUgraph g;
    CUgraphNode n;
    CUdeviceptr plain;
    ctx = new_context();
    test_inside();
    test_left_behind();
    test_attributes();
    MUST(cuGraphCreate(&g, 0));
    MUST(cuMemAlloc(&plain, 4));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&n, g, NULL, 0, plain)); /* not of a graph */
    OK(cuGraphDestroy(g));
    OK(cuCtxDestroy(ctx));
    return done();
}
