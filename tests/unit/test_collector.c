/* Do operand collectors let an instruction through neither a cycle early nor late, and does everything that goes in
 * come out once? */
#include "sm/collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct bench {
    struct arena arena;
    struct sm_config config;
    struct collector *c;
};

static struct sm_config small(void)
{
    return (struct sm_config){.sp_issue_width = 2,
                              .sfu_issue_width = 1,
                              .mem_issue_width = 1,
                              .sp_collectors = 6,
                              .sfu_collectors = 8,
                              .mem_collectors = 2,
                              .sp_ports = 2,
                              .sfu_ports = 1,
                              .mem_ports = 1,
                              .register_banks = 16};
}

static void open_bench(struct bench *b, struct sm_config config)
{
    memset(b, 0, sizeof *b);
    b->config = config;
    b->c = collector_create(&b->arena, &b->config);
}

static void accept(struct bench *b, enum collector_kind kind, inflight_id id, uint32_t count, const uint8_t *banks)
{
    assert_true(collector_can_accept(b->c, kind));
    collector_accept(b->c, kind, id, collector_banks(banks, count));
}

/* Cycles until the next instruction of this kind stands in an OC/EX register; it is taken. A bank is written in each
 * cycle up to and with the given one. */
static uint32_t cycles_until(struct bench *b, enum collector_kind kind, inflight_id want, uint32_t bank,
                             uint32_t written_cycles)
{
    inflight_id id;
    for (uint32_t cycle = 1; cycle < 100; cycle++) {
        if (cycle <= written_cycles)
            assert_true(collector_write_bank(b->c, bank));
        collector_cycle(b->c);
        if (collector_front(b->c, kind, &id)) {
            assert_int_equal(id, want);
            collector_take(b->c, kind);
            return cycle;
        }
    }
    fail();
    return 0;
}

/* Accepted in cycle s: allocated in s + 1, n operands read in s + 2 to s + 1 + n, dispatched in s + 2 + n; so too when
 * all are in one bank. */
static void operands_take_a_cycle_each(void **state)
{
    (void)state;
    static const uint8_t apart[8] = {0, 1, 2, 3, 4, 5, 6, 7}, together[8] = {5, 5, 5, 5, 5, 5, 5, 5};
    for (enum collector_kind kind = 0; kind < COLLECT_KINDS; kind++) {
        struct bench b;
        open_bench(&b, small());
        for (uint32_t n = 0; n <= COLLECT_OPERANDS; n++) {
            accept(&b, kind, (inflight_id)(100 + n), n, apart);
            assert_int_equal(cycles_until(&b, kind, (inflight_id)(100 + n), 0, 0), 2 + n);
            accept(&b, kind, (inflight_id)(200 + n), n, together);
            assert_int_equal(cycles_until(&b, kind, (inflight_id)(200 + n), 0, 0), 2 + n);
            assert_true(collector_idle(b.c));
        }
        arena_free(&b.arena);
    }
}

/* With banks at once: one cycle for operands in different banks, a cycle for each in the fullest bank; a bank that is
 * written holds up nothing but its own operand. */
static void banks_at_once(void **state)
{
    (void)state;
    static const uint8_t apart[8] = {0, 1, 2, 3, 4, 5, 6, 7}, mixed[8] = {5, 5, 6, 5, 6, 6, 6, 7};
    static const uint32_t fullest[9] = {0, 1, 2, 2, 3, 3, 3, 4, 4};
    for (enum collector_kind kind = 0; kind < COLLECT_KINDS; kind++) {
        struct sm_config config = small();
        struct bench b;
        config.banks_at_once = true;
        open_bench(&b, config);
        for (uint32_t n = 0; n <= COLLECT_OPERANDS; n++) {
            accept(&b, kind, 10, n, apart);
            assert_int_equal(cycles_until(&b, kind, 10, 0, 0), 2 + (n > 0));
            accept(&b, kind, 11, n, mixed);
            assert_int_equal(cycles_until(&b, kind, 11, 0, 0), 2 + fullest[n]);
            accept(&b, kind, 12, n, apart);
            assert_int_equal(cycles_until(&b, kind, 12, 1, 4),
                             n > 1 ? 6 : 2 + n); /* bank 1 is free in the fifth cycle */
            assert_true(collector_idle(b.c));
        }
        arena_free(&b.arena);
    }
}

