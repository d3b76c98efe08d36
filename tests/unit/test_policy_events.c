/* Do events say what they promise: accesses through the L1D and how many are left of a load, a warp's last lanes,
 * warps that are held back, loops across calls? */
#define COMPACTION_INCLUDED
#include "../policy/compaction.c"

#include "policy_run.h"

/* What a probe heard, in order. */
enum what { COALESCED, ACCESS, ENDED, FINISHED, HELD, LOOP };
struct heard {
    enum what what;
    uint64_t cycle;
    uint32_t warp, pc, accesses, left;
    bool store, through_l1, failed, resident;
    uint64_t warps;
    int32_t loop;
    enum heddle_loop_step step;
};
enum { HEARD_MOST = 100000 };
static struct heard heard[HEARD_MOST];
static uint32_t heard_count;

static void hear(const struct heddle_core *core, struct heard h)
{
    h.cycle = core->cycle;
    h.resident = core->resident >> h.warp & 1;
    assert_true(heard_count < HEARD_MOST);
    heard[heard_count++] = h;
}

static void on_coalesced(void *state, const struct heddle_core *core, const struct heddle_coalesced *e)
{
    (void)state;
    hear(core, (struct heard){.what = COALESCED,
                              .warp = e->warp,
                              .pc = e->pc,
                              .accesses = e->accesses,
                              .store = e->store,
                              .through_l1 = e->through_l1});
}

static void on_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    (void)state;
    hear(core, (struct heard){.what = ACCESS,
                              .warp = e->warp,
                              .pc = e->pc,
                              .left = e->left,
                              .store = e->store,
                              .failed = e->outcome == HEDDLE_FAIL});
}

static void on_ended(void *state, const struct heddle_core *core, uint32_t warp)
{
    (void)state;
    hear(core, (struct heard){.what = ENDED, .warp = warp});
}
static void on_finished(void *state, const struct heddle_core *core, uint32_t warp)
{
    (void)state;
    hear(core, (struct heard){.what = FINISHED, .warp = warp});
}
static void on_held(void *state, const struct heddle_core *core, uint64_t warps)
{
    (void)state;
    hear(core, (struct heard){.what = HELD, .warps = warps});
}
static void on_loop(void *state, const struct heddle_core *core, const struct heddle_loop_event *e)
{
    (void)state;
    hear(core, (struct heard){.what = LOOP, .warp = e->warp, .pc = e->pc, .loop = e->loop, .step = e->step});
}

static const struct heddle_probe listener = {
    .policy = {.abi = HEDDLE_POLICY_ABI,
               .name = "listener",
               .on = {.coalesced = on_coalesced,
                      .l1_access = on_access,
                      .ended = on_ended,
                      .finished = on_finished,
                      .held = on_held,
                      .loop = on_loop}},
};

static void listen(const struct policy_run *run, const char *globals, const char *body, uint32_t threads)
{
    struct timed t;
    struct policy_run with_probe = *run;
    with_probe.probes[0] = &listener;
    heard_count = 0;
    policy_open(&t, &with_probe, globals, body);
    timed_launch(&t, 1, threads, 0);
    timed_close(&t);
}

/* Accesses */

#define BY_LANE \
    "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 128;\nadd.u64 %rd1, %rd1, %rd2;\n"

static void which_go_through_the_l1(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool store, through;
    } rows[] = {
        {BY_LANE "ld.global.u32 %r2, [%rd1];\n", false, true},
        {BY_LANE "st.global.u32 [%rd1], %r1;\n", true, true},
        {BY_LANE "ld.global.cg.u32 %r2, [%rd1];\n", false, false},
        {BY_LANE "atom.global.add.u32 %r2, [%rd1], 1;\n", false, false},
        {BY_LANE "red.global.add.u32 [%rd1], 1;\n", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t requests = 0, accesses = 0, seen = 0;
        listen(&(struct policy_run){0}, "", rows[i].body, 32);
        for (uint32_t k = 0; k < heard_count; k++) {
            const struct heard *h = &heard[k];
            if (h->what == ACCESS && !h->failed)
                seen++;
            if (h->what != COALESCED)
                continue;
            requests++;
            accesses += h->accesses;
            assert_int_equal(h->store, rows[i].store);
            if (h->through_l1 != rows[i].through)
                fail_msg("through_l1 is %d: %s", h->through_l1, rows[i].body);
        }
        assert_int_equal(requests, 1);
        assert_true(accesses >= 32);
        assert_int_equal(seen, rows[i].through ? accesses : 0);
    }
}

