/* Signals that end a process: the results so far are written before they do. The handler only wakes a thread, which may
 * allocate and print. Signals that the program handles itself, or ignores, are left alone.
 *
 * SIGINT while a kernel runs is another matter: it ends the kernel, and the program may go on (launch.c). The others
 * end both: kernels stop, no further one runs, and the process ends by the signal. */
#include "cuda/queue.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The only things that the handler may touch, beside two flags of the driver. */
static sem_t pressed;
static volatile sig_atomic_t which;
static pid_t owner; /* a process that was forked off has the handler, but not the thread */

static void on_interrupt(int number)
{
    int before = errno;
    if (getpid() != owner) {
        signal(number, SIG_DFL);
        raise(number); /* delivered when we return */
    } else {
        if (number != SIGINT)
            driver_get()->ending = driver_get()->interrupt = 1;
        if (!which || which == SIGINT)
            which = number;
        sem_post(&pressed);
    }
    errno = before;
}

static void *wait_for_interrupt(void *driver)
{
    struct driver *d = driver;
    while (sem_wait(&pressed) != 0 && errno == EINTR)
        ;
    int number = which;
    if (number != SIGINT)
        queue_close(d);
    else if (d->pending_count)
        queue_abandon(d);
    if (!driver_claim_end(d))
        return NULL; /* the program was ending by itself */
    if (number == SIGINT)
        error_set(&d->outcome, ERROR_INTERRUPTED, "interrupted between launches");
    else if (d->outcome.kind == ERROR_NONE)
        error_set(&d->outcome, ERROR_INTERRUPTED, "ended by signal %d (%s)", number, strsignal(number));
    driver_finish(d, 128 + number);
    signal(number, SIG_DFL);
    kill(getpid(), number);
    return NULL;
}

static void take_over(int number)
{
    struct sigaction ours = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART}, theirs;
    if (sigaction(number, NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL)
        sigaction(number, &ours, NULL);
}

void interrupt_watch(struct driver *d)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    pthread_t thread;
    sigset_t all, before;
    if (sem_init(&pressed, 0, 0) != 0)
        return;
    owner = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own threads */
    bool started = pthread_create(&thread, NULL, wait_for_interrupt, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started)
        return;
    pthread_detach(thread);
    d->own_threads++;
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        take_over(watched[i]);
}
