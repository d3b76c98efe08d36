/* What the runtime keeps for each thread: its device, the context that goes with it, and its last error. The context is
 * the device's primary one, made when first needed, unless the program made one of its own current by way of the driver
 * API. */
#include "cudart/registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_DEVICES = 64 };

struct thread {
    int device;
    bool chosen;    /* cudaSetDevice: the primary context is wanted, whatever is current */
    uint64_t epoch; /* at which the context was found */
    CUcontext context, primary;
    cudaError_t last;
};

struct process {
    pthread_mutex_t lock;
    atomic_uint_fast64_t epoch;
    atomic_bool exiting;
    bool watched;                    /* at_exit is registered */
    uint64_t retained[MOST_DEVICES]; /* epoch at which the primary context was retained */
};

static _Thread_local struct thread thread;
static struct process process = {.lock = PTHREAD_MUTEX_INITIALIZER, .epoch = 1};

int rt_device(void) { return thread.device; }
uint64_t rt_epoch(void) { return process.epoch; }
CUcontext rt_context(void) { return thread.context; }
bool rt_exiting(void) { return process.exiting; }

void rt_set_device(int device)
{
    thread.device = device;
    thread.chosen = true;
    thread.epoch = 0;
}

void rt_forget_modules(void)
{
    process.epoch++;
    thread.last = cudaSuccess;
}

static void at_exit(void) { process.exiting = true; }

/* One reference for the process, however many threads use the device. */
static CUresult retain_primary(int device, CUcontext *out)
{
    unsigned int flags;
    int active = 0;
    if (device < 0 || device >= MOST_DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&process.lock);
    if (!process.watched)
        process.watched = atexit(at_exit) == 0;
    CUresult r = cuDevicePrimaryCtxGetState(device, &flags, &active);
    r = r ?: cuDevicePrimaryCtxRetain(out, device);
    if (r == CUDA_SUCCESS && active && process.retained[device] == process.epoch)
        cuDevicePrimaryCtxRelease(device);
    if (r == CUDA_SUCCESS)
        process.retained[device] = process.epoch;
    pthread_mutex_unlock(&process.lock);
    return r;
}

static CUresult bind(void)
{
    uint64_t epoch = process.epoch;
    CUcontext current = NULL;
    CUresult r = cuInit(0) ?: cuCtxGetCurrent(&current);
    bool keep = current && !thread.chosen && current != thread.primary;
    if (r == CUDA_SUCCESS && !keep) {
        r = retain_primary(thread.device, &current) ?: cuCtxSetCurrent(current);
        if (r == CUDA_SUCCESS)
            thread.primary = current;
    }
    if (r != CUDA_SUCCESS)
        return r;
    thread.context = current;
    thread.chosen = false;
    thread.epoch = epoch;
    registry_lock();
    for (struct fat_binary *b = registry_first(); b;
         b = b->next) /* after a reset: those that had pointers have them again */
        if (b->managed_made)
            binary_managed(b);
    registry_unlock();
    return CUDA_SUCCESS;
}

int rt_enter(void)
{
    CUcontext current = NULL;
    if (thread.epoch != process.epoch || cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)
        return bind();
    thread.context = current;
    return cudaSuccess;
}

cudaError_t rt_leave(int result)
{
    if (result != cudaSuccess)
        thread.last = (cudaError_t)result;
    return (cudaError_t)result;
}

RTAPI cudaError_t cudaPeekAtLastError(void);
RTAPI cudaError_t cudaPeekAtLastError(void) { return thread.last; }

/* Errors after which nothing works in the context any more. */
static bool is_sticky(cudaError_t error)
{
    switch ((int)error) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK: return true;
    default: return false;
    }
}

/* An error is forgotten by asking for it, but not one that the context is still in. */
RTAPI cudaError_t cudaGetLastError(void);
RTAPI cudaError_t cudaGetLastError(void)
{
    cudaError_t last = thread.last;
    if (!is_sticky(last) || cuCtxSynchronize() != (CUresult)last)
        thread.last = cudaSuccess;
    return last;
}
