/* The load/store unit: one instruction at work, which sends its accesses one after the other; a pipeline for shared
 * memory; answers from the interconnect; one instruction at a time whose registers are written.
 *
 * On machines with several steps per cycle (lsu.steps), what is said of a step happens that often, but times are kept
 * in cycles, and one instruction per cycle enters. */
#include "twin.h"

/* Clients of writeback, in the order in which they take turns. */
enum client { FROM_SHARED, FROM_TEXTURES, FROM_CONSTANTS, FROM_PAST_L1, FROM_L1D, CLIENTS };

enum { HEADER_BYTES = 8, TEXTURE_RESULTS = 64 /* where the texture cache has no queue */ };

static uint32_t at_least_one(uint32_t n) { return n ? n : 1; }

void twin_lsu_init(struct sm *c)
{
    const struct sm_config *g = c->config;
    struct lsu *l = &c->lsu;
    l->at_work = l->writes = l->past_l1 = NOTHING;
    l->responses.limit = g->lsu_response_queue ? g->lsu_response_queue : 2;
    if (!g->l1d_latency_behind)
        l->l1_pipe.capacity = g->l1d.latency_cycles * at_least_one(g->l1d.banks) * g->lsu_steps;
}

/* Queues */

static void delay(struct delays *q, uint32_t id, uint64_t ready)
{
    q->list[q->count++] = (struct delayed){.ready = ready, .id = id};
}

static bool is_due(const struct sm *c, const struct delays *q) { return q->count && q->list[0].ready <= c->now; }

static uint32_t take(struct delays *q)
{
    uint32_t id = q->list[0].id;
    q->count--;
    for (uint32_t i = 0; i < q->count; i++)
        q->list[i] = q->list[i + 1];
    return id;
}

/* Ends of instructions */

static void end(struct sm *c, uint32_t id)
{
    twin_release(c, id);
    twin_finish(c, id);
}

/* One of the answers that the instruction waits for. While it is at work its end comes when it leaves the unit. */
static void answer(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    f->remaining--;
    if (!f->remaining && !f->in_lsu)
        end(c, id);
}

/* A hit in the L1D or the constant cache. */
static void hit(struct sm *c, uint32_t id)
{
    if (c->config->l1d_latency_behind && c->config->l1d.latency_cycles)
        delay(&c->lsu.hits, id, c->now + c->config->l1d.latency_cycles);
    else
        answer(c, id);
}

void twin_lsu_end_hits(struct sm *c)
{
    while (is_due(c, &c->lsu.hits))
        answer(c, take(&c->lsu.hits));
}

static void answer_atomic(struct sm *c, uint32_t id)
{
    if (c->inflight[id].atomic)
        c->warps[c->inflight[id].slot].atomics--;
}

static void acknowledge_store(struct sm *c, uint32_t slot)
{
    c->warps[slot].stores--;
    twin_look_at_fence(c, slot);
    twin_look_at_end(c, slot);
}

/* Writeback */

/* The banks of the destinations, one after the other, each once per step. True: all are written. */
static bool write_registers(struct sm *c, struct instruction *f)
{
    const uint8_t *banks = f->inst->banks + f->inst->check_count - f->inst->destination_count;
    for (; f->written < f->inst->destination_count; f->written++)
        if (!twin_write_bank(c, f->slot, banks[f->written]))
            return false;
    f->written = 0; /* for its next answer */
    return true;
}

static bool has_result(const struct sm *c, enum client client)
{
    const struct lsu *l = &c->lsu;
    switch (client) {
    case FROM_SHARED: return is_due(c, &l->shared_pipe);
    case FROM_TEXTURES: return l->texture_results.count || (c->l1t && cache_has_ready(c->l1t));
    case FROM_CONSTANTS: return c->l1c && cache_has_ready(c->l1c);
    case FROM_PAST_L1: return l->past_l1 != NOTHING;
    default: return c->l1d && cache_has_ready(c->l1d);
    }
}

static uint32_t take_ready(struct cache *cache)
{
    uint32_t id = cache_ready_front(cache)->token;
    cache_ready_pop(cache);
    return id;
}

static uint32_t take_result(struct sm *c, enum client client)
{
    struct lsu *l = &c->lsu;
    uint32_t id;
    switch (client) {
    case FROM_SHARED:
        id = take(&l->shared_pipe);
        answer_atomic(c, id);
        return id;
    case FROM_TEXTURES: return l->texture_results.count ? take(&l->texture_results) : take_ready(c->l1t);
    case FROM_CONSTANTS: return take_ready(c->l1c);
    case FROM_PAST_L1:
        id = (uint32_t)l->past_l1;
        l->past_l1 = NOTHING;
        answer_atomic(c, id);
        return id;
    default: return take_ready(c->l1d);
    }
}

