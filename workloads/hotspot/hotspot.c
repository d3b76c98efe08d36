/* hotspot: host program; see hotspot.cu for what the kernel does. The reference steps the whole chip at once, to the
 * bit. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { TILE = 16, HEIGHT_LIMIT = TILE / 2 - 1 };

/* Laid out as the kernel's parameter. */
struct cell {
    float capacity;
    float row_resistance;
    float column_resistance;
    float air_resistance;
    float air_temperature;
    float step_seconds;
};

struct problem {
    long side;   /* the chip is side x side cells */
    long steps;  /* of time */
    long height; /* steps per launch: the pyramid's height */
};

static const struct problem problems[SIZE_COUNT] = {{60, 3, 2}, {512, 4, 2}, {512, 2, 2}};

/* Silicon half a millimetre thick in cells of 1/32 mm: 512 a side are a chip of 16 mm. */
static struct cell silicon_cell(void)
{
    const double width = 0.016 / 512, thickness = 0.0005; /* metres */
    const double joules_per_cubic_metre_kelvin = 1.75e6, watts_per_metre_kelvin = 100.0;
    const double lumped = 0.5;                 /* share of the capacity that takes part */
    const double watts_per_square_metre = 3e6; /* at most, and */
    const double kelvin_a_step = 0.001;        /* what that may heat a cell in one step */
    double capacity_of_area = lumped * joules_per_cubic_metre_kelvin * thickness;
    float across = 1.0 / (2.0 * watts_per_metre_kelvin * thickness);

    return (struct cell){
        .capacity = capacity_of_area * width * width,
        .row_resistance = across,
        .column_resistance = across,
        .air_resistance = thickness / (watts_per_metre_kelvin * width * width),
        .air_temperature = 80.0f,
        .step_seconds = kelvin_a_step * capacity_of_area / watts_per_square_metre,
    };
}

static float inflow(float before, float here, float after, float conductance)
{
    return fmaf(-2.0f, here, before + after) * conductance;
}

static void step_reference(const struct cell *cell, long side, const float *power, const float *before, float *after)
{
    float conductance = 1.0f / cell->row_resistance;
    float air_conductance = 1.0f / cell->air_resistance;
    float step_over_capacity = cell->step_seconds / cell->capacity;

    for (long row = 0; row < side; row++) {
        const float *here = before + row * side;
        const float *north = row > 0 ? here - side : here;
        const float *south = row + 1 < side ? here + side : here;
        for (long x = 0; x < side; x++) {
            float west = here[x > 0 ? x - 1 : x];
            float east = here[x + 1 < side ? x + 1 : x];
            float flow = power[row * side + x] + inflow(north[x], here[x], south[x], conductance);
            flow += inflow(west, here[x], east, conductance);
            flow = fmaf(cell->air_temperature - here[x], air_conductance, flow);
            after[row * side + x] = fmaf(step_over_capacity, flow, here[x]);
        }
    }
}

static void heat_reference(const struct problem *problem, const struct cell *cell, const float *power, float *heat)
{
    size_t cells = (size_t)problem->side * problem->side;
    float *before = workload_alloc(cells, sizeof(float));

    for (long step = 0; step < problem->steps; step++) {
        for (size_t i = 0; i < cells; i++)
            before[i] = heat[i];
        step_reference(cell, problem->side, power, before, heat);
    }
    free(before);
}

static void heat_on_device(const struct gpu *gpu, const struct problem *problem, struct cell *cell, const float *power,
                           float *heat)
{
    CUfunction kernel = gpu_kernel(gpu, "hotspot");
    int side = problem->side;
    size_t bytes = (size_t)side * side * sizeof(float);
    CUdeviceptr watts = gpu_upload(power, bytes);
    CUdeviceptr before = gpu_upload(heat, bytes);
    CUdeviceptr after = gpu_alloc_zeroed(bytes);

    for (long done = 0; done < problem->steps; done += problem->height) {
        int steps = problem->steps - done < problem->height ? problem->steps - done : problem->height;
        unsigned blocks = gpu_blocks(side, TILE - 2 * steps);
        void *arguments[] = {&watts, &before, &after, &side, &side, &steps, cell};
        gpu_launch(kernel, (struct shape){blocks, blocks}, (struct shape){TILE, TILE}, arguments);
        CUdeviceptr newest = after;
        after = before;
        before = newest;
    }
    gpu_download(heat, before, bytes);
    gpu_free(watts);
    gpu_free(before);
    gpu_free(after);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0, 0};
    const struct workload_option options[] = {
        {"side", "cells on a side of a chip of your own size", &given.side, 16384},
        {"steps", "steps of time", &given.steps, 1000000},
        {"height", "steps per launch, the height of the pyramid", &given.height, HEIGHT_LIMIT},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "hotspot",
        .summary = "Temperature of a chip over time: a stencil on 16x16 tiles that overlap.",
        .inputs = {"60 x 60 cells, 3 steps", "512 x 512 cells, 4 steps", "512 x 512 cells, 2 steps"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(TILE);
    struct gpu gpu;

    if (given.side)
        problem.side = given.side;
    if (given.steps)
        problem.steps = given.steps;
    if (given.height)
        problem.height = given.height;
    struct cell cell = silicon_cell();
    size_t cells = (size_t)problem.side * problem.side;
    float *power = workload_alloc(cells, sizeof(float));
    float *heat = workload_alloc(cells, sizeof(float));
    float *expected = workload_alloc(cells, sizeof(float));
    for (size_t i = 0; i < cells; i++) {
        power[i] = random_float(&state) * 0.01f;
        heat[i] = expected[i] = 320.0f + random_float(&state) * 20.0f;
    }
    gpu_open(&gpu);
    heat_on_device(&gpu, &problem, &cell, power, heat);
    gpu_close(&gpu);
    heat_reference(&problem, &cell, power, expected);
    size_t mismatches = compare_f32("temperature", heat, expected, cells);
    free(power);
    free(heat);
    free(expected);
    return workload_verdict(&workload, mismatches, cells, "temperatures");
}
