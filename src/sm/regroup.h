/* Warp slots that execute threads of several warps of their block, put together by a divergence unit
 * (include/heddle/policy.h, struct heddle_divergence).
 *
 * A thread stays in the registers of its home warp. A slot has pieces, each some lanes of one home warp, and one
 * instruction that issues in it is executed piece by piece; the rest of the core sees one instruction of one warp. */
#ifndef HEDDLE_SM_REGROUP_H
#define HEDDLE_SM_REGROUP_H

#include "mem/coalesce.h"
#include "sm/sm.h"

/* For a core whose divergence unit regroups. Returns NULL, with *e, if the unit lacks a hook. */
struct regroup *regroup_create(struct arena *a, struct sm *c, struct error *e);
/* A launch begins, and policies have been told. A program with an instruction that has no meaning here ends as
 * ERROR_UNSUPPORTED. */
void regroup_begin(struct sm *c);
void regroup_place(struct sm *c, uint32_t block); /* the block's slots have been set up */
/* Physical lanes that would execute the next instruction. */
uint32_t regroup_lanes(const struct sm *c, uint32_t slot);
/* Executes the slot's next instruction, which has vanished (sm_inst.skip). */
void regroup_run_vanished(struct sm *c, uint32_t slot);
/* Executes an instruction, unless it is deferred, and moves the slot. */
void regroup_issue(struct sm *c, uint32_t slot, uint16_t id);
/* The next three functions are for units that keep threads in the slots of their warps. */
/* Asks the unit if the instruction is a branch. Returns whether the warp is parked; the branch is executed then. */
bool regroup_parks(struct sm *c, uint32_t slot, uint32_t pc);
/* Called after an instruction that the executor has done. */
void regroup_follow(struct sm *c, uint32_t slot, const struct sm_inst *in);
/* Whether the slot has all lanes of its warp that have not ended. */
bool regroup_has_all_lanes(const struct sm *c, uint32_t slot);
void regroup_perform(struct sm *c, uint16_t id); /* a deferred instruction */
void regroup_perform_atomic(struct sm *c, const struct packet *p);
uint32_t regroup_local_accesses(const struct sm *c, uint16_t id, uint32_t segment_most, struct access *out);
void regroup_cycle(struct sm *c);       /* starts slots whose threads have all their registers */
bool regroup_moves(const struct sm *c); /* whether such a slot can start */
void regroup_check_stuck(struct sm *c); /* the core is about to sleep for ever */
/* For units that mix warps (regroup_spin.c): do all threads of the core's blocks spin, or wait for threads that do?
 * Asking changes nothing. `window` is the number of cycles since the last call of regroup_new_window. */
bool regroup_is_stuck(const struct sm *c, uint64_t window);
void regroup_new_window(struct sm *c);
/* Is it stuck because answers to atomics do not come? */
bool regroup_is_starved(const struct sm *c, uint64_t window);
void regroup_describe_stuck(const struct sm *c, uint64_t window, struct error *e); /* a line per block */

#endif
