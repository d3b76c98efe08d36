/* regions FILE.ptx STEPS: kernel k of the file with a buffer, as the letters say: l launches it, e records an event, s
 * starts and p stops the profiler, c copies to the device. At the end prints, for each event but the first, the cycles
 * of the core's clock since the one before; exit status 1 when a time is not exactly that of a whole number of
 * cycles. */
#include "heddle/cuda.h"

#include <stdio.h>

enum { EVENTS = 32, BUFFER_BYTES = 4096 };

struct run {
    CUfunction kernel;
    CUdeviceptr buffer;
    CUevent events[EVENTS];
    int count;
};

static CUresult start(struct run *r, const char *file)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUresult e = cuInit(0);
    e = e ? e : cuDeviceGet(&device, 0);
    e = e ? e : cuCtxCreate(&context, NULL, 0, device);
    e = e ? e : cuModuleLoad(&module, file);
    e = e ? e : cuModuleGetFunction(&r->kernel, module, "k");
    e = e ? e : cuMemAlloc(&r->buffer, BUFFER_BYTES);
    return e ? e : cuMemsetD8(r->buffer, 0, BUFFER_BYTES);
}

static CUresult step(struct run *r, char letter)
{
    static char zeros[BUFFER_BYTES];
    void *arguments[] = {&r->buffer};
    switch (letter) {
    case 'l': return cuLaunchKernel(r->kernel, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
    case 's': return cuProfilerStart();
    case 'p': return cuProfilerStop();
    case 'c': return cuMemcpyHtoD(r->buffer, zeros, sizeof zeros);
    case 'e':
        if (r->count < EVENTS && cuEventCreate(&r->events[r->count], CU_EVENT_DEFAULT) == CUDA_SUCCESS)
            return cuEventRecord(r->events[r->count++], NULL);
        return CUDA_ERROR_OUT_OF_MEMORY;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static int print_times(const struct run *r)
{
    int bad = 0, khz = 0;
    cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0);
    for (int i = 1; i < r->count; i++) {
        float milliseconds = -1;
        if (cuEventElapsedTime(&milliseconds, r->events[i - 1], r->events[i]) != CUDA_SUCCESS)
            return 1;
        long long cycles = (long long)((double)milliseconds * khz + 0.5);
        bad |= (float)((double)cycles / khz) != milliseconds;
        printf("%lld\n", cycles);
    }
    return bad;
}

int main(int argc, char **argv)
{
    struct run r = {0};
    CUresult e = argc == 3 ? start(&r, argv[1]) : CUDA_ERROR_INVALID_VALUE;
    for (const char *at = argc == 3 ? argv[2] : ""; *at && e == CUDA_SUCCESS; at++)
        e = step(&r, *at);
    if (e != CUDA_SUCCESS)
        fprintf(stderr, "CUDA error %d\n", (int)e);
    return e != CUDA_SUCCESS || print_times(&r);
}
