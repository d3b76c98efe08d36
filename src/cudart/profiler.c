/* The region of interest of a program: see docs/results.md. */
#include "cudart/runtime.h"

RTAPI cudaError_t cudaProfilerStart(void) { return rt_leave(rt_enter() ?: (int)cuProfilerStart()); }
RTAPI cudaError_t cudaProfilerStop(void) { return rt_leave(rt_enter() ?: (int)cuProfilerStop()); }

/* Before CUDA 13: what to collect, and where to. Results go where --stats says. */
RTAPI cudaError_t cudaProfilerInitialize(const char *config, const char *output, int format)
{
    (void)config, (void)output, (void)format;
    return rt_leave(rt_enter());
}
