/* cholesky: host program; see cholesky.cu for what the kernels do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { SIDE = 32, THREADS = 64, BLOCK = 128, LANES = 32 };

static const int matrix_counts[SIZE_COUNT] = {8, 200, 3000};

/* Symmetric, with a heavy diagonal, so that it has a root. */
static void make_matrix(double *matrix, uint64_t *state)
{
    for (int row = 0; row < SIDE; row++) {
        for (int column = 0; column <= row; column++) {
            double value = random_float(state) - 0.5;
            matrix[row * SIDE + column] = matrix[column * SIDE + row] = row == column ? SIDE + value : value;
        }
    }
}

/* How many rows of A x differ from the right side b. */
static size_t check_matrix(const double *matrix, const double *x, const double *b)
{
    size_t mismatches = 0;

    for (int row = 0; row < SIDE; row++) {
        double sum = 0.0;
        for (int column = 0; column < SIDE; column++)
            sum += matrix[row * SIDE + column] * x[column];
        if (!(fabs(sum - b[row]) <= 1e-10) && mismatches++ == 0)
            fprintf(stderr, "row %d of A x is %.17g, expected %.17g\n", row, sum, b[row]);
    }
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "cholesky",
        .summary = "Small systems of equations in double precision: decomposed, then solved.",
        .inputs = {"8 systems of 32", "200 systems of 32", "3,000 systems of 32"},
    };
    int count = matrix_counts[workload_parse(&workload, argc, argv)];
    size_t cells = (size_t)count * SIDE * SIDE, rows = (size_t)count * SIDE, mismatches = 0;
    uint64_t state = workload_seed(1924);
    double *matrices = workload_alloc(cells, sizeof(double)), *sides = workload_alloc(rows, sizeof(double));
    double *x = workload_alloc(rows, sizeof(double));
    struct gpu gpu;

    for (int i = 0; i < count; i++)
        make_matrix(matrices + (size_t)i * SIDE * SIDE, &state);
    for (size_t i = 0; i < rows; i++)
        sides[i] = random_float(&state) - 0.5;
    gpu_open(&gpu);
    CUdeviceptr memory = gpu_upload(matrices, cells * sizeof(double));
    CUdeviceptr side_memory = gpu_upload(sides, rows * sizeof(double));
    gpu_launch_named(&gpu, "cholesky_decompose", count, THREADS, (void *[]){&memory});
    gpu_launch_named(&gpu, "cholesky_solve", gpu_blocks((size_t)count * LANES, BLOCK), BLOCK,
                     (void *[]){&memory, &side_memory, &count});
    gpu_download(x, side_memory, rows * sizeof(double));
    for (int i = 0; i < count; i++)
        mismatches += check_matrix(matrices + (size_t)i * SIDE * SIDE, x + (size_t)i * SIDE, sides + (size_t)i * SIDE);
    gpu_free(memory);
    gpu_free(side_memory);
    gpu_close(&gpu);
    free(matrices);
    free(sides);
    free(x);
    return workload_verdict(&workload, mismatches, rows, "equations");
}
