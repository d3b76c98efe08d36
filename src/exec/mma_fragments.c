/* Fragments of wmma and mma (PTX ISA 9.7.14). One rule covers all of them: a matrix is cut into tiles, and a lane's
 * place in a tile follows from its number.
 *
 * For mma the ISA gives the places. For wmma it does not; these are the ones that sm_80 to sm_90 use, which are the
 * same but that the f16 operands repeat their tiles to fill eight registers. Left out: the other arrangement of sm_70
 * (and so of mma.m8n8k4 on .f16, which is in mma_quad.c). */
#include "exec/mma_fragments.h"

#include <string.h>

struct fragment fragment_of(enum matrix_role role, int major, int minor, int element_bits)
{
    int run = role == MATRIX_C ? 2 : element_bits >= 32 ? 1 : 32 / element_bits;
    struct fragment f = {
        .element_bits = (uint8_t)element_bits,
        .run = (uint8_t)run,
        .major_tiles = (uint8_t)(major / 8),
        .minor_tiles = (uint8_t)(minor / (4 * run)),
        .minor_first = role == MATRIX_B,
    };
    f.registers = (uint8_t)(fragment_tiles(&f) * fragment_tile_registers(&f));
    return f;
}

struct fragment_tile fragment_tile(const struct fragment *f, int index)
{
    int major, minor, band = f->major_tiles < 2 ? 1 : 2;
    index %= fragment_tiles(f);
    if (f->minor_first) {
        major = index / f->minor_tiles;
        minor = index % f->minor_tiles;
    } else {
        major = index % band + index / (band * f->minor_tiles) * band;
        minor = index / band % f->minor_tiles;
    }
    return (struct fragment_tile){major * 8, minor * 4 * f->run};
}

/* Where lane 0's element of a register lies, and how far on that of a lane's neighbour and of the next four lanes. */
struct register_place {
    int first, lane_step, row_step;
};

static struct register_place place_of(const struct fragment *f, int reg)
{
    int in_tile = fragment_tile_registers(f);
    struct fragment_tile t = fragment_tile(f, reg / in_tile);
    int stride = fragment_minor(f);
    return (struct register_place){t.major * stride + t.minor + reg % in_tile, f->run, stride};
}

/* The elements of a register, each to a word. */
static inline void unpack(uint32_t *to, uint32_t value, int bits)
{
    if (bits == 32) {
        *to = value;
    } else if (bits == 16) {
        to[0] = value & 0xffff;
        to[1] = value >> 16;
    } else {
        for (int e = 0; e < 32 / bits; e++)
            to[e] = value >> (e * bits) & ((1u << bits) - 1);
    }
}

static inline uint32_t pack(const uint32_t *from, int bits)
{
    uint32_t value = 0;
    if (bits == 32)
        return *from;
    for (int e = 0; e < 32 / bits; e++)
        value |= from[e] << (e * bits);
    return value;
}

/* Four lanes hold eight neighbours of a row: two each in a register of 16-bit elements, or one each in two registers of
 * 32-bit ones. */
typedef uint32_t four_lanes __attribute__((vector_size(16)));

