/* A cache and the policy of its lines: see line_policy.h. */
#include "sm/line_policy.h"

#include <stdio.h>

static void *see(const struct line_policy *p)
{
    if (p->now)
        p->view->cycle = *p->now;
    return p->state;
}

/* Decisions */

static uint32_t victim(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways)
{
    struct line_policy *p = context;
    struct heddle_l1_access e = p->describe(p->owner, request, HEDDLE_MISS, set, UINT32_MAX);
    int way = p->l1->victim(see(p), p->view, set, ways->lines, ways->empty, &e);
    if (way >= 0 && way < CACHE_MASK_WAYS && ((ways->lines | ways->empty) >> way & 1))
        return (uint32_t)way;
    if (way != -1 && !p->trouble[0])
        snprintf(p->trouble, p->trouble_bytes,
                 "L1 policy %s chose way %d, which is not among those it may take (%s %u)", p->l1->policy.name, way,
                 p->where, p->view->id);
    return UINT32_MAX;
}

static bool bypass(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways)
{
    struct line_policy *p = context;
    struct heddle_l1_access e = p->describe(p->owner, request, HEDDLE_MISS, set, UINT32_MAX);
    return p->l1->bypass(see(p), p->view, ways->lines, ways->empty, ways->reserved, &e);
}

static bool may_follow(const struct line_policy *p, int rule)
{
    return rule >= 0 && rule < WRITE_RULE_COUNT && (p->may_fetch || write_rules[rule].miss != WRITE_MISS_FETCH);
}

static const struct write_rule *store(void *context, const struct packet *request, uint32_t set, uint32_t way, bool hit)
{
    struct line_policy *p = context;
    struct heddle_l1_access e = p->describe(p->owner, request, hit ? HEDDLE_HIT : HEDDLE_MISS, set, way);
    int rule = p->l1->store(see(p), p->view, &e);
    if (rule == HEDDLE_WRITE_AS_MACHINE)
        return NULL;
    if (may_follow(p, rule))
        return &write_rules[rule];
    if (!p->trouble[0])
        snprintf(p->trouble, p->trouble_bytes,
                 "L1 policy %s chose write rule %d for a store, which the cache cannot follow (%s %u)",
                 p->l1->policy.name, rule, p->where, p->view->id);
    return NULL;
}

bool line_policy_attach(struct line_policy *p, struct error *e)
{
    const struct heddle_l1 *l1 = p->l1;
    bool decides = l1->victim || l1->bypass || l1->store;
    p->reports = l1->inserted || l1->touched || l1->removed;
    if ((decides || p->reports) && p->view->l1_ways > CACHE_MASK_WAYS)
        return error_set(e, ERROR_INVALID, "L1 policy %s works with at most %d ways", l1->policy.name, CACHE_MASK_WAYS);
    if (decides)
        cache_set_choices(p->cache, &(struct cache_choices){.context = p,
                                                            .victim = l1->victim ? victim : NULL,
                                                            .bypass = l1->bypass ? bypass : NULL,
                                                            .store = l1->store ? store : NULL});
    return true;
}

/* Reports */

void line_policy_tell(const struct line_policy *p, const struct heddle_l1_access *e, const struct cache_result *r)
{
    const struct heddle_l1 *l1 = p->l1;
    void *state = see(p);
    if (r->evicted && l1->removed)
        l1->removed(state, p->view, r->set, r->way, HEDDLE_EVICTED);
    if (r->change == CACHE_INSERTED && l1->inserted)
        l1->inserted(state, p->view, r->set, r->way, e);
    if (r->change == CACHE_TOUCHED && l1->touched)
        l1->touched(state, p->view, r->set, r->way, e);
    if (r->change == CACHE_DROPPED && l1->removed)
        l1->removed(state, p->view, r->set, r->way, HEDDLE_DROPPED);
}

void line_policy_tell_flush(const struct line_policy *p, bool reserved)
{
    if (!p->l1->removed)
        return;
    for (uint32_t set = 0; set < p->view->l1_sets; set++) {
        struct cache_ways ways = cache_ways(p->cache, set);
        for (uint64_t left = ways.lines | (reserved ? ways.reserved : 0); left; left &= left - 1)
            p->l1->removed(see(p), p->view, set, (uint32_t)__builtin_ctzll(left), HEDDLE_FLUSHED);
    }
}
