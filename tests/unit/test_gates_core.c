/* Gates of a core: does each stage of the pipeline open neither a cycle early nor late? Kernels of a few instructions,
 * whose cycles follow from the machine's numbers.
 *
 * An instruction that issues in cycle T: in T + 1 it moves from the ID/OC register into an operand collector; from T +
 * 2 on it reads one operand a cycle; in the cycle behind its last read (T + 2 without operands) it moves to the OC/EX
 * register; in the next it enters its unit; latency + 2 cycles later its result is written, its register is free and,
 * in the same cycle, an instruction that waited for it issues. So a dependent instruction follows latency + 5 +
 * operands cycles behind. A launch has its blocks at the end of cycle 0, fetches in 1, decodes in 2, issues in 3; it
 * ends with the cycle in which the last result is written. */
#include "timing_test.h"

enum { FIRST_ISSUE = 3, STAGES = 5 };

#define MACHINE  "gtx480-gs4"
#define ONE_UNIT "issue.sp_units=1"

static uint64_t core_cycles(const char *const *sets, const char *body, uint32_t threads)
{
    return warm_cycles(MACHINE, sets, body, 1, threads);
}

static uint64_t repeated(const char *const *sets, const char *before, uint32_t times, const char *inst,
                         uint32_t threads)
{
    struct text t = {0};
    say(&t, "%s", before);
    say_times(&t, times, inst);
    uint64_t cycles = core_cycles(sets, t.s, threads);
    free(t.s);
    return cycles;
}

/* From issue until the result can be used. */
static uint64_t span(uint32_t latency, uint32_t operands) { return STAGES + operands + latency; }

/* A launch whose last instruction issues in that cycle. */
static uint64_t ends(uint64_t issue, uint32_t latency, uint32_t operands)
{
    return issue + span(latency, operands) + 1;
}

/* Issue of the n-th of instructions that wait for nothing, of a single warp: two are fetched at once, and the next two
 * when both have issued. */
static uint64_t free_issue(uint32_t n) { return FIRST_ISSUE + n / 2 * 3 + n % 2; }

static void test_shortest_launch(void **state)
{
    (void)state;
    assert_int_equal(core_cycles(SETS(ONE_CORE), "", 32), ends(FIRST_ISSUE, 1, 0));
}

/* Classes */

enum row { INTEGER, SINGLE, DOUBLE, SFU, SHUFFLE, SIMPLE };

struct class
{
    const char *name, *chain, *alone;
    enum row row;
    uint32_t index, operands;
    bool on_sfu;
};

/* chain: each waits for the one before; alone: with %d as destination, it waits for none. */
static const struct class classes[] = {
    {"integer add", "add.u32 %r1, %r1, %r2;\n", "add.u32 %%r%u, %%r0, %%r1;\n", INTEGER, 0, 2, false},
    {"integer add, one register", "add.u32 %r1, %r1, 7;\n", "add.u32 %%r%u, %%r0, 7;\n", INTEGER, 0, 1, false},
    {"integer max", "max.u32 %r1, %r1, %r2;\n", "max.u32 %%r%u, %%r0, %%r1;\n", INTEGER, 1, 2, false},
    {"integer mul", "mul.lo.u32 %r1, %r1, %r2;\n", "mul.lo.u32 %%r%u, %%r0, %%r1;\n", INTEGER, 2, 2, false},
    {"integer mad", "mad.lo.u32 %r1, %r1, %r2, %r3;\n", "mad.lo.u32 %%r%u, %%r0, %%r1, %%r2;\n", INTEGER, 3, 3, false},
    {"integer div", "div.u32 %r1, %r1, %r2;\n", "div.u32 %%r%u, %%r0, %%r1;\n", INTEGER, 4, 2, true},
    {"integer rem", "rem.u32 %r1, %r1, %r2;\n", "rem.u32 %%r%u, %%r0, %%r1;\n", INTEGER, 4, 2, true},
    {"float add", "add.f32 %f1, %f1, %f2;\n", "add.f32 %%f%u, %%f0, %%f1;\n", SINGLE, 0, 2, false},
    {"float max", "max.f32 %f1, %f1, %f2;\n", "max.f32 %%f%u, %%f0, %%f1;\n", SINGLE, 1, 2, false},
    {"float mul", "mul.f32 %f1, %f1, %f2;\n", "mul.f32 %%f%u, %%f0, %%f1;\n", SINGLE, 2, 2, false},
    {"float mad", "mad.rn.f32 %f1, %f1, %f2, %f3;\n", "mad.rn.f32 %%f%u, %%f0, %%f1, %%f2;\n", SINGLE, 3, 3, false},
    {"float fma", "fma.rn.f32 %f1, %f1, %f2, %f3;\n", "fma.rn.f32 %%f%u, %%f0, %%f1, %%f2;\n", SINGLE, 3, 3, false},
    {"float div", "div.rn.f32 %f1, %f1, %f2;\n", "div.rn.f32 %%f%u, %%f0, %%f1;\n", SINGLE, 4, 2, true},
    {"double add", "add.f64 %fd1, %fd1, %fd2;\n", "add.f64 %%fd%u, %%fd0, %%fd1;\n", DOUBLE, 0, 2, true},
    {"double max", "max.f64 %fd1, %fd1, %fd2;\n", "max.f64 %%fd%u, %%fd0, %%fd1;\n", DOUBLE, 1, 2, true},
    {"double mul", "mul.f64 %fd1, %fd1, %fd2;\n", "mul.f64 %%fd%u, %%fd0, %%fd1;\n", DOUBLE, 2, 2, true},
    {"double fma", "fma.rn.f64 %fd1, %fd1, %fd2, %fd3;\n", "fma.rn.f64 %%fd%u, %%fd0, %%fd1, %%fd2;\n", DOUBLE, 3, 3,
     true},
    {"double div", "div.rn.f64 %fd1, %fd1, %fd2;\n", "div.rn.f64 %%fd%u, %%fd0, %%fd1;\n", DOUBLE, 4, 2, true},
    {"reciprocal", "rcp.approx.f32 %f1, %f1;\n", "rcp.approx.f32 %%f%u, %%f0;\n", SFU, 0, 1, true},
    {"sine", "sin.approx.f32 %f1, %f1;\n", "sin.approx.f32 %%f%u, %%f0;\n", SFU, 0, 1, true},
    {"shuffle", "shfl.sync.idx.b32 %r1, %r1, %r2, 31, -1;\n", "shfl.sync.idx.b32 %%r%u, %%r0, %%r1, 31, -1;\n", SHUFFLE,
     0, 2, false},
    {"move", "mov.u32 %r1, %r1;\n", "mov.u32 %%r%u, %%r0;\n", SIMPLE, 0, 1, false},
    {"logic", "and.b32 %r1, %r1, %r2;\n", "and.b32 %%r%u, %%r0, %%r1;\n", SIMPLE, 0, 2, false},
    {"select", "selp.u32 %r1, %r1, %r2, %p1;\n", "selp.u32 %%r%u, %%r0, %%r1, %%p1;\n", SIMPLE, 0, 3, false},
};
enum { CLASSES = sizeof classes / sizeof *classes };

