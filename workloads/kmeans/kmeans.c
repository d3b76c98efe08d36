/* kmeans: host program; see kmeans.cu for what the kernel does. The host moves the centres between launches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, FEATURES = 34, CENTRES = 5 };

struct problem {
    long points;
    long iterations;
};

static const struct problem problems[SIZE_COUNT] = { { 700, 2 }, { 30720, 1 }, { 494020, 3 } };

/* Clouds around a few places, wide enough to overlap. */
static void points_random(float *points, long point_count)
{
    float places[CENTRES][FEATURES];
    uint64_t state = FEATURES;

    for (int i = 0; i < CENTRES * FEATURES; i++)
        places[i / FEATURES][i % FEATURES] = random_float(&state);
    for (long point = 0; point < point_count; point++) {
        uint32_t cloud = random_below(&state, CENTRES);
        for (int i = 0; i < FEATURES; i++)
            points[point * FEATURES + i] = places[cloud][i] + (random_float(&state) - 0.5f) * 2.0f;
    }
}

/* Each centre goes to the mean of its points; one without points stays. */
static void move_centres(const float *points, long point_count, const int *membership, float *centres)
{
    double sums[CENTRES][FEATURES] = { { 0 } };
    long counts[CENTRES] = { 0 };

    for (long point = 0; point < point_count; point++) {
        counts[membership[point]]++;
        for (int i = 0; i < FEATURES; i++)
            sums[membership[point]][i] += points[point * FEATURES + i];
    }
    for (int i = 0; i < CENTRES * FEATURES; i++) {
        if (counts[i / FEATURES])
            centres[i] = sums[i / FEATURES][i % FEATURES] / counts[i / FEATURES];
    }
}

static int nearest_centre(const float *point, const float *centres)
{
    float nearest = 3.402823466e+38f;
    int best = 0;

    for (int centre = 0; centre < CENTRES; centre++) {
        float distance = 0.0f;
        for (int i = 0; i < FEATURES; i++) {
            float difference = point[i] - centres[centre * FEATURES + i];
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
            membership[point] = nearest_centre(points + point * FEATURES, centres);
        move_centres(points, problem->points, membership, centres);
    }
}

static void cluster_on_device(const struct gpu *gpu, const struct problem *problem, const float *points, float *centres,
                              int *membership)
{
    CUfunction kernel = gpu_kernel(gpu, "kmeans_assign");
    int point_count = problem->points;
    int feature_count = FEATURES;
    int centre_count = CENTRES;
    CUdeviceptr point_memory = gpu_upload(points, (size_t)point_count * FEATURES * sizeof(float));
    CUdeviceptr centre_memory = gpu_alloc_zeroed(CENTRES * FEATURES * sizeof(float));
    CUdeviceptr member_memory = gpu_alloc_zeroed(point_count * sizeof(int));
    struct shape grid = { gpu_blocks(point_count, BLOCK), 1 };
    void *arguments[] = { &point_memory, &centre_memory, &member_memory, &point_count, &feature_count, &centre_count };

    for (long iteration = 0; iteration < problem->iterations; iteration++) {
        CHECK(cuMemcpyHtoD(centre_memory, centres, CENTRES * FEATURES * sizeof(float)));
        gpu_launch(kernel, grid, (struct shape){ BLOCK, 1 }, arguments);
        gpu_download(membership, member_memory, point_count * sizeof(int));
        move_centres(points, point_count, membership, centres);
    }
    gpu_free(point_memory);
    gpu_free(centre_memory);
    gpu_free(member_memory);
}

int main(int argc, char **argv)
{
    struct problem given = { 0, 0 };
    const struct workload_option options[] = {
        { "points", "points to cluster, 34 features each", &given.points, 10000000 },
        { "iterations", "how often to assign points and move centres", &given.iterations, 500 },
        { NULL, NULL, NULL, 0 },
    };
    const struct workload workload = {
        .name = "kmeans",
        .summary = "The nearest of 5 centres for each point, features in global memory, point by point.",
        .inputs = { "700 points, 2 iterations", "30,720 points, 1 iteration", "494,020 points, 3 iterations" },
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    float centres[CENTRES * FEATURES], expected_centres[CENTRES * FEATURES];
    struct gpu gpu;

    if (given.points)
        problem.points = given.points;
    if (given.iterations)
        problem.iterations = given.iterations;
    float *points = workload_alloc((size_t)problem.points * FEATURES, sizeof(float));
    int *membership = workload_alloc(problem.points, sizeof(int));
    int *expected = workload_alloc(problem.points, sizeof(int));
    points_random(points, problem.points);
    /* The first centres are points, far apart in the list. */
    for (int centre = 0; centre < CENTRES; centre++)
        memcpy(centres + centre * FEATURES, points + problem.points * centre / CENTRES * FEATURES, FEATURES * sizeof(float));
    memcpy(expected_centres, centres, sizeof centres);
    gpu_open(&gpu);
    cluster_on_device(&gpu, &problem, points, centres, membership);
    gpu_close(&gpu);
    cluster_reference(&problem, points, expected_centres, expected);
    size_t mismatches = compare_u32("membership", (uint32_t *)membership, (uint32_t *)expected, problem.points);
    mismatches += compare_f32("centre", centres, expected_centres, CENTRES * FEATURES);
    free(points);
    free(membership);
    free(expected);
    return workload_verdict(&workload, mismatches, problem.points + CENTRES * FEATURES,
                            "memberships and features of centres");
}
