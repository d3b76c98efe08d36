/* dxtc: host program; see dxtc.cu for what the kernel does. The reference repeats its arithmetic to the bit. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { THREADS = 64, PIXELS = 16, WAYS = 992, MOMENTS = 6, POWER_STEPS = 8, CHANNELS = 3, DISCS = 24 };

struct attempt {
    float error;
    uint32_t ends[2];
    uint32_t shades;
};

/* Pixels of a side of the image. The paper's count of instructions fits 32. */
static const long sides[SIZE_COUNT] = {16, 64, 32};

/*
 * All ways to cut the ordered colours into four runs, some of them empty, with shades from one end to the other, except
 * the four in which all colours have one shade: from these the ends cannot be told. Filled up to whole
 * warps. */
static void ways_fill(uint32_t *ways)
{
    int count = 0;

    for (int first = 0; first <= PIXELS; first++) {
        for (int second = first; second <= PIXELS; second++) {
            for (int third = second; third <= PIXELS; third++) {
                int longest = first > second - first ? first : second - first;
                longest = longest > third - second ? longest : third - second;
                longest = longest > PIXELS - third ? longest : PIXELS - third;
                uint32_t way = 0;
                for (int i = 0; i < PIXELS; i++)
                    way |= (uint32_t)(i < first ? 0 : i < second ? 2 : i < third ? 3 : 1) << 2 * i;
                if (longest < PIXELS)
                    ways[count++] = way;
            }
        }
    }
    for (; count < WAYS; count++)
        ways[count] = ways[count - 1];
}

/* Discs of different colours on a slope from colour to colour, with a little noise. */
static void image_random(uint32_t *image, long side)
{
    uint64_t state = workload_seed(PIXELS);
    long discs[DISCS][3];
    uint32_t tints[DISCS];

    for (int i = 0; i < DISCS; i++) {
        discs[i][0] = random_below(&state, side);
        discs[i][1] = random_below(&state, side);
        discs[i][2] = side / 16 + random_below(&state, side / 8 + 1);
        tints[i] = random_u32(&state);
    }
    for (long y = 0; y < side; y++) {
        for (long x = 0; x < side; x++) {
            long channels[CHANNELS] = {40 + 120 * x / side, 60 + 150 * y / side, 200 - 60 * (x + y) / side};
            for (int i = 0; i < DISCS; i++) {
                long dx = x - discs[i][0];
                long dy = y - discs[i][1];
                for (int c = 0; c < CHANNELS && dx * dx + dy * dy < discs[i][2] * discs[i][2]; c++)
                    channels[c] = (channels[c] + 3 * (tints[i] >> 8 * c & 255)) / 4;
            }
            uint32_t pixel = 0;
            for (int c = 0; c < CHANNELS; c++) {
                long shade = channels[c] + random_below(&state, 25) - 12;
                pixel |= (uint32_t)(shade < 0 ? 0 : shade > 255 ? 255 : shade) << 8 * c;
            }
            image[y * side + x] = pixel;
        }
    }
}

static float clamped(float x) { return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }

static struct attempt tried(float ordered[PIXELS][CHANNELS], const float *total, uint32_t shades)
{
    static const float levels[CHANNELS] = {31.0f, 63.0f, 31.0f};
    static const int shifts[CHANNELS] = {11, 5, 0};
    struct attempt attempt = {.shades = shades};
    float aa = 0.0f, bb = 0.0f, ab = 0.0f;
    float part_a[CHANNELS] = {0.0f, 0.0f, 0.0f};
    float errors[CHANNELS];

