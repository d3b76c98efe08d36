/* A warp whose lanes have come apart (strands.c, let_go.c). */
#ifndef HEDDLE_EXEC_STRANDS_H
#define HEDDLE_EXEC_STRANDS_H

#include "exec/control.h"

/* Lanes of a warp that run on their own: a stack and calls of their own, over the warp's registers and local memory. */
struct strand {
    uint32_t lanes;
    bool blocked; /* all its paths wait */
    struct exec_context at;
    uint64_t looked; /* warp instructions since at.look_from, of those that it ran */
};

enum { CLUSTER_BARRIER = CTA_BARRIERS };

struct strand_set {
    struct strand list[WARP_LANES];
    uint32_t count, current; /* what list says of the current one is out of date: the warp has it */
    uint32_t came[CTA_BARRIERS +
                  1]; /* lanes that have arrived where one does not wait: bar.arrive, barrier.cluster.arrive */
};

/* Takes lanes out of the path that runs and those below it, into a strand of their own, which is next to run. */
void strands_part(struct exec_warp *w, uint32_t lanes);
uint32_t strands_lanes(const struct exec_warp *w); /* that exist and have not exited, of the strand that runs */
bool strands_end(struct exec_warp *w);             /* the strand that runs has no lanes left; false: it was the last */
void strands_wait(struct exec_warp *w);            /* all its paths wait */
void strands_resume(struct exec_warp *w);          /* finds one to run */
void strands_turn(struct exec_warp *w); /* the next one's turn; those that are at the same place become one */
void strands_meet(struct exec_warp *w); /* after a step: where another one is, too, they become one */
bool strands_release(struct exec_warp *w, uint32_t id,
                     const struct exec_barrier *complete);               /* as barrier_release_paths, of all */
bool strands_all_came(struct exec_warp *w, uint32_t id, uint32_t lanes); /* notes the lanes; true: they were the last */
void strands_perform(struct exec_warp *w, const struct exec_inst *in,
                     uint32_t mask);                       /* what a strand has issued, whichever runs now */
uint32_t strands_registers_end(const struct exec_warp *w); /* where the register stack is free for all */
void strands_show(struct exec_warp *w,
                  uint32_t i); /* makes the warp look as if strand i ran, for whoever only looks at a copy of it */
void strands_drop(struct exec_warp *w); /* the warp starts anew, or is freed */

/* meeting.c: meetings within the warp (bar.warp.sync, shfl.sync and its like). What is said of the current strand must
 * be up to date. */
void meeting_pass_complete(struct exec_warp *w); /* where all lanes that are named have come */
bool meeting_pass_all(struct exec_warp *w);      /* nobody else can come; whether there were any */

static inline void barrier_pass(struct simt_entry *path)
{
    path->barrier = 0;
    path->pc++;
}

/* The barrier of the block that the path has reached and that has not counted the warp yet, as a mask; it has now. */
static inline uint32_t barrier_reach(struct simt_entry *path)
{
    if (!path->barrier || path->arrived)
        return 0;
    path->arrived = true;
    return 1u << (path->barrier - 1);
}

#endif
