/* forest: host program; see forest.cu for what the kernel does. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, TREES = 6, FEATURES = 32, VALUES = 1000, LEAF = -1, LEAST_DEPTH = 5, MOST_DEPTH = 12 };

/* As the kernel reads it. */
struct node {
    int feature;
    int limit;
    int left;
};

struct forest {
    int node_count;
    struct node *nodes;
    int roots[TREES];
};

static const long sample_counts[SIZE_COUNT] = {500, 24576, 122880};

/*
 * Grows what is below a node, level by level: the children of a node lie side by side at the end. One node in five
 * below the least depth is a leaf.
 */
static void grow(struct forest *forest, int at, int depth, uint64_t *state)
{
    int first = at;
    int end = at + 1;

    for (; depth < MOST_DEPTH && first < end; depth++) {
        for (int i = first; i < end; i++) {
            if (depth >= LEAST_DEPTH && random_below(state, 5) == 0)
                continue;
            forest->nodes[i] = (struct node){random_below(state, FEATURES),
                                             VALUES / 4 + (int)random_below(state, VALUES / 2), forest->node_count};
            forest->node_count += 2;
        }
        first = end;
        end = forest->node_count;
    }
}

static void forest_random(struct forest *forest, uint64_t *state)
{
    size_t node_limit = TREES * ((size_t)2 << MOST_DEPTH);

    forest->node_count = 0;
    forest->nodes = workload_alloc(node_limit, sizeof *forest->nodes);
    for (size_t i = 0; i < node_limit; i++)
        forest->nodes[i] = (struct node){LEAF, (int)random_below(state, 200) - 100, 0};
    for (int tree = 0; tree < TREES; tree++) {
        forest->roots[tree] = forest->node_count++;
        grow(forest, forest->roots[tree], 0, state);
    }
}

static int vote_reference(const struct forest *forest, const struct node *node, const int *sample)
{
    if (node->feature == LEAF)
        return node->limit;
    int child = sample[node->feature] > node->limit ? node->left + 1 : node->left;
    return vote_reference(forest, &forest->nodes[child], sample);
}

int main(int argc, char **argv)
{
    const struct workload workload = {
        .name = "forest",
        .summary = "Classification by decision trees, one thread per sample.",
        .inputs = {"500 samples", "24,576 samples", "122,880 samples"},
    };
    int count = sample_counts[workload_parse(&workload, argc, argv)];
    int trees = TREES, features = FEATURES;
    uint64_t state = workload_seed(2001);
    struct forest forest;
    struct gpu gpu;

    forest_random(&forest, &state);
    uint32_t *samples = array_of_u32((size_t)count * FEATURES, VALUES, &state);
    uint32_t *expected = workload_alloc(count, sizeof(uint32_t));
    for (int i = 0; i < count; i++) {
        for (int tree = 0; tree < TREES; tree++)
            expected[i] +=
                vote_reference(&forest, &forest.nodes[forest.roots[tree]], (const int *)samples + (size_t)i * FEATURES);
    }
    gpu_open(&gpu);
    CUdeviceptr nodes = gpu_upload(forest.nodes, forest.node_count * sizeof *forest.nodes);
    CUdeviceptr roots = gpu_upload(forest.roots, sizeof forest.roots);
    CUdeviceptr sample_memory = gpu_upload(samples, (size_t)count * FEATURES * sizeof(int));
    CUdeviceptr votes = gpu_alloc_zeroed(count * sizeof(int));
    gpu_launch_named(&gpu, "forest_vote", gpu_blocks(count, BLOCK), BLOCK,
                     (void *[]){&nodes, &roots, &trees, &sample_memory, &features, &votes, &count});
    size_t mismatches = array_check_u32("vote", votes, expected, count);
    CUdeviceptr all[] = {nodes, roots, sample_memory, votes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
    gpu_close(&gpu);
    free(forest.nodes);
    free(samples);
    free(expected);
    return workload_verdict(&workload, mismatches, count, "votes");
}
