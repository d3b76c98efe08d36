/* Is a hook that is set called, whatever the others are? Each optional hook of each kind of policy stands alone, in
 * a policy that has nothing else but what its kind requires. */
#define COMPACTION_INCLUDED
#include "../policy/compaction.c"

#include "policy_run.h"

static uint32_t calls; /* of the hook under test */

/* A loop of loads and stores, of which each pass evicts the lines of the one before; a line that is there; a branch
 * at which lanes part; a barrier. */
static const char body[] =
    "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, "
    "%rd2;\nmov.u32 %r2, 0;\n"
    "AGAIN:\nld.global.u32 %r3, [%rd1];\nadd.u32 %r6, %r3, 1;\nld.global.u32 %r4, [%rd1];\nst.global.u32 [%rd1+65536], "
    "%r4;\nadd.u64 %rd1, %rd1, 1024;\nadd.u32 %r2, %r2, 1;\n"
    "setp.lt.u32 %p1, %r2, 16;\n@%p1 bra AGAIN;\nand.b32 %r5, %r1, 1;\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra "
    "PAST;\nadd.u32 %r6, %r6, 1;\nPAST:\nbar.sync 0;\nst.global.u32 [%rd1], %r6;\n";
static const char *const sets[] = {ONE_CORE, "l1d.sets=2", "l1d.ways=2", NULL};
enum { THREADS = 96 };

/* Events */

static void on_core(void *state, const struct heddle_core *core) { (void)state, (void)core, calls++; }
static void on_warp(void *state, const struct heddle_core *core, uint32_t warp)
{
    (void)state, (void)core, (void)warp, calls++;
}
static void on_count(void *state, const struct heddle_core *core, uint64_t count)
{
    (void)state, (void)core, calls += count != 0;
}
static void on_issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    (void)state, (void)core, (void)e, calls++;
}
static void on_committed(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    (void)state, (void)core, (void)warp, (void)pc, calls++;
}
static void on_branch(void *state, const struct heddle_core *core, const struct heddle_branch *e)
{
    (void)state, (void)core, (void)e, calls++;
}
static void on_loop(void *state, const struct heddle_core *core, const struct heddle_loop_event *e)
{
    (void)state, (void)core, (void)e, calls++;
}
static void on_coalesced(void *state, const struct heddle_core *core, const struct heddle_coalesced *e)
{
    (void)state, (void)core, (void)e, calls++;
}
static void on_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    (void)state, (void)core, (void)e, calls++;
}
static void on_fill(void *state, const struct heddle_core *core, const struct heddle_l1_fill *e)
{
    (void)state, calls++;
    assert_true(e->set < core->l1_sets && e->way < core->l1_ways);
}
static void on_evict(void *state, const struct heddle_core *core, const struct heddle_l1_evict *e)
{
    (void)state, (void)core, (void)e, calls++;
}

static const struct {
    const char *name;
    struct heddle_events on;
} events[] = {
    {"kernel", {.kernel = on_core}},
    {"kernel_end", {.kernel_end = on_core}},
    {"launched", {.launched = on_warp}},
    {"ended", {.ended = on_warp}},
    {"finished", {.finished = on_warp}},
    {"barrier_wait", {.barrier_wait = on_warp}},
    {"barrier_pass", {.barrier_pass = on_warp}},
    {"issued", {.issued = on_issued}},
    {"committed", {.committed = on_committed}},
    {"branch", {.branch = on_branch}},
    {"loop", {.loop = on_loop}},
    {"coalesced", {.coalesced = on_coalesced}},
    {"l1_access", {.l1_access = on_access}},
    {"l1_evict", {.l1_evict = on_evict}},
    {"l1_fill", {.l1_fill = on_fill}},
    {"held", {.held = on_count}},
    {"cycles", {.cycles = on_count}},
};
enum { EVENTS = sizeof events / sizeof *events };
_Static_assert(EVENTS * sizeof(void (*)(void)) == sizeof(struct heddle_events), "every event is in the table");

static void count_kernel(void *state, const struct heddle_core *core)
{
    calls++;
    compaction.policy.on.kernel(state, core);
}

/* A scheduler lets every other cycle pass, so that warps are held back. */
static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    (void)state;
    return core->cycle & 1 ? HEDDLE_NO_WARP : __builtin_ctzll(candidates);
}

static const struct heddle_scheduler plain = {.policy = {.abi = HEDDLE_POLICY_ABI, .name = "plain"}, .pick = pick};

