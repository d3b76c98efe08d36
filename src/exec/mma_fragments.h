/* Fragments: how a warp holds a matrix in the registers of its lanes (PTX ISA 9.7.14, the figures of each shape). See
 * mma_fragments.c. */
#ifndef HEDDLE_EXEC_MMA_FRAGMENTS_H
#define HEDDLE_EXEC_MMA_FRAGMENTS_H

#include "exec/decode.h"
#include "exec/lanes.h"

enum {
    FRAGMENT_REGISTERS = 8, /* at most, a lane */
    MATRIX_ELEMENTS = 1024, /* at most */
};

/* A whole matrix, element by element: [major][minor], raw bits in the low end of a word. For A major is the row, for B
 * the column, and minor runs along k; for C and D major is the row and minor the column, but for m8n32, where they are
 * exchanged. One-bit elements are kept 32 to a word. */
union matrix {
    uint32_t word[MATRIX_ELEMENTS];
    uint64_t wide[MATRIX_ELEMENTS / 2]; /* 64-bit elements */
};

enum matrix_role { MATRIX_A, MATRIX_B, MATRIX_C }; /* C stands for the accumulators, D too */

/* A matrix is cut into tiles of 8 by 4 * run elements. Of a tile, lane l holds the run elements of row l / 4 that begin
 * at run * (l % 4): a register's worth in A and B, two elements in C. */
struct fragment {
    uint8_t element_bits; /* 4, 8, 16, 32 or 64 */
    uint8_t run;
    uint8_t registers; /* a lane; more than the tiles need: the tiles are repeated */
    uint8_t major_tiles, minor_tiles;
    uint8_t minor_first; /* tiles are counted along minor; else in bands of two, down a band's column, then along it */
};

struct fragment_tile {
    int major, minor;
}; /* coordinates of its first element */

struct fragment fragment_of(enum matrix_role role, int major, int minor, int element_bits);
struct fragment_tile fragment_tile(const struct fragment *f, int index);

static inline int fragment_tiles(const struct fragment *f) { return f->major_tiles * f->minor_tiles; }
static inline int fragment_minor(const struct fragment *f) { return f->minor_tiles * 4 * f->run; }
/* Registers of one tile, and elements in one register. */
static inline int fragment_tile_registers(const struct fragment *f) { return f->element_bits >= 32 ? f->run : 1; }
static inline int fragment_packed(const struct fragment *f) { return f->element_bits >= 32 ? 1 : 32 / f->element_bits; }

/* All lanes take part. */
void fragment_read(const struct exec_warp *w, const struct fragment *f, const exec_ref *registers, union matrix *out);
void fragment_write(struct exec_warp *w, const struct fragment *f, const exec_ref *registers, const union matrix *in);

/* Decodes {r0, r1, ...} (a single register may stand without braces) into refs; false after a message. */
bool fragment_decode(struct decoder *d, int operand, const struct fragment *f, enum ptx_type register_type, bool is_dst,
                     exec_ref *refs);
/* The type of the registers that hold elements of this type: .b32 where they are packed. */
enum ptx_type fragment_register_type(enum ptx_type element);

/* These instructions are for whole warps: false after a fault where a lane is missing. */
bool warp_is_whole(struct exec_warp *w, uint32_t mask, const char *what);

#endif
