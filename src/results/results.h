/* The results of a run as JSON (docs/metrics.md): one object with keys in a fixed order, and single values by name. In
 * functional mode what only time can tell is null; the keys are the same. */
#ifndef HEDDLE_RESULTS_RESULTS_H
#define HEDDLE_RESULTS_RESULTS_H

#include "gpu/gpu.h"

#include <jansson.h>

/* What the GPU does not know of the program that ran on it. */
struct results_run {
    const char *command; /* program and arguments, one after the other, each with its end mark */
    size_t command_bytes;
    double wall_seconds;
    int exit_status;
    const struct error *outcome; /* what went wrong last; ERROR_NONE: nothing */
    bool launch_refused;         /* a launch came to nothing for want of support */
    bool probe_failed;           /* a probe could not write what it counted */
    bool file_failed;            /* a timeline, a trace or a file of warps could not be written */
    bool nothing_timed;          /* some launches were to be timed, and the program had no such */
};

json_t *results_json(const struct gpu *g, const struct results_run *run);
bool results_write(const json_t *results, FILE *to); /* false: errno says why */

/* Of one launch, or of all that are reported, a metric by the name that it has in the JSON: "cycles", "l1d.hits",
 * "lanes.32", "ccws.score". False: there is no such number here. */
enum { RESULTS_TOTAL = -1 };
bool results_number(const struct gpu *g, int64_t launch, const char *name, double *value);

/* The parts of a launch's results that are there only when asked for. NULL: they were not. (profile_json.c) */
json_t *results_pcs(const struct gpu_kernel *k);    /* one object per instruction: executed, or counted by a policy */
json_t *results_series(const struct gpu_kernel *k); /* interval, cycles, values */

#endif
