/* Launches on the timing model: which cores they have, where their blocks go, when they are over, and what to do when
 * nothing goes on.
 *
 * Launches that run together share the memory system; of cores, each has some to itself. The first to start has all of
 * them; a core that has become empty, and for which its launch has no more blocks, goes to another that has. Blocks of
 * two launches on one core at the same time, which GPUs allow, are left out. What is counted in the memory system while
 * several run is counted with the one that started first. */
#include "base/likely.h"
#include "gpu/hang.h"
#include "gpu/held.h"
#include "gpu/host_watch.h"
#include "gpu/issue_order.h"
#include "gpu/l2_policy.h"
#include "gpu/progress.h"
#include "gpu/sample.h"
#include "gpu/spare_rooms.h"
#include "gpu/standstill.h"
#include "gpu/timeline.h"
#include "gpu/timing.h"
#include "gpu/trace.h"
#include "gpu/warps.h"
#include "sm/regroup.h"

#include <assert.h>
#include <string.h>

enum { CHECK_CYCLES = 4096, SAMPLE_CHECK_CYCLES = 1024, SUSPECT_CYCLES_FIRST = 1 << 16, SUSPECT_CYCLES = 1 << 20 };

static bool is_in_use(const struct gpu *g, const struct sm_program *p)
{
    for (const struct residency *r = g->started; p && r; r = r->next)
        if (!r->ended && r->program == p)
            return true;
    return false;
}

static const struct sm_program *program_of(struct timing *t, const struct residency *r)
{
    const struct exec_function *kernel = r->launch.kernel;
    struct kept_program *oldest = NULL;
    for (uint32_t i = 0; i < TIMING_PROGRAMS; i++) {
        struct kept_program *k = &t->programs[i];
        if (k->program && k->image == kernel->image->id && k->kernel == kernel) {
            k->used = r->launch.grid_id;
            return k->program;
        }
        if ((!oldest || k->used < oldest->used) && !is_in_use(r->gpu, k->program))
            oldest = k;
    }
    assert(oldest); /* fewer launches than programs run together */
    const struct sm_program *gone = oldest->program;
    arena_free(&oldest->arena);
    *oldest = (struct kept_program){.image = kernel->image->id, .kernel = kernel, .used = r->launch.grid_id};
    oldest->program = sm_program_create(&oldest->arena, kernel, &t->options->machine.sm);
    for (uint32_t i = 0; gone && i < t->core_count; i++) /* cores that nobody has at present */
        sm_replace_program(t->cores[i], gone, oldest->program);
    return oldest->program;
}

/* Cores and launches */

/* What it counted while nobody had it is nobody's. */
static void take_core(struct timing *t, uint32_t i, struct residency *r)
{
    sm_reset_counters(t->cores[i]);
    if (t->observed.profiles) {
        r->timed.parts[r->timed.part_count] = arena_array(&r->timed.arena, struct profile_pc, r->listing->count + 1);
        profile_core_begin(&t->observed.profiles[i], r->timed.parts[r->timed.part_count++]);
    }
    sm_begin(t->cores[i], &r->timed.arena, r->program, &r->launch, r->timed.block_limit, r->timed.block_warps, t->now);
    if (r->timed.l1_bytes)
        sm_resize_l1(t->cores[i], r->timed.l1_bytes);
    if (t->options->observers.issue_order)
        issue_order_core(t->options->observers.issue_order, i, r->number);
    t->blocks.owner[i] = r;
    t->blocks.owned_since[i] = t->now;
}

/* What it counted goes to its launch. */
static void leave_core(struct timing *t, uint32_t i)
{
    struct residency *r = t->blocks.owner[i];
    struct sm *core = t->cores[i];
    sm_end(core, t->now);
    if (t->observed.profiles)
        profile_core_end(&t->observed.profiles[i]);
    if (r->record.warps)
        warps_take(r->record.warps, &t->observed.warp_logs[i], r->timed.start);
    timing_add_core(core, &r->record.counters);
    if (r->record.tables)
        timing_add_tables(core, r->record.tables);
    r->timed.core_cycles += t->now - t->blocks.owned_since[i];
    t->blocks.owner[i] = NULL;
}

