/* ldmatrix, stmatrix and movmatrix (PTX ISA 9.7.14.5.15 to .17) on 8x8 matrices of 16-bit elements.
 *
 * Matrix i has its row addresses in lanes 8i to 8i+7, a row being 16 bytes; lane l holds elements 2 (l % 4) and the
 * next of row l / 4, in one register a matrix. Transposed, it holds those of column l / 4. Left out: the 8-bit forms of
 * sm_100
 * (.m16n16, .m8n16, .m16n8). */
#include "exec/access.h"
#include "exec/decode.h"
#include "exec/mma_fragments.h"

#include <string.h>

bool decode_ldmatrix(struct decoder *d);
bool decode_stmatrix(struct decoder *d);
bool decode_movmatrix(struct decoder *d);

enum { ROW_BYTES = 16, ROWS = 8, MATRICES = 4 };

struct matrices {
    struct access_address address;
    exec_ref registers[MATRICES];
    uint8_t count;
    bool transposed;
};

static void swap_elements(uint16_t m[ROWS][ROWS])
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < i; j++) {
            uint16_t t = m[i][j];
            m[i][j] = m[j][i];
            m[j][i] = t;
        }
}

/* A lane's register is two elements, and 32 of them in lane order are the matrix, row by row. */
static void unpack_register(uint16_t m[ROWS][ROWS], const uint32_t *reg)
{
    for (int l = 0; l < WARP_LANES; l++) {
        m[l / 4][l % 4 * 2] = (uint16_t)reg[l];
        m[l / 4][l % 4 * 2 + 1] = (uint16_t)(reg[l] >> 16);
    }
}

static void pack_register(uint32_t *reg, uint16_t m[ROWS][ROWS])
{
    for (int l = 0; l < WARP_LANES; l++)
        reg[l] = m[l / 4][l % 4 * 2] | (uint32_t)m[l / 4][l % 4 * 2 + 1] << 16;
}

/* Only the lanes whose addresses count make an access. */
static bool resolve_rows(struct exec_warp *w, const struct matrices *m, bool is_store, uint8_t *pointers[WARP_LANES])
{
    uint32_t lanes = m->count == MATRICES ? FULL_MASK : (1u << (ROWS * m->count)) - 1;
    access_addresses(w, &m->address, FULL_MASK);
    return exec_resolve(w, (enum ptx_space)m->address.space, lanes, ROW_BYTES, ROW_BYTES, is_store, pointers);
}

static void matrices_load(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct matrices *m = in->extra;
    uint8_t *pointers[WARP_LANES];
    if (!warp_is_whole(w, mask, "ldmatrix") || !resolve_rows(w, m, false, pointers))
        return;
    for (int i = 0; i < m->count; i++) {
        uint16_t elements[ROWS][ROWS];
        for (int row = 0; row < ROWS; row++)
            memcpy(elements[row], pointers[i * ROWS + row], ROW_BYTES);
        if (m->transposed)
            swap_elements(elements);
        pack_register(lane_data(w, m->registers[i]), elements);
    }
}

static void matrices_store(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct matrices *m = in->extra;
    uint8_t *pointers[WARP_LANES];
    if (!warp_is_whole(w, mask, "stmatrix") || !resolve_rows(w, m, true, pointers))
        return;
    for (int i = 0; i < m->count; i++) {
        uint16_t elements[ROWS][ROWS];
        unpack_register(elements, lane_data(w, m->registers[i]));
        if (m->transposed)
            swap_elements(elements);
        for (int row = 0; row < ROWS; row++)
            access_write(w, pointers[i * ROWS + row], elements[row], ROW_BYTES);
    }
}

static void matrix_transpose(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint16_t elements[ROWS][ROWS];
    if (!warp_is_whole(w, mask, "movmatrix"))
        return;
    unpack_register(elements, lane_data(w, in->src[0]));
    swap_elements(elements);
    pack_register(lane_data(w, in->dst), elements);
}

/* Decoding */

static bool take_sync_aligned(struct decoder *d)
{
    bool sync = decode_take(d, PTX_MOD_SYNC), aligned = decode_take(d, PTX_MOD_ALIGNED);
    return sync && aligned ? true : decode_wrong(d, NULL, "%s needs .sync.aligned", d->in->spelling);
}

static bool take_shape(struct decoder *d)
{
    if (!decode_take(d, PTX_MOD_M8N8))
        return decode_fail(d, "matrices other than .m8n8");
    if (d->in->type_count != 1 || decode_type(d, 0) != PTX_B16)
        return decode_fail(d, "elements other than .b16");
    return true;
}

static bool decode_matrices(struct decoder *d, int address, int registers, bool is_load)
{
    static const enum ptx_modifier counts[] = {PTX_MOD_X1, PTX_MOD_X2, PTX_MOD_X4};
    struct matrices *m = decode_alloc(d, sizeof *m);
    *m = (struct matrices){0};
    int count = decode_take_one(d, counts, 3);
    enum ptx_space space = decode_take_space(d);
    if (!take_sync_aligned(d) || !take_shape(d) || !decode_count(d, 2, 2))
        return false;
    if (count < 0)
        return decode_wrong(d, NULL, "%s needs .x1, .x2 or .x4", d->in->spelling);
    if (space != PTX_SPACE_SHARED && space != PTX_SPACE_NONE)
        return decode_wrong(d, NULL, "%s works on shared memory", d->in->spelling);
    m->count = (uint8_t)(1 << count);
    m->transposed = decode_take(d, PTX_MOD_TRANS);
    d->out->extra = m;
    struct fragment f = {.registers = m->count};
    return access_decode_address(d, decode_operand(d, address), space, &m->address) &&
           fragment_decode(d, registers, &f, PTX_B32, is_load, m->registers);
}

bool decode_ldmatrix(struct decoder *d)
{
    d->out->fn = matrices_load;
    return decode_matrices(d, 1, 0, true);
}

bool decode_stmatrix(struct decoder *d)
{
    d->out->fn = matrices_store;
    return decode_matrices(d, 0, 1, false);
}

bool decode_movmatrix(struct decoder *d)
{
    d->out->fn = matrix_transpose;
    if (!take_sync_aligned(d) || !take_shape(d))
        return false;
    if (!decode_take(d, PTX_MOD_TRANS))
        return decode_wrong(d, NULL, "movmatrix needs .trans");
    return decode_count(d, 2, 2) && decode_dst(d, 0, PTX_B32, &d->out->dst) &&
           decode_src(d, 1, PTX_B32, &d->out->src[0]);
}