/* Each of the accesses of a load, and each of its tries, says how many come after it; so does what the L1 policy is
 * told. */
static uint32_t left_inserted, inserted_wrong;

static void on_inserted(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                        const struct heddle_l1_access *access)
{
    (void)state, (void)core, (void)set, (void)way;
    inserted_wrong += access->left != left_inserted--;
}

static void accesses_left(void **state)
{
    (void)state;
    static const char *const few_entries[] = {ONE_CORE, "l1d.mshr_entries=4", NULL}, *const pipe[] = {
                                                                                         ONE_CORE, "l1d.mshr_entries=4",
                                                                                         "l1d.latency_cycles=20", NULL};
    static const char *const behind[] = {ONE_CORE, "l1d.latency_cycles=20", "rules.l1d_latency_behind=true", NULL},
                             *const banks[] = {ONE_CORE, "l1d.latency_cycles=5", "l1d.banks=4", NULL};
    const char *const *const machines[] = {NULL, few_entries, pipe, behind, banks};
    const struct heddle_l1 l1 = {.policy = {.abi = HEDDLE_POLICY_ABI, .name = "lines"}, .inserted = on_inserted};
    for (size_t i = 0; i < 5; i++) {
        uint32_t expected = 31, failed = 0, seen = 0;
        left_inserted = 31;
        inserted_wrong = 0;
        listen(&(struct policy_run){.sets = machines[i], .l1 = &l1}, "", BY_LANE "ld.global.u32 %r2, [%rd1];\n", 32);
        for (uint32_t k = 0; k < heard_count; k++) {
            if (heard[k].what != ACCESS)
                continue;
            assert_int_equal(heard[k].left, expected);
            expected -= !heard[k].failed;
            failed += heard[k].failed;
            seen += !heard[k].failed;
        }
        assert_int_equal(seen, 32);
        assert_int_equal(inserted_wrong, 0);
        assert_int_equal(left_inserted, UINT32_MAX);
        if (i == 1 || i == 2)
            assert_true(failed > 0);
    }
}

/* Ends */

static uint64_t cycle_of(enum what what, uint32_t warp)
{
    uint64_t cycle = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < heard_count; i++)
        if (heard[i].what == what && heard[i].warp == warp) {
            cycle = heard[i].cycle;
            count++;
            assert_false(heard[i].resident);
        }
    assert_int_equal(count, 1);
    return cycle;
}

static void a_warp_ends_before_its_stores(void **state)
{
    (void)state;
    listen(&(struct policy_run){0}, "", BY_LANE "st.global.u32 [%rd1], %r1;\n", 64);
    for (uint32_t warp = 0; warp < 2; warp++)
        assert_true(cycle_of(ENDED, warp) + 20 < cycle_of(FINISHED, warp)); /* the store's answer takes longer */
    listen(&(struct policy_run){0}, "",
           "setp.eq.u32 %p1, %r1, %r1;\nmov.u32 %r1, %laneid;\nsetp.gt.u32 %p1, %r1, 3;\n@%p1 exit;\nadd.u32 %r2, %r1, "
           "1;\n",
           32);
    cycle_of(ENDED, 0); /* once, though lanes end at two places */
}

static void regrouped_warps_end_once(void **state)
{
    (void)state;
    const struct heddle_divergence *unit = &compaction;
    listen(&(struct policy_run){.divergence = unit}, "",
           "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra EVEN;\nadd.u32 %r3, %r1, "
           "1;\nEVEN:\nadd.u32 %r4, %r1, 1;\n",
           128);
    for (uint32_t warp = 0; warp < 4; warp++)
        assert_true(cycle_of(ENDED, warp) <= cycle_of(FINISHED, warp));
}

/* Held */

