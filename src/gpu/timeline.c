/* Writes the timeline while the cores run.
 *
 * A process for each core. Its threads: one a scheduler, on which issues of the same warp in a row are one slice; and
 * one a warp slot, with a slice from launch to end of each warp that lived there and the waits at barriers inside.
 * Loads that wait for memory overlap freely, so they are asynchronous slices, a track a warp. Counters: outstanding
 * misses, resident warps, queues; those of the memory channels are in a process of their own, as kernels are.
 *
 * Slices of warps are written as begin and end events in the order in which they happen: viewers take events of the
 * same time in the order of the file, so that nesting is right also where several begin in one cycle.
 *
 * Why a warp does not issue is a thread of its own below its slot's: cycles in a row with the same reason are one
 * slice, written when it is over, which may be late (sm/observer.h).
 *
 * The file has an end, at a size that viewers can open. It says so itself, in an event at that cycle. */
#include "gpu/timeline.h"

#include "base/out_of_memory.h"
#include "base/whole_file.h"

#include "sm/config.h"
#include "sm/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GPU_PROCESS = 1,
    KERNEL_THREAD = 2,
    KERNEL_TRACKS = 16,
    MEMORY_PROCESS = 50,
    CORE_IDS = 1000, /* process and thread numbers of a core: no two of the file are the same */
    FIRST_SCHEDULER = 1,
    FIRST_WARP = 100, /* its slot's thread is sorted at 100 + 2 * warp, that of its reasons after it */
    FIRST_REASONS = 300,
    SCHEDULERS = 32,
    BUFFER_BYTES = 1 << 20,
};
#define DEFAULT_LIMIT_BYTES (200ull << 20)

struct issue_run {
    bool open;
    uint32_t warp, pc, count, lanes;
    uint64_t begin, last;
};
struct warp_slot {
    bool resident, known /* its block is */, at_barrier, written, barrier_written;
    uint64_t block;
    uint32_t index;
};
struct load {
    uint64_t id;
    uint32_t warp, pc, accesses;
    bool written;
};
struct counter {
    uint32_t value, written_value;
    uint64_t cycle;
    bool changed, ever;
};

struct reason_run {
    bool open;
    uint8_t reason; /* enum stall */
    uint64_t begin, end;
};

struct core_track {
    bool named;
    uint64_t warps_named, reasons_named;
    uint32_t schedulers_named;
    struct issue_run runs[SCHEDULERS];
    struct warp_slot warps[CORE_WARPS_MOST];
    struct load *loads; /* outstanding, oldest first */
    uint32_t load_count, load_capacity;
    struct counter resident, misses, accesses, miss_queue;
    struct reason_run reasons[CORE_WARPS_MOST];
};

struct timeline {
    struct whole_file whole;
    FILE *file; /* NULL: closed */
    char *path;
    uint64_t first, end;
    uint64_t limit_bytes, written_bytes;
    uint64_t last_cycle, dropped_from;
    bool began, over; /* the window */
    bool any_event;
    bool is_part;                        /* the run went on after it */
    uint64_t kernel_ends[KERNEL_TRACKS]; /* of the last kernel on each track: those that ran together stand one above
                                            the other */
    uint32_t kernel_tracks;
    uint64_t next_load;
    struct core_track **cores;
    uint32_t core_count;
    struct counter *channels;
    uint32_t channel_count;
    struct sm_observer observer;
};

/* Writing */

static void put(struct timeline *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct timeline *t, const char *format, ...)
{
    va_list args;
    fputs(t->any_event ? ",\n{" : "\n{", t->file);
    va_start(args, format);
    int n = vfprintf(t->file, format, args);
    va_end(args);
    fputc('}', t->file);
    t->any_event = true;
    t->written_bytes += (n > 0 ? (uint64_t)n : 0) + 4;
}

static uint32_t process(uint32_t core) { return (core + 1) * CORE_IDS; }
static uint32_t warp_thread(uint32_t core, uint32_t warp) { return process(core) + FIRST_WARP + warp; }

static void name_process(struct timeline *t, uint32_t pid, const char *name, int number, uint32_t order)
{
    if (number < 0)
        put(t, "\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}", pid, name);
    else
        put(t, "\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"%s %d\"}", pid, name, number);
    put(t, "\"ph\":\"M\",\"pid\":%u,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}", pid, order);
}

