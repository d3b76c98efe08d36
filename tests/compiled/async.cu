/*
 * Asynchronous copies and split barriers (sm_80 and later): cuda::barrier, cuda::pipeline, memcpy_async.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
#define EXPORT extern "C" __global__ void
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

EXPORT async_barrier(const unsigned *in, unsigned *out)
{
    __shared__ block_barrier bar;
    __shared__ unsigned box[128];
    unsigned t = threadIdx.x, mixed = 0;
    if (t == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    for (unsigned round = 0; round < 6; round++) {
        box[t] = in[(blockIdx.x * blockDim.x + t + round * 11) % 512];
        auto token = bar.arrive();
        mixed = mixed * 7 + round;
        bar.wait(std::move(token));
        mixed += box[(t + 1) % blockDim.x];
        bar.arrive_and_wait();
    }
    out[blockIdx.x * blockDim.x + t] = mixed;
}

EXPORT async_copy(const unsigned *in, unsigned *out)
{
    __shared__ block_barrier bar;
    __shared__ alignas(16) unsigned buffer[512];
    auto block = cg::this_thread_block();
    unsigned t = threadIdx.x;
    if (t == 0)
        init(&bar, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, buffer, in + blockIdx.x * 512, cuda::aligned_size_t<16>(sizeof buffer), bar);
    bar.arrive_and_wait();
    unsigned sum = 0;
    for (unsigned k = 0; k < 4; k++)
        sum = sum * 3 + buffer[(t * 4 + k * 129) % 512];
    out[blockIdx.x * blockDim.x + t] = sum;
}

EXPORT async_groups(const unsigned *in, unsigned *out)
{
    extern __shared__ unsigned stage[];
    auto block = cg::this_thread_block();
    unsigned t = threadIdx.x, sum = 0;
    cg::memcpy_async(block, stage, in, blockDim.x * sizeof(unsigned));
    for (unsigned k = 0; k < 6; k++) {
        if (k < 5)
            cg::memcpy_async(block, stage + (k + 1) % 2 * blockDim.x, in + (k + 1) * blockDim.x, blockDim.x * sizeof(unsigned));
        if (k < 5)
            cg::wait_prior<1>(block);
        else
            cg::wait(block);
        sum = sum * 5 + stage[k % 2 * blockDim.x + (t ^ 5)];
        block.sync();
    }
    out[blockIdx.x * blockDim.x + t] = sum + blockIdx.x;
}

EXPORT async_pipeline(const float *in, float *out)
{
    __shared__ float stages[2][128];
    auto pipe = cuda::make_pipeline();
    unsigned t = threadIdx.x;
    const float *mine = in + blockIdx.x * 128 * 8;
    float sum = 0;
    pipe.producer_acquire();
    cuda::memcpy_async(&stages[0][t], mine + t, sizeof(float), pipe);
    pipe.producer_commit();
    for (unsigned k = 0; k < 8; k++) {
        if (k + 1 < 8) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stages[(k + 1) % 2][t], mine + (k + 1) * 128 + t, sizeof(float), pipe);
            pipe.producer_commit();
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        } else {
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        }
        __syncthreads();
        sum = sum * 0.5f + stages[k % 2][127 - t];
        __syncthreads();
        pipe.consumer_release();
    }
    out[blockIdx.x * 128 + t] = sum;
}

/* One warp produces, the others consume, through a shared pipeline state. */
EXPORT async_roles(const unsigned *in, unsigned *out)
{
    __shared__ alignas(16) unsigned stages[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    bool producer = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    unsigned mixed = 0;
    for (unsigned k = 0; k < 6; k++) {
        if (producer) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stages[k % 2][threadIdx.x * 2], in + (blockIdx.x * 6 + k) * 64 + threadIdx.x * 2, cuda::aligned_size_t<8>(8), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            mixed = mixed * 9 + stages[k % 2][(threadIdx.x * 3 + k) % 64];
            pipe.consumer_release();
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = mixed;
}