static void writeback(struct sm *c)
{
    struct lsu *l = &c->lsu;
    if (l->writes != NOTHING) {
        if (!write_registers(c, &c->inflight[l->writes]))
            return;
        answer(c, (uint32_t)l->writes);
        l->writes = NOTHING;
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        enum client client = (l->turn + i) % CLIENTS;
        if (!has_result(c, client))
            continue;
        l->writes = (int32_t)take_result(c, client);
        l->turn = (client + 1) % CLIENTS;
        return;
    }
}

/* Answers from the interconnect */

static void take_response(struct sm *c)
{
    struct lsu *l = &c->lsu;
    const struct packet *p = &l->responses.list[0];
    if (!l->responses.count)
        return;
    if (packet_is_write(p)) {
        acknowledge_store(c, p->warp);
    } else if (p->origin == ORIGIN_LSU) {
        if (l->past_l1 != NOTHING)
            return; /* the one before it has not been taken */
        l->past_l1 = (int32_t)p->token;
    } else if (p->origin == ORIGIN_L1D) {
        twin_l1_fill(c, p);
    } else if (p->origin == ORIGIN_L1C) {
        cache_fill(c->l1c, p, c->now);
    } else if (twin_has_texture_queue(c)) {
        twin_texture_answer(c, p);
    } else {
        cache_fill(c->l1t, p, c->now);
    }
    l->responses.count--;
    for (uint32_t i = 0; i < l->responses.count; i++)
        l->responses.list[i] = l->responses.list[i + 1];
}

/* To the interconnect */

static bool send(struct sm *c, struct packet *p)
{
    bool carries_data = packet_is_write(p) || p->kind == PACKET_ATOMIC;
    uint32_t bytes = HEADER_BYTES + (carries_data ? p->bytes : 0);
    uint64_t tick = network_tick(&c->wires.clock, c->now);
    if (!network_has_room_at(c->wires.requests, c->head.port, bytes, tick))
        return false;
    p->core = (uint16_t)c->head.id;
    p->slice = (uint8_t)address_map_slice(c->wires.map, p->address);
    network_push(c->wires.requests, c->head.port, p->slice, p, bytes, tick);
    return true;
}

void twin_send_miss(struct sm *c, struct cache *cache, enum origin origin)
{
    if (!cache || !cache_has_miss(cache))
        return;
    struct packet *p = cache_miss_front(cache);
    p->origin = (uint8_t)origin;
    if (send(c, p))
        cache_miss_pop(cache);
}

/* The L1D */

