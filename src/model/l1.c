/* The L1 data cache and its policy: what the policy decides, what it hears of lines, and the events of an access, a
 * fill and a flush, which everybody hears who listens. */
#include "model/model.h"

#include <stdio.h>

/* The lanes of an access; 0 where the packet says in their place which bytes it touches. */
static uint32_t lanes(const struct sm *c, const struct packet *p)
{
    bool says_bytes = p->kind == PACKET_LOAD && c->config->l1d.partial_writes;
    if (packet_is_write(p))
        says_bytes = c->wires.tells_written;
    return says_bytes ? 0 : p->mask;
}

static struct heddle_l1_access describe(const struct sm *c, const struct packet *p, enum heddle_outcome outcome,
                                        uint32_t set, uint32_t way)
{
    return (struct heddle_l1_access){.address = p->address - p->address % c->config->l1d.line_bytes,
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

static uint32_t victim(void *context, const struct packet *p, uint32_t set, const struct cache_ways *ways)
{
    struct sm *c = context;
    struct heddle_l1_access e = describe(c, p, HEDDLE_MISS, set, UINT32_MAX);
    int way = c->l1_policy->victim(c->l1_state, &c->view, set, ways->lines, ways->empty, &e);
    if (way == -1)
        return UINT32_MAX;
    if (way >= 0 && way < 64 && ((ways->lines | ways->empty) >> way & 1))
        return (uint32_t)way;
    snprintf(c->trouble, sizeof c->trouble, "L1 policy %s chose way %d, which is not among those it may take (core %u)",
             c->l1_policy->policy.name, way, c->head.id);
    return UINT32_MAX;
}

static bool bypass(void *context, const struct packet *p, uint32_t set, const struct cache_ways *ways)
{
    struct sm *c = context;
    struct heddle_l1_access e = describe(c, p, HEDDLE_MISS, set, UINT32_MAX);
    return c->l1_policy->bypass(c->l1_state, &c->view, ways->lines, ways->empty, ways->reserved, &e);
}

static const struct write_rule *store(void *context, const struct packet *p, uint32_t set, uint32_t way, bool hit)
{
    struct sm *c = context;
    struct heddle_l1_access e = describe(c, p, hit ? HEDDLE_HIT : HEDDLE_MISS, set, way);
    int rule = c->l1_policy->store(c->l1_state, &c->view, &e);
    return rule == HEDDLE_WRITE_AS_MACHINE ? NULL : &write_rules[rule];
}

bool model_l1_init(struct sm *c, struct error *e)
{
    const struct heddle_l1 *l1 = c->l1_policy;
    if (!c->l1d || (!l1->victim && !l1->bypass && !l1->store))
        return true;
    if (c->config->l1d.ways > CACHE_MASK_WAYS)
        return error_set(e, ERROR_INVALID, "L1 policy %s works with at most %d ways", l1->policy.name, CACHE_MASK_WAYS);
    cache_set_choices(c->l1d, &(struct cache_choices){.context = c,
                                                      .victim = l1->victim ? victim : NULL,
                                                      .bypass = l1->bypass ? bypass : NULL,
                                                      .store = l1->store ? store : NULL});
    return true;
}

/* Tells the policy what became of lines. */
static void tell_policy(struct sm *c, const struct heddle_l1_access *e, const struct cache_result *r)
{
    const struct heddle_l1 *l1 = c->l1_policy;
    if (!l1)
        return;
    if (r->evicted && l1->removed)
        l1->removed(c->l1_state, &c->view, r->set, r->way, HEDDLE_EVICTED);
    if (r->change == CACHE_INSERTED && l1->inserted)
        l1->inserted(c->l1_state, &c->view, r->set, r->way, e);
    if (r->change == CACHE_TOUCHED && l1->touched)
        l1->touched(c->l1_state, &c->view, r->set, r->way, e);
    if (r->change == CACHE_DROPPED && l1->removed)
        l1->removed(c->l1_state, &c->view, r->set, r->way, HEDDLE_DROPPED);
}

void model_l1_tell(struct sm *c, const struct packet *p, enum cache_outcome outcome, const struct cache_result *r)
{
    struct heddle_l1_access e = describe(c, p, (enum heddle_outcome)outcome, r->set, r->way);
    if (outcome == CACHE_HIT || outcome == CACHE_PENDING) {
        e.owner = (int32_t)r->line_warp;
        e.owner_age = r->line_age;
    }
    tell_policy(c, &e, r);
    if (r->evicted) {
        struct heddle_l1_evict gone = {.address = r->evicted_address,
                                       .owner = r->evicted_warp,
                                       .owner_age = r->evicted_age,
                                       .by_warp = p->warp,
                                       .set = r->set,
                                       .way = r->way};
        TELL(c, l1_evict, &gone);
    }
    TELL(c, l1_access, &e);
}

void model_l1_fill(struct sm *c, const struct packet *answer)
{
    struct packet first = cache_head(c->l1d)->mshr.entries[answer->token].first; /* who asked for the line */
    struct cache_result r;
    if (!cache_fill_line(c->l1d, answer, &r))
        return;
    struct heddle_l1_access e = describe(c, &first, HEDDLE_MISS, r.set, r.way);
    if (r.change == CACHE_INSERTED) /* the line is taken when its data comes */
        tell_policy(c, &e, &r);
    struct heddle_l1_fill fill = {.address = e.address, .warp = first.warp, .pc = first.pc};
    cache_where(c->l1d, fill.address, &fill.set, &fill.way);
    TELL(c, l1_fill, &fill);
}

/* Lines that a flush takes; those on their way too, where a launch begins. */
static void tell_flush(struct sm *c, bool reserved)
{
    const struct heddle_l1 *l1 = c->l1_policy;
    for (uint32_t set = 0; l1 && l1->removed && set < c->config->l1d.sets; set++) {
        struct cache_ways ways = cache_ways(c->l1d, set);
        uint64_t gone = ways.lines;
        if (reserved)
            gone |= ways.reserved;
        for (uint32_t way = 0; way < c->config->l1d.ways; way++)
            if (gone >> way & 1)
                l1->removed(c->l1_state, &c->view, set, way, HEDDLE_FLUSHED);
    }
}

void model_l1_drop(struct sm *c)
{
    tell_flush(c, false);
    cache_drop(c->l1d);
}

void model_l1_invalidate(struct sm *c)
{
    tell_flush(c, true);
    cache_invalidate(c->l1d);
}
