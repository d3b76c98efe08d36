/* What a cache asks its policy (include/heddle/policy.h), and tells it. */
#include "mem/cache_inside.h"

static struct heddle_l1_access describe(const struct cache *c, const struct lookup *l, enum heddle_outcome outcome,
                                        uint32_t way)
{
    const struct packet *p = l->request;
    struct heddle_l1_access e = {.address = l->line,
                                 .warp = p->warp,
                                 .pc = p->pc,
                                 .outcome = outcome,
                                 .store = l->write,
                                 .local = p->kind == PACKET_LOCAL_LOAD || p->kind == PACKET_LOCAL_STORE,
                                 .owner = -1,
                                 .set = l->set,
                                 .way = way,
                                 .left = p->left};
    if (way != NO_WAY && outcome != HEDDLE_MISS) {
        const struct cache_line *line = line_at(c, l->set, way);
        e.owner = line->warp == NO_OWNER ? -1 : line->warp;
        e.owner_age = line->age;
    }
    return e;
}

void cache_tell_inserted(struct cache *c, const struct lookup *l, uint32_t way)
{
    if (!c->policy->inserted)
        return;
    struct heddle_l1_access e = describe(c, l, HEDDLE_MISS, way);
    c->policy->inserted(c->policy_state, c->core, l->set, way, &e);
}

void cache_tell_touched(struct cache *c, const struct lookup *l, enum heddle_outcome outcome)
{
    if (!c->policy->touched)
        return;
    struct heddle_l1_access e = describe(c, l, outcome, l->way);
    c->policy->touched(c->policy_state, c->core, l->set, l->way, &e);
}

void cache_tell_removed(struct cache *c, uint32_t set, uint32_t way, enum heddle_leave why)
{
    if (c->policy->removed)
        c->policy->removed(c->policy_state, c->core, set, way, why);
}

/* The ways of a set, each in one of three sets: its line may leave, it has none, its line is on its way. */
struct set_ways {
    uint64_t lines, empty, reserved;
};

static struct set_ways ways_of(const struct cache *c, uint32_t set)
{
    struct set_ways w = {0};
    for (uint32_t way = 0; way < c->sets.ways; way++) {
        uint64_t bit = (uint64_t)1 << way;
        if (*tag_at(c, set, way) == NO_TAG)
            w.empty |= bit;
        else if (line_at(c, set, way)->reserved)
            w.reserved |= bit;
        else
            w.lines |= bit;
    }
    return w;
}

bool cache_policy_bypasses(struct cache *c, const struct lookup *l)
{
    if (!c->policy || !c->policy->bypass)
        return false;
    struct heddle_l1_access e = describe(c, l, HEDDLE_MISS, NO_WAY);
    struct set_ways w = ways_of(c, l->set);
    return c->policy->bypass(c->policy_state, c->core, w.lines, w.empty, w.reserved, &e);
}

uint32_t cache_policy_victim(struct cache *c, const struct lookup *l)
{
    struct set_ways w = ways_of(c, l->set);
    uint64_t usable = w.lines | w.empty;
    if (!usable)
        return NO_WAY;
    struct heddle_l1_access e = describe(c, l, HEDDLE_MISS, NO_WAY);
    int way = c->policy->victim(c->policy_state, c->core, l->set, w.lines, w.empty, &e);
    if (way >= 0 && way < (int)c->sets.ways && (usable >> way & 1))
        return (uint32_t)way;
    if (way != -1)
        c->illegal_victim = way < 0 ? 0 : way;
    return NO_WAY;
}
