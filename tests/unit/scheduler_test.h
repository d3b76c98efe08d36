/* One scheduler on a core that tests move by hand. */
#ifndef SCHEDULER_TEST_H
#define SCHEDULER_TEST_H

#include "policy_test.h"

#define BIT(i) (UINT64_C(1) << (i))
enum { W0 = 1, W1 = 2, W2 = 4, W3 = 8 };

struct bench {
    struct fake_core f;
    struct instance s;
    uint64_t told; /* cycles that the policy has been told of */
};

static inline const struct heddle_events *on(const struct bench *b) { return &b->s.choice.policy->on; }

static inline void start_owning(struct bench *b, const char *spec, uint64_t warps)
{
    fake_core_init(&b->f);
    b->told = 0;
    instance_start(&b->s, &b->f, POLICY_SCHEDULER, spec, warps);
}

static inline void launch_in_block(struct bench *b, uint32_t warp, uint32_t block)
{
    b->f.warp[warp] = (struct heddle_warp){.age = b->f.ages++, .block = block, .launch_cycle = b->f.core.cycle};
    b->f.core.resident |= BIT(warp);
    if (on(b)->launched)
        on(b)->launched(b->s.state, &b->f.core, warp);
}

static inline void launch(struct bench *b, uint32_t warp) { launch_in_block(b, warp, 0); }

/* Its last lanes end; what it has under way goes on. */
static inline void end_lanes(struct bench *b, uint32_t warp)
{
    b->f.core.resident &= ~BIT(warp);
    if (on(b)->ended)
        on(b)->ended(b->s.state, &b->f.core, warp);
}

static inline void finish(struct bench *b, uint32_t warp)
{
    if (b->f.core.resident & BIT(warp))
        end_lanes(b, warp);
    if (on(b)->finished)
        on(b)->finished(b->s.state, &b->f.core, warp);
}

static inline void barrier_wait(struct bench *b, uint32_t warp)
{
    b->f.core.at_barrier |= BIT(warp);
    b->f.core.waiting |= BIT(warp);
    if (on(b)->barrier_wait)
        on(b)->barrier_wait(b->s.state, &b->f.core, warp);
}

static inline void barrier_pass(struct bench *b, uint64_t warps)
{
    b->f.core.at_barrier &= ~warps;
    b->f.core.waiting &= ~warps;
    for (uint32_t w = 0; w < HEDDLE_WARPS; w++)
        if (warps >> w & 1 && on(b)->barrier_pass)
            on(b)->barrier_pass(b->s.state, &b->f.core, w);
}

/* A warp of whatever scheduler issues. */
static inline void tell_issued(struct bench *b, uint32_t warp)
{
    static const struct heddle_instruction nothing = {0};
    struct heddle_issue e = {.warp = warp, .active = ~0u, .path = ~0u, .instruction = &nothing};
    b->f.warp[warp].issued++;
    if (on(b)->issued)
        on(b)->issued(b->s.state, &b->f.core, &e);
}

static inline void issue(struct bench *b, uint32_t warp)
{
    if (b->s.choice.scheduler->chosen)
        b->s.choice.scheduler->chosen(b->s.state, &b->f.core, warp);
    tell_issued(b, warp);
}

/* As the core asks: without those that the policy holds back. */
static inline int pick(struct bench *b, uint64_t ready)
{
    const struct heddle_scheduler *s = b->s.choice.scheduler;
    uint64_t free = s->hold ? ready & ~s->hold(b->s.state, &b->f.core) : ready;
    return free ? s->pick(b->s.state, &b->f.core, free) : HEDDLE_NO_WARP;
}

/* A cycle with a decision begins. */
static inline void begin_cycle(struct bench *b, uint64_t ready)
{
    b->f.core.ready = ready;
    if (on(b)->cycles && b->told <= b->f.core.cycle)
        on(b)->cycles(b->s.state, &b->f.core, b->f.core.cycle + 1 - b->told);
    b->told = b->f.core.cycle + 1;
}

/* One cycle: pick, and issue what was picked. */
static inline int cycle(struct bench *b, uint64_t ready)
{
    const struct heddle_scheduler *s = b->s.choice.scheduler;
    if (ready || !s->steady_until)
        begin_cycle(b, ready);
    int warp = ready ? pick(b, ready) : HEDDLE_NO_WARP;
    if (warp != HEDDLE_NO_WARP)
        issue(b, (uint32_t)warp);
    b->f.core.cycle++;
    return warp;
}

static inline void start(struct bench *b, const char *spec, uint32_t warps)
{
    start_owning(b, spec, ~UINT64_C(0));
    for (uint32_t w = 0; w < warps; w++)
        launch(b, w);
}

static inline void end(struct bench *b) { instance_end(&b->s); }

#endif
