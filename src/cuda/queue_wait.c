/* Waiting for queued work, and looking after it where nobody waits (queue.h).
 *
 * The watch is a thread that exists once work was left pending. A program that waits for a kernel by looking at memory,
 * without a call, would wait for ever: so when nobody has driven the queues for a while, the watch does. Without time
 * that is soon. With time, what runs together decides how long it takes, and that must not hang on the host's speed:
 * there the watch waits until the thread that made the last call has been busy for a second, of its own processor time,
 * or ten seconds have passed; then it says what it does. */
#include "cuda/queue.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ABANDON_SECONDS = 1 };
static const double patience_seconds = 10; /* with a kernel that spins, where other threads may end that */
static const double idle_seconds = 0.005;  /* after which the watch drives, without time */
static const struct {
    double busy, idle;
} timed_seconds = {1, 10}, polls_seconds = {0.005, 1}; /* with time; and once it had to */

struct watch {
    pthread_t thread;
    pthread_cond_t left;
    bool polls; /* it had to drive once */
    bool has_clock;
    clockid_t clock;    /* of the thread that made the last call, */
    double busy_before; /* and what it showed then */
};

static void nap(void)
{
    struct timespec t = {.tv_nsec = 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

static uint64_t slice_of(const struct driver *d)
{
    return d->gpu->options.functional ? QUEUE_INSTRUCTIONS / 16 : QUEUE_CYCLES / 16;
}

static bool somebody_calls(const struct driver *d) { return atomic_load(&d->waiting) > atomic_load(&d->patient); }

void queue_yield(void)
{
    struct driver *d = driver_get();
    if (!somebody_calls(d))
        return;
    api_unlock();
    while (somebody_calls(d)) /* the lock is not fair */
        sched_yield();
    api_lock();
}

/* Does the program have other threads than this one? */
static bool has_company(const struct driver *d)
{
    char line[128];
    unsigned int threads = 1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %u", &threads) == 1)
            break;
    if (f)
        fclose(f);
    uint32_t workers = !d->gpu->options.functional && d->gpu->options.threads > 1 ? d->gpu->options.threads - 1 : 0;
    uint32_t watchers = d->gpu->watch != NULL;
    return threads > 1 + d->own_threads + workers + watchers;
}

/* Time counts from the last call or end of a piece of work on. */
bool queue_be_patient(struct queue_patience *p)
{
    struct driver *d = driver_get();
    bool news = p->seq != d->next_seq || p->pops != d->pops || somebody_calls(d);
    if (!has_company(d)) { /* the last thing that another thread did may have been to help: once more */
        bool was_alone = p->alone;
        p->alone = true;
        return !was_alone;
    }
    p->alone = false;
    if (p->since == 0 || news)
        *p = (struct queue_patience){.since = seconds_now(), .seq = d->next_seq, .pops = d->pops};
    if (seconds_now() - p->since > patience_seconds)
        return false;
    api_unlock();
    nap();
    while (somebody_calls(d)) /* the lock is not fair */
        sched_yield();
    atomic_fetch_add(&d->patient, 1);
    api_lock();
    atomic_fetch_sub(&d->patient, 1);
    return true;
}

static CUresult told(struct context *ctx)
{
    CUresult late = ctx ? ctx->late : CUDA_SUCCESS;
    if (!ctx || ctx->failure != CUDA_SUCCESS)
        return ctx ? ctx->failure : CUDA_SUCCESS;
    ctx->late = CUDA_SUCCESS;
    return late;
}

static bool host_function_runs(const struct driver *d)
{
    for (const struct lane *l = d->lanes; l; l = l->next)
        if (l->head && l->head->busy)
            return true;
    return false;
}

/* As far as it comes. Returns whether all of it is done. waits: also for host functions that other threads are in. */
static bool drive_on(const struct queue_mark *m, bool waits)
{
    struct driver *d = driver_get();
    struct queue_patience patience = {0};
    enum queue_state state;
    queue_note_wait(1);
    launch_guard();
    while ((state = queue_drive(m, slice_of(d))) != QUEUE_DONE) {
        bool host = host_function_runs(d);
        if (state == QUEUE_TIRED || host)
            patience.since = 0;
        if (state == QUEUE_TIRED)
            queue_yield();
        else if ((host && !waits) || !queue_be_patient(&patience))
            break;
    }
    launch_unguard();
    queue_note_wait(-1);
    return state == QUEUE_DONE;
}

CUresult queue_wait(struct queue_mark m)
{
    struct context *ctx = context_current();
    while (queue_is_pending(&m) && !drive_on(&m, true))
        queue_hang(
            "a stream waits for a value in memory (cuStreamWaitValue) that nothing which is left to do can write");
    return told(ctx);
}

CUresult queue_ask(struct queue_mark m)
{
    struct driver *d = driver_get();
    if (queue_is_pending(&m))
        queue_drive(&m, slice_of(d));
    bool pending = queue_is_pending(&m);
    queue_yield();
    CUresult r = told(context_current());
    return r == CUDA_SUCCESS && pending ? CUDA_ERROR_NOT_READY : r;
}

void queue_end(const struct context *ctx)
{
    queue_drop(ctx);
    struct queue_mark all = {.ctx = ctx, .seq = driver_get()->next_seq};
    if (queue_is_pending(&all))
        drive_on(&all, true);
}

void queue_settle(bool waits)
{
    struct queue_mark all = {.seq = driver_get()->next_seq};
    if (queue_is_pending(&all))
        drive_on(&all, waits);
}

void queue_enter(enum api_need need)
{
    if (queue_in_host_function())
        queue_set_aside();
    if (driver_get()->pending_count && !(need & API_PASSING))
        queue_settle(need & API_WAITING);
}

/* Whether the lock is ours: somebody may hold it for long, in a function of the host. */
static bool lock_in_time(struct driver *d)
{
    struct timespec until;
    atomic_fetch_add(&d->waiting, 1);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ABANDON_SECONDS;
    bool locked = pthread_mutex_timedlock(&d->lock, &until) == 0;
    atomic_fetch_sub(&d->waiting, 1);
    return locked;
}

void queue_abandon(struct driver *d)
{
    if (!lock_in_time(d))
        return;
    queue_drop(NULL);
    api_unlock();
}

void queue_close(struct driver *d)
{
    if (lock_in_time(d))
        queue_drop(NULL);
}

void queue_finish(struct driver *d)
{
    struct queue_mark all = {.seq = d->next_seq};
    while (queue_is_pending(&all) && queue_drive(&all, UINT64_MAX) == QUEUE_STUCK && !host_function_runs(d))
        queue_hang(
            "a stream waits for a value in memory (cuStreamWaitValue) that nothing which is left to do can write");
}

/* The watch. It does nothing while a thread is in a call that drives: that one does all there is to do. */

static void say_once(struct driver *d, struct watch *w)
{
    if (!w->polls && !d->gpu->options.functional && !d->options.quiet)
        driver_say("%s for long while kernels wait to be run: they are, as the program may be waiting for them; which "
                   "ones run together, and so their times, can differ from run to run",
                   host_function_runs(d) ? "a host function runs" : "no CUDA call");
    w->polls = true;
}

static double read_clock(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0;
}

static bool is_due(const struct driver *d, const struct watch *w)
{
    double idle = seconds_now() - d->driven_at;
    if (d->gpu->options.functional)
        return idle >= idle_seconds;
    double busy = w->has_clock ? read_clock(w->clock) - w->busy_before : 0;
    return w->polls ? idle >= polls_seconds.idle || busy >= polls_seconds.busy
                    : idle >= timed_seconds.idle || busy >= timed_seconds.busy;
}

static void *look_after(void *driver)
{
    struct driver *d = driver;
    struct watch *w = d->watch;
    for (;;) {
        api_lock();
        while (!d->pending_count)
            pthread_cond_wait(&w->left, &d->lock);
        struct queue_mark all = {.seq = d->next_seq};
        if (d->waiters || !is_due(d, w)) {
            api_unlock();
            nap();
            continue;
        }
        say_once(d, w);
        double before = d->driven_at;
        enum queue_state state = queue_drive(&all, slice_of(d));
        d->driven_at = before; /* still nobody else */
        api_unlock();
        if (state == QUEUE_STUCK)
            nap();
        else
            sched_yield();
    }
    return NULL;
}

static void note_caller(struct watch *w)
{
    w->has_clock = pthread_getcpuclockid(pthread_self(), &w->clock) == 0;
    w->busy_before = w->has_clock ? read_clock(w->clock) : 0;
}

void queue_watch(struct driver *d)
{
    sigset_t all, before;
    if (d->watch) {
        note_caller(d->watch);
        pthread_cond_signal(&d->watch->left);
        return;
    }
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return;
    note_caller(w);
    pthread_cond_init(&w->left, NULL);
    d->watch = w;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own threads */
    bool started = pthread_create(&w->thread, NULL, look_after, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_detach(w->thread);
        d->own_threads++;
        return;
    }
    d->watch = NULL;
    pthread_cond_destroy(&w->left);
    free(w);
}
