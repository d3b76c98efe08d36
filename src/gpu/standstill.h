/* Hangs of memory requests: nothing moves in the machine any more, and warps still wait for answers. The machine is to
 * blame, not the kernel. */
#ifndef HEDDLE_GPU_STANDSTILL_H
#define HEDDLE_GPU_STANDSTILL_H

#include "gpu/timing.h"

/* Is it memory requests that keep a launch from going on? */
bool standstill_of_memory(const struct timing *t);
/* Adds to the error which requests stand where. */
void standstill_describe(const struct timing *t, const char *kernel, struct error *e);

#endif
