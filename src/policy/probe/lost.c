/* Lost locality after a warp was held back inside a loop (DAWS, MICRO 2013, section 7.1: 46% of CCWS's lost locality
 * occurs after a warp has been de-scheduled while in a loop).
 *
 * A load lost locality if it misses, or finds its line on its way, and its tag is in the victim tags of its warp: the
 * definition and the sizes of CCWS (heddle/victim_tags.h). Where the load stands in the program says whether it is in a
 * loop, as its accesses may come to the cache when its warp has left it; a function called in a loop is outside.
 *
 *   after_held      the load is in a loop, and the scheduler had held the warp back since it entered the outermost
 *                   loop around it: the paper's sentence, read for one stay in a loop.
 *   evicted_held    of these, the line had left the cache after a hold that came after the load that last used it: the
 *                   hold may be the reason, as the paper goes on to say. Loads are numbered in the order of issue, as
 *                   the accesses of a load may come to the cache when its warp is held already.
 *
 * A hold begins when a warp could issue and the scheduler stops it (the event `held`). None lasts from before a loop
 * into it, as a warp has to issue to get there. Tags go by slot, as in CCWS: a warp also finds what the warp before it
 * in the slot lost, which counts as lost and never as evicted_held. */
#include "heddle/victim_tags.h"

enum { VTA_ENTRIES, VTA_WAYS, VTA_INDEX };
enum { LOST, AFTER_HELD, EVICTED_HELD, OUTSIDE_LOOPS };

struct lost {
    struct heddle_victim_tags tags;
    struct heddle_victim_tags evicted_held; /* of these, lines that left after a hold; room for all that are in tags */
    uint64_t *counters;
    uint32_t depth[HEDDLE_WARPS];    /* loops that a warp is in */
    uint64_t in_loop;                /* warps that are in one */
    uint64_t held;                   /* those that were held back in it, or in the last one they were in */
    uint64_t issued[HEDDLE_WARPS];   /* loads of the slot, by which the next one is numbered, */
    uint64_t at_cache[HEDDLE_WARPS]; /* the one whose accesses are made now, */
    uint64_t held_at[HEDDLE_WARPS];  /* and the one that would have been next when the warp was last held in a loop */
    uint64_t *used_at;               /* by set and way: the last load of the warp that brought the line which used it */
    uint32_t ways;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct lost *s = state;
    const struct heddle_core *core = setup->core;
    uint32_t entries = (uint32_t)setup->values[VTA_ENTRIES].integer, ways = (uint32_t)setup->values[VTA_WAYS].integer;
    if (ways > entries)
        ways = entries;
    s->counters = setup->counters;
    s->ways = core->l1_ways;
    if (entries % ways)
        return heddle_refuse(setup, "vta_entries is not a multiple of vta_ways");
    if (!core->l1_line_bytes)
        return heddle_refuse(setup, "it needs an L1 data cache");
    s->used_at = calloc((size_t)core->l1_sets * s->ways + 1, sizeof *s->used_at);
    uint32_t sets = entries / ways, bytes = core->l1_line_bytes;
    enum heddle_victim_index index = (enum heddle_victim_index)setup->values[VTA_INDEX].integer;
    return s->used_at && heddle_victim_tags_init(&s->tags, core->warp_slots, sets, ways, bytes, index) &&
           heddle_victim_tags_init(&s->evicted_held, core->warp_slots, sets, 2 * ways, bytes, index);
}

static void finish(void *state)
{
    struct lost *s = state;
    heddle_victim_tags_free(&s->tags);
    heddle_victim_tags_free(&s->evicted_held);
    free(s->used_at);
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct lost *s = state;
    (void)core;
    heddle_victim_tags_flush(&s->tags);
    heddle_victim_tags_flush(&s->evicted_held);
    memset(s->issued, 0, sizeof s->issued);
    memset(s->at_cache, 0, sizeof s->at_cache);
    memset(s->held_at, 0, sizeof s->held_at);
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct lost *s = state;
    (void)core;
    s->depth[warp] = 0;
    s->in_loop &= ~(UINT64_C(1) << warp);
    s->held &= ~(UINT64_C(1) << warp);
}