enum { HOLD_FROM = 300, HOLD_UNTIL = 400, HOLD_AGAIN = 500, HOLD_END = 600 };
static int pick_first(void *state, const struct heddle_core *core, uint64_t candidates)
{
    (void)state, (void)core;
    return __builtin_ctzll(candidates);
}
static uint64_t hold_second(void *state, const struct heddle_core *core)
{
    (void)state;
    return (core->cycle >= HOLD_FROM && core->cycle < HOLD_UNTIL) ||
                   (core->cycle >= HOLD_AGAIN && core->cycle < HOLD_END)
               ? 2
               : 0;
}
static uint64_t hold_steady(void *state, const struct heddle_core *core)
{
    (void)state;
    static const uint64_t edges[] = {HOLD_FROM, HOLD_UNTIL, HOLD_AGAIN, HOLD_END};
    for (int i = 0; i < 4; i++)
        if (core->cycle < edges[i])
            return edges[i];
    return UINT64_MAX;
}

/* Warp 1 is held twice, and each time that is told once, when it first could have issued. Sleep makes no difference. */
static void held_is_told_when_it_begins(void **state)
{
    (void)state;
    static const char body[] =
        "mov.u32 %r2, 0;\nAGAIN:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 100;\n@%p1 bra AGAIN;\n";
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        const struct heddle_scheduler s = {.policy = {.abi = HEDDLE_POLICY_ABI, .name = "holder"},
                                           .pick = pick_first,
                                           .hold = hold_second,
                                           .steady_until = sleeps ? hold_steady : NULL};
        static const char *const sets[] = {ONE_CORE, "issue.schedulers=1", NULL};
        uint32_t count = 0;
        uint64_t first[2] = {0};
        listen(&(struct policy_run){.scheduler = &s, .sets = sets}, "", body, 64);
        for (uint32_t i = 0; i < heard_count; i++)
            if (heard[i].what == HELD) {
                assert_int_equal(heard[i].warps, 2);
                bool again = heard[i].cycle >= HOLD_AGAIN;
                assert_true(heard[i].cycle >= (again ? HOLD_AGAIN : HOLD_FROM) &&
                            heard[i].cycle < (again ? HOLD_END : HOLD_UNTIL));
                first[again] = first[again] ? first[again] : heard[i].cycle;
                count++;
            }
        assert_true(first[0] && first[1]);
        assert_true(first[0] < HOLD_FROM + 30 && first[1] < HOLD_AGAIN + 30);
        assert_true(count >= 2);
        static uint32_t before;
        if (sleeps)
            assert_int_equal(count, before);
        before = count;
    }
}

/* Loops */

/* What warp 0 heard, as text: a letter for each loop in the order of the program, then + (in), . (again), - (out). */
static const char *loops_heard(uint32_t warp)
{
    static char text[8192];
    size_t n = 0;
    for (uint32_t i = 0; i < heard_count; i++)
        if (heard[i].what == LOOP && heard[i].warp == warp) {
            assert_true(n + 3 < sizeof text);
            text[n++] = (char)('a' + heard[i].loop);
            text[n++] = "+.-"[heard[i].step];
        }
    text[n] = '\0';
    return text;
}

#define PLAIN_FUNCTION ".func plain()\n{\n.reg .b32 %x;\nmov.u32 %x, 1;\nadd.u32 %x, %x, 1;\nret;\n}\n"
#define LOOP_FUNCTION                                                                                                  \
    ".func looping()\n{\n.reg .b32 %x;\n.reg .pred %q;\nmov.u32 %x, 0;\nINSIDE:\nadd.u32 %x, %x, 1;\nsetp.lt.u32 %q, " \
    "%x, 2;\n@%q bra INSIDE;\nret;\n}\n"
#define KERNEL_LOOP(n, inside)                                                                                  \
    "mov.u32 %r2, 0;\nmov.u32 %r1, %laneid;\nAGAIN:\nadd.u32 %r2, %r2, 1;\n" inside "setp.lt.u32 %p1, %r2, " #n \
    ";\n@%p1 bra AGAIN;\nadd.u32 %r3, %r2, 1;\n"

static void a_call_leaves_no_loop(void **state)
{
    (void)state;
    listen(&(struct policy_run){0}, PLAIN_FUNCTION, KERNEL_LOOP(3, ""), 32);
    assert_string_equal(loops_heard(0), "a+a.a.a-");
    listen(&(struct policy_run){0}, PLAIN_FUNCTION, KERNEL_LOOP(3, "call plain, ();\n"), 32);
    assert_string_equal(loops_heard(0), "a+a.a.a-");
    listen(&(struct policy_run){0}, PLAIN_FUNCTION,
           "call plain, ();\n" KERNEL_LOOP(2, "call plain, ();\ncall plain, ();\n") "call plain, ();\n", 32);
    assert_string_equal(loops_heard(0), "a+a.a-");
}