static void expect_call(const char *kind, const char *hook, const struct policy_run *run)
{
    struct timed t;
    struct policy_run with_sets = *run;
    with_sets.sets = sets;
    if (!with_sets.scheduler)
        with_sets.scheduler = &plain;
    calls = 0;
    policy_open(&t, &with_sets, "", body);
    timed_launch(&t, 1, THREADS, 0);
    assert_true(t.counters->sm.l1d.evictions > 0);
    gpu_write_probes(t.gpu, &t.error);
    timed_close(&t);
    if (!calls)
        fail_msg("%s of %s was not called", hook, kind);
}

static void events_of_every_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < EVENTS; i++) {
        const struct heddle_policy p = {.abi = HEDDLE_POLICY_ABI, .name = "alone", .on = events[i].on};
        const struct heddle_scheduler scheduler = {.policy = p, .pick = pick};
        const struct heddle_l1 l1 = {.policy = p};
        const struct heddle_divergence divergence = {.policy = p};
        const struct heddle_probe probe = {.policy = p};
        struct heddle_divergence regrouping = compaction;
        regrouping.policy.on = p.on;
        regrouping.policy.on.kernel =
            p.on.kernel ? count_kernel : compaction.policy.on.kernel; /* it cannot do without */
        expect_call("a scheduler", events[i].name, &(struct policy_run){.scheduler = &scheduler});
        expect_call("an L1 policy", events[i].name, &(struct policy_run){.l1 = &l1});
        expect_call("a divergence unit", events[i].name, &(struct policy_run){.divergence = &divergence});
        expect_call("a unit that regroups", events[i].name, &(struct policy_run){.divergence = &regrouping});
        expect_call("a probe", events[i].name, &(struct policy_run){.probes = {&probe}});
    }
}

/* Every kind */

static bool on_init(void *state, const struct heddle_setup *setup)
{
    (void)state, (void)setup;
    return ++calls;
}
static void on_finish(void *state) { (void)state, calls++; }

static void beginnings_and_ends(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct heddle_policy p;
    } rows[] = {
        {"init", {.abi = HEDDLE_POLICY_ABI, .name = "alone", .init = on_init}},
        {"finish", {.abi = HEDDLE_POLICY_ABI, .name = "alone", .finish = on_finish}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct heddle_policy p = rows[i].p;
        expect_call("a scheduler", rows[i].name,
                    &(struct policy_run){.scheduler = &(struct heddle_scheduler){.policy = p, .pick = pick}});
        expect_call("an L1 policy", rows[i].name, &(struct policy_run){.l1 = &(struct heddle_l1){.policy = p}});
        expect_call("a divergence unit", rows[i].name,
                    &(struct policy_run){.divergence = &(struct heddle_divergence){.policy = p}});
        expect_call("a probe", rows[i].name, &(struct policy_run){.probes = {&(struct heddle_probe){.policy = p}}});
    }
}

/* Schedulers */

static uint64_t on_hold(void *state, const struct heddle_core *core)
{
    (void)state, (void)core, calls++;
    return 0;
}
static uint64_t on_steady(void *state, const struct heddle_core *core)
{
    (void)state, calls++;
    return core->cycle + 1;
}

static void on_chosen(void *state, const struct heddle_core *core, uint32_t warp)
{
    (void)state, (void)core, (void)warp, calls++;
}

static void schedulers(void **state)
{
    (void)state;
    const struct heddle_policy p = plain.policy;
    expect_call(
        "a scheduler", "hold",
        &(struct policy_run){.scheduler = &(struct heddle_scheduler){.policy = p, .pick = pick, .hold = on_hold}});
    expect_call("a scheduler", "hold_loads",
                &(struct policy_run){.scheduler =
                                         &(struct heddle_scheduler){.policy = p, .pick = pick, .hold_loads = on_hold}});
    expect_call("a scheduler", "steady_until",
                &(struct policy_run){
                    .scheduler = &(struct heddle_scheduler){.policy = p, .pick = pick, .steady_until = on_steady}});
    expect_call(
        "a scheduler", "chosen",
        &(struct policy_run){.scheduler = &(struct heddle_scheduler){.policy = p, .pick = pick, .chosen = on_chosen}});
}

/* L1 policies */

static int on_victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free,
                     const struct heddle_l1_access *access)
{
    (void)state, (void)core, (void)set, (void)access, calls++;
    return __builtin_ctzll(free ? free : ways);
}

static void on_line(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                    const struct heddle_l1_access *access)
{
    (void)state, (void)core, (void)set, (void)way, (void)access, calls++;
}

static void on_removed(void *state, const struct heddle_core *core, uint32_t set, uint32_t way, enum heddle_leave why)
{
    (void)state, (void)core, (void)set, (void)way, (void)why, calls++;
}
static bool on_bypass(void *state, const struct heddle_core *core, uint64_t ways, uint64_t free, uint64_t reserved,
                      const struct heddle_l1_access *access)
{
    (void)state, (void)core, (void)ways, (void)free, (void)reserved, (void)access, calls++;
    return false;
}

