/* What a kernel asked for that is done when it has ended: launches, copies and fills. Inside gpu/ only. */
#ifndef HEDDLE_GPU_DEVICE_WORK_H
#define HEDDLE_GPU_DEVICE_WORK_H

#include "gpu/gpu.h"

/* Does all that is in the queue of a kernel that has ended, in order; a launch ends, with all that it launches itself,
 * before the next piece of work. Frees the queue. functional: the parent ran without time, and so do its launches. */
bool device_work_run(struct gpu *g, const struct exec_launch *parent, bool functional, struct device_queue *q,
                     struct error *e);

#endif
