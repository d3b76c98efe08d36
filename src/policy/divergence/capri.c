/* CAPRI (Rhu and Erez, ISCA 2012): thread block compaction that waits at a branch only where compaction has paid off.
 * A table remembers, for each branch at which a warp has parted, whether a path of it needed fewer warps compacted than
 * apart the last time. If it did, a warp waits for the others of its path; if not, it goes on with a stack of its own
 * until its lanes meet, and while they are apart it waits nowhere. At a branch that is not in the table a warp waits if
 * it parts there. The first warp of a path to come decides for the others, whatever the table learns meanwhile; and
 * none waits for a warp that has parted at a branch around this one, and would come in parts, or not at all.
 *
 * When all warps of a path wait at the same branch they form new warps. When all have stopped, but not there
 * (some are past their path's end, at a barrier, at another branch), those that wait do so in vain: they are sent on,
 * by executing the branch again, and the table learns. Masks of branches that are passed by are collected too, so that
 * it goes on learning; a warp that comes again before all have come, in a loop, ends a collection with those there. */
#include "heddle/block_stack.h"

enum { P_PERMUTATION, P_UNPERMUTED, P_ENTRIES, ENTRIES_MOST = 256, COLLECTIONS = 16 };
enum { C_WAITS = HEDDLE_BLOCK_STACK_COUNTERS, C_IN_VAIN, C_PASSED, C_RIGHT, C_WRONG };

struct entry {
    uint32_t pc;
    bool valid, adequate;
    uint64_t used;
};

/* A branch that the warps of the path pass by, and the sides on which they went. */
struct collection {
    uint32_t pc;
    uint32_t came;
    bool parted; /* a warp of them */
    uint64_t slots;
    uint32_t taken[HEDDLE_HOMES], not_taken[HEDDLE_HOMES];
};

struct block {
    uint64_t formations; /* of the path that all this is of */
    uint32_t count;
    struct collection list[COLLECTIONS];
    uint64_t waiting; /* slots at a branch */
    uint32_t arrived; /* warps at the path's end */
};

/* A warp that waits, and what it would do. */
struct waiter {
    struct heddle_branch branch;
    struct heddle_piece pieces[HEDDLE_PIECES];
    uint32_t taken[HEDDLE_PIECES], count;
    bool parts;
};

/* The code between a branch and the point where its paths meet, as compilers lay it out. */
struct region {
    uint32_t first, end;
};

struct capri {
    struct heddle_block_stacks blocks;
    uint64_t *counters;
    uint32_t entry_count;
    uint64_t clock;
    struct entry table[ENTRIES_MOST];
    struct block block[HEDDLE_WARPS];   /* by first slot */
    struct waiter waiter[HEDDLE_WARPS]; /* by slot */
    struct region apart[HEDDLE_WARPS];  /* by slot: where its lanes are apart; empty: they are not */
    uint64_t sent_on, at_barrier;       /* slots: are to pass by the branch that they execute again; at a barrier */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct capri *s = state;
    heddle_block_stacks_make(&s->blocks, setup, &setup->values[P_PERMUTATION], &setup->values[P_UNPERMUTED]);
    s->counters = setup->counters;
    s->entry_count = (uint32_t)setup->values[P_ENTRIES].integer;
    return true;
}

static void finish(void *state) { heddle_block_stacks_free(&((struct capri *)state)->blocks); }

static void kernel(void *state, const struct heddle_core *core)
{
    struct capri *s = state;
    heddle_block_stacks_kernel(&s->blocks, core);
    memset(s->table, 0, sizeof s->table); /* other branches have the same numbers */
    s->sent_on = s->at_barrier = 0;
}

/* The table */

static struct entry *find(struct capri *s, uint32_t pc)
{
    for (uint32_t i = 0; i < s->entry_count; i++)
        if (s->table[i].valid && s->table[i].pc == pc)
            return &s->table[i];
    return NULL;
}

/* Whether it pays to wait at a branch. The first guess is that it does if a warp parts there. */
static bool is_adequate(struct capri *s, uint32_t pc, bool parts)
{
    struct entry *e = find(s, pc);
    if (e)
        e->used = ++s->clock;
    return e ? e->adequate : parts;
}

