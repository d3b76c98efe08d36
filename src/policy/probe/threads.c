/* Hits of loads in the L1 data cache by who brought the line: the same thread, another thread of the warp, another warp
 * (CCWS, MICRO 2012, figure 11). heddle/line_threads.h says what that means for accesses of several lanes. The probe
 * `loads` has the same for each load. */
#include "heddle/line_threads.h"

enum { MISSES, SAME_THREAD, SAME_WARP, OTHER_WARP, UNSEEN };

struct threads {
    struct heddle_line_threads lines;
    uint64_t *counters;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct threads *s = state;
    s->counters = setup->counters;
    return heddle_line_threads_init(&s->lines, setup->core);
}

static void finish(void *state) { heddle_line_threads_free(&((struct threads *)state)->lines); }

static void l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct threads *s = state;
    switch (heddle_line_threads_accessed(&s->lines, e, core->warp[e->warp].age)) {
    case HEDDLE_NO_LINE: s->counters[MISSES]++; break;
    case HEDDLE_LINE_OF_THREAD: s->counters[SAME_THREAD]++; break;
    case HEDDLE_LINE_OF_WARP: s->counters[SAME_WARP]++; break;
    case HEDDLE_LINE_OF_OTHERS: s->counters[OTHER_WARP]++; break;
    case HEDDLE_LINE_UNSEEN: s->counters[UNSEEN]++; break;
    default: break;
    }
}

static const struct heddle_counter counters[] = {
    [MISSES] = {.name = "misses", .unit = "accesses", .help = "loads whose line was not there, or still on its way"},
    [SAME_THREAD] = {.name = "same_thread",
                     .unit = "accesses",
                     .help = "hits on a line that a thread of the access had brought (intra-thread)"},
    [SAME_WARP] = {.name = "same_warp",
                   .unit = "accesses",
                   .help = "hits on a line that other threads of the warp had brought (inter-thread)"},
    [OTHER_WARP] = {.name = "other_warp", .unit = "accesses", .help = "hits on a line that another warp had brought"},
    [UNSEEN] = {.name = "unseen",
                .unit = "accesses",
                .help = "hits on a line of the warp of which it is not known which thread brought it"},
    {0},
};

const struct heddle_probe probe_threads = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "threads",
            .help = "hits of loads by who brought the line: the thread, another of its warp, another warp (CCWS, "
                    "figure 11)",
            .counters = counters,
            .state_bytes = sizeof(struct threads),
            .init = init,
            .finish = finish,
            .on = {.l1_access = l1_access},
        },
};
