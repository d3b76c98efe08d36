/*
 * eigenvalues: those of symmetric tridiagonal matrices, by bisection.
 *
 * How many eigenvalues lie below a number is the number of negative terms of Sturm's sequence: a loop over the matrix
 * with a division per row, one after the other. An interval that holds eigenvalues is cut in the middle and counted
 * there, until it is short. All threads stage the matrix through shared memory, tile by tile; only those with an
 * unfinished interval count.
 *
 * eigenvalues_small finds all eigenvalues of up to 512 rows in one block of 512 threads, one per interval. It begins
 * with one interval. Where both halves of an interval hold eigenvalues the second becomes a new one, and a scan, a tree
 * up and down over the threads, gives it its place after the others. So the block fills level by level; then threads
 * finish one by one, by the data. For larger matrices eigenvalues_split does the same in a block of 256 until the next
 * level might not find room, and eigenvalues_refine goes on with one thread per eigenvalue, in blocks of 256.
 */
#include "device.h"

enum { SMALL_BLOCK = 512, LARGE_BLOCK = 256, TILE = 256 };

/* A symmetric tridiagonal matrix: its diagonal, and the squares of the elements beside it (0 above the first row). */
struct tridiagonal {
    const float *diagonal;
    const float *squares;
    int rows;
};

struct tile_rows {
    float diagonal[TILE];
    float squares[TILE];
};

/*
 * Intervals from `low` to `high`; `below_low` eigenvalues of the matrix are less than the one, `below_high` less than
 * the other. One array per field, in shared memory.
 */
template <int CAPACITY> struct interval_list {
    float low[CAPACITY];
    float high[CAPACITY];
    int below_low[CAPACITY];
    int below_high[CAPACITY];
};

static inline __device__ float larger_of(float a, float b) { return a > b ? a : b; }

static inline __device__ float middle_of(float low, float high) { return __fmul_rn(__fadd_rn(low, high), 0.5f); }

/* Whether an interval is to be cut again: its length against the size of what lies in it. Near 0 it may stay longer. */
static inline __device__ bool is_long(float low, float high, float precision)
{
    float size = larger_of(larger_of(__builtin_fabsf(low), __builtin_fabsf(high)), 0x1p-7f);

    return __fsub_rn(high, low) > __fmul_rn(size, precision);
}

/* How many eigenvalues are below `x`, for threads that are `counting`. All threads of the block have to call it. */
static inline __device__ int count_below(const tridiagonal matrix, tile_rows *tile, float x, bool counting)
{
    float term = 1.0f;
    int count = 0;

#pragma unroll 1
    for (int first = 0; first < matrix.rows; first += TILE) {
        int rows = matrix.rows - first < TILE ? matrix.rows - first : TILE;
        int tx = threadIdx.x;

        __syncthreads();
        if (tx < rows) {
            tile->diagonal[tx] = matrix.diagonal[first + tx];
            tile->squares[tx] = matrix.squares[first + tx];
        }
        __syncthreads();
        if (counting) {
#pragma unroll 1
            for (int i = 0; i < rows; i++) {
                term = __fsub_rn(__fsub_rn(tile->diagonal[i], x), __fdiv_rn(tile->squares[i], term));
                count += term < 0.0f;
            }
        }
    }
    return count;
}

/*
 * The exclusive sums of `sums` in its place, by the first half of the threads of a block: a tree of sums on the way up,
 * which on the way down passes on what lies to the left. Returns the sum of all. All threads have to call it.
 */
template <int BLOCK> static inline __device__ unsigned exclusive_scan(unsigned *sums)
{
    unsigned tx = threadIdx.x;
    unsigned span = 1;

#pragma unroll 1
    for (unsigned pairs = BLOCK / 2; pairs > 0; pairs /= 2) {
        __syncthreads();
        if (tx < pairs)
            sums[span * (2 * tx + 2) - 1] += sums[span * (2 * tx + 1) - 1];
        span *= 2;
    }
    __syncthreads();
    unsigned all = sums[BLOCK - 1];
    __syncthreads();
    if (tx == 0)
        sums[BLOCK - 1] = 0;
#pragma unroll 1
    for (unsigned pairs = 1; pairs < BLOCK; pairs *= 2) {
        span /= 2;
        __syncthreads();
        if (tx < pairs) {
            unsigned left = span * (2 * tx + 1) - 1;
            unsigned right = span * (2 * tx + 2) - 1;
            unsigned of_left = sums[left];
            unsigned before = sums[right];
            sums[left] = before;
            sums[right] = before + of_left;
        }
    }
    __syncthreads();
    return all;
}

/*
 * Cuts the interval from `low` to `high`, which holds all eigenvalues, and what comes of it, with one thread per
 * interval, until none is long or, where there are more rows than threads, until the next level might not find room.
 * Returns the number of intervals.
 */