/* True: the access was taken. A store that the cache keeps is acknowledged at once. */
static bool access_l1d(struct sm *c, const struct packet *p)
{
    struct cache_result r = {.evicted = false};
    enum cache_outcome outcome = cache_access(c->l1d, p, c->shown[p->warp].age, c->now, &r);
    twin_l1_tell(c, p, outcome, &r);
    if (outcome == CACHE_FAIL)
        return false;
    if (p->kind == PACKET_LOAD && c->config->l1d.sector_bytes) /* those there, or on their way */
        c->counters.load_sector_hits += (uint32_t)__builtin_popcount(outcome == CACHE_MISS ? r.present : p->sectors);
    if (packet_is_write(p)) {
        for (uint32_t n = twin_answers(c, p); n && !r.sends_write; n--)
            acknowledge_store(c, p->warp);
    } else if (outcome == CACHE_HIT) {
        hit(c, p->token);
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
    return packet_is_write(p) ? twin_answers(c, p) : 0;
}

static bool to_l1d(struct sm *c, const struct packet *p)
{
    struct l1_pipe *q = &c->lsu.l1_pipe;
    bool is_full = q->capacity && q->count == q->capacity;
    if (is_full)
        return false;
    c->warps[p->warp].stores += store_answers(c, p);
    if (q->capacity) {
        q->list[q->count].ready = c->now + c->config->l1d.latency_cycles;
        q->list[q->count++].packet = *p;
        return true;
    }
    if (access_l1d(c, p))
        return true;
    c->warps[p->warp].stores -= store_answers(c, p);
    return false;
}

static bool past_caches(struct sm *c, struct packet *p)
{
    p->origin = ORIGIN_LSU;
    if (!send(c, p))
        return false;
    c->warps[p->warp].stores += store_answers(c, p);
    if (!packet_is_write(p) && p->kind != PACKET_ATOMIC) /* one answer has been counted */
        c->inflight[p->token].remaining += twin_answers(c, p) - 1;
    return true;
}

static bool to_constants(struct sm *c, struct packet *p)
{
    struct cache_result r;
    if (!c->l1c)
        return past_caches(c, p);
    enum cache_outcome outcome = cache_access(c->l1c, p, c->shown[p->warp].age, c->now, &r);
    if (outcome == CACHE_HIT)
        hit(c, p->token);
    return outcome != CACHE_FAIL;
}

static bool to_textures(struct sm *c, struct packet *p)
{
    struct cache_result r;
    if (!c->l1t)
        return past_caches(c, p);
    if (twin_has_texture_queue(c))
        return twin_texture_access(c, p);
    if (c->lsu.texture_results.count == TEXTURE_RESULTS)
        return false;
    enum cache_outcome outcome = cache_access(c->l1t, p, c->shown[p->warp].age, c->now, &r);
    if (outcome == CACHE_HIT)
        delay(&c->lsu.texture_results, p->token, c->now);
    return outcome != CACHE_FAIL;
}

static bool send_access(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    const struct access *a = &f->accesses[f->next_access];
    struct packet p = {.address = a->address,
                       .token = id,
                       .pc = f->pc,
                       .bytes = a->bytes,
                       .core = (uint16_t)c->head.id,
                       .warp = (uint16_t)f->slot,
                       .kind = (uint8_t)f->packet_kind,
                       .left = (uint8_t)(f->access_count - 1 - f->next_access),
                       .mask = f->texture && !f->store ? 0 : a->mask,
                       .sectors = a->sectors,
                       .origin = ORIGIN_LSU};
    switch (f->route) {
    case TO_L1D: return to_l1d(c, &p);
    case TO_CONSTANTS: return to_constants(c, &p);
    case TO_TEXTURES: return to_textures(c, &p);
    default: return past_caches(c, &p);
    }
}

/* One access per step, into the L1D one per bank. */
static void send_accesses(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    uint32_t most = f->route == TO_L1D ? at_least_one(c->config->l1d.banks) : 1;
    for (uint32_t n = 0; n < most && f->next_access < f->access_count && send_access(c, id); n++)
        f->next_access++;
}

/* A step in shared memory. True: it has been through all its bank conflicts, and its result is on its way. */
static bool access_shared(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    struct delays *pipe = &c->lsu.shared_pipe;
    if (f->shared_cycles > 1) {
        f->shared_cycles--;
        return false;
    }
    if (f->store || !f->inst->destination_count) {
        answer_atomic(c, id);
        return true;
    }
    if (pipe->count == at_least_one(c->config->shared_latency))
        return false;
    delay(pipe, id, c->now + c->config->shared_latency);
    f->remaining = 1;
    return true;
}

static void work(struct sm *c)
{
    if (c->lsu.at_work == NOTHING)
        return;
    uint32_t id = (uint32_t)c->lsu.at_work;
    struct instruction *f = &c->inflight[id];
    bool sent;
    if (f->space == SM_SHARED) {
        sent = access_shared(c, id);
    } else {
        send_accesses(c, id);
        sent = f->next_access == f->access_count;
    }
    if (!sent)
        return;
    c->lsu.at_work = NOTHING;
    f->in_lsu = false;
    if (!f->remaining)
        end(c, id);
}

void twin_lsu_enter(struct sm *c)
{
    int32_t id = twin_collected(c, KIND_MEMORY);
    if (c->lsu.at_work != NOTHING || id == NOTHING)
        return;
    twin_take_collected(c, KIND_MEMORY);
    c->lsu.at_work = id;
    c->inflight[id].in_lsu = true;
}

void twin_lsu_step(struct sm *c)
{
    writeback(c);
    take_response(c);
    if (twin_has_texture_queue(c))
        twin_textures_step(c);
    else
        twin_send_miss(c, c->l1t, ORIGIN_L1T);
    twin_send_miss(c, c->l1c, ORIGIN_L1C);
    twin_send_miss(c, c->l1d, ORIGIN_L1D);
    l1_pipe_step(c);
    work(c);
}

bool twin_lsu_empty(const struct sm *c)
{
    const struct lsu *l = &c->lsu;
    return l->at_work == NOTHING && l->writes == NOTHING && l->past_l1 == NOTHING && !l->l1_pipe.count &&
           !l->hits.count && !l->shared_pipe.count && !l->responses.count && !l->texture_results.count &&
           !l->fragments.count;
}
