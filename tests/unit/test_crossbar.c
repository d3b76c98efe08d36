/* The crossbar: when a packet arrives, to the cycle; who goes first; what full buffers do; that nothing is lost. */
#include "crossbar_reference.h"
#include "mem/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FLIT = 32 };

static struct arena arena;

static struct network *make(uint32_t inputs, uint32_t outputs, uint32_t input_flits, uint32_t output_flits,
                            uint32_t hop, uint32_t speedup)
{
    struct network_config c = {.flit_bytes = FLIT,
                               .input_flits = input_flits,
                               .output_flits = output_flits,
                               .hop_cycles = hop,
                               .speedup = speedup};
    return network_create(&arena, &c, NETWORK_REQUESTS, inputs, outputs);
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    arena = (struct arena){0};
    return 0;
}

static void push(struct network *x, uint32_t input, uint32_t output, uint32_t token, uint32_t flits, uint64_t now)
{
    struct packet p = {.token = token, .core = (uint16_t)input, .warp = (uint16_t)flits};
    assert_true(network_has_room(x, input, flits * FLIT));
    network_push(x, input, output, &p, flits * FLIT, now);
}

/* Cycles until an output has a packet, counted from the cycle in which the last was pushed. */
static uint64_t wait_for(struct network *x, uint32_t output, uint64_t pushed)
{
    uint64_t now = pushed;
    while (!network_front(x, output)) {
        assert_true(now - pushed < 1000);
        network_cycle(x, ++now);
    }
    return now - pushed;
}

static uint32_t take(struct network *x, uint32_t output)
{
    assert_non_null(network_front(x, output));
    uint32_t token = network_front(x, output)->token;
    network_pop(x, output);
    return token;
}

static void test_flits_of_bytes(void **state)
{
    (void)state;
    struct network *x = make(2, 2, 8, 8, 1, 1);
    assert_int_equal(network_flits(x, 0), 1);
    assert_int_equal(network_flits(x, 8), 1);
    assert_int_equal(network_flits(x, FLIT), 1);
    assert_int_equal(network_flits(x, FLIT + 1), 2);
    assert_int_equal(network_flits(x, 136), 5);
}

/* hop_cycles + ceil(flits / speedup) cycles from the push, in an empty network. */
static void test_latency(void **state)
{
    (void)state;
    for (uint32_t hop = 1; hop <= 7; hop += 3)
        for (uint32_t speedup = 1; speedup <= 3; speedup++)
            for (uint32_t flits = 1; flits <= 9; flits++) {
                struct network *x = make(3, 4, 16, 16, hop, speedup);
                push(x, 1, 2, 77, flits, 100);
                assert_int_equal(wait_for(x, 2, 100), hop + (flits + speedup - 1) / speedup);
                assert_int_equal(take(x, 2), 77);
                assert_true(network_is_empty(x));
            }
}

/* Where a cycle brings so many bytes into an input: packets enter one after the other, and set out whole, as flits of
 * the usual size; other inputs do not wait. */
static void test_entry(void **state)
{
    (void)state;
    struct network_config config = {
        .flit_bytes = 4 * FLIT, .input_flits = 16, .output_flits = 16, .hop_cycles = 3, .speedup = 1};
    config.request_flit_bytes = FLIT;
    struct network *x = network_create(&arena, &config, NETWORK_REQUESTS, 2, 2);
    push(x, 0, 0, 1, 4, 100); /* enters in 100 to 103, and is one flit */
    push(x, 0, 1, 2, 1, 100); /* 104 */
    push(x, 1, 1, 3, 5, 101); /* 101 to 105, two flits */
    assert_int_equal(wait_for(x, 0, 100), 3 + 3 + 1);
    assert_int_equal(take(x, 0), 1);
    assert_int_equal(wait_for(x, 1, 107), 1);
    assert_int_equal(take(x, 1), 2);
    assert_int_equal(wait_for(x, 1, 108), 2);
    assert_int_equal(take(x, 1), 3);
    assert_true(network_is_empty(x));
}

