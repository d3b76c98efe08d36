/* The load/store unit, after GPGPU-Sim's. It has one instruction at work, whose accesses go one per cycle into the
 * L1D (constant cache, texture cache, interconnect). It has a pipeline for shared memory, takes answers from the
 * interconnect, and writes the registers of one instruction per cycle. Its clients take turns at that writeback:
 * shared memory, texture cache, constant cache, answers past the L1, L1D.
 *
 * On machines whose unit takes several steps in a cycle (lsu.steps), a sentence about a cycle is true of a step, but
 * times are in cycles, and one instruction per cycle enters.
 *
 * Textures are in lsu_texture.c where the machine has a queue of fragments; elsewhere hits take their turn at
 * writeback as if they came from memory. */
#include "base/numbers.h"
#include "sm/core.h"

enum { READ_BYTES = 8, WRITE_HEADER_BYTES = 8, LONGEST_ACCESS = 128, CLIENT_PAST_L1 = 3, CLIENT_L1D, CLIENTS };

/* Parts of a step. The compiler makes four copies of it: for the last step of a cycle and for the others, each with
 * and without `l1d_only`, which is a constant there. It means that the instruction at work accesses the L1D alone,
 * and that only the L1D has results. A core that waits for memory is mostly in that case, in which most of a step is
 * known to do nothing. */
#define STEP static inline __attribute__((always_inline))

/* Places of a ring. */
static inline uint32_t place_after(uint32_t place, uint32_t capacity) { return place + 1 == capacity ? 0 : place + 1; }
static inline uint32_t place_at_end(uint32_t head, uint32_t count, uint32_t capacity)
{
    uint32_t place = head + count;
    return place >= capacity ? place - capacity : place;
}

/* Accesses that the L1D takes in a cycle. */
static inline uint32_t l1d_banks(const struct sm_config *g) { return g->l1d.banks ? g->l1d.banks : 1; }

void lsu_init(struct sm_lsu *l, struct arena *a, const struct sm_config *g)
{
    l->dispatch = l->next_wb = l->next_global = SM_NONE;
    l->refusal = -1;
    l->enters_after_collectors = g->enters_lsu_at_once;
    l->precedes = g->lsu_steps > 1 || g->l1d_latency_behind;
    ring_init(&l->responses, a, g->lsu_response_queue ? g->lsu_response_queue : 2);
    l->l1d = cache_create(a, &g->l1d, NULL, NULL);
    l->l1c = cache_create(a, &g->l1c, NULL, NULL);
    l->l1t = cache_create(a, &g->l1t, NULL, NULL);
    l->d = cache_head_or_none(l->l1d);
    l->constants = cache_head_or_none(l->l1c);
    l->textures = cache_head_or_none(l->l1t);
    /* A read may need two places: one for the line that it evicts. */
    if (l->l1d)
        cache_set_writeback(l->l1d, PACKET_L1_WRITEBACK, 2);
    l->counts_sectors = g->l1d.sector_bytes != 0;
    l->exact_sectors = g->exact_sectors;
    /* The accesses that may enter in the cycles of a look-up. */
    uint32_t under_way = g->l1d.latency_cycles * l1d_banks(g) * g->lsu_steps;
    if (g->l1d_latency_behind)
        l->hits.capacity = under_way;
    else
        l->l1_capacity = under_way;
    l->hits.list = arena_array(a, struct sm_instruction_delay, l->hits.capacity + 1);
    l->l1_pipe = arena_array(a, struct sm_delay, l->l1_capacity + 1);
    l->shared_capacity = (g->shared_latency ? g->shared_latency : 1) + 32 * g->shared_conflict_latency +
                         (g->uniform_atomics_once ? UINT8_MAX : 0);
    l->shared_pipe = arena_array(a, struct sm_instruction_delay, l->shared_capacity);
    if (l->l1t && g->texture_results)
        l->fragments = arena_array(a, struct sm_fragment, g->l1t.mshr_entries);
    uint32_t lists = g->mem_issue_width * 2 + g->mem_collectors + 4;
    l->free_access_count = lists < SM_ACCESS_LISTS ? lists : SM_ACCESS_LISTS;
    l->access_pool = arena_array(a, struct sm_accesses, l->free_access_count);
    for (uint32_t i = 0; i < l->free_access_count; i++)
        l->free_accesses[i] = (uint16_t)i;
}

