/* Policies that are wrong in one way, chosen by what is defined:
 *   NEVER_PICKS, NEVER_PICKS_LATER    a scheduler that lets every slot idle, from the start or after 100 instructions
 *   PICKS_READY_ONLY                  one that leaves warps alone that are to be sent back to fetch
 *   HOLDS, HOLDS_STEADY, HOLDS_LOADS  one that holds every warp back, for ever, cycle by cycle or in one answer
 *   PICK=n                            one that picks n
 *   CRASH_...                         one that crashes in that hook; CRASH_HELPER: in a function of the C library that
 *                                     it calls
 *   STAYS_...                         one that does not come back from that hook; STAYS_ASLEEP: from a pick that sleeps
 *   SLOW                              one that takes a millisecond for each pick
 *   NO_WAY                            an L1 policy that gives nobody a way; CRASH_VICTIM: one that crashes
 *   PARKS                             a divergence unit that parks warps and forgets them
 *   CRASH_PROBE, STAYS_PROBE          a probe that crashes when a warp is launched, or stays in its write */
#include "heddle/policy.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct state {
    uint64_t issued;
    const struct heddle_divergence_services *services;
};

static int *volatile nowhere; /* NULL, which the compiler does not know */

static void stay(void)
{
    while (!nowhere)
        ;
}

static void take_a_millisecond(void)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec * 1000000000 + now.tv_nsec < from.tv_sec * 1000000000 + from.tv_nsec + 1000000);
}

static bool init(void *state, const struct heddle_setup *setup)
{
    (void)state, (void)setup;
#ifdef CRASH_INIT
    return *nowhere;
#endif
#ifdef STAYS_INIT
    stay();
#endif
    return true;
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct state *s = state;
    (void)core, (void)e;
    s->issued++;
#ifdef CRASH_ISSUED
    if (s->issued > 20)
        *nowhere = 1;
#endif
#ifdef STAYS_ISSUED
    if (s->issued > 20)
        stay();
#endif
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    (void)state, (void)core, (void)warp;
#ifdef CRASH_PROBE
    abort();
#endif
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct state *s = state;
    (void)s, (void)core, (void)candidates;
#ifdef NEVER_PICKS
    return HEDDLE_NO_WARP;
#elif defined NEVER_PICKS_LATER
    return s->issued > 100 ? HEDDLE_NO_WARP : __builtin_ctzll(candidates);
#elif defined PICKS_READY_ONLY
    return candidates & core->ready ? __builtin_ctzll(candidates & core->ready) : HEDDLE_NO_WARP;
#elif defined PICK
    return PICK;
#elif defined CRASH_PICK
    return *nowhere;
#elif defined CRASH_HELPER
    return (int)strlen((const char *)nowhere) + 1; /* a call that came last would leave no frame of pick */
#elif defined CRASH_DEEP
    volatile char room[4096];
    room[0] = (char)candidates;
    return pick(state, core, candidates + 1) + room[0];
#else
#ifdef STAYS_PICK
    if (s->issued > 100)
        stay();
#elif defined STAYS_ASLEEP
    for (;;)
        sleep(1000);
#elif defined SLOW
    take_a_millisecond();
#endif
    return __builtin_ctzll(candidates);
#endif
}

static bool write_results(const union heddle_value *values, const struct heddle_instruction_table *kernels,
                          uint32_t kernel_count, const char **why)
{
    (void)values, (void)kernels, (void)kernel_count, (void)why;
    stay();
    return true;
}

static uint64_t hold(void *state, const struct heddle_core *core)
{
    (void)state, (void)core;
    return UINT64_MAX;
}

static uint64_t steady_until(void *state, const struct heddle_core *core)
{
    (void)state, (void)core;
    return UINT64_MAX;
}

static int victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free,
                  const struct heddle_l1_access *access)
{
    (void)state, (void)core, (void)set, (void)ways, (void)free, (void)access;
#ifdef CRASH_VICTIM
    return *nowhere;
#else
    return -1;
#endif
}

static void services(void *state, const struct heddle_divergence_services *given)
{
    ((struct state *)state)->services = given;
}

static void block_start(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                        uint32_t warp_count, const uint32_t *lanes)
{
    const struct heddle_divergence_services *s = ((struct state *)state)->services;
    (void)core, (void)block;
    for (uint32_t i = 0; i < warp_count; i++) {
        struct heddle_piece piece = {.home = i, .mask = lanes[i]};
        s->regroup(s->context, first_warp + i, &piece, 1, 0, HEDDLE_NO_PC, 0);
    }
}

static enum heddle_branch_answer split(void *state, const struct heddle_core *core, const struct heddle_branch *e,
                                       const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    (void)state, (void)core, (void)e, (void)pieces, (void)taken, (void)count;
    return HEDDLE_PARK;
}

static void arrived(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    (void)state, (void)core, (void)warp, (void)pc;
}

static void exited(void *state, const struct heddle_core *core, uint32_t warp, const struct heddle_piece *pieces,
                   uint32_t count)
{
    (void)state, (void)core, (void)warp, (void)pieces, (void)count;
}

#define POLICY                                                                                               \
    {                                                                                                        \
        .abi = HEDDLE_POLICY_ABI, .name = "wrong", .help = "for tests", .state_bytes = sizeof(struct state), \
        .init = init, .on = {                                                                                \
            .issued = issued,                                                                                \
            .launched = launched                                                                             \
        }                                                                                                    \
    }

const struct heddle_scheduler wrong = {
    .policy = POLICY,
    .pick = pick,
#if defined HOLDS || defined HOLDS_STEADY
    .hold = hold,
#endif
#ifdef HOLDS_LOADS
    .hold_loads = hold,
#endif
#ifdef HOLDS_STEADY
    .steady_until = steady_until,
#endif
};
const struct heddle_l1 wrong_l1 = {.policy = POLICY, .victim = victim};
const struct heddle_divergence wrong_unit = {.policy = POLICY,
                                             .regroups = true,
                                             .keeps_homes = true,
                                             .services = services,
                                             .block_start = block_start,
                                             .split = split,
                                             .arrived = arrived,
                                             .exited = exited};
const struct heddle_probe wrong_probe = {
    .policy = POLICY,
#ifdef STAYS_PROBE
    .write = write_results,
#endif
};

#if defined NO_WAY || defined CRASH_VICTIM
HEDDLE_EXPORT_L1(wrong_l1);
#elif defined PARKS
HEDDLE_EXPORT_DIVERGENCE(wrong_unit);
#elif defined CRASH_PROBE || defined STAYS_PROBE
HEDDLE_EXPORT_PROBE(wrong_probe);
#else
HEDDLE_EXPORT_SCHEDULER(wrong);
#endif
