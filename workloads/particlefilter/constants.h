/*
 * constants.h: numbers that the kernels of particlefilter and their reference have in common.
 *
 * The exponential function is a Taylor polynomial on half of ln 2 to either side of zero, scaled by a power of two:
 * kernel and reference have to agree to the bit, and PTX has no such instruction in double
 * precision. */
#ifndef PARTICLEFILTER_CONSTANTS_H
#define PARTICLEFILTER_CONSTANTS_H

#define LOG2_E       0x1.71547652b82fep+0
#define LN2_HIGH     0x1.62e42feep-1 /* 31 bits: its product with a power's number is exact */
#define LN2_LOW      0x1.a39ef35793c76p-33
#define ROUNDER      0x1.8p52 /* added and subtracted again, it rounds to a whole number */
#define EXPONENT_MIN (-700.0) /* below it the result is 0 */

/* 1 / n!, from n = 12 down to 0. */
#define EXPONENTIAL_TERMS                                                                                            \
    {                                                                                                                \
        1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, \
            1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0                                                                         \
    }

enum { EXPONENTIAL_TERM_COUNT = 13 };

/* How particles move from frame to frame: by a step and a normal distribution around it. */
#define STEP_X   1.0
#define STEP_Y   (-2.0)
#define SPREAD_X 5.0
#define SPREAD_Y 2.0

/* Shades of the object and what is around it, and the divisor that makes their difference a likelihood. */
#define OBJECT_SHADE     228.0
#define GROUND_SHADE     100.0
#define LIKELIHOOD_SCALE 50.0

/* The generator of each particle: linear congruential, its upper 24 bits are used. */
#define RANDOM_FACTOR  1664525u
#define RANDOM_SUMMAND 1013904223u

enum { UNIFORM_BITS = 24, UNIFORM_COUNT = 12 /* summed up, their variance is 1 */ };

#define UNIFORM_UNIT 0x1p-24

#endif
