/* Time: four clock domains (cores, interconnect, L2, DRAM) with their real ratios, thread-block dispatch, and what
 * sleeps.
 *
 * The n-th tick of a domain is at n / frequency; ticks at the same time run in a fixed order (answers into cores,
 * replies into the interconnect, DRAM, L2, interconnect, cores), as in GPGPU-Sim. A core, channel or network with
 * nothing to do is not visited; when none has anything to do before a known cycle, time jumps there.
 *
 * Cores, and the way of their requests, are run here; the memory side, which may be ahead of them, in timing_memory.c.
 * What the launches have to do with it: timing_launch.c. */
#include "gpu/timing.h"
#include "gpu/workers.h"

#include <sched.h>

/* A delay in front of a slice that was nearly full has room again, or it is seen to be full once more. */
enum { CROWDED_CYCLES = 1024 };
enum { LEAST_RUN = 4, LONG_RUN = 24 }; /* cycles of a core alone that are worth while, and that may be cut in two */

static inline uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Returns whether there are more. */
static bool give_answer(struct timing *t, struct answer_queue *q)
{
    if (answers_next(q) <= t->now) {
        struct packet *p = answers_front(q);
        if (sm_accept(t->cores[p->core], p, t->now)) {
            if (t->turns[p->core].wake <= t->now + 1) /* else it sleeps on */
                bits_add(t->turns[p->core].wake <= t->now ? t->awake : t->awake_next, p->core);
            answers_take(q);
        }
        q->given_until = t->now;
    }
    return answers_count(q) != 0;
}

static inline void give_answers(struct timing *t)
{
    for (uint32_t word = 0; word < t->port_words; word++)
        for (uint64_t left = t->answers_waiting[word]; left; left &= left - 1)
            t->answers_waiting[word] =
                bits_with(t->answers_waiting[word], left & -left,
                          give_answer(t, &t->answers[word * 64 + (uint32_t)__builtin_ctzll(left)]));
}

static inline void take_requests(struct timing *t, uint64_t tick, uint64_t now)
{
    if (tick < t->taken_until)
        return;
    t->taken_until = tick + 1;
    for (uint32_t word = 0; word < t->slice_words; word++)
        for (uint64_t left = t->requests->waiting[word]; left; left &= left - 1) {
            uint32_t slice = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (!partition_take_request(t->partitions[slice / t->slices_per_channel], slice % t->slices_per_channel,
                                        tick, now))
                t->crowded_until = now + CROWDED_CYCLES;
        }
}

/* Cores that wait for room in the network, where there may be some now: at ports that have given flits. */
static inline uint64_t blocked_and_asleep(const struct timing *t, uint32_t word)
{
    const uint64_t *gave = t->requests->gave;
    uint64_t asleep = t->blocked[word] & ~(t->awake[word] & ~t->ahead[word]);
    return t->core_count == t->ports ? asleep & gave[word] : asleep;
}

static bool is_ahead(const struct timing *t, uint32_t i) { return t->turns[i].ahead_wake != 0; }

static inline uint32_t port_of(const struct timing *t, uint32_t core) { return sm_head(t->cores[core])->port; }

/* What waits for the cores of a core's port. */
static inline struct answer_queue *answers_of(const struct timing *t, uint32_t core)
{
    return &t->answers[port_of(t, core)];
}

static void wake_core(struct timing *t, uint32_t i, uint64_t cycle)
{
    uint64_t *wake = is_ahead(t, i) ? &t->turns[i].ahead_wake : &t->turns[i].wake;
    *wake = earlier(*wake, cycle);
    if (is_ahead(t, i))
        return;
    if (cycle == t->now)
        bits_add(t->awake, i);
    else
        t->sleep_until = earlier(t->sleep_until, cycle);
}

static inline void wake_blocked(struct timing *t)
{
    if (!bits_any(t->requests->gave, t->port_words))
        return;
    for (uint32_t word = 0; word < t->core_words; word++)
        for (uint64_t left = blocked_and_asleep(t, word); left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (network_has_room(t->requests, port_of(t, i), t->turns[i].blocked)) {
                wake_core(t, i, t->clock.ticks[DOMAIN_CORE]);
                t->blocked[word] &= ~(left & -left);
            }
        }
    network_forget_given(t->requests);
}

