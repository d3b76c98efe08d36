/* spmv-merge: host program; see spmv-merge.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "graph.h"
#include "workload.h"

enum { BLOCK = 256, EACH = 8, FIT = 1024, ELL = 16 };

static const struct {
    int rows, degree;
} inputs[SIZE_COUNT] = {{1000, 6}, {12000, 10}, {200000, 16}};

/* With a limit on the elements of a row: the first of them. */
static void reference(const struct graph *matrix, const float *x, float *y, int limit)
{
    for (int row = 0; row < matrix->node_count; row++) {
        double sum = 0.0;
        for (int i = matrix->starts[row]; i < matrix->starts[row + 1] && i < matrix->starts[row] + limit; i++)
            sum += (double)matrix->weights[i] * x[matrix->targets[i]];
        y[row] = sum;
    }
}

/* Rows are gathered while their elements fit; one that does not fit is by itself. Returns the number of blocks. */
static int gather_rows(const struct graph *matrix, int *firsts)
{
    int blocks = 0;

    for (int row = 0; row < matrix->node_count; blocks++) {
        int first = row;
        firsts[blocks] = row++;
        while (row < matrix->node_count && matrix->starts[row + 1] - matrix->starts[first] <= FIT)
            row++;
    }
    firsts[blocks] = matrix->node_count;
    return blocks;
}

struct device {
    CUdeviceptr values, columns, starts, x, y;
};

static size_t run_merge(const struct gpu *gpu, const struct graph *matrix, struct device *d, const float *expected)
{
    int rows = matrix->node_count, elements = matrix->edge_count;
    CUdeviceptr ends = d->starts + sizeof(int);

    CHECK(cuMemsetD8(d->y, 0, rows * sizeof(float)));
    gpu_launch_named(gpu, "spmv_merge", gpu_blocks(rows + elements, BLOCK * EACH), BLOCK,
                     (void *[]){&d->values, &d->columns, &ends, &d->x, &d->y, &rows, &elements});
    return array_check("merged", d->y, expected, rows, 1e-4f, 1e-3f);
}

static size_t run_adaptive(const struct gpu *gpu, const struct graph *matrix, struct device *d, const float *expected)
{
    int *firsts = workload_alloc(matrix->node_count + 1, sizeof(int));
    int blocks = gather_rows(matrix, firsts);
    CUdeviceptr first_memory = gpu_upload(firsts, (blocks + 1) * sizeof(int));

    CHECK(cuMemsetD8(d->y, 0, matrix->node_count * sizeof(float)));
    gpu_launch_named(gpu, "spmv_adaptive", blocks, BLOCK,
                     (void *[]){&d->values, &d->columns, &d->starts, &first_memory, &d->x, &d->y});
    gpu_free(first_memory);
    free(firsts);
    return array_check("adaptive", d->y, expected, matrix->node_count, 1e-4f, 1e-3f);
}

static size_t run_ell(const struct gpu *gpu, const struct graph *matrix, struct device *d, const float *expected)
{
    int rows = matrix->node_count;
    size_t cells = (size_t)rows * ELL;
    float *values = workload_alloc(cells, sizeof(float));
    int *columns = workload_alloc(cells, sizeof(int));

    for (size_t i = 0; i < cells; i++) {
        int row = i % rows, at = matrix->starts[row] + (int)(i / rows);
        columns[i] = at < matrix->starts[row + 1] ? matrix->targets[at] : -1;
        values[i] = at < matrix->starts[row + 1] ? matrix->weights[at] : 0.0f;
    }
    CUdeviceptr value_memory = gpu_upload(values, cells * sizeof(float));
    CUdeviceptr column_memory = gpu_upload(columns, cells * sizeof(int));
    gpu_launch_named(gpu, "spmv_ell", gpu_blocks(rows, BLOCK), BLOCK,
                     (void *[]){&value_memory, &column_memory, &d->x, &d->y, &rows});
    gpu_free(value_memory);
    gpu_free(column_memory);
    free(values);
    free(columns);
    return array_check("ELLPACK", d->y, expected, rows, 1e-4f, 1e-3f);
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "spmv-merge",
        .summary = "Sparse matrix times vector where rows differ much: merge-based, adaptive, ELLPACK.",
        .inputs = {"1,000 rows", "12,000 rows", "200,000 rows"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int rows = inputs[size].rows;
    uint64_t state = workload_seed(2014);
    struct graph matrix;
    struct gpu gpu;

    graph_make(&matrix, rows, inputs[size].degree, &state);
    float *x = array_of_floats(rows, 0.1f, 1.0f, &state), *y = workload_alloc(rows, sizeof(float));
    gpu_open(&gpu);
    struct device d = {gpu_upload(matrix.weights, matrix.edge_count * sizeof(float)),
                       gpu_upload(matrix.targets, matrix.edge_count * sizeof(int)),
                       gpu_upload(matrix.starts, (rows + 1) * sizeof(int)), gpu_upload(x, rows * sizeof(float)),
                       gpu_alloc_zeroed(rows * sizeof(float))};
    reference(&matrix, x, y, rows);
    size_t mismatches = run_merge(&gpu, &matrix, &d, y) + run_adaptive(&gpu, &matrix, &d, y);
    reference(&matrix, x, y, ELL);
    mismatches += run_ell(&gpu, &matrix, &d, y);
    CUdeviceptr all[] = {d.values, d.columns, d.starts, d.x, d.y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
    gpu_close(&gpu);
    graph_free(&matrix);
    free(x);
    free(y);
    return workload_verdict(&workload, mismatches, 3 * (size_t)rows, "elements of y");
}
