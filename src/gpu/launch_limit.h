/* --launch-limit: how long each launch may take, by itself. */
#ifndef HEDDLE_GPU_LAUNCH_LIMIT_H
#define HEDDLE_GPU_LAUNCH_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct residency;

struct launch_limit {
    uint64_t cycles; /* in functional mode warp instructions; 0 means no limit */
    double seconds;  /* of the host, in which the launch is simulated; 0 means no limit */
};

#define LAUNCH_LIMIT_FORMS "cycles (5000000, 500k, 5M or 2G) or a time (90s, 15m or 2h)"

/* A number of cycles, with k, M or G for thousands, millions and thousands of millions; or a time with s, m or h for
 * its unit. False: it is neither. */
bool launch_limit_read(const char *text, struct launch_limit *to);

/* Is the launch past its limit of seconds? The clock is looked at only where there is such a limit. */
bool launch_limit_is_out_of_time(const struct residency *r);
/* Says in the launch's error that it ran past its limit, and how far it came. Returns false. cycles: how many it had; 0
 * means that it has no time. */
bool launch_limit_report(struct residency *r, uint64_t cycles, uint64_t blocks_done);
/* Says in the launch's error that it ends because another one ran past its limit. */
void launch_limit_report_company(struct residency *r);

#endif
