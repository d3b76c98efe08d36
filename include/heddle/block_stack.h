/* One stack of paths for all warps of a block (thread block compaction, Fung and Aamodt, HPCA 2011), for divergence
 * units. Warps that come to a branch wait for the others of their path; when all have come, the threads of each side
 * are put together into as few warps as their lanes allow (heddle/compaction.h), and where the sides meet warps are
 * formed again. Forming takes a cycle per warp.
 *
 *   init:        heddle_block_stacks_make, with the values of HEDDLE_PERMUTATION_PARAM and HEDDLE_UNPERMUTED_PARAM
 *   finish:      heddle_block_stacks_free
 *   on.kernel:   heddle_block_stacks_kernel
 *   services, block_start, arrived, exited, lane: the functions of the same name
 *   split:       heddle_block_stacks_wait, which answers HEDDLE_PARK */
#ifndef HEDDLE_BLOCK_STACK_H
#define HEDDLE_BLOCK_STACK_H

#include "heddle/compaction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_block_path {
    uint32_t pc, stop;
    uint32_t mask[HEDDLE_HOMES]; /* threads, by home warp */
};

struct heddle_block_stack {
    struct heddle_block_path *paths; /* the last one runs */
    uint32_t depth;
    uint32_t first_slot, homes;
    uint32_t formed, come; /* warps of the path that runs; those at its end, or at a branch */
    uint64_t formations;   /* how often warps were formed */
    bool at_branch;
    struct heddle_branch branch; /* of one of them */
    uint32_t taken[HEDDLE_HOMES], not_taken[HEDDLE_HOMES];
};

/* A unit's parameter beside HEDDLE_PERMUTATION_PARAM: the control bit by which a programmer turns SIMD lane permutation
 * off for one kernel (Rhu and Erez, ISCA 2013, sections 4.1 and 4.4). */
/* clang-format off */
#define HEDDLE_UNPERMUTED_PARAM                                                                                        \
    {.name = "unpermuted", .type = HEDDLE_TEXT, .default_value = "",                                                   \
     .help = "name of a kernel whose threads keep their lanes, whatever the permutation; empty: none"}
/* clang-format on */

/* Counters of a unit, in this order in its table. */
enum {
    HEDDLE_COUNT_PATHS,
    HEDDLE_COUNT_COMPACTED,
    HEDDLE_COUNT_WARPS_APART,
    HEDDLE_COUNT_WARPS_FORMED,
    HEDDLE_COUNT_WARPS_IDEAL,
    HEDDLE_BLOCK_STACK_COUNTERS
};
/* clang-format off */
#define HEDDLE_BLOCK_STACK_COUNTER_TABLE                                                                               \
    [HEDDLE_COUNT_PATHS] = {.name = "paths", .unit = "paths",                                                          \
                            .help = "sides of branches at which the threads of a block parted"},                      \
    [HEDDLE_COUNT_COMPACTED] = {.name = "compacted", .unit = "paths",                                                  \
                                .help = "of these, run by fewer warps than have threads in them"},                     \
    [HEDDLE_COUNT_WARPS_APART] = {.name = "warps_apart", .unit = "warps",                                              \
                                  .help = "that have threads in a path, summed over the paths"},                      \
    [HEDDLE_COUNT_WARPS_FORMED] = {.name = "warps_formed", .unit = "warps",                                            \
                                   .help = "that their threads need in their lanes, summed over the paths"},          \
    [HEDDLE_COUNT_WARPS_IDEAL] = {.name = "warps_ideal", .unit = "warps",                                              \
                                  .help = "that they would need in any lanes, summed over the paths"}
/* clang-format on */

struct heddle_block_stacks {
    struct heddle_divergence_services services;
    uint64_t *counters;
    enum heddle_permutation permutation;
    const char *unpermuted;                        /* name of a kernel; NULL or empty: none */
    struct heddle_lanes lanes;                     /* of the kernel that runs */
    uint32_t slots, capacity;                      /* paths of a stack */
    struct heddle_block_path *paths;               /* of all stacks */
    struct heddle_block_stack stack[HEDDLE_WARPS]; /* by their first slot */
    uint8_t stack_of[HEDDLE_WARPS];                /* by slot */
    uint32_t threads[HEDDLE_WARPS];                /* in the slot */
};

static inline void heddle_block_stacks_make(struct heddle_block_stacks *b, const struct heddle_setup *setup,
                                            const union heddle_value *permutation, const union heddle_value *unpermuted)
{
    b->counters = setup->counters;
    b->slots = setup->core->warp_slots;
    b->permutation = (enum heddle_permutation)permutation->integer;
    b->unpermuted = unpermuted->text;
}

