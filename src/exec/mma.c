/* mma.sync and mma.sp.sync (PTX ISA 9.7.14.5 and .6): which shapes and types there are, and the handlers. The fragments
 * are in mma_fragments.c, the arithmetic in mma_math.c.
 *
 * Left out: the block-scaled forms and the .kind forms with 4- and 6-bit floating types of sm_100 and sm_120. */
#include "exec/mma.h"

#include <string.h>

bool decode_mma(struct decoder *d);

static const struct mma_shape shapes[] = {
    {PTX_MOD_M16N16K16, 16, 16, 16}, {PTX_MOD_M8N32K16, 8, 32, 16},   {PTX_MOD_M32N8K16, 32, 8, 16},
    {PTX_MOD_M16N16K8, 16, 16, 8},   {PTX_MOD_M8N8K4, 8, 8, 4},       {PTX_MOD_M8N8K16, 8, 8, 16},
    {PTX_MOD_M8N8K32, 8, 8, 32},     {PTX_MOD_M8N8K128, 8, 8, 128},   {PTX_MOD_M16N8K4, 16, 8, 4},
    {PTX_MOD_M16N8K8, 16, 8, 8},     {PTX_MOD_M16N8K16, 16, 8, 16},   {PTX_MOD_M16N8K32, 16, 8, 32},
    {PTX_MOD_M16N8K64, 16, 8, 64},   {PTX_MOD_M16N8K128, 16, 8, 128}, {PTX_MOD_M16N8K256, 16, 8, 256},
};

enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };

const struct mma_shape *mma_decode_shape(struct decoder *d)
{
    for (int i = 0; i < SHAPE_COUNT; i++)
        if (decode_take(d, shapes[i].modifier))
            return &shapes[i];
    decode_wrong(d, NULL, "%s needs a shape, such as .m16n8k16", d->in->spelling);
    return NULL;
}

int mma_decode_layouts(struct decoder *d, bool layouts[2])
{
    int found = 0;
    for (int i = 0; i < d->in->modifier_count; i++) {
        bool row = d->in->modifiers[i] == PTX_MOD_ROW;
        if (!row && d->in->modifiers[i] != PTX_MOD_COL)
            continue;
        if (found < 2)
            layouts[found] = row;
        found++;
    }
    decode_take(d, PTX_MOD_ROW);
    decode_take(d, PTX_MOD_COL);
    return found;
}

bool mma_decode_aligned(struct decoder *d)
{
    const struct ptx_module *m = d->function->module;
    bool sync = decode_take(d, PTX_MOD_SYNC), aligned = decode_take(d, PTX_MOD_ALIGNED);
    bool early =
        m->version_major < 6 || (m->version_major == 6 && m->version_minor < 3); /* .aligned came with ISA 6.3 */
    return sync && (aligned || early) ? true : decode_wrong(d, NULL, "%s needs .sync.aligned", d->in->spelling);
}

bool mma_decode_popc(struct decoder *d, struct mma_problem *p)
{
    bool use_xor = decode_take(d, PTX_MOD_XOR);
    p->use_and = decode_take(d, PTX_MOD_AND);
    if (use_xor == p->use_and || !decode_take(d, PTX_MOD_POPC))
        return decode_wrong(d, NULL, "%s needs .xor.popc or .and.popc", d->in->spelling);
    return true;
}

/* Shapes and types */

enum family {
    FAMILY_NONE,
    FAMILY_F16,
    FAMILY_BF16,
    FAMILY_TF32,
    FAMILY_FP8,
    FAMILY_F64,
    FAMILY_INT8,
    FAMILY_INT4,
    FAMILY_B1
};

static enum family family_of(enum ptx_type t)
{
    switch (t) {
    case PTX_F16: return FAMILY_F16;
    case PTX_BF16: return FAMILY_BF16;
    case PTX_TF32: return FAMILY_TF32;
    case PTX_E4M3:
    case PTX_E5M2: return FAMILY_FP8;
    case PTX_F64: return FAMILY_F64;
    case PTX_S8:
    case PTX_U8: return FAMILY_INT8;
    case PTX_S4:
    case PTX_U4: return FAMILY_INT4;
    case PTX_B1: return FAMILY_B1;
    default: return FAMILY_NONE;
    }
}

