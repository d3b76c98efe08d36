/* Does a slot whose lanes part, and that goes on by itself (HEDDLE_STACK), do what the executor's own stack does? Units
 * that answer nothing else, over kernels made from seeds: any block branches to any other.
 * Left out of quick: it runs for ten seconds.
 * Left out of second builds: group mixed has the same units. */
#define OWN_PATHS_INCLUDED
#include "../policy/own_paths.c"
#define COMPACTION_INCLUDED
#include "../policy/compaction.c"

#include "policy_run.h"

enum { OUT = 8192, THREADS = 112, BLOCKS = 3 };

static uint32_t seeds = 60; /* fewer under sanitizers */

static const char *machine = "slp";
/* A warp that is over gives its slot back at once, as it does under a unit. */
static const char *const one_core[] = {"machine.cores=1", "machine.cores_per_cluster=1", "rules.ends_in_fetch=false",
                                       NULL};

/* Kernels */

static uint32_t drawn(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

/* %r1: the thread; %r5: a word that changes with every step; %r6: steps. After 200 of them branches go forward only. */
static void say_step(struct text *t, uint64_t *seed, uint32_t i, uint32_t blocks)
{
    uint32_t target = drawn(seed, blocks + 1), bit = drawn(seed, 12) + 16;
    say(t, "B%u:\nmad.lo.u32 %%r5, %%r5, 1664525, %u;\nadd.u32 %%r6, %%r6, 1;\n", i, drawn(seed, 1 << 20));
    if (!drawn(seed, 3))
        say(t, "st.global.u32 [%%rd1+8192], %%r5;\n");
    if (!drawn(seed, 4))
        say(t, "ld.global.u32 %%r8, [%%rd1];\nxor.b32 %%r5, %%r5, %%r8;\n");
    if (!drawn(seed, 12))
        say(t, "setp.gt.u32 %%p3, %%r5, 0xe8000000;\n@%%p3 exit;\n");
    say(t, "setp.lt.u32 %%p2, %%r6, 200;\nbfe.u32 %%r7, %%r5, %u, 1;\n", bit);
    say(t, target > i ? "setp.ne.u32 %%p1, %%r7, 0;\n" : "setp.ne.and.u32 %%p1, %%r7, 0, %%p2;\n");
    say(t, "@%%p1 bra B%u;\n", target);
}

static char *random_body(uint64_t seed)
{
    struct text t = {0};
    uint32_t blocks = 3 + drawn(&seed, 14);
    say(&t,
        "ld.param.u64 %%rd0, [buffer];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%ctaid.x;\n"
        "mad.lo.u32 %%r1, %%r2, %u, %%r1;\nmul.wide.u32 %%rd1, %%r1, 4;\nadd.u64 %%rd1, %%rd0, %%rd1;\n"
        "mul.lo.u32 %%r5, %%r1, 0x9e3779b1;\nmov.u32 %%r6, 0;\n",
        (unsigned)THREADS);
    for (uint32_t i = 0; i < blocks; i++)
        say_step(&t, &seed, i, blocks);
    say(&t, "B%u:\nst.global.u32 [%%rd1+8192], %%r5;\n", blocks);
    return t.s;
}

struct outcome {
    uint64_t cycles, thread_instructions;
    struct exec_counters exec;
    struct sm_counters sm;
    uint32_t words[THREADS * BLOCKS];
};

static void run(const struct heddle_divergence *unit, const char *body, struct outcome *o)
{
    struct timed t;
    policy_open(&t, &(struct policy_run){.machine = machine, .sets = one_core, .divergence = unit}, "", body);
    memset(o, 0, sizeof *o);
    o->cycles = timed_launch(&t, BLOCKS, THREADS, 0);
    o->thread_instructions = t.gpu->kernels[0].thread_instructions;
    o->exec = t.counters->exec;
    o->sm = t.counters->sm;
    memcpy(o->words, t.buffer + OUT, sizeof o->words);
    timed_close(&t);
}

/* Everything counted is the same, but for warps that have ended: their slots stay until the block has, parked. A warp
 * whose instruction comes in a cycle in which nothing else changes counts as waiting for it, else by that instruction;
 * a slot that is given back is such a change. */
static void forget_ended_warps(struct sm_counters *c)
{
    uint64_t issued = c->stalls[STALL_ISSUED], memory = c->stalls[STALL_MEMORY];
    memset(c->stalls, 0, sizeof c->stalls);
    c->stalls[STALL_ISSUED] = issued;
    c->stalls[STALL_MEMORY] = memory;
    c->warp_cycles = 0;
}

static void expect_same(const char *body, uint64_t seed, struct outcome *own, struct outcome *core)
{
    if (own->cycles != core->cycles || memcmp(own, core, sizeof *own) != 0)
        fail_msg("seed %llu: %llu cycles, not %llu, or another difference:\n%s", (unsigned long long)seed,
                 (unsigned long long)own->cycles, (unsigned long long)core->cycles, body);
}

static void own_paths_are_the_cores_stack(void **state)
{
    static struct outcome own, core;
    uint64_t divergent = 0;
    (void)state;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        char *body = random_body(seed);
        run(&own_paths, body, &own);
        run(NULL, body, &core);
        forget_ended_warps(&own.sm);
        forget_ended_warps(&core.sm);
        expect_same(body, seed, &own, &core);
        divergent += core.exec.divergent_branches;
        free(body);
    }
    assert_true(divergent > seeds * 50);
}

