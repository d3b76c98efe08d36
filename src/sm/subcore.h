/* Sub-cores: a core whose schedulers each have pipelines of their own (rule sub_cores), as NVIDIA's have since
 * Volta.
 *
 * There are no operand collectors in front of these pipelines: an instruction that issues is in its pipeline, and
 * its result can be used its latency later. (In hardware the assembler sees to that with stall counts; here the
 * scoreboard does, to the same cycle.) The next instruction is always there: instruction caches are not modelled. A
 * memory instruction takes the way that it takes on other machines: collectors, load/store unit.
 *
 * Holds the cycle in which each pipeline takes its next instruction. Reads the sets of warps; touches instructions
 * in flight. */
#ifndef HEDDLE_SM_SUBCORE_H
#define HEDDLE_SM_SUBCORE_H

#include "sm/program.h"

struct sm;

struct sm_subcore {
    /* The scheduler issues nothing before this cycle: an instruction that stands for several is at work. */
    uint64_t issues_at;
    uint64_t free_at[SM_UNITS]; /* when each unit takes its next instruction, in eighths of a cycle */
};

struct sm_subcores {
    uint64_t barriers_at; /* the cycle from which a warp can arrive at a barrier, which all sub-cores share */
    uint64_t fences_at;   /* the cycle from which the next fence of the whole GPU begins */
    uint32_t memory_turn; /* one more than the sub-core that last went to memory */
    struct sm_subcore list[];
};

struct sm_subcores *subcores_create(struct arena *a, const struct sm_config *config);
/* Warps whose pipeline can take their next instruction; subcores_still_free: the same after a warp of scheduler k
 * has issued. */
uint64_t subcores_free(const struct sm *c);
uint64_t subcores_still_free(const struct sm *c, uint32_t k);
void subcore_start(struct sm *c, uint32_t k, uint16_t id, const struct sm_inst *in); /* scheduler k issues it */
/* For a branch that became predicates: an instruction that issues for no thread at all takes its time too. */
void subcore_predicate(struct sm *c, uint32_t k, uint32_t slot, const struct sm_inst *in);
uint32_t subcore_fence(struct sm *c, const struct sm_inst *in); /* cycles until the warp goes on after a fence */
/* The next cycle in which a pipeline is free that is not free now. */
uint64_t subcores_next(const struct sm *c);
void subcore_fill_buffer(struct sm *c, uint32_t slot); /* with the warp's next instruction */
/* Executes the vanished instructions before the one that issues. */
void subcore_run_vanished(struct sm *c, uint32_t slot);

#endif
