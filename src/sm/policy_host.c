/* The host of policies: see policy_host.h. This file makes their instances, and says who hears of what. */
#include "sm/core.h"
#include "sm/regroup.h"

#include <string.h>

static void make_listeners(struct sm *c, struct arena *a)
{
#define MAKE(event, ...) c->host.listeners.event.to = arena_alloc(a, SM_LISTENERS * sizeof *c->host.listeners.event.to);
    HEDDLE_EVENTS(MAKE)
#undef MAKE
}

void sm_listen(struct sm *c, const struct heddle_policy *p, void *state)
{
#define LISTEN(event, ...)                                                          \
    if (p->on.event) {                                                              \
        c->host.listeners.event.to[c->host.listeners.event.count].fn = p->on.event; \
        c->host.listeners.event.to[c->host.listeners.event.count++].state = state;  \
    }
    HEDDLE_EVENTS(LISTEN)
#undef LISTEN
    c->host.hears_cycles = SM_HEARD(c, cycles);
    c->host.hears_issues =
        SM_HEARD(c, issued) || SM_HEARD(c, branch) || SM_HEARD(c, loop) || (c->observer && c->observer->issue);
    c->host.hears_l1 = c->host.l1.reports || SM_HEARD(c, l1_access) || SM_HEARD(c, l1_evict);
    c->host.hears_fills = c->host.l1.reports || SM_HEARD(c, l1_fill);
    c->host.hears_held = SM_HEARD(c, held);
}

/* Makes the counters of the i-th policy of the core, and says where its instances find them. */
static struct heddle_setup set_up(struct sm *c, struct arena *a, uint32_t i, const struct heddle_policy *p,
                                  const union heddle_value *values, uint64_t seed)
{
    struct sm_counts *counts = &c->host.counts[i];
    uint32_t rows = 0;
    while (p->counters && p->counters[rows].name)
        rows++;
    counts->policy = p;
    counts->value_count = policy_value_count(p);
    counts->values = arena_array(a, uint64_t, counts->value_count + 1);
    counts->histograms = arena_array(a, uint64_t *, rows + 1);
    for (uint32_t row = 0; row < rows; row++)
        if (p->counters[row].kind == HEDDLE_HISTOGRAM)
            counts->histograms[row] = policy_histogram(p, counts->values, row);
    return (struct heddle_setup){.core = &c->view,
                                 .values = values,
                                 .counters = counts->values,
                                 .histograms = counts->histograms,
                                 .instructions = &counts->instructions,
                                 .seed = seed};
}

static void *instance(struct sm *c, struct arena *a, const struct heddle_policy *p, const struct heddle_setup *setup,
                      struct error *e)
{
    void *state = arena_alloc(a, p->state_bytes ? p->state_bytes : 1);
    const char *why = NULL;
    struct heddle_setup with_why = *setup;
    with_why.why = &why;
    if (p->init && !p->init(state, &with_why)) {
        error_set(e, ERROR_INVALID, "policy %s cannot work on this machine%s%s", p->name, why ? ": " : "",
                  why ? why : "");
        return NULL;
    }
    sm_listen(c, p, state);
    return state;
}

static bool make_schedulers(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    struct heddle_setup setup = set_up(c, a, 0, &p->scheduler->policy, p->scheduler_values, p->seed);
    for (uint32_t k = 0; k < c->config->schedulers; k++) {
        struct sm_scheduler *s = &c->host.schedulers[k];
        for (uint32_t slot = k; slot < c->config->warps; slot += c->config->schedulers)
            s->warps |= 1ull << slot;
        s->policy = p->scheduler;
        setup.scheduler = k;
        setup.warps = s->warps;
        s->state = instance(c, a, &p->scheduler->policy, &setup, e);
        if (!s->state)
            return false;
    }
    return true;
}

