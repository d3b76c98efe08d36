/* Blocks in lockstep. The stack is that of simt.c with a mask for each warp: the path on top runs, the entry where
 * paths meet waits below them, the taken path is pushed last. Entries of the stack that a warp has lanes in are, in
 * this order, a stack of that warp: so a block can go on warp by warp at any time. */
#include "exec/lockstep.h"

#include "base/out_of_memory.h"
#include "exec/control.h"
#include "exec/lanes.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_PATHS = 16, SPIN_STEPS = 20000 };

struct path {
    uint32_t pc, stop;              /* stop: where it is popped, or NO_RPC */
    uint32_t warps;                 /* that have lanes in it */
    uint32_t barrier;               /* 0: runs; else it waits at 1 + a barrier of the block */
    uint32_t masks[LOCKSTEP_WARPS]; /* by warp */
};

struct lockstep {
    struct exec_cta *cta;
    const struct lockstep_observer *observer;
    struct path *paths;
    uint32_t depth, capacity;
    uint32_t live; /* threads that have not ended */
    uint64_t ran;  /* instructions of the path on top, yet to be reported */
    bool left;
};

struct lockstep *lockstep_create(void)
{
    struct lockstep *b = calloc(1, sizeof *b);
    if (!b || !(b->paths = malloc(FIRST_PATHS * sizeof *b->paths)))
        out_of_memory();
    b->capacity = FIRST_PATHS;
    return b;
}

void lockstep_destroy(struct lockstep *b)
{
    if (b)
        free(b->paths);
    free(b);
}

bool lockstep_has_left(const struct lockstep *b) { return b->left; }

static struct path *top_of(const struct lockstep *b) { return &b->paths[b->depth - 1]; }

static void push(struct lockstep *b, uint32_t pc, uint32_t stop, const uint32_t *masks)
{
    if (b->depth == b->capacity) {
        b->capacity *= 2;
        b->paths = realloc(b->paths, b->capacity * sizeof *b->paths);
        if (!b->paths)
            out_of_memory();
    }
    struct path *p = &b->paths[b->depth++];
    *p = (struct path){.pc = pc, .stop = stop};
    for (uint32_t i = 0; i < b->cta->warp_count; i++) {
        p->masks[i] = masks[i];
        p->warps |= (uint32_t)(masks[i] != 0) << i;
    }
}

void lockstep_start(struct lockstep *b, struct exec_cta *cta, const struct lockstep_observer *o)
{
    uint32_t lanes[LOCKSTEP_WARPS] = {0};
    b->cta = cta;
    b->observer = o;
    b->depth = b->live = 0;
    b->ran = 0;
    b->left = false;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        lanes[i] = cta->warps[i].lanes;
        b->live += (uint32_t)__builtin_popcount(lanes[i]);
    }
    push(b, 0, NO_RPC, lanes);
}

/* Before the path on top becomes another. */
static void report(struct lockstep *b)
{
    if (b->ran && b->observer->ran)
        b->observer->ran(b->observer->context, b->cta, top_of(b)->masks, b->ran);
    b->ran = 0;
}

/* Leaving */

void lockstep_show(struct lockstep *b)
{
    struct simt_entry *entries = malloc((b->depth + 1) * sizeof *entries);
    if (!entries)
        out_of_memory();
    for (uint32_t i = 0; i < b->cta->warp_count; i++) {
        struct exec_warp *w = &b->cta->warps[i];
        uint32_t count = 0;
        for (uint32_t k = 0; k < b->depth; k++) {
            const struct path *p = &b->paths[k]; /* one that waits at a barrier will come to it again */
            if (p->masks[i])
                entries[count++] = (struct simt_entry){.pc = p->pc, .rpc = p->stop, .mask = p->masks[i]};
        }
        if (count)
            simt_take(w, entries, count);
    }
    free(entries);
}