/* A branch at which no warp has ever parted needs no entry. */
static void learn(struct capri *s, uint32_t pc, bool waited, bool adequate, bool parted)
{
    struct entry *e = find(s, pc);
    s->counters[waited == adequate ? C_RIGHT : C_WRONG]++;
    if (!e && !parted)
        return;
    for (uint32_t i = 0; !e && i < s->entry_count; i++)
        if (!s->table[i].valid)
            e = &s->table[i];
    if (!e) {
        e = &s->table[0];
        for (uint32_t i = 1; i < s->entry_count; i++)
            e = s->table[i].used < e->used ? &s->table[i] : e;
    }
    *e = (struct entry){.pc = pc, .valid = true, .adequate = adequate, .used = ++s->clock};
}

/* Did it pay, or would it have: does either side need fewer warps? */
static bool pays(const struct capri *s, const uint32_t *taken, const uint32_t *not_taken, uint32_t homes)
{
    if (heddle_block_mask_is_empty(taken) || heddle_block_mask_is_empty(not_taken))
        return false;
    const struct heddle_lanes *lanes = &s->blocks.lanes;
    return heddle_warps_compacted(lanes, taken, homes) < heddle_warps_apart(taken, homes) ||
           heddle_warps_compacted(lanes, not_taken, homes) < heddle_warps_apart(not_taken, homes);
}

/* Passing by */

static struct block *block_of(struct capri *s, const struct heddle_block_stack *stack)
{
    struct block *b = &s->block[stack->first_slot];
    if (b->formations != stack->formations) {
        b->formations = stack->formations;
        b->count = b->arrived = 0;
        b->waiting = 0;
        memset(&s->apart[stack->first_slot], 0, stack->homes * sizeof *s->apart);
    }
    return b;
}

static void close_collection(struct capri *s, struct collection *c, uint32_t homes)
{
    learn(s, c->pc, false, pays(s, c->taken, c->not_taken, homes), c->parted);
    *c = (struct collection){.pc = c->pc};
}

static struct collection *find_collection(struct block *b, uint32_t pc)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->list[i].pc == pc)
            return &b->list[i];
    return NULL;
}

static void collect(struct capri *s, const struct heddle_block_stack *stack, const struct heddle_branch *e,
                    const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count, bool parts)
{
    struct block *b = block_of(s, stack);
    uint64_t slot = UINT64_C(1) << e->warp;
    struct collection *c = find_collection(b, e->pc);
    if (!c && b->count == COLLECTIONS)
        return;
    if (!c) {
        c = &b->list[b->count++];
        *c = (struct collection){.pc = e->pc};
    }
    if (c->slots & slot)
        close_collection(s, c, stack->homes);
    c->slots |= slot;
    c->parted |= parts;
    for (uint32_t k = 0; k < count; k++) {
        c->taken[pieces[k].home] |= taken[k];
        c->not_taken[pieces[k].home] |= pieces[k].mask & ~taken[k];
    }
    if (++c->came == stack->formed)
        close_collection(s, c, stack->homes);
}

/* Waiting */

/* Whether all warps of the path are at the same branch; those that have ended are nowhere. */
static bool all_at_one_branch(const struct capri *s, const struct heddle_block_stack *stack, const struct block *b)
{
    uint32_t first = HEDDLE_NO_PC;
    for (uint64_t rest = b->waiting; rest; rest &= rest - 1) {
        uint32_t pc = s->waiter[__builtin_ctzll(rest)].branch.pc;
        if (first != HEDDLE_NO_PC && pc != first)
            return false;
        first = pc;
    }
    return !b->arrived && (uint32_t)__builtin_popcountll(b->waiting) + stack->come == stack->formed;
}

