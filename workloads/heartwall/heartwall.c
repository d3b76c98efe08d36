/*
 * heartwall: host program; see heartwall.cu for what the kernel does. The video is made here: a bright ring of speckle
 * on dark ground that wanders and breathes, with points on its inner and outer
 * wall. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, BEAT = 20 /* frames */, LATTICE = 64, SPECKLE = 4 /* pixels between points of the lattice */ };
enum { TEMPLATE_RADIUS_LIMIT = 25, SEARCH_RADIUS_LIMIT = 40 }; /* what the kernel has room for */

#define CIRCLE 6.28318530717958647692

struct problem {
    long rows;
    long columns;
    long inner; /* points on the inner wall; they come first */
    long outer;
    long frames;
    long template_radius;
    long search_radius;
    long move_radius;
    long refresh;
};

static const struct problem problems[SIZE_COUNT] = {
    {120, 140, 5, 8, 3, 3, 6, 2, 2},
    {656, 744, 20, 31, 2, 6, 12, 2, 1},
    {656, 744, 20, 31, 20, 25, 40, 5, 10},
};

/* Laid out as the kernel has it; see there. */
struct parameters {
    int frame_rows;
    int frame_columns;
    int template_side;
    int search_side;
    int full_side;
    int padded_side;
    int move_radius;
    int refresh;
};

struct arrays {
    CUdeviceptr templates;
    CUdeviceptr template_squares;
    CUdeviceptr search;
    CUdeviceptr search_squares;
    CUdeviceptr padded;
    CUdeviceptr selected;
    CUdeviceptr down;
    CUdeviceptr window_sums;
    CUdeviceptr window_squares;
    CUdeviceptr correlation;
    CUdeviceptr mask;
    CUdeviceptr allowed;
    CUdeviceptr first_rows;
    CUdeviceptr first_columns;
    CUdeviceptr rows;
    CUdeviceptr columns;
};

/* What is compared: where the points are after each frame, and templates and correlations after the last. */
struct result {
    int *rows;
    int *columns;
    float *templates;
    float *correlation;
};

static struct parameters parameters_of(const struct problem *problem)
{
    int template_side = 2 * problem->template_radius + 1;
    int search_side = 2 * problem->search_radius + 1;

    return (struct parameters){.frame_rows = problem->rows,
                               .frame_columns = problem->columns,
                               .template_side = template_side,
                               .search_side = search_side,
                               .full_side = template_side + search_side - 1,
                               .padded_side = search_side + 2 * template_side,
                               .move_radius = problem->move_radius,
                               .refresh = problem->refresh};
}

static long points_of(const struct problem *problem) { return problem->inner + problem->outer; }

static float inner_radius(const struct problem *problem) { return 0.16f * problem->rows; }

static float outer_radius(const struct problem *problem) { return 0.27f * problem->rows; }

/* From 0 to 1, back, to -1 and back in one beat: two parabolas. */
static float swing(long frame)
{
    float phase = 2.0f * (frame % BEAT) / BEAT;

    return phase < 1.0f ? 4.0f * phase * (1.0f - phase) : -4.0f * (phase - 1.0f) * (2.0f - phase);
}

static float clamp(float value) { return value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value; }

/* Between the four points of the lattice around a place. */
static float speckle(const float *lattice, float x, float y)
{
    float column = floorf(x);
    float row = floorf(y);
    int left = (int)column & (LATTICE - 1);
    int above = (int)row & (LATTICE - 1);
    int right = (left + 1) & (LATTICE - 1);
    int below = (above + 1) & (LATTICE - 1);
    float across = x - column;
    float top = lattice[above * LATTICE + left] * (1.0f - across) + lattice[above * LATTICE + right] * across;
    float bottom = lattice[below * LATTICE + left] * (1.0f - across) + lattice[below * LATTICE + right] * across;

    return top + (bottom - top) * (y - row);
}

