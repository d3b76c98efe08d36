/* Dynamic energy of the memory system, from what a launch counted. Relative numbers: see energy.c. */
#ifndef HEDDLE_GPU_ENERGY_H
#define HEDDLE_GPU_ENERGY_H

#include "gpu/counters.h"

struct energy {
    double l1d_nj, l2_nj, dram_nj, total_nj;
}; /* nanojoules */

struct energy energy_of(const struct gpu_counters *c);

#endif
