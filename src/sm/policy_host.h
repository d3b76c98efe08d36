/* The host of policies: their instances on a core, the events that each hears, their counters and their mistakes.
 *
 * Policies see the core through struct heddle_core. Parts report events with SM_TELL, at the place where they
 * happen. Schedulers are asked in schedule.c, the L1 policy in l1_policy.c, the divergence unit in regroup.c. No
 * other code calls a policy. */
#ifndef HEDDLE_SM_POLICY_HOST_H
#define HEDDLE_SM_POLICY_HOST_H

#include "base/arena.h"
#include "base/error.h"
#include "mem/cache.h"
#include "policy/counters.h"
#include "sm/line_policy.h"
#include "sm/sm.h"

enum { SM_SCHEDULERS = 16, SM_POLICIES = 3 + SM_PROBES, SM_LISTENERS = SM_SCHEDULERS + SM_POLICIES + 4 };
enum { SM_CALLS = 64 }; /* calls of a warp, one inside the other: as deep as loops are reported */

struct sm_scheduler {
    const struct heddle_scheduler *policy;
    void *state;
    uint64_t warps;
};

/* The listeners of each event. The lists are tables of their own: most are empty, and a core mostly looks at the
 * counts only. */
#define SM_LIST(name, ...)                                                 \
    struct {                                                               \
        uint32_t count;                                                    \
        struct {                                                           \
            void (*fn)(void *, const struct heddle_core *, ##__VA_ARGS__); \
            void *state;                                                   \
        } * to;                                                            \
    } name;
struct sm_listeners {
    HEDDLE_EVENTS(SM_LIST)
};
#define SM_TELL(c, event, ...)                                                                \
    do {                                                                                      \
        const struct sm_listeners *all_ = &(c)->host.listeners;                               \
        if (!all_->event.count)                                                               \
            break;                                                                            \
        enum host_part part_ = host_part_of(&(c)->head.part);                                 \
        host_part_set(&(c)->head.part, HOST_POLICIES);                                        \
        for (uint32_t tell_ = 0; tell_ < all_->event.count; tell_++)                          \
            all_->event.to[tell_].fn(all_->event.to[tell_].state, &(c)->view, ##__VA_ARGS__); \
        host_part_set(&(c)->head.part, part_);                                                \
    } while (0)
#define SM_HEARD(c, event) ((c)->host.listeners.event.count != 0)

struct sm_policy_host {
    bool hears_cycles, hears_l1, hears_fills, hears_held; /* there is a listener */
    bool hears_issues;                                    /* a listener for the instruction, its branch or its loop */
    /* A scheduler, the L1 policy or the divergence unit hears of cycles. Probes do not count: they change nothing. */
    bool tells_cycles;
    bool l1_stirs;     /* one of these hears of L1 accesses, and may then hold fewer warps */
    bool asked_always; /* the policy may change what it holds by itself: issue looks in every cycle with warps */
    uint64_t cycles_told;
    uint64_t held_before; /* the warps that were held when the schedulers were asked last, for listeners of `held` */
    struct line_policy l1;
    const struct heddle_divergence *divergence;
    void *divergence_state;
    struct sm_scheduler schedulers[SM_SCHEDULERS];
    struct sm_listeners listeners;
    /* Scheduler, l1, divergence, probes; policy NULL means that there is none. */
    struct sm_counts counts[SM_POLICIES];
    uint32_t policy_count;
    void *probe_states[SM_PROBES];
    int32_t *call_loops;  /* by slot and depth of calls: the loop around the call; NULL means that nobody listens */
    char trouble[200];    /* a mistake of a policy, with which the launch ends; "" means that there was none */
    bool trouble_is_hang; /* the mistake is that warps were left without work for ever */
};

/* policy_host.c */
bool policy_host_create(struct sm *c, struct arena *a, const struct sm_policies *policies, struct error *e);
void policy_host_destroy(struct sm *c);
/* A launch begins: makes the tables that grow with it. */
void policy_host_begin(struct sm *c, struct arena *launch_arena, uint64_t now);
void policy_host_reset_counters(struct sm_policy_host *h);

/* l1_policy.c */
bool sm_l1_attach(struct sm *c, struct error *e); /* connects the L1D with its policy, which has no instance yet */
/* Called only where hears_l1 and hears_fills say so. */
void sm_l1_tell_access(struct sm *c, const struct packet *p, enum cache_outcome outcome, const struct cache_result *r);
void sm_l1_fill_and_tell(struct sm *c, const struct packet *answer);
void sm_l1_drop(struct sm *c); /* sm_l1_drop and sm_l1_invalidate do as cache_drop and cache_invalidate */
void sm_l1_invalidate(struct sm *c);

#endif
