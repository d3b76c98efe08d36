/* The L2 slices of a channel, on the L2's clock: crossbar -> fixed delay (the raster units' pipeline, "ROP") -> input
 * queue -> L2 -> queue to DRAM; return queue -> L2 -> reply queue. The steps stand in the order in which a cycle takes
 * them.
 *
 * Textures do not pass the delay, but for those that are cut: their pieces are no longer known as textures there. A
 * slice in which nothing can move rests, and what it would have counted meanwhile is counted when it wakes. */
#include "mem/partition_inside.h"

#include "base/invariant.h"

enum { ROP_ENTRIES = 1024 };  /* requests in the delay of a slice: it has no limit of its own in GPGPU-Sim */
enum { L2_MISS_RESERVE = 2 }; /* places that a miss asks for in the miss queue: itself and a write-back */

static uint64_t index_in_slice(const void *map, uint64_t address) { return address_map_in_slice(map, address); }

static struct cache *create_l2(struct arena *a, const struct cache_config *config, const struct address_map *map)
{
    if (config->sets == 0)
        return NULL;
    struct cache *c = cache_create(
        a, config, config->index == SET_INDEX_MULTIPLIED ? NULL /* of the whole address */ : index_in_slice, map);
    cache_set_writeback(c, PACKET_L2_WRITEBACK, L2_MISS_RESERVE);
    return c;
}

static bool have_no_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a == 1;
}

/* Beyond rop_cycles: slices stand in a row, from the nearest to the farthest; where there are halves, in two. Those
 * that have addresses side by side do not stand side by side. */
static uint32_t distance_cycles(const struct l2_config *l2, const struct address_map *map, uint32_t number)
{
    uint32_t row = map->channels * map->slices_per_channel / (l2->link_cycles ? 2 : 1), step = row * 5 / 8 + 1;
    while (!have_no_divisor(row, step))
        step++;
    return row > 1 ? l2->spread_cycles * (number % row * step % row) / (row - 1) : 0;
}

void slice_create(struct slice *s, struct arena *a, const struct l2_config *l2, const struct address_map *map,
                  uint32_t number)
{
    s->number = number;
    s->at = NEVER;
    s->rop_cycles = l2->rop_cycles + (l2->spread_cycles ? distance_cycles(l2, map, number) : 0);
    delay_init(&s->rop, a, ROP_ENTRIES);
    ring_init(&s->input, a, l2->input_queue);
    ring_init(&s->to_dram, a, l2->dram_queue);
    ring_init(&s->from_dram, a, l2->return_queue);
    ring_init(&s->reply, a, l2->reply_queue);
    s->map = map;
    s->cache = create_l2(a, &l2->cache, map);
    s->input_sets = arena_array(a, uint32_t, s->input.mask + 1);
}

static struct packet *push(struct ring *r, const struct packet *p)
{
    struct packet *place = &r->slots[(r->head + r->count++) & r->mask];
    *place = *p;
    return place;
}

void queue_reply(struct partition *p, struct slice *s, const struct packet *request)
{
    if (request->guest) {
        link_send_answer(p, s, request);
        return;
    }
    if (!s->reply.count)
        p->head.reply_at = 0;
    push(&s->reply, request)->reply = 1;
    p->head.replies++;
    if (p->expected)
        p->expected[request->core].answered++;
}

static inline bool reply_has_room(const struct slice *s)
{
    return !ring_full(&s->reply) && !(s->mirror && delay_full(&s->mirror->answers));
}

static inline void push_input(struct slice *s, const struct packet *piece)
{
    if (s->cache)
        s->input_sets[(s->input.head + s->input.count) & s->input.mask] = cache_expect(s->cache, piece->address);
    ring_push(&s->input, piece);
}

static void push_piece(const struct partition *p, struct slice *s, struct delayed *d)
{
    if (p->expected && !d->begun && !packet_ends_silently(&d->packet))
        p->expected[d->packet.core].left++;
    d->begun = true;
    if (d->whole) {
        push_input(s, &d->packet);
        d->sectors = 0;
        return;
    }
    struct packet piece = pieces_cut(&p->cut, d);
    push_input(s, &piece);
    if (d->sectors && p->expected && !packet_ends_silently(&piece)) { /* there will be another answer */
        p->expected[piece.core].cut++;
        if (piece.kind == PACKET_ATOMIC)
            p->expected[piece.core].to_atomics++;
    }
}

