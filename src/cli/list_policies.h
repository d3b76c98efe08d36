/* The policies of a kind, for people or as a table for a document. */
#ifndef HEDDLE_CLI_LIST_POLICIES_H
#define HEDDLE_CLI_LIST_POLICIES_H

#include "policy/bundle.h"

void list_policies(enum policy_kind kind, bool markdown);
void list_policy_names(enum policy_kind kind);
/* Those of a table, with what they stand for. */
void list_bundles(const struct policy_bundle *table, bool markdown);

#endif
