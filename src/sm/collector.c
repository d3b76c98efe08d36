/* Operand collectors and register banks, after GPGPU-Sim's operand collector. All collectors of a core are numbered through, those of a kind side
 * by side, so that a set of them is a 64-bit mask. Left out: what the registers hold (instructions have been executed when they issued), and
 * GPGPU-Sim's wavefront matching of banks to collectors: here banks are asked in turn, from one that moves on by one every cycle. A cycle with
 * nothing to read does not move it, so that leaving out a cycle that would change nothing changes nothing. */
#include "sm/collector.h"

#include <assert.h>

enum { COLLECTORS_MOST = 64, BANKS_MOST = 64 };

/* A pipeline register between issue and the collectors. */
struct id_oc { uint32_t age; inflight_id id; uint8_t operands; uint8_t banks[COLLECT_OPERANDS]; };
/* One between the collectors and the units. */
struct oc_ex { uint32_t age; inflight_id id; };

struct kind {
    uint64_t members;             /* its collectors */
    uint32_t ports, width;
    uint32_t last;                /* collector dispatched last */
    uint32_t waiting_head, waiting_count;
    uint32_t done_count;
    struct id_oc *waiting;        /* ID/OC registers: a ring in order of issue */
    struct oc_ex *done;           /* OC/EX registers, oldest instruction first */
};

/* Requests of one bank: collectors, in order of arrival. A ring; the counters run on and are taken modulo its size. */
struct bank { uint16_t head, tail; };

struct collector {
    struct collector_head head;   /* first: read from outside */
    uint64_t free, ready;         /* collectors: without an instruction; with all operands */
    uint64_t room, wanted;        /* collectors of the kinds with room in OC/EX; of the kinds with an instruction in ID/OC */
    uint64_t asked, written;      /* banks: with requests; written in this cycle */
    uint32_t bank_count, first_bank;
    uint32_t queue_shift;         /* 2 to this power: size of a bank's ring */
    uint32_t inside;              /* instructions in registers and collectors */
    uint32_t age;                 /* of the next instruction: numbers in order of issue, compared by difference */
    uint8_t *queues;              /* the rings of all banks, one after the other */
    struct kind kinds[COLLECT_KINDS];
    struct bank banks[BANKS_MOST];
    uint8_t missing[COLLECTORS_MOST]; /* operands not yet read */
    uint8_t kind_of[COLLECTORS_MOST];
    inflight_id ids[COLLECTORS_MOST];
    uint32_t ages[COLLECTORS_MOST];
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
                                    .waiting = arena_array(a, struct id_oc, width), .done = arena_array(a, struct oc_ex, width) };
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
    c->free = c->room = low_bits(count);
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
    uint32_t at = k->waiting_head + k->waiting_count++;
    struct id_oc *to = &k->waiting[at < k->width ? at : at - k->width];
    to->age = c->age++;
    to->id = id;
    to->operands = (uint8_t)bank_count;
    for (uint32_t i = 0; i < bank_count; i++) {
        assert(banks[i] < c->bank_count);
        to->banks[i] = banks[i];
    }
    if (k->waiting_count == k->width)
        c->head.accepts &= (uint8_t)~(1u << kind);
    c->wanted |= k->members;
    c->inside++;
    c->head.idle = false;
    if (c->free & k->members)
        c->head.stuck = false;
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
static void done_insert(struct kind *k, inflight_id id, uint32_t age)
{
    uint32_t at = k->done_count++;
    for (; at > 0 && (int32_t)(k->done[at - 1].age - age) > 0; at--)
        k->done[at] = k->done[at - 1];
    k->done[at] = (struct oc_ex){ .age = age, .id = id };
}

static void dispatch_kind(struct collector *c, struct kind *k)
{
    uint64_t ready = c->ready & k->members;
    for (uint32_t port = 0; port < k->ports && ready && k->done_count < k->width; port++) {
        uint64_t behind = ready & (~1ull << k->last);
        uint32_t from = (uint32_t)__builtin_ctzll(behind ? behind : ready);
        ready ^= 1ull << from;
        c->ready ^= 1ull << from;
        c->free |= 1ull << from;
        k->last = from;
        done_insert(k, c->ids[from], c->ages[from]);
    }
    c->head.offers |= (uint8_t)(1u << (k - c->kinds));
    if (k->done_count == k->width)
        c->room &= ~k->members;
}

