/* softmax: host program; see softmax.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, LANES = 32, SHORT_ROW = 256 };

static const struct {
    int short_rows, rows, columns;
} inputs[SIZE_COUNT] = {{40, 8, 700}, {2000, 500, 1500}, {32000, 2500, 2000}};

static void reference(const float *in, float *out, int rows, int columns)
{
    for (int row = 0; row < rows; row++, in += columns, out += columns) {
        float greatest = in[0];
        double sum = 0.0;
        for (int i = 1; i < columns; i++)
            greatest = fmaxf(greatest, in[i]);
        for (int i = 0; i < columns; i++)
            sum += out[i] = expf(in[i] - greatest);
        for (int i = 0; i < columns; i++)
            out[i] = out[i] / sum;
    }
}

static size_t run(const struct gpu *gpu, const char *kernel, const float *in, int rows, int columns, int warps)
{
    size_t count = (size_t)rows * columns;
    CUdeviceptr in_memory = gpu_upload(in, count * sizeof(float));
    CUdeviceptr out_memory = gpu_alloc_zeroed(count * sizeof(float));
    float *expected = workload_alloc(count, sizeof(float));

    gpu_launch_named(gpu, kernel, warps ? gpu_blocks((size_t)rows * LANES, BLOCK) : (unsigned)rows, BLOCK,
                     (void *[]){&in_memory, &out_memory, warps ? &rows : &columns});
    reference(in, expected, rows, columns);
    size_t mismatches = array_check(kernel, out_memory, expected, count, 1e-4f, 1e-7f);
    free(expected);
    gpu_free(in_memory);
    gpu_free(out_memory);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "softmax",
        .summary = "Softmax of rows: a warp per row, a block per row, and a block per row in two passes.",
        .inputs = {"40 rows of 256 and 8 of 700", "2,000 rows of 256 and 500 of 1,500",
                   "32,000 rows of 256 and 2,500 of 2,000"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int short_rows = inputs[size].short_rows, rows = inputs[size].rows, columns = inputs[size].columns;
    uint64_t state = workload_seed(2018);
    float *short_in = array_of_floats((size_t)short_rows * SHORT_ROW, -6.0f, 6.0f, &state);
    float *in = array_of_floats((size_t)rows * columns, -6.0f, 6.0f, &state);
    struct gpu gpu;

    gpu_open(&gpu);
    size_t mismatches = run(&gpu, "softmax_warp", short_in, short_rows, SHORT_ROW, 1);
    mismatches += run(&gpu, "softmax_block", in, rows, columns, 0);
    mismatches += run(&gpu, "softmax_online", in, rows, columns, 0);
    gpu_close(&gpu);
    free(short_in);
    free(in);
    return workload_verdict(&workload, mismatches, (size_t)short_rows * SHORT_ROW + 2 * (size_t)rows * columns,
                            "probabilities");
}