static void leave(struct lockstep *b)
{
    report(b);
    lockstep_show(b);
    b->left = true;
    if (b->observer->left)
        b->observer->left(b->observer->context, b->cta);
}

void lockstep_leave_if_spinning(struct lockstep *b)
{
    uint32_t lanes;
    if (b->left || !b->depth)
        return;
    for (uint32_t left = top_of(b)->warps; left; left &= left - 1)
        if (!exec_path_spins(&b->cta->warps[__builtin_ctz(left)], (struct exec_pending){0}, SPIN_STEPS, &lanes))
            return;
    leave(b);
}

/* The stack */

static bool shares_lanes(const struct path *p, const uint32_t *masks)
{
    for (uint32_t left = p->warps; left; left &= left - 1)
        if (p->masks[__builtin_ctz(left)] & masks[__builtin_ctz(left)])
            return true;
    return false;
}

/* The path on top waits. Brings one up that does not, and that is not where those above it are to meet. */
static bool bring_up_runnable(struct lockstep *b)
{
    uint32_t above[LOCKSTEP_WARPS] = {0};
    for (uint32_t i = b->depth; i-- > 0;) {
        struct path p = b->paths[i];
        if (!p.barrier && p.warps && p.pc != p.stop && !shares_lanes(&p, above)) {
            memmove(&b->paths[i], &b->paths[i + 1], (b->depth - 1 - i) * sizeof p);
            *top_of(b) = p;
            return true;
        }
        for (uint32_t left = p.warps; left; left &= left - 1)
            above[__builtin_ctz(left)] |= p.masks[__builtin_ctz(left)];
    }
    return false;
}

/* All threads of the block wait. At one barrier: it is complete. */
static void open_barrier(struct lockstep *b)
{
    uint32_t barrier = top_of(b)->barrier;
    for (uint32_t i = 0; i < b->depth; i++)
        if (b->paths[i].barrier && b->paths[i].barrier != barrier) {
            leave(b);
            return;
        }
    for (uint32_t i = 0; i < b->depth; i++)
        if (b->paths[i].barrier) {
            b->paths[i].barrier = 0;
            b->paths[i].pc++;
        }
}

/* Drops paths that have come to where they stop, or have no threads left; finds one that can run. */
static void settle(struct lockstep *b)
{
    while (b->depth && !b->left) {
        const struct path *top = top_of(b);
        if (!top->warps || top->pc == top->stop)
            b->depth--;
        else if (!top->barrier)
            return;
        else if (!bring_up_runnable(b))
            open_barrier(b);
    }
}

static void move_to(struct lockstep *b, uint32_t pc)
{
    struct path *top = top_of(b);
    top->pc = pc;
    if (pc != top->stop)
        return;
    report(b);
    settle(b);
}

/* Instructions */

static inline uint32_t lanes_of(const struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    return in->guard_mode ? exec_lanes_of(w, in, mask) : mask;
}

/* The lanes of each warp that execute an instruction of control, which is counted. Returns how many there are. */
static uint32_t issue(struct lockstep *b, const struct exec_inst *in, uint32_t lanes[LOCKSTEP_WARPS])
{
    const struct path *top = top_of(b);
    uint64_t *counts = b->cta->launch->counters.lanes;
    uint32_t all = 0;
    memset(lanes, 0, LOCKSTEP_WARPS * sizeof *lanes);
    for (uint32_t left = top->warps; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        struct exec_warp *w = &b->cta->warps[i];
        w->pc = top->pc;
        w->executed++;
        lanes[i] = lanes_of(w, in, top->masks[i]);
        uint32_t count = (uint32_t)__builtin_popcount(lanes[i]);
        counts[count]++;
        all += count;
    }
    b->ran++;
    return all;
}

