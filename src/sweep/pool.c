/* The engine of one machine: so many processes at a time, each of which executes one job and ends.
 *
 * A worker leaves its record in the spool and never touches the store. When the sweep is killed the kernel tells its
 * workers (SIGTERM), which end their programs; when a worker is killed its program dies with it, and what a program had
 * started and left behind falls to the sweep, which ends it. Workers hold a lock on SPOOL/workers: the next sweep waits
 * until the last one of an earlier sweep is gone, so that a record which is just being written is seen, and its run not
 * started again. */
#include "base/out_of_memory.h"
#include "sweep/sweep.h"

#include "base/processors.h"
#include "base/strmap.h"
#include "sweep/child.h"
#include "sweep/estimate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 250, LOCK_SECONDS = 20, LOOK_MS = 20 };

struct worker {
    pid_t pid;  /* 0: this place is free */
    int report; /* where it writes its error, if it has one */
    const struct job *job;
    double start;
};

struct pool {
    struct sweep *sweep;
    struct worker *workers;
    uint32_t places, next; /* next: of the jobs the first that was not taken yet */
    bool *taken;           /* one per job: started, or not to be started any more */
    int lock;
    bool stopping;
    struct estimate estimate; /* of the time left; its runs are the jobs */
    struct error *error;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool interrupted(const struct pool *p)
{
    const volatile int *flag = p->sweep->options->interrupt;
    return flag && *flag;
}

/* ------------------------------------------------------------- the lock of the workers */

static bool take_lock(struct pool *p, struct error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/workers", p->sweep->spool);
    p->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (p->lock < 0)
        return error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
    for (double start = now(); flock(p->lock, LOCK_EX | LOCK_NB) != 0;) {
        if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS)
            return true; /* a file system without locks */
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_set(e, ERROR_IO, "cannot lock %s: %s", path, strerror(errno));
        if (interrupted(p))
            return true;
        if (now() - start > LOCK_SECONDS)
            return error_set(e, ERROR_IO,
                             "runs of an earlier sweep into this store still go on (they hold %s); end them first",
                             path);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
    return true;
}

/* Nobody else wants it now: the store is locked, too. */
static void drop_lock(struct pool *p)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/workers", p->sweep->spool);
    if (p->lock < 0)
        return;
    unlink(path);
    close(p->lock);
}

/* ------------------------------------------------------------- a worker */

/* What the sweep has open is not the worker's: above all the store's files. */
static void close_others(int keep_a, int keep_b)
{
    DIR *d = opendir("/proc/self/fd");
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d));) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (fd > STDERR_FILENO && fd != keep_a && fd != keep_b && fd != dirfd(d))
            close(fd);
    }
    closedir(d);
}

_Noreturn static void work(const struct pool *p, const struct job *j, int report, pid_t parent)
{
    static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct error e = {0};
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
        signal(handled[i], SIG_DFL); /* the sweep's own handlers are not ours */
    setpgid(0, 0);                   /* ctrl-C is the sweep's to deal with */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    close_others(report, p->lock);
    bool good = job_execute(j, p->sweep->places, p->sweep->spool, &e);
    if (!good && write(report, &e, sizeof e) < 0)
        _exit(2);
    _exit(good ? 0 : 1);
}

static bool start(struct pool *p, struct worker *w, const struct job *j)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(p->error, ERROR_IO, "cannot start a process: %s", strerror(errno));
    fflush(NULL); /* or the worker would write what is in our buffers once more */
    sigset_t signals, before;
    guard_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, &before); /* none may be lost in a worker that is not ready for it */
    pid_t pid = fork();
    if (pid == 0)
        work(p, j, ends[1], parent);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return error_set(p->error, ERROR_IO, "cannot start a process: %s; fewer at a time (-j) may help",
                         strerror(errno));
    }
    *w = (struct worker){.pid = pid, .report = ends[0], .job = j, .start = now()};
    estimate_start(&p->estimate, (uint32_t)(j - p->sweep->jobs), w->start);
    p->sweep->progress.running++;
    return true;
}

