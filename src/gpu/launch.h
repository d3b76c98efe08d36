/* The state of one launch, shared by functional and timed execution. */
#ifndef HEDDLE_GPU_LAUNCH_H
#define HEDDLE_GPU_LAUNCH_H

#include "gpu/gpu.h"

struct sample_launch;
struct sm_program;

struct residency {
    struct residency *next; /* of those that were started */
    struct gpu *gpu;
    int priority;    /* the lower, the sooner its blocks are placed; timed */
    bool functional; /* how it runs */
    bool skipped;    /* functional in a run with time: it has no record */
    bool ended, ok;
    uint64_t number;    /* among all launches */
    struct error error; /* what it ended with */
    double seconds;     /* shared with others */
    double run_seconds; /* in which it was run, by itself or with others */
    uint32_t record;    /* where its record is, if it has one already */
    bool has_record, unreported;
    bool overlapped; /* it was not alone at all times */
    bool estimated;  /* functional: its record is made of those of others (sample.h) */
    struct gpu_estimate estimate;
    struct sample_launch *sample; /* timed: blocks are left out; else NULL */
    struct exec_launch launch;
    struct device_queue queue; /* what the kernel asked for, to be done when it has ended */
    struct exec_cta **blocks;  /* slots; idle ones have all warps done and are not in running */
    uint32_t slot_count, running;
    bool *busy;
    uint64_t next_block, block_count;
    struct exec_cluster *clusters;  /* one a group of slots, or NULL */
    uint64_t register_stacks_bytes; /* of all warps (exec/call.c) */
    uint32_t cluster_blocks;        /* slots are filled in groups of this many */
    uint64_t executed, executed_at_progress, patience;
    uint64_t look_at;             /* functional: instructions after which the clock is looked at */
    uint64_t workspace;           /* of a cooperative launch: device address of struct grid_workspace */
    struct gpu_counters counters; /* timed */
    struct policy_tables *tables; /* where policies have counters of instructions, else NULL */
    struct profile_pcs *pcs;      /* where they were asked for, else NULL; handed on to the record of the launch */
    struct profile_series *series;
    struct warps_launch *warps;            /* its rows, where they were asked for, else NULL */
    const struct profile_listing *listing; /* functional, with counters of instructions: */
    struct profile_pc *pc_counts;
    struct race_launch *races;  /* functional, where races are looked for; else NULL */
    struct lockstep **lockstep; /* functional, in lockstep for probes: of each slot that had a block; else NULL */
    /* timed: */
    const struct sm_program *program;
    struct arena arena;
    uint32_t l1_bytes; /* of an L1 data cache that launches divide with shared memory; 0: it has its own */
    uint32_t block_limit, block_warps; /* of a core; of a block */
    uint64_t start, core_cycles;       /* the cycle it began in; cycles of all cores that it had */
    struct policy_counts *sampled;     /* room for the counts of a sample */
    uint64_t sample_at;                /* the cycle of its next sample; UINT64_MAX: none */
    struct profile_pc **parts;         /* counts of instructions, of each core that it had */
    uint32_t part_count;
};

/* Which block of the grid the index-th one is. */
void launch_block_id(const struct residency *r, uint64_t index, uint32_t id[3]);
double launch_clock(void); /* seconds of the host */
/* Room for a block on a core, new or left by an earlier launch. */
struct exec_cta *launch_make_room(struct residency *r, struct exec_launch *l, uint32_t core, struct error *e);

/* functional.c */
uint64_t functional_clock(struct exec_launch *l, const struct exec_warp *w);
void functional_start(struct residency *r);
enum gpu_pause functional_run(struct gpu *g, uint64_t budget);
uint64_t functional_round(struct residency *r); /* a turn for each of its blocks; returns instructions executed */
bool functional_is_stuck(struct gpu *g);
void functional_give_up(struct gpu *g);

/* timing_make.c, timing_launch.c: the machine with its clocks. */
struct timing *timing_create(const struct gpu_options *options, struct error *e);
void timing_destroy(struct timing *t);
/* A new one in the place of one that is broken, or of none: its time goes on. */
struct timing *timing_replace(struct timing *broken, const struct gpu_options *options, struct error *e);
/* As gpu_start, gpu_run and gpu_give_up: what went wrong is in residency.error. */
void timing_start(struct residency *r);
enum gpu_pause timing_run(struct gpu *g, uint64_t budget);
bool timing_is_stuck(struct gpu *g);
void timing_describe_hang(struct residency *r);
void timing_give_up(struct gpu *g);
bool timing_is_broken(const struct timing *t); /* the last launch failed: a new one is needed for the next */
void timing_note_copy(struct timing *t, const struct memory *m, uint64_t address, uint64_t bytes);

#endif
