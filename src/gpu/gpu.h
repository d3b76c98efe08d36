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

/* Grows by one with every change that moves timed results (docs/changes.md). Results that were simulated under another
 * number are simulated again, not looked up. */
enum { GPU_TIMING_EPOCH = 16 };

/* What is kept of launches: a record is some kilobytes, and programs launch kernels a million times. */
enum gpu_records {
    GPU_RECORDS_OF_LAUNCHES, /* one for each launch */
    GPU_RECORDS_OF_KERNELS,  /* one for all launches of a kernel; launches that were cut short have their own */
    GPU_RECORDS_NONE,        /* nothing: nobody will read it */
};

/* A kind of policy that was not chosen is the machine's own; probes are such as work with time, or without. */
struct gpu_policy_choices {
    struct policy_choice scheduler, l1, divergence;
    struct policy_choice l2; /* an L1 policy for the lines of the L2, always the machine's own */
    struct policy_choice probes[GPU_PROBES];
    uint32_t probe_count;
};

/* What is written while kernels run: each is the caller's, and NULL where nobody asked for it. A timeline and an issue
 * order exclude each other. */
struct gpu_observers {
    struct timeline *timeline;
    struct trace *trace; /* of L1D accesses */
    struct warps *warps; /* one row per warp (gpu/warps.h) */
    struct issue_order *issue_order;
    struct progress *progress;
};

struct gpu_options {
    struct machine machine;
    struct gpu_policy_choices policies; /* the GPU takes them over */
    struct gpu_observers observers;
    bool functional;     /* kernels run without time */
    uint64_t max_cycles; /* of all launches, in functional mode warp instructions; 0 means no limit */
    struct launch_limit launch_limit;
    volatile int *interrupt; /* a signal handler sets it to another value than 0, to stop; may be NULL */
    enum gpu_records records;
    bool pcs;          /* count what each instruction does (gpu/profile.h) */
    bool exact_bounds; /* a kernel's access outside of allocations is always an error (exec/memory.h) */
    /* In functional mode alone. */
    bool races;     /* look for races (exec/race.h). Not with probes, for which blocks run in lockstep */
    uint32_t slice; /* warp instructions that a warp runs before the next takes its turn; 0 means the default */
    /* With time alone. */
    uint32_t threads;             /* on which cores are simulated; 0 means one */
    bool lockstep;                /* no core runs ahead of the others; results are the same */
    bool sample;                  /* time a part, estimate the rest (sample.h) */
    bool host_parts;              /* watch where the host's time goes (host_watch.h) */
    uint64_t interval;            /* cycles from one sample of the counters to the next; 0 means no samples */
    struct launch_filter *filter; /* which launches are timed; NULL means all. The caller's */
};

/* How cycles were estimated (sample.h); all 0 means that they were counted. */
struct gpu_estimate {
    uint64_t timed_cycles, timed_instructions, instructions;
    uint64_t launches; /* those of which nothing was timed */
    /* Half of the 95% interval: the independent part, squared; and the part that estimates have in common, which adds
     * up. */
    double half_squared, half_common;
};

struct gpu_kernel { /* one launch, or all of one kernel (gpu_options.records) */
    char *name;
    uint64_t launches;
    uint64_t number;            /* of the first launch, among all launches, also those without a record; from 0 */
    uint32_t grid[3], block[3]; /* of the first launch */
    struct gpu_counters counters;
    struct gpu_estimate estimate;
    uint64_t warp_instructions, thread_instructions;
    double seconds;
    bool partial;                 /* a launch did not come to its end */
    bool unreported;              /* outside the program's region of interest */
    bool overlapped;              /* other launches ran at the same time */
    uint64_t start_cycle;         /* gpu.clock_cycles when the first launch began */
    struct profile_pcs *pcs;      /* NULL means that nobody asked for them */
    struct policy_tables *tables; /* NULL means that no policy has counters of instructions */
    struct profile_series *series;
};

struct gpu_kernel_tables {
    char *name;
    struct policy_tables *tables;
};

/* Room for blocks that a launch leaves to the next one of the same shape (spare_rooms.h). */
struct gpu_spare {
    uint64_t image; /* exec_image.id; 0 means that there is no room */
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
    struct sample_kernels *samples;    /* launches from which others are estimated */
    struct host_watch *watch;          /* NULL means that nobody asked for it */
    struct block_probes *block_probes; /* functional, with probes; else NULL */
    struct races *races;               /* NULL means that races are not looked for */
    struct memory *memory;
    struct texture_table textures;
    struct device_heap *heap;
    /* Launches that were started and not finished: timed ones, and functional ones. */
    struct residency *started, *untimed;
    bool stuck; /* none of these could go on when they were last run */
    struct gpu_kernel *kernels;
    uint32_t kernel_count, kernel_capacity;
    struct profile_listing *listings;        /* of kernels whose instructions were counted */
    struct gpu_kernel_tables *kernel_tables; /* in the order in which the first launch of each kernel ended */
    uint32_t kernel_table_count;
    bool probes_have_written;
    uint64_t next_grid_id, next_launch; /* numbers */
    uint32_t launch_depth;              /* of kernels that are launched by kernels */
    uint64_t stack_limit_bytes, heap_limit_bytes, printf_fifo_bytes;
    uint64_t clock_cycles;         /* cycles that have passed while launches ran */
    uint64_t skipped_instructions; /* warp instructions of functional launches in a run with time; not in the clock */
    double launch_seconds;
    double run_since; /* when the gpu_run that is under way began */
    bool unreported;  /* launches that start now are outside the program's region of interest */
    FILE *printf_out; /* where vprintf of kernels goes; at first stdout; NULL means nowhere */
};

