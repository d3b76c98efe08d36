/* The policies of a kind, for people or as a table for a document. */
#ifndef HEDDLE_CLI_LIST_POLICIES_H
#define HEDDLE_CLI_LIST_POLICIES_H

#include "policy/registry.h"

void list_policies(enum policy_kind kind, bool markdown);

#endif
