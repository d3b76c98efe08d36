// Second file of separate.cu.
#include "separate.h"

__constant__ int table[4] = {100, 200, 300, 400};
static __device__ int calls;
__device__ int twice(int x) { return x + x; }
__device__ void bump(int amount)
{
    calls++;
    atomicAdd(&shared_counter, amount);
}

__global__ void triple(int *out) { *out = shared_counter * 3; }
int other_kernel(int *out)
{
    int value = -1;
    triple<<<1, 1>>>(out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}
