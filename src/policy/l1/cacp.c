/* Criticality-aware cache prioritization (CAWA, ISCA 2015, section 3.3 and algorithm 4). The ways of a set are divided:
 * lines that critical warps are expected to use go into the first ones, all others into the rest; a look-up finds them
 * in either. Two tables of counters, by the signature of what brought a line, learn from what became of earlier lines:
 * CCBP whether critical warps use such lines, SHiP whether anybody does. Within its part a line is replaced by its
 * predicted distance to the next use (SRRIP).
 *
 * A part can be full of lines that are on their way. The paper does not treat that case. `reserved=other` lets the new
 * line into the other part then; `reserved=fail` refuses the access, which keeps the load/store unit waiting.
 *
 * Which warps are critical is asked at each hit; the criticality is the scheduler's, or kept here (criticality.h). */
#include "heddle/criticality.h"
#include "heddle/rrip.h"

enum { TABLE_BITS = 8, TABLE = 1 << TABLE_BITS, MOST = 3, DISTANCE_BITS = 2 };
enum { P_WAYS, P_THRESHOLD, P_SHIFT, P_CRITICAL, P_CCBP, P_SHIP, P_RESERVED, P_CRITICALITY };
enum { C_CRITICAL_FILLS, C_OTHER_FILLS, C_DISTANT, C_CRITICAL_HITS, C_OTHER_HITS, C_WRONG, C_UNUSED, C_OVERFLOWS };

enum reserved { RESERVED_OTHER, RESERVED_FAIL };

struct line {
    uint8_t signature;
    bool critical_part, used_by_critical, used_by_other;
};

struct cacp {
    struct heddle_criticality own;
    const struct heddle_criticality *criticality; /* the core's */
    struct heddle_rrip rrip;
    uint64_t ways, critical_ways; /* as sets */
    uint32_t shift;
    uint8_t threshold;
    enum heddle_critical critical;
    enum reserved reserved;
    bool overflows; /* the last search went to the other part: a function of the state, as the aging of rrip.h */
    uint8_t ccbp[TABLE], ship[TABLE];
    struct line *lines; /* by set and way */
    uint64_t *counters;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct cacp *s = state;
    const union heddle_value *v = setup->values;
    uint32_t all = setup->core->l1_ways, ways = v[P_WAYS].integer < 0 ? all / 2 : (uint32_t)v[P_WAYS].integer;
    if (ways > all)
        return heddle_refuse(setup, "critical_ways is more than the L1 data cache has ways");
    s->ways = UINT64_MAX >> (64 - all);
    s->critical_ways = ways ? UINT64_MAX >> (64 - ways) : 0;
    s->threshold = (uint8_t)v[P_THRESHOLD].integer;
    s->shift = (uint32_t)v[P_SHIFT].integer;
    s->critical = (enum heddle_critical)v[P_CRITICAL].integer;
    s->reserved = (enum reserved)v[P_RESERVED].integer;
    for (int i = 0; i < TABLE; i++) {
        s->ccbp[i] = (uint8_t)v[P_CCBP].integer;
        s->ship[i] = (uint8_t)v[P_SHIP].integer;
    }
    s->counters = setup->counters;
    s->criticality = heddle_criticality_join(&s->own, setup, heddle_criticality_read(v + P_CRITICALITY));
    s->lines = calloc((size_t)setup->core->l1_sets * all + 1, sizeof *s->lines);
    return heddle_rrip_make(&s->rrip, setup->core, DISTANCE_BITS) && s->lines;
}

static void finish(void *state)
{
    struct cacp *s = state;
    heddle_rrip_free(&s->rrip);
    free(s->lines);
}

static struct line *line_at(const struct cacp *s, uint32_t set, uint32_t way)
{
    return &s->lines[(size_t)set * s->rrip.ways + way];
}

static uint8_t signature_of(const struct cacp *s, const struct heddle_l1_access *access)
{
    return (uint8_t)heddle_signature(access->pc, access->address, s->shift, TABLE_BITS);
}

/* The ways that a line with this signature may take. A part without ways is none: then the cache is not divided. */
static uint64_t part_of(const struct cacp *s, uint8_t signature)
{
    uint64_t part = s->ccbp[signature] >= s->threshold ? s->critical_ways : s->ways & ~s->critical_ways;
    return part ? part : s->ways;
}

/* Algorithm 4: CacheFill */

static int victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free_ways,
                  const struct heddle_l1_access *access)
{
    struct cacp *s = state;
    uint64_t part = part_of(s, signature_of(s, access));
    bool all_on_their_way = !((ways | free_ways) & part);
    (void)core;
    s->overflows = all_on_their_way && s->reserved == RESERVED_OTHER;
    if (s->overflows)
        part = s->ways & ~part;
    return heddle_rrip_find(&s->rrip, set, part, ways, free_ways);
}

static void inserted(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                     const struct heddle_l1_access *access)
{
    struct cacp *s = state;
    uint8_t signature = signature_of(s, access);
    bool critical = s->critical_ways >> way & 1, distant = s->ship[signature] == 0;
    (void)core;
    *line_at(s, set, way) = (struct line){.signature = signature, .critical_part = critical};
    heddle_rrip_put(&s->rrip, set, way, critical ? s->critical_ways : s->ways & ~s->critical_ways,
                    (uint8_t)(s->rrip.farthest - !distant));
    s->counters[critical ? C_CRITICAL_FILLS : C_OTHER_FILLS]++;
    s->counters[C_DISTANT] += distant;
    s->counters[C_OVERFLOWS] += s->overflows;
}