static void put_together(struct capri *s, const struct heddle_core *core, const struct heddle_block_stack *stack,
                         struct block *b)
{
    uint32_t taken[HEDDLE_HOMES] = {0}, not_taken[HEDDLE_HOMES] = {0};
    uint64_t all = b->waiting;
    bool parted = false;
    b->waiting = 0;
    for (uint64_t rest = all; rest; rest &= rest - 1) {
        const struct waiter *w = &s->waiter[__builtin_ctzll(rest)];
        parted |= w->parts;
        for (uint32_t i = 0; i < w->count; i++) {
            taken[w->pieces[i].home] |= w->taken[i];
            not_taken[w->pieces[i].home] |= w->pieces[i].mask & ~w->taken[i];
        }
    }
    learn(s, s->waiter[__builtin_ctzll(all)].branch.pc, true, pays(s, taken, not_taken, stack->homes), parted);
    for (uint64_t rest = all; rest; rest &= rest - 1) { /* the last of them parts the path */
        const struct waiter *w = &s->waiter[__builtin_ctzll(rest)];
        heddle_block_stacks_wait(&s->blocks, core, &w->branch, w->pieces, w->taken, w->count);
    }
}

static void send_on(struct capri *s, const struct heddle_core *core, const struct heddle_block_stack *stack,
                    struct block *b)
{
    const struct heddle_divergence_services *services = &s->blocks.services;
    uint32_t stop = stack->paths[stack->depth - 1].stop;
    uint64_t all = b->waiting;
    b->waiting = 0;
    for (uint64_t rest = all; rest; rest &= rest - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(rest);
        const struct waiter *w = &s->waiter[slot];
        s->sent_on |= UINT64_C(1) << slot;
        s->counters[C_IN_VAIN]++;
        learn(s, w->branch.pc, true, false, w->parts);
        services->regroup(services->context, slot, w->pieces, w->count, w->branch.pc, stop, core->cycle);
    }
}

/* A warp of the path has stopped. */
static void look(struct capri *s, const struct heddle_core *core, const struct heddle_block_stack *stack)
{
    struct block *b = block_of(s, stack);
    uint64_t slots = (UINT64_MAX >> (64 - stack->homes)) << stack->first_slot;
    uint64_t stopped = b->waiting | (s->at_barrier & slots);
    if (!b->waiting)
        return;
    if (all_at_one_branch(s, stack, b))
        put_together(s, core, stack, b);
    else if ((uint32_t)__builtin_popcountll(stopped) + stack->come == stack->formed)
        send_on(s, core, stack, b);
}

static bool does_part(const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    uint32_t goes = 0, stays = 0;
    for (uint32_t i = 0; i < count; i++) {
        goes |= taken[i];
        stays |= pieces[i].mask & ~taken[i];
    }
    return goes && stays;
}

static struct region region_of(const struct heddle_branch *e)
{
    return (struct region){e->target < e->pc ? e->target : e->pc, e->reconvergence};
}

static bool is_another_apart_here(const struct capri *s, const struct heddle_block_stack *stack,
                                  const struct heddle_branch *e)
{
    for (uint32_t slot = stack->first_slot; slot < stack->first_slot + stack->homes; slot++)
        if (slot != e->warp && e->pc >= s->apart[slot].first && e->pc < s->apart[slot].end)
            return true;
    return false;
}

/* Some of the path may have come before: they wait here, or they have passed by. */
static bool is_to_wait(struct capri *s, const struct heddle_block_stack *stack, struct block *b,
                       const struct heddle_branch *e, bool parts)
{
    for (uint64_t rest = b->waiting; rest; rest &= rest - 1)
        if (s->waiter[__builtin_ctzll(rest)].branch.pc == e->pc)
            return true;
    const struct collection *c = find_collection(b, e->pc);
    if (c && c->came && !(c->slots >> e->warp & 1))
        return false;
    return !is_another_apart_here(s, stack, e) && is_adequate(s, e->pc, parts);
}

static enum heddle_branch_answer split(void *state, const struct heddle_core *core, const struct heddle_branch *e,
                                       const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    struct capri *s = state;
    const struct heddle_block_stack *stack = heddle_block_stack_of(&s->blocks, e->warp);
    struct block *b = block_of(s, stack);
    uint64_t slot = UINT64_C(1) << e->warp;
    bool parts = does_part(pieces, taken, count);
    if (!e->apart)
        s->apart[e->warp] = (struct region){0, 0};
    if (e->apart || s->sent_on & slot || !is_to_wait(s, stack, b, e, parts)) {
        if (!e->apart && !(s->sent_on & slot))
            collect(s, stack, e, pieces, taken, count, parts);
        if (!e->apart && parts)
            s->apart[e->warp] = region_of(e);
        s->sent_on &= ~slot;
        s->counters[C_PASSED]++;
        return HEDDLE_STACK;
    }
    struct waiter *w = &s->waiter[e->warp];
    w->branch = *e;
    w->count = count;
    memcpy(w->pieces, pieces, count * sizeof *pieces);
    w->parts = parts;
    memcpy(w->taken, taken, count * sizeof *taken);
    b->waiting |= slot;
    s->counters[C_WAITS]++;
    look(s, core, stack);
    return HEDDLE_PARK;
}

