/* Cache-conscious wavefront scheduling (Rogers, O'Connor, Aamodt, MICRO 2012): warps that lose lines which they would
 * have used again get a higher score, and the warps with the lowest scores may issue no loads while the sum of those
 * above them fills the cutoff. Greedy then oldest below.
 *
 * Lost locality is a hit in the victim tags of the warp (heddle/victim_tags.h). With H hits and I instructions (no
 * barriers, no fences) of the warps that are resident:
 *
 *   cutoff = resident warps * base_score
 *   LLDS   = H * k_throttle * cutoff / I, rounded down
 *
 * A hit sets the score of its warp to LLDS, at least to base_score; each cycle every score above the base falls by 1,
 * and to LLDS where that is less. Warps are ranked by score, the lower slot first among equals, and one may issue loads
 * of global and local memory if the scores above it add up to less than the cutoff: the one that straddles it still
 * may.
 *
 * A cycle costs nothing here. A score is kept as the cycle in which it would be 0, so decay needs no work; LLDS binds
 * others only in the first cycle after it fell, by one comparison; and who is held is worked out when the policy is
 * asked, and again only when a score or the cutoff changed or in the cycle, known beforehand, in which decay alone
 * changes it.
 *
 * One table a core, made by its first scheduler: hits and scores are the core's, and the tags of all warps would
 * otherwise be kept, and looked up, once per scheduler.
 *
 * Left out: the latency of the scoring hardware; the one cycle by which the authors' simulator uses a new number of
 * warps later for the ranking than for LLDS. */
#include "heddle/victim_tags.h"

enum { K_THROTTLE, BASE_SCORE, VTA_ENTRIES, VTA_WAYS, VTA_INDEX, SCORE_BITS };
enum {
    COUNT_VTA_HITS,
    COUNT_RAISED,
    COUNT_THROTTLED_CYCLES,
    COUNT_HELD_WARP_CYCLES,
    COUNT_RESIDENT_WARP_CYCLES,
    COUNT_SCORE_SUM
};

/* The scores of a core. */
struct table {
    struct heddle_victim_tags tags;
    uint64_t k_throttle, base, most; /* of the parameters; the highest score that fits its bits */
    uint64_t *counters;
    uint64_t resident; /* as launched and ended say */
    uint64_t cutoff;
    uint64_t hits, instructions; /* of the warps that are not finished */
    uint64_t warp_hits[HEDDLE_WARPS], warp_instructions[HEDDLE_WARPS];
    uint64_t zero_at[HEDDLE_WARPS]; /* cycle in which the score would be 0; those above the base only */
    uint8_t ranked[HEDDLE_WARPS];   /* warps above the base, highest first */
    uint32_t ranked_count;
    bool totals_changed; /* in cycle `changed_at`, since LLDS was last compared with the scores */
    uint64_t changed_at;
    uint64_t held; /* warps that may not load, from cycle `from` on, before cycle `until` */
    uint64_t from, until;
};

struct ccws {
    struct heddle_greedy greedy;
    struct table *table;
    bool keeps_table; /* the first scheduler of the core does, for all */
};

/* ---------------------------------------------------------------- ranks */

static bool ranks_before(const struct table *t, uint32_t a, uint32_t b)
{
    return t->zero_at[a] != t->zero_at[b] ? t->zero_at[a] > t->zero_at[b] : a < b;
}

static void unrank(struct table *t, uint32_t warp)
{
    for (uint32_t i = 0; i < t->ranked_count; i++)
        if (t->ranked[i] == warp) {
            memmove(t->ranked + i, t->ranked + i + 1, t->ranked_count - i - 1);
            t->ranked_count--;
            return;
        }
}

/* From the back of the list to where it belongs. */
static void rank_last(struct table *t, uint32_t i)
{
    uint8_t warp = t->ranked[i];
    for (; i && ranks_before(t, warp, t->ranked[i - 1]); i--)
        t->ranked[i] = t->ranked[i - 1];
    t->ranked[i] = warp;
}

static void rank(struct table *t, uint32_t warp, uint64_t zero_at)
{
    unrank(t, warp);
    t->zero_at[warp] = zero_at;
    t->ranked[t->ranked_count++] = (uint8_t)warp;
    rank_last(t, t->ranked_count - 1);
}

