/* Time: four clock domains (cores, interconnect, L2, DRAM) with their real ratios, thread-block dispatch, and what
 * sleeps.
 *
 * The n-th tick of a domain is at n / frequency; ticks at the same time run in a fixed order (answers into cores,
 * replies into the interconnect, DRAM, L2, interconnect, cores), as in GPGPU-Sim. A core, channel or network with
 * nothing to do is not visited; when none has anything to do before a known cycle, time jumps there.
 *
 * Cores, and the way of their requests, are run here; the memory side in timing_memory.c. What the launches have to do
 * with it: timing_launch.c. */
#include "gpu/timing.h"
#include "gpu/workers.h"

enum { LEAST_RUN = 4 }; /* cycles of a core alone that are worth while */

static inline uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Returns whether there are more. */
static bool give_answer(struct timing *t, struct answer_queue *q)
{
    if (answers_next(q) <= t->now) {
        struct packet *p = answers_front(q);
        if (sm_accept(t->cores[p->core], p, t->now)) {
            if (t->turns.list[p->core].wake <= t->now + 1) /* else it sleeps on */
                bits_add(t->turns.list[p->core].wake <= t->now ? t->turns.awake : t->turns.awake_next, p->core);
            answers_take(q);
        }
        q->given_until = t->now;
    }
    return answers_count(q) != 0;
}

static inline void give_answers(struct timing *t)
{
    for (uint32_t word = 0; word < t->memory.port_words; word++)
        for (uint64_t left = t->memory.answers_waiting[word]; left; left &= left - 1)
            t->memory.answers_waiting[word] =
                bits_with(t->memory.answers_waiting[word], left & -left,
                          give_answer(t, &t->memory.answers[word * 64 + (uint32_t)__builtin_ctzll(left)]));
}

static inline void take_requests(struct timing *t)
{
    for (uint32_t word = 0; word < t->memory.slice_words; word++)
        for (uint64_t left = t->memory.requests->waiting[word]; left; left &= left - 1) {
            uint32_t slice = word * 64 + (uint32_t)__builtin_ctzll(left);
            partition_take_request(t->memory.partitions[slice / t->memory.slices_per_channel],
                                   slice % t->memory.slices_per_channel, t->clock.ticks[DOMAIN_L2],
                                   t->clock.ticks[DOMAIN_CORE]);
        }
}

/* Cores that wait for room in the network, where there may be some now: at ports that have given flits. */
static inline uint64_t blocked_and_asleep(const struct timing *t, uint32_t word)
{
    uint64_t asleep = t->turns.blocked[word] & ~t->turns.awake[word];
    if (t->core_count == t->ports)
        asleep &= t->memory.requests->gave[word];
    return asleep;
}

static inline bool is_ahead(const struct core_turn *turn) { return turn->next_wake != 0; }

static inline uint32_t port_of(const struct timing *t, uint32_t core) { return sm_head(t->cores[core])->port; }

/* What waits for the cores of a core's port. */
static inline struct answer_queue *answers_of(const struct timing *t, uint32_t core)
{
    return &t->memory.answers[port_of(t, core)];
}

/* A core that has found no room is run again, in its next cycle: it may have been run ahead to the one in which it
 * found none. */
static void wake_core(struct timing *t, uint32_t i)
{
    struct core_turn *turn = &t->turns.list[i];
    uint64_t cycle = later(t->now, sm_now(t->cores[i]) + 1);
    if (is_ahead(turn)) {
        turn->next_wake = earlier(turn->next_wake, cycle);
        return;
    }
    turn->wake = earlier(turn->wake, cycle);
    if (turn->wake <= t->now)
        bits_add(t->turns.awake, i);
    else
        t->turns.sleep_until = earlier(t->turns.sleep_until, turn->wake);
}

static inline void wake_blocked(struct timing *t)
{
    if (!bits_any(t->memory.requests->gave, t->memory.port_words))
        return;
    for (uint32_t word = 0; word < t->core_words; word++)
        for (uint64_t left = blocked_and_asleep(t, word); left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (network_has_room(t->memory.requests, port_of(t, i), t->turns.list[i].blocked)) {
                wake_core(t, i);
                t->turns.blocked[word] &= ~(left & -left);
            }
        }
    network_forget_given(t->memory.requests);
}

/* The first cycle in which an answer that is on its way, or sets out now, can be given to the core: the one after that
 * in which it is taken out of the network. 0 means that one is there, or that the network does not tell beforehand. */
static inline uint64_t next_answer(const struct timing *t, uint32_t core)
{
    uint32_t port = port_of(t, core);
    if (!t->memory.replies->foreseen_cycles || network_waits_at(t->memory.replies, port))
        return 0;
    return network_arrives_at(t->memory.replies, port, t->clock.ticks[DOMAIN_ICNT]) * t->clock.period[DOMAIN_ICNT] /
               t->clock.period[DOMAIN_CORE] +
           2;
}

