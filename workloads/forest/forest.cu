/*
 * forest: classification by decision trees, one thread per sample, tree after tree. A walk loads the node (random, but
 * the upper levels are the same for all warps), then the feature that the node asks for, from the sample's own row
 * (diverged, reused by the same thread in later levels and trees). Lanes leave a tree at leaves of different depth.
 */
#include "device.h"

struct node {
    int feature; /* that is compared; of a leaf: LEAF */
    int limit;   /* of a leaf: its vote */
    int left;    /* the node for values up to the limit; that for greater ones follows it */
};

enum { LEAF = -1 };

extern "C" __global__ void forest_vote(const node *nodes, const int *roots, int tree_count, const int *samples,
                                       int feature_count, int *votes, int sample_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < sample_count) {
        const int *sample = samples + tid * feature_count;
        int vote = 0;
#pragma unroll 1
        for (int tree = 0; tree < tree_count; tree++) {
            int at = roots[tree];
#pragma unroll 1
            while (nodes[at].feature != LEAF)
                at = nodes[at].left + (sample[nodes[at].feature] > nodes[at].limit);
            vote += nodes[at].limit;
        }
        votes[tid] = vote;
    }
}
