/* A memory channel with its L2 slices (GPGPU-Sim's memory partition unit and its sub-partitions, with the order of
 * their steps).
 *
 * A slice: crossbar -> fixed delay (the raster units' pipeline, "ROP") -> input queue -> L2 -> queue to DRAM; DRAM ->
 * return queue -> L2 -> reply queue -> crossbar. The channel: the slices' queues to DRAM -> fixed delay -> DRAM.
 * Textures do not pass the first delay, but for those that are cut: their pieces are no longer known as textures there.
 *
 * Left out: the credit that a write-back holds while it is inside DRAM (it is given back when DRAM takes it, not when
 * DRAM has written it). */
#include "mem/partition.h"

#include "base/invariant.h"
#include "mem/ring.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NEVER UINT64_MAX

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

enum { HEADER_BYTES = 8 };    /* of a packet in the crossbar */
enum { ROP_ENTRIES = 1024 };  /* requests in the delay of a slice: it has no limit of its own in GPGPU-Sim */
enum { L2_MISS_RESERVE = 2 }; /* places that a miss asks for in the miss queue: itself and a write-back */

/* Packets that wait for a core cycle. sectors: those of a request that have not been cut off yet, as its sender numbers
 * them, from address base on. */
struct delayed {
    struct packet packet;
    uint64_t ready, base;
    uint32_t sectors;
    bool whole /* is one piece, as it stands */;
    uint32_t pad[2] /* to 64 bytes: found by a shift */;
};
/* A line goes round in its first slots, as many as it has needed so far: it may be long, and stays in few cache lines
 * of the host. */
struct delay_line {
    struct delayed *slots;
    uint32_t mask, head, count, limit;
};
enum { DELAY_WINDOW = 32 };

struct slice {
    uint32_t number; /* of all slices */
    struct delay_line rop;
    struct ring input, to_dram, from_dram, reply;
    uint32_t *input_sets;   /* of the cache, for the packets in input */
    struct cache *cache;    /* NULL: no L2 */
    uint64_t at;            /* core cycle in which it has to be run again, 0: as soon as may be */
    uint64_t ran;           /* the last L2 tick that is in the counters */
    bool failed;            /* the access at the front of input, when it was last tried */
    uint8_t fails, refuses; /* while it rests, in every tick: that access fails again; a request waits at the crossbar
                               for which there is no room */
};

struct partition {
    struct partition_head head;
    struct crossbar *requests, *replies;
    const uint64_t *l2_ticks; /* that have been; NULL: nobody says */
    struct partition_hooks hooks;
    const struct mem_config *config;
    const struct address_map *map;
    struct slice *slices, *slices_end;
    uint32_t slice_count, channel;
    uint32_t rop_cycles, dram_latency_cycles, cores_per_port;
    uint32_t line_bytes; /* of the L2, 0: none */
    bool pieces_are_lines, upper_halves_slip, constants_share_miss, partial_writes, reads_evict_free, stores_evict_free;
    uint8_t line_sectors; /* all of a line */
    uint32_t piece_bytes; /* requests are cut at multiples of this; 0: not at all */
    uint32_t
        pieces; /* of a request, so many places must be free in the input queue before one is taken from the crossbar */
    struct dram *dram;
    struct delay_line to_dram;
    uint32_t last_served; /* slice */
    uint32_t queued;      /* packets in the slices' queues to DRAM */
    uint32_t credits_used,
        credit_limit;                 /* requests between the slices' queues to DRAM and those from it; limit 0: none */
    uint64_t dram_now, dram_core_now; /* of the last partition_run_dram */
    uint64_t reply_stalls, input_stalls;
};

static void delay_init(struct delay_line *d, struct arena *a, uint32_t limit)
{
    uint32_t size = 1;
    while (size < limit)
        size *= 2;
    *d = (struct delay_line){.slots = arena_lines(a, struct delayed, size),
                             .mask = (size < DELAY_WINDOW ? size : DELAY_WINDOW) - 1,
                             .limit = limit};
}

