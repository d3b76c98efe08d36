/* The warp that issues next: each scheduler of the core picks, by its policy, one of its warps whose next
 * instruction is fetched, has its operands and finds its pipeline free. The rule is the policy's `pick`
 * (src/policy/scheduler/). This file has the candidates for it, the warps that the policy holds, and the cycles that
 * are reported to policies. */
#include "sm/core_kind.h"

#include <stdio.h>

/* Warps that may not issue, whatever their next instruction is (warp_block). */
static inline uint64_t blocked_warps(const struct sm *c)
{
    const struct sm_issue *s = &c->issue;
    return s->ended | c->view.at_barrier | s->fenced | s->atomic_wait | s->asleep;
}

/* May the warp issue its next instruction in the cycle in which it issued `first`? A deferred instruction must find
 * its operands at the end of the cycle. */
static bool may_follow(const struct sm *c, uint32_t slot, const struct sm_inst *first)
{
    const struct sm_slot *s = &c->slots[slot];
    if (!((c->issue.valid & c->issue.clear) >> slot & 1))
        return false;
    uint64_t may_not = blocked_warps(c) | c->issue.stale;
    if (first->atomic || !s->exec || !((kind_free(c) & ~may_not) >> slot & 1))
        return false;
    const struct sm_inst *next = &c->program->code[s->buffer[0]];
    return !first->deferred ||
           (!next->moves_frame && (next == first + 1 ? !first->next_waits : !next->destination_count));
}

static bool check_pick(struct sm *c, const struct sm_scheduler *s, int picked, uint64_t candidates)
{
    if (likely(picked >= 0 && picked < 64 && (candidates >> picked & 1)))
        return true;
    snprintf(c->host.trouble, sizeof c->host.trouble,
             "scheduler %s picked warp %d, which is not among its candidates (mask 0x%llx, core %u, cycle %llu)",
             s->policy->policy.name, picked, (unsigned long long)candidates, c->head.id, (unsigned long long)c->now);
    return false;
}

/* Issue is due when a policy may hold fewer warps. */
static void note_held(struct sm *c, uint32_t schedulers)
{
    for (; schedulers; schedulers &= schedulers - 1) {
        const struct sm_scheduler *s = &c->host.schedulers[__builtin_ctz(schedulers)];
        uint64_t until = 0;
        if (s->policy->steady_until)
            until = s->policy->steady_until(s->state, &c->view);
        if (until <= c->now)
            until = c->now + 1;
        due_by(&c->due, PART_ISSUE, until);
    }
}

/* Whether a policy holds warps that could issue, or stale ones, which would have been sent back to fetch. */
struct held {
    bool ready, stale;
};

/* One scheduler's cycle. `able` are its warps that have their registers, or are stale; whether a pipeline is free is
 * asked here. Returns whether it issued. */
static bool schedule(struct sm *c, uint32_t k, uint64_t able, struct held *held)
{
    struct sm_scheduler *s = &c->host.schedulers[k];
    uint64_t could = able & c->issue.clear & c->issue.unit_free, ready = could, stale = able & c->issue.stale;
    if (!(ready | stale))
        return false;
    c->view.ready = could;
    if (unlikely(s->policy->hold)) {
        host_part_set(&c->head.part, HOST_POLICIES);
        uint64_t hold = s->policy->hold(s->state, &c->view);
        held->stale = stale & hold;
        stale &= ~hold;
        ready &= ~hold;
    }
    if (unlikely(s->policy->hold_loads) && (ready & c->issue.next_l1_load))
        ready &= ~(s->policy->hold_loads(s->state, &c->view) & c->issue.next_l1_load);
    c->issue.held |= could & ~ready;
    held->ready = could != ready;
    for (uint64_t candidates = ready | stale; candidates;) {
        host_part_set(&c->head.part, HOST_POLICIES);
        int picked = s->policy->pick(s->state, &c->view, candidates);
        host_part_set(&c->head.part, HOST_NOTHING);
        if (unlikely(picked == HEDDLE_NO_WARP)) {
            c->issue.held |= ready;
            held->ready |= ready != 0;
            due_now(&c->due, PART_ISSUE);
            return false;
        }
        if (!check_pick(c, s, picked, candidates))
            return false;
        uint64_t bit = 1ull << picked;
        if (unlikely(stale & bit)) { /* the policy picked a warp that has fetched past a branch */
            sm_flush(c, (uint32_t)picked);
            candidates &= ~bit;
            continue;
        }
        if (s->policy->chosen)
            s->policy->chosen(s->state, &c->view, (uint32_t)picked);
        for (uint32_t n = 0; n < c->config->issue_per_warp; n++) {
            const struct sm_inst *in = &c->program->code[c->slots[picked].buffer[0]];
            sm_issue(c, k, (uint32_t)picked);
            if (n + 1 < c->config->issue_per_warp && !may_follow(c, (uint32_t)picked, in))
                break;
        }
        c->issue.unit_free = kind_still_free(c, k);
        return true;
    }
    return false;
}

static uint64_t able_warps(const struct sm *c)
{
    return c->issue.valid & (c->issue.clear | c->issue.stale) & ~blocked_warps(c);
}

/* Shows policies which warps wait, the same for all schedulers of the cycle. */
static inline void show_sets(struct sm *c)
{
    c->view.waiting = c->view.at_barrier | c->issue.fenced | c->issue.atomic_wait;
    c->view.long_wait = c->issue.long_wait;
    c->view.next_is_l1_load = c->issue.next_l1_load;
}

/* While listeners hear of cycles, all warps of the core that could issue are shown as ready. Afterwards each
 * scheduler sees its own. */
