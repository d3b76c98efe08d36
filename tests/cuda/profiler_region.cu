// The region of interest: launches outside it run as well, and are left out of the results only.
// nvcc: -arch=compute_75
#include "check.h"

#include <cuda_profiler_api.h>

__global__ void warm_up(int *x) { atomicAdd(x, 1); }
__global__ void measured(int *x) { atomicAdd(x, 100); }

int main()
{
    int *x = zeros<int>(1);
    warm_up<<<2, 32>>>(x);
    CUDA(cudaProfilerStart());
    measured<<<1, 32>>>(x);
    measured<<<2, 32>>>(x);
    CUDA(cudaProfilerStop());
    warm_up<<<1, 32>>>(x);
    CUDA(cudaProfilerStart());
    CUDA(cudaProfilerStart());
    measured<<<1, 64>>>(x);
    CUDA(cudaProfilerStop());
    CUDA(cudaProfilerStop());
    warm_up<<<1, 1>>>(x);
    CUDA(cudaDeviceSynchronize());
    check(download(x, 1)[0] == 64 + 32 + 1 + 100 * (32 + 64 + 64), "kernels inside and outside of the region run");
    return finish();
}
