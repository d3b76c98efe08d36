/* A core as a whole: how it is made, and the order of the stages in a cycle. */
#include "model/model.h"

/* The stages run back to front, so that what a stage frees can be used by the stage before it in the same cycle. */
void sm_cycle(struct sm *c, uint64_t now)
{
    c->now = c->view.cycle = now;
    model_write_results(c);
    model_start_units(c);
    model_end_hits(c);
    for (uint32_t step = 1; step < c->config->lsu_steps; step++) {
        model_lsu_step(c);
        model_collectors_step(c);
    }
    model_lsu_step(c);
    if (!c->config->enters_lsu_at_once)
        model_lsu_enter(c);
    model_collectors_step(c);
    if (c->config->enters_lsu_at_once)
        model_lsu_enter(c);
    model_issue(c);
    model_decode(c);
    model_fetch(c);
    model_count(c);
    *c->wires.wake_at = now + 1;
    *c->wires.blocked_bytes = 0;
}

/* An answer arrives before the stages run. False: there is no room for it. */
bool sm_accept(struct sm *c, const struct packet *p, uint64_t now)
{
    struct answers *q = p->origin == ORIGIN_L1I ? &c->code_answers : &c->lsu.answers;
    (void)now;
    if (q->count == q->limit)
        return false;
    q->list[q->count++] = *p;
    return true;
}

bool sm_idle(const struct sm *c)
{
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (c->warps[slot].exec)
            return false;
    return model_lsu_empty(c) && model_collectors_empty(c) && (!c->l1d || cache_idle(c->l1d));
}

/* Making a core */

/* A cache whose owner takes decisions has no short cuts for the accesses that it mostly sees: none are taken here, so
 * that every access goes the long way. */
static struct cache *make_cache(struct arena *a, const struct cache_config *config)
{
    static const struct cache_choices none;
    struct cache *cache = config->sets ? cache_create(a, config, NULL, NULL) : NULL;
    if (cache && config->ways <= CACHE_MASK_WAYS)
        cache_set_choices(cache, &none);
    return cache;
}

static void make_caches(struct sm *c, struct arena *a)
{
    const struct sm_config *g = c->config;
    c->l1d = make_cache(a, &g->l1d);
    c->l1c = make_cache(a, &g->l1c);
    c->l1t = make_cache(a, &g->l1t);
    c->l1i = make_cache(a, &g->l1i);
    if (c->l1d)
        cache_set_writeback(c->l1d, PACKET_L1_WRITEBACK, 2); /* a read may need two places: one for what it evicts */
}

static bool tables_suffice(const struct sm_config *g)
{
    uint32_t banks = g->l1d.banks ? g->l1d.banks : 1;
    return g->sp_issue_width <= REGISTERS && g->sfu_issue_width <= REGISTERS && g->mem_issue_width <= REGISTERS &&
           g->sp_collectors + g->sfu_collectors + g->mem_collectors <= COLLECTORS && g->register_banks <= BANKS &&
           g->lsu_response_queue <= ANSWERS && g->l1d.latency_cycles * banks * g->lsu_steps <= QUEUE &&
           g->shared_latency <= QUEUE / 2 && g->l1t.mshr_entries <= QUEUE;
}

/* The kinds of cores that the model has. */
const struct core_code *core_code_of(const struct sm_config *config)
{
    switch (config->kind) {
    case CORE_KIND_collectors: return &gpgpusim_code;
    case CORE_KIND_sub_cores: return &hopper_code;
    default: return NULL;
    }
}

struct sm *sm_create(struct arena *a, const struct sm_config *config, uint32_t id, uint32_t core_count,
                     const struct sm_policies *policies, const struct sm_wires *wires, struct error *e)
{
    struct sm *c = arena_new(a, struct sm);
    if (!tables_suffice(config))
        return error_set(e, ERROR_UNSUPPORTED, "the tables of the model are too small for this machine"), NULL;
    if (wires->observer)
        return error_set(e, ERROR_UNSUPPORTED, "the model writes no timeline and no issue order"), NULL;
    c->config = config;
    c->has_subcores = config->kind == CORE_KIND_sub_cores;
    c->head.id = id;
    c->head.port = id / (config->cores_per_cluster ? config->cores_per_cluster : 1);
    c->core_count = core_count;
    c->wires = *wires;
    c->code_answers.limit = 4;
    make_caches(c, a);
    model_collectors_init(c);
    model_units_init(c);
    model_lsu_init(c);
    c->view = (struct heddle_core){.id = id,
                                   .warp_slots = config->warps,
                                   .scheduler_count = config->schedulers,
                                   .block_slots = config->blocks,
                                   .l1_sets = config->l1d.sets,
                                   .l1_ways = config->l1d.ways,
                                   .l1_line_bytes = config->l1d.line_bytes,
                                   .warp = c->shown};
    return model_make_policies(c, a, policies, e) ? c : NULL;
}
