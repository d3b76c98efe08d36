/* CUDA arrays, texture objects and surface objects as the executor sees them. A handle (what a kernel holds in a 64-bit
 * register) is an index into the table plus one, tagged in its upper half, so that a stray number is not taken for a
 * handle. */
#ifndef HEDDLE_EXEC_TEXTURE_H
#define HEDDLE_EXEC_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

enum texture_format { /* values of CUarray_format */
                      TEXTURE_U8 = 0x01,
                      TEXTURE_U16 = 0x02,
                      TEXTURE_U32 = 0x03,
                      TEXTURE_S8 = 0x08,
                      TEXTURE_S16 = 0x09,
                      TEXTURE_S32 = 0x0a,
                      TEXTURE_F16 = 0x10,
                      TEXTURE_F32 = 0x20,
};
enum texture_address { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER }; /* values of CUaddress_mode */
enum texture_kind { TEXTURE_LINEAR, TEXTURE_PITCH2D, TEXTURE_ARRAY };

/* Texels in row-major order: x, then y, then z or layer (cube faces: layers 0-5). */
struct texture_array {
    uint64_t data;                 /* device address */
    uint32_t width, height, depth; /* 0 where the array has no such dimension, as in CUDA */
    uint32_t layers;               /* layered and cube arrays; else 0 */
    uint64_t pitch_bytes, slice_bytes;
    enum texture_format format;
    uint32_t channels; /* 1, 2, 4 */
    bool layered, cube, surface;
    bool fraction; /* integers are read as 0 to 1, or -1 to 1, whatever the texture says */
};

struct texture {
    bool in_use, is_surface;
    enum texture_kind kind;
    struct texture_array array; /* linear: width in texels, data */
    enum texture_address address[3];
    bool linear_filter, normalized, read_as_integer, srgb;
    float border[4];
    struct texture_array *levels; /* mipmaps: level 0.. ; NULL: only array */
    uint32_t level_count;
    float min_level, max_level, level_bias;
    bool linear_mip_filter;
};

#define TEXTURE_HANDLE_TAG 0x7e00000000000000ull

struct texture_table {
    struct texture **entries;
    uint32_t count, capacity;
};

uint64_t texture_create(struct texture_table *t, const struct texture *description); /* handle; 0 never */
bool texture_destroy(struct texture_table *t, uint64_t handle);
const struct texture *texture_find(const struct texture_table *t, uint64_t handle); /* NULL if not a live handle */
void texture_table_free(struct texture_table *t);
static inline uint32_t texture_texel_bytes(const struct texture_array *a)
{
    uint32_t channel = a->format == TEXTURE_U8 || a->format == TEXTURE_S8                                 ? 1
                       : a->format == TEXTURE_U32 || a->format == TEXTURE_S32 || a->format == TEXTURE_F32 ? 4
                                                                                                          : 2;
    return channel * a->channels;
}

#endif
