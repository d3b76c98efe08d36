/* Writes the timeline while the cores run.
 *
 * Each core is a process. It has one thread per scheduler, on which issues of the same warp in a row are one slice, and
 * one thread per warp slot, with a slice from launch to end of each warp that lived there and the waits at barriers
 * inside. Loads that wait for memory overlap freely, so they are asynchronous slices, on one track per warp. Counters
 * show outstanding misses, resident warps and queues; those of the memory channels are in a process of their own, as
 * kernels are.
 *
 * Slices of warps are written as begin and end events in the order in which they happen: viewers take events of the
 * same time in the order of the file, so that nesting is right also where several begin in one cycle.
 *
 * Why a warp does not issue is a thread of its own below its slot's: cycles in a row with the same reason are one
 * slice, written when it is over, which may be late (sm/observer.h).
 *
 * The file has an end, at a size that viewers can open. It says so itself, in an event at that cycle. */
#include "gpu/timeline_inside.h"

#include "base/numbers.h"
#include "base/out_of_memory.h"
#include "sm/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 20 };
#define DEFAULT_LIMIT_BYTES (200ull << 20)

static const char resident_name[] = "resident warps", misses_name[] = "outstanding misses",
                  accesses_name[] = "load/store unit: accesses to send", miss_queue_name[] = "L1D miss queue";

/* Several changes in one cycle are one: the last value is written when a later cycle comes. */
static void set_counter(struct timeline *t, uint32_t core, struct counter *n, const char *name, uint32_t value,
                        uint64_t cycle)
{
    if (n->cycle != cycle && t->began && !t->over)
        timeline_put_counter(t, core, n, name);
    n->value = value;
    n->cycle = cycle;
    n->changed = true;
}

/* The window */

/* Writes the warps and loads that are there when the window begins. */
static void begin_window(struct timeline *t)
{
    t->began = true;
    for (uint32_t core = 0; core < t->core_count; core++) {
        struct core_track *c = t->cores[core];
        for (uint32_t w = 0; c && w < CORE_WARPS_MOST; w++) {
            if (c->warps[w].resident)
                timeline_put_warp_begin(t, core, w, t->first);
            if (c->warps[w].at_barrier)
                timeline_put_barrier_begin(t, core, w, t->first);
        }
        for (uint32_t i = 0; c && i < c->load_count; i++)
            timeline_put_load_begin(t, core, &c->loads[i], t->first);
    }
}

static void end_core(struct timeline *t, uint32_t core, uint64_t cycle)
{
    struct core_track *c = t->cores[core];
    for (uint32_t s = 0; s < TIMELINE_SCHEDULERS; s++)
        if (c->runs[s].open)
            timeline_put_run(t, core, s);
    for (uint32_t w = 0; w < CORE_WARPS_MOST; w++) {
        if (c->warps[w].barrier_written)
            timeline_put_end(t, core, w, cycle);
        if (c->warps[w].written)
            timeline_put_end(t, core, w, cycle);
    }
    for (uint32_t i = 0; i < c->load_count; i++)
        if (c->loads[i].written)
            timeline_put_load_end(t, core, &c->loads[i], cycle);
    timeline_put_counter(t, core, &c->resident, resident_name);
    timeline_put_counter(t, core, &c->misses, misses_name);
    timeline_put_counter(t, core, &c->accesses, accesses_name);
    timeline_put_counter(t, core, &c->miss_queue, miss_queue_name);
}

static void end_window(struct timeline *t, uint64_t cycle)
{
    if (!t->over && t->began)
        for (uint32_t core = 0; core < t->core_count; core++)
            if (t->cores[core])
                end_core(t, core, cycle);
    for (uint32_t i = 0; i < t->channel_count && !t->over && t->began; i++)
        timeline_put_channel(t, i);
    t->over = true;
}

/* Ends the window while the run goes on. */
static void cut_window(struct timeline *t, uint64_t cycle, const char *why)
{
    end_window(t, cycle);
    timeline_put_mark(t, cycle, why);
}