/* The first cycle in which an answer that is on its way, or sets out now, can be given to the core: the one after that
 * in which it is taken out of the network. 0: one is there, or the network does not tell beforehand. */
static inline uint64_t next_answer(const struct timing *t, uint32_t core)
{
    uint32_t port = port_of(t, core);
    if (!t->replies->foreseen_cycles || network_waits_at(t->replies, port))
        return 0;
    return network_arrives_at(t->replies, port, t->memory.ticks[DOMAIN_ICNT]) * t->period[DOMAIN_ICNT] /
               t->period[DOMAIN_CORE] +
           2;
}

/* Cycles before this one bring no answer to the core but those that wait for it: it expects none, all are still to come
 * to their slices, or none is on its way yet. (Of those to atomics the core's warps know before they have come.) */
static inline uint64_t no_answer_before(const struct timing *t, uint32_t i)
{
    struct expected_answers *e = &t->expected[i];
    uint64_t known = t->answers_known + 1;
    if (!expected_count(e))
        return t->horizon;
    if (expected_on_way(e))
        return e->to_atomics
                   ? 0
                   : earlier(t->horizon, later(known, t->memory_moves ? t->turns[i].next_answer : next_answer(t, i)));
    uint64_t in_slice = expected_delayed_until(e, t->now, t->least_delay);
    if (e->to_atomics)
        return in_slice ? earlier(t->horizon, in_slice + 1) : 0;
    return earlier(t->horizon, later(known, (in_slice ? in_slice : t->answers_known - 1) + t->answer_cycles));
}

/* Up to which cycle may it be run alone? 0: that is not worth while. */
static inline uint64_t run_end(const struct timing *t, uint32_t i)
{
    const struct sm *c = t->cores[i];
    if (!t->horizon || (t->may_place && sm_has_room(c)) || !sm_may_run_ahead(c))
        return 0;
    uint64_t known = earlier(t->clock.ticks[DOMAIN_CORE], t->horizon),
             end = t->turns[i].blocked ? known : later(no_answer_before(t, i), known);
    return end < t->turns[i].wake + LEAST_RUN ? 0 : end;
}

static inline void leave_alone(struct timing *t, uint32_t i)
{
    uint64_t seen = sm_next_seen(t->cores[i]);
    if (!seen)
        return;
    t->turns[i].ahead_wake = t->turns[i].wake;
    t->turns[i].wake = seen;
}

static inline void run_alone(struct timing *t, uint32_t i, uint64_t end)
{
    sm_run_ahead(t->cores[i], t->now, end, answers_of(t, i));
    leave_alone(t, i);
}

/* After a core's cycle, if nobody can tell, those after it: as long as no answer can come that is not known, and as far
 * as the network has been run. What the core does then is of cycles to come: it is left alone until the others are in
 * the last of them (catch_up). */
static inline void run_on(struct timing *t, uint32_t i)
{
    uint64_t end = run_end(t, i);
    if (end)
        run_alone(t, i, end);
}

/* The same in two turns, between which another thread may take it over. */
static void run_on_halfway(struct timing *t, uint32_t i)
{
    struct core_turn *turn = &t->turns[i];
    uint64_t end = run_end(t, i), cycles = end - turn->wake;
    if (!end)
        return;
    if (t->round_turns == 1 || cycles < LONG_RUN) {
        run_alone(t, i, end);
        return;
    }
    turn->end = end;
    sm_run_ahead(t->cores[i], t->now, turn->wake + cycles / 2, answers_of(t, i));
}

static void run_other_half(struct timing *t, uint32_t i)
{
    enum { SPINS = 4000 };
    struct core_turn *turn = &t->turns[i];
    for (uint32_t spins = 0; __atomic_load_n(&turn->round, __ATOMIC_ACQUIRE) != t->round; spins++)
        if (spins > SPINS) /* it is being run, which does not take long, unless the host has put the thread aside */
            sched_yield();
    if (!turn->end)
        return;
    sm_run_further(t->cores[i], turn->end, answers_of(t, i));
    leave_alone(t, i);
    turn->end = 0;
}

