/* A core as a whole: how it is made, a cycle, sleep, what it counts. */
#include "sm/regroup.h"

#include <string.h>

const char *const stall_names[STALL_COUNT] = {
#define STALL(id, name, sample, help, nsight) &name[sizeof "stalls." - 1],
#include "heddle/metrics.def"
};

/* Policies */

static void make_listeners(struct sm *c, struct arena *a)
{
#define MAKE(event, ...) c->listeners.event.to = arena_alloc(a, SM_LISTENERS * sizeof *c->listeners.event.to);
    SM_EVENTS(MAKE)
#undef MAKE
}

void sm_listen(struct sm *c, const struct heddle_policy *p, void *state)
{
#define LISTEN(event, ...)                                                \
    if (p->on.event) {                                                    \
        c->listeners.event.to[c->listeners.event.count].fn = p->on.event; \
        c->listeners.event.to[c->listeners.event.count++].state = state;  \
    }
    SM_EVENTS(LISTEN)
#undef LISTEN
    c->hears_cycles = SM_HEARD(c, cycles);
    c->hears_l1 = c->l1_hooks || SM_HEARD(c, l1_access) || SM_HEARD(c, l1_evict);
    c->hears_fills = c->l1_hooks || SM_HEARD(c, l1_fill);
    c->hears_held = SM_HEARD(c, held);
}

/* Room for what the i-th policy of the core counts, and where its instances find it. */
static struct heddle_setup set_up(struct sm *c, struct arena *a, uint32_t i, const struct heddle_policy *p,
                                  const union heddle_value *values, uint64_t seed)
{
    struct sm_counts *counts = &c->counts[i];
    uint32_t rows = 0;
    while (p->counters && p->counters[rows].name)
        rows++;
    counts->policy = p;
    counts->value_count = policy_value_count(p);
    counts->values = arena_array(a, uint64_t, counts->value_count + 1);
    counts->histograms = arena_array(a, uint64_t *, rows + 1);
    for (uint32_t row = 0; row < rows; row++)
        if (p->counters[row].kind == HEDDLE_HISTOGRAM)
            counts->histograms[row] = policy_histogram(p, counts->values, row);
    return (struct heddle_setup){.core = &c->view,
                                 .values = values,
                                 .counters = counts->values,
                                 .histograms = counts->histograms,
                                 .instructions = &counts->instructions,
                                 .seed = seed};
}

static void *instance(struct sm *c, struct arena *a, const struct heddle_policy *p, const struct heddle_setup *setup,
                      struct error *e)
{
    void *state = arena_alloc(a, p->state_bytes ? p->state_bytes : 1);
    const char *why = NULL;
    struct heddle_setup with_why = *setup;
    with_why.why = &why;
    if (p->init && !p->init(state, &with_why)) {
        error_set(e, ERROR_INVALID, "policy %s cannot work on this machine%s%s", p->name, why ? ": " : "",
                  why ? why : "");
        return NULL;
    }
    sm_listen(c, p, state);
    return state;
}

static bool make_schedulers(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    struct heddle_setup setup = set_up(c, a, 0, &p->scheduler->policy, p->scheduler_values, p->seed);
    for (uint32_t k = 0; k < c->config->schedulers; k++) {
        struct sm_scheduler *s = &c->schedulers[k];
        for (uint32_t slot = k; slot < c->config->warps; slot += c->config->schedulers)
            s->warps |= 1ull << slot;
        s->policy = p->scheduler;
        setup.scheduler = k;
        setup.warps = s->warps;
        s->state = instance(c, a, &p->scheduler->policy, &setup, e);
        if (!s->state)
            return false;
    }
    return true;
}

static bool make_l1_policy(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    const struct heddle_l1 *l1 = p->l1;
    if (!l1)
        return true;
    struct heddle_setup setup = set_up(c, a, 1, &l1->policy, p->l1_values, p->seed);
    c->l1_policy = l1;
    if (!sm_l1_attach(c, e))
        return false;
    c->l1_state = instance(c, a, &l1->policy, &setup, e);
    return c->l1_state != NULL;
}

