/* tex, tld4, txq, suq, istypep (PTX ISA 9.7.10 and 9.7.11). How a texture is read is in texture.c.
 *
 * Textures are objects named by 64-bit handles (unified mode). A sampler operand of the independent mode is accepted
 * and its object supplies nothing of its own: the texture's object holds both. Left out: multisampled geometries, depth
 * comparison. */
#include "exec/tex_ops.h"

#include "base/checked.h"
#include "exec/float_bits.h"

#include <inttypes.h>

const struct texture *tex_find(const struct exec_warp *w, uint64_t operand)
{
    const struct texture *t = texture_find(w->launch->textures, operand);
    if (t)
        return t;
    const struct memory_range *r = memory_find(w->launch->memory, operand);
    uint64_t handle;
    if (!r || r->kind == MEMORY_ARRAY || r->base + r->size_bytes - operand < sizeof handle)
        return NULL;
    memcpy(&handle, memory_pointer(operand), sizeof handle);
    return texture_find(w->launch->textures, handle);
}

static bool array_is_live(const struct exec_warp *w, const struct texture *t, const struct texture_array *a)
{
    uint64_t rows = a->height ? a->height : 1,
             slices = a->layers  ? a->layers
                      : a->depth ? a->depth
                                 : 1,
             row = (uint64_t)a->width * texture_texel_bytes(a);
    uint64_t bytes =
        t->kind == TEXTURE_LINEAR ? row : (slices - 1) * a->slice_bytes + (rows - 1) * a->pitch_bytes + row;
    const struct memory_range *r = memory_find(w->launch->memory, a->data);
    return r && (t->kind != TEXTURE_ARRAY || r->kind == MEMORY_ARRAY) &&
           is_inside_range(r->base, r->size_bytes, a->data, bytes);
}

static bool is_live(const struct exec_warp *w, const struct texture *t)
{
    bool live = array_is_live(w, t, &t->array);
    for (uint32_t i = 0; live && t->levels && i < t->level_count; i++)
        live = array_is_live(w, t, &t->levels[i]);
    return live;
}

const struct texture *tex_object(struct exec_warp *w, uint32_t lane, uint64_t operand, bool surface)
{
    const struct texture *t = tex_find(w, operand);
    const char *kind = surface ? "surface" : "texture";
    if (!t || t->is_surface != surface) {
        exec_raise(w, ERROR_INSTRUCTION, lane, operand, 0, "0x%" PRIx64 " is not the handle of a live %s object",
                   operand, kind);
        return NULL;
    }
    if (is_live(w, t))
        return t;
    exec_raise(w, ERROR_ADDRESS, lane, t->array.data, 0, "the memory of the %s object 0x%" PRIx64 " was freed", kind,
               operand);
    return NULL;
}

/* Decoding of operands */

int tex_take_geometry(struct decoder *d)
{
    static const enum ptx_modifier names[] = {PTX_MOD_1D,  PTX_MOD_2D,   PTX_MOD_3D,   PTX_MOD_A1D,
                                              PTX_MOD_A2D, PTX_MOD_CUBE, PTX_MOD_ACUBE};
    int found = decode_take_one(d, names, 7);
    if (found < 0 && (decode_has(d, PTX_MOD_2DMS) || decode_has(d, PTX_MOD_A2DMS)))
        decode_fail(d, "multisampled textures are not implemented");
    else if (found < 0)
        decode_wrong(d, NULL, "%s: a geometry is needed (.1d, .2d, ...)", d->in->spelling);
    return found;
}

const struct ptx_operand *tex_element(const struct ptx_operand *o, uint32_t n)
{
    if (!o || o->kind != PTX_OPERAND_VECTOR)
        return n == 0 ? o : NULL;
    return n < o->element_count ? &o->elements[n] : NULL;
}