static inline void heddle_block_stacks_free(struct heddle_block_stacks *b) { free(b->paths); }

/* A branch leaves at most two paths more than it found, and none is there twice. */
static inline void heddle_block_stacks_kernel(struct heddle_block_stacks *b, const struct heddle_core *core)
{
    bool keeps_lanes = b->unpermuted && strcmp(core->program->kernel, b->unpermuted) == 0;
    heddle_lanes_make(&b->lanes, keeps_lanes ? HEDDLE_PERMUTE_NONE : b->permutation);
    b->capacity = 4;
    for (uint32_t i = 0; i < core->program->instruction_count; i++)
        b->capacity += 2 * ((core->program->instructions[i].flags & HEDDLE_BRANCH) != 0);
    free(b->paths);
    b->paths = (struct heddle_block_path *)malloc((size_t)b->capacity * b->slots * sizeof *b->paths);
    if (!b->paths) {
        fputs("heddle: out of host memory\n", stderr);
        _Exit(1);
    }
}

static inline bool heddle_block_mask_is_empty(const uint32_t mask[HEDDLE_HOMES])
{
    uint32_t any = 0;
    for (uint32_t home = 0; home < HEDDLE_HOMES; home++)
        any |= mask[home];
    return !any;
}

/* The next warp: each lane takes its first thread that is left, the lowest home warp first. left: physical lanes. */
static inline uint32_t heddle_block_stacks_next_warp(const struct heddle_block_stacks *b, uint32_t homes,
                                                     uint32_t left[HEDDLE_HOMES],
                                                     struct heddle_piece pieces[HEDDLE_PIECES], uint32_t *threads)
{
    uint32_t used = 0, count = 0;
    for (uint32_t home = 0; home < homes; home++) {
        uint32_t mine = left[home] & ~used;
        used |= mine;
        left[home] &= ~mine;
        if (mine) {
            const struct heddle_piece piece = {home, heddle_lanes_logical(&b->lanes, home, mine)};
            pieces[count++] = piece;
        }
    }
    *threads = (uint32_t)__builtin_popcount(used);
    return count;
}

/* Warps for the path at the top, one per cycle. */
static inline void heddle_block_stack_form(struct heddle_block_stacks *b, struct heddle_block_stack *s,
                                           const struct heddle_core *core)
{
    const struct heddle_block_path *top = &s->paths[s->depth - 1];
    uint32_t left[HEDDLE_HOMES];
    for (uint32_t home = 0; home < s->homes; home++)
        left[home] = heddle_lanes_physical(&b->lanes, home, top->mask[home]);
    s->formed = heddle_warps_compacted(&b->lanes, top->mask, s->homes);
    s->come = 0;
    s->formations++;
    s->at_branch = false;
    memset(s->taken, 0, sizeof s->taken);
    memset(s->not_taken, 0, sizeof s->not_taken);
    for (uint32_t k = 0; k < s->formed; k++) {
        struct heddle_piece pieces[HEDDLE_PIECES];
        uint32_t slot = s->first_slot + k;
        uint32_t count = heddle_block_stacks_next_warp(b, s->homes, left, pieces, &b->threads[slot]);
        b->services.regroup(b->services.context, slot, pieces, count, top->pc, top->stop, core->cycle + k);
    }
}

/* Drops paths that have ended and starts the one below. */
static inline void heddle_block_stack_settle(struct heddle_block_stacks *b, struct heddle_block_stack *s,
                                             const struct heddle_core *core)
{
    while (s->depth && (s->paths[s->depth - 1].pc == s->paths[s->depth - 1].stop ||
                        heddle_block_mask_is_empty(s->paths[s->depth - 1].mask)))
        s->depth--;
    if (s->depth)
        heddle_block_stack_form(b, s, core);
}

static inline void heddle_block_stacks_count(struct heddle_block_stacks *b, const uint32_t *mask, uint32_t homes)
{
    uint32_t apart = heddle_warps_apart(mask, homes), formed = heddle_warps_compacted(&b->lanes, mask, homes);
    b->counters[HEDDLE_COUNT_PATHS]++;
    b->counters[HEDDLE_COUNT_COMPACTED] += formed < apart;
    b->counters[HEDDLE_COUNT_WARPS_APART] += apart;
    b->counters[HEDDLE_COUNT_WARPS_FORMED] += formed;
    b->counters[HEDDLE_COUNT_WARPS_IDEAL] += heddle_warps_ideal(mask, homes);
}

