/* The kind of core whose schedulers share pipelines behind operand collectors (collector.h, pipeline.c), as
 * GPGPU-Sim's do. Its functions are here, so that they are compiled into the places that ask (core_kind.h); another
 * kind may use them for a part of its instructions. */
#ifndef HEDDLE_SM_COLLECTORS_H
#define HEDDLE_SM_COLLECTORS_H

#include "sm/core.h"

static inline enum collector_kind collectors_pipe_of(const struct sm *c, const struct sm_inst *in)
{
    switch (in->unit) {
    case SM_MEM: return COLLECT_MEM;
    case SM_SP: return COLLECT_SP;
    case SM_SP_OR_SFU: return collector_can_accept(c->pipes.collector, COLLECT_SP) ? COLLECT_SP : COLLECT_SFU;
    default: return COLLECT_SFU;
    }
}

static inline uint64_t collectors_free(const struct sm *c)
{
    uint32_t accepts = sm_collectors_accept(c);
    if (accepts == (1u << COLLECT_KINDS) - 1)
        return c->issue.valid & ~c->issue.stale; /* all warps with an instruction */
    uint64_t free = 0;
    if (accepts >> COLLECT_SP & 1)
        free |= c->issue.needs[SM_SP] | c->issue.needs[SM_SP_OR_SFU];
    if (accepts >> COLLECT_SFU & 1)
        free |= c->issue.needs[SM_SFU] | c->issue.needs[SM_DP] | c->issue.needs[SM_SP_OR_SFU];
    if (accepts >> COLLECT_MEM & 1)
        free |= c->issue.needs[SM_MEM];
    return free;
}

static inline __attribute__((always_inline)) void collectors_start(struct sm *c, uint32_t scheduler, uint32_t slot,
                                                                   uint16_t id, const struct sm_inst *in)
{
    (void)scheduler;
    collector_accept(c->pipes.collector, collectors_pipe_of(c, in), id,
                     sm_operand_banks(&c->pipes, &in->operands, slot));
}

/* A write never waits, because it comes before the banks are read. */
static inline void collectors_write(struct sm *c, uint32_t slot, uint64_t banks)
{
    collector_write_banks(c->pipes.collector, sm_bank_set(&c->pipes, banks, slot));
}

uint64_t collectors_parts_closely(const struct sm *c); /* pipeline.c */

/* Mostly the units or the load/store unit are full, not the collectors. */
static inline uint64_t collectors_parts(const struct sm *c)
{
    static const uint64_t parts[1 << COLLECT_KINDS] = {
        PIPELINE_PARTS(PIPELINE_SP, PIPELINE_SFU, PIPELINE_LOAD_STORE),
        PIPELINE_PARTS(PIPELINE_DECODE, PIPELINE_SFU, PIPELINE_LOAD_STORE),
        PIPELINE_PARTS(PIPELINE_SP, PIPELINE_DECODE, PIPELINE_LOAD_STORE),
        PIPELINE_PARTS(PIPELINE_DECODE, PIPELINE_DECODE, PIPELINE_LOAD_STORE),
        PIPELINE_PARTS(PIPELINE_SP, PIPELINE_SFU, PIPELINE_DECODE),
        PIPELINE_PARTS(PIPELINE_DECODE, PIPELINE_SFU, PIPELINE_DECODE),
        PIPELINE_PARTS(PIPELINE_SP, PIPELINE_DECODE, PIPELINE_DECODE),
        PIPELINE_PARTS(PIPELINE_DECODE, PIPELINE_DECODE, PIPELINE_DECODE)};
    const struct collector_head *h = collector_head(c->pipes.collector);
    if ((h->wanted & h->room & ~h->free) || !c->flights.free_count || !c->lsu.free_access_count ||
        c->head.deferred >= SM_DEFERRED)
        return collectors_parts_closely(c);
    return parts[h->accepts];
}

#endif