static inline four_lanes lanes_at(const void *from)
{
    four_lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void put_lanes(void *to, four_lanes v) { memcpy(to, &v, sizeof v); }

static inline void put_eight(uint32_t *to, four_lanes even, four_lanes odd)
{
    put_lanes(to, __builtin_shufflevector(even, odd, 0, 4, 1, 5));
    put_lanes(to + 4, __builtin_shufflevector(even, odd, 2, 6, 3, 7));
}

static void read_halves(struct register_place p, const uint32_t *lanes, uint32_t *out)
{
    for (int l = 0; l < WARP_LANES; l += 4) {
        four_lanes v = lanes_at(lanes + l);
        put_eight(out + p.first + l / 4 * p.row_step, v & 0xffff, v >> 16);
    }
}

static void read_pairs(struct register_place p, const uint32_t *even, const uint32_t *odd, uint32_t *out)
{
    for (int l = 0; l < WARP_LANES; l += 4)
        put_eight(out + p.first + l / 4 * p.row_step, lanes_at(even + l), lanes_at(odd + l));
}

static void write_pairs(struct register_place p, uint32_t *even, uint32_t *odd, const uint32_t *in)
{
    for (int l = 0; l < WARP_LANES; l += 4) {
        const uint32_t *from = in + p.first + l / 4 * p.row_step;
        four_lanes low = lanes_at(from), high = lanes_at(from + 4);
        put_lanes(even + l, __builtin_shufflevector(low, high, 0, 2, 4, 6));
        put_lanes(odd + l, __builtin_shufflevector(low, high, 1, 3, 5, 7));
    }
}

static void read_register(const struct exec_warp *w, const struct fragment *f, exec_ref from, struct register_place p,
                          union matrix *out)
{
    const void *lanes = lane_data(w, from);
    for (int row = 0, l = 0, first = p.first; row < WARP_LANES / 4; row++, first += p.row_step)
        for (int at = first; at < first + 4 * p.lane_step; at += p.lane_step, l++) {
            if (f->element_bits == 64)
                out->wide[at] = ((const uint64_t *)lanes)[l];
            else
                unpack(&out->word[at], ((const uint32_t *)lanes)[l], f->element_bits);
        }
}

static bool has_pairs(const struct fragment *f) { return f->element_bits == 32 && f->run == 2; }

void fragment_read(const struct exec_warp *w, const struct fragment *f, const exec_ref *registers, union matrix *out)
{
    int used = fragment_tiles(f) * fragment_tile_registers(f);
    for (int r = 0; r < used; r++) {
        struct register_place p = place_of(f, r);
        if (f->element_bits == 16) {
            read_halves(p, lane_data(w, registers[r]), out->word);
        } else if (has_pairs(f)) {
            read_pairs(p, lane_data(w, registers[r]), lane_data(w, registers[r + 1]), out->word);
            r++;
        } else {
            read_register(w, f, registers[r], p, out);
        }
    }
}

static void write_register(struct exec_warp *w, const struct fragment *f, exec_ref to, struct register_place p,
                           const union matrix *in)
{
    void *lanes = lane_data(w, to);
    for (int row = 0, l = 0, first = p.first; row < WARP_LANES / 4; row++, first += p.row_step)
        for (int at = first; at < first + 4 * p.lane_step; at += p.lane_step, l++) {
            if (f->element_bits == 64)
                ((uint64_t *)lanes)[l] = in->wide[at];
            else
                ((uint32_t *)lanes)[l] = pack(&in->word[at], f->element_bits);
        }
}

void fragment_write(struct exec_warp *w, const struct fragment *f, const exec_ref *registers, const union matrix *in)
{
    for (int r = 0; r < f->registers; r++) {
        struct register_place p = place_of(f, r);
        if (has_pairs(f)) {
            write_pairs(p, lane_data(w, registers[r]), lane_data(w, registers[r + 1]), in->word);
            r++;
        } else {
            write_register(w, f, registers[r], p, in);
        }
    }
}

enum ptx_type fragment_register_type(enum ptx_type element)
{
    return element == PTX_F64 || element == PTX_F32 || element == PTX_S32 ? element : PTX_B32;
}

bool fragment_decode(struct decoder *d, int operand, const struct fragment *f, enum ptx_type register_type, bool is_dst,
                     exec_ref *refs)
{
    const struct ptx_operand *o = decode_operand(d, operand), *each = o;
    uint32_t count = 1;
    if (o->kind == PTX_OPERAND_VECTOR) {
        each = o->elements;
        count = o->element_count;
    }
    if (count != f->registers)
        return decode_wrong(d, o, "this fragment takes %d registers, %u given", f->registers, count);
    for (uint32_t i = 0; i < count; i++)
        if (!(is_dst ? decode_dst_of : decode_src_of)(d, &each[i], register_type, &refs[i]))
            return false;
    return true;
}

bool warp_is_whole(struct exec_warp *w, uint32_t mask, const char *what)
{
    if (mask == FULL_MASK)
        return true;
    exec_raise(w, ERROR_INSTRUCTION, (uint32_t)__builtin_ctz(mask), 0, 0,
               "%s needs all 32 lanes of the warp; mask 0x%08x executes it", what, mask);
    return false;
}
