/* How long the rest of a sweep will take, from what its runs took so far.
 *
 * Runs of one program with the same arguments take about as long as one another, whatever the machine and the policies;
 * runs of different ones may be a thousand times apart. So nothing is said before each program that is still to be run
 * has ended once, in this sweep or earlier into the same store, and runs of programs that are not known are started
 * first. */
#ifndef HEDDLE_SWEEP_ESTIMATE_H
#define HEDDLE_SWEEP_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

enum estimate_state { ESTIMATE_WAITS, ESTIMATE_RUNS, ESTIMATE_ENDED };

struct estimate_run {
    uint32_t program; /* a number from 0 on: program and arguments */
    double before;    /* seconds that it took earlier; 0: not known */
    enum estimate_state state;
    double seconds; /* RUNS: when it was started; ENDED: that it took */
};

struct estimate_program {
    double seconds;          /* sum of the runs that ended */
    uint32_t ended, started; /* started: those that ended among them */
};

struct estimate {
    struct estimate_run *runs;
    struct estimate_program *programs;
    uint32_t count, places; /* places: runs at a time */
    double seconds, before; /* of runs that ended and were known before: what they took, what they had taken */
};

void estimate_start(struct estimate *e, uint32_t run, double now);
/* counts: false, it tells nothing of other runs (it was not run at all). */
void estimate_end(struct estimate *e, uint32_t run, double now, bool counts);
/* Of a run that has not ended. NAN: not known. */
double estimate_run_seconds(const struct estimate *e, uint32_t run);
/* Which waiting run should be started first: that with the largest. A program that nothing is known of, and no run of
 * which has been started, comes before all; then the longest. */
double estimate_urgency(const struct estimate *e, uint32_t run);
/* Of all. NAN: it cannot be known. */
double estimate_left(const struct estimate *e, double now);

#endif
