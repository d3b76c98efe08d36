/* A core as a whole: how it is made of its parts, a cycle, sleep. */
#include "sm/core.h"
#include "sm/regroup.h"

const bool sm_is_model = false;

struct sm *sm_create(struct arena *a, const struct sm_config *config, uint32_t id, uint32_t core_count,
                     const struct sm_policies *policies, const struct sm_wires *wires, struct error *e)
{
    struct sm *c = arena_lines(a, struct sm, 1);
    c->config = config;
    c->head.id = id;
    c->head.port = id / (config->cores_per_cluster ? config->cores_per_cluster : 1);
    c->core_count = core_count;
    c->wake_at = wires->wake_at;
    *c->wake_at = SM_NEVER;
    c->observer = wires->observer;
    c->account.logs = c->observer && c->observer->reasons;
    c->net = (struct sm_network){.requests = wires->requests,
                                 .expected = wires->expected,
                                 .map = wires->map,
                                 .clock = wires->clock,
                                 .cut = wires->cut,
                                 .answer_cycles = wires->answer_cycles,
                                 .keeps = wires->keeps,
                                 .half = wires->half_slices,
                                 .near = (id / 2 + 1) % 2 * wires->half_slices,
                                 .blocked_bytes = wires->blocked_bytes,
                                 .kept = arena_new(a, struct sm_kept)};
    flights_init(&c->flights, a);
    front_end_init(&c->front, a, config);
    pipelines_init(&c->pipes, a, config);
    c->sub = config->sub_cores ? subcores_create(a, config) : NULL;
    lsu_init(&c->lsu, a, config);
    c->lsu.tells_written = wires->tells_written;
    c->lsu.thread_interleave = (uint64_t)core_count * config->warps * 32;
    c->view = (struct heddle_core){.id = id,
                                   .warp_slots = config->warps,
                                   .scheduler_count = config->schedulers,
                                   .block_slots = config->blocks,
                                   .l1_sets = config->l1d.sets,
                                   .l1_ways = config->l1d.ways,
                                   .l1_line_bytes = config->l1d.line_bytes,
                                   .warp = c->warps};
    return policy_host_create(c, a, policies, e) ? c : NULL;
}

void sm_destroy(struct sm *c) { policy_host_destroy(c); }

/* A cycle */

static void wake_sleepers(struct sm *c)
{
    for (uint64_t left = c->issue.asleep; left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        if (c->slots[slot].wake_cycle <= c->now) {
            c->issue.asleep &= ~(1ull << slot);
            c->issue.at = 0;
        }
    }
}

static inline void fetch_and_decode(struct sm *c)
{
    if (c->front.valid)
        sm_decode_cycle(c);
    if (front_end_moves(&c->front))
        sm_fetch_cycle(c);
}

/* What comes before the load/store unit. */
static inline void end_and_start(struct sm *c)
{
    if (c->issue.asleep)
        wake_sleepers(c);
    if (c->pipes.ending[c->now % SM_TIME_RING].count)
        sm_writeback_cycle(c);
    if (collector_offers(c->pipes.collector, COLLECT_SP) || collector_offers(c->pipes.collector, COLLECT_SFU))
        sm_units_cycle(c);
}

static inline void collect(struct sm *c)
{
    if (!collector_moves(c->pipes.collector)) {
        collector_forget_writes(c->pipes.collector);
        return;
    }
    uint8_t accepted = collector_head(c->pipes.collector)->accepts;
    collector_cycle(c->pipes.collector);
    if (collector_head(c->pipes.collector)->accepts != accepted)
        c->issue.at = 0;
}

/* Nothing is in the load/store unit, and nothing waits to enter it. */
static inline bool lsu_rests(const struct sm *c)
{
    return c->lsu.rests && !collector_offers(c->pipes.collector, COLLECT_MEM);
}

/* Out of the way of the machines that have neither: hits whose latency is over, and, where the load/store unit and the
 * collectors take several steps in a cycle, all but the last. If anything moves in these, the core is run in the next
 * cycle, whatever the last step says. */
static __attribute__((noinline, cold)) bool precede_lsu(struct sm *c)
{
    bool moves = false;
    sm_lsu_finish_hits(c);
    for (uint32_t n = 1; n < c->config->lsu_steps; n++) {
        moves |= sm_lsu_early_step(c);
        moves |= collector_moves(c->pipes.collector);
        collector_early_step(c->pipes.collector);
    }
    if (moves)
        c->issue.at = 0;
    return moves;
}

/* Issue and fetch: what comes after the load/store unit and the collectors. */
static inline void finish_cycle(struct sm *c)
{
    if (unlikely(c->regroup))
        regroup_cycle(c);
    if (c->issue.at <= c->now) {
        sm_schedule_cycle(c);
        fetch_and_decode(c);
        account_cycle(c);
    } else {
        fetch_and_decode(c);
        account_same_cycle(c);
    }
}

