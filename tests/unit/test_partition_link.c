/* Two halves of an L2: is what is at home in the other half fetched once, kept, dropped when it is written, and is
 * every request answered exactly once? */
#include "partition_test.h"

enum { LINK = 50, PORTS = 2 };

struct halves {
    struct arena arena;
    struct mem_config config;
    struct address_map map;
    struct network *requests, *replies;
    struct partition *partition[2];
    struct partition_calendar calendar;
    uint64_t now;
    uint32_t atomics, answers;
    uint32_t mask; /* of what is asked next, or 0: as it comes */
    uint64_t answered_at;
};

static void note_atomic(void *context, const struct packet *p)
{
    struct halves *h = context;
    assert_int_equal(p->kind, PACKET_ATOMIC);
    h->atomics++;
}

static struct halves *halves_of(void)
{
    struct halves *h = test_calloc(1, sizeof *h);
    struct error e = {0};
    h->config = default_config();
    h->config.dram.channels = 2;
    h->config.l2.slices_per_channel = 1;
    h->config.l2.link_cycles = LINK;
    assert_true(address_map_init(&h->map, &h->config.dram, 1, &e));
    h->requests = network_create(&h->arena, &h->config.network, NETWORK_REQUESTS, PORTS, 2);
    h->replies = network_create(&h->arena, &h->config.network, NETWORK_REPLIES, 2, PORTS);
    for (uint32_t i = 0; i < 2; i++) {
        h->partition[i] = partition_create(&h->arena, &h->config, &h->map, i, h->requests, h->replies,
                                           &(struct partition_hooks){.context = h, .on_atomic = note_atomic});
        partition_share_calendar(h->partition[i], &h->calendar);
    }
    partition_link(h->partition[0], h->partition[1], &h->arena);
    return h;
}

static void halves_free(struct halves *h)
{
    arena_free(&h->arena);
    test_free(h);
}

static void step(struct halves *h)
{
    h->now++;
    for (uint32_t i = 0; i < 2; i++) {
        partition_send_replies(h->partition[i], h->now);
        partition_dram_cycle(h->partition[i], h->now, h->now);
    }
    /* as an owner does: not before the calendar says so */
    for (uint64_t left = h->requests->waiting[0]; left; left &= left - 1) {
        uint32_t slice = (uint32_t)__builtin_ctzll(left), per_channel = h->config.l2.slices_per_channel;
        partition_take_request(h->partition[slice / per_channel], slice % per_channel, h->now, h->now);
    }
    if (h->calendar.l2_at <= h->now) {
        h->calendar.l2_at = UINT64_MAX;
        uint64_t next = UINT64_MAX;
        for (uint32_t i = 0; i < 2; i++) {
            partition_l2_cycle(h->partition[i], h->now, h->now);
            next = partition_head(h->partition[i])->l2_at < next ? partition_head(h->partition[i])->l2_at : next;
        }
        h->calendar.l2_at = h->calendar.l2_at < next ? h->calendar.l2_at : next;
    }
    network_cycle(h->requests, h->now);
    network_cycle(h->replies, h->now);
    for (uint32_t o = 0; o < PORTS; o++)
        while (network_front(h->replies, o)) {
            h->answers++;
            h->answered_at = h->now;
            network_pop(h->replies, o);
        }
}

static bool is_empty(const struct halves *h)
{
    return partition_idle(h->partition[0]) && partition_idle(h->partition[1]) && network_is_empty(h->requests) &&
           network_is_empty(h->replies);
}

/* Core 0 is near to half 0, core 1 to half 1. Returns the cycles until the answer. */
static uint64_t ask(struct halves *h, enum packet_kind kind, uint32_t core, uint64_t address)
{
    struct packet p = request_of(kind, core, address, 32, 0);
    if (h->mask)
        p.mask = h->mask;
    uint64_t begin = h->now;
    uint32_t answers = h->answers;
    network_push(h->requests, core, core, &p, packet_is_write(&p) ? 40 : 8, h->now);
    while (!is_empty(h))
        step(h);
    assert_int_equal(h->answers, answers + 1);
    return h->answered_at - begin;
}

static uint64_t address_at_home_in(const struct halves *h, uint32_t half)
{
    uint64_t address = 0x4000;
    while (address_map_slice(&h->map, address) != half)
        address += 256;
    return address;
}

static void copies_are_kept(void **state)
{
    (void)state;
    struct halves *h = halves_of();
    uint64_t far = address_at_home_in(h, 1);
    uint64_t cold = ask(h, PACKET_LOAD, 0, far);
    assert_int_equal(ask(h, PACKET_LOAD, 0, far), HIT_CYCLES); /* the copy */
    assert_int_equal(ask(h, PACKET_LOAD, 1, far), HIT_CYCLES); /* the home */
    assert_true(cold > MISS_CYCLES + 2 * LINK);
    assert_true(cold <= MISS_CYCLES + 2 * LINK + 8);
    /* A hit of the home from the other half: the way there and back, and the steps of the home. */
    uint64_t other = far + 1024;
    assert_int_equal(address_map_slice(&h->map, other), 1);
    ask(h, PACKET_LOAD, 1, other);
    uint64_t over = ask(h, PACKET_LOAD, 0, other);
    assert_true(over > HIT_CYCLES + 2 * LINK && over <= HIT_CYCLES + 2 * LINK + 8);
    struct partition_counters c = {0};
    partition_read_counters(h->partition[0], &c);
    partition_read_counters(h->partition[1], &c);
    assert_int_equal(c.l2.accesses, 5); /* of cores: what the halves ask of each other is none */
    assert_int_equal(c.l2.hits, 2);
    halves_free(h);
}

