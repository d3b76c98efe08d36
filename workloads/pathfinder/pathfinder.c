/* pathfinder: host program; see pathfinder.cu for what the kernel does. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, COST_LIMIT = 10, HEIGHT_LIMIT = BLOCK / 2 - 1 };

struct problem {
    long columns;
    long rows;
    long height; /* rows a launch: the pyramid's height */
};

static const struct problem problems[SIZE_COUNT] = {{3000, 50, 20}, {50000, 100, 20}, {100000, 100, 20}};

static void walk_reference(const struct problem *problem, const int *costs, int *reached)
{
    long columns = problem->columns;
    int *before = workload_alloc(columns, sizeof(int));

    memcpy(reached, costs, columns * sizeof(int));
    for (long row = 1; row < problem->rows; row++) {
        memcpy(before, reached, columns * sizeof(int));
        for (long x = 0; x < columns; x++) {
            int cheapest = before[x];
            if (x > 0 && before[x - 1] < cheapest)
                cheapest = before[x - 1];
            if (x + 1 < columns && before[x + 1] < cheapest)
                cheapest = before[x + 1];
            reached[x] = cheapest + costs[row * columns + x];
        }
    }
    free(before);
}

static void walk_on_device(const struct gpu *gpu, const struct problem *problem, const int *costs, int *reached)
{
    CUfunction kernel = gpu_kernel(gpu, "pathfinder");
    int columns = problem->columns;
    size_t row_bytes = columns * sizeof(int);
    CUdeviceptr all_costs = gpu_upload(costs, row_bytes * problem->rows);
    CUdeviceptr before = gpu_upload(costs, row_bytes); /* the ways through the first row are its costs */
    CUdeviceptr after = gpu_alloc_zeroed(row_bytes);

    for (int row = 1; row < problem->rows; row += problem->height) {
        int rows = problem->rows - row < problem->height ? problem->rows - row : problem->height;
        void *arguments[] = {&all_costs, &before, &after, &columns, &row, &rows};
        struct shape grid = {gpu_blocks(columns, BLOCK - 2 * rows), 1};
        gpu_launch(kernel, grid, (struct shape){BLOCK, 1}, arguments);
        CUdeviceptr newest = after;
        after = before;
        before = newest;
    }
    gpu_download(reached, before, row_bytes);
    gpu_free(all_costs);
    gpu_free(before);
    gpu_free(after);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0, 0};
    const struct workload_option options[] = {
        {"columns", "columns of a grid of your own size", &given.columns, 1000000},
        {"rows", "its rows", &given.rows, 1000},
        {"height", "rows a launch, the height of the pyramid", &given.height, HEIGHT_LIMIT},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "pathfinder",
        .summary = "Cheapest way through a grid, row by row, on strips of columns that overlap.",
        .inputs = {"3,000 columns, 50 rows", "50,000 columns, 100 rows", "100,000 columns, 100 rows"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(BLOCK);
    struct gpu gpu;

    if (given.columns)
        problem.columns = given.columns;
    if (given.rows)
        problem.rows = given.rows;
    if (given.height)
        problem.height = given.height;
    int *costs = workload_alloc((size_t)problem.columns * problem.rows, sizeof(int));
    int *reached = workload_alloc(problem.columns, sizeof(int));
    int *expected = workload_alloc(problem.columns, sizeof(int));
    for (long i = 0; i < problem.columns * problem.rows; i++)
        costs[i] = random_below(&state, COST_LIMIT);
    gpu_open(&gpu);
    walk_on_device(&gpu, &problem, costs, reached);
    gpu_close(&gpu);
    walk_reference(&problem, costs, expected);
    size_t mismatches = compare_u32("cost", (uint32_t *)reached, (uint32_t *)expected, problem.columns);
    free(costs);
    free(reached);
    free(expected);
    return workload_verdict(&workload, mismatches, problem.columns, "costs of ways");
}
