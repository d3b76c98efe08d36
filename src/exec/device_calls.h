/* What the functions of the device runtime share (exec/device_calls.c, device_launch.c): arguments and results lie in
 * the caller's .param variables, which are local memory. */
#ifndef HEDDLE_EXEC_DEVICE_CALLS_H
#define HEDDLE_EXEC_DEVICE_CALLS_H

#include "exec/control.h"

#include <string.h>

static inline const uint8_t *device_argument(const struct exec_warp *w, uint32_t lane, uint32_t address)
{
    return w->local + lane * exec_local_stride(w->launch) + address;
}

static inline uint64_t device_argument64(const struct exec_warp *w, uint32_t lane, uint32_t address)
{
    uint64_t value;
    memcpy(&value, device_argument(w, lane, address), 8);
    return value;
}

/* result UINT32_MAX: the caller takes none. */
static inline void device_result(struct exec_warp *w, uint32_t lane, uint32_t result, const void *value, uint32_t bytes)
{
    if (result != UINT32_MAX)
        memcpy(w->local + lane * exec_local_stride(w->launch) + result, value, bytes);
}

uint64_t device_malloc(struct exec_launch *l, uint64_t bytes); /* 0: none left */
device_call_fn device_free;

/* NULL: not one of them. These take the place of NVIDIA's own definitions, which a program may have linked. */
const struct device_call *device_launch_call_find(const char *name);

#endif
