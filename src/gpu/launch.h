/* The state of one launch, shared by functional and timed execution. */
#ifndef HEDDLE_GPU_LAUNCH_H
#define HEDDLE_GPU_LAUNCH_H

#include "gpu/gpu.h"

struct sample_launch;
struct sm_program;

/* The thread blocks of a launch, and slots for those that are resident. */
struct launch_blocks {
    uint64_t count, next;    /* blocks of the grid; the next one to be started */
    struct exec_cta **slots; /* NULL in a slot that has had no block yet */
    uint32_t slot_count;
    uint32_t cluster_size;         /* slots are filled in groups of this many blocks */
    struct exec_cluster *clusters; /* one per group; NULL means that the launch has no clusters */
};

/* What is kept of a launch when it has ended: struct gpu_kernel. */
struct launch_record {
    bool is_kept; /* the record has been made, and is gpu.kernels[index] */
    uint32_t index;
    bool unreported;    /* the launch is outside the program's region of interest */
    bool overlapped;    /* other launches ran at the same time */
    double seconds;     /* the host's time, shared with launches that ran at the same time */
    double run_seconds; /* the host's time from the start to the end */
    struct gpu_counters counters;
    struct gpu_estimate estimate;
    struct policy_tables *tables; /* counters that policies have for each instruction; NULL means none */
    struct profile_pcs *pcs;      /* counts of each instruction; NULL means that nobody asked for them */
    struct profile_series *series;
    struct warps_launch *warps; /* one row per warp; NULL means that nobody asked for them */
};

/* A launch that runs without time. */
struct launch_untimed {
    bool *busy; /* slots whose block has not ended */
    uint32_t running;
    uint64_t executed; /* warp instructions */
    uint64_t look_at;  /* the clock of the host is looked at when so many instructions have been executed */
    uint64_t executed_at_progress, patience; /* to suspect a hang: gpu/functional.c */
    struct profile_pc *pc_counts;            /* as it runs; NULL means that instructions are not counted */
    struct race_launch *races;               /* NULL means that races are not looked for */
    struct lockstep **lockstep; /* of each slot that had a block, for probes; NULL means that warps run one by one */
};

/* A launch on the timing model. */
struct launch_timed {
    struct arena arena;
    uint32_t l1_bytes; /* of an L1 data cache that launches divide with shared memory; 0 means that it has its own */
    uint32_t block_limit, block_warps; /* blocks that a core may hold; warps of a block */
    uint64_t start;                    /* the cycle in which it began */
    uint64_t core_cycles;              /* the cycles of all cores that it had */
    struct profile_pc **parts;         /* counts of instructions, of each core that it had */
    uint32_t part_count;
    struct sample_launch *sample;        /* with --sample; NULL means that no block is left out */
    uint64_t sample_at;                  /* the cycle of the next entry of record.series; UINT64_MAX means none */
    struct policy_counts *sample_counts; /* room for the counts of such an entry */
};

struct residency {
    struct residency *next; /* in the list of launches that were started */
    struct gpu *gpu;
    uint64_t number;    /* among all launches */
    int priority;       /* with time: blocks of a launch with a lower number are placed first */
    bool is_functional; /* it runs without time */
    bool skipped;       /* it runs without time in a run with time, and has no record */
    bool estimated;     /* it runs without time, and its record is made of those of others (sample.h) */
    bool ended, ok;
    struct error error; /* what it ended with */
    struct exec_launch launch;
    struct device_queue queue;      /* what the kernel asked for, to be done when it has ended */
    uint64_t workspace;             /* of a cooperative launch: device address of its struct grid_workspace */
    uint64_t register_stacks_bytes; /* of all warps (exec/call.c) */
    const struct sm_program *program;
    const struct profile_listing *listing; /* NULL means that instructions are not counted */
    struct launch_blocks blocks;
    struct launch_record record;
    struct launch_untimed untimed;
    struct launch_timed timed;
};

/* Which block of the grid the index-th one is. */
void launch_block_id(const struct residency *r, uint64_t index, uint32_t id[3]);
double launch_clock(void); /* seconds of the host */

/* functional.c */
uint64_t functional_clock(struct exec_launch *l, const struct exec_warp *w);
void functional_start(struct residency *r);
enum gpu_pause functional_run(struct gpu *g, uint64_t budget);
uint64_t functional_round(struct residency *r); /* gives each of its blocks a turn; returns instructions executed */
bool functional_is_stuck(struct gpu *g);
void functional_give_up(struct gpu *g);

/* timing_make.c, timing_launch.c: the machine with its clocks. */
struct timing *timing_create(const struct gpu_options *options, struct error *e);
void timing_destroy(struct timing *t);
/* A new machine in the place of one that is broken, whose time goes on; or of none. */
struct timing *timing_replace(struct timing *broken, const struct gpu_options *options, struct error *e);
/* These do for timed launches what gpu_start, gpu_run and gpu_give_up do for all; errors are in residency.error. */
void timing_start(struct residency *r);
enum gpu_pause timing_run(struct gpu *g, uint64_t budget);
bool timing_is_stuck(struct gpu *g);
void timing_describe_hang(struct residency *r);
void timing_give_up(struct gpu *g);
bool timing_is_broken(const struct timing *t); /* the last launch failed: the next one needs a new machine */
void timing_note_copy(struct timing *t, const struct memory *m, uint64_t address, uint64_t bytes);

#endif
