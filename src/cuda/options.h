/* The options of a run, as `heddle run` and HEDDLE_OPTIONS spell them. */
#ifndef HEDDLE_CUDA_OPTIONS_H
#define HEDDLE_CUDA_OPTIONS_H

#include "base/error.h"
#include "gpu/launch_limit.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    OPTIONS_SETS = 256,
    OPTIONS_SET_BYTES = 16384,
    OPTIONS_PROBES = 16,
    OPTIONS_PROBE_BYTES = 32768,
    OPTIONS_KERNELS = 64,
    OPTIONS_KERNEL_BYTES = 32768
};

struct options {
    char machine[4096], stats[4096], timeline[4096], trace[4096], warps[4096],
        issue_order[4096]; /* all but the first: empty, none */
    char scheduler[4352], l1[4352],
        divergence[4352];         /* specs, perhaps with the path of a shared object; empty: not given */
    char bundle[4352];            /* of -p; the specs above are then its policies, too */
    char sets[OPTIONS_SET_BYTES]; /* the values of --set, one after the other, each with its end mark */
    uint32_t set_count, set_bytes;
    char probes[OPTIONS_PROBE_BYTES]; /* the specs of --probe, in the same way */
    uint32_t probe_count, probe_bytes;
    char kernels[OPTIONS_KERNEL_BYTES]; /* the names of --kernel, in the same way */
    uint32_t kernel_count, kernel_bytes;
    char launches[4096]; /* of --launch; empty: not given */
    uint64_t skip;
    bool region, sample, lockstep;
    bool functional, exact_bounds, races, quiet, pcs, merge_launches;
    uint64_t max_cycles; /* 0: no limit */
    struct launch_limit launch_limit;
    uint64_t timeline_first, timeline_end; /* cycles */
    uint32_t threads;                      /* 0: not given */
    uint64_t interval;                     /* cycles of a sample; 0: none are taken */
};

/* text: words as in a shell (quotes and backslashes), no program name; NULL is empty. */
bool options_parse(struct options *o, const char *text, struct error *e);
/* The values of --set in order. Returns how many; out has room for OPTIONS_SETS. */
uint32_t options_sets(const struct options *o, const char **out);
/* The specs of --probe in order. Returns how many; out has room for OPTIONS_PROBES. */
uint32_t options_probes(const struct options *o, const char **out);
/* The names of --kernel in order. Returns how many; out has room for OPTIONS_KERNELS. */
uint32_t options_kernels(const struct options *o, const char **out);
bool options_choose_launches(const struct options *o); /* are some timed and some not? */

#endif