/* What was held in a stay is forgotten when the next one begins: accesses may come after the warp has left. */
static void loop(void *state, const struct heddle_core *core, const struct heddle_loop_event *e)
{
    struct lost *s = state;
    uint64_t warp = UINT64_C(1) << e->warp;
    (void)core;
    if (e->step == HEDDLE_LOOP_ENTER && !s->depth[e->warp]++) {
        s->in_loop |= warp;
        s->held &= ~warp;
    } else if (e->step == HEDDLE_LOOP_LEAVE && !--s->depth[e->warp]) {
        s->in_loop &= ~warp;
    }
}

static void held(void *state, const struct heddle_core *core, uint64_t warps)
{
    struct lost *s = state;
    (void)core;
    warps &= s->in_loop;
    s->held |= warps;
    for (; warps; warps &= warps - 1) {
        int warp = __builtin_ctzll(warps);
        s->held_at[warp] = s->issued[warp];
    }
}

static void coalesced(void *state, const struct heddle_core *core, const struct heddle_coalesced *e)
{
    struct lost *s = state;
    (void)core;
    s->issued[e->warp] += !e->store && e->through_l1 && e->accesses;
}

static void forget(struct heddle_victim_tags *v, uint32_t warp, uint64_t address)
{
    uint64_t line = address / v->line_bytes, *set = heddle_victim_tags_set(v, warp, line);
    uint32_t way = heddle_victim_tags_find(set, v->ways, line + 1);
    if (way < v->ways)
        heddle_victim_tags_remove(v, set, way);
}

static void l1_evict(void *state, const struct heddle_core *core, const struct heddle_l1_evict *e)
{
    struct lost *s = state;
    heddle_victim_tags_evicted(&s->tags, e);
    if (e->owner < 0 || (uint32_t)e->owner >= core->warp_slots)
        return;
    bool same_warp = core->warp[e->owner].age == e->owner_age;
    if (same_warp && s->held_at[e->owner] > s->used_at[(size_t)e->set * s->ways + e->way])
        heddle_victim_tags_evicted(&s->evicted_held, e);
    else
        forget(&s->evicted_held, (uint32_t)e->owner, e->address);
}

static void note_use(struct lost *s, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    bool own = e->owner == (int32_t)e->warp && e->owner_age == core->warp[e->warp].age;
    if (e->way < s->ways && (e->outcome == HEDDLE_MISS || own))
        s->used_at[(size_t)e->set * s->ways + e->way] = s->at_cache[e->warp];
    s->at_cache[e->warp] += !e->left;
}

static void l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct lost *s = state;
    bool lost = heddle_victim_tags_accessed(&s->tags, e);
    bool evicted_held = heddle_victim_tags_accessed(&s->evicted_held, e);
    if (!e->store && e->outcome != HEDDLE_FAIL)
        note_use(s, core, e);
    if (!lost)
        return;
    bool in_loop = core->program->instructions[e->pc].loop >= 0, after_held = in_loop && s->held >> e->warp & 1;
    s->counters[LOST]++;
    s->counters[AFTER_HELD] += after_held;
    s->counters[EVICTED_HELD] += after_held && evicted_held;
    s->counters[OUTSIDE_LOOPS] += !in_loop;
}

static const struct heddle_param params[] = {
    [VTA_ENTRIES] = {.name = "vta_entries",
                     .type = HEDDLE_INTEGER,
                     .default_value = "16",
                     .least = 1,
                     .most = 1024,
                     .help = "victim tags per warp, as CCWS has them"},
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
    [LOST] = {.name = "lost",
              .unit = "accesses",
              .help = "loads that missed on a line which their warp had lost (found in its victim tags)"},
    [AFTER_HELD] = {.name = "after_held",
                    .unit = "accesses",
                    .help = "of these, in a loop in which the scheduler had held the warp back since it came into it"},
    [EVICTED_HELD] = {.name = "evicted_held",
                      .unit = "accesses",
                      .help = "of after_held, lines that left after a hold that followed the load that last used them"},
    [OUTSIDE_LOOPS] = {.name = "outside_loops",
                       .unit = "accesses",
                       .help = "those of lost whose load is outside all loops"},
    {0},
};

const struct heddle_probe probe_lost = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "lost",
            .help = "lost locality, and how much of it follows a hold of the warp inside the loop (DAWS, section 7.1)",
            .params = params,
            .counters = counters,
            .state_bytes = sizeof(struct lost),
            .init = init,
            .finish = finish,
            .on = {.kernel = kernel,
                   .launched = launched,
                   .loop = loop,
                   .held = held,
                   .coalesced = coalesced,
                   .l1_evict = l1_evict,
                   .l1_access = l1_access},
        },
};
