/* Events of loops: the loops that a warp enters, goes round in and leaves, for policies that listen. */
#include "sm/core.h"

static bool is_inside(const struct heddle_program *p, int32_t loop, int32_t outer)
{
    while (loop >= 0 && loop != outer)
        loop = p->loops[loop].parent;
    return loop == outer;
}

static void tell_loop(struct sm *c, uint32_t slot, uint32_t pc, int32_t loop, enum heddle_loop_step step)
{
    uint32_t active = c->slots[slot].exec->active;
    SM_TELL(c, loop, &(struct heddle_loop_event){.warp = slot, .pc = pc, .active = active, .loop = loop, .step = step});
}

static void enter_loops(struct sm *c, uint32_t slot, uint32_t pc, int32_t loop, int32_t until)
{
    if (loop < 0 || loop == until)
        return;
    enter_loops(c, slot, pc, c->program->view.loops[loop].parent, until);
    tell_loop(c, slot, pc, loop, HEDDLE_LOOP_ENTER);
}

static void leave_loop(struct sm *c, uint32_t slot, uint32_t pc)
{
    struct sm_slot *s = &c->slots[slot];
    tell_loop(c, slot, pc, s->loop, HEDDLE_LOOP_LEAVE);
    s->loop = c->program->view.loops[s->loop].parent;
}

/* A call leaves no loop: the caller's loop is put aside. A return, or the end of all lanes that were called, leaves
 * the loops of the callee. */
static void follow_calls(struct sm *c, uint32_t slot, uint32_t pc, uint32_t depth)
{
    struct sm_slot *s = &c->slots[slot];
    int32_t *caller = &c->host.call_loops[slot * SM_CALLS];
    for (; s->loop_depth < depth; s->loop_depth++) {
        caller[s->loop_depth] = s->loop;
        s->loop = -1;
    }
    for (; s->loop_depth > depth; s->loop = caller[--s->loop_depth])
        while (s->loop >= 0)
            leave_loop(c, slot, pc);
}

__attribute__((noinline)) void sm_tell_loops(struct sm *c, uint32_t slot, uint32_t pc)
{
    struct sm_slot *s = &c->slots[slot];
    const struct sm_inst *in = &c->program->code[pc];
    uint32_t depth = s->exec->at.frame_depth;
    if (depth != s->loop_depth && c->host.call_loops) {
        if (depth >= SM_CALLS)
            return;
        follow_calls(c, slot, pc, depth);
    }
    if (s->loop == in->loop) {
        if (in->loop_header && in->loop >= 0)
            tell_loop(c, slot, pc, in->loop, HEDDLE_LOOP_ITERATE);
        return;
    }
    while (s->loop >= 0 && !is_inside(&c->program->view, in->loop, s->loop))
        leave_loop(c, slot, pc);
    if (s->loop == in->loop && in->loop >= 0 && in->loop_header)
        tell_loop(c, slot, pc, in->loop, HEDDLE_LOOP_ITERATE);
    enter_loops(c, slot, pc, in->loop, s->loop);
    s->loop = in->loop;
}
