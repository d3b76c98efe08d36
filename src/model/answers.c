/* What comes back to the load/store unit: hits whose latency is over, answers from the interconnect, and the writing of
 * registers, for one instruction at a time. Five clients take turns in that. */
#include "model/model.h"

/* Clients of writeback, in the order in which they take turns. */
enum client { FROM_SHARED, FROM_TEXTURES, FROM_CONSTANTS, FROM_PAST_L1, FROM_L1D, CLIENTS };

/* Queues */

void model_delay(struct delays *q, uint32_t id, uint64_t ready)
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

/* Answers */

/* One of the answers that the instruction waits for. While it is at work, its end comes when it leaves the unit. */
static void answer(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    f->remaining--;
    if (!f->remaining && !f->in_lsu)
        model_end(c, id);
}

/* A hit in the L1D or the constant cache. */
void model_hit(struct sm *c, uint32_t id)
{
    uint32_t latency = c->config->l1d.latency_cycles;
    if (c->config->l1d_latency_behind && latency)
        model_delay(&c->lsu.hits, id, c->now + latency);
    else
        answer(c, id);
}

void model_end_hits(struct sm *c)
{
    while (is_due(c, &c->lsu.hits))
        answer(c, take(&c->lsu.hits));
}

void model_answer_atomic(struct sm *c, uint32_t id)
{
    if (c->inflight[id].atomic)
        c->warps[c->inflight[id].slot].atomics--;
}

void model_acknowledge_store(struct sm *c, uint32_t slot)
{
    c->warps[slot].stores--;
    model_look_at_fence(c, slot);
    model_look_at_end(c, slot);
}

/* The first of the answers from the interconnect. */
void model_take_answer(struct sm *c)
{
    struct lsu *l = &c->lsu;
    const struct packet *p = &l->answers.list[0];
    if (!l->answers.count)
        return;
    if (packet_is_write(p)) {
        model_acknowledge_store(c, p->warp);
    } else if (p->origin == ORIGIN_LSU) {
        if (l->past_l1 != NOTHING)
            return; /* the one before it has not been taken */
        l->past_l1 = (int32_t)p->token;
    } else if (p->origin == ORIGIN_L1D) {
        model_l1_fill(c, p);
    } else if (p->origin == ORIGIN_L1C) {
        cache_fill(c->l1c, p, c->now);
    } else if (model_has_texture_queue(c)) {
        model_texture_answer(c, p);
    } else {
        cache_fill(c->l1t, p, c->now);
    }
    l->answers.count--;
    for (uint32_t i = 0; i < l->answers.count; i++)
        l->answers.list[i] = l->answers.list[i + 1];
}

/* Writeback */

/* The banks of the destinations are written one after the other, each once per step. True: all are written. */
static bool write_registers(struct sm *c, struct instruction *f)
{
    const uint8_t *banks = f->inst->banks + f->inst->check_count - f->inst->destination_count;
    for (; f->written < f->inst->destination_count; f->written++)
        if (!model_write_bank(c, f->slot, banks[f->written]))
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

static uint32_t take_past_l1(struct lsu *l)
{
    uint32_t id = (uint32_t)l->past_l1;
    l->past_l1 = NOTHING;
    return id;
}

static uint32_t take_result(struct sm *c, enum client client)
{
    struct lsu *l = &c->lsu;
    switch (client) {
    case FROM_SHARED: return take(&l->shared_pipe);
    case FROM_TEXTURES: return l->texture_results.count ? take(&l->texture_results) : take_ready(c->l1t);
    case FROM_CONSTANTS: return take_ready(c->l1c);
    case FROM_PAST_L1: return take_past_l1(l);
    default: return take_ready(c->l1d);
    }
}

void model_writeback(struct sm *c)
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
        if (client == FROM_SHARED || client == FROM_PAST_L1)
            model_answer_atomic(c, (uint32_t)l->writes);
        return;
    }
}
