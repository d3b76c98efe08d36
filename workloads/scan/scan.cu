/*
 * scan: running sums of unsigned integers, two ways. In three launches: sums of blocks, a scan of those by one block,
 * and a scan within each block. In one launch with decoupled look-back (Merrill and Garland, 2016): a block publishes
 * the sum of its tile, adds up what its predecessors have published until it meets one that knows all before it, and
 * publishes that. Blocks take their tile from a counter, so a tile's predecessors have all begun.
 */
#include "device_warp.h"

enum { BLOCK = 256, WARPS = BLOCK / LANES, EACH = 8, TILE = BLOCK * EACH };
enum { EMPTY = 0, OWN = 1, ALL = 2 }; /* what a tile has published: nothing, its own sum, all up to its end */

static inline __device__ unsigned warp_scan(unsigned value)
{
    for (int distance = 1; distance < LANES; distance *= 2) {
        unsigned other = __shfl_up_sync(ALL_LANES, value, distance);
        if ((int)(threadIdx.x % LANES) >= distance)
            value += other;
    }
    return value;
}

/* The sum of the values of all threads up to and with this one; *total of all. `sums` is for one value per warp. */
static inline __device__ unsigned block_scan(unsigned value, unsigned *sums, unsigned *total)
{
    int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    unsigned before = 0, all = 0;

    value = warp_scan(value);
    __syncthreads();
    if (lane == LANES - 1)
        sums[warp] = value;
    __syncthreads();
    for (int i = 0; i < WARPS; i++) {
        if (i == warp)
            before = all;
        all += sums[i];
    }
    *total = all;
    return before + value;
}

/* A thread's eight elements, as two vectors: loaded, and their sum. */
static inline __device__ unsigned load_each(const unsigned *in, unsigned (&values)[EACH])
{
    uint4 low = ((const uint4 *)in)[0], high = ((const uint4 *)in)[1];
    unsigned sum = 0;

    values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
    values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
    for (int i = 0; i < EACH; i++)
        sum += values[i];
    return sum;
}

static inline __device__ void store_each(unsigned *out, const unsigned (&values)[EACH], unsigned before)
{
    unsigned sums[EACH];

    for (int i = 0; i < EACH; i++)
        sums[i] = before += values[i];
    uint4 low = {sums[0], sums[1], sums[2], sums[3]}, high = {sums[4], sums[5], sums[6], sums[7]};
    ((uint4 *)out)[0] = low;
    ((uint4 *)out)[1] = high;
}

extern "C" __global__ void scan_sums(const unsigned *__restrict__ in, unsigned *__restrict__ sums)
{
    __shared__ unsigned warps[WARPS];
    unsigned values[EACH], total;

    block_scan(load_each(in + blockIdx.x * TILE + threadIdx.x * EACH, values), warps, &total);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}

/* One block; sums become what is before each. */
extern "C" __global__ void scan_offsets(unsigned *sums, int count)
{
    __shared__ unsigned warps[WARPS];
    unsigned before = 0;

    for (int base = 0; base < count; base += BLOCK) {
        int i = base + threadIdx.x;
        unsigned value = i < count ? sums[i] : 0, total;
        unsigned upto = block_scan(value, warps, &total);
        if (i < count)
            sums[i] = before + upto - value;
        before += total;
    }
}

extern "C" __global__ void scan_tiles(const unsigned *__restrict__ in, const unsigned *__restrict__ offsets,
                                      unsigned *__restrict__ out)
{
    __shared__ unsigned warps[WARPS];
    int at = blockIdx.x * TILE + threadIdx.x * EACH;
    unsigned values[EACH], total;
    unsigned own = load_each(in + at, values);

    store_each(out + at, values, offsets[blockIdx.x] + block_scan(own, warps, &total) - own);
}

/* All that is before `tile`, by its first warp: 32 predecessors at a time. A state is one word: the sum below, what it
 * is above. */
static inline __device__ unsigned look_back(volatile unsigned long long *states, int tile)
{
    int lane = threadIdx.x % LANES;
    unsigned before = 0;

    for (int base = tile - 1; base >= 0; base -= LANES) {
        int predecessor = base - lane;
        unsigned long long state;
        do
            state = predecessor >= 0 ? states[predecessor] : (unsigned long long)ALL << 32;
        while (__ballot_sync(ALL_LANES, state >> 32 == EMPTY));
        unsigned knows = __ballot_sync(ALL_LANES, state >> 32 == ALL);
        int nearest = knows ? __ffs(knows) - 1 : LANES;
        unsigned sum = lane <= nearest ? (unsigned)state : 0;
        for (int mask = LANES / 2; mask > 0; mask /= 2)
            sum += __shfl_xor_sync(ALL_LANES, sum, mask);
        before += sum;
        if (knows)
            break;
    }
    return before;
}

extern "C" __global__ void scan_lookback(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned *ticket,
                                         volatile unsigned long long *states)
{
    __shared__ unsigned warps[WARPS], shared_tile, shared_before;
    unsigned values[EACH], total;

    if (threadIdx.x == 0)
        shared_tile = atomicAdd(ticket, 1u);
    __syncthreads();
    int tile = shared_tile;
    int at = tile * TILE + threadIdx.x * EACH;
    unsigned own = load_each(in + at, values);
    unsigned upto = block_scan(own, warps, &total);
    if (threadIdx.x == 0)
        states[tile] = (unsigned long long)(tile ? OWN : ALL) << 32 | total;
    if (threadIdx.x < LANES) {
        unsigned before = look_back(states, tile);
        if (threadIdx.x == 0) {
            states[tile] = (unsigned long long)ALL << 32 | (before + total);
            shared_before = before;
        }
    }
    __syncthreads();
    store_each(out + at, values, shared_before + upto - own);
}