static bool input_has_room(const struct partition *p, const struct slice *s)
{
    return ring_room(&s->input) >= p->pieces;
}

/* Not from the caches of constants and instructions. */
static bool comes_from_l1(const struct packet *r) { return r->kind != PACKET_CONST && r->kind != PACKET_INST; }

/* The delay has given way to a packet: if that is the first, the slice is run when it is over. */
static void await_delay(struct partition *p, struct slice *s)
{
    if (!ring_full(&s->input))
        slice_due(p, s, delay_front(&s->rop)->ready);
}

void partition_take_request(struct partition *p, uint32_t number, uint64_t l2_now, uint64_t core_now)
{
    struct slice *s = &p->slices[number];
    if (!input_has_room(p, s) || delay_full(&s->rop)) {
        p->input_stalls++;
        return;
    }
    if (l2_now < s->intake_at)
        return;
    const struct packet *r = network_first(p->requests, s->number);
    struct delayed *d = delay_back(&s->rop);
    d->packet = *r;
    d->ready = core_now + s->rop_cycles;
    d->begun = false;
    d->packet.slice = (uint8_t)s->number;
    if (s->mirror)
        d->packet.away = address_map_slice(p->map, r->address) != s->number;
    pieces_name(&p->cut, d);
    if (p->config->l2.store_sector_cycles && packet_is_write(r))
        s->intake_at =
            l2_now + p->config->l2.store_sector_cycles * (packet_sectors((uint8_t)d->sectors) + !packet_writes_all(r));
    if (comes_from_l1(r))
        p->l1_sectors += packet_sectors((uint8_t)d->sectors);
    if (r->kind == PACKET_TEXTURE && pieces_is_one(&p->cut, d)) {
        push_piece(p, s, d);
        wake_slice(p, s);
    } else {
        s->rop.count++;
        await_delay(p, s);
    }
    network_pop(p->requests, s->number);
}

static void answer_ready(struct partition *p, struct slice *s)
{
    if (!reply_has_room(s))
        return;
    const struct packet *r = cache_ready_front(s->cache);
    if (r->kind != PACKET_L2_FETCH)
        queue_reply(p, s, r);
    cache_ready_pop(s->cache);
}

static void pop_return(struct partition *p, struct slice *s)
{
    if (ring_full(&s->from_dram))
        wake_dram(p); /* what DRAM has, or may be sent, may have waited for the place */
    ring_pop(&s->from_dram);
}

void slice_fill(struct slice *s, const struct packet *answer)
{
    if (likely(s->listener == NULL)) {
        cache_fill(s->cache, answer, 0);
        return;
    }
    const struct packet first = cache_head(s->cache)->mshr.entries[answer->token].first;
    struct cache_result r;
    if (cache_fill_line(s->cache, answer, &r) && r.change != CACHE_UNCHANGED)
        slice_tell(s, &first, CACHE_MISS, &r);
}

void slice_touch(struct slice *s, const struct packet *copy)
{
    struct cache_result r;
    cache_touch(s->cache, copy->address, &r);
    slice_tell(s, copy, r.change == CACHE_INSERTED ? CACHE_MISS : CACHE_HIT, &r);
}

static void take_return(struct partition *p, struct slice *s, uint64_t l2_now)
{
    const struct packet *r = ring_front(&s->from_dram);
    if (s->cache && !packet_is_write(r)) {
        if (!cache_fill_port_free(s->cache, l2_now))
            return;
        invariant(cache_waits_for(s->cache, r->token));
        slice_fill(s, r);
        cache_use_fill_port(s->cache, p->cut.bytes, l2_now);
    } else {
        if (ring_full(&s->reply))
            return;
        queue_reply(p, s, r);
    }
    pop_return(p, s);
}

