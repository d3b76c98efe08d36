/* Issue: the sets of warps that schedulers choose from, and what they chose in this cycle.
 *
 * Sets that policies see at any time (resident, at_barrier) are in struct heddle_core alone. What warps wait for is
 * shown to them as it was before the first scheduler was asked, so that all schedulers of a cycle see the same: those
 * sets change here, and are copied once per cycle. Touches everything that an instruction touches when it issues:
 * slots, instructions in flight, collectors; asks and tells policies through policy_host.h. */
#ifndef HEDDLE_SM_ISSUE_H
#define HEDDLE_SM_ISSUE_H

#include "sm/program.h"

struct sm;

struct sm_issue {
    /* Sets of warp slots. */
    uint64_t valid;           /* with an instruction in the buffer */
    uint64_t clear;           /* whose registers are there */
    uint64_t stale;           /* whose buffered instruction is not the next one: the warp has branched since */
    uint64_t ended;           /* all lanes have; of these, stores and loads may be on their way */
    uint64_t fenced;          /* at a fence */
    uint64_t atomic_wait;     /* for the answers to an atomic */
    uint64_t asleep;          /* until slot.wake_cycle */
    uint64_t loading;         /* with a load whose result is still to come, of a core that runs ahead (network.c) */
    uint64_t parked;          /* without work, of those asleep (regroup.h) */
    uint64_t long_wait;       /* whose next instruction needs the result of a long operation */
    uint64_t next_l1_load;    /* whose next instruction may be held back by hold_loads */
    uint64_t needs[SM_UNITS]; /* by the unit of the next instruction */
    /* Of the cycle in which the schedulers were last asked. */
    uint64_t issued, held, unit_free;
    uint32_t accepts;         /* sm_collectors_accept */
    uint32_t held_schedulers; /* that had nothing but held warps */
};

void sm_schedule_cycle(struct sm *c); /* schedule.c: all schedulers of the core */
/* issue.c: the next instruction of the warp, by this scheduler */
void sm_issue(struct sm *c, uint32_t scheduler, uint32_t slot);
void sm_flush(struct sm *c, uint32_t slot); /* what was fetched past a branch is thrown away */
/* loop_events.c: the warp is about to issue the instruction; where somebody hears of loops */
void sm_tell_loops(struct sm *c, uint32_t slot, uint32_t pc);

#endif