static uint32_t latency_of(const struct machine *m, const struct class *c)
{
    const struct sm_config *s = &m->sm;
    const uint32_t latencies[] = {s->integer.latency[c->index],
                                  s->single_precision.latency[c->index],
                                  s->double_precision.latency[c->index],
                                  s->sfu_latency,
                                  s->shuffle_latency,
                                  1};
    return latencies[c->row];
}

static uint32_t initiation_of(const struct machine *m, const struct class *c)
{
    const struct sm_config *s = &m->sm;
    const uint32_t intervals[] = {s->integer.initiation[c->index],
                                  s->single_precision.initiation[c->index],
                                  s->double_precision.initiation[c->index],
                                  s->sfu_initiation,
                                  s->shuffle_initiation,
                                  1};
    return intervals[c->row];
}

/* The result of the last of n instructions, each waiting for the one before; or ret, which issues a cycle behind the
 * last, or two where it has to be fetched first. */
static uint64_t chain_cycles(uint32_t n, uint32_t latency, uint32_t operands)
{
    uint64_t last = FIRST_ISSUE + (n - 1) * span(latency, operands);
    uint64_t with_chain = ends(last, latency, operands), with_ret = ends(last + (n % 2 ? 1 : 2), 1, 0);
    return with_chain > with_ret ? with_chain : with_ret;
}

static void check_chain(const struct class *c, const char *const *sets)
{
    struct machine m = machine_of(MACHINE, sets);
    for (uint32_t n = 1; n <= 8; n++) {
        uint64_t cycles = repeated(sets, "", n, c->chain, 32),
                 expected = chain_cycles(n, latency_of(&m, c), c->operands);
        if (cycles != expected)
            fail_msg("%u of %s, each waiting for the one before: %llu cycles, expected %llu", n, c->name,
                     (unsigned long long)cycles, (unsigned long long)expected);
    }
}

/* Scoreboard release and the latency of every class. */
static void test_dependent_chains(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CLASSES; i++)
        check_chain(&classes[i], SETS(ONE_CORE));
}

/* One cycle more of latency is one cycle more an instruction; also latencies that are shorter or longer than the
 * shipped ones. */
static void test_latencies_as_the_machine_says(void **state)
{
    (void)state;
    const char *const *sets[] = {
        SETS(ONE_CORE, "latency.integer=5,14,5,6,146", "latency.single_precision=5,14,5,6,40",
             "latency.double_precision=9,20,9,9,331", "latency.sfu=9", "latency.shuffle=33"),
        SETS(ONE_CORE, "latency.integer=1,2,3,4,62", "latency.integer_initiation=1,1,1,1,1",
             "latency.single_precision=1,2,3,63,64", "latency.single_precision_initiation=1,1,1,1,1",
             "latency.double_precision=65,127,128,512,511", "latency.double_precision_initiation=1,1,1,1,1",
             "latency.sfu=300", "latency.shuffle=4"),
    };
    for (uint32_t i = 0; i < CLASSES; i++)
        for (uint32_t k = 0; k < 2; k++)
            check_chain(&classes[i], sets[k]);
}

/* What a machine has no entry for takes one cycle. */
static void test_without_an_entry(void **state)
{
    (void)state;
    const char *const *sets = SETS(ONE_CORE, "rules.fma_is_mad=false", "rules.rem_is_div=false");
    for (uint32_t n = 1; n <= 8; n++) {
        assert_int_equal(repeated(sets, "", n, "fma.rn.f32 %f1, %f1, %f2, %f3;\n", 32), chain_cycles(n, 1, 3));
        assert_int_equal(repeated(sets, "", n, "rem.u32 %r1, %r1, %r2;\n", 32), chain_cycles(n, 1, 2));
    }
}

/* A write to a register that is awaited waits as a read of it does; writes to others do not. */
static void test_write_after_write(void **state)
{
    (void)state;
    uint32_t add = machine_of(MACHINE, SETS(ONE_CORE)).sm.integer.latency[0];
    assert_int_equal(core_cycles(SETS(ONE_CORE), "add.u32 %r1, %r2, 1;\nadd.u32 %r1, %r3, 1;\n", 32),
                     ends(FIRST_ISSUE + span(add, 1), add, 1));
    assert_int_equal(core_cycles(SETS(ONE_CORE), "add.u32 %r1, %r2, 1;\nadd.u32 %r4, %r3, 1;\n", 32),
                     ends(FIRST_ISSUE + 1, add, 1));
    /* A read before a write is no reason to wait: operands are taken in order. */
    assert_int_equal(core_cycles(SETS(ONE_CORE), "add.u32 %r1, %r2, 1;\nadd.u32 %r2, %r3, 1;\n", 32),
                     ends(FIRST_ISSUE + 1, add, 1));
}

