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

/* Before the cores of a cycle are run: with threads? begins: all that a trial compares begins anew here. */
bool sharing_asks(struct sharing *s, bool begins);
/* And afterwards: so many cycles of cores. asked: else there was nothing to share. After a long one the clock is looked
 * at as soon as something begins. */
enum { SHARING_LONG_MEETING = 2048 };
static inline void sharing_note(struct sharing *s, uint64_t cycles, bool asked)
{
    s->work += asked ? cycles : 0;
    s->done[asked ? s->way : SHARING_ALONE] += cycles;
    if (cycles >= SHARING_LONG_MEETING)
        s->left = 0;
}

/* How far do cores run ahead, if threads run them? Those that have run to the same cycle begin together there, and all
 * threads have work. Those that stop on the way, for what others may see, go on by themselves: the nearer that cycle,
 * the sooner they are together again. The farther it is, the longer each stays in the host's caches. So it is moved:
 * away as long as few core cycles are run while few cores are awake, and nearer if many are. What comes out is the
 * same. */
struct meetings {
    uint64_t at;                 /* the next one: no core is run in this cycle or later before all are there */
    bool was_now;                /* since the last, threads have not been asked for */
    bool rounds_are_long;        /* those before it */
    uint32_t apart, least, most; /* cycles from one to the next */
    uint32_t few;                /* fewer cores than these leave threads without work */
    uint64_t cycles, by_few;     /* of cores since the last: in all, and while so few were awake */
    uint64_t rounds;             /* since the last */
};

void meetings_init(struct meetings *m, uint32_t cores, uint32_t threads);
/* Returns m->at, which is later than now. */
uint64_t meetings_next(struct meetings *m, uint64_t now);
/* So many cores were run, for so many cycles in all. */
static inline void meetings_note(struct meetings *m, uint32_t cores, uint64_t cycles)
{
    m->rounds++;
    m->cycles += cycles;
    m->by_few += cores < m->few ? cycles : 0;
}

#endif
