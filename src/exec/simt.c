/* The post-dominator reconvergence stack. The top entry runs; a branch whose lanes disagree turns the top into the
 * entry that waits at the immediate post-dominator and pushes the paths above it, the taken one last, so that it runs
 * first. A path that arrives there is popped. A path that waits at a barrier lets its siblings run; a path below that
 * is in a caller's frame cannot, since the frame above it is in use. */
#include "exec/strands.h"

#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

static void grow(struct exec_warp *w)
{
    struct simt_entry *larger = malloc(2 * w->at.stack_capacity * sizeof *larger);
    if (!larger)
        out_of_memory();
    memcpy(larger, w->at.stack, w->at.stack_depth * sizeof *larger);
    if (w->at.owns_stack)
        free(w->at.stack);
    w->at.stack = larger;
    w->at.stack_capacity *= 2;
    w->at.owns_stack = true;
}

static void push(struct exec_warp *w, uint32_t pc, uint32_t rpc, uint32_t mask)
{
    if (w->at.stack_depth == w->at.stack_capacity)
        grow(w);
    w->at.stack[w->at.stack_depth++] =
        (struct simt_entry){.pc = pc, .rpc = rpc, .mask = mask, .call_depth = w->at.frame_depth};
}

void simt_save(struct exec_warp *w)
{
    struct simt_entry *top = &w->at.stack[w->at.stack_depth - 1];
    top->pc = w->pc;
    top->mask = w->active;
}

/* The top waits at a barrier. Brings a path of the same call to the top that does not: one that shares no lanes with
 * the entries above it, which would otherwise be an entry where those meet. */
static bool bring_up_runnable(struct exec_warp *w)
{
    uint32_t above = 0;
    for (uint32_t i = w->at.stack_depth; i-- > 0 && w->at.stack[i].call_depth == w->at.frame_depth;) {
        struct simt_entry e = w->at.stack[i];
        if (!e.barrier && !(e.mask & above)) {
            memmove(&w->at.stack[i], &w->at.stack[i + 1], (w->at.stack_depth - 1 - i) * sizeof e);
            w->at.stack[w->at.stack_depth - 1] = e;
            return true;
        }
        above |= e.mask;
    }
    return false;
}

/* Drops entries that are finished (no lanes, or arrived) and makes the first that is not the one that runs. */
static void settle(struct exec_warp *w)
{
    while (w->at.stack_depth) {
        const struct simt_entry *top = &w->at.stack[w->at.stack_depth - 1];
        if (top->call_depth < w->at.frame_depth) {
            call_leave(w);
            continue;
        }
        if (top->mask && top->barrier) {
            if (bring_up_runnable(w))
                continue;
            if (w->strands)
                strands_wait(w);
            else
                barrier_gather(w);
            return;
        }
        if (top->mask && top->pc != top->rpc) {
            w->pc = top->pc;
            w->rpc = top->rpc;
            w->active = top->mask;
            w->at.ran |= top->mask;
            return;
        }
        w->at.stack_depth--;
    }
    w->active = 0;
    if (w->strands && strands_end(w))
        return;
    if (w->exited != w->lanes) { /* the others are not given to it (exec_give) */
        w->state = WARP_PARKED;
        return;
    }
    w->state = WARP_DONE;
    barrier_warp_done(w);
}

void simt_start(struct exec_warp *w, uint32_t lanes)
{
    push(w, 0, NO_RPC, lanes);
    settle(w);
}

void simt_take(struct exec_warp *w, const struct simt_entry *entries, uint32_t count)
{
    w->at.stack_depth = 0;
    for (uint32_t i = 0; i < count; i++)
        push(w, entries[i].pc, entries[i].rpc, entries[i].mask);
    settle(w);
}

void exec_give(struct exec_warp *w, uint32_t pc, uint32_t stop_pc, uint32_t lanes)
{
    w->at.stack_depth = 0;
    w->state = WARP_READY;
    push(w, pc, stop_pc, lanes);
    settle(w);
}

void exec_take_back(struct exec_warp *w)
{
    w->at.stack_depth = 0;
    w->active = 0;
    w->state = WARP_PARKED;
}

void simt_pop(struct exec_warp *w)
{
    w->at.stack_depth--;
    settle(w);
}

