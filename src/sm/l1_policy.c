/* Between the L1D and the policies that hear of it: every access, fill and flush of the cache passes through this
 * file. The cache says what happened (struct cache_result). The L1 policy hears first what became of lines
 * (line_policy.h), then every listener hears of the event. */
#include "sm/core.h"

/* The lanes of an access; 0 where the packet has a mask of bytes in their place. */
static uint32_t lanes(const struct sm *c, const struct packet *p)
{
    if (packet_is_write(p) && c->lsu.tells_written)
        return 0;
    if (p->kind == PACKET_LOAD && c->config->l1d.partial_writes)
        return 0;
    return p->mask;
}

static struct heddle_l1_access describe(const void *core, const struct packet *p, enum heddle_outcome outcome,
                                        uint32_t set, uint32_t way)
{
    const struct sm *c = core;
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

bool sm_l1_attach(struct sm *c, struct error *e)
{
    struct line_policy *p = &c->host.l1;
    if (!c->lsu.l1d)
        return true;
    p->view = &c->view;
    p->cache = c->lsu.l1d;
    p->owner = c;
    p->describe = describe;
    p->where = "core";
    p->trouble = c->host.trouble;
    p->trouble_bytes = sizeof c->host.trouble;
    return line_policy_attach(p, e);
}

void sm_l1_tell_access(struct sm *c, const struct packet *p, enum cache_outcome outcome, const struct cache_result *r)
{
    if (c->host.l1_stirs)
        if (c->issue.held) /* a policy that hears of it may hold fewer warps then */
            due_now(&c->due, PART_ISSUE);
    struct heddle_l1_access e = describe(c, p, (enum heddle_outcome)outcome, r->set, r->way);
    if (outcome == CACHE_HIT || outcome == CACHE_PENDING) {
        e.owner = (int32_t)r->line_warp;
        e.owner_age = r->line_age;
    }
    if (c->host.l1.reports)
        line_policy_tell(&c->host.l1, &e, r);
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
    const struct packet first = c->lsu.l1d_head->mshr.entries[answer->token].first;
    struct cache_result r;
    if (!cache_fill_line(c->lsu.l1d, answer, &r))
        return;
    if (c->host.l1.reports && r.change == CACHE_INSERTED) { /* the cache takes a line when its data comes */
        struct heddle_l1_access e = describe(c, &first, HEDDLE_MISS, r.set, r.way);
        line_policy_tell(&c->host.l1, &e, &r);
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

void sm_l1_drop(struct sm *c)
{
    if (c->host.l1.reports)
        line_policy_tell_flush(&c->host.l1, false);
    cache_drop(c->lsu.l1d);
}

void sm_l1_invalidate(struct sm *c)
{
    if (c->host.l1.reports)
        line_policy_tell_flush(&c->host.l1, true);
    cache_invalidate(c->lsu.l1d);
}

uint64_t sm_l1_refusals(const struct sm *c, const char **policy, bool *stands)
{
    const struct heddle_l1 *l1 = c->lsu.l1d ? c->host.l1.l1 : NULL;
    *stands = c->lsu.refused.blocked && c->lsu.refused.why == CACHE_FAIL_WAYS;
    *policy = l1 && l1->victim ? l1->policy.name : NULL;
    return *policy ? cache_counters(c->lsu.l1d)->fails[CACHE_FAIL_WAYS] : 0;
}