/* Writeback */

/* An answer for the instruction has come; its registers are free when all have. */
static inline void answered(struct sm *c, uint16_t id)
{
    struct sm_inflight *f = &c->flights.list[id];
    if (--f->remaining)
        return;
    if (f->in_lsu)
        return; /* still sending accesses: the end comes when it leaves the unit */
    if (c->observer && c->observer->load_end && f->inst->wait == WAIT_LONG)
        c->observer->load_end(c->observer->context, c->head.id, f->slot, c->now, f->pc);
    if (!c->flights.free_count) /* issue may take an entry again */
        due_now(&c->due, PART_ISSUE);
    sm_finish(c, id);
}

/* A load has found its data in the L1D or the constant cache. */
static inline void hit(struct sm *c, uint16_t id)
{
    struct sm_hits *h = &c->lsu.hits;
    if (!c->lsu.precedes || !h->capacity) {
        answered(c, id);
        return;
    }
    h->list[place_at_end(h->head, h->count++, h->capacity)] =
        (struct sm_instruction_delay){.ready = c->now + c->config->l1d.latency_cycles, .id = id};
}

void sm_lsu_finish_hits(struct sm *c)
{
    struct sm_hits *h = &c->lsu.hits;
    while (h->count && h->list[h->head].ready <= c->now) {
        answered(c, h->list[h->head].id);
        h->head = place_after(h->head, h->capacity);
        h->count--;
    }
}

static bool write_registers(struct sm *c, struct sm_inflight *f)
{
    uint32_t count = f->inst->destination_count;
    const uint8_t *banks = f->inst->banks + f->inst->check_count - count;
    for (uint32_t i = f->written; i < count; i++)
        if (!collector_write_bank(c->pipes.collector, sm_bank(&c->pipes, banks[i], f->slot))) {
            f->written = (uint8_t)i;
            return false;
        }
    f->written = 0;
    return true;
}

static uint16_t take_ready(struct cache *cache)
{
    struct packet *p = cache_ready_front(cache);
    uint16_t id = (uint16_t)p->token;
    cache_ready_pop(cache);
    return id;
}

/* The clients that have a result to write: one bit per client. */
static inline uint32_t clients_with_results(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    return (uint32_t)(l->shared_count && l->shared_pipe[l->shared_head].ready <= c->now) |
           (uint32_t)((l->texture_count | c->lsu.textures->ready_requests) != 0) << 1 |
           (uint32_t)(c->lsu.constants->ready_requests != 0) << 2 | (uint32_t)(l->next_global != SM_NONE) << 3 |
           (uint32_t)(c->lsu.d->ready_requests != 0) << CLIENT_L1D;
}

/* The warp goes on when all parts of its atomic have come back. */
static void answer_atomic(struct sm *c, uint32_t slot)
{
    if (--c->slots[slot].atomics == 0)
        warp_unblock(c, &c->issue.atomic_wait, slot);
}

static inline uint16_t take_from_client(struct sm *c, uint32_t client)
{
    struct sm_lsu *l = &c->lsu;
    uint16_t id;
    switch (client) {
    case 0:
        id = l->shared_pipe[l->shared_head].id;
        l->shared_head = place_after(l->shared_head, l->shared_capacity);
        l->shared_count--;
        if (c->flights.list[id].atomic)
            answer_atomic(c, c->flights.list[id].slot);
        return id;
    case 1:
        if (!l->texture_count) {
            l->read_only_waits--;
            return take_ready(c->lsu.l1t);
        }
        id = l->texture_hits[l->texture_head];
        l->texture_head = (l->texture_head + 1) % SM_TEXTURE_HITS;
        l->texture_count--;
        return id;
    case 2: l->read_only_waits--; return take_ready(c->lsu.l1c);
    case 3:
        id = l->next_global;
        l->next_global = SM_NONE;
        if (c->flights.list[id].atomic)
            answer_atomic(c, c->flights.list[id].slot);
        return id;
    default:
        l->blocked = false; /* an entry may be free again */
        return take_ready(c->lsu.l1d);
    }
}

