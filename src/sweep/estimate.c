/* How long the rest of a sweep will take. See estimate.h. */
#include "sweep/estimate.h"

#include <float.h>
#include <math.h>

void estimate_start(struct estimate *e, uint32_t run, double now)
{
    struct estimate_run *r = &e->runs[run];
    r->state = ESTIMATE_RUNS;
    r->seconds = now;
    e->programs[r->program].started++;
}

void estimate_end(struct estimate *e, uint32_t run, double now, bool counts)
{
    struct estimate_run *r = &e->runs[run];
    bool ran = r->state == ESTIMATE_RUNS;
    r->seconds = ran ? now - r->seconds : 0;
    r->state = ESTIMATE_ENDED;
    if (!ran || !counts)
        return;
    e->programs[r->program].seconds += r->seconds;
    e->programs[r->program].ended++;
    if (r->before > 0) {
        e->seconds += r->seconds;
        e->before += r->before;
    }
}

/* What is known from before is scaled by how fast the host is now. */
double estimate_run_seconds(const struct estimate *e, uint32_t run)
{
    const struct estimate_run *r = &e->runs[run];
    const struct estimate_program *p = &e->programs[r->program];
    if (p->ended)
        return p->seconds / p->ended;
    if (r->before > 0)
        return e->before > 0 ? r->before * e->seconds / e->before : r->before;
    return NAN;
}

double estimate_urgency(const struct estimate *e, uint32_t run)
{
    double seconds = estimate_run_seconds(e, run);
    bool is_new = !e->programs[e->runs[run].program].started && !(e->runs[run].before > 0);
    return is_new ? DBL_MAX : isnan(seconds) ? 0 : seconds;
}

double estimate_left(const struct estimate *e, double now)
{
    double sum = 0, longest = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct estimate_run *r = &e->runs[i];
        if (r->state == ESTIMATE_ENDED)
            continue;
        double left = estimate_run_seconds(e, i) - (r->state == ESTIMATE_RUNS ? now - r->seconds : 0);
        left = left < 0 ? 0 : left; /* keeps NAN */
        sum += left;
        longest = left > longest ? left : longest;
    }
    return isnan(sum) ? sum : fmax(sum / e->places, longest);
}