/* Part 0: the memory side. The parts after all of these: the second turn. */
static void shared_step(void *context, uint32_t part)
{
    struct timing *t = context;
    uint32_t per_port = t->core_count / t->ports, port = (part - 1) % (1 + t->ports);
    if (part > t->ports) {
        for (uint32_t i = port * per_port; port < t->ports && i < (port + 1) * per_port; i++)
            run_other_half(t, i);
        return;
    }
    if (part == 0) {
        if (t->memory_moves && t->lead_cycles)
            timing_lead(t, &t->memory_part);
        else if (t->memory_moves)
            timing_lead_step(t, &t->memory_part);
        host_part_set(&t->memory_part, HOST_NOTHING);
        return;
    }
    for (uint32_t i = port * per_port; i < (port + 1) * per_port; i++) {
        if ((t->turns[i].wake <= t->now || bits_has(t->early, i)) && !is_ahead(t, i)) {
            if (!bits_has(t->early, i))
                sm_cycle(t->cores[i], t->now);
            run_on_halfway(t, i);
        }
        __atomic_store_n(&t->turns[i].round, t->round, __ATOMIC_RELEASE);
    }
}

/* A round is over when the last core is, and with few cores for each thread that is long after the others: they are run
 * in two turns then. */
static void run_shared(struct timing *t)
{
    enum { FEW_CORES = 16 }; /* to a thread */
    bool in_turns = t->horizon > t->now + LONG_RUN && t->core_count <= FEW_CORES * t->options->threads;
    t->round++;
    t->round_turns = in_turns ? 2 : 1;
    workers_run_in_turns(t->workers, shared_step, t, 1 + t->ports, t->round_turns);
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

/* What it has done in this cycle; if that is all, it is no longer ahead. */
static void catch_up(struct timing *t, uint32_t i)
{
    sm_catch_up(t->cores[i], t->now);
    t->turns[i].wake = sm_next_seen(t->cores[i]);
    if (t->turns[i].wake > t->now)
        return;
    t->turns[i].wake = t->turns[i].ahead_wake;
    t->turns[i].ahead_wake = 0;
    core_done(t, t->cores[i]);
}

/* Some core may have slept long enough. */
static void end_sleep(struct timing *t)
{
    t->sleep_until = UINT64_MAX;
    for (uint32_t i = 0; i < t->core_count; i++) {
        if (t->turns[i].wake <= t->now)
            bits_add(t->awake, i);
        else if (t->turns[i].wake < t->sleep_until)
            t->sleep_until = t->turns[i].wake;
    }
}

static bool is_worth_sharing(const struct timing *t)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < t->core_words; word++)
        count += (uint32_t)__builtin_popcountll(t->awake[word] & ~t->ahead[word]);
    return count > 1 && !t->serial;
}

/* The memory side is about to be run beside the cores that are: what they ask of it is answered before. */
static bool let_memory_move(struct timing *t)
{
    if (!t->moves_beside || !(t->lead_cycles ? timing_plan_lead(t, true) : timing_plan_step(t)))
        return false;
    if (!t->lead_cycles && timing_step_has_l2(t))
        take_requests(t, t->memory.ticks[DOMAIN_L2], t->memory.ticks[DOMAIN_CORE]);
    for (uint32_t word = 0; word < t->core_words; word++)
        for (uint64_t left = t->awake[word] & ~t->ahead[word]; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            t->turns[i].next_answer = t->turns[i].blocked ? 0 : next_answer(t, i);
        }
    return true;
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
    t->answers_known = t->memory.ticks[DOMAIN_CORE];
    bool may_share = t->workers && is_worth_sharing(t), shared = may_share && threads_pay(t);
    uint64_t ran = 0;
    uint32_t cores = 0;
    t->memory_moves = shared && let_memory_move(t);
    if (shared)
        run_shared(t);
    for (uint32_t word = 0; word < t->core_words; word++) {
        uint64_t awake = t->awake[word], blocked = t->blocked[word] & ~awake, ahead = t->ahead[word];
        for (uint64_t left = awake; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (!(ahead & left & -left)) {
                if (!shared) {
                    if (!(t->early[word] & left & -left)) {
                        sm_cycle(t->cores[i], t->now);
                        core_done(t, t->cores[i]);
                    }
                    run_on(t, i);
                } else if (!is_ahead(t, i)) { /* else that is of cycles to come */
                    core_done(t, t->cores[i]);
                }
                if (t->workers) {
                    ran += sm_now(t->cores[i]) + 1 - t->now;
                    cores++;
                }
            }
            if (is_ahead(t, i) && t->turns[i].wake <= t->now)
                catch_up(t, i);
            ahead = bits_with(ahead, left & -left, is_ahead(t, i));
            blocked |= t->turns[i].blocked ? left & -left : 0;
            if (t->turns[i].wake <= t->now + 1)
                continue;
            awake &= ~(left & -left);
            t->sleep_until = t->turns[i].wake < t->sleep_until ? t->turns[i].wake : t->sleep_until;
        }
        t->awake[word] = awake | (t->awake_next[word] & ~t->early[word]);
        t->awake_next[word] = t->early[word] = 0;
        t->blocked[word] = blocked;
        t->ahead[word] = ahead;
    }
    if (t->workers) {
        sharing_note(&t->sharing, may_share ? ran : 1, may_share);
        meetings_note(&t->meetings, cores, ran);
    }
}

