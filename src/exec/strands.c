/* Warps whose lanes have come apart. Since sm_70 every lane of a warp makes progress by itself, whatever the others do.
 * Here a warp runs under one reconvergence stack until that can no longer be kept up (let_go.c); then the lanes that
 * wait become a strand: a stack and calls of their own. Strands share the warp's registers and local memory, in which
 * each lane has its own places; only the frames of calls must not overlap, so that each call takes registers that no
 * strand uses.
 *
 * One strand runs, as if it were the warp; the others take their turns. Strands that come to the same place, by the way
 * of the same calls, are one again; the usual places are barriers and __syncwarp. Left out: a block's barrier counts
 * the warp when all its strands wait, not each lane when it comes. */
#include "exec/strands.h"

#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

static void *must_have(void *p)
{
    if (!p)
        out_of_memory();
    return p;
}

static void save_place(struct strand *s, const struct exec_warp *w)
{
    s->at = w->at;
    s->looked = w->executed - w->at.look_from;
}

static void save(struct exec_warp *w)
{
    struct strand *s = &w->strands->list[w->strands->current];
    if (!s->blocked && w->at.stack_depth)
        simt_save(w);
    save_place(s, w);
}

/* Without a look at which path is to run. */
static void load(struct exec_warp *w, const struct strand *s)
{
    w->at = s->at;
    w->at.look_from = w->executed - s->looked;
    w->code = s->at.function->code;
    w->bank[BANK_FRAME] = w->registers + s->at.registers_offset;
    w->bank[BANK_CONSTANTS] = s->at.function->constants;
}

static void free_strand(struct strand *s)
{
    if (s->at.owns_stack)
        free(s->at.stack);
    free(s->at.frames);
}

/* Where it was the current one, the one before it in the list is, or the first. */
static void forget(struct strand_set *set, uint32_t i)
{
    uint32_t last = --set->count;
    free_strand(&set->list[i]);
    set->list[i] = set->list[last];
    if (set->current == i)
        set->current = i ? i - 1 : 0;
    else if (set->current == last)
        set->current = i;
}

void strands_drop(struct exec_warp *w)
{
    struct strand_set *set = w->strands;
    if (!set)
        return;
    for (uint32_t i = 0; i < set->count; i++)
        if (i != set->current)
            free_strand(&set->list[i]);
    free(set);
    w->strands = NULL;
}

uint32_t strands_lanes(const struct exec_warp *w)
{
    return (w->strands ? w->strands->list[w->strands->current].lanes : w->lanes) & ~w->exited;
}

uint32_t strands_registers_end(const struct exec_warp *w)
{
    uint32_t end = w->at.registers_offset + w->at.function->frame_bytes;
    for (uint32_t i = 0; i < w->strands->count; i++) {
        const struct strand *s = &w->strands->list[i];
        uint32_t its_end = s->at.registers_offset + s->at.function->frame_bytes;
        end = i != w->strands->current && its_end > end ? its_end : end;
    }
    return end;
}

/* Part */

static void restrict_frames(struct strand *s)
{
    for (uint32_t i = 0; i < s->at.frame_depth; i++)
        s->at.frames[i].mask &= s->lanes;
}

/* Lanes that did not execute the instruction at which their path waits need not wait any longer. */
static void restrict_entry(struct simt_entry *e, uint32_t lanes)
{
    e->mask &= lanes;
    e->at_barrier &= lanes;
    if (e->barrier && e->mask && !e->at_barrier)
        barrier_pass(e);
}

static void restrict_stack(struct strand *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->at.stack_depth; i++) {
        restrict_entry(&s->at.stack[i], s->lanes);
        if (s->at.stack[i].mask)
            s->at.stack[kept++] = s->at.stack[i];
    }
    s->at.stack_depth = kept;
}

/* An entry all of whose lanes are in the one above has nobody waiting there: that one need not stop. */
static void flatten(struct strand *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->at.stack_depth; i++) {
        struct simt_entry *e = &s->at.stack[i], *below = kept ? &s->at.stack[kept - 1] : NULL;
        if (below && below->call_depth == e->call_depth && below->mask == e->mask && !below->barrier &&
            below->pc == e->rpc) {
            e->rpc = below->rpc;
            kept--;
        }
        s->at.stack[kept++] = *e;
    }
    s->at.stack_depth = kept;
}

static void copy_strand(struct strand *to, const struct strand *from)
{
    *to = *from;
    to->at.stack = must_have(malloc(from->at.stack_capacity * sizeof *to->at.stack));
    memcpy(to->at.stack, from->at.stack, from->at.stack_depth * sizeof *to->at.stack);
    to->at.owns_stack = true;
    if (from->at.frame_capacity) {
        to->at.frames = must_have(malloc(from->at.frame_capacity * sizeof *to->at.frames));
        memcpy(to->at.frames, from->at.frames, from->at.frame_depth * sizeof *to->at.frames);
    }
}

