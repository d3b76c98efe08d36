/* Time: four clock domains (cores, interconnect, L2, DRAM) with their real ratios, thread-block dispatch, and what
 * sleeps.
 *
 * The n-th tick of a domain is at n / frequency; ticks at the same time run in a fixed order (answers into cores,
 * replies into the interconnect, DRAM, L2, interconnect, cores), as in GPGPU-Sim. A core, channel or network with
 * nothing to do is not visited; when none has anything to do before a known cycle, time jumps there.
 *
 * What the launches have to do with it: timing_launch.c. */
#include "gpu/timing.h"
#include "gpu/workers.h"

static inline uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Returns whether there are more. */
static bool take_answer(struct timing *t, uint32_t port)
{
    struct ring *q = &t->answers[port];
    if (q->count) {
        struct packet *p = ring_front(q);
        if (sm_accept(t->cores[p->core], p, t->now)) {
            if (t->core_wake[p->core] <= t->now + 1) /* else it sleeps on */
                bits_add(t->core_wake[p->core] <= t->now ? t->awake : t->awake_next, p->core);
            t->expected[p->core].on_way--;
            ring_pop(q);
        }
    }
    struct packet *p = ring_full(q) ? NULL : crossbar_front(t->replies, port);
    if (p) {
        ring_push(q, p);
        crossbar_pop(t->replies, port);
    }
    return q->count != 0;
}

static inline void take_answers(struct timing *t)
{
    for (uint32_t word = 0; word < t->port_words; word++)
        for (uint64_t left = crossbar_look(t->replies)->waiting[word] | t->answers_waiting[word]; left;
             left &= left - 1)
            t->answers_waiting[word] = bits_with(t->answers_waiting[word], left & -left,
                                                 take_answer(t, word * 64 + (uint32_t)__builtin_ctzll(left)));
}

/* Is there a request at the slices of a channel that may be taken? They lie in one word: their number is a power of
 * two. */
static inline bool partition_has_requests(const struct timing *t, uint32_t channel)
{
    uint32_t first = channel * t->slices_per_channel;
    return crossbar_look(t->requests)->waiting[first / 64] >> (first % 64) & t->slice_bits &
           ~partition_head(t->partitions[channel])->refusing;
}

