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

enum { READ_BYTES = 8, WRITE_HEADER_BYTES = 8, LONGEST_ACCESS = 128 };

/* The clients of writeback, in the order of their turns. */
enum client { CLIENT_SHARED, CLIENT_TEXTURES, CLIENT_CONSTANTS, CLIENT_PAST_L1, CLIENT_L1D, CLIENTS };

/* Parts of a step. The compiler makes four copies of it: for the last step of a cycle and for the others, each with
 * and without `l1d_only`, which is a constant there. It means that the instruction at work accesses the L1D alone,
 * and that only the L1D has results. A core that waits for memory is mostly in that case, in which most of a step is
 * known to do nothing. */
#define STEP static inline __attribute__((always_inline))

/* Places of a ring. */
static inline uint32_t place_after(uint32_t place, uint32_t capacity) { return place + 1 == capacity ? 0 : place + 1; }
static inline uint32_t place_before(uint32_t place, uint32_t capacity) { return place ? place - 1 : capacity - 1; }
static inline uint32_t place_at_end(uint32_t head, uint32_t count, uint32_t capacity)
{
    uint32_t place = head + count;
    return place >= capacity ? place - capacity : place;
}

static inline bool pipe_is_ready(const struct lsu_pipe *p, uint64_t now)
{
    return p->count && p->list[p->head].ready <= now;
}

/* Takes the first instruction. */
static inline uint16_t pipe_take(struct lsu_pipe *p)
{
    uint16_t id = p->list[p->head].id;
    p->head = place_after(p->head, p->capacity);
    p->count--;
    return id;
}

/* Accesses that the L1D takes in a cycle. */
static inline uint32_t l1d_banks(const struct sm_config *g) { return g->l1d.banks ? g->l1d.banks : 1; }

void lsu_init(struct sm_lsu *l, struct arena *a, const struct sm_config *g)
{
    l->at_work.id = l->writeback.next = l->writeback.past_l1 = SM_NONE;
    l->refused.why = -1;
    l->enters_after_collectors = g->enters_lsu_at_once;
    l->precedes = g->lsu_steps > 1 || g->l1d_latency_behind;
    ring_init(&l->responses, a, g->lsu_response_queue ? g->lsu_response_queue : 2);
    l->l1d = cache_create(a, &g->l1d, NULL, NULL);
    l->l1c = cache_create(a, &g->l1c, NULL, NULL);
    l->l1t = cache_create(a, &g->l1t, NULL, NULL);
    l->l1d_head = cache_head_or_none(l->l1d);
    l->l1c_head = cache_head_or_none(l->l1c);
    l->l1t_head = cache_head_or_none(l->l1t);
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
        l->l1_pipe.capacity = under_way;
    l->hits.list = arena_array(a, struct sm_instruction_delay, l->hits.capacity + 1);
    l->l1_pipe.list = arena_array(a, struct sm_delay, l->l1_pipe.capacity + 1);
    l->shared_pipe.capacity = (g->shared_latency ? g->shared_latency : 1) + 32 * g->shared_conflict_latency +
                              (g->uniform_atomics_once ? UINT8_MAX : 0);
    l->shared_pipe.list = arena_array(a, struct sm_instruction_delay, l->shared_pipe.capacity);
    if (l->l1t && g->texture_results)
        l->textures.fragments = arena_array(a, struct sm_fragment, g->l1t.mshr_entries);
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
    struct lsu_pipe *h = &c->lsu.hits;
    if (!c->lsu.precedes || !h->capacity) {
        answered(c, id);
        return;
    }
    h->list[place_at_end(h->head, h->count++, h->capacity)] =
        (struct sm_instruction_delay){.ready = c->now + c->config->l1d.latency_cycles, .id = id};
}