static void perform(struct lockstep *b, const struct exec_inst *in)
{
    const struct path *top = top_of(b);
    struct exec_launch *l = b->cta->launch;
    for (uint32_t left = top->warps; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        struct exec_warp *w = &b->cta->warps[i];
        uint32_t mask = lanes_of(w, in, top->masks[i]);
        w->pc = top->pc; /* for a fault's message */
        w->executed++;
        l->counters.lanes[__builtin_popcount(mask)]++;
        if (mask)
            in->fn(w, in, mask);
        if (l->faulted)
            return;
    }
    b->ran++;
}

/* Are lanes of a warp named that are on another path? members: of each lane, the lanes that take part. */
static bool names_others(const struct lockstep *b, const struct exec_inst *in, exec_ref members)
{
    const struct path *top = top_of(b);
    for (uint32_t left = top->warps; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        const struct exec_warp *w = &b->cta->warps[i];
        uint32_t others = w->lanes & ~w->exited & ~top->masks[i], mask = others ? lanes_of(w, in, top->masks[i]) : 0;
        if (mask && LANES_OF(uint32_t, w, members)[__builtin_ctz(mask)] & others)
            return true;
    }
    return false;
}

/* The path splits. */
static void split(struct lockstep *b, const struct lockstep_branch *e)
{
    struct path *top = top_of(b);
    uint32_t meet = e->reconvergence;
    report(b);
    if (meet == top->stop || meet == NO_RPC) { /* the entry below waits at the same place already */
        meet = top->stop;
        b->depth--;
    } else {
        top->pc = meet;
    }
    if (e->fall_through != meet)
        push(b, e->fall_through, meet, e->not_taken);
    if (e->target != meet)
        push(b, e->target, meet, e->taken);
    settle(b);
}

static void branch(struct lockstep *b, const struct exec_inst *in)
{
    const struct path *top = top_of(b);
    struct exec_counters *counters = &b->cta->launch->counters;
    uint32_t taken[LOCKSTEP_WARPS], not_taken[LOCKSTEP_WARPS] = {0}, pc = top->pc;
    bool any_stays = false, any_goes = issue(b, in, taken) != 0;
    if (!in->guard_mode) {
        move_to(b, (uint32_t)in->imm);
        return;
    }
    struct lockstep_branch e = {.pc = pc,
                                .target = (uint32_t)in->imm,
                                .fall_through = pc + 1,
                                .reconvergence = in->src[0],
                                .taken = taken,
                                .not_taken = not_taken};
    for (uint32_t left = top->warps; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        not_taken[i] = top->masks[i] & ~taken[i];
        any_stays |= not_taken[i] != 0;
        counters->branches++;
        counters->divergent_branches += taken[i] && not_taken[i];
        e.divergent |= taken[i] && not_taken[i];
    }
    if (b->observer->branch)
        b->observer->branch(b->observer->context, b->cta, &e);
    if (any_goes && any_stays)
        split(b, &e);
    else
        move_to(b, any_goes ? e.target : e.fall_through);
}

static void end_threads(struct lockstep *b, const struct exec_inst *in)
{
    uint32_t ended[LOCKSTEP_WARPS];
    b->live -= issue(b, in, ended);
    report(b);
    top_of(b)->pc++; /* for those that stay */
    for (uint32_t i = 0; i < b->cta->warp_count; i++) {
        struct exec_warp *w = &b->cta->warps[i];
        if (!ended[i])
            continue;
        w->exited |= ended[i];
        if (w->exited == w->lanes) {
            w->state = WARP_DONE;
            b->cta->warps_done++;
        }
        for (uint32_t k = 0; k < b->depth; k++)
            if (!(b->paths[k].masks[i] &= ~ended[i]))
                b->paths[k].warps &= ~(1u << i);
    }
    settle(b);
}