/* Units that keep threads in the slots of their warps */

static void kept_warps_are_the_cores(void **state)
{
    static struct outcome own, core;
    struct heddle_divergence unit = own_paths;
    (void)state;
    unit.keeps_homes = true;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        char *body = random_body(seed);
        run(&unit, body, &own);
        run(NULL, body, &core);
        expect_same(body, seed, &own, &core);
        free(body);
    }
}

static bool init_by_warp(void *state, const struct heddle_setup *setup)
{
    struct unit *u = state;
    u->counters = setup->counters;
    u->scope = SCOPE_WARP;
    u->slots = setup->core->warp_slots;
    return true;
}

/* The unit has the stacks, and gives a warp one path after another. */
static void kept_warps_are_given_paths(void **state)
{
    static struct outcome own, core;
    struct heddle_divergence unit = compaction;
    (void)state;
    unit.policy.init = init_by_warp;
    unit.lane = NULL;
    for (int keeps = 0; keeps < 2; keeps++)
        for (uint64_t seed = 0; seed < seeds; seed++) {
            char *body = random_body(seed);
            unit.keeps_homes = keeps;
            run(&unit, body, &own);
            run(NULL, body, &core);
            assert_memory_equal(&own.exec, &core.exec, sizeof core.exec);
            assert_memory_equal(own.words, core.words, sizeof core.words);
            assert_int_equal(own.thread_instructions, core.thread_instructions);
            free(body);
        }
}

/* Sub-cores have no fetch, instructions that have vanished, and places where paths meet on the way. */
static void sub_cores_do_the_same(void **state)
{
    uint32_t all = seeds;
    machine = "h200";
    seeds = all / 5;
    own_paths_are_the_cores_stack(state);
    kept_warps_are_the_cores(state);
    kept_warps_are_given_paths(state);
    machine = "slp";
    seeds = all;
}

/* Whatever a warp does as a whole is what it is. */
static void kept_warps_do_everything(void **state)
{
    static const char body[] = "ld.param.u64 %rd0, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\n"
                               "add.u64 %rd1, %rd0, %rd1;\nand.b32 %r2, %r1, 3;\nsetp.eq.u32 %p0, %r2, 0;\n"
                               "shfl.sync.bfly.b32 %r3, %r1, 1, 31, 0xffffffff;\n@%p0 bra MEET;\n"
                               "vote.sync.ballot.b32 %r4, %p0, 0xeeeeeeee;\nadd.u32 %r3, %r3, %r4;\nbar.sync 1;\n"
                               "MEET:\n"
                               "T: .branchtargets A, B, C, D;\nbrx.idx %r2, T;\nA:\nadd.u32 %r3, %r3, 10;\n"
                               "B:\nadd.u32 %r3, %r3, 100;\nC:\nadd.u32 %r3, %r3, 1000;\nD:\n"
                               "bar.red.popc.u32 %r5, 0, %p0;\nmad.lo.u32 %r3, %r5, 100000, %r3;\n"
                               "st.global.u32 [%rd1+8192], %r3;\n";
    static struct outcome own, core;
    struct heddle_divergence unit = own_paths;
    (void)state;
    unit.keeps_homes = true;
    run(&unit, body, &own);
    run(NULL, body, &core);
    expect_same(body, 0, &own, &core);
    assert_int_equal(own.words[4], 5 + 1110 + 2800000);
}

/* Mixed slots: every second thread of a warp changes places with one of the next warp, and sits in the lane beside. */

static uint32_t lane_beside(void *state, uint32_t home, uint32_t logical_lane)
{
    (void)state;
    return logical_lane ^ (home & 1);
}