static void writes_drop_copies(void **state)
{
    (void)state;
    struct halves *h = halves_of();
    uint64_t far = address_at_home_in(h, 1);
    ask(h, PACKET_LOAD, 0, far);
    ask(h, PACKET_STORE, 1, far); /* at home */
    assert_true(ask(h, PACKET_LOAD, 0, far) > HIT_CYCLES + 2 * LINK);
    assert_int_equal(ask(h, PACKET_LOAD, 0, far), HIT_CYCLES);
    assert_true(ask(h, PACKET_ATOMIC, 0, far) > HIT_CYCLES + 2 * LINK);
    assert_int_equal(h->atomics, 1);
    assert_true(ask(h, PACKET_LOAD, 0, far) > HIT_CYCLES + 2 * LINK);
    partition_touch(h->partition[1], far); /* a copy from the host */
    assert_true(ask(h, PACKET_LOAD, 0, far) > HIT_CYCLES + 2 * LINK);
    halves_free(h);
}

/* From the other half it is answered from home. On its way it leaves the copy as it is; what it writes wholly it leaves
 * there too. */
static void writes_on_their_way_leave_copies(void **state)
{
    (void)state;
    struct halves *h = halves_of();
    uint64_t far = address_at_home_in(h, 1);
    h->mask = 1;
    assert_true(ask(h, PACKET_STORE, 0, far) > HIT_CYCLES + 2 * LINK);
    assert_true(ask(h, PACKET_LOAD, 0, far) > HIT_CYCLES + 2 * LINK);
    assert_true(ask(h, PACKET_STORE, 0, far) > HIT_CYCLES + 2 * LINK);
    assert_int_equal(ask(h, PACKET_LOAD, 0, far), HIT_CYCLES);
    h->mask = UINT32_MAX;
    assert_true(ask(h, PACKET_STORE, 0, far + 1024) > HIT_CYCLES + 2 * LINK);
    assert_int_equal(ask(h, PACKET_LOAD, 0, far + 1024), HIT_CYCLES);
    halves_free(h);
}

/* Cycles until a load is answered that hits in the near half, right after an atomic that passes there. */
static uint64_t load_after_passing_atomic(uint32_t sector_cycles)
{
    struct halves *h = halves_of();
    h->config.l2.atomic_sector_cycles = sector_cycles;
    uint64_t near = address_at_home_in(h, 0), far = address_at_home_in(h, 1), answered = 0;
    ask(h, PACKET_LOAD, 0, near);
    ask(h, PACKET_LOAD, 1, far);
    struct packet atomic = request_of(PACKET_ATOMIC, 0, far, 32, 0), load = request_of(PACKET_LOAD, 0, near, 32, 0);
    uint64_t begin = h->now;
    uint32_t answers = h->answers;
    network_push(h->requests, 0, 0, &atomic, 40, h->now);
    network_push(h->requests, 0, 0, &load, 8, h->now);
    while (!is_empty(h)) {
        step(h);
        if (!answered && h->answers > answers)
            answered = h->now - begin; /* the load's, as the atomic goes there and back */
    }
    assert_int_equal(h->answers, answers + 2);
    halves_free(h);
    return answered;
}

static void passing_takes_time(void **state)
{
    (void)state;
    enum { EACH = 20 };
    assert_int_equal(load_after_passing_atomic(0), HIT_CYCLES + 1);
    assert_int_equal(load_after_passing_atomic(EACH), HIT_CYCLES + EACH);
}

static void all_are_answered(void **state)
{
    (void)state;
    static const enum packet_kind kinds[] = {PACKET_LOAD, PACKET_LOAD, PACKET_STORE, PACKET_ATOMIC};
    struct halves *h = halves_of();
    uint32_t seed = 1, sent = 0, atomics = 0;
    while (sent < 20000) {
        seed = seed * 1664525 + 1013904223;
        uint32_t core = seed >> 31;
        struct packet p = request_of(kinds[seed >> 29 & 3], core, (seed >> 8 & 0xfff) * 32, 32, sent);
        if (network_has_room(h->requests, core, 40)) {
            network_push(h->requests, core, core, &p, packet_is_write(&p) ? 40 : 8, h->now);
            sent++;
            atomics += p.kind == PACKET_ATOMIC;
        }
        step(h);
    }
    for (uint32_t i = 0; i < 100000 && !is_empty(h); i++)
        step(h);
    assert_true(is_empty(h));
    assert_int_equal(h->answers, sent);
    assert_int_equal(h->atomics, atomics);
    halves_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_are_kept), cmocka_unit_test(writes_drop_copies),
                                       cmocka_unit_test(writes_on_their_way_leave_copies),
                                       cmocka_unit_test(all_are_answered), cmocka_unit_test(passing_takes_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
