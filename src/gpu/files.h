/* The files that a GPU writes while it runs, beside its results: timeline, trace of L1 accesses, log of warps,
 * order of issues. */
#ifndef HEDDLE_GPU_FILES_H
#define HEDDLE_GPU_FILES_H

#include "gpu/gpu.h"

struct gpu_files {
    const char *timeline, *trace, *warps, *issue_order; /* paths; NULL or empty means that nobody asked for the file */
    uint64_t timeline_first, timeline_end;              /* cycles */
    const char *program;                                /* named in the trace */
};

/* Opens the files and puts them into options, whose machine is known. Files are written with time alone. On failure
 * none is open. */
bool gpu_files_open(struct gpu_options *options, const struct gpu_files *f, struct error *e);
/* Completes the files, and calls reported for each that could not be written. A second call does nothing. */
void gpu_files_close(struct gpu_options *options, void (*reported)(void *user, const struct error *e), void *user);
void gpu_files_destroy(struct gpu_options *options); /* closes the files as well */

#endif
