/* The parts of policy_choose: registry.c finds the policy, library.c loads one from a shared object, params.c reads its
 * parameters. bundle.c does the same for several at once. */
#ifndef HEDDLE_POLICY_CHOOSE_H
#define HEDDLE_POLICY_CHOOSE_H

#include "policy/bundle.h"

struct policy_kind_words {
    const char *option, *name, *one;
}; /* "-s", "scheduler", "a scheduler" */
extern const struct policy_kind_words policy_kind_words[POLICY_KINDS];

void policy_choice_set(struct policy_choice *choice, enum policy_kind kind, const struct heddle_policy *p);
/* The policy of this name; NULL means that there is none. */
const struct heddle_policy *policy_find_builtin(enum policy_kind kind, const char *name, size_t length);
const struct policy_bundle *policy_bundle_find(const struct policy_bundle *table, const char *name, size_t length);
/* Is it a shared object: does it have a '/', or end in .so? */
bool policy_is_path(const char *spec, size_t length);
/* The first length bytes of the spec are a path. */
bool policy_load(struct policy_choice *choice, enum policy_kind kind, const struct source *spec, size_t length,
                 struct error *e);
/* Finds which kinds of policies the library holds, one bit per kind; at least one. */
bool policy_library_kinds(const struct source *spec, size_t length, uint32_t *kinds, struct error *e);
/* Reads the parameters after the name, which is length bytes long; fills in values, spec and texts. */
bool policy_read_params(struct policy_choice *choice, const struct source *spec, size_t length, struct error *e);
/* The same for the parameters after a bundle's name, where a key that the policy does not have is another member's. */
bool policy_read_params_of_bundle(struct policy_choice *choice, const struct source *spec, size_t length,
                                  struct error *e);

#endif
