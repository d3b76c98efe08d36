/* Divergence-aware warp scheduling (Rogers, O'Connor, Aamodt, MICRO 2013): the lines that each warp will bring into the
 * L1D in an iteration of its loop are predicted, and warps may load, oldest first, while the predictions add up to no
 * more than the cache holds. Greedy then oldest among them.
 *
 * The prediction (5.1). When a warp begins an iteration of a loop, each repetition group of the loop's loads counts
 * once: a diverged one as many lines as lanes are active, a converged one two (heddle/load_classes.h). An inner loop's
 * prediction replaces the outer's, and stays when the warp leaves the inner loop: the outer's next iteration computes
 * it again from the inner loop's loads (5.1.3). Leaving the outermost loop clears it. A warp at a barrier counts
 * nothing. While a warp is in a loop, warps outside all loops count, from their next load on, with the prediction of
 * the loop that follows in program order (5.1.2).
 *
 * Who may load (5.1). Predictions are summed up from the oldest warp on, and a warp whose sum, its own included,
 * exceeds assoc * lines of the L1D may not load from global and local memory. The oldest warp with a prediction always
 * may. admit=prefix counts warps that may not load too; admit=greedy does not, so a young warp with a small prediction
 * may pass an older one.
 *
 * A loop is not throttled while one of its warps is predicted to bring more lines than the L1D has: the predictions of
 * all its warps count nothing. oversized=effective draws that line at assoc * lines.
 *
 * How loads are classified. mode=detected (5.2): one warp per loop is watched (heddle/sampling_warps.h). Its loads say
 * whether the loop has intra-warp locality (heddle/load_locality.h; without it nothing is predicted), which of them
 * diverge (heddle/load_divergence.h) and which touch the same lines (heddle/loop_repetition.h). mode=profiled: a file
 * says so (heddle/load_profile.h), except for repetition: loads with the same base register and displacements less
 * than a line apart are assumed to repeat each other.
 *
 * Nesting is counted, where the paper compares addresses: a loop in a called function is an inner loop of the one that
 * the call is in, and the first of two inner loops is not mistaken for an outer one when it begins again. A load of a
 * called function outside that function's loops belongs to no loop. What was learnt stays until another kernel is
 * launched. One table per core, made by its first scheduler.
 *
 * Left out: spilling full tables to memory; new entries are then not taken. As in the paper, a warp that spins in a
 * loop with locality until a younger one has loaded something may wait for ever. */
#include "heddle/load_classes.h"
#include "heddle/load_divergence.h"
#include "heddle/load_locality.h"
#include "heddle/load_profile.h"
#include "heddle/loop_repetition.h"
#include "heddle/sampling_warps.h"
#include "heddle/victim_tags.h"

enum {
    MODE,
    ASSOC,
    ADMIT,
    OVERSIZED,
    CONTROL_FLOW,
    LOCALITY,
    LOCALITY_LEAST,
    PROFILE,
    LOADS,
    DETECTOR_LOADS,
    LOOPS,
    ILRD_ENTRIES,
    ILRD_WAYS,
    VTA_ENTRIES,
    VTA_WAYS,
    VTA_INDEX,
};
enum { DETECTED, PROFILED };
enum { PREFIX, GREEDY };
enum { OF_CAPACITY, OF_EFFECTIVE };
enum { OF_LOADS, OF_ACCESSES };
enum {
    COUNT_VTA_HITS,
    COUNT_THROTTLED_CYCLES,
    COUNT_HELD_WARP_CYCLES,
    COUNT_RESIDENT_WARP_CYCLES,
    COUNT_PREDICTIONS,
    COUNT_PREDICTED_LINES,
    COUNT_OVERSIZED,
    COUNT_OUTSIDE,
    COUNT_SAMPLED_LOADS,
    COUNT_LOCAL_LOADS,
    COUNT_LOOPS_WITH_LOCALITY,
    COUNT_LOADS_CLASSIFIED,
    COUNT_LOADS_DIVERGED,
    COUNT_LOADS_REPEATED,
};
enum { LANES = 32, NO_LOOP = -1, LOCALITY_MOST = 511, DIVERGENCE_BITS = 2 };
/* A load is consistently converged, as section 4.2.1 has it, if at most one execution in so many is diverged. */
enum { CONSISTENTLY = 10 };