void sm_lsu_finish_hits(struct sm *c)
{
    while (pipe_is_ready(&c->lsu.hits, c->now))
        answered(c, pipe_take(&c->lsu.hits));
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
static inline uint32_t clients_with_results(const struct sm_lsu *l, uint64_t now)
{
    return (uint32_t)pipe_is_ready(&l->shared_pipe, now) << CLIENT_SHARED |
           (uint32_t)((l->textures.count | l->l1t_head->ready_requests) != 0) << CLIENT_TEXTURES |
           (uint32_t)(l->l1c_head->ready_requests != 0) << CLIENT_CONSTANTS |
           (uint32_t)(l->writeback.past_l1 != SM_NONE) << CLIENT_PAST_L1 |
           (uint32_t)(l->l1d_head->ready_requests != 0) << CLIENT_L1D;
}

/* The warp goes on when all parts of its atomic have come back. */
static void answer_atomic(struct sm *c, uint32_t slot)
{
    if (--c->slots[slot].atomics == 0)
        warp_unblock(c, &c->issue.atomic_wait, slot);
}

/* Takes the result of shared memory, or of an access past the L1, which may be one of an atomic. */
static uint16_t take_result(struct sm *c, uint16_t id)
{
    if (c->flights.list[id].atomic)
        answer_atomic(c, c->flights.list[id].slot);
    return id;
}

static inline uint16_t take_from_client(struct sm *c, enum client client)
{
    struct sm_lsu *l = &c->lsu;
    uint16_t id;
    switch (client) {
    case CLIENT_SHARED: return take_result(c, pipe_take(&l->shared_pipe));
    case CLIENT_TEXTURES:
        if (l->textures.count)
            return textures_take(&l->textures);
        l->read_only_waits--;
        return take_ready(l->l1t);
    case CLIENT_CONSTANTS: l->read_only_waits--; return take_ready(l->l1c);
    case CLIENT_PAST_L1:
        id = l->writeback.past_l1;
        l->writeback.past_l1 = SM_NONE;
        return take_result(c, id);
    default:
        l->refused.blocked = false; /* an entry may be free again */
        return take_ready(l->l1d);
    }
}

/* The first client from `turn` on; if there is none, the first of all. */
static inline uint32_t first_in_turn(uint32_t clients, uint32_t turn)
{
    uint32_t from_turn = clients >> turn << turn;
    if (from_turn)
        clients = from_turn;
    return (uint32_t)__builtin_ctz(clients);
}

STEP void writeback(struct sm *c, bool l1d_only)
{
    struct sm_lsu *l = &c->lsu;
    struct lsu_writeback *w = &l->writeback;
    if (w->next != SM_NONE) {
        if (!write_registers(c, &c->flights.list[w->next]))
            return;
        answered(c, w->next);
        w->next = SM_NONE;
    }
    uint32_t clients = (uint32_t)(l->l1d_head->ready_requests != 0) << CLIENT_L1D;
    if (!l1d_only && ((l->shared_pipe.count | l->textures.count | l->read_only_waits) || w->past_l1 != SM_NONE))
        clients = clients_with_results(l, c->now);
    if (!clients)
        return;
    enum client client = CLIENT_L1D;
    if (!l1d_only)
        client = first_in_turn(clients, w->turn);
    w->next = take_from_client(c, client);
    w->turn = place_after(client, CLIENTS);
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
        if (l->writeback.past_l1 != SM_NONE)
            return;
        l->writeback.past_l1 = (uint16_t)p->token;
    } else if (packet_is_write(p)) {
        acknowledge_store(c, p->warp);
    } else if (p->origin == ORIGIN_L1T && l->textures.fragments) {
        sm_texture_answer(c, p);
    } else {
        if (p->origin == ORIGIN_L1D)
            fill_l1d(c, p);
        else
            cache_fill(cache_of(l, p->origin), p, c->now);
        /* An access that waits for an entry stays blocked. One that waits for a place in the queue may be for the
         * line that has come. */
        l->refused.blocked &= l->refused.why == CACHE_FAIL_MSHR;
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
    if (origin == ORIGIN_L1D && c->lsu.refused.why == CACHE_FAIL_QUEUE)
        c->lsu.refused.blocked = false;
}

/* Counts one packet of each cache (of instructions too), and for an instruction that goes past the caches one, and
 * the look whether the next one has room. */
__attribute__((noinline)) uint32_t sm_lsu_may_send(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    uint32_t reads = 1;
    if (l->read_only_waits)
        reads += 2;
    if (l->textures.fragment_count)
        reads++;
    uint32_t flits = reads * network_flits(c->net.requests, READ_BYTES);
    if (l->l1d_head->misses.count)
        flits += network_flits(c->net.requests, packet_bytes(c, cache_miss_front(l->l1d)));
    /* A fill may send the line that it evicts. */
    else if (c->config->l1d.allocate == ALLOCATE_ON_FILL && l->responses.count)
        flits += network_flits(c->net.requests, WRITE_HEADER_BYTES + c->config->l1d.line_bytes);
    if (l->at_work.id != SM_NONE) {
        const struct sm_inflight *f = &c->flights.list[l->at_work.id];
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
    if (l->refused.why >= 0)
        c->account.counters.l1d.fails[l->refused.why] += step - l->refused.counted_until;
    l->refused.counted_until = step;
}

void sm_lsu_count_refusals(struct sm *c, uint64_t now)
{
    if (c->lsu.refused.why >= 0)
        count_refusals(c, now * c->config->lsu_steps);
}

void lsu_try_again(struct sm *c)
{
    c->lsu.refused.blocked = false;
    due_now(&c->due, PART_LSU);
}

/* Returns whether the access was taken. */
static inline bool access_l1d(struct sm *c, const struct packet *p)
{
    struct cache_result r;
    if (c->lsu.refused.blocked)
        return false;
    if (c->lsu.refused.why >= 0)
        count_refusals(c, step_number(c));
    r.evicted = false;
    enum cache_outcome outcome = cache_access(c->lsu.l1d, p, c->warps[p->warp].age, c->now, &r);
    if (c->host.hears_l1)
        sm_l1_tell_access(c, p, outcome, &r);
    if (outcome == CACHE_FAIL) {
        c->lsu.refused.why = (int)r.fail;
        c->lsu.refused.blocked = true;
        c->lsu.refused.counted_until = step_number(c) + 1;
        return false;
    }
    c->lsu.refused.why = -1;
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

STEP void l1_pipe_cycle(struct sm *c, struct lsu_l1_pipe *p)
{
    uint32_t banks = l1d_banks(c->config);
    for (uint32_t i = 0; i < banks && p->count && p->list[p->head].ready <= c->now; i++) {
        if (!access_l1d(c, &p->list[p->head].packet))
            return;
        p->head = place_after(p->head, p->capacity);
        p->count--;
    }
}

/* Accesses of the instruction at work */

STEP struct packet *make_packet(struct sm_lsu *l, const struct sm_inflight *f, const struct sm_accesses *all,
                                bool l1d_only)
{
    struct packet *p = &l->at_work.access;
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
    struct lsu_l1_pipe *pipe = &c->lsu.l1_pipe;
    if (l1d_only || !pipe->capacity) {
        expect_store_answers(c, p);
        if (access_l1d(c, p))
            return true;
        if (packet_is_write(p)) /* it was not taken, so no answer is expected */
            c->slots[p->warp].stores -= core_link_answers(&c->net, p);
        return false;
    }
    if (pipe->count == pipe->capacity)
        return false;
    uint32_t at = place_at_end(pipe->head, pipe->count++, pipe->capacity);
    pipe->list[at] = (struct sm_delay){.ready = c->now + c->config->l1d.latency_cycles, .packet = *p};
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
    if (p->kind == PACKET_TEXTURE && l->textures.fragments)
        return sm_texture_access(c, p);
    if (p->kind == PACKET_TEXTURE && l->textures.count == SM_TEXTURE_HITS)
        return false;
    enum cache_outcome outcome = cache_access(cache, p, c->warps[p->warp].age, c->now, &r);
    if (outcome == CACHE_FAIL)
        return false;
    if (outcome != CACHE_HIT) {
        l->read_only_waits++;
        return true;
    }
    if (p->kind == PACKET_TEXTURE)
        textures_put(&l->textures, (uint16_t)p->token);
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
            c->lsu.at_work.atomics_at = c->now + atomic_cycles(c->config, p);
    }
    return f->next_access == a->count;
}

static void leave(struct sm *c, uint16_t id)
{
    struct sm_inflight *f = &c->flights.list[id];
    c->lsu.at_work.id = SM_NONE;
    c->lsu.at_work.l1d_only = false;
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
    struct lsu_pipe *p = &c->lsu.shared_pipe;
    uint32_t at = place_at_end(p->head, p->count++, p->capacity);
    while (at != p->head) {
        uint32_t before = place_before(at, p->capacity);
        if (p->list[before].ready <= ready || !c->flights.list[p->list[before].id].adds_up)
            break;
        p->list[at] = p->list[before];
        at = before;
    }
    p->list[at] = (struct sm_instruction_delay){.ready = ready, .id = id};
}

/* Shared memory has served the instruction at work in all its cycles. */
static inline void leave_for_shared_pipe(struct sm *c, uint16_t id)
{
    struct sm_lsu *l = &c->lsu;
    struct sm_inflight *f = &c->flights.list[id];
    if (!f->store && f->inst->destination_count) {
        if (l->shared_pipe.count == l->shared_pipe.capacity)
            return;
        enter_shared_pipe(c, id, c->now + c->config->shared_latency + f->shared_extra);
        f->remaining = 1;
    } else if (f->atomic) {
        answer_atomic(c, f->slot);
    }
    leave(c, id);
}

STEP void dispatch_cycle(struct sm *c, bool l1d_only)
{
    uint16_t id = c->lsu.at_work.id;
    struct sm_inflight *f = &c->flights.list[id];
    if (l1d_only) {
        if (send_accesses(c, id, true))
            leave(c, id);
        return;
    }
    if (f->shared_cycles > 1)
        f->shared_cycles--;
    else if (f->space == SM_SHARED)
        leave_for_shared_pipe(c, id);
    else if (f->atomic && c->now < c->lsu.at_work.atomics_at)
        return;
    else if (f->space == SM_NO_MEMORY || send_accesses(c, id, false))
        leave(c, id);
}

/* A blocked access keeps the instruction at work from doing anything. (With a pipeline in front of the L1D, it is
 * the pipeline that waits.) */
static inline bool is_blocked(const struct sm_lsu *l) { return l->refused.blocked && !l->l1_pipe.capacity; }

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
    l->at_work.id = id;
    l->at_work.access = (struct packet){.token = id,
                                        .pc = f->pc,
                                        .core = (uint16_t)c->head.id,
                                        .warp = f->slot,
                                        .kind = f->packet_kind,
                                        .origin = ORIGIN_LSU,
                                        .takes_turns = f->inst->takes_turns};
    l->at_work.l1d_only = f->route == ROUTE_L1D && (f->space == SM_DEVICE || f->space == SM_LOCAL) &&
                          c->config->l1d.banks <= 1 && !l->l1_pipe.capacity && !c->observer && !c->regroup;
    f->in_lsu = true;
}

/* Accesses of the instruction at work that are still to be sent. */
static uint32_t accesses_left(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    if (l->at_work.id == SM_NONE)
        return 0;
    const struct sm_inflight *f = &c->flights.list[l->at_work.id];
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
    if (!c->observer->queues || (accesses == l->shown.accesses && l->l1d_head->misses.count == l->shown.misses))
        return;
    l->shown.accesses = accesses;
    l->shown.misses = l->l1d_head->misses.count;
    c->observer->queues(c->observer->context, c->head.id, c->now, accesses, l->shown.misses);
}

static void show_outstanding(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    show_queues(c);
    if (!c->observer->outstanding || !l->l1d || cache_outstanding(l->l1d) == l->shown.outstanding)
        return;
    l->shown.outstanding = cache_outstanding(l->l1d);
    c->observer->outstanding(c->observer->context, c->head.id, c->now, l->shown.outstanding);
}

/* The instruction at work accesses the L1D alone, and only the L1D has results: the mostly seen case of a core that
 * waits for memory. */
static inline bool is_l1d_only(const struct sm_lsu *l)
{
    uint32_t others = l->shared_pipe.count | l->textures.count | l->textures.fragment_count | l->read_only_waits;
    return l->at_work.l1d_only && !others && l->writeback.past_l1 == SM_NONE;
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
        if (l->textures.fragment_count)
            sm_texture_cycle(c);
        if (l->read_only_waits) {
            if (l->l1t_head->misses.count && !l->textures.fragments)
                sm_send_misses(c, l->l1t, ORIGIN_L1T);
            if (l->l1c_head->misses.count)
                sm_send_misses(c, l->l1c, ORIGIN_L1C);
        }
    }
    if (l->l1d_head->misses.count)
        sm_send_misses(c, l->l1d, ORIGIN_L1D);
    if (!l1d_only && l->l1_pipe.count)
        l1_pipe_cycle(c, &l->l1_pipe);
    if (!is_blocked(l) && (l1d_only || l->at_work.id != SM_NONE))
        dispatch_cycle(c, l1d_only);
    if (last && l->at_work.id == SM_NONE && !l->enters_after_collectors)
        take_instruction(c);
    if (!l1d_only && c->observer)
        show_outstanding(c);
}

