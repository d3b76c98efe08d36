/* Operand collectors and register banks, after GPGPU-Sim's operand collector. All collectors of a core are numbered
 * through, with those of one kind side by side, so that a set of them is a 64-bit mask. Left out: the values of
 * registers (an instruction has been executed when it issued), and GPGPU-Sim's wavefront matching of banks to
 * collectors. Here banks are asked in turn, from one that moves on by one every cycle. A cycle with nothing to read
 * does not move it, so that a cycle that would change nothing can be left out.
 *
 * A bank serves its requests in order of arrival. The first of them is a bit of its collector (turn); only later
 * requests, which are rare, stand in a queue. A bank asked in turn serves the collector whose turn it is, unless
 * that has received an operand in this cycle. On machines that say so (banks_at_once, as GPGPU-Sim 4 does) a
 * collector receives from all its banks, and no bank waits for another. */
#include "sm/collector.h"

#include <assert.h>

/* Parts of a cycle. The compiler makes two copies of them, because collector_cycle is inlined where the core calls
 * it. */
#define STEP static inline __attribute__((always_inline))

enum { COLLECTORS_MOST = 64, BANKS_MOST = 64 };

/* Ages are numbers in the order of issue; they are compared by their difference, because they wrap around. */
struct instruction {
    uint32_t age;
    inflight_id id;
};
/* A pipeline register between issue and the collectors. */
struct id_oc {
    struct instruction instruction;
    struct collector_banks banks;
};

struct kind {
    uint64_t members; /* its collectors */
    uint32_t ports, width;
    uint32_t last; /* collector dispatched last */
    uint32_t id_oc_count, oc_ex_count;
    struct id_oc *id_oc;       /* ID/OC registers, oldest instruction first */
    struct instruction *oc_ex; /* OC/EX registers */
};

/* Collectors whose turn at a bank has not come, in order of arrival: a ring. The counters run on, and are taken
 * modulo its size. */
struct queue {
    uint16_t head, tail;
};

struct collector {
    struct collector_head head; /* first: read from outside */
    uint64_t queued;            /* banks with requests after the first */
    uint32_t bank_count, first_bank;
    bool at_once;         /* a collector may receive from several banks in a cycle */
    uint32_t queue_shift; /* a bank's queue has 2 to this power places */
    uint32_t age;         /* of the next instruction */
    uint8_t *queues;      /* the queues of all banks, one after the other */
    struct kind kinds[COLLECT_KINDS];
    uint64_t turn[COLLECTORS_MOST]; /* banks whose first request is the collector's */
    struct instruction inside[COLLECTORS_MOST];
    uint8_t queued_of[COLLECTORS_MOST]; /* a collector's requests in queues */
    uint8_t kind_of[COLLECTORS_MOST];
    struct queue queue_of[BANKS_MOST];
};