static bool make_divergence_unit(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    if (!p->divergence)
        return true;
    struct heddle_setup setup = set_up(c, a, 2, &p->divergence->policy, p->divergence_values, p->seed);
    c->divergence = p->divergence;
    c->divergence_state = instance(c, a, &p->divergence->policy, &setup, e);
    return c->divergence_state && (!p->divergence->regroups || (c->regroup = regroup_create(a, c, e)));
}

/* They hear everything after those that decide, and whether there are any must not show in what is simulated. */
static bool make_probes(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    for (uint32_t i = 0; i < p->probe_count; i++, c->policy_count++) {
        struct heddle_setup setup = set_up(c, a, 3 + i, &p->probes[i]->policy, p->probe_values[i], p->seed);
        c->probe_states[i] = instance(c, a, &p->probes[i]->policy, &setup, e);
        if (!c->probe_states[i])
            return false;
    }
    return true;
}

static bool make_policies(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    c->policy_count = 3;
    if (!make_schedulers(c, a, p, e) || !make_l1_policy(c, a, p, e) || !make_divergence_unit(c, a, p, e))
        return false;
    c->tells_cycles = c->hears_cycles;
    c->l1_stirs = SM_HEARD(c, l1_access) || SM_HEARD(c, l1_evict) || SM_HEARD(c, l1_fill);
    c->restless = !p->scheduler->steady_until && (c->hears_cycles || p->scheduler->hold || p->scheduler->hold_loads);
    return make_probes(c, a, p, e);
}

/* Making */

static const struct cache_head no_cache;

static const struct cache_head *head_of(const struct cache *c) { return c ? cache_head(c) : &no_cache; }

static struct cache *make_cache(struct arena *a, const struct cache_config *config)
{
    return config->sets ? cache_create(a, config, NULL, NULL) : NULL;
}

static void make_units(struct sm *c)
{
    const struct sm_config *g = c->config;
    uint32_t sfus = g->sfu_units + g->dp_units;
    for (uint32_t i = 0; i < g->sp_units && c->unit_count < SM_ALU_UNITS; i++)
        c->units[c->unit_count++].from = COLLECT_SP;
    for (uint32_t i = 0; i < sfus && c->unit_count < SM_ALU_UNITS; i++)
        c->units[c->unit_count++].from = COLLECT_SFU;
}

struct sm *sm_create(struct arena *a, const struct sm_config *config, uint32_t id, uint32_t core_count,
                     const struct sm_policies *policies, struct crossbar *requests, const struct address_map *map,
                     uint32_t answer_bytes, const uint64_t *network_now, struct error *e)
{
    struct sm *c = arena_lines(a, struct sm, 1);
    c->config = config;
    c->id = id;
    c->port = id / (config->cores_per_cluster ? config->cores_per_cluster : 1);
    c->requests = requests;
    c->map = map;
    c->answer_bytes = answer_bytes;
    c->network_now = network_now;
    c->core_count = core_count;
    c->thread_interleave = (uint64_t)core_count * config->warps * 32;
    c->collector = collector_create(a, config);
    c->l1d = make_cache(a, &config->l1d);
    c->l1c = make_cache(a, &config->l1c);
    c->l1t = make_cache(a, &config->l1t);
    c->l1i = make_cache(a, &config->l1i);
    c->d = head_of(c->l1d);
    c->constants = head_of(c->l1c);
    c->textures = head_of(c->l1t);
    c->code = head_of(c->l1i);
    if (c->l1d)
        cache_set_writeback(c->l1d, PACKET_L1_WRITEBACK, 2); /* a read may need two places: one for what it evicts */
    c->enters_lsu_late = config->enters_lsu_at_once;
    c->precedes_lsu = config->lsu_steps > 1 || config->l1d_latency_behind;
    make_units(c);
    for (uint32_t i = 0; i < CORE_WARPS_MOST; i++)
        c->slot_bank[i] = (uint8_t)(i % config->register_banks);
    c->inflight = arena_lines(a, struct sm_inflight, SM_INFLIGHT);
    for (uint32_t i = 0; i < SM_INFLIGHT; i++)
        c->free_inflight[c->free_count++] = (uint16_t)(SM_INFLIGHT - 1 - i);
    uint32_t lists = config->mem_issue_width * 2 + config->mem_collectors + 4;
    c->free_access_count = lists < 64 ? lists : 64;
    c->access_pool = arena_array(a, struct sm_accesses, c->free_access_count);
    for (uint32_t i = 0; i < c->free_access_count; i++)
        c->free_accesses[i] = (uint16_t)i;
    ring_init(&c->instruction_responses, a, 4);
    sm_lsu_init(c, a);
    c->view = (struct heddle_core){.id = id,
                                   .warp_slots = config->warps,
                                   .scheduler_count = config->schedulers,
                                   .block_slots = config->blocks,
                                   .l1_sets = config->l1d.sets,
                                   .l1_ways = config->l1d.ways,
                                   .l1_line_bytes = config->l1d.line_bytes,
                                   .warp = c->warps};
    make_listeners(c, a);
    return make_policies(c, a, policies, e) ? c : NULL;
}