/* A predicate is awaited by the instruction it guards, but the collector does not read it. */
static void test_guard_is_awaited(void **state)
{
    (void)state;
    uint32_t add = machine_of(MACHINE, SETS(ONE_CORE)).sm.integer.latency[0];
    assert_int_equal(core_cycles(SETS(ONE_CORE), "setp.eq.u32 %p1, %r2, 0;\n@%p1 add.u32 %r1, %r3, 1;\n", 32),
                     ends(FIRST_ISSUE + span(1, 1), add, 1));
}

/* Initiation */

/* Two independent instructions on one unit: the second enters when the first has been in for an initiation interval. On
 * two units it enters as soon as it gets there. */
static void check_initiation(const struct class *c, const char *const *sets)
{
    struct machine m = machine_of(MACHINE, sets);
    struct text t = {0};
    uint32_t latency = latency_of(&m, c), interval = initiation_of(&m, c),
             units = c->on_sfu ? m.sm.sfu_units : m.sm.sp_units;
    assert_true(c->on_sfu || interval + 1 < latency); /* ret, which takes an SP too, is not the last to end */
    say(&t, c->alone, 8);
    say(&t, c->alone, 9);
    uint64_t cycles = core_cycles(sets, t.s, 32),
             expected = ends(FIRST_ISSUE + (units > 1 ? 1 : interval), latency, c->operands);
    free(t.s);
    if (cycles != expected)
        fail_msg("two of %s on %u units, interval %u: %llu cycles, expected %llu", c->name, units, interval,
                 (unsigned long long)cycles, (unsigned long long)expected);
}

static void test_initiation(void **state)
{
    (void)state;
    const char *const *sets[] = {
        SETS(ONE_CORE, ONE_UNIT),
        SETS(ONE_CORE, "issue.sp_units=2", "issue.sfu_units=2", "issue.sfu_width=2"),
        SETS(ONE_CORE, ONE_UNIT, "latency.integer=16,16,16,16,16", "latency.integer_initiation=3,4,5,7,9",
             "latency.single_precision=16,16,16,16,16", "latency.single_precision_initiation=14,9,6,3,5",
             "latency.double_precision_initiation=7,15,7,7,131", "latency.sfu_initiation=7",
             "latency.shuffle_initiation=5"),
    };
    for (uint32_t i = 0; i < CLASSES; i++)
        for (uint32_t k = 0; k < 3 && classes[i].row != SIMPLE; k++)
            check_initiation(&classes[i], sets[k]);
}

/* Adds whose sources are in banks 14 and 15 of warp 0, one bank further for each warp, and whose destinations are in
 * banks 1 to 12. */
static uint32_t destination(uint32_t n) { return 1 + n % 12 + n / 12 * 16; }

static uint64_t independent_adds(const char *const *sets, uint32_t count, uint32_t warps)
{
    struct text t = {0};
    for (uint32_t i = 0; i < count; i++)
        say(&t, "add.u32 %%r%u, %%r%u, 1;\n", destination(i), 62 + i % 2);
    uint64_t cycles = core_cycles(sets, t.s, warps * 32);
    free(t.s);
    return cycles;
}

/* Warps that keep the SFUs busy: each unit starts one instruction an interval, from the cycle in which the first gets
 * there. Of two units the second starts with the second instruction. */
static void test_throughput_is_initiation(void **state)
{
    (void)state;
    static const char *const intervals[] = {"latency.sfu_initiation=2", "latency.sfu_initiation=3",
                                            "latency.sfu_initiation=8", "latency.sfu_initiation=16"};
    for (uint32_t warps = 4; warps <= 16; warps += 6)
        for (uint32_t i = 0; i < 4; i++) {
            struct text t = {0};
            for (uint32_t k = 0; k < 20; k++)
                say(&t, "rcp.approx.f32 %%f%u, %%f%u;\n", 1 + k, 0);
            const char *const *one = SETS(ONE_CORE, "latency.sfu=16", intervals[i]);
            const char *const *two = SETS(ONE_CORE, "latency.sfu=16", intervals[i], "issue.sfu_units=2",
                                          "issue.sfu_width=2", "collector.sfu_ports=2");
            uint32_t interval = machine_of(MACHINE, one).sm.sfu_initiation, count = 20 * warps;
            assert_int_equal(core_cycles(one, t.s, warps * 32),
                             ends(FIRST_ISSUE + (uint64_t)(count - 1) * interval, 16, 1));
            assert_int_equal(core_cycles(two, t.s, warps * 32),
                             ends(FIRST_ISSUE + 1 + (uint64_t)(count / 2 - 1) * interval, 16, 1));
            free(t.s);
        }
}

/* A single warp fills the SFU: each enters an interval behind the last, however far back the pipeline registers and
 * collectors are full. */
static void test_full_pipeline_costs_its_interval(void **state)
{
    (void)state;
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    for (uint32_t n = 1; n <= 40; n += 3) {
        struct text t = {0};
        for (uint32_t i = 0; i < n; i++)
            say(&t, "rcp.approx.f32 %%f%u, %%f0;\n", 1 + i);
        assert_int_equal(core_cycles(SETS(ONE_CORE), t.s, 32),
                         ends(FIRST_ISSUE + (n - 1) * m.sm.sfu_initiation, m.sm.sfu_latency, 1));
        free(t.s);
    }
}

/* Fetch */

static void test_fetch_of_one_warp(void **state)
{
    (void)state;
    uint32_t add = machine_of(MACHINE, SETS(ONE_CORE)).sm.integer.latency[0];
    for (uint32_t n = 1; n <= 24; n++) {
        assert_int_equal(independent_adds(SETS(ONE_CORE), n, 1), ends(free_issue(n - 1), add, 1));
        assert_int_equal(independent_adds(SETS(ONE_CORE, "issue.fetch_bytes=8"), n, 1),
                         ends(FIRST_ISSUE + 2 * (n - 1), add, 1));
    }
}

/* One warp a cycle is fetched for. */
static void test_fetch_of_many_warps(void **state)
{
    (void)state;
    for (uint32_t warps = 1; warps <= 32; warps++) {
        assert_int_equal(core_cycles(SETS(ONE_CORE), "", warps * 32), ends(FIRST_ISSUE + warps - 1, 1, 0));
        assert_int_equal(core_cycles(SETS(ONE_CORE, "issue.schedulers=1"), "", warps * 32),
                         ends(FIRST_ISSUE + warps - 1, 1, 0));
    }
}

