// assert on the device: one that holds, then one that does not, whose error stays.
// nvcc: -arch=compute_75
#include "check.h"
#include <cassert>

__global__ void positive(const int *data) { assert(data[threadIdx.x] > 0); }

int main()
{
    std::vector<int> host(64, 1);
    int *data = upload(host);
    positive<<<1, 64>>>(data);
    check_error(cudaDeviceSynchronize(), cudaSuccess, "an assertion that holds");
    host[37] = -1;
    CUDA(cudaMemcpy(data, host.data(), 64 * sizeof(int), cudaMemcpyHostToDevice));
    positive<<<1, 64>>>(data);
    check_error(cudaDeviceSynchronize(), cudaErrorAssert, "an assertion that does not hold");
    cudaGetLastError();
    check_error(cudaMemcpy(data, host.data(), 4, cudaMemcpyHostToDevice), cudaErrorAssert, "the error stays");
    return finish();
}
