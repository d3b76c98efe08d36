/* The router: when a packet arrives, to the cycle; how many flits a port moves; who waits for whom;
 * that nothing is lost. */
#include "router_reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { FLIT = 40, HOP = 4, PORT_IN = 9, PORT_OUT = 16, BUFFER = 64 };

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
    return (struct network_config){.flit_bytes = FLIT,
                                   .input_flits = PORT_IN + BUFFER,
                                   .output_flits = BUFFER + PORT_OUT,
                                   .hop_cycles = HOP,
                                   .speedup = 2,
                                   .injection_flits = PORT_IN,
                                   .ejection_flits = PORT_OUT};
}

static struct network *make(uint32_t inputs, uint32_t outputs)
{
    struct network_config c = stock();
    return network_create(&arena, &c, NETWORK_REQUESTS, inputs, outputs);
}

static void push(struct network *x, uint32_t input, uint32_t output, uint32_t token, uint32_t flits, uint64_t now)
{
    struct packet p = {.token = token, .core = (uint16_t)input};
    assert_true(network_has_room(x, input, flits * FLIT));
    network_push(x, input, output, &p, flits * FLIT, now);
}

static uint32_t take(struct network *x, uint32_t output)
{
    assert_non_null(network_front(x, output));
    uint32_t token = network_front(x, output)->token;
    network_pop(x, output);
    return token;
}

/* Pushed before a cycle, it is on its way in it: 5 cycles later it is there, and each further flit takes one more.
 * Sleeping before and after changes nothing. */
static void test_latency(void **state)
{
    (void)state;
    struct network *x = make(3, 4);
    for (uint32_t flits = 1; flits <= 30; flits++) {
        uint64_t now = 1000 * flits;
        assert_true(network_idle(x));
        push(x, 1, 2, flits, flits, now);
        assert_false(network_idle(x));
        for (uint64_t t = now; t < now + HOP + flits; t++) {
            network_cycle(x, t);
            assert_null(network_front(x, 2));
        }
        network_cycle(x, now + HOP + flits);
        assert_int_equal(take(x, 2), flits);
        for (uint64_t t = now + HOP + flits + 1; !network_idle(x); t++) {
            assert_true(t < now + 900);
            network_cycle(x, t);
        }
        assert_true(network_is_empty(x));
    }
}

/* Packets of one flit: one per cycle from an input, one per cycle to an output, though the router takes two steps. */
static void test_one_flit_a_cycle(void **state)
{
    (void)state;
    struct network *x = make(2, 2);
    uint32_t taken = 0;
    for (uint64_t now = 0; now < 1000; now++) {
        while (network_has_room(x, 0, FLIT))
            push(x, 0, now & 1, 0, 1, now);
        network_cycle(x, now);
        for (uint32_t o = 0; o < 2; o++)
            for (; network_front(x, o); taken++)
                network_pop(x, o);
    }
    assert_int_equal(taken, 1000 - HOP - 1);
    for (uint64_t now = 1000; !network_is_empty(x); network_cycle(x, now++))
        for (uint32_t o = 0; o < 2; o++)
            if (network_front(x, o))
                network_pop(x, o);
    taken = 0;
    for (uint64_t now = 2000; now < 3000; now++) {
        for (uint32_t i = 0; i < 2; i++)
            while (network_has_room(x, i, FLIT))
                push(x, i, 1, 0, 1, now);
        network_cycle(x, now);
        for (; network_front(x, 1); taken++)
            network_pop(x, 1);
    }
    assert_int_equal(taken, 1000 - HOP - 1);
}

/* Long packets too enter and leave one flit a cycle: the speedup inside helps nobody at the ports. */
static void test_long_packets(void **state)
{
    (void)state;
    struct network *x = make(1, 1);
    uint32_t taken = 0;
    for (uint64_t now = 0; now < 1000; now++) {
        while (network_has_room(x, 0, 4 * FLIT))
            push(x, 0, 0, 0, 4, now);
        network_cycle(x, now);
        for (; network_front(x, 0); taken++)
            network_pop(x, 0);
    }
    assert_int_equal(taken, (1000 - HOP - 1) / 4);
}

