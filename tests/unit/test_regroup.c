/* Does a core execute warps that a divergence unit puts together: the right threads, their registers and memory, as
 * many warps as the unit forms? The unit is thread block compaction (tests/policy/compaction.c); the numbers of warps
 * are those of the lane permutation paper's figures and benchmarks. */
#define COMPACTION_INCLUDED
#include "../policy/compaction.c"

#include "timing_test.h"

enum { BLOCK = 512, OUT = 8192, AFTER = 16384 }; /* the most threads; where a kernel leaves its results */
enum unit_scope { BY_BLOCK = SCOPE_BLOCK, BY_WARP = SCOPE_WARP };

/* What the unit under test was told. Of one launch at a time. */
static struct {
    uint32_t warps[8], threads[8];
    uint64_t first_issue, start;
} seen;

/* Stores are numbered in the order of the program. */
static void on_issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    uint32_t number = 0;
    (void)state;
    if (!seen.first_issue)
        seen.first_issue = core->cycle;
    if (!(e->instruction->flags & HEDDLE_STORE))
        return;
    for (uint32_t pc = 0; pc < e->pc; pc++)
        number += (core->program->instructions[pc].flags & HEDDLE_STORE) != 0;
    seen.warps[number]++;
    seen.threads[number] += (uint32_t)__builtin_popcount(e->active);
}

static void open_unit(struct timed *t, const struct heddle_divergence *unit, enum unit_scope scope, int lanes,
                      const char *const *sets, const char *body)
{
    struct gpu_options options = {.max_cycles = 20000000};
    uint32_t count = 0;
    memset(t, 0, sizeof *t);
    memset(&seen, 0, sizeof seen);
    while (sets[count])
        count++;
    if (!gpu_setup(&options, &(struct gpu_setup){.machine = "machines/slp.ini", .sets = sets, .set_count = count},
                   &t->error))
        fail_msg("%s", t->error.text);
    if (unit) {
        policy_release(&options.policies.divergence);
        options.policies.divergence = (struct policy_choice){.divergence = unit,
                                                             .policy = &unit->policy,
                                                             .values = {{.integer = scope}, {.integer = lanes}},
                                                             .spec = "unit"};
    }
    t->gpu = gpu_create(&options, &t->error);
    if (!t->gpu)
        fail_msg("%s", t->error.text);
    t->source = timed_kernel("", body);
    struct ptx_module *module = ptx_parse("test.ptx", t->source, strlen(t->source), &t->error);
    t->image = module ? exec_image_create(t->gpu->memory, &module, 1, &t->error) : NULL;
    if (!t->image)
        fail_msg("%s", t->error.text);
    t->buffer = memory_pointer(memory_alloc(t->gpu->memory, TIMED_BYTES, TIMED_BYTES, MEMORY_DEVICE, NULL));
}

static struct heddle_divergence watched(void)
{
    struct heddle_divergence unit = compaction;
    unit.policy.on.issued = on_issued;
    return unit;
}

static void expect_failure(struct timed *t, uint32_t threads, enum error_kind kind, const char *text)
{
    uint64_t buffer = (uint64_t)(uintptr_t)t->buffer;
    struct gpu_launch launch = {.kernel = exec_image_function(t->image, "kernel"),
                                .grid = {1, 1, 1},
                                .block = {threads, 1, 1},
                                .params = &buffer,
                                .params_bytes = 8};
    assert_false(gpu_launch(t->gpu, &launch, &t->error));
    if (t->error.kind != kind || !strstr(t->error.text, text))
        fail_msg("expected kind %d and '%s', got kind %d: %s", kind, text, t->error.kind, t->error.text);
}

/* %r1: the thread; %rd1: the address of its word; %r2: the word. */
#define HEAD                                                                                                      \
    "ld.param.u64 %rd0, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd0, %rd1;\n" \
    "ld.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p0, %r2, 0;\n"

/* Group formation: the numbers of warps for a path */