/* Pushed before or after network_cycle of the same cycle: the same arrival. */
static void test_push_before_or_after_cycle(void **state)
{
    (void)state;
    struct network *x = make(2, 2, 8, 8, 2, 1);
    push(x, 0, 0, 1, 1, 10);
    network_cycle(x, 10);
    push(x, 1, 1, 2, 1, 10);
    network_cycle(x, 11);
    network_cycle(x, 12);
    assert_null(network_front(x, 0));
    assert_null(network_front(x, 1));
    network_cycle(x, 13);
    assert_non_null(network_front(x, 0));
    assert_non_null(network_front(x, 1));
}

/* With hop_cycles 0 a packet passes in the cycles in which its flits are sent, from that of its push on, one behind the
 * other. */
static void test_at_once(void **state)
{
    (void)state;
    struct network *x = make(2, 2, 16, 24, 0, 1);
    push(x, 0, 1, 1, 1, 10);
    push(x, 0, 1, 2, 5, 10);
    push(x, 1, 0, 3, 5, 10);
    network_cycle(x, 10);
    assert_int_equal(take(x, 1), 1);
    for (uint64_t now = 11; now <= 13; now++)
        network_cycle(x, now);
    assert_null(network_front(x, 0));
    network_cycle(x, 14);
    assert_int_equal(take(x, 0), 3);
    assert_null(network_front(x, 1));
    network_cycle(x, 15);
    assert_int_equal(take(x, 1), 2);
    push(x, 0, 0, 4, 1, 16); /* behind the network's turn in 15 */
    network_cycle(x, 16);
    assert_int_equal(take(x, 0), 4);
    assert_true(network_is_empty(x));
}

/* Packets of one input follow each other without a gap; with speedup 2 the second may begin in the cycle in which the
 * first ends. */
static void test_back_to_back(void **state)
{
    (void)state;
    struct network *x = make(1, 1, 16, 16, 1, 2);
    push(x, 0, 0, 1, 3, 0);
    push(x, 0, 0, 2, 3, 0);
    assert_int_equal(wait_for(x, 0, 0), 3);
    take(x, 0);
    assert_null(network_front(x, 0));
    network_cycle(x, 4);
    assert_int_equal(take(x, 0), 2);
}

static void test_two_inputs_alternate(void **state)
{
    (void)state;
    struct network *x = make(2, 1, 64, 64, 1, 1);
    for (uint32_t i = 0; i < 8; i++) {
        push(x, 0, 0, i, 1, 0);
        push(x, 1, 0, 100 + i, 1, 0);
    }
    for (uint64_t now = 1; now <= 17; now++) {
        network_cycle(x, now);
        if (now == 1)
            assert_null(network_front(x, 0));
        else
            assert_int_equal(take(x, 0), (now % 2 ? 100 : 0) + (now - 2) / 2); /* one per cycle, 0 and 1 in turn */
    }
    assert_true(network_is_empty(x));
    /* In each of 16 cycles one of them waited, but for the last, when only one was left. */
    assert_int_equal(network_counters(x)->stalls, 15);
}

/* Every input that asks all the time gets the same share; one that pauses loses its turn only. */
static void test_rotation_is_fair(void **state)
{
    (void)state;
    enum { INPUTS = 100 };
    struct network *x = make(INPUTS, 3, 4, 64, 1, 1);
    uint32_t taken[INPUTS] = {0};
    for (uint64_t now = 0; now < 20 * INPUTS + 1; now++) {
        for (uint32_t i = 0; i < INPUTS; i++)
            while (network_has_room(x, i, FLIT))
                push(x, i, 2, i, 1, now);
        if (now)
            network_cycle(x, now);
        if (network_front(x, 2))
            taken[take(x, 2)]++;
    }
    for (uint32_t i = 0; i < INPUTS; i++)
        assert_in_range(taken[i], 19, 20);
}