/* Two instructions that ask for the same two banks: the second reads both a cycle behind the first, whatever its
 * kind. */
static void banks_at_once_in_order(void **state)
{
    (void)state;
    static const uint8_t both[2] = {2, 5};
    struct sm_config config = small();
    struct bench b;
    inflight_id id;
    config.banks_at_once = true;
    open_bench(&b, config);
    accept(&b, COLLECT_SP, 1, 2, both);
    accept(&b, COLLECT_MEM, 2, 2, both);
    for (uint32_t i = 0; i < 3; i++)
        collector_cycle(b.c);
    assert_true(collector_front(b.c, COLLECT_SP, &id) && id == 1);
    assert_false(collector_front(b.c, COLLECT_MEM, &id));
    collector_cycle(b.c);
    assert_true(collector_front(b.c, COLLECT_MEM, &id) && id == 2);
    collector_take(b.c, COLLECT_SP);
    collector_take(b.c, COLLECT_MEM);
    assert_true(collector_idle(b.c));
    arena_free(&b.arena);
}

static void a_write_comes_before_a_read(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, small());
    const uint8_t bank = 3;
    for (uint32_t writes = 0; writes <= 5; writes++) {
        accept(&b, COLLECT_SP, 7, 1, &bank);
        /* Without writes the bank is read in the second cycle: a write in the first one alone delays nothing, each
         * further one delays by a cycle. */
        assert_int_equal(cycles_until(&b, COLLECT_SP, 7, 3, writes), 3 + (writes > 1 ? writes - 1 : 0));
        accept(&b, COLLECT_SP, 8, 1, &bank);
        assert_int_equal(cycles_until(&b, COLLECT_SP, 8, 4, writes), 3); /* another bank */
    }
    assert_true(collector_write_bank(b.c, 3));
    assert_false(collector_write_bank(b.c, 3)); /* once per cycle */
    assert_true(collector_write_bank(b.c, 2));
    assert_false(collector_idle(b.c)); /* there is a write to forget */
    assert_false(collector_moves(b.c));
    collector_forget_writes(b.c);
    assert_true(collector_idle(b.c));
    assert_true(collector_write_bank(b.c, 3));
    arena_free(&b.arena);
}

/* Two instructions that want the same bank: the first to be allocated reads first, the other a cycle later. In
 * different banks both are served at once. */
static void bank_conflict_between_instructions(void **state)
{
    (void)state;
    static const uint8_t banks[2] = {9, 10};
    for (uint32_t apart = 0; apart < 2; apart++) {
        struct bench b;
        inflight_id id;
        open_bench(&b, small());
        accept(&b, COLLECT_SP, 1, 1, &banks[0]);
        accept(&b, COLLECT_MEM, 2, 1, &banks[apart]);
        for (uint32_t i = 0; i < 3; i++) {
            assert_false(collector_front(b.c, COLLECT_SP, &id) || collector_front(b.c, COLLECT_MEM, &id));
            collector_cycle(b.c);
        }
        assert_true(collector_front(b.c, COLLECT_SP, &id));
        assert_int_equal(collector_front(b.c, COLLECT_MEM, &id), apart);
        collector_cycle(b.c);
        assert_true(collector_front(b.c, COLLECT_MEM, &id));
        arena_free(&b.arena);
    }
}

static uint32_t accept_all(struct bench *b, enum collector_kind kind)
{
    uint32_t count = 0;
    for (; collector_can_accept(b->c, kind); count++)
        collector_accept(b->c, kind, 0, collector_banks(NULL, 0));
    return count;
}