/* selectors: of a sparse form, how many there are; 0: dense. */
static const struct form {
    enum family family;
    enum ptx_modifier shape;
    int selectors;
} forms[] = {
    {FAMILY_F16, PTX_MOD_M8N8K4, 0},    {FAMILY_F16, PTX_MOD_M16N8K8, 0},   {FAMILY_F16, PTX_MOD_M16N8K16, 0},
    {FAMILY_BF16, PTX_MOD_M16N8K8, 0},  {FAMILY_BF16, PTX_MOD_M16N8K16, 0}, {FAMILY_TF32, PTX_MOD_M16N8K4, 0},
    {FAMILY_TF32, PTX_MOD_M16N8K8, 0},  {FAMILY_FP8, PTX_MOD_M16N8K16, 0},  {FAMILY_FP8, PTX_MOD_M16N8K32, 0},
    {FAMILY_F64, PTX_MOD_M8N8K4, 0},    {FAMILY_F64, PTX_MOD_M16N8K4, 0},   {FAMILY_F64, PTX_MOD_M16N8K8, 0},
    {FAMILY_F64, PTX_MOD_M16N8K16, 0},  {FAMILY_INT8, PTX_MOD_M8N8K16, 0},  {FAMILY_INT8, PTX_MOD_M16N8K16, 0},
    {FAMILY_INT8, PTX_MOD_M16N8K32, 0}, {FAMILY_INT4, PTX_MOD_M8N8K32, 0},  {FAMILY_INT4, PTX_MOD_M16N8K32, 0},
    {FAMILY_INT4, PTX_MOD_M16N8K64, 0}, {FAMILY_B1, PTX_MOD_M8N8K128, 0},   {FAMILY_B1, PTX_MOD_M16N8K128, 0},
    {FAMILY_B1, PTX_MOD_M16N8K256, 0},  {FAMILY_F16, PTX_MOD_M16N8K16, 4},  {FAMILY_F16, PTX_MOD_M16N8K32, 2},
    {FAMILY_BF16, PTX_MOD_M16N8K16, 4}, {FAMILY_BF16, PTX_MOD_M16N8K32, 2}, {FAMILY_TF32, PTX_MOD_M16N8K8, 4},
    {FAMILY_TF32, PTX_MOD_M16N8K16, 2}, {FAMILY_FP8, PTX_MOD_M16N8K64, 1},  {FAMILY_INT8, PTX_MOD_M16N8K32, 2},
    {FAMILY_INT8, PTX_MOD_M16N8K64, 1}, {FAMILY_INT4, PTX_MOD_M16N8K64, 2}, {FAMILY_INT4, PTX_MOD_M16N8K128, 1},
};

static const struct form *find_form(enum family family, enum ptx_modifier shape, bool sparse)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].family == family && forms[i].shape == shape && (forms[i].selectors > 0) == sparse)
            return &forms[i];
    return NULL;
}

static bool is_f16_or_f32(enum ptx_type t) { return t == PTX_F16 || t == PTX_F32; }

static bool accumulators_fit(const struct mma_problem *p, enum family family)
{
    switch (family) {
    case FAMILY_F16:
        if (p->m == 8)
            return is_f16_or_f32(p->c) && (p->d == PTX_F32 || (p->d == PTX_F16 && p->c == PTX_F16));
        return is_f16_or_f32(p->c) && p->d == p->c;
    case FAMILY_FP8: return is_f16_or_f32(p->c) && p->d == p->c;
    case FAMILY_BF16:
    case FAMILY_TF32: return p->c == PTX_F32 && p->d == PTX_F32;
    case FAMILY_F64: return p->c == PTX_F64 && p->d == PTX_F64;
    default: return p->c == PTX_S32 && p->d == PTX_S32;
    }
}

