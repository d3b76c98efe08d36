/* launch_twice FIRST.ptx SECOND.ptx: kernel k of each file, with two warps and a context of its own, whatever becomes
 * of the first. Prints what CUDA said of each launch and the first word that the second one wrote. Exit status 0 when
 * the second went well. */
#include "heddle/cuda.h"

#include <stdint.h>
#include <stdio.h>

static CUresult launch(const char *file, uint32_t *word)
{
    CUdevice device;
    CUcontext context = NULL;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr buffer;
    void *arguments[] = {&buffer};
    CUresult r = cuDeviceGet(&device, 0);
    r = r ? r : cuCtxCreate(&context, 0, device);
    r = r ? r : cuModuleLoad(&module, file);
    r = r ? r : cuModuleGetFunction(&kernel, module, "k");
    r = r ? r : cuMemAlloc(&buffer, 4096);
    r = r ? r : cuMemsetD8(buffer, 0, 4096);
    r = r ? r : cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
    r = r ? r : cuCtxSynchronize();
    r = r ? r : cuMemcpyDtoH(word, buffer, sizeof *word);
    cuCtxDestroy(context);
    return r;
}

static const char *name_of(CUresult r)
{
    const char *name = "?";
    cuGetErrorName(r, &name);
    return name;
}

int main(int argc, char **argv)
{
    uint32_t word = 0;
    if (argc != 3) {
        fputs("usage: launch_twice FIRST.ptx SECOND.ptx\n", stderr);
        return 2;
    }
    if (cuInit(0) != CUDA_SUCCESS)
        return 1;
    printf("first: %s\n", name_of(launch(argv[1], &word)));
    CUresult second = launch(argv[2], &word);
    printf("second: %s, %u\n", name_of(second), word);
    return second != CUDA_SUCCESS;
}
