/* mma.m8n8k4 on .f16 (PTX ISA 9.7.14.5.1): four products at a time. Quad pair q, the lanes 4q to 4q+3 and 16 more each,
 * computes one. The arrangement is that of sm_70, whose tensor cores it shows; later chips compute it with f32
 * multiply-adds, and so does this. */
#include "exec/mma.h"

enum { QUAD_K = 4, QUAD_SIZE = 8 };

struct place {
    int row, column;
};

/* Element i (0-3) of lane l in A: rows are those of the lane's quad, or columns where A is stored by columns. B is the
 * same, mirrored. */
static struct place place_in_a(int l, int i, bool by_rows)
{
    int half = l >= 16 ? 4 : 0;
    return by_rows ? (struct place){l % 4 + half, i} : (struct place){i + half, l % 4};
}

static struct place place_in_c(int l, int i, enum ptx_type type)
{
    int half = l >= 16 ? 4 : 0;
    if (type == PTX_F16)
        return (struct place){l % 4 + half, i};
    return (struct place){(l & 1) + (i & 2) + half, (i & 4) + (l & 2) + (i & 1)};
}

static uint32_t element_of(const struct exec_warp *w, const exec_ref *refs, int l, int i, enum ptx_type type)
{
    if (type == PTX_F32)
        return LANES_OF(uint32_t, w, refs[i])[l];
    return LANES_OF(uint32_t, w, refs[i / 2])[l] >> (i % 2 * 16) & 0xffff;
}

static void read_quad(const struct exec_warp *w, const struct mma_op *op, int l, union matrix *a, union matrix *b,
                      union matrix *c)
{
    for (int i = 0; i < QUAD_K; i++) {
        struct place in_a = place_in_a(l, i, op->a_by_rows), in_b = place_in_a(l, i, !op->b_by_rows);
        a->word[in_a.row * QUAD_K + in_a.column] = element_of(w, op->a, l, i, PTX_F16);
        b->word[in_b.row * QUAD_K + in_b.column] = element_of(w, op->b, l, i, PTX_F16);
    }
    for (int i = 0; i < QUAD_SIZE; i++) {
        struct place p = place_in_c(l, i, op->problem.c);
        c->word[p.row * QUAD_SIZE + p.column] = element_of(w, op->c, l, i, op->problem.c);
    }
}

static void write_quad(struct exec_warp *w, const struct mma_op *op, int l, const union matrix *d)
{
    bool f16 = op->problem.d == PTX_F16;
    for (int i = 0; i < QUAD_SIZE; i++) {
        struct place p = place_in_c(l, i, op->problem.d);
        uint32_t value = d->word[p.row * QUAD_SIZE + p.column],
                 *reg = LANES_OF(uint32_t, w, op->d[f16 ? i / 2 : i]) + l;
        *reg = !f16 ? value : i % 2 ? *reg | value << 16 : value;
    }
}

static void mma_quads(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct mma_op *op = in->extra;
    union matrix a, b, c, d[4];
    if (!warp_is_whole(w, mask, "a matrix multiplication"))
        return;
    for (int q = 0; q < 4; q++) {
        for (int l = 0; l < 8; l++)
            read_quad(w, op, q * 4 + l % 4 + l / 4 * 16, &a, &b, &c);
        mma_compute_quad(&op->problem, &a, &b, &c, &d[q]);
    }
    for (int l = 0; l < WARP_LANES; l++)
        write_quad(w, op, l, &d[l / 4 % 4]);
}

bool mma_decode_quad(struct decoder *d, struct mma_op *op)
{
    const struct mma_problem *p = &op->problem;
    struct fragment ab = {.registers = 2}, c = {.registers = p->c == PTX_F32 ? 8 : 4},
                    result = {.registers = p->d == PTX_F32 ? 8 : 4};
    d->out->fn = mma_quads;
    return fragment_decode(d, 0, &result, fragment_register_type(p->d), true, op->d) &&
           fragment_decode(d, 1, &ab, PTX_B32, false, op->a) && fragment_decode(d, 2, &ab, PTX_B32, false, op->b) &&
           fragment_decode(d, 3, &c, fragment_register_type(p->c), false, op->c);
}
