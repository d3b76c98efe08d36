/* Owners of a network's inputs that are ahead of the network (network_has_room_at): what they push is as if all were in
 * the same cycle. */
#include "mem/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FLIT = 32, PORTS = 5, OUTPUTS = 3, CYCLES = 6000, EVENTS_MOST = 2 * CYCLES };

/* An owner asks for room, and pushes if there is some. */
struct event {
    uint64_t cycle;
    uint32_t flits, output;
    bool taken;
};

struct traffic {
    struct event list[PORTS][EVENTS_MOST];
    uint32_t count[PORTS];
    uint64_t arrived; /* a sum over what arrived, where and when */
    struct network_counters counters;
};

static struct traffic in_step, apart;
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

static void push(struct network *x, uint32_t input, const struct event *e, uint32_t number)
{
    struct packet p = {.token = number, .core = (uint16_t)input};
    network_push(x, input, e->output, &p, e->flits * FLIT, e->cycle);
}

/* Outputs take packets in some cycles only, the same ones in both runs. */
static void run_cycle(struct network *x, struct traffic *t, uint64_t now)
{
    network_cycle(x, now);
    for (uint32_t o = 0; o < OUTPUTS; o++)
        if ((now * 2654435761u >> (8 + o)) % 3 == 0 && network_front(x, o)) {
            const struct packet *p = network_front(x, o);
            t->arrived = t->arrived * 31 + (p->token * 7919u + p->core * 31u + o) * now;
            network_pop(x, o);
        }
}

static struct network *make(const struct network_config *config)
{
    return network_create(&arena, config, NETWORK_REQUESTS, PORTS, OUTPUTS);
}

/* All in the same cycle. */
static void run_in_step(const struct network_config *config, uint32_t pause)
{
    struct network *x = make(config);
    struct traffic *t = &in_step;
    uint64_t seed = 99;
    memset(t, 0, sizeof *t);
    for (uint64_t now = 1; now < CYCLES; now++) {
        for (uint32_t i = 0; i < PORTS; i++) {
            if (below(&seed, pause) || (now / 500 + i) % 4 == 0) /* some are silent for a while */
                continue;
            struct event *e = &t->list[i][t->count[i]++];
            *e = (struct event){.cycle = now, .flits = 1 + 4 * (below(&seed, 3) == 0), .output = below(&seed, OUTPUTS)};
            e->taken = network_has_room(x, i, e->flits * FLIT);
            assert_true(network_has_room_at(x, i, e->flits * FLIT, now) == e->taken);
            if (e->taken)
                push(x, i, e, t->count[i]);
        }
        run_cycle(x, t, now);
    }
    t->counters = *network_counters(x);
}

/* The owner's next event, if that can be told now; next: the network's next cycle. */
static bool replay(struct network *x, uint32_t input, uint32_t number, uint64_t next)
{
    const struct event *e = &in_step.list[input][number];
    bool room = network_has_room_at(x, input, e->flits * FLIT, e->cycle);
    if (e->cycle > next && !room)
        return false; /* it is not known yet */
    assert_true(room == e->taken);
    if (room)
        push(x, input, e, number + 1);
    return true;
}

/* Each owner somewhere else, ahead as long as there is room for certain. */
static void run_apart(const struct network_config *config, uint64_t seed, uint32_t *ahead)
{
    struct network *x = make(config);
    uint32_t done[PORTS] = {0};
    memset(&apart, 0, sizeof apart);
    for (uint64_t now = 1; now < CYCLES; now++) {
        for (uint32_t i = 0; i < PORTS; i++) {
            uint64_t until = now + below(&seed, 40);
            while (done[i] < in_step.count[i] && in_step.list[i][done[i]].cycle <= until) {
                uint64_t cycle = in_step.list[i][done[i]].cycle;
                if (!replay(x, i, done[i], now))
                    break;
                done[i]++;
                *ahead += cycle > now;
            }
            assert_true(done[i] == in_step.count[i] || in_step.list[i][done[i]].cycle > now);
        }
        run_cycle(x, &apart, now);
    }
    apart.counters = *network_counters(x);
}

static void compare(const struct network_config *config)
{
    for (uint32_t pause = 1; pause <= 6; pause++) {
        uint32_t ahead = 0;
        run_in_step(config, pause);
        assert_true(in_step.counters.packets_out > 1000);
        for (uint64_t seed = 1; seed <= 5; seed++) {
            run_apart(config, seed, &ahead);
            assert_int_equal(in_step.arrived, apart.arrived);
            assert_int_equal(in_step.counters.packets_out, apart.counters.packets_out);
            assert_int_equal(in_step.counters.stalls, apart.counters.stalls);
        }
        assert_true(ahead > 500);
    }
}

static void test_crossbar(void **state)
{
    (void)state;
    compare(&(struct network_config){.flit_bytes = FLIT, .input_flits = 17, .output_flits = 24, .speedup = 1});
}

static void test_input_of_a_power_of_two(void **state)
{
    (void)state;
    compare(&(struct network_config){.flit_bytes = FLIT, .input_flits = 8, .output_flits = 9, .speedup = 1});
}

static void test_speedup(void **state)
{
    (void)state;
    compare(&(struct network_config){.flit_bytes = FLIT, .input_flits = 17, .output_flits = 24, .speedup = 2});
}

static void test_hops(void **state)
{
    (void)state;
    compare(&(struct network_config){
        .flit_bytes = FLIT, .input_flits = 16, .output_flits = 64, .hop_cycles = 9, .speedup = 1});
}

static void test_router(void **state)
{
    (void)state;
    compare(&(struct network_config){.flit_bytes = FLIT,
                                     .input_flits = 9 + 8,
                                     .output_flits = 8 + 16,
                                     .hop_cycles = 4,
                                     .speedup = 2,
                                     .injection_flits = 9,
                                     .ejection_flits = 16});
}

static void test_mesh(void **state)
{
    (void)state;
    compare(&(struct network_config){.network = NETWORK_IS_mesh,
                                     .flit_bytes = FLIT,
                                     .input_flits = 17,
                                     .output_flits = 24,
                                     .mesh_buffer_flits = 4,
                                     .mesh_router_cycles = 2,
                                     .mesh_link_cycles = 1});
}

static void test_ticks(void **state)
{
    (void)state;
    const uint64_t periods[][2] = {{2, 1}, {1, 1}, {3, 2}, {2, 3}, {7, 5}, {1000, 999}};
    for (size_t k = 0; k < sizeof periods / sizeof *periods; k++) {
        uint64_t owner = periods[k][0], period = periods[k][1];
        struct network_clock c = {
            .owner_period = owner, .period = period, .whole = owner % period ? 0 : owner / period};
        for (uint64_t cycle = 0, tick = 0; cycle < 5000; cycle++) {
            while (tick * period <= cycle * owner)
                tick++;
            assert_int_equal(network_tick(&c, cycle), tick);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_crossbar, teardown),
        cmocka_unit_test_teardown(test_input_of_a_power_of_two, teardown),
        cmocka_unit_test_teardown(test_speedup, teardown),
        cmocka_unit_test_teardown(test_hops, teardown),
        cmocka_unit_test_teardown(test_router, teardown),
        cmocka_unit_test_teardown(test_mesh, teardown),
        cmocka_unit_test(test_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
