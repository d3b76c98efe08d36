/*
 * b+tree: look-ups in a B+ tree of order 256, one query per block and one thread per key of a node.
 *
 * On each level of the tree all threads compare the query with the key of their number in the block's current node. The
 * one whose child covers the query writes that child to global memory; after a barrier thread 0 makes it the current
 * node, which all threads read after a second barrier. btree_find looks for one key and returns its record.
 * btree_find_range descends with the first and the last key of a range at a time and returns where it begins and how
 * long it is. Blocks share the upper levels of the tree. Three or four levels are typical, so blocks are short.
 */
#include "device.h"

enum { ORDER = 256 };

/*
 * Of an inner node, below[i] is the node for keys from keys[i] up to, but not including, keys[i + 1]; of a leaf, the
 * record of keys[i]. Unused keys are larger than any query; keys[ORDER] always is. The length is no multiple of a line.
 */
struct node {
    int keys[ORDER + 1];
    int below[ORDER + 1];
};

/* Where a query is in the tree: the node it has reached, and the one it goes to next. One element per query. */
struct places {
    int *current;
    int *next;
};

static inline __device__ void choose_child(const node *nodes, places at, int query, int wanted)
{
    const node *here = &nodes[at.current[query]];
    int slot = threadIdx.x;

    if (here->keys[slot] <= wanted && wanted < here->keys[slot + 1])
        at.next[query] = here->below[slot];
}

extern "C" __global__ void btree_find(const node *nodes, int height, const int *records, const int *wanted, places at,
                                      int *found)
{
    int query = blockIdx.x;

#pragma unroll 1
    for (int level = 0; level < height; level++) {
        choose_child(nodes, at, query, wanted[query]);
        __syncthreads();
        if (threadIdx.x == 0)
            at.current[query] = at.next[query];
        __syncthreads();
    }
    const node *leaf = &nodes[at.current[query]];
    if (leaf->keys[threadIdx.x] == wanted[query])
        found[query] = records[leaf->below[threadIdx.x]];
}

extern "C" __global__ void btree_find_range(const node *nodes, int height, const int *firsts, const int *lasts,
                                            places first_at, places last_at, int *begins, int *lengths)
{
    int query = blockIdx.x;

#pragma unroll 1
    for (int level = 0; level < height; level++) {
        choose_child(nodes, first_at, query, firsts[query]);
        choose_child(nodes, last_at, query, lasts[query]);
        __syncthreads();
        if (threadIdx.x == 0) {
            first_at.current[query] = first_at.next[query];
            last_at.current[query] = last_at.next[query];
        }
        __syncthreads();
    }
    const node *first_leaf = &nodes[first_at.current[query]];
    if (first_leaf->keys[threadIdx.x] == firsts[query])
        begins[query] = first_leaf->below[threadIdx.x];
    __syncthreads();
    const node *last_leaf = &nodes[last_at.current[query]];
    if (last_leaf->keys[threadIdx.x] == lasts[query] && begins[query] >= 0)
        lengths[query] = last_leaf->below[threadIdx.x] - begins[query] + 1;
}
