// Ways to launch a kernel, what becomes of its arguments, and launches that must be refused without harm.
// nvcc:
// nvcc: -arch=compute_75
#include "check.h"

struct small { char letter; short number; };
struct large { double values[32]; int tag; };

__global__ void indices(unsigned *out)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
__global__ void mixed(double *out, char a, small b, int c, large d, short e, const float *f, bool g, long long h)
{
    out[0] = a + b.letter + b.number;
    out[1] = c + d.values[31] + d.tag;
    out[2] = e + *f + (g ? 0.5 : 0.0);
    out[3] = (double)h;
}
__global__ void add(int *out, int amount) { atomicAdd(out, amount); }

static bool numbered(const unsigned *device, unsigned blocks, unsigned threads)
{
    std::vector<unsigned> host = download(device, blocks * threads);
    for (unsigned b = 0; b < blocks; b++)
        for (unsigned t = 0; t < threads; t++)
            if (host[b * threads + t] != b * 1000 + t)
                return false;
    return true;
}

static void shapes()
{
    unsigned *out = zeros<unsigned>(60 * 512);
    indices<<<7, 33>>>(out);
    CUDA(cudaGetLastError());
    check(numbered(out, 7, 33), "one dimension");
    indices<<<dim3(3, 4, 5), dim3(8, 4, 2)>>>(out);
    check(numbered(out, 60, 64), "three dimensions");
    CUDA(cudaMemset(out, 0, 60 * 512 * sizeof *out));
    dim3 grid(2, 3), block(16, 4);
    void *arguments[] = {&out};
    CUDA(cudaLaunchKernel((const void *)indices, grid, block, arguments, 0, nullptr));
    check(numbered(out, 6, 64), "cudaLaunchKernel");
    CUDA(cudaMemset(out, 0, 60 * 512 * sizeof *out));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(5, 2);
    config.blockDim = dim3(40);
    CUDA(cudaLaunchKernelExC(&config, (const void *)indices, arguments));
    check(numbered(out, 10, 40), "cudaLaunchKernelExC");
    CUDA(cudaMemset(out, 0, 60 * 512 * sizeof *out));
    CUDA(cudaLaunchKernelEx(&config, indices, out));
    check(numbered(out, 10, 40), "cudaLaunchKernelEx");
    CUDA(cudaFree(out));
}

static void arguments()
{
    double *out = zeros<double>(4);
    std::vector<float> f(1, 0.25f);
    float *device_f = upload(f);
    large d = {};
    d.values[31] = 3.5;
    d.tag = 7;
    small b = {3, -40};
    mixed<<<1, 1>>>(out, 'a', b, 100000, d, -5, device_f, true, 1ll << 40);
    std::vector<double> host = download(out, 4);
    check(host[0] == 'a' + 3 - 40 && host[1] == 100010.5 && host[2] == -4.25 && host[3] == 1099511627776.0, "arguments of many kinds");
    CUDA(cudaFree(out));
    CUDA(cudaFree(device_f));
}

static void refusals()
{
    int *out = zeros<int>(1);
    add<<<1, 4096>>>(out, 1);
    check_error(cudaPeekAtLastError(), bad_shape, "too many threads, peeked at");
    check_error(cudaGetLastError(), bad_shape, "too many threads");
    check_error(cudaGetLastError(), cudaSuccess, "then forgotten");
    add<<<0, 32>>>(out, 1);
    check_error(cudaGetLastError(), bad_shape, "no blocks");
    add<<<dim3(1, 70000), 32>>>(out, 1);
    check_error(cudaGetLastError(), bad_shape, "too many rows of blocks");
    add<<<1, 32, 1 << 28>>>(out, 1);
    check(cudaGetLastError() != cudaSuccess, "too much shared memory");
    int amount = 1;
    void *list[] = {&out, &amount};
    check_error(cudaLaunchKernel((const void *)&failures, dim3(1), dim3(1), list, 0, nullptr), no_kernel, "no kernel at that address");
    cudaFunction_t function;
    check_error(cudaGetFuncBySymbol(&function, (const void *)&failures), cudaErrorInvalidDeviceFunction, "nor one by that symbol");
    cudaGetLastError();
    add<<<2, 32>>>(out, 3);
    CUDA(cudaDeviceSynchronize());
    check(download(out, 1)[0] == 192, "a good launch after all that");
    CUDA(cudaFree(out));
}

int main()
{
    shapes();
    arguments();
    refusals();
    return finish();
}