static void start_set(struct exec_warp *w)
{
    w->strands = must_have(calloc(1, sizeof *w->strands));
    w->strands->count = 1;
    w->strands->list[0].lanes = w->lanes & ~w->exited;
}

static void restrict_to(struct strand *s, uint32_t lanes)
{
    s->lanes = lanes;
    s->looked = s->at.look_after = 0;
    restrict_stack(s);
    restrict_frames(s);
    flatten(s);
}

static void use(struct exec_warp *w, uint32_t i)
{
    w->strands->current = i;
    load(w, &w->strands->list[i]);
}

/* The current strand must be saved. */
static void part(struct exec_warp *w, uint32_t lanes)
{
    struct strand_set *set = w->strands;
    struct strand *stays = &set->list[set->current], *parts = &set->list[set->count++];
    uint32_t staying = stays->lanes & ~w->exited & ~lanes;
    copy_strand(parts, stays);
    parts->blocked = false;
    restrict_to(parts, lanes);
    restrict_to(stays, staying);
}

void strands_part(struct exec_warp *w, uint32_t lanes)
{
    if (!w->strands)
        start_set(w);
    save(w);
    part(w, lanes);
    use(w, w->strands->count - 1);
    simt_resume(w);
}

/* The strand waits within the warp for lanes that have not come. Those of its own that wait after it, where paths
 * meet, may be among them. */
static void part_from_meeting(struct exec_warp *w)
{
    const struct strand *s = &w->strands->list[w->strands->current];
    uint32_t at_meeting = 0, at_barrier = 0;
    for (uint32_t i = 0; i < s->at.stack_depth; i++)
        if (s->at.stack[i].barrier)
            *(s->at.stack[i].barrier > CTA_BARRIERS ? &at_meeting : &at_barrier) |= s->at.stack[i].mask;
    uint32_t behind = s->lanes & ~w->exited & ~at_meeting & ~at_barrier;
    if (s->blocked && at_meeting && behind) {
        part(w, behind);
        use(w, w->strands->current);
    }
}

/* Turns */

/* No strand can run. */
static void gather(struct exec_warp *w)
{
    struct strand_set *set = w->strands;
    uint32_t reached = 0;
    if (meeting_pass_all(w)) {
        if (w->state != WARP_FAULT)
            strands_resume(w);
        return;
    }
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->list[i].at.stack_depth; k++)
            reached |= barrier_reach(&set->list[i].at.stack[k]);
    use(w, set->current);
    barrier_arrive(w, reached);
}

static void become_whole(struct exec_warp *w)
{
    use(w, 0);
    free(w->strands);
    w->strands = NULL;
    simt_resume(w);
}

static bool same_stack(const struct strand *a, const struct strand *b)
{
    if (a->at.stack_depth != b->at.stack_depth)
        return false;
    for (uint32_t i = a->at.stack_depth; i-- > 0;) {
        const struct simt_entry *x = &a->at.stack[i], *y = &b->at.stack[i];
        if (x->pc != y->pc || x->rpc != y->rpc || x->call_depth != y->call_depth || x->barrier != y->barrier ||
            x->arrived != y->arrived)
            return false;
    }
    return true;
}

static bool same_calls(const struct strand *a, const struct strand *b)
{
    if (a->at.function != b->at.function || a->at.frame_depth != b->at.frame_depth ||
        a->at.registers_offset != b->at.registers_offset || a->at.local_base != b->at.local_base)
        return false;
    for (uint32_t i = 0; i < a->at.frame_depth; i++) {
        const struct call_frame *x = &a->at.frames[i], *y = &b->at.frames[i];
        if (x->function != y->function || x->call_pc != y->call_pc || x->registers_offset != y->registers_offset ||
            x->local_base != y->local_base)
            return false;
    }
    return true;
}

static void join(struct strand *to, const struct strand *from)
{
    for (uint32_t i = 0; i < to->at.stack_depth; i++) {
        to->at.stack[i].mask |= from->at.stack[i].mask;
        to->at.stack[i].at_barrier |= from->at.stack[i].at_barrier;
    }
    for (uint32_t i = 0; i < to->at.frame_depth; i++) {
        struct call_frame *frame = &to->at.frames[i];
        frame->mask |= from->at.frames[i].mask;
        for (uint32_t left = from->at.frames[i].mask; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            frame->stack_top[lane] = from->at.frames[i].stack_top[lane];
        }
    }
    to->lanes |= from->lanes;
    to->at.ran |= from->at.ran;
    to->looked = to->at.look_after = 0;
}