/* May the launch have the core? *soon: not yet, but when what is left in its pipelines has gone. */
static bool may_take(const struct timing *t, const struct sm *c, const struct residency *r, bool *soon)
{
    const struct residency *owner = t->blocks.owner[sm_id(c)];
    if (owner == r || sm_blocks_used(c) || (owner && owner->blocks.next < owner->blocks.count))
        return owner == r;
    if (sm_idle(c))
        return true;
    *soon = true;
    return false;
}

static struct exec_cta *block_room(struct residency *r, struct sm *c, struct error *e)
{
    uint32_t slot = sm_id(c) * sm_block_limit(c) + (uint32_t)__builtin_ctzll(~sm_blocks_used(c));
    if (!r->blocks.slots[slot])
        r->blocks.slots[slot] = spare_rooms_take(r, sm_launch(c), sm_id(c), e);
    if (r->blocks.slots[slot])
        r->blocks.slots[slot]->slot = slot;
    return r->blocks.slots[slot];
}

/* Which block of the grid is the n-th to be placed; blocks of a cluster stay together and in order. */
static uint64_t place_in_grid(const struct timing *t, const struct residency *r, uint64_t n)
{
    if (!t->options->machine.last_block_first)
        return n;
    uint64_t clusters = r->blocks.count / r->blocks.cluster_size;
    return (clusters - 1 - n / r->blocks.cluster_size) * r->blocks.cluster_size + n % r->blocks.cluster_size;
}

bool timing_place_block(struct timing *t, struct residency *r, struct sm *c, struct error *e)
{
    uint32_t id[3];
    struct exec_cta *cta = block_room(r, c, e);
    if (!cta)
        return false;
    launch_block_id(r, place_in_grid(t, r, r->blocks.next++), id);
    exec_cta_start(cta, id);
    sm_place(c, cta, t->now);
    bits_add(t->turns.awake, sm_id(c));
    return true;
}

static bool place_on_port(struct timing *t, struct residency *r, uint32_t port, bool *placed, bool *soon,
                          struct error *e)
{
    uint32_t per_port = t->core_count / t->ports;
    for (uint32_t i = 0; i < per_port; i++) {
        uint32_t k = (t->blocks.last_core[port] + 1 + i) % per_port;
        struct sm *c = t->cores[port * per_port + k];
        if (!may_take(t, c, r, soon))
            continue;
        if (t->blocks.owner[sm_id(c)] != r) {
            if (t->blocks.owner[sm_id(c)])
                leave_core(t, sm_id(c));
            take_core(t, sm_id(c), r);
        }
        if (t->turns.list[sm_id(c)].next_wake || !sm_has_room(c))
            continue;
        if (!timing_place_block(t, r, c, e))
            return false;
        t->blocks.last_core[port] = k;
        *placed = true;
        return true;
    }
    return true;
}

/* Whether the machine's rate allows another block in this cycle. */
static bool is_due(struct timing *t, bool take)
{
    uint64_t rate = t->options->machine.blocks_per_1000_cycles, now = t->now * 1000;
    if (!rate)
        return true;
    if (t->blocks.next_at < now)
        t->blocks.next_at = now;
    if (t->blocks.next_at >= now + 1000)
        return false;
    t->blocks.next_at += take ? 1000 * 1000 / rate : 0;
    return true;
}

