/* Which threads brought the lines of the L1D, a part that any policy or probe may use (CCWS, figure 11: hits within a
 * warp are of the thread that brought the line, or of another thread of the warp).
 *
 *   l1_access:  heddle_line_threads_accessed says of each access of a load whose line it found
 *
 * A line was brought by the lanes that missed on it: those of the access that asked for it, and those of accesses of
 * the same warp that found it on its way. A hit with one of these lanes is of the same thread, whatever its other lanes
 * are.
 *
 * A hit by the line's own warp is `unseen` where the lanes are not known: on machines that take a way when the line has
 * come, and on those whose L1D keeps partly written lines (heddle_l1_access.lanes is 0 there). Where a line is fetched
 * in sectors, the lanes are those of the last sector. */
#ifndef HEDDLE_LINE_THREADS_H
#define HEDDLE_LINE_THREADS_H

#include "heddle/policy.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum heddle_line_user {
    HEDDLE_NO_LOAD, /* a store, or an access that will be tried again */
    HEDDLE_NO_LINE, /* a miss, also on a line that is on its way */
    HEDDLE_LINE_OF_THREAD,
    HEDDLE_LINE_OF_WARP, /* of another thread of the warp */
    HEDDLE_LINE_OF_OTHERS,
    HEDDLE_LINE_UNSEEN, /* of the warp, of which thread is not known */
    HEDDLE_LINE_USERS
};

struct heddle_line_lanes {
    uint64_t address, age; /* of the line; of the warp that brought it */
    uint32_t warp, lanes;
};
struct heddle_line_threads {
    uint32_t ways;
    struct heddle_line_lanes *lines; /* by set and way */
};

/* False: no memory. To be freed in either case. A core without an L1D has no lines, and makes no accesses. */
static inline bool heddle_line_threads_init(struct heddle_line_threads *t, const struct heddle_core *core)
{
    t->ways = core->l1_ways;
    t->lines = (struct heddle_line_lanes *)calloc((size_t)core->l1_sets * core->l1_ways + 1, sizeof *t->lines);
    return t->lines != NULL;
}

static inline void heddle_line_threads_free(struct heddle_line_threads *t)
{
    free(t->lines);
    t->lines = NULL;
}

/* age: of the warp that makes the access. */
static inline enum heddle_line_user heddle_line_threads_accessed(struct heddle_line_threads *t,
                                                                 const struct heddle_l1_access *e, uint64_t age)
{
    if (e->store || e->outcome == HEDDLE_FAIL)
        return HEDDLE_NO_LOAD;
    struct heddle_line_lanes *line = e->way < t->ways ? &t->lines[(size_t)e->set * t->ways + e->way] : NULL;
    if (e->outcome == HEDDLE_MISS) {
        if (line) {
            line->address = e->address;
            line->age = age;
            line->warp = e->warp;
            line->lanes = e->lanes;
        }
        return HEDDLE_NO_LINE;
    }
    bool known = line && line->address == e->address && line->warp == e->warp && line->age == age && line->lanes;
    if (e->outcome == HEDDLE_PENDING) {
        if (known)
            line->lanes |= e->lanes;
        return HEDDLE_NO_LINE;
    }
    if (e->owner != (int32_t)e->warp || e->owner_age != age)
        return HEDDLE_LINE_OF_OTHERS;
    if (!known || !e->lanes)
        return HEDDLE_LINE_UNSEEN;
    return line->lanes & e->lanes ? HEDDLE_LINE_OF_THREAD : HEDDLE_LINE_OF_WARP;
}

#ifdef __cplusplus
}
#endif

#endif
