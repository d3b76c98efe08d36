/* What a launch counted, summed over the machine. */
#ifndef HEDDLE_GPU_COUNTERS_H
#define HEDDLE_GPU_COUNTERS_H

#include "exec/exec.h"
#include "gpu/policy_counts.h"
#include "mem/partition.h"
#include "sm/counters.h"

struct gpu_counters {
    struct exec_counters exec;        /* lanes, branches */
    bool timed;                       /* false means that all that follows is zero (functional mode) */
    struct policy_counts *policies;   /* with time; the owner of the counters frees it */
    uint64_t cycles;                  /* core cycles of the launch */
    struct sm_counters sm;            /* summed over cores */
    struct partition_counters memory; /* summed over channels */
    struct network_counters requests, replies;
    uint64_t dram_read_sectors, dram_write_sectors; /* sectors of 32 bytes that the commands of the channels moved */
    uint64_t resident_warps_most;                   /* cores x warps x cycles; occupancy is a share of it */
    uint64_t scheduler_cycles;                      /* cores x schedulers x cycles */
    uint64_t launches, phases,
        phase_latencies; /* launches; phases of the kernel (PAWS), and the sum of their lengths */
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
uint64_t counters_vta_hits(const struct gpu_counters *c); /* of the policy that has victim tags */
uint64_t cache_fails(const struct cache_counters *c);

#endif
