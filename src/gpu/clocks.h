/* The clocks of the four domains, with their real ratios: the n-th tick of a domain is at n / frequency. Ticks at the
 * same time are one step; which domains tick in a step repeats after some steps. */
#ifndef HEDDLE_GPU_CLOCKS_H
#define HEDDLE_GPU_CLOCKS_H

#include <stdint.h>

#include "base/arena.h"

enum domain { DOMAIN_CORE, DOMAIN_ICNT, DOMAIN_L2, DOMAIN_DRAM, DOMAIN_COUNT };

struct clocks {
    uint64_t ticks[DOMAIN_COUNT];  /* the number of the next tick */
    uint64_t period[DOMAIN_COUNT]; /* of a domain, in a unit in which all are whole */
    uint8_t *pattern;              /* which domains tick, step after step until that repeats. NULL means that it is too
                                      long, and times are compared */
    uint16_t *core_steps;          /* of each core tick of the pattern: its step */
    uint32_t pattern_steps, pattern_cores;
    uint32_t step; /* the next one of the pattern */
};

void clocks_init(struct clocks *c, struct arena *a, const uint64_t khz[DOMAIN_COUNT]);
/* Goes to the step in which the core's tick `cycle` is; ticks before it are left out. */
void clocks_jump(struct clocks *c, uint64_t cycle);

/* The time of a domain's next tick. */
static inline uint64_t clocks_time(const struct clocks *c, enum domain d) { return c->ticks[d] * c->period[d]; }

/* Which domains tick next, a bit each. */
static inline uint32_t clocks_next(const struct clocks *c)
{
    if (c->pattern)
        return c->pattern[c->step];
    uint64_t first = clocks_time(c, DOMAIN_CORE);
    uint32_t mask = 0;
    for (enum domain d = DOMAIN_ICNT; d < DOMAIN_COUNT; d++)
        if (clocks_time(c, d) < first)
            first = clocks_time(c, d);
    for (enum domain d = DOMAIN_CORE; d < DOMAIN_COUNT; d++)
        mask |= (uint32_t)(clocks_time(c, d) == first) << d;
    return mask;
}

/* These domains have ticked. */
static inline void clocks_advance(struct clocks *c, uint32_t mask)
{
    static const uint64_t one[1 << DOMAIN_COUNT][DOMAIN_COUNT] = {
        {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 1, 0}, {1, 1, 1, 0},
        {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}};
    for (enum domain d = DOMAIN_CORE; d < DOMAIN_COUNT; d++)
        c->ticks[d] += one[mask][d];
    c->step++;
    if (c->step == c->pattern_steps)
        c->step = 0;
}

#endif
