/* See sharing.h. A trial is short beside the time until the next, so that the slower way costs little; a result like
 * the last one is trusted for twice as long, so that one that chance has made does not last. */
#include "gpu/sharing.h"

#include <time.h>

static const double TRIAL_SECONDS = 0.0004, FIRST_REST = 0.004, REST_LEAST = 0.003, REST_MOST = 0.64;
enum { LOOKS = 4 }; /* meetings from one look at the clock to the next */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begin(struct sharing *s, enum sharing_way way, bool tries, double now)
{
    s->way = way;
    s->tries = tries;
    s->work = 0;
    s->since = now;
}

/* Both have been tried; the last one is `way`. */
static void choose(struct sharing *s, double now)
{
    enum sharing_way faster = s->cost[SHARING_THREADS] < s->cost[SHARING_ALONE] ? SHARING_THREADS : SHARING_ALONE;
    s->rest = faster != s->chosen || s->rest < REST_LEAST ? REST_LEAST : s->rest < REST_MOST ? s->rest * 2 : REST_MOST;
    s->chosen = faster;
    begin(s, faster, false, now);
}

/* The way that was used until now is tried first, then the other. */
static void look(struct sharing *s)
{
    double now = s->clock ? s->clock() : seconds_now();
    if (!s->rest) { /* it has just begun, with cold caches: not what a trial is for */
        s->rest = FIRST_REST;
        s->since = now;
    }
    if (now - s->since < (s->tries ? TRIAL_SECONDS : s->rest))
        return;
    if (!s->tries) {
        begin(s, s->chosen, true, now);
        return;
    }
    s->cost[s->way] = s->work ? (now - s->since) / (double)s->work : 0;
    if (s->way == s->chosen)
        begin(s, s->way == SHARING_ALONE ? SHARING_THREADS : SHARING_ALONE, true, now);
    else
        choose(s, now);
}

bool sharing_asks(struct sharing *s)
{
    if (__builtin_expect(s->always, 0)) {
        s->way = SHARING_THREADS;
        return true;
    }
    if (!s->left) {
        s->left = LOOKS;
        look(s);
    }
    s->left--;
    return s->way == SHARING_THREADS;
}
