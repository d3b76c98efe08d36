/* suld, sust, sured (PTX ISA 9.7.11): reading, writing and reducing elements of arrays. The .b forms move bytes and
 * count x in bytes; the .p forms convert to the surface's format and count x in elements. Coordinates outside: .trap
 * ends the launch, .clamp takes the nearest element, .zero reads zeros and drops writes. */
#include "exec/atomics.h"
#include "exec/float_bits.h"
#include "exec/tex_ops.h"

#include <inttypes.h>

enum outside { OUTSIDE_TRAP, OUTSIDE_CLAMP, OUTSIDE_ZERO };

struct surface_access {
    struct tex_operands operands;
    enum texture_geometry geometry;
    enum outside outside;
    enum atomic_op op;
    enum ptx_type type;
    bool formatted;
    uint8_t count, element_bytes, reg_bits;
    exec_ref refs[4];
};

/* Bytes that one access takes of the surface. */
static uint32_t access_bytes(const struct surface_access *s, const struct texture_array *a)
{
    return s->formatted ? texture_texel_bytes(a) : (uint32_t)s->count * s->element_bytes;
}

/* A coordinate that must be below limit; false: outside, and nothing is to be done (the launch may have ended). */
static bool bring_inside(struct exec_warp *w, const struct surface_access *s, uint32_t lane, const char *axis,
                         int64_t limit, int64_t *at)
{
    if (*at >= 0 && *at < limit)
        return true;
    if (s->outside == OUTSIDE_CLAMP) {
        *at = *at < 0 ? 0 : limit - 1;
        return limit > 0;
    }
    if (s->outside == OUTSIDE_TRAP)
        exec_raise(w, ERROR_ADDRESS, lane, (uint64_t)*at, 0,
                   "surface access outside: %s is %" PRId64 ", the surface ends at %" PRId64, axis, *at, limit);
    return false;
}

/* x in bytes: all of the access must lie in the row. */
static bool bring_x_inside(struct exec_warp *w, const struct surface_access *s, uint32_t lane,
                           const struct texture_array *a, int64_t *x)
{
    int64_t bytes = access_bytes(s, a), row = (int64_t)a->width * texture_texel_bytes(a);
    if (s->formatted)
        *x *= bytes;
    if (*x % bytes)
        return access_misaligned(w, lane, (uint64_t)*x, (uint32_t)bytes, (uint32_t)bytes, false);
    int64_t unit = *x / bytes;
    bool good = bring_inside(w, s, lane, s->formatted ? "x" : "x (counted in accesses)", row / bytes, &unit);
    *x = unit * bytes;
    return good;
}

/* The element's host memory; NULL: outside. */
static uint8_t *locate(struct exec_warp *w, const struct surface_access *s, uint32_t lane,
                       const struct texture_array *a)
{
    int64_t at[3] = {0, 0, 0};
    for (int n = 0; n < tex_dimensions(s->geometry); n++)
        at[n] = LANES_OF(int32_t, w, s->operands.at[n])[lane];
    if (!bring_x_inside(w, s, lane, a, &at[0]))
        return NULL;
    if (s->geometry != TEXTURE_1D && s->geometry != TEXTURE_A1D && !bring_inside(w, s, lane, "y", a->height, &at[1]))
        return NULL;
    if (s->geometry == TEXTURE_3D && !bring_inside(w, s, lane, "z", a->depth, &at[2]))
        return NULL;
    if (tex_is_layered(s->geometry)) {
        at[2] = LANES_OF(uint32_t, w, s->operands.layer)[lane];
        if (!bring_inside(w, s, lane, "the layer", a->layers, &at[2]))
            return NULL;
    }
    w->addr[lane] = a->data + (uint64_t)at[0] + (uint64_t)at[1] * a->pitch_bytes + (uint64_t)at[2] * a->slice_bytes;
    return memory_pointer(w->addr[lane]);
}

static uint64_t read_lane(const struct exec_warp *w, const struct surface_access *s, int n, uint32_t lane)
{
    return s->reg_bits > 32 ? LANES_OF(uint64_t, w, s->refs[n])[lane] : LANES_OF(uint32_t, w, s->refs[n])[lane];
}