void sm_destroy(struct sm *c)
{
    for (uint32_t k = 0; k < c->config->schedulers; k++)
        if (c->schedulers[k].state && c->schedulers[k].policy->policy.finish)
            c->schedulers[k].policy->policy.finish(c->schedulers[k].state);
    if (c->l1_state && c->l1_policy->policy.finish)
        c->l1_policy->policy.finish(c->l1_state);
    if (c->divergence_state && c->divergence->policy.finish)
        c->divergence->policy.finish(c->divergence_state);
    for (uint32_t i = 3; i < c->policy_count; i++)
        if (c->counts[i].policy->finish)
            c->counts[i].policy->finish(c->probe_states[i - 3]);
}

/* Launches */

static void complete_warps(struct sm *c, uint64_t now, bool cut);

/* Blocks of the launch that a core may have at once: not more than its share of them. */
static uint64_t blocks_at_once(const struct sm *c)
{
    uint64_t blocks = (uint64_t)c->launch.grid[0] * c->launch.grid[1] * c->launch.grid[2],
             share = (blocks + c->core_count - 1) / c->core_count;
    return share < c->block_limit ? share : c->block_limit;
}

/* What a launch finds empty. The instruction cache lives on, and so does a texture cache whose answers come in
 * order. */
static void empty_caches(struct sm *c)
{
    enum launch_empties empties = c->config->launch_empties;
    if (empties == LAUNCH_EMPTIES_NOTHING)
        return;
    if (c->l1d)
        sm_l1_invalidate(c);
    if (c->l1t && !c->lsu.fragments)
        cache_invalidate(c->l1t);
    if (c->l1c && empties == LAUNCH_EMPTIES_CACHES)
        cache_empty(c->l1c);
}

/* Tables that grow with the program, for those who asked for them. */
static void make_tables(struct sm *c, struct arena *launch_arena)
{
    for (uint32_t i = 0; i < c->policy_count; i++) {
        const struct heddle_policy *p = c->counts[i].policy;
        uint32_t columns = p ? policy_column_count(p) : 0;
        c->counts[i].instructions =
            columns ? arena_array(launch_arena, uint64_t, (size_t)c->program->count * columns) : NULL;
    }
    bool calls = c->program->count > c->program->kernel->inst_count;
    c->call_loops = calls && SM_HEARD(c, loop) ? arena_array(launch_arena, int32_t, SM_CALLS * c->config->warps) : NULL;
}

