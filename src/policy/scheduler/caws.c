/* Criticality-aware warp scheduling with an oracle (CAWS, PACT 2014; the upper bound in CAWA's figure 13): of the warps
 * that can issue the one that took longest in an earlier run, of equals the oldest. Not greedy. A warp is known by its
 * launch, block and number in the block; one that the file does not know comes last. */
#include "heddle/warp_times.h"

#include "heddle/policy.h"

struct caws {
    struct heddle_warp_times *times; /* read by the first scheduler of the core, for all */
    bool owner;
    struct heddle_ages ages;
    uint64_t cycles[HEDDLE_WARPS];
    char why[160];
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct caws *s = state;
    void **place = &setup->core->shared[0];
    if (!*setup->values[0].text)
        return heddle_refuse(setup, "it needs times=FILE, which heddle run --warps FILE.csv wrote in an earlier run");
    if (!*place) {
        struct heddle_warp_times *times = calloc(1, sizeof *times);
        const char *why = NULL;
        if (!times)
            return heddle_refuse(setup, "out of memory");
        if (!heddle_warp_times_read(times, setup->values[0].text, &why)) {
            free(times);
            snprintf(s->why, sizeof s->why, "times=%.90s: %s", setup->values[0].text, why);
            return heddle_refuse(setup, s->why);
        }
        *place = times;
        s->owner = true;
    }
    s->times = *place;
    return true;
}

static void finish(void *state)
{
    struct caws *s = state;
    if (!s->owner)
        return;
    heddle_warp_times_free(s->times);
    free(s->times);
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct caws *s = state;
    const struct heddle_warp *w = &core->warp[warp];
    heddle_ages_launched(&s->ages, warp);
    s->cycles[warp] = 0;
    heddle_warp_times_find(s->times, core->kernel, w->block_index, w->index, &s->cycles[warp]);
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct caws *s = state;
    uint64_t longest = 0, slowest = 0;
    (void)core;
    for (; candidates; candidates &= candidates - 1) {
        uint64_t cycles = s->cycles[__builtin_ctzll(candidates)], set = candidates & -candidates;
        slowest = cycles > longest ? set : cycles == longest ? slowest | set : slowest;
        longest = cycles > longest ? cycles : longest;
    }
    return heddle_ages_oldest(&s->ages, slowest);
}

static const struct heddle_param params[] = {
    {.name = "times",
     .type = HEDDLE_TEXT,
     .default_value = "",
     .help = "file of --warps, of an earlier run of the same program"},
    {0},
};

const struct heddle_scheduler scheduler_caws = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "caws",
            .help = "the warp that took longest in an earlier run first: an oracle (CAWS; CAWA)",
            .params = params,
            .state_bytes = sizeof(struct caws),
            .init = init,
            .finish = finish,
            .on = {.launched = launched},
        },
    .pick = pick,
};
