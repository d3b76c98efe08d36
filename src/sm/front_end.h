/* The front end: fetch through the instruction cache, decode into the warps' instruction buffers.
 *
 * Has the instructions between fetch and decode, and the warps that want to be fetched for. Touches the buffers of
 * slots, the L1I and the core's way into the interconnect; retires warps that are over where the machine does that
 * in fetch. */
#ifndef HEDDLE_SM_FRONT_END_H
#define HEDDLE_SM_FRONT_END_H

#include "mem/cache.h"
#include "sm/config.h"

struct sm;

struct sm_front_end {
    bool valid; /* instructions were fetched in the last cycle for a warp: the one at pc and its successors */
    uint32_t warp, pc;
    uint32_t last;  /* the slot that was fetched for last */
    uint64_t wants; /* slots whose buffer is empty, and for which no fetch is under way */
    uint64_t over;  /* slots whose warp is over, and which fetch has not come past yet */
    struct cache *l1i;
    const struct cache_head *code; /* its head; where there is no cache, that of one which never has anything */
    struct ring responses;         /* from the interconnect */
};

/* fetch.c */
void front_end_init(struct sm_front_end *f, struct arena *a, const struct sm_config *config);
void sm_decode_cycle(struct sm *c);
void sm_fetch_cycle(struct sm *c);

/* Can fetch do something in this cycle? */
static inline bool front_end_moves(const struct sm_front_end *f)
{
    return (f->wants | f->over | f->responses.count | f->code->ready_requests | f->code->misses.count) != 0;
}

#endif
