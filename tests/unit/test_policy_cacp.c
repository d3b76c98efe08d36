/* CACP: the steps of the paper's algorithm 4 by hand, and long random traces against a plain model. */
#include "l1_test.h"

#include "cacp_model.h"

#include <stdio.h>

enum { C_CRITICAL_FILLS, C_OTHER_FILLS, C_DISTANT, C_CRITICAL_HITS, C_OTHER_HITS, C_WRONG, C_UNUSED, C_OVERFLOWS };

static const struct heddle_events *on(const struct bench *b) { return &b->l1.choice.policy->on; }

static void launch(struct bench *b, uint32_t warp, uint32_t block)
{
    b->f.warp[warp] = (struct heddle_warp){.age = b->f.ages++, .block = block, .launch_cycle = b->f.core.cycle};
    b->f.core.resident |= UINT64_C(1) << warp;
    on(b)->launched(b->l1.state, &b->f.core, warp);
}

static void issue(struct bench *b, uint32_t warp, uint32_t pc)
{
    on(b)->issued(b->l1.state, &b->f.core, &(struct heddle_issue){.warp = warp, .pc = pc, .active = ~0u, .path = ~0u});
}

/* Warp 1 has stalled, warp 0 has not: the one is critical, the other is not. */
static void start_two_warps(struct bench *b, const char *spec)
{
    start(b, spec);
    launch(b, 0, 0);
    launch(b, 1, 0);
    issue(b, 1, 0);
    b->f.core.cycle = 50;
    issue(b, 1, 1);
}
enum { OTHER, CRITICAL };

/* Addresses are multiples of 256: a signature is the number of an instruction. */
static int read_at(struct bench *b, uint64_t line, uint32_t warp, uint32_t pc)
{
    return read_by(b, 0, 2 * line, warp, pc);
}

/* Two ways and two ways. */
static void algorithm_4_by_hand(void **state)
{
    (void)state;
    enum { S = 7, T = 9 };
    struct bench b;
    start_two_warps(&b, "cacp");
    assert_int_equal(read_at(&b, 'a', OTHER, S), 2);    /* CCBP 1: not critical */
    assert_int_equal(read_at(&b, 'a', CRITICAL, S), 2); /* a critical warp uses it: CCBP 2, SHiP 2 */
    assert_int_equal(read_at(&b, 'b', OTHER, S), 0);    /* into the critical ways */
    assert_int_equal(read_at(&b, 'c', OTHER, T), 3);    /* another signature */
    assert_int_equal(b.l1.counters[C_CRITICAL_HITS], 1);
    assert_int_equal(read_at(&b, 'b', OTHER, S), 0); /* hit by another alone */
    assert_int_equal(read_at(&b, 'd', OTHER, S), 1);
    assert_int_equal(read_at(&b, 'e', OTHER, S), 1); /* b is near, d is not: d leaves unused, SHiP 3 - 1 */
    assert_int_equal(b.l1.counters[C_UNUSED], 1);
    read_at(&b, 'e', OTHER, S);
    assert_int_equal(read_at(&b, 'f', OTHER, S), 0); /* b leaves: CCBP 1 */
    assert_int_equal(b.l1.counters[C_WRONG], 1);
    assert_int_equal(b.l1.counters[C_CRITICAL_FILLS], 4);
    assert_int_equal(read_at(&b, 'g', OTHER, S), 3); /* no longer critical; c leaves unused: SHiP of T 0 */
    assert_int_equal(read_at(&b, 'h', OTHER, T), 3); /* a was used, g was not */
    assert_int_equal(b.l1.counters[C_DISTANT], 1);
    assert_int_equal(read_at(&b, 'i', OTHER, T), 3); /* it was farthest: nobody ages */
    end(&b);
}

static void counters_stop_at_both_ends(void **state)
{
    (void)state;
    struct bench b;
    start_two_warps(&b, "cacp:ship=0,ccbp=0");
    for (int i = 0; i < 9; i++)
        read_at(&b, 'a', CRITICAL, 1); /* CCBP 3 after it was put in */
    for (int i = 0; i < 2; i++) {      /* two lines of 1 leave the critical ways, used by others alone: 2, then 1 */
        read_at(&b, (uint64_t)('b' + i), OTHER, 1);
        read_at(&b, (uint64_t)('b' + i), OTHER, 1);
    }
    assert_int_equal(b.l1.counters[C_CRITICAL_FILLS], 2);
    read_at(&b, 'd', OTHER, 1);
    read_at(&b, 'd', OTHER, 1);
    read_at(&b, 'e', OTHER, 1);
    read_at(&b, 'e', OTHER, 1);
    assert_int_equal(b.l1.counters[C_WRONG], 2);
    read_at(&b, 'f', OTHER, 1);
    assert_int_equal(b.l1.counters[C_CRITICAL_FILLS], 4);
    end(&b);
}

