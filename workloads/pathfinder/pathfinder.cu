/*
 * pathfinder: cheapest way through a grid of costs, row by row; a step goes straight on or one column aside.
 *
 * A block of 256 threads takes a strip of columns through several rows in shared memory before it writes back. With each
 * row the strip that is still right shrinks by a column a side, so strips overlap by twice the number of rows. A row is
 * three reads of shared memory, one converged load and two barriers; who works depends on the thread's number alone, but
 * for strips at the sides of the grid.
 */
#include "device.h"

enum { BLOCK = 256 };

static inline __device__ int larger(int a, int b) { return a > b ? a : b; }

static inline __device__ int smaller(int a, int b) { return a < b ? a : b; }

static inline __device__ bool between(int low, int value, int high) { return low <= value && value <= high; }

/* Row `first_row` and the following; `before` and `after` hold the cheapest way to each column of one row. */
extern "C" __global__ void pathfinder(const int *costs, const int *before, int *after, int columns, int first_row, int rows)
{
    __shared__ int reached[BLOCK];
    __shared__ int next[BLOCK];
    int tx = threadIdx.x;
    int left = blockIdx.x * (BLOCK - 2 * rows) - rows;
    int column = left + tx;
    /* The part of the strip that lies on the grid; at its sides a column is its own neighbour. */
    int first = larger(0, -left);
    int last = smaller(BLOCK - 1, columns - 1 - left);
    int west = larger(tx - 1, first);
    int east = smaller(tx + 1, last);
    bool valid = between(first, tx, last);
    bool computed = false;

    if (between(0, column, columns - 1))
        reached[tx] = before[column];
    __syncthreads();
#pragma unroll 1
    for (int row = 0; row < rows; row++) {
        computed = false;
        if (between(row + 1, tx, BLOCK - 2 - row) && valid) {
            int cheapest = smaller(reached[tx], smaller(reached[west], reached[east]));
            next[tx] = cheapest + costs[columns * (first_row + row) + column];
            computed = true;
        }
        __syncthreads();
        if (row == rows - 1)
            break;
        if (computed)
            reached[tx] = next[tx];
        __syncthreads();
    }
    if (computed)
        after[column] = next[tx];
}