void sm_begin(struct sm *c, struct arena *launch_arena, const struct sm_program *program,
              const struct exec_launch *launch, uint32_t block_limit, uint32_t warps_per_block, uint64_t now)
{
    uint32_t words = (program->register_count + 31) / 32 + 1;
    c->program = program;
    c->launch = *launch;
    c->launch.counters = (struct exec_counters){0};
    c->block_limit = block_limit;
    c->warps_per_block = warps_per_block;
    c->near = (struct memory_range){0};
    c->blocks_ended = 0;
    if (c->config->local_by_block)
        c->thread_interleave = (uint64_t)c->core_count * blocks_at_once(c) * warps_per_block * 32;
    for (uint32_t i = 0; i < c->config->warps; i++) {
        c->slots[i] = (struct sm_slot){.scoreboard = arena_array(launch_arena, uint32_t, words),
                                       .long_board = arena_array(launch_arena, uint32_t, words),
                                       .loop = -1};
    }
    c->view.program = &program->view;
    c->view.cycle = c->now = now;
    c->seen = (struct sm_seen){0};
    c->seen_cycles = 0;
    c->accounted = c->cycles_told = now;
    *c->wake_at = SM_NEVER;
    c->held_before = 0;
    make_tables(c, launch_arena);
    empty_caches(c);
    SM_TELL(c, kernel);
    if (c->regroup)
        regroup_begin(c);
}

void sm_end(struct sm *c, uint64_t now)
{
    sm_account_until(c, now);
    if (c->warp_log)
        complete_warps(c, now, true);
    c->view.cycle = now;
    SM_TELL(c, kernel_end);
    c->view.kernel++;
}

uint32_t sm_block_count(const struct sm *c) { return (uint32_t)__builtin_popcountll(c->blocks_used); }

bool sm_has_room(const struct sm *c) { return sm_block_count(c) < c->block_limit; }

uint32_t sm_free_block(const struct sm *c) { return (uint32_t)__builtin_ctzll(~c->blocks_used); }

void sm_place(struct sm *c, struct exec_cta *cta, uint64_t now)
{
    uint32_t block = sm_free_block(c);
    struct sm_block *b = &c->blocks[block];
    sm_account_until(c, now);
    if (c->warp_log)
        complete_warps(c, now, false);
    c->now = c->view.cycle = now;
    *b = (struct sm_block){.cta = cta,
                           .first_warp = block * c->warps_per_block,
                           .warp_count = cta->warp_count,
                           .warps_left = cta->warp_count};
    c->blocks_used |= 1ull << block;
    c->counters.blocks++;
    c->counters.warps += cta->warp_count;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        uint32_t slot = b->first_warp + i;
        struct sm_slot *s = &c->slots[slot];
        struct exec_warp *w = &cta->warps[i];
        *s = (struct sm_slot){.exec = w,
                              .scoreboard = s->scoreboard,
                              .long_board = s->long_board,
                              .block = (uint8_t)block,
                              .loop = -1,
                              .fetch_pc = 0};
        c->warps[slot] = (struct heddle_warp){.age = c->next_age++,
                                              .launch_cycle = now,
                                              .next_pc = HEDDLE_NO_PC,
                                              .active = w->active,
                                              .block = block,
                                              .index = i,
                                              .block_index = cta->index};
        c->resident |= 1ull << slot;
        c->view.resident = c->resident & ~c->ended;
        if (c->warp_log)
            warp_log_begin(
                c->warp_log,
                &(struct warp_row){
                    .block = cta->index, .warp = i, .core = (uint16_t)c->id, .slot = (uint8_t)slot, .begin = now});
        sm_refresh(c, slot);
        SM_TELL(c, launched, slot);
        if (c->observer && c->observer->warp_begin)
            c->observer->warp_begin(c->observer->context, c->id, slot, now, cta->index, i);
    }
    if (c->regroup)
        regroup_place(c, block);
    c->stirred = true;
    c->others_at = 0;
    if (*c->wake_at > now)
        *c->wake_at = now;
}

/* Counting. Most cycles of a waiting core look like the one before: they are counted together when something
 * changes. */