/* Cache footprint prediction of a warp. */
struct prediction {
    uint32_t lines;
    int32_t loop;    /* whose loads it counts; outside all loops: the closest one */
    uint32_t nested; /* loops that the warp is in */
};

/* What a warp outside all loops would be predicted at its next load; good while the first three are as they were. */
struct next_load {
    uint32_t pc, active, version, lines;
    int32_t loop;
};

/* The tables of a core. */
struct table {
    bool detected, greedy, control_flow, by_access; /* by_access: each access says whether the loop has locality */
    uint32_t cache_lines;                           /* EffCacheSize, rounded down */
    uint32_t most_lines;                            /* of one warp; with more its loop is not throttled */
    uint64_t *counters;
    const struct heddle_ages *ages;
    struct heddle_victim_tags tags;
    struct heddle_load_classes classes;
    struct heddle_sampling_warps sampling;
    struct heddle_load_locality locality;
    struct heddle_load_divergence divergence;
    struct heddle_loop_repetition repetition;
    struct heddle_load_profile profile;
    char kernel[256];                       /* the one that the tables are about, the beginning of its name */
    uint32_t instruction_count, loop_count; /* of that kernel */
    uint32_t version;                       /* of all that a loop's footprint depends on */

    struct prediction warp[HEDDLE_WARPS];
    uint64_t resident, in_loop; /* as events say */
    uint64_t predicted;         /* warps with a prediction that is not 0 */
    uint64_t oversized;         /* warps with one above most_lines */

    /* The answer, and what it was worked out from. */
    uint64_t held, held_predicted, held_next;
    struct next_load next[HEDDLE_WARPS];
    bool changed;     /* a prediction, since then */
    uint64_t counted; /* cycles before this one are in the counters */
};

struct daws {
    struct heddle_greedy greedy;
    struct table *table;
    bool keeps_table; /* the first scheduler of the core does, for all */
    char why[256];    /* it is refused */
};

static uint64_t bit(uint32_t warp) { return UINT64_C(1) << warp; }

/* ---------------------------------------------------------------- predictions */

/* Lines that a warp brings in an iteration of a loop, if the loop has locality. */
static uint32_t footprint(const struct table *t, int32_t loop, uint32_t active)
{
    if (!t->classes.count || loop == NO_LOOP)
        return 0;
    if (t->detected && !heddle_sampling_warps_has_locality(&t->sampling, loop))
        return 0;
    return heddle_load_classes_lines(&t->classes, loop, t->control_flow ? (uint32_t)__builtin_popcount(active) : LANES);
}

static void set_prediction(struct table *t, uint32_t warp, int32_t loop, uint32_t lines)
{
    struct prediction *w = &t->warp[warp];
    if (w->lines == lines && w->loop == loop)
        return;
    w->lines = lines;
    w->loop = loop;
    t->predicted = lines ? t->predicted | bit(warp) : t->predicted & ~bit(warp);
    t->oversized = lines > t->most_lines ? t->oversized | bit(warp) : t->oversized & ~bit(warp);
    t->changed = true;
}

static void predict(struct table *t, uint32_t warp, int32_t loop, uint32_t active)
{
    uint32_t lines = footprint(t, loop, active);
    bool oversized = lines > t->most_lines;
    t->counters[COUNT_OVERSIZED] += oversized;
    t->counters[COUNT_PREDICTIONS] += lines && !oversized;
    t->counters[COUNT_PREDICTED_LINES] += oversized ? 0 : lines;
    set_prediction(t, warp, loop, lines);
}

/* The loop that begins next in program order; one that begins with the load at pc is about to be entered. */
static int32_t closest_loop(const struct heddle_program *p, uint32_t pc)
{
    int32_t closest = NO_LOOP;
    for (uint32_t i = 0; i < p->loop_count; i++)
        if (p->loops[i].begin >= pc && (closest == NO_LOOP || p->loops[i].begin < p->loops[closest].begin))
            closest = (int32_t)i;
    return closest;
}

