/* The table of metrics (heddle/metrics.def) as data: what each is called, what it means, and its value in a launch. */
#ifndef HEDDLE_RESULTS_METRICS_H
#define HEDDLE_RESULTS_METRICS_H

#include "gpu/counters.h"

enum result_when {
    RESULT_ALWAYS,
    RESULT_TIMED,    /* not without time */
    RESULT_SERIES,   /* in samples over time alone */
    RESULT_REPLAYED, /* added by experiments that replay traces */
    RESULT_PC,       /* of an instruction (--pcs) */
    RESULT_PART      /* no counter: something else that results hold */
};

struct result_metric {
    const char *name, *unit, *help;
    const char *nsight; /* Nsight Compute's counter, or "" */
    const char *total;  /* how launches make a total: "sum", "mean", or "" */
    enum result_when when;
};
extern const struct result_metric result_metrics[];
extern const uint32_t result_metric_count;

/* Whether it is a counter of a launch and of a run, by which expressions may name it. */
bool result_is_counter(const struct result_metric *m);
/* The name of a counter of instructions, without what stands before it: "executions". NULL: it is none. */
const char *result_pc_name(const struct result_metric *m);

enum result_kind { RESULT_NULL, RESULT_COUNT, RESULT_REAL, RESULT_LIST };
struct result_value {
    enum result_kind kind;
    uint64_t count; /* of a list: its length */
    double real;
    const uint64_t *list; /* in the counters that were read */
};
/* values: one per row of result_metrics. timed: false, what needs time is null. */
void result_values(const struct gpu_counters *c, bool timed, struct result_value *values);

#endif