static void add_core(struct timeline *t, uint32_t core)
{
    if (core >= t->core_count) {
        t->cores = realloc(t->cores, (core + 1) * sizeof *t->cores);
        if (!t->cores)
            out_of_memory();
        memset(t->cores + t->core_count, 0, (core + 1 - t->core_count) * sizeof *t->cores);
        t->core_count = core + 1;
    }
    if (!t->cores[core] && !(t->cores[core] = calloc(1, sizeof **t->cores)))
        out_of_memory();
}

/* To be called before every event. Returns its core, or NULL when events are no longer of interest; *write says
 * whether the event is inside the window. */
static struct core_track *enter(struct timeline *t, uint32_t core, uint64_t cycle, bool *write)
{
    if (t->over || !t->file)
        return NULL;
    if (!t->began && cycle >= t->first)
        begin_window(t);
    if (cycle >= t->end) {
        t->is_part = true;
        cut_window(t, t->end, "end of the cycles asked for; the run goes on");
        return NULL;
    }
    if (t->began && t->written_bytes >= t->limit_bytes) {
        t->dropped_from = cycle;
        cut_window(t, cycle, "the file has reached its size limit; the run goes on");
        return NULL;
    }
    add_core(t, core);
    t->last_cycle = later(cycle, t->last_cycle);
    *write = t->began;
    return t->cores[core];
}

/* The hooks */

static void on_warp_end(void *context, uint32_t core, uint32_t warp, uint64_t cycle)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter(t, core, cycle, &write);
    if (!c || !c->warps[warp].resident)
        return;
    if (c->warps[warp].barrier_written)
        timeline_put_end(t, core, warp, cycle);
    if (c->warps[warp].written)
        timeline_put_end(t, core, warp, cycle);
    c->warps[warp] = (struct warp_slot){0};
    set_counter(t, core, &c->resident, resident_name, c->resident.value - 1, cycle);
}

static void seat_warp(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle, const struct warp_slot *seated,
                      bool write)
{
    struct core_track *c = t->cores[core];
    c->warps[warp] = *seated;
    if (write)
        timeline_put_warp_begin(t, core, warp, cycle);
    set_counter(t, core, &c->resident, resident_name, c->resident.value + 1, cycle);
}

static void on_warp_begin(void *context, uint32_t core, uint32_t warp, uint64_t cycle, uint64_t block_index,
                          uint32_t index)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter(t, core, cycle, &write);
    if (!c)
        return;
    if (c->warps[warp].resident) /* its end was not reported */
        on_warp_end(t, core, warp, cycle);
    if (c->reasons[warp].open) /* those of the warp before it */
        timeline_put_reason(t, core, warp);
    seat_warp(t, core, warp, cycle,
              &(struct warp_slot){.resident = true, .known = true, .block = block_index, .index = index}, write);
}

static struct core_track *enter_warp(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle, bool *write)
{
    struct core_track *c = enter(t, core, cycle, write);
    if (c && !c->warps[warp].resident)
        seat_warp(t, core, warp, cycle, &(struct warp_slot){.resident = true}, *write);
    return c;
}

static void on_issue(void *context, uint32_t core, uint32_t scheduler, uint32_t warp, uint64_t cycle, uint32_t pc,
                     uint32_t lanes)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter_warp(t, core, warp, cycle, &write);
    if (!c || !write || scheduler >= TIMELINE_SCHEDULERS)
        return;
    struct issue_run *r = &c->runs[scheduler];
    if (r->open && (r->warp != warp || cycle > r->last + 1))
        timeline_put_run(t, core, scheduler);
    if (!r->open)
        *r = (struct issue_run){.open = true, .warp = warp, .pc = pc, .begin = cycle};
    r->last = cycle;
    r->count++;
    r->lanes += lanes;
}

static void on_barrier_begin(void *context, uint32_t core, uint32_t warp, uint64_t cycle)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter_warp(t, core, warp, cycle, &write);
    if (!c || c->warps[warp].at_barrier)
        return;
    c->warps[warp].at_barrier = true;
    if (write)
        timeline_put_barrier_begin(t, core, warp, cycle);
}

