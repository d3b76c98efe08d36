/* A core as a whole: how it is made, launches and blocks, the order of the stages in a cycle, what it counts. */
#include "twin.h"

#include "sm/regroup.h"

#include <string.h>

const char *const stall_names[STALL_COUNT] = {
#define STALL(id, name, sample, help, nsight) &name[sizeof "stalls." - 1],
#include "heddle/metrics.def"
};

/* Making */

/* A cache whose owner takes decisions has no short cuts for the accesses that it mostly sees: none of them are taken
 * here, so every access goes the long way. */
static struct cache *make_cache(struct arena *a, const struct cache_config *config)
{
    static const struct cache_choices none;
    struct cache *cache = config->sets ? cache_create(a, config, NULL, NULL) : NULL;
    if (cache && config->ways <= CACHE_MASK_WAYS)
        cache_set_choices(cache, &none);
    return cache;
}

static bool fits(const struct sm_config *g)
{
    uint32_t banks = g->l1d.banks ? g->l1d.banks : 1;
    return g->sp_issue_width <= REGISTERS && g->sfu_issue_width <= REGISTERS && g->mem_issue_width <= REGISTERS &&
           g->sp_collectors + g->sfu_collectors + g->mem_collectors <= COLLECTORS && g->register_banks <= BANKS &&
           g->lsu_response_queue <= ANSWERS && g->l1d.latency_cycles * banks * g->lsu_steps <= QUEUE &&
           g->shared_latency <= QUEUE && g->l1t.mshr_entries <= QUEUE;
}

struct sm *sm_create(struct arena *a, const struct sm_config *config, uint32_t id, uint32_t core_count,
                     const struct sm_policies *policies, const struct sm_wires *wires, struct error *e)
{
    struct sm *c = arena_new(a, struct sm);
    if (config->sub_cores)
        return error_set(e, ERROR_UNSUPPORTED, "the twin has no sub-cores"), NULL;
    if (!fits(config))
        return error_set(e, ERROR_UNSUPPORTED, "the twin has not so much room as this machine asks for"), NULL;
    c->config = config;
    c->head.id = id;
    c->head.port = id / (config->cores_per_cluster ? config->cores_per_cluster : 1);
    c->core_count = core_count;
    c->wires = *wires;
    c->thread_interleave = (uint64_t)core_count * config->warps * WARP_LANES;
    c->l1d = make_cache(a, &config->l1d);
    c->l1c = make_cache(a, &config->l1c);
    c->l1t = make_cache(a, &config->l1t);
    c->l1i = make_cache(a, &config->l1i);
    if (c->l1d)
        cache_set_writeback(c->l1d, PACKET_L1_WRITEBACK, 2); /* a read may need two places: one for what it evicts */
    c->code_responses.limit = 4;
    twin_collectors_init(c);
    twin_units_init(c);
    twin_lsu_init(c);
    c->view = (struct heddle_core){.id = id,
                                   .warp_slots = config->warps,
                                   .scheduler_count = config->schedulers,
                                   .block_slots = config->blocks,
                                   .l1_sets = config->l1d.sets,
                                   .l1_ways = config->l1d.ways,
                                   .l1_line_bytes = config->l1d.line_bytes,
                                   .warp = c->shown};
    return twin_make_policies(c, a, policies, e) ? c : NULL;
}

/* Launches */

/* Threads whose local memory lies side by side: of all warp slots, or of the blocks that run at once. */
static uint64_t interleaved_threads(const struct sm *c)
{
    uint64_t grid = (uint64_t)c->launch.grid[0] * c->launch.grid[1] * c->launch.grid[2],
             share = (grid + c->core_count - 1) / c->core_count,
             blocks = share < c->block_limit ? share : c->block_limit;
    return c->config->local_by_block ? c->core_count * blocks * c->warps_per_block * WARP_LANES
                                     : (uint64_t)c->core_count * c->config->warps * WARP_LANES;
}

static void empty_caches(struct sm *c)
{
    enum launch_empties empties = c->config->launch_empties;
    if (empties == LAUNCH_EMPTIES_NOTHING)
        return;
    if (c->l1d)
        twin_l1_flush(c, true);
    if (c->l1t && !twin_has_texture_queue(c))
        cache_invalidate(c->l1t);
    if (c->l1c && empties == LAUNCH_EMPTIES_CACHES)
        cache_empty(c->l1c);
}

