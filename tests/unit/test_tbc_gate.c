/* Is `tbc` thread block compaction as its papers describe it, step by step and cycle by cycle?
 *
 * The worked example is figures 1 and 2 of SIMD lane permutation (Rhu and Erez, ISCA 2013): a block of 3 warps of 4
 * lanes, threads 0 to B. Block A parts into B (threads 7 and A) and C (the other ten), C into D and E, which meet in F;
 * B and F meet in G. Which threads go to D is not in the text: here those of figure 2's left lane, 0, 4 and 8.
 *
 *       A ---> C ---> E ---> F ---> G          entries of the block's stack: where it goes on, where it ends,
 *        \      \--> D -----/      /           its threads, and how many of its warps have yet to come
 *         \--> B -----------------/
 *
 * First by the unit's hooks alone, then in a core. */
#include "policy_run.h"

#include "block_stack_test.h"

extern const struct heddle_divergence divergence_tbc;

/* By hooks */

enum { PC_A = 0, PC_C = 4, PC_E = 7, PC_B = 10, PC_D = 12, PC_F = 15, PC_G = 20, NOWHERE = HEDDLE_NO_PC };
enum { BRANCH_OF_A = 3, BRANCH_OF_C = 6 };

/* The stack of the block, the last entry on top: the unit's state begins with it. */
static const struct heddle_block_stack *stack_of(const struct gate *g)
{
    return &((const struct heddle_block_stacks *)g->unit.state)->stack[0];
}

static void expect_depth(const struct gate *g, uint32_t depth, uint32_t to_come)
{
    const struct heddle_block_stack *s = stack_of(g);
    assert_int_equal(s->depth, depth);
    assert_int_equal(s->formed - s->come, to_come);
}

static void expect_entry(const struct gate *g, uint32_t at, uint32_t pc, uint32_t stop, uint32_t warp_0,
                         uint32_t warp_1, uint32_t warp_2)
{
    const struct heddle_block_path *p = &stack_of(g)->paths[at];
    const uint32_t masks[3] = {warp_0, warp_1, warp_2};
    assert_int_equal(p->pc, pc);
    assert_int_equal(p->stop, stop);
    assert_memory_equal(p->mask, masks, sizeof masks);
}

/* The next warp that was formed: of which threads, and that it may start `after` cycles from now and not before. */
static void expect_warp(struct gate *g, uint32_t slot, uint32_t after, uint32_t pc, uint32_t stop,
                        const struct heddle_piece *pieces, uint32_t count)
{
    assert_true(g->checked < g->count);
    const struct formed *w = &g->formed[g->checked++];
    assert_int_equal(w->slot, slot);
    assert_int_equal(w->pc, pc);
    assert_int_equal(w->stop, stop);
    assert_int_equal(w->ready, g->f.core.cycle + after);
    assert_int_equal(w->count, count);
    assert_memory_equal(w->pieces, pieces, count * sizeof *pieces);
}
#define PIECES(...) \
    (const struct heddle_piece[]){__VA_ARGS__}, sizeof(struct heddle_piece[]){__VA_ARGS__} / sizeof(struct heddle_piece)

/* A warp as it was last formed executes a branch: of its threads, those of `taken` (by home warp) take it. */
static void come_to(struct gate *g, uint32_t slot, struct heddle_branch e, const uint32_t taken[3])
{
    const struct formed *w = NULL;
    uint32_t lanes[HEDDLE_PIECES];
    for (uint32_t i = 0; i < g->count; i++)
        w = g->formed[i].slot == slot ? &g->formed[i] : w;
    assert_non_null(w);
    struct formed own = *w; /* forming warps writes to the list */
    e.warp = slot;
    e.fall_through = e.pc + 1;
    for (uint32_t i = 0; i < own.count; i++) {
        lanes[i] = own.pieces[i].mask & taken[own.pieces[i].home];
        e.taken |= lanes[i];
        e.not_taken |= own.pieces[i].mask & ~lanes[i];
    }
    g->f.core.cycle += 7;
    assert_int_equal(g->hooks->split(g->unit.state, &g->f.core, &e, own.pieces, lanes, own.count), HEDDLE_PARK);
}