/* All slots of the window are in use: it becomes twice as long. What is in front of the head goes behind the rest. */
static void delay_grow(struct delay_line *d)
{
    uint32_t size = d->mask + 1;
    memcpy(d->slots + size, d->slots, d->head * sizeof *d->slots);
    d->mask = 2 * size - 1;
}

static bool delay_full(const struct delay_line *d) { return d->count >= d->limit; }
static struct delayed *delay_front(const struct delay_line *d) { return &d->slots[d->head]; }
static bool delay_over(const struct delay_line *d, uint64_t core_now)
{
    return d->count && delay_front(d)->ready <= core_now;
}

/* The place behind the last entry; the line is not full. */
static struct delayed *delay_back(struct delay_line *d)
{
    if (d->count > d->mask)
        delay_grow(d);
    return &d->slots[(d->head + d->count) & d->mask];
}

/* An empty line begins at its first slot again: a little used one stays in few cache lines of the host. */
static void delay_pop(struct delay_line *d) { d->head = --d->count ? (d->head + 1) & d->mask : 0; }

static uint64_t index_in_slice(const void *map, uint64_t address) { return address_map_in_slice(map, address); }

static struct cache *create_l2(struct arena *a, const struct cache_config *config, const struct address_map *map)
{
    if (config->sets == 0)
        return NULL;
    struct cache *c = cache_create(
        a, config, config->index == SET_INDEX_MULTIPLIED ? NULL /* of the whole address */ : index_in_slice, map);
    cache_set_writeback(c, PACKET_L2_WRITEBACK,
                        config->miss_queue < L2_MISS_RESERVE ? config->miss_queue : L2_MISS_RESERVE);
    return c;
}

static void create_slice(struct slice *s, struct arena *a, const struct l2_config *l2, const struct address_map *map,
                         uint32_t number)
{
    s->number = number;
    s->at = NEVER;
    delay_init(&s->rop, a, ROP_ENTRIES);
    ring_init(&s->input, a, l2->input_queue);
    ring_init(&s->to_dram, a, l2->dram_queue);
    ring_init(&s->from_dram, a, l2->return_queue);
    ring_init(&s->reply, a, l2->reply_queue);
    s->cache = create_l2(a, &l2->cache, map);
    s->input_sets = arena_array(a, uint32_t, s->input.mask + 1);
}

/* Packets enter the delay in front of DRAM one a DRAM cycle, and leave as fast once it is over: it never holds more
 * than the cycles it lasts. */
static uint32_t delay_entries(const struct mem_config *config)
{
    uint64_t core_khz = config->core_khz ? config->core_khz : 1;
    return (uint32_t)((config->dram.latency_cycles + 1) * (config->dram_khz / core_khz + 1) + 2);
}

struct partition *partition_create(struct arena *a, const struct mem_config *config, const struct address_map *map,
                                   uint32_t channel, struct crossbar *requests, struct crossbar *replies,
                                   const struct partition_hooks *hooks)
{
    const struct l2_config *l2 = &config->l2;
    const struct cache_config *cache = &l2->cache;
    assert(l2->input_queue && l2->dram_queue && l2->return_queue && l2->reply_queue && l2->slices_per_channel <= 64);
    struct partition *p = arena_new(a, struct partition);
    *p = (struct partition){.requests = requests,
                            .replies = replies,
                            .config = config,
                            .map = map,
                            .channel = channel,
                            .head = {.l2_at = NEVER, .dram_at = NEVER, .leaves_delay_at = NEVER},
                            .slice_count = l2->slices_per_channel,
                            .rop_cycles = l2->rop_cycles,
                            .dram_latency_cycles = config->dram.latency_cycles};
    if (hooks)
        p->hooks = *hooks;
    p->cores_per_port = config->cores_per_port ? config->cores_per_port : 1;
    p->pieces = 1;
    if (cache->sets) {
        p->line_bytes = cache->line_bytes;
        p->piece_bytes = cache->sector_bytes ? cache->sector_bytes : cache->line_bytes;
        p->pieces = p->line_bytes / p->piece_bytes;
        p->upper_halves_slip = l2->upper_halves_slip;
        p->partial_writes = cache->partial_writes;
        p->constants_share_miss = l2->constants_share_miss;
        p->reads_evict_free = l2->reads_evict_free;
        p->stores_evict_free = cache->stores_fetch; /* as in GPGPU-Sim 3 */
        p->pieces_are_lines = p->pieces == 1 && p->line_bytes >= SECTOR_BYTES;
        p->line_sectors = (uint8_t)((1u << p->line_bytes / SECTOR_BYTES) - 1);
    }
    if (p->pieces > l2->input_queue)
        p->pieces = l2->input_queue;
    p->credit_limit = config->dram.return_queue ? config->dram.queue + config->dram.return_queue : 0;
    p->slices = arena_array(a, struct slice, p->slice_count);
    p->slices_end = p->slices + p->slice_count;
    for (uint32_t i = 0; i < p->slice_count; i++)
        create_slice(&p->slices[i], a, l2, map, channel * p->slice_count + i);
    p->last_served = p->slice_count - 1;
    p->dram = dram_create(a, &config->dram, map);
    delay_init(&p->to_dram, a, delay_entries(config));
    return p;
}

