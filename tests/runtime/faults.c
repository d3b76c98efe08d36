/* Errors that stay: what a kernel did wrong is answered by every call until the device is reset, and cudaGetLastError
 * does not forget it. */
#include "fat_binary.h"

IMAGE_OF(image, KIND_PTX, PTX_HEAD PTX_FILL(100, ""));
WRAPPER_OF(wrapper, 1, &image, NULL);
static char fill;

int main(void)
{
    unsigned int *bad = (unsigned int *)16, *good = NULL, value = 1, got = 0;
    void *params[] = {&bad, &value}, *more = NULL;
    void **handle = __cudaRegisterFatBinary(&wrapper);
    register_function(handle, &fill, "fill");
    OK(cudaMalloc((void **)&good, 64 * sizeof *good));
    OK(cudaLaunchKernel(&fill, ONE, THREADS(4), params, 0, NULL));
    EXPECT(ILLEGAL_ADDRESS, cudaDeviceSynchronize());
    EXPECT(ILLEGAL_ADDRESS, cudaGetLastError());
    EXPECT(ILLEGAL_ADDRESS, cudaGetLastError());
    EXPECT(ILLEGAL_ADDRESS, cudaMalloc(&more, 16));
    params[0] = &good;
    EXPECT(ILLEGAL_ADDRESS, cudaLaunchKernel(&fill, ONE, THREADS(4), params, 0, NULL));
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
    OK(cudaMalloc((void **)&good, 64 * sizeof *good));
    OK(cudaLaunchKernel(&fill, ONE, THREADS(4), params, 0, NULL));
    OK(cudaMemcpy(&got, good, sizeof got, DEVICE_TO_HOST));
    TRUE(got == 101);
    return done();
}
