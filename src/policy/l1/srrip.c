/* Static re-reference interval prediction (Jaleel et al., ISCA 2010), with promotion on every hit: a new line starts
 * far, a hit brings it to 0 (one on a line that is still on its way says nothing of a second use, and does not), and
 * the first line at the farthest leaves. */
#include "heddle/rrip.h"

enum insertion { INSERT_NEAR, INSERT_LONG, INSERT_DISTANT };

struct srrip {
    struct heddle_rrip rrip;
    uint8_t insertion;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct srrip *s = state;
    enum insertion insertion = (enum insertion)setup->values[1].integer;
    if (!heddle_rrip_make(&s->rrip, setup->core, (uint32_t)setup->values[0].integer))
        return false;
    uint8_t farthest = s->rrip.farthest;
    s->insertion = insertion == INSERT_NEAR ? 0 : insertion == INSERT_LONG ? (uint8_t)(farthest - 1) : farthest;
    return true;
}

static void finish(void *state)
{
    struct srrip *s = state;
    heddle_rrip_free(&s->rrip);
}

static int victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free_ways,
                  const struct heddle_l1_access *access)
{
    struct srrip *s = state;
    (void)core, (void)access;
    return heddle_rrip_find(&s->rrip, set, UINT64_MAX, ways, free_ways);
}

static void inserted(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                     const struct heddle_l1_access *access)
{
    struct srrip *s = state;
    (void)core, (void)access;
    heddle_rrip_put(&s->rrip, set, way, UINT64_MAX, s->insertion);
}

static void touched(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                    const struct heddle_l1_access *access)
{
    struct srrip *s = state;
    (void)core;
    if (access->outcome == HEDDLE_HIT)
        heddle_rrip_near(&s->rrip, set, way);
}

static const char *const insertions[] = {"near", "long", "distant", NULL};
static const struct heddle_param params[] = {
    {.name = "bits",
     .type = HEDDLE_INTEGER,
     .default_value = "2",
     .help = "width of a line's prediction",
     .least = 1,
     .most = 8},
    {.name = "insert",
     .type = HEDDLE_CHOICE,
     .default_value = "long",
     .help = "prediction of a new line: near 0, long 2^bits - 2, distant 2^bits - 1",
     .choices = insertions},
    {0},
};

const struct heddle_l1 l1_srrip = {
    .policy =
        {
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
