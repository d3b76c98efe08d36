/* What every row of networks.def must keep of the contract in mem/network.h: a network is created from the table alone,
 * promises nothing that it breaks, and may be left alone in all cycles in which it says that nothing happens. */
#include "mem/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FLIT = 32, LONGEST = 6, INPUTS = 9, OUTPUTS = 7, CYCLES = 4000 };

static const struct {
    const char *name;
    enum network_choice choice;
} networks[] = {
#define NETWORK(name, help) {#name, NETWORK_IS_##name},
#include "mem/networks.def"
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static struct arena arena;

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    arena = (struct arena){0};
    return 0;
}

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* Some values for all keys; a router wants more of them to fit than others. */
static struct network_config draw(uint64_t *seed, enum network_choice choice)
{
    struct network_config c = {.network = choice, .flit_bytes = FLIT};
    c.injection_flits = 1 + below(seed, 9);
    c.ejection_flits = 1 + below(seed, 9);
    c.input_flits = c.injection_flits + 1 + below(seed, 12);
    c.output_flits = c.ejection_flits + 1 + below(seed, 12);
    c.hop_cycles = 2 + below(seed, 5);
    c.speedup = 1 + below(seed, 3);
    c.mesh_columns = below(seed, 5);
    c.mesh_buffer_flits = 1 + below(seed, 6);
    c.mesh_router_cycles = below(seed, 4);
    c.mesh_link_cycles = 1 + below(seed, 3);
    c.request_flit_bytes = below(seed, 2) ? 0 : 16 + below(seed, 40);
    return c;
}

/* Of one run: what arrived, where, in which cycle. */
struct record {
    uint64_t arrived, packets;
    struct network_counters counters;
};

static void push_some(struct network *n, uint64_t *seed, uint64_t now)
{
    for (uint32_t i = 0; i < INPUTS; i++) {
        uint32_t flits = 1 + below(seed, LONGEST), output = below(seed, OUTPUTS);
        if (below(seed, 3) || now / 64 % 6 || !network_has_room_at(n, i, flits * FLIT, now))
            continue; /* in five sixths of the time nothing is pushed, so that all comes to rest */
        struct packet p = {.token = (uint32_t)now, .core = (uint16_t)i};
        network_push(n, i, output, &p, flits * FLIT, now);
    }
}

static void take_some(struct network *n, struct record *r, uint64_t now)
{
    for (uint32_t o = 0; o < OUTPUTS; o++)
        if ((now * 2654435761u >> (8 + o)) % 3 == 0 && network_front(n, o)) {
            const struct packet *p = network_front(n, o);
            assert_true(now >= p->token + n->least_cycles);
            r->arrived = r->arrived * 31 + (p->token * 7919u + p->core * 31u + o) * now;
            r->packets++;
            network_pop(n, o);
        }
}

/* Lazily: only cycles in which the network says that something may happen; else it is made to work in every cycle. */
static struct record run(const struct network_config *c, uint64_t seed, bool is_lazy, uint64_t *left_out)
{
    struct network *n = network_create(&arena, c, NETWORK_REQUESTS, INPUTS, OUTPUTS);
    struct record r = {0};
    for (uint64_t now = 1; now < CYCLES || !network_is_empty(n); now++) {
        assert_true(now < 10 * CYCLES);
        if (now < CYCLES)
            push_some(n, &seed, now);
        if (!is_lazy)
            n->work_at = 0;
        if (is_lazy && (network_idle(n) || network_next(n) > now))
            ++*left_out;
        else
            network_cycle(n, now);
        take_some(n, &r, now);
    }
    r.counters = *network_counters(n);
    return r;
}

static void test_lazy_is_equal(void **state)
{
    (void)state;
    for (int k = 0; k < NETWORKS; k++) {
        uint64_t left_out = 0;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            uint64_t dice = seed;
            struct network_config c = draw(&dice, networks[k].choice);
            struct record always = run(&c, seed, false, NULL), lazy = run(&c, seed, true, &left_out);
            assert_memory_equal(&always, &lazy, sizeof always);
            assert_true(always.packets > 300 && always.packets == always.counters.packets_out);
        }
        if (left_out < 20 * CYCLES / 4)
            fail_msg("%s: only %llu cycles were left out", networks[k].name, (unsigned long long)left_out);
    }
}

