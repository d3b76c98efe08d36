/* A round is a row of pieces of work for each thread, which draws from the front of its own, then from the back of
 * those of others: so parts are mostly done by the thread that did them before, in whose cache they are, and one that
 * the host has put aside holds up nobody but for the piece it is at. Which thread does a piece does not matter: pieces
 * share nothing. Threads spin between rounds, which take microseconds, then give way, as the host may have fewer
 * processors than threads, and at last sleep: for long stretches the caller may do without them.
 *
 * A round costs what lines the threads' caches send each other: each thread waits for its own counter, which also tells
 * what to do, and says in a line of its own what it has done; what the rounds have in common is written only when it
 * changes. */
#include "gpu/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS = 4000, YIELDS = 100, PIECES_A_THREAD = 32, TURNS_MOST = 2 };

struct share {
    /* Of each turn, from the top: the round (32 bits), the end of its pieces (16), the next of them (16). */
    _Alignas(64) _Atomic uint64_t ticket[TURNS_MOST];
    _Alignas(64) atomic_uint done; /* pieces that its thread has done, from the start, modulo 2^32 */
};

/* Read only by who has drawn a piece. */
struct task {
    worker_fn *fn;
    void *context;
    uint32_t count, piece; /* parts, parts a piece */
    uint32_t pieces;       /* of a turn */
    uint32_t turns;
};

struct workers {
    _Alignas(64) struct task task;
    uint32_t threads;
    struct share *shares; /* of each thread; the first is the caller's */
    pthread_t *ids;
    uint32_t round;                    /* the last that has begun */
    uint32_t all_pieces;               /* of all rounds, modulo 2^32 */
    _Alignas(64) atomic_uint numbered; /* threads that know which is theirs */
    atomic_bool stop;
    atomic_uint sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t begun; /* a round, while somebody sleeps */
};

static uint32_t round_of(uint64_t ticket) { return (uint32_t)(ticket >> 32); }
static bool is_drawn(uint64_t ticket) { return (ticket & 0xffff) >= (ticket >> 16 & 0xffff); }

/* The first piece of a thread's own. */
static uint32_t first_of(const struct workers *w, uint32_t pieces, uint32_t thread)
{
    return thread * pieces / w->threads;
}

static void do_piece(const struct workers *w, uint32_t thread, uint32_t turn, uint32_t number)
{
    const struct task *k = &w->task;
    uint32_t first = (first_of(w, k->pieces, thread) + number) * k->piece,
             end = first + k->piece < k->count ? first + k->piece : k->count;
    for (uint32_t part = first; part < end; part++)
        k->fn(k->context, turn * k->count + part);
}

/* Both return how many pieces were drawn. A counter that has come to its end is left where it is: in the cache of the
 * thread that waits for it. */

static uint32_t draw_own(const struct workers *w, uint32_t self, uint32_t turn)
{
    _Atomic uint64_t *from = &w->shares[self].ticket[turn];
    for (uint32_t drawn = 0;; drawn++) {
        if (is_drawn(atomic_load_explicit(from, memory_order_relaxed)))
            return drawn;
        uint64_t ticket = atomic_fetch_add_explicit(from, 1, memory_order_acquire);
        if (is_drawn(ticket))
            return drawn;
        do_piece(w, self, turn, ticket & 0xffff);
    }
}

static uint32_t draw_of(const struct workers *w, uint32_t thread, uint32_t turn)
{
    _Atomic uint64_t *from = &w->shares[thread].ticket[turn];
    uint64_t ticket = atomic_load_explicit(from, memory_order_relaxed);
    uint32_t drawn = 0;
    while (!is_drawn(ticket)) {
        if (!atomic_compare_exchange_weak_explicit(from, &ticket, ticket - (1u << 16), memory_order_acquire,
                                                   memory_order_relaxed))
            continue;
        do_piece(w, thread, turn, (ticket >> 16 & 0xffff) - 1);
        drawn++;
        ticket = atomic_load_explicit(from, memory_order_relaxed);
    }
    return drawn;
}

static void work(const struct workers *w, uint32_t self)
{
    atomic_uint *done = &w->shares[self].done;
    uint32_t drawn = 0;
    for (uint32_t turn = 0; turn < TURNS_MOST; turn++)
        drawn += draw_own(w, self, turn);
    for (uint32_t i = 1; i < w->threads; i++)
        for (uint32_t turn = 0; turn < TURNS_MOST; turn++)
            drawn += draw_of(w, (self + i) % w->threads, turn);
    if (drawn)
        atomic_store_explicit(done, atomic_load_explicit(done, memory_order_relaxed) + drawn, memory_order_release);
}

static uint32_t round_at(const struct share *s)
{
    return round_of(atomic_load_explicit(&s->ticket[0], memory_order_acquire));
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

static void start_round(struct workers *w, uint32_t pieces, uint32_t turns)
{
    w->round++;
    w->all_pieces += pieces * turns;
    for (uint32_t i = w->threads; i-- > 0;) {
        uint64_t ticket = (uint64_t)w->round << 32, own = first_of(w, pieces, i + 1) - first_of(w, pieces, i);
        for (uint32_t turn = TURNS_MOST; turn-- > 0;) /* threads wait for the first */
            if (turn < turns)
                atomic_store_explicit(&w->shares[i].ticket[turn], ticket | own << 16, memory_order_release);
    }
}

void workers_destroy(struct workers *w)
{
    if (!w)
        return;
    atomic_store(&w->stop, true);
    start_round(w, 0, 1);
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

static void set_task(struct task *now, struct task next)
{
    if (now->fn != next.fn || now->context != next.context || now->count != next.count || now->turns != next.turns)
        *now = next;
}

void workers_run_in_turns(struct workers *w, worker_fn *fn, void *context, uint32_t count, uint32_t turns)
{
    uint32_t wanted = w->threads * PIECES_A_THREAD, piece = count > wanted ? (count + wanted - 1) / wanted : 1,
             pieces = (count + piece - 1) / piece;
    set_task(&w->task, (struct task){fn, context, count, piece, pieces, turns});
    start_round(w, pieces, turns);
    if (atomic_load_explicit(&w->sleepers, memory_order_relaxed))
        wake_all(w);
    work(w, 0);
    for (uint32_t spins = 0; done(w) != w->all_pieces; spins++)
        if (spins > SPINS)
            sched_yield();
}

void workers_run(struct workers *w, worker_fn *fn, void *context, uint32_t count)
{
    workers_run_in_turns(w, fn, context, count, 1);
}

uint32_t workers_threads(const struct workers *w, pthread_t *out, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < w->threads && count < most; i++)
        out[count++] = w->ids[i];
    return count;
}
