/* Which loops a warp enters, goes round and leaves; policies hear of it before the warp's instruction issues. A call
 * leaves no loop: the warp is back in the caller's loops when it returns. */
#include "model/model.h"

static void tell(struct sm *c, uint32_t slot, uint32_t pc, int32_t loop, enum heddle_loop_step step)
{
    struct heddle_loop_event e = {
        .warp = slot, .pc = pc, .active = c->warps[slot].exec->active, .loop = loop, .step = step};
    TELL(c, loop, &e);
}

static int32_t parent_of(const struct sm *c, int32_t loop) { return c->program->view.loops[loop].parent; }

static bool contains(const struct sm *c, int32_t outer, int32_t loop)
{
    while (loop >= 0 && loop != outer)
        loop = parent_of(c, loop);
    return loop == outer;
}

static void leave_innermost(struct sm *c, uint32_t slot, uint32_t pc)
{
    struct warp *w = &c->warps[slot];
    tell(c, slot, pc, w->loop, HEDDLE_LOOP_LEAVE);
    w->loop = parent_of(c, w->loop);
}

/* From the outermost inwards. */
static void enter(struct sm *c, uint32_t slot, uint32_t pc, int32_t loop)
{
    if (loop < 0 || loop == c->warps[slot].loop)
        return;
    enter(c, slot, pc, parent_of(c, loop));
    tell(c, slot, pc, loop, HEDDLE_LOOP_ENTER);
}

static void follow_calls(struct sm *c, uint32_t slot, uint32_t pc, uint32_t depth)
{
    struct warp *w = &c->warps[slot];
    while (w->depth < depth) {
        c->caller_loop[slot][w->depth++] = w->loop;
        w->loop = -1;
    }
    while (w->depth > depth) {
        while (w->loop >= 0)
            leave_innermost(c, slot, pc);
        w->loop = c->caller_loop[slot][--w->depth];
    }
}

void model_tell_loops(struct sm *c, uint32_t slot, uint32_t pc)
{
    struct warp *w = &c->warps[slot];
    const struct sm_inst *in = &c->program->code[pc];
    bool makes_calls = c->program->count > c->program->kernel->inst_count;
    if (makes_calls && w->exec->at.frame_depth >= CALLS)
        return; /* not followed so deep */
    if (makes_calls)
        follow_calls(c, slot, pc, w->exec->at.frame_depth);
    while (w->loop >= 0 && !contains(c, w->loop, in->loop))
        leave_innermost(c, slot, pc);
    if (w->loop >= 0 && w->loop == in->loop && in->loop_header)
        tell(c, slot, pc, w->loop, HEDDLE_LOOP_ITERATE);
    enter(c, slot, pc, in->loop);
    w->loop = in->loop;
}
