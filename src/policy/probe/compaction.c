/* How many warps the paths of divergent branches need: as they are, with the threads of a block compacted under each
 * permutation of lanes, and if lanes did not matter. Without time: blocks run in lockstep, and all of it is counted in
 * one run (SIMD lane permutation, Rhu and Erez, ISCA 2013, figures 3, 6 and 11 to 14).
 *
 * A branch is one execution of a conditional branch by a path of a block; divergent, where lanes of one warp disagree.
 * Its two paths are the threads of the block that take it and those that do not. A path is compacted where it needs
 * fewer warps than have threads in it. A branch, and its paths, are D where the predicate depends on loaded data, else
 * P. A path that has nothing to execute before the two meet, or jumps alone, is `empty`: it is counted apart, and is in
 * no other count.
 *
 * Utilization: at every instruction a path issues as many warps as it needs, and its threads are their active lanes,
 * whatever the guard of the instruction says. Warps are formed when a path begins or goes on after a branch; where
 * threads end on the way, they are formed again.
 *
 * Left out: launches that cannot run in lockstep (uncounted_launches), and the rest of blocks that left it. */
#include "heddle/compaction.h"

#include <string.h>

/* Ways to form warps: apart, compacted under each permutation, ideally. */
#define COMPACTED(X)                        \
    X(none, "compacted, lanes as they are") \
    X(odd_even, "compacted under odd-even") \
    X(rotate, "compacted under rotate")     \
    X(flip, "compacted under flip")         \
    X(xor_half, "compacted under xor-half") \
    X(random, "compacted under random")     \
    X(wid, "compacted under wid")           \
    X(rev_wid, "compacted under rev-wid")   \
    X(balanced, "compacted under balanced") \
    X(ideal, "if lanes did not matter")
enum { WAYS = HEDDLE_PERMUTATIONS + 1, IDEAL = HEDDLE_PERMUTATIONS, QUARTERS = 4 };

/* Rows of the table of counters. */
enum {
    LAUNCHES,
    UNCOUNTED_LAUNCHES,
    BLOCKS_LEFT,
    INSTRUCTIONS,
    LANES,
    WARPS_APART,
    WARPS,
    OF_KIND = WARPS + WAYS, /* of P branches, then of D branches: */
};
enum {
    BRANCHES,
    DIVERGENT,
    COMPACTABLE,
    PATHS,
    PATHS_EMPTY,
    PATHS_BY_QUARTER,
    PATH_WARPS_APART,
    PATH_WARPS,
    PATH_COMPACTED = PATH_WARPS + WAYS,
    PATH_EMPTY_COMPACTED = PATH_COMPACTED + WAYS,
    PATH_QUARTERS = PATH_EMPTY_COMPACTED + WAYS,
    ROWS_OF_KIND = PATH_QUARTERS + WAYS,
};
/* Columns of the table of instructions. */
enum { ROW_BRANCHES, ROW_DIVERGENT, ROW_DATA, ROW_PATHS, ROW_NONE, ROW_BALANCED, ROW_IDEAL, COLUMNS };

struct warps {
    uint32_t threads, apart, formed[WAYS];
};

struct compaction {
    uint64_t *counters;
    uint64_t *const *histograms;
    uint64_t *const *instructions;
    struct heddle_lanes lanes[HEDDLE_PERMUTATIONS];
    uint32_t known[HEDDLE_HOMES]; /* masks of the path that `warps` is of, */
    uint32_t known_count;         /* of so many warps */
    struct warps warps;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct compaction *s = state;
    s->counters = setup->counters;
    s->histograms = setup->histograms;
    s->instructions = setup->instructions;
    for (int how = 0; how < HEDDLE_PERMUTATIONS; how++)
        heddle_lanes_make(&s->lanes[how], (enum heddle_permutation)how);
    return true;
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct compaction *s = state;
    (void)core;
    s->counters[LAUNCHES]++;
}

static void left(void *state, const struct heddle_core *core, bool whole_launch)
{
    struct compaction *s = state;
    (void)core;
    s->counters[whole_launch ? UNCOUNTED_LAUNCHES : BLOCKS_LEFT]++;
}

static struct warps count_warps(const struct compaction *s, const uint32_t *masks, uint32_t homes)
{
    struct warps w = {.apart = heddle_warps_apart(masks, homes)};
    for (uint32_t home = 0; home < homes; home++)
        w.threads += (uint32_t)__builtin_popcount(masks[home]);
    w.formed[IDEAL] = (w.threads + 31) / 32;
    for (int how = 0; how < HEDDLE_PERMUTATIONS; how++)
        w.formed[how] = w.formed[IDEAL] == w.apart ? w.apart : heddle_warps_compacted(&s->lanes[how], masks, homes);
    return w;
}

