/* Intra-warp locality of whole loads, a part that any policy or probe may use (DAWS, section 5.2.1). A load has it
 * when one of its accesses found a line that its own warp had brought (captured), or would have, had the line not left
 * (lost: a hit in the victim tags).
 *
 *   l1_access:  heddle_load_locality_of_access, with what the victim tags said of it; then
 *               heddle_load_locality_accessed, with this answer: the last access of a load gets that of the load
 *
 * The accesses of a warp come load after load, so one running answer per warp slot is enough.
 *
 * A line that is still on its way counts as found: the L1D reserves a line when it is asked for, with the warp's
 * number, and an earlier load of the warp did ask for it. What the load itself asked for does not count: the two halves
 * of a converged load touch the same line, and a line that is used once has no locality. The paper's intra-warp hit is
 * on data that a warp loads and then references again, which takes two loads. */
#ifndef HEDDLE_LOAD_LOCALITY_H
#define HEDDLE_LOAD_LOCALITY_H

#include "heddle/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_LOAD_LINES = 64 }; /* remembered of a load; of one with more, what is found is taken for its own */
enum heddle_load_answer { HEDDLE_LOAD_GOES_ON, HEDDLE_LOAD_WITHOUT_LOCALITY, HEDDLE_LOAD_WITH_LOCALITY };

struct heddle_load_progress {
    uint32_t count; /* lines that the load has missed on */
    bool local;     /* its answer so far */
    uint64_t line[HEDDLE_LOAD_LINES];
};
struct heddle_load_locality {
    struct heddle_load_progress warp[HEDDLE_WARPS];
};

/* Did the access find a line that an earlier load of its warp had brought, or lose one? age: of the warp that makes it;
 * lost: its victim tags have the line. */
static inline bool heddle_load_locality_of_access(const struct heddle_load_locality *l,
                                                  const struct heddle_l1_access *e, uint64_t age, bool lost)
{
    const struct heddle_load_progress *p = &l->warp[e->warp];
    bool found = (e->outcome == HEDDLE_HIT || e->outcome == HEDDLE_PENDING) && e->owner == (int32_t)e->warp;
    if (!found || e->owner_age != age)
        return lost;
    for (uint32_t i = 0; i < p->count && i < HEDDLE_LOAD_LINES; i++)
        if (p->line[i] == e->address)
            return lost;
    return p->count <= HEDDLE_LOAD_LINES || lost;
}

/* local: what the function above said of the access. */
static inline enum heddle_load_answer heddle_load_locality_accessed(struct heddle_load_locality *l,
                                                                    const struct heddle_l1_access *e, bool local)
{
    struct heddle_load_progress *p = &l->warp[e->warp];
    if (e->store || e->outcome == HEDDLE_FAIL)
        return HEDDLE_LOAD_GOES_ON;
    p->local |= local;
    if (e->outcome == HEDDLE_MISS) {
        if (p->count < HEDDLE_LOAD_LINES)
            p->line[p->count] = e->address;
        p->count++;
    }
    if (e->left)
        return HEDDLE_LOAD_GOES_ON;
    bool any = p->local;
    p->local = false;
    p->count = 0;
    return any ? HEDDLE_LOAD_WITH_LOCALITY : HEDDLE_LOAD_WITHOUT_LOCALITY;
}

#ifdef __cplusplus
}
#endif

#endif