static void l2_tick(struct timing *t, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    if (t->calendar.l2_at > now && !bits_any(crossbar_look(t->requests)->waiting, t->slice_words))
        return;
    t->calendar.l2_at = UINT64_MAX; /* but for what is written to it from now on */
    for (uint32_t i = 0; i < t->channels; i++) {
        struct partition *p = t->partitions[i];
        if (partition_head(p)->l2_at <= now || partition_has_requests(t, i)) {
            partition_l2_cycle(p, t->ticks[DOMAIN_L2], now);
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

static inline void send_replies(struct timing *t)
{
    for (uint32_t word = 0; word < t->channel_words; word++)
        for (uint64_t left = t->replying[word]; left; left &= left - 1) {
            struct partition *p = t->partitions[word * 64 + (uint32_t)__builtin_ctzll(left)];
            if (partition_head(p)->reply_at > t->ticks[DOMAIN_ICNT])
                continue;
            partition_send_replies(p, t->ticks[DOMAIN_ICNT]);
            t->replying[word] = bits_with(t->replying[word], left & -left, partition_head(p)->replies);
        }
}

/* Cores that sleep because the network had no room, where there may be some now: at ports that have given flits. */
static inline uint64_t blocked_and_asleep(const struct timing *t, uint32_t word)
{
    const uint64_t *gave = crossbar_look(t->requests)->gave;
    uint64_t asleep = t->blocked[word] & ~t->awake[word];
    return t->core_count == t->ports ? asleep & gave[word] : asleep;
}

static inline void wake_blocked(struct timing *t)
{
    if (!bits_any(crossbar_look(t->requests)->gave, t->port_words))
        return;
    for (uint32_t word = 0; word < t->core_words; word++)
        for (uint64_t left = blocked_and_asleep(t, word); left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (!crossbar_has_room(t->requests, sm_head(t->cores[i])->port, t->core_blocked[i]))
                continue;
            t->core_wake[i] = t->now;
            bits_add(t->awake, i);
        }
    crossbar_forget_given(t->requests, t->port_words);
}

/* The first cycle in which an answer that is on its way, or sets out now, can be given to its core: the one after that
 * in which it is taken out of the network. 0: one is there, or arrives at once. */
static inline uint64_t next_answer(const struct timing *t, uint32_t port)
{
    if (!crossbar_look(t->replies)->hop_cycles || t->answers[port].count || crossbar_waits_at(t->replies, port))
        return 0;
    return crossbar_arrives_at(t->replies, port, t->ticks[DOMAIN_ICNT]) * t->period[DOMAIN_ICNT] /
               t->period[DOMAIN_CORE] +
           2;
}

/* Cycles before this one bring no answer to the core: it expects none, all are still to come to their slices, or none
 * is on its way yet. (Of those to atomics the core's warps know before they have come.) */
static inline uint64_t no_answer_before(const struct timing *t, uint32_t i)
{
    struct expected_answers *e = &t->expected[i];
    if (!expected_count(e))
        return t->horizon;
    if (expected_read(&e->on_way))
        return e->to_atomics ? 0 : earlier(t->horizon, next_answer(t, i));
    uint64_t in_slice = expected_delayed_until(e, t->now, t->least_delay);
    if (e->to_atomics)
        return in_slice ? earlier(t->horizon, in_slice + 1) : 0;
    return earlier(t->horizon, (in_slice ? in_slice : t->now) + t->answer_cycles);
}

/* In this cycle, and, if nobody can tell, in those after it. What the core does then is of cycles to come: it is left
 * alone until the others are in the last of them (catch_up). */
static inline void run_core(struct timing *t, uint32_t i)
{
    struct sm *c = t->cores[i];
    sm_cycle(c, t->now);
    if (t->may_place && sm_has_room(c))
        return;
    uint64_t end = no_answer_before(t, i);
    if (end <= t->core_wake[i] || !sm_run_ahead(c, end))
        return;
    t->ahead_wake[i] = t->core_wake[i];
    t->core_wake[i] = sm_now(c);
}

static bool is_ahead(const struct timing *t, uint32_t i) { return t->ahead_wake[i] != 0; }

static void catch_up(struct timing *t, uint32_t i)
{
    sm_catch_up(t->cores[i]);
    t->core_wake[i] = t->ahead_wake[i];
    t->ahead_wake[i] = 0;
}

/* The memory side up to the step in which the cores tick next, or the interconnect does: while the cores are in the
 * cycle before. They send into the one end of the network, it takes from the other, which moves later. */
static void run_memory(struct timing *t)
{
    uint64_t dram = t->ticks[DOMAIN_DRAM];
    uint32_t step = t->next_step, mask;
    do {
        mask = t->pattern[step];
        step = step + 1 == t->pattern_steps ? 0 : step + 1;
        if (mask & 1u << DOMAIN_ICNT)
            send_replies(t);
        host_part_set(&t->memory_part, HOST_DRAM);
        if (mask & 1u << DOMAIN_DRAM)
            dram_tick(t, dram++, t->now + 1);
        host_part_set(&t->memory_part, HOST_L2);
        if (mask & 1u << DOMAIN_L2)
            l2_tick(t, t->now + 1);
        t->memory_done++;
    } while (mask == 1u << DOMAIN_DRAM);
    host_part_set(&t->memory_part, HOST_NOTHING);
}

/* Part 0: the memory side. */
static void shared_step(void *context, uint32_t part)
{
    struct timing *t = context;
    uint32_t per_port = t->core_count / t->ports, port = part - 1;
    if (part == 0) {
        if (t->memory_ahead)
            run_memory(t);
        return;
    }
    for (uint32_t i = port * per_port; i < (port + 1) * per_port; i++)
        if (t->core_wake[i] <= t->now && !is_ahead(t, i))
            run_core(t, i);
}

/* After a core's part of a cycle: its loads, stores and atomics of this cycle are performed, and blocks that ended are
 * noted. */
static inline void core_done(struct timing *t, struct sm *c)
{
    struct sm_head *head = sm_head(c);
    if (head->deferred)
        sm_perform(c);
    if (head->blocks_ended) {
        t->blocks_done += head->blocks_ended;
        head->blocks_ended = 0;
        t->may_place = true;
    }
}

/* Some core may have slept long enough. */
static void end_sleep(struct timing *t)
{
    t->sleep_until = UINT64_MAX;
    for (uint32_t i = 0; i < t->core_count; i++) {
        if (t->core_wake[i] <= t->now)
            bits_add(t->awake, i);
        else if (t->core_wake[i] < t->sleep_until)
            t->sleep_until = t->core_wake[i];
    }
}

static inline bool packets_wait(const struct timing *t)
{
    return (bits_any(crossbar_look(t->replies)->waiting, t->port_words) | bits_any(t->answers_waiting, t->port_words) |
            bits_any(crossbar_look(t->requests)->waiting, t->slice_words)) != 0;
}

/* May the memory side be run for the next cycle while the cores are in this one? Not if the launch may end in this one,
 * for what it has counted: a core with a block that sleeps is enough to know. */
static bool may_run_memory(const struct timing *t)
{
    if (t->now + 1 >= t->memory_until)
        return false;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->core_wake[i] > t->now && sm_blocks_used(t->cores[i]))
            return true;
    return false;
}

static bool is_worth_sharing(const struct timing *t)
{
    uint32_t count = t->memory_ahead && (t->calendar.l2_at <= t->now + 1 || packets_wait(t)) ? 2 : 0;
    for (uint32_t word = 0; word < t->core_words; word++)
        count += (uint32_t)__builtin_popcountll(t->awake[word]);
    return count > 2 && !t->serial;
}

/* Between two meetings cores first run together, and then those that stopped early: only the whole can be compared,
 * where they run for long. */
static bool threads_pay(struct timing *t)
{
    bool begins = t->meetings.was_now || !t->horizon || !t->meetings.rounds_are_long;
    t->meetings.was_now = false;
    return sharing_asks(&t->sharing, begins);
}

static void core_tick(struct timing *t)
{
    if (t->now >= t->sleep_until)
        end_sleep(t);
    t->memory_ahead = t->workers && may_run_memory(t);
    bool may_share = t->workers && is_worth_sharing(t), shared = may_share && threads_pay(t);
    uint64_t ran = 0;
    uint32_t cores = 0;
    if (shared)
        workers_run(t->workers, shared_step, t, 1 + t->ports);
    for (uint32_t word = 0; word < t->core_words; word++) {
        uint64_t awake = t->awake[word], blocked = t->blocked[word] & ~awake;
        for (uint64_t left = awake; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (is_ahead(t, i) && t->core_wake[i] <= t->now) {
                catch_up(t, i);
            } else {
                if (!shared)
                    run_core(t, i);
                ran += sm_now(t->cores[i]) + 1 - t->now;
                cores++;
            }
            if (!is_ahead(t, i)) { /* else that is of cycles to come */
                core_done(t, t->cores[i]);
                blocked |= t->core_blocked[i] ? left & -left : 0;
            }
            if (t->core_wake[i] <= t->now + 1)
                continue;
            awake &= ~(left & -left);
            t->sleep_until = t->core_wake[i] < t->sleep_until ? t->core_wake[i] : t->sleep_until;
        }
        t->awake[word] = awake | t->awake_next[word];
        t->awake_next[word] = 0;
        t->blocked[word] = blocked;
    }
    if (t->workers) {
        sharing_note(&t->sharing, may_share ? ran : 1, may_share);
        meetings_note(&t->meetings, cores, ran);
    }
}

/* Of a domain's next tick. */
static uint64_t time_of(const struct timing *t, enum domain d) { return t->ticks[d] * t->period[d]; }

/* Which domains tick next. */
static inline uint32_t next_ticks(struct timing *t)
{
    if (t->pattern) {
        uint32_t step = t->next_step;
        t->next_step = step + 1 == t->pattern_steps ? 0 : step + 1;
        return t->pattern[step];
    }
    uint64_t first = time_of(t, DOMAIN_CORE);
    uint32_t mask = 0;
    for (enum domain d = DOMAIN_ICNT; d < DOMAIN_COUNT; d++)
        first = time_of(t, d) < first ? time_of(t, d) : first;
    for (enum domain d = DOMAIN_CORE; d < DOMAIN_COUNT; d++)
        mask |= (uint32_t)(time_of(t, d) == first) << d;
    return mask;
}

/* The first cycle before which no channel has anything to do, or an earlier one. */
static inline uint64_t memory_next(const struct timing *t)
{
    uint64_t next = earlier(t->calendar.l2_at, t->calendar.leaves_delay_at), dram_at = t->calendar.dram_at;
    if (bits_any(t->replying, t->channel_words) || next <= t->now + 1)
        return t->now;
    if (next != UINT64_MAX)
        next--; /* the other clocks may tick between this core cycle and the one before */
    if (dram_at == UINT64_MAX)
        return next;
    return earlier(next, dram_at * t->period[DOMAIN_DRAM] / t->period[DOMAIN_CORE]);
}

/* The first cycle from t->now on in which anything can happen; UINT64_MAX: never again. */
uint64_t timing_next_cycle(const struct timing *t)
{
    uint64_t next = t->sleep_until;
    if (t->may_place || bits_any(t->awake, t->core_words) || !crossbar_idle(t->requests) ||
        !crossbar_idle(t->replies) || packets_wait(t))
        return t->now;
    next = earlier(next, memory_next(t));
    return next < t->now ? t->now : next;
}

void timing_jump(struct timing *t, uint64_t cycle)
{
    t->now = t->ticks[DOMAIN_CORE] = cycle;
    t->memory_done = 0; /* they had nothing to do */
    uint64_t time = time_of(t, DOMAIN_CORE);
    for (enum domain d = DOMAIN_ICNT; d < DOMAIN_COUNT; d++)
        if (time_of(t, d) < time)
            t->ticks[d] = (time + t->period[d] - 1) / t->period[d];
    if (t->pattern)
        t->next_step = t->core_steps[cycle % t->pattern_cores];
}

/* Up to the end of one core cycle. */
bool timing_step(struct timing *t, struct residency *first, struct error *e)
{
    for (;;) {
        uint32_t mask = next_ticks(t);
        bool core = mask & 1u << DOMAIN_CORE;
        if (core)
            take_answers(t);
        if (t->memory_done) {
            t->memory_done--;
        } else {
            if (mask & 1u << DOMAIN_ICNT)
                send_replies(t);
            if (mask & 1u << DOMAIN_DRAM) {
                host_part_set(&t->part, HOST_DRAM);
                dram_tick(t, t->ticks[DOMAIN_DRAM], t->now);
            }
            if (mask & 1u << DOMAIN_L2) {
                host_part_set(&t->part, HOST_L2);
                l2_tick(t, t->now);
            }
        }
        t->ticks[DOMAIN_DRAM] += mask >> DOMAIN_DRAM & 1;
        t->ticks[DOMAIN_L2] += mask >> DOMAIN_L2 & 1;
        host_part_set(&t->part, HOST_NETWORK);
        if (mask & 1u << DOMAIN_ICNT) {
            if (!crossbar_idle(t->requests)) {
                crossbar_cycle(t->requests, t->ticks[DOMAIN_ICNT]);
                wake_blocked(t);
            }
            if (!crossbar_idle(t->replies))
                crossbar_cycle(t->replies, t->ticks[DOMAIN_ICNT]);
            t->ticks[DOMAIN_ICNT]++;
        }
        if (!core)
            continue;
        host_part_set(&t->part, HOST_NOTHING);
        core_tick(t);
        host_part_set(&t->part, HOST_NETWORK); /* answers and replies come next */
        t->now = ++t->ticks[DOMAIN_CORE];
        return !t->may_place || timing_place_blocks(t, first, e);
    }
}
