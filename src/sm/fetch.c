/* Fetch and decode: one warp a cycle, round robin over the slots, up to two instructions. A warp is fetched for when
 * its buffer is empty. After a branch that was taken the instructions behind it are fetched all the same; they are
 * thrown away when the scheduler comes to them. On machines that say so (ends_in_fetch) a warp that is over gives its
 * slot back when the search for the next warp comes past it. */
#include "sm/sm.h"

enum { INST_BYTES = 8 };

static void fill_buffer(struct sm *c, uint32_t slot, uint32_t pc)
{
    c->fetch_valid = true;
    c->fetch_warp = slot;
    c->fetch_pc = pc;
    c->busy = true;
}

void sm_decode_cycle(struct sm *c)
{
    struct sm_slot *s = &c->slots[c->fetch_warp];
    c->fetch_valid = false;
    c->busy = true;
    s->fetching = false;
    if (c->ended >> c->fetch_warp & 1) {
        sm_try_retire(c, c->fetch_warp);
        return;
    }
    uint32_t count = c->config->fetch_bytes / INST_BYTES, most = count > 2 ? 2 : count;
    s->buffered = 0;
    for (uint32_t i = 0; i < most && c->fetch_pc + i < c->program->count; i++)
        s->buffer[s->buffered++] = c->fetch_pc + i;
    sm_refresh(c, c->fetch_warp);
}

/* An instruction miss that has come back goes straight to decode. */
static bool take_response(struct sm *c)
{
    struct packet *ready = cache_ready_front(c->l1i);
    uint32_t slot = ready->warp, pc = ready->pc;
    cache_ready_pop(c->l1i);
    fill_buffer(c, slot, pc);
    return true;
}

static inline uint64_t turned_to(uint64_t slots, uint32_t start)
{
    return slots >> start | (start ? slots << (64 - start) : 0);
}

/* Warps that are over, among the slots from start up to so many behind it. */
static void retire(struct sm *c, uint32_t start, uint32_t count)
{
    uint64_t past = turned_to(c->over, start) & (count < 64 ? (1ull << count) - 1 : ~0ull);
    for (; past; past &= past - 1)
        sm_retire(c, ((uint32_t)__builtin_ctzll(past) + start) & 63);
}

static void fetch(struct sm *c)
{
    if (c->code->ready_requests && take_response(c))
        return;
    uint32_t start = (c->last_fetched + 1) & 63,
             behind = c->wants_fetch ? (uint32_t)__builtin_ctzll(turned_to(c->wants_fetch, start)) : 64;
    if (__builtin_expect(c->over != 0, 0))
        retire(c, start, behind);
    if (!c->wants_fetch)
        return;
    uint32_t slot = (behind + start) & 63;
    struct sm_slot *s = &c->slots[slot];
    uint32_t pc = s->fetch_pc < c->program->count ? s->fetch_pc : 0;
    c->busy = true;
    if (!c->l1i) {
        c->last_fetched = slot;
    } else {
        struct cache_result r;
        uint64_t address = c->program->code_address + (uint64_t)pc * INST_BYTES;
        struct packet p = {.address = address,
                           .bytes = INST_BYTES,
                           .kind = PACKET_INST,
                           .core = (uint16_t)c->id,
                           .warp = (uint16_t)slot,
                           .pc = pc};
        enum cache_outcome outcome = cache_access(c->l1i, &p, 0, c->now, &r);
        if (outcome != CACHE_FAIL || c->config->fetch_moves_on)
            c->last_fetched = slot;
        if (outcome == CACHE_FAIL)
            return;
        if (outcome != CACHE_HIT) {
            s->fetching = true;
            c->wants_fetch &= ~(1ull << slot);
            return;
        }
    }
    s->fetching = true; /* until it is decoded */
    c->wants_fetch &= ~(1ull << slot);
    fill_buffer(c, slot, pc);
}

void sm_fetch_cycle(struct sm *c)
{
    bool last = c->config->fetch_sends_at_once;
    if (c->instruction_responses.count) {
        cache_fill(c->l1i, ring_front(&c->instruction_responses), c->now);
        ring_pop(&c->instruction_responses);
        c->busy = true;
    }
    if (c->code->misses.count && !last)
        sm_send_misses(c, c->l1i, ORIGIN_L1I);
    fetch(c);
    if (c->code->misses.count && last)
        sm_send_misses(c, c->l1i, ORIGIN_L1I);
}