/* The queue in front of a port: nine flits, of which one leaves a cycle, whatever room there is in the router. */
static void test_port_queue(void **state)
{
    (void)state;
    struct network *x = make(1, 1);
    push(x, 0, 0, 1, 4, 0);
    push(x, 0, 0, 2, 4, 0);
    assert_true(network_has_room(x, 0, FLIT));
    for (uint64_t now = 0; now < 3; now++) {
        assert_false(network_has_room(x, 0, 4 * FLIT));
        network_cycle(x, now);
    }
    assert_true(network_has_room(x, 0, 4 * FLIT));
    assert_false(network_has_room(x, 0, 5 * FLIT));
}

/* A packet is held up behind one whose output is busy: two steps for each of those that come before. Input 0 sends to
 * output 1 only behind its packet to output 0, which inputs 1 to 3 want as well. */
static void test_head_of_line(void **state)
{
    (void)state;
    struct network *x = make(5, 2);
    for (uint32_t i = 0; i < 4; i++)
        push(x, i + 1, 0, i, 1, 100);
    push(x, 0, 0, 50, 1, 100); /* the pointer stands on input 0: it goes first this time */
    push(x, 0, 1, 51, 1, 100);
    uint64_t now = 100;
    for (; now <= 100 + HOP + 1; now++)
        network_cycle(x, now);
    assert_int_equal(take(x, 0), 50);
    assert_null(network_front(x, 1));
    for (uint32_t i = 0; i < 4; i++) {
        network_cycle(x, now++);
        if (i == 0)
            assert_int_equal(take(x, 1), 51);
        assert_int_equal(take(x, 0), i);
        assert_null(network_front(x, 0));
    }
    /* Now the pointer is behind input 4, at input 0 again; after one of input 0, the others of a new round come
     * first. */
    push(x, 0, 0, 60, 1, 200);
    for (now = 200; now < 220; now++)
        network_cycle(x, now);
    assert_int_equal(take(x, 0), 60);
    push(x, 0, 0, 61, 1, 300);
    push(x, 0, 1, 62, 1, 300);
    for (uint32_t i = 1; i < 5; i++)
        push(x, i, 0, i, 1, 300);
    for (now = 300; !network_front(x, 1); now++) {
        assert_true(now < 400);
        network_cycle(x, now);
    }
    assert_int_equal(now - 1,
                     300 + HOP + 1 +
                         5); /* four before it, its own and one step's worth behind its own packet to output 0 */
}

/* An output that nobody takes from: 16 flits in its queue, 64 before, then the router's buffers and the port's queue
 * fill up; all comes through afterwards, in order. */
static void test_back_pressure(void **state)
{
    (void)state;
    struct network *x = make(1, 1);
    uint32_t pushed = 0, taken = 0;
    for (uint64_t now = 0; now < 1000; now++) {
        while (network_has_room(x, 0, FLIT))
            push(x, 0, 0, pushed++, 1, now);
        network_cycle(x, now);
    }
    assert_int_equal(pushed, PORT_IN + BUFFER + BUFFER + PORT_OUT);
    uint64_t now = 1000;
    for (; !network_is_empty(x); now++) {
        assert_true(now < 2000);
        if (network_front(x, 0))
            assert_int_equal(take(x, 0), taken++);
        network_cycle(x, now);
    }
    assert_int_equal(taken, pushed);
    assert_in_range(now, 1000 + pushed, 1000 + pushed + 3 * HOP);
}

/* Packets of one flit to outputs that are drawn, from inputs that always have some: what is held up behind others costs
 * a third, and more where four in a row go to the same output, as the sectors of a line do. */