static void name_thread(struct timeline *t, uint32_t pid, uint32_t tid, const char *name, uint32_t number,
                        uint32_t order)
{
    put(t, "\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s %u\"}", pid, tid, name,
        number);
    put(t, "\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}", pid, tid,
        order);
}

static void name_core(struct timeline *t, uint32_t core)
{
    struct core_track *c = t->cores[core];
    if (!c->named)
        name_process(t, process(core), "core", (int)core, core + 1);
    c->named = true;
}

static void name_warp(struct timeline *t, uint32_t core, uint32_t warp)
{
    struct core_track *c = t->cores[core];
    name_core(t, core);
    if (!(c->warps_named >> warp & 1))
        name_thread(t, process(core), warp_thread(core, warp), "warp slot", warp,
                    process(core) + FIRST_WARP + 2 * warp);
    c->warps_named |= (uint64_t)1 << warp;
}

static void put_reason(struct timeline *t, uint32_t core, uint32_t warp)
{
    struct core_track *c = t->cores[core];
    struct reason_run *r = &c->reasons[warp];
    uint32_t tid = process(core) + FIRST_REASONS + warp;
    name_core(t, core);
    if (!(c->reasons_named >> warp & 1))
        name_thread(t, process(core), tid, "reasons of warp slot", warp, process(core) + FIRST_WARP + 2 * warp + 1);
    c->reasons_named |= (uint64_t)1 << warp;
    put(t, "\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"name\":\"%s\"", process(core),
        tid, r->begin, r->end - r->begin, stall_names[r->reason]);
    r->open = false;
}

static void put_warp_begin(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle)
{
    struct warp_slot *w = &t->cores[core]->warps[warp];
    name_warp(t, core, warp);
    if (w->known)
        put(t,
            "\"ph\":\"B\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":\"block %" PRIu64
            "\",\"args\":{\"block\":%" PRIu64 ",\"warp\":%u}",
            process(core), warp_thread(core, warp), cycle, w->block, w->block, w->index);
    else
        put(t, "\"ph\":\"B\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":\"warp\"", process(core),
            warp_thread(core, warp), cycle);
    w->written = true;
}

static void put_barrier_begin(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle)
{
    put(t, "\"ph\":\"B\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":\"barrier\"", process(core),
        warp_thread(core, warp), cycle);
    t->cores[core]->warps[warp].barrier_written = true;
}