/* log: NULL, or where the cycles are counted for each warp as well. */
static inline __attribute__((always_inline)) void count_stalls(struct sm *c, const struct sm_seen *v, uint64_t cycles,
                                                               struct warp_log *log)
{
    uint64_t rest = v->resident;
    uint64_t *stalls = c->counters.stalls;
    uint64_t warps = (uint64_t)__builtin_popcountll(rest);
    if (!rest)
        return;
#define TAKE(reason, set)                                                      \
    do {                                                                       \
        uint64_t taken_ = rest & (set);                                        \
        rest ^= taken_;                                                        \
        if (__builtin_expect(taken_ != 0, 1))                                  \
            stalls[reason] += cycles * (uint64_t)__builtin_popcountll(taken_); \
        if (log)                                                               \
            warp_log_add(log, reason, taken_, cycles);                         \
    } while (0)
    c->counters.warp_cycles += cycles * warps;
    c->counters.active_cycles += cycles;
    TAKE(STALL_ISSUED, v->issued);
    if (rest & (v->ended | v->fenced | v->atomic_wait)) {
        TAKE(STALL_DRAIN, v->ended);
        TAKE(STALL_FENCE, v->fenced & ~v->at_barrier);
        TAKE(STALL_ATOMIC, v->atomic_wait & ~v->at_barrier);
    }
    TAKE(STALL_BARRIER, v->at_barrier);
    TAKE(STALL_FETCH, v->no_instruction);
    TAKE(STALL_MEMORY, ~v->clear & v->long_wait);
    TAKE(STALL_SCOREBOARD, ~v->clear);
    TAKE(STALL_HELD, v->held);
    TAKE(STALL_PIPELINE, ~v->unit_free);
    TAKE(STALL_NOT_PICKED, ~0ull);
#undef TAKE
}

static inline __attribute__((always_inline)) struct sm_seen look(const struct sm *c)
{
    return (struct sm_seen){.resident = c->resident,
                            .issued = c->issued,
                            .ended = c->ended,
                            .at_barrier = c->at_barrier | c->parked, /* a parked warp waits for others of its block */
                            .fenced = c->fenced,
                            .atomic_wait = c->atomic_wait,
                            .no_instruction = ~c->valid | c->stale | c->asleep,
                            .clear = c->clear,
                            .long_wait = c->long_wait,
                            .held = c->held,
                            .unit_free = c->unit_free};
}

/* For each warp as well: out of the way of runs without a log, which can keep the sets in registers. */
static __attribute__((noinline, cold)) void log_seen(struct sm *c)
{
    count_stalls(c, &c->seen, c->seen_cycles, c->warp_log);
}

static __attribute__((noinline, cold)) void log_cycle(struct sm *c)
{
    struct sm_seen now = look(c);
    count_stalls(c, &now, 1, c->warp_log);
}

static void count_seen(struct sm *c)
{
    if (__builtin_expect(c->warp_log != NULL, 0))
        log_seen(c);
    else
        count_stalls(c, &c->seen, c->seen_cycles, NULL);
    c->seen_cycles = 0;
}

/* Cycles up to now have been accounted for: warps that ended in them have all that is theirs. */
static void complete_warps(struct sm *c, uint64_t now, bool cut)
{
    count_seen(c);
    warp_log_collect(c->warp_log, now, cut);
}

static void account(struct sm *c, uint64_t cycles)
{
    struct sm_seen *v = &c->seen;
    if (c->issued && __builtin_expect(c->warp_log != NULL, 0)) {
        log_cycle(c);
        return;
    }
    struct sm_seen now = look(c);
    if (c->issued) { /* hardly ever like the one before */
        count_stalls(c, &now, 1, NULL);
        return;
    }
    uint64_t changed = (v->resident ^ c->resident) | (v->ended ^ c->ended) | (v->at_barrier ^ now.at_barrier) |
                       (v->fenced ^ c->fenced) | (v->atomic_wait ^ c->atomic_wait) |
                       (v->no_instruction ^ now.no_instruction) | (v->clear ^ c->clear) |
                       (v->long_wait ^ c->long_wait) | (v->held ^ c->held) | ((v->unit_free ^ c->unit_free) & c->clear);
    if (changed) {
        if (c->seen_cycles)
            count_seen(c);
        *v = now;
    }
    c->seen_cycles += cycles;
}

/* Of the schedulers, in cycles like the last that was counted: nobody can issue. */
static inline void count_same_slots(struct sm *c, uint64_t cycles)
{
    uint64_t *unheld = c->seen.resident ? &c->counters.no_ready : &c->counters.idle;
    *unheld += cycles * (c->config->schedulers - c->held_schedulers);
    c->counters.descheduled += cycles * c->held_schedulers;
}