static void test_saturation(void **state)
{
    (void)state;
    for (uint32_t group = 1; group <= 4; group += 3) {
        struct network *x = make(12, 15);
        uint64_t seed = 1;
        uint32_t taken = 0, sent[12] = {0}, output[12] = {0};
        for (uint64_t now = 0; now < 20000; now++) {
            for (uint32_t i = 0; i < 12; i++)
                while (network_has_room(x, i, FLIT)) {
                    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
                    if (sent[i]++ % group == 0)
                        output[i] = (uint32_t)(seed >> 33) % 15;
                    push(x, i, output[i], 0, 1, now);
                }
            network_cycle(x, now);
            for (uint32_t o = 0; o < 15; o++)
                for (; network_front(x, o); taken++)
                    network_pop(x, o);
        }
        uint32_t share = taken / (20 * 12); /* in thousandths of what the inputs could send */
        assert_in_range(share, group == 1 ? 650 : 570, group == 1 ? 690 : 610);
    }
}

struct both {
    struct network *real;
    struct slow_router *slow;
    uint64_t random, now;
    uint32_t token, load, taking, longest;
};

static uint32_t draw(struct both *b, uint32_t below)
{
    b->random = b->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(b->random >> 33) % below;
}

static void compare_cycle(struct both *b)
{
    b->now++;
    for (uint32_t i = 0; i < b->slow->inputs; i++) {
        if (draw(b, b->load))
            continue;
        uint32_t flits = draw(b, 3) ? 1 : 1 + draw(b, b->longest), output = draw(b, b->slow->outputs);
        bool room = network_has_room(b->real, i, flits * FLIT);
        assert_int_equal(room, slow_has_room(b->slow, i, flits));
        if (!room)
            continue;
        slow_send(b->slow, i, output, ++b->token, flits);
        push(b->real, i, output, b->token, flits, b->now);
    }
    if (!network_idle(b->real))
        network_cycle(b->real, b->now);
    slow_cycle(b->slow, b->now);
    for (uint32_t o = 0; o < b->slow->outputs; o++) {
        const struct packet *p = network_front(b->real, o);
        assert_int_equal(p ? p->token : 0, slow_front(b->slow, o));
        if (!p || draw(b, b->taking))
            continue;
        network_pop(b->real, o);
        slow_take(b->slow, o);
    }
    assert_memory_equal(network_counters(b->real), &b->slow->counters, sizeof b->slow->counters);
}

static void test_like_reference(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct both b = {.random = seed};
        uint32_t most = seed % 6 ? 15 : 128;
        struct network_config c = stock();
        if (seed > 6) {
            c.injection_flits = 1 + draw(&b, 9);
            c.ejection_flits = 1 + draw(&b, 16);
            c.input_flits = c.injection_flits + 1 + draw(&b, 20);
            c.output_flits = c.ejection_flits + 1 + draw(&b, 20);
            c.hop_cycles = 2 + draw(&b, 5);
            c.speedup = 1 + draw(&b, 3);
        }
        uint32_t inputs = 1 + draw(&b, most), outputs = 1 + draw(&b, seed % 2 ? most : 3);
        b.longest = seed % 3 ? 5 : 24;
        b.real = network_create(&arena, &c, NETWORK_REQUESTS, inputs, outputs);
        b.slow = slow_create(&c, inputs, outputs);
        for (uint32_t i = 0; i < 1500; i++) {
            if (i % 300 == 0) {
                b.load = 1 + draw(&b, 40);
                b.taking = 1 + draw(&b, 10);
            }
            compare_cycle(&b);
        }
        assert_true(b.slow->counters.packets_out > 0);
        slow_free(b.slow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_latency, teardown),
        cmocka_unit_test_teardown(test_one_flit_a_cycle, teardown),
        cmocka_unit_test_teardown(test_long_packets, teardown),
        cmocka_unit_test_teardown(test_port_queue, teardown),
        cmocka_unit_test_teardown(test_head_of_line, teardown),
        cmocka_unit_test_teardown(test_back_pressure, teardown),
        cmocka_unit_test_teardown(test_saturation, teardown),
        cmocka_unit_test_teardown(test_like_reference, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