/* An output stays with a packet until its last flit: the packet of the other input begins behind it, not between its
 * flits. */
static void test_wormhole(void **state)
{
    (void)state;
    struct network *x = make(2, 1, 16, 16, 1, 1);
    push(x, 0, 0, 1, 4, 0);
    network_cycle(x, 1);
    push(x, 1, 0, 2, 2, 1);
    for (uint64_t now = 2; now <= 4; now++) {
        network_cycle(x, now);
        assert_null(network_front(x, 0));
    }
    network_cycle(x, 5); /* flits in cycles 1 to 4, arrived in 5 */
    assert_int_equal(take(x, 0), 1);
    assert_null(network_front(x, 0));
    network_cycle(x, 6);
    assert_null(network_front(x, 0));
    network_cycle(x, 7); /* flits in cycles 5 and 6 */
    assert_int_equal(take(x, 0), 2);
}

/* A packet for a free output waits behind one for a full output, and goes as soon as that has gone. */
static void test_head_of_line_blocking(void **state)
{
    (void)state;
    struct network *x = make(1, 2, 16, 2, 1, 1);
    push(x, 0, 0, 1, 1, 0);
    push(x, 0, 0, 2, 1, 0);
    push(x, 0, 0, 3, 1, 0); /* output 0 holds two */
    push(x, 0, 1, 4, 1, 0);
    uint64_t now = 0;
    while (now < 20)
        network_cycle(x, ++now);
    assert_null(network_front(x, 1));
    assert_int_equal(network_counters(x)->stalls, 18);
    assert_int_equal(take(x, 0), 1);
    network_cycle(x, 21); /* 3 leaves */
    network_cycle(x, 22); /* 4 leaves */
    assert_null(network_front(x, 1));
    network_cycle(x, 23);
    assert_int_equal(take(x, 1), 4);
    assert_int_equal(take(x, 0), 2);
    assert_int_equal(take(x, 0), 3);
    assert_true(network_is_empty(x));
}

/* A full output stops its senders, their buffers fill and refuse; flits on their way have their place already. */
static void test_back_pressure(void **state)
{
    (void)state;
    struct network *x = make(1, 1, 4, 3, 5, 1);
    uint64_t now = 0;
    uint32_t sent = 0;
    for (; now < 30; network_cycle(x, ++now))
        if (network_has_room(x, 0, FLIT))
            push(x, 0, 0, sent++, 1, now);
    assert_int_equal(sent, 3 + 4);
    assert_false(network_idle(x));
    take(x, 0);
    assert_false(network_has_room(x, 0, FLIT));
    network_cycle(x, ++now);
    assert_true(network_has_room(x, 0, FLIT));
    assert_false(network_has_room(x, 0, 2 * FLIT)); /* all flits of a packet must fit */
}

/* A packet half through an output that fills waits there, and the output is not given to another. */
static void test_full_in_the_middle_of_a_packet(void **state)
{
    (void)state;
    struct network *x = make(2, 1, 8, 4, 1, 1);
    push(x, 0, 0, 1, 2, 0);
    push(x, 0, 0, 2, 4, 0);
    uint64_t now = 0;
    while (now < 10)
        network_cycle(x, ++now);
    push(x, 1, 0, 3, 1, now);
    network_cycle(x, ++now);
    assert_int_equal(take(x, 0), 1);
    assert_null(network_front(x, 0));
    network_cycle(x, ++now);
    network_cycle(x, ++now);
    assert_null(network_front(x, 0));
    network_cycle(x, ++now);
    assert_int_equal(take(x, 0), 2); /* had filled the buffer alone: 3 leaves only now */
    network_cycle(x, ++now);
    assert_null(network_front(x, 0));
    network_cycle(x, ++now);
    assert_int_equal(take(x, 0), 3);
}