static inline void count_same_cycles(struct sm *c, uint64_t cycles)
{
    count_same_slots(c, cycles);
    c->seen_cycles += cycles;
}

/* Warps that fetch has retired do not count in that cycle; the others count as in the cycle before. */
static __attribute__((noinline, cold)) void forget_retired(struct sm *c)
{
    count_seen(c);
    c->seen.resident = c->resident;
}

/* In the cycles up to now in which the core was not run, the load/store unit's access was refused, if it has one. */
static inline void count_refusals(struct sm *c, uint64_t now)
{
    if (now > c->ran_until && c->lsu.retry >= 0)
        c->counters.l1d.fails[c->lsu.retry] += (now - c->ran_until) * c->config->lsu_steps;
    c->ran_until = now;
}

/* Cycles up to now, of which there is at least one: the core slept, or only its load/store unit had something to do. */
static void count_quiet_cycles(struct sm *c, uint64_t now)
{
    uint64_t cycles = now - c->accounted, slots = cycles * c->config->schedulers;
    c->accounted = now;
    if (!c->stirred && !c->issued) {
        count_same_cycles(c, cycles);
        return;
    }
    if (!c->resident) {
        c->counters.idle += slots;
        return;
    }
    if (c->issued)
        c->stirred = true;
    c->issued = 0;
    c->counters.descheduled += cycles * c->held_schedulers;
    c->counters.no_ready += slots - cycles * c->held_schedulers;
    account(c, cycles);
}

void sm_account_until(struct sm *c, uint64_t now)
{
    count_refusals(c, now);
    if (now > c->accounted)
        count_quiet_cycles(c, now);
}

/* A cycle */

static void wake_sleepers(struct sm *c)
{
    for (uint64_t left = c->asleep; left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        if (c->slots[slot].wake_cycle <= c->now) {
            c->asleep &= ~(1ull << slot);
            c->busy = c->stirred = true;
        }
    }
}

/* Of all but the load/store unit. */
static uint64_t next_event(const struct sm *c)
{
    uint64_t next = c->writebacks_pending ? sm_writeback_next(c) : SM_NEVER,
             t = collector_head(c->collector)->offers ? sm_units_next(c) : SM_NEVER;
    if (t < next)
        next = t;
    for (uint64_t left = c->asleep; left; left &= left - 1) {
        t = c->slots[__builtin_ctzll(left)].wake_cycle;
        if (t < next)
            next = t;
    }
    return next;
}

static inline bool wants_fetch(const struct sm *c)
{
    return (c->wants_fetch | c->over | c->instruction_responses.count | c->code->ready_requests |
            c->code->misses.count) != 0;
}

static inline void fetch_and_decode(struct sm *c)
{
    if (c->fetch_valid)
        sm_decode_cycle(c);
    if (wants_fetch(c))
        sm_fetch_cycle(c);
}

/* What comes before the load/store unit. */
static inline void end_and_start(struct sm *c)
{
    c->stirred |= c->now >= c->held_until;
    if (c->asleep)
        wake_sleepers(c);
    if (c->writeback_count[c->now % SM_TIME_RING])
        sm_writeback_cycle(c);
    if (collector_offers(c->collector, COLLECT_SP) || collector_offers(c->collector, COLLECT_SFU))
        sm_units_cycle(c);
}

static inline void collect(struct sm *c)
{
    if (!collector_moves(c->collector)) {
        collector_forget_writes(c->collector);
        return;
    }
    uint8_t accepted = collector_head(c->collector)->accepts;
    collector_cycle(c->collector);
    c->busy = true;
    c->stirred |= collector_head(c->collector)->accepts != accepted;
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
        moves |= collector_moves(c->collector);
        collector_early_step(c->collector);
    }
    if (moves)
        c->busy = c->stirred = true;
}

/* Issue and fetch: what comes behind the load/store unit and the collectors. */
static inline void finish_cycle(struct sm *c)
{
    if (c->regroup)
        regroup_cycle(c);
    if (c->stirred | c->restless) {
        sm_issue_cycle(c);
        fetch_and_decode(c);
        account(c, 1);
    } else {
        fetch_and_decode(c);
        count_same_slots(c, 1); /* as issue does, before fetch */
        if (__builtin_expect(c->resident != c->seen.resident, 0))
            forget_retired(c);
        c->seen_cycles++;
    }
    c->accounted = c->now + 1;
}