static uint64_t answers_come_at(const struct timing *t)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t word = 0; word < t->port_words; word++)
        for (uint64_t left = t->answers_waiting[word]; left; left &= left - 1)
            next = earlier(next, answers_next(&t->answers[word * 64 + (uint32_t)__builtin_ctzll(left)]));
    return next;
}

/* The first core cycle before which nothing happens on the way of requests, or an earlier one. */
static uint64_t requests_next(const struct timing *t)
{
    uint64_t tick = bits_any(t->requests->waiting, t->slice_words) ? 0 : network_next(t->requests);
    if (tick == UINT64_MAX)
        return tick;
    return later(t->clock.ticks[DOMAIN_CORE], tick * t->period[DOMAIN_ICNT] / t->period[DOMAIN_CORE]);
}

/* The first cycle from t->now on in which anything can happen; UINT64_MAX: never again. */
uint64_t timing_next_cycle(const struct timing *t)
{
    if (t->may_place || bits_any(t->awake, t->core_words))
        return t->now;
    uint64_t next =
        earlier(earlier(t->sleep_until, requests_next(t)), earlier(timing_memory_next(t), answers_come_at(t)));
    return next < t->now ? t->now : next;
}

static void jump(const struct timing *t, struct clocks *c, uint64_t cycle)
{
    c->ticks[DOMAIN_CORE] = cycle;
    uint64_t time = clocks_time(t, c, DOMAIN_CORE);
    for (enum domain d = DOMAIN_ICNT; d < DOMAIN_COUNT; d++)
        if (clocks_time(t, c, d) < time)
            c->ticks[d] = (time + t->period[d] - 1) / t->period[d];
    if (t->pattern)
        c->step = t->core_steps[cycle % t->pattern_cores];
}

void timing_jump(struct timing *t, uint64_t cycle)
{
    t->now = cycle;
    if (t->clock.ticks[DOMAIN_CORE] >= cycle)
        return;
    jump(t, &t->clock, cycle);
    if (t->memory.ticks[DOMAIN_CORE] < cycle)
        jump(t, &t->memory, cycle);
    t->lags = t->memory.ticks[DOMAIN_CORE] == cycle;
}

/* After a jump to the cycle in which the memory side is: its steps up to that of the cores. */
static void reach_cores(struct timing *t)
{
    uint64_t end = clocks_time_of_step(t, &t->clock);
    while (clocks_time_of_step(t, &t->memory) < end) {
        uint32_t mask = clocks_next(t, &t->memory);
        timing_memory_step(t, mask);
        clocks_advance(t, &t->memory, mask);
    }
    t->lags = false;
}

/* One step on the way of requests; the memory side's is before it, if that has not been run. */
static inline void network_step(struct timing *t, uint32_t mask)
{
    if (mask & 1u << DOMAIN_L2)
        take_requests(t, t->clock.ticks[DOMAIN_L2], t->clock.ticks[DOMAIN_CORE]);
    bool leads = timing_memory_leads(t, mask);
    if (!leads) {
        if (t->lags)
            reach_cores(t);
        timing_memory_step(t, mask);
    }
    host_part_set(&t->part, HOST_NETWORK);
    if (mask & 1u << DOMAIN_ICNT && !network_idle(t->requests)) {
        network_cycle(t->requests, t->clock.ticks[DOMAIN_ICNT]);
        wake_blocked(t);
    }
    clocks_advance(t, &t->clock, mask);
    if (!leads)
        t->memory = t->clock;
}

