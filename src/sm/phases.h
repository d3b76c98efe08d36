/* The phases of a function on a machine: from its PTX and the machine's latencies. */
#ifndef HEDDLE_SM_PHASES_H
#define HEDDLE_SM_PHASES_H

#include "ptx/cfg.h"
#include "ptx/phases.h"
#include "sm/config.h"

/* `out` has one entry per instruction. Loads are those of global, local, shared and texture memory, and atomics;
 * parameters and constants are at hand. Returns the number of phases. If `latencies` is not NULL, it gets the
 * latencies that were added up. */
uint32_t sm_find_phases(const struct ptx_function *f, const struct sm_config *config, enum ptx_phase_order order,
                        struct ptx_phase *out, uint32_t *latencies);

#endif