bool tex_decode_operands(struct decoder *d, int index, enum texture_geometry g, enum ptx_type type,
                         struct tex_operands *out)
{
    const struct ptx_operand *o = decode_operand(d, index);
    if (!o || o->kind != PTX_OPERAND_ADDRESS || o->element_count < 2 || o->element_count > 3)
        return decode_wrong(d, o, "%s: [object, coordinates] is expected here", d->in->spelling);
    const struct ptx_operand *at = &o->elements[o->element_count - 1];
    exec_ref sampler;
    uint32_t next = 0;
    if (!decode_src_of(d, &o->elements[0], PTX_B64, &out->object) ||
        (o->element_count == 3 && !decode_src_of(d, &o->elements[1], PTX_B64, &sampler)))
        return false;
    if (tex_is_layered(g) && !decode_src_of(d, tex_element(at, next++), PTX_B32, &out->layer))
        return false;
    for (int n = 0; n < tex_dimensions(g); n++)
        if (!decode_src_of(d, tex_element(at, next++), type, &out->at[n]))
            return false;
    return true;
}

/* tex and tld4 */

enum level_mode { LEVEL_NONE, LEVEL_GIVEN, LEVEL_GRADIENT };

struct fetch {
    struct tex_operands operands;
    enum texture_geometry geometry;
    enum level_mode level_mode;
    bool whole, has_offset, has_resident;
    int gather;
    exec_ref level, dx[3], dy[3], offset[3], resident;
    exec_ref dst[4];
    enum ptx_type type; /* .f16x2: two components a register */
};

static float float_lane(const struct exec_warp *w, exec_ref ref, uint32_t lane)
{
    return LANES_OF(float, w, ref)[lane];
}

static int32_t int_lane(const struct exec_warp *w, exec_ref ref, uint32_t lane)
{
    return LANES_OF(int32_t, w, ref)[lane];
}

static void request_level(const struct exec_warp *w, const struct fetch *f, const struct texture *t, uint32_t lane,
                          struct texture_request *q)
{
    int dimensions = tex_dimensions(f->geometry);
    q->has_level = f->level_mode != LEVEL_NONE;
    if (f->level_mode == LEVEL_GIVEN)
        q->level = f->whole ? (float)int_lane(w, f->level, lane) : float_lane(w, f->level, lane);
    if (f->level_mode != LEVEL_GRADIENT)
        return;
    float dx[3] = {0}, dy[3] = {0};
    for (int n = 0; n < dimensions; n++) {
        dx[n] = float_lane(w, f->dx[n], lane);
        dy[n] = float_lane(w, f->dy[n], lane);
    }
    q->level = texture_level_of(t, dx, dy, dimensions);
}

static void make_request(const struct exec_warp *w, const struct fetch *f, const struct texture *t, uint32_t lane,
                         struct texture_request *q)
{
    *q = (struct texture_request){.geometry = f->geometry, .whole = f->whole, .gather = f->gather};
    for (int n = 0; n < tex_dimensions(f->geometry); n++) {
        if (f->whole)
            q->texel[n] = int_lane(w, f->operands.at[n], lane);
        else
            q->at[n] = float_lane(w, f->operands.at[n], lane);
        if (f->has_offset)
            q->offset[n] = int_lane(w, f->offset[n], lane);
    }
    if (tex_is_layered(f->geometry))
        q->layer = LANES_OF(uint32_t, w, f->operands.layer)[lane];
    request_level(w, f, t, lane, q);
}

/* Of integers too, whose bits are taken for a float's. */
static uint16_t to_half(uint32_t bits) { return f16_from_f32(f32_from(bits)); }

static void write_result(struct exec_warp *w, const struct fetch *f, uint32_t lane, const uint32_t bits[4])
{
    if (f->type == PTX_F16X2) {
        for (int n = 0; n < 2; n++)
            LANES_OF(uint32_t, w, f->dst[n])[lane] = to_half(bits[2 * n]) | (uint32_t)to_half(bits[2 * n + 1]) << 16;
        return;
    }
    for (int n = 0; n < 4; n++)
        LANES_OF(uint32_t, w, f->dst[n])[lane] = f->type == PTX_F16 ? to_half(bits[n]) : bits[n];
}

/* Faces are layers of the array: one without them has nothing after its first. Linear memory answers zero to all but
 * its index. */
static bool has_faces(struct exec_warp *w, uint32_t lane, const struct texture *t, enum texture_geometry g,
                      uint64_t operand)
{
    enum { FACES = 6 };
    if ((g != TEXTURE_CUBE && g != TEXTURE_ACUBE) || t->kind == TEXTURE_LINEAR || t->array.layers >= FACES)
        return true;
    exec_raise(w, ERROR_INSTRUCTION, lane, t->array.data, 0,
               "the texture object 0x%" PRIx64 " is read as a cube, but its array has no six faces", operand);
    return false;
}

