/* See sharing.h. A trial takes a two hundredth of the time or less, so that the slower way costs little. */
#include "gpu/sharing.h"

#include <time.h>

enum { TRIAL = 200, REST_LEAST = 100 * TRIAL, REST_MOST = 1600 * TRIAL };

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begin_trial(struct sharing *s, enum sharing_way way)
{
    s->way = way;
    s->tries = true;
    s->left = TRIAL;
    s->work = 0;
    s->since = seconds_now();
}

/* Both have been tried. A result like the last one is trusted for longer. */
static void choose(struct sharing *s, enum sharing_way before)
{
    s->way = s->cost[SHARING_THREADS] < s->cost[SHARING_ALONE] ? SHARING_THREADS : SHARING_ALONE;
    s->rest = s->way != before || s->rest < REST_LEAST ? REST_LEAST : s->rest < REST_MOST ? s->rest * 2 : REST_MOST;
    s->tries = false;
    s->left = s->rest;
}

/* The way that was used until now is tried first. */
static void change(struct sharing *s)
{
    enum sharing_way other = s->way == SHARING_ALONE ? SHARING_THREADS : SHARING_ALONE;
    if (!s->tries) {
        s->cost[other] = -1;
        begin_trial(s, s->way);
        return;
    }
    s->cost[s->way] = s->work ? (seconds_now() - s->since) / (double)s->work : 0;
    if (s->cost[other] < 0)
        begin_trial(s, other);
    else
        choose(s, other);
}

bool sharing_asks(struct sharing *s)
{
    if (!s->left)
        change(s);
    s->left--;
    return s->way == SHARING_THREADS;
}