/* Larger than both buffers: passes when they are empty, at full speed. */
static void test_packet_larger_than_buffers(void **state)
{
    (void)state;
    struct network *x = make(1, 1, 2, 3, 1, 1);
    push(x, 0, 0, 1, 9, 0);
    assert_false(network_has_room(x, 0, FLIT));
    assert_int_equal(wait_for(x, 0, 0), 10);
    push(x, 0, 0, 2, 1, 10);
    for (uint64_t now = 11; now < 20; now++)
        network_cycle(x, now);
    assert_int_equal(take(x, 0), 1);
    assert_null(network_front(x, 0));
    network_cycle(x, 20);
    network_cycle(x, 21);
    assert_int_equal(take(x, 0), 2);
}

/* No packet comes before it was said to be possible; of one that is on its way the cycle is known. */
static void test_next_arrival(void **state)
{
    (void)state;
    enum { HOP = 7, PORTS = 4 };
    struct network *x = make(PORTS, PORTS, 16, 16, HOP, 1);
    uint64_t not_before[PORTS] = {0}, known = 0, random = 12345;
    for (uint64_t now = 1; now < 5000; now++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t input = random >> 40 & 3, output = random >> 44 & 3, flits = 1 + (random >> 48 & 3);
        if ((random >> 52 & 7) == 0 && network_has_room(x, input, flits * FLIT))
            push(x, input, output, 0, flits, now - 1);
        network_cycle(x, now);
        for (uint32_t o = 0; o < PORTS; o++) {
            if (network_front(x, o)) {
                assert_true(now >= not_before[o]);
                known += now == not_before[o];
                take(x, o);
            }
            if (!network_front(x, o))
                not_before[o] = network_arrives_at(x, o, now + 1);
        }
    }
    assert_true(known > 400); /* all that come after the output was empty */
    assert_int_equal(network_arrives_at(x, 0, 10000), 10000 + HOP);
}

/* An input has no room before it was said to be possible; if nothing keeps it from giving, it has then. */
static void test_next_room(void **state)
{
    (void)state;
    enum { PORTS = 4, MOST = 8 };
    for (uint32_t speedup = 1; speedup <= 2; speedup++) {
        struct network *x = make(PORTS, PORTS, MOST, 16, 0, speedup);
        uint64_t room_at[PORTS] = {0}, known = 0, random = 12345;
        for (uint64_t now = 1; now < 20000; now++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint32_t input = random >> 40 & 3, flits = 1 + (random >> 48 & 3);
            for (uint32_t i = 0; i < PORTS; i++) { /* for a packet that fills it alone */
                bool room = network_has_room(x, i, MOST * FLIT);
                assert_true(!room || now >= room_at[i]);
                known += room && now == room_at[i];
                room_at[i] = room ? 0 : network_may_have_room_at(x, i, MOST * FLIT, now);
                assert_true(room || room_at[i] > now);
            }
            if ((random >> 52 & 7) == 0 && !room_at[input])
                push(x, input, random >> 44 & 3, 0, flits, now);
            network_cycle(x, now);
            for (uint32_t o = 0; o < PORTS; o++)
                if (network_front(x, o))
                    take(x, o);
        }
        assert_true(known > 1000);
    }
}

static void test_idle_and_waiting(void **state)
{
    (void)state;
    struct network *x = make(130, 130, 8, 8, 2, 1);
    assert_true(network_idle(x) && network_is_empty(x));
    push(x, 129, 128, 1, 1, 0);
    push(x, 64, 3, 2, 1, 0);
    assert_false(network_idle(x));
    network_cycle(x, 1);
    assert_false(network_idle(x)); /* on their way */
    network_cycle(x, 2);
    assert_int_equal(x->waiting[0] | x->waiting[1] | x->waiting[2], 0);
    network_cycle(x, 3);
    assert_true(network_idle(x));
    assert_false(network_is_empty(x));
    assert_int_equal(x->waiting[0], 1 << 3);
    assert_int_equal(x->waiting[1], 0);
    assert_int_equal(x->waiting[2], 1);
    take(x, 3);
    take(x, 128);
    assert_int_equal(x->waiting[0] | x->waiting[1] | x->waiting[2], 0);
    assert_true(network_is_empty(x));
    /* Slept meanwhile: the next packet takes no longer. */
    push(x, 0, 0, 3, 1, 5000);
    assert_int_equal(wait_for(x, 0, 5000), 3);
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*seed >> 33) % n;
}

