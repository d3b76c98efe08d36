/* An L1 data cache and shared memory that share their bytes (core.unified_bytes): how a launch divides these. */
#ifndef HEDDLE_SM_CARVEOUT_H
#define HEDDLE_SM_CARVEOUT_H

#include "sm/config.h"

struct carveout_request {
    uint32_t block_threads;
    uint32_t blocks;             /* resident on a core */
    uint64_t block_shared_bytes; /* that one block asks for */
    /* The program prefers to have as shared memory; below 0 means that it does not say. */
    int percent;
};

/* Bytes that are shared memory while the launch runs. */
uint32_t carveout_shared_bytes(const struct sm_config *g, const struct carveout_request *r);
/* Bytes that are L1 data cache then; 0 means that cache and shared memory do not share their bytes. */
uint32_t carveout_l1_bytes(const struct sm_config *g, const struct carveout_request *r);

#endif
