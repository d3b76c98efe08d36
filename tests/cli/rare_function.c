/* Calls a function of the driver API that exists in Heddle only to say that it is not supported. */
#include "heddle/cuda.h"

#include <stdio.h>

extern CUresult cuGreenCtxCreate(void *context, void *description, CUdevice device, unsigned int flags);

int main(void)
{
    CUresult r = cuInit(0);
    if (!r)
        r = cuGreenCtxCreate(NULL, NULL, 0, 0);
    printf("%d\n", r);
    return r != CUDA_ERROR_NOT_SUPPORTED;
}
