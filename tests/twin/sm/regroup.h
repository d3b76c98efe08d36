/* The twin has no divergence units that regroup (sm.h): nothing of theirs is ever asked. */
#ifndef HEDDLE_TWIN_REGROUP_H
#define HEDDLE_TWIN_REGROUP_H

#include "sm/sm.h"

static inline bool regroup_is_stuck(const struct sm *c, uint64_t window) { return (void)c, (void)window, false; }
static inline void regroup_new_window(struct sm *c) { (void)c; }
static inline bool regroup_is_starved(const struct sm *c, uint64_t window) { return (void)c, (void)window, false; }
static inline void regroup_describe_stuck(const struct sm *c, uint64_t window, struct error *e)
{
    (void)c, (void)window, (void)e;
}

#endif
