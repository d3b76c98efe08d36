/* The load/store unit: one instruction is at work and sends its accesses, one after the other, to shared memory, into a
 * cache, or past the caches. What comes back: answers.c.
 *
 * On machines with several steps per cycle (lsu.steps), what is said of a step happens that often, but times are kept
 * in cycles, and one instruction per cycle enters. */
#include "model/model.h"

enum { TEXTURE_RESULTS = 64 /* where the texture cache has no queue */ };

static uint32_t at_least_one(uint32_t n) { return n ? n : 1; }

void model_lsu_init(struct sm *c)
{
    const struct sm_config *g = c->config;
    struct lsu *l = &c->lsu;
    l->at_work = l->writes = l->past_l1 = NOTHING;
    l->answers.limit = g->lsu_response_queue ? g->lsu_response_queue : 2;
    if (!g->l1d_latency_behind)
        l->l1_pipe.capacity = g->l1d.latency_cycles * at_least_one(g->l1d.banks) * g->lsu_steps;
    l->shared_room = at_least_one(g->shared_latency) + WARP_LANES * g->shared_conflict_latency;
    if (g->uniform_atomics_once)
        l->shared_room += UINT8_MAX;
}

bool model_lsu_empty(const struct sm *c)
{
    const struct lsu *l = &c->lsu;
    return l->at_work == NOTHING && l->writes == NOTHING && l->past_l1 == NOTHING && !l->l1_pipe.count &&
           !l->hits.count && !l->shared_pipe.count && !l->answers.count && !l->texture_results.count &&
           !l->fragments.count;
}

/* Shared memory */

/* Instructions come out of the pipeline of shared memory in the order in which they went in. Only an atomic whose warp
 * adds up first lets others pass: what keeps it is not the pipeline. */
static void enter_shared_pipe(struct sm *c, uint32_t id, uint64_t ready)
{
    struct delays *q = &c->lsu.shared_pipe;
    uint32_t at = q->count;
    model_delay(q, id, ready);
    for (; at > 0 && q->list[at - 1].ready > ready && c->inflight[q->list[at - 1].id].adds_up; at--) {
        q->list[at] = q->list[at - 1];
        q->list[at - 1] = (struct delayed){.ready = ready, .id = id};
    }
}

/* The instruction has been through all its bank conflicts. True: it leaves the unit. */
static bool access_shared(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    if (f->store || !f->inst->destination_count) {
        model_answer_atomic(c, id);
        return true;
    }
    if (c->lsu.shared_pipe.count == c->lsu.shared_room)
        return false;
    enter_shared_pipe(c, id, c->now + c->config->shared_latency + f->more_latency);
    f->remaining = 1;
    return true;
}

/* The L1D */

/* Sectors of a load that were there, or on their way. */
static void count_sector_hits(struct sm *c, const struct packet *p, enum cache_outcome outcome,
                              const struct cache_result *r)
{
    if (p->kind != PACKET_LOAD || !c->config->l1d.sector_bytes)
        return;
    c->counters.load_sector_hits += packet_sectors(outcome == CACHE_MISS ? r->present : p->sectors);
}

/* True: the access was taken. A store that the cache keeps is acknowledged at once. */
static bool access_l1d(struct sm *c, const struct packet *p)
{
    struct cache_result r = {.evicted = false};
    enum cache_outcome outcome = cache_access(c->l1d, p, c->shown[p->warp].age, c->now, &r);
    model_l1_tell(c, p, outcome, &r);
    if (outcome == CACHE_FAIL)
        return false;
    count_sector_hits(c, p, outcome, &r);
    if (packet_is_write(p)) {
        for (uint32_t n = model_answers(c, p); n && !r.sends_write; n--)
            model_acknowledge_store(c, p->warp);
    } else if (outcome == CACHE_HIT) {
        model_hit(c, p->token);
    }
    return true;
}

static void l1_pipe_step(struct sm *c)
{
    struct l1_pipe *q = &c->lsu.l1_pipe;
    for (uint32_t n = 0; n < at_least_one(c->config->l1d.banks); n++) {
        if (!q->count || q->list[0].ready > c->now || !access_l1d(c, &q->list[0].packet))
            return;
        q->count--;
        for (uint32_t i = 0; i < q->count; i++)
            q->list[i] = q->list[i + 1];
    }
}

/* Accesses of the instruction at work. Each returns whether the access was taken. */

static uint32_t store_answers(const struct sm *c, const struct packet *p)
{
    return packet_is_write(p) ? model_answers(c, p) : 0;
}

static bool enter_l1_pipe(struct sm *c, const struct packet *p)
{
    struct l1_pipe *q = &c->lsu.l1_pipe;
    if (q->count == q->capacity)
        return false;
    c->warps[p->warp].stores += store_answers(c, p);
    q->list[q->count].ready = c->now + c->config->l1d.latency_cycles;
    q->list[q->count++].packet = *p;
    return true;
}

static bool to_l1d(struct sm *c, const struct packet *p)
{
    if (c->lsu.l1_pipe.capacity)
        return enter_l1_pipe(c, p);
    c->warps[p->warp].stores += store_answers(c, p);
    if (access_l1d(c, p))
        return true;
    c->warps[p->warp].stores -= store_answers(c, p);
    return false;
}