/* The path waits as a whole where one of its threads does. */
static void reach_barrier(struct lockstep *b, const struct exec_inst *in)
{
    struct path *top = top_of(b);
    uint32_t lanes[LOCKSTEP_WARPS], first = 0;
    uint32_t count = issue(b, in, lanes);
    if (!count) {
        move_to(b, top->pc + 1);
        return;
    }
    while (!lanes[first])
        first++;
    uint32_t id = LANES_OF(uint32_t, &b->cta->warps[first], in->src[0])[__builtin_ctz(lanes[first])];
    if (id >= CTA_BARRIERS) {
        in->fn(&b->cta->warps[first], in, lanes[first]); /* it says what is wrong */
        return;
    }
    if (count == b->live) {
        move_to(b, top->pc + 1);
        return;
    }
    top->barrier = 1 + id;
    report(b);
    settle(b);
}

static enum ptx_opcode opcode_of(const struct lockstep *b)
{
    const struct ptx_function *f = b->cta->launch->kernel->ptx;
    uint32_t pc = top_of(b)->pc;
    return pc < f->inst_count ? f->insts[pc].opcode : PTX_OP_ret;
}

/* Returns false where the block's turn is over. */
static bool control(struct lockstep *b, const struct exec_inst *in)
{
    const struct ptx_function *f = b->cta->launch->kernel->ptx;
    uint32_t pc = top_of(b)->pc, lanes[LOCKSTEP_WARPS];
    switch (opcode_of(b)) {
    case PTX_OP_bra: branch(b, in); return true;
    case PTX_OP_ret:
    case PTX_OP_exit: end_threads(b, in); return true;
    case PTX_OP_bar:
    case PTX_OP_barrier:
        if (!ptx_has_modifier(&f->insts[pc], PTX_MOD_WARP)) {
            reach_barrier(b, in);
        } else if (names_others(b, in, in->src[0])) {
            leave(b);
        } else {
            issue(b, in, lanes);
            move_to(b, pc + 1);
        }
        return true;
    case PTX_OP_nanosleep:
        issue(b, in, lanes);
        move_to(b, pc + 1);
        return false;
    default: /* trap, brkpt */
        issue(b, in, lanes);
        for (uint32_t i = 0; i < b->cta->warp_count && !b->cta->launch->faulted; i++)
            if (lanes[i])
                in->fn(&b->cta->warps[i], in, lanes[i]);
        move_to(b, pc + 1);
        return true;
    }
}

uint64_t lockstep_run(struct lockstep *b, uint64_t budget)
{
    const struct exec_inst *code = b->cta->launch->kernel->code;
    const struct exec_launch *l = b->cta->launch;
    uint64_t done = 0;
    bool goes_on = true;
    while (goes_on && done < budget && b->depth && !b->left && !l->faulted) {
        const struct exec_inst *in = &code[top_of(b)->pc];
        done += (uint32_t)__builtin_popcount(top_of(b)->warps);
        if (in->kind == EXEC_CONTROL) {
            goes_on = control(b, in);
        } else if (in->kind == EXEC_SYNC && names_others(b, in, in->members)) {
            leave(b);
        } else {
            perform(b, in);
            move_to(b, top_of(b)->pc + 1);
        }
    }
    if (b->depth && !b->left)
        report(b);
    return done;
}

/* Kernels */

static bool is_supported(const struct ptx_inst *in, const struct exec_inst *x)
{
    uint32_t flags = ptx_flags(in);
    if ((flags & PTX_F_CALL) || in->opcode == PTX_OP_brx || in->opcode == PTX_OP_mbarrier || x->kind == EXEC_WAIT)
        return false;
    if (!(flags & PTX_F_BARRIER) || ptx_has_modifier(in, PTX_MOD_WARP))
        return true;
    return ptx_has_modifier(in, PTX_MOD_SYNC) && !ptx_has_modifier(in, PTX_MOD_CLUSTER) && in->operand_count == 1;
}

const struct ptx_inst *lockstep_obstacle(const struct exec_function *kernel)
{
    for (uint32_t i = 0; i < kernel->ptx->inst_count; i++)
        if (!is_supported(&kernel->ptx->insts[i], &kernel->code[i]))
            return &kernel->ptx->insts[i];
    return NULL;
}