static const char two_paths[] =
    HEAD "@%p0 bra SKIP;\nst.global.u32 [%rd1+8192], %r1;\nSKIP:\nst.global.u32 [%rd1+16384], %r1;\n";

struct pattern {
    const char *name;
    uint32_t warps;
    bool (*has)(uint32_t warp, uint32_t lane);
    uint32_t before, compacted, balanced /* 0: known for narrower machines only */;
};

static bool lane_0_of_3(uint32_t w, uint32_t l) { return w < 3 && l == 0; }
static bool threads_7_and_10(uint32_t w, uint32_t l) { return (w == 1 && l == 3) || (w == 2 && l == 2); }
static bool lane_0(uint32_t w, uint32_t l) { return w < 4 && l == 0; }
static bool lanes_01(uint32_t w, uint32_t l) { return w < 4 && l < 2; }
static bool lanes_02(uint32_t w, uint32_t l) { return w < 4 && (l == 0 || l == 2); }
static bool staircase(uint32_t w, uint32_t l) { return w < 4 && l < 4 - w; }
static bool two_full(uint32_t w, uint32_t l) { return w < 2 && l < 4; }
static bool nearly_full(uint32_t w, uint32_t l) { return l < (w == 3 ? 2u : 4u); }
static bool halves_in_turn(uint32_t w, uint32_t l) { return l < 4 && l / 2 == w % 2; }
static bool halves_inside(uint32_t w, uint32_t l) { return l < 4 && (w == 0 || w == 3 || l / 2 == w - 1); }
static bool halves_in_pairs(uint32_t w, uint32_t l) { return l < 4 && l / 2 == w / 2; }
static bool odd_and_even(uint32_t w, uint32_t l) { return l < 4 && l % 2 == w / 2; }
static bool first_half(uint32_t w, uint32_t l) { return w < 8 && l < 8; }
static bool first_half_even(uint32_t w, uint32_t l) { return w % 2 == 0 && l < 8; }
static bool even_lanes(uint32_t w, uint32_t l) { return w < 4 && l < 16 && l % 2 == 0; }
#define BITONIC(j)                                  \
    static bool bitonic_##j(uint32_t w, uint32_t l) \
    {                                               \
        uint32_t thread = w * 32 + l;               \
        return (thread ^ j) > thread;               \
    }
BITONIC(1)
BITONIC(2)
BITONIC(4)
BITONIC(8)
BITONIC(16)
#define REDUCT(s) \
    static bool reduct_##s(uint32_t w, uint32_t l) { return (w * 32 + l) % (2 * s) == 0; }
REDUCT(1)
REDUCT(2)
REDUCT(4)
REDUCT(8)
REDUCT(16)
REDUCT(32)
#define BACKP(p) \
    static bool backp_##p(uint32_t w, uint32_t l) { return (w * 32 + l) / 16 % p == 0; }
BACKP(2)
BACKP(4)
BACKP(8)
BACKP(16)
static bool columns_of_32(uint32_t w, uint32_t l)
{
    (void)w;
    return l < 4;
}
static bool columns_of_16(uint32_t w, uint32_t l)
{
    (void)w;
    return l % 16 < 4;
}

