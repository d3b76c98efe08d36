/* See trace_window.h. A round of work is a counter that threads draw from, chunks when they unpack, then tasks. After
 * an error the round goes on, so that which of several is found does not depend on who came first. */
#include "replay/trace_window.h"

#include "gpu/workers.h"

#include <stdlib.h>
#include <string.h>

enum { NO_WINDOW = UINT32_MAX, NO_TASK = UINT32_MAX };

struct trace_failure {
    bool failed;
    uint32_t chunk, core;
    struct error error;
};
struct trace_slot {
    struct trace_unpacker unpacker;
    struct trace_failure failure;
};

static bool no_memory(struct error *e) { return error_set(e, ERROR_NO_MEMORY, "out of memory for a part of a trace"); }

/* Opening */

static size_t room(const struct trace_chunk *c) { return (size_t)c->raw + TRACE_PADDING; }

/* Returns the bytes of the largest window. */
static size_t cut(struct trace_windows *w, size_t bytes)
{
    const struct trace_reader *r = w->trace;
    size_t used = 0, most = 0;
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        if (!i || used + room(&r->chunks[i]) > bytes) {
            w->first_chunk[w->count++] = i;
            used = 0;
        }
        w->places[i] = used;
        used += room(&r->chunks[i]);
        most = used > most ? used : most;
    }
    w->first_chunk[w->count] = r->chunk_count;
    return most;
}

bool trace_windows_open(struct trace_windows *w, const struct trace_reader *r, uint32_t threads, size_t bytes,
                        struct error *e)
{
    uint32_t cores = r->header.cores;
    *w = (struct trace_windows){.trace = r, .threads = threads < cores ? threads : cores, .number = NO_WINDOW};
    w->first_chunk = calloc(r->chunk_count + 1, sizeof *w->first_chunk);
    w->places = calloc(r->chunk_count + 1, sizeof *w->places);
    w->tasks = calloc(cores, sizeof *w->tasks);
    w->slots = calloc(w->threads, sizeof *w->slots);
    w->damage = calloc(1, sizeof *w->damage);
    if (!w->first_chunk || !w->places || !w->tasks || !w->slots || !w->damage)
        return no_memory(e);
    size_t most = cut(w, bytes);
    w->data = most ? malloc(most) : NULL;
    if (most && !w->data)
        return no_memory(e);
    w->workers = w->threads > 1 ? workers_create(w->threads) : NULL;
    w->threads = w->workers ? w->threads : 1;
    return true;
}

void trace_windows_close(struct trace_windows *w)
{
    workers_destroy(w->workers);
    for (uint32_t i = 0; w->slots && i < w->threads; i++)
        trace_unpacker_free(&w->slots[i].unpacker);
    free(w->first_chunk);
    free(w->places);
    free(w->tasks);
    free(w->parts);
    free(w->slots);
    free(w->damage);
    free(w->data);
    *w = (struct trace_windows){.threads = 0};
}

/* Rounds */

/* A chunk that cannot be read to its end comes after the cores of it that can. */
static bool is_before(const struct trace_failure *a, const struct trace_failure *b)
{
    return a->failed && (!b->failed || a->chunk < b->chunk || (a->chunk == b->chunk && a->core < b->core));
}

static void note(struct trace_failure *first, const struct trace_failure *f)
{
    if (is_before(f, first))
        *first = *f;
}

/* fn draws from w->drawn until nothing is left, as each of the slots. Returns the first failure. */
static struct trace_failure run_round(struct trace_windows *w, worker_fn *fn, void *context)
{
    struct trace_failure first = {.failed = false};
    atomic_store(&w->drawn, 0);
    for (uint32_t i = 0; i < w->threads; i++)
        w->slots[i].failure.failed = false;
    if (w->workers)
        workers_run(w->workers, fn, context, w->threads);
    else
        fn(context, 0);
    for (uint32_t i = 0; i < w->threads; i++)
        note(&first, &w->slots[i].failure);
    return first;
}

/* Loading */

