/* components: host program; see components.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256 };

/* About as many edges as nodes: one large component, many small ones. */
static const struct {
    int nodes, edges;
} inputs[SIZE_COUNT] = {{2000, 2000}, {40000, 40000}, {600000, 600000}};

static int root_of(uint32_t *parents, int node)
{
    while ((int)parents[node] != node)
        node = parents[node] = parents[parents[node]];
    return node;
}

/* Union of the two ends' sets, the lower number on top. */
static void reference(const uint32_t *sources, const uint32_t *targets, int edges, uint32_t *parents, int nodes)
{
    for (int node = 0; node < nodes; node++)
        parents[node] = node;
    for (int i = 0; i < edges; i++) {
        int a = root_of(parents, sources[i]), b = root_of(parents, targets[i]);
        parents[a > b ? a : b] = a > b ? b : a;
    }
    for (int node = 0; node < nodes; node++)
        parents[node] = root_of(parents, node);
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "components",
        .summary = "Connected components of a graph by hooking and pointer jumping.",
        .inputs = {"2,000 nodes and edges", "40,000 nodes and edges", "600,000 nodes and edges"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int nodes = inputs[size].nodes, edges = inputs[size].edges, changed = 1, zero = 0;
    uint64_t state = workload_seed(1982);
    uint32_t *sources = array_of_u32(edges, nodes, &state), *targets = array_of_u32(edges, nodes, &state);
    uint32_t *parents = workload_alloc(nodes, sizeof(uint32_t));
    struct gpu gpu;

    for (int node = 0; node < nodes; node++)
        parents[node] = node;
    gpu_open(&gpu);
    CUdeviceptr source_memory = gpu_upload(sources, edges * sizeof(uint32_t));
    CUdeviceptr target_memory = gpu_upload(targets, edges * sizeof(uint32_t));
    CUdeviceptr memory = gpu_upload(parents, nodes * sizeof(uint32_t)), flag = gpu_alloc_zeroed(sizeof(int));
    CUdeviceptr next = gpu_alloc_zeroed(nodes * sizeof(uint32_t));
    while (changed) {
        CHECK(cuMemcpyHtoD(flag, &zero, sizeof zero));
        CHECK(cuMemcpyDtoD(next, memory, nodes * sizeof(uint32_t)));
        gpu_launch_named(&gpu, "components_hook", gpu_blocks(edges, BLOCK), BLOCK,
                         (void *[]){&source_memory, &target_memory, &memory, &next, &flag, &edges});
        gpu_launch_named(&gpu, "components_jump", gpu_blocks(nodes, BLOCK), BLOCK, (void *[]){&next, &memory, &nodes});
        gpu_download(&changed, flag, sizeof changed);
    }
    reference(sources, targets, edges, parents, nodes);
    size_t mismatches = array_check_u32("component", memory, parents, nodes);
    gpu_free(source_memory);
    gpu_free(target_memory);
    gpu_free(memory);
    gpu_free(flag);
    gpu_free(next);
    gpu_close(&gpu);
    free(sources);
    free(targets);
    free(parents);
    return workload_verdict(&workload, mismatches, nodes, "components of nodes");
}
