/* An observer sees a core at work, cycle by cycle (the timeline). Hooks may be NULL. With an observer, cores run in
 * their order within a cycle, and so do the calls. */
#ifndef HEDDLE_SM_OBSERVER_H
#define HEDDLE_SM_OBSERVER_H

#include <stdint.h>

struct sm_observer {
    void *context;
    void (*warp_begin)(void *context, uint32_t core, uint32_t warp, uint64_t cycle, uint64_t block_index,
                       uint32_t index);
    void (*warp_end)(void *context, uint32_t core, uint32_t warp, uint64_t cycle);
    void (*issue)(void *context, uint32_t core, uint32_t scheduler, uint32_t warp, uint64_t cycle, uint32_t pc,
                  uint32_t lanes);
    void (*barrier_begin)(void *context, uint32_t core, uint32_t warp, uint64_t cycle);
    void (*barrier_end)(void *context, uint32_t core, uint32_t warp, uint64_t cycle);
    void (*load_begin)(void *context, uint32_t core, uint32_t warp, uint64_t cycle, uint32_t pc,
                       uint32_t accesses); /* a load that waits for memory has issued */
    void (*load_end)(void *context, uint32_t core, uint32_t warp, uint64_t cycle, uint32_t pc);
    void (*outstanding)(void *context, uint32_t core, uint64_t cycle,
                        uint32_t misses); /* MSHR entries in use have changed */
    /* The accesses that the load/store unit has yet to send, or the misses of the L1D that wait for the
     * interconnect, have changed. */
    void (*queues)(void *context, uint32_t core, uint64_t cycle, uint32_t accesses, uint32_t misses);
    /* Why warps did not issue in the cycles from <= cycle < to, or that they did: sets of slots, by enum stall. Each
     * slot with a warp is in one set. A core's cycles come in their order, each once, and before a slot is given to
     * another warp, but later than other hooks report them. Cycles without a warp are left out. */
    void (*reasons)(void *context, uint32_t core, uint64_t from, uint64_t to, const uint64_t *slots);
};

#endif
