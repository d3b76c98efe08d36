/* A trace of what the cores did, for ui.perfetto.dev: Chrome's trace-event JSON, in which one cycle is one microsecond
 * (docs/timeline.md). */
#ifndef HEDDLE_GPU_TIMELINE_H
#define HEDDLE_GPU_TIMELINE_H

#include "base/error.h"
#include "sm/observer.h"

#include <stdbool.h>
#include <stdint.h>

struct timeline;

enum { TIMELINE_CYCLES = 20000 }; /* the first cycles of the run, where none are asked for */

/* Cycles first <= c < end are written; they count from the start of the run, over all launches. NULL: the file cannot
 * be made. */
struct timeline *timeline_open(const char *path, uint64_t first, uint64_t end, struct error *e);
/* Its hooks, called with cycles that never go back. Calls outside the window are allowed: before it they say which
 * warps are there when it begins. Where they are left out, a warp appears with its first event inside. */
const struct sm_observer *timeline_observer(struct timeline *t);
bool timeline_wants(const struct timeline *t, uint64_t cycle); /* an event of this cycle would be written */
/* A launch, when it is over. */
void timeline_kernel(struct timeline *t, const char *name, uint64_t begin_cycle, uint64_t end_cycle);
/* Requests that wait for a DRAM channel in this cycle. Cycles never go back. */
void timeline_channel(struct timeline *t, uint32_t channel, uint64_t cycle, uint32_t waiting);
/* Ends what is open and completes the file; events that still come are ignored. False: it could not all be written.
 * Closing again does nothing. */
bool timeline_close(struct timeline *t, struct error *e);
void timeline_destroy(struct timeline *t); /* closes as well */

/* The file is kept below 200 MB: events after that are dropped, and this is the cycle of the first. UINT64_MAX: there
 * was room for all. */
uint64_t timeline_dropped_from(const struct timeline *t);
bool timeline_is_part(const struct timeline *t); /* the run went on after the last cycle asked for */
void timeline_set_limit(struct timeline *t, uint64_t size_bytes);

#endif
