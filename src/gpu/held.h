/* Policies that keep a launch from its end. */
#ifndef HEDDLE_GPU_HELD_H
#define HEDDLE_GPU_HELD_H

#include "gpu/timing.h"

/* What a core had done when it was last looked at. */
struct held_core {
    uint64_t issued;    /* instructions */
    uint64_t way_fails; /* accesses that were given no way in the L1D */
    uint64_t since;     /* the cycle since which a policy keeps it from its work */
};

/* To be called every CHECK_CYCLES or so. False: a policy has kept a core from its work for HELD_CYCLES; *e names it. */
bool held_check(struct timing *t, struct error *e);
/* To be called when nothing will happen any more in the whole machine. False: that is due to a policy; *e names it. */
bool held_check_for_ever(struct timing *t, struct error *e);

#endif