void sm_begin(struct sm *c, struct arena *launch_arena, const struct sm_program *program,
              const struct exec_launch *launch, uint32_t block_limit, uint32_t warps_per_block, uint64_t now)
{
    c->program = program;
    c->launch = *launch;
    c->launch.counters = (struct exec_counters){0};
    c->block_limit = block_limit;
    c->warps_per_block = warps_per_block;
    c->near = (struct memory_range){0};
    c->head.blocks_ended = 0;
    c->held_before = c->untold_cycles = 0;
    c->thread_interleave = interleaved_threads(c);
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        c->warps[slot] = (struct warp){.registers = arena_array(launch_arena, uint8_t, program->register_count + 1)};
    c->view.program = &program->view;
    c->view.cycle = c->now = now;
    *c->wires.wake_at = now; /* it is run in every cycle */
    twin_make_tables(c, launch_arena);
    empty_caches(c);
    TELL(c, kernel);
}

void sm_end(struct sm *c, uint64_t now)
{
    if (c->warp_log)
        warp_log_collect(c->warp_log, now, true);
    c->view.cycle = now;
    TELL(c, kernel_end);
    c->view.kernel++;
}

static uint32_t block_count(const struct sm *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < BLOCKS; i++)
        count += c->blocks[i].cta != NULL;
    return count;
}

bool sm_has_room(const struct sm *c) { return block_count(c) < c->block_limit; }

static uint32_t free_block(const struct sm *c)
{
    uint32_t block = 0;
    while (c->blocks[block].cta)
        block++;
    return block;
}

static void place_warp(struct sm *c, uint32_t block, uint32_t index, struct exec_cta *cta)
{
    uint32_t slot = c->blocks[block].first_warp + index;
    struct warp *w = &c->warps[slot];
    *w = (struct warp){.exec = &cta->warps[index], .block = block, .registers = w->registers, .loop = -1};
    memset(w->registers, VALUE_HERE, c->program->register_count);
    c->shown[slot] = (struct heddle_warp){
        .age = c->next_age++, .launch_cycle = c->now, .block = block, .index = index, .block_index = cta->index};
    if (c->warp_log)
        warp_log_begin(c->warp_log, &(struct warp_row){.block = cta->index,
                                                       .warp = index,
                                                       .core = (uint16_t)c->head.id,
                                                       .slot = (uint8_t)slot,
                                                       .begin = c->now});
    twin_show_warp(c, slot);
    twin_show_resident(c);
    TELL(c, launched, slot);
}

void sm_place(struct sm *c, struct exec_cta *cta, uint64_t now)
{
    uint32_t block = free_block(c);
    if (c->warp_log)
        warp_log_collect(c->warp_log, now, false);
    c->now = c->view.cycle = now;
    c->blocks[block] = (struct block){.cta = cta,
                                      .first_warp = block * c->warps_per_block,
                                      .warp_count = cta->warp_count,
                                      .warps_left = cta->warp_count};
    c->counters.blocks++;
    c->counters.warps += cta->warp_count;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        place_warp(c, block, i, cta);
    *c->wires.wake_at = now;
}

/* A cycle */

static void wake_sleepers(struct sm *c)
{
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (c->warps[slot].asleep_until <= c->now)
            c->warps[slot].asleep = false;
}

/* Where this cycle of a warp went. */
static enum stall reason(const struct sm *c, const struct warp *w)
{
    if (w->issued)
        return STALL_ISSUED;
    if (w->ended)
        return STALL_DRAIN;
    if (w->at_barrier)
        return STALL_BARRIER;
    if (w->fenced)
        return STALL_FENCE;
    if (w->atomics)
        return STALL_ATOMIC;
    if (!w->buffered || twin_is_stale(c, w) || w->asleep)
        return STALL_FETCH;
    if (!twin_has_operands(c, w))
        return twin_waits_for_memory(c, w) ? STALL_MEMORY : STALL_SCOREBOARD;
    if (w->held)
        return STALL_HELD;
    return w->pipeline_open ? STALL_NOT_PICKED : STALL_PIPELINE;
}