static void ran(void *state, const struct heddle_core *core, const struct heddle_block_run *e)
{
    struct compaction *s = state;
    uint64_t *c = s->counters;
    size_t bytes = e->warps * sizeof *e->masks;
    (void)core;
    if (s->known_count != e->warps || memcmp(s->known, e->masks, bytes) != 0) {
        memcpy(s->known, e->masks, bytes);
        s->known_count = e->warps;
        s->warps = count_warps(s, e->masks, e->warps);
    }
    c[INSTRUCTIONS] += e->instructions;
    c[LANES] += e->instructions * s->warps.threads;
    c[WARPS_APART] += e->instructions * s->warps.apart;
    for (int i = 0; i < WAYS; i++)
        c[WARPS + i] += e->instructions * s->warps.formed[i];
}

static void count_empty_path(uint64_t *c, const struct warps *w)
{
    c[PATHS_EMPTY]++;
    for (uint32_t i = 0; i < WAYS; i++)
        c[PATH_EMPTY_COMPACTED + i] += w->formed[i] < w->apart;
}

/* A path of a divergent branch. Returns whether it could be compacted. */
static bool count_path(struct compaction *s, uint32_t kind, uint64_t *row, const struct heddle_block_branch *e,
                       const uint32_t *masks, bool empty)
{
    struct warps w = count_warps(s, masks, e->warps);
    uint64_t *c = &s->counters[kind];
    uint32_t quarter = QUARTERS * w.threads / e->threads;
    if (empty) {
        count_empty_path(c, &w);
        return false;
    }
    c[PATHS]++;
    s->histograms[kind + PATHS_BY_QUARTER][quarter]++;
    c[PATH_WARPS_APART] += w.apart;
    for (uint32_t i = 0; i < WAYS; i++) {
        bool compacted = w.formed[i] < w.apart;
        c[PATH_WARPS + i] += w.formed[i];
        c[PATH_COMPACTED + i] += compacted;
        s->histograms[kind + PATH_QUARTERS + i][quarter] += compacted;
    }
    row[ROW_PATHS]++;
    row[ROW_NONE] += w.formed[HEDDLE_PERMUTE_NONE] < w.apart;
    row[ROW_BALANCED] += w.formed[HEDDLE_PERMUTE_BALANCED] < w.apart;
    row[ROW_IDEAL] += w.formed[IDEAL] < w.apart;
    return w.formed[IDEAL] < w.apart;
}

static void branch(void *state, const struct heddle_core *core, const struct heddle_block_branch *e)
{
    struct compaction *s = state;
    const struct heddle_program *p = core->program;
    bool data = p->instructions[e->pc].flags & HEDDLE_DATA_BRANCH;
    uint32_t kind = OF_KIND + (data ? ROWS_OF_KIND : 0);
    uint64_t *row = heddle_row(*s->instructions, COLUMNS, e->pc);
    s->counters[kind + BRANCHES]++;
    row[ROW_BRANCHES]++;
    row[ROW_DATA] = data;
    if (!e->divergent)
        return;
    s->counters[kind + DIVERGENT]++;
    row[ROW_DIVERGENT]++;
    bool taken = count_path(s, kind, row, e, e->taken, heddle_path_is_empty(p, e->target, e->reconvergence));
    bool not_taken =
        count_path(s, kind, row, e, e->not_taken, heddle_path_is_empty(p, e->fall_through, e->reconvergence));
    s->counters[kind + COMPACTABLE] += taken || not_taken;
}

/* clang-format off */
#define WARPS_ROW(name, how) {"warps_" #name, "warps", "warps that all instructions issue, " how, 0, 0},
#define P_WARPS(name, how) {"p_warps_" #name, "warps", "warps of paths of P branches, " how, 0, 0},
#define D_WARPS(name, how) {"d_warps_" #name, "warps", "warps of paths of D branches, " how, 0, 0},
#define P_COMPACTED(name, how) {"p_compacted_" #name, "paths", "paths of P branches that need fewer warps " how, 0, 0},
#define D_COMPACTED(name, how) {"d_compacted_" #name, "paths", "paths of D branches that need fewer warps " how, 0, 0},
#define P_EMPTY(name, how) {"p_empty_compacted_" #name, "paths", "of p_empty, " how, 0, 0},
#define D_EMPTY(name, how) {"d_empty_compacted_" #name, "paths", "of d_empty, " how, 0, 0},
#define QUARTERS_OF(name) "paths", name " by active threads: quarters of the block's", HEDDLE_HISTOGRAM, QUARTERS
#define P_QUARTERS(name, how) {"p_compacted_by_active_" #name, QUARTERS_OF("p_compacted_" #name)},
#define D_QUARTERS(name, how) {"d_compacted_by_active_" #name, QUARTERS_OF("d_compacted_" #name)},
/* clang-format on */