static void load(struct exec_warp *w, const struct surface_access *s, uint32_t lane, const uint8_t *p)
{
    for (int n = 0; n < s->count; n++) {
        uint64_t v = 0;
        if (p)
            memcpy(&v, p + n * s->element_bytes, s->element_bytes);
        if (s->reg_bits > 32)
            LANES_OF(uint64_t, w, s->refs[n])[lane] = v;
        else
            LANES_OF(uint32_t, w, s->refs[n])[lane] = (uint32_t)v;
    }
}

static void store(struct exec_warp *w, const struct surface_access *s, uint32_t lane, uint8_t *p)
{
    for (int n = 0; n < s->count; n++) {
        uint64_t v = read_lane(w, s, n, lane);
        access_write(w, p + n * s->element_bytes, &v, s->element_bytes);
    }
}

/* A component in the format: floats cut, integers limited to what it holds. */
static uint32_t in_format(enum texture_format f, uint32_t v)
{
    int32_t s = (int32_t)v;
    switch (f) {
    case TEXTURE_U8: return v > 0xff ? 0xff : v;
    case TEXTURE_U16: return v > 0xffff ? 0xffff : v;
    case TEXTURE_S8: return (uint32_t)(s < INT8_MIN ? INT8_MIN : s > INT8_MAX ? INT8_MAX : s);
    case TEXTURE_S16: return (uint32_t)(s < INT16_MIN ? INT16_MIN : s > INT16_MAX ? INT16_MAX : s);
    case TEXTURE_F16: return texture_cut_to_f16(f32_from(v));
    default: return v;
    }
}

/* Components that are not given are zero. */
static void store_formatted(struct exec_warp *w, const struct surface_access *s, const struct texture_array *a,
                            uint32_t lane, uint8_t *p)
{
    uint32_t bytes = texture_texel_bytes(a) / a->channels;
    for (uint32_t n = 0; n < a->channels; n++) {
        uint32_t v = n < s->count ? in_format(a->format, (uint32_t)read_lane(w, s, (int)n, lane)) : 0;
        access_write(w, p + n * bytes, &v, bytes);
    }
}

/* .p reductions take the type from the surface. */
static enum ptx_type reduction_type(const struct surface_access *s, const struct texture_array *a)
{
    if (!s->formatted)
        return s->type;
    return a->format == TEXTURE_S32 ? PTX_S32 : a->format == TEXTURE_F32 ? PTX_F32 : PTX_U32;
}

static void reduce(struct exec_warp *w, const struct surface_access *s, const struct texture_array *a, uint32_t lane,
                   uint8_t *p)
{
    uint64_t old = 0;
    memcpy(&old, p, s->element_bytes);
    old = atomic_combine(s->op, reduction_type(s, a), old, read_lane(w, s, 0, lane), 0, true);
    access_write(w, p, &old, s->element_bytes);
}

/* A formatted reduction counts in texels and works on one word of each: so large they must be. */
static bool reduces_texels(struct exec_warp *w, const struct surface_access *s, uint32_t lane,
                           const struct texture_array *a, enum ptx_opcode opcode)
{
    if (opcode != PTX_OP_sured || !s->formatted || texture_texel_bytes(a) >= s->element_bytes)
        return true;
    exec_raise(w, ERROR_INSTRUCTION, lane, a->data, s->element_bytes,
               "a reduction of %u bytes on a surface whose elements have %u", s->element_bytes, texture_texel_bytes(a));
    return false;
}

static void surface(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct surface_access *s = in->extra;
    const uint64_t *objects = lane_data(w, s->operands.object);
    enum ptx_opcode opcode = (enum ptx_opcode)in->imm;
    uint32_t touched = 0, bytes = 0;
    FOR_EACH_LANE(mask, i) {
        const struct texture *t = tex_object(w, i, objects[i], true);
        if (!t)
            return;
        const struct texture_array *a = &t->array;
        uint8_t *p = reduces_texels(w, s, i, a, opcode) ? locate(w, s, i, a) : NULL;
        if (w->launch->faulted)
            return;
        touched |= (uint32_t)(p != NULL) << i;
        bytes = access_bytes(s, a);
        if (opcode == PTX_OP_suld)
            load(w, s, i, p);
        else if (p && opcode == PTX_OP_sured)
            reduce(w, s, a, i, p);
        else if (p && s->formatted)
            store_formatted(w, s, a, i, p);
        else if (p)
            store(w, s, i, p);
    }
    w->access = (struct exec_access){.space = PTX_SPACE_GLOBAL,
                                     .mask = touched,
                                     .bytes = (uint16_t)bytes,
                                     .is_store = opcode != PTX_OP_suld,
                                     .is_atomic = opcode == PTX_OP_sured,
                                     .is_texture = true};
}

