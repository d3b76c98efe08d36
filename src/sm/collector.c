/* Operand collectors and register banks, after GPGPU-Sim's operand collector. All collectors of a core are numbered through, those of a kind side
 * by side, so that a set of them is a 64-bit mask. Left out: what the registers hold (instructions have been executed when they issued), and
 * GPGPU-Sim's wavefront matching of banks to collectors: here banks are asked in turn, from one that moves on by one every cycle. A cycle with
 * nothing to read does not move it, so that leaving out a cycle that would change nothing changes nothing.
 *
 * A bank serves its requests in order of arrival. The first of them is a bit of its collector (turn); only those behind it, which are rare, stand
 * in a queue. A bank asked in turn serves the collector whose turn it is, unless that has received something in this cycle: that is to say, each
 * collector receives from the first in turn of the banks where it has its turn. */
#include "sm/collector.h"

#include <assert.h>

enum { COLLECTORS_MOST = 64, BANKS_MOST = 64 };

/* age: numbers in order of issue, compared by difference. */
struct instruction { uint32_t age; inflight_id id; uint8_t operands; };
/* A pipeline register between issue and the collectors. */
struct id_oc { struct instruction instruction; uint8_t banks[COLLECT_OPERANDS]; };

struct kind {
    uint64_t members;             /* its collectors */
    uint32_t ports, width;
    uint32_t last;                /* collector dispatched last */
    uint32_t waiting_count, done_count;
    struct id_oc *waiting;        /* ID/OC registers, oldest instruction first, as in the others */
    struct instruction *done;     /* OC/EX registers */
};

/* Collectors whose turn at a bank has not come, in order of arrival. A ring; the counters run on and are taken modulo its size. */
struct queue { uint16_t head, tail; };

struct collector {
    struct collector_head head;   /* first: read from outside */
    uint64_t free, ready;         /* collectors: without an instruction; with all operands */
    uint64_t room, wanted;        /* collectors of the kinds with room in OC/EX; of the kinds with an instruction in ID/OC */
    uint64_t asked, queued;       /* banks: with requests; with requests behind the first */
    uint64_t written;             /* banks, in this cycle */
    uint64_t all;                 /* collectors */
    uint32_t bank_count, first_bank;
    uint32_t queue_shift;         /* 2 to this power: size of a bank's queue */
    uint32_t inside;              /* instructions in registers and collectors */
    uint32_t age;                 /* of the next instruction */
    uint8_t *queues;              /* those of all banks, one after the other */
    struct kind kinds[COLLECT_KINDS];
    uint64_t turn[COLLECTORS_MOST]; /* banks whose first request is the collector's */
    struct instruction held[COLLECTORS_MOST];
    uint8_t behind[COLLECTORS_MOST]; /* a collector's requests in queues */
    uint8_t kind_of[COLLECTORS_MOST];
    struct queue behind_of[BANKS_MOST];
};

static uint64_t low_bits(uint32_t count)
{
    return count >= 64 ? ~0ull : (1ull << count) - 1;
}

/* first: number of its first collector. Returns that of the next kind's. */
static uint32_t kind_create(struct collector *c, struct arena *a, enum collector_kind kind, uint32_t first, uint32_t collectors, uint32_t ports, uint32_t width)
{
    assert(collectors > 0 && collectors <= COLLECTORS_MOST && first + collectors <= COLLECTORS_MOST && ports > 0 && width > 0);
    c->kinds[kind] = (struct kind){ .members = low_bits(collectors) << first, .ports = ports, .width = width, .last = first + collectors - 1,
                                    .waiting = arena_array(a, struct id_oc, width), .done = arena_array(a, struct instruction, width) };
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
    c->all = c->free = c->room = low_bits(count);
    c->head = (struct collector_head){ .accepts = (1u << COLLECT_KINDS) - 1, .idle = true, .stuck = true };
    c->bank_count = config->register_banks;
    while (1u << c->queue_shift < count * COLLECT_OPERANDS)
        c->queue_shift++;
    c->queues = arena_array(a, uint8_t, (size_t)c->bank_count << c->queue_shift);
    return c;
}

void collector_accept(struct collector *c, enum collector_kind kind, inflight_id id, const uint8_t *banks, uint32_t bank_count)
{
    struct kind *k = &c->kinds[kind];
    assert(k->waiting_count < k->width && bank_count <= COLLECT_OPERANDS);
    struct id_oc *to = &k->waiting[k->waiting_count++];
    to->instruction = (struct instruction){ .age = c->age++, .id = id, .operands = (uint8_t)bank_count };
    for (uint32_t i = 0; i < bank_count; i++)
        to->banks[i] = banks[i];
    if (k->waiting_count == k->width)
        c->head.accepts &= (uint8_t)~(1u << kind);
    c->wanted |= k->members;
    c->inside++;
    c->head.idle = false;
    c->head.stuck &= !(c->free & k->members);
}

bool collector_write_bank(struct collector *c, uint32_t bank)
{
    assert(bank < c->bank_count);
    if (c->written >> bank & 1)
        return false;
    c->written |= 1ull << bank;
    c->head.idle = c->head.stuck = false;
    return true;
}

/* Units take the oldest instruction first, whichever was ready first. */
static inline void done_insert(struct kind *k, struct instruction next)
{
    uint32_t at = k->done_count++;
    for (; at > 0 && (int32_t)(k->done[at - 1].age - next.age) > 0; at--)
        k->done[at] = k->done[at - 1];
    k->done[at] = next;
}

