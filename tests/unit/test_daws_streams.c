/* Does DAWS give the cache to one warp at a time where the lines of two do not fit? The kernel has eight warps, and a
 * loop with six loads. Each lane walks six streams of its own, four bytes in each trip, so a warp uses the same 192 of
 * the L1D's 256 lines in all trips: its first trip misses on them, and the others hit if no other warp takes them. */
#include "policy_run.h"

/* The usual 16 tags of a warp have forgotten a line before its warp comes back to it, after 192 others: neither CCWS
 * nor DAWS would see that locality is lost. */
#define TAGS "vta_entries=512"

enum { WARPS = 8, STREAMS = 6, TRIPS = 32, LINES_OF_A_WARP = STREAMS * 32 };

/* Streams lie 32 KB apart: those of all lanes, a line each. */
static const char body[] = "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 128;\n"
                           "add.u64 %rd1, %rd1, %rd2;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
                           "again:\n"
                           "ld.global.u32 %r4, [%rd1];\nld.global.u32 %r5, [%rd1+32768];\n"
                           "ld.global.u32 %r6, [%rd1+65536];\nld.global.u32 %r7, [%rd1+98304];\n"
                           "ld.global.u32 %r8, [%rd1+131072];\nld.global.u32 %r9, [%rd1+163840];\n"
                           "add.u32 %r2, %r2, %r4;\nadd.u32 %r2, %r2, %r5;\nadd.u32 %r2, %r2, %r6;\n"
                           "add.u32 %r2, %r2, %r7;\nadd.u32 %r2, %r2, %r8;\nadd.u32 %r2, %r2, %r9;\n"
                           "add.u64 %rd1, %rd1, 4;\nadd.u32 %r3, %r3, 1;\n"
                           "setp.lt.u32 %p1, %r3, 32;\n@%p1 bra again;\n";

/* A probe: how often a warp issues a load after one of another warp. */
static uint32_t last_warp, changes, loads;

static void on_issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    (void)state, (void)core;
    if (!(e->instruction->flags & HEDDLE_L1D_LOAD))
        return;
    changes += loads && e->warp != last_warp;
    last_warp = e->warp;
    loads++;
}

static const struct heddle_probe who_loads = {
    .policy = {.abi = HEDDLE_POLICY_ABI, .name = "who-loads", .on = {.issued = on_issued}},
};

/* Misses of the L1D. A core issues one instruction per cycle: no second one slips past the policy. */
static uint64_t misses(const char *spec)
{
    struct timed t;
    changes = loads = 0;
    policy_open(
        &t,
        &(struct policy_run){.machine = "ccws",
                             .sets = SETS(ONE_CORE, "machine.cores_per_cluster=1", "issue.instructions_per_warp=1"),
                             .spec = spec,
                             .probes = {&who_loads}},
        "", body);
    timed_launch(&t, 1, WARPS * 32, 0);
    uint64_t found = t.counters->sm.l1d.misses;
    timed_close(&t);
    assert_int_equal(loads, WARPS * STREAMS * TRIPS);
    return found;
}

/* Compulsory misses are 8 * 192. What DAWS adds are those of the first trips, before the loop is known to have locality
 * and diverged loads: by then each warp has missed on its lines once or twice. */
static void one_warp_at_a_time(void **state)
{
    (void)state;
    const uint64_t once = WARPS * LINES_OF_A_WARP;
    uint64_t unthrottled = misses("daws:" TAGS ",oversized=effective");
    assert_true(unthrottled > 20 * once);
    assert_true(changes > 200);
    uint64_t throttled = misses("daws:" TAGS);
    if (throttled > 3 * once || changes > 5 * WARPS)
        fail_msg("%u misses, %u changes of warps", (unsigned)throttled, changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_warp_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