static void drop_decayed(struct table *t, uint64_t now)
{
    while (t->ranked_count && t->zero_at[t->ranked[t->ranked_count - 1]] <= now + t->base)
        t->ranked_count--;
}

/* Who may not load at cycle now, and until when that stays so if nothing happens. */
static void find_held(struct table *t, uint64_t now)
{
    drop_decayed(t, now);
    uint64_t sum = 0, allowed = 0, others = t->resident;
    uint32_t above = 0; /* ranked warps that are allowed */
    for (uint32_t i = 0; i < t->ranked_count; i++) {
        uint32_t warp = t->ranked[i];
        others &= ~(UINT64_C(1) << warp);
        if (sum >= t->cutoff)
            continue;
        allowed |= UINT64_C(1) << warp;
        sum += t->zero_at[warp] - now;
        above++;
    }
    for (; others && sum < t->cutoff; others &= others - 1, sum += t->base)
        allowed |= others & -others;
    t->from = now;
    t->until = UINT64_MAX;
    t->held = t->resident & ~allowed;
    if (!t->held)
        return; /* sums only fall */
    uint64_t lowest = t->zero_at[t->ranked[t->ranked_count - 1]] - t->base,
             fills_until = now + (sum - t->cutoff) / above + 1;
    t->until = fills_until < lowest ? fills_until : lowest; /* one that comes down to the base is ranked by its slot */
}

/* Cycles before now have gone by with the same warps held. */
static void count_cycles(struct table *t, uint64_t now)
{
    uint64_t cycles = now - t->from;
    t->counters[COUNT_RESIDENT_WARP_CYCLES] += cycles * (uint64_t)__builtin_popcountll(t->resident);
    t->counters[COUNT_THROTTLED_CYCLES] += t->held ? cycles : 0;
    t->counters[COUNT_HELD_WARP_CYCLES] += cycles * (uint64_t)__builtin_popcountll(t->held);
    t->from = now;
}

/* Something that the ranking depends on changes in cycle now: it is computed again when next needed. */
static void about_to_change(struct table *t, uint64_t now)
{
    while (t->until < now) {
        count_cycles(t, t->until);
        find_held(t, t->until);
    }
    count_cycles(t, now);
    t->until = now;
}

/* ---------------------------------------------------------------- scores */

static uint64_t issued_at_least_one(const struct table *t) { return t->instructions ? t->instructions : 1; }

static uint64_t llds(const struct table *t) { return t->hits * t->k_throttle * t->cutoff / issued_at_least_one(t); }

/* No score is more than LLDS: those that are, the first of the ranking, come down to it and are then in order of their
 * slots. */
static void cap(struct table *t, uint64_t now)
{
    uint64_t most = llds(t);
    about_to_change(t, now);
    drop_decayed(t, now);
    if (most <= t->base) {
        t->ranked_count = 0;
        return;
    }
    for (uint32_t i = 0; i < t->ranked_count; i++)
        if (t->zero_at[t->ranked[i]] >= now + most) {
            t->zero_at[t->ranked[i]] = now + most;
            rank_last(t, i);
        }
}

/* LLDS is compared with the scores in every cycle. Where it stayed as it is they fall faster than it, so the first
 * cycle after a change is enough. */
static inline void settle(struct table *t, uint64_t now)
{
    if (!t->totals_changed || now <= t->changed_at)
        return;
    t->totals_changed = false;
    uint64_t then = t->changed_at + 1;
    if (!t->ranked_count)
        return;
    uint64_t highest = t->zero_at[t->ranked[0]];
    if (highest > then && t->hits * t->k_throttle * t->cutoff < (highest - then) * issued_at_least_one(t))
        cap(t, then);
}

static inline void note_change(struct table *t, uint64_t now)
{
    t->totals_changed = true;
    t->changed_at = now;
}

static void set_resident(struct table *t, uint64_t resident)
{
    t->resident = resident;
    t->cutoff = (uint64_t)__builtin_popcountll(resident) * t->base;
    if (!t->cutoff)
        t->cutoff = 1;
}