void partition_set_l2_clock(struct partition *p, const uint64_t *ticks) { p->l2_ticks = ticks; }

/* Something has happened that a slice may rest for. */
static inline void wake_slice(struct partition *p, struct slice *s) { s->at = p->head.l2_at = 0; }

/* Replies: interconnect clock. */

static uint32_t reply_bytes(const struct packet *r)
{
    return packet_is_write(r) ? HEADER_BYTES : HEADER_BYTES + r->bytes;
}

static void send_reply(struct partition *p, struct slice *s, uint64_t icnt_now)
{
    struct packet *r = ring_front(&s->reply);
    uint32_t bytes = reply_bytes(r);
    if (!crossbar_has_room(p->replies, s->number, bytes)) {
        p->reply_stalls++;
        return;
    }
    crossbar_push(p->replies, s->number, r->core / p->cores_per_port, r, bytes, icnt_now);
    if (r->kind == PACKET_ATOMIC && r->mask && p->hooks.on_atomic)
        p->hooks.on_atomic(p->hooks.context, r);
    if (ring_full(&s->reply))
        wake_slice(p, s);
    ring_pop(&s->reply);
    p->head.replies--;
}

void partition_send_replies(struct partition *p, uint64_t icnt_now)
{
    for (struct slice *s = p->slices; s != p->slices_end; s++)
        if (s->reply.count)
            send_reply(p, s, icnt_now);
}

static struct packet *push(struct ring *r, const struct packet *p)
{
    struct packet *place = &r->slots[(r->head + r->count++) & r->mask];
    *place = *p;
    return place;
}

static void queue_reply(struct partition *p, struct slice *s, const struct packet *request)
{
    push(&s->reply, request)->reply = 1;
    p->head.replies++;
}

/* DRAM: its command clock. */

static bool ends_silently(const struct packet *p)
{
    return p->kind == PACKET_L1_WRITEBACK || p->kind == PACKET_L2_WRITEBACK;
}

static struct slice *slice_of(const struct partition *p, const struct packet *r)
{
    return &p->slices[r->slice - p->channel * p->slice_count];
}

static void return_from_dram(struct partition *p)
{
    const struct packet *r = dram_return_front(p->dram);
    struct slice *s = slice_of(p, r);
    if (ring_full(&s->from_dram))
        return;
    ring_push(&s->from_dram, r);
    if (s->cache && !packet_is_write(r))
        cache_expect_fill(s->cache, r->token);
    dram_return_pop(p->dram);
    p->credits_used--;
    wake_slice(p, s);
}

static bool may_go_to_dram(const struct partition *p, const struct slice *s)
{
    return s->to_dram.count && !ring_full(&s->from_dram) && (p->credit_limit == 0 || p->credits_used < p->credit_limit);
}

