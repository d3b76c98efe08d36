/* A program run with Heddle's library in front of it. */
#ifndef HEDDLE_LAB_CHILD_H
#define HEDDLE_LAB_CHILD_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct child_request {
    const char *path;        /* to execute; argv[0] as well */
    char *const *argv;
    const char *library;     /* folder of libcuda.so.1 */
    const char *const *options; /* words for HEDDLE_OPTIONS, NULL behind the last; NULL: --functional alone */
    bool functional;         /* what the results of a program without CUDA say; true where there are no options */
    bool quiet;
    int output;              /* file descriptor that becomes the program's standard output; -1: as it is */
};

struct child_result {
    json_t *stats;           /* never NULL after child_run succeeded; the caller's */
    bool used_cuda;          /* false: the program wrote no results, stats has none of the GPU's */
    int status;              /* its exit status; 128 + number when a signal ended it */
    int signal;              /* 0, or the signal */
    double wall_seconds;
    enum error_kind outcome; /* of its last failed kernel or module */
};

/* False only when the program could not be started at all. */
bool child_run(const struct child_request *r, struct child_result *out, struct error *e);
/* The exit code of `heddle run` for it. */
int child_exit_code(const struct child_result *r);

#endif
