// Asynchronous copies into shared memory: pipelines of stages, barriers that count bytes of copies.
// nvcc: -arch=compute_80
// nvcc: -arch=compute_75
#include "check.h"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

enum { STAGES = 2, TILE = 64 };

__global__ void staged(const int *in, int *out, int tiles)
{
    cg::thread_block block = cg::this_thread_block();
    __shared__ int buffer[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto pipeline = cuda::make_pipeline(block, &state);
    for (int next = 0, now = 0; now < tiles; now++) {
        for (; next < tiles && next < now + STAGES; next++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, buffer[next % STAGES], in + next * TILE, sizeof(int) * TILE, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        out[now * TILE + threadIdx.x] = buffer[now % STAGES][TILE - 1 - threadIdx.x] * 2;
        pipeline.consumer_release();
    }
}
__global__ void by_barrier(const int *in, int *out)
{
    __shared__ alignas(16) int buffer[TILE];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, buffer, in, cuda::aligned_size_t<16>(sizeof buffer), barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = buffer[(threadIdx.x + 5) % TILE];
}
__global__ void primitives(const int *in, int *out)
{
    __shared__ int buffer[TILE];
    __pipeline_memcpy_async(&buffer[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = buffer[threadIdx.x ^ 1];
}

int main()
{
    const int tiles = 7, n = tiles * TILE;
    std::vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = i * 3 % 1009;
    int *in = upload(host), *out = zeros<int>(n);
    staged<<<1, TILE>>>(in, out, tiles);
    std::vector<int> got = download(out, n);
    bool good = true;
    for (int t = 0; t < tiles; t++)
        for (int i = 0; i < TILE; i++)
            good = good && got[t * TILE + i] == host[t * TILE + TILE - 1 - i] * 2;
    check(good, "a pipeline of two stages");
    by_barrier<<<1, TILE>>>(in, out);
    got = download(out, TILE);
    good = true;
    for (int i = 0; i < TILE; i++)
        good = good && got[i] == host[(i + 5) % TILE];
    check(good, "a barrier that waits for copies");
    primitives<<<1, TILE>>>(in, out);
    got = download(out, TILE);
    good = true;
    for (int i = 0; i < TILE; i++)
        good = good && got[i] == host[i ^ 1];
    check(good, "the primitives");
    return finish();
}
