/* One row per warp that ran with time, as a file (`heddle run --warps`): docs/warps.md describes its columns.
 *
 * Each core has a log (sm/warp_log.h). When a launch gives a core back, it takes the rows; when it is over they are
 * sorted by block and warp; and they are written when all launches that started before it are over too. So the file is
 * the same on any number of threads. */
#ifndef HEDDLE_GPU_WARPS_H
#define HEDDLE_GPU_WARPS_H

#include "base/error.h"
#include "sm/warp_log.h"

struct warps;
struct warps_launch;

/* A file whose name ends in .csv is plain text, any other is compressed. It is written as PATH.part until it is closed.
 * NULL: it cannot be made. */
struct warps *warps_open(const char *path, struct error *e);
/* A launch starts. The result is valid until warps_end. Launches are numbered in this order, without those that are not
 * reported. */
struct warps_launch *warps_launch(struct warps *w, const char *kernel, bool unreported);
/* Moves the log's rows to the launch, which began in cycle `start`. */
void warps_take(struct warps_launch *l, struct warp_log *log, uint64_t start);
void warps_end(struct warps *w, struct warps_launch *l);
/* Drops all rows so far: they are not reported, after all. */
void warps_forget(struct warps *w);
/* Completes the file with the rows there are. False: not all could be written. A second call does nothing. */
bool warps_close(struct warps *w, struct error *e);
void warps_destroy(struct warps *w); /* closes the file as well */

#endif