/* Whether a launch is timed: as the options say; or as the launch was whose kernel made it. */
enum gpu_timed { GPU_AS_CHOSEN, GPU_TIMED, GPU_UNTIMED };

struct gpu_launch {
    const struct exec_function *kernel;
    uint32_t grid[3], block[3], cluster[3]; /* a cluster of 0,0,0 means none */
    uint32_t dynamic_shared_bytes;
    const void *params; /* params_bytes of kernel->ptx->param_bytes, laid out as the parameter block */
    uint32_t params_bytes;
    bool cooperative;
    uint32_t carveout; /* 1 more than the percentage of shared memory that the program prefers; 0 means no preference */
    int priority;      /* among launches that run together, a lower number comes sooner */
    enum gpu_timed timed;
};

/* Launches may run together: each is started, all that were started are run until one has ended, and that one is
 * finished. Why gpu_run has returned: */
enum gpu_pause {
    GPU_ENDED, /* a launch has ended */
    GPU_STUCK, /* none can go on unless memory is changed from outside */
    GPU_TIRED, /* the budget is spent */
};

/* The policies of a machine, in the order in which their counts are kept: scheduler, L1 policy, divergence unit (NULL
 * without time), probes, NULL. Returns how many there are. */
uint32_t gpu_policies(const struct gpu_options *o, const struct heddle_policy *out[GPU_POLICIES + 1]);
bool gpu_has_tables(const struct gpu_options *o); /* whether a policy has counters of instructions */
/* Adds the tables of a launch to those of its kernel. */
void gpu_kernel_tables_add(struct gpu *g, const char *kernel, const struct policy_tables *t);
/* Lets each probe write its files, once. False: *e says which probe could not, and why; the others have written. */
bool gpu_write_probes(struct gpu *g, struct error *e);
struct gpu *gpu_create(const struct gpu_options *options, struct error *e);
void gpu_destroy(struct gpu *g);
/* Starts a launch; its parameters are copied. NULL: it was refused. */
struct residency *gpu_start(struct gpu *g, const struct gpu_launch *launch, struct error *e);
bool gpu_may_start(const struct gpu *g); /* false: others must end first */
/* Runs all launches that were started. budget: warp instructions, or cycles where time is modelled. */
enum gpu_pause gpu_run(struct gpu *g, uint64_t budget);
bool gpu_has_ended(const struct residency *r);
bool gpu_has_failed(const struct residency *r); /* by its own fault */
bool gpu_is_running(const struct gpu *g);       /* a launch was started that has not ended */
/* Keeps the counts of a launch that has ended, does what its kernel asked for, and frees it. False: the launch failed;
 * with ERROR_NONE, another one failed and took it along. */
bool gpu_finish(struct residency *r, struct error *e);
/* Ends all launches that have not ended. hangs: they are stuck, and the error of the first says so. */
void gpu_give_up(struct gpu *g, bool hangs);
/* Starts a launch, runs it to its end with others that were started, and finishes it. One thread at a time may use a
 * GPU, and the caller sees to that. Error kinds: RESOURCES, INVALID (it does not fit), or what the kernel did. */
bool gpu_launch(struct gpu *g, const struct gpu_launch *launch, struct error *e);
/* The modules of one program, linked and placed in the GPU's memory; they are taken over, also on failure. lazy:
 * kernels are decoded when they are asked for. To be destroyed by exec_image_destroy. (load.c) */
struct exec_image *gpu_load(struct gpu *g, struct ptx_module **modules, uint32_t count, bool lazy, struct error *e);
/* The parameter block of a kernel, from one pointer per parameter. False: one of them is NULL. (load.c) */
bool gpu_pack_arguments(const struct exec_function *kernel, void *const *arguments, uint8_t *to);
/* Is the shape legal, and does a block fit a core? gpu_start asks this first. (launch_check.c) */
bool gpu_check_launch(const struct gpu *g, const struct gpu_launch *launch, struct error *e);
/* Adds a record, whose name is copied and whose counts are taken over; returns its index in gpu.kernels. */
uint32_t gpu_kernel_record(struct gpu *g, const struct gpu_kernel *k);
void gpu_kernel_drop(const struct gpu_kernel *k); /* frees the counts of a record, but not its name */
void gpu_kernel_add(struct gpu_kernel *sum, const struct gpu_kernel *k); /* counters, instructions, seconds, launches */
void gpu_spare_free(struct gpu *g);
/* A number that changes as long as the simulation goes on; g may be NULL, while the GPU is being made. May be called
 * from other threads. */
uint64_t gpu_pulse(const struct gpu *g);
/* The share of core cycles that several threads simulated together. False: there is but one thread. */
bool gpu_shared(const struct gpu *g, double *share);
/* The threads that simulate besides the one that calls gpu_run; out has room for most. Returns how many there are. */
uint32_t gpu_threads(const struct gpu *g, pthread_t *out, uint32_t most);
/* How many blocks of this shape fit one core; 0 means none. (occupancy.c, as the next two) */
uint32_t gpu_occupancy(const struct gpu *g, const struct exec_function *kernel, uint32_t block_threads,
                       uint32_t dynamic_shared_bytes);
/* The most registers that a thread of such a block has, where the kernel would use more: the rest counts as spilled,
 * and the traffic of that is left out. 0 means that it has all it wants, or was compiled for blocks of this size. */
uint32_t gpu_spilled_to(const struct gpu *g, const struct exec_function *kernel, uint32_t block_threads);
/* To be called when a copy from the host has written device memory: it may leave its data in the L2. */
void gpu_note_copy(struct gpu *g, uint64_t address, uint64_t bytes);
uint32_t gpu_max_dynamic_shared(const struct gpu *g); /* the most a block may ask for, static included */

#endif
