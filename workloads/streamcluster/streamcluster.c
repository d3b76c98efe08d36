/*
 * streamcluster: host program; see streamcluster.cu for what the kernel does.
 *
 * Points are clustered by a local search: a centre costs a fixed price, a point its weighted distance to its centre.
 * Points drawn at random are candidates, one after the other. A candidate becomes a centre if that lowers the sum of
 * all costs. The points that are nearer to it then move there; a centre whose other points could follow them for less
 * than its price is closed. The reference takes the same steps with a loop in place of the
 * kernel. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 512, CLOUDS = 16, CENTRES_MAX = 64 };

#define PRICE_SHARE 0.014 /* of what it costs to send all points to one centre; leaves 10 to 20 centres */

struct problem {
    long dimensions;
    long points;
    long candidates;
};

static const struct problem problems[SIZE_COUNT] = {{8, 1000, 10}, {32, 4096, 64}, {32, 4096, 2000}};

/* As the kernel reads it. */
struct point {
    float weight;
    float cost;
    int centre;
};

struct clustering {
    const struct problem *problem;
    const float *coordinates; /* dimension by dimension */
    double price;
    struct point *points;
    int centre_count;
    int centres[CENTRES_MAX]; /* points, by their column in the work matrix */
    int *columns;             /* the other way round; of points that are no centres, anything */
    float *work;
    unsigned char *moves;
    double *changes; /* of the sum of costs, what each candidate would have made */
};

/* What the kernel computes for one candidate: fills `work` and `moves`, which are zero before. */
typedef void evaluate_function(struct clustering *clustering, int candidate, void *context);

/* Clouds around a few places, wide enough to overlap. */
static void coordinates_random(const struct problem *problem, float *coordinates, uint64_t *state)
{
    float *places = workload_alloc(CLOUDS * problem->dimensions, sizeof(float));

    for (long i = 0; i < CLOUDS * problem->dimensions; i++)
        places[i] = random_float(state);
    for (long point = 0; point < problem->points; point++) {
        uint32_t cloud = random_below(state, CLOUDS);
        for (long d = 0; d < problem->dimensions; d++)
            coordinates[d * problem->points + point] =
                places[cloud * problem->dimensions + d] + (random_float(state) - 0.5f) * 0.8f;
    }
    free(places);
}

static float distance_between(const struct clustering *clustering, long a, long b)
{
    long count = clustering->problem->points;
    float distance = 0.0f;

    for (long d = 0; d < clustering->problem->dimensions; d++) {
        float difference = clustering->coordinates[d * count + a] - clustering->coordinates[d * count + b];
        distance = fmaf(difference, difference, distance);
    }
    return distance;
}

static void evaluate_reference(struct clustering *clustering, int candidate, void *context)
{
    int centre_count = clustering->centre_count;

    (void)context;
    for (long i = 0; i < clustering->problem->points; i++) {
        const struct point *point = &clustering->points[i];
        float *row = &clustering->work[i * (centre_count + 1)];
        float cost = distance_between(clustering, i, candidate) * point->weight;

        clustering->moves[i] = cost < point->cost;
        for (int column = 0; column <= centre_count; column++)
            row[column] = 0.0f;
        row[clustering->moves[i] ? centre_count : clustering->columns[point->centre]] = cost - point->cost;
    }
}

struct device {
    CUfunction kernel;
    CUdeviceptr points;
    CUdeviceptr coordinates;
    CUdeviceptr columns;
    CUdeviceptr work;
    CUdeviceptr moves;
};

static void device_open(struct device *device, const struct gpu *gpu, const struct clustering *clustering)
{
    long count = clustering->problem->points;

    device->kernel = gpu_kernel(gpu, "streamcluster_gain");
    device->points = gpu_alloc_zeroed(count * sizeof(struct point));
    device->coordinates = gpu_upload(clustering->coordinates, count * clustering->problem->dimensions * sizeof(float));
    device->columns = gpu_alloc_zeroed(count * sizeof(int));
    device->work = gpu_alloc_zeroed(count * (CENTRES_MAX + 1) * sizeof(float));
    device->moves = gpu_alloc_zeroed(count);
}

