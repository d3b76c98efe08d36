/* What the L1 data cache does for critical warps (CAWA, ISCA 2015, figures 3, 8, 14 and 15): their hits, what becomes
 * of the lines that they use, and how often such a line is gone before one of them comes back to it.
 *
 * Whether a warp is critical is what the predictor (heddle/criticality.h) says when its access is made. Loads alone are
 * counted, and an access that fails is none. A critical line is one that a critical warp brought or used.
 *
 * Reuse: another load finds the line, in the cache or still on its way, while it stays. Accesses of one execution of a
 * load are one use, as a converged load makes two of the same line where half warps are coalesced.
 *
 * A re-reference: a critical warp uses a line that a critical warp, itself or another, used before, in the cache or
 * not. Its distance is the number of other lines of the same set that loads have used since the line's last use. Lines
 * of a set are kept in the order of their last use, `depth` of them: what lies further back counts as a first use.
 *
 * An eviction is reported when a line makes room for another. Stores drop lines, and fences all of them, without a
 * word: that a line is gone shows when it is missed again, or another takes its way. Such a line counts as dropped, not
 * as evicted; one that nobody asks for again is among those left at the end of the launch. Each launch is counted by
 * itself: of lines that an earlier one brought it is not known by whom, and they are counted only once they are used.
 * An L1D that takes lines when they are filled reports no evictions, and its lines are of unknown origin too. */
#include "heddle/criticality.h"

#include <stdlib.h>
#include <string.h>

enum { CRITICAL = 3 /* after the predictor's */, DEPTH };
enum {
    CRITICAL_ACCESSES,
    CRITICAL_HITS,
    CRITICAL_PENDING,
    OTHER_ACCESSES,
    OTHER_HITS,
    OTHER_PENDING,
    EVICTED_NO_REUSE,
    EVICTED_CRITICAL_REUSE,
    EVICTED_OTHER_REUSE,
    DROPPED,
    LEFT,
    OTHER_LINES_EVICTED,
    FIRST_USES,
    REREFERENCES,
    REREFERENCES_EVICTED,
    REREFERENCES_MISSED,
    DISTANCE,
    DISTANCE_EVICTED
};
enum { NO_REUSE, CRITICAL_REUSE, OTHER_REUSE, CRITICAL_NO_REUSE, CRITICAL_OTHER_REUSE, COLUMNS };
enum { BUCKETS = 11 };

/* A line of the cache. */
struct line {
    uint64_t address;
    uint32_t pc; /* of the load that brought it, or HEDDLE_NO_PC */
    bool there, critical, reused_by_critical, reused_by_others;
};

/* The last use of a line, which may have left the cache. */
struct use {
    uint64_t address;
    uint32_t execution; /* of a load of the warp */
    uint16_t warp;
    bool critical; /* a critical warp has used it, */
    bool evicted;  /* and it was evicted after the last time that one did */
};

struct lines {
    struct heddle_criticality own;
    const struct heddle_criticality *criticality;
    enum heddle_critical which;
    uint64_t *counters, *distance, *distance_evicted, *const *instructions;
    uint32_t sets, ways, depth;
    struct line *lines;               /* by set and way */
    struct use *uses;                 /* of each set `depth`, the last one first, */
    uint32_t *use_count;              /* and how many there are */
    uint32_t execution[HEDDLE_WARPS]; /* number of the load whose accesses are made now */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct lines *s = state;
    const union heddle_value *v = setup->values;
    s->criticality = heddle_criticality_join(&s->own, setup, heddle_criticality_read(v));
    s->which = (enum heddle_critical)v[CRITICAL].integer;
    s->depth = (uint32_t)v[DEPTH].integer;
    s->counters = setup->counters;
    s->distance = setup->histograms[DISTANCE];
    s->distance_evicted = setup->histograms[DISTANCE_EVICTED];
    s->instructions = setup->instructions;
    s->sets = setup->core->l1_sets;
    s->ways = setup->core->l1_ways;
    if (!s->sets || !s->ways)
        return heddle_refuse(setup, "it needs an L1 data cache");
    s->lines = calloc((size_t)s->sets * s->ways, sizeof *s->lines);
    s->uses = calloc((size_t)s->sets * s->depth, sizeof *s->uses);
    s->use_count = calloc(s->sets, sizeof *s->use_count);
    return s->lines && s->uses && s->use_count;
}

static void finish(void *state)
{
    struct lines *s = state;
    free(s->lines);
    free(s->uses);
    free(s->use_count);
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct lines *s = state;
    (void)core;
    memset(s->lines, 0, (size_t)s->sets * s->ways * sizeof *s->lines);
    memset(s->use_count, 0, s->sets * sizeof *s->use_count);
}

enum departure { EVICT, DROP, STAY };

