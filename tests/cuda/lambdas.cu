// Extended lambdas: on the device, on both sides, with captures, in generic algorithms.
// nvcc: -arch=compute_75 --extended-lambda
#include "check.h"

struct two { int a, b; };

template <typename F> __global__ void for_each(int count, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        f(i);
}
template <typename T, typename F> __global__ void fold(const T *in, int count, T start, F f, T *out)
{
    __shared__ T values[128];
    T sum = start;
    for (int i = threadIdx.x; i < count; i += 128)
        sum = f(sum, in[i]);
    values[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half; half /= 2) {
        if (threadIdx.x < half)
            values[threadIdx.x] = f(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = values[0];
}

int main()
{
    const int n = 1000;
    int *data = zeros<int>(n), scale = 3;
    two pair = {10, 20};
    for_each<<<4, 64>>>(n, [=] __device__(int i) { data[i] = i * scale + pair.a; });
    std::vector<int> got = download(data, n);
    bool good = true;
    for (int i = 0; i < n; i++)
        good = good && got[i] == i * 3 + 10;
    check(good, "a lambda with captures");
    auto both = [scale] __host__ __device__(int a, int b) { return a > b * scale ? a : b * scale; };
    int *out = zeros<int>(1);
    fold<<<1, 128>>>(data, n, -1, both, out);
    check(download(out, 1)[0] >= both(-1, 3007), "a lambda of both sides");
    auto add = [] __device__(int a, int b) { return a + b; };
    fold<<<1, 128>>>(data, n, 0, add, out);
    check(download(out, 1)[0] == 3 * n * (n - 1) / 2 + 10 * n, "a lambda that adds");
    auto twice = [=] __device__(int i) { auto inner = [&](int x) { return x * 2; }; data[i] = inner(data[i]); };
    for_each<<<4, 64>>>(n, twice);
    check(download(data, n)[999] == 2 * 3007, "a lambda in a lambda");
    return finish();
}
