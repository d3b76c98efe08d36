/* heddle correlate, between its files. */
#ifndef HEDDLE_CLI_CORRELATE_H
#define HEDDLE_CLI_CORRELATE_H

#include "cli/cli.h"
#include "correlate/correlate.h"

enum { CORRELATE_WORDS = 200 };

struct correlate_request {
    struct arena *arena;
    const char *machine, *size, *page, *store, *csv, *half;
    const char *sets[CORRELATE_WORDS + 1], *kernels[CORRELATE_WORDS + 1], *programs[CORRELATE_WORDS + 1];
    const char *results[CORRELATE_WORDS + 1]; /* files of runs that were made before */
    struct correlate_recording recordings[CORRELATE_WORDS];
    uint32_t recording_count;
    uint32_t processes;
    double time_limit_seconds;
    bool dry_run;
};

/* correlate_runs.c: the workloads that were recorded, on the machine: those that are not in the store yet are run.
 * Matches what there is. Returns -1 to go on, else the exit code; *failed: runs that are missing. */
int correlate_run_all(struct correlate_request *q, struct correlation *c, uint32_t *programs, uint32_t *failed);

/* correlate_print.c */
void correlate_print(const struct correlation *c, const struct correlate_request *q, uint32_t programs, FILE *out);

#endif
