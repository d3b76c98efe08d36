/*
 * wp: clouds, rain and snow of a weather forecast, one thread per column of air (after the five-class microphysics of
 * the WRF model, WSM5).
 *
 * A thread walks its column several times: what the air can hold and how fast rain falls; the fall itself, in as many
 * small steps as the fastest rain needs, so trips depend on the data; then what condenses, freezes, melts and dries.
 * Fields are level by level, so loads are converged; what the walks hand to each other lies in local memory, two words
 * for each level. Branches depend on the weather of the cell.
 */
#include "device.h"
#include "microphysics.h"

/* The number of steps that let no rain fall through more than a cell at once. */
static inline __device__ int prepare(const float *fields, int pitch, float *saturation, float *speed)
{
    float most = 1;

#pragma unroll 1
    for (int k = 0; k < LEVELS; k++) {
        const float *cell = fields + k * pitch;
        int field = LEVELS * pitch;
        saturation[k] = air_saturation(cell[TEMPERATURE * field], cell[PRESSURE * field]);
        speed[k] = air_fall_speed(cell[RAIN * field], cell[SNOW * field], cell[DENSITY * field]);
        float cells = __fdiv_rn(speed[k] * TIME_STEP, cell[THICKNESS * field]);
        if (cells > most)
            most = cells;
    }
    int steps = (int)most + 1;
    return steps < SUBSTEPS_MAX ? steps : SUBSTEPS_MAX;
}

/* Returns what reaches the ground. */
static inline __device__ float fall(float *fields, int pitch, const float *speed, int steps)
{
    int field = LEVELS * pitch;
    float ground = 0;

#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        float rain_above = 0, snow_above = 0;
#pragma unroll 1
        for (int k = LEVELS - 1; k >= 0; k--) {
            float *cell = fields + k * pitch;
            float share = __fdiv_rn(speed[k] * TIME_STEP, cell[THICKNESS * field] * steps);
            share = air_least(share, 1);
            float rain = cell[RAIN * field], snow = cell[SNOW * field];
            cell[RAIN * field] = rain - share * rain + rain_above;
            cell[SNOW * field] = snow - share * snow + snow_above;
            rain_above = share * rain;
            snow_above = share * snow;
        }
        ground = ground + (rain_above + snow_above);
    }
    return ground;
}

static inline __device__ void change(float *fields, int pitch, const float *saturation)
{
    int field = LEVELS * pitch;

#pragma unroll 1
    for (int k = 0; k < LEVELS; k++) {
        float *cell = fields + k * pitch;
        air air;
        for (int i = 0; i < CHANGING; i++)
            air.water[i] = cell[i * field];
        air.saturation = saturation[k];
        air_rain(&air);
        air_freeze(&air);
        air_condense(&air);
        for (int i = 0; i < CHANGING; i++)
            cell[i * field] = air.water[i];
    }
}

extern "C" __global__ void wp_column(float *fields, float *ground, int column_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < column_count) {
        float saturation[LEVELS], speed[LEVELS];
        int steps = prepare(fields + tid, column_count, saturation, speed);
        ground[tid] = ground[tid] + fall(fields + tid, column_count, speed, steps);
        change(fields + tid, column_count, saturation);
    }
}
