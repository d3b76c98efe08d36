/*
 * microphysics.h: what happens to water in one cell of the air, for the kernel and for the reference. Operations are
 * single ones in a fixed order, so that both give the same bits. The rates have the form of the usual ones; powers and
 * exponential functions are replaced by polynomials.
 */
#ifndef WORKLOADS_MICROPHYSICS_H
#define WORKLOADS_MICROPHYSICS_H

#if defined(__CUDA__) || defined(__CUDACC__)
#define AIR_FUNCTION     static inline __device__
#define air_sqrt(x)      __fsqrt_rn(x)
#define air_divide(x, y) __fdiv_rn(x, y)
#else
#include <math.h>
#define AIR_FUNCTION     static inline
#define air_sqrt(x)      sqrtf(x)
#define air_divide(x, y) ((x) / (y))
#endif

enum { LEVELS = 28, SUBSTEPS_MAX = 12 };

/* An array each, with all columns of a level side by side. Water is in grams per kilogram of air. */
enum { TEMPERATURE, VAPOUR, CLOUD, ICE, RAIN, SNOW, CHANGING, PRESSURE = CHANGING, DENSITY, THICKNESS, FIELDS };

#define FREEZING  273.15f
#define TIME_STEP 60.0f /* seconds */

struct air {
    float water[CHANGING]; /* the temperature too, in its place */
    float saturation;
};

/* Vapour that the air can hold; pressure is in hectopascals. */
AIR_FUNCTION float air_saturation(float temperature, float pressure)
{
    float warmer = temperature - FREEZING;
    float value = 6.1f + warmer * (0.444f + warmer * (0.0143f + warmer * 0.000265f));

    if (value < 0.05f)
        value = 0.05f;
    return air_divide(622.0f * value, pressure - value);
}

/* In metres per second. */
AIR_FUNCTION float air_fall_speed(float rain, float snow, float density)
{
    if (rain + snow <= 0.0001f)
        return 0;
    return air_divide(12.0f * air_sqrt(rain * density) + 1.5f * air_sqrt(snow), density);
}

AIR_FUNCTION float air_least(float a, float b) { return a < b ? a : b; }

/* Cloud drops become rain, and rain collects them. */
AIR_FUNCTION void air_rain(struct air *air)
{
    float moved = 0;

    if (air->water[CLOUD] > 0.5f)
        moved = 0.001f * TIME_STEP * (air->water[CLOUD] - 0.5f);
    if (air->water[RAIN] > 0.001f)
        moved = moved + 0.0022f * TIME_STEP * air->water[CLOUD] * air_sqrt(air->water[RAIN]);
    moved = air_least(moved, air->water[CLOUD]);
    air->water[CLOUD] = air->water[CLOUD] - moved;
    air->water[RAIN] = air->water[RAIN] + moved;
}

/* Below freezing cloud becomes ice, and ice snow; above it both melt, snow only in part. */
AIR_FUNCTION void air_freeze(struct air *air)
{
    float colder = FREEZING - air->water[TEMPERATURE];

    if (colder > 0) {
        float frozen = air_least(air->water[CLOUD], 0.0004f * TIME_STEP * colder * air->water[CLOUD]);
        float clumped = air->water[ICE] > 0.1f ? 0.002f * TIME_STEP * (air->water[ICE] - 0.1f) : 0;
        air->water[CLOUD] = air->water[CLOUD] - frozen;
        air->water[ICE] = air->water[ICE] + frozen - clumped;
        air->water[SNOW] = air->water[SNOW] + clumped;
        air->water[TEMPERATURE] = air->water[TEMPERATURE] + 0.334f * frozen;
    } else if (air->water[ICE] + air->water[SNOW] > 0) {
        float melted = air_least(air->water[SNOW], -0.003f * TIME_STEP * colder * air->water[SNOW]);
        air->water[RAIN] = air->water[RAIN] + melted;
        air->water[SNOW] = air->water[SNOW] - melted;
        air->water[CLOUD] = air->water[CLOUD] + air->water[ICE];
        air->water[TEMPERATURE] = air->water[TEMPERATURE] - 0.334f * (melted + air->water[ICE]);
        air->water[ICE] = 0;
    }
}

/* Rain dries in air that is not saturated; vapour beyond saturation becomes cloud, or cloud vapour. */
AIR_FUNCTION void air_condense(struct air *air)
{
    float missing = air->saturation - air->water[VAPOUR];

    if (missing > 0 && air->water[RAIN] > 0.001f) {
        float dried = air_least(air->water[RAIN], 0.0005f * TIME_STEP * missing * air_sqrt(air->water[RAIN]));
        air->water[RAIN] = air->water[RAIN] - dried;
        air->water[VAPOUR] = air->water[VAPOUR] + dried;
        air->water[TEMPERATURE] = air->water[TEMPERATURE] - 2.5f * dried;
        missing = air->saturation - air->water[VAPOUR];
    }
    float back = air_least(air->water[CLOUD], air_divide(missing, 1 + 0.3f * air->saturation));
    air->water[CLOUD] = air->water[CLOUD] - back;
    air->water[VAPOUR] = air->water[VAPOUR] + back;
    air->water[TEMPERATURE] = air->water[TEMPERATURE] - 2.5f * back;
}

#endif