/* The first client from `turn` on; if there is none, the first of all. */
static inline uint32_t first_in_turn(uint32_t clients, uint32_t turn)
{
    uint32_t from_turn = clients >> turn << turn;
    return (uint32_t)__builtin_ctz(from_turn ? from_turn : clients);
}

STEP void writeback(struct sm *c, bool l1d_only)
{
    struct sm_lsu *l = &c->lsu;
    if (l->next_wb != SM_NONE) {
        if (!write_registers(c, &c->flights.list[l->next_wb]))
            return;
        answered(c, l->next_wb);
        l->next_wb = SM_NONE;
    }
    bool others = !l1d_only && ((l->shared_count | l->texture_count | l->read_only_waits) || l->next_global != SM_NONE);
    uint32_t clients = others ? clients_with_results(c) : (uint32_t)(l->d->ready_requests != 0) << CLIENT_L1D;
    if (!clients)
        return;
    uint32_t client = CLIENT_L1D;
    if (!l1d_only)
        client = first_in_turn(clients, l->wb_turn);
    l->next_wb = take_from_client(c, client);
    l->wb_turn = place_after(client, CLIENTS);
}

/* Answers */

static void acknowledge_store(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    s->stores--;
    if (c->issue.ended >> slot & 1)
        sm_try_retire(c, slot);
    else
        sm_try_fence(c, slot);
}

static inline void fill_l1d(struct sm *c, const struct packet *answer)
{
    c->net.stops |= c->net.merged;
    if (c->host.hears_fills)
        sm_l1_fill_and_tell(c, answer);
    else
        cache_fill(c->lsu.l1d, answer, c->now);
}

static struct cache *cache_of(const struct sm_lsu *l, uint8_t origin)
{
    switch (origin) {
    case ORIGIN_L1D: return l->l1d;
    case ORIGIN_L1C: return l->l1c;
    default: return l->l1t;
    }
}

STEP void take_response(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    struct packet *p = ring_front(&l->responses);
    if (p->origin == ORIGIN_LSU && !packet_is_write(p)) {
        if (l->next_global != SM_NONE)
            return;
        l->next_global = (uint16_t)p->token;
    } else if (packet_is_write(p)) {
        acknowledge_store(c, p->warp);
    } else if (p->origin == ORIGIN_L1T && l->fragments) {
        sm_texture_answer(c, p);
    } else {
        if (p->origin == ORIGIN_L1D)
            fill_l1d(c, p);
        else
            cache_fill(cache_of(l, p->origin), p, c->now);
        /* An access that waits for an entry stays blocked. One that waits for a place in the queue may be for the
         * line that has come. */
        l->blocked &= l->refusal == CACHE_FAIL_MSHR;
    }
    ring_pop(&l->responses);
}

/* To the interconnect */

/* The bytes of a store that names its sectors and the bytes that it writes: the sectors alone, and a header with a
 * mask where one of them is written in part. */
static uint32_t exact_store_bytes(const struct packet *p)
{
    uint32_t data = packet_sectors(p->sectors) * SECTOR_BYTES;
    if (packet_writes_all(p))
        return data;
    return WRITE_HEADER_BYTES + data;
}

static inline uint32_t packet_bytes(const struct sm *c, const struct packet *p)
{
    bool names_sectors = c->lsu.exact_sectors && c->lsu.tells_written && p->sectors;
    if (!packet_is_write(p) && p->kind != PACKET_ATOMIC)
        return READ_BYTES;
    if (names_sectors && p->kind == PACKET_STORE)
        return exact_store_bytes(p);
    if (names_sectors && p->kind == PACKET_ATOMIC)
        return packet_sectors(p->sectors) * SECTOR_BYTES;
    return WRITE_HEADER_BYTES + p->bytes;
}