static void on_barrier_end(void *context, uint32_t core, uint32_t warp, uint64_t cycle)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter(t, core, cycle, &write);
    if (!c)
        return;
    if (c->warps[warp].barrier_written)
        timeline_put_end(t, core, warp, cycle);
    c->warps[warp].at_barrier = c->warps[warp].barrier_written = false;
}

static void on_load_begin(void *context, uint32_t core, uint32_t warp, uint64_t cycle, uint32_t pc, uint32_t accesses)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter_warp(t, core, warp, cycle, &write);
    if (!c)
        return;
    if (c->load_count == c->load_capacity) {
        c->load_capacity = c->load_capacity ? 2 * c->load_capacity : 64;
        c->loads = realloc(c->loads, c->load_capacity * sizeof *c->loads);
        if (!c->loads)
            out_of_memory();
    }
    struct load *l = &c->loads[c->load_count++];
    *l = (struct load){.id = ++t->next_load, .warp = warp, .pc = pc, .accesses = accesses};
    if (write)
        timeline_put_load_begin(t, core, l, cycle);
}

static void on_load_end(void *context, uint32_t core, uint32_t warp, uint64_t cycle, uint32_t pc)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter(t, core, cycle, &write);
    uint32_t i = 0;
    while (c && i < c->load_count && (c->loads[i].warp != warp || c->loads[i].pc != pc))
        i++;
    if (!c || i == c->load_count)
        return;
    if (c->loads[i].written)
        timeline_put_load_end(t, core, &c->loads[i], cycle);
    memmove(&c->loads[i], &c->loads[i + 1], (c->load_count - i - 1) * sizeof *c->loads);
    c->load_count--;
}

static void on_outstanding(void *context, uint32_t core, uint64_t cycle, uint32_t misses)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter(t, core, cycle, &write);
    if (c)
        set_counter(t, core, &c->misses, misses_name, misses, cycle);
}

static void on_queues(void *context, uint32_t core, uint64_t cycle, uint32_t accesses, uint32_t misses)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter(t, core, cycle, &write);
    if (!c)
        return;
    if (accesses != c->accesses.value || !c->accesses.ever)
        set_counter(t, core, &c->accesses, accesses_name, accesses, cycle);
    if (misses != c->miss_queue.value || !c->miss_queue.ever)
        set_counter(t, core, &c->miss_queue, miss_queue_name, misses, cycle);
}

/* Reasons that are reported late are written as long as their cycles are inside, also when the window is over. */
static void on_reasons(void *context, uint32_t core, uint64_t from, uint64_t to, const uint64_t *slots)
{
    struct timeline *t = context;
    from = later(from, t->first);
    to = earlier(to, earlier(t->end, t->dropped_from));
    if (!t->file || from >= to)
        return;
    add_core(t, core);
    for (uint8_t reason = 0; reason < STALL_COUNT; reason++)
        for (uint64_t left = slots[reason]; left; left &= left - 1) {
            uint32_t warp = (uint32_t)__builtin_ctzll(left);
            struct reason_run *r = &t->cores[core]->reasons[warp];
            bool goes_on = r->open && r->reason == reason && r->end == from;
            if (r->open && !goes_on)
                timeline_put_reason(t, core, warp);
            *r = (struct reason_run){true, reason, goes_on ? r->begin : from, to};
        }
}

static void end_reasons(struct timeline *t)
{
    for (uint32_t core = 0; core < t->core_count; core++)
        for (uint32_t w = 0; t->cores[core] && w < CORE_WARPS_MOST; w++)
            if (t->cores[core]->reasons[w].open)
                timeline_put_reason(t, core, w);
}

void timeline_channel(struct timeline *t, uint32_t channel, uint64_t cycle, uint32_t waiting)
{
    if (t->over || !t->file || cycle < t->first || cycle >= t->end)
        return;
    if (channel >= t->channel_count) {
        t->channels = realloc(t->channels, (channel + 1) * sizeof *t->channels);
        if (!t->channels)
            out_of_memory();
        memset(t->channels + t->channel_count, 0, (channel + 1 - t->channel_count) * sizeof *t->channels);
        if (!t->channel_count)
            timeline_name_memory(t);
        t->channel_count = channel + 1;
    }
    struct counter *n = &t->channels[channel];
    if (n->changed && n->cycle != cycle)
        timeline_put_channel(t, channel);
    n->changed |= !n->ever || n->value != waiting;
    n->value = waiting;
    n->cycle = cycle;
}