void simt_split(struct exec_warp *w, const struct simt_path *paths, uint32_t count, uint32_t rpc)
{
    uint32_t meet = rpc;
    if (rpc == w->rpc || rpc == NO_RPC) { /* the entry below waits at the same place already */
        meet = w->rpc;
        w->at.stack_depth--;
    } else {
        w->pc = rpc;
        simt_save(w);
    }
    for (uint32_t i = count; i-- > 0;)
        if (paths[i].pc != meet)
            push(w, paths[i].pc, meet, paths[i].mask);
    settle(w);
}

void simt_branch(struct exec_warp *w, uint32_t taken, uint32_t target, uint32_t rpc)
{
    struct exec_counters *counters = &w->launch->counters;
    counters->branches++;
    if (!taken) {
        simt_next(w);
    } else if (taken == w->active) {
        w->pc = target;
        if (target == w->rpc)
            simt_pop(w);
    } else {
        counters->divergent_branches++;
        struct simt_path paths[2] = {{target, taken}, {w->pc + 1, w->active & ~taken}};
        uint32_t meet = rpc == NO_RPC ? w->rpc : rpc;
        simt_split(w, paths, 2, rpc);
        if (w->launch->spun_count && (target == meet || paths[1].pc == meet))
            let_go_at_once(w, meet, paths[target != meet].mask);
    }
}

/* Of entries that wait below for the same place as the paths of this branch: the lowest. */
static uint32_t first_sibling(const struct exec_warp *w, uint32_t rpc)
{
    uint32_t at = w->at.stack_depth;
    while (at > 0 && w->at.stack[at - 1].rpc == rpc && w->at.stack[at - 1].call_depth == w->at.frame_depth &&
           !w->at.stack[at - 1].barrier)
        at--;
    return at;
}

/* A path that has come to a meeting runs after its siblings, together with those of them that come there. */
static void wait_at_meeting(struct exec_warp *w, uint32_t pc, uint32_t rpc, uint32_t mask)
{
    uint32_t first = first_sibling(w, rpc);
    for (uint32_t i = first; i < w->at.stack_depth; i++)
        if (w->at.stack[i].pc == pc) {
            w->at.stack[i].mask |= mask;
            return;
        }
    push(w, pc, rpc, mask);
    struct simt_entry e = w->at.stack[w->at.stack_depth - 1];
    memmove(&w->at.stack[first + 1], &w->at.stack[first], (w->at.stack_depth - 1 - first) * sizeof e);
    w->at.stack[first] = e;
}

void simt_branch_to_meeting(struct exec_warp *w, uint32_t taken, uint32_t target, uint32_t rpc, bool is_taken)
{
    uint32_t there = is_taken ? taken : w->active & ~taken, others = w->active & ~there;
    uint32_t pc = is_taken ? target : w->pc + 1, other_pc = is_taken ? w->pc + 1 : target;
    bool in_group = rpc == w->rpc && w->at.stack_depth > 1 && w->at.stack[w->at.stack_depth - 2].rpc == rpc;
    if (!there || (!others && !in_group)) {
        simt_branch(w, taken, target, rpc);
        return;
    }
    w->launch->counters.branches++;
    w->launch->counters.divergent_branches += others != 0;
    if (rpc == w->rpc) {
        w->at.stack_depth--;
    } else {
        w->pc = rpc;
        simt_save(w);
    }
    wait_at_meeting(w, pc, rpc, there);
    if (others && other_pc != rpc)
        push(w, other_pc, rpc, others);
    settle(w);
    if (others && other_pc == rpc && w->launch->spun_count)
        let_go_at_once(w, rpc, others);
}

void simt_block(struct exec_warp *w, uint8_t barrier, uint32_t lanes)
{
    simt_save(w);
    struct simt_entry *top = &w->at.stack[w->at.stack_depth - 1];
    top->barrier = barrier;
    top->arrived = false;
    top->at_barrier = lanes;
    settle(w);
}

void simt_resume(struct exec_warp *w) { settle(w); }

void simt_push_call(struct exec_warp *w, uint32_t mask)
{
    push(w, 0, NO_RPC, mask);
    settle(w);
}

void simt_retire(struct exec_warp *w, uint32_t lanes, bool exit)
{
    simt_save(w);
    w->at.stack[w->at.stack_depth - 1].pc = w->pc + 1; /* for the lanes that stay */
    for (uint32_t i = w->at.stack_depth; i-- > 0;) {
        if (!exit && w->at.stack[i].call_depth < w->at.frame_depth)
            break;
        w->at.stack[i].mask &= ~lanes;
    }
    if (exit)
        w->exited |= lanes;
    settle(w);
}
