/*
 * heartwall: follows points on the walls of a beating heart through the frames of an ultrasound video.
 *
 * One block per point, one launch per frame. The first frame gives each point its template, a square of pixels around
 * it. In every other frame the block correlates the template with the square in which the point may be, normalised by
 * mean and deviation of each window, and takes the best place not far from the last. All of it is one long kernel of
 * steps that end in a barrier. Most are loops over elements with a stride of 256, but in sums along columns and rows as
 * many threads work as there are columns or rows, and in totals one. Intermediate results lie in global memory, the
 * template in shared memory.
 *
 * Squares are stored column by column, as frames are. Threads that walk along columns have a column between them
 * (diverged), threads that walk along rows lie side by side. Pixels and templates are whole numbers up to 255, so that
 * their products are exact.
 */
#include "device.h"

enum { BLOCK = 256, TEMPLATE_SIDE_LIMIT = 51, FULL_SIDE_LIMIT = 131 };

/* The same in all launches. Squares have an odd side. */
struct parameters {
    int frame_rows;
    int frame_columns;
    int template_side;
    int search_side; /* of the square where a point may be, around where it began */
    int full_side;   /* template_side + search_side - 1: places at which a template touches that square */
    int padded_side; /* search_side + 2 * template_side */
    int move_radius; /* how far a point goes from one frame to the next, at most */
    int refresh;     /* frames after which the templates take up what the points look like now */
};

/* In global memory. Each array has one part per point. */
struct arrays {
    float *templates; /* template_side squared */
    float *template_squares;
    float *search; /* search_side squared */
    float *search_squares;
    float *padded;      /* padded_side squared: one of those two among zeros */
    float *selected;    /* full_side rows, padded_side columns */
    float *down;        /* the same: sums over as many rows as a template has */
    float *window_sums; /* full_side squared */
    float *window_squares;
    float *correlation;
    float *mask;
    float *allowed;
    const int *first_rows; /* one number: where the point began */
    const int *first_columns;
    int *rows; /* where it is now */
    int *columns;
};

extern "C" {
__constant__ parameters heartwall_parameters;
}

static inline __device__ int smaller(int a, int b) { return a < b ? a : b; }

static inline __device__ int larger(int a, int b) { return a > b ? a : b; }

/* The pixel there; what lies outside the frame is as its nearest pixel. */
static inline __device__ float pixel_near(const float *frame, int row, int column)
{
    row = smaller(larger(row, 0), heartwall_parameters.frame_rows - 1);
    column = smaller(larger(column, 0), heartwall_parameters.frame_columns - 1);
    return frame[column * heartwall_parameters.frame_rows + row];
}

/* The square of `side` pixels around a place. */
static inline __device__ void crop(const float *frame, int row, int column, float *square, int side)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < side * side; i += BLOCK)
        square[i] = pixel_near(frame, row - side / 2 + i % side, column - side / 2 + i / side);
}

static inline __device__ void square_elements(const float *from, float *to, int count)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += BLOCK)
        to[i] = __fmul_rn(from[i], from[i]);
}

/*
 * What the template, turned by half a circle, makes of the search square in a full convolution. How many products an
 * element has depends on how far it is from the rim.
 */
static inline __device__ void convolve(const float *turned, const float *search, float *out)
{
    int template_side = heartwall_parameters.template_side;
    int search_side = heartwall_parameters.search_side;
    int full_side = heartwall_parameters.full_side;

#pragma unroll 1
    for (int i = threadIdx.x; i < full_side * full_side; i += BLOCK) {
        int row = i % full_side;
        int column = i / full_side;
        int first_row = larger(0, row - (search_side - 1));
        int last_row = smaller(template_side - 1, row);
        int first_column = larger(0, column - (search_side - 1));
        int last_column = smaller(template_side - 1, column);
        float sum = 0.0f;
#pragma unroll 1
        for (int c = first_column; c <= last_column; c++) {
#pragma unroll 1
            for (int r = first_row; r <= last_row; r++)
                sum = __fmaf_rn(turned[c * template_side + r], search[(column - c) * search_side + row - r], sum);
        }
        out[i] = sum;
    }
}

/*
 * For each place of a template on the square, the sum of what is under it: running sums down the columns, of which
 * those a template's side apart are subtracted, and the same along the rows.
 */
