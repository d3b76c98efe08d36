/* The table of DRAM policies. */
#include "mem/dram_policy.h"

const struct dram_policy *const dram_policies[] = {
#define DRAM_POLICY(id, object, name, help) [DRAM_##id] = &object,
#include "mem/dram_policies.def"
};
