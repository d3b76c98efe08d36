/* A stack of paths for a slot of regrouped threads: see regroup_paths.h. Left out: lanes that spin while others of
 * their slot wait for them are not let go (exec/let_go.c). */
#include "sm/regroup_paths.h"

#include <assert.h>
#include <string.h>

static void push(struct regroup_paths *p, uint32_t pc, uint32_t stop, uint32_t lanes)
{
    assert(p->depth < REGROUP_PATHS);
    p->list[p->depth++] = (struct regroup_path){.pc = pc, .stop = stop, .lanes = lanes};
}

void regroup_paths_start(struct regroup_paths *p, uint32_t pc, uint32_t stop, uint32_t lanes)
{
    p->depth = 0;
    push(p, pc, stop, lanes);
}

void regroup_paths_split(struct regroup_paths *p, const struct heddle_branch *e)
{
    struct regroup_path *top = regroup_paths_top(p);
    uint32_t meet = e->reconvergence;
    if (meet == top->stop || meet == HEDDLE_NO_PC) { /* the entry below waits there already, or nobody needs to */
        meet = top->stop;
        p->depth--;
    } else {
        top->pc = meet;
    }
    if (e->fall_through != meet)
        push(p, e->fall_through, meet, e->not_taken);
    if (e->target != meet)
        push(p, e->target, meet, e->taken);
}

void regroup_paths_remove(struct regroup_paths *p, uint32_t lanes)
{
    for (uint32_t i = 0; i < p->depth; i++)
        p->list[i].lanes &= ~lanes;
}

void regroup_paths_open(struct regroup_paths *p)
{
    for (uint32_t i = 0; i < p->depth; i++) {
        p->list[i].pc += p->list[i].waits;
        p->list[i].waits = false;
    }
}

/* The top waits at a barrier. Brings up a path that does not wait, and that shares no lanes with the entries above
 * it: these would meet in one that does. */
static bool bring_up_runnable(struct regroup_paths *p)
{
    uint32_t above = 0;
    for (uint32_t i = p->depth; i-- > 0;) {
        struct regroup_path path = p->list[i];
        if (!path.waits && !(path.lanes & above)) {
            memmove(&p->list[i], &p->list[i + 1], (p->depth - 1 - i) * sizeof path);
            *regroup_paths_top(p) = path;
            return true;
        }
        above |= path.lanes;
    }
    return false;
}

enum regroup_paths_state regroup_paths_choose(struct regroup_paths *p)
{
    while (p->depth) {
        const struct regroup_path *top = regroup_paths_top(p);
        if (!top->lanes || (!top->waits && top->pc == top->stop))
            p->depth--;
        else if (!top->waits)
            return PATHS_RUN;
        else if (!bring_up_runnable(p))
            return PATHS_WAIT;
    }
    return PATHS_OVER;
}
