/* Thread block compaction (Fung and Aamodt, HPCA 2011), as a shared object: one stack of paths a block. A conditional
 * branch is a barrier of the block's warps; when all have come, the threads of each side are put together into as few
 * warps as their lanes allow, and where the sides meet the warps are formed anew. Written against
 * include/heddle/policy.h alone.
 *
 * With lanes=balanced threads sit in other lanes than their numbers say (SIMD lane permutation, Rhu and Erez, ISCA
 * 2013), so that more of them fit together. With scope=warp every warp is a team of its own, which is the usual
 * post-dominator stack done by a unit. A branch marked .uni is waited at as well: the mark promises that a home warp
 * agrees, not that a warp of mixed threads does. Threads wait at a branch for results that are outstanding in the warps
 * that they came from (the core sees to that). */
#include "heddle/policy.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 32, HOMES = 32 };
enum { SCOPE_BLOCK, SCOPE_WARP };
enum { LANES_HOME, LANES_BALANCED };
enum { COUNT_PATHS, COUNT_COMPACTED, COUNT_BEFORE, COUNT_AFTER };

struct path {
    uint32_t pc, stop, mask[HOMES];
};

/* Warps that share a stack: those of a block, or just one. */
struct team {
    struct path *stack;
    uint32_t depth;
    uint32_t first_slot, first_home, homes;
    uint32_t formed, come; /* warps of the path at the top; those that are at its end, or at a branch */
    bool at_branch;
    struct heddle_branch branch; /* of one of them: pc, target, reconvergence */
    uint32_t taken[HOMES], not_taken[HOMES];
};

struct unit {
    struct heddle_divergence_services services;
    uint64_t *counters;
    int64_t scope;
    uint32_t permutation[HOMES];     /* of each home warp: physical lane = logical lane xor this */
    uint32_t slots, capacity;        /* entries of a stack */
    struct path *paths;              /* of all stacks */
    struct team teams[HEDDLE_WARPS]; /* by their first slot */
    uint8_t team_of[HEDDLE_WARPS];
    uint32_t threads[HEDDLE_WARPS]; /* in the slot */
};

static bool is_empty(const uint32_t mask[HOMES])
{
    uint32_t any = 0;
    for (uint32_t home = 0; home < HOMES; home++)
        any |= mask[home];
    return !any;
}

/* The threads of warp number k of a path: each lane takes its k-th thread, lowest home first. */
static uint32_t compacted(const struct unit *u, const uint32_t mask[HOMES], uint32_t k, uint32_t out[HOMES])
{
    uint32_t threads = 0;
    memset(out, 0, HOMES * sizeof *out);
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t home = 0, n = 0; home < HOMES; home++) {
            uint32_t logical = lane ^ u->permutation[home];
            if ((mask[home] >> logical & 1) && n++ == k) {
                out[home] |= 1u << logical;
                threads++;
            }
        }
    return threads;
}

static uint32_t count_compacted(const struct unit *u, const uint32_t mask[HOMES])
{
    uint32_t most = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t n = 0;
        for (uint32_t home = 0; home < HOMES; home++)
            n += mask[home] >> (lane ^ u->permutation[home]) & 1;
        most = n > most ? n : most;
    }
    return most;
}

static uint32_t count_homes(const uint32_t mask[HOMES])
{
    uint32_t n = 0;
    for (uint32_t home = 0; home < HOMES; home++)
        n += mask[home] != 0;
    return n;
}

/* Warps for the path at the top, one per cycle. */
static void form(struct unit *u, struct team *t, const struct heddle_core *core)
{
    const struct path *top = &t->stack[t->depth - 1];
    t->formed = count_compacted(u, top->mask);
    t->come = 0;
    t->at_branch = false;
    memset(t->taken, 0, sizeof t->taken);
    memset(t->not_taken, 0, sizeof t->not_taken);
    for (uint32_t k = 0; k < t->formed; k++) {
        struct heddle_piece pieces[HEDDLE_PIECES];
        uint32_t out[HOMES], count = 0;
        u->threads[t->first_slot + k] = compacted(u, top->mask, k, out);
        for (uint32_t home = 0; home < HOMES; home++)
            if (out[home])
                pieces[count++] = (struct heddle_piece){home, out[home]};
        u->services.regroup(u->services.context, t->first_slot + k, pieces, count, top->pc, top->stop, core->cycle + k);
    }
}

