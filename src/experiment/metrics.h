/* Expressions of an experiment file checked against the metrics there are. */
#ifndef HEDDLE_EXPERIMENT_METRICS_H
#define HEDDLE_EXPERIMENT_METRICS_H

#include "experiment/expression.h"
#include "experiment/reader.h"

struct lab_metrics {
    const char **names;
    uint32_t count;
    const char *what; /* "metric", for messages */
    const struct experiment
        *experiment; /* what its runs are replayed under, which probes they have, whether they count instructions */
    bool foreign;    /* policies whose counters are not known here take part */
};
struct lab_metrics lab_metrics_known(struct arena *a, const struct experiment *x);
/* Those that are sampled over time. */
struct lab_metrics lab_metrics_sampled(struct arena *a, const struct experiment *x);
/* Those of whole runs, and what each instruction (OVER_PCS) or bucket (OVER_BUCKETS) has one of. */
struct lab_metrics lab_metrics_of_rows(struct arena *a, const struct experiment *x, enum lab_over over);
/* The word is an expression, and every metric in it is known. */
bool lab_expression_check(const struct lab_reader *r, const struct lab_metrics *m, struct lab_word word);

#endif
