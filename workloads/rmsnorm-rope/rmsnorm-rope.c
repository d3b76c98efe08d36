/* rmsnorm-rope: host program; see rmsnorm-rope.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, HEAD = 64, HALF = HEAD / 2, VECTOR = 4 };

static const struct {
    int rows, columns;
} inputs[SIZE_COUNT] = {{8, 512}, {300, 1024}, {2048, 2048}};

static void reference_rmsnorm(const float *in, const float *scale, float *out, int rows, int columns)
{
    for (int row = 0; row < rows; row++, in += columns, out += columns) {
        double squares = 0.0;
        for (int i = 0; i < columns; i++)
            squares += (double)in[i] * in[i];
        for (int i = 0; i < columns; i++)
            out[i] = in[i] / sqrt(squares / columns + 1e-6) * scale[i];
    }
}

static void reference_rope(const float *in, float *out, int rows, int columns)
{
    for (int head = 0; head < rows * columns / HEAD; head++, in += HEAD, out += HEAD) {
        int position = head / (columns / HEAD);
        for (int pair = 0; pair < HALF; pair++) {
            double angle = position * pow(10000.0, -(double)pair / HALF);
            out[pair] = in[pair] * cos(angle) - in[pair + HALF] * sin(angle);
            out[pair + HALF] = in[pair] * sin(angle) + in[pair + HALF] * cos(angle);
        }
    }
}

/* out = norm(in), then in rotated, then out = silu(norm) * rotated, each compared. */
static size_t run(const struct gpu *gpu, float *in, float *scale, int rows, int columns)
{
    int count = rows * columns, vectors = columns / VECTOR, heads = columns / HEAD, pairs = count / 2;
    CUdeviceptr in_memory = gpu_upload(in, count * sizeof(float)), out = gpu_alloc_zeroed(count * sizeof(float));
    CUdeviceptr scale_memory = gpu_upload(scale, columns * sizeof(float));
    CUdeviceptr gated = gpu_alloc_zeroed(count * sizeof(float));
    float *norm = workload_alloc(count, sizeof(float)), *rotated = workload_alloc(count, sizeof(float));

    gpu_launch_named(gpu, "rmsnorm", rows, BLOCK, (void *[]){&in_memory, &scale_memory, &out, &vectors});
    reference_rmsnorm(in, scale, norm, rows, columns);
    size_t mismatches = array_check("norm", out, norm, count, 1e-4f, 1e-6f);
    gpu_launch_named(gpu, "rope", gpu_blocks(pairs, BLOCK), BLOCK, (void *[]){&in_memory, &heads, &pairs});
    reference_rope(in, rotated, rows, columns);
    /* An angle of some thousand radians, with 24 bits, is wrong by some 1e-4. */
    mismatches += array_check("rotated", in_memory, rotated, count, 0.0f, 4e-3f);
    gpu_download(rotated, in_memory, count * sizeof(float));
    gpu_launch_named(gpu, "silu_gate", gpu_blocks(count, BLOCK), BLOCK, (void *[]){&out, &in_memory, &gated, &count});
    for (int i = 0; i < count; i++)
        norm[i] = norm[i] / (1.0f + expf(-norm[i])) * rotated[i];
    mismatches += array_check("gated", gated, norm, count, 1e-3f, 1e-5f);
    gpu_free(in_memory);
    gpu_free(out);
    gpu_free(scale_memory);
    gpu_free(gated);
    free(norm);
    free(rotated);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "rmsnorm-rope",
        .summary = "Root-mean-square norm, rotary position embedding and gated activation.",
        .inputs = {"8 rows of 512", "300 rows of 1,024", "2,048 rows of 2,048"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int rows = inputs[size].rows, columns = inputs[size].columns;
    uint64_t state = workload_seed(2104);
    float *in = array_of_floats((size_t)rows * columns, -1.0f, 1.0f, &state);
    float *scale = array_of_floats(columns, 0.5f, 1.5f, &state);
    struct gpu gpu;

    gpu_open(&gpu);
    size_t mismatches = run(&gpu, in, scale, rows, columns);
    gpu_close(&gpu);
    free(in);
    free(scale);
    return workload_verdict(&workload, mismatches, 3 * (size_t)rows * columns, "elements");
}