static void arrived(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    struct capri *s = state;
    const struct heddle_block_stack *stack = heddle_block_stack_of(&s->blocks, warp);
    (void)pc;
    block_of(s, stack)->arrived++;
    s->apart[warp] = (struct region){0, 0};
    heddle_block_stacks_arrived(&s->blocks, core, warp);
    look(s, core, stack);
}

static void exited(void *state, const struct heddle_core *core, uint32_t warp, const struct heddle_piece *pieces,
                   uint32_t count)
{
    struct capri *s = state;
    const struct heddle_block_stack *stack = heddle_block_stack_of(&s->blocks, warp);
    heddle_block_stacks_exited(&s->blocks, core, warp, pieces, count);
    if (!s->blocks.threads[warp])
        s->apart[warp] = (struct region){0, 0};
    if (stack->depth)
        look(s, core, stack);
}

static void barrier_wait(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct capri *s = state;
    if (!s->blocks.threads[warp])
        return;
    s->at_barrier |= UINT64_C(1) << warp;
    look(s, core, heddle_block_stack_of(&s->blocks, warp));
}

static void barrier_pass(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct capri *s = state;
    (void)core;
    s->at_barrier &= ~(UINT64_C(1) << warp);
}

static void services(void *state, const struct heddle_divergence_services *given)
{
    ((struct capri *)state)->blocks.services = *given;
}

static void block_start(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                        uint32_t warp_count, const uint32_t *lanes)
{
    struct capri *s = state;
    (void)block;
    for (uint32_t i = 0; i < warp_count; i++) {
        s->sent_on &= ~(UINT64_C(1) << (first_warp + i));
        s->at_barrier &= ~(UINT64_C(1) << (first_warp + i));
    }
    s->block[first_warp] = (struct block){0};
    heddle_block_stacks_block_start(&s->blocks, core, first_warp, warp_count, lanes);
}

static uint32_t lane(void *state, uint32_t home, uint32_t logical_lane)
{
    const struct capri *s = state;
    return s->blocks.lanes.physical[home][logical_lane];
}

static const struct heddle_param params[] = {
    HEDDLE_PERMUTATION_PARAM,
    HEDDLE_UNPERMUTED_PARAM,
    {.name = "entries",
     .type = HEDDLE_INTEGER,
     .default_value = "32",
     .least = 1,
     .most = ENTRIES_MOST,
     .help = "branches that the table remembers, the least recently used gives way"},
    {0},
};

static const struct heddle_counter counters[] = {
    HEDDLE_BLOCK_STACK_COUNTER_TABLE,
    [C_WAITS] = {.name = "waits", .unit = "warps", .help = "that waited at a branch for the others of their path"},
    [C_IN_VAIN] = {.name = "in_vain", .unit = "warps", .help = "of these, sent on since the others had gone elsewhere"},
    [C_PASSED] = {.name = "passed", .unit = "warps", .help = "that passed by a branch with a stack of their own"},
    [C_RIGHT] = {.name = "right", .unit = "branches", .help = "predicted as it came out"},
    [C_WRONG] = {.name = "wrong", .unit = "branches", .help = "predicted otherwise"},
    {0},
};

const struct heddle_divergence divergence_capri = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "capri",
            .help = "compaction where it has paid off: a table says at which branches the warps of a block wait",
            .params = params,
            .counters = counters,
            .bits_per_core = 160 + 1 + 32 * (32 + 2), /* as tbc; the table */
            .state_bytes = sizeof(struct capri),
            .init = init,
            .finish = finish,
            .on = {.kernel = kernel, .barrier_wait = barrier_wait, .barrier_pass = barrier_pass},
        },
    .regroups = true,
    .services = services,
    .block_start = block_start,
    .split = split,
    .arrived = arrived,
    .exited = exited,
    .lane = lane,
};
