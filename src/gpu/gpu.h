/* A GPU: a machine, its memory, the kernels launched on it and what they counted. */
#ifndef HEDDLE_GPU_GPU_H
#define HEDDLE_GPU_GPU_H

#include "base/error.h"
#include "exec/exec.h"
#include "gpu/counters.h"
#include "gpu/launch_limit.h"
#include "gpu/machine.h"
#include "policy/registry.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct timeline;
struct trace;
struct issue_order;
struct warps;
struct progress;
struct profile_pcs;
struct profile_series;
struct profile_listing;
struct policy_tables;
struct launch_filter;

/* Grows by one with every change that moves timed results (docs/changes.md): what was simulated under another number is
 * simulated again, not looked up. */
enum { GPU_TIMING_EPOCH = 16 };

/* A record is some kilobytes, and programs launch kernels a million times. */
enum gpu_records {
    GPU_RECORDS_OF_LAUNCHES, /* one for each launch */
    GPU_RECORDS_OF_KERNELS,  /* one for all launches of a kernel; launches that were cut short have their own */
    GPU_RECORDS_NONE,        /* nobody will ask */
};

struct gpu_options {
    struct machine machine;
    bool functional;
    bool exact_bounds; /* a kernel's access outside of allocations is always an error (exec/memory.h) */
    bool races;        /* functional: look for races (exec/race.h). Not with probes, for which blocks run in lockstep */
    uint64_t max_cycles; /* 0: no limit. In functional mode a cycle is one warp instruction. */
    struct launch_limit launch_limit;
    uint32_t slice;          /* functional: warp instructions a warp runs before the next takes its turn; 0: default */
    volatile int *interrupt; /* set non-zero (by a signal handler) to stop; may be NULL */
    struct policy_choice scheduler, l1, divergence; /* timed; taken over by the GPU. Not chosen: the machine's */
    struct policy_choice l2;                        /* of the L2's lines, as the machine says; the same */
    struct policy_choice probes[GPU_PROBES];        /* such as work in this mode; taken over by the GPU */
    uint32_t probe_count;
    uint32_t threads;                /* timed: cores are simulated on so many threads; 0: one */
    bool lockstep;                   /* timed: no core runs ahead of the others. Results are the same */
    bool sample;                     /* timed: time a part, estimate the rest (sample.h) */
    bool host_parts;                 /* timed: where the host's time goes is looked at (host_watch.h) */
    struct timeline *timeline;       /* or NULL; the caller's */
    struct trace *trace;             /* of L1D accesses, or NULL; the caller's */
    struct warps *warps;             /* one row per warp, or NULL; the caller's (gpu/warps.h) */
    struct issue_order *issue_order; /* or NULL; the caller's. Not with a timeline */
    struct progress *progress;       /* or NULL; the caller's */
    struct launch_filter *filter;    /* with time: which launches have it; NULL: all. The caller's */
    enum gpu_records records;        /* what is kept of launches that have ended */
    bool pcs;                        /* count what each instruction does (gpu/profile.h) */
    uint64_t interval;               /* timed: sample the counters every so many cycles; 0: not */
};

/* Of cycles that are not counted but estimated (sample.h); all 0: they were counted. */
struct gpu_estimate {
    uint64_t timed_cycles, timed_instructions, instructions;
    uint64_t launches; /* of which nothing was timed */
    /* Half of the 95% interval: of what is independent, squared; and of what estimates have in common, which adds up.
     */
    double half_squared, half_common;
};

struct gpu_kernel { /* one launch, or all of one kernel (gpu_options.records) */
    char *name;
    uint64_t launches;
    uint64_t number;            /* of the first, among all launches, those without a record included; from 0 */
    uint32_t grid[3], block[3]; /* of the first */
    struct gpu_counters counters;
    struct gpu_estimate estimate;
    uint64_t warp_instructions, thread_instructions;
    double seconds;
    bool partial;                 /* it did not come to its end */
    bool unreported;              /* outside the program's region of interest */
    bool overlapped;              /* other launches ran at the same time */
    uint64_t start_cycle;         /* gpu.clock_cycles when it began */
    struct profile_pcs *pcs;      /* where they were asked for, else NULL */
    struct policy_tables *tables; /* where policies have counters of instructions, else NULL */
    struct profile_series *series;
};