static enum heddle_write on_store(void *state, const struct heddle_core *core, const struct heddle_l1_access *access)
{
    (void)state, (void)core, calls += access->store;
    return HEDDLE_WRITE_AS_MACHINE;
}

static const struct heddle_l1 l1_alone[] = {
    {.victim = on_victim},   {.inserted = on_line}, {.touched = on_line},
    {.removed = on_removed}, {.bypass = on_bypass}, {.store = on_store},
};
static const char *const l1_hooks[] = {"victim", "inserted", "touched", "removed", "bypass", "store"};

static void l1_policies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof l1_alone / sizeof *l1_alone; i++) {
        struct heddle_l1 l1 = l1_alone[i];
        l1.policy = (struct heddle_policy){.abi = HEDDLE_POLICY_ABI, .name = "alone"};
        expect_call("an L1 policy", l1_hooks[i], &(struct policy_run){.l1 = &l1});
    }
}

/* Without a victim of its own a policy gets the cache's LRU: to the cycle what no policy at all gets. */
static void without_a_victim_it_is_lru(void **state)
{
    (void)state;
    struct timed t[2];
    struct heddle_l1 listens = {.policy = {.abi = HEDDLE_POLICY_ABI, .name = "alone"},
                                .inserted = on_line,
                                .touched = on_line,
                                .removed = on_removed,
                                .bypass = on_bypass,
                                .store = on_store};
    const struct heddle_l1 none = {.policy = {.abi = HEDDLE_POLICY_ABI, .name = "none"}};
    for (int i = 0; i < 2; i++) {
        policy_open(&t[i], &(struct policy_run){.sets = sets, .l1 = i ? &listens : &none}, "", body);
        timed_launch(&t[i], 4, THREADS, 0);
    }
    assert_int_equal(t[0].counters->cycles, t[1].counters->cycles);
    assert_memory_equal(&t[0].counters->sm, &t[1].counters->sm, sizeof t[0].counters->sm);
    timed_close(&t[0]);
    timed_close(&t[1]);
}

/* A policy that answers a rule for each store is, to the cycle, a machine that names it; the rules differ. */

static enum heddle_write answer;

static enum heddle_write answers(void *state, const struct heddle_core *core, const struct heddle_l1_access *access)
{
    (void)state, (void)core, calls += access->store && access->lanes;
    return answer;
}

/* Loads, loads that hit, stores to those lines and to others, loads of both. */
static const char stores_body[] =
    "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, "
    "%rd2;\nmov.u32 %r2, 0;\n"
    "AGAIN:\nld.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1], %r3;\nst.global.u32 [%rd1+65536], %r3;\n"
    "ld.global.u32 %r4, [%rd1];\nld.global.u32 %r5, [%rd1+65536];\nadd.u32 %r3, %r4, %r5;\nst.global.u32 "
    "[%rd1+65536], %r3;\nadd.u64 %rd1, %rd1, 1024;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 bra "
    "AGAIN;\n";

static void a_store_follows_the_rule_that_a_policy_answers(void **state)
{
    (void)state;
    static const char *const names[WRITE_RULE_COUNT] = {
#define WRITE_RULE(id, name, ...) [WRITE_##id] = "rules.l1d_global_writes=" name,
#include "heddle/write_rules.def"
    };
    uint64_t cycles[WRITE_RULE_COUNT];
    const struct heddle_l1 none = {.policy = {.abi = HEDDLE_POLICY_ABI, .name = "none"}};
    const struct heddle_l1 asked = {.policy = {.abi = HEDDLE_POLICY_ABI, .name = "asked"}, .store = answers};
    for (int rule = 0; rule < WRITE_RULE_COUNT; rule++) {
        if (write_rules[rule].miss == WRITE_MISS_FETCH)
            continue;
        struct timed t[2];
        const char *const named[] = {ONE_CORE, "l1d.sets=2", "l1d.ways=2", names[rule], NULL};
        answer = (enum heddle_write)rule;
        calls = 0;
        for (int i = 0; i < 2; i++) {
            policy_open(&t[i], &(struct policy_run){.sets = i ? sets : named, .l1 = i ? &asked : &none}, "",
                        stores_body);
            timed_launch(&t[i], 4, THREADS, 0);
        }
        assert_true(calls >= 4 * THREADS / 32 * 16 * 3);
        cycles[rule] = t[0].counters->cycles;
        assert_int_equal(cycles[rule], t[1].counters->cycles);
        assert_memory_equal(&t[0].counters->sm, &t[1].counters->sm, sizeof t[0].counters->sm);
        assert_memory_equal(&t[0].counters->memory, &t[1].counters->memory, sizeof t[0].counters->memory);
        timed_close(&t[0]);
        timed_close(&t[1]);
    }
    assert_int_not_equal(cycles[WRITE_THROUGH_EVICT], cycles[WRITE_THROUGH]);
    assert_int_not_equal(cycles[WRITE_THROUGH], cycles[WRITE_BACK]);
    assert_int_not_equal(cycles[WRITE_BACK], cycles[WRITE_BACK_TAKE]);
    assert_int_not_equal(cycles[WRITE_THROUGH], cycles[WRITE_THROUGH_TAKE]);
}

