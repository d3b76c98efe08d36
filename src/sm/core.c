/* A core as a whole: how it is made of its parts, a cycle, sleep. */
#include "sm/core.h"
#include "sm/regroup.h"

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
    c->net = (struct sm_network){.requests = wires->requests,
                                 .map = wires->map,
                                 .now = wires->network_now,
                                 .answer_bytes = wires->answer_bytes,
                                 .blocked_bytes = wires->blocked_bytes};
    flights_init(&c->flights, a);
    front_end_init(&c->front, a, config);
    pipelines_init(&c->pipes, a, config);
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
            c->busy = c->stirred = true;
        }
    }
}

/* Of all but the load/store unit. */
static uint64_t next_event(const struct sm *c)
{
    uint64_t next = pipelines_next(&c->pipes, c->now);
    for (uint64_t left = c->issue.asleep; left; left &= left - 1) {
        uint64_t t = c->slots[__builtin_ctzll(left)].wake_cycle;
        if (t < next)
            next = t;
    }
    return next;
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
    c->stirred |= c->now >= c->issue.held_until;
    if (c->issue.asleep)
        wake_sleepers(c);
    if (c->pipes.writeback_count[c->now % SM_TIME_RING])
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
    c->busy = true;
    c->stirred |= collector_head(c->pipes.collector)->accepts != accepted;
}

/* Out of the way of the machines that have neither: hits whose latency is over, and, where the load/store unit and the
 * collectors take several steps in a cycle, all but the last. If anything moves in these, the core is run in the next
 * cycle, whatever the last step says. */
static __attribute__((noinline, cold)) void precede_lsu(struct sm *c)
{
    bool moves = false;
    sm_lsu_finish_hits(c);
    for (uint32_t n = 1; n < c->config->lsu_steps; n++) {
        moves |= sm_lsu_early_step(c);
        moves |= collector_moves(c->pipes.collector);
        collector_early_step(c->pipes.collector);
    }
    if (moves)
        c->busy = c->stirred = true;
}

/* Issue and fetch: what comes behind the load/store unit and the collectors. */
static inline void finish_cycle(struct sm *c)
{
    if (c->regroup)
        regroup_cycle(c);
    if (c->stirred | c->host.restless) {
        sm_issue_cycle(c);
        fetch_and_decode(c);
        account_cycle(c);
    } else {
        fetch_and_decode(c);
        account_same_cycle(c);
    }
}

/* What a cycle has found decides when the next one must be. lsu_goes_on: the load/store unit has something to do in
 * it. */
static inline void fall_asleep(struct sm *c, bool lsu_goes_on)
{
    uint64_t lsu_at = lsu_goes_on ? c->now + 1 : lsu_next(&c->lsu, c->now);
    *c->wake_at = lsu_at < c->others_at ? lsu_at : c->others_at;
}

void sm_cycle(struct sm *c, uint64_t now)
{
    account_refusals(c, now);
    c->account.ran_until = now + 1;
    c->now = c->view.cycle = now;
    c->busy = false;
    *c->net.blocked_bytes = 0;
    if (__builtin_expect(c->lsu.held_count != 0, 0))
        sm_lsu_release_answers(c);
    bool lsu_only = now < c->others_at;
    if (!lsu_only) {
        if (now > c->account.until)
            account_quiet(c, now);
        end_and_start(c);
    }
    if (__builtin_expect(c->lsu.precedes, 0))
        precede_lsu(c);
    bool lsu_goes_on = sm_lsu_step(c);
    if (lsu_only) {
        if (!c->stirred && !collector_moves(c->pipes.collector)) {
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
    if (c->busy) {
        c->others_at = *c->wake_at = now + 1;
        return;
    }
    c->others_at = next_event(c);
    if (c->issue.held_until < c->others_at)
        c->others_at = c->issue.held_until;
    fall_asleep(c, lsu_goes_on);
    if (c->host.restless || c->regroup || front_end_moves(&c->front))
        c->others_at = 0;
    if (c->regroup && *c->wake_at == SM_NEVER)
        regroup_check_stuck(c);
}

bool sm_accept(struct sm *c, const struct packet *p, uint64_t now)
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
        c->others_at = 0;
    if (asleep)
        *c->wake_at = now;
    return true;
}

bool sm_idle(const struct sm *c)
{
    return !sm_occupied(c) && lsu_idle(&c->lsu) && collector_idle(c->pipes.collector) &&
           (!c->lsu.l1d || cache_idle(c->lsu.l1d));
}
