/* Gates of the memory system as a kernel meets them: shared memory, the L1, its miss registers, L2 and DRAM, fences and
 * atomics. Cycles follow from the machine's numbers.
 *
 * A load that issues in cycle T with its address in one register is at work in the load/store unit in T + 5 (two cycles
 * to the collector and its operand, one to the OC/EX register, one into the unit, one until it is looked at). On a
 * machine whose clocks are alike, a miss of the L1 then takes, from its lookup on, as many cycles as miss_cycles adds
 * up. */
#include "timing_test.h"

enum { FIRST_ISSUE = 3, TO_UNIT = 5, LINE = 128, SECTOR = 32 };

#define MACHINE   "gtx480-gs4"
#define NO_ROUTER "interconnect.injection_flits=0", "interconnect.ejection_flits=0"

/* Formulas */

static uint64_t crossing(const struct machine *m)
{
    return m->mem.network.hop_cycles ? m->mem.network.hop_cycles + 1 : 0;
}

/* From a request in a core's hands to the last of its sectors in the core again. */
static uint64_t round_trip(const struct machine *m, uint32_t sectors)
{
    return 1 /* the interconnect has had its tick when the core has its own: the packet moves in the next but one */
           + crossing(m) + 1                          /* and is taken by the slice */
           + m->mem.l2.rop_cycles + 1 + (sectors - 1) /* looked up, a sector a cycle */
           + 1 + crossing(m)                          /* back */
           + 1 + 1;                                   /* through the queues of cluster and core */
}

/* From the lookup in the L1 to the cycle in which the line is there. */
static uint64_t miss_cycles(const struct machine *m)
{
    return 1 /* out of the miss queue */ + round_trip(m, LINE / SECTOR);
}

enum { WRITEBACK = 2 }; /* the answer takes its turn, and its register is written in the next cycle */

static uint64_t l1_hit(const struct machine *m) { return TO_UNIT + m->sm.l1d.latency_cycles; }
static uint64_t l2_hit(const struct machine *m) { return l1_hit(m) + miss_cycles(m) + WRITEBACK; }

/* In the row that is open. The sectors of a line lie in one bank: t_ccdl apart. */
static uint64_t dram_hit(const struct machine *m)
{
    const struct dram_config *d = &m->mem.dram;
    uint64_t gap = d->t_ccdl > d->t_ccd ? d->t_ccdl : d->t_ccd;
    return l2_hit(m) - (LINE / SECTOR - 1) /* now waiting for each other here */
           + 1 /* out of the miss queue */ + 1 /* to the delay in front of DRAM */ + d->latency_cycles +
           1 /* in a bank's hands, and read */
           + (LINE / SECTOR - 1) * gap + d->t_cl + (d->data_with_burst ? 0 : d->burst_length / d->data_rate) +
           1 /* returned: its line is filled */ + 1 /* and answers */;
}

/* In another row than the open one. */
static uint64_t dram_conflict(const struct machine *m) { return dram_hit(m) + m->mem.dram.t_rp + m->mem.dram.t_rcd; }

/* Pointer chase */

/* Where the n-th element is. */
typedef uint64_t place_fn(uint32_t n);
static uint64_t in_lines(uint32_t n) { return (uint64_t)n * LINE; }
static uint64_t in_one_row(uint32_t n)
{
    return (n & 1) * LINE + (uint64_t)(n >> 1) * 512;
} /* the column bits of the map: 6, 7 and 9 to 12 */
static uint64_t in_rows_of_a_bank(uint32_t n) { return (uint64_t)n << 16; } /* the lowest row bit */

static void make_list(uint8_t *at, place_fn *place, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t next = (uint64_t)(uintptr_t)at + place((i + 1) % count);
        memcpy(at + place(i), &next, sizeof next);
    }
}

enum chase { FROM_L1, FROM_L2, FROM_DRAM };

/* Cycles of a launch of so many hops through a list, of which the data is where `from` says. */
static uint64_t chase(const char *const *sets, enum chase from, place_fn *place, uint32_t count, uint32_t hops,
                      const char *load)
{
    struct text body = {0};
    struct timed t;
    say(&body, "ld.param.u64 %%rd1, [buffer];\n");
    say_times(&body, (from == FROM_L1 ? count : 0) + hops, load);
    timed_open(&t, &(struct timed_machine){.name = MACHINE}, sets, "", body.s);
    uint8_t *start = t.buffer;
    make_list(start, place, count);
    make_list(start + TIMED_BYTES / 2, place, count);
    timed_launch(&t, 1, 32, 0);
    if (from == FROM_DRAM) /* the same list where nobody has been */
        t.buffer = start + TIMED_BYTES / 2;
    uint64_t cycles = timed_launch(&t, 1, 32, 0);
    timed_close(&t);
    free(body.s);
    return cycles;
}

