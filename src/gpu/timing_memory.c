/* The memory side: L2 slices, DRAM and the way of answers, on a clock of its own.
 *
 * A request spends a fixed delay in front of its slice. Until the end of that, what the memory side does depends on
 * nothing that cores do, but for two things: how full the queue is in which answers wait for a core, and whether a
 * launch is over. So it may be run ahead of them, and cores then know which answers come, and when. It stops where a
 * queue may be full, as it is not known then whether there is room; and it has kept, tick by tick, whether a slice had
 * room for a request (partition_take_request). */
#include "gpu/timing.h"

enum { LEAD_CYCLES = 48 }; /* so far it is run ahead at most */

static inline uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Is it known, without asking the cores, which answers leave the interconnect in this cycle? */
static bool answers_have_room(const struct timing *t)
{
    for (uint32_t word = 0; word < t->port_words; word++)
        for (uint64_t left = t->replies->waiting[word]; left; left &= left - 1)
            if (answers_full(&t->answers[word * 64 + (uint32_t)__builtin_ctzll(left)]))
                return false;
    return true;
}

static inline void fetch_answers(struct timing *t)
{
    for (uint32_t word = 0; word < t->port_words; word++)
        for (uint64_t left = t->replies->waiting[word]; left; left &= left - 1) {
            uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (answers_full(&t->answers[port]))
                continue;
            answers_put(&t->answers[port], network_first(t->replies, port), t->memory.ticks[DOMAIN_CORE]);
            network_pop(t->replies, port);
            t->answers_waiting[word] |= left & -left;
        }
}

static inline void send_replies(struct timing *t)
{
    uint64_t tick = t->memory.ticks[DOMAIN_ICNT];
    for (uint32_t word = 0; word < t->channel_words; word++)
        for (uint64_t left = t->replying[word]; left; left &= left - 1) {
            struct partition *p = t->partitions[word * 64 + (uint32_t)__builtin_ctzll(left)];
            if (partition_head(p)->reply_at > tick)
                continue;
            partition_send_replies(p, tick);
            t->replying[word] = bits_with(t->replying[word], left & -left, partition_head(p)->replies);
        }
}

static inline void l2_tick(struct timing *t, uint64_t tick, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    if (t->calendar.l2_at > now)
        return;
    t->calendar.l2_at = UINT64_MAX; /* but for what is written to it from now on */
    for (uint32_t i = 0; i < t->channels; i++) {
        struct partition *p = t->partitions[i];
        if (partition_head(p)->l2_at <= now) {
            partition_l2_cycle(p, tick, now);
            if (partition_head(p)->replies) /* those that have none any more are taken out by send_replies */
                bits_add(t->replying, i);
        }
        next = earlier(next, partition_head(p)->l2_at);
    }
    t->calendar.l2_at = earlier(t->calendar.l2_at, next);
}

static inline void dram_tick(struct timing *t, uint64_t tick, uint64_t now)
{
    struct partition_calendar next = {.dram_at = UINT64_MAX, .leaves_delay_at = UINT64_MAX};
    if (t->calendar.dram_at > tick && t->calendar.leaves_delay_at > now)
        return;
    for (uint32_t i = 0; i < t->channels; i++) {
        partition_dram_cycle(t->partitions[i], tick, now);
        next.dram_at = earlier(next.dram_at, partition_head(t->partitions[i])->dram_at);
        next.leaves_delay_at = earlier(next.leaves_delay_at, partition_head(t->partitions[i])->leaves_delay_at);
    }
    t->calendar.dram_at = next.dram_at;
    t->calendar.leaves_delay_at = next.leaves_delay_at;
}

/* Which domains tick: mask. */
static inline void step(struct timing *t, uint32_t mask, uint8_t *part)
{
    struct clocks *c = &t->memory;
    if (mask & 1u << DOMAIN_CORE)
        fetch_answers(t);
    if (mask & 1u << DOMAIN_ICNT)
        send_replies(t);
    if (mask & 1u << DOMAIN_DRAM) {
        host_part_set(part, HOST_DRAM);
        dram_tick(t, c->ticks[DOMAIN_DRAM], c->ticks[DOMAIN_CORE]);
    }
    if (mask & 1u << DOMAIN_L2) {
        host_part_set(part, HOST_L2);
        l2_tick(t, c->ticks[DOMAIN_L2], c->ticks[DOMAIN_CORE]);
    }
    host_part_set(part, HOST_NETWORK);
    if (mask & 1u << DOMAIN_ICNT && !network_idle(t->replies))
        network_cycle(t->replies, c->ticks[DOMAIN_ICNT]);
}