static void arrive(struct gate *g, uint32_t slot, uint32_t pc)
{
    g->f.core.cycle += 5;
    g->hooks->arrived(g->unit.state, &g->f.core, slot, pc);
}

static void leave(struct gate *g, uint32_t slot, const struct heddle_piece *pieces, uint32_t count)
{
    g->f.core.cycle += 3;
    g->hooks->exited(g->unit.state, &g->f.core, slot, pieces, count);
}

static const uint32_t four_lanes[3] = {0xf, 0xf, 0xf};
static const struct heddle_branch branch_a = {.pc = BRANCH_OF_A, .target = PC_B, .reconvergence = PC_G};
static const struct heddle_branch branch_c = {.pc = BRANCH_OF_C, .target = PC_D, .reconvergence = PC_F};
static const uint32_t to_b[3] = {0, 0x8, 0x4}, to_d[3] = {0x1, 0x1, 0x1}, all[3] = {~0u, ~0u, ~0u}, none[3];

/* Threads by home warp and lane: 7 is {1, 8}, A is {2, 4}, B is {2, 8}. */
static void expect_original(struct gate *g, uint32_t pc, uint32_t stop)
{
    for (uint32_t k = 0; k < 3; k++)
        expect_warp(g, k, k, pc, stop, PIECES({k, 0xf}));
}

static void expect_ten(struct gate *g, uint32_t pc)
{
    expect_warp(g, 0, 0, pc, PC_G, PIECES({0, 0xf}));           /* 0 1 2 3 */
    expect_warp(g, 1, 1, pc, PC_G, PIECES({1, 0x7}, {2, 0x8})); /* 4 5 6 B */
    expect_warp(g, 2, 2, pc, PC_G, PIECES({2, 0x3}));           /* 8 9 - - */
}

/* Up to where B runs. */
static void go_to_b(struct gate *g)
{
    gate_open(g, "tbc", four_lanes, 3);
    expect_original(g, PC_A, NOWHERE);
    expect_depth(g, 1, 3);
    expect_entry(g, 0, PC_A, NOWHERE, 0xf, 0xf, 0xf);
    come_to(g, 1, branch_a, to_b); /* in any order */
    expect_depth(g, 1, 2);
    come_to(g, 2, branch_a, to_b);
    expect_depth(g, 1, 1);
    expect_entry(g, 0, PC_A, NOWHERE, 0xf, 0xf, 0xf); /* as it was, and nobody runs */
    assert_int_equal(g->count, 3);
    come_to(g, 0, branch_a, to_b);
    expect_depth(g, 3, 1);
    expect_entry(g, 0, PC_G, NOWHERE, 0xf, 0xf, 0xf);
    expect_entry(g, 1, PC_C, PC_G, 0xf, 0x7, 0xb);
    expect_entry(g, 2, PC_B, PC_G, 0, 0x8, 0x4);                  /* the taken side first */
    expect_warp(g, 0, 0, PC_B, PC_G, PIECES({1, 0x8}, {2, 0x4})); /* - - A 7: one warp instead of two */
    assert_int_equal(g->count, g->checked);                       /* none for warps without threads */
}

static void go_to_d(struct gate *g)
{
    go_to_b(g);
    arrive(g, 0, PC_G);
    expect_depth(g, 2, 3);
    expect_ten(g, PC_C);
    for (uint32_t slot = 0; slot < 3; slot++)
        come_to(g, slot, branch_c, to_d);
    expect_depth(g, 4, 3);
    expect_entry(g, 0, PC_G, NOWHERE, 0xf, 0xf, 0xf);
    expect_entry(g, 1, PC_F, PC_G, 0xf, 0x7, 0xb); /* C's entry, where its sides meet */
    expect_entry(g, 2, PC_E, PC_F, 0xe, 0x6, 0xa);
    expect_entry(g, 3, PC_D, PC_F, 0x1, 0x1, 0x1);
    for (uint32_t k = 0; k < 3; k++) /* figure 2: in one lane, so as many warps as threads */
        expect_warp(g, k, k, PC_D, PC_F, PIECES({k, 0x1}));
}

