/*
 * workload.h: what the host programs of all workloads share: the command line, comparing a result with its reference,
 * and the closing line. Exit status: 0 the result matched, 1 it did not or CUDA failed, 2
 * usage. */
#ifndef WORKLOADS_WORKLOAD_H
#define WORKLOADS_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

enum { EXIT_MATCHED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum workload_size { SIZE_TEST, SIZE_SMALL, SIZE_PAPER, SIZE_COUNT };

/* An option beside --size that takes a number from 1 to `limit`; *value keeps what it was when the option is not
 * given. */
struct workload_option {
    const char *name;
    const char *help;
    long *value;
    long limit;
};

struct workload {
    const char *name;
    const char *summary;
    const char *inputs[SIZE_COUNT];        /* for --help: what each size is */
    const struct workload_option *options; /* ends with a NULL name; or NULL */
};

/* The size asked for, `small` when none is. Prints and exits on --help and on anything it does not know. */
enum workload_size workload_parse(const struct workload *workload, int argc, char **argv);

/* Where a program's random numbers begin: at its own number, or elsewhere for each --seed. After workload_parse. */
uint64_t workload_seed(uint64_t own);

/* Zeroed host memory; exits when there is none. */
void *workload_alloc(size_t count, size_t size);

/*
 * How many elements differ; the first one that does is described on stderr under the name `what`. Floats are compared
 * bit by bit: the references repeat the order and the rounding of the device's
 * arithmetic. */
size_t compare_u8(const char *what, const uint8_t *got, const uint8_t *expected, size_t count);
size_t compare_u32(const char *what, const uint32_t *got, const uint32_t *expected, size_t count);
size_t compare_f32(const char *what, const float *got, const float *expected, size_t count);
size_t compare_f64(const char *what, const double *got, const double *expected, size_t count);

/* For results of approximate instructions alone: how many are further than `tolerance` from what is expected. */
size_t compare_f32_near(const char *what, const float *got, const float *expected, size_t count, float tolerance);

/* Prints the closing line and returns the exit status. */
int workload_verdict(const struct workload *workload, size_t mismatches, size_t compared, const char *what);

#endif
