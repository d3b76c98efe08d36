/* Fetch and decode: in every cycle one warp, in turn, whose buffer is empty; up to two instructions, decoded in the
 * next cycle. What follows a branch that was taken is fetched all the same, and thrown away when a scheduler comes to
 * it. */
#include "model/model.h"

enum { INSTRUCTION_BYTES = 8, BUFFER = 2, SLOTS = 64 };

void model_decode(struct sm *c)
{
    struct warp *w = &c->warps[c->decode_slot];
    if (!c->decodes)
        return;
    c->decodes = false;
    w->fetching = false;
    if (w->ended) {
        model_look_at_end(c, c->decode_slot);
        return;
    }
    w->buffered = 0;
    for (uint32_t i = 0; i < BUFFER && i < c->config->fetch_bytes / INSTRUCTION_BYTES; i++)
        if (c->decode_pc + i < c->program->count)
            w->buffer[w->buffered++] = c->decode_pc + i;
    model_look_at_next(c, c->decode_slot);
}

static void decode_next(struct sm *c, uint32_t slot, uint32_t pc)
{
    c->decodes = true;
    c->decode_slot = slot;
    c->decode_pc = pc;
}

static enum cache_outcome read_code(struct sm *c, uint32_t slot, uint32_t pc)
{
    struct cache_result r;
    struct packet p = {.address = c->program->code_address + (uint64_t)pc * INSTRUCTION_BYTES,
                       .bytes = INSTRUCTION_BYTES,
                       .kind = PACKET_INST,
                       .core = (uint16_t)c->head.id,
                       .warp = (uint16_t)slot,
                       .pc = pc};
    if (!c->l1i)
        return CACHE_HIT;
    return cache_access(c->l1i, &p, 0, c->now, &r);
}

static void fetch_for(struct sm *c, uint32_t slot)
{
    struct warp *w = &c->warps[slot];
    uint32_t pc = w->fetch_pc < c->program->count ? w->fetch_pc : 0;
    enum cache_outcome outcome = read_code(c, slot, pc);
    if (outcome != CACHE_FAIL || c->config->fetch_moves_on)
        c->last_fetched = slot;
    if (outcome == CACHE_FAIL)
        return;
    w->fetching = true;
    if (outcome == CACHE_HIT)
        decode_next(c, slot, pc);
}

static bool wants_fetch(const struct warp *w) { return w->exec && !w->buffered && !w->fetching && !w->ended; }

/* An instruction that has come from memory goes first. Else the next warp in turn is fetched for; on the way to it,
 * warps that are over give their slots back, where the machine has the rule ends_in_fetch. */
static void fetch(struct sm *c)
{
    if (c->l1i && cache_has_ready(c->l1i)) {
        const struct packet *p = cache_ready_front(c->l1i);
        decode_next(c, p->warp, p->pc);
        cache_ready_pop(c->l1i);
        return;
    }
    for (uint32_t i = 1; i <= SLOTS; i++) {
        uint32_t slot = (c->last_fetched + i) % SLOTS;
        if (c->config->ends_in_fetch && model_is_over(&c->warps[slot]))
            model_retire(c, slot);
        if (wants_fetch(&c->warps[slot])) {
            fetch_for(c, slot);
            return;
        }
    }
}

static void take_answer(struct sm *c)
{
    struct answers *q = &c->code_answers;
    if (!q->count)
        return;
    cache_fill(c->l1i, &q->list[0], c->now);
    q->count--;
    for (uint32_t i = 0; i < q->count; i++)
        q->list[i] = q->list[i + 1];
}

void model_fetch(struct sm *c)
{
    take_answer(c);
    if (!c->config->fetch_sends_at_once)
        model_send_miss(c, c->l1i, ORIGIN_L1I);
    fetch(c);
    if (c->config->fetch_sends_at_once)
        model_send_miss(c, c->l1i, ORIGIN_L1I);
}