static void unpack_chunks(void *context, uint32_t slot)
{
    struct trace_windows *w = context;
    struct trace_slot *s = &w->slots[slot];
    uint32_t end = w->first_chunk[w->number + 1];
    for (uint32_t i; (i = w->first_chunk[w->number] + atomic_fetch_add(&w->drawn, 1)) < end;) {
        struct trace_failure f = {.chunk = i, .core = UINT32_MAX};
        f.failed = !trace_reader_unpack(w->trace, &s->unpacker, i, w->data + w->places[i], &f.error);
        note(&s->failure, &f);
    }
}

static bool add_part(struct trace_windows *w, const struct trace_part *p, uint32_t *task_of)
{
    if (w->part_count == w->part_capacity) {
        uint32_t capacity = 2 * w->part_capacity + 64;
        struct trace_window_part *more = realloc(w->parts, capacity * sizeof *more);
        if (!more)
            return false;
        w->parts = more;
        w->part_capacity = capacity;
    }
    uint32_t number = w->part_count++;
    bool is_first = task_of[p->core] == NO_TASK;
    if (is_first)
        w->tasks[task_of[p->core] = w->task_count++] =
            (struct trace_task){.core = p->core, .first = number, .last = TRACE_NO_PART};
    struct trace_task *t = &w->tasks[task_of[p->core]];
    w->parts[number] = (struct trace_window_part){*p, t->last, TRACE_NO_PART};
    if (!is_first)
        w->parts[t->last].behind = number;
    t->last = number;
    t->accesses += p->accesses;
    return true;
}

/* Of the chunks before the damage; a part that makes no sense is damage as well. False: no memory. */
static bool list_parts(struct trace_windows *w, uint32_t *task_of)
{
    uint32_t end = w->damage->failed ? w->damage->chunk : w->first_chunk[w->number + 1];
    memset(task_of, 0xff, w->trace->header.cores * sizeof *task_of);
    w->part_count = w->task_count = 0;
    for (uint32_t i = w->first_chunk[w->number]; i < end; i++) {
        const uint8_t *start = w->data + w->places[i];
        struct trace_cursor c = {.start = start, .at = start, .end = start + w->trace->chunks[i].raw, .chunk = i};
        struct trace_failure f = {.chunk = i, .core = UINT32_MAX};
        struct trace_part p;
        int more;
        while ((more = trace_reader_part(w->trace, &c, &p, &f.error)) > 0)
            if (p.accesses && !add_part(w, &p, task_of))
                return false;
        if (more < 0) {
            f.failed = true;
            *w->damage = f;
            return true;
        }
    }
    return true;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct trace_task *x = a, *y = b;
    if (x->accesses != y->accesses)
        return x->accesses < y->accesses ? 1 : -1;
    return x->core < y->core ? -1 : x->core > y->core;
}

bool trace_windows_load(struct trace_windows *w, uint32_t number, struct error *e)
{
    if (w->number == number)
        return true;
    uint32_t *task_of = malloc(w->trace->header.cores * sizeof *task_of);
    if (!task_of)
        return no_memory(e);
    w->number = number;
    *w->damage = run_round(w, unpack_chunks, w);
    bool ok = list_parts(w, task_of);
    free(task_of);
    qsort(w->tasks, w->task_count, sizeof *w->tasks, compare_tasks);
    return ok ? true : no_memory(e);
}

/* Tasks */

struct each {
    struct trace_windows *windows;
    trace_task_fn *fn;
    void *context;
};

static void do_tasks(void *context, uint32_t slot)
{
    struct each *each = context;
    struct trace_windows *w = each->windows;
    for (uint32_t i; (i = atomic_fetch_add(&w->drawn, 1)) < w->task_count;) {
        const struct trace_task *t = &w->tasks[i];
        struct trace_failure f = {.chunk = w->first_chunk[w->number], .core = t->core};
        f.failed = !each->fn(each->context, w, t, slot, &f.chunk, &f.error);
        note(&w->slots[slot].failure, &f);
    }
}

bool trace_windows_each(struct trace_windows *w, trace_task_fn *fn, void *context, struct error *e)
{
    struct each each = {w, fn, context};
    struct trace_failure first = run_round(w, do_tasks, &each);
    note(&first, w->damage);
    if (first.failed && e && !e->kind)
        *e = first.error;
    return !first.failed;
}
