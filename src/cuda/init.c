/* cuInit, the state of the process behind the API, and what happens when the process ends.
 *
 * NVIDIA's API has no handle for the driver itself, so its state belongs to the process: here, and in the tables of
 * object.c, memory.c and virtual.c. The executor below knows nothing of that. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda/policy_hang.h"
#include "cuda/policy_suspects.h"
#include "cuda/queue.h"
#include "cuda/race_report.h"

#include "gpu/files.h"
#include "gpu/progress.h"
#include "gpu/setup.h"
#include "gpu/timeline.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_SECONDS = 10 };

static struct driver the_driver = {.lock = PTHREAD_MUTEX_INITIALIZER, .end_claimed = ATOMIC_FLAG_INIT};

struct driver *driver_get(void) { return &the_driver; }

/* The process's time begins when the library is loaded. */
__attribute__((constructor)) static void note_start(void) { clock_gettime(CLOCK_MONOTONIC, &the_driver.start); }

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - the_driver.start.tv_sec) + 1e-9 * (double)(now.tv_nsec - the_driver.start.tv_nsec);
}

void api_lock(void)
{
    atomic_fetch_add(&the_driver.waiting, 1);
    pthread_mutex_lock(&the_driver.lock);
    atomic_fetch_sub(&the_driver.waiting, 1);
}

void api_unlock(void) { pthread_mutex_unlock(&the_driver.lock); }

CUresult api_enter(struct context **ctx, enum api_need need)
{
    api_lock();
    if (need == API_ANY)
        return CUDA_SUCCESS;
    if (!the_driver.initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (queue_in_host_function())
        queue_set_aside();
    if (the_driver.pending_count && !(need & API_PASSING))
        queue_settle(need & API_WAITING);
    if ((need & ~(API_PASSING | API_WAITING)) == API_INIT)
        return CUDA_SUCCESS;
    struct context *current = context_current();
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!current->live)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (ctx)
        *ctx = current;
    return current->failure;
}

CUresult api_leave(CUresult r)
{
    if (the_driver.pending_count)
        queue_watch(&the_driver);
    api_unlock();
    return r;
}

/* What a kernel did wrong, or the program, says more than that a file could not be written. */
static void report_file(void *driver, const struct error *e)
{
    struct driver *d = driver;
    d->file_failed = true;
    if (d->outcome.kind == ERROR_NONE)
        driver_report(e);
    else if (strcmp(d->outcome.text, e->text))
        driver_say("%s", e->text);
}

static void finish_files(struct driver *d)
{
    const struct timeline *t = d->gpu->options.timeline;
    gpu_files_close(&d->gpu->options, report_file, d);
    if (t && !d->file_failed && timeline_dropped_from(t) != UINT64_MAX && !d->options.quiet)
        driver_say("the timeline is cut off at cycle %llu: the file has reached its size limit; --timeline-cycles A:B "
                   "chooses a part of the run",
                   (unsigned long long)timeline_dropped_from(t));
}

static void write_probes(struct driver *d)
{
    struct error e = {0};
    policy_hang_begin(d->gpu);
    bool written = gpu_write_probes(d->gpu, &e);
    policy_hang_end();
    if (written)
        return;
    d->probe_failed = true;
    if (d->outcome.kind == ERROR_NONE)
        driver_report(&e);
    else
        driver_say("%s", e.text);
}

static void say_strays(const struct driver *d)
{
    const struct memory *m = d->gpu->memory;
    if (m->strays && !d->options.quiet)
        driver_say("%llu accesses outside of allocations, next to one, were allowed, as a GPU allows them "
                   "(--exact-bounds makes them errors). The first: %s",
                   (unsigned long long)m->strays, m->first_stray);
}

bool driver_claim_end(struct driver *d) { return !atomic_flag_test_and_set(&d->end_claimed); }

void driver_finish(struct driver *d, int exit_status)
{
    if (!d->gpu)
        return;
    progress_done(d->gpu->options.progress);
    if (!d->files_finished) {
        d->files_finished = true;
        finish_files(d);
    }
    write_probes(d);
    say_strays(d);
    if (!d->options.quiet)
        race_report_say(d->gpu);
    stats_write(d, exit_status);
}

void driver_finish_stuck(struct driver *d, const struct error *e, int exit_status)
{
    driver_claim_end(d); /* if it was claimed, then by the thread that cannot go on */
    driver_keep(e);
    if (d->gpu) {
        d->gpu->probes_have_written = true;
        driver_finish(d, exit_status);
        _exit(exit_status);
    }
    sigset_t term; /* there can be no results: whoever started the process hears of it by its end */
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &term, NULL);
    raise(SIGTERM);
    _exit(exit_status);
}

/* The lock is not waited for: a process may also end inside a call, from another thread or from a callback. Where the
 * watch has it, it gives it back soon. */
static bool lock_at_exit(struct driver *d)
{
    struct timespec until;
    if (!d->watch)
        return pthread_mutex_trylock(&d->lock) == 0;
    atomic_fetch_add(&d->waiting, 1);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += EXIT_SECONDS;
    bool locked = pthread_mutex_timedlock(&d->lock, &until) == 0;
    atomic_fetch_sub(&d->waiting, 1);
    return locked;
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    bool locked = lock_at_exit(&the_driver);
    if (locked)
        queue_finish(&the_driver);
    while (!driver_claim_end(&the_driver))
        pause(); /* a signal ends the process, when its results are written */
    driver_finish(&the_driver, status);
    if (locked)
        pthread_mutex_unlock(&the_driver.lock);
}

