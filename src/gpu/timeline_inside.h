/* Inside the timeline: what timeline.c knows of the cores, and how timeline_write.c writes it as events. */
#ifndef HEDDLE_GPU_TIMELINE_INSIDE_H
#define HEDDLE_GPU_TIMELINE_INSIDE_H

#include "gpu/timeline.h"

#include "base/whole_file.h"
#include "sm/config.h"

#include <stdio.h>

enum { TIMELINE_KERNEL_TRACKS = 16, TIMELINE_SCHEDULERS = 32 };

/* Issues of one warp in a row, by one scheduler. */
struct issue_run {
    bool open;
    uint32_t warp, pc, count, lanes;
    uint64_t begin, last;
};
struct warp_slot {
    bool resident, at_barrier;
    bool known;                    /* which block and warp it is: block, index */
    bool written, barrier_written; /* the begin of its slice is in the file, and the end is not */
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
    bool changed; /* since it was last written */
    bool ever;    /* it has been written */
};
/* Cycles in a row in which a warp slot did not issue for the same reason. */
struct reason_run {
    bool open;
    uint8_t reason; /* enum stall */
    uint64_t begin, end;
};

struct core_track {
    bool named; /* names are written with the first event of a track */
    uint64_t warps_named, reasons_named;
    uint32_t schedulers_named;
    struct issue_run runs[TIMELINE_SCHEDULERS];
    struct warp_slot warps[CORE_WARPS_MOST];
    struct load *loads; /* outstanding, oldest first */
    uint32_t load_count, load_capacity;
    struct counter resident, misses, accesses, miss_queue;
    struct reason_run reasons[CORE_WARPS_MOST];
};

struct timeline {
    struct whole_file whole;
    FILE *file; /* NULL means closed */
    char *path;
    uint64_t first, end; /* the window: cycles first <= c < end */
    uint64_t limit_bytes, written_bytes;
    uint64_t last_cycle, dropped_from;
    bool began, over; /* the window has begun, and is over */
    bool any_event;
    bool is_part;                                 /* the run went on after the window */
    uint64_t kernel_ends[TIMELINE_KERNEL_TRACKS]; /* kernels that ran together are on tracks of their own */
    uint32_t kernel_tracks;
    uint64_t next_load;
    struct core_track **cores;
    uint32_t core_count;
    struct counter *channels;
    uint32_t channel_count;
    struct sm_observer observer;
};

/* timeline_write.c. One event: the members of its JSON object. */
void timeline_put(struct timeline *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void timeline_name_memory(struct timeline *t);
void timeline_name_kernels(struct timeline *t, uint32_t track);
/* The stretches that end with these calls. */
void timeline_put_reason(struct timeline *t, uint32_t core, uint32_t warp);
void timeline_put_run(struct timeline *t, uint32_t core, uint32_t scheduler);
void timeline_put_warp_begin(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle);
void timeline_put_barrier_begin(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle);
/* The end of the slice of the warp's thread that was begun last. */
void timeline_put_end(struct timeline *t, uint32_t core, uint32_t warp, uint64_t cycle);
void timeline_put_load_begin(struct timeline *t, uint32_t core, struct load *l, uint64_t cycle);
void timeline_put_load_end(struct timeline *t, uint32_t core, const struct load *l, uint64_t cycle);
void timeline_put_kernel(struct timeline *t, uint32_t track, const char *name, uint64_t begin, uint64_t end,
                         uint64_t cycles);
/* The value of a counter, where it has changed since it was last written. */
void timeline_put_counter(struct timeline *t, uint32_t core, struct counter *n, const char *name);
void timeline_put_channel(struct timeline *t, uint32_t channel);
/* A mark across all tracks. */
void timeline_put_mark(struct timeline *t, uint64_t cycle, const char *text);

#endif
