/* --sample: a part of a program's instructions is timed, the others run without time, and cycles are estimated from
 * both. Memory is what it would be in either case.
 *
 * Inside a launch (sample.c, sample_gap.c): the speed is measured in stretches of time; between them the cores stand
 * still, and the warps that they have go on without time. Among launches of one kernel and shape (sample_launches.c):
 * the first ones are timed, and the more alike they are the fewer of the others; those that are not take their numbers
 * from the timed one that executed most nearly as many instructions. */
#ifndef HEDDLE_GPU_SAMPLE_H
#define HEDDLE_GPU_SAMPLE_H

#include <stdbool.h>

struct gpu;
struct gpu_launch;
struct residency;
struct sample_kernels;
struct timing;

/* Of a timed launch, which is the only one. */
void sample_begin(struct timing *t, struct residency *r);
/* Another launch has started: from now on all blocks are timed. */
void sample_stop(struct timing *t, struct residency *r);
/* To be called from time to time, with no core ahead of the others. False: r->error. */
bool sample_advance(struct timing *t, struct residency *r);
/* Its cores come to rest: no block is placed. */
bool sample_holds(const struct residency *r);
/* The launch has ended, and its counters are those of what was timed: from here on they are estimates of all. */
void sample_end(struct residency *r);

/* Is the launch to be timed, or to be estimated from others? */
bool sample_times(struct gpu *g, const struct gpu_launch *in);
/* It has ended. Timed: its numbers are kept. Else: it gets those that others suggest. */
void sample_note(struct residency *r);
void sample_kernels_free(struct sample_kernels *all);

#endif