#define CHASE_LOAD "ld.global.u64 %rd1, [%rd1];\n"

/* Two hops at a time: whether the end of the kernel has to be fetched when the last load has issued depends on their
 * number being odd. */
static void check_chase(const char *const *sets, enum chase from, place_fn *place, uint32_t count, uint64_t expected,
                        const char *load)
{
    uint64_t before = chase(sets, from, place, count, 1, load);
    for (uint32_t hops = 3; hops <= 13; hops += 2) {
        uint64_t cycles = chase(sets, from, place, count, hops, load);
        if (cycles - before != 2 * expected)
            fail_msg("hops %u and %u take %llu cycles, expected %llu", hops - 1, hops,
                     (unsigned long long)(cycles - before), (unsigned long long)(2 * expected));
        before = cycles;
    }
}

static void test_chase_in_l1(void **state)
{
    (void)state;
    const char *const *sets[] = {SETS(ONE_CORE), SETS(ONE_CORE, "l1d.latency_cycles=36"),
                                 SETS(ONE_CORE, "l1d.latency_cycles=0"),
                                 SETS(ONE_CORE, "l1d.latency_cycles=1", "l1d.banks=4")};
    for (uint32_t i = 0; i < 4; i++) {
        struct machine m = machine_of(MACHINE, sets[i]);
        check_chase(sets[i], FROM_L1, in_lines, 4, l1_hit(&m), CHASE_LOAD);
    }
    struct machine m = machine_of(MACHINE, sets[0]);
    assert_int_equal(l1_hit(&m), 40); /* 35 in the cache */
}

static void test_chase_in_l2(void **state)
{
    (void)state;
    const char *const *sets[] = {SETS(ONE_CORE),
                                 SETS(ONE_CORE, "l2.rop_cycles=121"),
                                 SETS(ONE_CORE, "interconnect.hop_cycles=5"),
                                 SETS(ONE_CORE, "l1d.latency_cycles=0"),
                                 SETS(ONE_CORE, "l2.rop_cycles=0", "interconnect.hop_cycles=2"),
                                 SETS(ONE_CORE, NO_ROUTER, "interconnect.hop_cycles=1"),
                                 SETS(ONE_CORE, NO_ROUTER, "interconnect.hop_cycles=0", "interconnect.speedup=1")};
    for (uint32_t i = 0; i < 7; i++) {
        struct machine m = machine_of(MACHINE, sets[i]);
        check_chase(sets[i], FROM_L2, in_lines, 300, l2_hit(&m), CHASE_LOAD);
    }
    struct machine m = machine_of(MACHINE, sets[0]);
    assert_int_equal(l2_hit(&m), 182);
}

/* Past the L1: one sector, straight from the load/store unit into the interconnect. */
static void test_chase_past_l1(void **state)
{
    (void)state;
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    uint64_t expected = TO_UNIT + round_trip(&m, 1) + WRITEBACK;
    check_chase(SETS(ONE_CORE), FROM_L2, in_lines, 300, expected, "ld.global.cg.u64 %rd1, [%rd1];\n");
    check_chase(SETS(ONE_CORE, "l1d.sets=0"), FROM_L2, in_lines, 300, expected, CHASE_LOAD);
}

static void test_chase_in_open_row(void **state)
{
    (void)state;
    const char *const *sets[] = {SETS(ONE_CORE),
                                 SETS(ONE_CORE, "dram.t_cl=13"),
                                 SETS(ONE_CORE, "dram.t_ccdl=5"),
                                 SETS(ONE_CORE, "dram.latency_cycles=101"),
                                 SETS(ONE_CORE, "dram.burst_length=16", "dram.t_ccd=4", "dram.t_ccdl=4"),
                                 SETS(ONE_CORE, "dram.latency_cycles=0")};
    for (uint32_t i = 0; i < 6; i++) {
        struct machine m = machine_of(MACHINE, sets[i]);
        check_chase(sets[i], FROM_DRAM, in_one_row, 32, dram_hit(&m), CHASE_LOAD);
    }
}

static void test_chase_in_other_rows(void **state)
{
    (void)state;
    const char *const *sets[] = {SETS(ONE_CORE), SETS(ONE_CORE, "dram.t_rp=13"), SETS(ONE_CORE, "dram.t_rcd=13")};
    for (uint32_t i = 0; i < 3; i++) {
        struct machine m = machine_of(MACHINE, sets[i]);
        check_chase(sets[i], FROM_DRAM, in_rows_of_a_bank, 24, dram_conflict(&m), CHASE_LOAD);
    }
}

