/* Whoever wants to see a core at work, cycle by cycle (the timeline). Hooks may be NULL. Called in order of cores
 * within a cycle when observers are present. */
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
                       uint32_t accesses); /* a load that waits for memory */
    void (*load_end)(void *context, uint32_t core, uint32_t warp, uint64_t cycle, uint32_t pc);
    void (*outstanding)(void *context, uint32_t core, uint64_t cycle,
                        uint32_t misses); /* MSHR entries in use have changed */
};

#endif
