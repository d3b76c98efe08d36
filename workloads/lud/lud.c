/*
 * lud: host program; see lud.cu for what the kernels do. The reference takes element after element instead of step
 * after step, and adds the same products in the same groups of 16, so results agree to the
 * bit. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { TILE = 16 };

static const long tile_counts[SIZE_COUNT] = {5, 26, 16};

/* Rows above and elements to the left are final already. */
static float reference_element(const float *lu, int size, int row, int column)
{
    int products = row < column ? row : column;
    int grouped = products / TILE * TILE;
    float value = lu[row * size + column];

    for (int first = 0; first < grouped; first += TILE) {
        float sum = 0.0f;
        for (int i = first; i < first + TILE; i++)
            sum = fmaf(lu[row * size + i], lu[i * size + column], sum);
        value -= sum;
    }
    for (int i = grouped; i < products; i++)
        value = fmaf(-lu[row * size + i], lu[i * size + column], value);
    return row > column ? value / lu[column * size + column] : value;
}

static void decompose_reference(float *lu, int size)
{
    for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++)
            lu[row * size + column] = reference_element(lu, size, row, column);
    }
}

static void decompose_on_device(const struct gpu *gpu, float *lu, int size)
{
    CUfunction diagonal = gpu_kernel(gpu, "lud_diagonal");
    CUfunction perimeter = gpu_kernel(gpu, "lud_perimeter");
    CUfunction internal = gpu_kernel(gpu, "lud_internal");
    size_t bytes = (size_t)size * size * sizeof(float);
    CUdeviceptr matrix = gpu_upload(lu, bytes);

    for (int offset = 0; offset < size; offset += TILE) {
        unsigned left = (size - offset) / TILE - 1; /* tiles to the right and below */
        void *arguments[] = {&matrix, &size, &offset};
        gpu_launch(diagonal, (struct shape){1, 1}, (struct shape){TILE, 1}, arguments);
        if (left == 0)
            break;
        gpu_launch(perimeter, (struct shape){left, 1}, (struct shape){TILE * 2, 1}, arguments);
        gpu_launch(internal, (struct shape){left, left}, (struct shape){TILE, TILE}, arguments);
    }
    gpu_download(lu, matrix, bytes);
    gpu_free(matrix);
}

int main(int argc, char **argv)
{
    long tiles = 0;
    const struct workload_option options[] = {
        {"tiles", "tiles of 16 on a side of a matrix of your own size", &tiles, 512},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "lud",
        .summary = "LU decomposition of a dense matrix in tiles of 16x16.",
        .inputs = {"80 x 80 elements", "416 x 416 elements", "256 x 256 elements"},
        .options = options,
    };
    enum workload_size input = workload_parse(&workload, argc, argv);
    int size = (tiles ? tiles : tile_counts[input]) * TILE;
    size_t elements = (size_t)size * size;
    float *lu = workload_alloc(elements, sizeof(float));
    float *expected = workload_alloc(elements, sizeof(float));
    uint64_t state = workload_seed(TILE);
    struct gpu gpu;

    /* Diagonally dominant, so that no pivoting is needed. */
    for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++) {
            size_t at = (size_t)row * size + column;
            lu[at] = expected[at] = random_float(&state) + (row == column ? size : 0);
        }
    }
    gpu_open(&gpu);
    decompose_on_device(&gpu, lu, size);
    gpu_close(&gpu);
    decompose_reference(expected, size);
    size_t mismatches = compare_f32("element", lu, expected, elements);
    free(lu);
    free(expected);
    return workload_verdict(&workload, mismatches, elements, "elements of L and U");
}