static void stores_and_flushes_teach_nothing(void **state)
{
    (void)state;
    for (int why = HEDDLE_EVICTED; why <= HEDDLE_FLUSHED; why++) {
        struct bench b;
        start_two_warps(&b, "cacp");
        read_at(&b, 'a', OTHER, 1);
        invalidate(&b, 0, 2, (enum heddle_leave)why);
        assert_int_equal(b.l1.counters[C_UNUSED], why == HEDDLE_EVICTED);
        end(&b);
    }
}

static void how_the_ways_are_divided(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int other, critical;
    } rows[] = {
        {"cacp:critical_ways=0", 0, 0}, /* not divided */
        {"cacp:critical_ways=1", 1, 0}, {"cacp:critical_ways=3", 3, 0}, {"cacp:critical_ways=4", 0, 0},
        {"cacp:threshold=0", 0, 0},     {"cacp:threshold=4", 2, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int ccbp = 0; ccbp < 4; ccbp += 3) {
            char spec[64];
            struct bench b;
            snprintf(spec, sizeof spec, "%s,ccbp=%d", rows[i].spec, ccbp);
            start_two_warps(&b, spec);
            assert_int_equal(read_at(&b, 'a', OTHER, 1), ccbp ? rows[i].critical : rows[i].other);
            end(&b);
        }
}

static void signatures(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint64_t line;
        uint32_t pc;
        bool same;
    } rows[] = {
        {"cacp", 0x11, 1, false}, /* bit 7 of the address: 128 */
        {"cacp", 0x11, 1 ^ 128, true},
        {"cacp", 0x30, 1, true}, /* higher bits do not matter */
        {"cacp", 0x10, 1 + 256, true},
        {"cacp:addr_shift=7", 0x11, 1, false},
        {"cacp:addr_shift=7", 0x11, 0, true}, /* 0x10 ^ 1 = 0x11 ^ 0 */
        {"cacp:addr_shift=7", 0x110, 1, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        start_two_warps(&b, rows[i].spec);
        read_by(&b, 0, 0x10, CRITICAL, 1);
        read_by(&b, 0, 0x10, CRITICAL, 1); /* critical from now on */
        if ((read_by(&b, 1, rows[i].line, OTHER, rows[i].pc) < 2) != rows[i].same)
            fail_msg("%s %d", rows[i].spec, (int)i);
        end(&b);
    }
}

/* Two warps that are more critical than a third: both are before half of their block, one is the first of it. */
static void which_warps_are_critical(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint64_t critical_hits;
    } rows[] = {{"cacp", 1}, {"cacp:critical=top", 1}, {"cacp:critical=block_half", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        start(&b, rows[i].spec);
        for (uint32_t warp = 0; warp < 3; warp++) {
            launch(&b, warp, 0);
            issue(&b, warp, 0);
        }
        for (uint32_t warp = 1; warp < 3; warp++) { /* warp 1 stalls for 49 cycles, warp 2 for 99 */
            b.f.core.cycle = 50 * warp;
            issue(&b, warp, 1);
        }
        read_at(&b, 'a', 0, 1);
        for (uint32_t warp = 0; warp < 3; warp++)
            read_at(&b, 'a', warp, 1);
        assert_int_equal(b.l1.counters[C_CRITICAL_HITS], rows[i].critical_hits);
        end(&b);
    }
}

/* All ways of one part are reserved, in both directions: a line for critical warps, and one for others. */
static void a_part_that_is_on_its_way(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint64_t reserved;
        int way; /* of the new line */
    } rows[] = {
        {"cacp:ccbp=3", 0x3, 2}, /* into the other part */
        {"cacp:ccbp=0", 0xC, 0},
        {"cacp:ccbp=3", 0x1, 1},  /* its own part has one left */
        {"cacp:ccbp=3", 0xF, -1}, /* none is left at all */
        {"cacp:ccbp=3,reserved=fail", 0x3, -1},
        {"cacp:ccbp=0,reserved=fail", 0xC, -1},
        {"cacp:ccbp=3,reserved=fail", 0x1, 1},
        {"cacp:ccbp=3,critical_ways=4", 0xF, -1}, /* there is no other part */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        start_two_warps(&b, rows[i].spec);
        for (uint64_t way = 0; way < WAYS; way++)
            b.lines[0][way] = 1000 + way;
        b.reserved[0] = rows[i].reserved;
        if (read_at(&b, 'a', OTHER, 1) != rows[i].way)
            fail_msg("%s, reserved %x", rows[i].spec, (unsigned)rows[i].reserved);
        bool own_part = rows[i].way < 0 || rows[i].reserved == 0x1;
        assert_int_equal(b.l1.counters[C_OVERFLOWS], !own_part);
        end(&b);
    }
}

