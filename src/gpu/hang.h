/* Kernels that will never end. */
#ifndef HEDDLE_GPU_HANG_H
#define HEDDLE_GPU_HANG_H

#include "exec/exec.h"

/* Puts into *out, which is none on entry, what a warp has issued that has not taken effect yet. False: it is more than
 * *out can say. */
typedef bool hang_pending(void *context, const struct exec_warp *w, struct exec_pending *out);

/* True when there are warps that have not ended, and none of them can change anything any more: each waits at a
 * barrier, or spins. blocks: of all slots of the machine, NULL where none ever ran. more_to_come: as soon as a slot is
 * free, another block takes it; one whose warps have ended will be. pending NULL: instructions take effect when they
 * are issued. Nothing is changed by asking. */
bool hang_is_certain(struct exec_cta *const *blocks, uint32_t count, bool more_to_come, hang_pending *pending,
                     void *context);

#endif