static void the_figures_block(void **state)
{
    static struct gate g;
    (void)state;
    go_to_d(&g);
    arrive(&g, 2, PC_F);
    expect_depth(&g, 4, 2);
    arrive(&g, 0, PC_F);
    expect_depth(&g, 4, 1);
    arrive(&g, 1, PC_F);
    expect_depth(&g, 3, 3);
    expect_warp(&g, 0, 0, PC_E, PC_F, PIECES({0, 0xe}));           /* - 1 2 3 */
    expect_warp(&g, 1, 1, PC_E, PC_F, PIECES({1, 0x6}, {2, 0x8})); /* - 5 6 B */
    expect_warp(&g, 2, 2, PC_E, PC_F, PIECES({2, 0x2}));           /* - 9 - - */
    for (uint32_t slot = 0; slot < 3; slot++)
        arrive(&g, slot, PC_F);
    expect_depth(&g, 2, 3);
    expect_ten(&g, PC_F);
    for (uint32_t slot = 0; slot < 3; slot++)
        arrive(&g, slot, PC_G);
    expect_depth(&g, 1, 3);
    expect_original(&g, PC_G, NOWHERE);
    for (uint32_t slot = 0; slot < 3; slot++)
        leave(&g, slot, PIECES({slot, 0xf}));
    expect_depth(&g, 0, 0);
    gate_close(&g);
}

/* Threads 0, 4 and 8 end in D: they are missing in every entry below. */
static void ended_threads_leave_the_masks(void **state)
{
    static struct gate g;
    (void)state;
    go_to_d(&g);
    leave(&g, 0, PIECES({0, 0x1}));
    expect_entry(&g, 0, PC_G, NOWHERE, 0xe, 0xf, 0xf);
    expect_entry(&g, 1, PC_F, PC_G, 0xe, 0x7, 0xb);
    expect_entry(&g, 3, PC_D, PC_F, 0, 0x1, 0x1);
    expect_depth(&g, 4, 2); /* a warp without threads is not waited for */
    leave(&g, 1, PIECES({1, 0x1}));
    leave(&g, 2, PIECES({2, 0x1}));
    expect_depth(&g, 3, 3);
    g.checked += 3;                 /* E, as before */
    leave(&g, 1, PIECES({1, 0x4})); /* 6 of - 5 6 B: the warp goes on */
    expect_depth(&g, 3, 3);
    for (uint32_t slot = 0; slot < 3; slot++)
        arrive(&g, slot, PC_F);
    expect_warp(&g, 0, 0, PC_F, PC_G, PIECES({0, 0xe}));           /* - 1 2 3 */
    expect_warp(&g, 1, 1, PC_F, PC_G, PIECES({1, 0x2}, {2, 0x8})); /* - 5 - B */
    expect_warp(&g, 2, 2, PC_F, PC_G, PIECES({2, 0x2}));           /* - 9 - - */
    for (uint32_t slot = 0; slot < 3; slot++)
        arrive(&g, slot, PC_G);
    expect_entry(&g, 0, PC_G, NOWHERE, 0xe, 0xa, 0xe);
    expect_warp(&g, 0, 0, PC_G, NOWHERE, PIECES({0, 0xe}));
    expect_warp(&g, 1, 1, PC_G, NOWHERE, PIECES({1, 0xa}, {2, 0x4})); /* - 5 A 7: A in the lane that 6 has left */
    expect_warp(&g, 2, 2, PC_G, NOWHERE, PIECES({2, 0xa}));
    gate_close(&g);
}

/* A home warp that has ended is not formed again; the slots are the first ones. */
static void an_ended_warp_is_not_formed(void **state)
{
    static struct gate g;
    (void)state;
    gate_open(&g, "tbc", four_lanes, 3);
    expect_original(&g, PC_A, NOWHERE);
    leave(&g, 1, PIECES({1, 0xf}));
    expect_depth(&g, 1, 2);
    come_to(&g, 0, branch_a, all);
    come_to(&g, 2, branch_a, all);
    expect_warp(&g, 0, 0, PC_B, NOWHERE, PIECES({0, 0xf}));
    expect_warp(&g, 1, 1, PC_B, NOWHERE, PIECES({2, 0xf}));
    expect_depth(&g, 1, 2);
    gate_close(&g);
}