/* The warps of a set that are in the same loop as an oversized one of the set. */
static uint64_t in_oversized_loops(const struct table *t, uint64_t warps)
{
    uint64_t found = 0;
    for (uint64_t large = warps & t->oversized; large; large &= ~found) {
        int32_t loop = t->warp[__builtin_ctzll(large)].loop;
        for (uint64_t rest = warps & ~found; rest; rest &= rest - 1)
            if (t->warp[__builtin_ctzll(rest)].loop == loop)
                found |= rest & -rest;
    }
    return found;
}

/* Warps in loops that are throttled. Only while there are some do warps outside count. */
static uint64_t counted_warps(const struct table *t, const struct heddle_core *core)
{
    uint64_t warps = t->predicted & ~core->at_barrier;
    return warps & ~in_oversized_loops(t, warps);
}

static void forget_warp(struct table *t, uint32_t warp)
{
    set_prediction(t, warp, NO_LOOP, 0);
    t->warp[warp].nested = 0;
    t->in_loop &= ~bit(warp);
}

/* ---------------------------------------------------------------- who may load */

static void count_cycles(struct table *t, uint64_t now)
{
    uint64_t cycles = now - t->counted;
    t->counters[COUNT_RESIDENT_WARP_CYCLES] += cycles * (uint64_t)__builtin_popcountll(t->resident);
    t->counters[COUNT_THROTTLED_CYCLES] += t->held ? cycles : 0;
    t->counters[COUNT_HELD_WARP_CYCLES] += cycles * (uint64_t)__builtin_popcountll(t->held);
    t->counted = now;
}

/* Warps outside all loops whose next instruction is a load, while one in a loop counts. Sees to it that next[] is right
 * for them. */
static uint64_t loads_outside(struct table *t, const struct heddle_core *core)
{
    uint64_t found = core->resident & core->next_is_l1_load & ~t->in_loop & ~core->at_barrier;
    for (uint64_t rest = found; rest; rest &= rest - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(rest);
        uint32_t pc = core->warp[warp].next_pc, active = core->warp[warp].active;
        struct next_load *n = &t->next[warp];
        if (pc == HEDDLE_NO_PC || !(core->program->instructions[pc].flags & HEDDLE_L1D_LOAD)) {
            found &= ~bit(warp); /* it issued in this cycle */
            continue;
        }
        if (n->pc == pc && n->active == active && n->version == t->version)
            continue;
        int32_t loop = closest_loop(core->program, pc);
        uint32_t lines = footprint(t, loop, active);
        t->changed |= lines != n->lines || loop != n->loop;
        *n = (struct next_load){.pc = pc, .active = active, .version = t->version, .lines = lines, .loop = loop};
    }
    return found;
}

/* Lines that the next load of a warp outside all loops counts for: none where its closest loop is not throttled. */
static uint32_t lines_of_next_load(const struct table *t, const struct heddle_core *core, uint32_t warp)
{
    const struct next_load *n = &t->next[warp];
    if (n->lines > t->most_lines)
        return 0;
    for (uint64_t large = t->oversized & ~core->at_barrier; large; large &= large - 1)
        if (t->warp[__builtin_ctzll(large)].loop == n->loop)
            return 0;
    return n->lines;
}

/* The inclusive prefix sum, from the oldest warp on, which may load whatever its own prediction is. */
static uint64_t beyond_the_cache(const struct table *t, const struct heddle_core *core, uint64_t counted, uint64_t next)
{
    uint32_t lines[HEDDLE_WARPS], sum = 0;
    uint64_t counts = 0, held = 0;
    for (uint64_t rest = counted | next; rest; rest &= rest - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(rest);
        lines[warp] = next & bit(warp) ? lines_of_next_load(t, core, warp) : t->warp[warp].lines;
        counts |= lines[warp] ? bit(warp) : 0;
        sum += lines[warp];
    }
    if (sum <= t->cache_lines)
        return 0;
    uint32_t oldest = (uint32_t)heddle_ages_oldest(t->ages, counts);
    sum = lines[oldest];
    for (uint64_t rest = counts & ~bit(oldest); rest;) {
        uint32_t warp = (uint32_t)heddle_ages_oldest(t->ages, rest);
        if (sum + lines[warp] <= t->cache_lines)
            sum += lines[warp];
        else if (t->greedy)
            held |= bit(warp);
        else
            return rest; /* sums only grow */
        rest &= ~bit(warp);
    }
    return held;
}

