/* b+tree: host program; see b+tree.cu for what the kernels do. Records are numbered in the order of their keys. */
#include <limits.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { ORDER = 256, LEVELS_MAX = 8, ABSENT = -1 };
enum { GAP_MAX = 4 /* between keys */, RANGE_MAX = 1000 /* keys */ };

struct problem {
    long keys;
    long finds;
    long ranges;
};

static const struct problem problems[SIZE_COUNT] = {
    {5000, 60, 40},
    {1000000, 2000, 1200},
    {1000000, 10000, 6000},
};

/* As the kernels read it. */
struct node {
    int keys[ORDER + 1];
    int below[ORDER + 1];
};

struct tree {
    int key_count;
    int *keys;
    int *records;
    int node_count;
    int height; /* inner levels */
    struct node *nodes;
};

/* Laid out as the kernels' parameter. */
struct places {
    CUdeviceptr current;
    CUdeviceptr next;
};

/* Nodes for so many entries, each but the last between half full and full: the first entry of each, and the end. */
static int *share_out(int entry_count, int *node_count, uint64_t *state)
{
    int *firsts = workload_alloc(entry_count / (ORDER / 2) + 2, sizeof(int));
    int node = 0;

    for (int entry = 0; entry < entry_count; entry += ORDER / 2 + random_below(state, ORDER / 2 + 1))
        firsts[node++] = entry;
    firsts[node] = entry_count;
    *node_count = node;
    return firsts;
}

/* `lowest`: the lowest key of each entry; `number`: what the first entry is called, those after it count on. */
static void fill_node(struct node *node, const int *lowest, int first, int end, int number)
{
    for (int slot = 0; slot <= ORDER; slot++) {
        int entry = first + slot;
        node->keys[slot] = entry < end ? lowest[entry] : INT_MAX;
        node->below[slot] = entry < end ? number + entry : 0;
    }
}

/* From the leaves up to the root; in memory the root comes first, and each level follows the one above it. */
static void tree_build(struct tree *tree, uint64_t *state)
{
    int *firsts[LEVELS_MAX];
    int counts[LEVELS_MAX];
    int levels = 0;
    int entry_count = tree->key_count;

    do {
        firsts[levels] = share_out(entry_count, &counts[levels], state);
        entry_count = counts[levels];
        tree->node_count += entry_count;
        levels++;
    } while (entry_count > 1);
    tree->height = levels - 1;
    tree->nodes = workload_alloc(tree->node_count, sizeof *tree->nodes);

    int *lowest = workload_alloc(tree->key_count, sizeof(int));
    for (int i = 0; i < tree->key_count; i++)
        lowest[i] = tree->keys[i];
    int number = 0; /* of the first entry: records for the leaves, nodes above them */
    int level_start = tree->node_count;
    for (int level = 0; level < levels; level++) {
        level_start -= counts[level];
        for (int i = 0; i < counts[level]; i++) {
            fill_node(&tree->nodes[level_start + i], lowest, firsts[level][i], firsts[level][i + 1], number);
            lowest[i] = lowest[firsts[level][i]];
        }
        /* Queries below the lowest key go down the left side. */
        if (level > 0)
            tree->nodes[level_start].keys[0] = INT_MIN;
        number = level_start;
        free(firsts[level]);
    }
    free(lowest);
}

static void tree_random(struct tree *tree, int key_count, uint64_t *state)
{
    int key = 0;

    *tree = (struct tree){.key_count = key_count};
    tree->keys = workload_alloc(key_count, sizeof(int));
    tree->records = workload_alloc(key_count, sizeof(int));
    for (int i = 0; i < key_count; i++) {
        key += 1 + random_below(state, GAP_MAX);
        tree->keys[i] = key;
        tree->records[i] = random_below(state, INT_MAX);
    }
    tree_build(tree, state);
}

static void tree_free(struct tree *tree)
{
    free(tree->keys);
    free(tree->records);
    free(tree->nodes);
}

/* A key of the tree nine times in ten; else any number from 0 to the last key. */
static int key_random(const struct tree *tree, uint64_t *state)
{
    if (random_below(state, 10) == 0)
        return random_below(state, tree->keys[tree->key_count - 1] + 1);
    return tree->keys[random_below(state, tree->key_count)];
}

static void finds_random(const struct tree *tree, int *wanted, int count, uint64_t *state)
{
    for (int i = 0; i < count; i++)
        wanted[i] = key_random(tree, state);
}

static void ranges_random(const struct tree *tree, int *firsts, int *lasts, int count, uint64_t *state)
{
    for (int i = 0; i < count; i++) {
        int rank = random_below(state, tree->key_count);
        int length = random_below(state, RANGE_MAX);
        firsts[i] = tree->keys[rank];
        lasts[i] = tree->keys[rank + length < tree->key_count ? rank + length : tree->key_count - 1];
        /* One in ten may have a bound that is no key. */
        uint32_t off = random_below(state, 20);
        if (off == 0)
            firsts[i]--;
        if (off == 1)
            lasts[i]++;
    }
}

