/* Bundles: several policies that belong together and share state (core->shared), under one option: `-p cawa` stands
 * for `-s gcaws --l1 cacp`. A bundle is resolved to plain specs before anything else sees it, so that results, stores
 * and command lines only ever hold policies. */
#ifndef HEDDLE_POLICY_BUNDLE_H
#define HEDDLE_POLICY_BUNDLE_H

#include "policy/registry.h"

/* A built-in bundle. Members are specs; NULL means that it has none of a kind. */
struct policy_bundle {
    const char *name, *help;
    const char *scheduler, *l1, *divergence, *probe;
};
extern const struct policy_bundle policy_bundles[]; /* the last has name NULL */

/* The spec of a built-in bundle's member; NULL means that it has none. */
const char *policy_bundle_member(const struct policy_bundle *b, enum policy_kind kind);

enum { POLICY_SPEC_BYTES = 4352 };

/* What a bundle stands for: a spec for each of its policies, empty where it has none of that kind. */
struct policy_specs {
    char of[POLICY_KINDS][POLICY_SPEC_BYTES];
};

/* spec: `NAME[:key=value,...]` or the path of a shared object with its parameters. Each key goes to every member
 * that has a parameter of that name. Unknown names, keys and values are errors with a caret, as those of policy_choose.
 * */
bool policy_bundle_resolve(struct policy_specs *out, const char *spec, struct error *e);
/* The same with the bundles of another table. */
bool policy_bundle_resolve_in(struct policy_specs *out, const struct policy_bundle *table, const char *spec,
                              struct error *e);
/* The same beside policies that were given by themselves (by kind; NULL or empty means none), which must not be of a
 * kind that the bundle has. Any number of probes is fine. */
bool policy_bundle_take(struct policy_specs *out, const char *spec, const char *const given[POLICY_KINDS],
                        struct error *e);

#endif