static void join_alike(struct exec_warp *w)
{
    struct strand_set *set = w->strands;
    for (uint32_t i = 0; i < set->count; i++)
        flatten(&set->list[i]);
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = set->count; k-- > i + 1;) {
            struct strand *a = &set->list[i], *b = &set->list[k];
            if (a->blocked || b->blocked || !same_stack(a, b) || !same_calls(a, b))
                continue;
            join(a, b);
            forget(set, k);
        }
    use(w, set->current);
}

void strands_meet(struct exec_warp *w)
{
    const struct strand_set *set = w->strands;
    if (w->state != WARP_READY)
        return;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct strand *s = &set->list[i];
        if (i == set->current || s->blocked || s->at.function != w->at.function ||
            s->at.stack[s->at.stack_depth - 1].pc != w->pc)
            continue;
        uint32_t count = set->count;
        if (exec_withheld(w))
            return;
        save(w);
        join_alike(w);
        if (set->count == 1)
            become_whole(w);
        else if (set->count != count)
            simt_resume(w);
        return;
    }
}

void strands_resume(struct exec_warp *w)
{
    struct strand_set *set = w->strands;
    join_alike(w);
    for (uint32_t n = 1; n <= set->count; n++) {
        uint32_t i = (set->current + n) % set->count;
        if (set->list[i].blocked)
            continue;
        if (set->count == 1) {
            become_whole(w);
            return;
        }
        use(w, i);
        simt_resume(w);
        return;
    }
    gather(w);
}

void strands_turn(struct exec_warp *w)
{
    save(w);
    meeting_pass_complete(w); /* lanes that were waited for may have exited */
    if (w->state != WARP_FAULT)
        strands_resume(w);
}

void strands_wait(struct exec_warp *w)
{
    if (exec_withheld(w))
        return;
    w->strands->list[w->strands->current].blocked = true;
    save(w);
    meeting_pass_complete(w);
    if (w->state == WARP_FAULT)
        return;
    part_from_meeting(w);
    strands_resume(w);
}

bool strands_end(struct exec_warp *w)
{
    struct strand_set *set = w->strands;
    if (exec_withheld(w))
        return true;
    if (set->count == 1) {
        strands_drop(w);
        return false;
    }
    save(w); /* its stack is empty */
    forget(set, set->current);
    use(w, set->current);
    meeting_pass_complete(w); /* the others may have waited for lanes of it */
    if (w->state != WARP_FAULT)
        strands_resume(w);
    return true;
}

bool strands_release(struct exec_warp *w, uint32_t id, const struct exec_barrier *complete)
{
    struct strand_set *set = w->strands;
    uint32_t current = set->current;
    bool any = false;
    if (w->state != WARP_AT_BARRIER)
        save(w);
    for (uint32_t i = 0; i < set->count; i++) {
        use(w, i);
        if (barrier_release_paths(w, id, complete)) {
            set->list[i].blocked = false;
            any = true;
        }
    }
    use(w, current);
    if (w->state != WARP_AT_BARRIER && !set->list[current].blocked)
        simt_resume(w);
    return any;
}

bool strands_all_came(struct exec_warp *w, uint32_t id, uint32_t lanes)
{
    uint32_t *came = &w->strands->came[id];
    *came |= lanes;
    if (w->lanes & ~w->exited & ~*came)
        return false;
    *came = 0;
    return true;
}

static const struct strand *strand_of_lane(const struct strand_set *set, uint32_t lane)
{
    uint32_t i = set->current;
    for (uint32_t k = 0; k < set->count; k++)
        i = set->list[k].lanes >> lane & 1 ? k : i;
    return &set->list[i];
}

void strands_perform(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct strand *s = strand_of_lane(w->strands, (uint32_t)__builtin_ctz(mask));
    bool is_current = s == &w->strands->list[w->strands->current];
    struct exec_warp now = *w;
    if (!is_current)
        load(w, s);
    w->pc = (uint32_t)(in - w->code); /* for a fault's message */
    in->fn(w, in, mask);
    if (w->state == WARP_FAULT)
        return;
    w->pc = now.pc;
    if (is_current)
        return;
    save_place(&w->strands->list[w->strands->current], &now);
    load(w, &w->strands->list[w->strands->current]);
}

void strands_show(struct exec_warp *w, uint32_t i)
{
    const struct strand *s = &w->strands->list[i];
    const struct simt_entry *top = &s->at.stack[s->at.stack_depth - 1];
    load(w, s);
    w->pc = top->pc;
    w->rpc = top->rpc;
    w->active = top->mask;
    w->state = WARP_READY;
}
