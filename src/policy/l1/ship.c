/* Signature-based hit prediction (SHiP, Wu et al., MICRO 2011) over re-reference intervals: a table of counters learns,
 * by what brought a line and where it lies, whether such lines are used again. A line of which nothing is expected
 * starts at the farthest distance, others one before it. */
#include "heddle/rrip.h"

enum { BITS = 2, MOST_INDEX_BITS = 14 };
enum signature { BY_BOTH, BY_PC, BY_ADDRESS };
enum { P_SIGNATURE, P_INDEX_BITS, P_COUNTER_BITS, P_BEGIN, P_ADDR_SHIFT };

struct line {
    uint16_t signature;
    bool reused;
};

struct ship {
    struct heddle_rrip rrip;
    enum signature by;
    uint32_t index_bits, shift;
    uint8_t most;
    uint64_t *counters;
    struct line *lines;
    uint8_t table[1 << MOST_INDEX_BITS];
};
enum { C_DISTANT, C_LONG, C_UNUSED };

static bool init(void *state, const struct heddle_setup *setup)
{
    struct ship *s = state;
    const union heddle_value *v = setup->values;
    s->by = (enum signature)v[P_SIGNATURE].integer;
    s->index_bits = (uint32_t)v[P_INDEX_BITS].integer;
    s->shift = (uint32_t)v[P_ADDR_SHIFT].integer;
    s->most = (uint8_t)((1u << v[P_COUNTER_BITS].integer) - 1);
    s->counters = setup->counters;
    if (v[P_BEGIN].integer > s->most)
        return heddle_refuse(setup, "begin is more than a counter of so many bits holds");
    for (uint32_t i = 0; i < 1u << s->index_bits; i++)
        s->table[i] = (uint8_t)v[P_BEGIN].integer;
    s->lines = calloc((size_t)setup->core->l1_sets * setup->core->l1_ways + 1, sizeof *s->lines);
    return heddle_rrip_make(&s->rrip, setup->core, BITS) && s->lines;
}

static void finish(void *state)
{
    struct ship *s = state;
    heddle_rrip_free(&s->rrip);
    free(s->lines);
}

static struct line *line_at(const struct ship *s, uint32_t set, uint32_t way)
{
    return &s->lines[(size_t)set * s->rrip.ways + way];
}

static int victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free_ways,
                  const struct heddle_l1_access *access)
{
    struct ship *s = state;
    (void)core, (void)access;
    return heddle_rrip_find(&s->rrip, set, UINT64_MAX, ways, free_ways);
}

static void inserted(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                     const struct heddle_l1_access *access)
{
    struct ship *s = state;
    uint32_t pc = s->by == BY_ADDRESS ? 0 : access->pc;
    uint64_t address = s->by == BY_PC ? 0 : access->address;
    uint32_t signature = heddle_signature(pc, address, s->shift, s->index_bits);
    bool distant = s->table[signature] == 0;
    (void)core;
    *line_at(s, set, way) = (struct line){.signature = (uint16_t)signature};
    heddle_rrip_put(&s->rrip, set, way, UINT64_MAX, (uint8_t)(s->rrip.farthest - !distant));
    s->counters[distant ? C_DISTANT : C_LONG]++;
}

static void touched(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                    const struct heddle_l1_access *access)
{
    struct ship *s = state;
    struct line *line = line_at(s, set, way);
    (void)core;
    if (access->outcome != HEDDLE_HIT) /* it is on its way: the first use still */
        return;
    heddle_rrip_near(&s->rrip, set, way);
    line->reused = true;
    heddle_count_up(&s->table[line->signature], s->most);
}

static void removed(void *state, const struct heddle_core *core, uint32_t set, uint32_t way, enum heddle_leave why)
{
    struct ship *s = state;
    const struct line *line = line_at(s, set, way);
    (void)core;
    if (why != HEDDLE_EVICTED || line->reused)
        return;
    heddle_count_down(&s->table[line->signature]);
    s->counters[C_UNUSED]++;
}

static const char *const signatures[] = {"both", "pc", "address", NULL};
static const struct heddle_param params[] = {
    {.name = "signature",
     .type = HEDDLE_CHOICE,
     .default_value = "both",
     .choices = signatures,
     .help = "what a line is known by: number of the instruction XOR address (CAWA), or one of the two"},
    {.name = "index_bits",
     .type = HEDDLE_INTEGER,
     .default_value = "8",
     .least = 1,
     .most = MOST_INDEX_BITS,
     .help = "of a signature: the table has 2^index_bits counters (SHiP: 14)"},
    {.name = "counter_bits",
     .type = HEDDLE_INTEGER,
     .default_value = "2",
     .least = 1,
     .most = 8,
     .help = "width of a counter (SHiP: 3)"},
    {.name = "begin",
     .type = HEDDLE_INTEGER,
     .default_value = "1",
     .least = 0,
     .most = 255,
     .help = "counters at the beginning; with 0 every first line of a signature starts farthest"},
    {.name = "addr_shift",
     .type = HEDDLE_INTEGER,
     .default_value = "0",
     .least = 0,
     .most = 40,
     .help = "low bits of the address that are left out; those within a line are always 0"},
    {0},
};

static const struct heddle_counter counters[] = {
    [C_DISTANT] = {.name = "distant_fills", .unit = "lines", .help = "put in at the farthest distance"},
    [C_LONG] = {.name = "long_fills", .unit = "lines", .help = "put in one before it"},
    [C_UNUSED] = {.name = "unused", .unit = "lines", .help = "evicted without a hit"},
    {0},
};

const struct heddle_l1 l1_ship = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "ship",
            .help = "signature-based hit prediction on re-reference intervals (Wu et al., MICRO 2011)",
            .params = params,
            .counters = counters,
            .bits_per_core = 256 * 2,
            .bits_per_line = 2 + 8 + 1,
            .state_bytes = sizeof(struct ship),
            .init = init,
            .finish = finish,
        },
    .victim = victim,
    .inserted = inserted,
    .touched = touched,
    .removed = removed,
};
