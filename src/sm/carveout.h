/* An L1 data cache and shared memory that are one (core.unified_bytes): how a launch divides it. */
#ifndef HEDDLE_SM_CARVEOUT_H
#define HEDDLE_SM_CARVEOUT_H

#include "sm/config.h"

struct carveout_request {
    uint32_t block_threads;
    uint32_t blocks;             /* resident on a core */
    uint64_t block_shared_bytes; /* that one of them asks for */
    int percent;                 /* of shared memory that the program prefers; below 0: it does not say */
};

/* Bytes that are shared memory while the launch runs. */
uint32_t carveout_shared_bytes(const struct sm_config *g, const struct carveout_request *r);
/* Bytes that are L1 data cache then; 0: the two are not one. */
uint32_t carveout_l1_bytes(const struct sm_config *g, const struct carveout_request *r);

#endif
