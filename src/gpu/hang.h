/* Kernels that will never end. */
#ifndef HEDDLE_GPU_HANG_H
#define HEDDLE_GPU_HANG_H

#include "exec/exec.h"

/* What a warp has issued that is yet to take effect; *out is none on entry. False: more than can be told here. */
typedef bool hang_pending(void *context, const struct exec_warp *w, struct exec_pending *out);

/* True when no warp of the blocks can change anything any more: each of them has ended, waits at a barrier, or spins. blocks: all that are resident, and any that have ended;
 * entries may be NULL. The caller sees to it that no other block could be started now. pending NULL: instructions take effect when they are issued.
 * Nothing is changed by asking. */
bool hang_is_certain(struct exec_cta *const *blocks, uint32_t count, hang_pending *pending, void *context);

#endif