/* What a launch finds that begins after another: its data in the L1, in the L2, or in DRAM. Instructions are there in
 * any case. */
static void test_launch_empties(void **state)
{
    (void)state;
#define EMPTIES(what) SETS(ONE_CORE, "rules.launch_empties=" what)
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    check_chase(EMPTIES("nothing"), FROM_L2, in_lines, 4, l1_hit(&m), CHASE_LOAD);
    check_chase(EMPTIES("l1d"), FROM_L2, in_lines, 300, l2_hit(&m), CHASE_LOAD);
    check_chase(EMPTIES("caches"), FROM_L2, in_one_row, 32, dram_hit(&m), CHASE_LOAD);
    const struct {
        const char *const *sets;
        uint32_t l1d, l1c, l2;
    } rows[] = {
        {EMPTIES("nothing"), 0, 0, 0},
        {EMPTIES("l1d"), 1, 0, 0},
        {EMPTIES("caches"), 1, 1, LINE / SECTOR + 1 /* the other sector of the constants waits for the first */}};
    for (uint32_t i = 0; i < 3; i++) {
        struct timed t;
        timed_open(&t, &(struct timed_machine){.name = MACHINE}, rows[i].sets, "",
                   "ld.param.u64 %rd1, [buffer];\nld.global.u32 %r1, [%rd1];\n");
        for (uint32_t launch = 0; launch < 3; launch++) {
            timed_launch(&t, 1, 32, 0);
            if (launch == 0)
                continue;
            assert_int_equal(t.counters->sm.l1d.misses, rows[i].l1d);
            assert_int_equal(t.counters->sm.l1c.misses, rows[i].l1c);
            assert_int_equal(t.counters->sm.l1i.misses, 0);
            assert_int_equal(t.counters->memory.l2.misses, rows[i].l2);
        }
        timed_close(&t);
    }
}

/* The instruction cache: a line holds 16 instructions; one that is not there costs a way to the L2 and back, a cycle
 * less where it leaves in the cycle of the fetch. */
static void test_instruction_miss(void **state)
{
    (void)state;
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    for (uint32_t count = 14; count <= 50; count++) { /* with ret */
        struct text t = {0};
        for (uint32_t i = 1; i < count; i++)
            say(&t, "mov.u32 %%r%u, 7;\n", i);
        uint64_t resident = warm_cycles(MACHINE, SETS(ONE_CORE), t.s, 1, 32);
        uint64_t one_line = warm_cycles(
            MACHINE, SETS(ONE_CORE, "l1i.sets=1", "l1i.ways=1", "rules.fetch_sends_at_once=false"), t.s, 1, 32);
        uint64_t at_once = warm_cycles(
            MACHINE, SETS(ONE_CORE, "l1i.sets=1", "l1i.ways=1", "rules.fetch_sends_at_once=true"), t.s, 1, 32);
        uint32_t lines = (count + 15) / 16,
                 misses = lines == 1
                              ? 0
                              : lines; /* the last line of the launch before is the only one that is still there */
        assert_int_equal(one_line - resident, misses * miss_cycles(&m));
        assert_int_equal(at_once - resident, misses * (miss_cycles(&m) - 1));
        free(t.s);
    }
}

/* Constants: a hit is looked up when the unit gets to it, and its register is free in the same cycle. */
static void test_constant_hit(void **state)
{
    (void)state;
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    uint64_t hit = TO_UNIT - 1 /* no operand */, add = TO_UNIT + 1 + m.sm.integer.latency[0];
    assert_int_equal(warm_cycles(MACHINE, SETS(ONE_CORE), "ld.param.u32 %r1, [buffer];\nadd.u32 %r1, %r1, 1;\n", 1, 32),
                     FIRST_ISSUE + hit + add + 1);
}

/* Shared memory */

static uint64_t shared_hit(const struct machine *m)
{
    return TO_UNIT + m->sm.shared_latency +
           1 /* its turn comes when it is through; its register is written in the next cycle */;
}

static uint64_t shared_chain(const char *const *sets, uint32_t count)
{
    struct text t = {0};
    say(&t, ".shared .align 4 .b8 room[4096];\nmov.u32 %%r1, room;\nst.shared.u32 [%%r1], %%r1;\n");
    say_times(&t, count, "ld.shared.u32 %r1, [%r1];\n");
    uint64_t cycles = warm_cycles(MACHINE, sets, t.s, 1, 32);
    free(t.s);
    return cycles;
}

