/* tpacf: host program; see tpacf.cu for what the kernel does. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, BINS = 20, BINS_PER_DECADE = 5, CLUSTER = 8 /* points of the observed set */ };

#define MINUTES_OF_HALF_CIRCLE (180.0 * 60.0)
#define HALF_CIRCLE            3.14159265358979323846

struct problem {
    long points; /* in each set */
    long sets;   /* random ones */
};

static const struct problem problems[SIZE_COUNT] = {{270, 1}, {300, 10}, {487, 100}};

/* All sets one after the other, the observed one first: vectors of length 1. */
struct sky {
    float *x;
    float *y;
    float *z;
};

/* The first bin begins at one minute of arc, and five of them make a factor of ten. */
static void bounds_fill(float *bounds)
{
    for (int i = 0; i <= BINS; i++)
        bounds[i] = cos(pow(10.0, (double)i / BINS_PER_DECADE) / MINUTES_OF_HALF_CIRCLE * HALF_CIRCLE);
}

static void sky_put(const struct sky *sky, long at, float x, float y, float z)
{
    float length = sqrtf(x * x + y * y + z * z);

    sky->x[at] = x / length;
    sky->y[at] = y / length;
    sky->z[at] = z / length;
}

/* Evenly over the sky up to 60 degrees from the pole: drawn from a half ball until a point lies there. */
static void sky_put_random(const struct sky *sky, long at, uint64_t *state)
{
    float x, y, z, square;

    do {
        x = random_float(state) * 2.0f - 1.0f;
        y = random_float(state) * 2.0f - 1.0f;
        z = random_float(state);
        square = x * x + y * y + z * z;
    } while (square > 1.0f || square < 0.01f || 4.0f * z * z < square);
    sky_put(sky, at, x, y, z);
}

/* Within two or three degrees of another point. */
static void sky_put_near(const struct sky *sky, long at, long other, uint64_t *state)
{
    const float width = 0.08f;
    float x = sky->x[other] + (random_float(state) - 0.5f) * width;
    float y = sky->y[other] + (random_float(state) - 0.5f) * width;
    float z = sky->z[other] + (random_float(state) - 0.5f) * width;

    sky_put(sky, at, x, y, z);
}

/* Galaxies crowd together: the observed set is made of clusters. The random ones are spread evenly. */
static void sky_random(const struct sky *sky, const struct problem *problem)
{
    uint64_t state = workload_seed(BINS);

    for (long i = 0; i < problem->points * (problem->sets + 1); i++) {
        if (i < problem->points && i % CLUSTER)
            sky_put_near(sky, i, i - i % CLUSTER, &state);
        else
            sky_put_random(sky, i, &state);
    }
}

static void count_pair(const struct sky *sky, const float *bounds, long one, long other, int *histogram)
{
    float cosine = fmaf(sky->z[one], sky->z[other], fmaf(sky->y[one], sky->y[other], sky->x[one] * sky->x[other]));
    int bin = BINS - 1;

    if (cosine > bounds[0] || cosine <= bounds[BINS])
        return;
    while (cosine > bounds[bin])
        bin--;
    histogram[bin]++;
}

static void correlate_reference(const struct problem *problem, const struct sky *sky, const float *bounds,
                                int *histograms)
{
    long count = problem->points;

    for (long set = 0; set <= problem->sets; set++) {
        int *with_itself = histograms + set * BINS;
        int *with_observed = histograms + (problem->sets + set) * BINS;
        for (long i = 0; i < count; i++) {
            for (long j = 0; j < i; j++)
                count_pair(sky, bounds, set * count + i, set * count + j, with_itself);
            for (long j = 0; set > 0 && j < count; j++)
                count_pair(sky, bounds, i, set * count + j, with_observed);
        }
    }
}

static void correlate_on_device(const struct gpu *gpu, const struct problem *problem, const struct sky *sky,
                                const float *bounds, int *histograms)
{
    unsigned blocks = 2 * problem->sets + 1;
    int count = problem->points;
    int sets = problem->sets;
    size_t bytes = problem->points * (problem->sets + 1) * sizeof(float);
    CUdeviceptr x = gpu_upload(sky->x, bytes);
    CUdeviceptr y = gpu_upload(sky->y, bytes);
    CUdeviceptr z = gpu_upload(sky->z, bytes);
    CUdeviceptr counts = gpu_alloc_zeroed(blocks * BINS * sizeof(int));
    CUdeviceptr all[] = {x, y, z, counts};
    void *arguments[] = {&x, &y, &z, &counts, &count, &sets};

    gpu_fill_constant(gpu, "tpacf_bounds", bounds, (BINS + 1) * sizeof(float));
    gpu_launch(gpu_kernel(gpu, "tpacf"), (struct shape){blocks, 1}, (struct shape){BLOCK, 1}, arguments);
    gpu_download(histograms, counts, blocks * BINS * sizeof(int));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0};
    const struct workload_option options[] = {
        {"points", "points in each set", &given.points, 20000},
        {"sets", "random sets to compare with", &given.sets, 1000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "tpacf",
        .summary = "How far apart points on the sky are: all pairs within and between sets, counted in 20 bins.",
        .inputs = {"270 points, 1 random set", "300 points, 10 random sets", "487 points, 100 random sets"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    float bounds[BINS + 1];
    struct gpu gpu;

    if (given.points)
        problem.points = given.points;
    if (given.sets)
        problem.sets = given.sets;
    size_t points = problem.points * (problem.sets + 1);
    size_t counts = (2 * problem.sets + 1) * BINS;
    struct sky sky = {workload_alloc(points, sizeof(float)), workload_alloc(points, sizeof(float)),
                      workload_alloc(points, sizeof(float))};
    int *histograms = workload_alloc(counts, sizeof(int));
    int *expected = workload_alloc(counts, sizeof(int));
    bounds_fill(bounds);
    sky_random(&sky, &problem);
    gpu_open(&gpu);
    correlate_on_device(&gpu, &problem, &sky, bounds, histograms);
    gpu_close(&gpu);
    correlate_reference(&problem, &sky, bounds, expected);
    size_t mismatches = compare_u32("count", (uint32_t *)histograms, (uint32_t *)expected, counts);
    free(sky.x);
    free(sky.y);
    free(sky.z);
    free(histograms);
    free(expected);
    return workload_verdict(&workload, mismatches, counts, "counts of pairs");
}