static const struct pattern patterns[] = {
    {"lane 0 of 3 warps", 3, lane_0_of_3, 3, 3, 0},
    {"threads 7, A", 3, threads_7_and_10, 2, 1, 0},
    {"0--- x4", 4, lane_0, 4, 4, 0},
    {"01-- x4", 4, lanes_01, 4, 4, 0},
    {"0-2- x4", 4, lanes_02, 4, 4, 0},
    {"staircase", 4, staircase, 4, 4, 0},
    {"0123,4567,-,-", 4, two_full, 2, 2, 0},
    {"0123,4567,89AB,CD--", 4, nearly_full, 4, 4, 0},
    {"01--,--67,89--,--EF", 4, halves_in_turn, 4, 2, 0},
    {"0123,45--,--AB,CDEF", 4, halves_inside, 4, 3, 0},
    {"01--,45--,--AB,--EF", 4, halves_in_pairs, 4, 2, 0},
    {"0-2-,4-6-,-9-B,-D-F", 4, odd_and_even, 4, 2, 0},
    {"first half x8", 8, first_half, 8, 8, 0},
    {"first half of even warps", 8, first_half_even, 4, 4, 0},
    {"even lanes x4", 4, even_lanes, 4, 4, 0},
    {"bitonic 1", 8, bitonic_1, 8, 8, 4},
    {"bitonic 2", 8, bitonic_2, 8, 8, 4},
    {"bitonic 4", 8, bitonic_4, 8, 8, 4},
    {"bitonic 8", 8, bitonic_8, 8, 8, 4},
    {"bitonic 16", 8, bitonic_16, 8, 8, 4},
    {"reduct 1", 4, reduct_1, 4, 4, 2},
    {"reduct 2", 4, reduct_2, 4, 4, 1},
    {"reduct 4", 4, reduct_4, 4, 4, 1},
    {"reduct 8", 4, reduct_8, 4, 4, 1},
    {"reduct 16", 4, reduct_16, 4, 4, 1},
    {"reduct 32", 4, reduct_32, 2, 2, 1},
    {"backp 2", 8, backp_2, 8, 8, 4},
    {"backp 4", 8, backp_4, 4, 4, 4},
    {"backp 8", 8, backp_8, 2, 2, 2},
    {"backp 16", 8, backp_16, 1, 1, 1},
    {"x < 4 of 32", 16, columns_of_32, 16, 16, 4},
    {"x < 4 of 16", 8, columns_of_16, 8, 8, 4},
};

/* Every thread did what it had to, where it had to. */
static void check_words(const struct timed *t, const struct pattern *p)
{
    const uint32_t *out = (const uint32_t *)(t->buffer + OUT), *after = (const uint32_t *)(t->buffer + AFTER);
    for (uint32_t i = 0; i < p->warps * 32; i++) {
        assert_int_equal(out[i], p->has(i / 32, i % 32) ? i : UINT32_MAX);
        assert_int_equal(after[i], i);
    }
}

static void run_patterns(enum unit_scope scope, int lanes)
{
    struct heddle_divergence unit = watched();
    struct timed t;
    open_unit(&t, &unit, scope, lanes, NO_SETS, two_paths);
    for (size_t n = 0; n < sizeof patterns / sizeof *patterns; n++) {
        const struct pattern *p = &patterns[n];
        uint32_t expected = scope == BY_WARP          ? p->before
                            : lanes == LANES_BALANCED ? p->balanced
                                                      : p->compacted,
                 threads = 0;
        memset(&seen, 0, sizeof seen);
        memset(t.buffer, 0, BLOCK * 4);
        memset(t.buffer + OUT, 0xff, BLOCK * 4);
        memset(t.buffer + AFTER, 0xff, BLOCK * 4);
        for (uint32_t i = 0; i < p->warps * 32; i++) {
            ((uint32_t *)t.buffer)[i] = p->has(i / 32, i % 32);
            threads += p->has(i / 32, i % 32);
        }
        timed_launch(&t, 1, p->warps * 32, 0);
        check_words(&t, p);
        if (expected && seen.warps[0] != expected)
            fail_msg("%s: %u warps, not %u", p->name, seen.warps[0], expected);
        assert_int_equal(seen.threads[0], threads);
        assert_int_equal(seen.warps[1], p->warps); /* as they were, where the paths have met */
        assert_int_equal(seen.threads[1], p->warps * 32);
    }
    timed_close(&t);
}

static void warps_are_compacted(void **state)
{
    (void)state;
    run_patterns(BY_BLOCK, LANES_HOME);
}
static void permuted_lanes_compact_better(void **state)
{
    (void)state;
    run_patterns(BY_BLOCK, LANES_BALANCED);
}
static void a_warp_alone_is_not_compacted(void **state)
{
    (void)state;
    run_patterns(BY_WARP, LANES_HOME);
}