/* All lanes read one word: a broadcast, no conflict. */
static void test_shared_latency(void **state)
{
    (void)state;
    const char *const *sets[] = {SETS(ONE_CORE), SETS(ONE_CORE, "lsu.shared_latency_cycles=27"),
                                 SETS(ONE_CORE, "lsu.shared_latency_cycles=1")};
    for (uint32_t i = 0; i < 3; i++) {
        struct machine m = machine_of(MACHINE, sets[i]);
        for (uint32_t count = 2; count <= 6; count += 2)
            assert_int_equal(shared_chain(sets[i], count + 2) - shared_chain(sets[i], count), 2 * shared_hit(&m));
    }
}

/* Cycles of two dependent shared loads, the lanes' words so many apart. */
static uint64_t shared_stride(const char *const *sets, uint32_t words)
{
    struct text t = {0};
    say(&t,
        ".shared .align 4 .b8 room[8192];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, room;\nmad.lo.u32 %%r1, %%r1, %u, "
        "%%r2;\n",
        words * 4);
    say(&t, "ld.shared.u32 %%r2, [%%r1];\nadd.u32 %%r1, %%r1, %%r2;\nld.shared.u32 %%r2, [%%r1];\nadd.u32 %%r1, %%r1, "
            "%%r2;\n");
    uint64_t cycles = warm_cycles(MACHINE, sets, t.s, 1, 32);
    free(t.s);
    return cycles;
}

/* Lanes whose words are in one bank go one after the other. */
static void test_shared_bank_conflicts(void **state)
{
    (void)state;
    uint64_t free_of_conflicts = shared_stride(SETS(ONE_CORE), 1);
    for (uint32_t words = 1; words <= 33; words++) {
        uint32_t degree = words; /* gcd of the stride and the number of banks: lanes that share a bank */
        for (uint32_t b = 32, r; b; b = r) {
            r = degree % b;
            degree = b;
        }
        assert_int_equal(shared_stride(SETS(ONE_CORE), words), free_of_conflicts + 2 * (degree - 1));
    }
    assert_int_equal(shared_stride(SETS(ONE_CORE), 0), free_of_conflicts);
    assert_int_equal(shared_stride(SETS(ONE_CORE, "lsu.shared_banks=16"), 1), free_of_conflicts + 2);
}

/* Accesses of one load */

/* Hits: one access a cycle, or as many as the L1 has banks. */
static void test_l1_accesses_a_cycle(void **state)
{
    (void)state;
    static const char *const banks[] = {"l1d.banks=1", "l1d.banks=2", "l1d.banks=4"};
    for (uint32_t b = 0; b < 3; b++)
        for (uint32_t lines = 1; lines <= 32; lines++) {
            const char *const *sets = SETS(ONE_CORE, banks[b], "l1d.latency_cycles=35");
            struct machine m = machine_of(MACHINE, sets);
            uint64_t add = TO_UNIT + 2 + m.sm.integer.latency[0], rounds = (lines + (1u << b) - 1) >> b;
            uint64_t load = l1_hit(&m) + rounds - 1;
            assert_int_equal(wide_cycles(MACHINE, sets, lines, 4, WIDE_LOAD, NULL) -
                                 wide_cycles(MACHINE, sets, lines, 3, WIDE_LOAD, NULL),
                             load + add);
        }
}

/* Misses to lines of one load. A miss is taken a cycle behind the one before it, but not before a miss register is
 * free: one becomes free when the answer to its line takes its turn at writeback. Lines come back no faster than their
 * sectors cross the interconnect. */
static uint64_t misses_end(const struct machine *m, uint32_t lines)
{
    uint64_t looked_up[33], there[33];
    uint32_t entries = m->sm.l1d.mshr_entries;
    for (uint32_t i = 0; i < lines; i++) {
        looked_up[i] = i ? looked_up[i - 1] + 1 : TO_UNIT + m->sm.l1d.latency_cycles;
        if (i >= entries && there[i - entries] + 1 > looked_up[i])
            looked_up[i] = there[i - entries] + 1;
        there[i] = looked_up[i] + miss_cycles(m);
        if (i && there[i - 1] + LINE / SECTOR > there[i])
            there[i] = there[i - 1] + LINE / SECTOR;
    }
    return there[lines - 1] + WRITEBACK;
}

