/* What touches device memory is executed at the end of the cycle, core after core in the order of their numbers.
 *
 * An atomic finds its addresses then, and takes effect when it comes to its channel; or, with the rule atomics_at_once,
 * it takes effect then, and what it sends is time alone. */
#include "model/model.h"

/* Another instruction of the warp has failed in this cycle. If this one fails too, it was the first. */
static void execute_before_fault(struct sm *c, struct exec_warp *w, const struct instruction *f)
{
    struct exec_fault later = c->launch.fault;
    c->launch.faulted = false;
    exec_perform(w, f->exec_inst, f->mask);
    if (!c->launch.faulted)
        c->launch.fault = later;
    c->launch.faulted = true;
}

static void perform(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    struct exec_warp *w = c->warps[f->slot].exec;
    w->access.space = PTX_SPACE_NONE;
    w->addresses_only = f->inst->atomic && !c->config->atomics_at_once;
    if (w->state == WARP_FAULT)
        execute_before_fault(c, w, f);
    else
        exec_perform(w, f->exec_inst, f->mask);
    w->addresses_only = false;
    if (w->state == WARP_FAULT)
        model_stop(&c->warps[f->slot]);
    if (!f->mask)
        w->access = (struct exec_access){.space = PTX_SPACE_NONE};
    model_find_accesses(c, id);
}

void sm_perform(struct sm *c)
{
    for (uint32_t i = 0; i < c->head.deferred; i++)
        perform(c, c->deferred[i]);
    c->head.deferred = 0;
}

/* The channel of an atomic executes the lanes of one of its accesses. */
void sm_perform_atomic(struct sm *c, const struct packet *p)
{
    struct instruction *f = &c->inflight[p->token];
    struct exec_warp *w = c->warps[f->slot].exec;
    f->performed |= p->mask;
    if (!p->mask || c->config->atomics_at_once)
        return;
    exec_perform(w, f->exec_inst, p->mask);
    if (w->state == WARP_FAULT)
        model_stop(&c->warps[f->slot]);
}

/* Reductions of surfaces and of shared memory have taken effect when they issued. */
void sm_pending(const struct sm *c, const struct exec_warp *w, struct exec_pending *out)
{
    for (uint32_t slot = 0; slot < c->config->warps && !c->config->atomics_at_once; slot++) {
        const struct warp *at = &c->warps[slot];
        const struct instruction *f = &c->inflight[at->atomic];
        bool done_at_issue = f->texture || f->space == SM_SHARED;
        if (at->exec == w && at->atomics && !done_at_issue)
            *out = (struct exec_pending){f->exec_inst, f->mask & ~f->performed};
    }
}
