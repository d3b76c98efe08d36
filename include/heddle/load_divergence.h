/* The memory divergence detector of DAWS (section 5.2.2), a part that any policy may use: one small saturating counter
 * per load. A load of more than two lanes counts up when it made more than two accesses, else down; a load whose
 * counter is above 1 is diverged.
 *
 *   coalesced:  heddle_load_divergence_seen, for the loads that one wants classified
 *
 * When the table is full, new loads are not taken: they are never diverged. */
#ifndef HEDDLE_LOAD_DIVERGENCE_H
#define HEDDLE_LOAD_DIVERGENCE_H

#include "heddle/policy.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_CONVERGED_MOST = 2 }; /* accesses of a converged load; loads of so few lanes say nothing */

struct heddle_load_count {
    uint32_t pc, diverged;
};
struct heddle_load_divergence {
    uint32_t capacity, count, most; /* most: where a counter stays, 2^bits - 1 */
    struct heddle_load_count *entries;
};

/* False: no memory, or nothing to hold. To be freed in either case. */
static inline bool heddle_load_divergence_init(struct heddle_load_divergence *t, uint32_t capacity, uint32_t bits)
{
    t->capacity = capacity;
    t->count = 0;
    t->most = (UINT32_C(1) << bits) - 1;
    t->entries = capacity ? (struct heddle_load_count *)calloc(capacity, sizeof *t->entries) : NULL;
    return t->entries != NULL;
}

static inline void heddle_load_divergence_free(struct heddle_load_divergence *t)
{
    free(t->entries);
    t->entries = NULL;
}

static inline void heddle_load_divergence_clear(struct heddle_load_divergence *t) { t->count = 0; }

static inline struct heddle_load_count *heddle_load_divergence_find(const struct heddle_load_divergence *t, uint32_t pc)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->entries[i].pc == pc)
            return &t->entries[i];
    return NULL;
}

static inline void heddle_load_divergence_seen(struct heddle_load_divergence *t, uint32_t pc, uint32_t lanes,
                                               uint32_t accesses)
{
    if (lanes <= HEDDLE_CONVERGED_MOST)
        return;
    struct heddle_load_count *e = heddle_load_divergence_find(t, pc);
    if (!e) {
        if (t->count == t->capacity)
            return;
        e = &t->entries[t->count++];
        e->pc = pc;
        e->diverged = 0;
    }
    if (accesses > HEDDLE_CONVERGED_MOST)
        e->diverged += e->diverged < t->most;
    else
        e->diverged -= e->diverged > 0;
}

static inline bool heddle_load_divergence_is_diverged(const struct heddle_load_divergence *t, uint32_t pc)
{
    const struct heddle_load_count *e = heddle_load_divergence_find(t, pc);
    return e && e->diverged > 1;
}

#ifdef __cplusplus
}
#endif

#endif