static void test_mshr_full(void **state)
{
    (void)state;
    static const char *const entries[] = {"l1d.mshr_entries=1", "l1d.mshr_entries=2", "l1d.mshr_entries=3",
                                          "l1d.mshr_entries=8", "l1d.mshr_entries=64"};
    for (uint32_t e = 0; e < 5; e++) {
        const char *const *sets = SETS(ONE_CORE, entries[e]);
        struct machine m = machine_of(MACHINE, sets);
        struct sm_counters counters;
        uint64_t one = wide_cycles(MACHINE, sets, 1, 1, WIDE_LOAD, NULL);
        for (uint32_t lines = 2; lines <= 32; lines += lines < 6 ? 1 : 13) {
            uint64_t cycles = wide_cycles(MACHINE, sets, lines, 1, WIDE_LOAD, &counters),
                     expected = one + misses_end(&m, lines) - misses_end(&m, 1);
            if (cycles != expected)
                fail_msg("%u lines, %s: %llu cycles, expected %llu", lines, entries[e], (unsigned long long)cycles,
                         (unsigned long long)expected);
            assert_int_equal(counters.l1d.misses, lines);
            assert_int_equal(counters.l1d.fails[CACHE_FAIL_MSHR] != 0, lines > m.sm.l1d.mshr_entries);
        }
    }
}

static void test_mshr_merge(void **state)
{
    (void)state;
    static const char *const limits[] = {"l1d.mshr_merge=1", "l1d.mshr_merge=2", "l1d.mshr_merge=5",
                                         "l1d.mshr_merge=8"};
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t loads = 1; loads <= 12; loads++) {
            const char *const *sets = SETS(ONE_CORE, limits[i]);
            struct machine m = machine_of(MACHINE, sets);
            struct text body = {0};
            struct timed t;
            say(&body, "ld.param.u64 %%rd1, [buffer];\n");
            for (uint32_t k = 0; k < loads; k++)
                say(&body, "ld.global.u32 %%r%u, [%%rd1];\n", 1 + k);
            timed_open(&t, &(struct timed_machine){.name = MACHINE}, sets, "", body.s);
            timed_launch(&t, 1, 32, 0);
            uint64_t cycles = timed_launch(&t, 1, 32, 0);
            uint32_t limit = m.sm.l1d.mshr_merge, merged = loads < limit ? loads : limit;
            /* The parameter, then the first load: its line is there. Merged ones are answered one per cycle; others hit
             * from that cycle on, one per cycle. */
            uint64_t there = FIRST_ISSUE + TO_UNIT - 1 + l1_hit(&m) + miss_cycles(&m),
                     answered = there + WRITEBACK + merged - 1, hit = loads > limit ? there + (loads - limit) - 1 : 0;
            assert_int_equal(cycles, (answered > hit ? answered : hit) + 1);
            assert_int_equal(t.counters->sm.l1d.misses, 1);
            assert_int_equal(t.counters->sm.l1d.pending_hits, merged - 1);
            assert_int_equal(t.counters->sm.l1d.hits, loads - merged);
            assert_int_equal(t.counters->sm.l1d.fails[CACHE_FAIL_MERGE] != 0, loads > limit);
            timed_close(&t);
            free(body.s);
        }
}

/* Requests past the L1 follow one another each cycle; without a router, and with room for a single flit in front of the
 * network, every other cycle: a packet pushed in one cycle moves in the next but one. */
static void test_interconnect_queue_full(void **state)
{
    (void)state;
#define PAST_LOAD "ld.global.cg.u64 %rd3, [%rd1];\n"
    const char *const *room = SETS(ONE_CORE), *const *single =
                                                  SETS(ONE_CORE, NO_ROUTER, "interconnect.input_buffer_flits=1");
    uint64_t one = wide_cycles(MACHINE, room, 1, 1, PAST_LOAD, NULL);
    for (uint32_t lines = 1; lines <= 32; lines++) {
        assert_int_equal(wide_cycles(MACHINE, room, lines, 1, PAST_LOAD, NULL), one + lines - 1);
        assert_int_equal(wide_cycles(MACHINE, single, lines, 1, PAST_LOAD, NULL), one + 2 * (lines - 1));
    }
}

/* Fences and atomics */

/* rd10: a cycle before `first` issues; rd11: the instruction behind `second`. The address is known when both begin, and
 * the branch makes the two instructions at HERE one fetch, and those behind them the next. */
