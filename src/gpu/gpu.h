/* A GPU: a machine, its memory, the kernels launched on it and what they counted. */
#ifndef HEDDLE_GPU_GPU_H
#define HEDDLE_GPU_GPU_H

#include "base/error.h"
#include "exec/exec.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a launch needs to know of the machine; const after start. Read from machines/NAME.ini (gpu/machine.c). */
struct machine {
    char name[64];
    uint32_t cores, warps_per_core, blocks_per_core, registers_per_core, shared_bytes_per_core;
    uint32_t clock_khz, memory_clock_khz, memory_bus_bits, l2_bytes;
    uint64_t memory_bytes;
};

/* From "gtx480", "./mine.ini" or a path; directories are searched (see machine.c). */
bool machine_load(struct machine *m, const char *name, struct error *e);

struct gpu_options {
    struct machine machine;
    bool functional;
    uint64_t max_cycles;     /* 0: no limit. In functional mode a cycle is one warp instruction. */
    uint32_t slice;          /* functional: warp instructions a warp runs before the next takes its turn; 0: default */
    volatile int *interrupt; /* set non-zero (by a signal handler) to stop; may be NULL */
};

struct gpu_kernel {          /* one launch */
    char *name;
    uint32_t grid[3], block[3];
    struct exec_counters counters;
    uint64_t warp_instructions, thread_instructions, cycles;
    double seconds;
};

/* Room for blocks that a launch leaves to the next one of the same shape: programs launch the same kernel over and over. */
struct gpu_spare {
    uint64_t image;              /* exec_image.id; 0: none */
    const struct exec_function *kernel;
    uint32_t block[3], dynamic_shared_bytes, local_bytes;
    struct exec_cta **blocks;
    uint32_t count;
};

struct gpu {
    struct gpu_options options;
    struct gpu_spare spare;
    struct memory *memory;
    struct texture_table textures;
    struct device_heap *heap;
    struct gpu_kernel *kernels;
    uint32_t kernel_count, kernel_capacity;
    uint64_t next_grid_id;
    uint64_t stack_limit_bytes, heap_limit_bytes, printf_fifo_bytes;
    uint64_t clock_cycles;   /* of all launches so far */
    double launch_seconds;
    FILE *printf_out;        /* where vprintf of kernels goes; default stdout */
};

struct gpu_launch {
    const struct exec_function *kernel;
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0,0,0: none */
    uint32_t dynamic_shared_bytes;
    const void *params;      /* params_bytes of kernel->ptx->param_bytes, laid out as the parameter block */
    uint32_t params_bytes;
    bool cooperative;
};

struct gpu *gpu_create(const struct gpu_options *options, struct error *e);
void gpu_destroy(struct gpu *g);
/* Runs the kernel to its end. Not reentrant: the caller serialises launches on one gpu. Error kinds: RESOURCES, INVALID (does not fit), or what the kernel did. */
bool gpu_launch(struct gpu *g, const struct gpu_launch *launch, struct error *e);
void gpu_spare_free(struct gpu *g);
/* How many blocks of this shape fit one core (0: none). */
uint32_t gpu_occupancy(const struct gpu *g, const struct exec_function *kernel, uint32_t block_threads, uint32_t dynamic_shared_bytes);
uint32_t gpu_max_dynamic_shared(const struct gpu *g); /* the most a block may ask for, static included */

#endif