/* A taken branch: what was fetched behind it is thrown away in the next cycle in which the warp could issue, its target
 * is fetched in the same cycle. */
static void test_taken_branch(void **state)
{
    (void)state;
    /* The instruction behind the branch is in the buffer: found in the next cycle. */
    assert_int_equal(core_cycles(SETS(ONE_CORE), "bra AWAY;\nmov.u32 %r1, 1;\nAWAY:\n", 32),
                     ends(FIRST_ISSUE + 3, 1, 0));
    /* The branch empties the buffer: the instructions behind it are fetched first, and found two cycles later. */
    assert_int_equal(core_cycles(SETS(ONE_CORE), "mov.u32 %r1, 1;\nbra AWAY;\nmov.u32 %r1, 1;\nAWAY:\n", 32),
                     ends(FIRST_ISSUE + 1 + 4, 1, 0));
    /* To the next instruction: nothing to throw away. */
    assert_int_equal(core_cycles(SETS(ONE_CORE), "bra NEXT;\nNEXT:\n", 32), ends(FIRST_ISSUE + 1, 1, 0));
    assert_int_equal(
        core_cycles(SETS(ONE_CORE), "setp.ne.u32 %p1, 0, 0;\n@%p1 bra AWAY;\nmov.u32 %r1, 1;\nAWAY:\n", 32),
        ends(FIRST_ISSUE + span(1, 0) + 3, 1, 0));
}

/* A cold cache with a single miss register. Warp 0 waits for its line, warp 1 asks for another and is refused, warp 2
 * goes round in a line that is there: where the refused one keeps its turn, until the register is free; where it gives
 * it up, it takes every other fetch at most. */
static uint64_t fetch_beside_a_refused_one(const char *moves_on)
{
    struct text t = {0};
    uint64_t clocks[3][CLOCKS];
    say(&t, "setp.eq.u32 %%p1, %%r61, 0;\n@%%p1 bra FAR0;\nsetp.eq.u32 %%p1, %%r61, 1;\n@%%p1 bra FAR1;\nmov.u32 %%r5, "
            "0;\nmov.u64 %%rd10, %%clock64;\n");
    say(&t, "AGAIN:\nadd.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%p2, %%r5, 4;\n@%%p2 bra AGAIN;\nmov.u64 %%rd11, "
            "%%clock64;\nbra ALL;\n");
    say_times(&t, 16, "mov.u32 %r6, 0;\n");
    say(&t, "FAR0:\nbra ALL;\n");
    say_times(&t, 16, "mov.u32 %r6, 0;\n");
    say(&t, "FAR1:\nbra ALL;\n");
    say_times(&t, 16, "mov.u32 %r6, 0;\n");
    say(&t, "ALL:\n");
    read_clocks(MACHINE, SETS(ONE_CORE, "l1i.sets=1", "l1i.ways=2", "l1i.mshr_entries=1", moves_on), t.s, 3, clocks);
    free(t.s);
    return clocks[2][1] - clocks[2][0];
}

static void test_refused_fetch(void **state)
{
    (void)state;
    uint64_t stays = fetch_beside_a_refused_one("rules.fetch_moves_on=false"),
             goes = fetch_beside_a_refused_one("rules.fetch_moves_on=true");
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    uint64_t round = span(m.sm.integer.latency[0], 1) + span(1, 1) +
                     4; /* add, setp, and at most four cycles to the branch's target */
    assert_true(goes <= 4 * (round + 2) && stays > m.mem.l2.rop_cycles && stays > goes + m.mem.l2.rop_cycles / 2);
}

/* A warp alone that goes through lines which the instruction cache does not hold, but the L2: a cycle less for each
 * where misses leave at once. */
static void test_instruction_miss(void **state)
{
    (void)state;
    static const char *const keys[] = {"rules.fetch_sends_at_once=false", "rules.fetch_sends_at_once=true"};
    uint64_t cycles[2];
    for (uint32_t at_once = 0; at_once < 2; at_once++) {
        struct timed t;
        struct text body = {0};
        say_times(&body, 63, "mov.u32 %r1, 0;\n");
        timed_open(&t, &(struct timed_machine){.name = MACHINE},
                   SETS(ONE_CORE, "l1i.sets=1", "l1i.ways=1", keys[at_once]), "", body.s);
        timed_launch(&t, 1, 32, 0);
        cycles[at_once] = timed_launch(&t, 1, 32, 0);
        assert_int_equal(t.counters->sm.l1i.misses, 4);
        timed_close(&t);
        free(body.s);
    }
    assert_int_equal(cycles[1], cycles[0] - 4);
}

/* Lines that a kernel of 15 instructions and ret takes, behind one of five: two, or one where it begins a line. */
static void test_place_of_code(void **state)
{
    (void)state;
    static const char *const keys[] = {"rules.code_packed=false", "rules.code_packed=true"};
    for (uint32_t packed = 0; packed < 2; packed++) {
        struct timed t;
        struct text body = {0};
        say_times(&body, 15, "mov.u32 %r1, 0;\n");
        timed_open(&t, &(struct timed_machine){.name = MACHINE}, SETS(ONE_CORE, keys[packed]),
                   ".visible .entry before()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 0;\nmov.u32 %r1, 0;\nmov.u32 %r1, "
                   "0;\nmov.u32 %r1, 0;\nret;\n}\n",
                   body.s);
        timed_launch(&t, 1, 32, 0);
        assert_int_equal(t.counters->sm.l1i.misses, 1 + packed);
        timed_close(&t);
        free(body.s);
    }
}

/* Register banks and writeback */

/* Three operands of each of two instructions: in six banks the second reads while the first does; in one bank behind
 * it. */
