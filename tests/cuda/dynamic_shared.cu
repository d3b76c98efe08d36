// Shared memory whose size the launch decides, beside static arrays, up to all that a block can have.
// nvcc: -arch=compute_75
#include "check.h"

__global__ void reverse(const int *in, int *out, int count)
{
    extern __shared__ int stage[];
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        stage[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[i] = stage[count - 1 - i];
}
// Several arrays in one piece, after a static one.
__global__ void parts(const int *in, double *out, int count)
{
    __shared__ int sum;
    extern __shared__ double doubles[];
    int *integers = (int *)&doubles[count];
    char *letters = (char *)&integers[count];
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    int i = threadIdx.x;
    doubles[i] = in[i] * 0.5;
    integers[i] = in[i];
    letters[i] = (char)(i % 26 + 'a');
    atomicAdd(&sum, in[i]);
    __syncthreads();
    out[i] = doubles[count - 1 - i] + integers[(i + 1) % count] + letters[(i + 7) % count] + sum;
}
__global__ void sizes(unsigned *out)
{
    unsigned dynamic, total;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic));
    asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(total));
    out[0] = dynamic;
    out[1] = total >= dynamic;
}

int main()
{
    int most = 0;
    CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    std::vector<int> host(most / 4);
    for (size_t i = 0; i < host.size(); i++)
        host[i] = (int)i * 7 % 1001;
    int *in = upload(host), *out = zeros<int>(host.size());
    bool good = true;
    for (int count : {32, 1000, 12000}) {
        reverse<<<1, 256, count * sizeof(int)>>>(in, out, count);
        CUDA(cudaGetLastError());
        std::vector<int> got = download(out, count);
        for (int i = 0; i < count; i++)
            good = good && got[i] == host[count - 1 - i];
    }
    check(good, "three sizes");
    CUDA(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    int count = most / 4;
    reverse<<<1, 256, most>>>(in, out, count);
    CUDA(cudaGetLastError());
    std::vector<int> got = download(out, count);
    good = true;
    for (int i = 0; i < count; i++)
        good = good && got[i] == host[count - 1 - i];
    check(good, "all there is");
    check(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1) == cudaErrorInvalidValue, "no more than that");
    cudaGetLastError();
    const int n = 128;
    double *doubles = zeros<double>(n);
    parts<<<1, n, n * (sizeof(double) + sizeof(int) + 1)>>>(in, doubles, n);
    std::vector<double> d = download(doubles, n);
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += host[i];
    good = true;
    for (int i = 0; i < n; i++)
        good = good && d[i] == host[n - 1 - i] * 0.5 + host[(i + 1) % n] + (i + 7) % n % 26 + 'a' + sum;
    check(good, "several arrays in one");
    unsigned *size = zeros<unsigned>(2);
    sizes<<<1, 1, 4096>>>(size);
    std::vector<unsigned> s = download(size, 2);
    check(s[0] == 4096 && s[1] == 1, "what the kernel is told of it");
    return finish();
}
