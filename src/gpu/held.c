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

static const char *name_of(const struct timing *t, const struct sm *c) { return t->owner[c->id]->launch.kernel->name; }

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

/* By which hook a scheduler keeps warps of its own back. */
static const char *reason(const struct sm *c, const struct sm_scheduler *s, uint64_t warps)
{
    uint64_t hold = s->policy->hold ? s->policy->hold(s->state, &c->view) : 0;
    uint64_t loads = s->policy->hold_loads ? s->policy->hold_loads(s->state, &c->view) & c->view.next_is_l1_load : 0;
    if (!(warps & ~hold))
        return "its hold keeps all of them back";
    return warps & ~(hold | loads) ? "its pick answers HEDDLE_NO_WARP" : "its hold_loads keeps their loads back";
}

static bool blame_scheduler(const struct timing *t, const struct sm *c, uint64_t cycles, struct error *e)
{
    uint64_t warps = sm_kept_back(c);
    const struct sm_scheduler *s = c->schedulers;
    while (!(warps & s->warps))
        s++; /* every warp has one */
    error_set(e, ERROR_DEADLOCK,
              "kernel %s cannot go on: scheduler %s has let no warp of core %u issue %s, though some could",
              name_of(t, c), s->policy->policy.name, c->id, duration_of(cycles).text);
    error_note(e, "  warps 0x%llx wait for it: %s (scheduler %u of the core, cycle %llu)",
               (unsigned long long)(warps & s->warps), reason(c, s, warps & s->warps), (uint32_t)(s - c->schedulers),
               (unsigned long long)t->now);
    return false;
}

static uint64_t way_fails(const struct sm *c)
{
    return c->l1d && c->l1_policy && c->l1_policy->victim ? cache_counters(c->l1d)->fails[CACHE_FAIL_WAYS] : 0;
}

static bool blame_l1(const struct timing *t, const struct sm *c, uint64_t cycles, struct error *e)
{
    error_set(e, ERROR_DEADLOCK, "kernel %s cannot go on: L1 policy %s has given no access of core %u a way %s",
              name_of(t, c), c->l1_policy->policy.name, c->id, duration_of(cycles).text);
    error_note(e, "  its victim answers -1 each time that it is asked (cycle %llu)", (unsigned long long)t->now);
    return false;
}

bool held_check(struct timing *t, struct error *e)
{
    for (uint32_t i = 0; i < t->core_count; i++) {
        const struct sm *c = t->cores[i];
        struct held_core *h = &t->held[i];
        bool idle = t->owner[i] && c->counters.issued == h->issued, held = idle && sm_kept_back(c);
        uint64_t fails = idle && !held ? way_fails(c) : 0;
        if (held || fails > h->way_fails) {
            if (t->now - h->since >= HELD_CYCLES)
                return held ? blame_scheduler(t, c, t->now - h->since, e) : blame_l1(t, c, t->now - h->since, e);
        } else {
            h->since = t->now;
        }
        h->issued = c->counters.issued;
        h->way_fails = fails;
    }
    return true;
}

bool held_check_for_ever(struct timing *t, struct error *e)
{
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->owner[i] && sm_kept_back(t->cores[i]))
            return blame_scheduler(t, t->cores[i], UINT64_MAX, e);
    for (uint32_t i = 0; i < t->core_count; i++) /* loads under way in an empty memory system */
        if (t->owner[i] && sm_has_work(t->cores[i]) && way_fails(t->cores[i]))
            return blame_l1(t, t->cores[i], UINT64_MAX, e);
    return true;
}