static uint32_t take_all(struct bench *b, enum collector_kind kind)
{
    inflight_id id;
    uint32_t count = 0;
    for (; collector_front(b->c, kind, &id); count++)
        collector_take(b->c, kind);
    return count;
}

/* Ports: as many instructions per cycle into the collectors, and as many out of them. */
static void ports_limit_both_ways(void **state)
{
    (void)state;
    for (uint32_t ports = 1; ports <= 3; ports++) {
        struct sm_config config = small();
        struct bench b;
        config.sp_issue_width = 4;
        config.sp_ports = ports;
        open_bench(&b, config);
        assert_int_equal(accept_all(&b, COLLECT_SP), 4);
        collector_cycle(b.c);
        assert_int_equal(accept_all(&b, COLLECT_SP), ports); /* as many have gone in */
        assert_int_equal(take_all(&b, COLLECT_SP), 0);
        for (uint32_t i = 0; i < 20; i++) {
            collector_cycle(b.c);
            accept_all(&b, COLLECT_SP);
        }
        assert_false(collector_moves(b.c));
        assert_int_equal(take_all(&b, COLLECT_SP), 4); /* now there is room for four, and six are ready */
        collector_cycle(b.c);
        assert_int_equal(take_all(&b, COLLECT_SP), ports);
        arena_free(&b.arena);
    }
}

/* Full: nobody takes. What is accepted fills OC/EX, collectors and ID/OC registers, then nothing moves; a take moves
 * everything by one. */
static void back_pressure(void **state)
{
    (void)state;
    struct bench b;
    inflight_id id, next = 0;
    open_bench(&b, small());
    const uint8_t banks[2] = {1, 2};
    for (uint32_t cycle = 0; cycle < 200; cycle++) {
        collector_cycle(b.c);
        if (collector_can_accept(b.c, COLLECT_MEM))
            accept(&b, COLLECT_MEM, next++, 2, banks);
    }
    assert_int_equal(next, 1 + 2 + 1);
    assert_false(collector_moves(b.c));
    assert_false(collector_idle(b.c));
    for (uint32_t taken = 0; taken < 4; taken++) {
        assert_true(collector_front(b.c, COLLECT_MEM, &id));
        assert_int_equal(id, taken);
        collector_take(b.c, COLLECT_MEM);
        assert_false(collector_front(b.c, COLLECT_MEM, &id));
        assert_int_equal(collector_moves(b.c), taken < 3);
        collector_cycle(b.c); /* the next has its operands: it moves at once, and the collector it leaves is taken in
                                 the same cycle */
        assert_int_equal(collector_can_accept(b.c, COLLECT_MEM), true);
        for (uint32_t i = 0; i < 4; i++)
            collector_cycle(b.c);
    }
    assert_true(collector_idle(b.c));
    arena_free(&b.arena);
}

/* Round robin: 0 has left collector 0, which 1 takes; 2 and 3 stand in collectors 1 and 2. With all of them ready, the
 * one behind the last goes next, not the lowest. */
static void dispatch_goes_round(void **state)
{
    (void)state;
    static const inflight_id order[4] = {0, 2, 3, 1};
    struct sm_config config = small();
    struct bench b;
    inflight_id id;
    config.mem_collectors = 3;
    open_bench(&b, config);
    for (inflight_id i = 0; i < 4; i++) {
        accept(&b, COLLECT_MEM, i, 0, NULL);
        collector_cycle(b.c);
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(collector_front(b.c, COLLECT_MEM, &id));
        assert_int_equal(id, order[i]);
        collector_take(b.c, COLLECT_MEM);
        collector_cycle(b.c);
    }
    assert_true(collector_idle(b.c));
    arena_free(&b.arena);
}

/* Which bank is asked first moves on by one every cycle. The first instruction wants banks 2 and 5 and gets one of
 * them; whoever waits behind it in that bank is served a cycle before the other. A trial reads in 3 cycles, so that 16
 * trials begin once at each of 16 banks: from 3, 4 and 5 on, bank 5 comes before bank 2. */