/* One packet a cycle from the slices, in turn, into the fixed delay. */
static void take_from_slices(struct partition *p, uint64_t core_now)
{
    if (dram_full(p->dram) || delay_full(&p->to_dram))
        return;
    for (uint32_t i = 0, n = p->last_served; i < p->slice_count; i++) {
        n = n + 1 < p->slice_count ? n + 1 : 0;
        struct slice *s = &p->slices[n];
        if (!may_go_to_dram(p, s))
            continue;
        struct delayed *d = delay_back(&p->to_dram);
        d->packet = *ring_front(&s->to_dram);
        d->ready = core_now + p->dram_latency_cycles;
        p->to_dram.count++;
        if (ring_full(&s->to_dram))
            wake_slice(p, s);
        ring_pop(&s->to_dram);
        p->queued--;
        p->credits_used++;
        p->last_served = n;
        return;
    }
}

static void push_to_dram(struct partition *p, uint64_t dram_now, uint64_t core_now)
{
    if (!delay_over(&p->to_dram, core_now) || dram_full(p->dram))
        return;
    const struct packet *r = &delay_front(&p->to_dram)->packet;
    if (ends_silently(r))
        p->credits_used--;
    dram_push(p->dram, r, dram_now);
    delay_pop(&p->to_dram);
}

/* Something that waits for the DRAM's clock can go on in the next command cycle. What waits for room in a queue from
 * DRAM is told when there is some. */
static bool dram_side_moves(struct partition *p)
{
    const struct packet *r = dram_return_front(p->dram);
    if (r && !ring_full(&slice_of(p, r)->from_dram))
        return true;
    if (!p->queued || dram_full(p->dram) || delay_full(&p->to_dram))
        return false;
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (may_go_to_dram(p, &p->slices[i]))
            return true;
    return false;
}

/* Data is taken in the cycle after the one in which it has come: if there is nothing else to do, that one is left
 * out. */
static uint64_t next_dram_cycle(const struct partition *p, uint64_t dram_now)
{
    const struct dram_head *d = dram_look(p->dram);
    uint64_t data_at = d->data_at == NEVER ? NEVER : d->data_at + 1;
    return later(earlier(d->wake_at, data_at), dram_now + 1);
}

void partition_run_dram(struct partition *p, uint64_t dram_now, uint64_t core_now)
{
    p->dram_now = dram_now;
    p->dram_core_now = core_now;
    if (dram_look(p->dram)->data_at < dram_now)
        dram_finish_data(p->dram, dram_now - 1);
    if (dram_look(p->dram)->returns.count)
        return_from_dram(p);
    dram_cycle(p->dram, dram_now);
    if (p->queued)
        take_from_slices(p, core_now);
    if (p->to_dram.count)
        push_to_dram(p, dram_now, core_now);
    p->head.dram_at = dram_side_moves(p) ? dram_now + 1 : next_dram_cycle(p, dram_now);
    p->head.leaves_delay_at = p->to_dram.count && !dram_full(p->dram) ? delay_front(&p->to_dram)->ready : NEVER;
}

/* Requests are cut where they leave the first delay: all pieces of one have been delayed alike. */

static uint64_t sector_start(uint64_t address) { return address & ~(uint64_t)(SECTOR_BYTES - 1); }
static uint64_t last_byte(const struct packet *r) { return r->address + (r->bytes ? r->bytes - 1u : 0); }

/* One line of an L2 without sectors, as most requests are. */
static bool is_whole_line(const struct partition *p, const struct packet *r)
{
    return p->pieces_are_lines && r->bytes == p->line_bytes && !(r->address & (p->line_bytes - 1)) &&
           r->sectors == p->line_sectors && !ends_silently(r);
}

/* The upper half of a line, where the machine has GPGPU-Sim 4's mistake: its sectors, numbered from the line's
 * beginning, are counted from the request's address, which puts them in the next line. Constants are cut apart from the
 * others there, and rightly. */
static bool slips(const struct partition *p, const struct packet *r, uint32_t before, uint32_t touched)
{
    return p->upper_halves_slip && touched > 1 && before * SECTOR_BYTES == p->line_bytes / 2 && r->kind != PACKET_CONST;
}

/* What a request is about. Senders number the sectors of their own lines, which may be shorter or longer than the L2's,
 * and may leave out some: an L1 that asks for sectors that do not lie side by side names the address of the first, a
 * write-back that of its line, an access that of its segment. */
