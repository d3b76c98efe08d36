/*
 * nbody: gravity between all pairs. A thread per body; 256 others at a time wait in shared memory, and every thread of
 * a block reads the same one. nbody_move then takes one step of leapfrog. Positions are four floats, the last the mass.
 */
#include "device_warp.h"

enum { BLOCK = 256 };
#define SOFTENING 1e-2f

extern "C" __global__ void nbody_forces(const float4 *__restrict__ bodies, float4 *__restrict__ pulls, int others)
{
    __shared__ float4 tile[BLOCK];
    float4 own = bodies[blockIdx.x * BLOCK + threadIdx.x];
    float x = 0.0f, y = 0.0f, z = 0.0f;

    for (int base = 0; base < others; base += BLOCK) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < BLOCK; i++) {
            float4 other = tile[i];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float square = __fmaf_rn(dx, dx, __fmaf_rn(dy, dy, __fmaf_rn(dz, dz, SOFTENING)));
            float inverse = rsqrt_approx(square);
            float pull = other.w * inverse * inverse * inverse;
            x = __fmaf_rn(dx, pull, x);
            y = __fmaf_rn(dy, pull, y);
            z = __fmaf_rn(dz, pull, z);
        }
        __syncthreads();
    }
    float4 sum = {x, y, z, 0.0f};
    pulls[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

extern "C" __global__ void nbody_move(float4 *bodies, float4 *speeds, const float4 *__restrict__ pulls, float step)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 speed = speeds[i] + pulls[i] * step;
    float mass = bodies[i].w;
    float4 moved = bodies[i] + speed * step;

    moved.w = mass;
    speeds[i] = speed;
    bodies[i] = moved;
}