/* Random traffic: each packet arrives once, where it was sent, in order of its input; and in a cycle no port moves more
 * flits than the speedup. */
static void check_random_traffic(uint32_t inputs, uint32_t outputs, uint32_t speedup, uint64_t seed)
{
    enum { PORTS = 70 };
    static uint32_t next_sent[PORTS][PORTS], next_taken[PORTS][PORTS];
    memset(next_sent, 0, sizeof(next_sent));
    memset(next_taken, 0, sizeof(next_taken));
    struct network *x = make(inputs, outputs, 10, 7, 3, speedup);
    uint64_t now = 0, sent = 0, taken = 0, flits = 0;
    for (; now < 4000 || !network_is_empty(x); network_cycle(x, ++now)) {
        assert_true(now < 100000);
        for (uint32_t i = 0; i < inputs && now < 4000; i++) {
            uint32_t n = 1 + random_below(&seed, 5), o = random_below(&seed, 3) ? random_below(&seed, outputs) : 0;
            if (random_below(&seed, 2) && network_has_room(x, i, n * FLIT)) {
                push(x, i, o, next_sent[i][o]++, n, now);
                sent++;
                flits += n;
            }
        }
        for (uint32_t o = 0; o < outputs; o++)
            while (network_front(x, o) && random_below(&seed, 4)) {
                const struct packet *p = network_front(x, o);
                assert_int_equal(p->token, next_taken[p->core][o]);
                next_taken[p->core][o]++;
                network_pop(x, o);
                taken++;
            }
    }
    const struct network_counters *c = network_counters(x);
    assert_int_equal(sent, taken);
    assert_memory_equal(next_sent, next_taken, sizeof(next_sent));
    assert_int_equal(c->packets_in, sent);
    assert_int_equal(c->packets_out, sent);
    assert_int_equal(c->flits_in, flits);
    assert_int_equal(c->flits_out, flits);
    assert_true(c->stalls > 0);
    assert_true(flits <= now * speedup * outputs);
}

static void test_random_traffic(void **state)
{
    (void)state;
    check_random_traffic(15, 12, 1, 1);
    check_random_traffic(12, 15, 2, 2);
    check_random_traffic(70, 5, 2, 3);
    check_random_traffic(1, 1, 3, 4);
}

/* Flits that pass a port in a stretch of time, saturated. */
static void test_bandwidth(void **state)
{
    (void)state;
    for (uint32_t speedup = 1; speedup <= 2; speedup++) {
        struct network *x = make(2, 2, 64, 64, 1, speedup);
        uint32_t flits = 0;
        for (uint64_t now = 0; now <= 1000; now++) {
            for (uint32_t i = 0; i < 2; i++)
                while (network_has_room(x, i, 5 * FLIT))
                    push(x, i, 1, 0, 5, now);
            network_cycle(x, now);
            while (network_front(x, 1)) {
                network_pop(x, 1);
                flits += 5;
            }
        }
        assert_in_range(flits, 999 * speedup - 5, 999 * speedup);
    }
}

/* The same traffic through the reference, which moves flit by flit. */

struct both {
    struct network *real;
    struct reference *slow;
    uint64_t random, now;
    uint32_t token, load, taking;
};

static uint32_t draw(struct both *b, uint32_t below)
{
    b->random = b->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(b->random >> 33) % below;
}

