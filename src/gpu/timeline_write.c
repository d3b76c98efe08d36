/* The events of a timeline, as members of Chrome's trace-event JSON: see timeline.c. */
#include "gpu/timeline_inside.h"

#include "base/numbers.h"
#include "sm/counters.h"
#include <inttypes.h>
#include <stdarg.h>

/* Numbers of processes and threads: no two of the file are the same. */
enum {
    GPU_PROCESS = 1,
    KERNEL_THREAD = 2,
    MEMORY_PROCESS = 50,
    CORE_IDS = 1000,
    FIRST_SCHEDULER = 1,
    FIRST_WARP = 100, /* the thread of a warp slot is sorted at 100 + 2 * slot, that of its reasons after it */
    FIRST_REASONS = 300,
};

void timeline_put(struct timeline *t, const char *format, ...)
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

/* number: -1 means that the name has none. order: where the process stands among all. */
static void name_process(struct timeline *t, uint32_t pid, const char *name, int number, uint32_t order)
{
    if (number < 0)
        timeline_put(t, "\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}", pid, name);
    else
        timeline_put(t, "\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"%s %d\"}", pid, name,
                     number);
    timeline_put(t, "\"ph\":\"M\",\"pid\":%u,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}", pid, order);
}

static void name_thread(struct timeline *t, uint32_t pid, uint32_t tid, const char *name, uint32_t number,
                        uint32_t order)
{
    timeline_put(t, "\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s %u\"}", pid,
                 tid, name, number);
    timeline_put(t, "\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}",
                 pid, tid, order);
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

void timeline_put_reason(struct timeline *t, uint32_t core, uint32_t warp)
{
    struct core_track *c = t->cores[core];
    struct reason_run *r = &c->reasons[warp];
    uint32_t tid = process(core) + FIRST_REASONS + warp;
    name_core(t, core);
    if (!(c->reasons_named >> warp & 1))
        name_thread(t, process(core), tid, "reasons of warp slot", warp, process(core) + FIRST_WARP + 2 * warp + 1);
    c->reasons_named |= (uint64_t)1 << warp;
    timeline_put(t, "\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"name\":\"%s\"",
                 process(core), tid, r->begin, r->end - r->begin, stall_names[r->reason]);
    r->open = false;
}

void timeline_put_warp_begin(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle)
{
    struct warp_slot *w = &t->cores[core]->warps[warp];
    name_warp(t, core, warp);
    if (w->known)
        timeline_put(t,
                     "\"ph\":\"B\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":\"block %" PRIu64
                     "\",\"args\":{\"block\":%" PRIu64 ",\"warp\":%u}",
                     process(core), warp_thread(core, warp), cycle, w->block, w->block, w->index);
    else
        timeline_put(t, "\"ph\":\"B\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":\"warp\"", process(core),
                     warp_thread(core, warp), cycle);
    w->written = true;
}

void timeline_put_barrier_begin(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle)
{
    timeline_put(t, "\"ph\":\"B\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":\"barrier\"", process(core),
                 warp_thread(core, warp), cycle);
    t->cores[core]->warps[warp].barrier_written = true;
}

void timeline_put_end(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle)
{
    timeline_put(t, "\"ph\":\"E\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64, process(core), warp_thread(core, warp),
                 cycle);
}

void timeline_put_load_begin(struct timeline *t, uint32_t core, struct load *l, uint64_t cycle)
{
    name_core(t, core);
    timeline_put(t,
                 "\"ph\":\"b\",\"cat\":\"load\",\"id\":%" PRIu64 ",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
                 ",\"name\":\"warp %02u loads\",\"args\":{\"pc\":%u,\"accesses\":%u}",
                 l->id, process(core), warp_thread(core, l->warp), cycle, l->warp, l->pc, l->accesses);
    l->written = true;
}

void timeline_put_load_end(struct timeline *t, uint32_t core, const struct load *l, uint64_t cycle)
{
    timeline_put(t,
                 "\"ph\":\"e\",\"cat\":\"load\",\"id\":%" PRIu64 ",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
                 ",\"name\":\"warp %02u loads\"",
                 l->id, process(core), warp_thread(core, l->warp), cycle, l->warp);
}

void timeline_put_run(struct timeline *t, uint32_t core, uint32_t scheduler)
{
    struct core_track *c = t->cores[core];
    struct issue_run *r = &c->runs[scheduler];
    uint32_t tid = process(core) + FIRST_SCHEDULER + scheduler;
    name_core(t, core);
    if (!(c->schedulers_named >> scheduler & 1))
        name_thread(t, process(core), tid, "scheduler", scheduler, tid);
    c->schedulers_named |= 1u << scheduler;
    timeline_put(t,
                 "\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64
                 ",\"name\":\"warp %u\",\"args\":{\"pc\":%u,\"instructions\":%u,\"lanes\":%.1f}",
                 process(core), tid, r->begin, r->last + 1 - r->begin, r->warp, r->pc, r->count,
                 (double)r->lanes / r->count);
    r->open = false;
}

static void put_counter_of(struct timeline *t, uint32_t pid, struct counter *n, const char *name)
{
    if (n->changed && (!n->ever || n->value != n->written_value)) {
        timeline_put(t, "\"ph\":\"C\",\"pid\":%u,\"ts\":%" PRIu64 ",\"name\":\"%s\",\"args\":{\"value\":%u}", pid,
                     later(n->cycle, t->first), name, n->value);
        n->written_value = n->value;
        n->ever = true;
    }
    n->changed = false;
}

void timeline_put_counter(struct timeline *t, uint32_t core, struct counter *n, const char *name)
{
    name_core(t, core);
    put_counter_of(t, process(core), n, name);
}

void timeline_put_channel(struct timeline *t, uint32_t channel)
{
    char name[40];
    snprintf(name, sizeof name, "DRAM channel %u queue", channel);
    put_counter_of(t, MEMORY_PROCESS, &t->channels[channel], name);
}

void timeline_put_mark(struct timeline *t, uint64_t cycle, const char *text)
{
    timeline_put(t, "\"ph\":\"i\",\"s\":\"g\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":\"%s\"", GPU_PROCESS,
                 KERNEL_THREAD, cycle, text);
}

void timeline_name_memory(struct timeline *t) { name_process(t, MEMORY_PROCESS, "memory", -1, 1 << 20); }

void timeline_name_kernels(struct timeline *t, uint32_t track)
{
    if (!track)
        name_process(t, GPU_PROCESS, "GPU", -1, 0);
    timeline_put(t, "\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"kernels\"}",
                 GPU_PROCESS, KERNEL_THREAD + track);
}

void timeline_put_kernel(struct timeline *t, uint32_t track, const char *name, uint64_t begin, uint64_t end,
                         uint64_t cycles)
{
    timeline_put(t,
                 "\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64
                 ",\"name\":\"%s\",\"args\":{\"cycles\":%" PRIu64 "}",
                 GPU_PROCESS, KERNEL_THREAD + track, begin, end - begin, name, cycles);
}