/* A line that went into the other part belongs to that part: evicted from there, it teaches what such lines teach. */
static void a_line_in_the_other_part_counts_there(void **state)
{
    (void)state;
    struct bench b;
    start_two_warps(&b, "cacp:ccbp=0,ship=3");
    b.lines[0][2] = b.lines[0][3] = 1000;
    b.reserved[0] = 0xC;
    assert_int_equal(read_at(&b, 'a', OTHER, 1), 0);
    assert_int_equal(read_at(&b, 'a', OTHER, 1), 0); /* used by another warp alone */
    invalidate(&b, 0, 0, HEDDLE_EVICTED);
    assert_int_equal(b.l1.counters[C_CRITICAL_FILLS], 1);
    assert_int_equal(b.l1.counters[C_WRONG], 1);
    end(&b);
}

/* Event by event. */
struct trace {
    struct bench b;
    struct cacp_model m;
    uint32_t random;
    unsigned critical_hits, other_hits, fails;
};

static uint32_t next(struct trace *t, uint32_t below)
{
    t->random = t->random * 1664525 + 1013904223;
    return (t->random >> 8) % below;
}

static void step_warp(struct trace *t, uint32_t w)
{
    struct model_warp *p = &t->m.warp[w];
    uint32_t what = next(t, 4), pc = next(t, 60), target = next(t, 60);
    if (what == 0) {
        on(&t->b)->committed(t->b.l1.state, &t->b.f.core, w, pc);
        p->committed++;
        p->n_inst--;
        return;
    }
    if (p->issued) { /* where it is: the next instruction */
        p->n_stall += t->m.now - p->last_issue - 1;
        pc = (uint32_t)t->b.f.warp[w].next_pc;
    }
    p->issued = true;
    p->last_issue = t->m.now;
    issue(&t->b, w, pc);
    t->b.f.warp[w].next_pc = pc + 1;
    if (what == 1 && target != pc) {
        on(&t->b)->branch(
            t->b.l1.state, &t->b.f.core,
            &(struct heddle_branch){.warp = w, .pc = pc, .taken = ~0u, .target = target, .fall_through = pc + 1});
        p->n_inst += (long)pc + 1 - (long)target;
        t->b.f.warp[w].next_pc = target;
    }
}

static void step_cache(struct trace *t)
{
    uint32_t set = next(t, MODEL_SETS), way = next(t, MODEL_WAYS), what = next(t, 32);
    struct model_line *line = &t->m.line[set][way];
    if (what == 0 && line->there && !line->reserved) { /* a store */
        invalidate(&t->b, set, way, HEDDLE_DROPPED);
        model_drop(&t->m, set, way);
    } else if (what < 3 && line->there) {
        line->reserved = !line->reserved;
        t->b.reserved[set] ^= UINT64_C(1) << way;
    } else {
        uint64_t number = 1 + next(t, 14);
        uint32_t w = next(t, MODEL_WARPS), pc = next(t, 6);
        int got = read_by(&t->b, set, number, w, pc), expected = model_read(&t->m, set, number, w, pc);
        assert_int_equal(got, expected);
        t->fails += got < 0;
    }
}

static void random_traces_with(const char *spec, bool half_is_critical, bool fails_when_reserved)
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct trace t = {.random = seed};
        start(&t.b, spec);
        model_start(&t.m, half_is_critical, fails_when_reserved);
        for (uint32_t w = 0; w < MODEL_WARPS; w++) {
            t.m.warp[w].block = w / 3;
            t.m.warp[w].n_inst = 1; /* the bench's program has one instruction */
            launch(&t.b, w, w / 3);
        }
        for (int i = 0; i < 20000; i++) {
            t.m.now += next(&t, 3) + 1;
            t.b.f.core.cycle = (uint64_t)t.m.now;
            step_warp(&t, next(&t, MODEL_WARPS));
            step_cache(&t);
        }
        for (int i = C_CRITICAL_FILLS; i <= C_UNUSED; i++)
            assert_true(t.b.l1.counters[i] > 0); /* the traces come everywhere */
        assert_true(t.fails > 0);
        assert_int_equal(t.b.l1.counters[C_OVERFLOWS] > 0, !fails_when_reserved);
        end(&t.b);
    }
}

static void random_traces(void **state)
{
    (void)state;
    random_traces_with("cacp", false, false);
    random_traces_with("cacp:critical=block_half", true, false);
    random_traces_with("cacp:reserved=fail", false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algorithm_4_by_hand),
        cmocka_unit_test(counters_stop_at_both_ends),
        cmocka_unit_test(stores_and_flushes_teach_nothing),
        cmocka_unit_test(how_the_ways_are_divided),
        cmocka_unit_test(signatures),
        cmocka_unit_test(which_warps_are_critical),
        cmocka_unit_test(a_part_that_is_on_its_way),
        cmocka_unit_test(a_line_in_the_other_part_counts_there),
        cmocka_unit_test(random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
