/* Warps that will never get anywhere. A warp that comes back to an instruction with the same stack, registers and local
 * memory, having changed nothing that others see, will do the same again for ever unless somebody else changes memory.
 * When that holds for all warps at once, the launch hangs. The usual cause is a lock between lanes of one warp: the
 * lane that holds it waits at the reconvergence point for those that spin, which the post-dominator stack cannot run.
 * (For architectures since sm_70 it is let go: let_go.c.)
 *
 * To find out, a copy of the warp runs under a copy of the launch whose effects beyond the warp (writes, barriers, the
 * warp's end, calls of the device runtime) are counted and do not happen; the first one ends the watch. So does a look
 * at a clock: time may be what the warp waits for. Left out: loops longer than WATCH_STEPS, which pass for progress. */
#include "exec/strands.h"

#include "base/out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH_STEPS = 20000, REGISTER_ALIGN = 256 };

static uint64_t local_bytes(const struct exec_warp *w) { return exec_local_stride(w->launch) * WARP_LANES; }

/* Lane by lane: nobody may look at what lies between them. */
static void copy_local(const struct exec_warp *from, uint8_t *to)
{
    uint64_t stride = exec_local_stride(from->launch);
    for (uint64_t at = 0; at < local_bytes(from); at += stride)
        memcpy(to + at, from->local + at, from->launch->local_bytes);
}

static bool same_local(const struct exec_warp *a, const struct exec_warp *b)
{
    uint64_t stride = exec_local_stride(a->launch);
    for (uint64_t at = 0; at < local_bytes(a); at += stride)
        if (memcmp(a->local + at, b->local + at, a->launch->local_bytes) != 0)
            return false;
    return true;
}

static void *copy_of(const void *from, uint64_t bytes, uint64_t room)
{
    if (!room)
        return NULL;
    void *to = aligned_alloc(REGISTER_ALIGN, (room + REGISTER_ALIGN - 1) & ~(uint64_t)(REGISTER_ALIGN - 1));
    if (!to)
        out_of_memory();
    if (bytes)
        memcpy(to, from, bytes);
    return to;
}

/* All that a warp has of its own, in memory of its own. */
static void copy_warp(struct exec_warp *to, const struct exec_warp *from)
{
    *to = *from;
    to->registers = copy_of(from->registers, from->registers_bytes, from->registers_bytes);
    to->at.stack = copy_of(from->at.stack, from->at.stack_depth * sizeof *from->at.stack,
                           from->at.stack_capacity * sizeof *from->at.stack);
    to->at.frames = copy_of(from->at.frames, from->at.frame_depth * sizeof *from->at.frames,
                            from->at.frame_capacity * sizeof *from->at.frames);
    to->local = copy_of(NULL, 0, local_bytes(from));
    copy_local(from, to->local);
    to->bank[BANK_FRAME] = to->registers + to->at.registers_offset;
    to->owns_registers = to->at.owns_stack = true;
}

static void drop_copy(struct exec_warp *w)
{
    free(w->registers);
    free(w->at.stack);
    free(w->at.frames);
    free(w->local);
}

static bool same_entries(const struct exec_warp *a, const struct exec_warp *b)
{
    for (uint32_t i = 0; i < a->at.stack_depth; i++) {
        const struct simt_entry *x = &a->at.stack[i], *y = &b->at.stack[i];
        if (x->pc != y->pc || x->rpc != y->rpc || x->mask != y->mask || x->call_depth != y->call_depth ||
            x->barrier != y->barrier || x->arrived != y->arrived || x->at_barrier != y->at_barrier)
            return false;
    }
    return true;
}

static bool same_frames(const struct exec_warp *a, const struct exec_warp *b)
{
    for (uint32_t i = 0; i < a->at.frame_depth; i++) {
        const struct call_frame *x = &a->at.frames[i], *y = &b->at.frames[i];
        if (x->function != y->function || x->return_pc != y->return_pc || x->call_pc != y->call_pc ||
            x->registers_offset != y->registers_offset || x->local_base != y->local_base || x->mask != y->mask ||
            memcmp(x->stack_top, y->stack_top, sizeof x->stack_top) != 0)
            return false;
    }
    return true;
}

static bool same_place(const struct exec_warp *a, const struct exec_warp *b)
{
    return a->pc == b->pc && a->active == b->active && a->at.function == b->at.function && a->rpc == b->rpc &&
           a->exited == b->exited && a->carry == b->carry && a->at.stack_depth == b->at.stack_depth &&
           a->at.frame_depth == b->at.frame_depth && a->at.registers_offset == b->at.registers_offset &&
           a->at.local_base == b->at.local_base && a->registers_bytes == b->registers_bytes;
}

static bool same_state(const struct exec_warp *a, const struct exec_warp *b)
{
    return same_place(a, b) && same_entries(a, b) && same_frames(a, b) &&
           memcmp(a->stack_top, b->stack_top, sizeof a->stack_top) == 0 &&
           memcmp(a->registers, b->registers, a->registers_bytes) == 0 && same_local(a, b);
}

static uint64_t watched_clock(struct exec_launch *l, const struct exec_warp *w)
{
    (void)w;
    l->effects++;
    return 0;
}

static bool goes_on(struct exec_warp *w)
{
    if (w->state == WARP_ASLEEP)
        w->state = WARP_READY;
    return w->state == WARP_READY && !w->launch->effects;
}

