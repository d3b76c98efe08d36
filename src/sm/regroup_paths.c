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

/* Of entries that wait below for the same place as the paths of a branch: the lowest. */
static uint32_t first_sibling(const struct regroup_paths *p, uint32_t stop)
{
    uint32_t at = p->depth;
    while (at > 0 && p->list[at - 1].stop == stop && !p->list[at - 1].waits)
        at--;
    return at;
}

/* A path that has come to a meeting runs after its siblings, together with those of them that come there. */
static void wait_at_meeting(struct regroup_paths *p, uint32_t pc, uint32_t stop, uint32_t lanes)
{
    uint32_t first = first_sibling(p, stop);
    for (uint32_t i = first; i < p->depth; i++)
        if (p->list[i].pc == pc) {
            p->list[i].lanes |= lanes;
            return;
        }
    push(p, pc, stop, lanes);
    struct regroup_path path = *regroup_paths_top(p);
    memmove(&p->list[first + 1], &p->list[first], (p->depth - 1 - first) * sizeof path);
    p->list[first] = path;
}

void regroup_paths_split_to_meeting(struct regroup_paths *p, const struct heddle_branch *e, bool if_taken)
{
    struct regroup_path *top = regroup_paths_top(p);
    uint32_t there = e->not_taken, others = e->taken, pc = e->fall_through, other_pc = e->target;
    uint32_t stop = e->reconvergence;
    if (if_taken) {
        there = e->taken, others = e->not_taken;
        pc = e->target, other_pc = e->fall_through;
    }
    bool in_group = stop == top->stop && p->depth > 1 && top[-1].stop == stop;
    if (!there || (!others && !in_group)) {
        top->pc = there ? pc : other_pc;
        return;
    }
    if (stop == top->stop)
        p->depth--;
    else
        top->pc = stop;
    wait_at_meeting(p, pc, stop, there);
    if (others && other_pc != stop)
        push(p, other_pc, stop, others);
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
