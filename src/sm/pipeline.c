/* SP, SFU and DP pipelines and writeback. A unit takes an instruction from its OC/EX register under three
 * conditions: its dispatch register is free (one initiation interval after the last), no other instruction of the
 * unit ends in the same cycle, and a result bus is free in that cycle. The result is written latency + 2 cycles
 * later. */
#include "sm/core_kind.h"

void pipelines_init(struct sm_pipelines *p, struct arena *a, const struct sm_config *config)
{
    uint32_t sfus = config->sfu_units + config->dp_units;
    p->collector = collector_create(a, config);
    p->register_banks = config->register_banks;
    p->all_banks = ~0ull >> (64 - config->register_banks);
    for (uint32_t i = 0; i < CORE_WARPS_MOST; i++)
        p->slot_bank[i] = (uint8_t)(i % config->register_banks);
    for (uint32_t i = 0; i < config->sp_units && p->unit_count < SM_ALU_UNITS; i++)
        p->unit_from[p->unit_count++] = COLLECT_SP;
    for (uint32_t i = 0; i < sfus && p->unit_count < SM_ALU_UNITS; i++)
        p->unit_from[p->unit_count++] = COLLECT_SFU;
}

void sm_writeback_cycle(struct sm *c)
{
    uint32_t at = c->now % SM_TIME_RING;
    uint32_t count = c->pipes.ending[at].count;
    for (uint32_t i = 0, id = c->pipes.ending[at].first, next; i < count; i++, id = next) {
        const struct sm_inflight *f = &c->flights.list[id];
        next = f->next;
        kind_write(c, f->slot, f->inst->written);
        sm_finish(c, (uint16_t)id);
    }
    c->pipes.ending[at] = (struct sm_ending){0};
    c->pipes.pending -= count;
    c->pipes.writeback_bits[at / 64] &= ~(1ull << at % 64);
}

void sm_end_at(struct sm *c, uint16_t id, uint32_t at)
{
    struct sm_ending *e = &c->pipes.ending[at];
    c->pipes.pending++;
    if (e->count++) {
        c->flights.list[e->last].next = id;
    } else {
        e->first = id;
        c->pipes.writeback_bits[at / 64] |= 1ull << at % 64;
    }
    e->last = id;
}

void sm_end_after(struct sm *c, uint16_t id, uint32_t cycles)
{
    uint32_t at = (c->now + cycles) % SM_TIME_RING;
    while (c->pipes.ending[at].count == SM_WRITEBACK)
        at = (at + 1) % SM_TIME_RING;
    sm_end_at(c, id, at);
}

void sm_units_cycle(struct sm *c)
{
    for (uint32_t i = 0; i < c->pipes.unit_count; i++) {
        enum collector_kind from = c->pipes.unit_from[i];
        inflight_id id;
        if (!collector_front(c->pipes.collector, from, &id) || c->pipes.unit_free_at[i] > c->now)
            continue;
        const struct sm_inst *in = c->flights.list[id].inst;
        uint32_t at = (c->now + in->latency + 2) % SM_TIME_RING;
        struct sm_ending *e = &c->pipes.ending[at];
        if ((e->units >> i & 1) || e->count >= c->config->writeback_width)
            continue;
        e->units |= 1ull << i;
        c->pipes.unit_free_at[i] = c->now + in->initiation;
        sm_end_at(c, id, at);
        collector_take(c->pipes.collector, from);
    }
}

/* An instruction that is offered starts when its unit is free; only then is it seen whether its result finds a bus. */
static uint64_t units_next(const struct sm_pipelines *p, uint64_t now)
{
    uint64_t next = SM_NEVER;
    for (uint32_t i = 0; i < p->unit_count; i++)
        if (collector_offers(p->collector, p->unit_from[i]) && p->unit_free_at[i] < next)
            next = p->unit_free_at[i];
    return later(next, now + 1);
}

static uint64_t writeback_next(const struct sm_pipelines *p, uint64_t now)
{
    uint64_t t = now + 1;
    for (uint32_t i = 0; i <= SM_TIME_RING / 64; i++) {
        uint32_t word = t / 64 % (SM_TIME_RING / 64);
        uint64_t bits = p->writeback_bits[word] >> (t % 64);
        if (bits)
            return t + (uint64_t)__builtin_ctzll(bits);
        t = (t | 63) + 1;
    }
    return SM_NEVER;
}

uint64_t pipelines_next(const struct sm_pipelines *p, uint64_t now)
{
    if (collector_moves(p->collector))
        return now + 1;
    uint64_t next = SM_NEVER;
    if (p->pending)
        next = writeback_next(p, now);
    if (collector_head(p->collector)->offers)
        next = earlier(next, units_next(p, now));
    return next;
}

static uint64_t part_of(const struct sm *c, enum collector_kind kind, enum pipeline_part unit)
{
    if (collector_can_accept(c->pipes.collector, kind) && c->flights.free_count)
        return PIPELINE_DECODE;
    if (!collector_can_accept(c->pipes.collector, kind) && collector_limits(c->pipes.collector, kind))
        return PIPELINE_COLLECTORS;
    return unit;
}

__attribute__((noinline)) uint64_t collectors_parts_closely(const struct sm *c)
{
    uint64_t sp = part_of(c, COLLECT_SP, PIPELINE_SP), sfu = part_of(c, COLLECT_SFU, PIPELINE_SFU),
             memory = part_of(c, COLLECT_MEM, PIPELINE_LOAD_STORE);
    if (memory == PIPELINE_DECODE && (!c->lsu.free_access_count || c->head.deferred >= SM_DEFERRED))
        memory = PIPELINE_LOAD_STORE;
    return PIPELINE_PARTS(sp, sfu, memory);
}

const struct core_kind collectors_kind = {.code = &gpgpusim_code,
                                          .units = SM_ALU,
                                          .free = collectors_free,
                                          .start = collectors_start,
                                          .write = collectors_write,
                                          .parts = collectors_parts};