/* When a packet finds no room, the core's owner runs the core again as soon as there is some. */
static inline bool has_network_room(struct sm *c, enum sm_origin origin, uint32_t bytes)
{
    if (core_link_has_room(&c->net, c->head.port, bytes, c->now))
        return true;
    c->lsu.no_room |= (uint8_t)(1u << origin);
    if (!*c->net.blocked_bytes || bytes < *c->net.blocked_bytes)
        *c->net.blocked_bytes = bytes;
    return false;
}

void sm_send_misses(struct sm *c, struct cache *cache, enum sm_origin origin)
{
    struct packet *p = cache_miss_front(cache);
    uint32_t bytes = packet_bytes(c, p);
    if (!has_network_room(c, origin, bytes))
        return;
    p->origin = (uint8_t)origin;
    p->core = (uint16_t)c->head.id;
    p->slice = core_link_slice(&c->net, p->address);
    core_link_push(&c->net, c->head.port, p, bytes, c->now);
    cache_miss_pop(cache);
    if (origin == ORIGIN_L1D && c->lsu.refusal == CACHE_FAIL_QUEUE)
        c->lsu.blocked = false;
}

/* Counts one packet of each cache (of instructions too), and for an instruction that goes past the caches one, and
 * the look whether the next one has room. */
__attribute__((noinline)) uint32_t sm_lsu_may_send(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    uint32_t reads = 1;
    if (l->read_only_waits)
        reads += 2;
    if (l->fragment_count)
        reads++;
    uint32_t flits = reads * network_flits(c->net.requests, READ_BYTES);
    if (l->d->misses.count)
        flits += network_flits(c->net.requests, packet_bytes(c, cache_miss_front(l->l1d)));
    /* A fill may send the line that it evicts. */
    else if (c->config->l1d.allocate == ALLOCATE_ON_FILL && l->responses.count)
        flits += network_flits(c->net.requests, WRITE_HEADER_BYTES + c->config->l1d.line_bytes);
    if (l->dispatch != SM_NONE) {
        const struct sm_inflight *f = &c->flights.list[l->dispatch];
        uint32_t bytes = READ_BYTES;
        if (f->store || f->atomic)
            bytes = WRITE_HEADER_BYTES + LONGEST_ACCESS;
        if (f->route == ROUTE_PAST)
            flits += 2 * network_flits(c->net.requests, bytes);
    }
    return flits;
}

/* L1D. An access that is refused is blocked until something changes: the cache is not asked meanwhile, and the
 * refusals of these steps are counted together. */

/* The number of the step at hand, from the machine's start. */
static inline uint64_t step_number(const struct sm *c) { return c->now * c->config->lsu_steps + c->lsu.step; }

static void count_refusals(struct sm *c, uint64_t step)
{
    struct sm_lsu *l = &c->lsu;
    if (l->refusal >= 0)
        c->account.counters.l1d.fails[l->refusal] += step - l->refused_until;
    l->refused_until = step;
}

void sm_lsu_count_refusals(struct sm *c, uint64_t now)
{
    if (c->lsu.refusal >= 0)
        count_refusals(c, now * c->config->lsu_steps);
}

void lsu_try_again(struct sm *c)
{
    c->lsu.blocked = false;
    due_now(&c->due, PART_LSU);
}

