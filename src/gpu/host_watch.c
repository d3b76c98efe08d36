/* Watching the host's time: see host_watch.h. The watching thread and those that simulate share nothing but bytes that
 * are written without waiting; the mutex is taken when a launch begins or ends, and for each look. */
#include "gpu/host_watch.h"
#include "gpu/timing.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { LOOK_NANOSECONDS = 5000000, LOOKS_LEAST = 50 };

struct host_watch {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    const struct timing *at; /* NULL means that no launch runs */
    bool stops;
    double since, watched; /* in seconds: when the launch that is watched began; how long those before it took */
    uint64_t looks;        /* looks that found a launch */
    uint64_t found[HOST_PART_COUNT];
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Counts the part that the machine as a whole is at; while it runs its cores, the parts that these are at. A thread
 * whose core does not say counts for issue, where cores spend most time. */
static void look(struct host_watch *w)
{
    enum host_part part = host_part_of(&w->at->part);
    uint32_t threads = w->at->threads.workers ? w->at->options->threads : 1;
    w->looks++;
    if (part != HOST_NOTHING) {
        w->found[part]++;
        return;
    }
    for (uint32_t i = 0; i < w->at->core_count; i++) {
        part = host_part_of(&sm_head(w->at->cores[i])->part);
        w->found[part]++;
        threads -= part != HOST_NOTHING && threads;
    }
    w->found[HOST_ISSUE] += threads;
}

static void *watch(void *argument)
{
    struct host_watch *w = argument;
    struct timespec pause = {.tv_nsec = LOOK_NANOSECONDS};
    pthread_mutex_lock(&w->mutex);
    while (!w->stops) {
        if (!w->at) {
            pthread_cond_wait(&w->changed, &w->mutex);
            continue;
        }
        pthread_mutex_unlock(&w->mutex);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&w->mutex);
        if (w->at)
            look(w);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

struct host_watch *host_watch_create(void)
{
    struct host_watch *w = calloc(1, sizeof *w);
    sigset_t all, before;
    if (!w)
        return NULL;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, watch, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        return w;
    free(w);
    return NULL;
}

void host_watch_destroy(struct host_watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    w->stops = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

void host_watch_look(struct host_watch *w, const struct timing *t)
{
    pthread_mutex_lock(&w->mutex);
    double now = seconds_now();
    if (w->at)
        w->watched += now - w->since;
    w->since = now;
    w->at = t;
    if (t)
        pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}

bool host_watch_seconds(struct host_watch *w, double seconds[HOST_PART_COUNT])
{
    pthread_mutex_lock(&w->mutex);
    bool known = w->looks >= LOOKS_LEAST;
    double watched = w->watched + (w->at ? seconds_now() - w->since : 0); /* a run that was stopped ends in a launch */
    for (int i = 0; known && i < HOST_PART_COUNT; i++)
        seconds[i] = watched * (double)w->found[i] / (double)w->looks;
    pthread_mutex_unlock(&w->mutex);
    return known;
}