/* Returns a cycle before which no answer reaches core i but those that are in its queue. Answers that leave the
 * network in the next cycle are given in the one after it, so that one is the least. Warps know of an answer to an
 * atomic when the atomic leaves its slice. */
static inline uint64_t no_answer_before(const struct timing *t, uint32_t i)
{
    struct expected_answers *e = &t->memory.expected[i];
    uint64_t least = t->now + 2, from = t->now;
    if (!expected_count(e))
        return t->turns.horizon;
    uint64_t in_delay = expected_on_way(e) ? 0 : expected_delayed_until(e, t->now, t->memory.least_delay);
    if (e->to_atomics)
        return in_delay ? in_delay + 1 : 0;
    if (expected_on_way(e))
        return later(least, next_answer(t, i));
    if (in_delay)
        from = in_delay;
    return later(least, from + t->memory.answer_cycles);
}

/* Up to which cycle may the core be run alone? 0 means that this is not worth while. */
static inline uint64_t run_end(const struct timing *t, uint32_t i)
{
    const struct sm *c = t->cores[i];
    if (!t->turns.horizon || t->turns.list[i].blocked || (t->blocks.may_place && sm_has_room(c)) ||
        !sm_may_run_ahead(c))
        return 0;
    uint64_t end = earlier(no_answer_before(t, i), t->turns.horizon);
    return end < t->turns.list[i].wake + LEAST_RUN ? 0 : end;
}

/* After a core's cycle, if nobody can tell, the cycles after it. What the core does in the last of them may be seen:
 * then it takes effect when the other cores are there. */
static inline void run_on(struct timing *t, uint32_t i)
{
    struct core_turn *turn = &t->turns.list[i];
    uint64_t end = run_end(t, i);
    if (!end || !sm_run_ahead(t->cores[i], t->now, end, answers_of(t, i)))
        return;
    turn->next_wake = turn->wake;
    turn->wake = sm_now(t->cores[i]);
}

/* The cores of a port, in their order: they share its queue. */
static void run_port(void *context, uint32_t part)
{
    struct timing *t = context;
    uint32_t per_port = t->core_count / t->ports, first = t->threads.to_run[part] * per_port;
    for (uint32_t i = first; i < first + per_port; i++)
        if (t->turns.list[i].wake <= t->now && !is_ahead(&t->turns.list[i])) {
            sm_cycle(t->cores[i], t->now);
            run_on(t, i);
        }
}

/* After a core's part of a cycle: its loads, stores and atomics of this cycle are performed, and blocks that ended are
 * noted. */
static inline void core_done(struct timing *t, struct sm *c)
{
    struct sm_head *head = sm_head(c);
    if (head->deferred)
        sm_perform(c);
    if (head->blocks_ended) {
        t->blocks.done += head->blocks_ended;
        head->blocks_ended = 0;
        t->blocks.may_place = true;
    }
}

/* Some core may have slept long enough. */
static void end_sleep(struct timing *t)
{
    t->turns.sleep_until = UINT64_MAX;
    for (uint32_t i = 0; i < t->core_count; i++) {
        if (t->turns.list[i].wake <= t->now)
            bits_add(t->turns.awake, i);
        else if (t->turns.list[i].wake < t->turns.sleep_until)
            t->turns.sleep_until = t->turns.list[i].wake;
    }
}

/* Lists what threads may run in this cycle. Returns whether there is enough for two. */
static bool is_worth_sharing(struct timing *t)
{
    uint32_t per_port = t->core_count / t->ports, next = 0; /* port */
    t->threads.to_run_count = 0;
    for (uint32_t word = 0; word < t->core_words && !t->threads.serial; word++)
        for (uint64_t left = t->turns.awake[word]; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (is_ahead(&t->turns.list[i]) || i / per_port < next)
                continue;
            t->threads.to_run[t->threads.to_run_count++] = (uint16_t)(i / per_port);
            next = i / per_port + 1;
        }
    return t->threads.to_run_count > 1;
}

/* Between two meetings cores first run together, and then those that stopped early: only the whole can be compared,
 * where they run for long. */
static bool threads_pay(struct timing *t)
{
    bool begins = t->threads.meetings.was_now || !t->turns.horizon || !t->threads.meetings.rounds_are_long;
    t->threads.meetings.was_now = false;
    return sharing_asks(&t->threads.sharing, begins);
}