/* Handlers */

void mma_dense(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct mma_op *op = in->extra;
    union matrix a, b, c, d;
    if (!warp_is_whole(w, mask, "a matrix multiplication"))
        return;
    fragment_read(w, &op->fragment_a, op->a, &a);
    fragment_read(w, &op->fragment_b, op->b, &b);
    fragment_read(w, &op->fragment_c, op->c, &c);
    mma_compute(&op->problem, NULL, &a, &b, &c, &d);
    fragment_write(w, &op->fragment_d, op->d, &d);
}

/* Sparse A: of every four neighbours (tf32: two; 4-bit integers: four pairs) in a row only half are stored, and four
 * bits of metadata name their places. Of four lanes one, two or all hold the metadata of two rows, l / 4 and l / 4 + 8;
 * the selector says which. A word has both rows for 16- and 32-bit elements, else one. */
static uint32_t metadata_of(const struct mma_op *op, const uint32_t *words, int row, int group)
{
    int bits = ptx_type_bits(op->problem.a), of = bits == 32 ? 2 : bits == 4 ? 8 : 4; /* elements of B a group */
    int lanes = op->problem.k / of / 4;
    int lane = row % 8 * 4 + op->selector * lanes;
    if (bits >= 16)
        return words[lane + group / 4] >> (row / 8 * 16 + group % 4 * 4) & 15;
    return words[lane + row / 8 + group / 8 * 2] >> (group % 8 * 4) & 15;
}

static void pick_places(const struct mma_op *op, const uint32_t *words, uint8_t *pick)
{
    const struct mma_problem *p = &op->problem;
    for (int i = 0; i < p->m; i++)
        for (int k = 0; k < p->row; k++) {
            int place;
            if (p->a == PTX_TF32) /* one of two; its place is written as that of a pair of halves */
                place = k * 2 + (int)(metadata_of(op, words, i, k) >> 1 & 1);
            else if (ptx_type_bits(p->a) == 4)
                place = k / 4 * 8 + (int)(metadata_of(op, words, i, k / 4) >> (k / 2 % 2 * 2) & 3) * 2 + k % 2;
            else
                place = k / 2 * 4 + (int)(metadata_of(op, words, i, k / 2) >> (k % 2 * 2) & 3);
            pick[i * p->row + k] = (uint8_t)place;
        }
}

static void mma_sparse(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct mma_op *op = in->extra;
    union matrix a, b, c, d;
    uint8_t pick[MATRIX_ELEMENTS];
    if (!warp_is_whole(w, mask, "a matrix multiplication"))
        return;
    fragment_read(w, &op->fragment_a, op->a, &a);
    fragment_read(w, &op->fragment_b, op->b, &b);
    fragment_read(w, &op->fragment_c, op->c, &c);
    pick_places(op, lane_data(w, op->metadata), pick);
    mma_compute(&op->problem, pick, &a, &b, &c, &d);
    fragment_write(w, &op->fragment_d, op->d, &d);
}

/* Decoding */

static bool decode_fragments(struct decoder *d, struct mma_op *op)
{
    struct mma_problem *p = &op->problem;
    int bits = p->a == PTX_B1 ? 32 : ptx_type_bits(p->a);
    op->fragment_a = fragment_of(MATRIX_A, p->m, p->row, bits);
    op->fragment_b = fragment_of(MATRIX_B, p->n, p->k, bits);
    op->fragment_c = fragment_of(MATRIX_C, p->m, p->n, ptx_type_bits(p->c));
    op->fragment_d = fragment_of(MATRIX_C, p->m, p->n, ptx_type_bits(p->d));
    return fragment_decode(d, 0, &op->fragment_d, fragment_register_type(p->d), true, op->d) &&
           fragment_decode(d, 1, &op->fragment_a, fragment_register_type(p->a), false, op->a) &&
           fragment_decode(d, 2, &op->fragment_b, fragment_register_type(p->b), false, op->b) &&
           fragment_decode(d, 3, &op->fragment_c, fragment_register_type(p->c), false, op->c);
}