static bool are_equal(const uint64_t *objects, uint32_t mask, uint64_t object)
{
    FOR_EACH_LANE(mask, i)
        if (objects[i] != object)
            return false;
    return true;
}

static void end_fetch(struct exec_warp *w, const struct fetch *f, const struct texture *t, uint32_t mask)
{
    bool is_plane = f->geometry == TEXTURE_2D && !t->level_count;
    w->access = (struct exec_access){.space = PTX_SPACE_GLOBAL, .mask = mask, .is_texture = true};
    w->access.bytes = (uint16_t)texture_texel_bytes(&t->array);
    w->access.plane = is_plane ? &t->array : NULL;
    if (f->has_resident)
        write_pred(w, f->resident, mask, mask);
}

/* All lanes at once, where they have one texture and nothing but coordinates. False: it must be done lane by lane. */
static bool fetch_lanes(struct exec_warp *w, const struct fetch *f, const struct texture *t, uint32_t mask)
{
    struct texture_lanes l;
    bool simple = f->level_mode == LEVEL_NONE && !f->whole && !f->has_offset && f->gather < 0;
    const uint64_t *objects = lane_data(w, f->operands.object);
    if (!simple || !are_equal(objects, mask, objects[__builtin_ctz(mask)]))
        return false;
    l.geometry = f->geometry;
    l.touched = w->addr;
    l.layer = tex_is_layered(f->geometry) ? LANES_OF(uint32_t, w, f->operands.layer) : NULL;
    for (int n = 0; n < tex_dimensions(f->geometry); n++)
        l.at[n] = lane_data(w, f->operands.at[n]);
    if (!texture_sample_lanes(t, mask, &l))
        return false;
    for (int n = 0; n < 4 && f->type != PTX_F16 && f->type != PTX_F16X2; n++) {
        uint32_t *d = lane_data(w, f->dst[n]);
        FOR_LANES(mask, d[i] = l.bits[n][i]);
    }
    for (uint32_t left = f->type == PTX_F16 || f->type == PTX_F16X2 ? mask : 0; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        write_result(w, f, i, (const uint32_t[4]){l.bits[0][i], l.bits[1][i], l.bits[2][i], l.bits[3][i]});
    }
    return true;
}

static void fetch(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct fetch *f = in->extra;
    const uint64_t *objects = lane_data(w, f->operands.object);
    const struct texture *t = NULL;
    uint64_t object = 0;
    FOR_EACH_LANE(mask, i) {
        struct texture_request q;
        uint32_t bits[4];
        if (!t || objects[i] != object) {
            bool first = !t;
            object = objects[i];
            t = tex_object(w, i, object, false);
            if (!t || !has_faces(w, i, t, f->geometry, object))
                return;
            if (first && fetch_lanes(w, f, t, mask))
                break;
        }
        make_request(w, f, t, i, &q);
        texture_sample(t, &q, bits);
        w->addr[i] = q.touched;
        write_result(w, f, i, bits);
    }
    if (t)
        end_fetch(w, f, t, mask);
}

/* The same for whole indices into linear memory, which are the common case: words are copied as they are. Other
 * textures take the way above. */
static void fetch_words(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct fetch *f = in->extra;
    const uint64_t *objects = lane_data(w, f->operands.object);
    const uint32_t *index = lane_data(w, f->operands.at[0]);
    uint32_t first = mask ? (uint32_t)__builtin_ctz(mask) : 0, *dst[4];
    const struct texture *t = tex_find(w, objects[first]);
    bool words = t && t->kind == TEXTURE_LINEAR &&
                 (t->array.format == TEXTURE_F32 || t->array.format == TEXTURE_U32 || t->array.format == TEXTURE_S32);
    if (!mask || !words || !are_equal(objects, mask, objects[first])) {
        fetch(w, in, mask);
        return;
    }
    if (!tex_object(w, first, objects[first], false))
        return;
    uint32_t channels = t->array.channels, bytes = 4 * channels;
    const uint8_t *texels = memory_pointer(t->array.data);
    for (int n = 0; n < 4; n++)
        dst[n] = LANES_OF(uint32_t, w, f->dst[n]);
    FOR_EACH_LANE(mask, i) {
        uint32_t v[4] = {0};
        uint64_t at = index[i] < t->array.width ? (uint64_t)index[i] * bytes : 0;
        if (index[i] < t->array.width)
            memcpy(v, texels + at, bytes);
        w->addr[i] = t->array.data + at;
        for (int n = 0; n < 4; n++)
            dst[n][i] = v[n];
    }
    w->access =
        (struct exec_access){.space = PTX_SPACE_GLOBAL, .mask = mask, .bytes = (uint16_t)bytes, .is_texture = true};
}