    for (int i = 0; i < PIXELS; i++) {
        int shade = shades >> 2 * i & 3;
        float share_b = shade & 2 ? ((shade & 1) + 1.0f) * (1.0f / 3.0f) : (float)shade;
        float share_a = 1.0f - share_b;
        aa = fmaf(share_a, share_a, aa);
        bb = fmaf(share_b, share_b, bb);
        ab = fmaf(share_a, share_b, ab);
        for (int c = 0; c < CHANNELS; c++)
            part_a[c] = fmaf(share_a, ordered[i][c], part_a[c]);
    }
    float scale = 1.0f / (aa * bb - ab * ab);
    for (int c = 0; c < CHANNELS; c++) {
        float part_b = total[c] - part_a[c];
        float exact[2] = {(part_a[c] * bb - part_b * ab) * scale, (part_b * aa - part_a[c] * ab) * scale};
        float kept[2];
        for (int end = 0; end < 2; end++) {
            int level = fmaf(clamped(exact[end]), levels[c], 0.5f);
            kept[end] = level * (1.0f / levels[c]);
            attempt.ends[end] |= (uint32_t)level << shifts[c];
        }
        float squares = fmaf(kept[0] * kept[0], aa, kept[1] * kept[1] * bb);
        float mixed = kept[0] * kept[1] * ab - kept[0] * part_a[c] - kept[1] * part_b;
        errors[c] = fmaf(2.0f, mixed, squares);
    }
    attempt.error = errors[0] + errors[1] + errors[2];
    return attempt;
}

/* Element 0 of each column becomes the sum of all, added up in a tree. */
static void add_tree(float *numbers, int columns)
{
    for (int width = PIXELS / 2; width > 0; width /= 2) {
        for (int i = 0; i < width * columns; i++)
            numbers[i] += numbers[i + width * columns];
    }
}

/* Places of the colours along their main axis, and the colours in that order; `total` is their sum. */
static void order_colours(float colours[PIXELS][CHANNELS], float ordered[PIXELS][CHANNELS], float *total, int *places)
{
    float totals[PIXELS][CHANNELS];
    float moments[PIXELS][MOMENTS];
    float axis[CHANNELS] = {1.0f, 1.0f, 1.0f};
    float along[PIXELS];

    for (int i = 0; i < PIXELS * CHANNELS; i++)
        totals[i / CHANNELS][i % CHANNELS] = colours[i / CHANNELS][i % CHANNELS];
    add_tree(totals[0], CHANNELS);
    for (int i = 0; i < PIXELS; i++) {
        int moment = 0;
        float apart[CHANNELS];
        for (int c = 0; c < CHANNELS; c++)
            apart[c] = fmaf(totals[0][c], -1.0f / PIXELS, colours[i][c]);
        for (int c = 0; c < CHANNELS; c++) {
            for (int d = c; d < CHANNELS; d++)
                moments[i][moment++] = apart[c] * apart[d];
        }
    }
    add_tree(moments[0], MOMENTS);
    for (int step = 0; step < POWER_STEPS; step++) {
        static const int at[CHANNELS][CHANNELS] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
        float next[CHANNELS];
        for (int c = 0; c < CHANNELS; c++)
            next[c] = fmaf(moments[0][at[c][0]], axis[0],
                           fmaf(moments[0][at[c][1]], axis[1], moments[0][at[c][2]] * axis[2]));
        float length = fmaf(next[0], next[0], fmaf(next[1], next[1], next[2] * next[2]));
        float scale = length > 0.0f ? 1.0f / sqrtf(length) : 0.0f;
        for (int c = 0; c < CHANNELS; c++)
            axis[c] = next[c] * scale;
    }
    for (int i = 0; i < PIXELS; i++)
        along[i] = fmaf(colours[i][0], axis[0], fmaf(colours[i][1], axis[1], colours[i][2] * axis[2]));
    for (int i = 0; i < PIXELS; i++) {
        places[i] = 0;
        for (int j = 0; j < PIXELS; j++)
            places[i] += along[j] < along[i] || (along[j] == along[i] && j < i);
        for (int c = 0; c < CHANNELS; c++)
            ordered[places[i]][c] = colours[i][c];
    }
    for (int c = 0; c < CHANNELS; c++)
        total[c] = totals[0][c];
}

/* Of several ways with the same error, the one that the block's tree of threads finds. */
static struct attempt best_of(float ordered[PIXELS][CHANNELS], const float *total, const uint32_t *ways)
{
    struct attempt best[THREADS];

    for (int thread = 0; thread < THREADS; thread++)
        best[thread] = (struct attempt){.error = 3.0e38f};
    for (int way = 0; way < WAYS; way++) {
        struct attempt next = tried(ordered, total, ways[way]);
        if (next.error < best[way % THREADS].error)
            best[way % THREADS] = next;
    }
    for (int width = THREADS / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) {
            if (best[i + width].error < best[i].error)
                best[i] = best[i + width];
        }
    }
    return best[0];
}

