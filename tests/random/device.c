/*
 * One kernel through the CUDA driver API: its module from PTX text, buffers, launch,
 * result. */
#include "random.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIMIT_SECONDS = 30 };

static int failed(CUresult result, const char *what, char *message, size_t size)
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return 0;
    cuGetErrorName(result, &name);
    snprintf(message, size, "%s: %s", what, name ? name : "unknown error");
    return 1;
}

int device_open(struct device *device)
{
    char message[256];
    if (failed(cuInit(0), "cuInit", message, sizeof message) ||
        failed(cuDeviceGet(&device->device, 0), "cuDeviceGet", message, sizeof message) ||
        failed(cuDevicePrimaryCtxRetain(&device->context, device->device), "cuDevicePrimaryCtxRetain", message,
               sizeof message) ||
        failed(cuCtxSetCurrent(device->context), "cuCtxSetCurrent", message, sizeof message)) {
        fprintf(stderr, "no usable device: %s\n", message);
        return -1;
    }
    return 0;
}

void device_close(struct device *device) { cuDevicePrimaryCtxRelease(device->device); }

static int load(CUmodule *module, const struct kernel *kernel, int optimisation, char *message, size_t size)
{
    char log[2048] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)(uintptr_t)optimisation};
    unsigned count = optimisation < 0 ? 2 : 3;
    if (!failed(cuModuleLoadDataEx(module, kernel->ptx.data, count, options, values), "cuModuleLoadDataEx", message,
                size))
        return 0;
    size_t used = strlen(message);
    snprintf(message + used, size - used, " %s", log);
    return -1;
}

/* Not for ever: a kernel that hangs must not take the recording with it. */
static CUresult wait_for_end(void)
{
    struct timespec pause = {0, 20000};
    time_t end = time(NULL) + LIMIT_SECONDS;
    CUresult result;
    while ((result = cuStreamQuery(NULL)) == CUDA_ERROR_NOT_READY) {
        if (time(NULL) > end)
            return CUDA_ERROR_LAUNCH_TIMEOUT;
        nanosleep(&pause, NULL);
    }
    return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}

static int launch(const struct kernel *kernel, CUfunction function, CUdeviceptr in, CUdeviceptr out, char *message,
                  size_t size)
{
    struct parameters p = kernel->parameters;
    p.in = in;
    p.out = out;
    void *arguments[] = {&p.in, &p.out, &p.word, &p.half, &p.byte, &p.wide, &p.single, &p.real, p.structure};
    const unsigned *grid = kernel->grid, *block = kernel->block;
    return failed(cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                 kernel->dynamic_shared_bytes, NULL, arguments, NULL),
                  "cuLaunchKernel", message, size) ||
           failed(wait_for_end(), "running", message, size);
}

static int run(const struct kernel *kernel, CUmodule module, CUdeviceptr in, CUdeviceptr out, unsigned char *host_out,
               char *message, size_t size)
{
    unsigned char *host_in = malloc(INPUT_BYTES);
    CUfunction function;
    kernel_fill_input(kernel, host_in);
    kernel_fill_output(kernel, host_out);
    int bad = failed(cuModuleGetFunction(&function, module, "kernel"), "cuModuleGetFunction", message, size) ||
              failed(cuMemcpyHtoD(in, host_in, INPUT_BYTES), "cuMemcpyHtoD", message, size) ||
              failed(cuMemcpyHtoD(out, host_out, kernel->out_bytes), "cuMemcpyHtoD", message, size) ||
              launch(kernel, function, in, out, message, size) ||
              failed(cuMemcpyDtoH(host_out, out, kernel->out_bytes), "cuMemcpyDtoH", message, size);
    free(host_in);
    return bad;
}

int device_run(struct device *device, const struct kernel *kernel, int optimisation, unsigned char *out, char *message,
               size_t size)
{
    CUmodule module;
    CUdeviceptr device_in = 0, device_out = 0;
    if (load(&module, kernel, optimisation, message, size))
        return -1;
    int bad = failed(cuMemAlloc(&device_in, INPUT_BYTES), "cuMemAlloc", message, size) ||
              failed(cuMemAlloc(&device_out, kernel->out_bytes), "cuMemAlloc", message, size) ||
              run(kernel, module, device_in, device_out, out, message, size);
    if (bad) {
        /* A fault poisons the context: the next kernel gets a fresh one. */
        cuDevicePrimaryCtxReset(device->device);
        cuDevicePrimaryCtxRetain(&device->context, device->device);
        cuCtxSetCurrent(device->context);
        return -1;
    }
    cuMemFree(device_in);
    cuMemFree(device_out);
    cuModuleUnload(module);
    return 0;
}