static void device_close(struct device *device)
{
    gpu_free(device->points);
    gpu_free(device->coordinates);
    gpu_free(device->columns);
    gpu_free(device->work);
    gpu_free(device->moves);
}

static void evaluate_on_device(struct clustering *clustering, int candidate, void *context)
{
    struct device *device = context;
    int point_count = clustering->problem->points;
    int dimensions = clustering->problem->dimensions;
    int centre_count = clustering->centre_count;
    size_t work_bytes = (size_t)point_count * (centre_count + 1) * sizeof(float);
    void *arguments[] = {&device->points, &device->coordinates, &device->columns, &device->work, &device->moves,
                         &point_count,    &dimensions,          &candidate,       &centre_count};

    CHECK(cuMemcpyHtoD(device->points, clustering->points, point_count * sizeof(struct point)));
    CHECK(cuMemcpyHtoD(device->columns, clustering->columns, point_count * sizeof(int)));
    CHECK(cuMemsetD8(device->work, 0, work_bytes));
    CHECK(cuMemsetD8(device->moves, 0, point_count));
    gpu_launch(device->kernel, (struct shape){gpu_blocks(point_count, BLOCK), 1}, (struct shape){BLOCK, 1}, arguments);
    gpu_download(clustering->work, device->work, work_bytes);
    gpu_download(clustering->moves, device->moves, point_count);
}

/* How the sum of costs changes if the candidate opens, and every centre closes that is no longer worth its price. */
static double total_change(const struct clustering *clustering, bool *closes)
{
    int centre_count = clustering->centre_count;
    double sums[CENTRES_MAX + 1] = {0};

    for (long i = 0; i < clustering->problem->points; i++) {
        for (int column = 0; column <= centre_count; column++)
            sums[column] += clustering->work[i * (centre_count + 1) + column];
    }
    double change = clustering->price + sums[centre_count];
    for (int column = 0; column < centre_count; column++) {
        closes[column] = sums[column] < clustering->price;
        if (closes[column])
            change += sums[column] - clustering->price;
    }
    return change;
}

static void open_centre(struct clustering *clustering, int candidate, const bool *closes)
{
    int kept = 0;

    for (long i = 0; i < clustering->problem->points; i++) {
        struct point *point = &clustering->points[i];
        if (clustering->moves[i] || closes[clustering->columns[point->centre]]) {
            point->centre = candidate;
            point->cost = distance_between(clustering, i, candidate) * point->weight;
        }
    }
    for (int column = 0; column < clustering->centre_count; column++) {
        if (!closes[column])
            clustering->centres[kept++] = clustering->centres[column];
    }
    clustering->centres[kept++] = candidate;
    clustering->centre_count = kept;
    for (int column = 0; column < kept; column++)
        clustering->columns[clustering->centres[column]] = column;
}

static bool is_centre(const struct clustering *clustering, int point)
{
    int column = clustering->columns[point];

    return column < clustering->centre_count && clustering->centres[column] == point;
}

static bool has_room(const struct clustering *clustering, const bool *closes)
{
    int kept = 0;

    for (int column = 0; column < clustering->centre_count; column++)
        kept += !closes[column];
    return kept < CENTRES_MAX;
}

/* All points begin at the first one. */
static void clustering_start(struct clustering *clustering, const struct problem *problem, const float *coordinates,
                             uint64_t *state)
{
    double total = 0.0;

    *clustering = (struct clustering){.problem = problem, .coordinates = coordinates, .centre_count = 1};
    clustering->points = workload_alloc(problem->points, sizeof *clustering->points);
    clustering->columns = workload_alloc(problem->points, sizeof(int));
    clustering->work = workload_alloc(problem->points * (CENTRES_MAX + 1), sizeof(float));
    clustering->moves = workload_alloc(problem->points, 1);
    clustering->changes = workload_alloc(problem->candidates, sizeof(double));
    for (long i = 0; i < problem->points; i++) {
        float weight = 1 + random_below(state, 3);
        clustering->points[i] = (struct point){weight, distance_between(clustering, i, 0) * weight, 0};
        total += clustering->points[i].cost;
    }
    clustering->price = total * PRICE_SHARE;
}

