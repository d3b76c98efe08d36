/* The hooks of a policy by name. */
#ifndef HEDDLE_POLICY_HOOKS_H
#define HEDDLE_POLICY_HOOKS_H

#include "policy/registry.h"

/* The hook that begins last at or before an address of code, "pick" say; NULL: none does. *begin: where, on entry the
 * least address that counts. Allocates nothing: it is for handlers of signals. */
const char *policy_hook_at(enum policy_kind kind, const struct heddle_policy *p, uintptr_t code, uintptr_t *begin);

#endif
