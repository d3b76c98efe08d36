/* What a launch counted, summed over the machine. */
#ifndef HEDDLE_GPU_COUNTERS_H
#define HEDDLE_GPU_COUNTERS_H

#include "exec/exec.h"
#include "gpu/policy_counts.h"
#include "mem/partition.h"
#include "sm/counters.h"

struct gpu_counters {
    struct exec_counters exec;        /* lanes, branches */
    bool timed;                       /* false: what follows is zero (functional mode) */
    struct policy_counts *policies;   /* timed; whoever keeps the counters frees it */
    uint64_t cycles;                  /* core cycles of the launch */
    struct sm_counters sm;            /* summed over cores */
    struct partition_counters memory; /* summed over channels */
    struct network_counters requests, replies;
    uint64_t dram_read_sectors, dram_write_sectors; /* of 32 bytes: commands of the channels, of whatever length */
    uint64_t resident_warps_most;                   /* cores x warps x cycles: what occupancy is a share of */
    uint64_t scheduler_cycles;                      /* cores x schedulers x cycles */
    uint64_t launches, phases, phase_latencies; /* of the kernel itself: phases (PAWS), and their lengths added up */
};

/* All fields of a structure of counters. */
static inline void counters_add(void *to, const void *from, size_t bytes)
{
    uint64_t *sum = to;
    const uint64_t *more = from;
    for (size_t i = 0; i < bytes / sizeof *sum; i++)
        sum[i] += more[i];
}

/* Metrics that are more than a field, for the rows of heddle/metrics.def. */
uint64_t counters_warp_instructions(const struct gpu_counters *c);
uint64_t counters_thread_instructions(const struct gpu_counters *c);
uint64_t counters_vta_hits(const struct gpu_counters *c); /* of whichever policy has victim tags */
uint64_t cache_fails(const struct cache_counters *c);

#endif
