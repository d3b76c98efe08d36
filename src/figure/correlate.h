/* The page of a correlation with silicon. */
#ifndef HEDDLE_FIGURE_CORRELATE_H
#define HEDDLE_FIGURE_CORRELATE_H

#include "correlate/correlate.h"

struct correlate_page {
    const char *machine, *sets; /* of our runs; sets: words with a space between them */
    const char *recordings;     /* file names of silicon's, likewise */
    const char *half;           /* "fit", "test", "all", or NULL: both, apart */
    const char *command;        /* that repeats it */
    uint32_t programs;
};
bool correlate_write_page(const struct correlation *c, const struct correlate_page *p, const char *path,
                          struct error *e);

#endif
