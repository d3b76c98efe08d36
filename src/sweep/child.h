/* A program run with Heddle's library in front of it. */
#ifndef HEDDLE_SWEEP_CHILD_H
#define HEDDLE_SWEEP_CHILD_H

#include "base/error.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* For programs that run unattended. Such a program is in a process group of its own, reads nothing, and dies with the
 * process that started it. */
struct child_guard {
    int log;                     /* file descriptor that becomes its standard output and error */
    const char *stats;           /* path of the file for its results; removed afterwards */
    double time_limit_seconds;   /* 0: none */
    uint64_t memory_limit_bytes; /* resident and swapped, of the program and what it started; 0: none */
};

enum child_end {
    CHILD_BY_ITSELF,
    CHILD_TIME,
    CHILD_MEMORY,
    CHILD_INTERRUPTED /* SIGINT, SIGTERM, SIGHUP or SIGQUIT came to the process that waits */
};

struct child_request {
    const char *path; /* to execute; argv[0] as well */
    char *const *argv;
    const char *library;        /* folder of libcuda.so.1 */
    const char *const *options; /* words for HEDDLE_OPTIONS, NULL after the last; NULL: --functional alone */
    bool functional;            /* what the results of a program without CUDA say; true where there are no options */
    bool quiet;
    int output; /* file descriptor that becomes the program's standard output; -1: as it is */
    const struct child_guard
        *guard; /* NULL: a person watches it, output and signals are theirs; else output is not looked at */
};

struct child_result {
    json_t *stats;  /* never NULL after child_run succeeded; the caller's */
    bool used_cuda; /* false: the program wrote no results, stats has none of the GPU's */
    bool damaged;   /* it did, but they cannot be read */
    int status;     /* its exit status; 128 + number when a signal ended it */
    int signal;     /* 0, or the signal */
    double wall_seconds;
    enum child_end end;      /* what ended it, where there was a guard */
    uint64_t memory_bytes;   /* CHILD_MEMORY: what it used */
    enum error_kind outcome; /* of its last failed kernel or module */
    bool file_failed;    /* a probe could not write what it counted, or another file that was asked for is not there */
    bool launch_refused; /* a kernel of its could not be launched, for want of support */
    bool nothing_timed;  /* it had none of the launches that were to be timed */
};

/* False only when the program could not be started at all. */
bool child_run(const struct child_request *r, struct child_result *out, struct error *e);
/* The exit code of `heddle run` for it. */
int child_exit_code(const struct child_result *r);

/* The signals that child_run waits for where there is a guard: the caller has blocked them. */
void guard_signals(sigset_t *set);
/* Between child.c and child_guard.c. In the new process, before it becomes the program; in the one that waits: watches
 * the limits, and leaves nobody of the program's process group behind. */
void guard_enter(const struct child_guard *g, pid_t parent);
int guard_wait(const struct child_guard *g, pid_t pid, struct child_result *out);

#endif