/* The file */

struct timeline *timeline_open(const char *path, uint64_t first, uint64_t end, struct error *e)
{
    struct timeline *t = calloc(1, sizeof *t);
    struct whole_file whole;
    if (!t)
        out_of_memory();
    if (!whole_file_open(&whole, path)) {
        error_set(e, ERROR_IO, "cannot write the timeline to %s: %s", path, strerror(errno));
        free(t);
        return NULL;
    }
    FILE *file = whole.file;
    setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
    *t = (struct timeline){.whole = whole,
                           .file = file,
                           .path = strdup(path),
                           .first = first,
                           .end = end,
                           .limit_bytes = DEFAULT_LIMIT_BYTES,
                           .dropped_from = UINT64_MAX};
    t->observer = (struct sm_observer){.context = t,
                                       .warp_begin = on_warp_begin,
                                       .warp_end = on_warp_end,
                                       .issue = on_issue,
                                       .barrier_begin = on_barrier_begin,
                                       .barrier_end = on_barrier_end,
                                       .load_begin = on_load_begin,
                                       .load_end = on_load_end,
                                       .outstanding = on_outstanding,
                                       .queues = on_queues,
                                       .reasons = on_reasons};
    fprintf(file,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"time\":\"1 us is 1 core cycle\",\"cycles\":\"%" PRIu64
            ":%" PRIu64 "\"},\"traceEvents\":[",
            first, end);
    return t;
}

const struct sm_observer *timeline_observer(struct timeline *t) { return &t->observer; }

bool timeline_wants(const struct timeline *t, uint64_t cycle)
{
    return t->file && !t->over && cycle >= t->first && cycle < t->end && t->written_bytes < t->limit_bytes;
}

void timeline_kernel(struct timeline *t, const char *name, uint64_t begin_cycle, uint64_t end_cycle)
{
    char clean[200];
    uint64_t begin = later(begin_cycle, t->first), end = earlier(end_cycle, t->end);
    size_t n = 0;
    uint32_t track = 0;
    if (!t->file || begin >= end || (t->dropped_from != UINT64_MAX && begin >= t->dropped_from))
        return;
    /* Names are identifiers; whatever else comes may not break the file. */
    for (; *name && n + 1 < sizeof clean; name++)
        clean[n++] = *name < ' ' || *name > '~' || *name == '"' || *name == '\\' ? '?' : *name;
    clean[n] = '\0';
    while (track + 1 < TIMELINE_KERNEL_TRACKS && t->kernel_ends[track] > begin_cycle)
        track++;
    for (; t->kernel_tracks <= track; t->kernel_tracks++)
        timeline_name_kernels(t, t->kernel_tracks);
    t->kernel_ends[track] = end_cycle;
    timeline_put_kernel(t, track, clean, begin, end, end_cycle - begin_cycle);
}

bool timeline_close(struct timeline *t, struct error *e)
{
    FILE *file = t->file;
    if (!file)
        return true;
    end_window(t, t->last_cycle + 1);
    end_reasons(t);
    fputs("\n]}\n", file);
    t->file = NULL;
    return whole_file_close(&t->whole) ||
           error_set(e, ERROR_IO, "the timeline could not be written to %s: %s", t->path, strerror(errno));
}

void timeline_destroy(struct timeline *t)
{
    if (!t)
        return;
    timeline_close(t, NULL);
    for (uint32_t i = 0; i < t->core_count; i++) {
        if (t->cores[i])
            free(t->cores[i]->loads);
        free(t->cores[i]);
    }
    free(t->cores);
    free(t->channels);
    free(t->path);
    free(t);
}

uint64_t timeline_dropped_from(const struct timeline *t) { return t->dropped_from; }

void timeline_set_limit(struct timeline *t, uint64_t size_bytes) { t->limit_bytes = size_bytes; }

bool timeline_is_part(const struct timeline *t) { return t->is_part; }
