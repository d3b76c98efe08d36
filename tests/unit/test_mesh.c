/* The mesh: when a packet arrives, to the cycle; what a link carries; where ports are; that nothing is lost, overtaken
 * or stuck when all queues are full. */
#include "mem/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FLIT = 32, CORES = 15, SLICES = 12, COLUMNS = 6, ROUTER = 2, LINK = 1, HOP = ROUTER + LINK };

static struct arena arena;

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    arena = (struct arena){0};
    return 0;
}

static struct network_config stock(void)
{
    return (struct network_config){.network = NETWORK_IS_mesh,
                                   .flit_bytes = FLIT,
                                   .input_flits = 32,
                                   .output_flits = 32,
                                   .mesh_buffer_flits = HOP + LINK,
                                   .mesh_router_cycles = ROUTER,
                                   .mesh_link_cycles = LINK};
}

static struct network *make(enum network_direction direction)
{
    struct network_config c = stock();
    bool to_slices = direction == NETWORK_REQUESTS;
    return network_create(&arena, &c, direction, to_slices ? CORES : SLICES, to_slices ? SLICES : CORES);
}

static void push(struct network *n, uint32_t input, uint32_t output, uint32_t token, uint32_t flits, uint64_t now)
{
    struct packet p = {.token = token, .core = (uint16_t)input};
    assert_true(network_has_room(n, input, flits * FLIT));
    network_push(n, input, output, &p, flits * FLIT, now);
}

static uint32_t take(struct network *n, uint32_t output)
{
    assert_non_null(network_front(n, output));
    uint32_t token = network_front(n, output)->token;
    network_pop(n, output);
    return token;
}

static int distance(int a, int b) { return a < b ? b - a : a - b; }

/* 27 ports in rows of 6: six slices above, fifteen cores in three rows, six slices below. The last three cores are
 * spread over their row. */
static int links_between(uint32_t core, uint32_t slice)
{
    int core_row = 1 + (int)core / COLUMNS, core_column = core < 12 ? (int)core % COLUMNS : 2 * ((int)core - 12);
    int slice_row = slice % 2 ? 4 : 0, slice_column = (int)slice / 2;
    return distance(core_row, slice_row) + distance(core_column, slice_column);
}

/* A hop for each link and for the way to the output, and a cycle for each further flit; asleep before and after. */
static void test_latency(void **state)
{
    (void)state;
    for (int direction = NETWORK_REQUESTS; direction <= NETWORK_REPLIES; direction++) {
        struct network *n = make((enum network_direction)direction);
        uint64_t now = 0;
        for (uint32_t core = 0; core < CORES; core++)
            for (uint32_t slice = 0; slice < SLICES; slice++) {
                uint32_t flits = 1 + (core + slice) % 9;
                uint32_t input = direction == NETWORK_REQUESTS ? core : slice;
                uint32_t output = direction == NETWORK_REQUESTS ? slice : core;
                uint64_t latency = (uint64_t)(links_between(core, slice) + 1) * HOP + flits - 1;
                assert_true(latency >= n->least_cycles);
                now += 1000;
                push(n, input, output, core, flits, now);
                assert_false(network_idle(n));
                for (uint64_t end = now + latency; now < end; now++) {
                    network_cycle(n, now);
                    assert_null(network_front(n, output));
                }
                network_cycle(n, now);
                assert_int_equal(take(n, output), core);
                network_cycle(n, now + 1);
                assert_true(network_is_empty(n));
            }
    }
}

/* Flits that pass in 1,000 cycles from core 0 to slice 0, which is its neighbour. */
static uint32_t flits_over_a_link(uint32_t buffer_flits, uint32_t packet_flits)
{
    struct network_config c = stock();
    c.mesh_buffer_flits = buffer_flits;
    struct network *n = network_create(&arena, &c, NETWORK_REQUESTS, CORES, SLICES);
    uint32_t taken = 0;
    for (uint64_t now = 0; now < 1000; now++) {
        while (network_has_room(n, 0, packet_flits * FLIT))
            push(n, 0, 0, 0, packet_flits, now);
        network_cycle(n, now);
        for (; network_front(n, 0); taken += packet_flits)
            network_pop(n, 0);
    }
    return taken;
}

/* A link carries a flit per cycle where its buffer lasts until the first credit is back, else as many as there are
 * places in that time. */
static void test_throughput_of_a_link(void **state)
{
    (void)state;
    assert_int_equal(flits_over_a_link(HOP + LINK, 1), 1000 - 2 * HOP);
    assert_in_range(flits_over_a_link(HOP + LINK, 5), 1000 - 2 * HOP - 4, 1000 - 2 * HOP);
    assert_int_equal(flits_over_a_link(100, 1), 1000 - 2 * HOP);
    assert_in_range(flits_over_a_link(2, 1), 490, 500);
    assert_in_range(flits_over_a_link(1, 5), 240, 250);
}