static void leave(const struct lines *s, struct line *line, enum departure how)
{
    uint32_t reuse = line->reused_by_critical ? CRITICAL_REUSE : line->reused_by_others ? OTHER_REUSE : NO_REUSE;
    if (line->pc != HEDDLE_NO_PC) {
        uint64_t *row = heddle_row(*s->instructions, COLUMNS, line->pc);
        row[reuse]++;
        row[CRITICAL_NO_REUSE] += line->critical && reuse == NO_REUSE;
        row[CRITICAL_OTHER_REUSE] += line->critical && reuse == OTHER_REUSE;
    }
    if (line->critical)
        s->counters[how == EVICT ? EVICTED_NO_REUSE + reuse : how == DROP ? DROPPED : LEFT]++;
    else
        s->counters[OTHER_LINES_EVICTED] += how == EVICT;
    line->there = false;
}

static void kernel_end(void *state, const struct heddle_core *core)
{
    const struct lines *s = state;
    (void)core;
    for (size_t i = 0; i < (size_t)s->sets * s->ways; i++)
        if (s->lines[i].there)
            leave(s, &s->lines[i], STAY);
}

static uint32_t find_use(const struct lines *s, uint32_t set, uint64_t address)
{
    const struct use *uses = s->uses + (size_t)set * s->depth;
    uint32_t i = 0;
    while (i < s->use_count[set] && uses[i].address != address)
        i++;
    return i;
}

static void l1_evict(void *state, const struct heddle_core *core, const struct heddle_l1_evict *e)
{
    const struct lines *s = state;
    uint32_t use = find_use(s, e->set, e->address);
    struct line *line = e->way < s->ways ? &s->lines[(size_t)e->set * s->ways + e->way] : NULL;
    (void)core;
    if (line && line->there)
        leave(s, line, line->address == e->address ? EVICT : DROP);
    if (use < s->use_count[e->set])
        s->uses[(size_t)e->set * s->depth + use].evicted = true;
}

static void count_rereference(const struct lines *s, const struct use *last, uint32_t distance, bool missed)
{
    uint32_t bucket = distance ? 32 - (uint32_t)__builtin_clz(distance) : 0;
    bucket = bucket < BUCKETS ? bucket : BUCKETS - 1;
    s->counters[REREFERENCES]++;
    s->counters[REREFERENCES_EVICTED] += last->evicted;
    s->counters[REREFERENCES_MISSED] += missed;
    s->distance[bucket]++;
    s->distance_evicted[bucket] += last->evicted;
}

/* Puts the line before all others of its set. False: the execution has used it already. */
static bool note_use(struct lines *s, const struct heddle_l1_access *e, bool critical)
{
    struct use *uses = s->uses + (size_t)e->set * s->depth, use = {.address = e->address};
    uint32_t at = find_use(s, e->set, e->address), execution = s->execution[e->warp];
    bool known = at < s->use_count[e->set], again = false;
    if (known) {
        use = uses[at];
        again = use.warp == e->warp && use.execution == execution;
    } else if (s->use_count[e->set] < s->depth) {
        s->use_count[e->set]++;
    } else {
        at = s->depth - 1;
    }
    if (critical && !again && use.critical)
        count_rereference(s, &use, at, e->outcome == HEDDLE_MISS);
    else if (critical && !again)
        s->counters[FIRST_USES]++;
    memmove(uses + 1, uses, at * sizeof *uses);
    use.warp = (uint16_t)e->warp;
    use.execution = execution;
    use.evicted &= !critical;
    use.critical |= critical;
    uses[0] = use;
    return !again;
}

/* A line that is missed is nowhere; whatever had been in a way that has another now has gone. */
static void forget_gone(const struct lines *s, const struct heddle_l1_access *e)
{
    struct line *set = &s->lines[(size_t)e->set * s->ways];
    for (uint32_t way = 0; way < s->ways; way++)
        if (set[way].there && (way == e->way ? e->outcome == HEDDLE_MISS || set[way].address != e->address
                                             : set[way].address == e->address))
            leave(s, &set[way], DROP);
}

static void use_line(const struct lines *s, const struct heddle_l1_access *e, bool critical, bool is_new)
{
    struct line *line = &s->lines[(size_t)e->set * s->ways + e->way];
    if (e->outcome == HEDDLE_MISS) {
        *line = (struct line){.address = e->address, .pc = e->pc, .there = true, .critical = critical};
        return;
    }
    if (!line->there)
        *line = (struct line){.address = e->address, .pc = HEDDLE_NO_PC, .there = true};
    line->critical |= critical;
    line->reused_by_critical |= is_new && critical;
    line->reused_by_others |= is_new && !critical;
}

static void l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct lines *s = state;
    if (e->outcome == HEDDLE_FAIL)
        return;
    if (!e->store || e->outcome == HEDDLE_MISS)
        forget_gone(s, e);
    if (e->store)
        return;
    bool critical = heddle_criticality_is_critical(s->criticality, core, e->warp, s->which);
    s->counters[critical ? CRITICAL_ACCESSES : OTHER_ACCESSES]++;
    s->counters[critical ? CRITICAL_HITS : OTHER_HITS] += e->outcome == HEDDLE_HIT;
    s->counters[critical ? CRITICAL_PENDING : OTHER_PENDING] += e->outcome == HEDDLE_PENDING;
    bool is_new = note_use(s, e, critical);
    if (e->way < s->ways)
        use_line(s, e, critical, is_new);
    s->execution[e->warp] += !e->left;
}

