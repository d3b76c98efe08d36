/*
 * euler.h: the state of a cell of a compressible gas and what follows from it, for the kernels and for the reference.
 * Operations are single ones in a fixed order, so that both give the same bits.
 */
#ifndef WORKLOADS_EULER_H
#define WORKLOADS_EULER_H

#if defined(__CUDA__) || defined(__CUDACC__)
#define EULER_FUNCTION     static inline __device__
#define euler_sqrt(x)      __fsqrt_rn(x)
#define euler_divide(x, y) __fdiv_rn(x, y)
#else
#include <math.h>
#define EULER_FUNCTION     static inline
#define euler_sqrt(x)      sqrtf(x)
#define euler_divide(x, y) ((x) / (y))
#endif

/* A cell's variables, one array each. */
enum { DENSITY, MOMENTUM_X, MOMENTUM_Y, MOMENTUM_Z, ENERGY, VARIABLES };

enum { FACES = 4, WALL = -1, FAR_FIELD = -2, RUNGE_KUTTA_STEPS = 3 };

#define HEAT_RATIO 1.4f
#define SMOOTHING  0.2f

struct cell {
    float density;
    float momentum[3];
    float energy;
    float velocity[3];
    float pressure;
    float fastest; /* the gas's own speed and that of sound in it */
};

/* Sets what follows from density, momentum and energy. */
EULER_FUNCTION void euler_derive(struct cell *cell)
{
    float squared = 0;

    for (int i = 0; i < 3; i++) {
        cell->velocity[i] = euler_divide(cell->momentum[i], cell->density);
        squared = squared + cell->velocity[i] * cell->velocity[i];
    }
    cell->pressure = (HEAT_RATIO - 1) * (cell->energy - 0.5f * cell->density * squared);
    cell->fastest = euler_sqrt(squared) + euler_sqrt(euler_divide(HEAT_RATIO * cell->pressure, cell->density));
}

/* Adds half of what flows through a face with this normal, as one of the two cells beside it sees it. */
EULER_FUNCTION void euler_add_flow(float *flux, const struct cell *cell, const float *normal)
{
    float through = 0;

    for (int i = 0; i < 3; i++)
        through = through + 0.5f * normal[i] * cell->velocity[i];
    flux[DENSITY] = flux[DENSITY] + through * cell->density;
    for (int i = 0; i < 3; i++)
        flux[MOMENTUM_X + i] = flux[MOMENTUM_X + i] + (through * cell->momentum[i] + 0.5f * normal[i] * cell->pressure);
    flux[ENERGY] = flux[ENERGY] + through * (cell->energy + cell->pressure);
}

/* Adds what evens out the two cells beside a face. */
EULER_FUNCTION void euler_add_smoothing(float *flux, const struct cell *cell, const struct cell *other, float area)
{
    float factor = -0.5f * SMOOTHING * area * (cell->fastest + other->fastest);

    flux[DENSITY] = flux[DENSITY] + factor * (cell->density - other->density);
    for (int i = 0; i < 3; i++)
        flux[MOMENTUM_X + i] = flux[MOMENTUM_X + i] + factor * (cell->momentum[i] - other->momentum[i]);
    flux[ENERGY] = flux[ENERGY] + factor * (cell->energy - other->energy);
}

/* Adds what a wall does to the gas before it. */
EULER_FUNCTION void euler_add_wall(float *flux, const struct cell *cell, const float *normal)
{
    for (int i = 0; i < 3; i++)
        flux[MOMENTUM_X + i] = flux[MOMENTUM_X + i] + normal[i] * cell->pressure;
}

#endif
