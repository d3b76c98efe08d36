/* ptx_run FILE.ptx KERNEL [BUFFER_BYTES [THREADS [BLOCKS]]]: loads a PTX file, launches KERNEL(buffer), with one block
 * unless more are asked for, and prints the first word of the buffer. Exit status 1 when CUDA reports an error, as any
 * careful program's would be. */
#include "heddle/cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void check(CUresult r, const char *what)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorName(r, &name);
    fprintf(stderr, "ptx_run: %s: %s\n", what, name);
    exit(1);
}
#define CHECK(call) check((call), #call)

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr buffer;
    uint32_t word = 0;
    size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 0) : 1024;
    unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 0) : 32;
    unsigned blocks = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 0) : 1;
    if (argc < 3 || argc > 6) {
        fputs("usage: ptx_run FILE.ptx KERNEL [BUFFER_BYTES [THREADS [BLOCKS]]]\n", stderr);
        return 2;
    }
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuModuleGetFunction(&kernel, module, argv[2]));
    CHECK(cuMemAlloc(&buffer, bytes));
    CHECK(cuMemsetD8(buffer, 0, bytes));
    void *arguments[] = {&buffer};
    CHECK(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(&word, buffer, sizeof word));
    printf("%u\n", word);
    return 0;
}
