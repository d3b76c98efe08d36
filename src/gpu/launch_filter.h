/* Which launches of a program are timed (--kernel, --launch, --skip, --region); the others run functionally, with the
 * same effect on memory. All that is asked for must hold. */
#ifndef HEDDLE_GPU_LAUNCH_FILTER_H
#define HEDDLE_GPU_LAUNCH_FILTER_H

#include "base/error.h"
#include "base/strmap.h"

#include <stdbool.h>
#include <stdint.h>

struct launch_filter_spec {
    const char *const *kernels; /* names (base/demangle.h), of which one must fit; none means all kernels */
    uint32_t kernel_count;
    const char *launches; /* numbers, "0,3-5,9-"; NULL or empty means all */
    uint64_t skip;        /* launches before the first timed one */
    bool region;          /* only between cuProfilerStart and cuProfilerStop */
};

struct launch_range {
    uint64_t first, last;
};

struct launched_kernel;

struct launch_filter {
    char **kernels;
    uint32_t kernel_count;
    char *launches;
    struct launch_range *ranges;
    uint32_t range_count;
    uint64_t skip;
    bool region;
    uint64_t timed, functional; /* launches so far */
    struct strmap known;        /* kernels that were launched, by name */
    struct launched_kernel *first, **end;
};

/* NULL: what was asked for makes no sense; *e says why. */
struct launch_filter *launch_filter_create(const struct launch_filter_spec *s, struct error *e);
void launch_filter_destroy(struct launch_filter *f);
/* Is the launch with this number timed? Launches are numbered from 0 in the order of their starts. outside: it is
 * outside the program's region of interest. */
bool launch_filter_times(struct launch_filter *f, uint64_t number, const char *kernel, bool outside);
void launch_filter_count(struct launch_filter *f, const char *kernel, bool timed); /* a launch has started */
/* Where no launch was timed: explains what was asked for, and which launches there were. */
void launch_filter_explain(const struct launch_filter *f, struct error *e);

#endif