/* The predictor's events */

static const char *const criticals[] = {"block_half", "sm_range", "top", NULL};
static const struct heddle_param params[] = {
    HEDDLE_CRITICALITY_PARAMS,
    [CRITICAL] = {.name = "critical",
                  .type = HEDDLE_CHOICE,
                  .default_value = "top",
                  .choices = criticals,
                  .help = "critical warps: before half of their block, in the upper half of the core's range, or the "
                          "first of a block"},
    [DEPTH] = {.name = "depth",
               .type = HEDDLE_INTEGER,
               .default_value = "256",
               .least = 1,
               .most = 65536,
               .help = "lines of a set whose last use is remembered"},
    {0},
};
static const struct heddle_counter counters[] = {
    [CRITICAL_ACCESSES] = {.name = "critical_accesses", .unit = "accesses", .help = "of loads of critical warps"},
    [CRITICAL_HITS] = {.name = "critical_hits", .unit = "accesses", .help = "of these, those that found their line"},
    [CRITICAL_PENDING] = {.name = "critical_pending",
                          .unit = "accesses",
                          .help = "of these, those that found it still on its way"},
    [OTHER_ACCESSES] = {.name = "other_accesses", .unit = "accesses", .help = "of loads of the other warps"},
    [OTHER_HITS] = {.name = "other_hits", .unit = "accesses", .help = "of these, those that found their line"},
    [OTHER_PENDING] = {.name = "other_pending",
                       .unit = "accesses",
                       .help = "of these, those that found it still on its way"},
    [EVICTED_NO_REUSE] = {.name = "evicted_no_reuse", .unit = "lines", .help = "critical lines evicted without reuse"},
    [EVICTED_CRITICAL_REUSE] = {.name = "evicted_critical_reuse",
                                .unit = "lines",
                                .help = "critical lines evicted after a critical warp reused them"},
    [EVICTED_OTHER_REUSE] = {.name = "evicted_other_reuse",
                             .unit = "lines",
                             .help = "critical lines evicted after other warps alone reused them"},
    [DROPPED] = {.name = "dropped", .unit = "lines", .help = "critical lines that a store or a fence took away"},
    [LEFT] = {.name = "left", .unit = "lines", .help = "critical lines that were not seen to leave"},
    [OTHER_LINES_EVICTED] = {.name = "other_lines_evicted",
                             .unit = "lines",
                             .help = "lines evicted that no critical warp used"},
    [FIRST_USES] = {.name = "first_uses",
                    .unit = "uses",
                    .help = "of lines by a critical warp that none had used before, as far as is remembered"},
    [REREFERENCES] = {.name = "rereferences",
                      .unit = "uses",
                      .help = "of lines by a critical warp that a critical warp had used before"},
    [REREFERENCES_EVICTED] = {.name = "rereferences_evicted",
                              .unit = "uses",
                              .help = "of these, those whose line was evicted in between"},
    [REREFERENCES_MISSED] = {.name = "rereferences_missed",
                             .unit = "uses",
                             .help = "of rereferences, those that missed"},
    [DISTANCE] = {.name = "distance",
                  .unit = "uses",
                  .kind = HEDDLE_HISTOGRAM,
                  .buckets = BUCKETS,
                  .help = "rereferences by other lines of the set used since: 0, 1, 2 to 3, 4 to 7, ... 512 and more"},
    [DISTANCE_EVICTED] = {.name = "distance_evicted",
                          .unit = "uses",
                          .kind = HEDDLE_HISTOGRAM,
                          .buckets = BUCKETS,
                          .help = "rereferences_evicted in the same buckets"},
    {0},
};
static const struct heddle_counter columns[] = {
    [NO_REUSE] = {.name = "no_reuse", .unit = "lines", .help = "that it brought and nobody reused"},
    [CRITICAL_REUSE] = {.name = "critical_reuse",
                        .unit = "lines",
                        .help = "that it brought and a critical warp reused"},
    [OTHER_REUSE] = {.name = "other_reuse", .unit = "lines", .help = "that it brought and other warps alone reused"},
    [CRITICAL_NO_REUSE] = {.name = "critical_no_reuse",
                           .unit = "lines",
                           .help = "those of no_reuse that a critical warp brought"},
    [CRITICAL_OTHER_REUSE] = {.name = "critical_other_reuse",
                              .unit = "lines",
                              .help = "those of other_reuse that a critical warp brought"},
    {0},
};

const struct heddle_probe probe_critical_lines = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "critical-lines",
            .help =
                "the L1D and critical warps: hits, reuse of lines, lines gone early (CAWA, figures 3, 8, 14 and 15)",
            .params = params,
            .counters = counters,
            .instructions = columns,
            .state_bytes = sizeof(struct lines),
            .init = init,
            .finish = finish,
            .on = {HEDDLE_CRITICALITY_EVENTS, .kernel = kernel, .kernel_end = kernel_end,
                   .launched = heddle_criticality_on_launched, .issued = heddle_criticality_on_issued,
                   .l1_evict = l1_evict, .l1_access = l1_access},
        },
};