/* A stack a warp, done by the unit, executes what the core's own does. */

static const char nested[] = HEAD "mov.u32 %r3, 0;\nLOOP:\nadd.u32 %r3, %r3, 1;\nand.b32 %r4, %r3, 1;\nsetp.eq.u32 "
                                  "%p1, %r4, 0;\n@%p1 bra EVEN;\nadd.u32 %r5, %r3, %r1;\n@%p0 bra NEXT;\n"
                                  "mul.lo.u32 %r5, %r5, 3;\nbra NEXT;\nEVEN:\nsub.u32 %r5, %r5, 7;\nNEXT:\nsetp.lt.u32 "
                                  "%p2, %r3, %r2;\n@%p2 bra LOOP;\nst.global.u32 [%rd1+8192], %r5;\n";

static uint64_t run_nested(const struct heddle_divergence *unit, enum unit_scope scope, int lanes,
                           uint64_t histogram[33], uint32_t words[BLOCK])
{
    struct timed t;
    open_unit(&t, unit, scope, lanes, NO_SETS, nested);
    for (uint32_t i = 0; i < BLOCK; i++)
        ((uint32_t *)t.buffer)[i] = i * 2654435761u >> 28;
    timed_launch(&t, 1, BLOCK, 0);
    memcpy(histogram, t.counters->exec.lanes, sizeof t.counters->exec.lanes);
    memcpy(words, t.buffer + OUT, BLOCK * 4);
    uint64_t threads = t.gpu->kernels[0].thread_instructions;
    timed_close(&t);
    return threads;
}

static void a_units_stack_is_the_cores_stack(void **state)
{
    uint64_t own[33], units[33], mixed[33];
    uint32_t expected[BLOCK], words[BLOCK];
    struct heddle_divergence unit = watched();
    (void)state;
    uint64_t threads = run_nested(NULL, BY_BLOCK, LANES_HOME, own, expected);
    assert_int_equal(run_nested(&unit, BY_WARP, LANES_HOME, units, words), threads);
    assert_memory_equal(own, units, sizeof own);
    assert_memory_equal(expected, words, sizeof words);
    for (int lanes = LANES_HOME; lanes <= LANES_BALANCED; lanes++) {
        assert_int_equal(run_nested(&unit, BY_BLOCK, lanes, mixed, words), threads);
        assert_memory_equal(expected, words, sizeof words);
        assert_true(mixed[32] > own[32]); /* some warps are fuller */
    }
}

/* Memory of mixed warps */

/* Odd threads of even warps and even threads of odd ones: two warps become one. */
static bool is_in(uint32_t thread) { return (thread + thread / 32) % 2; }

static void fill_alternating(struct timed *t)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        ((uint32_t *)t->buffer)[i] = is_in(i);
}

/* The path ends behind the atomic: its threads are in other warps before it has come back. */
static void atomics_of_all_pieces(void **state)
{
    static const char body[] = HEAD "mov.u32 %r5, 77;\n@%p0 bra SKIP;\natom.global.add.u32 %r5, [%rd0+4096], "
                                    "1;\nSKIP:\nst.global.u32 [%rd1+8192], %r5;\n@%p0 bra END;\n"
                                    "red.global.add.u32 [%rd0+4100], %r1;\nEND:\nmov.u32 %r1, 0;\n";
    struct heddle_divergence unit = watched();
    (void)state;
    for (int lanes = LANES_HOME; lanes <= LANES_BALANCED; lanes++) {
        struct timed t;
        bool had[BLOCK] = {false};
        uint32_t sum = 0;
        open_unit(&t, &unit, BY_BLOCK, lanes, NO_SETS, body);
        fill_alternating(&t);
        timed_launch(&t, 1, BLOCK, 0);
        const uint32_t *out = (const uint32_t *)(t.buffer + OUT);
        for (uint32_t i = 0; i < BLOCK; i++) {
            if (!is_in(i)) {
                assert_int_equal(out[i], 77);
                continue;
            }
            sum += i;
            assert_true(out[i] < BLOCK / 2 && !had[out[i]]);
            had[out[i]] = true;
        }
        assert_int_equal(((uint32_t *)t.buffer)[1024], BLOCK / 2);
        assert_int_equal(((uint32_t *)t.buffer)[1025], sum);
        timed_close(&t);
    }
}

