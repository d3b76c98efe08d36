/*
 * cholesky: many small symmetric matrices in double precision, one per block of 64 threads: each is decomposed in
 * shared memory column by column (cholesky_decompose), then solved for one right side, forward and backward, by a warp
 * with shuffles (cholesky_solve).
 */
#include "device_double.h"
#include "device_warp.h"

enum { SIDE = 32, PITCH = SIDE + 1, THREADS = 64 };

extern "C" __global__ void cholesky_decompose(double *matrices)
{
    __shared__ double a[SIDE * PITCH];
    double *own = matrices + blockIdx.x * SIDE * SIDE;

    for (int i = threadIdx.x; i < SIDE * SIDE; i += THREADS)
        a[i / SIDE * PITCH + i % SIDE] = own[i];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < SIDE; k++) {
        double pivot = a[k * PITCH + k], root;
        asm("sqrt.rn.f64 %0, %1;" : "=d"(root) : "d"(pivot));
        __syncthreads();
        if (threadIdx.x == 0)
            a[k * PITCH + k] = root;
        else if (threadIdx.x < (unsigned)(SIDE - k))
            a[(k + threadIdx.x) * PITCH + k] = __ddiv_rn(a[(k + threadIdx.x) * PITCH + k], root);
        __syncthreads();
        int left = SIDE - k - 1;
        for (int i = threadIdx.x; i < left * left; i += THREADS) {
            int row = k + 1 + i / left, column = k + 1 + i % left;
            if (column <= row)
                a[row * PITCH + column] = __fma_rn(-a[row * PITCH + k], a[column * PITCH + k], a[row * PITCH + column]);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < SIDE * SIDE; i += THREADS)
        own[i] = i % SIDE <= i / SIDE ? a[i / SIDE * PITCH + i % SIDE] : 0.0;
}

static inline __device__ double from_lane(double value, int lane)
{
    int low, high;
    double result;

    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "d"(value));
    low = __shfl_sync(ALL_LANES, low, lane);
    high = __shfl_sync(ALL_LANES, high, lane);
    asm("mov.b64 %0, {%1, %2};" : "=d"(result) : "r"(low), "r"(high));
    return result;
}

/* A warp per matrix, a lane per unknown. */
extern "C" __global__ void cholesky_solve(const double *__restrict__ factors, double *__restrict__ sides, int count)
{
    int matrix = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;

    if (matrix >= count)
        return;
    const double *l = factors + matrix * SIDE * SIDE;
    double x = sides[matrix * SIDE + lane];
#pragma unroll 1
    for (int k = 0; k < SIDE; k++) {
        if (lane == k)
            x = __ddiv_rn(x, l[k * SIDE + k]);
        double known = from_lane(x, k);
        if (lane > k)
            x = __fma_rn(-l[lane * SIDE + k], known, x);
    }
#pragma unroll 1
    for (int k = SIDE - 1; k >= 0; k--) {
        if (lane == k)
            x = __ddiv_rn(x, l[k * SIDE + k]);
        double known = from_lane(x, k);
        if (lane < k)
            x = __fma_rn(-l[k * SIDE + lane], known, x);
    }
    sides[matrix * SIDE + lane] = x;
}
