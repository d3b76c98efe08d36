/* Static load classification, a part that any policy may use (DAWS, sections 4.2 and 5.1.1): for each load in a loop,
 * whether it is diverged and which others of the loop touch the same lines (its repetition group). From this follows
 * how many lines a warp brings into the L1D in one iteration.
 *
 *   heddle_load_classes_put:    a load of a loop, or its new classification; one entry per load
 *   heddle_load_classes_join:   two loads of one loop touch the same line: their groups become one
 *   heddle_load_classes_lines:  the footprint of an iteration of a loop with so many active lanes
 *
 * Loads and loops are named by their index in the program. When the table is full, new loads are not taken. */
#ifndef HEDDLE_LOAD_CLASSES_H
#define HEDDLE_LOAD_CLASSES_H

#include "heddle/policy.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_load_class {
    uint32_t pc;
    int32_t loop;              /* the innermost around the load */
    uint32_t group;            /* index of the first entry of its repetition group */
    uint32_t diverged_members; /* of the group; kept in its first entry */
    bool diverged;
};

struct heddle_load_classes {
    uint32_t capacity, count;
    struct heddle_load_class *entries; /* in the order in which they came */
};

/* False: no memory, or nothing to hold. To be freed in either case. */
static inline bool heddle_load_classes_init(struct heddle_load_classes *t, uint32_t capacity)
{
    t->capacity = capacity;
    t->count = 0;
    t->entries = capacity ? (struct heddle_load_class *)calloc(capacity, sizeof *t->entries) : NULL;
    return t->entries != NULL;
}

static inline void heddle_load_classes_free(struct heddle_load_classes *t)
{
    free(t->entries);
    t->entries = NULL;
}

static inline void heddle_load_classes_clear(struct heddle_load_classes *t) { t->count = 0; }

static inline struct heddle_load_class *heddle_load_classes_find(const struct heddle_load_classes *t, uint32_t pc)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->entries[i].pc == pc)
            return &t->entries[i];
    return NULL;
}

/* True: the entry is new, or says something else than before. */
static inline bool heddle_load_classes_put(struct heddle_load_classes *t, uint32_t pc, int32_t loop, bool diverged)
{
    struct heddle_load_class *e = heddle_load_classes_find(t, pc);
    if (!e) {
        if (t->count == t->capacity)
            return false;
        e = &t->entries[t->count];
        memset(e, 0, sizeof *e);
        e->pc = pc;
        e->loop = loop;
        e->group = t->count++;
    } else if (e->diverged == diverged) {
        return false;
    }
    t->entries[e->group].diverged_members += (uint32_t)diverged - (uint32_t)e->diverged;
    e->diverged = diverged;
    return true;
}

/* True: they were in two groups. Loads that are not in the table, or in different loops, are left as they are. */
static inline bool heddle_load_classes_join(struct heddle_load_classes *t, uint32_t pc, uint32_t other_pc)
{
    const struct heddle_load_class *a = heddle_load_classes_find(t, pc);
    const struct heddle_load_class *b = heddle_load_classes_find(t, other_pc);
    if (!a || !b || a->loop != b->loop || a->group == b->group)
        return false;
    uint32_t first = a->group < b->group ? a->group : b->group;
    uint32_t second = a->group < b->group ? b->group : a->group;
    t->entries[first].diverged_members += t->entries[second].diverged_members;
    for (uint32_t i = second; i < t->count; i++)
        if (t->entries[i].group == second)
            t->entries[i].group = first;
    return true;
}

/* Each group counts once: as many lines as lanes if one of its loads is diverged, else two; one for a single lane. */
static inline uint32_t heddle_load_classes_lines(const struct heddle_load_classes *t, int32_t loop, uint32_t lanes)
{
    uint32_t lines = 0, converged = lanes < 2 ? lanes : 2;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->entries[i].loop == loop && t->entries[i].group == i)
            lines += t->entries[i].diverged_members ? lanes : converged;
    return lines;
}

#ifdef __cplusplus
}
#endif

#endif
