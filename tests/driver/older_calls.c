/* Do programs written for older versions of CUDA compile and run? */
#include "check.h"

int main(void)
{
    CUcontext older, newer;
    CUdevice device;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
#ifdef HEDDLE_CUDA_H
    OK(cuCtxCreate(&older, 0, device)); /* up to CUDA 12 */
#else
    OK(cuCtxCreate(&older, NULL, 0, device));
#endif
    OK(cuCtxCreate(&newer, NULL, 0, device)); /* CUDA 13 */
    TRUE(older != newer);
    CUresult (*by_address)(CUcontext *, CUctxCreateParams *, unsigned int, CUdevice) = cuCtxCreate;
    TRUE(by_address != NULL);
    OK(cuCtxDestroy(newer));
    OK(cuCtxDestroy(older));
    return done();
}
