/* See sharing.h. A trial is short beside the time until the next, so that the slower way costs little (where meetings
 * are long, so is a trial); a result like the last one is trusted for twice as long, so that one that chance has made
 * does not last. */
#include "gpu/sharing.h"

#include <time.h>

static const double TRIAL_SECONDS = 0.0004, FIRST_REST = 0.004, REST_LEAST = 0.003, REST_MOST = 0.64;
/* A rest is as long as so many trials, at least and at most, where these are long. */
static const double TRIALS_LEAST = 6, TRIALS_MOST = 64;
/* What alone must be faster by: a trial's result is not exact. */
static const double MARGIN = 1.04;
enum { LOOKS = 4 }; /* meetings from one look at the clock to the next, but for long ones */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double larger(double a, double b) { return a > b ? a : b; }

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
    bool threads = s->cost[SHARING_THREADS] < MARGIN * s->cost[SHARING_ALONE];
    enum sharing_way faster = threads ? SHARING_THREADS : SHARING_ALONE;
    double least = larger(REST_LEAST, TRIALS_LEAST * (now - s->since)),
           most = larger(REST_MOST, TRIALS_MOST * (now - s->since));
    s->rest = faster == s->chosen ? 2 * s->rest : least;
    s->rest = s->rest < least ? least : s->rest > most ? most : s->rest;
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

bool sharing_asks(struct sharing *s, bool begins)
{
    if (__builtin_expect(s->always, 0)) {
        s->way = SHARING_THREADS;
        return true;
    }
    s->left -= s->left != 0;
    if (!s->left && begins) {
        s->left = LOOKS;
        look(s);
    }
    return s->way == SHARING_THREADS;
}

/* Tried with two threads: with 132 cores, whose registers no cache holds, long stretches pay; with 15 the rounds in
 * which all are awake do. */
void meetings_init(struct meetings *m, uint32_t cores, uint32_t threads)
{
    enum { MANY_CORES = 32, CORES_A_THREAD = 4 };
    uint32_t least = cores > MANY_CORES ? 128 : 16, few = CORES_A_THREAD * threads;
    *m = (struct meetings){
        .apart = least, .least = least, .most = 8 * least, .few = few < cores / 2 + 1 ? few : cores / 2 + 1};
}

uint64_t meetings_next(struct meetings *m, uint64_t now)
{
    enum { LITTLE = 32, MUCH = 8, LONG_ROUND = 512 }; /* the 32nd part is little, the 8th much */
    if (now < m->at)
        return m->at;
    if (m->by_few * LITTLE <= m->cycles && m->apart < m->most)
        m->apart *= 2;
    else if (m->by_few * MUCH > m->cycles && m->apart > m->least)
        m->apart /= 2;
    m->rounds_are_long = m->cycles > LONG_ROUND * m->rounds;
    m->cycles = m->by_few = m->rounds = 0;
    m->at = now + m->apart;
    m->was_now = true;
    return m->at;
}
