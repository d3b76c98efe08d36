/* When each part of a core must be run next.
 *
 * A part says so itself: at the end of its step it puts the next cycle in which it can do something, as far as its own
 * queues tell, into this table (due_at). Another part, or the core's owner, may give it something to do before that
 * (due_by, due_now). The core is run in the earliest cycle of the table, and sleeps until then.
 *
 * Running a part too early changes no result; running it too late does. */
#ifndef HEDDLE_SM_DUE_H
#define HEDDLE_SM_DUE_H

#include "base/numbers.h"

#include <stdbool.h>
#include <stdint.h>

#define SM_NEVER UINT64_MAX

enum core_part {
    PART_PIPELINES, /* writeback, units, operand collectors */
    PART_LSU,
    PART_ISSUE, /* the schedulers, and warps that sleep until a known cycle */
    PART_FRONT, /* fetch and decode */
    CORE_PARTS
};

struct sm_due {
    uint64_t at[CORE_PARTS]; /* 0 means now; SM_NEVER means not before another part says so */
};

static inline bool is_due(const struct sm_due *d, enum core_part part, uint64_t now) { return d->at[part] <= now; }
/* Is a part other than the load/store unit due? */
static inline bool others_are_due(const struct sm_due *d, uint64_t now)
{
    return d->at[PART_ISSUE] <= now || d->at[PART_PIPELINES] <= now || d->at[PART_FRONT] <= now;
}
static inline void due_at(struct sm_due *d, enum core_part part, uint64_t cycle) { d->at[part] = cycle; }
static inline void due_now(struct sm_due *d, enum core_part part) { d->at[part] = 0; }

static inline void due_by(struct sm_due *d, enum core_part part, uint64_t cycle)
{
    d->at[part] = earlier(cycle, d->at[part]);
}

/* The next cycle in which the core must be run, after `now`. */
static inline uint64_t due_next(const struct sm_due *d, uint64_t now)
{
    uint64_t a = earlier(d->at[PART_PIPELINES], d->at[PART_LSU]), b = earlier(d->at[PART_ISSUE], d->at[PART_FRONT]);
    return later(earlier(a, b), now + 1);
}

#endif
