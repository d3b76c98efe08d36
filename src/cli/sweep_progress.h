/* A sweep as a person sees it: the bar, failures as they come, ctrl-C. */
#ifndef HEDDLE_CLI_SWEEP_PROGRESS_H
#define HEDDLE_CLI_SWEEP_PROGRESS_H

#include "sweep/sweep.h"

/* sweep_run with a bar on a terminal's standard error (off a terminal: a line each tenth), one line a failure, and
 * ctrl-C as "keep what is done". Sets listener, context and interrupt of o where they are not set. A second ctrl-C ends
 * the process at once. */
bool cli_sweep_run(struct sweep_options *o, struct sweep_result *result, struct error *e);
/* The same without the bar and its lines; failures are still reported. */
bool cli_sweep_run_quiet(struct sweep_options *o, struct sweep_result *result, struct error *e);
/* "41 s", "3 min 20 s", "2 h 5 min". */
const char *cli_duration(double seconds, char *out, size_t size);

#endif