/* Drops paths that have ended and starts the one below. */
static void settle(struct unit *u, struct team *t, const struct heddle_core *core)
{
    while (t->depth &&
           (t->stack[t->depth - 1].pc == t->stack[t->depth - 1].stop || is_empty(t->stack[t->depth - 1].mask)))
        t->depth--;
    if (t->depth)
        form(u, t, core);
}

static void count_path(struct unit *u, const uint32_t mask[HOMES])
{
    uint32_t before = count_homes(mask), after = count_compacted(u, mask);
    u->counters[COUNT_PATHS]++;
    u->counters[COUNT_COMPACTED] += after < before;
    u->counters[COUNT_BEFORE] += before;
    u->counters[COUNT_AFTER] += after;
}

static void push(struct team *t, uint32_t pc, uint32_t stop, const uint32_t mask[HOMES])
{
    struct path *p = &t->stack[t->depth++];
    p->pc = pc;
    p->stop = stop;
    memcpy(p->mask, mask, sizeof p->mask);
}

static void resolve(struct unit *u, struct team *t, const struct heddle_core *core)
{
    struct path *top = &t->stack[t->depth - 1];
    uint32_t meet = t->branch.reconvergence, taken_pc = t->branch.target, other_pc = t->branch.fall_through;
    if (is_empty(t->taken) || is_empty(t->not_taken)) {
        top->pc = is_empty(t->taken) ? other_pc : taken_pc;
        settle(u, t, core);
        return;
    }
    count_path(u, t->taken);
    count_path(u, t->not_taken);
    if (meet == top->stop || meet == HEDDLE_NO_PC) { /* the path below waits there already */
        meet = top->stop;
        t->depth--;
    } else {
        top->pc = meet;
    }
    if (other_pc != meet)
        push(t, other_pc, meet, t->not_taken);
    if (taken_pc != meet)
        push(t, taken_pc, meet, t->taken);
    settle(u, t, core);
}

/* One more warp of the path is where it ends or parts. */
static void one_came(struct unit *u, struct team *t, const struct heddle_core *core)
{
    if (++t->come < t->formed)
        return;
    if (t->at_branch) {
        resolve(u, t, core);
    } else {
        t->depth--;
        settle(u, t, core);
    }
}

static enum heddle_branch_answer split(void *state, const struct heddle_core *core, const struct heddle_branch *e,
                                       const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    struct unit *u = state;
    struct team *t = &u->teams[u->team_of[e->warp]];
    if (u->scope == SCOPE_WARP && (!e->taken || !e->not_taken))
        return HEDDLE_STACK;
    t->at_branch = true;
    t->branch = *e;
    for (uint32_t i = 0; i < count; i++) {
        t->taken[pieces[i].home] |= taken[i];
        t->not_taken[pieces[i].home] |= pieces[i].mask & ~taken[i];
    }
    one_came(u, t, core);
    return HEDDLE_PARK;
}

static void arrived(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    struct unit *u = state;
    (void)pc;
    one_came(u, &u->teams[u->team_of[warp]], core);
}

static void exited(void *state, const struct heddle_core *core, uint32_t warp, const struct heddle_piece *pieces,
                   uint32_t count)
{
    struct unit *u = state;
    struct team *t = &u->teams[u->team_of[warp]];
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < t->depth; k++)
            t->stack[k].mask[pieces[i].home] &= ~pieces[i].mask;
        u->threads[warp] -= (uint32_t)__builtin_popcount(pieces[i].mask);
    }
    if (!u->threads[warp])
        one_came(u, t, core);
}

