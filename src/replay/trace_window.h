/* The way through all accesses of a trace, on several threads. Chunks are in memory a window at a time: as many as fit
 * into so many bytes, or one that is larger. Threads unpack them, and then share the cores: what a core did in a window
 * is a task, which one thread does alone, and windows come one after the other. So whoever works on a core may keep
 * what belongs to it from window to window, and what comes out is the same on any number of threads. */
#ifndef HEDDLE_REPLAY_TRACE_WINDOW_H
#define HEDDLE_REPLAY_TRACE_WINDOW_H

#include "replay/trace_reader.h"

#include <stdatomic.h>

struct trace_task {
    uint32_t core, first, last; /* parts */
    uint64_t accesses;
};
struct trace_window_part {
    struct trace_part part;
    uint32_t before, behind; /* of the same core */
};
enum { TRACE_NO_PART = UINT32_MAX };

struct trace_windows {
    const struct trace_reader *trace;
    uint32_t threads;
    uint32_t count;        /* of windows */
    uint32_t *first_chunk; /* of each; [count]: chunks of the trace */
    /* the window that is loaded */
    uint32_t number;
    struct trace_task *tasks; /* of cores with accesses, the longest first */
    uint32_t task_count;
    struct trace_window_part *parts;
    /* private */
    uint32_t part_count, part_capacity;
    uint8_t *data;
    size_t *places;               /* of each chunk of the trace */
    struct workers *workers;      /* NULL: one thread */
    struct trace_slot *slots;     /* of each thread */
    struct trace_failure *damage; /* what is wrong with the window's chunks; what is in front of it is there */
    atomic_uint drawn;            /* pieces of work of a round */
};

/* slot: below `threads`; no two tasks have the same at the same time. *chunk: the one that the task is at, for an
 * error. */
typedef bool trace_task_fn(void *context, const struct trace_windows *w, const struct trace_task *task, uint32_t slot,
                           uint32_t *chunk, struct error *e);

/* threads: from 1 on; no more are made than there are cores. False: no memory. Closed in either case. */
bool trace_windows_open(struct trace_windows *w, const struct trace_reader *r, uint32_t threads, size_t bytes,
                        struct error *e);
void trace_windows_close(struct trace_windows *w);
/* A window in place of the last; nothing to do where it is there. False: no memory. Damage is reported by
 * trace_windows_each. */
bool trace_windows_load(struct trace_windows *w, uint32_t number, struct error *e);
/* Every task of the window, the caller being one of the threads. Of several errors the first in the order of chunks and
 * cores is reported. */
bool trace_windows_each(struct trace_windows *w, trace_task_fn *fn, void *context, struct error *e);

#endif
