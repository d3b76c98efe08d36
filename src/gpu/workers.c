/* A round is a range of parts for each thread, which draws from the front of its own, then from those of others: so
 * parts are mostly done by the thread that did them before, in whose cache they are, and a preempted thread delays only
 * the part at which it is. Which thread does a part does not matter: parts share nothing. Threads spin between rounds,
 * which take microseconds, then give way, as the host may have fewer processors than threads, and at last sleep: for
 * long stretches the caller may do without them.
 *
 * A round costs what lines the threads' caches send each other: each thread waits for its own counter, which also tells
 * what to do, and says in a line of its own what it has done. */
#include "gpu/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS = 4000, YIELDS = 100 };

struct share {
    /* From the top: the round (32 bits), the end of the thread's parts (16), the next of them (16). */
    _Alignas(64) _Atomic uint64_t ticket;
    _Alignas(64) atomic_uint done; /* parts that the thread has done, from the start, modulo 2^32 */
};

struct workers {
    _Alignas(64) worker_fn *fn; /* of this round; read only by who has drawn a part */
    void *context;
    uint32_t threads;
    struct share *shares; /* of each thread; the first is the caller's */
    pthread_t *ids;
    uint32_t round;                    /* the last that has begun */
    uint32_t all_parts;                /* of all rounds, modulo 2^32 */
    _Alignas(64) atomic_uint numbered; /* threads that know which is theirs */
    atomic_bool stop;
    atomic_uint sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t begun; /* a round, while somebody sleeps */
};

static uint32_t round_of(uint64_t ticket) { return (uint32_t)(ticket >> 32); }
static bool is_drawn(uint64_t ticket) { return (ticket & 0xffff) >= (ticket >> 16 & 0xffff); }

/* Returns how many parts of the thread's range were drawn. A range that has come to its end is not written to: its
 * thread waits at it. */
static uint32_t draw(const struct workers *w, uint32_t thread)
{
    _Atomic uint64_t *from = &w->shares[thread].ticket;
    for (uint32_t drawn = 0;; drawn++) {
        if (is_drawn(atomic_load_explicit(from, memory_order_relaxed)))
            return drawn;
        uint64_t ticket = atomic_fetch_add_explicit(from, 1, memory_order_acquire);
        if (is_drawn(ticket))
            return drawn;
        w->fn(w->context, ticket & 0xffff);
    }
}

static void work(const struct workers *w, uint32_t self)
{
    atomic_uint *done = &w->shares[self].done;
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < w->threads; i++)
        drawn += draw(w, (self + i) % w->threads);
    if (drawn)
        atomic_store_explicit(done, atomic_load_explicit(done, memory_order_relaxed) + drawn, memory_order_release);
}

static uint32_t round_at(const struct share *s)
{
    return round_of(atomic_load_explicit(&s->ticket, memory_order_acquire));
}

/* Who begins a round may not see that a thread is about to sleep: it then does the round without it, and wakes it with
 * the next. */
static void sleep_through(struct workers *w, const struct share *own, uint32_t round)
{
    pthread_mutex_lock(&w->mutex);
    atomic_fetch_add(&w->sleepers, 1);
    while (round_at(own) == round)
        pthread_cond_wait(&w->begun, &w->mutex);
    atomic_fetch_sub(&w->sleepers, 1);
    pthread_mutex_unlock(&w->mutex);
}

static void *loop(void *argument)
{
    struct workers *w = argument;
    uint32_t seen = 0, self = atomic_fetch_add(&w->numbered, 1) + 1;
    const struct share *own = &w->shares[self];
    for (;;) {
        for (uint32_t spins = 0; round_at(own) == seen; spins++)
            if (spins > SPINS + YIELDS)
                sleep_through(w, own, seen);
            else if (spins > SPINS)
                sched_yield();
        seen = round_at(own);
        if (atomic_load_explicit(&w->stop, memory_order_relaxed))
            return NULL;
        work(w, self);
    }
}

static void *zeroed_lines(size_t bytes)
{
    void *p = aligned_alloc(64, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

static void free_all(struct workers *w)
{
    free(w->ids);
    free(w->shares);
    free(w);
}

struct workers *workers_create(uint32_t threads)
{
    struct workers *w = zeroed_lines(sizeof *w);
    if (!w)
        return NULL;
    w->ids = calloc(threads, sizeof *w->ids);
    w->shares = zeroed_lines(threads * sizeof *w->shares);
    w->threads = 1;
    if (!w->ids || !w->shares) {
        free_all(w);
        return NULL;
    }
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->begun, NULL);
    while (w->threads < threads && pthread_create(&w->ids[w->threads], NULL, loop, w) == 0)
        w->threads++;
    if (w->threads > 1)
        return w;
    pthread_cond_destroy(&w->begun);
    pthread_mutex_destroy(&w->mutex);
    free_all(w);
    return NULL;
}

static void wake_all(struct workers *w)
{
    pthread_mutex_lock(&w->mutex);
    pthread_cond_broadcast(&w->begun);
    pthread_mutex_unlock(&w->mutex);
}

static void start_round(struct workers *w, uint32_t parts)
{
    w->round++;
    w->all_parts += parts;
    for (uint32_t i = w->threads; i-- > 0;) {
        uint64_t first = i * parts / w->threads, end = (i + 1) * parts / w->threads;
        atomic_store_explicit(&w->shares[i].ticket, (uint64_t)w->round << 32 | end << 16 | first, memory_order_release);
    }
}

void workers_destroy(struct workers *w)
{
    if (!w)
        return;
    atomic_store(&w->stop, true);
    start_round(w, 0);
    wake_all(w);
    for (uint32_t i = 1; i < w->threads; i++)
        pthread_join(w->ids[i], NULL);
    pthread_cond_destroy(&w->begun);
    pthread_mutex_destroy(&w->mutex);
    free_all(w);
}

static uint32_t done(const struct workers *w)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < w->threads; i++)
        sum += atomic_load_explicit(&w->shares[i].done, memory_order_acquire);
    return sum;
}

void workers_run(struct workers *w, worker_fn *fn, void *context, uint32_t count)
{
    w->fn = fn;
    w->context = context;
    start_round(w, count);
    if (atomic_load_explicit(&w->sleepers, memory_order_relaxed))
        wake_all(w);
    work(w, 0);
    for (uint32_t spins = 0; done(w) != w->all_parts; spins++)
        if (spins > SPINS)
            sched_yield();
}

uint32_t workers_threads(const struct workers *w, pthread_t *out, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < w->threads && count < most; i++)
        out[count++] = w->ids[i];
    return count;
}
