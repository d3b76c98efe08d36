/* A program that a person watches, and the process between it and `heddle run` that sees to its end.
 *
 * Whatever becomes of `heddle run`, nobody is left behind. When it dies, the kernel tells the keeper
 * (PR_SET_PDEATHSIG), which ends the program and everything that the program started; when the keeper is killed, the
 * kernel kills the program, and the rest falls to `heddle run`. Both are subreapers for that: the children of a process
 * that ends become theirs.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT for `heddle run` or the keeper are passed on to the program, a little later: a
 * signal for the whole process group has reached the program by then, and it needs no second one. Those of a terminal
 * always go to the group. What is ignored when we start (nohup) stays so. */
#include "sweep/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PASS_ON_AFTER_MS = 300, LOOK_EVERY_MS = 10, END_AFTER_MS = 1000, MOST_CHILDREN = 64 };

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

/* Signals as they were before, for the program. */
struct before {
    sigset_t mask;
    struct sigaction child;
    int reaper;
};

struct keeper {
    pid_t parent, program;
    int last;          /* the signal that was passed on; 0: none */
    sigset_t waiting;  /* to be passed on */
    double pass_on_at; /* 0: there are none */
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_MS * 1000000L}, NULL); }

/* Blocked from here on, and read one by one: a handler could miss one in front of a system call. */
static void hold_signals(sigset_t *held, struct before *before)
{
    struct sigaction was, usual = {.sa_handler = SIG_DFL};
    sigemptyset(held);
    sigaddset(held, SIGCHLD);
    for (int i = 0; i < PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaddset(held, passed_on[i]);
    sigaction(SIGCHLD, &usual, &before->child); /* where it is ignored, nobody learns how a program ended */
    sigprocmask(SIG_BLOCK, held, &before->mask);
}

static void release_signals(const struct before *before)
{
    sigaction(SIGCHLD, &before->child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* ------------------------------------------------------------- what is left behind */

static int own_children(pid_t children[MOST_CHILDREN])
{
    char path[64];
    int child, count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "re");
    while (f && count < MOST_CHILDREN && fscanf(f, "%d", &child) == 1)
        children[count++] = (pid_t)child;
    if (f)
        fclose(f);
    return count;
}

/* True when there are none. */
static bool signal_children(int number)
{
    pid_t children[MOST_CHILDREN];
    int count = own_children(children);
    for (int i = 0; i < count; i++)
        if (waitpid(children[i], NULL, WNOHANG) != children[i] && number)
            kill(children[i], number);
    return count == 0;
}

/* first: the signal that they get before SIGKILL; 0: none. */
static void end_children(int first)
{
    double until = now_ms() + END_AFTER_MS;
    if (first && !signal_children(first))
        while (now_ms() < until && !signal_children(0))
            nap();
    for (until = now_ms() + END_AFTER_MS; now_ms() < until && !signal_children(SIGKILL);)
        nap();
}

/* ------------------------------------------------------------- the keeper */

static void note(struct keeper *k, int number, const siginfo_t *info)
{
    if (number <= 0 || number == SIGCHLD || (info->si_code != SI_USER && info->si_code != SI_QUEUE))
        return;
    if (k->pass_on_at == 0)
        k->pass_on_at = now_ms() + PASS_ON_AFTER_MS;
    sigaddset(&k->waiting, number);
}

static void pass_on(struct keeper *k)
{
    for (int i = 0; i < PASSED_ON; i++)
        if (sigismember(&k->waiting, passed_on[i])) {
            kill(k->program, passed_on[i]);
            k->last = passed_on[i];
        }
    sigemptyset(&k->waiting);
    k->pass_on_at = 0;
}

/* Until the program has ended. */
static int watch(struct keeper *k, const struct keeper_program *p, const sigset_t *held)
{
    const struct timespec soon = {.tv_nsec = LOOK_EVERY_MS * 1000000L};
    int status = 0;
    siginfo_t info;
    sigemptyset(&k->waiting);
    for (;;) {
        pid_t ended = waitpid(-1, &status, WNOHANG); /* others: left behind by what it started */
        if (ended == k->program || (ended < 0 && errno == ECHILD))
            return status;
        if (ended > 0)
            continue;
        if (getppid() != k->parent) {
            end_children(0);
            p->abandoned(p->context);
            _exit(1);
        }
        int number = k->pass_on_at > 0 ? sigtimedwait(held, &info, &soon) : sigwaitinfo(held, &info);
        note(k, number, &info);
        if (k->pass_on_at > 0 && now_ms() >= k->pass_on_at)
            pass_on(k);
    }
}

static void die_with(pid_t parent, int number)
{
    prctl(PR_SET_PDEATHSIG, number);
    if (getppid() != parent) /* it died before it was asked for its signal */
        _exit(127);
}

_Noreturn static void keep(const struct keeper_program *p, pid_t parent, const sigset_t *held,
                           const struct before *before, int report)
{
    struct keeper k = {.parent = parent};
    sigset_t told = *held;
    pid_t self = getpid();
    sigaddset(&told, SIGTERM); /* also where the program is to ignore it */
    sigprocmask(SIG_BLOCK, &told, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    die_with(parent, SIGTERM);
    k.program = fork();
    if (k.program == 0) {
        die_with(self, SIGKILL);
        release_signals(before);
        p->become(p->context);
        _exit(127);
    }
    p->started(p->context);
    int status = k.program < 0 ? W_EXITCODE(127, 0) : watch(&k, p, &told);
    if (k.last || WIFSIGNALED(status))
        end_children(k.last ? k.last : SIGTERM);
    _exit(write(report, &status, sizeof status) == sizeof status ? 0 : 1);
}

/* ------------------------------------------------------------- the one who waits */

/* What the keeper says; where it could not say anything, how it ended itself. */
static int wait_for_keeper(pid_t keeper, int report, const sigset_t *held)
{
    int status = 0, said;
    siginfo_t info;
    for (;;) {
        pid_t ended = waitpid(keeper, &status, WNOHANG);
        if (ended == keeper || (ended < 0 && errno == ECHILD))
            break;
        int number = sigwaitinfo(held, &info);
        if (number > 0 && number != SIGCHLD && (info.si_code == SI_USER || info.si_code == SI_QUEUE))
            kill(keeper, number);
    }
    if (read(report, &said, sizeof said) == sizeof said)
        return said;
    end_children(0);
    return status;
}

/* What came too late to be passed on is forgotten: the results are still to be written. */
static void forget(const sigset_t *held)
{
    static const struct timespec at_once;
    while (sigtimedwait(held, NULL, &at_once) > 0)
        continue;
}

bool keeper_run(const struct keeper_program *p, int *status, struct error *e)
{
    struct before before = {0};
    sigset_t held;
    int report[2];
    pid_t self = getpid();
    if (pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0)
        return error_set(e, ERROR_IO, "cannot start a process: %s", strerror(errno));
    hold_signals(&held, &before);
    prctl(PR_GET_CHILD_SUBREAPER, &before.reaper);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    pid_t keeper = fork();
    int why = errno;
    if (keeper == 0)
        keep(p, self, &held, &before, report[1]);
    p->started(p->context);
    close(report[1]);
    if (keeper > 0)
        *status = wait_for_keeper(keeper, report[0], &held);
    close(report[0]);
    prctl(PR_SET_CHILD_SUBREAPER, before.reaper);
    forget(&held);
    release_signals(&before);
    return keeper > 0 ? true : error_set(e, ERROR_IO, "cannot start a process: %s", strerror(why));
}
