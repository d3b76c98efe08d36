/*
 * Clusters of blocks and distributed shared memory (sm_90).
 */
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define EXPORT extern "C" __global__ void

EXPORT __cluster_dims__(4, 1, 1) cluster_exchange(const unsigned *in, unsigned *out)
{
    __shared__ unsigned box[128];
    auto cluster = cg::this_cluster();
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, rank = cluster.block_rank(), mixed = 0;
    box[t] = in[i];
    cluster.sync();
    for (unsigned k = 1; k < 4; k++) {
        unsigned *other = cluster.map_shared_rank(box, (rank + k) % cluster.num_blocks());
        mixed = mixed * 3 + other[(t + k) % 128];
    }
    cluster.sync();
    out[i] = mixed ^ rank ^ cluster.thread_rank() << 8 ^ cluster.dim_blocks().x << 24;
}

EXPORT __cluster_dims__(2, 1, 1) cluster_histogram(const unsigned *in, unsigned *out)
{
    __shared__ unsigned bins[32];
    auto cluster = cg::this_cluster();
    unsigned t = threadIdx.x;
    if (t < 32)
        bins[t] = 0;
    cluster.sync();
    unsigned bin = in[blockIdx.x * blockDim.x + t] % 64;
    atomicAdd(cluster.map_shared_rank(bins, bin / 32) + bin % 32, 1);
    cluster.barrier_wait(cluster.barrier_arrive());
    if (t < 32)
        out[blockIdx.x * 32 + t] = bins[t];
    cluster.sync();
}
