/* wp: host program; see wp.cu for what the kernel does. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "microphysics.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 64 };

static const long column_counts[SIZE_COUNT] = {300, 12288, 30720};
static const long step_counts[SIZE_COUNT] = {2, 1, 3};

/* Air that is drier and colder further up, with clouds in a part of the columns. */
static void make_cell(float *cell, int field, int level, float humidity, uint64_t *state)
{
    float height = (level + 0.5f) / LEVELS;

    cell[TEMPERATURE * field] = 295 - 75 * height + random_float(state) * 2;
    cell[PRESSURE * field] = 1000 - 780 * height;
    cell[DENSITY * field] = 1.2f - 0.85f * height;
    cell[THICKNESS * field] = 150 + 500 * height;
    cell[VAPOUR * field] = humidity * air_saturation(cell[TEMPERATURE * field], cell[PRESSURE * field]);
    if (humidity <= 0.75f)
        return;
    cell[CLOUD * field] = random_float(state) * 1.5f;
    cell[RAIN * field] = height < 0.6f ? random_float(state) * 2 : 0;
    if (cell[TEMPERATURE * field] < FREEZING) {
        cell[ICE * field] = random_float(state) * 0.5f;
        cell[SNOW * field] = random_float(state);
    }
}

/* Neighbouring columns have similar weather. */
static float *make_fields(int column_count)
{
    float *fields = workload_alloc((size_t)FIELDS * LEVELS * column_count, sizeof(float));
    uint64_t state = workload_seed(2004);
    float humidity = 0.5f;

    for (int column = 0; column < column_count; column++) {
        if (column % 24 == 0)
            humidity = 0.5f + random_float(&state) * 0.5f;
        for (int k = 0; k < LEVELS; k++)
            make_cell(fields + (size_t)k * column_count + column, LEVELS * column_count, k, humidity, &state);
    }
    return fields;
}

/* A column by itself, level by level; the device's has all columns of a level together. */
struct column {
    float cells[LEVELS][FIELDS];
    float ground;
};

static void column_copy(struct column *column, float *fields, int at, int column_count, int is_back)
{
    for (int k = 0; k < LEVELS; k++) {
        for (int i = 0; i < FIELDS; i++) {
            float *field = &fields[((size_t)i * LEVELS + k) * column_count + at];
            if (is_back)
                *field = column->cells[k][i];
            else
                column->cells[k][i] = *field;
        }
    }
}

static float fall_reference(struct column *column, const float *speed, int steps)
{
    float ground = 0;

    for (int step = 0; step < steps; step++) {
        float falling[LEVELS + 1][2] = {{0}};
        for (int k = 0; k < LEVELS; k++) {
            float *cell = column->cells[k];
            float share = air_least(speed[k] * TIME_STEP / (cell[THICKNESS] * steps), 1);
            falling[k][0] = share * cell[RAIN];
            falling[k][1] = share * cell[SNOW];
        }
        for (int k = 0; k < LEVELS; k++) {
            float *cell = column->cells[k];
            cell[RAIN] = cell[RAIN] - falling[k][0] + falling[k + 1][0];
            cell[SNOW] = cell[SNOW] - falling[k][1] + falling[k + 1][1];
        }
        ground = ground + (falling[0][0] + falling[0][1]);
    }
    return ground;
}

static void step_reference(struct column *column)
{
    float saturation[LEVELS], speed[LEVELS];
    float most = 1;

    for (int k = 0; k < LEVELS; k++) {
        const float *cell = column->cells[k];
        saturation[k] = air_saturation(cell[TEMPERATURE], cell[PRESSURE]);
        speed[k] = air_fall_speed(cell[RAIN], cell[SNOW], cell[DENSITY]);
        most = fmaxf(most, speed[k] * TIME_STEP / cell[THICKNESS]);
    }
    int steps = (int)most + 1 < SUBSTEPS_MAX ? (int)most + 1 : SUBSTEPS_MAX;
    column->ground = column->ground + fall_reference(column, speed, steps);
    for (int k = 0; k < LEVELS; k++) {
        struct air air = {.saturation = saturation[k]};
        memcpy(air.water, column->cells[k], sizeof air.water);
        air_rain(&air);
        air_freeze(&air);
        air_condense(&air);
        memcpy(column->cells[k], air.water, sizeof air.water);
    }
}

static void reference(float *fields, float *ground, int column_count, int steps)
{
    for (int i = 0; i < column_count; i++) {
        struct column column = {.ground = 0};
        column_copy(&column, fields, i, column_count, 0);
        for (int step = 0; step < steps; step++)
            step_reference(&column);
        column_copy(&column, fields, i, column_count, 1);
        ground[i] = column.ground;
    }
}

int main(int argc, char **argv)
{
    const struct workload workload = {
        .name = "wp",
        .summary = "Clouds, rain and snow of a weather forecast, one thread per column of air.",
        .inputs = {"300 columns, 2 steps", "12,288 columns, 1 step", "30,720 columns, 3 steps"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int columns = column_counts[size];
    size_t values = (size_t)CHANGING * LEVELS * columns;
    float *fields = make_fields(columns);
    float *results = workload_alloc(values, sizeof(float));
    float *ground = workload_alloc(columns, sizeof(float));
    float *expected_ground = workload_alloc(columns, sizeof(float));
    struct gpu gpu;

    gpu_open(&gpu);
    CUdeviceptr memory = gpu_upload(fields, (size_t)FIELDS * LEVELS * columns * sizeof(float));
    CUdeviceptr ground_memory = gpu_alloc_zeroed(columns * sizeof(float));
    for (int step = 0; step < step_counts[size]; step++)
        gpu_launch_named(&gpu, "wp_column", gpu_blocks(columns, BLOCK), BLOCK,
                         (void *[]){&memory, &ground_memory, &columns});
    gpu_download(results, memory, values * sizeof(float));
    gpu_download(ground, ground_memory, columns * sizeof(float));
    gpu_free(memory);
    gpu_free(ground_memory);
    gpu_close(&gpu);
    reference(fields, expected_ground, columns, step_counts[size]);
    size_t mismatches = compare_f32("value", results, fields, values);
    mismatches += compare_f32("ground", ground, expected_ground, columns);
    free(fields);
    free(results);
    free(ground);
    free(expected_ground);
    return workload_verdict(&workload, mismatches, values + columns, "values");
}