/* The slice of the thread that was begun last. */
static void put_end(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle)
{
    put(t, "\"ph\":\"E\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64, process(core), warp_thread(core, warp), cycle);
}

static void put_load_begin(struct timeline *t, uint32_t core, struct load *l, uint64_t cycle)
{
    name_core(t, core);
    put(t,
        "\"ph\":\"b\",\"cat\":\"load\",\"id\":%" PRIu64 ",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
        ",\"name\":\"warp %02u loads\",\"args\":{\"pc\":%u,\"accesses\":%u}",
        l->id, process(core), warp_thread(core, l->warp), cycle, l->warp, l->pc, l->accesses);
    l->written = true;
}

static void put_load_end(struct timeline *t, uint32_t core, const struct load *l, uint64_t cycle)
{
    put(t,
        "\"ph\":\"e\",\"cat\":\"load\",\"id\":%" PRIu64 ",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
        ",\"name\":\"warp %02u loads\"",
        l->id, process(core), warp_thread(core, l->warp), cycle, l->warp);
}

static void put_run(struct timeline *t, uint32_t core, uint32_t scheduler)
{
    struct core_track *c = t->cores[core];
    struct issue_run *r = &c->runs[scheduler];
    uint32_t tid = process(core) + FIRST_SCHEDULER + scheduler;
    name_core(t, core);
    if (!(c->schedulers_named >> scheduler & 1))
        name_thread(t, process(core), tid, "scheduler", scheduler, tid);
    c->schedulers_named |= 1u << scheduler;
    put(t,
        "\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64
        ",\"name\":\"warp %u\",\"args\":{\"pc\":%u,\"instructions\":%u,\"lanes\":%.1f}",
        process(core), tid, r->begin, r->last + 1 - r->begin, r->warp, r->pc, r->count, (double)r->lanes / r->count);
    r->open = false;
}

static void put_counter_of(struct timeline *t, uint32_t pid, struct counter *n, const char *name)
{
    if (n->changed && (!n->ever || n->value != n->written_value)) {
        put(t, "\"ph\":\"C\",\"pid\":%u,\"ts\":%" PRIu64 ",\"name\":\"%s\",\"args\":{\"value\":%u}", pid,
            n->cycle > t->first ? n->cycle : t->first, name, n->value);
        n->written_value = n->value;
        n->ever = true;
    }
    n->changed = false;
}

static void put_counter(struct timeline *t, uint32_t core, struct counter *n, const char *name)
{
    name_core(t, core);
    put_counter_of(t, process(core), n, name);
}

static void put_channel(struct timeline *t, uint32_t channel)
{
    char name[40];
    snprintf(name, sizeof name, "DRAM channel %u queue", channel);
    put_counter_of(t, MEMORY_PROCESS, &t->channels[channel], name);
}

static const char resident_name[] = "resident warps", misses_name[] = "outstanding misses",
                  accesses_name[] = "load/store unit: accesses to send", miss_queue_name[] = "L1D miss queue";

/* Several changes in one cycle are one: the last value is written when a later cycle comes. */
static void set_counter(struct timeline *t, uint32_t core, struct counter *n, const char *name, uint32_t value,
                        uint64_t cycle)
{
    if (n->cycle != cycle && t->began && !t->over)
        put_counter(t, core, n, name);
    n->value = value;
    n->cycle = cycle;
    n->changed = true;
}

/* The window */

/* What is there when the window begins. */
static void begin_window(struct timeline *t)
{
    t->began = true;
    for (uint32_t core = 0; core < t->core_count; core++) {
        struct core_track *c = t->cores[core];
        for (uint32_t w = 0; c && w < CORE_WARPS_MOST; w++) {
            if (c->warps[w].resident)
                put_warp_begin(t, core, w, t->first);
            if (c->warps[w].at_barrier)
                put_barrier_begin(t, core, w, t->first);
        }
        for (uint32_t i = 0; c && i < c->load_count; i++)
            put_load_begin(t, core, &c->loads[i], t->first);
    }
}

static void end_core(struct timeline *t, uint32_t core, uint64_t cycle)
{
    struct core_track *c = t->cores[core];
    for (uint32_t s = 0; s < SCHEDULERS; s++)
        if (c->runs[s].open)
            put_run(t, core, s);
    for (uint32_t w = 0; w < CORE_WARPS_MOST; w++) {
        if (c->warps[w].barrier_written)
            put_end(t, core, w, cycle);
        if (c->warps[w].written)
            put_end(t, core, w, cycle);
    }
    for (uint32_t i = 0; i < c->load_count; i++)
        if (c->loads[i].written)
            put_load_end(t, core, &c->loads[i], cycle);
    put_counter(t, core, &c->resident, resident_name);
    put_counter(t, core, &c->misses, misses_name);
    put_counter(t, core, &c->accesses, accesses_name);
    put_counter(t, core, &c->miss_queue, miss_queue_name);
}

/* A mark across all tracks. */
static void put_mark(struct timeline *t, uint64_t cycle, const char *text)
{
    put(t, "\"ph\":\"i\",\"s\":\"g\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":\"%s\"", GPU_PROCESS,
        KERNEL_THREAD, cycle, text);
}

static void end_window(struct timeline *t, uint64_t cycle)
{
    if (!t->over && t->began)
        for (uint32_t core = 0; core < t->core_count; core++)
            if (t->cores[core])
                end_core(t, core, cycle);
    for (uint32_t i = 0; i < t->channel_count && !t->over && t->began; i++)
        put_channel(t, i);
    t->over = true;
}

/* The run goes on. */
static void cut_window(struct timeline *t, uint64_t cycle, const char *why)
{
    end_window(t, cycle);
    put_mark(t, cycle, why);
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

/* Before every event. Returns its core, or NULL when events are no longer of interest; *write: it is inside. */
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
    t->last_cycle = cycle > t->last_cycle ? cycle : t->last_cycle;
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
        put_end(t, core, warp, cycle);
    if (c->warps[warp].written)
        put_end(t, core, warp, cycle);
    c->warps[warp] = (struct warp_slot){0};
    set_counter(t, core, &c->resident, resident_name, c->resident.value - 1, cycle);
}

static void seat_warp(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle, const struct warp_slot *seated,
                      bool write)
{
    struct core_track *c = t->cores[core];
    c->warps[warp] = *seated;
    if (write)
        put_warp_begin(t, core, warp, cycle);
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
    if (c->reasons[warp].open) /* those of the one before */
        put_reason(t, core, warp);
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
    if (!c || !write || scheduler >= SCHEDULERS)
        return;
    struct issue_run *r = &c->runs[scheduler];
    if (r->open && (r->warp != warp || cycle > r->last + 1))
        put_run(t, core, scheduler);
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
        put_barrier_begin(t, core, warp, cycle);
}

static void on_barrier_end(void *context, uint32_t core, uint32_t warp, uint64_t cycle)
{
    struct timeline *t = context;
    bool write;
    struct core_track *c = enter(t, core, cycle, &write);
    if (!c)
        return;
    if (c->warps[warp].barrier_written)
        put_end(t, core, warp, cycle);
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
        put_load_begin(t, core, l, cycle);
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
        put_load_end(t, core, &c->loads[i], cycle);
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

/* What is told late is still inside, also when the window is over. */
static void on_reasons(void *context, uint32_t core, uint64_t from, uint64_t to, const uint64_t *slots)
{
    struct timeline *t = context;
    uint64_t end = t->end < t->dropped_from ? t->end : t->dropped_from;
    from = from > t->first ? from : t->first;
    to = to < end ? to : end;
    if (!t->file || from >= to)
        return;
    add_core(t, core);
    for (uint8_t reason = 0; reason < STALL_COUNT; reason++)
        for (uint64_t left = slots[reason]; left; left &= left - 1) {
            uint32_t warp = (uint32_t)__builtin_ctzll(left);
            struct reason_run *r = &t->cores[core]->reasons[warp];
            bool goes_on = r->open && r->reason == reason && r->end == from;
            if (r->open && !goes_on)
                put_reason(t, core, warp);
            *r = (struct reason_run){true, reason, goes_on ? r->begin : from, to};
        }
}

static void end_reasons(struct timeline *t)
{
    for (uint32_t core = 0; core < t->core_count; core++)
        for (uint32_t w = 0; t->cores[core] && w < CORE_WARPS_MOST; w++)
            if (t->cores[core]->reasons[w].open)
                put_reason(t, core, w);
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
            name_process(t, MEMORY_PROCESS, "memory", -1, 1 << 20);
        t->channel_count = channel + 1;
    }
    struct counter *n = &t->channels[channel];
    if (n->changed && n->cycle != cycle)
        put_channel(t, channel);
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
    uint64_t begin = begin_cycle > t->first ? begin_cycle : t->first, end = end_cycle < t->end ? end_cycle : t->end;
    size_t n = 0;
    uint32_t track = 0;
    if (!t->file || begin >= end || (t->dropped_from != UINT64_MAX && begin >= t->dropped_from))
        return;
    for (; *name && n + 1 < sizeof clean;
         name++) /* names are identifiers; whatever else comes may not break the file */
        clean[n++] = *name < ' ' || *name > '~' || *name == '"' || *name == '\\' ? '?' : *name;
    clean[n] = '\0';
    while (track + 1 < KERNEL_TRACKS && t->kernel_ends[track] > begin_cycle)
        track++;
    if (!t->kernel_tracks)
        name_process(t, GPU_PROCESS, "GPU", -1, 0);
    for (; t->kernel_tracks <= track; t->kernel_tracks++)
        put(t, "\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"kernels\"}",
            GPU_PROCESS, KERNEL_THREAD + t->kernel_tracks);
    t->kernel_ends[track] = end_cycle;
    put(t,
        "\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64
        ",\"name\":\"%s\",\"args\":{\"cycles\":%" PRIu64 "}",
        GPU_PROCESS, KERNEL_THREAD + track, begin, end - begin, clean, end_cycle - begin_cycle);
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
    return whole_file_close(&t->whole)
               ? true
               : error_set(e, ERROR_IO, "the timeline could not be written to %s: %s", t->path, strerror(errno));
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
