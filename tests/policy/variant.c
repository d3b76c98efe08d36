/* A scheduler for tests of shared objects: right as it stands, and wrong in one way with one of these defined:
 *   ENTRY_ABI=n, POLICY_ABI=n   made for another version of the interface       NO_ENTRY       without its symbol
 *   NO_PICK, NO_NAME            incomplete                                      EMPTY_ENTRY    a symbol that names
 * nothing BAD_DEFAULT                 a parameter whose default is no value           AS_L1          an L1 policy
 *   BAD_PICK                    picks a warp that is not a candidate            REFUSES        init says no
 *   MISSING_SYMBOL              calls a function that is nowhere                BAD_VICTIM     an L1 policy that takes
 * a way that it may not */
#include "heddle/policy.h"

#ifndef ENTRY_ABI
#define ENTRY_ABI HEDDLE_POLICY_ABI
#endif
#ifndef POLICY_ABI
#define POLICY_ABI HEDDLE_POLICY_ABI
#endif
#ifdef NO_NAME
#define NAME NULL
#else
#define NAME "variant"
#endif
#ifdef BAD_DEFAULT
#define SHARE "half"
#else
#define SHARE "0.6"
#endif

#ifdef MISSING_SYMBOL
extern int heddle_nowhere(void);
#endif

static bool init(void *state, const struct heddle_setup *setup)
{
    (void)state, (void)setup;
#ifdef MISSING_SYMBOL
    return heddle_nowhere();
#elif defined REFUSES
    return false;
#else
    return true;
#endif
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    (void)state, (void)core;
#ifdef BAD_PICK
    return ~candidates ? __builtin_ctzll(~candidates) : 64;
#else
    return __builtin_ctzll(candidates);
#endif
}

static const char *const colours[] = {"red", "green", NULL};
static const struct heddle_param params[] = {
    {.name = "limit", .type = HEDDLE_INTEGER, .default_value = "4", .help = "a whole number", .least = 1, .most = 64},
    {.name = "share", .type = HEDDLE_REAL, .default_value = SHARE, .help = "a number", .least = 0, .most = 1},
    {.name = "colour", .type = HEDDLE_CHOICE, .default_value = "green", .help = "one of a few", .choices = colours},
    {.name = "loud", .type = HEDDLE_FLAG, .default_value = "off", .help = "yes or no"},
    {.name = "file", .type = HEDDLE_TEXT, .default_value = "", .help = "a file's name"},
    {0},
};
static const struct heddle_counter counters[] = {{.name = "visits", .unit = "count", .help = "nothing counts them"},
                                                 {0}};

#define POLICY                                                                                    \
    {                                                                                             \
        .abi = POLICY_ABI, .name = NAME, .help = "for tests of shared objects", .params = params, \
        .counters = counters, .init = init                                                        \
    }

const struct heddle_scheduler variant = {
    .policy = POLICY,
#ifndef NO_PICK
    .pick = pick,
#endif
};

#ifdef BAD_VICTIM
static int victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free,
                  const struct heddle_l1_access *access)
{
    (void)state, (void)core, (void)set, (void)access;
    return ways | free ? 1000 : -1;
}
#define VICTIM victim
#else
#define VICTIM NULL
#endif
const struct heddle_l1 variant_l1 = {.policy = POLICY, .victim = VICTIM};

#ifndef NO_ENTRY
const struct heddle_policy_entry heddle_policy_entry = {
    .abi = ENTRY_ABI,
#if defined AS_L1 || defined BAD_VICTIM
    .l1 = &variant_l1,
#elif !defined EMPTY_ENTRY
    .scheduler = &variant,
#endif
};
#endif