/* {a, b, c, d}, or that and |p: whether the texels are resident, which they always are */
static bool decode_fetch_result(struct decoder *d, struct fetch *f)
{
    const struct ptx_operand *o = decode_operand(d, 0);
    uint32_t count = f->type == PTX_F16X2 ? 2 : 4;
    if (o->kind == PTX_OPERAND_PAIR) {
        f->has_resident = true;
        if (o->element_count != 2 || !decode_pred_dst(d, &o->elements[1], &f->resident))
            return decode_wrong(d, o, "%s: a predicate is expected after '|'", d->in->spelling);
        o = &o->elements[0];
    }
    if (o->kind != PTX_OPERAND_VECTOR || o->element_count != count)
        return decode_wrong(d, o, "%s: %u registers in braces are needed here", d->in->spelling, count);
    for (uint32_t n = 0; n < count; n++)
        if (!decode_dst_of(d, &o->elements[n], f->type, &f->dst[n]))
            return false;
    return true;
}

static bool decode_vector(struct decoder *d, const struct ptx_operand *o, int count, enum ptx_type type, exec_ref *refs)
{
    for (int n = 0; n < count; n++)
        if (!decode_src_of(d, tex_element(o, (uint32_t)n), type, &refs[n]))
            return false;
    return true;
}

static bool is_float_scalar(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_FLOAT || (o->kind == PTX_OPERAND_REG && o->reg->type == PTX_F32);
}

/* After the coordinates: a level or two gradients, an offset, a value to compare with */
static bool decode_fetch_extras(struct decoder *d, struct fetch *f)
{
    int next = 2, dimensions = tex_dimensions(f->geometry);
    if (f->level_mode == LEVEL_GIVEN && !decode_src(d, next++, f->whole ? PTX_B32 : PTX_F32, &f->level))
        return false;
    if (f->level_mode == LEVEL_GRADIENT) {
        if (!decode_vector(d, decode_operand(d, next), dimensions, PTX_F32, f->dx) ||
            !decode_vector(d, decode_operand(d, next + 1), dimensions, PTX_F32, f->dy))
            return false;
        next += 2;
    }
    const struct ptx_operand *o = decode_operand(d, next);
    if (o && (o->kind == PTX_OPERAND_VECTOR || (dimensions == 1 && !is_float_scalar(o)))) {
        f->has_offset = true;
        next++;
        if (!decode_vector(d, o, dimensions == 3 && f->geometry != TEXTURE_3D ? 2 : dimensions, PTX_S32, f->offset))
            return false;
        if (f->geometry == TEXTURE_CUBE || f->geometry == TEXTURE_ACUBE)
            return decode_wrong(d, o, "%s: cubes have no offsets", d->in->spelling);
    }
    if (next < d->in->operand_count)
        return decode_fail(d, "depth comparison is not implemented");
    return true;
}

static bool decode_fetch_types(struct decoder *d, struct fetch *f)
{
    enum ptx_type type = decode_type(d, 0), at = decode_type(d, 1);
    bool packed = type == PTX_F16X2;
    f->type = type;
    f->whole = at == PTX_S32;
    if (d->in->type_count != 2 ||
        (type != PTX_U32 && type != PTX_S32 && type != PTX_F32 && type != PTX_F16 && !packed) ||
        (at != PTX_F32 && (at != PTX_S32 || f->gather >= 0)))
        return decode_wrong(d, NULL, "%s: no such types", d->in->spelling);
    if (!decode_take(d, packed ? PTX_MOD_V2 : PTX_MOD_V4))
        return decode_wrong(d, NULL, "%s: %s is needed", d->in->spelling, packed ? ".v2" : ".v4");
    return true;
}

