/* All policies, built-in and from shared objects; and how a spec `name:key=value,...` becomes values. */
#ifndef HEDDLE_POLICY_REGISTRY_H
#define HEDDLE_POLICY_REGISTRY_H

#include "base/error.h"
#include "heddle/policy.h"

extern const struct heddle_scheduler *const policy_schedulers[]; /* NULL at the end */
extern const struct heddle_l1 *const policy_l1s[];
extern const struct heddle_divergence *const policy_divergences[];
extern const struct heddle_probe *const policy_probes[];
/* Does the probe work with --functional, and only there? */
static inline bool policy_probe_is_functional(const struct heddle_probe *p)
{
    return p->blocks.branch || p->blocks.ran || p->blocks.left || p->blocks.write;
}

enum { POLICY_VALUES = 32 };

/* A policy chosen by a spec. */
struct policy_choice {
    const struct heddle_scheduler *scheduler; /* one of the four is set */
    const struct heddle_l1 *l1;
    const struct heddle_divergence *divergence;
    const struct heddle_probe *probe;
    const struct heddle_policy *policy; /* its common part */
    union heddle_value values[POLICY_VALUES];
    char spec[512]; /* resolved: name:key=value with all parameters, in order; just the name where it has none */
    void *library;  /* dlopen handle, or NULL */
    char *texts;    /* memory of the text values, or NULL */
};

enum policy_kind { POLICY_SCHEDULER, POLICY_L1, POLICY_DIVERGENCE, POLICY_PROBE, POLICY_KINDS };

/* The built-in policy of a kind by number; NULL after the last. */
const struct heddle_policy *policy_builtin(enum policy_kind kind, size_t number);

/* Unknown names, keys and values are errors with a caret under the place in the spec and the nearest known name; a path
 * (with a '/' or ending in .so) is loaded: no file, no symbol heddle_policy_entry, another ABI, the wrong kind, a
 * missing pick: each its own message. ERROR_NOT_FOUND: a name or a file that is not there; ERROR_INVALID: all else. A
 * choice that failed needs no release. */
bool policy_choose(struct policy_choice *choice, enum policy_kind kind, const char *spec, struct error *e);
size_t policy_name_length(const char *spec); /* of the name or path at its start */
void policy_release(struct policy_choice *choice);
uint32_t policy_param_count(const struct heddle_policy *p);
uint32_t policy_counter_count(const struct heddle_policy *p);

#endif
