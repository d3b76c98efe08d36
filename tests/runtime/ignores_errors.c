/* Launches a kernel that cannot run here, looks at no error, and ends as if all were well. */
#include "fat_binary.h"

IMAGE_OF(image, KIND_PTX,
         ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry bad() { wgmma.fence.sync.aligned; ret; }\n");
WRAPPER_OF(wrapper, 1, &image, NULL);
static char bad;

int main(void)
{
    register_function(__cudaRegisterFatBinary(&wrapper), &bad, "bad");
    cudaLaunchKernel(&bad, ONE, ONE, NULL, 0, NULL);
    cudaDeviceSynchronize();
    return 0;
}