static void test_bank_conflict(void **state)
{
    (void)state;
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    uint32_t mad = m.sm.integer.latency[3];
    assert_int_equal(m.sm.register_banks, 16);
    assert_int_equal(
        core_cycles(SETS(ONE_CORE), "mad.lo.u32 %r6, %r0, %r1, %r2;\nmad.lo.u32 %r7, %r3, %r4, %r5;\n", 32),
        ends(FIRST_ISSUE + 1, mad, 3));
    assert_int_equal(
        core_cycles(SETS(ONE_CORE), "mad.lo.u32 %r6, %r0, %r16, %r32;\nmad.lo.u32 %r7, %r0, %r16, %r32;\n", 32),
        ends(FIRST_ISSUE + 1 + 2, mad, 3));
    /* With 15 banks those registers are in different ones. */
    assert_int_equal(core_cycles(SETS(ONE_CORE, "collector.register_banks=15"),
                                 "mad.lo.u32 %r6, %r0, %r16, %r32;\nmad.lo.u32 %r7, %r0, %r16, %r32;\n", 32),
                     ends(FIRST_ISSUE + 1, mad, 3));
    /* A single bank: all six, one after the other. */
    assert_int_equal(core_cycles(SETS(ONE_CORE, "collector.register_banks=1"),
                                 "mad.lo.u32 %r6, %r0, %r1, %r2;\nmad.lo.u32 %r7, %r3, %r4, %r5;\n", 32),
                     ends(FIRST_ISSUE + 1 + 2, mad, 3));
}

/* All banks in a cycle: operands cost one cycle, or as many as are in one bank. */
static void test_banks_at_once(void **state)
{
    (void)state;
    const char *const *sets = SETS(ONE_CORE, "rules.banks_at_once=true");
    struct machine m = machine_of(MACHINE, sets);
    uint32_t mad = m.sm.integer.latency[3];
    for (uint32_t i = 0; i < CLASSES; i++)
        for (uint32_t n = 1; n <= 4; n++)
            assert_int_equal(repeated(sets, "", n, classes[i].chain, 32),
                             chain_cycles(n, latency_of(&m, &classes[i]), 1));
    assert_int_equal(core_cycles(sets, "mad.lo.u32 %r6, %r0, %r1, %r16;\n", 32), ends(FIRST_ISSUE, mad, 2));
    assert_int_equal(core_cycles(sets, "mad.lo.u32 %r6, %r0, %r32, %r16;\n", 32), ends(FIRST_ISSUE, mad, 3));
    assert_int_equal(core_cycles(sets, "mad.lo.u32 %r6, %r0, %r1, %r2;\nmad.lo.u32 %r7, %r0, %r1, %r2;\n", 32),
                     ends(FIRST_ISSUE + 1, mad, 1));
}

/* The bank is that of the number in the name: %f1 and %f17 share one, which they do not where registers are numbered
 * through. What has the same number is one to the collector. */
static void test_banks_by_name(void **state)
{
    (void)state;
    const char *const *through = SETS(ONE_CORE, "rules.banks_at_once=true"), *const *named = SETS(
                                                                                 ONE_CORE, "rules.banks_at_once=true",
                                                                                 "rules.banks_by_name=true");
    uint32_t add = machine_of(MACHINE, through).sm.single_precision.latency[0];
    assert_int_equal(core_cycles(through, "add.f32 %f2, %f1, %f17;\n", 32), ends(FIRST_ISSUE, add, 1));
    assert_int_equal(core_cycles(named, "add.f32 %f2, %f1, %f17;\n", 32), ends(FIRST_ISSUE, add, 2));
    assert_int_equal(core_cycles(named, "add.f32 %f2, %f1, %f16;\n", 32), ends(FIRST_ISSUE, add, 1));
    const char *const *one_by_one = SETS(ONE_CORE, "rules.banks_by_name=true");
    for (uint32_t n = 1; n <= 4; n++) {
        assert_int_equal(repeated(one_by_one, "", n, "selp.u32 %r1, %r1, %r2, %p1;\n", 32), chain_cycles(n, 1, 2));
        assert_int_equal(repeated(one_by_one, "", n, "selp.u32 %r1, %r1, %r2, %p3;\n", 32), chain_cycles(n, 1, 3));
    }
    /* The scoreboard tells them apart, and both are awaited. */
    assert_int_equal(
        core_cycles(one_by_one, "mov.u32 %r3, 0;\nsetp.ne.u32 %p1, %r4, 0;\nselp.u32 %r5, %r1, %r2, %p1;\n", 32),
        ends(FIRST_ISSUE + 1 + span(1, 1), 1, 2));
}

/* A bank that is written cannot be read in the same cycle. The first add is written in the cycle in which the last one
 * reads its operand. */
static void test_write_takes_the_bank(void **state)
{
    (void)state;
    static const char body[] = "add.u32 %%r%u, %%r1, 1;\nmov.u32 %%r4, 0;\nmov.u32 %%r5, 0;\nmov.u32 %%r6, 0;\nmov.u32 "
                               "%%r7, 0;\nadd.u32 %%r8, %%r9, 1;\n";
    uint32_t add = machine_of(MACHINE, SETS(ONE_CORE)).sm.integer.latency[0], reads = (uint32_t)free_issue(5) + 2,
             written = FIRST_ISSUE + (uint32_t)span(add, 1);
    static const char *const longer[] = {"latency.integer=4,13,4,5,145", "latency.integer=3,13,4,5,145",
                                         "latency.integer=2,13,4,5,145"};
    assert_int_equal(written - reads, 1); /* a cycle shorter and they meet */
    for (uint32_t shorter = 0; shorter < 3; shorter++)
        for (uint32_t bank = 24; bank <= 26; bank++) {
            char text[400];
            bool meet = written - shorter == reads && bank % 16 == 9;
            snprintf(text, sizeof text, body, bank);
            assert_int_equal(core_cycles(SETS(ONE_CORE, longer[shorter]), text, 32),
                             ends(free_issue(5) + meet, add - shorter, 1));
        }
}

/* Results */

/* An SFU result and an SP result for the same cycle: with one result a cycle the SP instruction enters its unit a cycle
 * later. */
