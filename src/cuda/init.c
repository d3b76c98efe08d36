/* cuInit, the state of the process behind the API, and what happens when the process ends.
 *
 * NVIDIA's API has no handle for the driver itself, so its state belongs to the process: here, and in the tables of object.c, memory.c and
 * virtual.c. The executor below knows nothing of that. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda/internal.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static struct driver the_driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct driver *driver_get(void) { return &the_driver; }

/* The process's time begins when the library is loaded. */
__attribute__((constructor)) static void note_start(void) { clock_gettime(CLOCK_MONOTONIC, &the_driver.start); }

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - the_driver.start.tv_sec) + 1e-9 * (double)(now.tv_nsec - the_driver.start.tv_nsec);
}

CUresult api_enter(struct context **ctx, enum api_need need)
{
    pthread_mutex_lock(&the_driver.lock);
    if (need == API_ANY)
        return CUDA_SUCCESS;
    if (!the_driver.initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (need == API_INIT)
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
    pthread_mutex_unlock(&the_driver.lock);
    return r;
}

/* The lock is not waited for: a process may also end inside a call, from another thread or from a callback. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    bool locked = pthread_mutex_trylock(&the_driver.lock) == 0;
    stats_write(&the_driver, status);
    if (locked)
        pthread_mutex_unlock(&the_driver.lock);
}

/* A program that opened the library itself may close it; what is registered here must stay in place until the process ends. */
static void stay_loaded(void)
{
    Dl_info info;
    if (dladdr(&the_driver, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void say_mode(const struct options *o)
{
    const char *ignored = o->scheduler[0] ? "--scheduler" : o->l1[0] ? "--l1" : o->divergence[0] ? "--divergence" : NULL;
    if (o->quiet || (o->functional && !ignored))
        return;
    driver_say("only --functional is available in this version: results are computed, time is not modelled%s%s", ignored ? "; no effect: " : "",
             ignored ? ignored : "");
}

static bool start(struct driver *d, struct error *e)
{
    struct gpu_options options = {.functional = true, .interrupt = &d->interrupt};
    if (!options_parse(&d->options, getenv("HEDDLE_OPTIONS"), e) || !machine_load(&options.machine, d->options.machine, e))
        return false;
    options.max_cycles = d->options.max_cycles;
    d->gpu = gpu_create(&options, e);
    if (!d->gpu)
        return false;
    say_mode(&d->options);
    stay_loaded();
    on_exit(at_exit, NULL);
    if (d->options.stats[0])
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

/* Private tables, which NVIDIA's own libraries ask for. */
CUAPI CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct error e = {0};
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    if (!atomic_flag_test_and_set(&said)) {
        api_enter(NULL, API_ANY);
        error_set(&e, ERROR_UNSUPPORTED, "this program uses NVIDIA's CUDA runtime, linked statically or found before Heddle's; it needs private "
                                         "interfaces of the driver (cuGetExportTable). Build it with nvcc -cudart shared");
        driver_report(&e);
        api_leave(CUDA_SUCCESS);
    }
    return CUDA_ERROR_NOT_FOUND;
}

/* Kernels are always counted: there is nothing to switch on or off. */
CUAPI CUresult cuProfilerStart(void) { return api_leave(api_enter(NULL, API_CONTEXT)); }
CUAPI CUresult cuProfilerStop(void) { return api_leave(api_enter(NULL, API_CONTEXT)); }
