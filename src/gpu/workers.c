/* A round is a counter of pieces of work for each thread, which draws from its own, then from those of others: so parts
 * are mostly done by the thread that did them before, in whose cache they are, and one that the host has put aside
 * holds up nobody but for the piece it is at. Which thread does a piece does not matter: pieces share nothing. Threads
 * spin between rounds, which take microseconds, then give way, as the host may have fewer processors than threads, and
 * at last sleep: for long stretches the caller may do without them. */
#include "gpu/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS = 4000, YIELDS = 100, PIECES_A_THREAD = 32 };

/* What several threads write lies in lines of its own. */
struct share {
    _Alignas(64) _Atomic uint64_t ticket; /* from the top: the round (32 bits), the end of its pieces (16), the next of
                                             them (16) */
};

struct workers {
    uint32_t threads;
    pthread_t *ids;
    worker_fn *fn;
    void *context;
    uint32_t count, piece, pieces; /* parts, parts a piece; read only by who has drawn a piece of the round */
    struct share *shares;          /* of each thread */
    atomic_uint numbered;          /* threads that know which is theirs */
    atomic_bool stop;
    atomic_uint sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t begun;               /* a round, while somebody sleeps */
    _Alignas(64) atomic_uint round;     /* the last that has begun */
    _Alignas(64) atomic_uint completed; /* pieces of it */
};

/* Returns how many pieces were drawn. */
static uint32_t draw(struct workers *w, struct share *from)
{
    for (uint32_t drawn = 0;; drawn++) {
        uint64_t ticket = atomic_fetch_add_explicit(&from->ticket, 1, memory_order_acq_rel);
        uint32_t piece = ticket & 0xffff;
        if (piece >= (ticket >> 16 & 0xffff))
            return drawn;
        uint32_t end = (piece + 1) * w->piece < w->count ? (piece + 1) * w->piece : w->count;
        for (uint32_t part = piece * w->piece; part < end; part++)
            w->fn(w->context, part);
    }
}

static void work(struct workers *w, uint32_t self)
{
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < w->threads; i++)
        drawn += draw(w, &w->shares[(self + i) % w->threads]);
    if (drawn)
        atomic_fetch_add_explicit(&w->completed, drawn, memory_order_release);
}

static bool is_round(struct workers *w, uint32_t round)
{
    return atomic_load_explicit(&w->round, memory_order_acquire) == round;
}

/* Who begins a round looks for sleepers after it has begun, and a sleeper for a round after it has said that it is one:
 * one of them sees the other. */
static void sleep_through(struct workers *w, uint32_t round)
{
    pthread_mutex_lock(&w->mutex);
    atomic_fetch_add(&w->sleepers, 1);
    while (atomic_load(&w->round) == round)
        pthread_cond_wait(&w->begun, &w->mutex);
    atomic_fetch_sub(&w->sleepers, 1);
    pthread_mutex_unlock(&w->mutex);
}

static void *loop(void *argument)
{
    struct workers *w = argument;
    uint32_t seen = 0, self = atomic_fetch_add(&w->numbered, 1) + 1;
    for (;;) {
        for (uint32_t spins = 0; is_round(w, seen); spins++)
            if (spins > SPINS + YIELDS)
                sleep_through(w, seen);
            else if (spins > SPINS)
                sched_yield();
        seen = atomic_load_explicit(&w->round, memory_order_acquire);
        if (atomic_load(&w->stop))
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

static void start_round(struct workers *w)
{
    uint32_t round = atomic_load_explicit(&w->round, memory_order_relaxed) + 1;
    for (uint32_t i = 0; i < w->threads; i++)
        atomic_store_explicit(&w->shares[i].ticket,
                              (uint64_t)round << 32 | (i + 1) * w->pieces / w->threads << 16 |
                                  i * w->pieces / w->threads,
                              memory_order_release);
    atomic_store(&w->round, round);
    if (atomic_load(&w->sleepers) == 0)
        return;
    pthread_mutex_lock(&w->mutex);
    pthread_cond_broadcast(&w->begun);
    pthread_mutex_unlock(&w->mutex);
}

void workers_destroy(struct workers *w)
{
    if (!w)
        return;
    atomic_store(&w->stop, true);
    w->pieces = 0;
    start_round(w);
    for (uint32_t i = 1; i < w->threads; i++)
        pthread_join(w->ids[i], NULL);
    pthread_cond_destroy(&w->begun);
    pthread_mutex_destroy(&w->mutex);
    free_all(w);
}

void workers_run(struct workers *w, worker_fn *fn, void *context, uint32_t count)
{
    uint32_t wanted = w->threads * PIECES_A_THREAD;
    w->fn = fn;
    w->context = context;
    w->count = count;
    w->piece = (count + wanted - 1) / wanted;
    w->pieces = (count + w->piece - 1) / w->piece;
    atomic_store_explicit(&w->completed, 0, memory_order_relaxed);
    start_round(w);
    work(w, 0);
    for (uint32_t spins = 0; atomic_load_explicit(&w->completed, memory_order_acquire) != w->pieces; spins++)
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