static uint64_t hold_loads(void *state, const struct heddle_core *core)
{
    struct table *t = ((struct daws *)state)->table;
    uint64_t predicted = t->predicted & ~core->at_barrier, counted = counted_warps(t, core);
    uint64_t next = counted ? loads_outside(t, core) : 0;
    if (t->changed || predicted != t->held_predicted || next != t->held_next) {
        count_cycles(t, core->cycle);
        t->held = beyond_the_cache(t, core, counted, next);
        t->held_predicted = predicted;
        t->held_next = next;
        t->changed = false;
    }
    return t->held;
}

/* Answers change with events and with the core's sets only. */
static uint64_t steady_until(void *state, const struct heddle_core *core)
{
    (void)state, (void)core;
    return UINT64_MAX;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct daws *s = state;
    (void)core;
    return heddle_greedy_pick(&s->greedy, candidates);
}

/* ---------------------------------------------------------------- classification of loads */

static bool is_sampled(const struct table *t, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    return t->detected && heddle_sampling_warps_samples(&t->sampling, core->program->instructions[pc].loop, warp);
}

static void classify(struct table *t, uint32_t pc, int32_t loop, bool diverged)
{
    uint32_t loads = t->classes.count;
    if (!heddle_load_classes_put(&t->classes, pc, loop, diverged))
        return;
    t->version++;
    t->counters[COUNT_LOADS_CLASSIFIED] += t->classes.count - loads;
    t->counters[COUNT_LOADS_DIVERGED] += diverged;
}

static void repeat(struct table *t, uint32_t pc, uint32_t other)
{
    if (!heddle_load_classes_join(&t->classes, pc, other))
        return;
    t->version++;
    t->counters[COUNT_LOADS_REPEATED]++;
}

/* Detected: a load of a sampling warp is done, or one of its accesses. */
static void judge(struct table *t, uint32_t pc, int32_t loop, bool local)
{
    bool had = heddle_sampling_warps_has_locality(&t->sampling, loop);
    bool has = heddle_sampling_warps_judge(&t->sampling, loop, local);
    t->counters[COUNT_SAMPLED_LOADS]++;
    t->counters[COUNT_LOCAL_LOADS] += local;
    t->counters[COUNT_LOOPS_WITH_LOCALITY] += has && !had;
    t->version += has != had;
    if (has)
        classify(t, pc, loop, heddle_load_divergence_is_diverged(&t->divergence, pc));
}

/* Profiled: does the loop have locality? */
static bool profiled_locality(const struct heddle_program *p, const struct heddle_profiled_kernel *k, int32_t loop)
{
    uint64_t accesses = 0, local = 0;
    for (uint32_t i = 0; i < k->load_count; i++)
        if (k->loads[i].pc < p->instruction_count && p->instructions[k->loads[i].pc].loop == loop) {
            accesses += k->loads[i].accesses;
            local += k->loads[i].local;
        }
    return local > accesses - local;
}

/* Same base register, and less than a line between the displacements. */
static bool repeats(const struct heddle_instruction *a, const struct heddle_instruction *b, uint32_t line_bytes)
{
    int64_t between = (int64_t)a->offset - b->offset;
    return a->address != HEDDLE_NO_REGISTER && a->address == b->address && llabs(between) < line_bytes;
}

static void classify_profiled(struct table *t, const struct heddle_core *core)
{
    const struct heddle_program *p = core->program;
    const struct heddle_profiled_kernel *k = heddle_load_profile_find(&t->profile, p->kernel);
    for (uint32_t i = 0; k && i < k->load_count; i++) {
        const struct heddle_profiled_load *l = &k->loads[i];
        if (!l->executions || l->pc >= p->instruction_count)
            continue;
        const struct heddle_instruction *in = &p->instructions[l->pc];
        if (in->loop == NO_LOOP || !(in->flags & HEDDLE_L1D_LOAD) || !profiled_locality(p, k, in->loop))
            continue;
        classify(t, (uint32_t)l->pc, in->loop, l->diverged > l->considered / CONSISTENTLY);
        for (uint32_t j = 0; j < t->classes.count; j++)
            if (repeats(in, &p->instructions[t->classes.entries[j].pc], core->l1_line_bytes))
                repeat(t, (uint32_t)l->pc, t->classes.entries[j].pc);
    }
}

