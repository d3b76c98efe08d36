/* A cache and the policy of its lines (struct heddle_l1): the L1D of a core with that of the core, or an L2 slice
 * with one of its own. The policy's decisions reach the cache as struct cache_choices. The policy hears here what
 * became of lines; the cache says what happened (struct cache_result). */
#ifndef HEDDLE_SM_LINE_POLICY_H
#define HEDDLE_SM_LINE_POLICY_H

#include "base/error.h"
#include "heddle/policy.h"
#include "mem/cache.h"

struct line_policy {
    const struct heddle_l1 *l1;
    void *state;
    struct heddle_core *view;
    const uint64_t *now; /* core cycle, which the view is given before a hook; NULL means that the owner keeps it */
    struct cache *cache;
    bool reports; /* the policy hears what becomes of lines */
    /* Makes an access as the policy sees it. */
    const void *owner;
    struct heddle_l1_access (*describe)(const void *owner, const struct packet *p, enum heddle_outcome outcome,
                                        uint32_t set, uint32_t way);
    bool may_fetch;    /* a store may have its line fetched */
    const char *where; /* "core" or "L2 slice", with view->id */
    char *trouble;     /* text for the first answer that cannot be; "" means that there was none */
    size_t trouble_bytes;
};

/* The members above are set, but for `state`, which may come later. Returns false, with *e, if the cache has too
 * many ways. */
bool line_policy_attach(struct line_policy *p, struct error *e);
/* Tells the policy what an access or a fill did to lines. */
void line_policy_tell(const struct line_policy *p, const struct heddle_l1_access *e, const struct cache_result *r);
/* Tells the policy that all lines are about to go; with `reserved`, also the lines whose data is on its way. */
void line_policy_tell_flush(const struct line_policy *p, bool reserved);

#endif
