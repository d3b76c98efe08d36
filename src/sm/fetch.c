/* Fetch and decode: one warp per cycle, round robin over the slots, up to two instructions. A warp is fetched for
 * when its buffer is empty. After a taken branch the instructions that follow it are fetched all the same, and
 * thrown away when the scheduler comes to them. On machines that say so (ends_in_fetch) a warp that is over gives
 * its slot back when the search for the next warp comes past it. */
#include "sm/core.h"

enum { INST_BYTES = 8 };

void front_end_init(struct sm_front_end *f, struct arena *a, const struct sm_config *config)
{
    f->l1i = cache_create(a, &config->l1i, NULL, NULL);
    f->code = cache_head_or_none(f->l1i);
    ring_init(&f->responses, a, 4);
}

static void fill_buffer(struct sm *c, uint32_t slot, uint32_t pc)
{
    c->front.valid = true;
    c->front.warp = slot;
    c->front.pc = pc;
}

void sm_decode_cycle(struct sm *c)
{
    struct sm_slot *s = &c->slots[c->front.warp];
    c->front.valid = false;
    s->fetching = false;
    if (c->issue.ended >> c->front.warp & 1) {
        sm_try_retire(c, c->front.warp);
        return;
    }
    uint32_t count = c->config->fetch_bytes / INST_BYTES;
    if (count > 2)
        count = 2;
    s->buffered = 0;
    for (uint32_t i = 0; i < count && c->front.pc + i < c->program->count; i++)
        s->buffer[s->buffered++] = c->front.pc + i;
    sm_refresh(c, c->front.warp);
}

/* An instruction miss that has come back goes straight to decode. */
static bool take_response(struct sm *c)
{
    struct packet *ready = cache_ready_front(c->front.l1i);
    uint32_t slot = ready->warp, pc = ready->pc;
    cache_ready_pop(c->front.l1i);
    fill_buffer(c, slot, pc);
    return true;
}

static inline uint64_t turned_to(uint64_t slots, uint32_t start)
{
    return slots >> start | (start ? slots << (64 - start) : 0);
}

/* Retires warps that are over, among `count` slots from `start` on. */
static void retire(struct sm *c, uint32_t start, uint32_t count)
{
    uint64_t past = turned_to(c->front.over, start);
    if (count < 64)
        past &= (1ull << count) - 1;
    for (; past; past &= past - 1)
        sm_retire(c, ((uint32_t)__builtin_ctzll(past) + start) & 63);
}

static inline enum cache_outcome read_code(struct sm *c, uint32_t slot, uint32_t pc)
{
    uint64_t address = c->program->code_address + (uint64_t)pc * INST_BYTES;
    if (likely(cache_read_hit(c->front.l1i, address, INST_BYTES, (uint16_t)slot, 0)))
        return CACHE_HIT;
    struct cache_result r;
    struct packet p = {.address = address,
                       .bytes = INST_BYTES,
                       .kind = PACKET_INST,
                       .core = (uint16_t)c->head.id,
                       .warp = (uint16_t)slot,
                       .pc = pc};
    return cache_access(c->front.l1i, &p, 0, c->now, &r);
}

static void fetch(struct sm *c)
{
    if (c->front.code->ready_requests && take_response(c))
        return;
    uint32_t start = (c->front.last + 1) & 63, distance = 64;
    if (c->front.wants)
        distance = (uint32_t)__builtin_ctzll(turned_to(c->front.wants, start));
    if (unlikely(c->front.over))
        retire(c, start, distance);
    if (!c->front.wants)
        return;
    uint32_t slot = (distance + start) & 63;
    struct sm_slot *s = &c->slots[slot];
    uint32_t pc = s->fetch_pc < c->program->count ? s->fetch_pc : 0;
    enum cache_outcome outcome = c->front.l1i ? read_code(c, slot, pc) : CACHE_HIT;
    if (outcome != CACHE_FAIL || c->config->fetch_moves_on)
        c->front.last = slot;
    if (outcome == CACHE_FAIL)
        return;
    s->fetching = true; /* until it is decoded */
    c->front.wants &= ~(1ull << slot);
    if (outcome == CACHE_HIT)
        fill_buffer(c, slot, pc);
}

void sm_fetch_cycle(struct sm *c)
{
    bool last = c->config->fetch_sends_at_once;
    if (c->front.responses.count) {
        cache_fill(c->front.l1i, ring_front(&c->front.responses), c->now);
        ring_pop(&c->front.responses);
    }
    if (c->front.code->misses.count && !last)
        sm_send_misses(c, c->front.l1i, ORIGIN_L1I);
    fetch(c);
    if (c->front.code->misses.count && last)
        sm_send_misses(c, c->front.l1i, ORIGIN_L1I);
}