/* What a cycle has found decides when the next one must be. lsu_goes_on: the load/store unit has something to do in
 * it. */
static inline void fall_asleep(struct sm *c, bool lsu_goes_on)
{
    uint64_t lsu_at = lsu_goes_on ? c->now + 1 : sm_lsu_next(c);
    *c->wake_at = lsu_at < c->others_at ? lsu_at : c->others_at;
}

void sm_cycle(struct sm *c, uint64_t now)
{
    count_refusals(c, now);
    c->ran_until = now + 1;
    c->now = c->view.cycle = now;
    c->busy = false;
    *c->blocked_bytes = 0;
    if (__builtin_expect(c->lsu.held_count != 0, 0))
        sm_lsu_release_answers(c);
    bool lsu_only = now < c->others_at;
    if (!lsu_only) {
        if (now > c->accounted)
            count_quiet_cycles(c, now);
        end_and_start(c);
    }
    if (__builtin_expect(c->precedes_lsu, 0))
        precede_lsu(c);
    bool lsu_goes_on = sm_lsu_step(c);
    if (lsu_only) {
        if (!c->stirred && !collector_moves(c->collector)) {
            collector_forget_writes(c->collector);
            if (c->enters_lsu_late)
                lsu_goes_on |= sm_lsu_enter(c);
            fall_asleep(c, lsu_goes_on);
            return;
        }
        if (now > c->accounted)
            count_same_cycles(c, now - c->accounted);
    }
    collect(c);
    if (c->enters_lsu_late)
        lsu_goes_on |= sm_lsu_enter(c);
    finish_cycle(c);
    if (c->busy) {
        c->others_at = *c->wake_at = now + 1;
        return;
    }
    c->others_at = next_event(c);
    if (c->held_until < c->others_at)
        c->others_at = c->held_until;
    fall_asleep(c, lsu_goes_on);
    if (c->restless || c->regroup || wants_fetch(c))
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
    struct ring *to = p->origin == ORIGIN_L1I ? &c->instruction_responses : &c->lsu.responses;
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
    return !c->resident && sm_lsu_idle(c) && collector_idle(c->collector) && (!c->l1d || cache_idle(c->l1d));
}

bool sm_has_work(const struct sm *c) { return c->free_count != SM_INFLIGHT; }

/* They could issue, or are to be sent back to fetch. */
uint64_t sm_kept_back(const struct sm *c)
{
    uint64_t waiting = c->ended | c->at_barrier | c->fenced | c->atomic_wait | c->asleep;
    return (c->held | (c->valid & c->stale & ~waiting)) & c->resident;
}

uint64_t sm_running_warps(const struct sm *c) { return c->resident & ~c->ended & ~c->parked; }

uint32_t sm_warp_pc(const struct sm *c, uint32_t slot) { return sm_program_pc(c->program, c->slots[slot].exec); }

static void add_cache(struct cache_counters *sum, const struct cache_counters *x)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)x;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

void sm_add_counters(struct sm *c, struct sm_counters *sum)
{
    count_seen(c);
    const struct cache *caches[4] = {c->l1d, c->l1c, c->l1t, c->l1i};
    struct cache_counters *sums[4] = {&sum->l1d, &sum->l1c, &sum->l1t, &sum->l1i};
    for (int i = 0; i < 4; i++)
        if (caches[i])
            add_cache(sums[i], cache_counters(caches[i]));
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)&c->counters;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

void sm_reset_counters(struct sm *c)
{
    struct cache *caches[4] = {c->l1d, c->l1c, c->l1t, c->l1i};
    for (int i = 0; i < 4; i++)
        if (caches[i])
            cache_counters_reset(caches[i]);
    for (uint32_t i = 0; i < c->policy_count; i++)
        if (c->counts[i].policy)
            memset(c->counts[i].values, 0, c->counts[i].value_count * sizeof *c->counts[i].values);
    c->counters = (struct sm_counters){0};
}