static void local_memory_is_a_threads_own(void **state)
{
    static const char body[] =
        ".local .align 4 .b8 frame[8];\n" HEAD "mov.u64 %rd2, frame;\nst.local.u32 [%rd2+4], %r1;\n@%p0 bra "
        "SKIP;\nmul.lo.u32 %r3, %r1, 5;\nst.local.u32 [%rd2+4], %r3;\n"
        "SKIP:\nld.local.u32 %r4, [%rd2+4];\nst.global.u32 [%rd1+8192], %r4;\n";
    struct heddle_divergence unit = watched();
    struct timed t;
    (void)state;
    open_unit(&t, &unit, BY_BLOCK, LANES_BALANCED, NO_SETS, body);
    fill_alternating(&t);
    timed_launch(&t, 1, BLOCK, 0);
    for (uint32_t i = 0; i < BLOCK; i++)
        assert_int_equal(((uint32_t *)(t.buffer + OUT))[i], is_in(i) ? 5 * i : i);
    timed_close(&t);
}

/* One instruction of a mixed warp, one request: its lanes are coalesced together. */
static void mixed_lanes_are_coalesced_together(void **state)
{
    static const char body[] = HEAD
        "mov.u32 %r6, 0;\n@%p0 bra SKIP;\nld.global.u32 %r6, [%rd0+4096];\nSKIP:\nst.global.u32 [%rd1+8192], %r6;\n";
    struct heddle_divergence unit = watched();
    uint64_t requests[2];
    (void)state;
    for (int scope = SCOPE_BLOCK; scope <= SCOPE_WARP; scope++) {
        struct timed t;
        open_unit(&t, &unit, (enum unit_scope)scope, LANES_HOME, NO_SETS, body);
        fill_alternating(&t);
        timed_launch(&t, 1, BLOCK, 0);
        requests[scope] = t.counters->sm.load_requests;
        assert_int_equal(t.counters->exec.load_requests, requests[scope]);
        timed_close(&t);
    }
    assert_int_equal(requests[SCOPE_WARP], 32);  /* each warp its word, then each warp's half */
    assert_int_equal(requests[SCOPE_BLOCK], 24); /* pairs of halves as one */
}

/* Barriers count threads: those that have ended are not waited for. */
static void barriers_count_threads(void **state)
{
    static const char body[] =
        ".shared .align 4 .b8 words[2048];\n" HEAD "mov.u32 %r7, words;\nshl.b32 %r8, %r1, 2;\nadd.u32 %r8, %r8, "
        "%r7;\nst.shared.u32 [%r8], %r1;\n@%p0 exit;\nbar.sync 0;\n"
        "xor.b32 %r9, %r1, 511;\nshl.b32 %r9, %r9, 2;\nadd.u32 %r9, %r9, %r7;\nld.shared.u32 %r10, "
        "[%r9];\nst.global.u32 [%rd1+8192], %r10;\n";
    struct heddle_divergence unit = watched();
    struct timed t;
    (void)state;
    open_unit(&t, &unit, BY_BLOCK, LANES_HOME, NO_SETS, body);
    fill_alternating(&t);
    timed_launch(&t, 1, BLOCK, 0);
    for (uint32_t i = 0; i < BLOCK; i++)
        assert_int_equal(((uint32_t *)(t.buffer + OUT))[i], is_in(i) ? (i ^ 511) : 0);
    timed_close(&t);
}

/* Time */

enum { LATER = 5000 };

