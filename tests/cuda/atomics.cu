// Atomic operations of all kinds on global and shared memory, and loops built on compare-and-swap.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_90
#include "check.h"
#include <cuda_fp16.h>

struct results {
    int sum, difference, least, most, both, either, exclusive, exchanged;
    unsigned up, down;
    unsigned long long wide, wide_most;
    long long signed_least;
    float real;
    double real64, product;
    __half2 halves;
    int blocks;
};
__device__ double multiply(double *place, double factor)
{
    unsigned long long *bits = (unsigned long long *)place, old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(__longlong_as_double(seen) * factor));
    } while (seen != old);
    return __longlong_as_double(old);
}
__global__ void all(results *r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&r->sum, i);
    atomicSub(&r->difference, 2);
    atomicMin(&r->least, 1000 - i);
    atomicMax(&r->most, i * 3);
    atomicAnd(&r->both, ~(1 << (i % 16)));
    atomicOr(&r->either, 1 << (i % 20));
    atomicXor(&r->exclusive, 1 << (i % 7));
    atomicExch(&r->exchanged, 99);
    atomicInc(&r->up, 9);
    atomicDec(&r->down, 9);
    atomicAdd(&r->wide, 1ull << 33);
    atomicMax(&r->wide_most, (unsigned long long)i << 35);
    atomicMin(&r->signed_least, -(long long)i << 35);
    atomicAdd(&r->real, 0.5f);
    atomicAdd(&r->real64, 0.25);
    multiply(&r->product, i % 2 ? 2.0 : 0.5);
    atomicAdd(&r->halves, __floats2half2_rn(1.0f, 0.5f));
    if (threadIdx.x == 0)
        atomicAdd_system(&r->blocks, 1);
}
__global__ void histogram(const unsigned char *data, int count, unsigned *bins)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd_block(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}
__global__ void tickets(int *next, int *taken) { taken[atomicAdd(next, 1)]++; }

int main()
{
    results start = {};
    start.least = 5000;
    start.both = -1;
    start.product = 1;
    start.signed_least = 1;
    std::vector<results> one(1, start);
    results *device = upload(one);
    const int n = 512;
    all<<<4, 128>>>(device);
    results r = download(device, 1)[0];
    check(r.sum == n * (n - 1) / 2 && r.difference == -2 * n, "add and subtract");
    check(r.least == 1000 - (n - 1) && r.most == (n - 1) * 3, "minimum and maximum");
    check(r.both == ~0xffff && r.either == 0xfffff && r.exchanged == 99, "and, or, exchange");
    int exclusive = 0;
    unsigned up = 0, down = 0;
    for (int i = 0; i < n; i++) {
        exclusive ^= 1 << (i % 7);
        up = up >= 9 ? 0 : up + 1;
        down = down == 0 || down > 9 ? 9 : down - 1;
    }
    check(r.exclusive == exclusive && r.up == up && r.down == down, "exclusive or, increment, decrement");
    check(r.wide == (unsigned long long)n << 33 && r.wide_most == (unsigned long long)(n - 1) << 35 && r.signed_least == -(long long)(n - 1) << 35, "64 bits");
    check(r.real == n * 0.5f && r.real64 == n * 0.25 && r.product == 1.0, "floating point");
    check(__half2float(r.halves.x) == n && __half2float(r.halves.y) == n * 0.5f, "halves");
    check(r.blocks == 4, "system scope");
    std::vector<unsigned char> data(10000);
    random_numbers random(11);
    std::vector<unsigned> wanted(256);
    for (unsigned char &c : data) {
        c = random.next() % 256;
        wanted[c]++;
    }
    unsigned *bins = zeros<unsigned>(256);
    histogram<<<6, 128>>>(upload(data), 10000, bins);
    check(download(bins, 256) == wanted, "a histogram in shared memory");
    int *next = zeros<int>(1), *taken = zeros<int>(1024);
    tickets<<<8, 128>>>(next, taken);
    check(download(taken, 1024) == std::vector<int>(1024, 1), "tickets");
    return finish();
}