void timing_memory_step(struct timing *t, uint32_t mask) { step(t, mask, &t->part); }

/* How long does the launch last from now on, at least, if no longer than asked? Each of its warps has yet to issue. */
static uint64_t launch_lasts(const struct timing *t, uint64_t cycles)
{
    const struct sm_config *g = &t->options->machine.sm;
    uint64_t most = t->warps_to_come / ((uint64_t)t->core_count * g->schedulers * g->issue_per_warp);
    for (uint32_t i = 0; i < t->core_count && most < cycles; i++)
        most = sm_least_cycles(t->cores[i]) > most ? sm_least_cycles(t->cores[i]) : most;
    return earlier(most, cycles);
}

uint32_t timing_lead_cycles(const struct timing *t, const struct sm_program *p)
{
    if (p->textures || t->replies->foreseen_cycles)
        return 0;
    return LEAD_CYCLES < t->least_delay ? LEAD_CYCLES : t->least_delay;
}

bool timing_plan_lead(struct timing *t, bool gently)
{
    uint64_t at = t->memory.ticks[DOMAIN_CORE], passed = t->now - t->led_at;
    if (2 * (at - t->now) < t->lead_cycles && t->now >= t->crowded_until)
        t->lead_end = earlier(t->now + launch_lasts(t, t->lead_cycles), t->lead_until);
    t->led_at = t->now;
    t->lead_stop = gently ? earlier(at + 2 * passed, t->lead_end) : t->lead_end;
    return t->lead_stop > at;
}

void timing_plan_join(struct timing *t)
{
    if (!t->lead_cycles)
        t->lead_end = earlier(t->now + launch_lasts(t, LEAD_CYCLES), t->lead_until);
}

bool timing_memory_may_join(const struct timing *t, uint32_t mask)
{
    return !t->lead_cycles && t->memory.ticks[DOMAIN_CORE] < t->lead_end &&
           (!(mask & 1u << DOMAIN_CORE) || answers_have_room(t));
}

bool timing_plan_step(const struct timing *t)
{
    return t->memory.ticks[DOMAIN_CORE] == t->now + 1 && t->now + 1 < t->lead_until && launch_lasts(t, 2) == 2;
}

bool timing_step_has_l2(const struct timing *t)
{
    struct clocks c = t->memory;
    uint32_t mask;
    do {
        mask = clocks_next(t, &c);
        clocks_advance(t, &c, mask);
    } while (mask == 1u << DOMAIN_DRAM);
    return mask & 1u << DOMAIN_L2;
}

/* False: it may not be ahead in that. */
static bool lead_step(struct timing *t, uint32_t mask, uint8_t *part)
{
    if (mask & 1u << DOMAIN_CORE && !answers_have_room(t))
        return false;
    step(t, mask, part);
    clocks_advance(t, &t->memory, mask);
    return true;
}

void timing_lead(struct timing *t, uint8_t *part)
{
    const struct clocks *c = &t->memory;
    uint64_t last_tick = t->clock.ticks[DOMAIN_L2] + PARTITION_LEAD_TICKS;
    while (c->ticks[DOMAIN_CORE] < t->lead_stop && c->ticks[DOMAIN_L2] < last_tick &&
           lead_step(t, clocks_next(t, c), part))
        ;
}

void timing_lead_step(struct timing *t, uint8_t *part)
{
    uint32_t mask;
    do
        mask = clocks_next(t, &t->memory);
    while (lead_step(t, mask, part) && mask == 1u << DOMAIN_DRAM);
}

uint64_t timing_memory_next(const struct timing *t)
{
    uint64_t now = t->memory.ticks[DOMAIN_CORE], next = earlier(t->calendar.l2_at, t->calendar.leaves_delay_at),
             dram_at = t->calendar.dram_at;
    if (bits_any(t->replying, t->channel_words) || next <= now + 1 || !network_idle(t->replies) ||
        bits_any(t->replies->waiting, t->port_words))
        return now;
    if (next != UINT64_MAX)
        next--; /* the other clocks may tick between this core cycle and the one before */
    if (dram_at == UINT64_MAX)
        return next;
    return earlier(next, dram_at * t->period[DOMAIN_DRAM] / t->period[DOMAIN_CORE]);
}
