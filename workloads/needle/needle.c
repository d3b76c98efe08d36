/* needle: host program; see needle.cu for what the kernels do. */
#include <stdbool.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { TILE = 16, LETTERS = 24, PENALTY = 10 };

static const long tile_counts[SIZE_COUNT] = {8, 80, 64};

/* How alike two letters are: -4 to 4, and 4 to 11 for a letter and itself. */
static void similarity_table(int (*table)[LETTERS], uint64_t *state)
{
    for (int a = 0; a < LETTERS; a++) {
        for (int b = 0; b <= a; b++)
            table[a][b] = table[b][a] = a == b ? 4 + (int)random_below(state, 8) : (int)random_below(state, 9) - 4;
    }
}

/* For two random sequences: element (row, column) says how alike letter `row` of one is to letter `column` of the
 * other. */
static void similarities_random(int *similarities, int pitch)
{
    int table[LETTERS][LETTERS];
    int *across = workload_alloc(pitch, sizeof(int));
    uint64_t state = workload_seed(TILE);

    similarity_table(table, &state);
    for (int column = 1; column < pitch; column++)
        across[column] = random_below(&state, LETTERS);
    for (int row = 1; row < pitch; row++) {
        int down = random_below(&state, LETTERS);
        for (int column = 1; column < pitch; column++)
            similarities[(size_t)row * pitch + column] = table[down][across[column]];
    }
    free(across);
}

static int larger(int a, int b) { return a > b ? a : b; }

/* What is left of a sequence when the other has ended is all gaps. */
static void fill_borders(int *scores, int pitch)
{
    for (int i = 0; i < pitch; i++)
        scores[i] = scores[(size_t)i * pitch] = -i * PENALTY;
}

static void align_reference(const int *similarities, int *scores, int pitch)
{
    for (int row = 1; row < pitch; row++) {
        int *here = scores + (size_t)row * pitch;
        const int *above = here - pitch;
        for (int column = 1; column < pitch; column++) {
            int aside = larger(here[column - 1], above[column]) - PENALTY;
            here[column] = larger(above[column - 1] + similarities[(size_t)row * pitch + column], aside);
        }
    }
}

static void align_on_device(const struct gpu *gpu, const int *similarities, int *scores, int pitch)
{
    CUfunction grow = gpu_kernel(gpu, "needle_grow");
    CUfunction shrink = gpu_kernel(gpu, "needle_shrink");
    size_t bytes = (size_t)pitch * pitch * sizeof(int);
    CUdeviceptr similarity_memory = gpu_upload(similarities, bytes);
    CUdeviceptr score_memory = gpu_upload(scores, bytes);
    int tiles = pitch / TILE;
    int penalty = PENALTY;

    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        bool growing = diagonal < tiles;
        unsigned blocks = growing ? diagonal + 1 : 2 * tiles - 1 - diagonal;
        void *arguments[] = {&similarity_memory, &score_memory, &pitch, &penalty, &diagonal};
        gpu_launch(growing ? grow : shrink, (struct shape){blocks, 1}, (struct shape){TILE, 1}, arguments);
    }
    gpu_download(scores, score_memory, bytes);
    gpu_free(similarity_memory);
    gpu_free(score_memory);
}

int main(int argc, char **argv)
{
    long tiles = 0;
    const struct workload_option options[] = {
        {"tiles", "tiles of 16 letters, for sequences of your own length", &tiles, 512},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "needle",
        .summary = "Needleman-Wunsch alignment of two sequences in tiles of 16x16.",
        .inputs = {"128 x 128 letters", "1,280 x 1,280 letters", "1,024 x 1,024 letters"},
        .options = options,
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int pitch = (tiles ? tiles : tile_counts[size]) * TILE + 1;
    size_t elements = (size_t)pitch * pitch;
    int *similarities = workload_alloc(elements, sizeof(int));
    int *scores = workload_alloc(elements, sizeof(int));
    int *expected = workload_alloc(elements, sizeof(int));
    struct gpu gpu;

    similarities_random(similarities, pitch);
    fill_borders(scores, pitch);
    fill_borders(expected, pitch);
    gpu_open(&gpu);
    align_on_device(&gpu, similarities, scores, pitch);
    gpu_close(&gpu);
    align_reference(similarities, expected, pitch);
    size_t mismatches = compare_u32("score", (uint32_t *)scores, (uint32_t *)expected, elements);
    free(similarities);
    free(scores);
    free(expected);
    return workload_verdict(&workload, mismatches, elements, "scores");
}
