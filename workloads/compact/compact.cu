/*
 * compact: the elements that pass a test, packed. compact_atomic takes a place for each warp by one atomic and a
 * ballot, in any order; compact_count and compact_pack keep the order, with the counts of blocks summed by the host in
 * between.
 */
#include "device_warp.h"

enum { BLOCK = 256, WARPS = BLOCK / LANES };

static inline __device__ bool wanted(unsigned value) { return value % 8 < 3; }

extern "C" __global__ void compact_atomic(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned *total,
                                          int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % LANES;
    unsigned value = i < count ? in[i] : 0;
    bool keep = i < count && wanted(value);
    unsigned kept = __ballot_sync(ALL_LANES, keep), first = 0;

    if (lane == 0 && kept)
        first = atomicAdd(total, (unsigned)__popc(kept));
    first = __shfl_sync(ALL_LANES, first, 0);
    if (keep)
        out[first + __popc(kept & ((1u << lane) - 1))] = value;
}

extern "C" __global__ void compact_count(const unsigned *__restrict__ in, unsigned *__restrict__ counts, int count)
{
    __shared__ unsigned kept[WARPS];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned lanes = __ballot_sync(ALL_LANES, i < count && wanted(in[i < count ? i : 0]));

    if (threadIdx.x % LANES == 0)
        kept[threadIdx.x / LANES] = __popc(lanes);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (int warp = 0; warp < WARPS; warp++)
            sum += kept[warp];
        counts[blockIdx.x] = sum;
    }
}

extern "C" __global__ void compact_pack(const unsigned *__restrict__ in, const unsigned *__restrict__ firsts,
                                        unsigned *__restrict__ out, int count)
{
    __shared__ unsigned kept[WARPS];
    int i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    unsigned value = i < count ? in[i] : 0;
    bool keep = i < count && wanted(value);
    unsigned lanes = __ballot_sync(ALL_LANES, keep), at = firsts[blockIdx.x];

    if (lane == 0)
        kept[warp] = __popc(lanes);
    __syncthreads();
    for (int other = 0; other < warp; other++)
        at += kept[other];
    if (keep)
        out[at + __popc(lanes & ((1u << lane) - 1))] = value;
}