/* When the unit is due again. */

static inline bool has_room(const struct sm_lsu *l, enum sm_origin origin) { return !(l->no_room >> origin & 1); }

STEP bool can_send_misses(const struct sm_lsu *l, bool l1d_only)
{
    if (l->l1d_head->misses.count && has_room(l, ORIGIN_L1D))
        return true;
    return !l1d_only && ((l->l1t_head->misses.count && has_room(l, ORIGIN_L1T)) ||
                         (l->l1c_head->misses.count && has_room(l, ORIGIN_L1C)));
}

STEP bool has_results(const struct sm_lsu *l, bool l1d_only)
{
    if (l->writeback.next != SM_NONE || l->writeback.past_l1 != SM_NONE ||
        (l->l1d_head->ready_requests | l->responses.count))
        return true;
    return !l1d_only && ((l->textures.count | l->l1t_head->ready_requests | l->l1c_head->ready_requests) != 0 ||
                         textures_move(&l->textures));
}

/* The next cycle in which the instruction at work may go on by itself. It does not while the L1D refuses its access,
 * nor while the interconnect, or the pipeline in front of the L1D, has no room for it. */
static inline uint64_t instruction_next(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    if (l->at_work.id == SM_NONE || is_blocked(l) || !has_room(l, ORIGIN_LSU))
        return SM_NEVER;
    const struct sm_inflight *f = &c->flights.list[l->at_work.id];
    bool sends_accesses = f->space != SM_SHARED && f->space != SM_NO_MEMORY && f->shared_cycles <= 1;
    if (!sends_accesses)
        return c->now + 1;
    if (f->route == ROUTE_L1D && l->l1_pipe.capacity && l->l1_pipe.count == l->l1_pipe.capacity)
        return SM_NEVER;
    if (f->atomic && l->at_work.atomics_at > c->now)
        return l->at_work.atomics_at;
    return c->now + 1;
}

STEP uint64_t lsu_next(const struct sm *c, bool l1d_only)
{
    const struct sm_lsu *l = &c->lsu;
    uint64_t soon = c->now + 1;
    if (has_results(l, l1d_only) || can_send_misses(l, l1d_only))
        return soon;
    uint64_t next = instruction_next(c);
    if (!l1d_only && l->l1_pipe.count && !l->refused.blocked)
        next = earlier(next, l->l1_pipe.list[l->l1_pipe.head].ready);
    if (!l1d_only && l->shared_pipe.count)
        next = earlier(next, l->shared_pipe.list[l->shared_pipe.head].ready);
    if (l->hits.count)
        next = earlier(next, l->hits.list[l->hits.head].ready);
    return later(next, soon);
}

void sm_lsu_step(struct sm *c)
{
    if (is_l1d_only(&c->lsu)) {
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
    if (is_l1d_only(&c->lsu))
        step_as(c, false, true);
    else
        step_as(c, false, false);
    c->lsu.step = n + 1;
}

void sm_lsu_enter(struct sm *c) { take_instruction(c); }
