/* Policies of a core: how they are made, who hears what, and the sets that they are shown. */
#include "model/model.h"

void sm_listen(struct sm *c, const struct heddle_policy *p, void *state)
{
    c->listeners[c->listener_count++] = (struct listener){p->on, state};
}

/* Room for what policy number i of the core counts. */
static struct heddle_setup set_up(struct sm *c, struct arena *a, uint32_t i, const struct heddle_policy *p,
                                  const union heddle_value *values, uint64_t seed)
{
    struct sm_counts *n = &c->counts[i];
    uint32_t rows = 0;
    while (p->counters && p->counters[rows].name)
        rows++;
    n->policy = p;
    n->value_count = policy_value_count(p);
    n->values = arena_array(a, uint64_t, n->value_count + 1);
    n->histograms = arena_array(a, uint64_t *, rows + 1);
    for (uint32_t row = 0; row < rows; row++)
        if (p->counters[row].kind == HEDDLE_HISTOGRAM)
            n->histograms[row] = policy_histogram(p, n->values, row);
    return (struct heddle_setup){.core = &c->view,
                                 .values = values,
                                 .counters = n->values,
                                 .histograms = n->histograms,
                                 .instructions = &n->instructions,
                                 .seed = seed};
}

/* NULL and *e: the policy refuses. */
static void *make_instance(struct sm *c, struct arena *a, const struct heddle_policy *p, struct heddle_setup setup,
                           struct error *e)
{
    const char *why = NULL;
    void *state = arena_alloc(a, p->state_bytes + 1);
    setup.why = &why;
    if (p->init && !p->init(state, &setup)) {
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
        struct sm_scheduler *s = &c->schedulers[k];
        s->policy = p->scheduler;
        for (uint32_t slot = 0; slot < c->config->warps; slot++)
            if (slot % c->config->schedulers == k)
                s->warps |= 1ull << slot;
        setup.scheduler = k;
        setup.warps = s->warps;
        s->state = make_instance(c, a, &p->scheduler->policy, setup, e);
        if (!s->state)
            return false;
    }
    return true;
}

static bool make_l1_policy(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    if (!p->l1)
        return true;
    c->l1_policy = p->l1;
    if (!model_l1_init(c, e))
        return false;
    c->l1_state = make_instance(c, a, &p->l1->policy, set_up(c, a, 1, &p->l1->policy, p->l1_values, p->seed), e);
    return c->l1_state;
}

static bool make_divergence_unit(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    const struct heddle_divergence *d = p->divergence;
    if (!d)
        return true;
    if (d->regroups)
        return error_set(e, ERROR_UNSUPPORTED, "divergence unit %s regroups threads, which the model does not do",
                         d->policy.name);
    c->divergence = d;
    c->divergence_state =
        make_instance(c, a, &d->policy, set_up(c, a, 2, &d->policy, p->divergence_values, p->seed), e);
    return c->divergence_state;
}

bool model_make_policies(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e)
{
    c->policy_count = 3;
    if (!make_schedulers(c, a, p, e) || !make_l1_policy(c, a, p, e) || !make_divergence_unit(c, a, p, e))
        return false;
    for (uint32_t i = 0; i < p->probe_count; i++, c->policy_count++) {
        const struct heddle_policy *probe = &p->probes[i]->policy;
        c->probe_states[i] = make_instance(c, a, probe, set_up(c, a, 3 + i, probe, p->probe_values[i], p->seed), e);
        if (!c->probe_states[i])
            return false;
    }
    return true;
}

/* Tables with a row per instruction, of those policies that have columns. */
void model_make_tables(struct sm *c, struct arena *launch_arena)
{
    for (uint32_t i = 0; i < c->policy_count; i++) {
        const struct heddle_policy *p = c->counts[i].policy;
        uint32_t columns = p ? policy_column_count(p) : 0;
        c->counts[i].instructions =
            columns ? arena_array(launch_arena, uint64_t, (size_t)c->program->count * columns) : NULL;
    }
}

void sm_destroy(struct sm *c)
{
    for (uint32_t k = 0; k < c->config->schedulers; k++)
        if (c->schedulers[k].state && c->schedulers[k].policy->policy.finish)
            c->schedulers[k].policy->policy.finish(c->schedulers[k].state);
    if (c->l1_state && c->l1_policy->policy.finish)
        c->l1_policy->policy.finish(c->l1_state);
    if (c->divergence_state && c->divergence->policy.finish)
        c->divergence->policy.finish(c->divergence_state);
    for (uint32_t i = 3; i < c->policy_count; i++)
        if (c->counts[i].policy->finish)
            c->counts[i].policy->finish(c->probe_states[i - 3]);
}

/* What is shown */

void model_show_resident(struct sm *c)
{
    c->view.resident = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (c->warps[slot].exec && !c->warps[slot].ended)
            c->view.resident |= 1ull << slot;
}

void model_show_barriers(struct sm *c)
{
    c->view.at_barrier = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (c->warps[slot].exec && c->warps[slot].at_barrier)
            c->view.at_barrier |= 1ull << slot;
}

static bool awaits_atomic(const struct sm *c, const struct warp *w)
{
    return w->atomics && !c->config->atomics_at_once;
}

void model_show_sets(struct sm *c)
{
    c->view.waiting = c->view.long_wait = c->view.next_is_l1_load = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++) {
        const struct warp *w = &c->warps[slot];
        uint64_t bit = 1ull << slot;
        if (!w->exec)
            continue;
        if (w->at_barrier || w->fenced || awaits_atomic(c, w))
            c->view.waiting |= bit;
        if (model_awaits_memory(c, w))
            c->view.long_wait |= bit;
        if (model_next_is_l1_load(c, w))
            c->view.next_is_l1_load |= bit;
    }
}