static void test_result_bus(void **state)
{
    (void)state;
    static const char *const latencies[] = {"latency.sfu=8", "latency.sfu=9", "latency.sfu=10"};
    static const char body[] = "rcp.approx.f32 %f1, %f0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\nadd.u32 %r8, %r9, 1;\n";
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    uint64_t last_add = ends(free_issue(3), m.sm.integer.latency[0], 1);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t reciprocal = ends(FIRST_ISSUE, m.sm.sfu_latency + i, 1);
        uint64_t wide = reciprocal > last_add ? reciprocal : last_add,
                 narrow = reciprocal == last_add ? last_add + 1 : wide;
        assert_int_equal(core_cycles(SETS(ONE_CORE, latencies[i]), body, 32), wide);
        assert_int_equal(core_cycles(SETS(ONE_CORE, latencies[i], "issue.writeback_width=1"), body, 32), narrow);
    }
    assert_int_equal(ends(FIRST_ISSUE, m.sm.sfu_latency, 1), last_add); /* they did meet */
}

/* Two results of one unit never come in the same cycle, however many can be written: the later instruction waits in
 * front of the unit, or takes another unit. */
static void test_one_result_a_unit(void **state)
{
    (void)state;
    static const char body[] = "max.u32 %r1, %r0, 1;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\nmov.u32 %r7, "
                               "0;\nadd.u32 %r8, %r9, 1;\n";
    const char *const *one = SETS(ONE_CORE, ONE_UNIT, "latency.integer=4,11,4,5,145"),
                      *const *two = SETS(ONE_CORE, "latency.integer=4,11,4,5,145");
    const char *const *later = SETS(ONE_CORE, ONE_UNIT, "latency.integer=4,10,4,5,145");
    uint64_t together = ends(FIRST_ISSUE, 11, 1);
    assert_int_equal(together, ends(free_issue(5), 4, 1));
    assert_int_equal(core_cycles(two, body, 32), together);
    assert_int_equal(core_cycles(one, body, 32), together + 1);
    assert_int_equal(core_cycles(later, body, 32), together);
}

/* Issue */

/* Two instructions of a warp in one cycle: the buffer is empty a cycle earlier. */
static void test_dual_issue(void **state)
{
    (void)state;
    uint32_t add = machine_of(MACHINE, SETS(ONE_CORE)).sm.integer.latency[0];
    const char *const *dual = SETS(ONE_CORE, "issue.instructions_per_warp=2");
    for (uint32_t n = 1; n <= 24; n++)
        assert_int_equal(independent_adds(dual, n, 1), ends(FIRST_ISSUE + (n - 1) / 2 * 2, add, 1));
    for (uint32_t n = 1; n <= 6;
         n++) { /* nothing to gain where each waits for the one before; ret issues beside the last of an odd number */
        uint64_t last = FIRST_ISSUE + (n - 1) * span(add, 1);
        assert_int_equal(repeated(dual, "", n, "add.u32 %r1, %r1, 7;\n", 32), ends(last, add, 1));
    }
    /* A single register in front of the collectors takes one instruction a cycle. */
    assert_int_equal(
        independent_adds(SETS(ONE_CORE, "issue.instructions_per_warp=2", "issue.sp_width=1", "collector.sp_ports=1"), 2,
                         1),
        ends(FIRST_ISSUE + 1, add, 1));
}

/* Two warps whose instructions wait for nothing. Under two schedulers the second is a cycle behind, as its first fetch
 * was; one scheduler issues one instruction a cycle. */
static void test_two_schedulers(void **state)
{
    (void)state;
    uint32_t add = machine_of(MACHINE, SETS(ONE_CORE)).sm.integer.latency[0];
    for (uint32_t n = 2; n <= 24; n += 2) {
        assert_int_equal(independent_adds(SETS(ONE_CORE), n, 2), ends(free_issue(n - 1) + 1, add, 1));
        assert_int_equal(independent_adds(SETS(ONE_CORE, "issue.schedulers=1"), n, 2),
                         ends(FIRST_ISSUE + 2 * n - 1, add, 1));
    }
}

/* Barriers */

/* One warp comes late: it does so many adds first. rd10: just before the barrier, rd11: just after. Both jump to MEET,
 * so that the two instructions there are fetched together, and so are the two behind them. */
static void barrier_body(struct text *t, uint32_t late, uint32_t adds)
{
    say(t, "setp.ne.u32 %%p1, %%r61, %u;\n@%%p1 bra MEET;\n", late);
    for (uint32_t i = 0; i < adds; i++)
        say(t, "add.u32 %%r1, %%r1, 1;\n");
    say(t, "bra MEET;\nmov.u32 %%r3, 0;\nMEET:\nmov.u64 %%rd10, %%clock64;\nbar.sync 0;\nmov.u64 %%rd11, "
           "%%clock64;\nmov.u32 %%r2, 0;\n");
}

/* When the last warp arrives in cycle A, warps of its own scheduler issue in A + 1; of the other in A + 1 too, or in A
 * where that scheduler has its turn later in the cycle. */
static void test_barrier(void **state)
{
    (void)state;
    bool seen[2] = {false, false};
    for (uint32_t adds = 20; adds < 24; adds++) {
        struct text t = {0};
        uint64_t clocks[4][CLOCKS];
        barrier_body(&t, 1, adds);
        read_clocks(MACHINE, SETS(ONE_CORE, "issue.schedulers=1"), t.s, 2, clocks);
        uint64_t arrives = clocks[1][0] + 1;
        assert_true(clocks[0][0] + 100 < arrives);
        assert_int_equal(clocks[0][1], arrives + 1);
        assert_int_equal(clocks[1][1], arrives + 3); /* its next instructions have to be fetched first; the greedy
                                                        scheduler then stays with warp 0 for its second one */
        read_clocks(MACHINE, SETS(ONE_CORE, "latency.integer=5,13,4,5,145"), t.s, 2, clocks);
        arrives = clocks[1][0] + 1;
        bool behind = arrives % 2 == 1; /* scheduler 1 is first in odd cycles */
        seen[behind] = true;
        assert_int_equal(clocks[0][1], behind ? arrives : arrives + 1);
        /* Of four warps, 0 and 2 belong to one scheduler: the older goes first, for both of its instructions. */
        read_clocks(MACHINE, SETS(ONE_CORE, "machine.scheduler=oldest"), t.s, 4, clocks);
        arrives = clocks[1][0] + 1;
        behind = arrives % 2 == 1;
        assert_int_equal(clocks[0][1], behind ? arrives : arrives + 1);
        assert_int_equal(clocks[2][1], clocks[0][1] + 2);
        free(t.s);
    }
    assert_true(seen[0] && seen[1]);
}