static void start_later(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                        uint32_t warp_count, const uint32_t *lanes)
{
    struct unit *u = state;
    (void)block;
    (void)warp_count;
    seen.start = core->cycle;
    u->teams[first_warp] =
        (struct team){.stack = u->paths, .depth = 1, .first_slot = first_warp, .homes = 1, .formed = 1};
    u->paths[0] = (struct path){.stop = HEDDLE_NO_PC, .mask = {lanes[0]}};
    u->team_of[first_warp] = (uint8_t)first_warp;
    u->threads[first_warp] = 32;
    u->services.regroup(u->services.context, first_warp, &(struct heddle_piece){0, lanes[0]}, 1, 0, HEDDLE_NO_PC,
                        core->cycle + LATER);
}

static void a_warp_starts_in_its_cycle(void **state)
{
    struct heddle_divergence unit = watched();
    struct timed t;
    (void)state;
    unit.block_start = start_later;
    open_unit(&t, &unit, BY_BLOCK, LANES_HOME, NO_SETS, HEAD);
    timed_launch(&t, 1, 32, 0);
    assert_int_equal(seen.first_issue, seen.start + LATER);
    timed_close(&t);
}

/* What units and kernels may not do */

static void one_lane_twice(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                           uint32_t warp_count, const uint32_t *lanes)
{
    struct unit *u = state;
    (void)block, (void)warp_count, (void)lanes;
    struct heddle_piece pieces[2] = {{0, 0x3}, {1, 0x6}};
    u->services.regroup(u->services.context, first_warp, pieces, 2, 0, HEDDLE_NO_PC, core->cycle);
}

static void a_thread_twice(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                           uint32_t warp_count, const uint32_t *lanes)
{
    struct unit *u = state;
    (void)block, (void)warp_count, (void)lanes;
    for (uint32_t i = 0; i < 2; i++)
        u->services.regroup(u->services.context, first_warp + i, &(struct heddle_piece){0, 0x3}, 1, 0, HEDDLE_NO_PC,
                            core->cycle);
}

static void a_slot_twice(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                         uint32_t warp_count, const uint32_t *lanes)
{
    struct unit *u = state;
    (void)block, (void)warp_count, (void)lanes;
    for (uint32_t i = 0; i < 2; i++)
        u->services.regroup(u->services.context, first_warp, &(struct heddle_piece){i, 0x3}, 1, 0, HEDDLE_NO_PC,
                            core->cycle);
}

static void nothing(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                    uint32_t warp_count, const uint32_t *lanes)
{
    (void)state, (void)core, (void)block, (void)first_warp, (void)warp_count, (void)lanes;
}

static uint32_t all_into_lane_3(void *state, uint32_t home, uint32_t logical_lane)
{
    (void)state, (void)home, (void)logical_lane;
    return 3;
}

static void wrong_units_are_named(void **state)
{
    typedef void start_hook(void *, const struct heddle_core *, uint32_t, uint32_t, uint32_t, const uint32_t *);
    static const struct {
        start_hook *start;
        bool lanes;
        const char *says;
        enum error_kind kind;
    } wrong[] = {
        {.lanes = true, .says = "which does not exist or is taken"},
        {one_lane_twice, .says = "puts two threads into lane 1"},
        {a_thread_twice, .says = "are in a slot that runs"},
        {a_slot_twice, .says = "which is not parked"},
        {nothing, .says = "block 0 cannot go on: of 512 threads that have not ended 0 wait at a barrier",
         .kind = ERROR_DEADLOCK},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct heddle_divergence unit = watched();
        struct timed t;
        unit.block_start = wrong[i].start ? wrong[i].start : unit.block_start;
        unit.lane = wrong[i].lanes ? all_into_lane_3 : unit.lane;
        open_unit(&t, &unit, BY_BLOCK, LANES_HOME, NO_SETS, two_paths);
        fill_alternating(&t);
        expect_failure(&t, BLOCK, wrong[i].kind ? wrong[i].kind : ERROR_INVALID, wrong[i].says);
        assert_non_null(strstr(t.error.text, "divergence unit compaction"));
        timed_close(&t);
    }
}

