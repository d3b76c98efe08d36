/* A cache and the policy of its lines (struct heddle_l1): of an L1D that of its core, of an L2 slice one of its own.
 * What the policy decides reaches the cache as struct cache_choices; what became of lines is reported to it here. The
 * cache itself says what happened (struct cache_result). */
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
    bool reports; /* it wants to hear what becomes of lines */
    /* What the policy sees of an access. */
    const void *owner;
    struct heddle_l1_access (*describe)(const void *owner, const struct packet *p, enum heddle_outcome outcome,
                                        uint32_t set, uint32_t way);
    bool may_fetch;    /* stores may have their lines fetched */
    const char *where; /* "core" or "L2 slice", with view->id */
    char *trouble;     /* text for the first answer that cannot be; "" means that there was none */
    size_t trouble_bytes;
};

/* The members above are set, but for the state, which may come later. False: the cache has too many ways. */
bool line_policy_attach(struct line_policy *p, struct error *e);
/* An access or a fill. */
void line_policy_tell(const struct line_policy *p, const struct heddle_l1_access *e, const struct cache_result *r);
/* All lines are about to go; reserved: those on their way, too. */
void line_policy_tell_flush(const struct line_policy *p, bool reserved);

#endif
