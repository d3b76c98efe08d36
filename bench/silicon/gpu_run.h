/* The GPU and a measurement on it. */
#ifndef BENCH_SILICON_GPU_RUN_H
#define BENCH_SILICON_GPU_RUN_H

#include "heddle/cuda.h"

#include <stddef.h>
#include <stdint.h>

#define CHECK(call) check_result((call), #call, __FILE__, __LINE__)
void check_result(CUresult result, const char *call, const char *file, int line);

/* What a thread left: see kernel.h. */
struct thread_times {
    uint64_t before, after, sm, rest;
};

/* A kernel made of PTX. */
struct loaded {
    CUmodule module;
    CUfunction function;
};
struct loaded load_kernel(const char *name, const char *ptx); /* ends the program where it cannot be compiled */
void unload(struct loaded *k);

/* Cycles from the first thread's first reading of the clock to the last one's second, on one multiprocessor. */
uint64_t cycles_of(const struct thread_times *t, size_t count);

/* A number with its spread over the repetitions. */
enum { REPEATS = 7 }; /* at most */
extern int repeats;   /* so many; a simulated machine needs fewer */
struct measured {
    double median, least, most;
};
struct measured measured_of(double values[REPEATS]);
/* Rows asked for by the beginning of their name ("chase/l2/"); none: all. */
extern char **wanted_rows;
extern int wanted_row_count;
int row_is_wanted(const char *name);
/* One line of the table: name, median, least, most, unit. */
void print_row(const char *name, struct measured m, const char *unit);

#endif
