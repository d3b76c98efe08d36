/* Re-reference interval prediction (Jaleel et al., ISCA 2010), for L1 policies: each line has a guess at how far away
 * its next use is, 0 to 2^bits - 1. The first line at the farthest leaves; where none is there, all age together until
 * one is. A policy may divide the ways of a set: lines age with those of their own part.
 *
 *   init:       heddle_rrip_make(&s->rrip, setup->core, bits), finish: heddle_rrip_free
 *   victim:     return heddle_rrip_find(&s->rrip, set, part, ways, free)
 *   inserted:   heddle_rrip_put(&s->rrip, set, way, part, distance)
 *   touched:    heddle_rrip_near(&s->rrip, set, way) */
#ifndef HEDDLE_RRIP_H
#define HEDDLE_RRIP_H

#include "heddle/policy.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_rrip {
    uint32_t ways;
    uint8_t farthest;
    /* By how much the lines have to age for what the last search found. A function of the state, so asking again
     * changes nothing; it takes effect when the line is put in. */
    uint8_t aging;
    uint8_t *distance; /* by set and way */
};

/* False: no memory. */
static inline bool heddle_rrip_make(struct heddle_rrip *r, const struct heddle_core *core, uint32_t bits)
{
    r->ways = core->l1_ways;
    r->farthest = (uint8_t)((1u << bits) - 1);
    r->distance = (uint8_t *)calloc((size_t)core->l1_sets * r->ways + 1, 1);
    return r->distance != NULL;
}

static inline void heddle_rrip_free(struct heddle_rrip *r) { free(r->distance); }

static inline uint8_t *heddle_rrip_set(const struct heddle_rrip *r, uint32_t set)
{
    return r->distance + (size_t)set * r->ways;
}

/* The way for a new line among those of a part: a free one, else that of the line which is to leave; -1 means none. */
static inline int heddle_rrip_find(struct heddle_rrip *r, uint32_t set, uint64_t part, uint64_t ways,
                                   uint64_t free_ways)
{
    const uint8_t *distance = heddle_rrip_set(r, set);
    int far = -1;
    r->aging = 0;
    if (free_ways & part)
        return __builtin_ctzll(free_ways & part);
    for (ways &= part; ways; ways &= ways - 1) {
        int way = __builtin_ctzll(ways);
        if (far < 0 || distance[way] > distance[far])
            far = way;
    }
    if (far >= 0)
        r->aging = (uint8_t)(r->farthest - distance[far]);
    return far;
}

/* The line that the last search was for. Reserved lines of the part may have been the farthest. */
static inline void heddle_rrip_put(struct heddle_rrip *r, uint32_t set, uint32_t way, uint64_t part, uint8_t where)
{
    uint8_t *distance = heddle_rrip_set(r, set);
    for (uint32_t i = 0; r->aging && i < r->ways; i++)
        if (part >> i & 1) {
            unsigned aged = (unsigned)distance[i] + r->aging;
            distance[i] = aged < r->farthest ? (uint8_t)aged : r->farthest;
        }
    r->aging = 0;
    distance[way] = where;
}

static inline void heddle_rrip_near(struct heddle_rrip *r, uint32_t set, uint32_t way)
{
    heddle_rrip_set(r, set)[way] = 0;
}

/* Signatures (SHiP, Wu et al., MICRO 2011): what brought a line and where it lies, in `bits` bits, for tables of
 * counters that learn from what became of earlier lines with the same one. */
static inline uint32_t heddle_signature(uint32_t pc, uint64_t address, uint32_t shift, uint32_t bits)
{
    return (pc ^ (uint32_t)(address >> shift)) & ((1u << bits) - 1);
}

/* Counters that stop at both ends. */
static inline void heddle_count_up(uint8_t *counter, uint8_t most)
{
    *counter = (uint8_t)(*counter + (*counter < most));
}

static inline void heddle_count_down(uint8_t *counter) { *counter = (uint8_t)(*counter - (*counter > 0)); }

#ifdef __cplusplus
}
#endif

#endif
