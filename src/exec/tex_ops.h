/* What the texture and surface instructions share: handles, coordinates. */
#ifndef HEDDLE_EXEC_TEX_OPS_H
#define HEDDLE_EXEC_TEX_OPS_H

#include "exec/access.h"
#include "exec/decode.h"
#include "exec/sampler.h"

/* The object a lane's operand names: a handle, or the address of a .texref or .surfref variable that holds one. NULL
 * after a fault. */
const struct texture *tex_object(struct exec_warp *w, uint32_t lane, uint64_t operand, bool surface);
/* The same without a fault: NULL where there is none. */
const struct texture *tex_find(const struct exec_warp *w, uint64_t operand);

/* .1d .2d .3d .a1d .a2d .cube .acube; -1 after an error. */
int tex_take_geometry(struct decoder *d);
static inline bool tex_is_layered(enum texture_geometry g)
{
    return g == TEXTURE_A1D || g == TEXTURE_A2D || g == TEXTURE_ACUBE;
}
/* Coordinates of a geometry, the layer not counted. */
static inline int tex_dimensions(enum texture_geometry g)
{
    return g == TEXTURE_1D || g == TEXTURE_A1D ? 1 : g == TEXTURE_2D || g == TEXTURE_A2D ? 2 : 3;
}

/* The bracketed operand [object{, sampler}, coordinates]. */
struct tex_operands {
    exec_ref object, layer;
    exec_ref at[3];
};
bool tex_decode_operands(struct decoder *d, int index, enum texture_geometry g, enum ptx_type type,
                         struct tex_operands *out);
/* Element n of a vector operand, or the operand itself where it is a scalar and n is 0; NULL: none. */
const struct ptx_operand *tex_element(const struct ptx_operand *o, uint32_t n);

#endif