static bool make_l1_policy(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    const struct heddle_l1 *l1 = p->l1;
    if (!l1)
        return true;
    struct heddle_setup setup = set_up(c, a, 1, &l1->policy, p->l1_values, p->seed);
    c->host.l1.l1 = l1;
    if (!sm_l1_attach(c, e))
        return false;
    c->host.l1.state = instance(c, a, &l1->policy, &setup, e);
    return c->host.l1.state != NULL;
}

static bool make_divergence_unit(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    if (!p->divergence)
        return true;
    struct heddle_setup setup = set_up(c, a, 2, &p->divergence->policy, p->divergence_values, p->seed);
    c->host.divergence = p->divergence;
    c->host.divergence_state = instance(c, a, &p->divergence->policy, &setup, e);
    return c->host.divergence_state && (!p->divergence->regroups || (c->regroup = regroup_create(a, c, e)));
}

/* Probes hear everything after the policies that decide, and what is simulated must not show whether there are any. */
static bool make_probes(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    for (uint32_t i = 0; i < p->probe_count; i++, c->host.policy_count++) {
        struct heddle_setup setup = set_up(c, a, 3 + i, &p->probes[i]->policy, p->probe_values[i], p->seed);
        c->host.probe_states[i] = instance(c, a, &p->probes[i]->policy, &setup, e);
        if (!c->host.probe_states[i])
            return false;
    }
    return true;
}

bool policy_host_create(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    make_listeners(c, a);
    c->host.policy_count = 3;
    if (!make_schedulers(c, a, p, e) || !make_l1_policy(c, a, p, e) || !make_divergence_unit(c, a, p, e))
        return false;
    c->host.tells_cycles = c->host.hears_cycles;
    c->host.l1_stirs = SM_HEARD(c, l1_access) || SM_HEARD(c, l1_evict) || SM_HEARD(c, l1_fill);
    c->host.asked_always =
        !p->scheduler->steady_until && (c->host.hears_cycles || p->scheduler->hold || p->scheduler->hold_loads);
    return make_probes(c, a, p, e);
}

void policy_host_destroy(struct sm *c)
{
    for (uint32_t k = 0; k < c->config->schedulers; k++)
        if (c->host.schedulers[k].state && c->host.schedulers[k].policy->policy.finish)
            c->host.schedulers[k].policy->policy.finish(c->host.schedulers[k].state);
    if (c->host.l1.state && c->host.l1.l1->policy.finish)
        c->host.l1.l1->policy.finish(c->host.l1.state);
    if (c->host.divergence_state && c->host.divergence->policy.finish)
        c->host.divergence->policy.finish(c->host.divergence_state);
    for (uint32_t i = 3; i < c->host.policy_count; i++)
        if (c->host.counts[i].policy->finish)
            c->host.counts[i].policy->finish(c->host.probe_states[i - 3]);
}

void policy_host_begin(struct sm *c, struct arena *launch_arena, uint64_t now)
{
    c->host.cycles_told = now;
    c->host.held_before = 0;
    for (uint32_t i = 0; i < c->host.policy_count; i++) {
        const struct heddle_policy *p = c->host.counts[i].policy;
        uint32_t columns = p ? policy_column_count(p) : 0;
        c->host.counts[i].instructions =
            columns ? arena_array(launch_arena, uint64_t, (size_t)c->program->count * columns) : NULL;
    }
    bool calls = c->program->count > c->program->kernel->inst_count;
    c->host.call_loops =
        calls && SM_HEARD(c, loop) ? arena_array(launch_arena, int32_t, SM_CALLS * c->config->warps) : NULL;
}

void policy_host_reset_counters(struct sm_policy_host *h)
{
    for (uint32_t i = 0; i < h->policy_count; i++)
        if (h->counts[i].policy)
            memset(h->counts[i].values, 0, h->counts[i].value_count * sizeof *h->counts[i].values);
}

struct sm_counts *sm_policy_counts(struct sm *c, uint32_t *count)
{
    *count = c->host.policy_count;
    return c->host.counts;
}
