/* Hangs of memory requests: nothing moves in the machine any more, and warps still wait for what they have asked for.
 * The kernel is not to blame for that. */
#ifndef HEDDLE_GPU_STANDSTILL_H
#define HEDDLE_GPU_STANDSTILL_H

#include "gpu/timing.h"

/* Of a launch that cannot go on: is it memory requests that stand? */
bool standstill_of_memory(const struct timing *t);
/* What stands, and whose it is. */
void standstill_describe(const struct timing *t, const char *kernel, struct error *e);

#endif
