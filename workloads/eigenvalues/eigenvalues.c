/* eigenvalues: host program; see eigenvalues.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { SMALL_BLOCK = 512, LARGE_BLOCK = 256, MAX_LARGE = 8192 };

#define PRECISION 0x1p-17f /* length of an interval against the eigenvalue in it */

/* Rows of the matrix that one block finishes, and of the one that many do. */
struct problem {
    long small;
    long large;
};

static const struct problem problems[SIZE_COUNT] = {{40, 270}, {160, 640}, {512, 2048}};

/* A symmetric tridiagonal matrix, and an interval that holds its eigenvalues. */
struct matrix {
    int rows;
    float *diagonal;
    float *squares; /* of the elements beside the diagonal; 0 above the first row */
    float low;
    float high;
};

/* The argument of the kernels, as in eigenvalues.cu. */
struct tridiagonal {
    CUdeviceptr diagonal;
    CUdeviceptr squares;
    int rows;
};

/* No element beside the diagonal is 0, so that Sturm's sequence never divides 0 by 0. */
static void matrix_random(struct matrix *matrix, int rows, uint64_t *state)
{
    float before = 0.0f;

    matrix->rows = rows;
    matrix->diagonal = workload_alloc(rows, sizeof(float));
    matrix->squares = workload_alloc(rows, sizeof(float));
    matrix->low = 0.0f;
    matrix->high = 0.0f;
    for (int i = 0; i < rows; i++) {
        float after = i + 1 < rows ? random_float(state) + 0.01f : 0.0f;
        matrix->diagonal[i] = random_float(state);
        matrix->squares[i] = before * before;
        /* Gershgorin: no eigenvalue is further from some element of the diagonal than the others of its row reach. */
        matrix->low = fminf(matrix->low, matrix->diagonal[i] - before - after);
        matrix->high = fmaxf(matrix->high, matrix->diagonal[i] + before + after);
        before = after;
    }
    matrix->low -= 0.01f;
    matrix->high += 0.01f;
}

static void matrix_free(struct matrix *matrix)
{
    free(matrix->diagonal);
    free(matrix->squares);
}

static struct tridiagonal matrix_upload(const struct matrix *matrix)
{
    size_t bytes = matrix->rows * sizeof(float);

    return (struct tridiagonal){
        .diagonal = gpu_upload(matrix->diagonal, bytes),
        .squares = gpu_upload(matrix->squares, bytes),
        .rows = matrix->rows,
    };
}

static void small_on_device(const struct gpu *gpu, struct matrix *matrix, float *eigenvalues)
{
    struct tridiagonal in = matrix_upload(matrix);
    float precision = PRECISION;
    CUdeviceptr out = gpu_alloc_zeroed(matrix->rows * sizeof(float));
    void *arguments[] = {&in, &matrix->low, &matrix->high, &precision, &out};

    gpu_launch(gpu_kernel(gpu, "eigenvalues_small"), (struct shape){1, 1}, (struct shape){SMALL_BLOCK, 1}, arguments);
    gpu_download(eigenvalues, out, matrix->rows * sizeof(float));
    gpu_free(in.diagonal);
    gpu_free(in.squares);
    gpu_free(out);
}

static void large_on_device(const struct gpu *gpu, struct matrix *matrix, float *eigenvalues)
{
    struct tridiagonal in = matrix_upload(matrix);
    float precision = PRECISION;
    size_t bytes = matrix->rows * sizeof(float);
    CUdeviceptr lows = gpu_alloc_zeroed(bytes);
    CUdeviceptr highs = gpu_alloc_zeroed(bytes);
    CUdeviceptr out = gpu_alloc_zeroed(bytes);
    CUdeviceptr all[] = {in.diagonal, in.squares, lows, highs, out};
    void *split[] = {&in, &matrix->low, &matrix->high, &precision, &lows, &highs};
    void *refine[] = {&in, &lows, &highs, &precision, &out};
    struct shape block = {LARGE_BLOCK, 1};

    gpu_launch(gpu_kernel(gpu, "eigenvalues_split"), (struct shape){1, 1}, block, split);
    gpu_launch(gpu_kernel(gpu, "eigenvalues_refine"), (struct shape){gpu_blocks(matrix->rows, LARGE_BLOCK), 1}, block,
               refine);
    gpu_download(eigenvalues, out, bytes);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

static int count_below(const struct matrix *matrix, float x)
{
    float term = 1.0f;
    int count = 0;

    for (int i = 0; i < matrix->rows; i++) {
        term = matrix->diagonal[i] - x - matrix->squares[i] / term;
        count += term < 0.0f;
    }
    return count;
}

/* Each eigenvalue on its own way from the whole interval: the cuts are those that the kernels make on the way to it. */
static void reference(const struct matrix *matrix, float *eigenvalues)
{
    for (int k = 0; k < matrix->rows; k++) {
        float low = matrix->low;
        float high = matrix->high;
        while (high - low > fmaxf(fmaxf(fabsf(low), fabsf(high)), 0x1p-7f) * PRECISION) {
            float middle = (low + high) * 0.5f;
            if (count_below(matrix, middle) > k)
                high = middle;
            else
                low = middle;
        }
        eigenvalues[k] = (low + high) * 0.5f;
    }
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0};
    const struct workload_option options[] = {
        {"small", "rows of the matrix that one block finishes", &given.small, SMALL_BLOCK},
        {"large", "rows of the matrix that many blocks finish", &given.large, MAX_LARGE},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "eigenvalues",
        .summary = "Eigenvalues of two symmetric tridiagonal matrices by bisection, in one block and in many.",
        .inputs = {"40 and 270 rows", "160 and 640 rows", "512 and 2,048 rows"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(SMALL_BLOCK);
    struct matrix small, large;
    struct gpu gpu;

    if (given.small)
        problem.small = given.small;
    if (given.large)
        problem.large = given.large;
    size_t all = problem.small + problem.large;
    float *eigenvalues = workload_alloc(all, sizeof(float));
    float *expected = workload_alloc(all, sizeof(float));
    matrix_random(&small, problem.small, &state);
    matrix_random(&large, problem.large, &state);
    gpu_open(&gpu);
    small_on_device(&gpu, &small, eigenvalues);
    large_on_device(&gpu, &large, eigenvalues + problem.small);
    gpu_close(&gpu);
    reference(&small, expected);
    reference(&large, expected + problem.small);
    size_t mismatches = compare_f32("eigenvalue", eigenvalues, expected, all);
    matrix_free(&small);
    matrix_free(&large);
    free(eigenvalues);
    free(expected);
    return workload_verdict(&workload, mismatches, all, "eigenvalues");
}