static void first_bank_moves_on(void **state)
{
    (void)state;
    static const uint8_t both[2] = {2, 5};
    struct bench b;
    uint32_t bank_2_first = 0, bank_5_first = 0;
    open_bench(&b, small());
    for (uint32_t trial = 0; trial < 16; trial++) {
        inflight_id id;
        accept(&b, COLLECT_SP, 1, 2, both);
        accept(&b, COLLECT_SFU, 2, 1, &both[1]);
        accept(&b, COLLECT_MEM, 3, 1, &both[0]);
        for (uint32_t i = 0; i < 4; i++)
            collector_cycle(b.c);
        bank_2_first += collector_front(b.c, COLLECT_MEM, &id);
        bank_5_first += collector_front(b.c, COLLECT_SFU, &id);
        collector_cycle(b.c);
        for (enum collector_kind kind = 0; kind < COLLECT_KINDS; kind++)
            collector_take(b.c, kind);
        assert_true(collector_idle(b.c));
    }
    assert_int_equal(bank_2_first, 13);
    assert_int_equal(bank_5_first, 3);
    arena_free(&b.arena);
}

/* OC/EX registers give the instruction that was issued first, though a later one was ready before it. */
static void oldest_leaves_first(void **state)
{
    (void)state;
    struct bench b;
    inflight_id id;
    const uint8_t banks[3] = {1, 2, 3};
    open_bench(&b, small());
    accept(&b, COLLECT_SP, 10, 3, banks);
    accept(&b, COLLECT_SP, 11, 0, NULL);
    collector_cycle(b.c);
    collector_cycle(b.c);
    assert_true(collector_front(b.c, COLLECT_SP, &id) && id == 11);
    for (uint32_t i = 0; i < 3; i++)
        collector_cycle(b.c);
    assert_true(collector_front(b.c, COLLECT_SP, &id) && id == 10);
    collector_take(b.c, COLLECT_SP);
    assert_true(collector_front(b.c, COLLECT_SP, &id) && id == 11);
    collector_take(b.c, COLLECT_SP);
    assert_true(collector_idle(b.c));
    arena_free(&b.arena);
}

static uint32_t random_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* What collector_moves promises: a second collector is stepped only where it says so, and else forgets the writes of
 * the cycle, as in a core. Nothing may tell them apart. */
struct pair {
    struct bench all, lazy;
    uint32_t inside, accepted, taken;
    uint8_t state[1 << 16]; /* of an id: 0 outside, 1 + kind inside */
};

static void pair_cycle(struct pair *p, uint64_t *seed, uint32_t write_percent)
{
    for (uint32_t bank = 0; bank < p->all.config.register_banks; bank++)
        if (random_next(seed) % 100 < write_percent) {
            assert_true(collector_write_bank(p->all.c, bank));
            assert_true(collector_write_bank(p->lazy.c, bank));
        }
    collector_cycle(p->all.c);
    if (collector_moves(p->lazy.c))
        collector_cycle(p->lazy.c);
    else
        collector_forget_writes(p->lazy.c);
    assert_true(collector_moves(p->lazy.c) == collector_moves(p->all.c));
    assert_int_equal(collector_idle(p->all.c), p->inside == 0);
}

static void pair_take(struct pair *p, enum collector_kind kind)
{
    inflight_id id, same;
    if (!collector_front(p->all.c, kind, &id)) {
        assert_false(collector_front(p->lazy.c, kind, &same));
        return;
    }
    assert_true(collector_front(p->lazy.c, kind, &same) && same == id);
    assert_int_equal(p->state[id], 1 + kind); /* inside, of this kind, and now no more */
    p->state[id] = 0;
    collector_take(p->all.c, kind);
    collector_take(p->lazy.c, kind);
    p->inside--;
    p->taken++;
}