struct gpu_kernel_tables {
    char *name;
    struct policy_tables *tables;
};

/* Room for blocks that a launch leaves to the next one of the same shape: programs launch the same kernel over and
 * over. */
struct gpu_spare {
    uint64_t image; /* exec_image.id; 0: none */
    const struct exec_function *kernel;
    uint32_t block[3], dynamic_shared_bytes, local_bytes;
    struct exec_cta **blocks;
    uint32_t count;
};

struct timing;
struct block_probes;
struct host_watch;
struct sample_kernels;

struct gpu {
    struct gpu_options options;
    struct gpu_spare spare;
    struct timing *timing;             /* the machine with its clocks; NULL in functional mode */
    struct sample_kernels *samples;    /* launches that others are estimated from */
    struct host_watch *watch;          /* where that was asked for, else NULL */
    struct block_probes *block_probes; /* functional, with probes; else NULL */
    struct races *races;               /* where they are looked for, else NULL */
    struct memory *memory;
    struct texture_table textures;
    struct device_heap *heap;
    struct residency *started; /* launches that were started and not finished: timed ones, */
    struct residency *untimed; /* and functional ones */
    bool stuck;                /* none of them could go on when last run */
    struct gpu_kernel *kernels;
    uint32_t kernel_count, kernel_capacity;
    struct profile_listing *listings;        /* of kernels whose instructions were counted */
    struct gpu_kernel_tables *kernel_tables; /* of all launches of each kernel, in the order of the first ones' ends */
    uint32_t kernel_table_count;
    bool probes_have_written;
    uint64_t next_grid_id, next_launch; /* numbers */
    uint32_t launch_depth;              /* kernels that kernels launch */
    uint64_t stack_limit_bytes, heap_limit_bytes, printf_fifo_bytes;
    uint64_t clock_cycles;         /* that have passed while launches ran */
    uint64_t skipped_instructions; /* of warps, in functional launches of a run with time: not in the clock */
    double launch_seconds;
    double run_since; /* when the gpu_run that is under way began */
    bool unreported;  /* whether launches are, from now on */
    FILE *printf_out; /* where vprintf of kernels goes; default stdout, NULL: nowhere */
};

/* Is a launch timed? As the options say, or as the launch that it was made by. */
enum gpu_timed { GPU_AS_CHOSEN, GPU_TIMED, GPU_UNTIMED };

struct gpu_launch {
    const struct exec_function *kernel;
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0,0,0: none */
    uint32_t dynamic_shared_bytes;
    const void *params; /* params_bytes of kernel->ptx->param_bytes, laid out as the parameter block */
    uint32_t params_bytes;
    bool cooperative;
    uint32_t carveout; /* percent of shared memory that the program prefers, and 1; 0: it does not say */
    int priority;      /* of launches that run together: the lower, the sooner */
    enum gpu_timed timed;
};

/* Launches that run together: each is started, all that were are run until one has ended, and that one is finished. */
enum gpu_pause {
    GPU_ENDED,
    GPU_STUCK /* none can go on unless memory is changed from outside */,
    GPU_TIRED /* the budget is spent */
};

/* The policies of a machine, in the order in which their counts are kept: scheduler, L1 policy, divergence unit (NULL
 * without time), probes, NULL. Returns how many there are. */