static void lost_locality(struct table *t, uint64_t now, uint32_t warp)
{
    settle(t, now);
    t->hits++;
    t->warp_hits[warp]++;
    t->counters[COUNT_VTA_HITS]++;
    uint64_t score = llds(t);
    note_change(t, now);
    if (!(t->resident >> warp & 1)) /* a load that was under way when its warp ended */
        return;
    if (score <= t->base && !t->ranked_count)
        return;
    about_to_change(t, now);
    if (score <= t->base) {
        unrank(t, warp);
        return;
    }
    score = score < t->most ? score : t->most;
    t->counters[COUNT_RAISED]++;
    t->counters[COUNT_SCORE_SUM] += score;
    rank(t, warp, now + score);
}

/* ---------------------------------------------------------------- events */

static struct table *make_table(const struct heddle_setup *setup)
{
    const union heddle_value *v = setup->values;
    uint32_t entries = (uint32_t)v[VTA_ENTRIES].integer, ways = (uint32_t)v[VTA_WAYS].integer;
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->k_throttle = (uint64_t)v[K_THROTTLE].integer;
    t->base = (uint64_t)v[BASE_SCORE].integer;
    t->most = (UINT64_C(1) << v[SCORE_BITS].integer) - 1;
    if (t->most < t->base)
        t->most = t->base;
    t->counters = setup->counters;
    set_resident(t, 0);
    if (ways > entries)
        ways = entries;
    if (entries % ways)
        heddle_refuse(setup, "vta_entries is not a multiple of vta_ways");
    else if (!setup->core->l1_line_bytes)
        heddle_refuse(setup, "it needs an L1 data cache");
    else if (heddle_victim_tags_init(&t->tags, setup->core->warp_slots, entries / ways, ways,
                                     setup->core->l1_line_bytes, (enum heddle_victim_index)v[VTA_INDEX].integer))
        return t;
    heddle_victim_tags_free(&t->tags);
    free(t);
    return NULL;
}

static bool init(void *state, const struct heddle_setup *setup)
{
    struct ccws *s = state;
    s->greedy.warps = setup->warps;
    s->keeps_table = !setup->scheduler;
    if (s->keeps_table)
        setup->core->shared[0] = make_table(setup);
    s->table = setup->core->shared[0];
    return s->table != NULL;
}

static void finish(void *state)
{
    struct ccws *s = state;
    if (!s->keeps_table || !s->table)
        return;
    heddle_victim_tags_free(&s->table->tags);
    free(s->table);
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct ccws *s = state;
    if (!s->keeps_table)
        return;
    heddle_victim_tags_flush(&s->table->tags);
    s->table->from = s->table->until = core->cycle;
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct ccws *s = state;
    struct table *t = s->table;
    heddle_ages_launched(&s->greedy.ages, warp);
    if (!s->keeps_table)
        return;
    settle(t, core->cycle);
    about_to_change(t, core->cycle);
    set_resident(t, t->resident | UINT64_C(1) << warp);
    note_change(t, core->cycle);
}

/* It is not ranked any more, and the cutoff falls. */
static void ended(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct ccws *s = state;
    struct table *t = s->table;
    if (!s->keeps_table)
        return;
    settle(t, core->cycle);
    about_to_change(t, core->cycle);
    unrank(t, warp);
    set_resident(t, t->resident & ~(UINT64_C(1) << warp));
    note_change(t, core->cycle);
}

/* Its hits and instructions go with it. */
static void finished(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct ccws *s = state;
    struct table *t = s->table;
    if (!s->keeps_table)
        return;
    settle(t, core->cycle);
    t->hits -= t->warp_hits[warp];
    t->instructions -= t->warp_instructions[warp];
    t->warp_hits[warp] = t->warp_instructions[warp] = 0;
    note_change(t, core->cycle);
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct ccws *s = state;
    struct table *t = s->table;
    heddle_greedy_issued(&s->greedy, e->warp);
    if (!s->keeps_table || e->instruction->flags & (HEDDLE_BARRIER | HEDDLE_FENCE))
        return;
    settle(t, core->cycle);
    t->instructions++;
    t->warp_instructions[e->warp]++;
    note_change(t, core->cycle);
}