/* Returns whether the access was taken. */
static inline bool access_l1d(struct sm *c, const struct packet *p)
{
    struct cache_result r;
    if (c->lsu.blocked)
        return false;
    if (c->lsu.refusal >= 0)
        count_refusals(c, step_number(c));
    r.evicted = false;
    enum cache_outcome outcome = cache_access(c->lsu.l1d, p, c->warps[p->warp].age, c->now, &r);
    if (c->host.hears_l1)
        sm_l1_tell_access(c, p, outcome, &r);
    if (outcome == CACHE_FAIL) {
        c->lsu.refusal = (int)r.fail;
        c->lsu.blocked = true;
        c->lsu.refused_until = step_number(c) + 1;
        return false;
    }
    c->lsu.refusal = -1;
    if (unlikely(c->issue.loading) && outcome == CACHE_PENDING)
        c->net.merged |= c->flights.list[p->token].kept;
    if (c->lsu.counts_sectors && p->kind == PACKET_LOAD)
        c->account.counters.load_sector_hits += packet_sectors(outcome == CACHE_MISS ? r.present : p->sectors);
    if (packet_is_write(p)) {
        if (!r.sends_write) /* the cache has taken it: all its answers come at once */
            for (uint32_t n = core_link_answers(&c->net, p); n; n--)
                acknowledge_store(c, p->warp);
    } else if (outcome == CACHE_HIT) {
        hit(c, (uint16_t)p->token);
    }
    return true;
}

STEP void l1_pipe_cycle(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    uint32_t banks = l1d_banks(c->config);
    for (uint32_t i = 0; i < banks && l->l1_count && l->l1_pipe[l->l1_head].ready <= c->now; i++) {
        if (!access_l1d(c, &l->l1_pipe[l->l1_head].packet))
            return;
        l->l1_head = place_after(l->l1_head, l->l1_capacity);
        l->l1_count--;
    }
}

/* Accesses of the instruction at work */

STEP struct packet *make_packet(struct sm_lsu *l, const struct sm_inflight *f, const struct sm_accesses *all,
                                bool l1d_only)
{
    struct packet *p = &l->access;
    const struct access *a = &all->list[f->next_access];
    p->address = a->address;
    p->bytes = a->bytes;
    p->mask = a->mask;
    if (!l1d_only && f->texture && !f->store)
        p->mask = 0;
    p->sectors = sm_sectors(l, f, a);
    p->left = (uint8_t)(all->count - 1 - f->next_access);
    return p;
}

static void expect_store_answers(struct sm *c, const struct packet *p)
{
    if (packet_is_write(p))
        c->slots[p->warp].stores += core_link_answers(&c->net, p);
}

static bool send_past_l1(struct sm *c, struct packet *p)
{
    uint32_t bytes = packet_bytes(c, p);
    if (!has_network_room(c, ORIGIN_LSU, bytes))
        return false;
    p->slice = core_link_slice(&c->net, p->address);
    expect_store_answers(c, p);
    if (c->config->atomics_drop_l1 && p->kind == PACKET_ATOMIC && c->lsu.l1d)
        cache_forget(c->lsu.l1d, p->address & ~(uint64_t)(c->config->l1d.line_bytes - 1), c->config->l1d.line_bytes);
    core_link_push(&c->net, c->head.port, p, bytes, c->now);
    if (!packet_is_write(p) && p->kind != PACKET_ATOMIC) /* each of its pieces is answered */
        c->flights.list[p->token].remaining += core_link_answers(&c->net, p) - 1;
    return true;
}

STEP bool enter_l1_pipe(struct sm *c, const struct packet *p, bool l1d_only)
{
    struct sm_lsu *l = &c->lsu;
    if (l1d_only || !l->l1_capacity) {
        expect_store_answers(c, p);
        if (access_l1d(c, p))
            return true;
        if (packet_is_write(p)) /* it was not taken, so no answer is expected */
            c->slots[p->warp].stores -= core_link_answers(&c->net, p);
        return false;
    }
    if (l->l1_count == l->l1_capacity)
        return false;
    uint32_t at = place_at_end(l->l1_head, l->l1_count, l->l1_capacity);
    l->l1_pipe[at] = (struct sm_delay){.ready = c->now + c->config->l1d.latency_cycles, .packet = *p};
    l->l1_count++;
    expect_store_answers(c, p);
    return true;
}

/* Accesses the constant or texture cache. A hit in the constant cache is answered as one in the L1D, a hit in the
 * texture cache in its turn. */