/* ---------------------------------------------------------------- events */

static void free_table(struct table *t)
{
    heddle_victim_tags_free(&t->tags);
    heddle_load_classes_free(&t->classes);
    heddle_sampling_warps_free(&t->sampling);
    heddle_load_divergence_free(&t->divergence);
    heddle_loop_repetition_free(&t->repetition);
    heddle_load_profile_free(&t->profile);
    free(t);
}

/* The tables of the sizes that the parameters say; NULL, or what is wrong. */
static const char *make_parts(struct table *t, const struct heddle_core *core, const union heddle_value *v)
{
    uint32_t vta = (uint32_t)v[VTA_ENTRIES].integer, vta_ways = (uint32_t)v[VTA_WAYS].integer;
    uint32_t ilrd = (uint32_t)v[ILRD_ENTRIES].integer, ilrd_ways = (uint32_t)v[ILRD_WAYS].integer;
    vta_ways = vta_ways < vta ? vta_ways : vta;
    ilrd_ways = ilrd_ways < ilrd ? ilrd_ways : ilrd;
    if (vta % vta_ways)
        return "vta_entries is not a multiple of vta_ways";
    if (ilrd % ilrd_ways)
        return "ilrd_entries is not a multiple of ilrd_ways";
    if (!core->l1_line_bytes)
        return "it needs an L1 data cache";
    bool made = heddle_victim_tags_init(&t->tags, core->warp_slots, vta / vta_ways, vta_ways, core->l1_line_bytes,
                                        (enum heddle_victim_index)v[VTA_INDEX].integer) &&
                heddle_load_classes_init(&t->classes, (uint32_t)v[LOADS].integer) &&
                heddle_sampling_warps_init(&t->sampling, (uint32_t)v[LOOPS].integer, (int32_t)v[LOCALITY_LEAST].integer,
                                           LOCALITY_MOST) &&
                heddle_load_divergence_init(&t->divergence, (uint32_t)v[DETECTOR_LOADS].integer, DIVERGENCE_BITS) &&
                heddle_loop_repetition_init(&t->repetition, ilrd / ilrd_ways, ilrd_ways, core->l1_line_bytes);
    return made ? NULL : "no memory for its tables";
}

static struct table *make_table(struct daws *s, const struct heddle_setup *setup)
{
    const union heddle_value *v = setup->values;
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->detected = v[MODE].integer == DETECTED;
    t->greedy = v[ADMIT].integer == GREEDY;
    t->control_flow = v[CONTROL_FLOW].integer;
    t->by_access = v[LOCALITY].integer == OF_ACCESSES;
    uint32_t lines = setup->core->l1_sets * setup->core->l1_ways;
    t->cache_lines = (uint32_t)(v[ASSOC].real * lines + 1e-6); /* 0.57 * 100 is 57 */
    t->most_lines = v[OVERSIZED].integer == OF_CAPACITY ? lines : t->cache_lines;
    t->counters = setup->counters;
    t->ages = &s->greedy.ages;
    const char *wrong = make_parts(t, setup->core, v);
    if (!wrong && !t->detected && !*v[PROFILE].text)
        wrong = "mode=profiled needs profile=FILE";
    if (!wrong && !t->detected && !heddle_load_profile_read(&t->profile, v[PROFILE].text, s->why, sizeof s->why))
        wrong = s->why;
    if (!wrong)
        return t;
    heddle_refuse(setup, wrong);
    free_table(t);
    return NULL;
}

static bool init(void *state, const struct heddle_setup *setup)
{
    struct daws *s = state;
    s->greedy.warps = setup->warps;
    s->keeps_table = !setup->scheduler;
    if (s->keeps_table)
        setup->core->shared[0] = make_table(s, setup);
    s->table = setup->core->shared[0];
    return s->table != NULL;
}

static void finish(void *state)
{
    struct daws *s = state;
    if (s->keeps_table && s->table)
        free_table(s->table);
}

