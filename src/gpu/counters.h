/* What a launch counted, summed over the machine. */
#ifndef HEDDLE_GPU_COUNTERS_H
#define HEDDLE_GPU_COUNTERS_H

#include "exec/exec.h"
#include "mem/partition.h"
#include "sm/counters.h"

enum { POLICY_COUNTERS_MOST = 32 };

struct gpu_counters {
    struct exec_counters exec;               /* lanes, branches */
    bool timed;                              /* false: what follows is zero (functional mode) */
    uint64_t cycles;                         /* core cycles of the launch */
    struct sm_counters sm;                   /* summed over cores */
    struct partition_counters memory;        /* summed over channels */
    struct crossbar_counters requests, replies;
    uint64_t scheduler_counters[POLICY_COUNTERS_MOST], l1_counters[POLICY_COUNTERS_MOST], divergence_counters[POLICY_COUNTERS_MOST];
    uint64_t resident_warps_most;            /* cores x warps x cycles: what occupancy is a share of */
    uint64_t scheduler_cycles;               /* cores x schedulers x cycles */
    uint64_t launches, phases, phase_latencies; /* of the kernel itself: phases (PAWS), and their lengths added up */
};

#endif