/* Where all threads agree no entry is pushed, and warps are as they were. */
static void agreed_branches_push_nothing(void **state)
{
    static struct gate g;
    (void)state;
    for (int taken = 0; taken < 2; taken++) {
        uint32_t to = taken ? PC_B : PC_C;
        gate_open(&g, "tbc", four_lanes, 3);
        expect_original(&g, PC_A, NOWHERE);
        for (uint32_t slot = 0; slot < 3; slot++)
            come_to(&g, slot, branch_a, taken ? all : none);
        expect_depth(&g, 1, 3);
        expect_entry(&g, 0, to, NOWHERE, 0xf, 0xf, 0xf);
        expect_original(&g, to, NOWHERE);
        assert_int_equal(g.unit.counters[HEDDLE_COUNT_PATHS], 0);
        gate_close(&g);
    }
}

/* A side that is where the sides meet gets no entry (an if without else); nor does a branch whose sides meet where its
 * entry ends get one below them (a loop). */
static void sides_that_are_empty(void **state)
{
    static struct gate g;
    (void)state;
    gate_open(&g, "tbc", four_lanes, 3);
    g.checked = 3;
    struct heddle_branch skip = {.pc = BRANCH_OF_A, .target = PC_G, .reconvergence = PC_G};
    for (uint32_t slot = 0; slot < 3; slot++)
        come_to(&g, slot, skip, to_b);
    expect_depth(&g, 2, 3);
    expect_entry(&g, 0, PC_G, NOWHERE, 0xf, 0xf, 0xf);
    expect_entry(&g, 1, PC_C, PC_G, 0xf, 0x7, 0xb);
    expect_ten(&g, PC_C);
    struct heddle_branch again = {.pc = BRANCH_OF_C, .target = PC_G, .reconvergence = PC_G};
    for (uint32_t slot = 0; slot < 3; slot++)
        come_to(&g, slot, again, to_d);
    expect_depth(&g, 2, 3);
    expect_entry(&g, 1, PC_E, PC_G, 0xe, 0x6, 0xa);
    g.checked += 3;
    gate_close(&g);
}

/* The paths' warps, as the unit counts them: B, C, D and E. */
static void the_figures_counts(void **state)
{
    static struct gate g;
    (void)state;
    go_to_d(&g);
    assert_int_equal(g.unit.counters[HEDDLE_COUNT_PATHS], 4);
    assert_int_equal(g.unit.counters[HEDDLE_COUNT_COMPACTED], 1); /* B */
    assert_int_equal(g.unit.counters[HEDDLE_COUNT_WARPS_APART], 2 + 3 + 3 + 3);
    assert_int_equal(g.unit.counters[HEDDLE_COUNT_WARPS_FORMED], 1 + 3 + 3 + 3);
    assert_int_equal(g.unit.counters[HEDDLE_COUNT_WARPS_IDEAL], 1 + 1 + 1 + 1); /* of 32 lanes */
    gate_close(&g);
}

/* In a core. The block has 96 threads, of which lanes 4 and above end at once; the others have the figure's numbers. */

/* NEVER waits until every result of the warp has come: nothing holds back the warps that are formed after it. */
#define NEVER "setp.eq.u32 %p3, %r5, 0;\n@%p3 st.global.u32 [%rd1], %r5;\n"
enum { IN_A = 14, IN_C = 18, IN_E = 22, IN_D = 26, IN_F = 29, IN_B = 33, IN_G = 36, OUT = 8192 };
static const char figure[] = "ld.param.u64 %rd0, [buffer];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;\n"
                             "shr.u32 %r3, %r1, 5;\nmad.lo.u32 %r4, %r3, 4, %r2;\nmul.wide.u32 %rd1, %r4, 4;\n"
                             "add.u64 %rd1, %rd0, %rd1;\nmov.u32 %r5, 0;\nsetp.eq.u32 %p1, %r4, 7;\n"
                             "setp.eq.or.u32 %p1, %r4, 10, %p1;\nsetp.eq.u32 %p2, %r2, 0;\n"
                             "setp.gt.u32 %p0, %r2, 3;\n@%p0 exit;\nbar.sync 0;\n"
                             "add.u32 %r5, %r5, 0x1;\n" NEVER "@%p1 bra B;\n"                       /* A: 14 */
                             "add.u32 %r5, %r5, 0x100;\n" NEVER "@%p2 bra D;\n"                     /* C: 18 */
                             "add.u32 %r5, %r5, 0x10000;\n" NEVER "bra F;\n"                        /* E: 22 */
                             "D:\nadd.u32 %r5, %r5, 0x1000;\n" NEVER                                /* 26 */
                             "F:\nadd.u32 %r5, %r5, 0x100000;\n" NEVER "bra G;\n"                   /* 29 */
                             "B:\nadd.u32 %r5, %r5, 0x10;\n" NEVER                                  /* 33 */
                             "G:\nadd.u32 %r5, %r5, 0x1000000;\nst.global.u32 [%rd1+8192], %r5;\n"; /* 36 */