static void clustering_free(struct clustering *clustering)
{
    free(clustering->points);
    free(clustering->columns);
    free(clustering->work);
    free(clustering->moves);
    free(clustering->changes);
}

static void cluster(struct clustering *clustering, uint64_t state, evaluate_function *evaluate, void *context)
{
    for (long i = 0; i < clustering->problem->candidates; i++) {
        int candidate = random_below(&state, clustering->problem->points);
        bool closes[CENTRES_MAX];

        evaluate(clustering, candidate, context);
        clustering->changes[i] = total_change(clustering, closes);
        if (clustering->changes[i] < 0.0 && !is_centre(clustering, candidate) && has_room(clustering, closes))
            open_centre(clustering, candidate, closes);
    }
}

/* The points' centres and costs, one array each. */
static void split_points(const struct clustering *clustering, uint32_t *centres, float *costs)
{
    for (long i = 0; i < clustering->problem->points; i++) {
        centres[i] = clustering->points[i].centre;
        costs[i] = clustering->points[i].cost;
    }
}

static size_t count_mismatches(const struct clustering *got, const struct clustering *expected)
{
    size_t count = got->problem->points;
    uint32_t *centres = workload_alloc(count, sizeof(uint32_t));
    uint32_t *expected_centres = workload_alloc(count, sizeof(uint32_t));
    float *costs = workload_alloc(count, sizeof(float));
    float *expected_costs = workload_alloc(count, sizeof(float));

    split_points(got, centres, costs);
    split_points(expected, expected_centres, expected_costs);
    size_t mismatches = compare_f64("change", got->changes, expected->changes, got->problem->candidates);
    mismatches += compare_u32("centre", centres, expected_centres, count);
    mismatches += compare_f32("cost", costs, expected_costs, count);
    free(centres);
    free(expected_centres);
    free(costs);
    free(expected_costs);
    return mismatches;
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0, 0};
    const struct workload_option options[] = {
        {"dims", "dimensions of a point", &given.dimensions, 1024},
        {"points", "points to cluster", &given.points, 1000000},
        {"candidates", "candidates to try, one launch each", &given.candidates, 1000000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "streamcluster",
        .summary = "Clustering by trying points as centres, one thread per point, one launch per candidate.",
        .inputs = {"1,000 points of 8 dimensions, 10 candidates", "4,096 points of 32 dimensions, 64 candidates",
                   "4,096 points of 32 dimensions, 2,000 candidates"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    struct clustering clustering, expected;
    struct device device;
    struct gpu gpu;

    if (given.dimensions)
        problem.dimensions = given.dimensions;
    if (given.points)
        problem.points = given.points;
    if (given.candidates)
        problem.candidates = given.candidates;
    uint64_t state = workload_seed(BLOCK);
    float *coordinates = workload_alloc(problem.points * problem.dimensions, sizeof(float));
    coordinates_random(&problem, coordinates, &state);
    uint64_t expected_state = state;
    clustering_start(&clustering, &problem, coordinates, &state);
    clustering_start(&expected, &problem, coordinates, &expected_state);
    gpu_open(&gpu);
    device_open(&device, &gpu, &clustering);
    cluster(&clustering, state, evaluate_on_device, &device);
    device_close(&device);
    gpu_close(&gpu);
    cluster(&expected, state, evaluate_reference, NULL);
    size_t mismatches = count_mismatches(&clustering, &expected);
    clustering_free(&clustering);
    clustering_free(&expected);
    free(coordinates);
    return workload_verdict(&workload, mismatches, problem.candidates + 2 * problem.points,
                            "changes of cost, centres and costs of points");
}