static void start_team(struct unit *u, const struct heddle_core *core, uint32_t first_slot, uint32_t first_home,
                       uint32_t homes, const uint32_t *lanes)
{
    struct team *t = &u->teams[first_slot];
    uint32_t mask[HOMES] = {0};
    *t = (struct team){.stack = u->paths + (size_t)first_slot * u->capacity,
                       .first_slot = first_slot,
                       .first_home = first_home,
                       .homes = homes};
    for (uint32_t i = 0; i < homes; i++) {
        mask[first_home + i] = lanes[first_home + i];
        u->team_of[first_slot + i] = (uint8_t)first_slot;
    }
    push(t, 0, HEDDLE_NO_PC, mask);
    form(u, t, core);
}

static void block_start(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                        uint32_t warp_count, const uint32_t *lanes)
{
    struct unit *u = state;
    (void)block;
    if (u->scope == SCOPE_BLOCK)
        start_team(u, core, first_warp, 0, warp_count, lanes);
    else
        for (uint32_t i = 0; i < warp_count; i++)
            start_team(u, core, first_warp + i, i, 1, lanes);
}

/* A branch leaves at most two paths more than it found, and none is there twice. */
static void kernel(void *state, const struct heddle_core *core)
{
    struct unit *u = state;
    u->capacity = 4;
    for (uint32_t i = 0; i < core->program->instruction_count; i++)
        u->capacity += 2 * ((core->program->instructions[i].flags & HEDDLE_BRANCH) != 0);
    free(u->paths);
    u->paths = malloc((size_t)u->capacity * u->slots * sizeof *u->paths);
    if (!u->paths)
        abort();
}

static void services(void *state, const struct heddle_divergence_services *given)
{
    ((struct unit *)state)->services = *given;
}

static bool init(void *state, const struct heddle_setup *setup)
{
    struct unit *u = state;
    u->counters = setup->counters;
    u->scope = setup->values[0].integer;
    u->slots = setup->core->warp_slots;
    for (uint32_t w = 0; w < HOMES && setup->values[1].integer == LANES_BALANCED; w++)
        u->permutation[w] = w % 2 ? (LANES - 1) ^ ((w - 1) / 2) : w / 2;
    return true;
}

static uint32_t lane(void *state, uint32_t home, uint32_t logical_lane)
{
    return logical_lane ^ ((const struct unit *)state)->permutation[home];
}

static void finish(void *state) { free(((struct unit *)state)->paths); }

static const char *const scopes[] = {"block", "warp", NULL}, *const lane_orders[] = {"home", "balanced", NULL};
static const struct heddle_param params[] = {
    {.name = "scope",
     .type = HEDDLE_CHOICE,
     .default_value = "block",
     .help = "whose threads share a stack",
     .choices = scopes},
    {.name = "lanes",
     .type = HEDDLE_CHOICE,
     .default_value = "home",
     .help = "which lane a thread sits in",
     .choices = lane_orders},
    {0},
};
static const struct heddle_counter counters[] = {
    [COUNT_PATHS] = {.name = "paths", .unit = "paths", .help = "sides of branches at which threads of a block parted"},
    [COUNT_COMPACTED] = {.name = "compacted",
                         .unit = "paths",
                         .help = "of these, executed by fewer warps than have threads in them"},
    [COUNT_BEFORE] = {.name = "warps_before",
                      .unit = "warps",
                      .help = "that have threads in a path, summed over the paths"},
    [COUNT_AFTER] = {.name = "warps_after",
                     .unit = "warps",
                     .help = "that were formed for a path, summed over the paths"},
    {0},
};

static const struct heddle_divergence compaction = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "compaction",
            .help = "thread block compaction: one stack a block, warps formed anew where its threads part and meet "
                    "(Fung and Aamodt, HPCA 2011)",
            .params = params,
            .counters = counters,
            .state_bytes = sizeof(struct unit),
            .init = init,
            .finish = finish,
            .on = {.kernel = kernel},
        },
    .regroups = true,
    .services = services,
    .block_start = block_start,
    .split = split,
    .arrived = arrived,
    .exited = exited,
    .lane = lane,
};

#ifndef COMPACTION_INCLUDED
HEDDLE_EXPORT_DIVERGENCE(compaction);
#endif