/* What the core was told and what it did. Of one launch at a time. */
static struct {
    struct heddle_divergence_services core;
    struct formed formed[64];
    uint64_t formed_at[64], now;
    struct {
        uint64_t cycle;
        uint32_t warp, pc, active;
    } issue[512];
    uint32_t formed_count, issue_count;
} ran;

static void pass_on(void *context, uint32_t slot, const struct heddle_piece *pieces, uint32_t count, uint32_t pc,
                    uint32_t stop, uint64_t ready)
{
    (void)context;
    assert_true(ran.formed_count < 64);
    struct formed *w = &ran.formed[ran.formed_count];
    *w = (struct formed){.slot = slot, .count = count, .pc = pc, .stop = stop, .ready = ready};
    memcpy(w->pieces, pieces, count * sizeof *pieces);
    ran.formed_at[ran.formed_count++] = ran.now;
    ran.core.regroup(ran.core.context, slot, pieces, count, pc, stop, ready);
}

static void services_between(void *state, const struct heddle_divergence_services *given)
{
    ran.core = *given;
    divergence_tbc.services(state, &(struct heddle_divergence_services){NULL, pass_on});
}

static void block_start_between(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                                uint32_t warp_count, const uint32_t *lanes)
{
    ran.now = core->cycle;
    divergence_tbc.block_start(state, core, block, first_warp, warp_count, lanes);
}

static enum heddle_branch_answer split_between(void *state, const struct heddle_core *core,
                                               const struct heddle_branch *e, const struct heddle_piece *pieces,
                                               const uint32_t *taken, uint32_t count)
{
    ran.now = core->cycle;
    return divergence_tbc.split(state, core, e, pieces, taken, count);
}

static void arrived_between(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    ran.now = core->cycle;
    divergence_tbc.arrived(state, core, warp, pc);
}

static void note_issue(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    (void)state;
    assert_true(ran.issue_count < 512);
    ran.issue[ran.issue_count].cycle = core->cycle;
    ran.issue[ran.issue_count].warp = e->warp;
    ran.issue[ran.issue_count].pc = e->pc;
    ran.issue[ran.issue_count++].active = e->active;
}

static void run_figure(struct timed *t)
{
    static const char *const sets[] = {ONE_CORE, "machine.cores_per_cluster=1", NULL};
    static struct heddle_divergence unit; /* in use until the caller closes *t */
    unit = divergence_tbc;
    unit.services = services_between;
    unit.block_start = block_start_between;
    unit.split = split_between;
    unit.arrived = arrived_between;
    unit.policy.on.issued = note_issue;
    policy_open(t, &(struct policy_run){.machine = "slp", .sets = sets, .spec = "oldest", .divergence = &unit}, "",
                figure);
    timed_launch(t, 1, 96, 0); /* brings the instructions */
    memset(ran.formed, 0, sizeof ran.formed);
    ran.formed_count = ran.issue_count = 0;
    timed_launch(t, 1, 96, 0);
}

/* A path as it should run: where, and the lanes of each of its warps. */
struct expected {
    const char *name;
    uint32_t first, last, warps; /* instructions of the block */
    struct heddle_piece pieces[3][2];
    uint32_t active[3];
};

#define TEN \
    {{{0, 0xf}}, {{1, 0x7}, {2, 0x8}}, {{2, 0x3}}}, { 0xf, 0xf, 0x3 }