static inline void dispatch_kind(struct collector *c, uint32_t kind, struct kind *k)
{
    uint64_t ready = c->ready & k->members, left = 0;
    for (uint32_t port = 0; port < k->ports && ready && k->done_count < k->width; port++) {
        uint64_t behind = ready & (~1ull << k->last);
        uint32_t from = (uint32_t)__builtin_ctzll(behind ? behind : ready);
        ready ^= 1ull << from;
        left |= 1ull << from;
        k->last = from;
        done_insert(k, c->held[from]);
    }
    c->ready ^= left;
    c->free |= left;
    c->head.offers |= (uint8_t)(1u << kind);
    c->head.front[kind] = k->done[0].id;
    if (k->done_count == k->width)
        c->room &= ~k->members;
}

static void queue_push(struct collector *c, uint32_t bank, uint32_t collector)
{
    uint32_t at = c->behind_of[bank].tail++ & ((1u << c->queue_shift) - 1);
    c->queues[(bank << c->queue_shift) + at] = (uint8_t)collector;
    c->behind[collector]++;
    c->queued |= 1ull << bank;
}

static void queue_pop(struct collector *c, uint32_t bank)
{
    struct queue *q = &c->behind_of[bank];
    uint32_t next = c->queues[(bank << c->queue_shift) + (q->head++ & ((1u << c->queue_shift) - 1))];
    c->behind[next]--;
    c->turn[next] |= 1ull << bank;
    if (q->head == q->tail)
        c->queued &= ~(1ull << bank);
}

static inline void read_banks(struct collector *c)
{
    uint64_t able = ~c->written, from = ~0ull << c->first_bank, completed = 0; /* able: banks that have not been used in this cycle */
    for (uint64_t waiting = c->all & ~(c->free | c->ready); waiting; waiting &= waiting - 1) {
        uint32_t to = (uint32_t)__builtin_ctzll(waiting);
        uint64_t banks = c->turn[to] & able, high = banks & from;
        if (!banks)
            continue;
        banks = high ? high : banks;
        uint64_t bank = banks & -banks;
        able ^= bank;
        c->turn[to] ^= bank;
        if (__builtin_expect(c->queued & bank, 0))
            queue_pop(c, (uint32_t)__builtin_ctzll(bank));
        else
            c->asked ^= bank;
        if (!c->turn[to] && !c->behind[to])
            completed |= waiting & -waiting;
    }
    c->ready |= completed;
    c->first_bank = c->first_bank + 1 < c->bank_count ? c->first_bank + 1 : 0;
}

static inline void ask_banks(struct collector *c, const uint8_t *banks, uint32_t count, uint32_t collector)
{
    uint64_t asked = c->asked, turn = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bank = 1ull << banks[i];
        if (__builtin_expect(asked & bank, 0)) {
            queue_push(c, banks[i], collector);
        } else {
            asked |= bank;
            turn |= bank;
        }
    }
    c->asked = asked;
    c->turn[collector] = turn;
}

static inline void allocate_kind(struct collector *c, uint32_t kind, struct kind *k)
{
    uint64_t free = c->free & k->members;
    uint32_t count = 0;
    for (; count < k->ports && count < k->waiting_count && free; count++, free &= free - 1) {
        uint32_t to = (uint32_t)__builtin_ctzll(free);
        const struct id_oc *from = &k->waiting[count];
        c->free ^= free & -free;
        c->held[to] = from->instruction;
        if (from->instruction.operands == 0)
            c->ready |= free & -free;
        ask_banks(c, from->banks, from->instruction.operands, to);
    }
    k->waiting_count -= count;
    for (uint32_t i = 0; i < k->waiting_count; i++)
        k->waiting[i] = k->waiting[i + count];
    c->head.accepts |= (uint8_t)(1u << kind);
    if (!k->waiting_count)
        c->wanted &= ~k->members;
}

/* Kinds are visited through their collectors: one with nothing to do costs nothing. */
void collector_cycle(struct collector *c)
{
    for (uint64_t able = c->ready & c->room; able;) {
        uint32_t kind = c->kind_of[__builtin_ctzll(able)];
        dispatch_kind(c, kind, &c->kinds[kind]);
        able &= ~c->kinds[kind].members;
    }
    if (c->asked)
        read_banks(c);
    for (uint64_t able = c->free & c->wanted; able;) {
        uint32_t kind = c->kind_of[__builtin_ctzll(able)];
        allocate_kind(c, kind, &c->kinds[kind]);
        able &= ~c->kinds[kind].members;
    }
    c->written = 0;
    c->head.idle = c->inside == 0;
    c->head.stuck = ((c->ready & c->room) | (c->free & c->wanted) | c->asked) == 0;
}

void collector_take(struct collector *c, enum collector_kind kind)
{
    struct kind *k = &c->kinds[kind];
    assert(k->done_count > 0);
    k->done_count--;
    for (uint32_t i = 0; i < k->done_count; i++)
        k->done[i] = k->done[i + 1];
    c->head.front[kind] = k->done[0].id;
    if (!k->done_count)
        c->head.offers &= (uint8_t)~(1u << kind);
    c->room |= k->members;
    c->head.stuck &= !(c->ready & k->members);
    c->inside--;
    c->head.idle = c->inside == 0 && c->written == 0;
}
