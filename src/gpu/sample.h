/* --sample: a part of a program's instructions is timed, the others run without time, and cycles are estimated from
 * both. Memory is what it would be in either case.
 *
 * Inside a launch (sample.c, sample_gap.c): the speed is measured in stretches of time; between them the cores stand
 * still, and the warps that they have go on without time. Among launches of one kernel and shape (sample_launches.c):
 * the first ones are timed; the more alike these are, the fewer of the others are. Those that are not timed take their
 * numbers from the timed launch whose count of instructions is nearest. */
#ifndef HEDDLE_GPU_SAMPLE_H
#define HEDDLE_GPU_SAMPLE_H

#include <stdbool.h>

struct gpu;
struct gpu_launch;
struct residency;
struct sample_kernels;
struct timing;

/* A timed launch begins, and is the only one. */
void sample_begin(struct timing *t, struct residency *r);
/* Another launch has started: from now on all blocks are timed. */
void sample_stop(struct timing *t, struct residency *r);
/* To be called from time to time, with no core ahead of the others. False: the launch failed, r->error says why. */
bool sample_advance(struct timing *t, struct residency *r);
/* Its cores are coming to rest, and no block may be placed. */
bool sample_holds(const struct residency *r);
/* The launch has ended. Its counters, which are those of the timed part, become estimates of the whole. */
void sample_end(struct residency *r);

/* Is the launch to be timed, or to be estimated from others? */
bool sample_times(struct gpu *g, const struct gpu_launch *in);
/* The launch has ended. The numbers of a timed launch are kept; another one gets the numbers that those suggest. */
void sample_note(struct residency *r);
void sample_kernels_free(struct sample_kernels *all);

#endif
