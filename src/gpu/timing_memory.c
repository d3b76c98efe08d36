/* The memory side: L2 slices, DRAM and the way of answers. */
#include "gpu/timing.h"

static inline uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

static inline void fetch_answers(struct timing *t)
{
    for (uint32_t word = 0; word < t->memory.port_words; word++)
        for (uint64_t left = t->memory.replies->waiting[word]; left; left &= left - 1) {
            uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (answers_full(&t->memory.answers[port]))
                continue;
            answers_put(&t->memory.answers[port], network_first(t->memory.replies, port), t->clock.ticks[DOMAIN_CORE]);
            network_pop(t->memory.replies, port);
            t->memory.answers_waiting[word] |= left & -left;
        }
}

static inline void send_replies(struct timing *t)
{
    uint64_t tick = t->clock.ticks[DOMAIN_ICNT];
    for (uint32_t word = 0; word < t->memory.channel_words; word++)
        for (uint64_t left = t->memory.replying[word]; left; left &= left - 1) {
            struct partition *p = t->memory.partitions[word * 64 + (uint32_t)__builtin_ctzll(left)];
            if (partition_head(p)->reply_at > tick)
                continue;
            partition_send_replies(p, tick);
            t->memory.replying[word] = bits_with(t->memory.replying[word], left & -left, partition_head(p)->replies);
        }
}

static inline void l2_tick(struct timing *t, uint64_t tick, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    if (t->memory.calendar.l2_at > now)
        return;
    t->memory.calendar.l2_at = UINT64_MAX; /* but for what is written to it from now on */
    for (uint32_t i = 0; i < t->memory.channels; i++) {
        struct partition *p = t->memory.partitions[i];
        if (partition_head(p)->l2_at <= now) {
            partition_l2_cycle(p, tick, now);
            if (partition_head(p)->replies) /* those that have none any more are taken out by send_replies */
                bits_add(t->memory.replying, i);
        }
        next = earlier(next, partition_head(p)->l2_at);
    }
    t->memory.calendar.l2_at = earlier(t->memory.calendar.l2_at, next);
}

static inline void dram_tick(struct timing *t, uint64_t tick, uint64_t now)
{
    struct partition_calendar next = {.dram_at = UINT64_MAX, .leaves_delay_at = UINT64_MAX};
    if (t->memory.calendar.dram_at > tick && t->memory.calendar.leaves_delay_at > now)
        return;
    for (uint32_t i = 0; i < t->memory.channels; i++) {
        partition_dram_cycle(t->memory.partitions[i], tick, now);
        next.dram_at = earlier(next.dram_at, partition_head(t->memory.partitions[i])->dram_at);
        next.leaves_delay_at = earlier(next.leaves_delay_at, partition_head(t->memory.partitions[i])->leaves_delay_at);
    }
    t->memory.calendar.dram_at = next.dram_at;
    t->memory.calendar.leaves_delay_at = next.leaves_delay_at;
}

void timing_memory_step(struct timing *t, uint32_t mask)
{
    const struct clocks *c = &t->clock;
    if (mask & 1u << DOMAIN_CORE)
        fetch_answers(t);
    if (mask & 1u << DOMAIN_ICNT)
        send_replies(t);
    if (mask & 1u << DOMAIN_DRAM) {
        host_part_set(&t->part, HOST_DRAM);
        dram_tick(t, c->ticks[DOMAIN_DRAM], c->ticks[DOMAIN_CORE]);
    }
    if (mask & 1u << DOMAIN_L2) {
        host_part_set(&t->part, HOST_L2);
        l2_tick(t, c->ticks[DOMAIN_L2], c->ticks[DOMAIN_CORE]);
    }
    host_part_set(&t->part, HOST_NETWORK);
    if (mask & 1u << DOMAIN_ICNT && !network_idle(t->memory.replies))
        network_cycle(t->memory.replies, c->ticks[DOMAIN_ICNT]);
}

uint64_t timing_memory_next(const struct timing *t)
{
    uint64_t now = t->clock.ticks[DOMAIN_CORE],
             next = earlier(t->memory.calendar.l2_at, t->memory.calendar.leaves_delay_at),
             dram_at = t->memory.calendar.dram_at;
    if (bits_any(t->memory.replying, t->memory.channel_words) || next <= now + 1 || !network_idle(t->memory.replies) ||
        bits_any(t->memory.replies->waiting, t->memory.port_words))
        return now;
    if (next != UINT64_MAX)
        next--; /* the other clocks may tick between this core cycle and the one before */
    if (dram_at == UINT64_MAX)
        return next;
    return earlier(next, dram_at * t->clock.period[DOMAIN_DRAM] / t->clock.period[DOMAIN_CORE]);
}
