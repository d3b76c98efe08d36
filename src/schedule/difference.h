/* Where the issue orders of two runs part, core by core, and how the difference grows. */
#ifndef HEDDLE_SCHEDULE_DIFFERENCE_H
#define HEDDLE_SCHEDULE_DIFFERENCE_H

#include "schedule/order_reader.h"

enum { DIFFERENCE_ROWS = 16 };

struct core_difference {
    uint64_t issues[2];
    uint64_t common;             /* issues before the first that differs; all of them, where none does */
    bool differs;                /* in order */
    bool later;                  /* in the cycle of some common issue, or in order */
    uint64_t same_cycles;        /* issues up to the first in another cycle */
    struct order_issue last[2];  /* common, if there is any */
    struct order_issue first[2]; /* that differ */
    bool has[2];                 /* one of the runs may have no more */
};

/* Of the issues with a number, on their core, of first <= number < end in the first run. */
struct difference_row {
    uint64_t first, end;
    uint64_t places, same; /* of both runs; with the same instruction of the same warp */
    uint64_t pairs;        /* instructions of the first run that were found in the second */
    double sum, squares;   /* of cycles in the second run less those in the first */
    int64_t least, most;
};

struct difference {
    uint32_t core_count;
    struct core_difference *cores;
    uint32_t row_count;
    struct difference_row rows[DIFFERENCE_ROWS + 1];
    uint32_t one_of;             /* warps were looked for in the second run: 1, all; 2, every second, ... */
    uint64_t lost;               /* instructions whose warp went another way, or does not exist, in the second run */
    uint32_t differing, shifted; /* cores: in order; in cycles alone */
    uint32_t earliest;           /* the core whose order differs first */
};

/* kept_most: so many issues of the second run are kept at a time; 0: the default. */
bool difference_find(const struct order_file *a, const struct order_file *b, uint64_t kept_most, struct difference *out,
                     struct error *e);
void difference_free(struct difference *d);

#endif
