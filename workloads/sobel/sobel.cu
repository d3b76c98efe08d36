/*
 * sobel: edges of an image by Sobel's 3x3 filter, twice: from shared memory, and from the texture alone.
 *
 * sobel_shared: blocks of 16x4 threads, a strip of 4 rows and 80 words of 4 pixels. The strip and what lies around it
 * come through the texture, in a loop over 82 words with a stride of 16: in the last trip two threads of each row are
 * left, lanes 0, 1, 16 and 17 of both warps. The first two rows of threads, one warp, load the last two of the six
 * rows. sobel_texture: a block of 384 threads takes the pixels of one row, eight fetches each. In both, values beyond
 * white are cut off: a branch on the data.
 */
#include "device.h"

typedef unsigned long long texture_2d; /* a texture object over an array of bytes, read as they are */

enum {
    RADIUS = 1,
    BLOCK_X = 16,
    BLOCK_Y = 4,
    STRIP_WORDS = 80,
    WORDS = STRIP_WORDS + 2 * RADIUS, /* that are loaded */
    PITCH = (4 * WORDS + 63) / 64 * 64,
    WHITE = 255,
};

/*
 * Positions outside of the image are those at its edge (PTX ISA, "tex": address mode clamp). Only coordinates in
 * floating point are clamped; a position in integers that lies outside reads zero.
 */
static inline __device__ int pixel_at(texture_2d texture, int x, int y)
{
    unsigned r, g __attribute__((unused)), b __attribute__((unused)), a __attribute__((unused));
    asm("tex.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=r"(r), "=r"(g), "=r"(b), "=r"(a)
        : "l"(texture), "f"((float)x), "f"((float)y));
    return r;
}

static inline __device__ int magnitude(int value) { return value < 0 ? -value : value; }

/* How steep the image is in the middle of three rows of three pixels, scaled. */
static inline __device__ int steepness(const int upper[3], const int middle[3], const int lower[3], float scale)
{
    int across = upper[2] + 2 * middle[2] + lower[2] - upper[0] - 2 * middle[0] - lower[0];
    int down = upper[0] + 2 * upper[1] + upper[2] - lower[0] - 2 * lower[1] - lower[2];
    int value = (int)__fmul_rn(scale, (float)(magnitude(across) + magnitude(down)));

    if (value < 0) { /* of a negative scale */
        keep_branch();
        value = 0;
    } else if (value > WHITE) {
        keep_branch();
        value = WHITE;
    }
    return value;
}

/* One row of the strip: a word of four pixels per thread and trip. */
static inline __device__ void load_row(texture_2d texture, unsigned char *row, int x, int y)
{
#pragma unroll 1
    for (int word = threadIdx.x; word < WORDS; word += BLOCK_X) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            row[4 * word + i] = pixel_at(texture, x + 4 * word + i - RADIUS, y);
    }
}

/* `edges` has `words` words in a row. */
extern "C" __global__ void sobel_shared(texture_2d texture, unsigned *edges, int words, int height, float scale)
{
    __shared__ unsigned char strip[(BLOCK_Y + 2 * RADIUS) * PITCH];
    int first_word = blockIdx.x * STRIP_WORDS;
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;

    load_row(texture, &strip[threadIdx.y * PITCH], 4 * first_word, y - RADIUS);
    if (threadIdx.y < 2 * RADIUS)
        load_row(texture, &strip[(BLOCK_Y + threadIdx.y) * PITCH], 4 * first_word, y - RADIUS + BLOCK_Y);
    __syncthreads();
#pragma unroll 1
    for (int word = threadIdx.x; word < STRIP_WORDS; word += BLOCK_X) {
        const unsigned char *corner = &strip[threadIdx.y * PITCH + 4 * word];
        int rows[3][6];
        unsigned out = 0;
#pragma unroll
        for (int row = 0; row < 3; row++) {
#pragma unroll
            for (int column = 0; column < 6; column++)
                rows[row][column] = corner[row * PITCH + column];
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            out |= (unsigned)steepness(&rows[0][i], &rows[1][i], &rows[2][i], scale) << 8 * i;
        if (first_word + word < words && y < height)
            edges[y * words + first_word + word] = out;
    }
}

extern "C" __global__ void sobel_texture(texture_2d texture, unsigned char *edges, int width, float scale)
{
    int y = blockIdx.x;

#pragma unroll 1
    for (int x = threadIdx.x; x < width; x += blockDim.x) {
        int rows[3][3];
#pragma unroll
        for (int row = 0; row < 3; row++) {
#pragma unroll
            for (int column = 0; column < 3; column++)
                rows[row][column] = pixel_at(texture, x + column - 1, y + row - 1);
        }
        edges[y * width + x] = steepness(rows[0], rows[1], rows[2], scale);
    }
}
