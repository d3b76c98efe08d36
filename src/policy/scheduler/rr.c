/* Strict round robin: only the warp whose turn it is may issue, and the slot idles while it is stalled (CCWS's
 * simulator). At the start of a cycle the turn passes, in ring order, if that warp issued in the last one, has ended or
 * waits at a barrier, fence or atomic; warps that have ended or wait are skipped. Where none is left, the turn stays
 * until there is. */
#include "heddle/policy.h"

struct rr {
    uint64_t warps; /* slots of this scheduler */
    uint32_t turn;  /* slot */
    bool over;      /* its warp has issued */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct rr *s = state;
    s->warps = setup->warps;
    return true;
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct rr *s = state;
    (void)core;
    if (s->warps >> e->warp & 1) {
        s->turn = e->warp;
        s->over = true;
    }
}

static void cycles(void *state, const struct heddle_core *core, uint64_t count)
{
    struct rr *s = state;
    uint64_t able = core->resident & ~core->waiting & s->warps;
    (void)count;
    if (!able || (!s->over && able >> s->turn & 1))
        return;
    uint64_t ahead = ~UINT64_C(0) << s->turn;
    s->turn = (uint32_t)heddle_ring_first(able, s->over ? ahead << 1 : ahead);
    s->over = false;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct rr *s = state;
    (void)core;
    return candidates >> s->turn & 1 ? (int)s->turn : HEDDLE_NO_WARP;
}

const struct heddle_scheduler scheduler_rr = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "rr",
            .help = "strict round robin: only the warp whose turn it is may issue; the slot idles while it is stalled",
            .bits_per_core = 7,
            .state_bytes = sizeof(struct rr),
            .init = init,
            .on = {.issued = issued, .cycles = cycles},
        },
    .pick = pick,
};
