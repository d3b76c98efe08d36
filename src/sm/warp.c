/* Warp slots: instruction buffers, the scoreboard, the reasons for which warps wait, their end. */
#include "sm/core_kind.h"

void flights_init(struct sm_flights *f, struct arena *a)
{
    f->list = arena_lines(a, struct sm_inflight, SM_INFLIGHT);
    for (uint32_t i = 0; i < SM_INFLIGHT; i++)
        f->free[f->free_count++] = (uint16_t)(SM_INFLIGHT - 1 - i);
}

/* How long the warp's next instruction has to wait for registers. Hosts do not foresee how many it has, so the first
 * ones are looked at without asking. */
static inline uint32_t registers_wait(const struct sm_slot *s, const struct sm_inst *in)
{
    const uint8_t *scoreboard = s->scoreboard;
    uint32_t wait = WAIT_NONE;
    for (uint32_t i = 0; i < SM_CHECKS; i++)
        wait |= scoreboard[in->checks[i]];
    for (uint32_t i = SM_CHECKS; unlikely(i < in->check_count); i++)
        wait |= scoreboard[in->registers[i]];
    return wait;
}

void sm_refresh(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    struct sm_issue *all = &c->issue;
    uint64_t bit = 1ull << slot;
    due_now(&c->due, PART_ISSUE);
    all->needs[s->unit] &= ~bit;
    kind_fill_buffer(c, slot);
    uint64_t clear = all->clear & ~bit, long_wait = all->long_wait & ~bit, stale = all->stale & ~bit,
             next_l1_load = all->next_l1_load & ~bit, valid = all->valid & ~bit, wants = c->front.wants & ~bit;
    c->warps[slot].active = s->exec->active;
    if (unlikely(!s->buffered)) {
        c->warps[slot].next_pc = HEDDLE_NO_PC;
        wants |= s->fetching ? 0 : bit & ~(all->ended | all->parked);
    } else {
        uint32_t pc = s->buffer[0];
        c->warps[slot].next_pc = pc;
        valid |= bit;
        if (unlikely(s->exec->state == WARP_READY && kind_fetches(c) && pc != sm_program_pc(c->program, s->exec))) {
            stale |= bit;
        } else {
            const struct sm_inst *in = &c->program->code[pc];
            uint32_t wait = registers_wait(s, in);
            s->unit = in->unit;
            all->needs[in->unit] |= bit;
            next_l1_load |= (uint64_t)in->l1_load << slot;
            clear |= (uint64_t)(wait == WAIT_NONE) << slot;
            long_wait |= (uint64_t)(wait == WAIT_LONG) << slot;
        }
    }
    all->clear = clear;
    all->long_wait = long_wait;
    all->stale = stale;
    all->next_l1_load = next_l1_load;
    all->valid = valid;
    c->front.wants = wants;
    if (wants)
        due_now(&c->due, PART_FRONT);
}

/* The same when a register has come for a warp that waited for one: its next instruction is what it was. */
static __attribute__((noinline)) void look_for_registers(struct sm *c, uint32_t slot)
{
    uint32_t wait = registers_wait(&c->slots[slot], &c->program->code[c->slots[slot].buffer[0]]);
    due_now(&c->due, PART_ISSUE);
    c->issue.clear |= (uint64_t)(wait == WAIT_NONE) << slot;
    c->issue.long_wait &= ~((uint64_t)(wait != WAIT_LONG) << slot);
}

void sm_set_barriers(struct sm *c, uint32_t block)
{
    const struct sm_block *b = &c->blocks.list[block];
    for (uint32_t slot = b->first_warp; slot < b->first_warp + b->warp_count; slot++) {
        struct sm_slot *s = &c->slots[slot];
        if (!s->exec)
            continue;
        bool waits = s->exec->state == WARP_AT_BARRIER;
        if (waits == s->at_barrier)
            continue;
        due_now(&c->due, PART_ISSUE);
        s->at_barrier = waits;
        sm_show_barrier(c, slot);
        if (waits) {
            SM_TELL(c, barrier_wait, slot);
            if (c->observer && c->observer->barrier_begin)
                c->observer->barrier_begin(c->observer->context, c->head.id, slot, c->now);
            continue;
        }
        kind_pass_barrier(c, slot);
        SM_TELL(c, barrier_pass, slot);
        if (c->observer && c->observer->barrier_end)
            c->observer->barrier_end(c->observer->context, c->head.id, slot, c->now);
        sm_refresh(c, slot);
    }
}

