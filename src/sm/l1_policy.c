/* Between the L1D and those who hear of it: the one road of an access, a fill and a flush. The cache says what happened
 * (struct cache_result). What became of lines is reported to the L1 policy, then the event to everybody who listens.
 * What the policy decides reaches the cache as struct cache_choices. */
#include "sm/core.h"

#include <stdio.h>

/* 0 where bytes have taken their place in the packet. */
static uint32_t lanes(const struct sm *c, const struct packet *p)
{
    bool bytes = packet_is_write(p) ? c->lsu.tells_written : p->kind == PACKET_LOAD && c->config->l1d.partial_writes;
    return bytes ? 0 : p->mask;
}

static struct heddle_l1_access describe(const struct sm *c, const struct packet *p, enum heddle_outcome outcome,
                                        uint32_t set, uint32_t way)
{
    return (struct heddle_l1_access){.address = p->address & ~(uint64_t)(c->view.l1_line_bytes - 1),
                                     .warp = p->warp,
                                     .pc = p->pc,
                                     .outcome = outcome,
                                     .store = packet_is_write(p),
                                     .local = p->kind == PACKET_LOCAL_LOAD || p->kind == PACKET_LOCAL_STORE,
                                     .owner = -1,
                                     .set = set,
                                     .way = way,
                                     .left = p->left,
                                     .lanes = lanes(c, p)};
}

/* Decisions */

static uint32_t victim(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways)
{
    struct sm *c = context;
    struct heddle_l1_access e = describe(c, request, HEDDLE_MISS, set, UINT32_MAX);
    int way = c->host.l1_policy->victim(c->host.l1_state, &c->view, set, ways->lines, ways->empty, &e);
    if (way >= 0 && way < CACHE_MASK_WAYS && ((ways->lines | ways->empty) >> way & 1))
        return (uint32_t)way;
    if (way != -1 && !c->host.trouble[0])
        snprintf(c->host.trouble, sizeof c->host.trouble,
                 "L1 policy %s chose way %d, which is not among those it may take (core %u)",
                 c->host.l1_policy->policy.name, way, c->head.id);
    return UINT32_MAX;
}

static bool bypass(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways)
{
    struct sm *c = context;
    struct heddle_l1_access e = describe(c, request, HEDDLE_MISS, set, UINT32_MAX);
    return c->host.l1_policy->bypass(c->host.l1_state, &c->view, ways->lines, ways->empty, ways->reserved, &e);
}

bool sm_l1_attach(struct sm *c, struct error *e)
{
    const struct heddle_l1 *l1 = c->host.l1_policy;
    bool decides = l1->victim || l1->bypass;
    if (!c->lsu.l1d)
        return true;
    c->host.l1_hooks = l1->inserted || l1->touched || l1->removed;
    if ((decides || c->host.l1_hooks) && c->config->l1d.ways > CACHE_MASK_WAYS)
        return error_set(e, ERROR_INVALID, "L1 policy %s works with at most %d ways", l1->policy.name, CACHE_MASK_WAYS);
    if (decides)
        cache_set_choices(c->lsu.l1d,
                          &(struct cache_choices){c, l1->victim ? victim : NULL, l1->bypass ? bypass : NULL});
    return true;
}

/* Reports */

static void tell_policy(struct sm *c, const struct heddle_l1_access *e, const struct cache_result *r)
{
    const struct heddle_l1 *l1 = c->host.l1_policy;
    if (r->evicted && l1->removed)
        l1->removed(c->host.l1_state, &c->view, r->set, r->way, HEDDLE_EVICTED);
    if (r->change == CACHE_INSERTED && l1->inserted)
        l1->inserted(c->host.l1_state, &c->view, r->set, r->way, e);
    if (r->change == CACHE_TOUCHED && l1->touched)
        l1->touched(c->host.l1_state, &c->view, r->set, r->way, e);
    if (r->change == CACHE_DROPPED && l1->removed)
        l1->removed(c->host.l1_state, &c->view, r->set, r->way, HEDDLE_DROPPED);
}

void sm_l1_tell_access(struct sm *c, const struct packet *p, enum cache_outcome outcome, const struct cache_result *r)
{
    if (c->host.l1_stirs)
        if (c->issue.held) /* who hears it may let others go */
            due_now(&c->due, PART_ISSUE);
    struct heddle_l1_access e = describe(c, p, (enum heddle_outcome)outcome, r->set, r->way);
    if (outcome == CACHE_HIT || outcome == CACHE_PENDING) {
        e.owner = (int32_t)r->line_warp;
        e.owner_age = r->line_age;
    }
    if (c->host.l1_hooks)
        tell_policy(c, &e, r);
    if (r->evicted && SM_HEARD(c, l1_evict))
        SM_TELL(c, l1_evict,
                &(struct heddle_l1_evict){.address = r->evicted_address,
                                          .owner = r->evicted_warp,
                                          .owner_age = r->evicted_age,
                                          .by_warp = p->warp,
                                          .set = r->set,
                                          .way = r->way});
    SM_TELL(c, l1_access, &e);
}

void sm_l1_fill_and_tell(struct sm *c, const struct packet *answer)
{
    const struct packet first = c->lsu.d->mshr.entries[answer->token].first;
    struct cache_result r;
    if (!cache_fill_line(c->lsu.l1d, answer, &r))
        return;
    if (c->host.l1_hooks && r.change == CACHE_INSERTED) { /* a line that is taken when its data comes */
        struct heddle_l1_access e = describe(c, &first, HEDDLE_MISS, r.set, r.way);
        tell_policy(c, &e, &r);
    }
    if (!SM_HEARD(c, l1_fill))
        return;
    if (c->host.l1_stirs)
        if (c->issue.held)
            due_now(&c->due, PART_ISSUE);
    struct heddle_l1_fill fill = {
        .address = first.address & ~(uint64_t)(c->view.l1_line_bytes - 1), .warp = first.warp, .pc = first.pc};
    cache_where(c->lsu.l1d, fill.address, &fill.set, &fill.way);
    SM_TELL(c, l1_fill, &fill);
}

/* Lines that a flush takes: reserved ones, where they go too. */
static void tell_flush(struct sm *c, bool reserved)
{
    for (uint32_t set = 0; set < c->config->l1d.sets; set++) {
        struct cache_ways ways = cache_ways(c->lsu.l1d, set);
        for (uint64_t left = ways.lines | (reserved ? ways.reserved : 0); left; left &= left - 1)
            c->host.l1_policy->removed(c->host.l1_state, &c->view, set, (uint32_t)__builtin_ctzll(left),
                                       HEDDLE_FLUSHED);
    }
}

void sm_l1_drop(struct sm *c)
{
    if (c->host.l1_hooks && c->host.l1_policy->removed)
        tell_flush(c, false);
    cache_drop(c->lsu.l1d);
}

void sm_l1_invalidate(struct sm *c)
{
    if (c->host.l1_hooks && c->host.l1_policy->removed)
        tell_flush(c, true);
    cache_invalidate(c->lsu.l1d);
}

uint64_t sm_l1_refusals(const struct sm *c, const char **policy, bool *stands)
{
    const struct heddle_l1 *l1 = c->lsu.l1d ? c->host.l1_policy : NULL;
    *stands = c->lsu.refused && c->lsu.retry == CACHE_FAIL_WAYS;
    *policy = l1 && l1->victim ? l1->policy.name : NULL;
    return *policy ? cache_counters(c->lsu.l1d)->fails[CACHE_FAIL_WAYS] : 0;
}
