/*
 * Atomics of all kinds and widths in global and shared memory, with results that do not depend on the order.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda/atomic>
#define EXPORT extern "C" __global__ void
typedef unsigned long long u64;

EXPORT atomic_int(const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], slot = x % 8;
    atomicAdd(&out[slot], x);
    atomicSub(&out[8 + slot], x >> 3);
    atomicMin((int *)&out[16 + slot], (int)x);
    atomicMax(&out[24 + slot], x);
    atomicAnd(&out[32 + slot], x | 0xf0f);
    atomicOr(&out[40 + slot], x & 0x10101);
    atomicXor(&out[48 + slot], x);
    atomicInc(&out[56 + slot], 12);
    atomicDec(&out[64 + slot], 9);
    atomicAdd(&out[72 + slot], atomicExch(&out[80 + i], x) + 1);
}

EXPORT atomic_long(const u64 *in, u64 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, slot;
    u64 x = in[i];
    slot = x % 4;
    atomicAdd(&out[slot], x);
    atomicMin((long long *)&out[4 + slot], (long long)x);
    atomicMax(&out[8 + slot], x);
    atomicAnd(&out[12 + slot], x | 0xff);
    atomicOr(&out[16 + slot], x & 0x8000000100000001ull);
    atomicXor(&out[20 + slot], x);
    u64 seen = out[24 + slot], expected;
    do {
        expected = seen;
        seen = atomicCAS(&out[24 + slot], expected, expected + (x >> 33));
    } while (seen != expected);
}

EXPORT atomic_float(const unsigned *in, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = (int)(in[i] % 2048) - 1024, slot = (int)(in[i] >> 12 & 3);
    atomicAdd(&out[slot], (float)x);
    atomicAdd((double *)&out[8 + 2 * slot], (double)x / 8);
    atomicAdd((__half2 *)&out[16 + slot], __floats2half2_rn((float)(x % 4), (float)(x / 512)));
    atomicAdd((__half *)&out[20 + slot], __float2half((float)(x % 3)));
#if __CUDA_ARCH__ >= 800
    atomicAdd((__nv_bfloat162 *)&out[24 + slot], __floats2bfloat162_rn((float)(x % 2), 0.0f));
    atomicAdd((__nv_bfloat16 *)&out[28 + slot], __float2bfloat16((float)(x % 2)));
#endif
}

EXPORT atomic_shared(const unsigned *in, unsigned *out)
{
    __shared__ unsigned bins[64];
    __shared__ u64 wide[8];
    __shared__ float sums[4];
    unsigned t = threadIdx.x, x = in[blockIdx.x * blockDim.x + t];
    if (t < 64)
        bins[t] = t;
    if (t < 8)
        wide[t] = 0;
    if (t < 4)
        sums[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x % 64], 1u);
    atomicMax(&bins[(x >> 8) % 64], 7u);
    atomicAdd(&wide[x % 4], (u64)x * x);
    atomicXor(&wide[4 + x % 4], (u64)x << 16);
    atomicAdd(&sums[x % 4], (float)(x % 256));
    __syncthreads();
    /* Adding and taking a maximum do not commute: only what cannot depend on the order is kept. */
    if (t < 64)
        atomicAdd(&out[0], bins[t] > 0);
    if (t < 8)
        atomicXor((u64 *)out + 4 + t, wide[t]);
    if (t < 4)
        atomicAdd((float *)out + 32 + t, sums[t]);
}

EXPORT atomic_scopes(const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> a(out[0]);
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> b(out[1]);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> c(out[64 + blockIdx.x]);
    cuda::atomic_ref<u64, cuda::thread_scope_device> d(*(u64 *)&out[4]);
    a.fetch_add(x, cuda::memory_order_relaxed);
    b.fetch_xor(x);
    c.fetch_max(x, cuda::memory_order_acq_rel);
    d.fetch_add((u64)x << 5, cuda::memory_order_release);
    atomicAdd_block(&out[128 + blockIdx.x], x);
    atomicMin_system((int *)&out[8], (int)x);
    unsigned expected = 0;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> first(out[9]);
    if (first.compare_exchange_strong(expected, 77))
        atomicAdd(&out[10], 1);
}

/* A lock taken by every lane of every block in turn, in the form that also works where lanes of a warp advance together. */
__device__ unsigned lock_word;
EXPORT atomic_lock(const unsigned *in, unsigned *out)
{
    unsigned x = in[blockIdx.x * blockDim.x + threadIdx.x];
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            __threadfence();
            volatile unsigned *p = out;
            p[0] = p[0] + x;
            p[1] = p[1] ^ (x << 3);
            p[2] = p[2] + 1;
            __threadfence();
            atomicExch(&lock_word, 0);
            done = true;
        }
    }
}

/* A scan over all blocks in one pass: tickets, and looking back at what earlier blocks published. */
EXPORT atomic_lookback(const unsigned *in, unsigned *out)
{
    __shared__ unsigned ticket, before, part[256];
    volatile unsigned *state = out + gridDim.x * blockDim.x; /* [0] ticket, then {flag, value} a block */
    unsigned t = threadIdx.x;
    if (t == 0)
        ticket = atomicAdd((unsigned *)state, 1);
    __syncthreads();
    unsigned i = ticket * blockDim.x + t;
    part[t] = in[i];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned add = t >= d ? part[t - d] : 0;
        __syncthreads();
        part[t] += add;
        __syncthreads();
    }
    if (t == 0) {
        unsigned sum = 0;
        if (ticket > 0) {
            while (state[2 * ticket] != 1)
                ;
            __threadfence();
            sum = state[2 * ticket + 1];
        }
        state[2 * ticket + 3] = sum + part[blockDim.x - 1];
        __threadfence();
        state[2 * ticket + 2] = 1;
        before = sum;
    }
    __syncthreads();
    out[i] = before + part[t];
}