static void loops_of_the_callee_are_inside(void **state)
{
    (void)state;
    listen(&(struct policy_run){0}, LOOP_FUNCTION, KERNEL_LOOP(3, "call looping, ();\n"), 32);
    assert_string_equal(loops_heard(0), "a+b+b.b-a.b+b.b-a.b+b.b-a-");
    listen(&(struct policy_run){0}, LOOP_FUNCTION, "call looping, ();\nadd.u32 %r3, %r3, 1;\n", 32);
    assert_string_equal(loops_heard(0), "a+a.a-");
}

/* A function whose loop calls itself, down to depth 0: the loop of each call is one of its own. */
static void recursion(void **state)
{
    (void)state;
    static const char function[] =
        ".func deeper(.param .b32 depth)\n{\n.reg .b32 %x, %d;\n.reg .pred %q, %e;\nld.param.b32 %d, [depth];\nmov.u32 "
        "%x, 0;\nsetp.eq.u32 %e, %d, 0;\n@%e bra BOTTOM;\n"
        "sub.u32 %d, %d, 1;\nINSIDE:\nadd.u32 %x, %x, 1;\n{\n.param .b32 less;\nst.param.b32 [less], %d;\ncall deeper, "
        "(less);\n}\nsetp.lt.u32 %q, %x, 2;\n@%q bra INSIDE;\nBOTTOM:\nret;\n}\n";
    static const char body[] = "mov.u32 %r1, 2;\n{\n.param .b32 depth;\nst.param.b32 [depth], %r1;\ncall deeper, "
                               "(depth);\n}\nadd.u32 %r2, %r1, 1;\n";
    listen(&(struct policy_run){0}, function, body, 32);
    assert_string_equal(loops_heard(0), "a+"
                                        "a+a.a-"
                                        "a."
                                        "a+a.a-"
                                        "a-");
    static const char deep[] = "mov.u32 %r1, 9;\n{\n.param .b32 depth;\nst.param.b32 [depth], %r1;\ncall deeper, "
                               "(depth);\n}\nadd.u32 %r2, %r1, 1;\n";
    listen(&(struct policy_run){0}, function, deep, 32);
    const char *text = loops_heard(0);
    uint32_t in = 0, out = 0;
    for (; *text; text += 2) {
        in += text[1] == '+';
        out += text[1] == '-';
    }
    assert_int_equal(in, (1 << 9) - 1);
    assert_int_equal(out, in);
}

/* Half of the lanes call, then the other half goes on; and lanes that end inside what they called. */
static void divergent_calls(void **state)
{
    (void)state;
    listen(
        &(struct policy_run){0}, LOOP_FUNCTION,
        KERNEL_LOOP(2, "setp.lt.u32 %p2, %r1, 16;\n@%p2 bra NEXT;\ncall looping, ();\nNEXT:\nadd.u32 %r4, %r1, 1;\n"),
        32);
    assert_string_equal(loops_heard(0), "a+b+b.b-a.b+b.b-a-");
    static const char ends[] = ".func ends()\n{\n.reg .b32 %x;\n.reg .pred %q;\nmov.u32 %x, 0;\nINSIDE:\nadd.u32 %x, "
                               "%x, 1;\nsetp.gt.u32 %q, %x, 1;\n@%q exit;\nbra INSIDE;\n}\n";
    listen(&(struct policy_run){0}, ends,
           KERNEL_LOOP(2, "setp.lt.u32 %p2, %r1, 16;\n@%p2 bra NEXT;\ncall ends, ();\nNEXT:\nadd.u32 %r4, %r1, 1;\n"),
           32);
    assert_string_equal(loops_heard(0), "a+b+b.b-a.a-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_go_through_the_l1),
        cmocka_unit_test(accesses_left),
        cmocka_unit_test(a_warp_ends_before_its_stores),
        cmocka_unit_test(regrouped_warps_end_once),
        cmocka_unit_test(held_is_told_when_it_begins),
        cmocka_unit_test(a_call_leaves_no_loop),
        cmocka_unit_test(loops_of_the_callee_are_inside),
        cmocka_unit_test(recursion),
        cmocka_unit_test(divergent_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