/* The speckle goes with the ring; the noise is another in each frame. */
static void frame_random(const struct problem *problem, const float *lattice, long number, float *frame,
                         uint64_t *state)
{
    const float blur = 6.0f;
    float reach = 0.35f * (problem->search_radius - problem->template_radius);
    float centre_x = 0.5f * problem->columns + reach * swing(number);
    float centre_y = 0.5f * problem->rows - 0.5f * reach * swing(number);
    float size = 1.0f + reach / outer_radius(problem) * swing(number);

    for (long column = 0; column < problem->columns; column++) {
        for (long row = 0; row < problem->rows; row++) {
            float x = (column - centre_x) / size;
            float y = (row - centre_y) / size;
            float distance = sqrtf(x * x + y * y);
            float wall = clamp((distance - inner_radius(problem)) / blur + 0.5f) *
                         clamp((outer_radius(problem) - distance) / blur + 0.5f);
            float grain = speckle(lattice, x / SPECKLE, y / SPECKLE);
            float noise = random_float(state);
            frame[column * problem->rows + row] = floorf(20.0f + wall * (60.0f + 140.0f * grain) + 25.0f * noise);
        }
    }
}

static void video_random(const struct problem *problem, float *frames)
{
    uint64_t state = workload_seed(BEAT);
    float lattice[LATTICE * LATTICE];

    for (int i = 0; i < LATTICE * LATTICE; i++)
        lattice[i] = random_float(&state);
    for (long i = 0; i < problem->frames; i++)
        frame_random(problem, lattice, i, frames + i * problem->rows * problem->columns, &state);
}

/* Evenly around the ring. */
static void place_points(const struct problem *problem, int *rows, int *columns)
{
    for (long i = 0; i < points_of(problem); i++) {
        bool inside = i < problem->inner;
        double radius = inside ? inner_radius(problem) : outer_radius(problem);
        double angle = inside ? CIRCLE * i / problem->inner : CIRCLE * (i - problem->inner) / problem->outer;
        rows[i] = lround(0.5 * problem->rows + radius * sin(angle));
        columns[i] = lround(0.5 * problem->columns + radius * cos(angle));
    }
}

static float pixel_near(const struct parameters *parameters, const float *frame, int row, int column)
{
    row = row < 0 ? 0 : row >= parameters->frame_rows ? parameters->frame_rows - 1 : row;
    column = column < 0 ? 0 : column >= parameters->frame_columns ? parameters->frame_columns - 1 : column;
    return frame[column * parameters->frame_rows + row];
}

static void crop(const struct parameters *parameters, const float *frame, int row, int column, float *square, int side)
{
    for (int i = 0; i < side * side; i++)
        square[i] = pixel_near(parameters, frame, row - side / 2 + i % side, column - side / 2 + i / side);
}

/*
 * Takes several elements of a column side by side, which is faster; each still adds its products in the kernel's order.
 * Those beyond the search square's rim are zeros, which the kernel leaves out. Products of whole numbers up to 255 are
 * exact, so that the kernel's fused operations round as these
 * do. */
static void convolve(const struct parameters *parameters, const float *template, const float *search, float *out)
{
    enum { LANES = 8 };
    int template_side = parameters->template_side;
    int search_side = parameters->search_side;
    int full_side = parameters->full_side;
    int rim = template_side - 1;
    int pitch = search_side + 2 * rim + LANES;
    float *padded = workload_alloc(search_side * pitch, sizeof(float));

    for (int i = 0; i < search_side * search_side; i++)
        padded[i / search_side * pitch + i % search_side + rim] = search[i];
    for (int column = 0; column < full_side; column++) {
        for (int row = 0; row < full_side; row += LANES) {
            float sums[LANES] = {0.0f};
            for (int c = 0; c < template_side; c++) {
                if (column - c < 0 || column - c >= search_side)
                    continue;
                const float *from = padded + (column - c) * pitch + row + rim;
                for (int r = 0; r < template_side; r++) {
                    float factor = template[template_side * template_side - 1 - (c * template_side + r)];
                    for (int lane = 0; lane < LANES; lane++)
                        sums[lane] += factor * from[lane - r];
                }
            }
            for (int lane = 0; lane < LANES && row + lane < full_side; lane++)
                out[column * full_side + row + lane] = sums[lane];
        }
    }
    free(padded);
}

