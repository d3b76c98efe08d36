/* One row per warp that ran with time, as a file (`heddle run --warps`): docs/warps.md describes its columns.
 *
 * Each core has a log (sm/warp_log.h). When a launch gives a core back, the rows are the launch's; when the launch is
 * over they are sorted by block and warp, and written when all launches that started before it are. So the file is the
 * same on any number of threads. */
#ifndef HEDDLE_GPU_WARPS_H
#define HEDDLE_GPU_WARPS_H

#include "base/error.h"
#include "sm/warp_log.h"

struct warps;
struct warps_launch;

/* A path that ends in .csv is written as it is, any other compressed. The file is written beside it, as PATH.part,
 * until it is closed. NULL: it cannot be made. */
struct warps *warps_open(const char *path, struct error *e);
/* A launch starts; it stays valid until it is ended. Launches are numbered in this order, without those that are not
 * reported. */
struct warps_launch *warps_launch(struct warps *w, const char *kernel, bool unreported);
/* The log's rows are the launch's, which began in cycle `start`; the log is empty. */
void warps_take(struct warps_launch *l, struct warp_log *log, uint64_t start);
void warps_end(struct warps *w, struct warps_launch *l);
/* Nothing up to now is reported, after all. */
void warps_forget(struct warps *w);
/* Completes the file, with what there is. False: it could not all be written. Closing again does nothing. */
bool warps_close(struct warps *w, struct error *e);
void warps_destroy(struct warps *w); /* closes as well */

#endif
