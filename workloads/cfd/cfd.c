/* cfd: host program; see cfd.cu for what the kernels do. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "euler.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 192, WINDOW = 512 };

struct grid {
    int cell_count;
    int *neighbours; /* FACES arrays of cells, WALL or FAR_FIELD */
    float *normals;  /* of each face, pointing out, as long as the face is large: x of all faces, then y, then z */
    float *areas;
    float *variables;
    float far_field[VARIABLES];
};

struct side {
    int columns;
    int rows;
};

static const struct side sides[SIZE_COUNT] = {{23, 17}, {192, 128}, {314, 309}};
static const long step_counts[SIZE_COUNT] = {2, 1, 1};

/* The number of each place's cell: places of a window of the plane, row by row, are in no order. */
static int *number_cells(int cell_count, uint64_t *state)
{
    int *numbers = workload_alloc(cell_count, sizeof(int));

    for (int i = 0; i < cell_count; i++)
        numbers[i] = i;
    for (int i = cell_count - 1; i > 0; i--) {
        int first = i / WINDOW * WINDOW;
        int other = first + random_below(state, i - first + 1);
        int moved = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = moved;
    }
    return numbers;
}

/* The body is a rectangle in the middle of the plane; its cells stay, but all their faces are walls. */
static bool is_body(struct side side, int column, int row)
{
    return column >= side.columns * 3 / 8 && column < side.columns / 2 && row >= side.rows * 3 / 8 &&
           row < side.rows * 5 / 8;
}

static int cell_beyond(const int *numbers, struct side side, int column, int row, const int *step)
{
    int to_column = column + step[0];
    int to_row = row + step[1];

    if (to_column < 0 || to_column >= side.columns || to_row < 0 || to_row >= side.rows)
        return FAR_FIELD;
    if (is_body(side, column, row) || is_body(side, to_column, to_row))
        return WALL;
    return numbers[to_row * side.columns + to_column];
}

