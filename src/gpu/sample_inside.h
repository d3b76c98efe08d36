/* What the parts of --sample share: sample.c, sample_gap.c, sample_launches.c. */
#ifndef HEDDLE_GPU_SAMPLE_INSIDE_H
#define HEDDLE_GPU_SAMPLE_INSIDE_H

#include "gpu/sample.h"
#include "gpu/timing.h"

/* The least relative error of an estimate: measurements are sometimes alike by chance. */
#define SAMPLE_LEAST_DOUBT 0.01

double sample_quantile(uint32_t freedom); /* half of the 95% interval in standard deviations (Student) */
double sample_mean(const double *x, uint32_t count);
double sample_deviation(const double *x, uint32_t count);
double sample_instructions(const struct exec_counters *c);
void sample_scale(struct gpu_counters *c, double by); /* scales the counters that time makes; the others are exact */

/* sample_gap.c: how fast each warp went while time passed, and instructions without time at the same speeds. */
struct sample_rates;
struct sample_rates *sample_rates_create(uint32_t cores);
void sample_rates_free(struct sample_rates *s);
void sample_rates_begin(struct sample_rates *s, const struct timing *t, const struct residency *r);
void sample_rates_end(struct sample_rates *s, const struct timing *t, const struct residency *r);
/* Executes what that many cycles would have executed; or less, until blocks have ended that no others follow. Cores are
 * at rest. False: the launch failed, r->error says why. */
bool sample_gap(struct sample_rates *s, struct timing *t, struct residency *r, double cycles);

#endif