/* One block a port and a cycle, of one launch a cycle: the first that can place any. */
bool timing_place_blocks(struct timing *t, struct residency *first, struct error *e)
{
    bool any = false, soon = false, more = false;
    for (struct residency *r = first; r && !any; r = r->next) {
        uint32_t next = t->blocks.last_port + 1;
        if (sample_holds(r))
            continue;
        if (t->now < r->timed.start + t->options->machine.launch_cycles || !is_due(t, false)) {
            soon = true;
            continue;
        }
        for (uint32_t i = 0; i < t->ports && r->blocks.next < r->blocks.count && !r->ended && is_due(t, false); i++) {
            uint32_t port = (next + i) % t->ports;
            bool placed = false;
            if (!place_on_port(t, r, port, &placed, &soon, e))
                return false;
            if (placed) {
                t->blocks.last_port = port;
                is_due(t, true);
            }
            any |= placed;
        }
    }
    for (struct residency *r = first; r; r = r->next)
        more |= r->blocks.next < r->blocks.count && !r->ended;
    t->blocks.may_place = (any || soon) && more;
    return true;
}

/* Ends */

static bool check_cores(const struct timing *t, struct error *e)
{
    for (uint32_t i = 0; i < t->core_count; i++)
        if (!sm_check(t->cores[i], e))
            return false;
    return l2_policies_check(t->l2_policies, e);
}

static uint64_t executed(const struct timing *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        sum += sm_counters(t->cores[i])->stalls[STALL_ISSUED];
    return sum;
}

/* Those too that have ended on a core that is ahead of the others. */
static uint32_t resident_blocks(const struct timing *t, const struct residency *r)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] == r)
            sum += (uint32_t)__builtin_popcountll(sm_blocks_used(t->cores[i])) + sm_head(t->cores[i])->blocks_ended;
    return sum;
}

static bool is_over(const struct timing *t, const struct residency *r)
{
    return !r->ended && r->blocks.next == r->blocks.count && !resident_blocks(t, r) && !sample_holds(r);
}

