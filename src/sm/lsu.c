/* The load/store unit: one instruction at work, its accesses one per cycle into the L1D (constant, texture cache,
 * interconnect); a pipeline for shared memory; answers from the interconnect; one register writeback a cycle, its
 * clients in turn: shared memory, texture, constant cache, what bypassed the L1, L1D. After GPGPU-Sim's. On machines
 * whose unit takes several steps in a cycle (lsu.steps), what is said of a cycle is true of a step, but times are kept
 * in cycles and one instruction a cycle enters.
 *
 * Textures: lsu_texture.c where the machine has a queue of fragments; else hits take their turn at writeback as if they
 * came from memory. */
#include "sm/core.h"

enum { READ_BYTES = 8, WRITE_HEADER_BYTES = 8, LONGEST_ACCESS = 128, CLIENT_PAST_L1 = 3, CLIENT_L1D, CLIENTS };

/* Parts of a step. The compiler makes copies of it: the last of a cycle and the others; and, of each, one that is
 * `plain`, which is a constant there: the instruction at work accesses the L1D alone, and only the L1D has results.
 * That is what a core mostly does that waits for memory, and most of a step is then known to do nothing. */
#define STEP static inline __attribute__((always_inline))

void lsu_init(struct sm_lsu *l, struct arena *a, const struct sm_config *g)
{
    uint32_t banks = g->l1d.banks ? g->l1d.banks : 1;
    l->dispatch = l->next_wb = l->next_global = SM_NONE;
    l->retry = -1;
    l->enters_after_collectors = g->enters_lsu_at_once;
    l->precedes = g->lsu_steps > 1 || g->l1d_latency_behind;
    ring_init(&l->responses, a, g->lsu_response_queue ? g->lsu_response_queue : 2);
    l->l1d = cache_create(a, &g->l1d, NULL, NULL);
    l->l1c = cache_create(a, &g->l1c, NULL, NULL);
    l->l1t = cache_create(a, &g->l1t, NULL, NULL);
    l->d = cache_head_or_none(l->l1d);
    l->constants = cache_head_or_none(l->l1c);
    l->textures = cache_head_or_none(l->l1t);
    if (l->l1d)
        cache_set_writeback(l->l1d, PACKET_L1_WRITEBACK, 2); /* a read may need two places: one for what it evicts */
    l->counts_sectors = g->l1d.sector_bytes != 0;
    l->exact_sectors = g->exact_sectors;
    uint32_t under_way = g->l1d.latency_cycles * banks * g->lsu_steps; /* accesses that may enter in so many cycles */
    *(g->l1d_latency_behind ? &l->hits.capacity : &l->l1_capacity) = under_way;
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

/* One answer for the instruction; its registers are free when all have come. */
static inline void answered(struct sm *c, uint16_t id)
{
    struct sm_inflight *f = &c->flights.list[id];
    c->lsu.moved = true;
    if (--f->remaining)
        return;
    if (f->in_lsu)
        return; /* still sending accesses: the end comes when it leaves the unit */
    if (c->observer && c->observer->load_end && f->inst->wait == WAIT_LONG)
        c->observer->load_end(c->observer->context, c->head.id, f->slot, c->now, f->pc);
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
    uint32_t at = h->head + h->count++;
    h->list[at >= h->capacity ? at - h->capacity : at] =
        (struct sm_instruction_delay){.ready = c->now + c->config->l1d.latency_cycles, .id = id};
}

void sm_lsu_finish_hits(struct sm *c)
{
    struct sm_hits *h = &c->lsu.hits;
    while (h->count && h->list[h->head].ready <= c->now) {
        answered(c, h->list[h->head].id);
        h->head = h->head + 1 == h->capacity ? 0 : h->head + 1;
        h->count--;
    }
}

static bool write_registers(struct sm *c, struct sm_inflight *f)
{
    const uint8_t *banks = f->inst->banks + f->inst->check_count - f->inst->destination_count;
    while (f->written < f->inst->destination_count) {
        if (!collector_write_bank(c->pipes.collector, sm_bank(&c->pipes, banks[f->written], f->slot)))
            return false;
        f->written++;
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

/* Who has a result to write: a bit a client. */
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
    if (--c->slots[slot].atomics == 0) {
        c->issue.atomic_wait &= ~(1ull << slot);
        c->issue.at = 0;
    }
}

static inline uint16_t take_from_client(struct sm *c, uint32_t client)
{
    struct sm_lsu *l = &c->lsu;
    uint16_t id;
    switch (client) {
    case 0:
        id = l->shared_pipe[l->shared_head].id;
        l->shared_head = l->shared_head + 1 == l->shared_capacity ? 0 : l->shared_head + 1;
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
        l->refused = false; /* an entry may be free again */
        return take_ready(c->lsu.l1d);
    }
}

STEP void writeback(struct sm *c, bool plain)
{
    struct sm_lsu *l = &c->lsu;
    if (l->next_wb != SM_NONE) {
        l->moved = true;
        if (!write_registers(c, &c->flights.list[l->next_wb]))
            return;
        answered(c, l->next_wb);
        l->next_wb = SM_NONE;
    }
    bool others = !plain && ((l->shared_count | l->texture_count | l->read_only_waits) || l->next_global != SM_NONE);
    uint32_t clients = others ? clients_with_results(c) : (uint32_t)(l->d->ready_requests != 0) << CLIENT_L1D;
    if (!clients)
        return;
    uint32_t from_turn = clients >> l->wb_turn << l->wb_turn; /* in turn: those from wb_turn on, then the first ones */
    uint32_t client = plain ? (uint32_t)CLIENT_L1D : (uint32_t)__builtin_ctz(from_turn ? from_turn : clients);
    l->next_wb = take_from_client(c, client);
    l->wb_turn = client + 1 == CLIENTS ? 0 : client + 1;
    l->moved = true;
}

/* Answers */

static void acknowledge_store(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    s->stores--;
    c->lsu.moved = true;
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
        struct cache *to = p->origin == ORIGIN_L1D ? c->lsu.l1d : p->origin == ORIGIN_L1C ? c->lsu.l1c : c->lsu.l1t;
        if (to == c->lsu.l1d)
            fill_l1d(c, p);
        else
            cache_fill(to, p, c->now);
        l->refused &= l->retry == CACHE_FAIL_MSHR; /* that waits for an entry; one that waits for a place in the queue
                                                      may be for the very line that has come */
    }
    ring_pop(&l->responses);
    c->lsu.moved = true;
}

/* Answers that nobody sees.
 *
 * An atomic is over when the last of its answers has come. Each takes three cycles, in a core that does nothing else:
 * it is taken from the interconnect, is chosen for writeback, and writes its registers. None but the last changes
 * anything in a core that sleeps, so that the core need not be run for it. The answer is kept with the cycle in which
 * it came; if the core is run while it is under way, it is put where it would be by then. */

/* The second cycle is over: as take_from_client has it, with no other client. */
static void choose_held_answer(struct sm *c, uint16_t id)
{
    answer_atomic(c, c->flights.list[id].slot);
    c->lsu.wb_turn = CLIENT_PAST_L1 + 1;
}

/* Those that have written their registers before this cycle. */
static void end_held_answers(struct sm *c, uint64_t now)
{
    struct sm_lsu *l = &c->lsu;
    uint32_t over = 0;
    while (over < l->held_count && now - l->held[over].cycle >= SM_HELD_ANSWERS) {
        uint16_t id = l->held[over++].id;
        choose_held_answer(c, id);
        c->flights.list[id].remaining--; /* not the last */
    }
    l->held_count -= over;
    for (uint32_t i = 0; over && i < l->held_count; i++)
        l->held[i] = l->held[i + over];
}

void sm_lsu_release_answers(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    l->rests = false;
    end_held_answers(c, c->now);
    for (uint32_t i = 0; i < l->held_count; i++) {
        uint16_t id = l->held[i].id;
        struct packet answer = {.token = id, .kind = PACKET_ATOMIC, .origin = ORIGIN_LSU};
        switch (c->now - l->held[i].cycle) {
        case 0: ring_push(&l->responses, &answer); break;
        case 1: l->next_global = id; break;
        default:
            choose_held_answer(c, id);
            l->next_wb = id;
            break;
        }
    }
    l->held_count = 0;
}

/* Is the core one in which three cycles would bring nothing but the answer? */
static inline bool may_hold_answers(const struct sm *c, uint64_t now)
{
    const struct sm_lsu *l = &c->lsu;
    bool is_simple = !c->lsu.precedes && !c->regroup && !c->observer;
    bool is_quiet = now < c->others_at && c->issue.at && l->next_wb == SM_NONE && l->next_global == SM_NONE;
    bool no_answers = !(l->responses.count | c->front.responses.count | l->l1_count);
    return is_simple && is_quiet && no_answers && (l->dispatch == SM_NONE || l->waits_for_bytes);
}

bool sm_lsu_hold_answer(struct sm *c, const struct packet *p, uint64_t now)
{
    struct sm_lsu *l = &c->lsu;
    const struct sm_inflight *f = &c->flights.list[p->token];
    uint32_t held = 0;
    if (p->origin != ORIGIN_LSU || p->kind != PACKET_ATOMIC || f->inst->destination_count > 1)
        return false;
    if (!may_hold_answers(c, now))
        return false;
    end_held_answers(c, now);
    for (uint32_t i = 0; i < l->held_count; i++)
        held += l->held[i].id == p->token;
    if (f->remaining <= held + 1)
        return false;
    l->held[l->held_count++] = (struct sm_held_answer){.cycle = now, .id = (uint16_t)p->token};
    return true;
}

/* The answer is all that the cycle would bring: nothing else is due in a core that sleeps, and an access that was
 * refused, if there is one, is refused once more, as it waits for an MSHR entry. (With several steps in a cycle the
 * second would go on with the answer.) */
bool sm_lsu_answer(struct sm *c, const struct packet *p, uint64_t now)
{
    const struct sm_lsu *l = &c->lsu;
    if (l->held_count) {
        end_held_answers(c, now);
        if (l->held_count)
            return false;
    }
    if (c->config->lsu_steps > 1 || p->origin != ORIGIN_L1D || packet_is_write(p) || *c->net.blocked_bytes ||
        l->l1_count || l->responses.count || c->front.responses.count)
        return false;
    if (l->dispatch != SM_NONE && !(l->refused && l->retry == CACHE_FAIL_MSHR))
        return false;
    if (SM_HEARD(c, l1_fill)) /* to listeners it is reported in a cycle of its own */
        return false;
    fill_l1d(c, p);
    return true;
}

/* To the interconnect */

/* With so many bytes of data, one way or the other. */
static uint32_t bytes_with(const struct packet *p, uint32_t data_bytes)
{
    return packet_is_write(p) || p->kind == PACKET_ATOMIC ? WRITE_HEADER_BYTES + data_bytes : READ_BYTES;
}

/* Of a store that names its sectors and tells what it writes of them: they alone, and a header with a mask where one of
 * them is written in part. */
static uint32_t exact_store_bytes(const struct packet *p)
{
    uint32_t data = packet_sectors(p->sectors) * SECTOR_BYTES;
    return packet_writes_all(p) ? data : WRITE_HEADER_BYTES + data;
}

static uint32_t packet_bytes(const struct sm *c, const struct packet *p)
{
    if (!c->lsu.exact_sectors || !c->lsu.tells_written || !p->sectors)
        return bytes_with(p, p->bytes);
    return p->kind == PACKET_STORE    ? exact_store_bytes(p)
           : p->kind == PACKET_ATOMIC ? packet_sectors(p->sectors) * SECTOR_BYTES
                                      : bytes_with(p, p->bytes);
}

static void note_blocked(struct sm *c, uint32_t bytes)
{
    if (!*c->net.blocked_bytes || bytes < *c->net.blocked_bytes)
        *c->net.blocked_bytes = bytes;
}

void sm_send_misses(struct sm *c, struct cache *cache, enum sm_origin origin)
{
    struct packet *p = cache_miss_front(cache);
    uint32_t bytes = packet_bytes(c, p);
    if (!network_has_room(&c->net, c->head.port, bytes, c->now)) {
        note_blocked(c, bytes);
        return;
    }
    c->lsu.moved = true;
    p->origin = (uint8_t)origin;
    p->core = (uint16_t)c->head.id;
    p->slice = network_slice(&c->net, p->address);
    network_push(&c->net, c->head.port, p, bytes, c->now);
    cache_miss_pop(cache);
    c->lsu.refused &= c->lsu.retry != CACHE_FAIL_QUEUE;
}

/* One packet of each cache (of instructions too), and of an instruction that goes past them one, and a look at whether
 * the next has room. */
__attribute__((noinline)) uint32_t sm_lsu_may_send(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    uint32_t reads = 1 + (l->read_only_waits ? 2 : 0) + (l->fragment_count != 0),
             flits = reads * crossbar_flits(c->net.requests, READ_BYTES);
    if (l->d->misses.count)
        flits += crossbar_flits(c->net.requests, packet_bytes(c, cache_miss_front(l->l1d)));
    else if (c->config->l1d.allocate == ALLOCATE_ON_FILL && l->responses.count) /* the line that leaves for a fill */
        flits += crossbar_flits(c->net.requests, WRITE_HEADER_BYTES + c->config->l1d.line_bytes);
    if (l->dispatch != SM_NONE) {
        const struct sm_inflight *f = &c->flights.list[l->dispatch];
        if (f->route == ROUTE_PAST)
            flits += 2 * crossbar_flits(c->net.requests,
                                        f->store || f->atomic ? WRITE_HEADER_BYTES + LONGEST_ACCESS : READ_BYTES);
    }
    return flits;
}

/* L1D */

/* True: the access was taken. */
static inline bool access_l1d(struct sm *c, const struct packet *p)
{
    struct cache_result r;
    if (c->lsu.refused) {
        c->account.counters.l1d.fails[c->lsu.retry]++;
        return false;
    }
    r.evicted = false;
    enum cache_outcome outcome = cache_access(c->lsu.l1d, p, c->warps[p->warp].age, c->now, &r);
    if (c->host.hears_l1)
        sm_l1_tell_access(c, p, outcome, &r);
    if (outcome == CACHE_FAIL) {
        c->lsu.retry = (int)r.fail;
        c->lsu.refused = true;
        return false;
    }
    c->lsu.retry = -1;
    c->lsu.moved = true;
    if (unlikely(c->issue.loading) && outcome == CACHE_PENDING)
        c->net.merged |= c->flights.list[p->token].kept;
    if (c->lsu.counts_sectors && p->kind == PACKET_LOAD)
        c->account.counters.load_sector_hits += packet_sectors(outcome == CACHE_MISS ? r.present : p->sectors);
    if (packet_is_write(p)) {
        if (!r.sends_write) /* kept in the cache: all its answers at once */
            for (uint32_t n = network_answers(&c->net, p); n; n--)
                acknowledge_store(c, p->warp);
    } else if (outcome == CACHE_HIT) {
        hit(c, (uint16_t)p->token);
    }
    return true;
}

STEP void l1_pipe_cycle(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    uint32_t banks = c->config->l1d.banks ? c->config->l1d.banks : 1;
    for (uint32_t i = 0; i < banks && l->l1_count && l->l1_pipe[l->l1_head].ready <= c->now; i++) {
        if (!access_l1d(c, &l->l1_pipe[l->l1_head].packet))
            return;
        l->l1_head = l->l1_head + 1 == l->l1_capacity ? 0 : l->l1_head + 1;
        l->l1_count--;
    }
}

/* Accesses of the instruction at work */

static inline struct packet *make_packet(struct sm_lsu *l, const struct sm_inflight *f, const struct sm_accesses *all)
{
    struct packet *p = &l->access;
    const struct access *a = &all->list[f->next_access];
    p->address = a->address;
    p->bytes = a->bytes;
    p->mask = f->texture && !f->store ? 0 : a->mask;
    p->sectors = sm_sectors(l, f, a);
    p->left = (uint8_t)(all->count - 1 - f->next_access);
    return p;
}

static void expect_store_answers(struct sm *c, const struct packet *p)
{
    if (packet_is_write(p))
        c->slots[p->warp].stores += network_answers(&c->net, p);
}

/* For an access of the instruction at work; where there is none, it waits until the core is woken for it. */
static inline bool has_network_room(struct sm *c, uint32_t bytes)
{
    bool room = network_has_room(&c->net, c->head.port, bytes, c->now);
    c->lsu.waits_for_bytes = room ? 0 : bytes;
    if (!room)
        note_blocked(c, bytes);
    return room;
}

static bool send_past_l1(struct sm *c, struct packet *p)
{
    uint32_t bytes = packet_bytes(c, p);
    if (!has_network_room(c, bytes))
        return false;
    c->lsu.moved = true;
    p->slice = network_slice(&c->net, p->address);
    expect_store_answers(c, p);
    if (c->config->atomics_drop_l1 && p->kind == PACKET_ATOMIC && c->lsu.l1d)
        cache_forget(c->lsu.l1d, p->address & ~(uint64_t)(c->config->l1d.line_bytes - 1), c->config->l1d.line_bytes);
    network_push(&c->net, c->head.port, p, bytes, c->now);
    if (!packet_is_write(p) && p->kind != PACKET_ATOMIC) /* answered piece by piece */
        c->flights.list[p->token].remaining += network_answers(&c->net, p) - 1;
    return true;
}

STEP bool enter_l1_pipe(struct sm *c, const struct packet *p, bool plain)
{
    struct sm_lsu *l = &c->lsu;
    if (plain || !l->l1_capacity) {
        expect_store_answers(c, p);
        if (access_l1d(c, p))
            return true;
        if (packet_is_write(p)) /* not taken: not expected either */
            c->slots[p->warp].stores -= network_answers(&c->net, p);
        return false;
    }
    if (l->l1_count == l->l1_capacity)
        return false;
    uint32_t at = l->l1_head + l->l1_count;
    if (at >= l->l1_capacity)
        at -= l->l1_capacity;
    l->l1_pipe[at] = (struct sm_delay){.ready = c->now + c->config->l1d.latency_cycles, .packet = *p};
    l->l1_count++;
    expect_store_answers(c, p);
    c->lsu.moved = true;
    return true;
}

/* Constant and texture caches: a hit is answered as one in the L1D (constants), or in its turn (textures). */
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
    c->lsu.moved = true;
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

/* Until the next access of an atomic may leave. */
static uint32_t atomic_cycles(const struct sm_config *g, const struct packet *p)
{
    uint32_t sectors = packet_sectors(p->sectors);
    return g->atomic_sector_cycles ? g->atomic_sector_cycles * sectors + (sectors > 1) : 0;
}

/* Sends what fits in a cycle. True: all accesses are on their way. */
STEP bool send_accesses(struct sm *c, uint16_t id, bool plain)
{
    struct sm_inflight *f = &c->flights.list[id];
    const struct sm_accesses *a = &c->lsu.access_pool[f->accesses];
    uint32_t most = !plain && f->route == ROUTE_L1D && c->config->l1d.banks ? c->config->l1d.banks : 1;
    for (uint32_t n = 0; n < most && f->next_access < a->count; n++) {
        struct packet *p = make_packet(&c->lsu, f, a);
        if (plain ? !enter_l1_pipe(c, p, true) : !send_access(c, f, p))
            return false;
        f->next_access++;
        if (f->atomic)
            c->lsu.atomics_at = c->now + atomic_cycles(c->config, p);
    }
    if (f->next_access == a->count)
        return true;
    if (!plain && f->route == ROUTE_PAST) /* looked at now, an access without room costs no further cycle */
        has_network_room(c, packet_bytes(c, make_packet(&c->lsu, f, a)));
    return false;
}

static void leave(struct sm *c, uint16_t id)
{
    struct sm_inflight *f = &c->flights.list[id];
    c->lsu.dispatch = SM_NONE;
    c->lsu.plain = false;
    if (!c->lsu.free_access_count)
        c->issue.at = 0;
    c->lsu.free_accesses[c->lsu.free_access_count++] = f->accesses;
    f->accesses = SM_NONE;
    f->in_lsu = false;
    c->lsu.moved = true;
    if (f->remaining)
        return;
    if (f->inst->wait == WAIT_LONG && !f->store && f->next_access && c->observer && c->observer->load_end)
        c->observer->load_end(c->observer->context, c->head.id, f->slot, c->now, f->pc);
    sm_finish(c, id);
}

/* In the order they come. Only where a warp adds up first, which is no matter of the pipeline, others pass. */
static inline void enter_shared_pipe(struct sm *c, uint16_t id, uint64_t ready)
{
    struct sm_lsu *l = &c->lsu;
    uint32_t at = l->shared_head + l->shared_count++;
    at = at >= l->shared_capacity ? at - l->shared_capacity : at;
    while (at != l->shared_head) {
        uint32_t before = (at ? at : l->shared_capacity) - 1;
        if (l->shared_pipe[before].ready <= ready || !c->flights.list[l->shared_pipe[before].id].adds_up)
            break;
        l->shared_pipe[at] = l->shared_pipe[before];
        at = before;
    }
    l->shared_pipe[at] = (struct sm_instruction_delay){.ready = ready, .id = id};
}

STEP void dispatch_cycle(struct sm *c, bool plain)
{
    struct sm_lsu *l = &c->lsu;
    uint16_t id = l->dispatch;
    struct sm_inflight *f = &c->flights.list[id];
    if (!plain && f->space == SM_SHARED) {
        if (f->shared_cycles > 1) {
            f->shared_cycles--;
            c->lsu.moved = true;
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
    if (!plain && f->shared_cycles > 1) {
        f->shared_cycles--;
        l->moved = true;
        return;
    }
    if (!plain && f->atomic && c->now < l->atomics_at) {
        l->waits_for_bytes = 0; /* nobody wakes it for that any more: it is looked at again when its time has come */
        l->moved = true;
        return;
    }
    if (!plain && l->waits_for_bytes && !has_network_room(c, l->waits_for_bytes))
        return;
    if ((!plain && f->space == SM_NO_MEMORY) || send_accesses(c, id, plain))
        leave(c, id);
}

/* An instruction at work whose access was refused by the L1D does nothing until something changes. (With a pipeline in
 * front of the L1D, it is the pipeline that waits.) */
static inline bool is_refused(const struct sm_lsu *l) { return l->refused && !l->l1_capacity; }

static inline bool dispatch_waits(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    return l->dispatch == SM_NONE ? !collector_offers(c->pipes.collector, COLLECT_MEM)
                                  : is_refused(l) || l->waits_for_bytes;
}

static inline bool goes_on(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    return l->next_wb != SM_NONE || c->lsu.d->misses.count || !dispatch_waits(c) ||
           (l->responses.count | l->l1_count | l->shared_count | l->texture_count | c->lsu.d->ready_requests) ||
           l->next_global != SM_NONE || (l->fragment_count && (c->lsu.textures->misses.count || sm_textures_move(l))) ||
           (l->read_only_waits && (c->lsu.textures->misses.count | c->lsu.textures->ready_requests |
                                   c->lsu.constants->misses.count | c->lsu.constants->ready_requests));
}

/* Takes the next instruction, if one has its operands. */
static inline void take_instruction(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    inflight_id id;
    if (!collector_offers(c->pipes.collector, COLLECT_MEM) || !collector_front(c->pipes.collector, COLLECT_MEM, &id))
        return;
    collector_take(c->pipes.collector, COLLECT_MEM);
    struct sm_inflight *f = &c->flights.list[id];
    l->dispatch = id;
    l->rests = false;
    l->access = (struct packet){.token = id,
                                .pc = f->pc,
                                .core = (uint16_t)c->head.id,
                                .warp = f->slot,
                                .kind = f->packet_kind,
                                .origin = ORIGIN_LSU,
                                .takes_turns = f->inst->takes_turns};
    l->plain = f->route == ROUTE_L1D && (f->space == SM_DEVICE || f->space == SM_LOCAL) && c->config->l1d.banks <= 1 &&
               !l->l1_capacity && !c->observer && !c->regroup;
    f->in_lsu = true;
    c->lsu.moved = true;
}

static void show_queues(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    uint32_t accesses = 0;
    if (l->dispatch != SM_NONE) {
        const struct sm_inflight *f = &c->flights.list[l->dispatch];
        accesses = f->space == SM_SHARED    ? f->shared_cycles
                   : f->accesses != SM_NONE ? l->access_pool[f->accesses].count - f->next_access
                                            : 1;
    }
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

/* The instruction at work is plain, and only the L1D has results: what a core does that waits for memory. */
static inline bool is_plain(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    return l->plain &&
           (l->responses.count | l->shared_count | l->texture_count | l->fragment_count | l->read_only_waits) == 0 &&
           l->next_global == SM_NONE;
}

static bool has_nothing(const struct sm_lsu *l)
{
    return (l->responses.count | l->l1_count | l->shared_count | l->texture_count | l->fragment_count |
            l->read_only_waits | l->d->misses.count | l->d->ready_requests) == 0 &&
           l->dispatch == SM_NONE && l->next_wb == SM_NONE && l->next_global == SM_NONE && !l->refused;
}

/* last: of the cycle, at the end of which an instruction enters, if it does so before the collectors have their
 * step. */
STEP bool step_as(struct sm *c, bool last, bool plain)
{
    struct sm_lsu *l = &c->lsu;
    l->moved = false;
    writeback(c, plain);
    if (!plain) {
        if (l->responses.count)
            take_response(c);
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
    if (!plain && l->l1_count)
        l1_pipe_cycle(c);
    if (is_refused(l))
        c->account.counters.l1d.fails[l->retry]++;
    else if (plain || l->dispatch != SM_NONE)
        dispatch_cycle(c, plain);
    if (last && l->dispatch == SM_NONE && !l->enters_after_collectors)
        take_instruction(c);
    if (!plain && c->observer)
        show_outstanding(c);
    if (l->moved)
        return (!plain && c->regroup) || goes_on(c);
    l->rests = !plain && !l->precedes && !c->observer && has_nothing(l);
    return false;
}

STEP bool step(struct sm *c, bool last) { return is_plain(c) ? step_as(c, last, true) : step_as(c, last, false); }

bool sm_lsu_step(struct sm *c) { return step(c, true); }

bool sm_lsu_early_step(struct sm *c) { return step(c, false); }

bool sm_lsu_enter(struct sm *c)
{
    if (c->lsu.dispatch != SM_NONE)
        return false;
    take_instruction(c);
    return c->lsu.dispatch != SM_NONE;
}

uint64_t lsu_next(const struct sm_lsu *l, uint64_t now)
{
    uint64_t next = SM_NEVER;
    if (l->l1_count && l->l1_pipe[l->l1_head].ready > now)
        next = l->l1_pipe[l->l1_head].ready;
    if (l->shared_count && l->shared_pipe[l->shared_head].ready > now && l->shared_pipe[l->shared_head].ready < next)
        next = l->shared_pipe[l->shared_head].ready;
    if (l->hits.count && l->hits.list[l->hits.head].ready < next)
        next = l->hits.list[l->hits.head].ready;
    return next;
}
