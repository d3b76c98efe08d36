// Clusters of blocks and each other's shared memory. They have no timing model, so this runs in functional mode only.
// nvcc: -arch=compute_90
// modes: functional
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) ring(const int *in, int *out)
{
    __shared__ int mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    mine[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    cluster.sync();
    int *next = cluster.map_shared_rank(mine, (rank + 1) % cluster.num_blocks());
    out[blockIdx.x * 64 + threadIdx.x] = next[threadIdx.x];
    cluster.sync();
}
__global__ void histogram(const int *in, int *out, int count)
{
    __shared__ int bins[32];
    cg::cluster_group cluster = cg::this_cluster();
    bins[threadIdx.x % 32] = 0;
    cluster.sync();
    for (int i = cluster.thread_rank(); i < count; i += cluster.num_threads()) {
        int bin = in[i] % (32 * (int)cluster.num_blocks());
        atomicAdd(&cluster.map_shared_rank(bins, bin / 32)[bin % 32], 1);
    }
    cluster.sync();
    if (threadIdx.x < 32)
        out[cluster.block_rank() * 32 + threadIdx.x] = bins[threadIdx.x];
}

int main()
{
    std::vector<int> host(512);
    random_numbers random(5);
    for (int &x : host)
        x = random.next() % 10000;
    int *in = upload(host), *out = zeros<int>(512);
    ring<<<8, 64>>>(in, out);
    std::vector<int> got = download(out, 512);
    bool good = true;
    for (int b = 0; b < 8; b++)
        for (int t = 0; t < 64; t++)
            good = good && got[b * 64 + t] == host[(b / 4 * 4 + (b + 1) % 4) * 64 + t];
    check(good, "shared memory of the next block");
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(2);
    config.blockDim = dim3(128);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA(cudaLaunchKernelEx(&config, histogram, (const int *)in, out, 512));
    got = download(out, 64);
    std::vector<int> bins(64);
    for (int x : host)
        bins[x % 64]++;
    check(got == bins, "a histogram over a cluster, sized at launch");
    return finish();
}