static bool is_known_kernel(const struct table *t, const struct heddle_program *p)
{
    return !strncmp(t->kernel, p->kernel, sizeof t->kernel - 1) && t->instruction_count == p->instruction_count &&
           t->loop_count == p->loop_count;
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct daws *s = state;
    struct table *t = s->table;
    if (!s->keeps_table)
        return;
    heddle_victim_tags_flush(&t->tags);
    t->counted = core->cycle;
    if (is_known_kernel(t, core->program))
        return;
    snprintf(t->kernel, sizeof t->kernel, "%s", core->program->kernel);
    t->instruction_count = core->program->instruction_count;
    t->loop_count = core->program->loop_count;
    heddle_load_classes_clear(&t->classes);
    heddle_sampling_warps_clear(&t->sampling);
    heddle_load_divergence_clear(&t->divergence);
    heddle_loop_repetition_flush(&t->repetition);
    t->version++;
    if (!t->detected)
        classify_profiled(t, core);
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct daws *s = state;
    struct table *t = s->table;
    heddle_ages_launched(&s->greedy.ages, warp);
    if (!s->keeps_table)
        return;
    count_cycles(t, core->cycle);
    t->resident |= bit(warp);
    forget_warp(t, warp);
}

static void ended(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct daws *s = state;
    struct table *t = s->table;
    if (!s->keeps_table)
        return;
    count_cycles(t, core->cycle);
    t->resident &= ~bit(warp);
    t->held &= ~bit(warp);
    forget_warp(t, warp);
    heddle_sampling_warps_ended(&t->sampling, warp);
}

/* Comes before the instruction that begins the iteration, or that is the first outside, is issued. */
static void loop(void *state, const struct heddle_core *core, const struct heddle_loop_event *e)
{
    struct daws *s = state;
    struct table *t = s->table;
    struct prediction *w = &t->warp[e->warp];
    (void)core;
    if (!s->keeps_table)
        return;
    if (e->step == HEDDLE_LOOP_LEAVE) {
        heddle_sampling_warps_leave(&t->sampling, e->loop, e->warp);
        if (w->nested && --w->nested == 0)
            forget_warp(t, e->warp);
        return;
    }
    if (e->step == HEDDLE_LOOP_ENTER) {
        w->nested++;
        t->in_loop |= bit(e->warp);
    }
    predict(t, e->warp, e->step == HEDDLE_LOOP_ENTER ? e->loop : w->loop, e->active);
    if (!t->detected)
        return;
    if (e->step == HEDDLE_LOOP_ENTER)
        heddle_sampling_warps_enter(&t->sampling, e->loop, e->warp, (uint32_t)__builtin_popcount(e->active));
    if (heddle_sampling_warps_samples(&t->sampling, e->loop, e->warp))
        heddle_loop_repetition_clear(&t->repetition, e->warp);
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct daws *s = state;
    struct table *t = s->table;
    heddle_greedy_issued(&s->greedy, e->warp);
    if (!s->keeps_table || !(e->instruction->flags & HEDDLE_L1D_LOAD) || t->in_loop & bit(e->warp))
        return;
    if (!counted_warps(t, core))
        return;
    t->counters[COUNT_OUTSIDE]++;
    predict(t, e->warp, closest_loop(core->program, e->pc), e->path);
}

static void coalesced(void *state, const struct heddle_core *core, const struct heddle_coalesced *e)
{
    struct daws *s = state;
    if (s->keeps_table && !e->store && e->through_l1 && is_sampled(s->table, core, e->warp, e->pc))
        heddle_load_divergence_seen(&s->table->divergence, e->pc, (uint32_t)__builtin_popcount(e->active), e->accesses);
}

static void l1_evict(void *state, const struct heddle_core *core, const struct heddle_l1_evict *e)
{
    struct daws *s = state;
    (void)core;
    if (s->keeps_table)
        heddle_victim_tags_evicted(&s->table->tags, e);
}

static void l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct daws *s = state;
    struct table *t = s->table;
    if (!s->keeps_table)
        return;
    bool lost = heddle_victim_tags_accessed(&t->tags, e);
    t->counters[COUNT_VTA_HITS] += lost;
    if (!t->detected || e->store || e->outcome == HEDDLE_FAIL)
        return;
    bool local = heddle_load_locality_of_access(&t->locality, e, core->warp[e->warp].age, lost);
    enum heddle_load_answer answer = heddle_load_locality_accessed(&t->locality, e, local);
    if (!is_sampled(t, core, e->warp, e->pc))
        return;
    if (t->by_access)
        judge(t, e->pc, core->program->instructions[e->pc].loop, local);
    else if (answer != HEDDLE_LOAD_GOES_ON)
        judge(t, e->pc, core->program->instructions[e->pc].loop, answer == HEDDLE_LOAD_WITH_LOCALITY);
    uint32_t first = heddle_loop_repetition_probe(&t->repetition, e->warp, e->pc, e->address);
    if (first != HEDDLE_NO_PC && first != e->pc)
        repeat(t, first, e->pc);
}

