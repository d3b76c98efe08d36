/* The life of a launch: what it needs is made ready, it is started, run with others, and finished. How it runs is in
 * gpu/functional.c and gpu/timing_launch.c. */
#include "gpu/launch.h"

#include "base/out_of_memory.h"
#include "gpu/device_work.h"
#include "gpu/launch_filter.h"
#include "gpu/launch_prepare.h"
#include "gpu/launch_record.h"
#include "gpu/sample.h"
#include "gpu/spare_rooms.h"

#include <fenv.h>
#include <stdlib.h>
#include <time.h>

enum {
    TOGETHER_MOST = 128, /* launches that run together in functional mode; below, with time */
    TOGETHER_MOST_TIMED = 15,
    MIXED_TURN = 1 << 16, /* warp instructions and cycles, where launches run with time and without */
};

double launch_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void launch_block_id(const struct residency *r, uint64_t index, uint32_t id[3])
{
    const uint32_t *grid = r->launch.grid;
    if (r->blocks.cluster_size == 1) {
        id[0] = (uint32_t)(index % grid[0]);
        id[1] = (uint32_t)(index / grid[0] % grid[1]);
        id[2] = (uint32_t)(index / grid[0] / grid[1]);
        return;
    }
    const uint32_t *c = r->launch.cluster; /* blocks of a cluster are started together */
    uint64_t cluster = index / r->blocks.cluster_size, rank = index % r->blocks.cluster_size;
    uint32_t clusters_x = grid[0] / c[0], clusters_y = grid[1] / c[1];
    id[0] = (uint32_t)(cluster % clusters_x) * c[0] + (uint32_t)(rank % c[0]);
    id[1] = (uint32_t)(cluster / clusters_x % clusters_y) * c[1] + (uint32_t)(rank / c[0] % c[1]);
    id[2] = (uint32_t)(cluster / clusters_x / clusters_y) * c[2] + (uint32_t)(rank / c[0] / c[1]);
}

static struct residency **list_of(struct gpu *g, const struct residency *r)
{
    return r->is_functional ? &g->untimed : &g->started;
}

/* Launches of higher priority come first, then those that started earlier. */
static void enlist(struct gpu *g, struct residency *r)
{
    struct residency **at = list_of(g, r);
    while (*at && (*at)->priority <= r->priority)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
}

static void delist(struct gpu *g, const struct residency *r)
{
    struct residency **at = list_of(g, r);
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
}

static void release(struct gpu *g, struct residency *r)
{
    if (r->blocks.slots)
        spare_rooms_leave(r);
    if (!r->ok) /* its blocks stopped in the middle, and cannot be used again */
        gpu_spare_free(g);
    free(r->untimed.busy);
    free(r->blocks.clusters);
    if (r->launch.params)
        memory_release(g->memory, r->launch.params);
    if (r->workspace)
        memory_release(g->memory, r->workspace);
    free(r);
}

static bool is_timed(const struct gpu *g, const struct gpu_launch *in)
{
    if (g->options.functional || !g->options.filter || in->timed != GPU_AS_CHOSEN)
        return !g->options.functional && in->timed != GPU_UNTIMED;
    return launch_filter_times(g->options.filter, g->next_launch, in->kernel->name, g->unreported);
}

static bool prepare_timing(struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    if (!g->timing || timing_is_broken(g->timing)) {
        g->timing = timing_replace(g->timing, &g->options, e);
        if (!g->timing)
            return false;
    }
    if (g->options.max_cycles && g->clock_cycles >= g->options.max_cycles)
        return error_set(e, ERROR_LIMIT,
                         "kernel %s was not started: earlier ones have used up the limit of %llu cycles (--max-cycles)",
                         in->kernel->name, (unsigned long long)g->options.max_cycles);
    return true;
}

