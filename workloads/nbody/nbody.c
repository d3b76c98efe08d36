/* nbody: host program; see nbody.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, SAMPLE = 256 };

/* All bodies are moved, by the pull of the first `others`. */
static const struct {
    int bodies, others;
} inputs[SIZE_COUNT] = {{1024, 256}, {4096, 1024}, {135168, 512}};
static const float step = 0.01f;

/* Where body `at` should be after one step from rest. */
static void reference(const float *bodies, int others, size_t at, float *moved)
{
    const float *own = bodies + at * 4;
    double sum[3] = {0};

    for (int i = 0; i < others; i++) {
        const float *other = bodies + (size_t)i * 4;
        double d[3] = {other[0] - own[0], other[1] - own[1], other[2] - own[2]};
        double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-2;
        for (int axis = 0; axis < 3; axis++)
            sum[axis] += d[axis] * other[3] / (square * sqrt(square));
    }
    for (int axis = 0; axis < 3; axis++)
        moved[axis] = own[axis] + sum[axis] * step * step;
    moved[3] = own[3];
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "nbody",
        .summary = "Gravity between all pairs of bodies, and one step of time.",
        .inputs = {"1,024 bodies, 256 of which have mass", "4,096 bodies, 1,024", "135,168 bodies, 512"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int count = inputs[size].bodies, others = inputs[size].others;
    size_t bytes = (size_t)count * 4 * sizeof(float);
    uint64_t state = workload_seed(1687);
    float *bodies = array_of_floats((size_t)count * 4, 0.0f, 1.0f, &state);
    float *moved = workload_alloc((size_t)count * 4, sizeof(float)), expected[4], by = step;
    size_t mismatches = 0;
    struct gpu gpu;

    gpu_open(&gpu);
    CUdeviceptr body_memory = gpu_upload(bodies, bytes);
    CUdeviceptr pulls = gpu_alloc_zeroed(bytes), speeds = gpu_alloc_zeroed(bytes);
    gpu_launch_named(&gpu, "nbody_forces", count / BLOCK, BLOCK, (void *[]){&body_memory, &pulls, &others});
    gpu_launch_named(&gpu, "nbody_move", count / BLOCK, BLOCK, (void *[]){&body_memory, &speeds, &pulls, &by});
    gpu_download(moved, body_memory, bytes);
    for (int i = 0; i < SAMPLE; i++) {
        size_t at = random_below(&state, count);
        reference(bodies, others, at, expected);
        mismatches += compare_f32_close("position", moved + at * 4, expected, 4, 1e-5f, 1e-5f);
    }
    gpu_free(body_memory);
    gpu_free(pulls);
    gpu_free(speeds);
    gpu_close(&gpu);
    free(bodies);
    free(moved);
    return workload_verdict(&workload, mismatches, 4 * SAMPLE, "coordinates");
}