static void pair_accept(struct pair *p, uint64_t *seed, enum collector_kind kind)
{
    uint8_t banks[COLLECT_OPERANDS];
    uint32_t count = random_next(seed) % 3 ? random_next(seed) % 4 : random_next(seed) % (COLLECT_OPERANDS + 1);
    assert_true(collector_can_accept(p->all.c, kind) == collector_can_accept(p->lazy.c, kind));
    if (!collector_can_accept(p->all.c, kind))
        return;
    for (uint32_t i = 0; i < count; i++)
        banks[i] = (uint8_t)(random_next(seed) % p->all.config.register_banks);
    inflight_id id = (inflight_id)p->accepted++;
    assert_int_equal(p->state[id], 0);
    p->state[id] = (uint8_t)(1 + kind);
    collector_accept(p->all.c, kind, id, collector_banks(banks, count));
    collector_accept(p->lazy.c, kind, id, collector_banks(banks, count));
    p->inside++;
}

static struct sm_config random_config(uint64_t *seed)
{
    return (struct sm_config){.sp_issue_width = 1 + random_next(seed) % 4,
                              .sfu_issue_width = 1 + random_next(seed) % 2,
                              .mem_issue_width = 1 + random_next(seed) % 2,
                              .sp_collectors = 1 + random_next(seed) % 24,
                              .sfu_collectors = 1 + random_next(seed) % 20,
                              .mem_collectors = 1 + random_next(seed) % 20,
                              .sp_ports = 1 + random_next(seed) % 3,
                              .sfu_ports = 1 + random_next(seed) % 2,
                              .mem_ports = 1 + random_next(seed) % 2,
                              .register_banks = 1 + random_next(seed) % 64};
}

static void random_stress(void **state)
{
    (void)state;
    static struct pair p;
    uint64_t seed = 11;
    for (uint32_t round = 0; round < 60; round++) {
        memset(&p, 0, sizeof p);
        struct sm_config config = round ? random_config(&seed) : small();
        config.banks_at_once = round % 3 == 2;
        if (round == 1) /* the most there may be */
            config.sp_collectors = 30, config.sfu_collectors = 20, config.mem_collectors = 14,
            config.register_banks = 64;
        open_bench(&p.all, config);
        open_bench(&p.lazy, config);
        uint32_t take = 5 + random_next(&seed) % 95, issue = 5 + random_next(&seed) % 95,
                 write = random_next(&seed) % 60;
        for (uint32_t cycle = 0; cycle < 2000; cycle++) {
            for (enum collector_kind kind = 0; kind < COLLECT_KINDS; kind++)
                if (random_next(&seed) % 100 < take)
                    pair_take(&p, kind);
            pair_cycle(&p, &seed, write);
            for (enum collector_kind kind = 0; kind < COLLECT_KINDS; kind++)
                for (uint32_t i = 0; i < 2; i++)
                    if (random_next(&seed) % 100 < issue)
                        pair_accept(&p, &seed, kind);
        }
        assert_true(p.taken > 50);
        for (uint32_t cycle = 0; cycle < 2000 && p.inside; cycle++) { /* drains */
            for (enum collector_kind kind = 0; kind < COLLECT_KINDS; kind++)
                pair_take(&p, kind);
            pair_cycle(&p, &seed, 0);
        }
        assert_int_equal(p.inside, 0);
        assert_int_equal(p.taken, p.accepted);
        arena_free(&p.all.arena);
        arena_free(&p.lazy.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_take_a_cycle_each),
        cmocka_unit_test(a_write_comes_before_a_read),
        cmocka_unit_test(bank_conflict_between_instructions),
        cmocka_unit_test(ports_limit_both_ways),
        cmocka_unit_test(back_pressure),
        cmocka_unit_test(dispatch_goes_round),
        cmocka_unit_test(first_bank_moves_on),
        cmocka_unit_test(oldest_leaves_first),
        cmocka_unit_test(random_stress),
        cmocka_unit_test(banks_at_once),
        cmocka_unit_test(banks_at_once_in_order),
    };
    return cmocka_run_group_tests_name("collector", tests, NULL, NULL);
}