static void name_sectors(const struct partition *p, struct delayed *d)
{
    const struct packet *r = &d->packet;
    if (is_whole_line(p, r)) {
        d->sectors = d->packet.sectors = p->line_sectors;
        d->whole = true;
        return;
    }
    uint64_t first = sector_start(r->address);
    uint32_t touched = (uint32_t)((sector_start(last_byte(r)) - first) / SECTOR_BYTES) + 1;
    uint32_t before = p->line_bytes ? (uint32_t)(first & (p->line_bytes - 1)) / SECTOR_BYTES : 0;
    uint32_t in_line = ((1u << touched) - 1) << before;
    d->sectors = r->sectors ? r->sectors : in_line;
    bool from_first = r->sectors && ends_silently(r);
    d->whole = p->piece_bytes == 0 || (d->sectors == in_line && r->bytes && !from_first &&
                                       ((r->address ^ last_byte(r)) & -(uint64_t)p->piece_bytes) == 0);
    if (d->whole) {
        d->packet.sectors = (uint8_t)(p->piece_bytes ? in_line : r->sectors);
        return;
    }
    if (from_first)
        d->base = first;
    else if ((d->sectors & ~in_line) == 0)
        d->base = first - before * SECTOR_BYTES + (slips(p, r, before, touched) ? p->line_bytes : 0);
    else
        d->base = first - (uint32_t)__builtin_ctz(d->sectors) * SECTOR_BYTES;
}

static uint64_t sector_address(const struct delayed *d, uint32_t n) { return d->base + (uint64_t)n * SECTOR_BYTES; }

static uint64_t first_sector(const struct delayed *d) { return sector_address(d, (uint32_t)__builtin_ctz(d->sectors)); }
static uint64_t last_sector(const struct delayed *d)
{
    return sector_address(d, 31u - (uint32_t)__builtin_clz(d->sectors));
}

/* Of a store, which tells what it writes in 32nd parts of its bytes: what it writes of a sector, byte by byte. */
static uint32_t bytes_of_sector(const struct packet *r, uint32_t sector)
{
    uint32_t part_bytes = r->bytes / 32u, parts = SECTOR_BYTES / (part_bytes ? part_bytes : 1),
             first = r->sectors ? (uint32_t)__builtin_ctz(r->sectors) : 0, bytes = 0;
    uint32_t written = r->mask >> ((sector - first) * parts & 31);
    for (uint32_t i = 0; i < parts && part_bytes < 32; i++)
        if (written >> i & 1)
            bytes |= ((1u << part_bytes) - 1) << i * part_bytes;
    return bytes;
}

/* The next piece of a request: the first sector left or, where lines are not sectored, all those left of its line. */
static struct packet cut_piece(const struct partition *p, struct delayed *d)
{
    struct packet piece = d->packet;
    uint64_t start = first_sector(d), limit = (start & ~(uint64_t)(p->piece_bytes - 1)) + p->piece_bytes,
             end = last_sector(d);
    uint32_t names = d->sectors;
    if (end >= limit) { /* else it is all of the request */
        names &= ~(~0u << (limit - d->base) / SECTOR_BYTES);
        end = sector_address(d, 31u - (uint32_t)__builtin_clz(names));
    }
    d->sectors &= ~names;
    end += SECTOR_BYTES;
    uint64_t request_end = last_byte(&d->packet) + 1;
    if (start < d->packet.address && d->packet.address < end)
        start = d->packet.address;
    if (end - SECTOR_BYTES < request_end && request_end < end)
        end = request_end;
    piece.sectors = (uint8_t)names;
    piece.address = start;
    piece.bytes = (uint16_t)(end - start);
    if (p->constants_share_miss && piece.kind == PACKET_CONST && d->sectors == 0) /* the last of two */
        piece.twin = 1;
    if (p->partial_writes && packet_is_write(&piece))
        piece.mask = bytes_of_sector(&d->packet, (uint32_t)__builtin_ctz(names));
    else
        d->packet.mask = 0; /* an atomic takes effect once, with its first piece */
    return piece;
}

static bool is_one_piece(const struct partition *p, const struct delayed *d)
{
    return d->whole || last_sector(d) / p->piece_bytes == first_sector(d) / p->piece_bytes;
}

