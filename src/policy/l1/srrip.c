/* Static re-reference interval prediction (Jaleel et al., ISCA 2010), with promotion on every hit. Each line has a prediction of how far away its
 * next use is, 0 to 2^bits - 1; a new line starts far, a hit brings it to 0 (one on a line that is still on its way says nothing of a second use,
 * and does not), and the first line at the farthest leaves. Where none is there, all lines of the set age together until one is. */
#include "heddle/policy.h"

#include <stdlib.h>

enum insertion { INSERT_NEAR, INSERT_LONG, INSERT_DISTANT };

struct srrip {
    uint32_t ways;
    uint8_t farthest, insertion;
    uint8_t *distance;   /* by set and way */
    /* What the last search found: by how much the set has to age for it. A function of the state, so asking again changes nothing; it takes effect
     * when the line is put in. */
    uint8_t aging;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct srrip *s = state;
    s->ways = setup->core->l1_ways;
    s->farthest = (uint8_t)((1u << setup->values[0].integer) - 1);
    enum insertion insertion = (enum insertion)setup->values[1].integer;
    s->insertion = insertion == INSERT_NEAR ? 0 : insertion == INSERT_LONG ? (uint8_t)(s->farthest - 1) : s->farthest;
    s->distance = calloc((size_t)setup->core->l1_sets * s->ways + 1, 1);
    return s->distance != NULL;
}

static void finish(void *state)
{
    struct srrip *s = state;
    free(s->distance);
}

static int victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free_ways, const struct heddle_l1_access *access)
{
    struct srrip *s = state;
    const uint8_t *distance = s->distance + (size_t)set * s->ways;
    (void)core, (void)access;
    s->aging = 0;
    if (free_ways)
        return __builtin_ctzll(free_ways);
    int far = -1;
    for (; ways; ways &= ways - 1) {
        int way = __builtin_ctzll(ways);
        if (far < 0 || distance[way] > distance[far])
            far = way;
    }
    if (far >= 0)
        s->aging = (uint8_t)(s->farthest - distance[far]);
    return far;
}

static void inserted(void *state, const struct heddle_core *core, uint32_t set, uint32_t way, const struct heddle_l1_access *access)
{
    struct srrip *s = state;
    uint8_t *distance = s->distance + (size_t)set * s->ways;
    (void)core, (void)access;
    for (uint32_t i = 0; s->aging && i < s->ways; i++) {
        unsigned aged = (unsigned)distance[i] + s->aging;
        distance[i] = aged < s->farthest ? (uint8_t)aged : s->farthest; /* reserved lines may have been the farthest */
    }
    s->aging = 0;
    distance[way] = s->insertion;
}

static void touched(void *state, const struct heddle_core *core, uint32_t set, uint32_t way, const struct heddle_l1_access *access)
{
    struct srrip *s = state;
    (void)core;
    if (access->outcome == HEDDLE_HIT)
        s->distance[(size_t)set * s->ways + way] = 0;
}

static const char *const insertions[] = {"near", "long", "distant", NULL};
static const struct heddle_param params[] = {
    {.name = "bits", .type = HEDDLE_INTEGER, .default_value = "2", .help = "width of a line's prediction", .least = 1, .most = 8},
    {.name = "insert", .type = HEDDLE_CHOICE, .default_value = "long", .help = "prediction of a new line: near 0, long 2^bits - 2, distant 2^bits - 1", .choices = insertions},
    {0},
};

const struct heddle_l1 l1_srrip = {
    .policy = {
        .abi = HEDDLE_POLICY_ABI,
        .name = "srrip",
        .help = "static re-reference interval prediction (Jaleel et al., ISCA 2010)",
        .params = params,
        .bits_per_line = 2,
        .state_bytes = sizeof(struct srrip),
        .init = init,
        .finish = finish,
    },
    .victim = victim,
    .inserted = inserted,
    .touched = touched,
};