static inline __device__ void sum_windows(const float *square, float *padded, float *selected, float *down, float *sums)
{
    int tx = threadIdx.x;
    int template_side = heartwall_parameters.template_side;
    int search_side = heartwall_parameters.search_side;
    int full_side = heartwall_parameters.full_side;
    int padded_side = heartwall_parameters.padded_side;
    int strip = full_side * padded_side;

#pragma unroll 1
    for (int i = tx; i < padded_side * padded_side; i += BLOCK) {
        int row = i % padded_side - template_side;
        int column = i / padded_side - template_side;
        float value = 0.0f;
        if (row >= 0 && row < search_side && column >= 0 && column < search_side)
            value = square[column * search_side + row];
        padded[i] = value;
    }
    __syncthreads();
#pragma unroll 1
    for (int column = tx; column < padded_side; column += BLOCK) {
        float sum = 0.0f;
#pragma unroll 1
        for (int row = 0; row < padded_side; row++) {
            sum = __fadd_rn(sum, padded[column * padded_side + row]);
            padded[column * padded_side + row] = sum;
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < strip; i += BLOCK)
        selected[i] = padded[i / full_side * padded_side + i % full_side + template_side];
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < strip; i += BLOCK)
        down[i] = __fsub_rn(selected[i], padded[i / full_side * padded_side + i % full_side]);
    __syncthreads();
#pragma unroll 1
    for (int row = tx; row < full_side; row += BLOCK) {
        float sum = 0.0f;
#pragma unroll 1
        for (int column = 0; column < padded_side; column++) {
            sum = __fadd_rn(sum, down[column * full_side + row]);
            down[column * full_side + row] = sum;
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < full_side * full_side; i += BLOCK)
        selected[i] = down[i + template_side * full_side];
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < full_side * full_side; i += BLOCK)
        sums[i] = __fsub_rn(selected[i], down[i]);
    __syncthreads();
}

/* Around each one of the mask, a square of ones. */
static inline __device__ void spread_mask(const float *mask, float *out)
{
    int full_side = heartwall_parameters.full_side;
    int radius = heartwall_parameters.move_radius;

#pragma unroll 1
    for (int i = threadIdx.x; i < full_side * full_side; i += BLOCK) {
        int row = i % full_side;
        int column = i / full_side;
        int first_row = larger(0, row - radius);
        int last_row = smaller(full_side - 1, row + radius);
        int last_column = smaller(full_side - 1, column + radius);
        float sum = 0.0f;
#pragma unroll 1
        for (int c = larger(0, column - radius); c <= last_column; c++) {
#pragma unroll 1
            for (int r = first_row; r <= last_row; r++)
                sum = __fadd_rn(sum, mask[c * full_side + r]);
        }
        out[i] = sum;
    }
}

extern "C" __global__ void heartwall(const float *frame, int frame_number, arrays all)
{
    __shared__ float turned[TEMPLATE_SIDE_LIMIT * TEMPLATE_SIDE_LIMIT];
    __shared__ float column_sums[TEMPLATE_SIDE_LIMIT];
    __shared__ float column_squares[TEMPLATE_SIDE_LIMIT];
    __shared__ float template_mean;
    __shared__ float template_deviation;
    __shared__ float best_values[FULL_SIDE_LIMIT];
    __shared__ int best_rows[FULL_SIDE_LIMIT];
    __shared__ int moved_to_row;
    __shared__ int moved_to_column;
    int tx = threadIdx.x;
    int point = blockIdx.x;
    int template_side = heartwall_parameters.template_side;
    int template_size = template_side * template_side;
    int search_side = heartwall_parameters.search_side;
    int search_size = search_side * search_side;
    int full_side = heartwall_parameters.full_side;
    int padded_side = heartwall_parameters.padded_side;
    int full_size = full_side * full_side;
    float *own_template = all.templates + point * template_size;
    float *template_squares = all.template_squares + point * template_size;
    float *search = all.search + point * search_size;
    float *search_squares = all.search_squares + point * search_size;
    float *padded = all.padded + point * padded_side * padded_side;
    float *selected = all.selected + point * full_side * padded_side;
    float *down = all.down + point * full_side * padded_side;
    float *window_sums = all.window_sums + point * full_size;
    float *window_squares = all.window_squares + point * full_size;
    float *correlation = all.correlation + point * full_size;
    float *mask = all.mask + point * full_size;
    float *allowed = all.allowed + point * full_size;

    if (frame_number == 0) {
        crop(frame, all.first_rows[point], all.first_columns[point], own_template, template_side);
        return;
    }

    crop(frame, all.first_rows[point], all.first_columns[point], search, search_side);
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < template_size; i += BLOCK)
        turned[i] = own_template[template_size - 1 - i];
    __syncthreads();
    convolve(turned, search, correlation);
    __syncthreads();

    sum_windows(search, padded, selected, down, window_sums);
    square_elements(search, search_squares, search_size);
    __syncthreads();
    sum_windows(search_squares, padded, selected, down, window_squares);

    square_elements(own_template, template_squares, template_size);
    __syncthreads();
    if (tx < template_side) {
        float sum = 0.0f;
        float squares = 0.0f;
#pragma unroll 1
        for (int i = 0; i < template_side; i++) {
            sum = __fadd_rn(sum, own_template[tx * template_side + i]);
            squares = __fadd_rn(squares, template_squares[tx * template_side + i]);
        }
        column_sums[tx] = sum;
        column_squares[tx] = squares;
    }
    __syncthreads();
    if (tx == 0) {
        float sum = 0.0f;
        float squares = 0.0f;
#pragma unroll 1
        for (int i = 0; i < template_side; i++) {
            sum = __fadd_rn(sum, column_sums[i]);
            squares = __fadd_rn(squares, column_squares[i]);
        }
        template_mean = __fdiv_rn(sum, template_size);
        float variation = __fsub_rn(squares, __fmul_rn(sum, template_mean));
        template_deviation = __fsqrt_rn(variation > 0.0f ? variation : 0.0f);
    }
    __syncthreads();

    /* How each window varies about its mean, then correlation: with the means taken away, over both deviations. */
