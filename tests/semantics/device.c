/*
 * The few driver API calls the vectors need: one device, its primary context, two buffers that grow, modules from PTX
 *
 * text. */
#include "vectors.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int report(CUresult result, const char *what, char *message, size_t size)
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return 0;
    cuGetErrorName(result, &name);
    snprintf(message, size, "%s: %s", what, name ? name : "unknown error");
    return -1;
}

static int open_context(struct device *device, char *message, size_t size)
{
    if (report(cuDevicePrimaryCtxRetain(&device->context, device->device), "cuDevicePrimaryCtxRetain", message, size))
        return -1;
    return report(cuCtxSetCurrent(device->context), "cuCtxSetCurrent", message, size);
}

int device_open(struct device *device)
{
    char message[256];
    memset(device, 0, sizeof *device);
    if (report(cuInit(0), "cuInit", message, sizeof message) ||
        report(cuDeviceGet(&device->device, 0), "cuDeviceGet", message, sizeof message) ||
        open_context(device, message, sizeof message)) {
        fprintf(stderr, "no usable device: %s\n", message);
        return -1;
    }
    return 0;
}

void device_close(struct device *device)
{
    if (device->in)
        cuMemFree(device->in);
    if (device->out)
        cuMemFree(device->out);
    cuDevicePrimaryCtxRelease(device->device);
}

/* An illegal access poisons the context: later kernels must not suffer for it. */
static void renew(struct device *device)
{
    char message[256];
    cuDevicePrimaryCtxReset(device->device);
    device->in = device->out = 0;
    device->in_bytes = device->out_bytes = 0;
    if (open_context(device, message, sizeof message))
        fprintf(stderr, "the device could not be opened again: %s\n", message);
}

int device_load(CUmodule *module, const char *ptx, char *message, size_t message_size)
{
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUresult result = cuModuleLoadDataEx(module, ptx, 2, options, values);
    if (report(result, "cuModuleLoadDataEx", message, message_size) == 0)
        return 0;
    size_t used = strlen(message);
    snprintf(message + used, message_size - used, "%s%s", log[0] ? ": " : "", log);
    return -1;
}

static int buffer(CUdeviceptr *pointer, size_t *have, size_t wanted, char *message, size_t size)
{
    if (wanted <= *have)
        return 0;
    if (*pointer)
        cuMemFree(*pointer);
    *pointer = 0;
    *have = 0;
    if (report(cuMemAlloc(pointer, wanted), "cuMemAlloc", message, size))
        return -1;
    *have = wanted;
    return 0;
}

/* Waits for the launch, but not for ever: a hang must not take the recording with it. */
static CUresult wait_for_end(struct device *device)
{
    struct timespec pause = {0, 20000};
    time_t end = time(NULL) + LIMIT_SECONDS;
    CUresult result;
    while ((result = cuStreamQuery(NULL)) == CUDA_ERROR_NOT_READY) {
        if (time(NULL) > end) {
            device->hung = 1;
            return CUDA_ERROR_LAUNCH_TIMEOUT;
        }
        nanosleep(&pause, NULL);
    }
    return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}

int device_run(struct device *device, CUmodule module, const char *name, unsigned grid, unsigned block,
               unsigned shared_bytes, const void *in, size_t in_bytes, void *out, size_t out_bytes, char *message,
               size_t message_size)
{
    CUfunction function;
    if (buffer(&device->in, &device->in_bytes, in_bytes ? in_bytes : 8, message, message_size) ||
        buffer(&device->out, &device->out_bytes, out_bytes, message, message_size))
        return -1;
    void *parameters[] = {&device->in, &device->out};
    if (report(cuModuleGetFunction(&function, module, name), "cuModuleGetFunction", message, message_size) ||
        (in_bytes && report(cuMemcpyHtoD(device->in, in, in_bytes), "cuMemcpyHtoD", message, message_size)) ||
        report(cuMemsetD8(device->out, 0, out_bytes), "cuMemsetD8", message, message_size) ||
        report(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared_bytes, NULL, parameters, NULL),
               "cuLaunchKernel", message, message_size) ||
        report(wait_for_end(device), "running", message, message_size) ||
        report(cuMemcpyDtoH(out, device->out, out_bytes), "cuMemcpyDtoH", message, message_size)) {
        if (!device->hung)
            renew(device);
        return -1;
    }
    return 0;
}