static void count(struct sm *c)
{
    uint64_t sets[STALL_COUNT] = {0};
    bool any = false;
    for (uint32_t slot = 0; slot < c->config->warps; slot++) {
        const struct warp *w = &c->warps[slot];
        if (!w->exec)
            continue;
        enum stall why = reason(c, w);
        any = true;
        c->counters.warp_cycles++;
        c->counters.stalls[why]++;
        sets[why] |= 1ull << slot;
        if (c->warp_log)
            c->warp_log->open[slot].stalls[why]++;
    }
    for (int i = 0; c->stall_log && i < STALL_COUNT; i++)
        stall_log_set(c->stall_log, (enum stall)i, sets[i]);
    if (c->stall_log)
        stall_log_pass(c->stall_log, 1);
    c->counters.active_cycles += any;
}

/* Back to front, so that what a stage frees the stage before it can use in the same cycle. */
void sm_cycle(struct sm *c, uint64_t now)
{
    c->now = c->view.cycle = now;
    wake_sleepers(c);
    twin_writeback(c);
    twin_start_units(c);
    twin_lsu_end_hits(c);
    for (uint32_t step = 1; step < c->config->lsu_steps; step++) {
        twin_lsu_step(c);
        twin_collectors_step(c);
    }
    twin_lsu_step(c);
    if (!c->config->enters_lsu_at_once)
        twin_lsu_enter(c);
    twin_collectors_step(c);
    if (c->config->enters_lsu_at_once)
        twin_lsu_enter(c);
    twin_issue(c);
    twin_decode(c);
    twin_fetch(c);
    count(c);
    *c->wires.wake_at = now + 1;
    *c->wires.blocked_bytes = 0;
}

/* Every cycle has been counted. */
void sm_account_until(struct sm *c, uint64_t now) { (void)c, (void)now; }

bool sm_accept(struct sm *c, const struct packet *p, uint64_t now)
{
    struct answers *q = p->origin == ORIGIN_L1I ? &c->code_responses : &c->lsu.responses;
    (void)now;
    if (q->count == q->limit)
        return false;
    q->list[q->count++] = *p;
    return true;
}

/* What the machine asks */

static bool has_work(const struct sm *c)
{
    for (uint32_t i = 0; i < INFLIGHT; i++)
        if (c->inflight[i].used)
            return true;
    return false;
}

bool sm_idle(const struct sm *c)
{
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (c->warps[slot].exec)
            return false;
    return twin_lsu_empty(c) && twin_collectors_empty(c) && (!c->l1d || cache_idle(c->l1d));
}

uint64_t sm_awaiting_scheduler(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++) {
        const struct warp *w = &c->warps[slot];
        if (w->exec && (w->held || (twin_may_issue(c, w) && twin_is_stale(c, w))))
            set |= 1ull << slot;
    }
    return set;
}

bool sm_next_running(const struct sm *c, uint32_t *slot, uint32_t *pc)
{
    for (; *slot < c->config->warps; (*slot)++) {
        const struct warp *w = &c->warps[*slot];
        if (!w->exec || w->ended)
            continue;
        *pc = sm_program_pc(c->program, w->exec);
        return true;
    }
    return false;
}

uint64_t sm_blocks_used(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < BLOCKS; i++)
        if (c->blocks[i].cta)
            set |= 1ull << i;
    return set;
}

uint32_t sm_block_limit(const struct sm *c) { return c->block_limit; }

uint32_t sm_least_cycles(const struct sm *c)
{
    (void)c;
    return 0;
}

struct exec_launch *sm_launch(struct sm *c) { return &c->launch; }

const struct sm_program *sm_program(const struct sm *c) { return c->program; }

void sm_replace_program(struct sm *c, const struct sm_program *gone, const struct sm_program *by)
{
    if (c->program != gone)
        return;
    c->program = by;
    c->view.program = &by->view;
}

bool sm_check(const struct sm *c, struct error *e)
{
    if (c->launch.faulted) {
        exec_fault_describe(&c->launch, e);
        return false;
    }
    return !c->trouble[0] || error_set(e, ERROR_INVALID, "%s", c->trouble);
}

