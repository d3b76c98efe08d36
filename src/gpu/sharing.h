/* Do threads pay? Cores that share a cycle among threads meet at its end; where they have little to do in it, that
 * costs more than it gains. Both ways are tried for a while, in turn, and the faster one is used until the next trial.
 * What comes out is the same: only the time that it takes is looked at. */
#ifndef HEDDLE_GPU_SHARING_H
#define HEDDLE_GPU_SHARING_H

#include <stdbool.h>
#include <stdint.h>

enum sharing_way { SHARING_ALONE, SHARING_THREADS, SHARING_WAYS };

struct sharing {
    double (*clock)(void);       /* seconds; NULL: the host's */
    bool always;                 /* threads, whether they pay or not: for tests */
    enum sharing_way way;        /* now */
    enum sharing_way chosen;     /* the faster one, when both were last tried */
    bool tries;                  /* this is a trial */
    uint32_t left;               /* meetings until the clock is looked at */
    double since, rest;          /* seconds: this way began; between two trials */
    uint64_t work;               /* since then */
    double cost[SHARING_WAYS];   /* of a unit of work, in the last trial */
    uint64_t done[SHARING_WAYS]; /* work, in all */
};

/* Before the cores of a cycle are run: with threads? */
bool sharing_asks(struct sharing *s);
/* And afterwards: so many cycles of cores. asked: else there was nothing to share. */
static inline void sharing_note(struct sharing *s, uint64_t cycles, bool asked)
{
    s->work += asked ? cycles : 0;
    s->done[asked ? s->way : SHARING_ALONE] += cycles;
}

#endif