static inline void heddle_block_stack_push(struct heddle_block_stack *s, uint32_t pc, uint32_t stop,
                                           const uint32_t mask[HEDDLE_HOMES])
{
    struct heddle_block_path *p = &s->paths[s->depth++];
    p->pc = pc;
    p->stop = stop;
    memcpy(p->mask, mask, sizeof p->mask);
}

/* All warps of the path are at the branch. */
static inline void heddle_block_stack_part(struct heddle_block_stacks *b, struct heddle_block_stack *s,
                                           const struct heddle_core *core)
{
    struct heddle_block_path *top = &s->paths[s->depth - 1];
    uint32_t meet = s->branch.reconvergence;
    if (heddle_block_mask_is_empty(s->taken) || heddle_block_mask_is_empty(s->not_taken)) {
        top->pc = heddle_block_mask_is_empty(s->taken) ? s->branch.fall_through : s->branch.target;
        heddle_block_stack_settle(b, s, core);
        return;
    }
    heddle_block_stacks_count(b, s->taken, s->homes);
    heddle_block_stacks_count(b, s->not_taken, s->homes);
    if (meet == top->stop || meet == HEDDLE_NO_PC) { /* the path below waits there already */
        meet = top->stop;
        s->depth--;
    } else {
        top->pc = meet;
    }
    if (s->branch.fall_through != meet)
        heddle_block_stack_push(s, s->branch.fall_through, meet, s->not_taken);
    if (s->branch.target != meet)
        heddle_block_stack_push(s, s->branch.target, meet, s->taken);
    heddle_block_stack_settle(b, s, core);
}

/* One more warp of the path is where it ends or parts. */
static inline void heddle_block_stack_one_came(struct heddle_block_stacks *b, struct heddle_block_stack *s,
                                               const struct heddle_core *core)
{
    if (++s->come < s->formed)
        return;
    if (s->at_branch) {
        heddle_block_stack_part(b, s, core);
    } else {
        s->depth--;
        heddle_block_stack_settle(b, s, core);
    }
}

static inline struct heddle_block_stack *heddle_block_stack_of(struct heddle_block_stacks *b, uint32_t slot)
{
    return &b->stack[b->stack_of[slot]];
}

static inline enum heddle_branch_answer
heddle_block_stacks_wait(struct heddle_block_stacks *b, const struct heddle_core *core, const struct heddle_branch *e,
                         const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    struct heddle_block_stack *s = heddle_block_stack_of(b, e->warp);
    s->at_branch = true;
    s->branch = *e;
    for (uint32_t i = 0; i < count; i++) {
        s->taken[pieces[i].home] |= taken[i];
        s->not_taken[pieces[i].home] |= pieces[i].mask & ~taken[i];
    }
    heddle_block_stack_one_came(b, s, core);
    return HEDDLE_PARK;
}

static inline void heddle_block_stacks_arrived(struct heddle_block_stacks *b, const struct heddle_core *core,
                                               uint32_t warp)
{
    heddle_block_stack_one_came(b, heddle_block_stack_of(b, warp), core);
}

static inline void heddle_block_stacks_exited(struct heddle_block_stacks *b, const struct heddle_core *core,
                                              uint32_t warp, const struct heddle_piece *pieces, uint32_t count)
{
    struct heddle_block_stack *s = heddle_block_stack_of(b, warp);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < s->depth; k++)
            s->paths[k].mask[pieces[i].home] &= ~pieces[i].mask;
        b->threads[warp] -= (uint32_t)__builtin_popcount(pieces[i].mask);
    }
    if (!b->threads[warp])
        heddle_block_stack_one_came(b, s, core);
}

static inline void heddle_block_stacks_block_start(struct heddle_block_stacks *b, const struct heddle_core *core,
                                                   uint32_t first_warp, uint32_t warp_count, const uint32_t *lanes)
{
    struct heddle_block_stack *s = &b->stack[first_warp];
    uint32_t mask[HEDDLE_HOMES] = {0};
    memset(s, 0, sizeof *s);
    s->paths = b->paths + (size_t)first_warp * b->capacity;
    s->first_slot = first_warp;
    s->homes = warp_count;
    for (uint32_t i = 0; i < warp_count; i++) {
        mask[i] = lanes[i];
        b->stack_of[first_warp + i] = (uint8_t)first_warp;
    }
    heddle_block_stack_push(s, 0, HEDDLE_NO_PC, mask);
    heddle_block_stack_form(b, s, core);
}

#ifdef __cplusplus
}
#endif

#endif
