/* A round is started by a counter that all threads watch and ended by a count of those who are done. They spin for a while, since a round takes microseconds, then give way: the machine may
 * have fewer processors than threads. */
#include "gpu/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SPINS = 2000 };

struct workers {
    uint32_t threads;
    pthread_t *ids;
    worker_fn *fn;
    void *context;
    uint32_t count;
    atomic_uint round, done;
    atomic_bool stop;
};

struct start { struct workers *workers; uint32_t index; };

static void work(struct workers *w, uint32_t index)
{
    for (uint32_t part = index; part < w->count; part += w->threads)
        w->fn(w->context, part);
}

static void await(atomic_uint *value, unsigned from, bool equal)
{
    for (uint32_t spins = 0; (atomic_load_explicit(value, memory_order_acquire) == from) != equal; spins++)
        if (spins > SPINS)
            sched_yield();
}

static void *loop(void *argument)
{
    struct start s = *(struct start *)argument;
    struct workers *w = s.workers;
    unsigned seen = 0;
    free(argument);
    for (;;) {
        await(&w->round, seen, false);
        seen++;
        if (atomic_load(&w->stop))
            return NULL;
        work(w, s.index);
        atomic_fetch_add_explicit(&w->done, 1, memory_order_release);
    }
}

struct workers *workers_create(uint32_t threads)
{
    struct workers *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->ids = calloc(threads, sizeof *w->ids);
    w->threads = 1;
    for (uint32_t i = 1; w->ids && i < threads; i++) {
        struct start *s = malloc(sizeof *s);
        if (!s)
            break;
        *s = (struct start){ w, i };
        if (pthread_create(&w->ids[i], NULL, loop, s) != 0) {
            free(s);
            break;
        }
        w->threads++;
    }
    if (w->threads > 1)
        return w;
    free(w->ids);
    free(w);
    return NULL;
}

void workers_destroy(struct workers *w)
{
    if (!w)
        return;
    atomic_store(&w->stop, true);
    atomic_fetch_add(&w->round, 1);
    for (uint32_t i = 1; i < w->threads; i++)
        pthread_join(w->ids[i], NULL);
    free(w->ids);
    free(w);
}

void workers_run(struct workers *w, worker_fn *fn, void *context, uint32_t count)
{
    w->fn = fn;
    w->context = context;
    w->count = count;
    atomic_store_explicit(&w->done, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->round, 1, memory_order_release);
    work(w, 0);
    await(&w->done, w->threads - 1, true);
}