/* Two cores whose ways join share the link behind that point evenly. */
static void test_links_are_shared_evenly(void **state)
{
    (void)state;
    struct network *n = make(NETWORK_REQUESTS);
    uint32_t taken[CORES] = {0};
    for (uint64_t now = 0; now < 2000; now++) {
        for (uint32_t core = 0; core <= 6; core += 6) /* core 6 is below core 0, slice 0 above it */
            while (network_has_room(n, core, 3 * FLIT))
                push(n, core, 0, 0, 3, now);
        network_cycle(n, now);
        for (; network_front(n, 0); network_pop(n, 0))
            taken[network_front(n, 0)->core]++;
    }
    assert_in_range(taken[0] + taken[6], 655, 667);
    assert_in_range(taken[0], taken[6] - 1, taken[6] + 1);
}

/* A packet longer than all buffers passes, at a flit per cycle. */
static void test_packet_larger_than_buffers(void **state)
{
    (void)state;
    struct network *n = make(NETWORK_REPLIES);
    push(n, 0, 14, 7, 100, 0);
    push(n, 1, 14, 8, 1, 0);
    uint64_t now = 0;
    for (; !network_front(n, 14); network_cycle(n, now++))
        assert_true(now < 300);
    assert_int_equal(take(n, 14), 8);
    for (; !network_front(n, 14); network_cycle(n, now++))
        assert_true(now < 300);
    assert_int_equal(take(n, 14), 7);
    assert_int_equal(now - 1, (uint64_t)(links_between(14, 0) + 1) * HOP + 99);
}

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* All send to all, with queues that are full all the time, in front of outputs that pause: each packet arrives once,
 * where it was sent, in the order of its input; then all is empty. */
static void check_all_to_all(const struct network_config *c, enum network_direction direction, uint32_t inputs,
                             uint32_t outputs, uint64_t seed)
{
    enum { PORTS = 80 };
    static uint32_t sent[PORTS][PORTS], taken[PORTS][PORTS];
    struct network *n = network_create(&arena, c, direction, inputs, outputs);
    uint64_t now = 0, flits = 0, since = 0;
    memset(sent, 0, sizeof sent);
    memset(taken, 0, sizeof taken);
    for (; now < 3000 || !network_is_empty(n); network_cycle(n, ++now)) {
        for (uint32_t i = 0; i < inputs && now < 3000; i++)
            for (uint32_t k = 1 + below(&seed, 9); network_has_room(n, i, k * FLIT); k = 1 + below(&seed, 9)) {
                uint32_t o = below(&seed, 3) ? below(&seed, outputs) : 0;
                push(n, i, o, sent[i][o]++, k, now);
                flits += k;
            }
        since++;
        for (uint32_t o = 0; o < outputs; o++)
            while (network_front(n, o) && below(&seed, 4)) {
                const struct packet *p = network_front(n, o);
                assert_int_equal(p->token, taken[p->core][o]);
                taken[p->core][o]++;
                network_pop(n, o);
                since = 0;
            }
        assert_true(since < 2000); /* else it is stuck */
    }
    assert_memory_equal(sent, taken, sizeof sent);
    assert_int_equal(network_counters(n)->flits_in, flits);
    assert_int_equal(network_counters(n)->flits_out, flits);
    assert_int_equal(network_counters(n)->packets_in, network_counters(n)->packets_out);
    assert_true(network_counters(n)->stalls > 1000);
}

static void test_all_to_all(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t dice = seed;
        struct network_config c = stock();
        c.input_flits = 1 + below(&dice, 12);
        c.output_flits = 1 + below(&dice, 12);
        c.mesh_columns = below(&dice, 3) ? 0 : 1 + below(&dice, 9);
        c.mesh_buffer_flits = 1 + below(&dice, 6);
        c.mesh_router_cycles = below(&dice, 4);
        c.mesh_link_cycles = 1 + below(&dice, 3);
        enum network_direction direction = seed % 2 ? NETWORK_REQUESTS : NETWORK_REPLIES;
        check_all_to_all(&c, direction, 1 + below(&dice, 79), 1 + below(&dice, 79), seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_latency, teardown),
        cmocka_unit_test_teardown(test_throughput_of_a_link, teardown),
        cmocka_unit_test_teardown(test_links_are_shared_evenly, teardown),
        cmocka_unit_test_teardown(test_packet_larger_than_buffers, teardown),
        cmocka_unit_test_teardown(test_all_to_all, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