static uint64_t earliest(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The first cycle in which a limit ends a launch: that of all cycles, or that of each launch. */
static uint64_t first_limit(const struct timing *t, const struct gpu *g)
{
    uint64_t first = t->limit, own = t->options->launch_limit.cycles;
    for (const struct residency *r = g->started; own && r; r = r->next)
        if (!r->ended)
            first = earliest(first, r->timed.start + own);
    return first;
}

static bool check_own_limits(const struct timing *t, struct gpu *g, struct error *e)
{
    uint64_t own = t->options->launch_limit.cycles;
    for (struct residency *r = g->started; r; r = r->next) {
        bool passed = (own && t->now >= r->timed.start + own) || launch_limit_is_out_of_time(r);
        if (r->ended || !passed || is_over(t, r))
            continue;
        launch_limit_report(r, t->now - r->timed.start, r->blocks.next - resident_blocks(t, r));
        *e = r->error;
        return false;
    }
    return true;
}

static bool check_limits(struct timing *t, struct residency *r, struct error *e)
{
    const struct gpu_options *o = t->options;
    if (o->interrupt && *o->interrupt)
        return error_set(e, ERROR_INTERRUPTED, "kernel %s was interrupted after %llu cycles", r->launch.kernel->name,
                         (unsigned long long)(t->now - r->timed.start));
    if (t->now >= t->limit)
        return error_set(e, ERROR_LIMIT, "kernel %s ran past the limit of %llu cycles (--max-cycles)",
                         r->launch.kernel->name, (unsigned long long)o->max_cycles);
    if (!check_own_limits(t, r->gpu, e))
        return false;
    if (o->observers.progress)
        progress_update(o->observers.progress, &(struct progress_state){.launch = r->launch.grid_id,
                                                                        .kernel = r->launch.kernel->name,
                                                                        .cycles = t->now - r->timed.start,
                                                                        .warp_instructions = executed(t),
                                                                        .blocks_started = r->blocks.next,
                                                                        .blocks_done = t->blocks.done,
                                                                        .blocks_all = r->blocks.count});
    return true;
}

static void describe_mixed(const struct timing *t, struct residency *r)
{
    enum { SHOWN = 8 };
    const char *unit = sm_mixing_unit(t->cores[0])->policy.name;
    uint64_t window = t->now - t->hang.window_start;
    uint32_t blocks = 0;
    bool starved = false;
    for (uint32_t i = 0; i < t->core_count; i++)
        starved |= t->blocks.owner[i] == r && regroup_is_starved(t->cores[i], window);
    error_set(&r->error, ERROR_DEADLOCK,
              "kernel %s cannot go on under divergence unit %s: threads spin on a value that others %s",
              r->launch.kernel->name, unit,
              starved ? "would have to write, and so many do that an atomic of these gets no answer"
                      : "of their block would have to write, and these wait for them");
    if (!starved)
        error_note(&r->error,
                   "%s puts the warps of a block together, and has their threads wait for one another where paths "
                   "meet: a lock that one of them holds there never opens. With --divergence pdom warps go on by "
                   "themselves, and so do lanes of one warp in code for sm_70 or later",
                   unit);
    for (uint32_t i = 0; i < t->core_count && blocks < SHOWN; i++) {
        if (t->blocks.owner[i] != r)
            continue;
        blocks += (uint32_t)__builtin_popcountll(sm_blocks_used(t->cores[i]));
        regroup_describe_stuck(t->cores[i], window, &r->error);
    }
}

void timing_describe_hang(struct residency *r)
{
    struct timing *t = r->gpu->timing;
    if (standstill_of_memory(t))
        standstill_describe(t, r->launch.kernel->name, &r->error);
    else if (sm_mixing_unit(t->cores[0]))
        describe_mixed(t, r);
    else
        exec_describe_hang(&r->launch, r->blocks.slots, r->blocks.slot_count, &r->error);
    for (const struct residency *other = r->gpu->started; other; other = other->next)
        if (!other->ended && !other->blocks.next)
            error_note(&r->error,
                       "  kernel %s waits for a core: kernels that run together do not share one where time is "
                       "modelled; --functional has no such limit",
                       other->launch.kernel->name);
    for (uint32_t i = 0; i < t->memory.channels; i++)
        if (!partition_idle(t->memory.partitions[i])) {
            char text[400];
            partition_describe(t->memory.partitions[i], text, sizeof text);
            for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                error_note(&r->error, "%s%s", line == text ? "  " : "    ", line);
        }
}

static bool pending_atomic(void *context, const struct exec_warp *w, struct exec_pending *out)
{
    struct timing *t = context;
    sm_pending(t->cores[w->cta->sm], w, out);
    return true;
}

static void gather(struct timing *t, struct residency *r)
{
    struct gpu_counters *c = &r->record.counters;
    const struct machine *m = &t->options->machine;
    c->timed = true;
    c->cycles = t->now - r->timed.start;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] == r)
            leave_core(t, i);
    timing_settle_memory(t, timing_eldest(r->gpu));
    c->resident_warps_most = r->timed.core_cycles * m->sm.warps;
    c->scheduler_cycles = r->timed.core_cycles * m->sm.schedulers;
    c->launches = 1;
    c->phases = r->program->phase_count;
    c->phase_latencies = r->program->phase_latencies;
}

static uint64_t core_clock(struct exec_launch *l, const struct exec_warp *w)
{
    const struct timing *t = l->user;
    return sm_now(t->cores[w->cta->sm]);
}

static bool begin_trace(struct timing *t, struct residency *r)
{
    struct trace *trace = t->options->observers.trace;
    bool flush = t->options->machine.sm.launch_empties != LAUNCH_EMPTIES_NOTHING;
    return !trace || trace_kernel(trace, profile_listing(&r->gpu->listings, r->launch.kernel), &r->program->view, flush,
                                  &r->error);
}

static bool end_trace(struct timing *t, struct residency *r, bool ok)
{
    struct trace_kernel_end end = trace_end_of(&r->record.counters, !ok);
    return trace_kernel_end(t->options->observers.trace, &end, &r->error) && ok;
}