static uint64_t between_on(const char *const *sets, const char *before, const char *first, const char *second)
{
    uint64_t clocks[1][CLOCKS];
    struct text t = {0};
    say(&t, "ld.param.u64 %%rd1, [buffer];\nadd.u64 %%rd1, %%rd1, 65536;\n%s", before);
    say(&t,
        "setp.ne.u64 %%p1, %%rd1, 0;\n@%%p1 bra HERE;\nmov.u32 %%r1, 0;\nHERE:\nmov.u64 %%rd10, "
        "%%clock64;\n%s%smov.u64 %%rd11, %%clock64;\n",
        first, second);
    read_clocks(MACHINE, sets, t.s, 1, clocks);
    free(t.s);
    return clocks[0][1] - (clocks[0][0] + 1);
}

static uint64_t between(const char *before, const char *first, const char *second)
{
    return between_on(SETS(ONE_CORE), before, first, second);
}

#define BRING_LINE "ld.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;\nadd.u32 %r2, %r2, 1;\n"

enum { NEXT_PAIR = 3 }; /* behind the first of two instructions: nothing to wait for */

/* A fence lets nothing pass before what is outstanding has come: the next instruction issues in the cycle in which the
 * load's register is written. */
static void test_fence(void **state)
{
    (void)state;
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    assert_int_equal(between(BRING_LINE, "ld.global.u32 %r3, [%rd1];\n", "mov.u32 %r4, 0;\n"), NEXT_PAIR);
    assert_int_equal(between(BRING_LINE, "ld.global.u32 %r3, [%rd1];\n", "membar.gl;\n"), l1_hit(&m));
    assert_int_equal(between("", "ld.global.u32 %r3, [%rd1];\n", "membar.gl;\n"), l2_hit(&m));
    assert_int_equal(between("", "mov.u32 %r3, 0;\n", "membar.gl;\n"), TO_UNIT + 1);
}

/* Where stores are awaited, in which the last of those that have reached the unit is acknowledged. */
static void test_fence_and_stores(void **state)
{
    (void)state;
#define AWAITED "rules.fence_waits_for_stores=true"
    static const char store[] = "st.global.u32 [%rd1], %r60;\n", mov[] = "mov.u32 %r3, 0;\n";
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    uint64_t acknowledged =
        TO_UNIT + 1 /* two operands */ + m.sm.l1d.latency_cycles + 1 /* out of the miss queue */ + round_trip(&m, 1);
    assert_int_equal(between(store, mov, "membar.gl;\n"), TO_UNIT + 1); /* for the register of mov */
    uint64_t waited = between_on(SETS(ONE_CORE, AWAITED), store, mov, "membar.gl;\n");
    assert_in_range(waited, acknowledged - 20 /* the store issues before */, acknowledged);
    assert_int_equal(between_on(SETS(ONE_CORE, AWAITED, "l1d.latency_cycles=36"), store, mov, "membar.gl;\n"),
                     waited + 1);
    assert_int_equal(between_on(SETS(ONE_CORE, AWAITED, "l2.rop_cycles=119"), store, mov, "membar.gl;\n"), waited - 1);
}

/* Cycles from a store until the fence behind it lets on, to a line that nobody has, and to the same line then. The
 * additions are for the store to reach the load/store unit before the fence issues. */
static void store_and_fence(const char *const *sets, uint64_t *miss, uint64_t *hit)
{
#define STORE_AND_FENCE                                                                                                \
    "st.global.u32 [%rd1], %r2;\nadd.u32 %r3, %r2, 1;\nadd.u32 %r3, %r2, 1;\nadd.u32 %r3, %r3, 1;\nadd.u32 %r3, %r3, " \
    "1;\nadd.u32 %r3, %r3, 1;\nmembar.gl;\n"
    struct timed t;
    uint64_t clocks[3];
    timed_open(
        &t, &(struct timed_machine){.name = "gtx480"}, sets, "",
        "ld.param.u64 %rd1, [buffer];\nmov.u32 %r2, 5;\nsetp.ne.u64 %p1, %rd1, 0;\n@%p1 bra HERE;\nHERE:\nmov.u64 "
        "%rd10, %clock64;\n" STORE_AND_FENCE "mov.u64 %rd11, %clock64;\n" STORE_AND_FENCE "mov.u64 %rd12, %clock64;\n"
        "st.global.u64 [%rd1+1024], %rd10;\nst.global.u64 [%rd1+1032], %rd11;\nst.global.u64 [%rd1+1040], %rd12;\n");
    timed_launch(&t, 1, 32, 0);
    t.buffer += TIMED_BYTES / 2 + 4096;
    /* where nobody has been, in a bank without an open row */ /* where nobody has been */
    timed_launch(&t, 1, 32, 0);
    memcpy(clocks, t.buffer + 1024, sizeof clocks);
    *miss = clocks[1] - clocks[0];
    *hit = clocks[2] - clocks[1];
    timed_close(&t);
}