static bool access_read_only(struct sm *c, struct cache *cache, const struct packet *p)
{
    struct sm_lsu *l = &c->lsu;
    struct cache_result r;
    if (!cache) {
        struct packet past = *p;
        return send_past_l1(c, &past);
    }
    if (p->kind == PACKET_TEXTURE && l->fragments)
        return sm_texture_access(c, p);
    if (p->kind == PACKET_TEXTURE && l->texture_count == SM_TEXTURE_HITS)
        return false;
    enum cache_outcome outcome = cache_access(cache, p, c->warps[p->warp].age, c->now, &r);
    if (outcome == CACHE_FAIL)
        return false;
    if (outcome != CACHE_HIT) {
        l->read_only_waits++;
        return true;
    }
    if (p->kind == PACKET_TEXTURE)
        l->texture_hits[(l->texture_head + l->texture_count++) % SM_TEXTURE_HITS] = (uint16_t)p->token;
    else
        hit(c, (uint16_t)p->token);
    return true;
}

static bool send_access(struct sm *c, const struct sm_inflight *f, struct packet *p)
{
    switch (f->route) {
    case ROUTE_L1D: return enter_l1_pipe(c, p, false);
    case ROUTE_CONSTANTS: return access_read_only(c, c->lsu.l1c, p);
    case ROUTE_TEXTURES: return access_read_only(c, c->lsu.l1t, p);
    default: return send_past_l1(c, p);
    }
}

/* Cycles until the next access of an atomic may leave. */
static uint32_t atomic_cycles(const struct sm_config *g, const struct packet *p)
{
    uint32_t sectors = packet_sectors(p->sectors);
    if (!g->atomic_sector_cycles)
        return 0;
    return g->atomic_sector_cycles * sectors + (sectors > 1);
}

/* Sends the accesses that fit in a cycle. Returns whether all are on their way. */
STEP bool send_accesses(struct sm *c, uint16_t id, bool l1d_only)
{
    struct sm_inflight *f = &c->flights.list[id];
    const struct sm_accesses *a = &c->lsu.access_pool[f->accesses];
    uint32_t most = 1;
    if (!l1d_only && f->route == ROUTE_L1D)
        most = l1d_banks(c->config);
    for (uint32_t n = 0; n < most && f->next_access < a->count; n++) {
        struct packet *p = make_packet(&c->lsu, f, a, l1d_only);
        if (l1d_only ? !enter_l1_pipe(c, p, true) : !send_access(c, f, p))
            return false;
        f->next_access++;
        if (!l1d_only && f->atomic)
            c->lsu.atomics_at = c->now + atomic_cycles(c->config, p);
    }
    return f->next_access == a->count;
}

static void leave(struct sm *c, uint16_t id)
{
    struct sm_inflight *f = &c->flights.list[id];
    c->lsu.dispatch = SM_NONE;
    c->lsu.l1d_only = false;
    due_now(&c->due, PART_PIPELINES); /* the collectors may have the next instruction */
    c->lsu.free_accesses[c->lsu.free_access_count++] = f->accesses;
    f->accesses = SM_NONE;
    f->in_lsu = false;
    if (f->remaining)
        return;
    if (f->inst->wait == WAIT_LONG && !f->store && f->next_access && c->observer && c->observer->load_end)
        c->observer->load_end(c->observer->context, c->head.id, f->slot, c->now, f->pc);
    sm_finish(c, id);
}

/* Results leave in the order in which they come. Only an atomic whose lanes are added up first, outside the
 * pipeline, is overtaken. */
static inline void enter_shared_pipe(struct sm *c, uint16_t id, uint64_t ready)
{
    struct sm_lsu *l = &c->lsu;
    uint32_t at = place_at_end(l->shared_head, l->shared_count++, l->shared_capacity);
    while (at != l->shared_head) {
        uint32_t before = (at ? at : l->shared_capacity) - 1;
        if (l->shared_pipe[before].ready <= ready || !c->flights.list[l->shared_pipe[before].id].adds_up)
            break;
        l->shared_pipe[at] = l->shared_pipe[before];
        at = before;
    }
    l->shared_pipe[at] = (struct sm_instruction_delay){.ready = ready, .id = id};
}