static void sum_windows(const struct parameters *parameters, const float *square, float *sums)
{
    int template_side = parameters->template_side;
    int search_side = parameters->search_side;
    int full_side = parameters->full_side;
    int padded_side = parameters->padded_side;
    float *running = workload_alloc(padded_side + 1, sizeof(float));
    float *down = workload_alloc(full_side * padded_side, sizeof(float));

    for (int column = 0; column < padded_side; column++) {
        int from = column - template_side;
        float sum = 0.0f;
        for (int i = 0; i < padded_side; i++) {
            int row = i - template_side;
            if (from >= 0 && from < search_side && row >= 0 && row < search_side)
                sum += square[from * search_side + row];
            running[i] = sum;
        }
        for (int i = 0; i < full_side; i++)
            down[column * full_side + i] = running[i + template_side] - running[i];
    }
    for (int row = 0; row < full_side; row++) {
        float sum = 0.0f;
        for (int i = 0; i < padded_side; i++)
            running[i] = sum += down[i * full_side + row];
        for (int i = 0; i < full_side; i++)
            sums[i * full_side + row] = running[i + template_side] - running[i];
    }
    free(running);
    free(down);
}

static void template_statistics(const float *template, int side, float *mean, float *deviation)
{
    float sum = 0.0f;
    float squares = 0.0f;

    for (int column = 0; column < side; column++) {
        float column_sum = 0.0f;
        float column_squares = 0.0f;
        for (int row = 0; row < side; row++) {
            float value = template[column * side + row];
            column_sum += value;
            column_squares += value * value;
        }
        sum += column_sum;
        squares += column_squares;
    }
    *mean = sum / (side * side);
    float variation = squares - sum * *mean;
    *deviation = sqrtf(variation > 0.0f ? variation : 0.0f);
}

static void correlate(const struct parameters *parameters, const float *template, float *search, float *correlation)
{
    int side = parameters->template_side;
    int search_size = parameters->search_side * parameters->search_side;
    int full_size = parameters->full_side * parameters->full_side;
    float *sums = workload_alloc(full_size, sizeof(float));
    float *squares = workload_alloc(full_size, sizeof(float));
    float mean, deviation;

    convolve(parameters, template, search, correlation);
    sum_windows(parameters, search, sums);
    for (int i = 0; i < search_size; i++)
        search[i] *= search[i];
    sum_windows(parameters, search, squares);
    template_statistics(template, side, &mean, &deviation);
    for (int i = 0; i < full_size; i++) {
        float above = correlation[i] - sums[i] * mean;
        float variation = squares[i] - sums[i] * sums[i] / (side * side);
        float below = sqrtf(variation < 0.0f ? 0.0f : variation) * deviation;
        correlation[i] = below > 0.0f ? above / below : 0.0f;
    }
    free(sums);
    free(squares);
}

/* Leaves only places near `row` and `column` of the correlation, and moves both to the best. */
static void best_place(const struct parameters *parameters, float *correlation, int *row, int *column)
{
    int side = parameters->full_side;
    int radius = parameters->move_radius;
    float best = -3.0f;
    int best_at = 0;

    for (int i = 0; i < side * side; i++) {
        if (abs(i % side - *row) > radius || abs(i / side - *column) > radius)
            correlation[i] = -2.0f;
        if (correlation[i] > best) {
            best = correlation[i];
            best_at = i;
        }
    }
    *row = best_at % side;
    *column = best_at / side;
}

static void renew_template(const struct parameters *parameters, const float *frame, int row, int column,
                           float *template)
{
    int side = parameters->template_side;
    float *now = workload_alloc(side * side, sizeof(float));

    crop(parameters, frame, row, column, now, side);
    for (int i = 0; i < side * side; i++)
        template[i] = (int)(0.88f * template[i] + 0.12f * now[i] + 0.5f);
    free(now);
}

