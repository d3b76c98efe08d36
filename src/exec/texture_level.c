/* The level of detail that derivatives ask for, found out from what silicon (sm_90) answers: lengths are estimated by
 * shares of their components, and the logarithm has eight bits. Exact in one dimension where sizes are powers of two;
 * else up to 2/256 of a level away from silicon's at times.
 *
 * Left out: how silicon takes derivatives along the faces of cubes. They count here as if the direction was a place in
 * space. */
#include "exec/sampler.h"
#include "exec/sampler_tables.h"

#include <math.h>

/* The length of a vector, as silicon has it: the largest component and shares of the others. */
static double length_of(const double v[3])
{
    double a = fabs(v[0]), b = fabs(v[1]), c = fabs(v[2]);
    double largest = fmax(a, fmax(b, c)), least = fmin(a, fmin(b, c)), middle = a + b + c - largest - least;
    return largest + middle * 11.0 / 32.0 + least / 4.0;
}

/* Eight bits of the fraction count. */
static float logarithm(double v)
{
    int exponent;
    if (!(v > 0.0) || isinf(v))
        return v > 0.0 ? INFINITY : -INFINITY;
    int fraction = (int)(frexp(v, &exponent) * 512.0) - 256;
    return (float)(exponent - 1) + log2_table[fraction] / 256.0f;
}

/* 11/16 of a length, in shares that are cut to the unit. */
static double shortened(double length, double unit)
{
    return (floor(length / 2.0 / unit) + floor(length / 8.0 / unit) + floor(length / 16.0 / unit)) * unit;
}

static double limited(double v) { return isnan(v) ? 0.0 : fmax(fmin(v, 1e30), -1e30); }

/* The longest of a footprint's sides and, shortened, of its diagonals. Derivatives have ten bits, counted from the
 * largest. */
float texture_level_of(const struct texture *t, const float dx[3], const float dy[3], int dimensions)
{
    double x[3] = {0}, y[3] = {0}, sum[3], difference[3], largest = 0.0;
    const struct texture_array *a = t->levels ? &t->levels[0] : &t->array;
    const uint32_t sizes[3] = {a->width, a->height, a->depth};
    for (int axis = 0; axis < dimensions; axis++) {
        double scale = t->normalized && sizes[axis] ? (double)sizes[axis] : 1.0;
        x[axis] = limited((double)dx[axis] * scale);
        y[axis] = limited((double)dy[axis] * scale);
        largest = fmax(largest, fmax(fabs(x[axis]), fabs(y[axis])));
    }
    int exponent = 0;
    frexp(largest, &exponent);
    double unit = ldexp(1.0, exponent - 10), fine = ldexp(1.0, exponent - 12);
    for (int axis = 0; axis < 3; axis++) {
        x[axis] = trunc(x[axis] / unit) * unit;
        y[axis] = trunc(y[axis] / unit) * unit;
        sum[axis] = x[axis] + y[axis];
        difference[axis] = x[axis] - y[axis];
    }
    double sides = fmax(length_of(x), length_of(y)), diagonals = fmax(length_of(sum), length_of(difference));
    return logarithm(fmax(sides, shortened(diagonals, fine)));
}
