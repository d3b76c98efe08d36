// Two files without device linking: each has its own module, with names that would clash if they were one.
// nvcc: -arch=compute_75
// parts: parts/units_second.cu
#include "check.h"

__constant__ int factor = 3;
static __device__ int counter;
static __global__ void work(int *out)
{
    atomicAdd(&counter, factor);
    if (threadIdx.x == 0)
        *out = 1;
}

int second_run(int *out);

int main()
{
    int *out = zeros<int>(1);
    work<<<1, 32>>>(out);
    check(download(out, 1)[0] == 1, "kernel of the first file");
    check(second_run(out) == 32 * 5, "variables of the second file");
    check(download(out, 1)[0] == 2, "kernel of the second file");
    work<<<1, 32>>>(out);
    int first = 0;
    CUDA(cudaMemcpyFromSymbol(&first, counter, sizeof first));
    check(first == 64 * 3, "variables of the first file");
    return finish();
}
