/* kmeans: host program; see kmeans.cu for what the kernels do. The host moves the centres between launches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum {
    BLOCK = 256,
    FEATURES = 34, /* unless others are asked for */
    FEATURES_MAX = 400,
    CENTRES = 5,
    TEXTURE_MAX = 1 << 27, /* elements of linear memory that a texture of any GPU may have */
};

struct problem {
    long points;
    long iterations;
    long features;
};

static const struct problem problems[SIZE_COUNT] = {{700, 2, FEATURES}, {23040, 1, FEATURES}, {494020, 3, FEATURES}};

/* Clouds around a few places, wide enough to overlap. */
static void points_random(const struct problem *problem, float *points)
{
    long features = problem->features;
    float *places = workload_alloc(CENTRES * features, sizeof(float));
    uint64_t state = workload_seed(features);

    for (long i = 0; i < CENTRES * features; i++)
        places[i] = random_float(&state);
    for (long point = 0; point < problem->points; point++) {
        uint32_t cloud = random_below(&state, CENTRES);
        for (long i = 0; i < features; i++)
            points[point * features + i] = places[cloud * features + i] + (random_float(&state) - 0.5f) * 2.0f;
    }
    free(places);
}

/* Each centre goes to the mean of its points; one without points stays. */
static void move_centres(const struct problem *problem, const float *points, const int *membership, float *centres)
{
    long features = problem->features;
    double *sums = workload_alloc(CENTRES * features, sizeof(double));
    long counts[CENTRES] = {0};

    for (long point = 0; point < problem->points; point++) {
        counts[membership[point]]++;
        for (long i = 0; i < features; i++)
            sums[membership[point] * features + i] += points[point * features + i];
    }
    for (long i = 0; i < CENTRES * features; i++) {
        if (counts[i / features])
            centres[i] = sums[i] / counts[i / features];
    }
    free(sums);
}

static int nearest_centre(const float *point, const float *centres, long features)
{
    float nearest = 3.402823466e+38f;
    int best = 0;

    for (int centre = 0; centre < CENTRES; centre++) {
        float distance = 0.0f;
        for (long i = 0; i < features; i++) {
            float difference = point[i] - centres[centre * features + i];
            distance = fmaf(difference, difference, distance);
        }
        if (distance < nearest) {
            nearest = distance;
            best = centre;
        }
    }
    return best;
}

static void cluster_reference(const struct problem *problem, const float *points, float *centres, int *membership)
{
    for (long iteration = 0; iteration < problem->iterations; iteration++) {
        for (long point = 0; point < problem->points; point++)
            membership[point] = nearest_centre(points + point * problem->features, centres, problem->features);
        move_centres(problem, points, membership, centres);
    }
}

/*
 * As CCWS and DAWS have it. The data is allocated before the module is loaded, so that no variable of the original form
 * moves it: addresses decide about sets of caches and banks of memory, and so about
 * cycles. */
static void cluster_on_device(struct gpu *gpu, const struct problem *problem, const float *points, float *centres,
                              int *membership)
{
    int point_count = problem->points;
    int feature_count = problem->features;
    int centre_count = CENTRES;
    size_t centre_bytes = CENTRES * problem->features * sizeof(float);
    CUdeviceptr point_memory = gpu_upload(points, problem->points * problem->features * sizeof(float));
    CUdeviceptr centre_memory = gpu_alloc_zeroed(centre_bytes);
    CUdeviceptr member_memory = gpu_alloc_zeroed(point_count * sizeof(int));
    struct shape grid = {gpu_blocks(point_count, BLOCK), 1};
    void *arguments[] = {&point_memory, &centre_memory, &member_memory, &point_count, &feature_count, &centre_count};

    gpu_load_module(gpu);
    CUfunction kernel = gpu_kernel(gpu, "kmeans_assign");
    for (long iteration = 0; iteration < problem->iterations; iteration++) {
        CHECK(cuMemcpyHtoD(centre_memory, centres, centre_bytes));
        gpu_launch(kernel, grid, (struct shape){BLOCK, 1}, arguments);
        gpu_download(membership, member_memory, point_count * sizeof(int));
        move_centres(problem, points, membership, centres);
    }
    gpu_free(point_memory);
    gpu_free(centre_memory);
    gpu_free(member_memory);
}

