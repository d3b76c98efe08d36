/* vectoradd: host program; see vectoradd.cu for what the kernel does. */
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256 };

static const int counts[SIZE_COUNT] = {5000, 2100000, 50000};

static void add_on_device(const struct gpu *gpu, const float *a, const float *b, float *c, int count)
{
    size_t bytes = count * sizeof(float);
    CUdeviceptr a_memory = gpu_upload(a, bytes);
    CUdeviceptr b_memory = gpu_upload(b, bytes);
    CUdeviceptr c_memory = gpu_alloc_zeroed(bytes);
    void *arguments[] = {&a_memory, &b_memory, &c_memory, &count};

    gpu_launch(gpu_kernel(gpu, "vectoradd"), (struct shape){gpu_blocks(count, BLOCK), 1}, (struct shape){BLOCK, 1},
               arguments);
    gpu_download(c, c_memory, bytes);
    gpu_free(a_memory);
    gpu_free(b_memory);
    gpu_free(c_memory);
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "vectoradd",
        .summary = "Sum of two vectors of floats, one thread an element.",
        .inputs = {"5,000 elements", "2,100,000 elements", "50,000 elements"},
    };
    int count = counts[workload_parse(&workload, argc, argv)];
    float *a = workload_alloc(count, sizeof(float));
    float *b = workload_alloc(count, sizeof(float));
    float *c = workload_alloc(count, sizeof(float));
    float *expected = workload_alloc(count, sizeof(float));
    uint64_t state = workload_seed(50000);
    struct gpu gpu;

    for (int i = 0; i < count; i++) {
        a[i] = random_float(&state);
        b[i] = random_float(&state);
        expected[i] = a[i] + b[i];
    }
    gpu_open(&gpu);
    add_on_device(&gpu, a, b, c, count);
    gpu_close(&gpu);
    size_t mismatches = compare_f32("c", c, expected, count);
    free(a);
    free(b);
    free(c);
    free(expected);
    return workload_verdict(&workload, mismatches, count, "sums");
}
