/* Host seconds by part: while launches with time run, a thread looks every few milliseconds at what is being simulated
 * (base/host_part.h). What it counts are shares; they become seconds by the time that launches took. */
#ifndef HEDDLE_GPU_HOST_WATCH_H
#define HEDDLE_GPU_HOST_WATCH_H

#include "base/host_part.h"

#include <stdbool.h>

struct host_watch;
struct timing;

struct host_watch *host_watch_create(void); /* NULL: a thread could not be made */
void host_watch_destroy(struct host_watch *w);
/* From here on the thread watches t. NULL: it watches nothing, and when this returns it no longer looks at what it
 * watched before. */
void host_watch_look(struct host_watch *w, const struct timing *t);
/* Seconds of each part, summed over all threads that simulate. False: there were too few looks to tell. */
bool host_watch_seconds(struct host_watch *w, double seconds[HOST_PART_COUNT]);

#endif
