/* wmma.load, wmma.store and wmma.mma (PTX ISA 9.7.14.4). Fragments are those of mma_fragments.c, the multiplication is
 * mma.c's; here are the shapes and types that exist, and the way between a fragment and memory.
 *
 * A load or store takes several accesses per lane; the last one is left in w->access. Left out: .satfinite on f16
 * matrices, which PTX dropped with ISA 6.5. */
#include "exec/access.h"
#include "exec/decode.h"
#include "exec/mma.h"
#include "exec/race.h"

#include <string.h>

bool decode_wmma(struct decoder *d);

/* m8n32k16 is computed as the transposed product of 32x8: there major of the accumulators is the column, and A and B
 * change places. */
static bool is_swapped(const struct mma_shape *s) { return s->n == 32; }

static bool is_k16(enum ptx_modifier shape)
{
    return shape == PTX_MOD_M16N16K16 || shape == PTX_MOD_M8N32K16 || shape == PTX_MOD_M32N8K16;
}

static bool operands_fit(enum ptx_type t, enum ptx_modifier shape)
{
    switch (t) {
    case PTX_F16:
    case PTX_BF16:
    case PTX_S8:
    case PTX_U8: return is_k16(shape);
    case PTX_TF32: return shape == PTX_MOD_M16N16K8;
    case PTX_F64: return shape == PTX_MOD_M8N8K4;
    case PTX_S4:
    case PTX_U4: return shape == PTX_MOD_M8N8K32;
    case PTX_B1: return shape == PTX_MOD_M8N8K128;
    default: return false;
    }
}

static bool accumulators_fit(enum ptx_type t, enum ptx_modifier shape)
{
    switch (t) {
    case PTX_F16: return is_k16(shape);
    case PTX_F32: return is_k16(shape) || shape == PTX_MOD_M16N16K8;
    case PTX_S32: return is_k16(shape) || shape == PTX_MOD_M8N8K32 || shape == PTX_MOD_M8N8K128;
    case PTX_F64: return shape == PTX_MOD_M8N8K4;
    default: return false;
    }
}

static struct fragment operand_fragment(const struct mma_shape *s, bool is_a, enum ptx_type type)
{
    int bits = type == PTX_B1 ? 32 : ptx_type_bits(type), k = type == PTX_B1 ? s->k / 32 : s->k;
    struct fragment f = fragment_of(is_a != is_swapped(s) ? MATRIX_A : MATRIX_B, is_a ? s->m : s->n, k, bits);
    if (type == PTX_F16)
        f.registers = 8;
    return f;
}

static struct fragment accumulator_fragment(const struct mma_shape *s, enum ptx_type type)
{
    return fragment_of(MATRIX_C, is_swapped(s) ? s->n : s->m, is_swapped(s) ? s->m : s->n, ptx_type_bits(type));
}

/* Between memory and fragments */

struct transfer {
    struct access_address address;
    exec_ref stride; /* elements between the starts of two rows, or columns */
    struct fragment fragment;
    exec_ref registers[FRAGMENT_REGISTERS];
    bool along_minor; /* neighbours along minor are neighbours in memory; else those along major */
    uint8_t bits;     /* of an element, as the stride counts them */
};

/* Every register is filled from one access, where its elements are neighbours in memory, or from one per element. */
struct pieces {
    int count, bits;
};

static struct pieces pieces_of(const struct transfer *t)
{
    int bits = t->fragment.element_bits, packed = fragment_packed(&t->fragment);
    return t->along_minor ? (struct pieces){1, packed * bits} : (struct pieces){packed, bits};
}

/* Addresses of piece number piece of a register, into w->addr. */
static void piece_addresses(struct exec_warp *w, const struct transfer *t, const uint64_t *base, const uint32_t *stride,
                            int reg, int piece)
{
    const struct fragment *f = &t->fragment;
    int in_tile = fragment_tile_registers(f);
    struct fragment_tile tile = fragment_tile(f, reg / in_tile);
    int64_t elements = f->element_bits / t->bits; /* one-bit elements are kept 32 to one of the fragment's */
    for (int l = 0; l < WARP_LANES; l++) {
        int64_t major = tile.major + l / 4, step = (int32_t)stride[l];
        int64_t minor = (tile.minor + l % 4 * f->run + reg % in_tile + piece) * elements;
        int64_t index = t->along_minor ? major * step + minor : minor * step + major;
        w->addr[l] = base[l] + (uint64_t)(index * t->bits / 8);
    }
}