static bool decode_metadata(struct decoder *d, struct mma_op *op, const struct form *form)
{
    int64_t selector;
    if (!decode_src(d, 4, PTX_B32, &op->metadata) || !decode_immediate(d, 5, &selector))
        return false;
    if (selector < 0 || selector >= form->selectors)
        return decode_wrong(d, decode_operand(d, 5), "the sparsity selector of this shape is below %d",
                            form->selectors);
    op->selector = (uint8_t)selector;
    return true;
}

static bool decode_types(struct decoder *d, struct mma_problem *p, enum family *family)
{
    if (d->in->type_count != 4)
        return decode_wrong(d, NULL, "mma needs the types of D, A, B and C");
    p->d = decode_type(d, 0);
    p->a = decode_type(d, 1);
    p->b = decode_type(d, 2);
    p->c = decode_type(d, 3);
    *family = family_of(p->a);
    if (*family == FAMILY_NONE)
        return decode_fail(d, "matrices of .%s", ptx_type_name(p->a));
    bool mixed = *family == FAMILY_INT8 || *family == FAMILY_INT4 || *family == FAMILY_FP8;
    if (mixed ? family_of(p->b) != *family : p->b != p->a)
        return decode_wrong(d, NULL, "A of .%s does not go with B of .%s", ptx_type_name(p->a), ptx_type_name(p->b));
    return true;
}

static bool decode_options(struct decoder *d, struct mma_op *op, enum family family)
{
    struct mma_problem *p = &op->problem;
    bool layouts[2] = {false, false};
    if (mma_decode_layouts(d, layouts) != 2)
        return decode_wrong(d, NULL, "mma needs the layouts of A and B");
    if (!(layouts[0] && !layouts[1]) && !(family == FAMILY_F16 && p->m == 8))
        return decode_wrong(d, NULL, "this mma takes .row.col only");
    op->a_by_rows = layouts[0];
    op->b_by_rows = layouts[1];
    if (family == FAMILY_INT8 || family == FAMILY_INT4)
        p->saturate = decode_take(d, PTX_MOD_SATFINITE);
    if (family == FAMILY_F64)
        p->rounding = decode_rounding(d);
    return family != FAMILY_B1 || mma_decode_popc(d, p);
}

bool decode_mma(struct decoder *d)
{
    struct mma_op *op = decode_alloc(d, sizeof *op);
    struct mma_problem *p = &op->problem;
    enum family family = FAMILY_NONE;
    *op = (struct mma_op){0};
    bool sparse = decode_take(d, PTX_MOD_SP) || decode_take(d, PTX_MOD_SP_ORDERED);
    const struct mma_shape *shape = mma_decode_shape(d);
    if (!shape || !mma_decode_aligned(d) || !decode_types(d, p, &family))
        return false;
    const struct form *form = find_form(family, shape->modifier, sparse);
    if (!form)
        return decode_wrong(d, NULL, "no %s of this shape on .%s", sparse ? "mma.sp" : "mma", ptx_type_name(p->a));
    p->m = shape->m;
    p->n = shape->n;
    p->k = family == FAMILY_B1 ? shape->k / 32 : shape->k;
    p->row = sparse ? p->k / 2 : p->k;
    if (!accumulators_fit(p, family))
        return decode_wrong(d, NULL, "no mma of this shape on .%s from .%s to .%s", ptx_type_name(p->a),
                            ptx_type_name(p->c), ptx_type_name(p->d));
    if (!decode_options(d, op, family) || !decode_count(d, sparse ? 6 : 4, sparse ? 6 : 4))
        return false;
    d->out->extra = op;
    if (family == FAMILY_F16 && p->m == 8)
        return mma_decode_quad(d, op);
    d->out->fn = sparse ? mma_sparse : mma_dense;
    return decode_fragments(d, op) && (!sparse || decode_metadata(d, op, form));
}
