/* A launch past --launch-limit: an error that does not stay. The runtime tells it once, when the program waits, and
 * cudaGetLastError forgets it; the next launch runs. */
#include "fat_binary.h"

#include <stdlib.h>

#define PTX_ENDLESS                                                                                 \
    ".visible .entry endless(.param .u64 p)\n{ .reg .u64 %d; .reg .u32 %n; ld.param.u64 %d, [p];\n" \
    "AGAIN: ld.global.u32 %n, [%d]; add.u32 %n, %n, 1; st.global.u32 [%d], %n; bra AGAIN; }\n"
IMAGE_OF(image, KIND_PTX, PTX_HEAD PTX_FILL(100, "") PTX_ENDLESS);
WRAPPER_OF(wrapper, 1, &image, NULL);
static char fill, endless;

int main(void)
{
    setenv("HEDDLE_OPTIONS", "--functional --launch-limit 100k", 1);
    unsigned int *data = NULL, value = 1, got = 0;
    void *params[] = {&data, &value};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    register_function(handle, &fill, "fill");
    register_function(handle, &endless, "endless");
    OK(cudaMalloc((void **)&data, 64 * sizeof *data));
    for (int i = 0; i < 2; i++) {
        OK(cudaLaunchKernel(&endless, ONE, THREADS(4), params, 0, NULL));
        OK(cudaGetLastError());
        EXPECT(LAUNCH_TIMEOUT, cudaDeviceSynchronize());
        EXPECT(LAUNCH_TIMEOUT, cudaGetLastError());
        OK(cudaGetLastError());
        OK(cudaDeviceSynchronize());
        OK(cudaLaunchKernel(&fill, ONE, THREADS(4), params, 0, NULL));
        OK(cudaMemcpy(&got, data, sizeof got, DEVICE_TO_HOST));
        TRUE(got == 101);
    }
    OK(cudaLaunchKernel(&endless, ONE, THREADS(4), params, 0, NULL));
    EXPECT(LAUNCH_TIMEOUT, cudaMemcpy(&got, data, sizeof got, DEVICE_TO_HOST));
    return done();
}