/* L2 slices: their clock. The steps stand in the order in which a cycle takes them. */

static inline void push_input(struct slice *s, const struct packet *piece)
{
    if (s->cache)
        s->input_sets[(s->input.head + s->input.count) & s->input.mask] = cache_expect(s->cache, piece->address);
    ring_push(&s->input, piece);
}

static void push_piece(const struct partition *p, struct slice *s, struct delayed *d)
{
    if (d->whole) {
        push_input(s, &d->packet);
        d->sectors = 0;
        return;
    }
    struct packet piece = cut_piece(p, d);
    push_input(s, &piece);
}

static bool has_room(const struct partition *p, const struct slice *s)
{
    return ring_room(&s->input) >= p->pieces && !delay_full(&s->rop);
}

static void take_request(struct partition *p, struct slice *s, uint64_t core_now)
{
    if (!has_room(p, s)) {
        p->input_stalls++;
        return;
    }
    const struct packet *r = crossbar_first(p->requests, s->number);
    struct delayed *d = delay_back(&s->rop);
    d->packet = *r;
    d->ready = core_now + p->rop_cycles;
    d->packet.slice = (uint8_t)s->number;
    name_sectors(p, d);
    if (r->kind == PACKET_TEXTURE && is_one_piece(p, d))
        push_piece(p, s, d);
    else
        s->rop.count++;
    crossbar_pop(p->requests, s->number);
}

static void answer_ready(struct partition *p, struct slice *s)
{
    if (ring_full(&s->reply))
        return;
    const struct packet *r = cache_ready_front(s->cache);
    if (r->kind != PACKET_L2_FETCH)
        queue_reply(p, s, r);
    cache_ready_pop(s->cache);
}

static void pop_return(struct partition *p, struct slice *s)
{
    if (ring_full(&s->from_dram))
        p->head.dram_at = 0; /* what DRAM has, or may be sent, may have waited for the place */
    ring_pop(&s->from_dram);
}