/* Sleep.
 *
 * At the end of a cycle each part is asked for the next cycle in which it can do something by itself; the core is run
 * again in the earliest of these (wake_at), or when something arrives: an answer, a block, room in the interconnect.
 * The cycles between are like the last one, and are counted when it wakes (account.c). The load/store unit, which has
 * something to do most often, is asked apart: before the cycle others_at it is run alone, and the other parts only if
 * it has given issue something to look at. Where threads are regrouped, all parts are run whenever one is. Whether a
 * core sleeps changes no result. */

static uint64_t issue_next(const struct sm *c)
{
    uint64_t next = c->issue.at;
    for (uint64_t left = c->issue.asleep; left; left &= left - 1) {
        uint64_t t = c->slots[__builtin_ctzll(left)].wake_cycle;
        next = t < next ? t : next;
    }
    return next;
}

static inline uint64_t others_next(const struct sm *c)
{
    if (c->issue.at <= c->now || c->front.valid || front_end_moves(&c->front) ||
        (unlikely(c->regroup) && regroup_moves(c)))
        return c->now + 1;
    uint64_t pipelines = pipelines_next(&c->pipes, c->now), issue = issue_next(c);
    return pipelines < issue ? pipelines : issue;
}

/* goes_on: the last step of the load/store unit found something to do in the next cycle. */
static inline void fall_asleep(struct sm *c, bool goes_on)
{
    if (lsu_rests(c)) {
        *c->wake_at = c->others_at;
        return;
    }
    bool enters = c->lsu.dispatch == SM_NONE && collector_offers(c->pipes.collector, COLLECT_MEM);
    uint64_t lsu_at = goes_on || enters ? c->now + 1 : lsu_next(&c->lsu, c->now);
    *c->wake_at = lsu_at < c->others_at ? lsu_at : c->others_at;
    if (*c->net.blocked_bytes)
        network_await_room(c);
}

void sm_cycle(struct sm *c, uint64_t now)
{
    bool lsu_only = now < c->others_at && !c->regroup, lsu_goes_on = false;
    account_refusals(c, now);
    c->account.ran_until = now + 1;
    c->now = c->view.cycle = now;
    *c->net.blocked_bytes = 0;
    if (unlikely(c->lsu.held_count))
        sm_lsu_release_answers(c);
    if (!lsu_only) {
        if (now > c->account.until)
            account_quiet(c, now);
        end_and_start(c);
    }
    if (!lsu_rests(c)) {
        host_part_set(&c->head.part, HOST_LOAD_STORE);
        if (unlikely(c->lsu.precedes))
            lsu_goes_on = precede_lsu(c);
        lsu_goes_on |= sm_lsu_step(c);
        host_part_set(&c->head.part, HOST_NOTHING);
    }
    if (lsu_only) {
        if (c->issue.at && !collector_moves(c->pipes.collector)) {
            collector_forget_writes(c->pipes.collector);
            if (c->lsu.enters_after_collectors)
                lsu_goes_on |= sm_lsu_enter(c);
            fall_asleep(c, lsu_goes_on);
            return;
        }
        if (now > c->account.until)
            account_same(c, now);
    }
    collect(c);
    if (c->lsu.enters_after_collectors)
        lsu_goes_on |= sm_lsu_enter(c);
    finish_cycle(c);
    c->others_at = others_next(c);
    fall_asleep(c, lsu_goes_on);
    if (unlikely(c->regroup) && *c->wake_at == SM_NEVER)
        regroup_check_stuck(c);
}

static bool take_answer(struct sm *c, const struct packet *p, uint64_t now)
{
    bool asleep = *c->wake_at > now;
    if (asleep && sm_lsu_hold_answer(c, p, now))
        return true;
    if (asleep && sm_lsu_answer(c, p, now)) {
        *c->wake_at = now + 1;
        return true;
    }
    struct ring *to = p->origin == ORIGIN_L1I ? &c->front.responses : &c->lsu.responses;
    if (ring_full(to))
        return false;
    ring_push(to, p);
    if (p->origin == ORIGIN_L1I)
        c->others_at = now;
    if (asleep)
        *c->wake_at = now;
    return true;
}

bool sm_accept(struct sm *c, const struct packet *p, uint64_t now)
{
    c->lsu.rests = false;
    if (!take_answer(c, p, now))
        return false;
    expected_remove(c->net.expected, p);
    return true;
}

bool sm_idle(const struct sm *c)
{
    return !sm_occupied(c) && lsu_idle(&c->lsu) && collector_idle(c->pipes.collector) &&
           (!c->lsu.l1d || cache_idle(c->lsu.l1d));
}