static void track_reference(const struct problem *problem, const float *frames, const int *first_rows,
                            const int *first_columns, const struct result *result)
{
    struct parameters parameters = parameters_of(problem);
    int side = parameters.template_side;
    int middle = parameters.full_side / 2;
    long points = points_of(problem);
    float *search = workload_alloc(parameters.search_side * parameters.search_side, sizeof(float));

    for (long point = 0; point < points; point++) {
        float *template = result->templates + point * side * side;
        float *correlation = result->correlation + point * parameters.full_side * parameters.full_side;
        int row = middle;
        int column = middle;
        for (long number = 0; number < problem->frames; number++) {
            const float *frame = frames + number * problem->rows * problem->columns;
            int *at_row = &result->rows[number * points + point];
            int *at_column = &result->columns[number * points + point];
            if (number == 0) {
                crop(&parameters, frame, first_rows[point], first_columns[point], template, side);
            } else {
                crop(&parameters, frame, first_rows[point], first_columns[point], search, parameters.search_side);
                correlate(&parameters, template, search, correlation);
                best_place(&parameters, correlation, &row, &column);
            }
            *at_row = first_rows[point] + row - middle;
            *at_column = first_columns[point] + column - middle;
            if (number > 0 && number % problem->refresh == 0)
                renew_template(&parameters, frame, *at_row, *at_column, template);
        }
    }
    free(search);
}

static struct arrays arrays_alloc(const struct problem *problem, const int *first_rows, const int *first_columns)
{
    struct parameters parameters = parameters_of(problem);
    size_t points = points_of(problem);
    size_t bytes = points * sizeof(float);
    size_t template_bytes = bytes * parameters.template_side * parameters.template_side;
    size_t search_bytes = bytes * parameters.search_side * parameters.search_side;
    size_t padded_bytes = bytes * parameters.padded_side * parameters.padded_side;
    size_t strip_bytes = bytes * parameters.full_side * parameters.padded_side;
    size_t full_bytes = bytes * parameters.full_side * parameters.full_side;

    return (struct arrays){.templates = gpu_alloc_zeroed(template_bytes),
                           .template_squares = gpu_alloc_zeroed(template_bytes),
                           .search = gpu_alloc_zeroed(search_bytes),
                           .search_squares = gpu_alloc_zeroed(search_bytes),
                           .padded = gpu_alloc_zeroed(padded_bytes),
                           .selected = gpu_alloc_zeroed(strip_bytes),
                           .down = gpu_alloc_zeroed(strip_bytes),
                           .window_sums = gpu_alloc_zeroed(full_bytes),
                           .window_squares = gpu_alloc_zeroed(full_bytes),
                           .correlation = gpu_alloc_zeroed(full_bytes),
                           .mask = gpu_alloc_zeroed(full_bytes),
                           .allowed = gpu_alloc_zeroed(full_bytes),
                           .first_rows = gpu_upload(first_rows, points * sizeof(int)),
                           .first_columns = gpu_upload(first_columns, points * sizeof(int)),
                           .rows = gpu_upload(first_rows, points * sizeof(int)),
                           .columns = gpu_upload(first_columns, points * sizeof(int))};
}