/* Flits that have left an input which takes at least `longest` of them, up to the last cycle that was run. */
static uint64_t gone_from(const struct network *n, uint32_t input)
{
    const struct network_input *in = &n->input[input];
    uint64_t gone = in->left;
    while (gone && in->left_at[(gone - 1) & n->input_mask] > n->now + 1)
        gone--;
    return gone;
}

/* What an input gives in a cycle; that there is no room before it was said to be possible; whether arrivals are
 * foreseen.
 */
static void test_promises(void **state)
{
    (void)state;
    for (int k = 0; k < NETWORKS; k++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            uint64_t dice = seed;
            struct network_config c = draw(&dice, networks[k].choice);
            c.injection_flits =
                LONGEST + below(&dice, 4); /* room for each packet: so the ring of left_at is not overrun */
            c.input_flits = c.injection_flits + 1 + below(&dice, 9);
            struct network *n = network_create(&arena, &c, NETWORK_REQUESTS, INPUTS, OUTPUTS);
            uint64_t left[INPUTS] = {0}, no_room_before[INPUTS] = {0}, not_before[OUTPUTS] = {0};
            struct record r = {0};
            for (uint64_t now = 1; now < CYCLES; now++) {
                push_some(n, &dice, now);
                network_cycle(n, now);
                for (uint32_t i = 0; i < INPUTS; i++) {
                    uint64_t gone = gone_from(n, i), room_at = network_may_have_room_at(n, i, LONGEST * FLIT, now + 1);
                    assert_true(gone >= left[i] && gone - left[i] <= n->flits_per_cycle);
                    bool has_room = network_has_room(n, i, LONGEST * FLIT);
                    assert_true(has_room == (room_at == now + 1));
                    assert_true(!has_room || now + 1 >= no_room_before[i]);
                    no_room_before[i] = room_at > no_room_before[i] ? room_at : no_room_before[i];
                    left[i] = gone;
                }
                for (uint32_t o = 0; n->foreseen_cycles && o < OUTPUTS; o++) {
                    assert_true(!network_waits_at(n, o) || now >= not_before[o]);
                    not_before[o] = network_waits_at(n, o) ? 0 : network_arrives_at(n, o, now + 1);
                }
                take_some(n, &r, now);
                for (uint32_t o = 0; o < OUTPUTS; o++)
                    if (!network_waits_at(n, o) && n->foreseen_cycles)
                        not_before[o] = network_arrives_at(n, o, now + 1);
            }
        }
}

/* "auto" is a router where it was meant before there was the key; keys of other networks do not matter. */
static void test_choice(void **state)
{
    (void)state;
    struct network_misfit why;
    struct network_config c = {.flit_bytes = FLIT, .input_flits = 8, .output_flits = 8, .speedup = 1};
    c.mesh_buffer_flits = c.mesh_link_cycles = 1;
    assert_int_equal(network_create(&arena, &c, NETWORK_REQUESTS, 2, 2)->foreseen_cycles, 0);
    c.hop_cycles = 5;
    assert_int_equal(network_create(&arena, &c, NETWORK_REQUESTS, 2, 2)->foreseen_cycles, 5);
    c.injection_flits = c.ejection_flits = 3;
    assert_int_equal(network_create(&arena, &c, NETWORK_REQUESTS, 2, 2)->input_room, 3);
    c.network = NETWORK_IS_crossbar;
    assert_int_equal(network_create(&arena, &c, NETWORK_REQUESTS, 2, 2)->input_room, 8);
    c.injection_flits = 0;
    assert_true(network_fits(&c, &why));
    c.network = NETWORK_AUTO;
    assert_false(network_fits(&c, &why));
    assert_ptr_equal(why.fields[0], &c.injection_flits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lazy_is_equal, teardown),
        cmocka_unit_test_teardown(test_promises, teardown),
        cmocka_unit_test_teardown(test_choice, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