bool decode_tex(struct decoder *d)
{
    static const enum ptx_modifier components[] = {PTX_MOD_R, PTX_MOD_G, PTX_MOD_B, PTX_MOD_A};
    struct fetch *f = decode_alloc(d, sizeof *f);
    int geometry = tex_take_geometry(d);
    if (geometry < 0)
        return false;
    f->geometry = (enum texture_geometry)geometry;
    f->gather = -1;
    if (d->in->opcode == PTX_OP_tld4) {
        f->gather = decode_take_one(d, components, 4);
        if (f->gather < 0 || f->geometry == TEXTURE_1D || f->geometry == TEXTURE_A1D || f->geometry == TEXTURE_3D)
            return decode_wrong(d, NULL, "%s: a component and a two-dimensional geometry are needed", d->in->spelling);
    } else if (decode_take(d, PTX_MOD_LEVEL)) {
        f->level_mode = LEVEL_GIVEN;
    } else if (decode_take(d, PTX_MOD_GRAD)) {
        f->level_mode = LEVEL_GRADIENT;
    } else {
        decode_take(d, PTX_MOD_BASE);
    }
    if (!decode_fetch_types(d, f))
        return false;
    if (f->whole && (f->geometry == TEXTURE_CUBE || f->geometry == TEXTURE_ACUBE || f->level_mode == LEVEL_GRADIENT))
        return decode_wrong(d, NULL, "%s: floating-point coordinates are needed", d->in->spelling);
    if (!decode_count(d,
                      f->level_mode == LEVEL_GRADIENT ? 4
                      : f->level_mode == LEVEL_GIVEN  ? 3
                                                      : 2,
                      6) ||
        !decode_fetch_result(d, f) ||
        !tex_decode_operands(d, 1, f->geometry, f->whole ? PTX_S32 : PTX_F32, &f->operands) ||
        !decode_fetch_extras(d, f))
        return false;
    bool plain =
        f->level_mode == LEVEL_NONE && !f->has_offset && !f->has_resident && f->type != PTX_F16 && f->type != PTX_F16X2;
    d->out->extra = f;
    d->out->fn = plain && f->whole && f->geometry == TEXTURE_1D ? fetch_words : fetch;
    return true;
}

/* txq and suq */

enum query {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_TYPE,
    QUERY_ORDER,
    QUERY_ARRAY_SIZE,
    QUERY_LEVELS,
    QUERY_SAMPLES,
    QUERY_NORMALIZED,
    QUERY_FILTER,
    QUERY_ADDRESS_0,
    QUERY_ADDRESS_1,
    QUERY_ADDRESS_2,
    QUERY_UNNORMALIZED,
    QUERY_LAYOUT,
    QUERIES
};

/* wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border */
static uint32_t address_number(enum texture_address a)
{
    return a == TEXTURE_WRAP ? 0 : a == TEXTURE_MIRROR ? 1 : a == TEXTURE_CLAMP ? 3 : 4;
}

/* The layers of an array count as the dimension after its own. */
static uint32_t height_of(const struct texture *t, const struct texture_array *a)
{
    if (a->height || t->kind == TEXTURE_LINEAR)
        return a->height;
    return a->layers ? a->layers : !t->is_surface;
}

/* A texture's cubes count, of a surface their faces. */
static uint32_t depth_of(const struct texture *t, const struct texture_array *a)
{
    if (!a->layers || !a->height)
        return a->depth;
    return !a->cube || t->is_surface ? a->layers : a->layered ? a->layers / 6 : 0;
}

/* Data type and order are the driver's format and the number of components. */
static uint32_t answer(const struct texture *t, const struct texture_array *a, enum query q)
{
    switch (q) {
    case QUERY_WIDTH: return a->width;
    case QUERY_HEIGHT: return height_of(t, a);
    case QUERY_DEPTH: return depth_of(t, a);
    case QUERY_TYPE: return (uint32_t)a->format;
    case QUERY_ORDER: return a->channels;
    case QUERY_ARRAY_SIZE: return a->cube ? a->layers / 6 : a->layers;
    case QUERY_LEVELS: return t->levels ? t->level_count : 1;
    case QUERY_SAMPLES: return 1;
    case QUERY_NORMALIZED: return t->normalized;
    case QUERY_FILTER: return t->linear_filter;
    case QUERY_ADDRESS_0:
    case QUERY_ADDRESS_1:
    case QUERY_ADDRESS_2: return address_number(t->address[q - QUERY_ADDRESS_0]);
    default: return 0;
    }
}