static void a_unit_needs_its_hooks(void **state)
{
    struct heddle_divergence unit = watched();
    struct gpu_options options = {0};
    struct error e = {0};
    (void)state;
    unit.arrived = NULL;
    assert_true(gpu_setup(&options, &(struct gpu_setup){.machine = "machines/slp.ini"}, &e));
    policy_release(&options.policies.divergence);
    options.policies.divergence = (struct policy_choice){.divergence = &unit, .policy = &unit.policy, .spec = "unit"};
    assert_null(gpu_create(&options, &e));
    assert_non_null(strstr(e.text, "has no hook 'arrived'"));
}

static void warp_wide_instructions_are_refused(void **state)
{
    static const struct {
        const char *body, *names;
    } refused[] = {
        {HEAD "shfl.sync.bfly.b32 %r3, %r2, 1, 31, 0xffffffff;\n", "shfl.sync.bfly.b32"},
        {HEAD "vote.sync.ballot.b32 %r3, %p0, 0xffffffff;\n", "vote.sync.ballot.b32"},
        {HEAD "bar.sync 1;\n", "bar.sync"},
        {HEAD "bar.sync 0, 64;\n", "bar.sync"},
        {HEAD "bar.red.popc.u32 %r3, 0, %p0;\n", "bar.red.popc.u32"},
        {HEAD "bar.warp.sync 0xffffffff;\n", "bar.warp.sync"},
        {HEAD "T: .branchtargets A, B;\nand.b32 %r3, %r1, 1;\nbrx.idx %r3, T;\nA:\nadd.u32 %r3, %r3, 1;\nB:\n",
         "brx.idx"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct heddle_divergence unit = watched();
        struct timed t;
        open_unit(&t, &unit, BY_BLOCK, LANES_HOME, NO_SETS, refused[i].body);
        expect_failure(&t, 64, ERROR_UNSUPPORTED, refused[i].names);
        assert_non_null(strstr(t.error.text, "test.ptx:"));
        expect_failure(&t, 64, ERROR_UNSUPPORTED, refused[i].names); /* and nothing is left of the first */
        assert_int_equal(seen.first_issue, 0);
        timed_close(&t);
    }
}

static void a_fault_names_its_thread(void **state)
{
    static const char body[] = HEAD "@%p0 bra SKIP;\nsetp.eq.u32 %p1, %r1, 33;\nmov.u64 %rd3, 64;\nselp.b64 %rd4, "
                                    "%rd3, %rd1, %p1;\nst.global.u32 [%rd4], %r1;\nSKIP:\nadd.u32 %r3, %r1, 1;\n";
    struct heddle_divergence unit = watched();
    struct timed t;
    (void)state;
    open_unit(&t, &unit, BY_BLOCK, LANES_BALANCED, NO_SETS, body);
    for (uint32_t i = 0; i < BLOCK; i++)
        ((uint32_t *)t.buffer)[i] = i % 3 == 0;
    expect_failure(&t, BLOCK, ERROR_ADDRESS, "thread (33,0,0)");
    timed_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_are_compacted),
        cmocka_unit_test(permuted_lanes_compact_better),
        cmocka_unit_test(a_warp_alone_is_not_compacted),
        cmocka_unit_test(a_units_stack_is_the_cores_stack),
        cmocka_unit_test(atomics_of_all_pieces),
        cmocka_unit_test(local_memory_is_a_threads_own),
        cmocka_unit_test(mixed_lanes_are_coalesced_together),
        cmocka_unit_test(barriers_count_threads),
        cmocka_unit_test(a_warp_starts_in_its_cycle),
        cmocka_unit_test(wrong_units_are_named),
        cmocka_unit_test(a_unit_needs_its_hooks),
        cmocka_unit_test(warp_wide_instructions_are_refused),
        cmocka_unit_test(a_fault_names_its_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
