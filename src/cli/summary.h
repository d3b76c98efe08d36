/* Results as a person reads them. */
#ifndef HEDDLE_CLI_SUMMARY_H
#define HEDDLE_CLI_SUMMARY_H

#include "sweep/child.h"

#include <stdint.h>
#include <stdio.h>

enum { SUMMARY_LANES = 33 };

/* The counters of one kernel, or of all of them. */
struct summary_counters {
    uint64_t launches, warp_instructions, thread_instructions, branches, divergent, load_requests;
    uint64_t cycles, l1d_accesses, l1d_misses, l2_accesses, l2_misses; /* 0 in functional mode */
    bool partial;                                                      /* a launch did not come to its end */
    uint64_t lanes[SUMMARY_LANES];                                     /* warp instructions by active lanes */
};
void summary_add(struct summary_counters *sum, const json_t *kernel);
/* Of `kernels` and of `host`. */
struct summary_counters summary_total(const json_t *stats);
double summary_host(const json_t *stats, const char *key); /* 0 where it is null */

double summary_utilization(const struct summary_counters *c); /* percent */
double summary_divergence(const struct summary_counters *c);  /* percent of the branches */
double summary_ipc(const struct summary_counters *c);         /* thread instructions per cycle; 0 in functional mode */

enum { SUMMARY_BAR_BYTES = 64 };
/* Lanes 1 to 32, two per character: each as high as its share of the largest. */
const char *summary_lanes_bar(const struct summary_counters *c, bool utf8, char out[SUMMARY_BAR_BYTES]);

/* One row per kernel, and the totals. */
void summary_print(const struct child_result *r, FILE *to);

#endif