/* Reports of policies that keep a core idle: who, but not by which hook. */
struct sm_blame sm_blame_scheduler(const struct sm *c)
{
    uint64_t warps = sm_awaiting_scheduler(c);
    uint32_t k = 0;
    while (!(warps & c->schedulers[k].warps))
        k++;
    return (struct sm_blame){c->schedulers[k].policy->policy.name, "", k, warps & c->schedulers[k].warps};
}

uint64_t sm_l1_refusals(const struct sm *c, const char **policy, bool *stands)
{
    *stands = has_work(c);
    *policy = c->l1d && c->l1_policy->victim ? c->l1_policy->policy.name : NULL;
    return *policy ? cache_counters(c->l1d)->fails[CACHE_FAIL_WAYS] : 0;
}

uint64_t sm_awaiting_memory(const struct sm *c) { return (void)c, 0; }

uint32_t sm_describe_awaiting(const struct sm *c, uint32_t most, struct error *e)
{
    return (void)c, (void)most, (void)e, 0;
}

const struct heddle_divergence *sm_mixing_unit(const struct sm *c) { return (void)c, NULL; }

/* There are no divergence units that regroup: these are never asked. */
bool regroup_is_stuck(const struct sm *c, uint64_t window) { return (void)c, (void)window, false; }
void regroup_new_window(struct sm *c) { (void)c; }
bool regroup_is_starved(const struct sm *c, uint64_t window) { return (void)c, (void)window, false; }
void regroup_describe_stuck(const struct sm *c, uint64_t window, struct error *e) { (void)c, (void)window, (void)e; }

/* Counters */

const struct sm_counters *sm_counters(const struct sm *c) { return &c->counters; }

uint64_t sm_l1_fails(const struct sm *c)
{
    uint64_t sum = 0;
    for (int i = 0; i < CACHE_FAIL_COUNT; i++)
        sum += c->counters.l1d.fails[i] + (c->l1d ? cache_counters(c->l1d)->fails[i] : 0);
    return sum;
}

void sm_log_warps(struct sm *c, struct warp_log *log) { c->warp_log = log; }
void sm_log_stalls(struct sm *c, struct stall_log *log) { c->stall_log = log; }
void sm_settle_stalls(struct sm *c) { (void)c; /* it counts cycle by cycle */ }

struct sm_counts *sm_policy_counts(struct sm *c, uint32_t *count)
{
    *count = c->policy_count;
    return c->counts;
}

static void add_numbers(void *sum, const void *more, size_t bytes)
{
    uint64_t *to = sum;
    const uint64_t *from = more;
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] += from[i];
}

void sm_add_counters(struct sm *c, struct sm_counters *sum)
{
    const struct cache *caches[4] = {c->l1d, c->l1c, c->l1t, c->l1i};
    struct cache_counters *sums[4] = {&sum->l1d, &sum->l1c, &sum->l1t, &sum->l1i};
    add_numbers(sum, &c->counters, sizeof *sum);
    for (int i = 0; i < 4; i++)
        if (caches[i])
            add_numbers(sums[i], cache_counters(caches[i]), sizeof *sums[i]);
}

void sm_reset_counters(struct sm *c)
{
    struct cache *caches[4] = {c->l1d, c->l1c, c->l1t, c->l1i};
    c->counters = (struct sm_counters){0};
    for (int i = 0; i < 4; i++)
        if (caches[i])
            cache_counters_reset(caches[i]);
    for (uint32_t i = 0; i < c->policy_count; i++)
        if (c->counts[i].policy)
            memset(c->counts[i].values, 0, c->counts[i].value_count * sizeof *c->counts[i].values);
}

uint32_t sm_least_accesses(const struct sm *c, uint32_t warp, uint32_t lanes)
{
    uint32_t line = c->config->l1d.line_bytes, sum = 0, width = 32 / c->config->coalesce_parts;
    for (uint32_t first = 0; first < 32; first += width) {
        uint32_t bytes = 0;
        for (uint32_t lane = first; lane < first + width; lane++)
            bytes += lanes >> lane & 1 ? c->warps[warp].exec->access.bytes : 0;
        sum += bytes / line + (bytes % line != 0);
    }
    return sum;
}

/* Nor an L1 data cache that launches divide with shared memory. */
void sm_resize_l1(struct sm *c, uint32_t bytes) { (void)c, (void)bytes; }