/* What the core has done in this cycle, now or when it was run ahead, takes effect. */
static void finish_cycle(struct timing *t, uint32_t i)
{
    struct core_turn *turn = &t->turns.list[i];
    if (turn->wake > t->now && is_ahead(turn))
        return;
    core_done(t, t->cores[i]);
    if (is_ahead(turn)) {
        turn->wake = turn->next_wake;
        turn->next_wake = 0;
    }
}

/* How many cycles the cores of this cycle were run for. */
static void note_work(struct timing *t, bool may_share)
{
    uint32_t per_port = t->core_count / t->ports;
    uint64_t ran = 0;
    for (uint32_t k = 0; k < t->threads.to_run_count; k++)
        ran += later(sm_now(t->cores[t->threads.to_run[k] * per_port]), t->now) + 1 - t->now;
    sharing_note(&t->threads.sharing, may_share ? ran : 1, may_share);
    meetings_note(&t->threads.meetings, t->threads.to_run_count, ran);
}

static void core_tick(struct timing *t)
{
    if (t->now >= t->turns.sleep_until)
        end_sleep(t);
    bool may_share = t->threads.workers && is_worth_sharing(t), shared = may_share && threads_pay(t);
    if (shared)
        workers_run(t->threads.workers, run_port, t, t->threads.to_run_count);
    for (uint32_t word = 0; word < t->core_words; word++) {
        uint64_t awake = t->turns.awake[word], blocked = t->turns.blocked[word] & ~awake;
        for (uint64_t left = awake; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            const struct core_turn *turn = &t->turns.list[i];
            if (!shared && !is_ahead(turn)) {
                sm_cycle(t->cores[i], t->now);
                core_done(t, t->cores[i]);
                run_on(t, i);
            } else {
                finish_cycle(t, i);
            }
            if (turn->blocked)
                blocked |= left & -left;
            if (turn->wake <= t->now + 1)
                continue;
            awake &= ~(left & -left);
            t->turns.sleep_until = earlier(t->turns.sleep_until, turn->wake);
        }
        t->turns.awake[word] = awake | t->turns.awake_next[word];
        t->turns.awake_next[word] = 0;
        t->turns.blocked[word] = blocked;
    }
    if (t->threads.workers)
        note_work(t, may_share);
}

static uint64_t answers_come_at(const struct timing *t)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t word = 0; word < t->memory.port_words; word++)
        for (uint64_t left = t->memory.answers_waiting[word]; left; left &= left - 1)
            next = earlier(next, answers_next(&t->memory.answers[word * 64 + (uint32_t)__builtin_ctzll(left)]));
    return next;
}

/* The first core cycle before which nothing happens on the way of requests, or an earlier one. */
static uint64_t requests_next(const struct timing *t)
{
    uint64_t tick = bits_any(t->memory.requests->waiting, t->memory.slice_words) ? 0 : network_next(t->memory.requests);
    if (tick == UINT64_MAX)
        return tick;
    return later(t->clock.ticks[DOMAIN_CORE], tick * t->clock.period[DOMAIN_ICNT] / t->clock.period[DOMAIN_CORE]);
}

/* The first cycle from t->now on in which anything can happen; UINT64_MAX: never again. */
uint64_t timing_next_cycle(const struct timing *t)
{
    if (t->blocks.may_place || bits_any(t->turns.awake, t->core_words))
        return t->now;
    uint64_t next =
        earlier(earlier(t->turns.sleep_until, requests_next(t)), earlier(timing_memory_next(t), answers_come_at(t)));
    return next < t->now ? t->now : next;
}

/* Goes to the core's tick in `cycle`, before which nothing happens. */
void timing_jump(struct timing *t, uint64_t cycle)
{
    t->now = cycle;
    clocks_jump(&t->clock, cycle);
}

/* One step of the clock, but for the cores: answers, the memory side, the way of requests. */
static inline void outside_step(struct timing *t, uint32_t mask)
{
    if (mask & 1u << DOMAIN_CORE)
        give_answers(t);
    if (mask & 1u << DOMAIN_L2)
        take_requests(t);
    timing_memory_step(t, mask);
    if (mask & 1u << DOMAIN_ICNT && !network_idle(t->memory.requests)) {
        network_cycle(t->memory.requests, t->clock.ticks[DOMAIN_ICNT]);
        wake_blocked(t);
    }
    clocks_advance(&t->clock, mask);
}

/* Up to the end of one core cycle. */
bool timing_step(struct timing *t, struct residency *first, struct error *e)
{
    while (t->clock.ticks[DOMAIN_CORE] == t->now)
        outside_step(t, clocks_next(&t->clock));
    host_part_set(&t->part, HOST_NOTHING);
    core_tick(t);
    host_part_set(&t->part, HOST_NETWORK); /* answers and replies come next */
    t->now++;
    return !t->blocks.may_place || timing_place_blocks(t, first, e);
}