template <int BLOCK>
static inline __device__ int bisect(const tridiagonal matrix, float low, float high, float precision, tile_rows *tile,
                                    interval_list<BLOCK> *list, unsigned *sums)
{
    const unsigned still_long = 1 << 16; /* sums count new intervals below it, those to be cut again in units of it */
    int tx = threadIdx.x;
    int active = 1;
    unsigned tallies;

    if (tx == 0) {
        list->low[0] = low;
        list->high[0] = high;
        list->below_low[0] = 0;
        list->below_high[0] = matrix.rows;
    }
    __syncthreads();
#pragma unroll 1
    do {
        bool cutting = false;
        float middle = 0.0f;
        int below_high = 0;
        unsigned tally = 0;

        if (tx < active) {
            low = list->low[tx];
            high = list->high[tx];
            middle = middle_of(low, high);
            cutting = is_long(low, high, precision);
        }
        int below_middle = count_below(matrix, tile, middle, cutting);
        if (cutting) {
            int below_low = list->below_low[tx];
            below_high = list->below_high[tx];
            /* Rounding must not take a count past those at the ends. */
            below_middle = below_middle < below_low ? below_low : below_middle;
            below_middle = below_middle > below_high ? below_high : below_middle;
            if (below_middle == below_low) {
                list->low[tx] = middle;
                tally = is_long(middle, high, precision) ? still_long : 0;
            } else {
                list->high[tx] = middle;
                list->below_high[tx] = below_middle;
                tally = is_long(low, middle, precision) ? still_long : 0;
                if (below_middle != below_high) {
                    keep_branch();
                    tally = 1 + (tally || is_long(middle, high, precision) ? still_long : 0);
                }
            }
        }
        sums[tx] = tally;
        tallies = exclusive_scan<BLOCK>(sums);
        if (tally % still_long) {
            int place = active + sums[tx] % still_long;
            list->low[place] = middle;
            list->high[place] = high;
            list->below_low[place] = below_middle;
            list->below_high[place] = below_high;
        }
        active += tallies % still_long;
        __syncthreads();
    } while (tallies >= still_long && (active <= BLOCK / 2 || matrix.rows <= BLOCK));
    return active;
}

/* For a matrix of up to 512 rows, in one block. The eigenvalues are stored in ascending order. */
extern "C" __global__ void eigenvalues_small(tridiagonal matrix, float low, float high, float precision,
                                             float *eigenvalues)
{
    __shared__ tile_rows tile;
    __shared__ interval_list<SMALL_BLOCK> list;
    __shared__ unsigned sums[SMALL_BLOCK];
    int tx = threadIdx.x;
    int intervals = bisect<SMALL_BLOCK>(matrix, low, high, precision, &tile, &list, sums);

    if (tx < intervals) {
        float middle = middle_of(list.low[tx], list.high[tx]);
#pragma unroll 1
        for (int k = list.below_low[tx]; k < list.below_high[tx]; k++)
            eigenvalues[k] = middle;
    }
}

/* In one block: for each eigenvalue, in ascending order, an interval that holds it. */
extern "C" __global__ void eigenvalues_split(tridiagonal matrix, float low, float high, float precision, float *lows,
                                             float *highs)
{
    __shared__ tile_rows tile;
    __shared__ interval_list<LARGE_BLOCK> list;
    __shared__ unsigned sums[LARGE_BLOCK];
    int tx = threadIdx.x;
    int intervals = bisect<LARGE_BLOCK>(matrix, low, high, precision, &tile, &list, sums);

    if (tx < intervals) {
#pragma unroll 1
        for (int k = list.below_low[tx]; k < list.below_high[tx]; k++) {
            lows[k] = list.low[tx];
            highs[k] = list.high[tx];
        }
    }
}

/* One thread per eigenvalue: goes on with its interval until it is short. */
extern "C" __global__ void eigenvalues_refine(tridiagonal matrix, const float *lows, const float *highs,
                                              float precision, float *eigenvalues)
{
    __shared__ tile_rows tile;
    __shared__ int unfinished;
    int k = blockIdx.x * LARGE_BLOCK + threadIdx.x;
    float low = 0.0f;
    float high = 0.0f;

    if (k < matrix.rows) {
        low = lows[k];
        high = highs[k];
    }
    bool cutting = is_long(low, high, precision);
    if (threadIdx.x == 0)
        unfinished = 0;
    __syncthreads();
    if (cutting)
        atomicAdd(&unfinished, 1);
    __syncthreads();
#pragma unroll 1
    while (unfinished > 0) {
        float middle = middle_of(low, high);
        int below_middle = count_below(matrix, &tile, middle, cutting);
        if (cutting) {
            if (below_middle > k) {
                keep_branch();
                high = middle;
            } else {
                low = middle;
            }
            if (!is_long(low, high, precision)) {
                cutting = false;
                atomicAdd(&unfinished, -1);
            }
        }
        __syncthreads();
    }
    if (k < matrix.rows)
        eigenvalues[k] = middle_of(low, high);
}