/* As Rodinia has it: the features are transposed once, and read through a texture; centres lie in constant memory. */
static void cluster_original(struct gpu *gpu, const struct problem *problem, const float *points, float *centres,
                             int *membership)
{
    int point_count = problem->points;
    int feature_count = problem->features;
    int centre_count = CENTRES;
    size_t value_count = (size_t)problem->points * problem->features;
    float constant[CENTRES * FEATURES_MAX] = {0};
    CUdeviceptr point_memory = gpu_upload(points, value_count * sizeof(float));
    CUdeviceptr feature_memory = gpu_alloc_zeroed(value_count * sizeof(float));
    CUdeviceptr member_memory = gpu_alloc_zeroed(point_count * sizeof(int));
    CUtexObject features = gpu_texture_f32(feature_memory, value_count);
    struct shape grid = {gpu_blocks(point_count, BLOCK), 1};
    void *transpose_arguments[] = {&point_memory, &feature_memory, &point_count, &feature_count};
    void *assign_arguments[] = {&features, &member_memory, &point_count, &feature_count, &centre_count};

    gpu_load_module(gpu);
    CUfunction transpose = gpu_kernel(gpu, "kmeans_transpose");
    CUfunction assign = gpu_kernel(gpu, "kmeans_assign_transposed");
    gpu_launch(transpose, grid, (struct shape){BLOCK, 1}, transpose_arguments);
    for (long iteration = 0; iteration < problem->iterations; iteration++) {
        memcpy(constant, centres, CENTRES * problem->features * sizeof(float));
        gpu_fill_constant(gpu, "kmeans_centres", constant, sizeof constant);
        gpu_launch(assign, grid, (struct shape){BLOCK, 1}, assign_arguments);
        gpu_download(membership, member_memory, point_count * sizeof(int));
        move_centres(problem, points, membership, centres);
    }
    CHECK(cuTexObjectDestroy(features));
    gpu_free(point_memory);
    gpu_free(feature_memory);
    gpu_free(member_memory);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0, 0};
    long original = 0;
    const struct workload_option options[] = {
        {"points", "points to cluster", &given.points, 10000000},
        {"iterations", "how often to assign points and move centres", &given.iterations, 500},
        {"features", "of a point, 34 if not given", &given.features, FEATURES_MAX},
        {"original", "1: Rodinia's program: a transposed copy, through a texture; constant centres", &original, 1},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "kmeans",
        .summary = "The nearest of 5 centres for each point, features in global memory, point by point.",
        .inputs = {"700 points, 2 iterations", "23,040 points, 1 iteration", "494,020 points, 3 iterations"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    struct gpu gpu;

    if (given.points)
        problem.points = given.points;
    if (given.iterations)
        problem.iterations = given.iterations;
    if (given.features)
        problem.features = given.features;
    if (original && problem.points * problem.features > TEXTURE_MAX) {
        fprintf(stderr, "kmeans: --original: %ld points of %ld features, more than the %d values of a texture\n",
                problem.points, problem.features, TEXTURE_MAX);
        return EXIT_USAGE;
    }
    size_t row = problem.features * sizeof(float);
    float *points = workload_alloc(problem.points, row);
    float *centres = workload_alloc(CENTRES, row);
    float *expected_centres = workload_alloc(CENTRES, row);
    int *membership = workload_alloc(problem.points, sizeof(int));
    int *expected = workload_alloc(problem.points, sizeof(int));
    points_random(&problem, points);
    /* The first centres are points, far apart in the list. */
    for (int centre = 0; centre < CENTRES; centre++)
        memcpy(centres + centre * problem.features, points + problem.points * centre / CENTRES * problem.features, row);
    memcpy(expected_centres, centres, CENTRES * row);
    gpu_open_device(&gpu);
    if (original)
        cluster_original(&gpu, &problem, points, centres, membership);
    else
        cluster_on_device(&gpu, &problem, points, centres, membership);
    gpu_close(&gpu);
    cluster_reference(&problem, points, expected_centres, expected);
    size_t mismatches = compare_u32("membership", (uint32_t *)membership, (uint32_t *)expected, problem.points);
    mismatches += compare_f32("centre", centres, expected_centres, CENTRES * problem.features);
    free(points);
    free(centres);
    free(expected_centres);
    free(membership);
    free(expected);
    return workload_verdict(&workload, mismatches, problem.points + CENTRES * problem.features,
                            "memberships and features of centres");
}