static void take_return(struct partition *p, struct slice *s, uint64_t l2_now)
{
    const struct packet *r = ring_front(&s->from_dram);
    if (s->cache && !packet_is_write(r)) {
        if (!cache_fill_port_free(s->cache, l2_now))
            return;
        invariant(cache_waits_for(s->cache, r->token));
        cache_fill(s->cache, r, l2_now);
        cache_use_fill_port(s->cache, p->piece_bytes, l2_now);
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
        p->head.dram_at = 0;
    p->queued++;
    push(&s->to_dram, r)->slice = (uint8_t)s->number;
}

static void send_miss(struct partition *p, struct slice *s)
{
    if (ring_full(&s->to_dram))
        return;
    queue_to_dram(p, s, cache_miss_front(s->cache));
    cache_miss_pop(s->cache);
}

static void access_cache(struct partition *p, struct slice *s, uint64_t l2_now)
{
    if (ring_full(&s->reply) || !cache_port_free(s->cache, l2_now) || (s->failed && cache_fails_again(s->cache)))
        return;
    const struct packet *r = ring_front(&s->input);
    struct cache_result result = {0};
    enum cache_outcome outcome = cache_access_expected(s->cache, r, s->input_sets[s->input.head], &result);
    s->failed = outcome == CACHE_FAIL;
    if (s->failed)
        return;
    uint32_t port_bytes = outcome == CACHE_HIT                                                ? r->bytes
                          : (packet_is_write(r) ? p->stores_evict_free : p->reads_evict_free) ? 0
                                                                                              : result.writeback_bytes;
    if (port_bytes)
        cache_use_port(s->cache, port_bytes, l2_now);
    bool done = outcome == CACHE_HIT || packet_is_write(r); /* reads that miss are answered when their data has come */
    if (done && !result.sends_write && !ends_silently(r))
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

static void leave_delay(const struct partition *p, struct slice *s, uint64_t core_now)
{
    if (!delay_over(&s->rop, core_now) || ring_full(&s->input))
        return;
    struct delayed *d = delay_front(&s->rop);
    push_piece(p, s, d);
    if (d->sectors == 0)
        delay_pop(&s->rop);
}

/* What a slice would do in its next tick if nothing came from elsewhere. What it waits for is told by wake_slice, but
 * for a request at the crossbar. */

/* What cache_fails_again counts. */
static void cache_failed_again(struct cache *c, uint32_t times) { ((struct cache_head *)c)->repeats += times; }

static bool input_moves(struct slice *s, uint64_t l2_now)
{
    if (ring_full(&s->to_dram) || (s->cache && ring_full(&s->reply)))
        return false;
    if (s->cache == NULL || !s->failed || !cache_head(s->cache)->blocked || !cache_port_free(s->cache, l2_now + 1))
        return true;
    s->fails = 1;
    return false;
}

static bool moves(const struct partition *p, struct slice *s, uint64_t l2_now)
{
    bool reply_room = !ring_full(&s->reply);
    if (s->cache &&
        ((cache_has_miss(s->cache) && !ring_full(&s->to_dram)) || (cache_has_ready(s->cache) && reply_room)))
        return true;
    bool waits = crossbar_waits_at(p->requests, s->number);
    if (waits && has_room(p, s))
        return true;
    if (s->from_dram.count && (reply_room || (s->cache && !packet_is_write(ring_front(&s->from_dram)))))
        return true;
    if (s->input.count && input_moves(s, l2_now))
        return true;
    s->refuses = waits;
    return p->l2_ticks == NULL && (s->fails | s->refuses);
}

/* Counts the ticks up to this one in which the slice rested. */
static void settle(struct partition *p, struct slice *s, uint64_t tick)
{
    uint64_t ticks = tick - s->ran;
    if (s->fails)
        cache_failed_again(s->cache, (uint32_t)ticks);
    if (s->refuses)
        p->input_stalls += ticks;
    s->ran = tick;
}

static void run_slice(struct partition *p, struct slice *s, uint64_t l2_now, uint64_t core_now)
{
    if (s->fails | s->refuses) {
        settle(p, s, l2_now - 1);
        s->fails = s->refuses = 0;
    }
    if (crossbar_waits_at(p->requests, s->number))
        take_request(p, s, core_now);
    if (s->cache && cache_has_ready(s->cache))
        answer_ready(p, s);
    if (s->from_dram.count)
        take_return(p, s, l2_now);
    if (s->cache && cache_has_miss(s->cache))
        send_miss(p, s);
    if (s->input.count)
        take_input(p, s, l2_now);
    if (s->rop.count)
        leave_delay(p, s, core_now);
    s->ran = l2_now;
    if (moves(p, s, l2_now))
        s->at = 0;
    else
        s->at = s->rop.count && !ring_full(&s->input) ? delay_front(&s->rop)->ready : NEVER;
}

void partition_l2_cycle(struct partition *p, uint64_t l2_now, uint64_t core_now)
{
    uint64_t at = NEVER, refusing = 0, bit = 1;
    for (struct slice *s = p->slices; s != p->slices_end; s++, bit <<= 1) {
        if (s->at <= core_now || (!s->refuses && crossbar_waits_at(p->requests, s->number)))
            run_slice(p, s, l2_now, core_now);
        at = earlier(at, s->at);
        refusing |= s->refuses ? bit : 0;
    }
    p->head.l2_at = at;
    p->head.refusing = refusing;
}

/* Sleep. */

/* From command cycles to core cycles, rounded down, and one less, as the two clocks need not be in step. */
static uint64_t dram_event(const struct partition *p)
{
    uint64_t event = p->head.dram_at;
    if (event == NEVER || event <= p->dram_now)
        return event;
    uint64_t cycles = p->config->dram_khz ? (event - p->dram_now) * p->config->core_khz / p->config->dram_khz : 0;
    return p->dram_core_now + (cycles ? cycles - 1 : 0);
}

uint64_t partition_next_event(const struct partition *p, uint64_t core_now)
{
    uint64_t event = earlier(p->head.l2_at, p->head.leaves_delay_at);
    if (p->head.replies || event <= core_now + 2)
        return core_now + 1;
    if (event != NEVER)
        event--; /* the other clocks may tick between this core cycle and the one before */
    return later(earlier(event, dram_event(p)), core_now + 1);
}

static bool slice_idle(const struct slice *s)
{
    return (s->rop.count | s->input.count | s->to_dram.count | s->from_dram.count | s->reply.count) == 0 &&
           (s->cache == NULL || cache_idle(s->cache));
}

bool partition_idle(const struct partition *p)
{
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (!slice_idle(&p->slices[i]))
            return false;
    return p->to_dram.count == 0 && dram_idle(p->dram);
}

/* Data from the host. */

void partition_touch(struct partition *p, uint64_t address, uint64_t now)
{
    uint32_t slice = address_map_slice(p->map, address) - p->channel * p->slice_count;
    assert(slice < p->slice_count);
    if (p->slices[slice].cache)
        cache_touch(p->slices[slice].cache, address, now);
    if (p->slices[slice].fails)
        wake_slice(p, &p->slices[slice]);
}

void partition_flush(struct partition *p)
{
    for (uint32_t i = 0; i < p->slice_count; i++) {
        if (p->slices[i].cache)
            cache_empty(p->slices[i].cache);
        if (p->slices[i].fails)
            wake_slice(p, &p->slices[i]);
    }
}

/* Counters and text. */

static void add_counts(void *sum, const void *counts, size_t size_bytes)
{
    uint64_t *to = sum;
    const uint64_t *from = counts;
    for (size_t i = 0; i < size_bytes / sizeof(uint64_t); i++)
        to[i] += from[i];
}

void partition_read_counters(struct partition *p, struct partition_counters *sum)
{
    for (uint32_t i = 0; i < p->slice_count; i++) {
        struct slice *s = &p->slices[i];
        if (p->l2_ticks && (s->fails | s->refuses))
            settle(p, s, *p->l2_ticks - 1);
        if (s->cache)
            add_counts(&sum->l2, cache_counters(s->cache), sizeof(sum->l2));
    }
    add_counts(&sum->dram, dram_counters(p->dram), sizeof(sum->dram));
    sum->reply_stalls += p->reply_stalls;
    sum->input_stalls += p->input_stalls;
}

struct text {
    char *out;
    uint32_t size, used;
};

static void print(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(struct text *t, const char *format, ...)
{
    if (t->used >= t->size)
        return;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(t->out + t->used, t->size - t->used, format, args);
    va_end(args);
    t->used = length < 0 ? t->size : t->used + (uint32_t)length;
}

static void describe_queue(struct text *t, const char *name, const struct ring *r)
{
    if (r->count)
        print(t, ", %u of %u %s%s", r->count, r->limit, name, ring_full(r) ? " (full)" : "");
}

static void describe_slice(struct text *t, const struct slice *s)
{
    print(t, "L2 slice %u:", s->number);
    if (s->rop.count)
        print(t, " %u requests in the delay from the crossbar, the first until core cycle %llu", s->rop.count,
              (unsigned long long)delay_front(&s->rop)->ready);
    else
        print(t, " no request in the delay from the crossbar");
    describe_queue(t, "wait for the L2", &s->input);
    describe_queue(t, "on the way to DRAM", &s->to_dram);
    describe_queue(t, "back from DRAM", &s->from_dram);
    describe_queue(t, "replies wait for the crossbar", &s->reply);
    if (s->cache)
        print(t, ", %u misses outstanding", cache_outstanding(s->cache));
    print(t, "\n");
}

void partition_describe(const struct partition *p, char *out, uint32_t out_bytes)
{
    struct text t = {.out = out, .size = out_bytes};
    if (out_bytes)
        out[0] = '\0';
    print(&t, "memory channel %u%s\n", p->channel, partition_idle(p) ? ": empty" : "");
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (!slice_idle(&p->slices[i]))
            describe_slice(&t, &p->slices[i]);
    if (p->to_dram.count)
        print(&t, "%u requests in the delay in front of DRAM, the first until core cycle %llu\n", p->to_dram.count,
              (unsigned long long)delay_front(&p->to_dram)->ready);
    if (!dram_idle(p->dram) && t.used < t.size)
        dram_describe(p->dram, t.out + t.used, t.size - t.used);
}
