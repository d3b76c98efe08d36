/* A hook of a policy from a shared object that does not come back. Nothing is kept up to date for that while a kernel
 * runs: a thread asks those that simulate, some twenty times within the limit, by a signal whose handler looks at its
 * own stack. A hook that was there each time, while the simulation stood still, has not come back; the process ends in
 * its name, with the results so far.
 *
 * The limit counts in looks, not by the clock: a process that is stopped, by a debugger say, looks at nothing. Threads
 * are asked only while they are inside the simulator: whatever else the program waits for is not interrupted. */
#include "cuda/policy_hang.h"

#include "cuda/policy_suspects.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 20, MOST_THREADS = 64, EXIT_STUCK = 4 };
#define DEFAULT_SECONDS 20.0
#define MOST_SECONDS    1e6

/* What a thread saw on its stack. */
struct look {
    atomic_uint question; /* the one that it answers */
    atomic_uintptr_t code;
    _Atomic uint64_t call; /* which call of the hook, as far as can be told */
};

/* A handler, and whoever calls the simulator, have no other way to it. */
static struct {
    pthread_mutex_t lock;
    bool on;
    pid_t process; /* one that was forked off has no watch */
    int signal;
    double seconds;
    uint32_t inside;       /* brackets that are open */
    pthread_t runner;      /* who opened them */
    const struct gpu *gpu; /* NULL: it is being made */
    struct look looks[MOST_THREADS];
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_on(void) { return watch.on && getpid() == watch.process; }

void policy_hang_begin(const struct gpu *g)
{
    if (!is_on())
        return;
    pthread_mutex_lock(&watch.lock);
    watch.runner = pthread_self();
    watch.gpu = g;
    watch.inside++;
    pthread_mutex_unlock(&watch.lock);
}

void policy_hang_end(void)
{
    if (!is_on())
        return;
    pthread_mutex_lock(&watch.lock);
    watch.inside--;
    pthread_mutex_unlock(&watch.lock);
}

static uint64_t mix(uint64_t h, uint64_t value) { return (h ^ value) * 0x9e3779b97f4a7c15ull; }

/* The value: which look, and the question. */
static void on_question(int number, siginfo_t *info, void *context)
{
    void *frames[SUSPECT_FRAMES];
    int before = errno;
    unsigned value = (unsigned)info->si_value.sival_int;
    struct look *l = &watch.looks[value % MOST_THREADS];
    (void)number;
    if (info->si_code != SI_QUEUE || info->si_pid != watch.process)
        return;
    struct suspect_call call = suspects_call(frames, backtrace(frames, SUSPECT_FRAMES), context);
    if (call.code) /* the simulation waits for this thread: nobody writes what is read here */
        atomic_store(&l->call, mix(mix(mix(1, call.caller), (uint64_t)call.outer), gpu_pulse(watch.gpu)));
    atomic_store(&l->code, call.code);
    atomic_store(&l->question, value / MOST_THREADS);
    errno = before;
}

/* Returns how many threads were asked. */
static uint32_t ask(unsigned question)
{
    uint32_t count = 0;
    pthread_t threads[MOST_THREADS];
    pthread_mutex_lock(&watch.lock);
    if (watch.inside) {
        threads[count++] = watch.runner;
        count += watch.gpu ? gpu_threads(watch.gpu, threads + 1, MOST_THREADS - 1) : 0;
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_sigqueue(threads[i], watch.signal, (union sigval){.sival_int = (int)(question * MOST_THREADS + i)});
    pthread_mutex_unlock(&watch.lock);
    return count;
}

static void report(struct driver *d, uintptr_t code)
{
    struct suspect_name name;
    struct error e = {0};
    if (!suspects_name(code, &name))
        return;
    error_set(&e, ERROR_DEADLOCK, "%s %s does not come back from its %s (%s): it has been there for %g s", name.kind,
              name.policy, name.hook, name.path, watch.seconds);
    error_note(&e, "HEDDLE_HOOK_SECONDS sets the limit; 0: none");
    if (write(STDERR_FILENO, "heddle: ", 8) + write(STDERR_FILENO, e.text, strlen(e.text)) +
            write(STDERR_FILENO, "\n", 1) <
        0)
        e.kind = ERROR_DEADLOCK; /* there is nobody to tell */
    driver_finish_stuck(d, &e, EXIT_STUCK);
}

static void *look_on(void *driver)
{
    struct {
        uint64_t call;
        uint32_t times;
    } seen[MOST_THREADS] = {{0}};
    double interval = watch.seconds / LOOKS;
    time_t whole = (time_t)interval;
    struct timespec pause = {.tv_sec = whole, .tv_nsec = (long)((interval - (double)whole) * 1e9)};
    for (unsigned question = 1;; question = (question + 1) % (INT32_MAX / MOST_THREADS)) {
        uint32_t asked = ask(question);
        nanosleep(&pause, NULL);
        for (uint32_t i = 0; i < MOST_THREADS; i++) {
            struct look *l = &watch.looks[i];
            bool answered = i < asked && atomic_load(&l->question) == question;
            uintptr_t code = answered ? atomic_load(&l->code) : 0;
            uint64_t call = code ? atomic_load(&l->call) : 0;
            seen[i].times = code && call == seen[i].call ? seen[i].times + 1 : 0;
            seen[i].call = call;
            if (seen[i].times >= LOOKS)
                report(driver, code);
        }
    }
    return NULL;
}

/* A signal that nobody uses. */
static int free_signal(void)
{
    struct sigaction theirs;
    for (int number = SIGRTMAX; number > SIGRTMIN; number--)
        if (sigaction(number, NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL)
            return number;
    return 0;
}

/* Nothing answers to 0. */
static double limit(void)
{
    const char *text = getenv("HEDDLE_HOOK_SECONDS");
    char *end;
    if (!text || !*text)
        return DEFAULT_SECONDS;
    double seconds = strtod(text, &end);
    if (*end || !(seconds >= 0 && seconds <= MOST_SECONDS)) {
        driver_say("HEDDLE_HOOK_SECONDS is '%.100s', which is no number of seconds; it is %g", text, DEFAULT_SECONDS);
        return DEFAULT_SECONDS;
    }
    return seconds;
}

void policy_hang_watch(struct driver *d)
{
    struct sigaction ours = {.sa_sigaction = on_question, .sa_flags = SA_SIGINFO | SA_RESTART};
    pthread_t thread;
    sigset_t all, before;
    watch.seconds = limit();
    watch.signal = free_signal();
    if (watch.seconds == 0 || !watch.signal || sigaction(watch.signal, &ours, NULL) != 0)
        return;
    watch.process = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own threads */
    watch.on = pthread_create(&thread, NULL, look_on, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!watch.on)
        return;
    pthread_detach(thread);
    d->own_threads++;
}