STEP void dispatch_cycle(struct sm *c, bool l1d_only)
{
    struct sm_lsu *l = &c->lsu;
    uint16_t id = l->dispatch;
    struct sm_inflight *f = &c->flights.list[id];
    if (!l1d_only && f->space == SM_SHARED) {
        if (f->shared_cycles > 1) {
            f->shared_cycles--;
            return;
        }
        if (!f->store && f->inst->destination_count) {
            if (l->shared_count == l->shared_capacity)
                return;
            enter_shared_pipe(c, id, c->now + c->config->shared_latency + f->shared_extra);
            f->remaining = 1;
        } else if (f->atomic) {
            answer_atomic(c, f->slot);
        }
        leave(c, id);
        return;
    }
    if (!l1d_only && f->shared_cycles > 1) {
        f->shared_cycles--;
        return;
    }
    if (!l1d_only && f->atomic && c->now < l->atomics_at)
        return;
    if ((!l1d_only && f->space == SM_NO_MEMORY) || send_accesses(c, id, l1d_only))
        leave(c, id);
}

/* A blocked access keeps the instruction at work from doing anything. (With a pipeline in front of the L1D, it is
 * the pipeline that waits.) */
static inline bool is_blocked(const struct sm_lsu *l) { return l->blocked && !l->l1_capacity; }

/* Takes the next instruction, if one has its operands. */
static inline void take_instruction(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    inflight_id id;
    if (!collector_front(c->pipes.collector, COLLECT_MEM, &id))
        return;
    collector_take(c->pipes.collector, COLLECT_MEM);
    due_now(&c->due, PART_PIPELINES); /* another may take its place */
    struct sm_inflight *f = &c->flights.list[id];
    l->dispatch = id;
    l->access = (struct packet){.token = id,
                                .pc = f->pc,
                                .core = (uint16_t)c->head.id,
                                .warp = f->slot,
                                .kind = f->packet_kind,
                                .origin = ORIGIN_LSU,
                                .takes_turns = f->inst->takes_turns};
    l->l1d_only = f->route == ROUTE_L1D && (f->space == SM_DEVICE || f->space == SM_LOCAL) &&
                  c->config->l1d.banks <= 1 && !l->l1_capacity && !c->observer && !c->regroup;
    f->in_lsu = true;
}

/* Accesses of the instruction at work that are still to be sent. */
static uint32_t accesses_left(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    if (l->dispatch == SM_NONE)
        return 0;
    const struct sm_inflight *f = &c->flights.list[l->dispatch];
    if (f->space == SM_SHARED)
        return f->shared_cycles;
    if (f->accesses == SM_NONE)
        return 1;
    return l->access_pool[f->accesses].count - f->next_access;
}

static void show_queues(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    uint32_t accesses = accesses_left(c);
    if (!c->observer->queues || (accesses == l->accesses_seen && l->d->misses.count == l->misses_seen))
        return;
    l->accesses_seen = accesses;
    l->misses_seen = l->d->misses.count;
    c->observer->queues(c->observer->context, c->head.id, c->now, accesses, l->misses_seen);
}

static void show_outstanding(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    show_queues(c);
    if (!c->observer->outstanding || !l->l1d || cache_outstanding(l->l1d) == l->outstanding_seen)
        return;
    l->outstanding_seen = cache_outstanding(l->l1d);
    c->observer->outstanding(c->observer->context, c->head.id, c->now, l->outstanding_seen);
}

/* The instruction at work accesses the L1D alone, and only the L1D has results: the mostly seen case of a core that
 * waits for memory. */
static inline bool is_l1d_only(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    uint32_t others = l->shared_count | l->texture_count | l->fragment_count | l->read_only_waits;
    return l->l1d_only && !others && l->next_global == SM_NONE;
}

/* One step. At the end of the last one of a cycle an instruction enters, unless instructions enter after the
 * collectors. */
