// Many instances of one kernel template, kernels in namespaces and classes, static ones, and the names that come of it.
// nvcc: -arch=compute_75
#include "check.h"

template <typename T, int Factor> __global__ void scale(T *data, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] = data[i] * T(Factor) + T(1);
}

template <typename T> struct plus { __host__ __device__ T operator()(T a, T b) const { return a + b; } };
template <typename T> struct larger { __host__ __device__ T operator()(T a, T b) const { return a > b ? a : b; } };
template <typename T, template <typename> class Operation> __global__ void fold(const T *in, T *out, int count)
{
    T sum = in[0];
    for (int i = 1; i < count; i++)
        sum = Operation<T>()(sum, in[i]);
    *out = sum;
}

namespace outer {
namespace inner {
__global__ void name(int *out) { *out = 11; }
} // namespace inner
static __global__ void name(int *out) { *out = 22; }
} // namespace outer
namespace {
__global__ void name(int *out) { *out = 33; }
} // namespace

template <int... Numbers> __global__ void pack(int *out)
{
    int list[] = {Numbers...};
    int sum = 0;
    for (int n : list)
        sum += n;
    *out = sum * (int)sizeof...(Numbers);
}

template <unsigned N> struct factorial { enum { value = N * factorial<N - 1>::value }; };
template <> struct factorial<0> { enum { value = 1 }; };
__global__ void constants(int *out)
{
    constexpr int squares = [] { int s = 0; for (int i = 0; i < 10; i++) s += i * i; return s; }();
    if constexpr (squares == 285)
        *out = factorial<6>::value + squares;
}

template <typename T, int Factor> static void test_scale(const char *what)
{
    std::vector<T> host(1000);
    for (int i = 0; i < 1000; i++)
        host[i] = T(i % 50);
    T *device = upload(host);
    scale<T, Factor><<<3, 64>>>(device, 1000);
    std::vector<T> got = download(device, 1000);
    bool good = true;
    for (int i = 0; i < 1000; i++)
        good = good && got[i] == T(host[i] * T(Factor) + T(1));
    check(good, what);
    CUDA(cudaFree(device));
}

template <typename Kernel> static int value_of(Kernel kernel)
{
    int *out = zeros<int>(1);
    kernel<<<1, 1>>>(out);
    int value = download(out, 1)[0];
    CUDA(cudaFree(out));
    return value;
}

int main()
{
    test_scale<int, 3>("int");
    test_scale<int, 5>("int, another number");
    test_scale<float, 2>("float");
    test_scale<double, -1>("double");
    test_scale<unsigned char, 7>("unsigned char");
    test_scale<long long, 1000000007>("long long");
    std::vector<float> numbers = {3, 9, -2, 4};
    float *device = upload(numbers), *out = zeros<float>(1);
    fold<float, plus><<<1, 1>>>(device, out, 4);
    check(download(out, 1)[0] == 14, "template template: sum");
    fold<float, larger><<<1, 1>>>(device, out, 4);
    check(download(out, 1)[0] == 9, "template template: maximum");
    check(value_of(outer::inner::name) == 11, "nested namespace");
    check(value_of(outer::name) == 22, "static in a namespace");
    check(value_of(::name) == 33, "anonymous namespace");
    check(value_of(pack<1, 2, 3, 4>) == 40, "parameter pack");
    check(value_of(constants) == 1005, "constant expressions");
    return finish();
}