/* ---------------------------------------------------------------- the policy */

static const char *const modes[] = {[DETECTED] = "detected", [PROFILED] = "profiled", NULL};
static const char *const localities[] = {[OF_LOADS] = "load", [OF_ACCESSES] = "access", NULL};
static const char *const admits[] = {[PREFIX] = "prefix", [GREEDY] = "greedy", NULL};
static const char *const sizes[] = {[OF_CAPACITY] = "capacity", [OF_EFFECTIVE] = "effective", NULL};

static const struct heddle_param params[] = {
    [MODE] = {.name = "mode",
              .type = HEDDLE_CHOICE,
              .default_value = "detected",
              .choices = modes,
              .help = "loads are classified as the program runs, or in advance by a profile"},
    [ASSOC] = {.name = "assoc",
               .type = HEDDLE_REAL,
               .default_value = "0.6",
               .least = 0.01,
               .most = 100,
               .help = "share of the L1D's lines that predictions may fill, for its associativity"},
    [ADMIT] = {.name = "admit",
               .type = HEDDLE_CHOICE,
               .default_value = "prefix",
               .choices = admits,
               .help = "older warps that may not load count too, or do not"},
    [OVERSIZED] = {.name = "oversized",
                   .type = HEDDLE_CHOICE,
                   .default_value = "capacity",
                   .choices = sizes,
                   .help = "a loop is not throttled while the prediction of one warp exceeds this: all lines of the "
                           "L1D, or assoc of them"},
    [CONTROL_FLOW] = {.name = "control_flow",
                      .type = HEDDLE_FLAG,
                      .default_value = "on",
                      .help = "off: all lanes are taken for active"},
    [LOCALITY] = {.name = "locality",
                  .type = HEDDLE_CHOICE,
                  .default_value = "access",
                  .choices = localities,
                  .help = "what counts for or against a loop's locality: a load of the sampling warp, or an access"},
    [LOCALITY_LEAST] = {.name = "locality_least",
                        .type = HEDDLE_INTEGER,
                        .default_value = "0",
                        .least = -512,
                        .most = 0,
                        .help = "where a loop's locality counter stops on its way down"},
    [PROFILE] = {.name = "profile", .type = HEDDLE_TEXT, .default_value = "", .help = "the file of mode=profiled"},
    [LOADS] = {.name = "loads",
               .type = HEDDLE_INTEGER,
               .default_value = "32",
               .least = 1,
               .most = 4096,
               .help = "loads that can be classified"},
    [DETECTOR_LOADS] = {.name = "detector_loads",
                        .type = HEDDLE_INTEGER,
                        .default_value = "64",
                        .least = 1,
                        .most = 4096,
                        .help = "loads of the divergence detector"},
    [LOOPS] = {.name = "loops",
               .type = HEDDLE_INTEGER,
               .default_value = "64",
               .least = 1,
               .most = 4096,
               .help = "loops that can be sampled"},
    [ILRD_ENTRIES] = {.name = "ilrd_entries",
                      .type = HEDDLE_INTEGER,
                      .default_value = "64",
                      .least = 1,
                      .most = 65536,
                      .help = "lines of the repetition detector"},
    [ILRD_WAYS] = {.name = "ilrd_ways",
                   .type = HEDDLE_INTEGER,
                   .default_value = "8",
                   .least = 1,
                   .most = 65536,
                   .help = "of them in a set, a divisor; at most all"},
    [VTA_ENTRIES] = {.name = "vta_entries",
                     .type = HEDDLE_INTEGER,
                     .default_value = "16",
                     .least = 1,
                     .most = 1024,
                     .help = "victim tags per warp"},
    [VTA_WAYS] = {.name = "vta_ways",
                  .type = HEDDLE_INTEGER,
                  .default_value = "8",
                  .least = 1,
                  .most = 1024,
                  .help = "of them in a set, a divisor; at most all"},
    [VTA_INDEX] = {.name = "vta_index",
                   .type = HEDDLE_CHOICE,
                   .default_value = "hash",
                   .choices = heddle_victim_indices,
                   .help = HEDDLE_VICTIM_INDEX_HELP},
    {0},
};
static const struct heddle_counter counters[] = {
    [COUNT_VTA_HITS] = {.name = "vta_hits",
                        .unit = "accesses",
                        .help = "loads that missed on a line which their warp had lost (found in its victim tags)"},
    [COUNT_THROTTLED_CYCLES] = {.name = "throttled_cycles",
                                .unit = "cycles",
                                .help = "core cycles in which some warp might not issue loads"},
    [COUNT_HELD_WARP_CYCLES] = {.name = "held_warp_cycles",
                                .unit = "warp cycles",
                                .help =
                                    "warps that might not issue loads when last asked about, summed over the cycles"},
    [COUNT_RESIDENT_WARP_CYCLES] = {.name = "resident_warp_cycles",
                                    .unit = "warp cycles",
                                    .help = "warps on a core, summed over the cycles"},
    [COUNT_PREDICTIONS] = {.name = "predictions", .unit = "times", .help = "footprints that were predicted, not 0"},
    [COUNT_PREDICTED_LINES] = {.name = "predicted_lines",
                               .unit = "lines",
                               .help = "their sum; a mean with `predictions`"},
    [COUNT_OVERSIZED] = {.name = "oversized",
                         .unit = "times",
                         .help = "footprints too large for a loop to be throttled"},
    [COUNT_OUTSIDE] = {.name = "outside",
                       .unit = "loads",
                       .help = "loads outside loops that took the prediction of their closest loop"},
    [COUNT_SAMPLED_LOADS] = {.name = "sampled_loads",
                             .unit = "loads",
                             .help = "accesses of sampling warps' loads in their loops; with locality=load, loads"},
    [COUNT_LOCAL_LOADS] = {.name = "local_loads",
                           .unit = "loads",
                           .help = "of these, those with intra-warp locality, captured or lost"},
    [COUNT_LOOPS_WITH_LOCALITY] = {.name = "loops_with_locality",
                                   .unit = "times",
                                   .help = "a loop's locality counter rose above 0"},
    [COUNT_LOADS_CLASSIFIED] = {.name = "loads_classified",
                                .unit = "loads",
                                .help = "entries made in the static load classification table"},
    [COUNT_LOADS_DIVERGED] = {.name = "loads_diverged",
                              .unit = "times",
                              .help = "a load was classified as diverged that was not before"},
    [COUNT_LOADS_REPEATED] = {.name = "loads_repeated", .unit = "times", .help = "two repetition groups became one"},
    {0},
};