/* Beginnings and ends */

static void end(struct timing *t, struct residency *r, bool ok)
{
    gather(t, r);
    if (r->timed.sample)
        sample_end(r);
    if (t->options->observers.trace)
        ok = end_trace(t, r, ok);
    timing_end_profile(t, r);
    if (t->options->observers.timeline)
        timeline_kernel(t->options->observers.timeline, r->launch.kernel->name, r->timed.start, t->now);
    progress_end(t->options->observers.progress, r->launch.grid_id);
    arena_free(&r->timed.arena);
    r->ended = true;
    r->ok = ok;
    t->broken |= !ok;
    t->threads.serial = false;
    for (struct residency *other = r->gpu->started; other; other = other->next)
        t->threads.serial |= !other->ended && other->program->serial;
    t->blocks.may_place = true;
}

void timing_give_up(struct gpu *g)
{
    for (struct residency *r = g->started; r; r = r->next)
        if (!r->ended)
            end(g->timing, r, false);
}

/* The machine is empty: all cores are the launch's. */
static void begin_alone(struct timing *t, struct residency *r)
{
    t->blocks.done = t->blocks.seen = 0;
    if (!t->options->machine.launches_go_on)
        t->blocks.last_port = t->ports - 1;
    t->turns.sleep_until = 0;
    if (t->now && t->options->machine.sm.launch_empties == LAUNCH_EMPTIES_CACHES)
        for (uint32_t i = 0; i < t->memory.channels; i++)
            partition_flush(t->memory.partitions[i]);
    for (uint32_t i = 0; i < t->core_count; i++)
        take_core(t, i, r);
}

/* Of units that mix warps: which threads run from now on? */
static void begin_window(struct timing *t)
{
    t->hang.window_start = t->now;
    for (uint32_t i = 0; i < t->core_count && sm_mixing_unit(t->cores[0]); i++)
        regroup_new_window(t->cores[i]);
}

static bool is_alone(const struct residency *r)
{
    for (const struct residency *other = r->gpu->started; other; other = other->next)
        if (other != r && !other->ended)
            return false;
    return true;
}

void timing_start(struct residency *r)
{
    struct timing *t = r->gpu->timing;
    bool alone = is_alone(r);
    if (r->blocks.cluster_size > 1) {
        error_set(&r->error, ERROR_UNSUPPORTED,
                  "kernel %s: clusters of thread blocks have no timing model; run with --functional",
                  r->launch.kernel->name);
        r->ended = true;
        return;
    }
    if (!alone)
        timing_settle_memory(t, timing_eldest(r->gpu)); /* it is not the new one */
    r->program = program_of(t, r);
    r->launch.user = t;
    r->launch.clock = core_clock;
    r->launch.clock_khz = t->options->machine.mem.core_khz;
    r->timed.block_limit = r->blocks.slot_count / t->options->machine.cores;
    r->timed.block_warps = (r->launch.block[0] * r->launch.block[1] * r->launch.block[2] + WARP_LANES - 1) / WARP_LANES;
    r->timed.start = t->now;
    t->observed.sample_at = alone ? UINT64_MAX : t->observed.sample_at;
    timing_begin_profile(t, r);
    if (t->options->observers.issue_order)
        issue_order_launch(t->options->observers.issue_order, profile_listing(&r->gpu->listings, r->launch.kernel),
                           r->launch.kernel->name, r->number, t->now);
    if (alone)
        begin_alone(t, r);
    for (struct residency *other = r->gpu->started; other && !alone; other = other->next)
        sample_stop(t, other);
    if (alone && t->options->sample)
        sample_begin(t, r);
    t->threads.serial = r->program->serial || (!alone && t->threads.serial);
    t->blocks.may_place = true; /* at the end of the first cycle */
    t->hang.patience = SUSPECT_CYCLES_FIRST;
    t->hang.suspect_at = t->now + t->hang.patience;
    begin_window(t);
    if (!begin_trace(t, r))
        end(t, r, false);
}

