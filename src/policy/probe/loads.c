/* What each load does: how far its lanes spread over lines, and whose lines it finds in the L1 data cache
 * (DAWS, MICRO 2013, figures 3 and 5; CCWS, MICRO 2012, figure 11). One row per load of global or local memory that
 * goes through the L1D.
 *
 * The paper calls a load converged if it makes one or two accesses however many lanes are active, completely diverged
 * if it makes as many as there are lanes, and says nothing of loads of one or two lanes, which are both: executions
 * with at most two active lanes are counted, but classified as neither.
 *
 * A hit belongs to the warp that brought the line: its slot and its age, as a slot may have a new warp by now. An
 * access that finds its line still on its way is a miss here, as in the paper's figures, so that
 * intra_warp_hits + inter_warp_hits + misses = accesses for a launch that came to its end. Of intra_warp_hits those are
 * intra_thread_hits that the thread itself had brought (heddle/line_threads.h), and the others inter_thread_hits. */
#include "heddle/line_threads.h"

enum {
    EXECUTIONS,
    LANES,
    ACCESSES,
    CONVERGED,
    DIVERGED,
    FULLY_DIVERGED,
    MOST_LANES,
    MOST_ACCESSES,
    INTRA_WARP_HITS,
    INTER_WARP_HITS,
    MISSES,
    IN_LOOP,
    INTRA_THREAD_HITS,
    INTER_THREAD_HITS,
    COLUMNS
};
enum { FEW = 2 };

struct loads {
    uint64_t *const *instructions;
    struct heddle_line_threads lines;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct loads *s = state;
    s->instructions = setup->instructions;
    return heddle_line_threads_init(&s->lines, setup->core);
}

static void finish(void *state) { heddle_line_threads_free(&((struct loads *)state)->lines); }

static void raise_to(uint64_t *maximum, uint64_t value)
{
    if (*maximum < value)
        *maximum = value;
}

static void coalesced(void *state, const struct heddle_core *core, const struct heddle_coalesced *e)
{
    const struct loads *s = state;
    if (e->store || !e->through_l1)
        return;
    uint64_t *row = heddle_row(*s->instructions, COLUMNS, e->pc);
    uint64_t lanes = (uint64_t)__builtin_popcount(e->active);
    row[EXECUTIONS]++;
    row[LANES] += lanes;
    row[ACCESSES] += e->accesses;
    row[CONVERGED] += lanes > FEW && e->accesses <= FEW;
    row[DIVERGED] += lanes > FEW && e->accesses > FEW;
    row[FULLY_DIVERGED] += lanes > FEW && e->accesses == lanes;
    raise_to(&row[MOST_LANES], lanes);
    raise_to(&row[MOST_ACCESSES], e->accesses);
    raise_to(&row[IN_LOOP], core->program->instructions[e->pc].loop >= 0);
}

static void l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct loads *s = state;
    enum heddle_line_user user = heddle_line_threads_accessed(&s->lines, e, core->warp[e->warp].age);
    if (user == HEDDLE_NO_LOAD)
        return;
    bool own = user == HEDDLE_LINE_OF_THREAD || user == HEDDLE_LINE_OF_WARP || user == HEDDLE_LINE_UNSEEN;
    uint64_t *row = heddle_row(*s->instructions, COLUMNS, e->pc);
    row[MISSES] += user == HEDDLE_NO_LINE;
    row[INTRA_WARP_HITS] += own;
    row[INTER_WARP_HITS] += user == HEDDLE_LINE_OF_OTHERS;
    row[INTRA_THREAD_HITS] += user == HEDDLE_LINE_OF_THREAD;
    row[INTER_THREAD_HITS] += user == HEDDLE_LINE_OF_WARP;
}

static const struct heddle_counter columns[] = {
    [EXECUTIONS] = {.name = "executions",
                    .unit = "instructions",
                    .help = "executions with an active lane, counted once per warp"},
    [LANES] = {.name = "lanes", .unit = "lanes", .help = "active lanes, summed over the executions"},
    [ACCESSES] = {.name = "accesses", .unit = "accesses", .help = "accesses that they were coalesced into"},
    [CONVERGED] = {.name = "converged",
                   .unit = "instructions",
                   .help = "executions with more than 2 lanes and at most 2 accesses"},
    [DIVERGED] = {.name = "diverged",
                  .unit = "instructions",
                  .help = "executions with more than 2 lanes and more than 2 accesses"},
    [FULLY_DIVERGED] = {.name = "fully_diverged",
                        .unit = "instructions",
                        .help = "those of diverged that made one access per active lane"},
    [MOST_LANES] = {.name = "most_lanes",
                    .unit = "lanes",
                    .kind = HEDDLE_MAXIMUM,
                    .help = "most lanes active in an execution"},
    [MOST_ACCESSES] = {.name = "most_accesses",
                       .unit = "accesses",
                       .kind = HEDDLE_MAXIMUM,
                       .help = "most accesses of an execution"},
    [INTRA_WARP_HITS] = {.name = "intra_warp_hits",
                         .unit = "accesses",
                         .help = "hits on a line that the same warp had brought"},
    [INTER_WARP_HITS] = {.name = "inter_warp_hits",
                         .unit = "accesses",
                         .help = "hits on a line that another warp had brought"},
    [MISSES] = {.name = "misses", .unit = "accesses", .help = "accesses whose line was not there, or still on its way"},
    [IN_LOOP] = {.name = "in_loop", .unit = "flag", .kind = HEDDLE_MAXIMUM, .help = "1: the load is inside a loop"},
    [INTRA_THREAD_HITS] = {.name = "intra_thread_hits",
                           .unit = "accesses",
                           .help = "those of intra_warp_hits on a line that one of the access's threads had brought"},
    [INTER_THREAD_HITS] = {.name = "inter_thread_hits",
                           .unit = "accesses",
                           .help = "those of intra_warp_hits on a line that other threads of the warp had brought"},
    {0},
};

const struct heddle_probe probe_loads = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "loads",
            .help =
                "each load: lanes, accesses, divergence; intra- and inter-warp hits, misses (DAWS, figures 3 and 5)",
            .instructions = columns,
            .state_bytes = sizeof(struct loads),
            .init = init,
            .finish = finish,
            .on = {.coalesced = coalesced, .l1_access = l1_access},
        },
};
