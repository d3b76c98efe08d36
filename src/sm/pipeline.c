/* SP, SFU and DP pipelines and writeback. A unit takes an instruction from its OC/EX register when its dispatch
 * register is free (one initiation interval after the last), no other instruction of the unit will end in the same
 * cycle, and a result bus is free in the cycle in which this one ends. Its result is written latency + 2 cycles
 * later. */
#include "sm/sm.h"

static inline bool ring_bit(const uint64_t *bits, uint64_t t)
{
    return bits[t / 64 % (SM_TIME_RING / 64)] >> (t % 64) & 1;
}

void sm_writeback_cycle(struct sm *c)
{
    uint32_t at = c->now % SM_TIME_RING;
    uint32_t count = c->writeback_count[at];
    for (uint32_t i = 0; i < count; i++) {
        uint16_t id = c->writeback[at][i];
        struct sm_inflight *f = &c->inflight[id];
        const uint8_t *banks = f->inst->banks + f->inst->check_count - f->inst->destination_count;
        for (uint32_t k = 0; k < f->inst->destination_count; k++) /* never stalls: it comes before the banks are read */
            collector_write_bank(c->collector, sm_bank(c, banks[k], f->slot));
        sm_release(c, f);
        sm_finish(c, id);
    }
    c->writeback_count[at] = 0;
    c->writebacks_pending -= count;
    c->writeback_bits[at / 64] &= ~(1ull << at % 64);
    for (uint32_t i = 0; i < c->unit_count; i++)
        c->units[i].occupied[at / 64] &= ~(1ull << at % 64);
}

static void start(struct sm *c, struct sm_unit_state *u, uint16_t id, const struct sm_inst *in)
{
    uint64_t end = c->now + in->latency + 2;
    uint32_t at = end % SM_TIME_RING;
    u->free_at = c->now + in->initiation;
    u->occupied[at / 64] |= 1ull << at % 64;
    c->writeback[at][c->writeback_count[at]++] = id;
    c->writeback_bits[at / 64] |= 1ull << at % 64;
    c->writebacks_pending++;
    collector_take(c->collector, u->from);
    c->busy = true;
}

void sm_units_cycle(struct sm *c)
{
    for (uint32_t i = 0; i < c->unit_count; i++) {
        struct sm_unit_state *u = &c->units[i];
        inflight_id id;
        if (!collector_offers(c->collector, u->from) || u->free_at > c->now ||
            !collector_front(c->collector, u->from, &id))
            continue;
        const struct sm_inst *in = c->inflight[id].inst;
        uint64_t end = c->now + in->latency + 2;
        if (ring_bit(u->occupied, end) || c->writeback_count[end % SM_TIME_RING] >= c->config->writeback_width) {
            c->busy = true; /* another cycle will do */
            continue;
        }
        start(c, u, id, in);
    }
}

uint64_t sm_units_next(const struct sm *c)
{
    uint64_t next = SM_NEVER;
    for (uint32_t i = 0; i < c->unit_count; i++) {
        inflight_id id;
        if (c->units[i].free_at > c->now && c->units[i].free_at < next &&
            collector_front(c->collector, c->units[i].from, &id))
            next = c->units[i].free_at;
    }
    return next;
}

uint64_t sm_writeback_next(const struct sm *c)
{
    uint64_t t = c->now + 1;
    for (uint32_t i = 0; i <= SM_TIME_RING / 64; i++) {
        uint32_t word = t / 64 % (SM_TIME_RING / 64);
        uint64_t bits = c->writeback_bits[word] >> (t % 64);
        if (bits)
            return t + (uint64_t)__builtin_ctzll(bits);
        t = (t | 63) + 1;
    }
    return SM_NEVER;
}
