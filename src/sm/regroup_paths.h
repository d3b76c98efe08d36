/* The paths of a warp slot whose threads a divergence unit has put together: a post-dominator stack, as exec/simt.c
 * has one for an ordinary warp. The top entry runs. When its lanes part, it becomes the entry that waits at the
 * reconvergence point, with the two sides above it, the taken one on top. A path that gets to its stop is popped.
 *
 * No two threads of a slot share a physical lane, so that a mask of these says which threads are on a path. */
#ifndef HEDDLE_SM_REGROUP_PATHS_H
#define HEDDLE_SM_REGROUP_PATHS_H

#include "heddle/policy.h"

struct regroup_path {
    uint32_t pc, stop; /* a stop of HEDDLE_NO_PC means nowhere */
    uint32_t lanes;
    bool waits; /* at a barrier, which is at pc */
};

/* Both sides of a branch have fewer lanes than the path had, so that 32 lanes are on at most 63 entries. A meeting may
 * gather all lanes of the entry below it: paths meet on the way only while there are few entries. */
enum { REGROUP_PATHS_MEET = 64, REGROUP_PATHS = 2 + REGROUP_PATHS_MEET + 63 };

struct regroup_paths {
    uint32_t depth;
    struct regroup_path list[REGROUP_PATHS];
};

enum regroup_paths_state {
    PATHS_RUN,  /* the top has an instruction to execute */
    PATHS_WAIT, /* every path that could run waits at a barrier */
    PATHS_OVER, /* every path has got to where it stops, or has no lanes left */
};

static inline struct regroup_path *regroup_paths_top(struct regroup_paths *p) { return &p->list[p->depth - 1]; }

void regroup_paths_start(struct regroup_paths *p, uint32_t pc, uint32_t stop, uint32_t lanes); /* one path */
void regroup_paths_split(struct regroup_paths *p, const struct heddle_branch *e); /* lanes of the top part */
/* The lanes `there` of the top go to a place where paths meet on the way (ptx/meeting.h), with e->target or
 * e->fall_through its pc; the others part from them, if there are any. */
void regroup_paths_split_to_meeting(struct regroup_paths *p, const struct heddle_branch *e, bool if_taken);
void regroup_paths_remove(struct regroup_paths *p, uint32_t lanes); /* these lanes have ended */
/* Paths that wait at the barrier go on. */
void regroup_paths_open(struct regroup_paths *p);
/* Drops entries that are over and brings up one that can run: to be called after every change. */
enum regroup_paths_state regroup_paths_choose(struct regroup_paths *p);

#endif