static const struct heddle_counter counters[] = {
    {"launches", "launches", "launches", 0, 0},
    {"uncounted_launches", "launches", "of these, those that cannot run in lockstep: of them nothing is counted", 0, 0},
    {"blocks_left", "blocks", "blocks that could not go on in lockstep: their rest is not counted", 0, 0},
    {"instructions", "instructions", "instructions, one for all threads of a path of a block", 0, 0},
    {"lanes", "lanes", "threads of the path, summed over the instructions", 0, 0},
    {"warps_apart", "warps", "warps that all instructions issue, not compacted", 0, 0},
    COMPACTED(WARPS_ROW){"p_branches", "branches",
                         "conditional branches executed by paths, on thread indices and parameters alone", 0, 0},
    {"p_divergent", "branches", "of these, those at which lanes of a warp disagree", 0, 0},
    {"p_compactable", "branches", "of these, those with a path that could be compacted ideally", 0, 0},
    {"p_paths", "paths", "paths of divergent P branches with something to execute", 0, 0},
    {"p_empty", "paths", "paths with nothing to execute before they meet the other one; in no other count", 0, 0},
    {"p_paths_by_active", QUARTERS_OF("p_paths")},
    {"p_warps_apart", "warps", "warps of paths of P branches, not compacted", 0, 0},
    COMPACTED(P_WARPS) COMPACTED(P_COMPACTED) COMPACTED(P_EMPTY)
        COMPACTED(P_QUARTERS){"d_branches", "branches", "conditional branches executed by paths, on loaded data", 0, 0},
    {"d_divergent", "branches", "of these, those at which lanes of a warp disagree", 0, 0},
    {"d_compactable", "branches", "of these, those with a path that could be compacted ideally", 0, 0},
    {"d_paths", "paths", "paths of divergent D branches with something to execute", 0, 0},
    {"d_empty", "paths", "paths with nothing to execute before they meet the other one; in no other count", 0, 0},
    {"d_paths_by_active", QUARTERS_OF("d_paths")},
    {"d_warps_apart", "warps", "warps of paths of D branches, not compacted", 0, 0},
    COMPACTED(D_WARPS) COMPACTED(D_COMPACTED) COMPACTED(D_EMPTY) COMPACTED(D_QUARTERS){0},
};
_Static_assert(sizeof counters / sizeof *counters == OF_KIND + 2 * ROWS_OF_KIND + 1, "a row for each");

static const struct heddle_counter columns[] = {
    [ROW_BRANCHES] = {.name = "branches", .unit = "branches", .help = "executions by a path of a block"},
    [ROW_DIVERGENT] = {.name = "divergent", .unit = "branches", .help = "of these, those at which a warp diverges"},
    [ROW_DATA] = {.name = "data", .unit = "flag", .kind = HEDDLE_MAXIMUM, .help = "1: a D branch, on loaded data"},
    [ROW_PATHS] = {.name = "paths", .unit = "paths", .help = "paths of the divergent ones, but empty ones"},
    [ROW_NONE] = {.name = "compacted_none", .unit = "paths", .help = "of these, compacted with lanes as they are"},
    [ROW_BALANCED] = {.name = "compacted_balanced", .unit = "paths", .help = "compacted under balanced"},
    [ROW_IDEAL] = {.name = "compacted_ideal", .unit = "paths", .help = "compacted if lanes did not matter"},
    {0},
};

const struct heddle_probe probe_compaction = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "compaction",
            .help = "warps of divergent paths, compacted under each permutation of lanes; needs --functional "
                    "(SLP, figures 3, 6, 11-14)",
            .counters = counters,
            .instructions = columns,
            .state_bytes = sizeof(struct compaction),
            .init = init,
            .on = {.kernel = kernel},
        },
    .blocks = {.branch = branch, .ran = ran, .left = left},
};