#pragma unroll 1
    for (int i = tx; i < full_size; i += BLOCK)
        correlation[i] = __fsub_rn(correlation[i], __fmul_rn(window_sums[i], template_mean));
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < full_size; i += BLOCK) {
        float sum = window_sums[i];
        window_squares[i] = __fsub_rn(window_squares[i], __fdiv_rn(__fmul_rn(sum, sum), template_size));
    }
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < full_size; i += BLOCK) {
        if (window_squares[i] < 0.0f)
            window_squares[i] = 0.0f;
    }
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < full_size; i += BLOCK)
        window_squares[i] = __fsqrt_rn(window_squares[i]);
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < full_size; i += BLOCK)
        window_squares[i] = __fmul_rn(window_squares[i], template_deviation);
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < full_size; i += BLOCK) {
        float deviations = window_squares[i];
        float value = 0.0f;
        if (deviations > 0.0f)
            value = __fdiv_rn(correlation[i], deviations);
        correlation[i] = value;
    }
    __syncthreads();

    /* A one where the point was, relative to where it began, and ones wherever it may have gone from there. */
#pragma unroll 1
    for (int i = tx; i < full_size; i += BLOCK)
        mask[i] = 0.0f;
    __syncthreads();
    if (tx == 0) {
        int row = full_side / 2 + all.rows[point] - all.first_rows[point];
        int column = full_side / 2 + all.columns[point] - all.first_columns[point];
        mask[column * full_side + row] = 1.0f;
    }
    __syncthreads();
    spread_mask(mask, allowed);
    __syncthreads();
#pragma unroll 1
    for (int i = tx; i < full_size; i += BLOCK) {
        if (allowed[i] == 0.0f)
            correlation[i] = -2.0f; /* less than any correlation */
    }
    __syncthreads();

    /* The best of each column, then of all; of equals the first. */
#pragma unroll 1
    for (int column = tx; column < full_side; column += BLOCK) {
        float best = -3.0f;
        int best_row = 0;
#pragma unroll 1
        for (int row = 0; row < full_side; row++) {
            float value = correlation[column * full_side + row];
            if (value > best) {
                keep_branch();
                best = value;
                best_row = row;
            }
        }
        best_values[column] = best;
        best_rows[column] = best_row;
    }
    __syncthreads();
    if (tx == 0) {
        int best = 0;
#pragma unroll 1
        for (int column = 1; column < full_side; column++) {
            if (best_values[column] > best_values[best])
                best = column;
        }
        moved_to_row = all.first_rows[point] + best_rows[best] - full_side / 2;
        moved_to_column = all.first_columns[point] + best - full_side / 2;
        all.rows[point] = moved_to_row;
        all.columns[point] = moved_to_column;
    }
    __syncthreads();

    if (frame_number % heartwall_parameters.refresh == 0) {
#pragma unroll 1
        for (int i = tx; i < template_size; i += BLOCK) {
            int row = moved_to_row - template_side / 2 + i % template_side;
            int column = moved_to_column - template_side / 2 + i / template_side;
            float now = pixel_near(frame, row, column);
            float mixed = __fadd_rn(__fmul_rn(0.88f, own_template[i]), __fmul_rn(0.12f, now));
            own_template[i] = (int)__fadd_rn(mixed, 0.5f);
        }
    }
}