/* Where stores have their lines fetched, DRAM acknowledges one that misses when it has written it: its row is
 * activated, and the read of the line waits behind it. */
static void test_store_fetches(void **state)
{
    (void)state;
#define FETCHING ONE_CORE, "rules.fence_waits_for_stores=true", "rules.l2_stores_fetch=true"
    const char *const *sets[] = {SETS(FETCHING), SETS(FETCHING, "dram.t_rcd=13"), SETS(FETCHING, "dram.t_wl=5"),
                                 SETS(FETCHING, "dram.latency_cycles=101"),
                                 SETS(FETCHING, "rules.dram_data_with_burst=false")};
    for (uint32_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct machine m = machine_of("gtx480", sets[i]);
        const struct dram_config *d = &m.mem.dram;
        uint64_t miss, hit;
        store_and_fence(sets[i], &miss, &hit);
        assert_int_equal(miss - hit, 1 /* out of the miss queue */ + 1 /* to the delay in front of DRAM */ +
                                         d->latency_cycles + 1 /* in a bank's hands, and activated */
                                         + (d->t_rcd - d->t_wl - 1) + d->t_wl +
                                         (d->data_with_burst ? 0 : d->burst_length / d->data_rate) +
                                         1 /* returned, and answered */);
    }
    const char *const *unread = SETS(ONE_CORE, "rules.fence_waits_for_stores=true", "rules.l2_stores_fetch=false");
    uint64_t miss, hit;
    store_and_fence(unread, &miss, &hit);
    assert_int_equal(miss, hit);
}

/* A fence that empties the L1: what was there has to be fetched again, what was on its way comes. */
static void test_fence_drops_l1(void **state)
{
    (void)state;
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    static const char load[] = "ld.global.u32 %r3, [%rd1];\n";
    assert_int_equal(between(BRING_LINE, load, "membar.gl;\n"), l1_hit(&m));
    assert_int_equal(between(BRING_LINE "membar.gl;\n", load, "membar.gl;\n"), l2_hit(&m));
    assert_int_equal(
        between_on(SETS(ONE_CORE, "rules.fence_drops_l1=false"), BRING_LINE "membar.gl;\n", load, "membar.gl;\n"),
        l1_hit(&m));
}

/* The warp does nothing until the last answer to its atomic is there, whether it uses the result or not. Lanes that ask
 * for the same word are requests of their own, one per cycle. The warp goes on when the answer comes, or when that
 * takes its turn at writeback, a cycle later. */
static void test_atomic_blocks(void **state)
{
    (void)state;
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    uint64_t answer = TO_UNIT + round_trip(&m, 1);
    static const char one_lane[] = "setp.eq.u32 %p2, %r60, 0;\n";
    assert_in_range(between(one_lane, "@%p2 atom.global.add.u32 %r3, [%rd1], 1;\n", ""), answer, answer + 1);
    assert_in_range(between(one_lane, "@%p2 red.global.add.u32 [%rd1], 1;\n", ""), answer, answer + 1);
    assert_in_range(between("", "atom.global.add.u32 %r3, [%rd1], 1;\n", ""), answer + 31, answer + 32);
}

/* Neighbouring lanes: a request for each segment, one per cycle. */
static void test_atomic_segments(void **state)
{
    (void)state;
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    uint64_t answer = TO_UNIT + round_trip(&m, 1) + LINE / m.sm.past_l1_segment - 1;
    assert_int_equal(m.sm.past_l1_segment, SECTOR);
    assert_in_range(between("mul.wide.u32 %rd2, %r60, 4;\nadd.u64 %rd1, %rd1, %rd2;\n",
                            "atom.global.add.u32 %r3, [%rd1], 1;\n", ""),
                    answer, answer + 1);
}

/* Volatile loads are found in the L1, or go past it. */
static void test_volatile(void **state)
{
    (void)state;
    static const char *const loads[] = {"ld.volatile.global.u64 %rd1, [%rd1];\n", "ld.global.cv.u64 %rd1, [%rd1];\n"};
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    for (uint32_t i = 0; i < 2; i++) {
        check_chase(SETS(ONE_CORE, "rules.volatile_past_l1=false"), FROM_L1, in_lines, 4, l1_hit(&m), loads[i]);
        check_chase(SETS(ONE_CORE, "rules.volatile_past_l1=true"), FROM_L2, in_lines, 300,
                    TO_UNIT + round_trip(&m, 1) + WRITEBACK, loads[i]);
    }
}

/* An atomic that does not wait for its address issues behind the instruction that makes it; it has one operand less to
 * read. */
