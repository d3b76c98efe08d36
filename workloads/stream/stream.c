/* stream: host program; see stream.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, VECTOR = 4 };

static const int counts[SIZE_COUNT] = {8000, 500000, 4000000};
static const float factor = 3.0f;

struct memory {
    CUdeviceptr a, b, c;
};

/* c = a; b = 3 c; c = a + b; a = b + 3 c; then a copied to c by four. */
static void stream_on_device(const struct gpu *gpu, struct memory *memory, int count)
{
    unsigned blocks = gpu_blocks(count, BLOCK);
    int vectors = count / VECTOR;
    float by = factor;

    gpu_launch_named(gpu, "stream_copy", blocks, BLOCK, (void *[]){&memory->a, &memory->c, &count});
    gpu_launch_named(gpu, "stream_scale", blocks, BLOCK, (void *[]){&memory->c, &memory->b, &by, &count});
    gpu_launch_named(gpu, "stream_add", blocks, BLOCK, (void *[]){&memory->a, &memory->b, &memory->c, &count});
    gpu_launch_named(gpu, "stream_triad", blocks, BLOCK, (void *[]){&memory->b, &memory->c, &memory->a, &by, &count});
    gpu_launch_named(gpu, "stream_copy_vector", gpu_blocks(vectors, 2 * BLOCK), BLOCK,
                     (void *[]){&memory->a, &memory->c, &vectors});
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "stream",
        .summary = "Copy, scale, add and triad of vectors of floats.",
        .inputs = {"8,000 elements", "500,000 elements", "4,000,000 elements"},
    };
    int count = counts[workload_parse(&workload, argc, argv)];
    size_t bytes = count * sizeof(float);
    uint64_t state = workload_seed(4);
    float *a = array_of_floats(count, -1.0f, 1.0f, &state);
    struct gpu gpu;

    gpu_open(&gpu);
    struct memory memory = {gpu_upload(a, bytes), gpu_alloc_zeroed(bytes), gpu_alloc_zeroed(bytes)};
    stream_on_device(&gpu, &memory, count);
    for (int i = 0; i < count; i++) {
        float b = factor * a[i];
        a[i] = fmaf(factor, a[i] + b, b);
    }
    size_t mismatches = array_check("a", memory.a, a, count, 0.0f, 0.0f);
    mismatches += array_check("c", memory.c, a, count, 0.0f, 0.0f);
    gpu_free(memory.a);
    gpu_free(memory.b);
    gpu_free(memory.c);
    gpu_close(&gpu);
    free(a);
    return workload_verdict(&workload, mismatches, 2 * (size_t)count, "elements");
}