STEP void step_as(struct sm *c, bool last, bool l1d_only)
{
    struct sm_lsu *l = &c->lsu;
    l->no_room = 0;
    writeback(c, l1d_only);
    if (l->responses.count)
        take_response(c);
    if (!l1d_only) {
        if (l->fragment_count)
            sm_texture_cycle(c);
        if (l->read_only_waits) {
            if (l->textures->misses.count && !l->fragments)
                sm_send_misses(c, l->l1t, ORIGIN_L1T);
            if (l->constants->misses.count)
                sm_send_misses(c, l->l1c, ORIGIN_L1C);
        }
    }
    if (l->d->misses.count)
        sm_send_misses(c, l->l1d, ORIGIN_L1D);
    if (!l1d_only && l->l1_count)
        l1_pipe_cycle(c);
    if (!is_blocked(l) && (l1d_only || l->dispatch != SM_NONE))
        dispatch_cycle(c, l1d_only);
    if (last && l->dispatch == SM_NONE && !l->enters_after_collectors)
        take_instruction(c);
    if (!l1d_only && c->observer)
        show_outstanding(c);
}

/* When the unit is due again. */

static inline bool has_room(const struct sm_lsu *l, enum sm_origin origin) { return !(l->no_room >> origin & 1); }

STEP bool can_send_misses(const struct sm_lsu *l, bool l1d_only)
{
    if (l->d->misses.count && has_room(l, ORIGIN_L1D))
        return true;
    return !l1d_only && ((l->textures->misses.count && has_room(l, ORIGIN_L1T)) ||
                         (l->constants->misses.count && has_room(l, ORIGIN_L1C)));
}

STEP bool has_results(const struct sm_lsu *l, bool l1d_only)
{
    if (l->next_wb != SM_NONE || l->next_global != SM_NONE || (l->d->ready_requests | l->responses.count))
        return true;
    return !l1d_only && ((l->texture_count | l->textures->ready_requests | l->constants->ready_requests) != 0 ||
                         sm_textures_move(l));
}

/* The next cycle in which the instruction at work may go on by itself. It does not while the L1D refuses its access,
 * nor while the interconnect, or the pipeline in front of the L1D, has no room for it. */
static inline uint64_t instruction_next(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    if (l->dispatch == SM_NONE || is_blocked(l) || !has_room(l, ORIGIN_LSU))
        return SM_NEVER;
    const struct sm_inflight *f = &c->flights.list[l->dispatch];
    bool sends_accesses = f->space != SM_SHARED && f->space != SM_NO_MEMORY && f->shared_cycles <= 1;
    if (!sends_accesses)
        return c->now + 1;
    if (f->route == ROUTE_L1D && l->l1_capacity && l->l1_count == l->l1_capacity)
        return SM_NEVER;
    if (f->atomic && l->atomics_at > c->now)
        return l->atomics_at;
    return c->now + 1;
}

STEP uint64_t lsu_next(const struct sm *c, bool l1d_only)
{
    const struct sm_lsu *l = &c->lsu;
    uint64_t soon = c->now + 1;
    if (has_results(l, l1d_only) || can_send_misses(l, l1d_only))
        return soon;
    uint64_t next = instruction_next(c);
    if (!l1d_only && l->l1_count && !l->blocked)
        next = earlier(next, l->l1_pipe[l->l1_head].ready);
    if (!l1d_only && l->shared_count)
        next = earlier(next, l->shared_pipe[l->shared_head].ready);
    if (l->hits.count)
        next = earlier(next, l->hits.list[l->hits.head].ready);
    return later(next, soon);
}

void sm_lsu_step(struct sm *c)
{
    if (is_l1d_only(c)) {
        step_as(c, true, true);
        due_at(&c->due, PART_LSU, lsu_next(c, true));
    } else {
        step_as(c, true, false);
        due_at(&c->due, PART_LSU, lsu_next(c, false));
    }
}

void sm_lsu_early_step(struct sm *c, uint32_t n)
{
    c->lsu.step = n;
    if (is_l1d_only(c))
        step_as(c, false, true);
    else
        step_as(c, false, false);
    c->lsu.step = n + 1;
}

void sm_lsu_enter(struct sm *c) { take_instruction(c); }