/* A program that opened the library itself may close it; what is registered here must stay in place until the process
 * ends. */
static void stay_loaded(void)
{
    Dl_info info;
    if (dladdr(&the_driver, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void say_ignored(const struct options *o)
{
    const char *ignored = o->scheduler[0]    ? "--scheduler"
                          : o->l1[0]         ? "--l1"
                          : o->divergence[0] ? "--divergence"
                          : o->timeline[0]   ? "--timeline"
                          : o->trace[0]      ? "--trace"
                          : o->interval      ? "--interval"
                          : o->warps[0]      ? "--warps"
                                             : NULL;
    if (o->functional && ignored && !o->quiet)
        driver_say("%s has no effect with --functional, which does not model time", ignored);
}

static bool wants_progress(const struct options *o)
{
    const char *asked = getenv("HEDDLE_PROGRESS");
    return !o->quiet && (asked && *asked ? strcmp(asked, "0") != 0 : isatty(STDERR_FILENO));
}

static bool choose(const struct options *o, struct gpu_options *to, struct error *e)
{
    const char *sets[OPTIONS_SETS], *probes[OPTIONS_PROBES];
    uint32_t set_count = options_sets(o, sets), probe_count = options_probes(o, probes);
    return gpu_setup(to,
                     &(struct gpu_setup){.machine = o->machine,
                                         .sets = sets,
                                         .set_count = set_count,
                                         .scheduler = o->scheduler,
                                         .l1 = o->l1,
                                         .divergence = o->divergence,
                                         .probes = probes,
                                         .probe_count = probe_count,
                                         .functional = o->functional},
                     e);
}

static bool open_files(const struct options *o, struct gpu_options *to, struct error *e)
{
    struct gpu_files files = {.timeline = o->timeline,
                              .trace = o->trace,
                              .warps = o->warps,
                              .timeline_first = o->timeline_first,
                              .timeline_end = o->timeline_end,
                              .program = program_invocation_short_name};
    return gpu_files_open(to, &files, e);
}

/* A file that may grow no more (ulimit -f) is an error of the write, as a full disk is, not the end of the process. */
static void survive_size_limit(void)
{
    struct sigaction theirs;
    if (sigaction(SIGXFSZ, NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL)
        signal(SIGXFSZ, SIG_IGN);
}

static bool start(struct driver *d, struct error *e)
{
    struct options *o = &d->options;
    struct gpu_options options = {.interrupt = &d->interrupt};
    if (!options_parse(o, getenv("HEDDLE_OPTIONS"), e) || !choose(o, &options, e))
        return false;
    if (suspects_find(&options)) {
        policy_crash_watch();
        policy_hang_watch(d);
    }
    survive_size_limit();
    options.functional = o->functional;
    options.exact_bounds = o->exact_bounds;
    options.races = o->races;
    options.max_cycles = o->max_cycles;
    options.threads = o->threads;
    options.pcs = o->pcs;
    options.merge_launches = o->merge_launches;
    options.interval = o->functional ? 0 : o->interval;
    bool opened = open_files(o, &options, e);
    options.progress = progress_create(stderr, wants_progress(o));
    policy_hang_begin(NULL);
    if (opened)
        d->gpu = gpu_create(&options, e); /* takes the policies over */
    else
        gpu_setup_release(&options);
    policy_hang_end();
    if (!d->gpu) {
        gpu_files_destroy(&options);
        progress_destroy(options.progress);
        return false;
    }
    say_ignored(o);
    stay_loaded();
    on_exit(at_exit, NULL);
    if (o->stats[0] || options.timeline || options.trace || options.warps || options.probe_count)
        interrupt_watch(d);
    return true;
}

CUAPI CUresult cuInit(unsigned int flags)
{
    struct error e = {0};
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    api_enter(NULL, API_ANY);
    if (the_driver.initialised)
        return api_leave(CUDA_SUCCESS);
    if (!start(&the_driver, &e)) {
        driver_say("%s", e.text);
        return api_leave(e.kind == ERROR_NO_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE);
    }
    the_driver.initialised = true;
    return api_leave(CUDA_SUCCESS);
}

CUAPI CUresult cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

/* The name of the file that an address of code lies in. */
static const char *file_of(const void *code)
{
    Dl_info info;
    const char *path = dladdr(code, &info) && info.dli_fname ? info.dli_fname : "this program",
               *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Private tables, which NVIDIA's own libraries ask for. The compiler library does without. */
CUAPI CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct error e = {0};
    const char *caller = file_of(__builtin_return_address(0));
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    if (strncmp(caller, "libnvrtc", 8) && !atomic_flag_test_and_set(&said)) {
        api_enter(NULL, API_ANY);
        error_set(&e, ERROR_UNSUPPORTED,
                  "%s uses NVIDIA's CUDA runtime, linked statically or found before Heddle's; it needs private "
                  "interfaces of the driver (cuGetExportTable). Build it with nvcc -cudart shared",
                  caller);
        driver_report(&e);
        api_leave(CUDA_SUCCESS);
    }
    return CUDA_ERROR_NOT_FOUND;
}
