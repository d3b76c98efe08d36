/* What travels between a core's caches, the crossbar, the L2 slices and DRAM: a token of 32 bytes, passed by value. It
 * carries no data, only what an access costs. */
#ifndef HEDDLE_MEM_PACKET_H
#define HEDDLE_MEM_PACKET_H

#include <stdbool.h>
#include <stdint.h>

enum packet_kind {
    PACKET_LOAD,  /* global read by a core's L1D, or past it */
    PACKET_STORE, /* global write: answered by an acknowledgement */
    PACKET_LOCAL_LOAD,
    PACKET_LOCAL_STORE,
    PACKET_ATOMIC, /* takes effect at the partition */
    PACKET_CONST,  /* constant cache miss */
    PACKET_TEXTURE,
    PACKET_INST,         /* instruction cache miss */
    PACKET_L1_WRITEBACK, /* a modified line leaves an L1: no answer */
    PACKET_L2_WRITEBACK, /* a modified line leaves an L2: no answer */
    PACKET_L2_FETCH,     /* an L2 reads the line that a store missed: no answer to the core */
};

enum { SECTOR_BYTES = 32 };

struct packet {
    uint64_t address; /* timing address of the first byte */
    uint32_t token;   /* the sender's own: an MSHR entry, a pending load, a warp */
    uint32_t pc;      /* instruction that caused it */
    uint16_t bytes;   /* asked for or written */
    uint16_t core;    /* that sent it */
    uint16_t warp;    /* slot in that core */
    uint8_t kind;     /* enum packet_kind */
    union {
        uint8_t slice; /* L2 slice it belongs to */
        uint8_t left; /* before it has one, on its way to an L1D: accesses of the same instruction that come after it */
    };
    uint32_t mask; /* atomics: lanes it stands for; stores to a cache that asks for it, and loads of such an L1: what of
                      their bytes they write or read, a bit for each 32nd part */
    uint8_t sectors;         /* of its line, bit 0 lowest: what a fill brings or a write covers */
    uint8_t reply;           /* on its way back to the core */
    uint8_t origin;          /* which part of its core waits for the answer (the core's own) */
    uint8_t twin : 1;        /* asks for its sector in the name of the one before it (cache.c) */
    uint8_t away : 1;        /* of an L2 of two halves: it is in the one that is not its address's home */
    uint8_t guest : 1;       /* it is at home, and has come from the other half */
    uint8_t uncopied : 1;    /* a read of a guest that its own half keeps no copy of: it has no place for one */
    uint8_t takes_turns : 1; /* an atomic of floating point: those of one word do */
};

enum {
    PACKET_WRITES = 1 << PACKET_STORE | 1 << PACKET_LOCAL_STORE | 1 << PACKET_L1_WRITEBACK | 1 << PACKET_L2_WRITEBACK
};
static inline bool packet_is_write(const struct packet *p) { return PACKET_WRITES >> p->kind & 1; }

/* How many sectors a set of eight has: processors of ten years ago have no instruction for it that we may use. */
static inline uint32_t packet_sectors(uint8_t set)
{
    const uint64_t counts = 0x4332322132212110u; /* by four bits */
    return (uint32_t)(counts >> (set & 15) * 4 & 15) + (uint32_t)(counts >> (set >> 4) * 4 & 15);
}

/* Of a store that tells what it writes, or a load that tells what it reads: which bytes of a sector of its line. As all
 * of more than one sector it has its place at a multiple of its bytes. */
static inline uint32_t packet_sector_bytes(const struct packet *p, uint32_t sector)
{
    uint32_t part = p->bytes / 32u, bytes = 0;
    if (part < 2)
        return p->mask;
    uint32_t parts = SECTOR_BYTES / part, written = p->mask >> (sector * parts & 31);
    for (uint32_t i = 0; i < parts; i++)
        bytes |= (written >> i & 1 ? (1u << part) - 1 : 0) << i * part;
    return bytes;
}

/* Each of the sectors that it names. */
static inline bool packet_writes_all(const struct packet *p)
{
    for (uint32_t left = p->sectors; left; left &= left - 1)
        if (packet_sector_bytes(p, (uint32_t)__builtin_ctz(left)) != UINT32_MAX)
            return false;
    return true;
}

/* Nobody waits for an answer. */
static inline bool packet_ends_silently(const struct packet *p)
{
    return p->kind == PACKET_L1_WRITEBACK || p->kind == PACKET_L2_WRITEBACK;
}

#endif
