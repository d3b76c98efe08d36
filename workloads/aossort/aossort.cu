/*
 * aossort: the same elements, a key and a value each, sorted twice: once as an array of structures by merging, once as
 * two arrays by radix.
 *
 * By merging: blocks of 256 threads bring runs of 32 into order by odd-even transposition in shared memory. Every other
 * thread compares its element with the next one, the even and the odd ones in turn: branches on the thread's number, as
 * is the test for the array's end, around one on the keys, with a barrier per step. Then runs are merged two by two,
 * those of a block in shared memory, longer ones in global memory, a launch each: a thread looks up by bisection how
 * many elements of the other run go before its own. By radix: blocks of 128 threads, 8 elements each, four bits at a
 * time: count, add up, scatter.
 *
 * Both keep the order of equal keys.
 */
#include "device.h"

enum { BLOCK = 256, RUN = 32 };
enum { RADIX_BLOCK = 128, PER_THREAD = 8, RADIX_TILE = RADIX_BLOCK * PER_THREAD, DIGITS = 16 };

struct element {
    int key;
    float value;
};

/*
 * How many of the `count` ordered elements go before one with this key: those below it and, where `after_equal` (this
 * one comes from the later run), those that equal it.
 */
static inline __device__ unsigned count_before(const element *run, unsigned count, int key, bool after_equal)
{
    unsigned low = 0;
    unsigned high = count;

#pragma unroll 1
    while (low < high) {
        unsigned middle = (low + high) / 2;
        int other = run[middle].key;
        if ((other < key) | (after_equal & (other == key))) {
            keep_branch();
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * Where element `at` goes when ordered runs of `width`, a power of two, are merged two by two: its place in its run,
 * and what goes before it in the other run of the pair. `count` elements in all.
 */
static inline __device__ unsigned merged_place(const element *elements, unsigned at, unsigned width, unsigned count)
{
    unsigned other = (at & ~(width - 1)) ^ width;
    unsigned other_count = other > count ? 0 : count - other < width ? count - other : width;

    return (at & ~width) + count_before(elements + other, other_count, elements[at].key, (at & width) != 0);
}

static inline __device__ void order_with_next(element *elements)
{
    if (elements[0].key > elements[1].key) {
        element greater = elements[0];
        elements[0] = elements[1];
        elements[1] = greater;
    }
}

extern "C" __global__ void aossort_block(element *elements, unsigned count)
{
    __shared__ element sorted[BLOCK];
    unsigned tid = threadIdx.x;
    unsigned base = blockIdx.x * BLOCK;
    unsigned here = count - base < BLOCK ? count - base : BLOCK; /* elements of this block */
    bool has_next = tid + 1 < here && (tid + 1) % RUN != 0;

    if (tid < here)
        sorted[tid] = elements[base + tid];
#pragma unroll 1
    for (int step = 0; step < RUN; step += 2) {
        __syncthreads();
        if (tid % 2 == 0) {
            keep_branch();
            if (has_next)
                order_with_next(&sorted[tid]);
        }
        __syncthreads();
        if (tid % 2 == 1) {
            keep_branch();
            if (has_next)
                order_with_next(&sorted[tid]);
        }
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned width = RUN; width < BLOCK; width *= 2) {
        element own = { 0, 0.0f };
        unsigned place = 0;
        if (tid < here) {
            own = sorted[tid];
            place = merged_place(sorted, tid, width, here);
        }
        __syncthreads();
        if (tid < here)
            sorted[place] = own;
        __syncthreads();
    }
    if (tid < here)
        elements[base + tid] = sorted[tid];
}

extern "C" __global__ void aossort_merge(const element *from, element *to, unsigned width, unsigned count)
{
    unsigned at = blockIdx.x * BLOCK + threadIdx.x;

    if (at < count)
        to[merged_place(from, at, width, count)] = from[at];
}

/*
 * Counts of a block, by digit and thread: a thread's elements are neighbours, so what goes before them has a smaller
 * digit, or the same one and a smaller thread.
 */
struct tallies {
    unsigned counts[DIGITS][RADIX_BLOCK];
    unsigned sums[RADIX_BLOCK];
};

static inline __device__ unsigned digit_of(int key, int shift) { return (unsigned)key >> shift & (DIGITS - 1); }

static inline __device__ void tallies_count(tallies &tallies, const int *keys, int count, int shift)
{
    int tid = threadIdx.x;
    int first = blockIdx.x * RADIX_TILE + tid * PER_THREAD;

#pragma unroll
    for (int digit = 0; digit < DIGITS; digit++)
        tallies.counts[digit][tid] = 0;
#pragma unroll 1
    for (int at = first; at < first + PER_THREAD && at < count; at++)
        tallies.counts[digit_of(keys[at], shift)][tid]++;
    __syncthreads();
}

/* A thread's part of the counts in the order of digits: 16 threads' for one digit. Eight parts make a digit. */
static inline __device__ unsigned *tallies_part(tallies &tallies)
{
    return &tallies.counts[0][0] + threadIdx.x * DIGITS;
}

static inline __device__ unsigned part_sum(const unsigned *part)
{
    unsigned sum = 0;

#pragma unroll
    for (int i = 0; i < DIGITS; i++)
        sum += part[i];
    return sum;
}

/* Thread t's number in `sums` becomes the sum of those of the threads before it. */
static inline __device__ void sums_scan(unsigned *sums)
{
    int tid = threadIdx.x;
    unsigned own = sums[tid];

    __syncthreads();
#pragma unroll 1
    for (int distance = 1; distance < RADIX_BLOCK; distance *= 2) {
        unsigned before = 0;
        if (tid >= distance) {
            keep_branch();
            before = sums[tid - distance];
        }
        __syncthreads();
        sums[tid] += before;
        __syncthreads();
    }
    sums[tid] -= own;
}

/* How many elements of each block have each digit: blocks of the first digit, then those of the next. */
extern "C" __global__ void aossort_count(const int *keys, int count, int shift, unsigned *block_counts)
{
    __shared__ tallies tallies;
    int tid = threadIdx.x;

    tallies_count(tallies, keys, count, shift);
    tallies.sums[tid] = part_sum(tallies_part(tallies));
    __syncthreads();
    if (tid < DIGITS) {
        unsigned sum = 0;
#pragma unroll
        for (int i = 0; i < RADIX_BLOCK / DIGITS; i++)
            sum += tallies.sums[tid * (RADIX_BLOCK / DIGITS) + i];
        block_counts[tid * gridDim.x + blockIdx.x] = sum;
    }
}

/* Each count becomes the sum of those before it: one block, and each of its threads adds up neighbours. */
extern "C" __global__ void aossort_add_up(unsigned *block_counts, int count)
{
    __shared__ unsigned sums[RADIX_BLOCK];
    int tid = threadIdx.x;
    int each = (count + RADIX_BLOCK - 1) / RADIX_BLOCK;
    int first = tid * each;
    unsigned sum = 0;

#pragma unroll 1
    for (int at = first; at < first + each && at < count; at++)
        sum += block_counts[at];
    sums[tid] = sum;
    __syncthreads();
    sums_scan(sums);
    unsigned before = sums[tid];
#pragma unroll 1
    for (int at = first; at < first + each && at < count; at++) {
        unsigned own = block_counts[at];
        block_counts[at] = before;
        before += own;
    }
}

/* Every element to its place: after smaller digits, and after those of blocks and threads before it. */
extern "C" __global__ void aossort_scatter(const int *keys, const float *values, int count, int shift,
                                           const unsigned *block_counts, int *to_keys, float *to_values)
{
    __shared__ tallies tallies;
    int tid = threadIdx.x;
    int first = blockIdx.x * RADIX_TILE + tid * PER_THREAD;
    int at = first;

    tallies_count(tallies, keys, count, shift);
    unsigned *part = tallies_part(tallies);
    tallies.sums[tid] = part_sum(part);
    __syncthreads();
    sums_scan(tallies.sums);
    __syncthreads();
    /* What is before the first part of a digit is what all smaller digits of the block have. */
    unsigned smaller = tallies.sums[tid / (RADIX_BLOCK / DIGITS) * (RADIX_BLOCK / DIGITS)];
    unsigned before = tallies.sums[tid] - smaller + block_counts[tid / (RADIX_BLOCK / DIGITS) * gridDim.x + blockIdx.x];
#pragma unroll
    for (int i = 0; i < DIGITS; i++) {
        unsigned own = part[i];
        part[i] = before;
        before += own;
    }
    __syncthreads();
#pragma unroll 1
    for (; at < first + PER_THREAD && at < count; at++) {
        int key = keys[at];
        unsigned place = tallies.counts[digit_of(key, shift)][tid]++;
        to_keys[place] = key;
        to_values[place] = values[at];
    }
}