static void start_mixed(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                        uint32_t warp_count, const uint32_t *lanes)
{
    const struct own_paths *u = state;
    (void)block;
    for (uint32_t i = 0; i < warp_count; i++) {
        uint32_t other = (i ^ 1) < warp_count ? i ^ 1 : i, own = i & 1 ? 0xaaaaaaaa : 0x55555555;
        struct heddle_piece pieces[2] = {{i, lanes[i] & own}, {other, lanes[other] & own}};
        if (other == i)
            pieces[0].mask = lanes[i];
        u->services.regroup(u->services.context, first_warp + i, pieces, other == i ? 1 : 2, 0, HEDDLE_NO_PC,
                            core->cycle);
    }
}

static void mixed_slots_have_paths(void **state)
{
    static struct outcome mixed, core;
    struct heddle_divergence unit = own_paths;
    (void)state;
    unit.block_start = start_mixed;
    unit.lane = lane_beside;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        char *body = random_body(seed);
        run(&unit, body, &mixed);
        run(NULL, body, &core);
        assert_int_equal(mixed.thread_instructions, core.thread_instructions);
        assert_memory_equal(mixed.words, core.words, sizeof core.words);
        free(body);
    }
}

/* Barriers on paths: one lets its siblings run, and a slot arrives as a whole. */

#define SHARE                                                                                            \
    ".shared .align 4 .b8 words[512];\nld.param.u64 %rd0, [buffer];\nmov.u32 %r1, %tid.x;\n"             \
    "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd0, %rd1;\nmov.u32 %r2, words;\nshl.b32 %r3, %r1, 2;\n" \
    "add.u32 %r3, %r3, %r2;\nxor.b32 %r4, %r1, 33;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r4, %r2;\n"      \
    "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p0, %r5, 0;\n"
#define SEND "st.shared.u32 [%r3], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r4];\n"
#define TELL "st.global.u32 [%rd1+8192], %r6;\n"

static void barriers_on_paths(void **state)
{
    static const char *const bodies[] = {
        SHARE "@%p0 bra EVEN;\n" SEND "bra MEET;\nEVEN:\n" SEND "MEET:\n" TELL,
        SHARE "st.shared.u32 [%r3], %r1;\n@%p0 bra MEET;\nbar.sync 0;\nMEET:\nld.shared.u32 %r6, [%r4];\n" TELL,
        SHARE "@%p0 bra EVEN;\n" SEND "exit;\nEVEN:\n" SEND TELL,
    };
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        uint64_t cycles[2];
        uint32_t words[2][64];
        for (int own = 0; own < 2; own++) {
            struct timed t;
            struct policy_run r = {.machine = "slp", .sets = one_core, .divergence = own ? &own_paths : NULL};
            policy_open(&t, &r, "", bodies[i]);
            cycles[own] = timed_launch(&t, 1, 64, 0);
            memcpy(words[own], t.buffer + OUT, sizeof words[own]);
            timed_close(&t);
        }
        assert_int_equal(cycles[0], cycles[1]);
        assert_memory_equal(words[0], words[1], sizeof *words);
        assert_int_equal(words[1][2], 2 ^ 33);
    }
}

/* A slot is parked at its stop_pc once, when all its paths are there. */

static struct {
    uint32_t arrived, stop, asked_apart;
} seen;

static void start_halfway(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                          uint32_t warp_count, const uint32_t *lanes)
{
    const struct own_paths *u = state;
    (void)block, (void)warp_count;
    for (uint32_t pc = 0; pc < core->program->instruction_count; pc++)
        if (core->program->instructions[pc].flags & HEDDLE_STORE)
            seen.stop = pc;
    u->services.regroup(u->services.context, first_warp, &(struct heddle_piece){0, lanes[0]}, 1, 0, seen.stop,
                        core->cycle);
}

static void go_on(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    const struct own_paths *u = state;
    assert_int_equal(pc, seen.stop);
    seen.arrived++;
    u->services.regroup(u->services.context, warp, &(struct heddle_piece){0, UINT32_MAX}, 1, pc, HEDDLE_NO_PC,
                        core->cycle);
}

static enum heddle_branch_answer note_apart(void *state, const struct heddle_core *core, const struct heddle_branch *e,
                                            const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    (void)state, (void)core;
    assert_int_equal(count, 1);
    assert_int_equal(pieces[0].mask, e->taken | e->not_taken);
    assert_int_equal(taken[0], e->taken);
    assert_int_equal(e->apart, pieces[0].mask != UINT32_MAX);
    seen.asked_apart += e->apart;
    return HEDDLE_STACK;
}

