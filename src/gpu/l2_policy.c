/* The policy of the L2's lines: see l2_policy.h. A slice has no core: what the policy sees of one is said in
 * heddle/policy.h. What it counts is not reported. */
#include "gpu/l2_policy.h"

#include "policy/counters.h"
#include "sm/line_policy.h"

#include <string.h>

struct l2_policy {
    struct line_policy lines;
    struct heddle_core view;
    struct slice_listener listener;
    char trouble[200];
};

struct l2_policies {
    const struct heddle_l1 *l1;
    uint32_t count;
    struct l2_policy slices[];
};

static struct heddle_l1_access describe(const void *owner, const struct packet *p, enum heddle_outcome outcome,
                                        uint32_t set, uint32_t way)
{
    const struct heddle_core *view = owner;
    return (struct heddle_l1_access){.address = p->address & ~(uint64_t)(view->l1_line_bytes - 1),
                                     .warp = p->warp,
                                     .pc = p->pc,
                                     .outcome = outcome,
                                     .store = packet_is_write(p),
                                     .local = p->kind == PACKET_LOCAL_LOAD || p->kind == PACKET_LOCAL_STORE,
                                     .owner = -1,
                                     .set = set,
                                     .way = way};
}

/* What became of lines */

static void changed(void *context, const struct packet *request, enum cache_outcome outcome,
                    const struct cache_result *r)
{
    struct l2_policy *s = context;
    const struct heddle_events *on = &s->lines.l1->policy.on;
    struct heddle_l1_access e = describe(&s->view, request, (enum heddle_outcome)outcome, r->set, r->way);
    line_policy_tell(&s->lines, &e, r);
    if (r->evicted && on->l1_evict)
        on->l1_evict(
            s->lines.state, &s->view,
            &(struct heddle_l1_evict){
                .address = r->evicted_address, .owner = -1, .by_warp = request->warp, .set = r->set, .way = r->way});
    if (on->l1_access)
        on->l1_access(s->lines.state, &s->view, &e);
}

static void forgot(void *context, uint32_t set, uint32_t way)
{
    const struct l2_policy *s = context;
    if (s->lines.l1->removed)
        s->lines.l1->removed(s->lines.state, &s->view, set, way, HEDDLE_DROPPED);
}

static void emptied(void *context)
{
    const struct l2_policy *s = context;
    line_policy_tell_flush(&s->lines, true);
}

/* What an L2 cannot give. */

static bool hears_of_warps(const struct heddle_policy *p)
{
    struct heddle_events on = p->on;
    on.l1_access = NULL;
    on.l1_evict = NULL;
    static const struct heddle_events none;
    return memcmp(&on, &none, sizeof on) != 0 || p->instructions;
}

static bool may_work(const struct heddle_l1 *l1, const struct l2_config *l2, struct error *e)
{
    if (hears_of_warps(&l1->policy))
        return error_set(e, ERROR_INVALID,
                         "l2.policy: %s listens to what warps do, of which an L2 slice hears nothing; it is for an L1 "
                         "alone",
                         l1->policy.name);
    if (l1->store && l2->link_cycles)
        return error_set(e, ERROR_INVALID,
                         "l2.policy: %s decides what stores do, which an L2 in two halves (l2.link_cycles) does not "
                         "leave to a policy",
                         l1->policy.name);
    return true;
}

/* Making them */

static bool make_instance(struct arena *a, struct l2_policy *s, const union heddle_value *values, uint64_t seed,
                          struct error *e)
{
    const struct heddle_policy *p = &s->lines.l1->policy;
    const char *why = NULL;
    uint64_t *counts = arena_array(a, uint64_t, policy_value_count(p) + 1), *no_instructions = NULL;
    uint32_t rows = policy_counter_count(p);
    uint64_t **histograms = arena_array(a, uint64_t *, rows + 1);
    for (uint32_t row = 0; row < rows; row++)
        if (p->counters[row].kind == HEDDLE_HISTOGRAM)
            histograms[row] = policy_histogram(p, counts, row);
    s->lines.state = arena_alloc(a, p->state_bytes ? p->state_bytes : 1);
    struct heddle_setup setup = {.core = &s->view,
                                 .values = values,
                                 .counters = counts,
                                 .histograms = histograms,
                                 .instructions = &no_instructions,
                                 .seed = seed + s->view.id,
                                 .why = &why};
    if (p->init && !p->init(s->lines.state, &setup))
        return error_set(e, ERROR_INVALID, "l2.policy: %s cannot work in this L2%s%s", p->name, why ? ": " : "",
                         why ? why : "");
    return true;
}

static void see_slice(struct l2_policy *s, const struct heddle_l1 *l1, const struct l2_config *l2,
                      struct partition *owner, uint32_t number)
{
    uint32_t slice = number % l2->slices_per_channel;
    s->view = (struct heddle_core){
        .id = number, .l1_sets = l2->cache.sets, .l1_ways = l2->cache.ways, .l1_line_bytes = l2->cache.line_bytes};
    s->lines = (struct line_policy){.l1 = l1,
                                    .view = &s->view,
                                    .now = partition_core_clock(owner),
                                    .cache = partition_cache(owner, slice),
                                    .owner = &s->view,
                                    .describe = describe,
                                    .may_fetch = !l2->cache.sector_bytes && l2->cache.miss_queue >= STORE_FETCH_ROOM,
                                    .where = "L2 slice",
                                    .trouble = s->trouble,
                                    .trouble_bytes = sizeof s->trouble};
    s->listener = (struct slice_listener){.context = s, .changed = changed, .forgot = forgot, .emptied = emptied};
    partition_set_listener(owner, slice, &s->listener);
}

static bool has_hooks(const struct heddle_l1 *l1)
{
    return l1->victim || l1->bypass || l1->store || l1->inserted || l1->touched || l1->removed ||
           l1->policy.on.l1_access || l1->policy.on.l1_evict;
}

bool l2_policies_create(struct l2_policies **made, struct arena *a, const struct policy_choice *choice,
                        const struct mem_config *m, uint64_t seed, struct partition *const *partitions, struct error *e)
{
    uint32_t slices = m->dram.channels * m->l2.slices_per_channel;
    *made = NULL;
    if (!choice->l1)
        return true;
    if (!may_work(choice->l1, &m->l2, e))
        return false;
    if (!has_hooks(choice->l1))
        return true;
    struct l2_policies *p = arena_alloc(a, sizeof *p + slices * sizeof *p->slices);
    *made = p;
    p->l1 = choice->l1;
    for (; p->count < slices; p->count++) {
        struct l2_policy *s = &p->slices[p->count];
        see_slice(s, choice->l1, &m->l2, partitions[p->count / m->l2.slices_per_channel], p->count);
        if (!line_policy_attach(&s->lines, e) || !make_instance(a, s, choice->values, seed, e))
            return false;
    }
    return true;
}

void l2_policies_finish(struct l2_policies *p)
{
    if (!p || !p->l1->policy.finish)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        p->l1->policy.finish(p->slices[i].lines.state);
}

bool l2_policies_check(const struct l2_policies *p, struct error *e)
{
    for (uint32_t i = 0; p && i < p->count; i++)
        if (p->slices[i].trouble[0])
            return error_set(e, ERROR_INVALID, "%s", p->slices[i].trouble);
    return true;
}
