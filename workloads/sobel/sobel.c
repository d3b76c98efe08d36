/* sobel: host program; see sobel.cu for what the kernels do. Both must find the same edges as the reference. */
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK_X = 16, BLOCK_Y = 4, STRIP_WORDS = 80, TEXTURE_BLOCK = 384, WHITE = 255, DISCS = 24 };

struct problem {
    long width; /* rounded up to whole words of four pixels */
    long height;
};

struct disc {
    int x;
    int y;
    int radius;
    int shade;
};

static const struct problem problems[SIZE_COUNT] = {{200, 102}, {1024, 1024}, {512, 512}};

/* A dark ground that gets brighter to the right, discs of one shade each upon it, and a little noise over all. */
static void draw(uint8_t *image, int width, int height, uint64_t *state)
{
    struct disc discs[DISCS];

    for (int i = 0; i < DISCS; i++) {
        discs[i].x = random_below(state, width);
        discs[i].y = random_below(state, height);
        discs[i].radius = 1 + random_below(state, (width + height) / 12 + 1);
        discs[i].shade = random_below(state, 230);
    }
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int shade = 64L * x / width;
            for (int i = 0; i < DISCS; i++) {
                long dx = x - discs[i].x, dy = y - discs[i].y;
                if (dx * dx + dy * dy <= (long)discs[i].radius * discs[i].radius)
                    shade = discs[i].shade;
            }
            image[(size_t)y * width + x] = shade + random_below(state, 24);
        }
    }
}

static int clamped(int position, int length) { return position < 0 ? 0 : position < length ? position : length - 1; }

static uint8_t edge_reference(const uint8_t *image, int width, int height, int x, int y, float scale)
{
    int pixels[3][3];

    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++)
            pixels[row][column] = image[(size_t)clamped(y + row - 1, height) * width + clamped(x + column - 1, width)];
    }
    int across = 0, down = 0;
    for (int i = 0; i < 3; i++) {
        int weight = i == 1 ? 2 : 1;
        across += weight * (pixels[i][2] - pixels[i][0]);
        down += weight * (pixels[0][i] - pixels[2][i]);
    }
    int value = scale * (float)(abs(across) + abs(down));
    return value > WHITE ? WHITE : value;
}

static void edges_on_device(const struct gpu *gpu, const uint8_t *image, int width, int height, float scale,
                            uint8_t *from_shared, uint8_t *from_texture)
{
    size_t bytes = (size_t)width * height;
    CUarray array = gpu_upload_array_u8(image, width, height);
    CUtexObject texture = gpu_texture_u8(array);
    CUdeviceptr edges = gpu_alloc_zeroed(bytes);
    int words = width / 4;
    struct shape strips = {gpu_blocks(words, STRIP_WORDS), gpu_blocks(height, BLOCK_Y)};
    void *shared_arguments[] = {&texture, &edges, &words, &height, &scale};
    void *texture_arguments[] = {&texture, &edges, &width, &scale};

    gpu_launch(gpu_kernel(gpu, "sobel_shared"), strips, (struct shape){BLOCK_X, BLOCK_Y}, shared_arguments);
    gpu_download(from_shared, edges, bytes);
    gpu_free(edges);
    edges = gpu_alloc_zeroed(bytes);
    gpu_launch(gpu_kernel(gpu, "sobel_texture"), (struct shape){height, 1}, (struct shape){TEXTURE_BLOCK, 1},
               texture_arguments);
    gpu_download(from_texture, edges, bytes);
    gpu_free(edges);
    CHECK(cuTexObjectDestroy(texture));
    gpu_free_array(array);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0};
    const struct workload_option options[] = {
        {"width", "pixels in a row of an image of your own size, rounded up to a multiple of 4", &given.width, 16384},
        {"height", "rows", &given.height, 16384},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "sobel",
        .summary = "Edges of an image by a 3x3 filter: through shared memory, and from a texture alone.",
        .inputs = {"200 x 102 pixels", "1024 x 1024 pixels", "512 x 512 pixels"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(TEXTURE_BLOCK);
    const float scale = 1.0f;
    struct gpu gpu;

    if (given.width)
        problem.width = given.width;
    if (given.height)
        problem.height = given.height;
    int width = (problem.width + 3) / 4 * 4;
    int height = problem.height;
    size_t count = (size_t)width * height;
    uint8_t *image = workload_alloc(count, 1);
    uint8_t *from_shared = workload_alloc(count, 1);
    uint8_t *from_texture = workload_alloc(count, 1);
    uint8_t *expected = workload_alloc(count, 1);
    draw(image, width, height, &state);
    gpu_open(&gpu);
    edges_on_device(&gpu, image, width, height, scale, from_shared, from_texture);
    gpu_close(&gpu);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            expected[(size_t)y * width + x] = edge_reference(image, width, height, x, y, scale);
    }
    size_t mismatches = compare_u8("edges through shared memory", from_shared, expected, count);
    mismatches += compare_u8("edges from the texture", from_texture, expected, count);
    free(image);
    free(from_shared);
    free(from_texture);
    free(expected);
    return workload_verdict(&workload, mismatches, 2 * count, "pixels of both kernels");
}
