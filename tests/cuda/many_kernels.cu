// 200 kernels in one program, of which a few are used: a program pays for what it launches.
// nvcc: -arch=compute_75
#include "check.h"
#include <utility>

template <int N> __global__ void numbered(int *out, int count)
{
    __shared__ int values[128];
    int i = threadIdx.x;
    values[i] = i < count ? out[i] : 0;
    __syncthreads();
    int sum = 0;
    for (int step = 1; step < 128; step *= 2)
        sum += values[(i + step * N) % 128] * (N % 7 + 1) - (N ^ step);
    if (i < count)
        out[i] = sum;
}

typedef void (*kernel)(int *, int);
template <int... N> static std::vector<kernel> all(std::integer_sequence<int, N...>) { return {numbered<N>...}; }

static bool right(int number, kernel k)
{
    std::vector<int> host(128), wanted(128);
    for (int i = 0; i < 128; i++)
        host[i] = i * i % 101;
    int *device = upload(host);
    k<<<1, 128>>>(device, 128);
    for (int i = 0; i < 128; i++)
        for (int step = 1; step < 128; step *= 2)
            wanted[i] += host[(i + step * number) % 128] * (number % 7 + 1) - (number ^ step);
    std::vector<int> got = download(device, 128);
    CUDA(cudaFree(device));
    return got == wanted;
}

int main(int argc, char **)
{
    std::vector<kernel> kernels = all(std::make_integer_sequence<int, 200>());
    check(right(0, kernels[0]), "the first");
    check(right(111, kernels[111]), "one in the middle");
    check(right(199, kernels[199]), "the last");
    bool good = true;
    if (argc > 1) // all of them, when asked
        for (int i = 0; i < 200; i++)
            good = good && right(i, kernels[i]);
    check(good, "and the others");
    return finish();
}