static void compress_reference(const uint32_t *image, long side, const uint32_t *ways, uint32_t *compressed,
                               float *least_errors)
{
    long per_row = side / 4;

    for (long block = 0; block < per_row * per_row; block++) {
        float colours[PIXELS][CHANNELS], ordered[PIXELS][CHANNELS], total[CHANNELS];
        int places[PIXELS];
        uint32_t shades = 0;

        for (int i = 0; i < PIXELS; i++) {
            uint32_t pixel = image[(block / per_row * 4 + i / 4) * side + block % per_row * 4 + i % 4];
            for (int c = 0; c < CHANNELS; c++)
                colours[i][c] = (pixel >> 8 * c & 255) * (1.0f / 255.0f);
        }
        order_colours(colours, ordered, total, places);
        struct attempt best = best_of(ordered, total, ways);
        int turned = best.ends[0] < best.ends[1];
        for (int i = 0; i < PIXELS; i++)
            shades |= ((best.shades >> 2 * places[i] & 3) ^ turned) << 2 * i;
        compressed[2 * block] = best.ends[turned] | best.ends[!turned] << 16;
        compressed[2 * block + 1] = best.ends[0] == best.ends[1] ? 0 : shades;
        least_errors[block] = best.error;
    }
}

static void compress_on_device(const struct gpu *gpu, const uint32_t *image, long side, const uint32_t *ways,
                               uint32_t *compressed, float *least_errors)
{
    unsigned blocks = side / 4 * (side / 4);
    int width = side;
    CUdeviceptr pixels = gpu_upload(image, side * side * sizeof(uint32_t));
    CUdeviceptr way_memory = gpu_upload(ways, WAYS * sizeof(uint32_t));
    CUdeviceptr result = gpu_alloc_zeroed(blocks * 2 * sizeof(uint32_t));
    CUdeviceptr errors = gpu_alloc_zeroed(blocks * sizeof(float));
    void *arguments[] = {&pixels, &width, &way_memory, &result, &errors};

    gpu_launch(gpu_kernel(gpu, "dxtc_compress"), (struct shape){blocks, 1}, (struct shape){THREADS, 1}, arguments);
    gpu_download(compressed, result, blocks * 2 * sizeof(uint32_t));
    gpu_download(least_errors, errors, blocks * sizeof(float));
    gpu_free(pixels);
    gpu_free(way_memory);
    gpu_free(result);
    gpu_free(errors);
}

int main(int argc, char **argv)
{
    long given = 0;
    const struct workload_option options[] = {
        {"side", "pixels of a side of the image, rounded up to a multiple of four", &given, 4096},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "dxtc",
        .summary = "Compression of an image to DXT1, a block of threads per 4x4 pixels.",
        .inputs = {"16x16 pixels", "64x64 pixels", "32x32 pixels"},
        .options = options,
    };
    long side = sides[workload_parse(&workload, argc, argv)];
    uint32_t ways[WAYS];
    struct gpu gpu;

    if (given)
        side = (given + 3) / 4 * 4;
    size_t blocks = (size_t)(side / 4) * (side / 4);
    uint32_t *image = workload_alloc((size_t)side * side, sizeof(uint32_t));
    uint32_t *compressed = workload_alloc(2 * blocks, sizeof(uint32_t));
    uint32_t *expected = workload_alloc(2 * blocks, sizeof(uint32_t));
    float *errors = workload_alloc(blocks, sizeof(float));
    float *expected_errors = workload_alloc(blocks, sizeof(float));
    ways_fill(ways);
    image_random(image, side);
    gpu_open(&gpu);
    compress_on_device(&gpu, image, side, ways, compressed, errors);
    gpu_close(&gpu);
    compress_reference(image, side, ways, expected, expected_errors);
    size_t mismatches = compare_u32("word", compressed, expected, 2 * blocks);
    mismatches += compare_f32("error", errors, expected_errors, blocks);
    free(image);
    free(compressed);
    free(expected);
    free(errors);
    free(expected_errors);
    return workload_verdict(&workload, mismatches, 3 * blocks, "words and errors of the compressed image");
}
