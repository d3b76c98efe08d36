/* What the runtime keeps for each thread: its device and its last error. */
#include "cudart/runtime.h"

struct thread { int device; cudaError_t last; };
static _Thread_local struct thread thread;

int rt_device(void) { return thread.device; }
void rt_set_device(int device) { thread.device = device; }

cudaError_t rt_leave(int result)
{
    if (result != cudaSuccess)
        thread.last = (cudaError_t)result;
    return (cudaError_t)result;
}
