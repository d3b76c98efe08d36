/* From the lanes of a memory instruction to accesses: the coalescing rules of both generations, lines of
 * constants and textures. */
#ifndef HEDDLE_MEM_COALESCE_H
#define HEDDLE_MEM_COALESCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    COALESCE_MOST = 128
}; /* 32 lanes, each at most 16 bytes over two segments, split in words for local memory at worst 4 per lane */

struct access {
    uint64_t address;
    uint32_t mask; /* lanes served */
    uint16_t bytes;
    uint8_t sectors; /* of the address and bytes: in a row, 1, 2 or 4 of them */
    uint8_t touched; /* those of them in which a lane has a byte */
};

/* Each lane's element directly follows that of the lane before it. lanes: 16 or 32. */
bool coalesce_consecutive(const uint64_t *address, uint32_t lanes, uint32_t bytes);
/* Global memory. parts: 1 the whole warp, 2 half warps. bytes: a lane's (1 to 16). most: bytes of the largest segment,
 * 32 to 256: not more than a line of the cache that is asked first. Segments of 1- and 2-byte elements are at most 32
 * and 64 bytes long. Accesses come in the order in which they leave the load/store unit: highest segment first, later
 * half first. Returns how many. A lane whose bytes straddle a segment is part of both. Addresses are below 2^62 here
 * and in all that follows. */
uint32_t coalesce_global(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t most, uint32_t parts,
                         struct access out[COALESCE_MOST]);
/* Atomics: most 32 to 128, parts as above; lanes that touch a byte that another lane of the access touches go to a
 * further access of the same segment. */
uint32_t coalesce_atomic(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t most, uint32_t parts,
                         struct access out[COALESCE_MOST]);
/* Lanes that all want the same bytes, aligned: one access for all of them, as where the assembler has one lane do the
 * work of the warp. */
bool coalesce_are_same(const uint64_t address[32], uint32_t mask);
uint32_t coalesce_uniform_atomic(uint64_t address, uint32_t mask, uint32_t bytes, uint32_t most, struct access *out);
/* Accesses begin at the first byte that one of their lanes touches, not at its sector. */
void coalesce_from_first_byte(const uint64_t address[32], struct access *list, uint32_t count);
/* Local memory: each 4-byte word of a thread stands beside the same word of the next thread. threads: of the machine
 * (interleave); first_thread: machine-wide number of lane 0; most and parts as above. */
uint64_t coalesce_local_address(uint64_t offset, uint64_t thread, uint64_t threads);
uint32_t coalesce_local(const uint64_t offset[32], uint32_t mask, uint32_t bytes, uint64_t first_thread,
                        uint64_t threads, uint32_t most, uint32_t parts, struct access out[COALESCE_MOST]);
/* What a store of `bytes` a lane writes of an access that it has been coalesced into: a bit for each 32nd part of the
 * access's bytes. */
uint32_t coalesce_written(const uint64_t address[32], uint32_t bytes, const struct access *a);
/* Constants, textures: one access a distinct line. */
uint32_t coalesce_lines(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                        struct access out[COALESCE_MOST]);

#endif