/* The first cycle in which the core may send something that is not in its port yet: when it is run next. */
static inline uint64_t may_send_at(const struct timing *t, uint32_t i)
{
    return earlier(is_ahead(t, i) ? sm_now(t->cores[i]) + 1 : t->turns[i].wake, answers_next(answers_of(t, i)));
}

/* Before this network cycle, nothing on the way of requests depends on what cores have still to do: an input sends the
 * packets that it holds, whatever comes after them, or its core sends none. */
static uint64_t settled_until(const struct timing *t)
{
    uint64_t next = t->clock.ticks[DOMAIN_ICNT], answers_known = t->memory.ticks[DOMAIN_CORE], until = UINT64_MAX;
    for (uint32_t i = 0; i < t->core_count; i++) {
        uint64_t port = next + network_settled_cycles(t->requests, port_of(t, i));
        if (port >= until)
            continue;
        uint64_t core = t->turns[i].blocked ? 0 : earlier(may_send_at(t, i), answers_known + 1);
        until = earlier(until, later(port, core * t->period[DOMAIN_CORE] / t->period[DOMAIN_ICNT] + 1));
    }
    return until;
}

/* May the network be run one more step ahead of the cores? That is for those who wait for room in it. */
static __attribute__((noinline)) bool network_may_lead(struct timing *t, uint32_t mask)
{
    if (t->clock.ticks[DOMAIN_ICNT] >= t->settled_until) {
        t->settled_until = settled_until(t);
        if (t->clock.ticks[DOMAIN_ICNT] >= t->settled_until)
            return false;
    }
    if (t->clock.ticks[DOMAIN_CORE] == t->now + 1)
        timing_plan_join(t);
    return timing_memory_leads(t, mask) || timing_memory_may_join(t, mask);
}

/* All that is known up to where the network is: cores that sleep need not be run one by one when they wake. */
static __attribute__((noinline)) void wake_early(struct timing *t)
{
    for (uint32_t i = 0; i < t->core_count; i++)
        if (!is_ahead(t, i) && t->turns[i].wake > t->now && may_send_at(t, i) < t->clock.ticks[DOMAIN_CORE]) {
            bits_add(t->awake, i);
            bits_add(t->early, i);
        }
}

/* Where it comes to little in the mean, it is tried now and then only. */
static void judge_lead(struct timing *t)
{
    enum { TRIES = 8, LITTLE = 2, PAUSE = 16 };
    uint64_t led = t->clock.ticks[DOMAIN_CORE] - t->now - 1;
    t->led_cycles += (uint32_t)led - t->led_cycles / TRIES;
    t->no_lead_before = t->clock.ticks[DOMAIN_CORE] + (t->led_cycles < TRIES * LITTLE ? PAUSE : 0);
}

/* The way of requests, up to the cycle of the cores, and on as far as may be. */
static inline void run_network(struct timing *t)
{
    for (;;) {
        uint32_t mask = clocks_next(t, &t->clock);
        if (t->clock.ticks[DOMAIN_CORE] == t->now) {
            if (mask & 1u << DOMAIN_CORE)
                give_answers(t);
        } else if (t->now < t->no_lead_before || t->may_place || !bits_any(t->blocked, t->core_words) ||
                   !network_may_lead(t, mask)) {
            break;
        }
        network_step(t, mask);
    }
    if (t->now >= t->no_lead_before && !t->may_place && bits_any(t->blocked, t->core_words))
        judge_lead(t);
    if (t->clock.ticks[DOMAIN_CORE] > t->now + LEAST_RUN)
        wake_early(t);
}

/* Up to the end of one core cycle. */
bool timing_step(struct timing *t, struct residency *first, struct error *e)
{
    if (t->memory.ticks[DOMAIN_CORE] == t->now && t->lead_cycles && timing_plan_lead(t, false))
        timing_lead(t, &t->part);
    if (t->clock.ticks[DOMAIN_CORE] > t->now)
        give_answers(t);
    else
        run_network(t);
    host_part_set(&t->part, HOST_NOTHING);
    core_tick(t);
    host_part_set(&t->part, HOST_NETWORK); /* answers and replies come next */
    t->now++;
    return !t->may_place || timing_place_blocks(t, first, e);
}
