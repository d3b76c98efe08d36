/* Reading a texture: one request in, four components out. */
#ifndef HEDDLE_EXEC_SAMPLER_H
#define HEDDLE_EXEC_SAMPLER_H

#include "exec/texture.h"

enum texture_geometry { TEXTURE_1D, TEXTURE_2D, TEXTURE_3D, TEXTURE_A1D, TEXTURE_A2D, TEXTURE_CUBE, TEXTURE_ACUBE };

struct texture_request {
    enum texture_geometry geometry;
    bool whole; /* coordinates are whole texels: no filtering */
    float at[3];
    int32_t texel[3];
    uint32_t layer;    /* of a1d, a2d, acube */
    int32_t offset[3]; /* in texels */
    bool has_level;    /* else level 0 */
    float level;
    int gather;       /* -1, or the component that tld4 reads of the four texels around */
    uint64_t touched; /* out: device address of the last texel read */
};

/* Components as the instruction returns them: the bits of floats, or integers where the texture gives integers. */
void texture_sample(const struct texture *t, struct texture_request *q, uint32_t out[4]);
bool texture_gives_integers(const struct texture *t);
/* The same for all lanes of mask at once (texture_lanes.c): coordinates that are not whole, the first level, no
 * offset, no gather; layer: of a1d and a2d. False: not for this texture and geometry. */
struct texture_lanes {
    enum texture_geometry geometry;
    const float *at[3];
    const uint32_t *layer;
    uint32_t bits[4][32];
    uint64_t *touched;
};
bool texture_sample_lanes(const struct texture *t, uint32_t mask, struct texture_lanes *l);
/* The nearest 16-bit float that is not larger in magnitude. */
uint16_t texture_cut_to_f16(float v);
/* The level of detail of a footprint: the derivatives of the coordinates in x and y of the screen. dimensions: 1 to
 * 3. */
float texture_level_of(const struct texture *t, const float dx[3], const float dy[3], int dimensions);

#endif