/* Snapshots at distances that double (Brent): a cycle of any length well below the number of steps is found. */
static bool comes_back(struct exec_warp *w, uint32_t steps)
{
    struct exec_warp seen;
    uint32_t next = 1;
    bool back = false;
    w->at.ran = w->active;
    copy_warp(&seen, w);
    for (uint32_t step = 1; step <= steps && !back; step++) {
        exec_step(w);
        if (!goes_on(w))
            break;
        back = same_state(&seen, w);
        if (!back && step == next) {
            next *= 2;
            w->at.ran = w->active;
            drop_copy(&seen);
            copy_warp(&seen, w);
        }
    }
    drop_copy(&seen);
    return back;
}

bool exec_path_spins(const struct exec_warp *w, struct exec_pending pending, uint32_t steps, uint32_t *lanes)
{
    struct exec_launch launch = *w->launch;
    struct exec_warp copy;
    launch.watched = true;
    launch.effects = 0;
    launch.clock = watched_clock;
    copy_warp(&copy, w);
    copy.launch = &launch;
    copy.addresses_only = false;
    if (pending.mask)
        exec_perform(&copy, pending.in, pending.mask);
    bool spins = goes_on(&copy) && comes_back(&copy, steps);
    *lanes = copy.at.ran;
    drop_copy(&copy);
    return spins;
}

bool exec_would_spin(const struct exec_warp *w, struct exec_pending pending)
{
    uint32_t lanes;
    if (!exec_path_spins(w, pending, WATCH_STEPS, &lanes) ||
        (exec_lanes_are_independent(w->launch) && (strands_lanes(w) & ~lanes)))
        return false;
    for (uint32_t i = 0; w->strands && i < w->strands->count; i++) {
        struct exec_warp other = *w;
        if (i == w->strands->current || w->strands->list[i].blocked)
            continue;
        strands_show(&other, i);
        if (!exec_path_spins(&other, (struct exec_pending){0}, WATCH_STEPS, &lanes) ||
            (w->strands->list[i].lanes & ~w->exited & ~lanes))
            return false;
    }
    return true;
}

static const struct ptx_inst *instruction_at(const struct exec_function *f, uint32_t pc)
{
    return pc < f->inst_count ? &f->ptx->insts[pc] : NULL;
}

static void describe_warp(const struct exec_warp *w, char *out, uint32_t out_bytes)
{
    char what[200];
    uint32_t pc = w->pc;
    if (w->state == WARP_AT_BARRIER) {
        barrier_describe(w, what, sizeof what);
        pc = w->barrier_pc;
    } else {
        uint32_t waiting = w->lanes & ~w->exited & ~w->active;
        if (waiting && w->strands)
            snprintf(what, sizeof what,
                     "lanes %08x spin, while lanes %08x of the same warp wait elsewhere, or spin as well", w->active,
                     waiting);
        else if (waiting)
            snprintf(what, sizeof what,
                     "lanes %08x spin, while lanes %08x of the same warp wait for them to reconverge", w->active,
                     waiting);
        else
            snprintf(what, sizeof what, "spins without effect");
    }
    const struct ptx_inst *in = instruction_at(w->at.function, pc);
    snprintf(out, out_bytes, "block (%u,%u,%u) warp %u, PTX line %d (%s): %s", w->cta->id[0], w->cta->id[1],
             w->cta->id[2], w->index, in ? in->line : 0, in ? in->spelling : "end", what);
}

static bool spins_within_warp(const struct exec_warp *w)
{
    return !w->strands && (w->state == WARP_READY || w->state == WARP_ASLEEP) && (w->lanes & ~w->exited & ~w->active);
}

void exec_describe_hang(const struct exec_launch *l, struct exec_cta *const *blocks, uint32_t count, struct error *e)
{
    enum { SHOWN = 8 };
    uint32_t waiting = 0, shown = 0;
    bool within_warp = false;
    for (uint32_t b = 0; b < count; b++)
        for (uint32_t i = 0; blocks[b] && i < blocks[b]->warp_count; i++) {
            waiting += blocks[b]->warps[i].state != WARP_DONE;
            within_warp |= spins_within_warp(&blocks[b]->warps[i]);
        }
    error_set(e, ERROR_DEADLOCK, "kernel %s cannot go on: %u warps wait, and nothing can release them", l->kernel->name,
              waiting);
    if (within_warp)
        error_note(e, "lanes of one warp spin on a value that other lanes of that warp would have to write. The "
                      "reconvergence stack (post-dominator) runs a diverged warp's paths "
                      "one after the other, so such a lock never opens; let one lane at a time take it outside the "
                      "loop, or loop over the lanes, or compile for sm_70 or later, where each lane goes on by itself");
    for (uint32_t b = 0; b < count && shown < SHOWN; b++)
        for (uint32_t i = 0; blocks[b] && i < blocks[b]->warp_count && shown < SHOWN; i++) {
            if (blocks[b]->warps[i].state == WARP_DONE)
                continue;
            char line[400];
            describe_warp(&blocks[b]->warps[i], line, sizeof line);
            error_note(e, "  %s", line);
            shown++;
        }
    if (waiting > shown)
        error_note(e, "  and %u more", waiting - shown);
}
