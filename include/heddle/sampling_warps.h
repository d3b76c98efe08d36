/* The sampling warps of DAWS (section 5.2), a part that any policy may use: each loop is watched through one warp at a
 * time, and a saturating counter per loop says whether the loads of those warps showed locality: up with each that did,
 * down with each that did not. A loop has locality while its counter is above 0; it outlives the warps.
 *
 *   loop, entered:   heddle_sampling_warps_enter: the warp takes the duty if nobody has it and more than two of its
 *                    lanes are active. A warp that is in the loop already does not take it over
 *   loop, left:      heddle_sampling_warps_leave
 *   ended:           heddle_sampling_warps_ended
 *   a load is done:  heddle_sampling_warps_judge, for loads of the loop's sampling warp
 *
 * When the table is full, new loops are not taken: nobody samples them, and they have no locality. */
#ifndef HEDDLE_SAMPLING_WARPS_H
#define HEDDLE_SAMPLING_WARPS_H

#include "heddle/policy.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_SAMPLING_LANES = 3 }; /* a warp with fewer says too little about its loop */

struct heddle_sampled_loop {
    int32_t loop, warp /* HEDDLE_NO_WARP means nobody */, locality;
};
struct heddle_sampling_warps {
    uint32_t capacity, count;
    int32_t least, most; /* where a counter stays */
    struct heddle_sampled_loop *entries;
};

/* False: no memory, or nothing to hold. To be freed in either case. */
static inline bool heddle_sampling_warps_init(struct heddle_sampling_warps *t, uint32_t capacity, int32_t least,
                                              int32_t most)
{
    t->capacity = capacity;
    t->count = 0;
    t->least = least;
    t->most = most;
    t->entries = capacity ? (struct heddle_sampled_loop *)calloc(capacity, sizeof *t->entries) : NULL;
    return t->entries != NULL;
}

static inline void heddle_sampling_warps_free(struct heddle_sampling_warps *t)
{
    free(t->entries);
    t->entries = NULL;
}

static inline void heddle_sampling_warps_clear(struct heddle_sampling_warps *t) { t->count = 0; }

static inline struct heddle_sampled_loop *heddle_sampling_warps_find(const struct heddle_sampling_warps *t,
                                                                     int32_t loop)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->entries[i].loop == loop)
            return &t->entries[i];
    return NULL;
}

static inline bool heddle_sampling_warps_samples(const struct heddle_sampling_warps *t, int32_t loop, uint32_t warp)
{
    const struct heddle_sampled_loop *e = loop < 0 ? NULL : heddle_sampling_warps_find(t, loop);
    return e && e->warp == (int32_t)warp;
}

static inline bool heddle_sampling_warps_has_locality(const struct heddle_sampling_warps *t, int32_t loop)
{
    const struct heddle_sampled_loop *e = heddle_sampling_warps_find(t, loop);
    return e && e->locality > 0;
}

static inline void heddle_sampling_warps_enter(struct heddle_sampling_warps *t, int32_t loop, uint32_t warp,
                                               uint32_t lanes)
{
    struct heddle_sampled_loop *e = heddle_sampling_warps_find(t, loop);
    if (lanes < HEDDLE_SAMPLING_LANES || (e && e->warp != HEDDLE_NO_WARP))
        return;
    if (!e && t->count < t->capacity) {
        e = &t->entries[t->count++];
        e->loop = loop;
        e->locality = 0;
    }
    if (e)
        e->warp = (int32_t)warp;
}

static inline void heddle_sampling_warps_leave(struct heddle_sampling_warps *t, int32_t loop, uint32_t warp)
{
    struct heddle_sampled_loop *e = heddle_sampling_warps_find(t, loop);
    if (e && e->warp == (int32_t)warp)
        e->warp = HEDDLE_NO_WARP;
}

static inline void heddle_sampling_warps_ended(struct heddle_sampling_warps *t, uint32_t warp)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->entries[i].warp == (int32_t)warp)
            t->entries[i].warp = HEDDLE_NO_WARP;
}

/* A load of a loop that is in the table. True: the loop has locality now. */
static inline bool heddle_sampling_warps_judge(struct heddle_sampling_warps *t, int32_t loop, bool local)
{
    struct heddle_sampled_loop *e = heddle_sampling_warps_find(t, loop);
    if (local)
        e->locality += e->locality < t->most;
    else
        e->locality -= e->locality > t->least;
    return e->locality > 0;
}

#ifdef __cplusplus
}
#endif

#endif
