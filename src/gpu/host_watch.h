/* Host seconds by part: while launches with time run, a thread looks every few milliseconds at what is being simulated
 * (base/host_part.h). What it counts are shares; they become seconds by the time that launches took. */
#ifndef HEDDLE_GPU_HOST_WATCH_H
#define HEDDLE_GPU_HOST_WATCH_H

#include "base/host_part.h"

#include <stdbool.h>

struct host_watch;
struct timing;

struct host_watch *host_watch_create(void); /* NULL: there is no thread to be had */
void host_watch_destroy(struct host_watch *w);
/* From here on it looks at t; NULL: at nothing, which is not looked at any more when this returns. */
void host_watch_look(struct host_watch *w, const struct timing *t);
/* Seconds of each part; of several threads, those of all of them. False: it has not looked often enough to tell. */
bool host_watch_seconds(struct host_watch *w, double seconds[HOST_PART_COUNT]);

#endif
