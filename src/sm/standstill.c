/* The requests to memory that warps of a core wait for, in a machine in which nothing moves any more. Such a warp
 * does not spin: its request stands in some queue. */
#include "sm/core.h"

#include <stdio.h>

/* The instruction of the warp that has asked for memory and has not ended; SM_NONE means that there is none. */
static uint16_t access_of(const struct sm *c, uint32_t slot)
{
    bool is_free[SM_INFLIGHT] = {false};
    for (uint32_t i = 0; i < c->flights.free_count; i++)
        is_free[c->flights.free[i]] = true;
    for (uint32_t id = 0; id < SM_INFLIGHT; id++)
        if (!is_free[id] && c->flights.list[id].slot == slot && c->flights.list[id].inst->unit == SM_MEM)
            return (uint16_t)id;
    return SM_NONE;
}

/* Is its next instruction an access for which the load/store unit has no room? */
static bool awaits_unit(const struct sm *c, uint32_t slot)
{
    return c->issue.needs[SM_MEM] & c->issue.clear & ~c->view.at_barrier & 1ull << slot;
}

static bool awaits_memory(const struct sm *c, uint32_t slot)
{
    const struct sm_slot *s = &c->slots[slot];
    return s->exec && (s->fetching || s->stores || s->atomics || access_of(c, slot) != SM_NONE || awaits_unit(c, slot));
}

uint64_t sm_awaiting_memory(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        set |= (uint64_t)awaits_memory(c, slot) << slot;
    return set;
}

static uint32_t line_of(const struct sm *c, uint32_t pc)
{
    return pc < c->program->count ? c->program->view.instructions[pc].line : 0;
}

static const char *kind_of(const struct sm_inflight *f)
{
    if (f->atomic)
        return "atomic";
    return f->store ? "store" : "load";
}

static void describe_warp(const struct sm *c, uint32_t slot, struct error *e)
{
    const struct sm_slot *s = &c->slots[slot];
    const struct sm_block *b = &c->blocks.list[s->block];
    uint16_t id = access_of(c, slot);
    char what[120];
    if (s->fetching)
        snprintf(what, sizeof what, "the instruction at PTX line %u", line_of(c, s->fetch_pc));
    else if (id != SM_NONE)
        snprintf(what, sizeof what, "the %s at PTX line %u", kind_of(&c->flights.list[id]),
                 line_of(c, c->flights.list[id].pc));
    else if (s->stores)
        snprintf(what, sizeof what, "%u answers to its stores", s->stores);
    else
        snprintf(what, sizeof what, "the load/store unit, at PTX line %u", line_of(c, s->buffer[0]));
    error_note(e, "  block (%u,%u,%u) warp %u, core %u: waits for %s", b->cta->id[0], b->cta->id[1], b->cta->id[2],
               slot - b->first_warp, c->head.id, what);
}

/* Reports why the load/store unit does not go on with the instruction at work. */
static void describe_unit(const struct sm *c, struct error *e)
{
    static const char *const reasons[CACHE_FAIL_COUNT] = {
        [CACHE_FAIL_WAYS] = "all ways of the set are reserved",
        [CACHE_FAIL_MSHR] = "no miss register is free (l1d.mshr_entries)",
        [CACHE_FAIL_MERGE] = "the line's miss register takes no more requests (l1d.mshr_merge)",
        [CACHE_FAIL_QUEUE] = "the miss queue has no room (l1d.miss_queue)",
    };
    if (c->lsu.refused.blocked)
        error_note(e, "  core %u: the L1 data cache refuses an access: %s", c->head.id, reasons[c->lsu.refused.why]);
    if (*c->net.blocked_bytes)
        error_note(e, "  core %u: the interconnect has no room for a packet of %u bytes", c->head.id,
                   *c->net.blocked_bytes);
}

uint32_t sm_describe_awaiting(const struct sm *c, uint32_t most, struct error *e)
{
    uint64_t left = sm_awaiting_memory(c);
    uint32_t shown = 0;
    if (left && most)
        describe_unit(c, e);
    for (; left && shown < most; left &= left - 1, shown++)
        describe_warp(c, (uint32_t)__builtin_ctzll(left), e);
    return shown;
}