/* A worker has gone without a record. It may say why; else a record is made for it. */
static bool account(struct pool *p, const struct worker *w, int status)
{
    struct error said = {0};
    char why[200];
    bool found;
    int exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (read(w->report, &said, sizeof said) != sizeof said)
        said = (struct error){0};
    if (p->stopping || interrupted(p))
        return true;
    if (said.kind && said.kind != ERROR_INTERRUPTED)
        return error_set(p->error, said.kind, "%s", said.text);
    if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "the run was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(why, sizeof why,
                 said.kind ? "the run was told to end by a signal"
                           : "the run's process ended with status %d and left no record",
                 exit);
    return job_record_failure(w->job, p->sweep->spool, why, exit, p->error) &&
           sweep_collect(p->sweep, w->job, &found, p->error);
}

static bool is_worker(const struct pool *p, pid_t pid)
{
    for (uint32_t i = 0; i < p->places; i++)
        if (p->workers[i].pid == pid)
            return true;
    return false;
}

/* A child that is no worker: one that a program started and left behind, or the program of a killed worker. 0: there is
 * none. */
static pid_t find_orphan(const struct pool *p)
{
    char path[64];
    int child, orphan = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "re");
    while (f && !orphan && fscanf(f, "%d", &child) == 1)
        orphan = is_worker(p, child) ? 0 : child;
    if (f)
        fclose(f);
    return orphan;
}

/* With each that ends its own children become ours. */
static void end_orphans(const struct pool *p)
{
    for (pid_t orphan; (orphan = find_orphan(p));) {
        kill(orphan, SIGKILL);
        if (waitpid(orphan, NULL, 0) != orphan)
            return;
    }
}

static void finish(struct pool *p, struct worker *w, int status)
{
    struct worker gone = *w;
    bool found = false;
    *w = (struct worker){0};
    p->sweep->progress.running--;
    end_orphans(p);
    estimate_end(&p->estimate, (uint32_t)(gone.job - p->sweep->jobs), now(), WIFEXITED(status) && !WEXITSTATUS(status));
    p->sweep->progress.seconds_left = estimate_left(&p->estimate, now()); /* told with the run */
    if (sweep_collect(p->sweep, gone.job, &found, p->error) && !found)
        account(p, &gone, status);
    close(gone.report);
}

/* ------------------------------------------------------------- all of them */

static void tick(struct pool *p)
{
    const struct worker *latest = NULL;
    for (uint32_t i = 0; i < p->places; i++)
        if (p->workers[i].pid && (!latest || p->workers[i].start > latest->start))
            latest = &p->workers[i];
    p->sweep->progress.seconds_left = estimate_left(&p->estimate, now());
    p->sweep->progress.label = latest ? latest->job->label : NULL;
    sweep_tell(p->sweep, SWEEP_TICK);
    p->sweep->progress.label = NULL;
}

/* A run that others wait for comes before all. */
static double urgency(const struct pool *p, uint32_t job)
{
    return p->sweep->jobs[job].input ? INFINITY : estimate_urgency(&p->estimate, job);
}

/* Those that read a file which is being made are left for later. UINT32_MAX: there is none now. */
static uint32_t take_next(struct pool *p)
{
    uint32_t count = p->sweep->job_count, found = UINT32_MAX;
    double most = -1;
    while (p->next < count && p->taken[p->next])
        p->next++;
    for (uint32_t i = p->next; i < count; i++) {
        double urgent = p->taken[i] ? -1 : urgency(p, i);
        if (urgent > most && sweep_ready(p->sweep, i) != SWEEP_WAITS) {
            most = urgent;
            found = i;
        }
    }
    if (found != UINT32_MAX)
        p->taken[found] = true;
    return found;
}

/* A job whose record came into the spool since the sweep began is not started. */
static bool start_next(struct pool *p, struct worker *w)
{
    for (uint32_t i; (i = take_next(p)) != UINT32_MAX;) {
        const struct job *j = &p->sweep->jobs[i];
        bool found = sweep_ready(p->sweep, i) == SWEEP_LOST;
        if (!(found ? sweep_give_up(p->sweep, i, p->error) : sweep_collect(p->sweep, j, &found, p->error)))
            return false;
        if (!found)
            return start(p, w, j);
        estimate_end(&p->estimate, i, 0, false);
    }
    return true;
}

