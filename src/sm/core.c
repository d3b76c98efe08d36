/* A core as a whole: how it is made of its parts, a cycle, sleep. */
#include "sm/core_kind.h"
#include "sm/regroup.h"

const bool sm_is_model = false;

const struct core_kind *core_kind_of(const struct sm_config *config)
{
    static const struct core_kind *const kinds[] = {
#define CORE_KIND(name, help) &name##_kind,
#include "sm/core_kinds.def"
    };
    return kinds[config->kind];
}

const struct core_code *core_code_of(const struct sm_config *config) { return core_kind_of(config)->code; }

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
    for (int part = 0; part < CORE_PARTS; part++)
        due_at(&c->due, part, SM_NEVER);
    c->observer = wires->observer;
    c->account.logs = c->observer && c->observer->reasons;
    c->net = (struct sm_network){.requests = wires->requests,
                                 .expected = wires->expected,
                                 .map = wires->map,
                                 .clock = wires->clock,
                                 .cut = wires->cut,
                                 .answer_cycles = wires->answer_cycles,
                                 .half = wires->half_slices,
                                 .near = (id / 2 + 1) % 2 * wires->half_slices,
                                 .blocked_bytes = wires->blocked_bytes};
    flights_init(&c->flights, a);
    front_end_init(&c->front, a, config);
    pipelines_init(&c->pipes, a, config);
    c->kind = core_kind_of(config);
    c->has_collectors = c->kind == &collectors_kind;
    if (c->kind->create)
        c->kind_state = c->kind->create(a, config);
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
    if (!policy_host_create(c, a, policies, e))
        return NULL;
    return c;
}

void sm_destroy(struct sm *c) { policy_host_destroy(c); }

/* One cycle runs each part that is due, back to front. Then the core sleeps until the first of its parts is due
 * again. */

static void wake_sleepers(struct sm *c)
{
    for (uint64_t left = c->issue.asleep; left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        if (c->slots[slot].wake_cycle <= c->now)
            warp_unblock(c, &c->issue.asleep, slot);
    }
}

static inline void begin_cycle(struct sm *c, uint64_t now)
{
    sm_account_passed(c, now);
    c->now = c->view.cycle = now;
    if (*c->net.blocked_bytes) { /* there may be room now for the packet that the interconnect had none for */
        *c->net.blocked_bytes = 0;
        due_now(&c->due, PART_LSU);
    }
    if (c->issue.asleep && is_due(&c->due, PART_ISSUE, now))
        wake_sleepers(c);
}

static inline void run_pipelines(struct sm *c)
{
    if (c->pipes.ending[c->now % SM_TIME_RING].count)
        sm_writeback_cycle(c);
    if (collector_offers(c->pipes.collector, COLLECT_SP) || collector_offers(c->pipes.collector, COLLECT_SFU))
        sm_units_cycle(c);
}

/* Only some machines have these steps: hits whose latency is over, and, where the load/store unit and the collectors
 * take several steps in a cycle, all steps but the last. The collectors step with the unit. */
static __attribute__((noinline, cold)) void run_early_steps(struct sm *c)
{
    sm_lsu_finish_hits(c);
    for (uint32_t n = 0; n + 1 < c->config->lsu_steps; n++) {
        sm_lsu_early_step(c, n);
        collector_early_step(c->pipes.collector);
    }
}

static inline void run_lsu(struct sm *c)
{
    host_part_set(&c->head.part, HOST_LOAD_STORE);
    if (unlikely(c->lsu.precedes))
        run_early_steps(c);
    sm_lsu_step(c);
    host_part_set(&c->head.part, HOST_NOTHING);
}

static inline void run_collectors(struct sm *c)
{
    if (collector_moves(c->pipes.collector))
        collector_cycle(c->pipes.collector);
    else
        collector_forget_writes(c->pipes.collector);
    if (c->lsu.at_work.id == SM_NONE && collector_offers(c->pipes.collector, COLLECT_MEM)) {
        if (c->lsu.enters_after_collectors)
            sm_lsu_enter(c);
        due_by(&c->due, PART_LSU, c->now + 1);
    }
}

/* Asks the schedulers if a set of warps has changed, or the kinds that the collectors accept. Returns whether they
 * were asked. */
static inline bool run_issue(struct sm *c)
{
    if (!is_due(&c->due, PART_ISSUE, c->now) && sm_collectors_accept(c) == c->issue.accepts)
        return false;
    sm_schedule_cycle(c);
    return true;
}

static inline void run_front(struct sm *c)
{
    uint64_t next = SM_NEVER;
    if (c->front.valid)
        sm_decode_cycle(c);
    if (front_end_moves(&c->front))
        sm_fetch_cycle(c);
    if (c->front.valid || front_end_moves(&c->front))
        next = c->now + 1;
    due_at(&c->due, PART_FRONT, next);
}

/* The parts of a cycle that follow the load/store unit. */
static __attribute__((noinline)) void run_others(struct sm *c)
{
    run_collectors(c);
    if (unlikely(c->regroup))
        regroup_cycle(c);
    bool asked = run_issue(c);
    if (is_due(&c->due, PART_FRONT, c->now))
        run_front(c);
    if (asked || is_due(&c->due, PART_ISSUE, c->now))
        account_cycle(c, asked);
    if (is_due(&c->due, PART_ISSUE, c->now + 1) || is_due(&c->due, PART_FRONT, c->now + 1))
        due_at(&c->due, PART_PIPELINES, c->now + 1); /* the core is run then anyway */
    else if (asked || is_due(&c->due, PART_PIPELINES, c->now))
        due_at(&c->due, PART_PIPELINES, pipelines_next(&c->pipes, c->now));
    if (unlikely(c->regroup) && regroup_moves(c))
        due_by(&c->due, PART_ISSUE, c->now + 1);
}

void sm_cycle(struct sm *c, uint64_t now)
{
    begin_cycle(c, now);
    if (is_due(&c->due, PART_PIPELINES, now))
        run_pipelines(c);
    if (is_due(&c->due, PART_LSU, now) || (c->lsu.precedes && collector_moves(c->pipes.collector)))
        run_lsu(c);
    if (others_are_due(&c->due, now) || unlikely(c->regroup))
        run_others(c);
    else
        collector_forget_writes(c->pipes.collector);
    *c->wake_at = due_next(&c->due, now);
    if (unlikely(c->regroup) && *c->wake_at == SM_NEVER)
        regroup_check_stuck(c);
}

bool sm_accept(struct sm *c, const struct packet *p, uint64_t now)
{
    struct ring *to = &c->lsu.responses;
    enum core_part part = PART_LSU;
    if (p->origin == ORIGIN_L1I) {
        to = &c->front.responses;
        part = PART_FRONT;
    }
    if (ring_full(to))
        return false;
    ring_push(to, p);
    due_now(&c->due, part);
    if (*c->wake_at > now)
        *c->wake_at = now;
    expected_remove(c->net.expected, p);
    return true;
}

bool sm_idle(const struct sm *c)
{
    return !sm_occupied(c) && lsu_idle(&c->lsu) && collector_idle(c->pipes.collector) &&
           (!c->lsu.l1d || cache_idle(c->lsu.l1d));
}