void sm_try_fence(struct sm *c, uint32_t slot)
{
    const struct sm_slot *s = &c->slots[slot];
    if (!(c->issue.fenced >> slot & 1) || s->awaited || (s->stores && c->config->fence_waits_for_stores))
        return;
    warp_unblock(c, &c->issue.fenced, slot);
    if (c->config->fence_drops_l1 && c->lsu.l1d) {
        sm_l1_drop(c);
        lsu_try_again(c);
    }
}

static __attribute__((noinline)) void tell_committed(struct sm *c, uint32_t slot, uint32_t pc)
{
    SM_TELL(c, committed, slot, pc);
}

/* The warp may have waited for the instruction that has ended. */
static __attribute__((noinline)) void go_on(struct sm *c, uint32_t slot)
{
    if (c->issue.ended >> slot & 1)
        sm_try_retire(c, slot);
    if (c->issue.fenced)
        sm_try_fence(c, slot);
}

void sm_finish(struct sm *c, uint16_t id)
{
    const struct sm_inflight *f = &c->flights.list[id];
    const struct sm_inst *in = f->inst;
    uint32_t slot = f->slot, count = in->destination_count;
    struct sm_slot *s = &c->slots[slot];
    if (count) {
        uint8_t *scoreboard = s->scoreboard;
        for (const uint32_t *d = in->destinations, *end = d + count; d < end; d++)
            scoreboard[*d] = WAIT_NONE;
        s->awaited = (uint16_t)(s->awaited - count);
        if (s->buffered && !((c->issue.clear | c->issue.stale) >> slot & 1))
            look_for_registers(c, slot);
    }
    if (unlikely(SM_HEARD(c, committed)))
        tell_committed(c, slot, f->pc);
    s->in_pipeline--;
    c->flights.free[c->flights.free_count++] = id;
    if (unlikely((c->issue.ended >> slot & 1) | c->issue.fenced))
        go_on(c, slot);
}

void sm_nap(struct sm *c, uint32_t slot, uint32_t cycles)
{
    c->slots[slot].wake_cycle = c->now + cycles;
    warp_block(c, &c->issue.asleep, slot);
}

void sm_stop(struct sm *c, uint32_t slot)
{
    c->slots[slot].wake_cycle = SM_NEVER;
    c->issue.asleep |= 1ull << slot;
}

void sm_try_retire(struct sm *c, uint32_t slot)
{
    const struct sm_slot *s = &c->slots[slot];
    uint64_t bit = 1ull << slot;
    if (!(c->issue.ended & bit) || s->in_pipeline || s->stores || s->awaited || s->fetching || s->atomics)
        return;
    if (c->config->ends_in_fetch && !c->mixes) {
        c->front.over |= bit;
        due_now(&c->due, PART_FRONT);
        due_now(&c->due, PART_ISSUE); /* a policy may move its lists when nothing of a warp is in flight any more */
        return;
    }
    sm_retire(c, slot);
}

void sm_retire(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    uint64_t bit = 1ull << slot;
    struct sm_block *b = &c->blocks.list[s->block];
    c->view.resident &= ~bit;
    c->front.over &= ~bit;
    c->front.wants &= ~bit;
    c->issue.valid &= ~bit;
    c->issue.stale &= ~bit;
    c->issue.clear &= ~bit;
    warp_unblock(c, &c->issue.fenced, slot);
    warp_unblock(c, &c->issue.ended, slot);
    SM_TELL(c, finished, slot);
    if (c->account.warp_log)
        warp_log_end(c->account.warp_log, slot, c->now);
    if (c->observer && c->observer->warp_end)
        c->observer->warp_end(c->observer->context, c->head.id, slot, c->now);
    s->exec = NULL;
    if (--b->warps_left == 0) {
        c->blocks.used &= ~(1ull << s->block);
        c->head.blocks_ended++;
        if (c->host.divergence && c->host.divergence->block_end)
            c->host.divergence->block_end(c->host.divergence_state, &c->view, s->block);
    }
}