static void fragment_load(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct transfer *t = in->extra;
    const struct fragment *f = &t->fragment;
    uint64_t base[WARP_LANES], values[FRAGMENT_REGISTERS][WARP_LANES] = {{0}};
    uint8_t *pointers[WARP_LANES];
    if (!warp_is_whole(w, mask, "wmma.load"))
        return;
    struct pieces p = pieces_of(t);
    uint32_t bytes = (uint32_t)p.bits / 8;
    int used = fragment_tiles(f) * fragment_tile_registers(f);
    access_addresses(w, &t->address, mask);
    memcpy(base, w->addr, sizeof base);
    for (int r = 0; r < used; r++)
        for (int i = 0; i < p.count; i++) {
            piece_addresses(w, t, base, lane_data(w, t->stride), r, i);
            if (!exec_resolve(w, (enum ptx_space)t->address.space, mask, bytes, bytes, false, pointers))
                return;
            race_note_access(w);
            for (int l = 0; l < WARP_LANES; l++) {
                uint64_t value = 0;
                memcpy(&value, pointers[l], bytes);
                values[r][l] |= value << (i * p.bits);
            }
        }
    for (int r = 0; r < f->registers; r++) /* only now: a register may hold the address */
        for (int l = 0; l < WARP_LANES; l++) {
            if (f->element_bits == 64)
                LANES_OF(uint64_t, w, t->registers[r])[l] = values[r % used][l];
            else
                LANES_OF(uint32_t, w, t->registers[r])[l] = (uint32_t)values[r % used][l];
        }
}

static void fragment_store(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct transfer *t = in->extra;
    const struct fragment *f = &t->fragment;
    uint64_t base[WARP_LANES];
    uint8_t *pointers[WARP_LANES];
    if (!warp_is_whole(w, mask, "wmma.store"))
        return;
    struct pieces p = pieces_of(t);
    uint32_t bytes = (uint32_t)p.bits / 8;
    access_addresses(w, &t->address, mask);
    memcpy(base, w->addr, sizeof base);
    for (int r = 0; r < f->registers; r++)
        for (int i = 0; i < p.count; i++) {
            piece_addresses(w, t, base, lane_data(w, t->stride), r, i);
            if (!exec_resolve(w, (enum ptx_space)t->address.space, mask, bytes, bytes, true, pointers))
                return;
            for (int l = 0; l < WARP_LANES; l++) {
                uint64_t value = f->element_bits == 64 ? LANES_OF(uint64_t, w, t->registers[r])[l]
                                                       : LANES_OF(uint32_t, w, t->registers[r])[l] >> (i * p.bits);
                access_write(w, pointers[l], &value, bytes);
            }
            race_note_access(w);
        }
}

/* Decoding of loads and stores: the matrix, then the layout, which together say how elements lie in memory. */

static bool decode_matrix(struct decoder *d, const struct mma_shape *s, bool is_load, enum ptx_type type,
                          struct transfer *t)
{
    bool layouts[2] = {false, false}, is_a = decode_take(d, PTX_MOD_A), is_b = decode_take(d, PTX_MOD_B);
    bool is_c = decode_take(d, is_load ? PTX_MOD_C : PTX_MOD_D);
    if (is_a + is_b + is_c != 1 || (!is_load && !is_c))
        return decode_wrong(d, NULL, "%s: wmma loads .a, .b or .c and stores .d", d->in->spelling);
    if (mma_decode_layouts(d, layouts) != 1)
        return decode_wrong(d, NULL, "%s needs one of .row and .col", d->in->spelling);
    if (!(is_c ? accumulators_fit : operands_fit)(type, s->modifier))
        return decode_wrong(d, NULL, "no such matrix of this shape in .%s", ptx_type_name(type));
    t->fragment = is_c ? accumulator_fragment(s, type) : operand_fragment(s, is_a, type);
    t->bits = (uint8_t)ptx_type_bits(type);
    t->along_minor = layouts[0] == (is_a || (is_c && !is_swapped(s)));
    if (t->bits < 8 && !t->along_minor)
        return decode_wrong(d, NULL, "matrices of .%s are A by rows and B by columns", ptx_type_name(type));
    return true;
}

static uint32_t tight_stride(const struct transfer *t)
{
    const struct fragment *f = &t->fragment;
    return (uint32_t)(t->along_minor ? fragment_minor(f) * f->element_bits / t->bits : f->major_tiles * 8);
}

static bool decode_transfer(struct decoder *d, const struct mma_shape *s, bool is_load)
{
    struct transfer *t = decode_alloc(d, sizeof *t);
    enum ptx_type type = decode_last_type(d);
    enum ptx_space space = decode_take_space(d);
    *t = (struct transfer){0};
    if (d->in->type_count != 1 || !decode_matrix(d, s, is_load, type, t))
        return d->in->type_count != 1 ? decode_wrong(d, NULL, "%s needs one type", d->in->spelling) : false;
    if (space != PTX_SPACE_NONE && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED)
        return decode_wrong(d, NULL, "matrices are in global or shared memory");
    if (!decode_count(d, 2, 3))
        return false;
    t->stride = decode_const32(d, tight_stride(t));
    d->out->fn = is_load ? fragment_load : fragment_store;
    d->out->extra = t;
    return access_decode_address(d, decode_operand(d, is_load ? 1 : 0), space, &t->address) &&
           fragment_decode(d, is_load ? 0 : 1, &t->fragment, fragment_register_type(type), is_load, t->registers) &&
           (d->in->operand_count == 2 || decode_src(d, 2, PTX_B32, &t->stride));
}