static void push_some(struct both *b)
{
    for (uint32_t i = 0; i < b->slow->inputs; i++) {
        if (draw(b, b->load))
            continue;
        uint32_t flits = draw(b, 3) ? 1 : 1 + draw(b, 28), output = draw(b, b->slow->outputs);
        bool room = network_has_room(b->real, i, flits * FLIT);
        assert_int_equal(room, reference_has_room(b->slow, i, flits));
        if (!room)
            continue;
        reference_push(b->slow, i, output, ++b->token, flits, b->now);
        push(b->real, i, output, b->token, flits, b->now);
    }
}

static void take_some(struct both *b)
{
    for (uint32_t o = 0; o < b->slow->outputs; o++) {
        const struct packet *p = network_front(b->real, o);
        const struct reference_packet *q = reference_front(b->slow, o);
        assert_int_equal(p ? p->token : 0, q ? q->token : 0);
        if (!p || draw(b, b->taking))
            continue;
        network_pop(b->real, o);
        reference_pop(b->slow, o);
    }
}

static void compare_cycle(struct both *b)
{
    bool early = draw(b, 2);
    b->now++;
    if (early)
        push_some(b);
    if (!network_idle(b->real))
        network_cycle(b->real, b->now);
    reference_cycle(b->slow, b->now);
    if (!early)
        push_some(b);
    take_some(b);
    assert_memory_equal(network_counters(b->real), &b->slow->counters, sizeof b->slow->counters);
}

static void test_like_reference(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 36; seed++) {
        struct both b = {.random = seed};
        uint32_t most = seed % 6 ? 10 : 130; /* more than a word of ports now and then */
        struct network_config c = {.flit_bytes = FLIT,
                                   .input_flits = 1 + draw(&b, 20),
                                   .output_flits = 1 + draw(&b, 24),
                                   .hop_cycles = draw(&b, 5),
                                   .speedup = 1 + draw(&b, 3)};
        uint32_t inputs = 1 + draw(&b, most), outputs = 1 + draw(&b, seed % 2 ? most : 3);
        b.real = network_create(&arena, &c, NETWORK_REQUESTS, inputs, outputs);
        b.slow = reference_create(&c, inputs, outputs);
        for (uint32_t i = 0; i < 1500; i++) {
            if (i % 300 == 0) {
                b.load = 1 + draw(&b, 40);
                b.taking = 1 + draw(&b, 10);
            }
            compare_cycle(&b);
        }
        assert_true(b.slow->counters.packets_out > 0);
        reference_free(b.slow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_flits_of_bytes, teardown),
        cmocka_unit_test_teardown(test_latency, teardown),
        cmocka_unit_test_teardown(test_entry, teardown),
        cmocka_unit_test_teardown(test_push_before_or_after_cycle, teardown),
        cmocka_unit_test_teardown(test_at_once, teardown),
        cmocka_unit_test_teardown(test_back_to_back, teardown),
        cmocka_unit_test_teardown(test_two_inputs_alternate, teardown),
        cmocka_unit_test_teardown(test_rotation_is_fair, teardown),
        cmocka_unit_test_teardown(test_wormhole, teardown),
        cmocka_unit_test_teardown(test_head_of_line_blocking, teardown),
        cmocka_unit_test_teardown(test_back_pressure, teardown),
        cmocka_unit_test_teardown(test_full_in_the_middle_of_a_packet, teardown),
        cmocka_unit_test_teardown(test_packet_larger_than_buffers, teardown),
        cmocka_unit_test_teardown(test_next_arrival, teardown),
        cmocka_unit_test_teardown(test_next_room, teardown),
        cmocka_unit_test_teardown(test_idle_and_waiting, teardown),
        cmocka_unit_test_teardown(test_random_traffic, teardown),
        cmocka_unit_test_teardown(test_bandwidth, teardown),
        cmocka_unit_test_teardown(test_like_reference, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