static void tell_listeners_cycles(struct sm *c, uint64_t count)
{
    uint64_t ready = c->view.ready;
    c->view.ready = able_warps(c) & c->issue.clear & kind_free(c);
    SM_TELL(c, cycles, count);
    c->view.ready = ready;
}

static void tell_cycles(struct sm *c)
{
    uint64_t count = c->now + 1 - c->host.cycles_told;
    c->host.cycles_told = c->now + 1;
    show_sets(c);
    tell_listeners_cycles(c, count);
}

/* Called if only probes hear of cycles. They see the sets as they are now; afterwards the sets are restored, so that
 * policies that decide see the same as without probes. */
static __attribute__((noinline, cold)) void tell_probes_cycles(struct sm *c)
{
    struct heddle_core shown = c->view;
    uint64_t count = c->now + 1 - c->host.cycles_told;
    c->host.cycles_told = c->now + 1;
    show_sets(c);
    tell_listeners_cycles(c, count);
    c->view.waiting = shown.waiting;
    c->view.long_wait = shown.long_wait;
    c->view.next_is_l1_load = shown.next_is_l1_load;
}

static __attribute__((noinline, cold)) void tell_held(struct sm *c)
{
    uint64_t begun = c->issue.held & ~c->host.held_before;
    c->host.held_before = c->issue.held;
    if (begun)
        SM_TELL(c, held, begun);
}

/* Schedulers take turns in being first. */
static inline uint32_t first_scheduler(const struct sm *c, uint32_t count)
{
    uint64_t turn = kind_first(c);
    return (uint32_t)(count & (count - 1) ? turn % count : turn & (count - 1));
}

/* The first cycle in which a sleeping warp wakes. */
static inline uint64_t first_waking(const struct sm *c)
{
    uint64_t next = SM_NEVER;
    for (uint64_t left = c->issue.asleep; left; left &= left - 1) {
        uint64_t wake = c->slots[__builtin_ctzll(left)].wake_cycle;
        if (wake < next)
            next = wake;
    }
    return next;
}

void sm_schedule_cycle(struct sm *c)
{
    uint32_t count = c->config->schedulers;
    if (c->account.unasked)
        account_unasked(c);
    c->issue.issued = c->issue.held = 0;
    c->issue.held_schedulers = 0;
    c->issue.accepts = sm_collectors_accept(c);
    due_at(&c->due, PART_ISSUE, first_waking(c));
    if (unlikely(c->host.asked_always) && sm_occupied(c))
        due_by(&c->due, PART_ISSUE, c->now + 1);
    bool tells = c->host.tells_cycles;
    if (unlikely(tells))
        tell_cycles(c);
    else if (unlikely(c->host.hears_cycles))
        tell_probes_cycles(c);
    uint64_t able = able_warps(c);
    c->issue.unit_free = kind_free(c);
    if (!(able & ((c->issue.clear & c->issue.unit_free) | c->issue.stale))) {
        due_by(&c->due, PART_ISSUE, kind_next(c));
        if (sm_occupied(c))
            c->account.counters.no_ready += count;
        else
            c->account.counters.idle += count;
        return;
    }
    if (likely(!tells))
        show_sets(c);
    uint32_t holding = 0, k = 0; /* schedulers that hold warps, as a set */
    if (unlikely(c->config->schedulers_take_turns))
        k = first_scheduler(c, count);
    for (uint32_t n = 0; n < count; n++, k = k + 1 == count ? 0 : k + 1) {
        struct held held = {false, false};
        if (schedule(c, k, able & c->host.schedulers[k].warps, &held)) {
            c->account.counters.issued++;
            due_now(&c->due, PART_ISSUE);
            if (n + 1 < count)
                able = able_warps(c); /* barriers may have opened */
        } else if (held.ready) {
            c->account.counters.descheduled++;
            c->issue.held_schedulers++;
        } else {
            c->account.counters.no_ready++;
        }
        holding |= (uint32_t)(held.ready | held.stale) << k;
    }
    if (unlikely(holding) && !c->issue.issued) { /* else the next cycle will look again anyway */
        due_by(&c->due, PART_ISSUE, kind_next(c));
        note_held(c, holding);
    }
    if (unlikely(c->host.hears_held))
        tell_held(c);
}

/* Warps that only a scheduler keeps from issuing */

uint64_t sm_awaiting_scheduler(const struct sm *c)
{
    const struct sm_issue *s = &c->issue;
    return (s->held | (s->valid & s->stale & ~blocked_warps(c))) & sm_occupied(c);
}

static const char *reason(const struct sm *c, const struct sm_scheduler *s, uint64_t warps)
{
    uint64_t held = 0;
    if (s->policy->hold)
        held = s->policy->hold(s->state, &c->view);
    if (!(warps & ~held))
        return "its hold keeps all of them back";
    if (s->policy->hold_loads)
        held |= s->policy->hold_loads(s->state, &c->view) & c->issue.next_l1_load;
    if (!(warps & ~held))
        return "its hold_loads keeps their loads back";
    return "its pick answers HEDDLE_NO_WARP";
}

struct sm_blame sm_blame_scheduler(const struct sm *c)
{
    uint64_t warps = sm_awaiting_scheduler(c);
    const struct sm_scheduler *s = c->host.schedulers;
    while (!(warps & s->warps))
        s++; /* every warp has one */
    return (struct sm_blame){.policy = s->policy->policy.name,
                             .reason = reason(c, s, warps & s->warps),
                             .scheduler = (uint32_t)(s - c->host.schedulers),
                             .warps = warps & s->warps};
}