/* sub[0]: enum query; sub[1]: a surface's; sub[2]: of the level in src[1] */
static void query(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    FOR_EACH_LANE(mask, i) {
        const struct texture *t = tex_object(w, i, LANES_OF(uint64_t, w, in->src[0])[i], in->sub[1]);
        if (!t)
            return;
        const struct texture_array *a = &t->array;
        uint32_t level = in->sub[2] ? LANES_OF(uint32_t, w, in->src[1])[i] : 0;
        bool exists = level < (t->levels ? t->level_count : 1);
        if (t->levels && exists)
            a = &t->levels[level];
        LANES_OF(uint32_t, w, in->dst)[i] = exists ? answer(t, a, (enum query)in->sub[0]) : 0;
    }
}

/* sub[0]: a surface is meant */
static void is_type(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t result = 0;
    FOR_EACH_LANE(mask, i) {
        const struct texture *t = tex_find(w, LANES_OF(uint64_t, w, in->src[0])[i]);
        result |= (uint32_t)(t && t->is_surface == in->sub[0]) << i;
    }
    write_pred(w, in->dst, mask, result);
}

/* Named by modifier or, as the parser may have it, by type. */
static bool take_kind(struct decoder *d, enum ptx_modifier m, enum ptx_type t)
{
    return decode_take(d, m) || decode_type(d, 0) == t;
}

static bool decode_is_type(struct decoder *d)
{
    bool texture = take_kind(d, PTX_MOD_TEXREF, PTX_TEXREF) || take_kind(d, PTX_MOD_SAMPLERREF, PTX_SAMPLERREF);
    bool surface = !texture && take_kind(d, PTX_MOD_SURFREF, PTX_SURFREF);
    if (!texture && !surface)
        return decode_wrong(d, NULL, "%s: .texref, .samplerref or .surfref is needed", d->in->spelling);
    d->out->sub[0] = surface;
    d->out->fn = is_type;
    return decode_count(d, 2, 2) && decode_pred_dst(d, decode_operand(d, 0), &d->out->dst) &&
           decode_src(d, 1, PTX_B64, &d->out->src[0]);
}

bool decode_txq(struct decoder *d)
{
    static const enum ptx_modifier names[QUERIES] = {
        PTX_MOD_WIDTH,
        PTX_MOD_HEIGHT,
        PTX_MOD_DEPTH,
        PTX_MOD_CHANNEL_DATA_TYPE,
        PTX_MOD_CHANNEL_ORDER,
        PTX_MOD_ARRAY_SIZE,
        PTX_MOD_NUM_MIPMAP_LEVELS,
        PTX_MOD_NUM_SAMPLES,
        PTX_MOD_NORMALIZED_COORDS,
        PTX_MOD_FILTER_MODE,
        PTX_MOD_ADDR_MODE_0,
        PTX_MOD_ADDR_MODE_1,
        PTX_MOD_ADDR_MODE_2,
        PTX_MOD_FORCE_UNNORMALIZED,
        PTX_MOD_MEMORY_LAYOUT,
    };
    if (d->in->opcode == PTX_OP_istypep)
        return decode_is_type(d);
    bool surface = d->in->opcode == PTX_OP_suq, level = !surface && decode_take(d, PTX_MOD_LEVEL);
    int found = decode_take_one(d, names, QUERIES);
    const struct ptx_operand *o = decode_operand(d, 1);
    if (found < 0 || decode_type(d, 0) != PTX_B32 || (surface && found >= QUERY_LEVELS && found != QUERY_LAYOUT) ||
        (!surface && found == QUERY_LAYOUT))
        return decode_wrong(d, NULL, "%s: no such query", d->in->spelling);
    d->out->sub[0] = (uint8_t)found;
    d->out->sub[1] = surface;
    d->out->sub[2] = level;
    d->out->fn = query;
    if (!decode_count(d, 2 + level, 2 + level) || !decode_dst(d, 0, PTX_B32, &d->out->dst))
        return false;
    if (o->kind == PTX_OPERAND_ADDRESS && o->element_count)
        o = &o->elements[0];
    return decode_src_of(d, o, PTX_B64, &d->out->src[0]) && (!level || decode_src(d, 2, PTX_B32, &d->out->src[1]));
}