static uint32_t length_of(const struct residency *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

/* A trace holds one launch after another, so that with one no launches run together. */
bool gpu_may_start(const struct gpu *g)
{
    uint32_t count = length_of(g->started) + length_of(g->untimed);
    return count < (g->options.functional ? TOGETHER_MOST : TOGETHER_MOST_TIMED) &&
           (!count || !g->options.observers.trace);
}

struct residency *gpu_start(struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    double start = launch_clock();
    if (!gpu_check_launch(g, in, e))
        return NULL;
    bool timed = is_timed(g, in), estimated = timed && g->options.sample && !sample_times(g, in);
    timed &= !estimated;
    if (timed && !prepare_timing(g, in, e))
        return NULL;
    struct residency *r = calloc(1, sizeof *r);
    if (!r)
        out_of_memory();
    r->gpu = g;
    r->is_functional = !timed;
    r->skipped = !timed && !g->options.functional;
    r->estimated = estimated;
    r->priority = in->priority;
    if (!launch_prepare(r, in, e)) {
        release(g, r);
        return NULL;
    }
    spare_rooms_free_others(g, &r->launch);
    launch_record_begin(g, r);
    enlist(g, r);
    g->stuck = false;
    if (r->is_functional)
        functional_start(r);
    else
        timing_start(r);
    r->record.seconds = launch_clock() - start;
    g->launch_seconds += r->record.seconds;
    return r;
}

/* Launches that ran together share the host's time in equal parts. */
static void share_seconds(struct gpu *g, double seconds)
{
    uint32_t count = length_of(g->started) + length_of(g->untimed);
    struct residency *const lists[] = {g->started, g->untimed};
    for (int i = 0; i < 2; i++)
        for (struct residency *r = lists[i]; r; r = r->next) {
            r->record.seconds += seconds / count;
            r->record.run_seconds += seconds;
            r->record.overlapped |= count > 1;
        }
    g->launch_seconds += seconds;
}

static bool runs(const struct residency *list)
{
    for (; list; list = list->next)
        if (!list->ended)
            return true;
    return false;
}

/* Launches with time and without take turns: no time passes for the former while the latter run. */
static enum gpu_pause run_both(struct gpu *g, uint64_t budget)
{
    for (uint64_t done = 0; done < budget; done += MIXED_TURN) {
        enum gpu_pause untimed = functional_run(g, MIXED_TURN), timed;
        if (untimed == GPU_ENDED || (timed = timing_run(g, MIXED_TURN)) == GPU_ENDED)
            return GPU_ENDED;
        if (untimed == GPU_STUCK && timed == GPU_STUCK)
            return GPU_STUCK;
    }
    return GPU_TIRED;
}

static enum gpu_pause run_all(struct gpu *g, uint64_t budget)
{
    bool timed = runs(g->started), untimed = runs(g->untimed);
    /* As long as nobody has changed the memory that stuck launches wait for, no time passes. */
    if (g->stuck && (timed || untimed) && (!timed || timing_is_stuck(g)) && (!untimed || functional_is_stuck(g)))
        return GPU_STUCK;
    if (timed && untimed)
        return run_both(g, budget);
    return untimed || g->options.functional ? functional_run(g, budget) : timing_run(g, budget);
}

enum gpu_pause gpu_run(struct gpu *g, uint64_t budget)
{
    double start = g->run_since = launch_clock();
    fenv_t callers; /* handlers count on rounding to nearest, denormals kept */
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    enum gpu_pause pause = run_all(g, budget);
    g->stuck = pause == GPU_STUCK;
    fesetenv(&callers);
    share_seconds(g, launch_clock() - start);
    return pause;
}

bool gpu_has_ended(const struct residency *r) { return r->ended; }
bool gpu_has_failed(const struct residency *r) { return r->error.kind != ERROR_NONE; }

bool gpu_is_running(const struct gpu *g) { return runs(g->started) || runs(g->untimed); }

static struct residency *eldest(struct residency *list, struct residency *found)
{
    for (; list; list = list->next)
        if (!list->ended && (!found || list->launch.grid_id < found->launch.grid_id))
            found = list;
    return found;
}

void gpu_give_up(struct gpu *g, bool hangs)
{
    struct residency *r = eldest(g->untimed, eldest(g->started, NULL));
    if (!r)
        return;
    if (hangs && r->is_functional)
        exec_describe_hang(&r->launch, r->blocks.slots, r->blocks.slot_count, &r->error);
    else if (hangs)
        timing_describe_hang(r);
    functional_give_up(g);
    timing_give_up(g);
}

bool gpu_finish(struct residency *r, struct error *e)
{
    struct gpu *g = r->gpu;
    bool ok = r->ok, functional = r->is_functional;
    struct device_queue queue = r->queue;
    struct exec_launch launch = r->launch;
    if (g->options.sample && (!functional || r->estimated))
        sample_note(r);
    launch_record_end(g, r);
    if (!ok)
        *e = r->error;
    if (g->printf_out)
        fflush(g->printf_out);
    delist(g, r);
    release(g, r);
    if (!ok)
        device_queue_free(&queue, g->memory);
    return ok && device_work_run(g, &launch, functional, &queue, e);
}

bool gpu_launch(struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    struct residency *r = gpu_start(g, in, e);
    while (r && !r->ended)
        if (gpu_run(g, UINT64_MAX) == GPU_STUCK)
            gpu_give_up(g, true);
    return r && gpu_finish(r, e);
}