static int rank_reference(const struct tree *tree, int key)
{
    int low = 0;
    int high = tree->key_count;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (tree->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tree->key_count && tree->keys[low] == key ? low : ABSENT;
}

/* All queries begin at the root, which is node 0. */
static struct places places_alloc(int count)
{
    return (struct places){gpu_alloc_zeroed(count * sizeof(int)), gpu_alloc_zeroed(count * sizeof(int))};
}

static void places_free(struct places *places)
{
    gpu_free(places->current);
    gpu_free(places->next);
}

static void find_on_device(const struct gpu *gpu, const struct tree *tree, CUdeviceptr nodes, const int *wanted,
                           int *found, int count)
{
    int height = tree->height;
    size_t bytes = count * sizeof(int);
    CUdeviceptr records = gpu_upload(tree->records, tree->key_count * sizeof(int));
    CUdeviceptr wanted_memory = gpu_upload(wanted, bytes);
    CUdeviceptr found_memory = gpu_alloc_zeroed(bytes);
    struct places at = places_alloc(count);
    void *arguments[] = {&nodes, &height, &records, &wanted_memory, &at, &found_memory};

    CHECK(cuMemsetD32(found_memory, (unsigned)ABSENT, count));
    gpu_launch(gpu_kernel(gpu, "btree_find"), (struct shape){count, 1}, (struct shape){ORDER, 1}, arguments);
    gpu_download(found, found_memory, bytes);
    gpu_free(records);
    gpu_free(wanted_memory);
    gpu_free(found_memory);
    places_free(&at);
}

static void find_range_on_device(const struct gpu *gpu, const struct tree *tree, CUdeviceptr nodes, const int *firsts,
                                 const int *lasts, int *begins, int *lengths, int count)
{
    int height = tree->height;
    size_t bytes = count * sizeof(int);
    CUdeviceptr first_memory = gpu_upload(firsts, bytes);
    CUdeviceptr last_memory = gpu_upload(lasts, bytes);
    CUdeviceptr begin_memory = gpu_alloc_zeroed(bytes);
    CUdeviceptr length_memory = gpu_alloc_zeroed(bytes);
    struct places first_at = places_alloc(count);
    struct places last_at = places_alloc(count);
    void *arguments[] = {&nodes,    &height,  &first_memory, &last_memory,
                         &first_at, &last_at, &begin_memory, &length_memory};

    CHECK(cuMemsetD32(begin_memory, (unsigned)ABSENT, count));
    gpu_launch(gpu_kernel(gpu, "btree_find_range"), (struct shape){count, 1}, (struct shape){ORDER, 1}, arguments);
    gpu_download(begins, begin_memory, bytes);
    gpu_download(lengths, length_memory, bytes);
    gpu_free(first_memory);
    gpu_free(last_memory);
    gpu_free(begin_memory);
    gpu_free(length_memory);
    places_free(&first_at);
    places_free(&last_at);
}

static size_t run_finds(const struct gpu *gpu, const struct tree *tree, CUdeviceptr nodes, int count, uint64_t *state)
{
    int *wanted = workload_alloc(count, sizeof(int));
    int *found = workload_alloc(count, sizeof(int));
    int *expected = workload_alloc(count, sizeof(int));

    finds_random(tree, wanted, count, state);
    find_on_device(gpu, tree, nodes, wanted, found, count);
    for (int i = 0; i < count; i++) {
        int rank = rank_reference(tree, wanted[i]);
        expected[i] = rank == ABSENT ? ABSENT : tree->records[rank];
    }
    size_t mismatches = compare_u32("found", (uint32_t *)found, (uint32_t *)expected, count);
    free(wanted);
    free(found);
    free(expected);
    return mismatches;
}

static size_t run_ranges(const struct gpu *gpu, const struct tree *tree, CUdeviceptr nodes, int count, uint64_t *state)
{
    int *firsts = workload_alloc(count, sizeof(int));
    int *lasts = workload_alloc(count, sizeof(int));
    int *begins = workload_alloc(count, sizeof(int));
    int *lengths = workload_alloc(count, sizeof(int));
    int *expected_begins = workload_alloc(count, sizeof(int));
    int *expected_lengths = workload_alloc(count, sizeof(int));

    ranges_random(tree, firsts, lasts, count, state);
    find_range_on_device(gpu, tree, nodes, firsts, lasts, begins, lengths, count);
    for (int i = 0; i < count; i++) {
        int first = rank_reference(tree, firsts[i]);
        int last = rank_reference(tree, lasts[i]);
        expected_begins[i] = first;
        expected_lengths[i] = first == ABSENT || last == ABSENT ? 0 : last - first + 1;
    }
    size_t mismatches = compare_u32("begin", (uint32_t *)begins, (uint32_t *)expected_begins, count);
    mismatches += compare_u32("length", (uint32_t *)lengths, (uint32_t *)expected_lengths, count);
    free(firsts);
    free(lasts);
    free(begins);
    free(lengths);
    free(expected_begins);
    free(expected_lengths);
    return mismatches;
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0, 0};
    const struct workload_option options[] = {
        {"keys", "keys of a tree of your own size", &given.keys, 100000000},
        {"finds", "queries for one key", &given.finds, 1000000},
        {"ranges", "queries for a range of keys", &given.ranges, 1000000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "b+tree",
        .summary = "Look-ups in a B+ tree of order 256, one query per block, one thread per key of a node.",
        .inputs = {"5,000 keys, 60 find and 40 range queries", "1,000,000 keys, 2,000 find and 1,200 range queries",
                   "1,000,000 keys, 10,000 find and 6,000 range queries"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(ORDER);
    struct tree tree;
    struct gpu gpu;

    if (given.keys)
        problem.keys = given.keys;
    if (given.finds)
        problem.finds = given.finds;
    if (given.ranges)
        problem.ranges = given.ranges;
    tree_random(&tree, problem.keys, &state);
    gpu_open(&gpu);
    CUdeviceptr nodes = gpu_upload(tree.nodes, tree.node_count * sizeof *tree.nodes);
    size_t mismatches = run_finds(&gpu, &tree, nodes, problem.finds, &state);
    mismatches += run_ranges(&gpu, &tree, nodes, problem.ranges, &state);
    gpu_free(nodes);
    gpu_close(&gpu);
    tree_free(&tree);
    return workload_verdict(&workload, mismatches, problem.finds + 2 * problem.ranges, "records and bounds of ranges");
}