static void queue_to_dram(struct partition *p, struct slice *s, const struct packet *r)
{
    if (s->to_dram.count == 0)
        wake_dram(p);
    p->queued++;
    push(&s->to_dram, r)->slice = (uint8_t)s->number;
}

static void send_miss(struct partition *p, struct slice *s)
{
    const struct packet *r = cache_miss_front(s->cache);
    if (r->away) {
        if (!link_has_room(s))
            return;
        link_send_home(p, s, r);
    } else {
        if (ring_full(&s->to_dram))
            return;
        queue_to_dram(p, s, r);
    }
    cache_miss_pop(s->cache);
}

/* An access that was taken, of an L2 in two halves. */
static void account_for_halves(struct slice *s, const struct packet *r, enum cache_outcome outcome, bool changes)
{
    if (changes)
        link_written_at_home(s, r);
    else if (r->guest && !r->uncopied)
        s->guest_reads[outcome]++;
    else if (r->away)
        s->reads_away += outcome == CACHE_MISS;
}

/* Atomics: a slice works at one sector after the other, also at those that only pass on their way home; floating-point
 * ones on the same word wait for each other. */
static bool atomic_waits(const struct slice *s, const struct packet *r, uint64_t l2_now)
{
    return r->takes_turns && r->address == s->turn_word && l2_now < s->turn_until;
}

static void take_atomic(const struct l2_config *l2, struct slice *s, const struct packet *r, uint64_t l2_now)
{
    s->busy_until = l2_now + l2->atomic_sector_cycles * packet_sectors(r->sectors);
    if (r->takes_turns && !r->away) {
        s->turn_word = r->address;
        s->turn_until = l2_now + l2->atomic_float_cycles;
    }
}

/* What is at home in the other half: a write, an atomic, or a read for which there is no place. */
static __attribute__((noinline)) void pass_home(struct partition *p, struct slice *s, const struct packet *r,
                                                uint64_t l2_now)
{
    bool changes = packet_is_write(r) || r->kind == PACKET_ATOMIC;
    s->failed = false;
    if (changes ? !link_forward_write(p, s, r) : !link_forward_read(p, s, r))
        return;
    if (r->kind == PACKET_ATOMIC)
        take_atomic(&p->config->l2, s, r, l2_now);
    ring_pop(&s->input);
}

static void access_cache(struct partition *p, struct slice *s, uint64_t l2_now)
{
    if (!reply_has_room(s) || !cache_port_free(s->cache, l2_now) || l2_now < s->busy_until ||
        (s->failed && cache_fails_again(s->cache)))
        return;
    const struct packet *r = ring_front(&s->input);
    bool write = packet_is_write(r), atomic = r->kind == PACKET_ATOMIC;
    if (unlikely(r->away) && (write | atomic || !link_may_copy(s, r, s->input_sets[s->input.head]))) {
        pass_home(p, s, r, l2_now);
        return;
    }
    if (atomic && atomic_waits(s, r, l2_now))
        return;
    struct cache_result result = {0};
    enum cache_outcome outcome = cache_access_expected(s->cache, r, s->input_sets[s->input.head], &result);
    s->failed = outcome == CACHE_FAIL;
    if (s->failed) {
        if (unlikely(r->away) && result.fail == CACHE_FAIL_MERGE && link_waits_in_turn(s))
            pass_home(p, s, r, l2_now);
        return;
    }
    slice_tell(s, r, outcome, &result);
    if (unlikely(s->mirror))
        account_for_halves(s, r, outcome, write | atomic);
    if (atomic)
        take_atomic(&p->config->l2, s, r, l2_now);
    if (outcome == CACHE_MISS && !write && (!r->guest || r->uncopied) && comes_from_l1(r))
        p->l1_sector_misses += packet_sectors(r->sectors);
    uint32_t port_bytes = outcome == CACHE_HIT                                   ? r->bytes
                          : (write ? p->stores_evict_free : p->reads_evict_free) ? 0
                                                                                 : result.writeback_bytes;
    if (port_bytes)
        cache_use_port(s->cache, port_bytes, l2_now);
    bool done = outcome == CACHE_HIT || write; /* reads that miss are answered when their data has come */
    if (done && !result.sends_write && !packet_ends_silently(r))
        queue_reply(p, s, r);
    ring_pop(&s->input);
}