static void test_atomic_address(void **state)
{
    (void)state;
    static const char address[] = "add.u64 %rd1, %rd1, 256;\n", atomic[] = "atom.global.add.u32 %r3, [%rd1], %r60;\n";
    struct machine m = machine_of(MACHINE, SETS(ONE_CORE));
    uint64_t answer = TO_UNIT + round_trip(&m, 1) + 31, add = TO_UNIT + 1 + m.sm.integer.latency[0];
    assert_in_range(between_on(SETS(ONE_CORE, "rules.atomics_await_address=false"), "", address, atomic),
                    NEXT_PAIR - 1 + answer, NEXT_PAIR + answer);
    assert_in_range(between_on(SETS(ONE_CORE, "rules.atomics_await_address=true"), "", address, atomic),
                    add + answer + 1, add + answer + 2);
}

/* Streaming read */

/* Each of 32 warps reads line after line, all independent, of an array that is nowhere but in DRAM. */
static uint64_t stream_cycles(const char *const *sets, uint32_t loads)
{
    struct text body = {0};
    struct timed t;
    say(&body, "ld.param.u64 %%rd1, [buffer];\nmov.u32 %%r60, %%tid.x;\nmul.wide.u32 %%rd2, %%r60, 4;\nadd.u64 %%rd1, "
               "%%rd1, %%rd2;\n");
    for (uint32_t i = 0; i < loads; i++)
        say(&body, "ld.global.u32 %%r%u, [%%rd1+%u];\n", i % 48, i * 32 * LINE);
    timed_open(&t, &(struct timed_machine){.name = MACHINE}, sets, "", body.s);
    timed_launch(&t, 1, 1024, 0);
    t.buffer += TIMED_BYTES / 2 + 4096; /* where nobody has been, in a bank without an open row */
    uint64_t cycles = timed_launch(&t, 1, 1024, 0);
    assert_int_equal(t.counters->memory.dram.reads, loads * 32 * (LINE / SECTOR));
    timed_close(&t);
    free(body.s);
    return cycles;
}

/* With caches that do not stand in the way, a channel gives a sector every t_ccd of its cycles; rows are opened
 * meanwhile. */
static void test_streaming_read(void **state)
{
    (void)state;
#define WIDE_CACHES "l1d.sets=256", "l1d.mshr_entries=512", "l2.sets=512"
    const char *const *sets[] = {SETS(ONE_CORE, WIDE_CACHES, "dram.t_ccdl=2"),
                                 SETS(ONE_CORE, WIDE_CACHES, "dram.t_ccd=3", "dram.t_ccdl=3"),
                                 SETS(ONE_CORE, WIDE_CACHES, "dram.t_ccdl=2", "clock.dram_mhz=924")};
    for (uint32_t i = 0; i < 3; i++) {
        struct machine m = machine_of(MACHINE, sets[i]);
        double sectors = 64 * 32 * (LINE / SECTOR),
               least = sectors * m.mem.dram.t_ccd * (double)m.mem.core_khz / (double)m.mem.dram_khz;
        double cycles = (double)(stream_cycles(sets[i], 128) - stream_cycles(sets[i], 64));
        if (cycles < 0.99 * least || cycles > 1.02 * least)
            fail_msg("%.0f sectors in %.0f cycles, expected %.0f", sectors, cycles, least);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_chase_in_l1),
    cmocka_unit_test(test_chase_in_l2),
    cmocka_unit_test(test_chase_past_l1),
    cmocka_unit_test(test_chase_in_open_row),
    cmocka_unit_test(test_chase_in_other_rows),
    cmocka_unit_test(test_instruction_miss),
    cmocka_unit_test(test_constant_hit),
    cmocka_unit_test(test_shared_latency),
    cmocka_unit_test(test_shared_bank_conflicts),
    cmocka_unit_test(test_l1_accesses_a_cycle),
    cmocka_unit_test(test_mshr_full),
    cmocka_unit_test(test_mshr_merge),
    cmocka_unit_test(test_interconnect_queue_full),
    cmocka_unit_test(test_fence),
    cmocka_unit_test(test_fence_and_stores),
    cmocka_unit_test(test_launch_empties),
    cmocka_unit_test(test_store_fetches),
    cmocka_unit_test(test_fence_drops_l1),
    cmocka_unit_test(test_atomic_blocks),
    cmocka_unit_test(test_atomic_segments),
    cmocka_unit_test(test_volatile),
    cmocka_unit_test(test_atomic_address),
    cmocka_unit_test(test_streaming_read),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
