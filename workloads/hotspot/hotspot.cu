/*
 * hotspot: temperature of a chip over time, a five-point stencil in ghost zones.
 *
 * A block of 16x16 threads loads a tile of temperature and power, and computes several time steps of it in shared memory
 * before it writes back. After each step the outermost ring of the tile is stale, so the part that a block computes
 * shrinks by one cell a side and step, and tiles overlap by twice the number of steps. Who computes depends on the
 * thread's number alone, but for tiles at the rim of the chip.
 */
#include "device.h"

enum { TILE = 16 };

/* Of one cell: heat capacity, resistances to the neighbours in a row, in a column, and to the air; the time of a step. */
struct cell {
    float capacity;
    float row_resistance;
    float column_resistance;
    float air_resistance;
    float air_temperature;
    float step_seconds;
};

static inline __device__ int larger(int a, int b) { return a > b ? a : b; }

static inline __device__ int smaller(int a, int b) { return a < b ? a : b; }

static inline __device__ bool between(int low, int value, int high) { return low <= value && value <= high; }

/* Watts that flow in from two neighbours on one axis. */
static inline __device__ float inflow(float before, float here, float after, float conductance)
{
    return __fmul_rn(__fmaf_rn(-2.0f, here, __fadd_rn(before, after)), conductance);
}

extern "C" __global__ void hotspot(const float *power, const float *before, float *after, int columns, int rows, int steps,
                                   cell cell)
{
    __shared__ float heat[TILE][TILE];
    __shared__ float watts[TILE][TILE];
    __shared__ float next[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int kept = TILE - 2 * steps; /* cells a side that are still right after the last step */
    int left = blockIdx.x * kept - steps;
    int top = blockIdx.y * kept - steps;
    int column = left + tx;
    int row = top + ty;
    int at = row * columns + column;
    float step_over_capacity = __fdiv_rn(cell.step_seconds, cell.capacity);
    float row_conductance = __fdiv_rn(1.0f, cell.row_resistance);
    float column_conductance = __fdiv_rn(1.0f, cell.column_resistance);
    float air_conductance = __fdiv_rn(1.0f, cell.air_resistance);

    if (between(0, row, rows - 1) && between(0, column, columns - 1)) {
        heat[ty][tx] = before[at];
        watts[ty][tx] = power[at];
    }
    __syncthreads();

    /* The part of the tile that lies on the chip; at its rim a cell is its own neighbour. */
    int first_x = larger(0, -left);
    int last_x = smaller(TILE - 1, columns - 1 - left);
    int first_y = larger(0, -top);
    int last_y = smaller(TILE - 1, rows - 1 - top);
    int west = larger(tx - 1, first_x);
    int east = smaller(tx + 1, last_x);
    int north = larger(ty - 1, first_y);
    int south = smaller(ty + 1, last_y);
    bool computed = false;

#pragma unroll 1
    for (int step = 1; step <= steps; step++) {
        computed = false;
        if (between(step, tx, TILE - 1 - step) && between(step, ty, TILE - 1 - step) && between(first_x, tx, last_x) &&
            between(first_y, ty, last_y)) {
            float here = heat[ty][tx];
            float flow = watts[ty][tx];
            flow = __fadd_rn(flow, inflow(heat[north][tx], here, heat[south][tx], column_conductance));
            flow = __fadd_rn(flow, inflow(heat[ty][west], here, heat[ty][east], row_conductance));
            flow = __fmaf_rn(__fsub_rn(cell.air_temperature, here), air_conductance, flow);
            next[ty][tx] = __fmaf_rn(step_over_capacity, flow, here);
            computed = true;
        }
        __syncthreads();
        if (step == steps)
            break;
        if (computed)
            heat[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed)
        after[at] = next[ty][tx];
}