/* Where scheduler 0 is first in every cycle: it sees in the next cycle that scheduler 1 has opened the barrier, the
 * other way round in the same. */
static void test_first_scheduler(void **state)
{
    (void)state;
    for (uint32_t late = 0; late < 2; late++)
        for (uint32_t adds = 20; adds < 24; adds++) {
            struct text t = {0};
            uint64_t clocks[2][CLOCKS];
            barrier_body(&t, late, adds);
            read_clocks(MACHINE, SETS(ONE_CORE, "rules.schedulers_take_turns=false", "latency.integer=5,13,4,5,145"),
                        t.s, 2, clocks);
            uint64_t arrives = clocks[late][0] + 1;
            assert_true(clocks[!late][0] + 100 < arrives);
            assert_int_equal(clocks[!late][1], late == 1 ? arrives + 1 : arrives);
            free(t.s);
        }
}

/* Blocks */

/* How many blocks of one warp run at once. One block is placed and fetched for a cycle: with as many as fit the launch
 * is as long as one block, and a cycle for each of the others; with one more it is two blocks long, as that one is
 * placed at the end of the first's last cycle; the launch's own first cycle, before there are blocks, comes once. */
static void check_residency(const char *const *sets, const char *body, uint32_t dynamic_shared_bytes, uint32_t fit)
{
    struct timed t;
    struct text all = {0};
    say(&all, "%s", body);
    say_times(&all, 3, "add.u32 %r1, %r1, 1;\n");
    timed_open(&t, &(struct timed_machine){.name = MACHINE}, sets, "", all.s);
    timed_launch(&t, 1, 32, dynamic_shared_bytes);
    uint64_t one = timed_launch(&t, 1, 32, dynamic_shared_bytes);
    assert_int_equal(timed_launch(&t, fit, 32, dynamic_shared_bytes), one + fit - 1);
    assert_int_equal(timed_launch(&t, fit + 1, 32, dynamic_shared_bytes), 2 * one - 1);
    timed_close(&t);
    free(all.s);
}

#define LONG_ADD "latency.integer=300,13,4,5,145"

static void test_resident_blocks(void **state)
{
    (void)state;
    check_residency(SETS(ONE_CORE, LONG_ADD, "core.blocks=1"), "", 0, 1);
    check_residency(SETS(ONE_CORE, LONG_ADD, "core.blocks=5"), "", 0, 5);
    check_residency(SETS(ONE_CORE, LONG_ADD, "core.warps=7"), "", 0, 7);
    check_residency(SETS(ONE_CORE, LONG_ADD, "core.shared_bytes=48K", "rules.counts_dynamic_shared=true"), "", 12288,
                    4);
    check_residency(SETS(ONE_CORE, LONG_ADD, "core.shared_bytes=48K", "rules.counts_dynamic_shared=true"), "", 12289,
                    3);
    /* Only what the kernel declares counts. */
    check_residency(SETS(ONE_CORE, LONG_ADD, "core.shared_bytes=48K", "rules.counts_dynamic_shared=false"), "", 12289,
                    8);
    struct timed t;
    timed_open(&t, &(struct timed_machine){.name = MACHINE},
               SETS(ONE_CORE, "core.shared_bytes=48K", "rules.counts_dynamic_shared=false"),
               ".shared .b8 tile[12289];\n", "mov.u32 %r1, tile;\n");
    assert_int_equal(gpu_occupancy(t.gpu, exec_image_function(t.image, "kernel"), 32, 0), 3);
    assert_int_equal(gpu_occupancy(t.gpu, exec_image_function(t.image, "kernel"), 32, 16384), 3);
    assert_int_equal(gpu_occupancy(t.gpu, exec_image_function(t.image, "kernel"), 32, 49152),
                     0); /* such a block does not fit at all */
    timed_close(&t);
}

/* Blocks of one warp. The first ends after a few instructions, seven go on and keep fetch busy: its slot is free at
 * once, or when fetch has come round to it, at most seven fetches later. Returns the cycles between the end of the
 * first and its slot's, those of the others included. */
static uint64_t drained(const char *ends_in_fetch, uint32_t before)
{
    struct timed t;
    struct text body = {0};
    say(&body, "mov.u32 %%r1, %%ctaid.x;\nsetp.eq.u32 %%p1, %%r1, 0;\n@%%p1 bra SHORT;\n");
    for (uint32_t i = 0; i < 200; i++)
        say(&body, "mov.u32 %%r%u, 0;\n", 2 + i % 50);
    say(&body, "ret;\nSHORT:\n");
    say_times(&body, before, "mov.u32 %r2, 0;\n");
    timed_open(&t, &(struct timed_machine){.name = MACHINE}, SETS(ONE_CORE, ends_in_fetch), "", body.s);
    timed_launch(&t, 8, 32, 0);
    timed_launch(&t, 8, 32, 0);
    uint64_t cycles = t.counters->sm.stalls[STALL_DRAIN];
    timed_close(&t);
    free(body.s);
    return cycles;
}