static void grid_cell(struct grid *grid, const int *numbers, struct side side, int place, uint64_t *state)
{
    static const int steps[FACES][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    int cell_count = grid->cell_count;
    int cell = numbers[place];

    for (int face = 0; face < FACES; face++) {
        const int *step = steps[face];
        int beyond = cell_beyond(numbers, side, place % side.columns, place / side.columns, step);
        grid->neighbours[cell + face * cell_count] = beyond;
        for (int i = 0; i < 3; i++) {
            float across = i < 2 ? step[i] : 0;
            grid->normals[cell + (face + i * FACES) * cell_count] = across + (random_float(state) - 0.5f) * 0.25f;
        }
    }
    grid->areas[cell] = 0.75f + random_float(state) * 0.5f;
    for (int i = 0; i < VARIABLES; i++)
        grid->variables[cell + i * cell_count] = grid->far_field[i] * (0.96875f + random_float(state) * 0.0625f);
}

static void grid_make(struct grid *grid, struct side side)
{
    static const float far_field[VARIABLES] = {1.4f, 1.25f, 0.25f, 0, 3.5f};
    uint64_t state = workload_seed(97046);

    grid->cell_count = side.columns * side.rows;
    grid->neighbours = workload_alloc(grid->cell_count * FACES, sizeof(int));
    grid->normals = workload_alloc(grid->cell_count * FACES * 3, sizeof(float));
    grid->areas = workload_alloc(grid->cell_count, sizeof(float));
    grid->variables = workload_alloc(grid->cell_count * VARIABLES, sizeof(float));
    memcpy(grid->far_field, far_field, sizeof far_field);
    int *numbers = number_cells(grid->cell_count, &state);
    for (int place = 0; place < grid->cell_count; place++)
        grid_cell(grid, numbers, side, place, &state);
    free(numbers);
}

static void grid_free(struct grid *grid)
{
    free(grid->neighbours);
    free(grid->normals);
    free(grid->areas);
    free(grid->variables);
}

static void take_cell(struct cell *cell, const float *variables, int at, int cell_count)
{
    cell->density = variables[at + DENSITY * cell_count];
    for (int i = 0; i < 3; i++)
        cell->momentum[i] = variables[at + (MOMENTUM_X + i) * cell_count];
    cell->energy = variables[at + ENERGY * cell_count];
    euler_derive(cell);
}

static void flux_reference(const struct grid *grid, const struct cell *cells, const struct cell *far, int at,
                           float *flux)
{
    memset(flux, 0, VARIABLES * sizeof(float));
    for (int face = 0; face < FACES; face++) {
        const float *normals = grid->normals + at + face * grid->cell_count;
        int pitch = FACES * grid->cell_count;
        float normal[3] = {normals[0], normals[pitch], normals[2 * pitch]};
        int beyond = grid->neighbours[at + face * grid->cell_count];
        if (beyond == WALL) {
            euler_add_wall(flux, &cells[at], normal);
            continue;
        }
        const struct cell *other = beyond == FAR_FIELD ? far : &cells[beyond];
        if (beyond != FAR_FIELD) {
            float area = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
            euler_add_smoothing(flux, &cells[at], other, area);
        }
        euler_add_flow(flux, other, normal);
        euler_add_flow(flux, &cells[at], normal);
    }
}

/* Changes the grid's variables. Each part of a step derives all cells first, which a kernel does for each face. */
static void reference(struct grid *grid, int step_count)
{
    int count = grid->cell_count;
    struct cell *cells = workload_alloc(count, sizeof *cells);
    float *old = workload_alloc(count * VARIABLES, sizeof(float));
    float *factors = workload_alloc(count, sizeof(float));
    struct cell far;

    take_cell(&far, grid->far_field, 0, 1);
    for (int step = 0; step < step_count * RUNGE_KUTTA_STEPS; step++) {
        for (int i = 0; i < count; i++)
            take_cell(&cells[i], grid->variables, i, count);
        if (step % RUNGE_KUTTA_STEPS == 0) {
            memcpy(old, grid->variables, count * VARIABLES * sizeof(float));
            for (int i = 0; i < count; i++)
                factors[i] = 0.5f / (sqrtf(grid->areas[i]) * cells[i].fastest);
        }
        for (int i = 0; i < count; i++) {
            float flux[VARIABLES];
            flux_reference(grid, cells, &far, i, flux);
            float factor = factors[i] / (RUNGE_KUTTA_STEPS - step % RUNGE_KUTTA_STEPS);
            for (int j = 0; j < VARIABLES; j++)
                grid->variables[i + j * count] = old[i + j * count] - factor * flux[j];
        }
    }
    free(cells);
    free(old);
    free(factors);
}

static void flow_on_device(const struct gpu *gpu, const struct grid *grid, int step_count, float *variables)
{
    int count = grid->cell_count;
    size_t bytes = count * VARIABLES * sizeof(float);
    CUdeviceptr neighbours = gpu_upload(grid->neighbours, count * FACES * sizeof(int));
    CUdeviceptr normals = gpu_upload(grid->normals, count * FACES * 3 * sizeof(float));
    CUdeviceptr areas = gpu_upload(grid->areas, count * sizeof(float));
    CUdeviceptr now = gpu_upload(grid->variables, bytes), old = gpu_alloc_zeroed(bytes);
    CUdeviceptr fluxes = gpu_alloc_zeroed(bytes), factors = gpu_alloc_zeroed(count * sizeof(float));
    CUdeviceptr far = gpu_upload(grid->far_field, sizeof grid->far_field);
    CUdeviceptr all[] = {neighbours, normals, areas, now, old, fluxes, factors, far};
    unsigned blocks = gpu_blocks(count, BLOCK);

    for (int step = 0; step < step_count; step++) {
        CHECK(cuMemcpyDtoD(old, now, bytes));
        gpu_launch_named(gpu, "cfd_step_factor", blocks, BLOCK, (void *[]){&old, &areas, &factors, &count});
        for (int part = 0; part < RUNGE_KUTTA_STEPS; part++) {
            gpu_launch_named(gpu, "cfd_flux", blocks, BLOCK,
                             (void *[]){&neighbours, &normals, &now, &far, &fluxes, &count});
            gpu_launch_named(gpu, "cfd_advance", blocks, BLOCK,
                             (void *[]){&old, &factors, &fluxes, &now, &count, &part});
        }
    }
    gpu_download(variables, now, bytes);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

int main(int argc, char **argv)
{
    long steps = 0;
    const struct workload_option options[] = {{"steps", "steps in time", &steps, 100000}, {NULL, NULL, NULL, 0}};
    const struct workload workload = {
        .name = "cfd",
        .summary = "Flow of a gas around a body on an unstructured grid, one thread per cell.",
        .inputs = {"391 cells, 2 steps", "24,576 cells, 1 step", "97,026 cells, 1 step"},
        .options = options,
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    struct grid grid;
    struct gpu gpu;

    if (!steps)
        steps = step_counts[size];
    grid_make(&grid, sides[size]);
    size_t values = (size_t)grid.cell_count * VARIABLES;
    float *variables = workload_alloc(values, sizeof(float));
    gpu_open(&gpu);
    flow_on_device(&gpu, &grid, steps, variables);
    gpu_close(&gpu);
    reference(&grid, steps);
    size_t mismatches = compare_f32("variable", variables, grid.variables, values);
    grid_free(&grid);
    free(variables);
    return workload_verdict(&workload, mismatches, values, "variables");
}