/* Each bank that was not written serves the request at its front, if that one's collector has received nothing in this cycle. Without branches on
 * that: it is as good as random. */
static void read_banks(struct collector *c)
{
    uint64_t banks = c->asked & ~c->written, from = ~0ull << c->first_bank, received = 0, emptied = 0, completed = 0;
    uint32_t shift = c->queue_shift, mask = (1u << shift) - 1;
    while (banks) {
        uint64_t high = banks & from;
        uint32_t index = (uint32_t)__builtin_ctzll(high ? high : banks);
        banks ^= 1ull << index;
        struct bank *bank = &c->banks[index];
        uint32_t to = c->queues[(index << shift) + (bank->head & mask)], granted = ~(uint32_t)(received >> to) & 1;
        uint16_t head = (uint16_t)(bank->head + granted);
        uint8_t missing = (uint8_t)(c->missing[to] - granted);
        bank->head = head;
        c->missing[to] = missing;
        received |= 1ull << to;
        emptied |= (uint64_t)(head == bank->tail) << index;
        completed |= (uint64_t)(missing == 0) << to; /* said again for one that was completed before in this cycle */
    }
    c->asked &= ~emptied;
    c->ready |= completed;
    c->first_bank = c->first_bank + 1 < c->bank_count ? c->first_bank + 1 : 0;
}

static void ask_banks(struct collector *c, const uint8_t *banks, uint32_t count, uint32_t collector)
{
    uint32_t shift = c->queue_shift, mask = (1u << shift) - 1;
    uint64_t asked = c->asked;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = banks[i], tail = c->banks[index].tail++;
        c->queues[(index << shift) + (tail & mask)] = (uint8_t)collector;
        asked |= 1ull << index;
    }
    c->asked = asked;
}

static void allocate_kind(struct collector *c, struct kind *k)
{
    uint64_t free = c->free & k->members;
    for (uint32_t port = 0; port < k->ports && free && k->waiting_count; port++) {
        uint32_t to = (uint32_t)__builtin_ctzll(free);
        const struct id_oc *from = &k->waiting[k->waiting_head];
        free ^= 1ull << to;
        c->free ^= 1ull << to;
        c->ids[to] = from->id;
        c->ages[to] = from->age;
        c->missing[to] = from->operands;
        c->ready |= (uint64_t)(from->operands == 0) << to;
        ask_banks(c, from->banks, from->operands, to);
        k->waiting_head = k->waiting_head + 1 < k->width ? k->waiting_head + 1 : 0;
        k->waiting_count--;
    }
    c->head.accepts |= (uint8_t)(1u << (k - c->kinds));
    if (!k->waiting_count)
        c->wanted &= ~k->members;
}

/* Kinds are visited through their collectors: one with nothing to do costs nothing. */
void collector_cycle(struct collector *c)
{
    for (uint64_t able = c->ready & c->room; able;) {
        struct kind *k = &c->kinds[c->kind_of[__builtin_ctzll(able)]];
        dispatch_kind(c, k);
        able &= ~k->members;
    }
    if (c->asked)
        read_banks(c);
    for (uint64_t able = c->free & c->wanted; able;) {
        struct kind *k = &c->kinds[c->kind_of[__builtin_ctzll(able)]];
        allocate_kind(c, k);
        able &= ~k->members;
    }
    c->written = 0;
    c->head.idle = c->inside == 0;
    c->head.stuck = ((c->ready & c->room) | (c->free & c->wanted) | c->asked) == 0;
}

bool collector_front(const struct collector *c, enum collector_kind kind, inflight_id *id)
{
    const struct kind *k = &c->kinds[kind];
    if (!k->done_count)
        return false;
    *id = k->done[0].id;
    return true;
}

void collector_take(struct collector *c, enum collector_kind kind)
{
    struct kind *k = &c->kinds[kind];
    assert(k->done_count > 0);
    k->done_count--;
    for (uint32_t i = 0; i < k->done_count; i++)
        k->done[i] = k->done[i + 1];
    if (!k->done_count)
        c->head.offers &= (uint8_t)~(1u << kind);
    c->room |= k->members;
    if (c->ready & k->members)
        c->head.stuck = false;
    c->inside--;
    c->head.idle = c->inside == 0 && c->written == 0;
}
