/* Sub-cores: a core whose schedulers each have pipelines of their own (rule sub_cores), as NVIDIA's have since Volta.
 *
 * There are no operand collectors in front of these pipelines: an instruction that issues is in its pipeline, and what
 * it computes can be used its latency later. (In hardware the assembler sees to that with stall counts; here the
 * scoreboard does, to the same cycle.) The next instruction is always there: instruction caches are not modelled. What
 * goes to memory takes the way that it takes on other machines: collectors, load/store unit.
 *
 * Holds when each pipeline takes its next instruction. Reads the sets of warps; touches instructions in flight. */
#ifndef HEDDLE_SM_SUBCORE_H
#define HEDDLE_SM_SUBCORE_H

#include "sm/program.h"

struct sm;

struct sm_subcore {
    uint64_t issues_at;         /* its scheduler issues nothing before: an instruction of several is at work */
    uint64_t free_at[SM_UNITS]; /* from when on each takes an instruction, in eighths of a cycle */
};

struct sm_subcores {
    uint64_t barriers_at; /* the cycle from which on a warp can arrive at a barrier, which all sub-cores share */
    uint64_t fences_at;   /* and from which on the next fence of the whole GPU begins */
    uint32_t memory_turn; /* one more than the sub-core that last went to memory */
    struct sm_subcore list[];
};

struct sm_subcores *subcores_create(struct arena *a, const struct sm_config *config);
/* Warps whose pipeline can take their next instruction; after one of scheduler k has issued: the same. */
uint64_t subcores_free(const struct sm *c);
uint64_t subcores_still_free(const struct sm *c, uint32_t k);
void subcore_start(struct sm *c, uint32_t k, uint16_t id, const struct sm_inst *in); /* scheduler k issues it */
/* It is a branch that became predicates: what is issued for no thread at all takes its time. */
void subcore_predicate(struct sm *c, uint32_t k, uint32_t slot, const struct sm_inst *in);
uint32_t subcore_fence(struct sm *c, const struct sm_inst *in); /* cycles that it holds its warp from now on */
uint64_t subcores_next(const struct sm *c);            /* the next cycle in which one of them is free that is not now */
void subcore_fill_buffer(struct sm *c, uint32_t slot); /* with the warp's next instruction */
void subcore_run_vanished(struct sm *c, uint32_t slot); /* those before the one that issues */

#endif
