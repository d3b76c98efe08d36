/* The counters of a core during a launch. */
#ifndef HEDDLE_SM_COUNTERS_H
#define HEDDLE_SM_COUNTERS_H

#include "mem/cache.h"

/* The reasons that a cycle of a resident warp may have (heddle/metrics.def): STALL_ISSUED, STALL_NOT_PICKED, ...
 * Each resident warp counts once per cycle, so that the sum over reasons is the warp cycles of residency. */
enum stall {
#define STALL(id, name, sample, help, nsight) STALL_##id,
#include "heddle/metrics.def"
    STALL_COUNT
};
extern const char *const stall_names[STALL_COUNT]; /* "issued", "not_picked", "fetch", ... */

/* A member for each CORE_COUNT of heddle/metrics.def, and the numbers that other metrics are worked out from. */
struct sm_counters {
#define CORE_COUNT(field, name, unit, sample, help, nsight) uint64_t field;
#include "heddle/metrics.def"
    uint64_t load_requests; /* load instructions of global, local and texture memory */
    uint64_t stalls[STALL_COUNT];
    uint64_t warp_cycles;   /* sum over cycles of resident warps */
    uint64_t active_cycles; /* cycles with a resident warp */
    struct cache_counters l1d, l1c, l1t, l1i;
};

#endif
