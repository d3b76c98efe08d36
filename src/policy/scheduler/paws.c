/* Phase aware: the warp whose phase ends soonest, by the latencies left in it; ties to the oldest (PAWS report; phases:
 * src/ptx/phases.h).
 *
 * The report's text speaks of the shortest next phase, its code goes by what is left of the current one. The code's
 * rule is the default. A warp whose instruction buffer is empty cannot issue, so its place does not matter. */
#include "heddle/policy.h"

enum { RANK, ORDER };
enum { RANK_DISTANCE, RANK_NEXT_LENGTH };

struct paws {
    bool by_next_length;
    int64_t order; /* of the analysis */
    struct heddle_ages ages;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct paws *s = state;
    s->by_next_length = setup->values[RANK].integer == RANK_NEXT_LENGTH;
    s->order = setup->values[ORDER].integer;
    return true;
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct paws *s = state;
    (void)core;
    heddle_ages_launched(&s->ages, warp);
}

static uint32_t rank(const struct paws *s, const struct heddle_core *core, int warp)
{
    uint32_t pc = core->warp[warp].next_pc;
    if (pc == HEDDLE_NO_PC)
        return 0;
    const struct heddle_phase *p = &core->program->instructions[pc].phase[s->order];
    return s->by_next_length ? p->next_length : p->distance;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct paws *s = state;
    uint64_t best = 0;
    uint32_t least = UINT32_MAX;
    if (!(candidates & (candidates - 1)))
        return __builtin_ctzll(candidates);
    for (uint64_t left = candidates; left; left &= left - 1) {
        uint32_t distance = rank(s, core, __builtin_ctzll(left));
        if (distance > least)
            continue;
        best = distance < least ? 0 : best;
        best |= left & -left;
        least = distance;
    }
    return heddle_ages_oldest(&s->ages, best);
}

static const char *const ranks[] = {"distance", "next_length", NULL};
static const char *const orders[] = {"sources", "report", NULL};
static const struct heddle_param params[] = {
    [RANK] = {.name = "rank",
              .type = HEDDLE_CHOICE,
              .default_value = "distance",
              .choices = ranks,
              .help = "latencies left in the current phase (the report's code), or those of the next (its text)"},
    [ORDER] =
        {.name = "order",
         .type = HEDDLE_CHOICE,
         .default_value = "sources",
         .choices = orders,
         .help = "a load's sources are looked at before its destination is entered, or after, as in the report's code"},
    {0},
};

const struct heddle_scheduler scheduler_paws = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "paws",
            .help = "phase aware: the warp whose phase (run of instructions up to the first use of a load) ends "
                    "soonest, then the oldest (PAWS)",
            .params = params,
            .bits_per_warp = 16 + 6, /* the distance of its next instruction, its age */
            .state_bytes = sizeof(struct paws),
            .init = init,
            .on = {.launched = launched},
        },
    .pick = pick,
};
