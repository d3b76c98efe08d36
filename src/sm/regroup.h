/* Warp slots that execute threads of several warps of their block, put together by a divergence unit
 * (include/heddle/policy.h, struct heddle_divergence).
 *
 * A thread stays in the registers of its home warp. A slot has pieces, each some lanes of one home warp, and one
 * instruction that issues in it is executed piece by piece; the rest of the core sees one instruction of one warp. */
#ifndef HEDDLE_SM_REGROUP_H
#define HEDDLE_SM_REGROUP_H

#include "mem/coalesce.h"
#include "sm/sm.h"

/* For a core whose divergence unit regroups; NULL and *e: a hook is missing. */
struct regroup *regroup_create(struct arena *a, struct sm *c, struct error *e);
void regroup_begin(struct sm *c); /* a launch; after the event. A program with instructions that have no meaning here
                                     ends as ERROR_UNSUPPORTED */
void regroup_place(struct sm *c, uint32_t block);          /* its slots have been set up */
uint32_t regroup_lanes(const struct sm *c, uint32_t slot); /* physical lanes that would execute the next instruction */
void regroup_issue(struct sm *c, uint32_t slot,
                   uint16_t id); /* executes it, as far as it is not deferred, and moves the slot */
/* The same for units that keep threads in the slots of their warps: */
bool regroup_parks(struct sm *c, uint32_t slot,
                   uint32_t pc); /* asks the unit, where it is a branch. True: the warp waits, and the branch is done */
void regroup_follow(struct sm *c, uint32_t slot,
                    const struct sm_inst *in);                 /* after an instruction that the executor has done */
bool regroup_has_all_lanes(const struct sm *c, uint32_t slot); /* of its warp that have not ended */
void regroup_perform(struct sm *c, uint16_t id);               /* a deferred one */
void regroup_perform_atomic(struct sm *c, const struct packet *p);
uint32_t regroup_local_accesses(const struct sm *c, uint16_t id, uint32_t segment_most, struct access *out);
void regroup_cycle(struct sm *c);       /* slots whose threads wait for registers */
bool regroup_moves(const struct sm *c); /* such a slot can start */
void regroup_check_stuck(struct sm *c); /* the core is about to sleep for ever */
/* Of units that mix warps (regroup_spin.c): do the threads of all its blocks spin, or wait for those that do? Nothing
 * is changed by asking. window: cycles since the last call of regroup_new_window. */
bool regroup_is_stuck(const struct sm *c, uint64_t window);
void regroup_new_window(struct sm *c);
bool regroup_is_starved(const struct sm *c, uint64_t window); /* is it stuck for want of answers to atomics? */
void regroup_describe_stuck(const struct sm *c, uint64_t window, struct error *e); /* a line per block */

#endif
