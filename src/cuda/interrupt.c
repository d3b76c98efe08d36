/* Ctrl-C while no kernel runs: the results so far are written before the process ends by the signal. The handler only wakes a thread, which may allocate and
 * print; kernels have a handler of their own (launch.c). Programs that handle SIGINT themselves are left alone. */
#include "cuda/queue.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t pressed; /* the only thing that the handler may touch */

static void on_interrupt(int number)
{
    (void)number;
    sem_post(&pressed);
}

static void *wait_for_interrupt(void *driver)
{
    struct driver *d = driver;
    while (sem_wait(&pressed) != 0 && errno == EINTR)
        ;
    if (d->pending_count)
        queue_abandon(d);
    error_set(&d->outcome, ERROR_INTERRUPTED, "interrupted between launches");
    driver_finish(d, 128 + SIGINT);
    signal(SIGINT, SIG_DFL);
    kill(getpid(), SIGINT);
    return NULL;
}

void interrupt_watch(struct driver *d)
{
    struct sigaction ours = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART}, theirs;
    pthread_t thread;
    sigset_t all, before;
    if (sigaction(SIGINT, NULL, &theirs) != 0 || theirs.sa_handler != SIG_DFL || sem_init(&pressed, 0, 0) != 0)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own threads */
    bool started = pthread_create(&thread, NULL, wait_for_interrupt, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started)
        return;
    pthread_detach(thread);
    d->own_threads++;
    sigaction(SIGINT, &ours, NULL);
}
