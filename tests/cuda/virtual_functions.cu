// C++ objects on the device: virtual functions, function pointers in tables, placement new, recursion with a deep stack.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -G
#include "check.h"
#include <new>

class animal {
public:
    __device__ animal(int l) : legs(l) {}
    __device__ virtual ~animal() {}
    __device__ virtual int noise(int times) const { return times; }
    __device__ virtual int walk() const = 0;

protected:
    int legs;
};
class bird : public animal {
public:
    __device__ bird() : animal(2) {}
    __device__ int noise(int times) const override { return times * 10; }
    __device__ int walk() const override { return legs * 3; }
};
class cat : public animal {
public:
    __device__ cat(int lives) : animal(4), lives(lives) {}
    __device__ ~cat() override { lives--; }
    __device__ int walk() const override { return legs * lives; }

private:
    int lives;
};

__global__ void zoo(int *out)
{
    alignas(cat) char place[sizeof(cat)];
    animal *a = threadIdx.x % 2 ? (animal *)new (place) bird() : (animal *)new (place) cat(threadIdx.x);
    out[threadIdx.x] = a->noise(threadIdx.x) * 1000 + a->walk();
    a->~animal();
}

typedef float (*operation)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float subtract(float a, float b) { return a - b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ operation operations[3] = {add, subtract, multiply};
__device__ operation chosen = multiply;
__global__ void apply(operation given, float *out)
{
    float x = (float)threadIdx.x;
    out[threadIdx.x] = operations[threadIdx.x % 3](x, 2.0f) + given(x, 1.0f) * 100;
}

__device__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}
__global__ void recursion(unsigned *out) { out[threadIdx.x] = ackermann(2, threadIdx.x % 4); }

struct base { virtual __host__ __device__ int f() const { return 1; } int data = 5; };
struct left : virtual base { int l = 7; };
struct right : virtual base { __host__ __device__ int f() const override { return r; } int r = 9; };
struct bottom : left, right {};
__global__ void diamond(int *out)
{
    bottom b;
    base *p = &b;
    *out = p->f() * 100 + p->data + b.l;
}

int main()
{
    int *out = zeros<int>(32);
    zoo<<<1, 32>>>(out);
    std::vector<int> got = download(out, 32);
    bool good = true;
    for (int i = 0; i < 32; i++)
        good = good && got[i] == (i % 2 ? i * 10000 + 6 : i * 1000 + 4 * i);
    check(good, "virtual functions, lanes of two kinds");
    operation host = nullptr;
    CUDA(cudaMemcpyFromSymbol(&host, chosen, sizeof host));
    float *reals = zeros<float>(32);
    apply<<<1, 32>>>(host, reals);
    std::vector<float> r = download(reals, 32);
    good = true;
    for (int i = 0; i < 32; i++)
        good = good && r[i] == (i % 3 == 0 ? i + 2 : i % 3 == 1 ? i - 2 : i * 2) + i * 100;
    check(good, "tables of function pointers, and one by way of the host");
    CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
    recursion<<<1, 32>>>((unsigned *)out);
    got = download(out, 32);
    good = true;
    for (int i = 0; i < 32; i++)
        good = good && got[i] == 2 * (i % 4) + 3;
    check(good, "recursion");
    diamond<<<1, 1>>>(out);
    check(download(out, 1)[0] == 912, "virtual base classes");
    return finish();
}
