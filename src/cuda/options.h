/* The options of a run, as `heddle run` and HEDDLE_OPTIONS spell them. */
#ifndef HEDDLE_CUDA_OPTIONS_H
#define HEDDLE_CUDA_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct options {
    char machine[4096], stats[4096];        /* stats: empty, none */
    char scheduler[256], l1[256], divergence[256]; /* empty: not given */
    bool functional, quiet;
    uint64_t max_cycles;                    /* 0: no limit */
};

/* text: words as in a shell (quotes and backslashes), no program name; NULL is empty. */
bool options_parse(struct options *o, const char *text, struct error *e);

#endif