/* Decoding */

static bool decode_data(struct decoder *d, const struct ptx_operand *o, struct surface_access *s)
{
    bool loads = d->in->opcode == PTX_OP_suld;
    if (o->kind == PTX_OPERAND_VECTOR ? o->element_count != s->count : s->count != 1)
        return decode_wrong(d, o, "%s: %d registers are needed here", d->in->spelling, s->count);
    for (int n = 0; n < s->count; n++) {
        int bits;
        const struct ptx_operand *e = tex_element(o, (uint32_t)n);
        if (loads ? !decode_dst_wide(d, e, s->type, &s->refs[n], &bits)
                  : !decode_src_wide(d, e, s->type, &s->refs[n], &bits))
            return false;
        if (bits > 64 || (n && (bits > 32) != (s->reg_bits > 32)))
            return decode_wrong(d, e, "%s: the registers must be equally wide, at most 64 bits", d->in->spelling);
        s->reg_bits = (uint8_t)bits;
    }
    return true;
}

static bool is_reduction(const struct surface_access *s)
{
    enum ptx_type t = s->type;
    bool number = t == PTX_U32 || t == PTX_S32 || t == PTX_U64 || t == PTX_S64;
    switch (s->op) {
    case ATOMIC_ADD: return s->formatted ? t == PTX_B32 : t == PTX_U32 || t == PTX_S32 || t == PTX_U64;
    case ATOMIC_MIN:
    case ATOMIC_MAX: return s->formatted ? t == PTX_B32 : number;
    case ATOMIC_AND:
    case ATOMIC_OR: return t == PTX_B32;
    default: return false;
    }
}

static bool is_data_type(const struct decoder *d, const struct surface_access *s)
{
    enum ptx_type t = s->type;
    if (d->in->opcode == PTX_OP_sured)
        return is_reduction(s);
    if (s->formatted)
        return t == PTX_B32 || t == PTX_U32 || t == PTX_S32 || t == PTX_F32;
    return t == PTX_B8 || t == PTX_B16 || t == PTX_B32 || t == PTX_B64;
}

bool decode_surface(struct decoder *d)
{
    static const enum ptx_modifier modes[] = {PTX_MOD_TRAP, PTX_MOD_CLAMP, PTX_MOD_ZERO};
    struct surface_access *s = decode_alloc(d, sizeof *s);
    bool loads = d->in->opcode == PTX_OP_suld;
    s->formatted = decode_take(d, PTX_MOD_P);
    if (!s->formatted && !decode_take(d, PTX_MOD_B))
        return decode_wrong(d, NULL, "%s: .b or .p is needed", d->in->spelling);
    if (s->formatted && loads)
        return decode_wrong(d, NULL, "%s: there are no formatted loads", d->in->spelling);
    s->op = atomic_take_op(d);
    int geometry = tex_take_geometry(d), outside = decode_take_one(d, modes, 3);
    decode_take_memory_hints(d);
    s->geometry = (enum texture_geometry)geometry;
    if (geometry < 0)
        return false;
    if (s->geometry == TEXTURE_CUBE || s->geometry == TEXTURE_ACUBE || outside < 0)
        return decode_wrong(d, NULL, "%s: one of .1d .2d .3d .a1d .a2d and one of .trap .clamp .zero are needed",
                            d->in->spelling);
    s->outside = (enum outside)outside;
    s->type = decode_type(d, 0);
    s->count = d->in->opcode == PTX_OP_sured ? 1 : decode_take(d, PTX_MOD_V2) ? 2 : decode_take(d, PTX_MOD_V4) ? 4 : 1;
    s->element_bytes = (uint8_t)(ptx_type_bits(s->type) / 8);
    if (d->in->type_count != 1 || !is_data_type(d, s) || s->count * s->element_bytes > 16)
        return decode_wrong(d, NULL, "%s: no such type", d->in->spelling);
    d->out->imm = (int64_t)d->in->opcode;
    d->out->extra = s;
    d->out->fn = surface;
    return decode_count(d, 2, 2) && tex_decode_operands(d, loads ? 1 : 0, s->geometry, PTX_S32, &s->operands) &&
           decode_data(d, decode_operand(d, loads ? 0 : 1), s);
}