static void fill(struct pool *p)
{
    for (uint32_t i = 0; i < p->places && !p->stopping && !interrupted(p) && !p->error->kind; i++)
        if (!p->workers[i].pid)
            start_next(p, &p->workers[i]);
}

/* What runs is told to end, once. */
static void stop(struct pool *p)
{
    for (uint32_t i = 0; i < p->places && !p->stopping; i++)
        if (p->workers[i].pid)
            kill(p->workers[i].pid, SIGTERM);
    p->stopping = true;
}

static void reap(struct pool *p)
{
    for (uint32_t i = 0; i < p->places; i++) {
        int status;
        pid_t pid = p->workers[i].pid;
        if (pid && waitpid(pid, &status, WNOHANG) == pid) {
            finish(p, &p->workers[i], status);
        }
    }
}

static void run_all(struct pool *p)
{
    const struct timespec pause = {.tv_nsec = TICK_MS * 1000000L};
    sigset_t child;
    double told = 0;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        fill(p);
        if (interrupted(p) || p->error->kind)
            stop(p);
        if (!p->sweep->progress.running)
            return;
        if (now() - told > TICK_MS / 1000.0) {
            told = now();
            tick(p);
        }
        sigtimedwait(&child, NULL, &pause);
        reap(p);
    }
}

static bool end_interrupted(const struct pool *p)
{
    const struct sweep_result *r = p->sweep->result;
    uint32_t left = p->sweep->job_count - r->done - r->failed;
    p->sweep->result->interrupted = true;
    return error_set(p->error, ERROR_INTERRUPTED,
                     "interrupted: %u of %u runs are left; the same command goes on from here", left,
                     p->sweep->job_count);
}

/* Which jobs run the same program with the same arguments. */
static void number_programs(struct pool *p)
{
    struct strmap known = {0};
    uintptr_t count = 0;
    for (uint32_t i = 0; i < p->sweep->job_count; i++) {
        const struct job *j = &p->sweep->jobs[i];
        char *arguments = job_arguments(j), *name = arena_printf(p->sweep->arena, "%s %s", j->path, arguments);
        uintptr_t number = (uintptr_t)strmap_get(&known, name, strlen(name));
        free(arguments);
        if (!number)
            strmap_put(&known, name, strlen(name), (void *)(number = ++count));
        p->estimate.runs[i] = (struct estimate_run){.program = (uint32_t)number - 1, .before = j->expected_seconds};
    }
    strmap_free(&known);
}

static void prepare_estimate(struct pool *p)
{
    uint32_t count = p->sweep->job_count;
    p->estimate = (struct estimate){.count = count, .places = p->places};
    p->estimate.runs = arena_array(p->sweep->arena, struct estimate_run, count + 1);
    p->estimate.programs = arena_array(p->sweep->arena, struct estimate_program, count + 1);
    number_programs(p);
}

bool pool_run(struct sweep *s, struct error *e)
{
    struct pool p = {.sweep = s,
                     .error = e,
                     .places = s->options->processes ? s->options->processes : processors_usable(),
                     .lock = -1};
    struct sigaction before, usual = {.sa_handler = SIG_DFL};
    sigset_t child, mask;
    int reaper = 0;
    if (p.places > s->job_count)
        p.places = s->job_count;
    p.workers = calloc(p.places + 1, sizeof *p.workers);
    p.taken = calloc(s->job_count + 1, sizeof *p.taken);
    if (!p.workers || !p.taken)
        out_of_memory();
    prepare_estimate(&p);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigaction(SIGCHLD, &usual, &before);
    sigprocmask(SIG_BLOCK, &child, &mask);
    prctl(PR_GET_CHILD_SUBREAPER, &reaper);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (take_lock(&p, e))
        run_all(&p);
    drop_lock(&p);
    prctl(PR_SET_CHILD_SUBREAPER, reaper);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGCHLD, &before, NULL);
    free(p.workers);
    free(p.taken);
    if (!e->kind && interrupted(&p) && s->result->done + s->result->failed < s->job_count)
        end_interrupted(&p);
    return !e->kind;
}
