/* What a core counts during a launch. */
#ifndef HEDDLE_SM_COUNTERS_H
#define HEDDLE_SM_COUNTERS_H

#include "mem/cache.h"

/* Where a resident warp's cycle went. Each warp that is resident in a cycle counts once, so that the sum is warp cycles
 * of residency. */
enum stall {
    STALL_ISSUED,     /* it issued */
    STALL_NOT_PICKED, /* could issue, another warp did */
    STALL_FETCH,      /* no instruction in its buffer */
    STALL_SCOREBOARD, /* waits for the result of arithmetic or of shared memory */
    STALL_MEMORY,     /* waits for a long operation: global, local, texture memory */
    STALL_PIPELINE,   /* the pipeline that it needs is full */
    STALL_BARRIER,
    STALL_FENCE,
    STALL_ATOMIC,
    STALL_HELD,  /* the policy held it back */
    STALL_DRAIN, /* has ended; its stores are still on their way */
    STALL_COUNT
};
extern const char *const stall_names[STALL_COUNT]; /* "issued", "not_picked", "fetch", ... */

struct sm_counters {
    uint64_t issued, no_ready, descheduled; /* scheduler cycles while the core had a warp; idle: it had none */
    uint64_t idle;
    uint64_t stalls[STALL_COUNT];
    uint64_t load_requests,
        load_accesses; /* load instructions of global, local and texture memory; accesses they were coalesced into */
    uint64_t store_requests, store_accesses;
    uint64_t shared_requests, shared_cycles;
    uint64_t warp_cycles;   /* sum over cycles of resident warps */
    uint64_t active_cycles; /* cycles with a resident warp */
    uint64_t blocks, warps; /* launched */
    struct cache_counters l1d, l1c, l1t, l1i;
};

#endif