static void l1_evict(void *state, const struct heddle_core *core, const struct heddle_l1_evict *e)
{
    struct ccws *s = state;
    (void)core;
    if (s->keeps_table)
        heddle_victim_tags_evicted(&s->table->tags, e);
}

static void l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct ccws *s = state;
    if (s->keeps_table && heddle_victim_tags_accessed(&s->table->tags, e))
        lost_locality(s->table, core->cycle, e->warp);
}

/* ---------------------------------------------------------------- choice */

static uint64_t hold_loads(void *state, const struct heddle_core *core)
{
    struct table *t = ((struct ccws *)state)->table;
    settle(t, core->cycle);
    while (t->until <= core->cycle) {
        count_cycles(t, t->until);
        find_held(t, t->until);
    }
    return t->held;
}

static uint64_t steady_until(void *state, const struct heddle_core *core)
{
    const struct table *t = ((struct ccws *)state)->table;
    return t->totals_changed ? core->cycle + 1 : t->until; /* LLDS is compared with the scores in the next cycle */
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct ccws *s = state;
    (void)core;
    return heddle_greedy_pick(&s->greedy, candidates);
}

static const struct heddle_param params[] = {
    [K_THROTTLE] = {.name = "k_throttle",
                    .type = HEDDLE_INTEGER,
                    .default_value = "8",
                    .least = 0,
                    .most = 1024,
                    .help = "how strongly lost locality holds others back; 0: not, hits are only counted"},
    [BASE_SCORE] = {.name = "base_score",
                    .type = HEDDLE_INTEGER,
                    .default_value = "100",
                    .least = 1,
                    .most = 65535,
                    .help = "score of a warp that loses nothing"},
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
    [SCORE_BITS] = {.name = "score_bits",
                    .type = HEDDLE_INTEGER,
                    .default_value = "32",
                    .least = 1,
                    .most = 32,
                    .help = "a score stays at the highest number of so many bits"},
    {0},
};
static const struct heddle_counter counters[] = {
    [COUNT_VTA_HITS] = {.name = "vta_hits",
                        .unit = "accesses",
                        .help = "loads that missed on a line which their warp had lost (found in its victim tags)"},
    [COUNT_RAISED] = {.name = "raised", .unit = "times", .help = "of these, those that set a score above the base"},
    [COUNT_THROTTLED_CYCLES] = {.name = "throttled_cycles",
                                .unit = "cycles",
                                .help = "core cycles in which some warp might not issue loads"},
    [COUNT_HELD_WARP_CYCLES] = {.name = "held_warp_cycles",
                                .unit = "warp cycles",
                                .help = "warps that might not issue loads, summed over the cycles"},
    [COUNT_RESIDENT_WARP_CYCLES] =
        {.name = "resident_warp_cycles",
         .unit = "warp cycles",
         .help = "warps on a core, summed over the cycles; times the base score this is the sum of the cutoff"},
    [COUNT_SCORE_SUM] = {.name = "score_sum",
                         .unit = "points",
                         .help = "sum of the scores that were set above the base; a mean with `raised`"},
    {0},
};

const struct heddle_scheduler scheduler_ccws = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "ccws",
            .help = "cache-conscious: warps that lose their lines push others below a cutoff, who then may not load; "
                    "greedy then oldest (CCWS)",
            .params = params,
            .counters = counters,
            .bits_per_warp =
                16 * 40 + 10 +
                6, /* victim tags of 48-bit addresses, the score (10 bits in the paper's estimate), the age */
            .bits_per_core = 2 * 32 + 6, /* hits and instructions; the last warp that issued */
            .bits_per_line = 5,          /* the warp that brought it, of 32 as in the paper */
            .state_bytes = sizeof(struct ccws),
            .init = init,
            .finish = finish,
            .on = {.kernel = kernel,
                   .launched = launched,
                   .ended = ended,
                   .finished = finished,
                   .issued = issued,
                   .l1_access = l1_access,
                   .l1_evict = l1_evict},
        },
    .pick = pick,
    .hold_loads = hold_loads,
    .steady_until = steady_until,
};