uint32_t gpu_policies(const struct gpu_options *o, const struct heddle_policy *out[GPU_POLICIES + 1]);
bool gpu_has_tables(const struct gpu_options *o); /* has one of them counters of instructions? */
/* Adds the tables of a launch to those of its kernel. */
void gpu_kernel_tables_add(struct gpu *g, const char *kernel, const struct policy_tables *t);
/* Lets each probe write what it has to, once. False: *e says which could not, and why; the others have written. */
bool gpu_write_probes(struct gpu *g, struct error *e);
struct gpu *gpu_create(const struct gpu_options *options, struct error *e);
void gpu_destroy(struct gpu *g);
struct residency *gpu_start(struct gpu *g, const struct gpu_launch *launch,
                            struct error *e); /* NULL: refused. The parameters are copied. */
bool gpu_may_start(const struct gpu *g);      /* or must the others end first? */
enum gpu_pause gpu_run(struct gpu *g,
                       uint64_t budget); /* budget: warp instructions, or cycles where time is modelled */
bool gpu_has_ended(const struct residency *r);
bool gpu_has_failed(const struct residency *r); /* has it, by its own fault? */
bool gpu_is_running(const struct gpu *g);       /* has one been started that has not ended? */
/* Of one that has ended: counts are kept, what it asked for is run; frees it. False: it went wrong. ERROR_NONE: another
 * one did, and took it along. */
bool gpu_finish(struct residency *r, struct error *e);
/* All that have not ended end here. hangs: because they are stuck, as the first will say. */
void gpu_give_up(struct gpu *g, bool hangs);
/* Runs the kernel to its end, with others that were started. Not reentrant: the caller serialises all this on one gpu.
 * Error kinds: RESOURCES, INVALID (does not fit), or what the kernel did. */
bool gpu_launch(struct gpu *g, const struct gpu_launch *launch, struct error *e);
/* The modules of one program, linked and placed in the GPU's memory; they are taken over, also on failure. lazy:
 * kernels are decoded when they are asked for. To be destroyed by exec_image_destroy. (load.c) */
struct exec_image *gpu_load(struct gpu *g, struct ptx_module **modules, uint32_t count, bool lazy, struct error *e);
/* The parameter block of a kernel, from one pointer per parameter. False: one of them is NULL. (load.c) */
bool gpu_pack_arguments(const struct exec_function *kernel, void *const *arguments, uint8_t *to);
/* Is the shape legal, and does a block fit a core? What gpu_launch looks at first. */
bool gpu_check_launch(const struct gpu *g, const struct gpu_launch *launch, struct error *e);
/* The name is copied, what was counted is taken over; returns its index in gpu.kernels. */
uint32_t gpu_kernel_record(struct gpu *g, const struct gpu_kernel *k);
void gpu_kernel_drop(const struct gpu_kernel *k); /* frees what was counted in it, but not the name */
void gpu_kernel_add(struct gpu_kernel *sum, const struct gpu_kernel *k); /* counters, instructions, seconds, launches */
void gpu_spare_free(struct gpu *g);
/* Moves on as long as the simulation does. NULL: it is being made. For the threads that simulate. */
uint64_t gpu_pulse(const struct gpu *g);
/* Of core cycles: what several threads simulated together. False: there is but one. */
bool gpu_shared(const struct gpu *g, double *share);
/* The threads that simulate besides the one that runs it; out has room for most. Returns how many. */
uint32_t gpu_threads(const struct gpu *g, pthread_t *out, uint32_t most);
/* How many blocks of this shape fit one core (0: none). */
uint32_t gpu_occupancy(const struct gpu *g, const struct exec_function *kernel, uint32_t block_threads,
                       uint32_t dynamic_shared_bytes);
/* Registers that a thread of such a block has at most, where the kernel would use more: the rest counts as spilled, and
 * the traffic of that is left out. 0: it has all it wants, or was compiled for blocks of this size. */
uint32_t gpu_spilled_to(const struct gpu *g, const struct exec_function *kernel, uint32_t block_threads);
/* Device memory was written from outside: a copy from the host, which may leave its data in the L2. */
void gpu_note_copy(struct gpu *g, uint64_t address, uint64_t bytes);
uint32_t gpu_max_dynamic_shared(const struct gpu *g); /* the most a block may ask for, static included */

#endif