static const char nested[] = SHARE "mov.u32 %r6, 1;\n@%p0 bra EVEN;\nmov.u32 %r6, 2;\nbra MEET;\n"
                                   "EVEN:\nand.b32 %r7, %r1, 2;\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra MEET;\n"
                                   "mov.u32 %r6, 3;\nMEET:\n" TELL;

static void a_slot_arrives_when_all_paths_have(void **state)
{
    struct heddle_divergence unit = own_paths;
    struct timed t;
    memset(&seen, 0, sizeof seen);
    unit.keeps_homes = *state != NULL;
    unit.block_start = start_halfway;
    unit.arrived = go_on;
    unit.split = note_apart;
    policy_open(&t, &(struct policy_run){.machine = "slp", .sets = one_core, .divergence = &unit}, "", nested);
    timed_launch(&t, 1, 32, 0);
    assert_int_equal(seen.arrived, 1);
    assert_int_equal(seen.asked_apart, 1);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(((uint32_t *)(t.buffer + OUT))[i], i & 1 ? 2 : i & 2 ? 3 : 1);
    timed_close(&t);
}

static enum heddle_branch_answer park_apart(void *state, const struct heddle_core *core, const struct heddle_branch *e,
                                            const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    (void)state, (void)core, (void)pieces, (void)taken, (void)count;
    return e->apart ? HEDDLE_PARK : HEDDLE_STACK;
}

static void expect_trouble(const struct heddle_divergence *unit, uint32_t threads, const char *says)
{
    struct timed t;
    policy_open(&t, &(struct policy_run){.machine = machine, .sets = one_core, .divergence = unit}, "", nested);
    uint64_t buffer = (uint64_t)(uintptr_t)t.buffer;
    struct gpu_launch launch = {.kernel = exec_image_function(t.image, "kernel"),
                                .grid = {1, 1, 1},
                                .block = {threads, 1, 1},
                                .params = &buffer,
                                .params_bytes = 8};
    assert_false(gpu_launch(t.gpu, &launch, &t.error));
    assert_non_null(strstr(t.error.text, says));
    timed_close(&t);
}

static void wrong_units_are_named(void **state)
{
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        struct heddle_divergence unit = own_paths;
        unit.keeps_homes = keeps;
        unit.split = park_apart;
        expect_trouble(&unit, 32, "parks it, while lanes of it wait on another path");
        unit = own_paths;
        unit.keeps_homes = keeps;
        unit.arrived = own_arrived; /* and nothing more is done */
        unit.block_start = start_halfway;
        expect_trouble(&unit, 32, keeps ? "warps 0x1 are parked" : "of 32 threads that have not ended 0 wait");
    }
    struct heddle_divergence unit = own_paths;
    unit.keeps_homes = true;
    unit.block_start = start_mixed;
    expect_trouble(&unit, 64, "regroup of slot 0 with threads of warp 0, by a unit that keeps");
}

static void kept_warps_have_no_other_lanes(void **state)
{
    struct heddle_divergence unit = own_paths;
    struct gpu_options options = {0};
    struct error e = {0};
    (void)state;
    unit.keeps_homes = true;
    unit.lane = lane_beside;
    assert_true(gpu_setup(&options, &(struct gpu_setup){.machine = "machines/slp.ini"}, &e));
    policy_release(&options.policies.divergence);
    options.policies.divergence = (struct policy_choice){.divergence = &unit, .policy = &unit.policy, .spec = "unit"};
    assert_null(gpu_create(&options, &e));
    assert_non_null(strstr(e.text, "permutes their lanes"));
}

int main(void)
{
    if (getenv("TEST_SHORT"))
        seeds = 10;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_paths_are_the_cores_stack),
        cmocka_unit_test(kept_warps_are_the_cores),
        cmocka_unit_test(kept_warps_are_given_paths),
        cmocka_unit_test(sub_cores_do_the_same),
        cmocka_unit_test(kept_warps_do_everything),
        cmocka_unit_test(mixed_slots_have_paths),
        cmocka_unit_test(barriers_on_paths),
        cmocka_unit_test(a_slot_arrives_when_all_paths_have),
        cmocka_unit_test_prestate(a_slot_arrives_when_all_paths_have, "keeps homes"),
        cmocka_unit_test(wrong_units_are_named),
        cmocka_unit_test(kept_warps_have_no_other_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