/* Running */

/* The same of warps that a divergence unit puts together. */
static bool mixed_is_stuck(const struct timing *t, const struct residency *r)
{
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] == r && !regroup_is_stuck(t->cores[i], t->now - t->hang.window_start))
            return false;
    return true;
}

/* Only when none of those that run together can go on is it certain that nothing will happen. Those without a block
 * wait for the others. */
bool timing_is_stuck(struct gpu *g)
{
    struct timing *t = g->timing;
    bool any = false;
    for (struct residency *r = g->started; r; r = r->next) {
        if (r->ended || !resident_blocks(t, r))
            continue;
        bool more = r->blocks.next < r->blocks.count && t->blocks.may_place;
        if (sm_mixing_unit(t->cores[0])
                ? more || !mixed_is_stuck(t, r)
                : !hang_is_certain(r->blocks.slots, r->blocks.slot_count, more, pending_atomic, t))
            return false;
        any = true;
    }
    return any;
}

static bool look_around(struct timing *t, struct residency *r, struct error *e)
{
    return check_cores(t, e) && check_limits(t, r, e) && held_check(t, e) &&
           (!t->options->observers.trace || trace_gather(t->options->observers.trace, e));
}

static void show_channels(const struct timing *t)
{
    for (uint32_t i = 0; i < t->memory.channels; i++)
        timeline_channel(t->options->observers.timeline, i, t->now - 1, partition_waiting(t->memory.partitions[i]));
}

/* Those of which only a part is timed. False: *e, and the launch's own error. */
static bool advance_samples(struct timing *t, struct gpu *g, struct error *e)
{
    for (struct residency *r = g->started; r; r = r->next)
        if (r->timed.sample && !r->ended && !sample_advance(t, r)) {
            *e = r->error;
            return false;
        }
    return true;
}

/* In the cycle `check`, before which nothing happens: samples are taken in the same cycles however cores are run.
 * Returns the next. */
static uint64_t look_at_samples(struct timing *t, struct gpu *g, uint64_t check, bool *ok, struct error *e)
{
    if (check > t->now)
        timing_jump(t, check);
    *ok = check_cores(t, e) && check_limits(t, timing_eldest(g), e) && advance_samples(t, g, e);
    return t->now + SAMPLE_CHECK_CYCLES;
}

static bool end_those_over(struct timing *t, struct gpu *g)
{
    bool any = false;
    for (struct residency *r = g->started; r; r = r->next)
        if (is_over(t, r)) {
            end(t, r, true);
            any = true;
        }
    return any;
}

/* May cores run ahead of each other? Not where launches share the machine, or an instruction of one core may be seen by
 * another at once; nor where cores share a port, or are observed together. */
static bool runs_ahead(const struct timing *t, const struct gpu *g)
{
    uint32_t launches = 0;
    for (const struct residency *r = g->started; r; r = r->next)
        launches += !r->ended;
    return !t->options->lockstep && !t->threads.serial && launches == 1 && t->ports == t->core_count;
}

/* Nothing will happen any more, but a core that ran ahead may have been the last that did something. */
static void reach_all_cores(struct timing *t)
{
    uint64_t end = t->now;
    for (uint32_t i = 0; i < t->core_count; i++)
        end = t->blocks.owner[i] && sm_now(t->cores[i]) + 1 > end ? sm_now(t->cores[i]) + 1 : end;
    if (end > t->now)
        timing_jump(t, end);
}

/* Until a launch has ended, or the cycle `until`. *ok: false, the machine cannot go on. limit: the first cycle in which
 * a limit ends a launch. */
