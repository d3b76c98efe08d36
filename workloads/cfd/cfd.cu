/*
 * cfd: flow of a compressible gas around a body, by finite volumes on an unstructured grid (the Euler equations, as in
 * Rodinia's CFD solver). One thread per cell.
 *
 * A step takes cfd_step_factor once, then cfd_flux and cfd_advance three times (Runge and Kutta). cfd_flux reads the
 * five variables of the four neighbours, whose numbers are near the cell's own, but in no order: gathers, of which
 * neighbouring warps and other faces touch the same lines. Everything of the cell itself is converged. Branches depend
 * on what is beyond a face: a cell, a wall, or gas at rest far away.
 */
#include "device.h"
#include "euler.h"

static inline __device__ void load_cell(cell *loaded, const float *variables, int at, int cell_count)
{
    loaded->density = variables[at + DENSITY * cell_count];
    for (int i = 0; i < 3; i++)
        loaded->momentum[i] = variables[at + (MOMENTUM_X + i) * cell_count];
    loaded->energy = variables[at + ENERGY * cell_count];
    euler_derive(loaded);
}

/* How far a cell may go in one step. */
extern "C" __global__ void cfd_step_factor(const float *variables, const float *areas, float *step_factors,
                                           int cell_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < cell_count) {
        cell own;
        load_cell(&own, variables, tid, cell_count);
        step_factors[tid] = __fdiv_rn(0.5f, __fsqrt_rn(areas[tid]) * own.fastest);
    }
}

extern "C" __global__ void cfd_flux(const int *neighbours, const float *normals, const float *variables,
                                    const float *far_field, float *fluxes, int cell_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < cell_count) {
        float flux[VARIABLES] = { 0, 0, 0, 0, 0 };
        cell own, far;
        load_cell(&own, variables, tid, cell_count);
        load_cell(&far, far_field, 0, 1);
#pragma unroll 1
        for (int face = 0; face < FACES; face++) {
            int beyond = neighbours[tid + face * cell_count];
            float normal[3], squared = 0;
            for (int i = 0; i < 3; i++) {
                normal[i] = normals[tid + (face + i * FACES) * cell_count];
                squared = squared + normal[i] * normal[i];
            }
            if (beyond >= 0) {
                cell other;
                load_cell(&other, variables, beyond, cell_count);
                euler_add_smoothing(flux, &own, &other, __fsqrt_rn(squared));
                euler_add_flow(flux, &other, normal);
                euler_add_flow(flux, &own, normal);
            } else if (beyond == WALL) {
                euler_add_wall(flux, &own, normal);
            } else {
                euler_add_flow(flux, &far, normal);
                euler_add_flow(flux, &own, normal);
            }
        }
        for (int i = 0; i < VARIABLES; i++)
            fluxes[tid + i * cell_count] = flux[i];
    }
}

/* What flows out of a cell is lost to it. */
extern "C" __global__ void cfd_advance(const float *old, const float *step_factors, const float *fluxes,
                                       float *variables, int cell_count, int step)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < cell_count) {
        float factor = __fdiv_rn(step_factors[tid], RUNGE_KUTTA_STEPS - step);
#pragma unroll
        for (int i = 0; i < VARIABLES; i++)
            variables[tid + i * cell_count] = old[tid + i * cell_count] - factor * fluxes[tid + i * cell_count];
    }
}
