/* The state of one launch, shared by functional and timed execution. */
#ifndef HEDDLE_GPU_LAUNCH_H
#define HEDDLE_GPU_LAUNCH_H

#include "gpu/gpu.h"

struct residency {
    struct gpu *gpu;
    struct exec_launch launch;
    struct device_queue queue;      /* what the kernel asked for, to be done when it has ended */
    struct exec_cta **blocks;       /* slots; idle ones have all warps done and are not in running */
    uint32_t slot_count, running;
    bool *busy;
    uint64_t next_block, block_count;
    struct exec_cluster *clusters;  /* one a group of slots, or NULL */
    uint32_t cluster_blocks;        /* slots are filled in groups of this many */
    uint64_t executed, executed_at_progress;
    uint64_t workspace;             /* of a cooperative launch: device address of struct grid_workspace */
    struct gpu_counters counters;   /* timed */
    struct profile_pcs *pcs;        /* where they were asked for, else NULL; handed on to the record of the launch */
    struct profile_series *series;
    const struct profile_listing *listing; /* functional, with counters of instructions: */
    struct profile_pc *pc_counts;
};

/* Which block of the grid the index-th one is. */
void launch_block_id(const struct residency *r, uint64_t index, uint32_t id[3]);
/* Room for a block on a core, new or left by an earlier launch. */
struct exec_cta *launch_make_room(struct residency *r, struct exec_launch *l, uint32_t core, struct error *e);

/* timing.c: the machine with its clocks. */
struct timing *timing_create(const struct gpu_options *options, struct error *e);
void timing_destroy(struct timing *t);
bool timing_run(struct residency *r, struct error *e);
bool timing_is_broken(const struct timing *t); /* the last launch failed: a new one is needed for the next */
void timing_note_copy(struct timing *t, const struct memory *m, uint64_t address, uint64_t bytes);

#endif
