/*
 * needle: Needleman-Wunsch alignment of two sequences, the score matrix in tiles of 16x16, a launch a diagonal of tiles.
 *
 * A block is 16 threads, half a warp. It loads the similarities of its tile, the row above and the column to the left,
 * and fills the tile one anti-diagonal after the other: first they grow (threads up to m), then they shrink, a barrier
 * each. needle_grow takes the diagonals of tiles up to the longest, needle_shrink those after it.
 */
#include "device.h"

enum { TILE = 16 };

static inline __device__ int larger(int a, int b) { return a > b ? a : b; }

/* `scores` has a row and a column more than there are tiles for: those of the empty sequences. */
static inline __device__ void fill_tile(const int *similarities, int *scores, int pitch, int penalty, int tile_x, int tile_y)
{
    __shared__ int score[TILE + 1][TILE + 1];
    __shared__ int similarity[TILE][TILE];
    int tx = threadIdx.x;
    int before = tile_y * TILE * pitch + tile_x * TILE; /* up and left of the tile's first element */
    int first = before + pitch + 1;

    if (tx == 0)
        score[0][0] = scores[before];
#pragma unroll
    for (int row = 0; row < TILE; row++)
        similarity[row][tx] = similarities[first + row * pitch + tx];
    __syncthreads();
    score[tx + 1][0] = scores[before + (tx + 1) * pitch];
    __syncthreads();
    score[0][tx + 1] = scores[before + tx + 1];
    __syncthreads();
#pragma unroll 1
    for (int m = 0; m < TILE; m++) {
        if (tx <= m) {
            int x = tx + 1;
            int y = m - tx + 1;
            int aside = larger(score[y][x - 1], score[y - 1][x]) - penalty;
            score[y][x] = larger(score[y - 1][x - 1] + similarity[y - 1][x - 1], aside);
        }
        __syncthreads();
    }
#pragma unroll 1
    for (int m = TILE - 2; m >= 0; m--) {
        if (tx <= m) {
            int x = tx + TILE - m;
            int y = TILE - tx;
            int aside = larger(score[y][x - 1], score[y - 1][x]) - penalty;
            score[y][x] = larger(score[y - 1][x - 1] + similarity[y - 1][x - 1], aside);
        }
        __syncthreads();
    }
#pragma unroll
    for (int row = 0; row < TILE; row++)
        scores[first + row * pitch + tx] = score[row + 1][tx + 1];
}

/* Tiles with x + y = diagonal, from the first row to the right. */
extern "C" __global__ void needle_grow(const int *similarities, int *scores, int pitch, int penalty, int diagonal)
{
    int tile_x = blockIdx.x;

    fill_tile(similarities, scores, pitch, penalty, tile_x, diagonal - tile_x);
}

/* The same once the first row has ended: from the last column on. */
extern "C" __global__ void needle_shrink(const int *similarities, int *scores, int pitch, int penalty, int diagonal)
{
    int tiles = pitch / TILE;
    int tile_x = tiles - 1 - blockIdx.x;

    fill_tile(similarities, scores, pitch, penalty, tile_x, diagonal - tile_x);
}