/* wmma.mma */

static bool decode_types(struct decoder *d, struct mma_problem *p, enum ptx_modifier shape)
{
    bool short_form = d->in->type_count == 2; /* f16: types of D and C alone */
    if (!short_form && d->in->type_count != 4)
        return decode_wrong(d, NULL, "wmma.mma needs the types of D, A, B and C, or for .f16 of D and C");
    p->d = decode_type(d, 0);
    p->a = short_form ? PTX_F16 : decode_type(d, 1);
    p->b = short_form ? PTX_F16 : decode_type(d, 2);
    p->c = decode_last_type(d);
    if (p->a != p->b || !operands_fit(p->a, shape))
        return decode_wrong(d, NULL, "no wmma.mma of this shape on .%s and .%s", ptx_type_name(p->a),
                            ptx_type_name(p->b));
    bool fits;
    if (p->a == PTX_F16)
        fits = (p->c == PTX_F16 || p->c == PTX_F32) && (p->d == PTX_F16 || p->d == PTX_F32);
    else if (p->a == PTX_BF16 || p->a == PTX_TF32)
        fits = p->c == PTX_F32 && p->d == PTX_F32;
    else
        fits = p->c == p->d && p->c == (p->a == PTX_F64 ? PTX_F64 : PTX_S32);
    if (!fits)
        return decode_wrong(d, NULL, "no wmma.mma on .%s from .%s to .%s", ptx_type_name(p->a), ptx_type_name(p->c),
                            ptx_type_name(p->d));
    return true;
}

static bool decode_options(struct decoder *d, struct mma_problem *p)
{
    bool layouts[2] = {false, false};
    if (mma_decode_layouts(d, layouts) != 2)
        return decode_wrong(d, NULL, "wmma.mma needs the layouts of A and B");
    if (ptx_type_bits(p->a) < 8 && (!layouts[0] || layouts[1]))
        return decode_wrong(d, NULL, "wmma.mma on .%s takes .row.col only", ptx_type_name(p->a));
    if (p->d == PTX_S32 && p->a != PTX_B1)
        p->saturate = decode_take(d, PTX_MOD_SATFINITE);
    if (p->a == PTX_F64)
        p->rounding = decode_rounding(d);
    if (p->a == PTX_TF32)
        p->width = 4; /* two passes, unlike mma.m16n8k8 */
    return p->a != PTX_B1 || mma_decode_popc(d, p);
}

static bool decode_multiplication(struct decoder *d, const struct mma_shape *s)
{
    struct mma_op *op = decode_alloc(d, sizeof *op);
    struct mma_problem *p = &op->problem;
    *op = (struct mma_op){0};
    if (!decode_types(d, p, s->modifier) || !decode_options(d, p) || !decode_count(d, 4, 4))
        return false;
    bool swapped = is_swapped(s);
    p->m = swapped ? s->n : s->m;
    p->n = swapped ? s->m : s->n;
    p->k = p->row = p->a == PTX_B1 ? s->k / 32 : s->k;
    op->fragment_a = operand_fragment(s, !swapped, p->a);
    op->fragment_b = operand_fragment(s, swapped, p->a);
    op->fragment_c = accumulator_fragment(s, p->c);
    op->fragment_d = accumulator_fragment(s, p->d);
    d->out->fn = mma_dense;
    d->out->extra = op;
    enum ptx_type operand = fragment_register_type(p->a);
    return fragment_decode(d, 0, &op->fragment_d, fragment_register_type(p->d), true, op->d) &&
           fragment_decode(d, swapped ? 2 : 1, &op->fragment_a, operand, false, op->a) &&
           fragment_decode(d, swapped ? 1 : 2, &op->fragment_b, operand, false, op->b) &&
           fragment_decode(d, 3, &op->fragment_c, fragment_register_type(p->c), false, op->c);
}

bool decode_wmma(struct decoder *d)
{
    bool load = decode_take(d, PTX_MOD_LOAD), store = decode_take(d, PTX_MOD_STORE),
         multiply = decode_take(d, PTX_MOD_MMA);
    if (load + store + multiply != 1)
        return decode_wrong(d, NULL, "wmma is one of wmma.load, wmma.store and wmma.mma");
    const struct mma_shape *s = mma_decode_shape(d);
    if (!s || !mma_decode_aligned(d))
        return false;
    return multiply ? decode_multiplication(d, s) : decode_transfer(d, s, load);
}