static void test_slot_of_a_warp_that_is_over(void **state)
{
    (void)state;
    uint64_t later = 0;
    for (uint32_t before = 0; before < 12; before++) {
        uint64_t at_once = drained("rules.ends_in_fetch=false", before),
                 in_turn = drained("rules.ends_in_fetch=true", before);
        assert_true(at_once >= 8 * (span(1, 0) - 1)); /* from the cycle behind ret to that in which it is written */
        assert_in_range(in_turn, at_once, at_once + 8 * 7);
        later += in_turn - at_once;
    }
    assert_true(later > 0);
    /* Alone, or where no other has to be fetched, it makes no difference. */
    for (uint32_t warps = 1; warps <= 4; warps++)
        assert_int_equal(core_cycles(SETS(ONE_CORE, "rules.ends_in_fetch=true"), "", warps * 32),
                         core_cycles(SETS(ONE_CORE, "rules.ends_in_fetch=false"), "", warps * 32));
}

/* Launches of one block on three cores: always on the first, whose instruction cache then holds the kernel, or on one
 * after the other. */
static void test_first_core_of_a_launch(void **state)
{
    (void)state;
    static const char *const keys[] = {"rules.launches_go_on=false", "rules.launches_go_on=true"};
    for (uint32_t on = 0; on < 2; on++) {
        struct timed t;
        timed_open(&t, &(struct timed_machine){.name = MACHINE}, SETS(ONE_CORE, "machine.cores=3", keys[on]), "",
                   "mov.u32 %r1, 0;\n");
        for (uint32_t n = 0; n < 5; n++) {
            timed_launch(&t, 1, 32, 0);
            assert_int_equal(t.counters->sm.l1i.misses, n < (on ? 3 : 1));
        }
        timed_close(&t);
    }
}

/* Blocks one after another on one core that holds one of them: block 2 is the last of three, or the first. Each writes
 * the time at which it began. */
static void test_last_block_first(void **state)
{
    (void)state;
    static const char *const keys[] = {"rules.last_block_first=false", "rules.last_block_first=true"};
    for (uint32_t on = 0; on < 2; on++) {
        struct timed t;
        uint32_t began[3];
        timed_open(
            &t, &(struct timed_machine){.name = MACHINE}, SETS(ONE_CORE, "core.blocks=1", keys[on]), "",
            "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %clock;\nmov.u32 %r2, %ctaid.x;\nmul.wide.u32 %rd2, %r2, 4;\n"
            "add.u64 %rd2, %rd2, %rd1;\nst.global.u32 [%rd2], %r1;\n");
        timed_launch(&t, 3, 32, 0);
        memcpy(began, t.buffer, sizeof began);
        assert_true(on ? began[2] < began[1] && began[1] < began[0] : began[0] < began[1] && began[1] < began[2]);
        timed_close(&t);
    }
}

/* Registers are given out in whole granules a thread. */
static void test_resident_registers(void **state)
{
    (void)state;
    struct text body = {0};
    struct timed t;
    char exact[64], less[64];
    for (uint32_t i = 10; i < 40; i++)
        say(&body, "mov.u32 %%r%u, %%clock;\n", i);
    for (uint32_t i = 10; i < 40; i++)
        say(&body, "add.u32 %%r1, %%r1, %%r%u;\n", i);
    timed_open(&t, &(struct timed_machine){.name = MACHINE}, SETS(ONE_CORE, "core.register_granule=64"), "", body.s);
    uint32_t count = exec_image_function(t.image, "kernel")->register_count,
             granule = t.gpu->options.machine.sm.register_granule;
    timed_close(&t);
    assert_true(count > 30 && granule == 64 && count % granule);
    uint32_t block = (count + granule - 1) / granule * granule * 32;
    snprintf(exact, sizeof exact, "core.registers=%u", 5 * block);
    snprintf(less, sizeof less, "core.registers=%u", 5 * block - 1);
    timed_open(&t, &(struct timed_machine){.name = MACHINE}, SETS(ONE_CORE, "core.register_granule=64", exact), "",
               body.s);
    assert_int_equal(gpu_occupancy(t.gpu, exec_image_function(t.image, "kernel"), 32, 0), 5);
    timed_close(&t);
    timed_open(&t, &(struct timed_machine){.name = MACHINE}, SETS(ONE_CORE, "core.register_granule=64", less), "",
               body.s);
    assert_int_equal(gpu_occupancy(t.gpu, exec_image_function(t.image, "kernel"), 32, 0), 4);
    timed_launch(&t, 1, 32, 0);
    uint64_t one = timed_launch(&t, 1, 32, 0), four = timed_launch(&t, 4, 32, 0), five = timed_launch(&t, 5, 32, 0);
    assert_true(four < one + one / 2 && five >= 2 * one);
    timed_close(&t);
    free(body.s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_shortest_launch),
    cmocka_unit_test(test_dependent_chains),
    cmocka_unit_test(test_latencies_as_the_machine_says),
    cmocka_unit_test(test_without_an_entry),
    cmocka_unit_test(test_write_after_write),
    cmocka_unit_test(test_guard_is_awaited),
    cmocka_unit_test(test_initiation),
    cmocka_unit_test(test_throughput_is_initiation),
    cmocka_unit_test(test_full_pipeline_costs_its_interval),
    cmocka_unit_test(test_fetch_of_one_warp),
    cmocka_unit_test(test_fetch_of_many_warps),
    cmocka_unit_test(test_taken_branch),
    cmocka_unit_test(test_refused_fetch),
    cmocka_unit_test(test_instruction_miss),
    cmocka_unit_test(test_place_of_code),
    cmocka_unit_test(test_bank_conflict),
    cmocka_unit_test(test_banks_at_once),
    cmocka_unit_test(test_banks_by_name),
    cmocka_unit_test(test_write_takes_the_bank),
    cmocka_unit_test(test_result_bus),
    cmocka_unit_test(test_one_result_a_unit),
    cmocka_unit_test(test_dual_issue),
    cmocka_unit_test(test_two_schedulers),
    cmocka_unit_test(test_barrier),
    cmocka_unit_test(test_first_scheduler),
    cmocka_unit_test(test_resident_blocks),
    cmocka_unit_test(test_slot_of_a_warp_that_is_over),
    cmocka_unit_test(test_first_core_of_a_launch),
    cmocka_unit_test(test_last_block_first),
    cmocka_unit_test(test_resident_registers),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