/* Algorithm 4: CacheHit. A hit on a line that is on its way belongs to its first use. */

static void touched(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                    const struct heddle_l1_access *access)
{
    struct cacp *s = state;
    struct line *line = line_at(s, set, way);
    if (access->outcome != HEDDLE_HIT)
        return;
    heddle_rrip_near(&s->rrip, set, way);
    heddle_count_up(&s->ship[line->signature], MOST);
    if (heddle_criticality_is_critical(s->criticality, core, access->warp, s->critical)) {
        line->used_by_critical = true;
        heddle_count_up(&s->ccbp[line->signature], MOST);
        s->counters[C_CRITICAL_HITS]++;
    } else {
        line->used_by_other = true;
        s->counters[C_OTHER_HITS]++;
    }
}

/* Algorithm 4: EvictLine. A line that a store drops, or that goes with all others, teaches nothing. */

static void removed(void *state, const struct heddle_core *core, uint32_t set, uint32_t way, enum heddle_leave why)
{
    struct cacp *s = state;
    const struct line *line = line_at(s, set, way);
    (void)core;
    if (why != HEDDLE_EVICTED || line->used_by_critical)
        return;
    if (line->used_by_other && line->critical_part) {
        heddle_count_down(&s->ccbp[line->signature]);
        s->counters[C_WRONG]++;
    } else if (!line->used_by_other) {
        heddle_count_down(&s->ship[line->signature]);
        s->counters[C_UNUSED]++;
    }
}

static const char *const criticals[] = {"block_half", "sm_range", "top", NULL};
static const char *const reserveds[] = {"other", "fail", NULL};
static const struct heddle_param params[] = {
    {.name = "critical_ways",
     .type = HEDDLE_INTEGER,
     .default_value = "-1",
     .least = -1,
     .most = 64,
     .help = "ways of each set for critical lines; -1: half of them"},
    {.name = "threshold",
     .type = HEDDLE_INTEGER,
     .default_value = "2",
     .least = 0,
     .most = MOST + 1,
     .help = "a line is critical if the counter of its signature in CCBP is not below"},
    {.name = "addr_shift",
     .type = HEDDLE_INTEGER,
     .default_value = "0",
     .least = 0,
     .most = 40,
     .help = "low bits of the address that its signature leaves out; those within a line are always 0"},
    {.name = "critical",
     .type = HEDDLE_CHOICE,
     .default_value = "top",
     .choices = criticals,
     .help = "critical warps: before half of their block, in the upper half of the core's range, "
             "or the first of a block"},
    {.name = "ccbp",
     .type = HEDDLE_INTEGER,
     .default_value = "1",
     .least = 0,
     .most = MOST,
     .help = "counters of CCBP at the beginning"},
    {.name = "ship",
     .type = HEDDLE_INTEGER,
     .default_value = "1",
     .least = 0,
     .most = MOST,
     .help = "counters of SHiP at the beginning; with 0 every first line of a signature starts farthest"},
    {.name = "reserved",
     .type = HEDDLE_CHOICE,
     .default_value = "other",
     .choices = reserveds,
     .help = "a part whose ways are all on their way: its new line goes into the other part, or the access fails"},
    HEDDLE_CRITICALITY_PARAMS,
    {0},
};

static const struct heddle_counter counters[] = {
    [C_CRITICAL_FILLS] = {.name = "critical_fills", .unit = "lines", .help = "put into the ways for critical lines"},
    [C_OTHER_FILLS] = {.name = "other_fills", .unit = "lines", .help = "put into the other ways"},
    [C_DISTANT] = {.name = "distant_fills", .unit = "lines", .help = "of both, put in at the farthest distance"},
    [C_CRITICAL_HITS] = {.name = "critical_hits", .unit = "accesses", .help = "hits by critical warps"},
    [C_OTHER_HITS] = {.name = "other_hits", .unit = "accesses", .help = "hits by other warps"},
    [C_WRONG] = {.name = "wrong", .unit = "lines", .help = "evicted from the critical ways, used by other warps alone"},
    [C_UNUSED] = {.name = "unused", .unit = "lines", .help = "evicted without a hit"},
    [C_OVERFLOWS] = {.name = "overflows",
                     .unit = "lines",
                     .help = "put into the other part, since all ways of their own were on their way"},
    {0},
};

const struct heddle_l1 l1_cacp = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "cacp",
            .help = "ways set aside for lines that critical warps will use, by CCBP, SHiP and SRRIP (CAWA)",
            .params = params,
            .counters = counters,
            .bits_per_warp = HEDDLE_CRITICALITY_BITS_PER_WARP,
            .bits_per_core = 2 * TABLE * 2,
            .bits_per_line = TABLE_BITS + DISTANCE_BITS + 2,
            .state_bytes = sizeof(struct cacp),
            .init = init,
            .finish = finish,
            .on = {HEDDLE_CRITICALITY_EVENTS, .launched = heddle_criticality_on_launched,
                   .issued = heddle_criticality_on_issued},
        },
    .victim = victim,
    .inserted = inserted,
    .touched = touched,
    .removed = removed,
};