const struct heddle_scheduler scheduler_daws = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "daws",
            .help = "divergence-aware: the oldest warps whose predicted footprints fit into the cache may load; "
                    "greedy then oldest (DAWS)",
            .params = params,
            .counters = counters,
            /* Victim tags of 48-bit addresses; footprint, its loop's PC, loops around; the age. PCs have 32 bits. */
            .bits_per_warp = 16 * 40 + (11 + 32 + 4) + 6,
            /* Loads: two PCs, diverged, group. Loops: PC, warp, counter. Detector: PC, counter. ILRD: tag, PC, warp.
             * The last warp that issued. */
            .bits_per_core = 32 * (32 + 32 + 1 + 5) + 64 * (32 + 5 + 10) + 64 * (32 + 2) + 64 * (40 + 32 + 5) + 6,
            .bits_per_line = 5, /* the warp that brought it, of 32 as in the paper */
            .state_bytes = sizeof(struct daws),
            .init = init,
            .finish = finish,
            .on = {.kernel = kernel,
                   .launched = launched,
                   .ended = ended,
                   .issued = issued,
                   .loop = loop,
                   .coalesced = coalesced,
                   .l1_access = l1_access,
                   .l1_evict = l1_evict},
        },
    .pick = pick,
    .hold_loads = hold_loads,
    .steady_until = steady_until,
};

#ifdef HEDDLE_SHARED_OBJECT
HEDDLE_EXPORT_SCHEDULER(scheduler_daws);
#endif