/* An atomic may take its line out of the L1D. */
static void drop_atomic_line(struct sm *c, const struct packet *p)
{
    uint32_t line = c->config->l1d.line_bytes;
    if (c->config->atomics_drop_l1 && p->kind == PACKET_ATOMIC && c->l1d)
        cache_forget(c->l1d, p->address / line * line, line);
}

static bool past_caches(struct sm *c, struct packet *p)
{
    p->origin = ORIGIN_LSU;
    if (!model_send(c, p))
        return false;
    drop_atomic_line(c, p);
    c->warps[p->warp].stores += store_answers(c, p);
    if (!packet_is_write(p) && p->kind != PACKET_ATOMIC) /* one answer has been counted */
        c->inflight[p->token].remaining += model_answers(c, p) - 1;
    return true;
}

static bool to_constants(struct sm *c, struct packet *p)
{
    struct cache_result r;
    if (!c->l1c)
        return past_caches(c, p);
    enum cache_outcome outcome = cache_access(c->l1c, p, c->shown[p->warp].age, c->now, &r);
    if (outcome == CACHE_HIT)
        model_hit(c, p->token);
    return outcome != CACHE_FAIL;
}

static bool to_textures(struct sm *c, struct packet *p)
{
    struct cache_result r;
    if (!c->l1t)
        return past_caches(c, p);
    if (model_has_texture_queue(c))
        return model_texture_access(c, p);
    if (c->lsu.texture_results.count == TEXTURE_RESULTS)
        return false;
    enum cache_outcome outcome = cache_access(c->l1t, p, c->shown[p->warp].age, c->now, &r);
    if (outcome == CACHE_HIT)
        model_delay(&c->lsu.texture_results, p->token, c->now);
    return outcome != CACHE_FAIL;
}

static bool send_access(struct sm *c, uint32_t id, struct packet *p)
{
    switch (c->inflight[id].route) {
    case TO_L1D: return to_l1d(c, p);
    case TO_CONSTANTS: return to_constants(c, p);
    case TO_TEXTURES: return to_textures(c, p);
    default: return past_caches(c, p);
    }
}

static struct packet next_packet(const struct sm *c, uint32_t id)
{
    const struct instruction *f = &c->inflight[id];
    const struct access *a = &f->accesses[f->next_access];
    struct packet p = {.address = a->address,
                       .token = id,
                       .pc = f->pc,
                       .bytes = a->bytes,
                       .core = (uint16_t)c->head.id,
                       .warp = (uint16_t)f->slot,
                       .kind = (uint8_t)f->packet_kind,
                       .left = (uint8_t)(f->access_count - 1 - f->next_access),
                       .mask = a->mask,
                       .sectors = model_sectors(c, f, a),
                       .origin = ORIGIN_LSU,
                       .takes_turns = f->inst->takes_turns};
    if (f->texture && !f->store)
        p.mask = 0;
    return p;
}

/* Until the next access of an atomic may be sent. */
static uint32_t atomic_cycles(const struct sm *c, const struct packet *p)
{
    uint32_t sectors = packet_sectors(p->sectors), cycles = c->config->atomic_sector_cycles * sectors;
    return cycles && sectors > 1 ? cycles + 1 : cycles;
}

/* One access per step, into the L1D one per bank. True: all are on their way. */
static bool send_accesses(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    uint32_t most = f->route == TO_L1D ? at_least_one(c->config->l1d.banks) : 1;
    for (uint32_t n = 0; n < most && f->next_access < f->access_count; n++) {
        struct packet p = next_packet(c, id);
        if (!send_access(c, id, &p))
            return false;
        f->next_access++;
        if (f->atomic)
            c->lsu.atomics_from = c->now + atomic_cycles(c, &p);
    }
    return f->next_access == f->access_count;
}

static bool access_memory(struct sm *c, uint32_t id)
{
    if (c->inflight[id].atomic && c->now < c->lsu.atomics_from)
        return false;
    return send_accesses(c, id);
}

static void work(struct sm *c)
{
    if (c->lsu.at_work == NOTHING)
        return;
    uint32_t id = (uint32_t)c->lsu.at_work;
    struct instruction *f = &c->inflight[id];
    if (f->bank_cycles > 1) {
        f->bank_cycles--;
        return;
    }
    bool done = f->space == SM_SHARED ? access_shared(c, id) : access_memory(c, id);
    if (!done)
        return;
    c->lsu.at_work = NOTHING;
    f->in_lsu = false;
    if (!f->remaining)
        model_end(c, id);
}

/* Stages */

void model_lsu_enter(struct sm *c)
{
    int32_t id = model_collected(c, KIND_MEMORY);
    if (c->lsu.at_work != NOTHING || id == NOTHING)
        return;
    model_take_collected(c, KIND_MEMORY);
    c->lsu.at_work = id;
    c->inflight[id].in_lsu = true;
}

void model_lsu_step(struct sm *c)
{
    model_writeback(c);
    model_take_answer(c);
    if (model_has_texture_queue(c))
        model_textures_step(c);
    else
        model_send_miss(c, c->l1t, ORIGIN_L1T);
    model_send_miss(c, c->l1c, ORIGIN_L1C);
    model_send_miss(c, c->l1d, ORIGIN_L1D);
    l1_pipe_step(c);
    work(c);
}
