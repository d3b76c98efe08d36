/* cuInit: the device is made as the options say, and the end of the process is watched for. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda/policy_hang.h"
#include "cuda/policy_suspects.h"
#include "cuda/queue.h"

#include "gpu/files.h"
#include "gpu/launch_filter.h"
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
    struct driver *d = driver_get();
    bool locked = lock_at_exit(d);
    if (locked)
        queue_finish(d);
    while (!driver_claim_end(d))
        pause(); /* a signal ends the process, when its results are written */
    driver_finish(d, status);
    if (locked)
        pthread_mutex_unlock(&d->lock);
}

/* A program that opened the library itself may close it; what is registered here must stay in place until the process
 * ends. */
static void stay_loaded(void)
{
    Dl_info info;
    if (dladdr(driver_get(), &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void say_ignored(const struct options *o)
{
    const char *ignored = o->scheduler[0]     ? "--scheduler"
                          : o->l1[0]          ? "--l1"
                          : o->divergence[0]  ? "--divergence"
                          : o->timeline[0]    ? "--timeline"
                          : o->trace[0]       ? "--trace"
                          : o->interval       ? "--interval"
                          : o->warps[0]       ? "--warps"
                          : o->issue_order[0] ? "--issue-order"
                          : o->kernel_count   ? "--kernel"
                          : o->launches[0]    ? "--launch"
                          : o->skip           ? "--skip"
                          : o->region         ? "--region"
                          : o->sample         ? "--sample"
                                              : NULL;
    if (o->functional && ignored && !o->quiet)
        driver_say("%s has no effect with --functional, which does not model time", ignored);
}

/* What is written cycle by cycle or warp by warp cannot be estimated. */
static bool check_sample(const struct options *o, struct error *e)
{
    const char *other = o->timeline[0]      ? "--timeline"
                        : o->trace[0]       ? "--trace"
                        : o->interval       ? "--interval"
                        : o->warps[0]       ? "--warps"
                        : o->issue_order[0] ? "--issue-order"
                        : o->pcs            ? "--pcs"
                        : o->probe_count    ? "--probe"
                                            : NULL;
    return !o->sample || o->functional || !other ||
           error_set(e, ERROR_INVALID, "--sample estimates cycles, and %s needs every one of them", other);
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
                              .issue_order = o->issue_order,
                              .timeline_first = o->timeline_first,
                              .timeline_end = o->timeline_end,
                              .program = program_invocation_short_name};
    return gpu_files_open(to, &files, e);
}

/* Which launches are timed, where they are not all. */
static bool choose_launches(const struct options *o, struct gpu_options *to, struct error *e)
{
    const char *kernels[OPTIONS_KERNELS];
    struct launch_filter_spec spec = {.kernels = kernels,
                                      .kernel_count = options_kernels(o, kernels),
                                      .launches = o->launches,
                                      .skip = o->skip,
                                      .region = o->region};
    if (o->functional || !options_choose_launches(o))
        return true;
    to->filter = launch_filter_create(&spec, e);
    return to->filter != NULL;
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
    if (!check_sample(o, e))
        return false;
    survive_size_limit();
    options.functional = o->functional;
    options.exact_bounds = o->exact_bounds;
    options.races = o->races;
    options.max_cycles = o->max_cycles;
    options.launch_limit = o->launch_limit;
    options.threads = o->threads;
    options.lockstep = o->lockstep;
    options.host_parts = o->stats[0] != 0;
    options.sample = o->sample && !o->functional;
    bool has_reader = o->stats[0]; /* of what is counted of launches */
    options.records = !has_reader         ? GPU_RECORDS_NONE
                      : o->merge_launches ? GPU_RECORDS_OF_KERNELS
                                          : GPU_RECORDS_OF_LAUNCHES;
    options.pcs = o->pcs && has_reader;
    options.interval = o->functional || !has_reader ? 0 : o->interval;
    bool opened = choose_launches(o, &options, e) && open_files(o, &options, e);
    options.observers.progress = progress_create(stderr, wants_progress(o));
    policy_hang_begin(NULL);
    if (opened)
        d->gpu = gpu_create(&options, e); /* takes the policies over */
    else
        gpu_setup_release(&options);
    policy_hang_end();
    if (!d->gpu) {
        gpu_files_destroy(&options);
        launch_filter_destroy(options.filter);
        progress_destroy(options.observers.progress);
        return false;
    }
    d->gpu->unreported = o->region; /* until the program starts it */
    say_ignored(o);
    stay_loaded();
    on_exit(at_exit, NULL);
    if (o->stats[0] || options.observers.timeline || options.observers.trace || options.observers.warps ||
        options.observers.issue_order || options.policies.probe_count)
        interrupt_watch(d);
    return true;
}

CUAPI CUresult cuInit(unsigned int flags)
{
    struct driver *d = driver_get();
    struct error e = {0};
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    api_enter(NULL, API_ANY);
    if (d->initialised)
        return api_leave(CUDA_SUCCESS);
    if (!start(d, &e)) {
        driver_say("%s", e.text);
        return api_leave(e.kind == ERROR_NO_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE);
    }
    d->on_enter = queue_enter;
    d->on_leave = queue_watch;
    d->initialised = true;
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
