/* The parts of policy_choose: registry.c finds the policy, library.c loads one from a shared object, params.c reads its parameters. */
#ifndef HEDDLE_POLICY_CHOOSE_H
#define HEDDLE_POLICY_CHOOSE_H

#include "policy/registry.h"

struct policy_kind_words { const char *option, *name, *one; }; /* "-s", "scheduler", "a scheduler" */
extern const struct policy_kind_words policy_kind_words[POLICY_KINDS];

void policy_choice_set(struct policy_choice *choice, enum policy_kind kind, const struct heddle_policy *p);
/* The first length bytes of the spec are a path. */
bool policy_load(struct policy_choice *choice, enum policy_kind kind, const struct source *spec, size_t length, struct error *e);
/* What stands behind the name, which is length bytes long; fills values, spec and texts. */
bool policy_read_params(struct policy_choice *choice, const struct source *spec, size_t length, struct error *e);

#endif
