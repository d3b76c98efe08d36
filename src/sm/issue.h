/* Issue: the sets of warps that schedulers choose from, and the warps that they chose in this cycle.
 *
 * Sets that policies see at any time (resident, at_barrier) are in struct heddle_core alone. The reasons for which
 * warps wait are shown to policies as they were before the first scheduler was asked, so that all schedulers of a
 * cycle see the same: those sets change here, and are copied once per cycle. Issue touches everything that an
 * instruction touches when it issues: slots, instructions in flight, collectors. It asks and tells policies through
 * policy_host.h. */
#ifndef HEDDLE_SM_ISSUE_H
#define HEDDLE_SM_ISSUE_H

#include "sm/program.h"

struct sm;

struct sm_issue {
    /* Sets of warp slots. The first ones say which warps could issue, the next ones which may not (warp_block). */
    uint64_t valid;           /* with an instruction in the buffer */
    uint64_t clear;           /* whose next instruction has all its registers */
    uint64_t stale;           /* whose buffered instruction is not the next one: the warp has branched since */
    uint64_t ended;           /* all lanes have ended; stores and loads of the warp may be in flight */
    uint64_t fenced;          /* at a fence */
    uint64_t atomic_wait;     /* waiting for the answers to an atomic */
    uint64_t asleep;          /* until slot.wake_cycle */
    uint64_t parked;          /* asleep, because the divergence unit has given the slot no threads (regroup.h) */
    uint64_t long_wait;       /* whose next instruction needs the result of a load from memory */
    uint64_t next_l1_load;    /* whose next instruction is a load that hold_loads may hold */
    uint64_t needs[SM_UNITS]; /* by the unit of the next instruction */
    /* As of the cycle in which the schedulers were last asked. `held` are the warps that the policy held. */
    uint64_t issued, held, unit_free;
    uint32_t accepts;         /* sm_collectors_accept */
    uint32_t held_schedulers; /* schedulers whose ready warps were all held */
};

void sm_schedule_cycle(struct sm *c); /* schedule.c: asks all schedulers of the core */
/* issue.c: the scheduler issues the warp's next instruction. */
void sm_issue(struct sm *c, uint32_t scheduler, uint32_t slot);
uint32_t sm_lanes(const struct sm *c, uint32_t slot); /* that would execute the warp's next instruction */
void sm_flush(struct sm *c, uint32_t slot);           /* throws away what was fetched past a branch */
/* loop_events.c: the warp is about to issue the instruction; where somebody hears of loops */
void sm_tell_loops(struct sm *c, uint32_t slot, uint32_t pc);

#endif