static uint64_t low_bits(uint32_t count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

/* Makes a kind whose first collector has the number `first`. Returns the number of the next kind's first collector. */
static uint32_t kind_create(struct collector *c, struct arena *a, enum collector_kind kind, uint32_t first,
                            uint32_t collectors, uint32_t ports, uint32_t width)
{
    assert(collectors > 0 && collectors <= COLLECTORS_MOST && first + collectors <= COLLECTORS_MOST && ports > 0 &&
           width > 0);
    c->kinds[kind] = (struct kind){.members = low_bits(collectors) << first,
                                   .ports = ports,
                                   .width = width,
                                   .last = first + collectors - 1,
                                   .id_oc = arena_array(a, struct id_oc, width),
                                   .oc_ex = arena_array(a, struct instruction, width)};
    for (uint32_t i = 0; i < collectors; i++)
        c->kind_of[first + i] = (uint8_t)kind;
    return first + collectors;
}

struct collector *collector_create(struct arena *a, const struct sm_config *config)
{
    assert(config->register_banks > 0 && config->register_banks <= BANKS_MOST);
    struct collector *c = arena_new(a, struct collector);
    uint32_t count = 0;
    count = kind_create(c, a, COLLECT_SP, count, config->sp_collectors, config->sp_ports, config->sp_issue_width);
    count = kind_create(c, a, COLLECT_SFU, count, config->sfu_collectors, config->sfu_ports, config->sfu_issue_width);
    count = kind_create(c, a, COLLECT_MEM, count, config->mem_collectors, config->mem_ports, config->mem_issue_width);
    c->head = (struct collector_head){
        .all = low_bits(count), .free = low_bits(count), .room = low_bits(count), .accepts = (1u << COLLECT_KINDS) - 1};
    for (int i = 0; i < COLLECT_KINDS; i++)
        c->head.members[i] = c->kinds[i].members;
    c->bank_count = config->register_banks;
    c->at_once = config->banks_at_once;
    while (1u << c->queue_shift < count * COLLECT_OPERANDS)
        c->queue_shift++;
    c->queues = arena_array(a, uint8_t, (size_t)c->bank_count << c->queue_shift);
    return c;
}

void collector_accept(struct collector *c, enum collector_kind kind, inflight_id id, struct collector_banks banks)
{
    struct kind *k = &c->kinds[kind];
    uint32_t count = k->id_oc_count;
    assert(count < k->width && banks.count <= COLLECT_OPERANDS);
    struct id_oc *to = &k->id_oc[count++];
    k->id_oc_count = count;
    c->head.accepts &= (uint8_t) ~((uint32_t)(count == k->width) << kind);
    c->head.wanted |= k->members;
    *to = (struct id_oc){.instruction = {.age = c->age++, .id = id}, .banks = banks};
}

bool collector_write_bank(struct collector *c, uint32_t bank)
{
    assert(bank < c->bank_count);
    uint64_t written = c->head.written;
    c->head.written = written | 1ull << bank;
    return !(written >> bank & 1);
}

/* Moves ready instructions to the OC/EX registers. The units take the oldest of these first, whichever was ready
 * first. */
STEP void dispatch_kind(struct collector *c, uint32_t kind, struct kind *k, uint64_t ready)
{
    struct instruction *done = k->oc_ex;
    uint64_t left = 0;
    uint32_t count = k->oc_ex_count, last = k->last, width = k->width,
             most = count + k->ports < width ? count + k->ports : width;
    do {
        uint64_t after = ready & (~1ull << last);
        last = (uint32_t)__builtin_ctzll(after ? after : ready);
        ready ^= 1ull << last;
        left |= 1ull << last;
        struct instruction next = c->inside[last];
        uint32_t at = count++;
        for (; at > 0 && (int32_t)(done[at - 1].age - next.age) > 0; at--)
            done[at] = done[at - 1];
        done[at] = next;
    } while (ready && count < most);
    k->last = last;
    k->oc_ex_count = count;
    c->head.ready ^= left;
    c->head.free |= left;
    c->head.offers |= (uint8_t)(1u << kind);
    c->head.front[kind] = done[0].id;
    if (count == width)
        c->head.room &= ~k->members;
}

static void queue_push(struct collector *c, uint32_t bank, uint32_t collector)
{
    uint32_t at = c->queue_of[bank].tail++ & ((1u << c->queue_shift) - 1);
    c->queues[(bank << c->queue_shift) + at] = (uint8_t)collector;
    c->queued_of[collector]++;
    c->queued |= 1ull << bank;
}

static void queue_pop(struct collector *c, uint32_t bank)
{
    struct queue *q = &c->queue_of[bank];
    uint32_t next = c->queues[(bank << c->queue_shift) + (q->head++ & ((1u << c->queue_shift) - 1))];
    c->queued_of[next]--;
    c->turn[next] |= 1ull << bank;
    if (q->head == q->tail)
        c->queued &= ~(1ull << bank);
}

STEP void read_banks(struct collector *c)
{
    uint64_t able = ~c->head.written, from = ~0ull << c->first_bank, completed = 0,
             served = 0; /* able: banks that have not been used in this cycle */
    for (uint64_t reading = c->head.all & ~(c->head.free | c->head.ready); reading; reading &= reading - 1) {
        uint32_t to = (uint32_t)__builtin_ctzll(reading);
        uint64_t turn = c->turn[to], banks = turn & able, high = banks & from;
        if (!c->at_once) {
            banks = high ? high : banks;
            banks &= -banks;
        }
        able ^= banks;
        turn ^= banks;
        c->turn[to] = turn;
        served |= banks & ~c->queued;
        for (uint64_t next = banks & c->queued; unlikely(next); next &= next - 1) {
            queue_pop(c, (uint32_t)__builtin_ctzll(next));
            turn = c->turn[to]; /* its own request may have been the next */
        }
        completed |= (uint64_t)((turn | c->queued_of[to]) == 0) << to;
    }
    c->head.asked ^= served;
    c->head.ready |= completed;
    c->first_bank = c->first_bank + 1 < c->bank_count ? c->first_bank + 1 : 0;
}

/* For an instruction with two operands in one bank, or of whose banks one has requests already. */
static __attribute__((noinline)) uint64_t ask_in_turn(struct collector *c, const struct collector_banks *banks,
                                                      uint32_t collector)
{
    uint64_t asked = c->head.asked, before = asked, each = banks->each;
    for (uint32_t i = 0; i < banks->count; i++, each >>= 8) {
        uint32_t bank = each & 255;
        if (asked >> bank & 1)
            queue_push(c, bank, collector);
        asked |= 1ull << bank;
    }
    c->head.asked = asked;
    return asked ^ before;
}

/* Returns the banks that serve the collector first. */
static inline uint64_t ask_banks(struct collector *c, const struct collector_banks *banks, uint32_t collector)
{
    if (unlikely(!banks->apart || (c->head.asked & banks->set)))
        return ask_in_turn(c, banks, collector);
    c->head.asked |= banks->set;
    return banks->set;
}

STEP void allocate_kind(struct collector *c, uint32_t kind, struct kind *k, uint64_t free)
{
    struct id_oc *from = k->id_oc;
    uint64_t taken = 0, ready = 0;
    uint32_t all = k->id_oc_count, most = all < k->ports ? all : k->ports, count = 0;
    do {
        uint32_t to = (uint32_t)__builtin_ctzll(free);
        uint64_t bit = free & -free;
        free ^= bit;
        taken |= bit;
        c->inside[to] = from[count].instruction;
        c->turn[to] = ask_banks(c, &from[count].banks, to);
        if (!from[count].banks.count)
            ready |= bit;
        count++;
    } while (free && count < most);
    c->head.free ^= taken;
    c->head.ready |= ready;
    c->head.accepts |= (uint8_t)(1u << kind);
    k->id_oc_count = all - count;
    for (uint32_t i = count; i < all; i++)
        from[i - count] = from[i];
    if (count == all)
        c->head.wanted &= ~k->members;
}

/* Kinds are visited through their collectors: one with nothing to do costs nothing. */
STEP void step(struct collector *c)
{
    for (uint64_t able = c->head.ready & c->head.room; able;) {
        uint32_t kind = c->kind_of[__builtin_ctzll(able)];
        uint64_t members = c->kinds[kind].members;
        dispatch_kind(c, kind, &c->kinds[kind], able & members);
        able &= ~members;
    }
    if (c->head.asked)
        read_banks(c);
    for (uint64_t able = c->head.free & c->head.wanted; able;) {
        uint32_t kind = c->kind_of[__builtin_ctzll(able)];
        uint64_t members = c->kinds[kind].members;
        allocate_kind(c, kind, &c->kinds[kind], able & members);
        able &= ~members;
    }
    c->head.written = 0;
}

void collector_cycle(struct collector *c) { step(c); }

__attribute__((noinline)) void collector_early_step(struct collector *c) { step(c); }

void collector_take(struct collector *c, enum collector_kind kind)
{
    struct kind *k = &c->kinds[kind];
    struct instruction *done = k->oc_ex;
    assert(k->oc_ex_count > 0);
    uint32_t count = --k->oc_ex_count;
    c->head.room |= k->members;
    if (!count)
        c->head.offers &= (uint8_t) ~(1u << kind);
    else
        done[0] = done[1]; /* mostly there is no third: a call for the move would cost more */
    for (uint32_t i = 1; i < count; i++)
        done[i] = done[i + 1];
    c->head.front[kind] = done[0].id;
}