static void take_input(struct partition *p, struct slice *s, uint64_t l2_now)
{
    if (ring_full(&s->to_dram))
        return;
    if (s->cache) {
        access_cache(p, s, l2_now);
        return;
    }
    queue_to_dram(p, s, ring_front(&s->input));
    ring_pop(&s->input);
}

static void take_visitor(struct slice *s, uint64_t core_now)
{
    if (!delay_over(&s->visitors, core_now) || ring_full(&s->input))
        return;
    push_input(s, &delay_front(&s->visitors)->packet);
    delay_pop(&s->visitors);
}

static void leave_delay(const struct partition *p, struct slice *s, uint64_t core_now)
{
    if (!delay_over(&s->rop, core_now) || ring_full(&s->input))
        return;
    struct delayed *d = delay_front(&s->rop);
    push_piece(p, s, d);
    if (d->sectors == 0)
        delay_pop(&s->rop);
}

/* Would a slice do something in its next tick if nothing came from elsewhere? What it waits for is told by
 * wake_slice. */

/* Answers, misses, data from below. */
static bool outputs_move(struct slice *s)
{
    bool reply_room = !ring_full(&s->reply), cache = s->cache != NULL;
    if (cache && cache_has_miss(s->cache) && !ring_full(&s->to_dram))
        return true;
    if (cache && cache_has_ready(s->cache) && reply_room)
        return true;
    return s->from_dram.count && (reply_room || (cache && !packet_is_write(ring_front(&s->from_dram))));
}

static bool input_waits(const struct slice *s)
{
    return !s->input.count || ring_full(&s->to_dram) || (s->cache && ring_full(&s->reply));
}

/* The access at the front can only fail again. */
static bool input_fails(const struct slice *s, uint64_t l2_now)
{
    return s->cache && s->failed && cache_head(s->cache)->blocked && cache_port_free(s->cache, l2_now + 1);
}

/* When the slice has to be run again: 0 means in its next tick. */
static uint64_t next_run(const struct partition *p, struct slice *s, uint64_t l2_now)
{
    if (outputs_move(s))
        return 0;
    s->fails = !input_waits(s) && input_fails(s, l2_now);
    if (!input_waits(s) && !s->fails)
        return 0;
    if (s->fails && !p->l2_ticks)
        return 0;
    uint64_t at = s->rop.count && !ring_full(&s->input) ? delay_front(&s->rop)->ready : NEVER;
    return s->mirror ? earlier(at, link_next(s)) : at;
}

void slice_settle(struct slice *s, uint64_t tick)
{
    cache_failed_again(s->cache, (uint32_t)(tick - s->ran));
    s->ran = tick;
}

static void run_slice(struct partition *p, struct slice *s, uint64_t l2_now, uint64_t core_now)
{
    if (s->fails) {
        slice_settle(s, l2_now - 1);
        s->fails = false;
    }
    if (s->cache && cache_has_ready(s->cache))
        answer_ready(p, s);
    if (s->from_dram.count)
        take_return(p, s, l2_now);
    if (s->answers.count)
        link_take_answer(p, s, l2_now);
    if (s->cache && cache_has_miss(s->cache))
        send_miss(p, s);
    if (s->input.count)
        take_input(p, s, l2_now);
    if (s->visitors.count)
        take_visitor(s, core_now);
    if (s->rop.count)
        leave_delay(p, s, core_now);
    s->ran = l2_now;
    s->at = next_run(p, s, l2_now);
}

void partition_l2_cycle(struct partition *p, uint64_t l2_now, uint64_t core_now)
{
    uint64_t at = NEVER;
    p->core_now = core_now;
    for (struct slice *s = p->slices; s != p->slices_end; s++) {
        if (s->at <= core_now)
            run_slice(p, s, l2_now, core_now);
        at = earlier(at, s->at);
    }
    p->head.l2_at = at;
}
