// A kernel that reads from nowhere: the error stays until the device is reset, as other calls say too.
// nvcc: -arch=compute_75 -lineinfo
// exit: 5
#include "check.h"

__global__ void good(int *out) { *out = 1; }
__global__ void bad(int *out, const int *nowhere) { *out = nowhere[threadIdx.x]; }

int main()
{
    int *out = zeros<int>(1);
    good<<<1, 1>>>(out);
    check_error(cudaDeviceSynchronize(), cudaSuccess, "a good kernel");
    cudaMemset(nullptr, 0, 4);
    check(cudaGetLastError() != cudaSuccess, "a bad argument is an error");
    check_error(cudaDeviceSynchronize(), cudaSuccess, "which does not stay");
    bad<<<1, 32>>>(out, (const int *)0x10);
    check_error(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "a bad address");
    check_error(cudaGetLastError(), cudaErrorIllegalAddress, "is the last error");
    int value = 0;
    check_error(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress, "and stays for copies");
    good<<<1, 1>>>(out);
    check_error(cudaGetLastError(), cudaErrorIllegalAddress, "and for launches");
    check_error(cudaMalloc(&out, 4), cudaErrorIllegalAddress, "and for memory");
    check(cudaGetErrorString(cudaErrorIllegalAddress)[0] != 0, "it has a text");
    return finish();
}