static void arrays_free(const struct arrays *arrays)
{
    const CUdeviceptr all[] = {
        arrays->templates, arrays->template_squares, arrays->search,         arrays->search_squares,
        arrays->padded,    arrays->selected,         arrays->down,           arrays->window_sums,
        arrays->mask,      arrays->correlation,      arrays->window_squares, arrays->allowed,
        arrays->rows,      arrays->columns,          arrays->first_rows,     arrays->first_columns,
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

static void track_on_device(const struct gpu *gpu, const struct problem *problem, const float *frames,
                            const int *first_rows, const int *first_columns, const struct result *result)
{
    struct parameters parameters = parameters_of(problem);
    struct arrays arrays = arrays_alloc(problem, first_rows, first_columns);
    CUfunction kernel = gpu_kernel(gpu, "heartwall");
    size_t points = points_of(problem);
    size_t pixels = problem->rows * problem->columns;
    CUdeviceptr frame = gpu_alloc_zeroed(pixels * sizeof(float));

    gpu_fill_constant(gpu, "heartwall_parameters", &parameters, sizeof parameters);
    for (int number = 0; number < problem->frames; number++) {
        void *arguments[] = {&frame, &number, &arrays};
        CHECK(cuMemcpyHtoD(frame, frames + number * pixels, pixels * sizeof(float)));
        gpu_launch(kernel, (struct shape){points, 1}, (struct shape){BLOCK, 1}, arguments);
        gpu_download(result->rows + number * points, arrays.rows, points * sizeof(int));
        gpu_download(result->columns + number * points, arrays.columns, points * sizeof(int));
    }
    gpu_download(result->templates, arrays.templates,
                 points * parameters.template_side * parameters.template_side * sizeof(float));
    gpu_download(result->correlation, arrays.correlation,
                 points * parameters.full_side * parameters.full_side * sizeof(float));
    gpu_free(frame);
    arrays_free(&arrays);
}

static struct result result_alloc(size_t places, size_t template_elements, size_t correlations)
{
    return (struct result){.rows = workload_alloc(places, sizeof(int)),
                           .columns = workload_alloc(places, sizeof(int)),
                           .templates = workload_alloc(template_elements, sizeof(float)),
                           .correlation = workload_alloc(correlations, sizeof(float))};
}

static void result_free(const struct result *result)
{
    free(result->rows);
    free(result->columns);
    free(result->templates);
    free(result->correlation);
}

int main(int argc, char **argv)
{
    struct problem given = {0};
    const struct workload_option options[] = {
        {"frames", "frames of the video, a launch each", &given.frames, 200},
        {"template", "radius of a template: its side is 2 N + 1", &given.template_radius, TEMPLATE_RADIUS_LIMIT},
        {"search", "radius of the square in which a point is looked for", &given.search_radius, SEARCH_RADIUS_LIMIT},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "heartwall",
        .summary = "Follows points on the walls of a heart through a video, by normalised correlation with templates.",
        .inputs = {"120 x 140 pixels, 3 frames, 13 points, templates of 7 x 7, squares of 13 x 13",
                   "656 x 744 pixels, 2 frames, 51 points, templates of 13 x 13, squares of 25 x 25",
                   "656 x 744 pixels, 20 frames, 51 points, templates of 51 x 51, squares of 81 x 81"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    struct gpu gpu;

    if (given.frames)
        problem.frames = given.frames;
    if (given.template_radius)
        problem.template_radius = given.template_radius;
    if (given.search_radius)
        problem.search_radius = given.search_radius;
    struct parameters parameters = parameters_of(&problem);
    size_t points = points_of(&problem);
    size_t places = points * problem.frames;
    size_t template_elements = points * parameters.template_side * parameters.template_side;
    size_t correlations = points * parameters.full_side * parameters.full_side;
    float *frames = workload_alloc(problem.rows * problem.columns * problem.frames, sizeof(float));
    int *first_rows = workload_alloc(points, sizeof(int));
    int *first_columns = workload_alloc(points, sizeof(int));
    struct result result = result_alloc(places, template_elements, correlations);
    struct result expected = result_alloc(places, template_elements, correlations);
    video_random(&problem, frames);
    place_points(&problem, first_rows, first_columns);
    gpu_open(&gpu);
    track_on_device(&gpu, &problem, frames, first_rows, first_columns, &result);
    gpu_close(&gpu);
    track_reference(&problem, frames, first_rows, first_columns, &expected);
    size_t mismatches = compare_u32("row", (uint32_t *)result.rows, (uint32_t *)expected.rows, places);
    mismatches += compare_u32("column", (uint32_t *)result.columns, (uint32_t *)expected.columns, places);
    mismatches += compare_f32("template", result.templates, expected.templates, template_elements);
    mismatches += compare_f32("correlation", result.correlation, expected.correlation, correlations);
    free(frames);
    free(first_rows);
    free(first_columns);
    result_free(&result);
    result_free(&expected);
    return workload_verdict(&workload, mismatches, 2 * places + template_elements + correlations,
                            "coordinates, pixels of templates and correlations");
}