/* Rules that a cache cannot follow end the launch. */
static void a_rule_that_cannot_be(void **state)
{
    (void)state;
    static const int wrong[] = {WRITE_BACK_FETCH, WRITE_RULE_COUNT, -2};
    const struct heddle_l1 asked = {.policy = {.abi = HEDDLE_POLICY_ABI, .name = "asked"}, .store = answers};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct timed t;
        answer = (enum heddle_write)wrong[i];
        policy_open(&t, &(struct policy_run){.sets = sets, .l1 = &asked}, "", stores_body);
        uint64_t buffer = (uint64_t)(uintptr_t)t.buffer;
        struct gpu_launch launch = {.kernel = exec_image_function(t.image, "kernel"),
                                    .grid = {4, 1, 1},
                                    .block = {THREADS, 1, 1},
                                    .params = &buffer,
                                    .params_bytes = 8};
        assert_false(gpu_launch(t.gpu, &launch, &t.error));
        assert_non_null(strstr(t.error.text, "L1 policy asked chose write rule"));
        timed_close(&t);
    }
}

/* Divergence units: one that regroups has most hooks because it must; each of them is counted while the others only
 * do their work. */

static void count_services(void *state, const struct heddle_divergence_services *s)
{
    calls++;
    compaction.services(state, s);
}
static void count_start(void *state, const struct heddle_core *core, uint32_t block, uint32_t first, uint32_t count,
                        const uint32_t *lanes)
{
    calls++;
    compaction.block_start(state, core, block, first, count, lanes);
}
static void count_end(void *state, const struct heddle_core *core, uint32_t block)
{
    (void)state, (void)core, (void)block, calls++;
}
static enum heddle_branch_answer count_split(void *state, const struct heddle_core *core, const struct heddle_branch *e,
                                             const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    calls++;
    return compaction.split(state, core, e, pieces, taken, count);
}
static void count_arrived(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    calls++;
    compaction.arrived(state, core, warp, pc);
}
static void count_exited(void *state, const struct heddle_core *core, uint32_t warp, const struct heddle_piece *pieces,
                         uint32_t count)
{
    calls++;
    compaction.exited(state, core, warp, pieces, count);
}
static uint32_t count_lane(void *state, uint32_t home, uint32_t lane)
{
    (void)state, (void)home, calls++;
    return lane;
}

static void divergence_units(void **state)
{
    (void)state;
    const struct heddle_divergence stack = {.policy = plain.policy, .block_end = count_end};
    expect_call("a divergence unit", "block_end", &(struct policy_run){.divergence = &stack});
    struct heddle_divergence bare = compaction;
    bare.block_end = NULL;
    bare.lane = NULL;
    static const char *const names[] = {"services", "block_start", "block_end", "split", "arrived", "exited", "lane"};
    for (int i = 0; i < 7; i++) {
        struct heddle_divergence unit = bare;
        switch (i) {
        case 0: unit.services = count_services; break;
        case 1: unit.block_start = count_start; break;
        case 2: unit.block_end = count_end; break;
        case 3: unit.split = count_split; break;
        case 4: unit.arrived = count_arrived; break;
        case 5: unit.exited = count_exited; break;
        default: unit.lane = count_lane; break;
        }
        expect_call("a unit that regroups", names[i], &(struct policy_run){.divergence = &unit});
    }
}

/* Probes */

static bool on_write(const union heddle_value *values, const struct heddle_instruction_table *kernels,
                     uint32_t kernel_count, const char **why)
{
    (void)values, (void)kernels, (void)why, calls++;
    assert_int_equal(kernel_count, 0); /* it counts nothing */
    return true;
}

static void probes(void **state)
{
    (void)state;
    expect_call("a probe", "write",
                &(struct policy_run){.probes = {&(struct heddle_probe){.policy = plain.policy, .write = on_write}}});
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_every_kind),
        cmocka_unit_test(beginnings_and_ends),
        cmocka_unit_test(schedulers),
        cmocka_unit_test(l1_policies),
        cmocka_unit_test(without_a_victim_it_is_lru),
        cmocka_unit_test(a_store_follows_the_rule_that_a_policy_answers),
        cmocka_unit_test(a_rule_that_cannot_be),
        cmocka_unit_test(divergence_units),
        cmocka_unit_test(probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
