/* Warps that will never get anywhere. A warp that comes back to an instruction with the same stack and registers, having changed no memory, will do the same again for
 * ever unless somebody else changes memory. When that holds for all warps at once, the launch hangs. The usual cause is a lock between lanes of one warp: the lane
 * that holds it waits at the reconvergence point for those that spin, which the post-dominator stack cannot run. */
#include "exec/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH_STEPS = 20000 };

struct spin_watch {
    uint32_t pc, active, stack_depth, frame_depth, carry;
    uint8_t *registers;
    uint64_t bytes;
};

static uint64_t live_bytes(const struct exec_warp *w)
{
    return w->registers_offset + w->function->frame_bytes;
}

static void take_snapshot(struct spin_watch *s, const struct exec_warp *w)
{
    uint64_t bytes = live_bytes(w);
    if (bytes > s->bytes) {
        s->registers = realloc(s->registers, bytes);
        if (!s->registers)
            abort();
    }
    *s = (struct spin_watch){ w->pc, w->active, w->stack_depth, w->frame_depth, w->carry, s->registers, bytes };
    memcpy(s->registers, w->registers, bytes);
}

static bool same_state(const struct spin_watch *s, const struct exec_warp *w)
{
    return w->pc == s->pc && w->active == s->active && w->stack_depth == s->stack_depth && w->frame_depth == s->frame_depth && w->carry == s->carry &&
           live_bytes(w) == s->bytes && memcmp(s->registers, w->registers, s->bytes) == 0;
}

/* Snapshots at distances that double (Brent): a cycle of any length below the number of steps is found. */
bool exec_spins(struct exec_warp *w)
{
    struct spin_watch s = { 0 };
    uint64_t changes = w->launch->memory_changes;
    uint32_t next = 1;
    bool spins = false;
    take_snapshot(&s, w);
    for (uint32_t step = 1; step <= WATCH_STEPS && !spins; step++) {
        exec_step(w);
        if (w->state == WARP_ASLEEP)
            w->state = WARP_READY;
        if (w->state != WARP_READY || w->launch->memory_changes != changes)
            break;
        spins = same_state(&s, w);
        if (!spins && step == next) {
            next *= 2;
            take_snapshot(&s, w);
        }
    }
    free(s.registers);
    return spins;
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
        if (waiting)
            snprintf(what, sizeof what, "lanes %08x spin, while lanes %08x of the same warp wait for them to reconverge", w->active, waiting);
        else
            snprintf(what, sizeof what, "spins without effect");
    }
    const struct ptx_inst *in = instruction_at(w->function, pc);
    snprintf(out, out_bytes, "block (%u,%u,%u) warp %u, PTX line %d (%s): %s", w->cta->id[0], w->cta->id[1], w->cta->id[2], w->index, in ? in->line : 0, in ? in->spelling : "end", what);
}

static bool spins_within_warp(const struct exec_warp *w)
{
    return (w->state == WARP_READY || w->state == WARP_ASLEEP) && (w->lanes & ~w->exited & ~w->active);
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
    error_set(e, ERROR_DEADLOCK, "kernel %s cannot go on: %u warps wait, and nothing can release them", l->kernel->name, waiting);
    if (within_warp)
        error_note(e, "lanes of one warp spin on a value that other lanes of that warp would have to write. The reconvergence stack (post-dominator) runs a diverged warp's paths "
                      "one after the other, so such a lock never opens; let one lane at a time take it outside the loop, or loop over the lanes");
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