static enum gpu_pause run(struct timing *t, struct gpu *g, uint64_t until, uint64_t limit, bool *ok, struct error *e)
{
    uint64_t check_cycles = t->options->sample ? SAMPLE_CHECK_CYCLES : CHECK_CYCLES, check = t->now + check_cycles;
    struct residency *first = timing_eldest(g);
    bool ahead = runs_ahead(t, g);
    while (*ok && t->now < until) {
        uint64_t next = timing_next_cycle(t);
        if (t->options->sample && next >= check && check < earliest(limit, until)) {
            check = look_at_samples(t, g, check, ok, e);
            if (*ok && end_those_over(t, g))
                return GPU_ENDED;
            next = timing_next_cycle(t);
            if (next != UINT64_MAX)
                continue;
        }
        if (!*ok)
            break;
        if (next == UINT64_MAX) {
            reach_all_cores(t);
            *ok = check_cores(t, e) && held_check_for_ever(t, e);
            return GPU_STUCK;
        }
        next = earliest(next, earliest(limit, until)); /* these two are not run any more */
        if (next >= t->observed.sample_at)
            timing_take_samples(t, g, next);
        if (next > t->now)
            timing_jump(t, next);
        if (next == limit)
            *ok = look_around(t, first, e);
        if (next == limit || next == until)
            break;
        uint64_t end = earliest(earliest(until, limit), earliest(check, t->observed.sample_at));
        t->turns.horizon = !ahead               ? 0
                           : t->threads.workers ? earliest(end, meetings_next(&t->threads.meetings, t->now))
                                                : end;
        *ok = timing_step(t, g->started, e);
        if (unlikely(t->options->observers.timeline))
            show_channels(t);
        if (*ok && (t->now >= check || t->now >= limit)) {
            check = t->now + check_cycles;
            *ok = look_around(t, first, e) && advance_samples(t, g, e);
            if (*ok && t->now >= t->hang.suspect_at) {
                bool stuck = timing_is_stuck(g);
                t->hang.patience = stuck                               ? SUSPECT_CYCLES_FIRST
                                   : t->hang.patience < SUSPECT_CYCLES ? t->hang.patience * 2
                                                                       : SUSPECT_CYCLES;
                t->hang.suspect_at = t->now + t->hang.patience;
                if (stuck)
                    return GPU_STUCK;
                begin_window(t);
            }
        }
        if (*ok && t->blocks.done != t->blocks.seen) {
            t->blocks.seen = t->blocks.done;
            for (struct residency *r = g->started; *ok && r; r = r->next)
                *ok = !is_over(t, r) || check_cores(t, e);
            if (*ok && end_those_over(t, g))
                return GPU_ENDED;
        }
    }
    return GPU_TIRED;
}

/* Whose core is it that found something wrong? */
static struct residency *culprit(const struct timing *t, struct gpu *g)
{
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] && sm_launch(t->cores[i])->faulted)
            return t->blocks.owner[i];
    return timing_eldest(g);
}

/* The machine cannot go on without one of those that share it. */
static void end_company(struct gpu *g)
{
    for (struct residency *r = g->started; r; r = r->next)
        if (!r->ended)
            launch_limit_report_company(r);
}

enum gpu_pause timing_run(struct gpu *g, uint64_t budget)
{
    struct timing *t = g->timing;
    struct error e = {0};
    uint64_t start = t->now;
    bool ok = true;
    enum gpu_pause pause = GPU_ENDED;
    t->limit = t->options->max_cycles ? start + (t->options->max_cycles - g->clock_cycles) : UINT64_MAX;
    if (g->watch)
        host_watch_look(g->watch, t);
    if (timing_eldest(g))
        pause = run(t, g, budget < UINT64_MAX - start ? start + budget : UINT64_MAX, first_limit(t, g), &ok, &e);
    if (g->watch)
        host_watch_look(g->watch, NULL);
    g->clock_cycles += t->now - start;
    if (ok)
        return pause;
    if (e.kind == ERROR_LAUNCH_LIMIT)
        end_company(g);
    else
        culprit(t, g)->error = e;
    timing_give_up(g);
    return GPU_ENDED;
}