static const struct expected paths[] = {
    {"B", IN_B, IN_G, 1, {{{1, 0x8}, {2, 0x4}}}, {0xc}},
    {"C", IN_C, IN_E, 3, TEN},
    {"D", IN_D, IN_F, 3, {{{0, 0x1}}, {{1, 0x1}}, {{2, 0x1}}}, {0x1, 0x1, 0x1}},
    {"E", IN_E, IN_D, 3, {{{0, 0xe}}, {{1, 0x6}, {2, 0x8}}, {{2, 0x2}}}, {0xe, 0xe, 0x2}},
    {"F", IN_F, IN_B, 3, TEN},
    {"G", IN_G, IN_G + 2, 3, {{{0, 0xf}}, {{1, 0xf}}, {{2, 0xf}}}, {0xf, 0xf, 0xf}},
};

/* Cycles in which the slot issued instructions first to last - 1; all with these lanes but for guarded ones. */
static void find_issues(uint32_t slot, const struct expected *x, uint64_t *begin, uint64_t *end)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < ran.issue_count; i++) {
        if (ran.issue[i].warp != slot || ran.issue[i].pc < x->first || ran.issue[i].pc >= x->last)
            continue;
        if (!found++) {
            *begin = ran.issue[i].cycle;
            assert_int_equal(ran.issue[i].pc, x->first);
            assert_int_equal(ran.issue[i].active, x->active[slot]);
        }
        *end = ran.issue[i].cycle;
    }
    assert_int_equal(found, slot < x->warps ? x->last - x->first : 0);
}

/* A path's warps are formed in the cycle in which the last one before came to its branch or end, and warp k is ready k
 * cycles later. Their first instructions are fetched one per cycle from then on, in the fetch's own order: the first
 * issues FETCH cycles later (one to fetch, one to decode), the others in the cycles after it. */
static void the_figures_cycles(void **state)
{
    enum { FETCH = 2 };
    struct timed t;
    uint32_t next = 3, started; /* bit i: a warp of the path first issued i cycles after the first one could */
    uint64_t came = 0, begin = 0, end = 0, last;
    (void)state;
    run_figure(&t);
    for (uint32_t i = 0; i < ran.issue_count; i++) /* the branch of A */
        if (ran.issue[i].pc == IN_C - 1)
            came = ran.issue[i].cycle;
    for (size_t n = 0; n < sizeof paths / sizeof *paths; n++) {
        const struct expected *x = &paths[n];
        started = 0;
        for (uint32_t k = last = 0; k < 3; k++) {
            find_issues(k, x, &begin, &end);
            if (k >= x->warps)
                continue;
            const struct formed *w = &ran.formed[next];
            uint32_t count = x->pieces[k][1].mask ? 2 : 1;
            assert_int_equal(w->slot, k);
            assert_int_equal(w->pc, x->first);
            assert_int_equal(w->count, count);
            assert_memory_equal(w->pieces, x->pieces[k], count * sizeof *w->pieces);
            assert_int_equal(ran.formed_at[next], came);
            assert_int_equal(w->ready, came + k);
            if (begin < w->ready || begin < came + FETCH || begin >= came + FETCH + x->warps)
                fail_msg("%s, warp %u: formed in cycle %llu, first issue in %llu", x->name, k, (unsigned long long)came,
                         (unsigned long long)begin);
            started |= 1u << (begin - came - FETCH);
            last = end > last ? end : last;
            next++;
        }
        assert_int_equal(started, (1u << x->warps) - 1); /* each in a cycle of its own */
        came = last;
    }
    assert_int_equal(next, ran.formed_count);
    for (uint32_t i = 0; i < 12; i++) /* A, then B, or C and D or E and F; then G */
        assert_int_equal(((uint32_t *)(t.buffer + OUT))[i], i == 7 || i == 10 ? 0x1000011
                                                            : i % 4 == 0      ? 0x1101101
                                                                              : 0x1110101);
    timed_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figures_block),           cmocka_unit_test(ended_threads_leave_the_masks),
        cmocka_unit_test(an_ended_warp_is_not_formed), cmocka_unit_test(agreed_branches_push_nothing),
        cmocka_unit_test(sides_that_are_empty),        cmocka_unit_test(the_figures_counts),
        cmocka_unit_test(the_figures_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
