/* Is it a policy that keeps a launch from its end? A scheduler that never picks, or holds every warp back, an L1 policy
 * that gives no access a way: the kernel waits for ever, through no fault of its own. (Divergence units that forget the
 * warps that they parked are found by regroup.c.) None of the published policies keeps a core with work idle for more
 * than some thousand cycles; after HELD_CYCLES without an instruction, in which each look found work kept back, the
 * policy is wrong.
 *
 * A scheduler that holds its own warps back while another one of the core issues is left alone: that is what limits
 * of warps per core do. */
#include "gpu/held.h"

#include <stdio.h>

enum { HELD_CYCLES = 1 << 19 };

static const char *name_of(const struct timing *t, const struct sm *c)
{
    return t->blocks.owner[sm_id(c)]->launch.kernel->name;
}

/* How long, in words: "for 524288 cycles". */
struct duration {
    char text[40];
};

static struct duration duration_of(uint64_t cycles)
{
    struct duration d = {"and never will again"};
    if (cycles != UINT64_MAX)
        snprintf(d.text, sizeof d.text, "for %llu cycles", (unsigned long long)cycles);
    return d;
}

static bool blame_scheduler(const struct timing *t, const struct sm *c, uint64_t cycles, struct error *e)
{
    struct sm_blame b = sm_blame_scheduler(c);
    error_set(e, ERROR_DEADLOCK,
              "kernel %s cannot go on: scheduler %s has let no warp of core %u issue %s, though some could",
              name_of(t, c), b.policy, sm_id(c), duration_of(cycles).text);
    error_note(e, "  warps 0x%llx wait for it: %s (scheduler %u of the core, cycle %llu)", (unsigned long long)b.warps,
               b.reason, b.scheduler, (unsigned long long)t->now);
    return false;
}

static bool blame_l1(const struct timing *t, const struct sm *c, uint64_t cycles, struct error *e)
{
    const char *policy;
    bool stands;
    sm_l1_refusals(c, &policy, &stands);
    error_set(e, ERROR_DEADLOCK, "kernel %s cannot go on: L1 policy %s has given no access of core %u a way %s",
              name_of(t, c), policy, sm_id(c), duration_of(cycles).text);
    error_note(e, "  its victim answers -1 each time that it is asked (cycle %llu)", (unsigned long long)t->now);
    return false;
}

bool held_check(struct timing *t, struct error *e)
{
    for (uint32_t i = 0; i < t->core_count; i++) {
        const struct sm *c = t->cores[i];
        struct held_core *h = &t->held[i];
        const char *policy;
        bool stands;
        uint64_t issued = sm_counters(c)->issued;
        bool idle = t->blocks.owner[i] && issued == h->issued, held = idle && sm_awaiting_scheduler(c);
        uint64_t fails = idle && !held ? sm_l1_refusals(c, &policy, &stands) : 0;
        if (held || fails > h->way_fails) {
            if (t->now - h->since >= HELD_CYCLES)
                return held ? blame_scheduler(t, c, t->now - h->since, e) : blame_l1(t, c, t->now - h->since, e);
        } else {
            h->since = t->now;
        }
        h->issued = issued;
        h->way_fails = fails;
    }
    return true;
}

bool held_check_for_ever(struct timing *t, struct error *e)
{
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] && sm_awaiting_scheduler(t->cores[i]))
            return blame_scheduler(t, t->cores[i], UINT64_MAX, e);
    for (uint32_t i = 0; i < t->core_count; i++) { /* loads under way in an empty memory system */
        const char *policy;
        bool stands;
        if (t->blocks.owner[i] && sm_l1_refusals(t->cores[i], &policy, &stands) && stands)
            return blame_l1(t, t->cores[i], UINT64_MAX, e);
    }
    return true;
}
