/* vectoradd: c = a + b, one thread an element. No loop; three streams, every access coalesced. */
#include "device.h"

extern "C" __global__ void vectoradd(const float *a, const float *b, float *c, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        c[i] = __fadd_rn(a[i], b[i]);
}
