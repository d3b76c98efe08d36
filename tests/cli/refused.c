/* refused FILE.ptx: launches kernel k of the file five times with blocks that are too large for any GPU, and once with
 * one that is not. Exit status 0 when CUDA refused the five and ran the one. */
#include "heddle/cuda.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr buffer;
    void *arguments[] = {&buffer};
    int refused = 0;
    if (argc != 2 || cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoad(&module, argv[1]) || cuModuleGetFunction(&kernel, module, "k") || cuMemAlloc(&buffer, 4096))
        return 2;
    for (int i = 0; i < 5; i++)
        refused += cuLaunchKernel(kernel, 1, 1, 1, 1025, 1, 1, 0, NULL, arguments, NULL) != CUDA_SUCCESS;
    CUresult r = cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
    r = r ? r : cuCtxSynchronize();
    printf("%d refused, then %d\n", refused, r);
    return refused != 5 || r != CUDA_SUCCESS;
}
