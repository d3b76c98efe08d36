// The standard library of the device: atomics with scopes and orders, barriers, latches, semaphores, complex numbers, tuples, arrays.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_80
// cost: high
#include "check.h"
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/latch>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>

__device__ cuda::atomic<int, cuda::thread_scope_device> counter;
__device__ cuda::std::atomic<unsigned long long> everywhere;

__global__ void count(int *order)
{
    counter.fetch_add(2, cuda::std::memory_order_relaxed);
    everywhere.fetch_or(1ull << (threadIdx.x % 64));
    cuda::atomic_ref<int, cuda::thread_scope_device> place(order[blockIdx.x]);
    place.fetch_max((int)threadIdx.x);
}
// One block writes, the other waits for the flag.
__global__ void message(volatile int *data, int *out)
{
    __device__ static cuda::atomic<int, cuda::thread_scope_device> ready;
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::std::memory_order_release);
        ready.notify_all();
    } else {
        while (ready.load(cuda::std::memory_order_acquire) == 0) {}
        *out = *data;
    }
}
__global__ void phases(int *out, int rounds)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int values[64];
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    int mine = threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        values[threadIdx.x] = mine;
        barrier.arrive_and_wait();
        mine = values[(threadIdx.x + 1) % blockDim.x];
        barrier.wait(barrier.arrive());
    }
    out[threadIdx.x] = mine;
}
__global__ void latch_and_semaphore(int *out)
{
    __shared__ cuda::std::latch *latch;
    __shared__ alignas(cuda::std::latch) char latch_place[sizeof(cuda::std::latch)];
    __shared__ alignas(8) char place[sizeof(cuda::counting_semaphore<cuda::thread_scope_block, 4>)];
    auto *semaphore = (cuda::counting_semaphore<cuda::thread_scope_block, 4> *)place;
    __shared__ int sum;
    if (threadIdx.x == 0) {
        latch = new (latch_place) cuda::std::latch(blockDim.x / 32);
        new (place) cuda::counting_semaphore<cuda::thread_scope_block, 4>(1);
        sum = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) { // one lane of each warp takes the semaphore
        semaphore->acquire();
        *(volatile int *)&sum = *(volatile int *)&sum + 1;
        semaphore->release();
        latch->count_down();
        latch->wait();
        out[threadIdx.x / 32] = *(volatile int *)&sum;
    }
}
__global__ void values(double *out)
{
    cuda::std::complex<double> z(3, 4), w = z * z + cuda::std::complex<double>(1, 0);
    cuda::std::array<int, 4> list = {4, 3, 2, 1};
    cuda::std::tuple<int, double> t(7, 0.5);
    int sum = 0;
    for (int x : list)
        sum += x;
    out[0] = w.real();
    out[1] = w.imag();
    out[2] = cuda::std::abs(z);
    out[3] = sum + cuda::std::get<0>(t) * cuda::std::get<1>(t);
    out[4] = cuda::std::is_same<decltype(list)::value_type, int>::value;
    out[5] = cuda::std::plus<>()(2, 3.5);
}

int main()
{
    int *order = zeros<int>(64);
    count<<<4, 96>>>(order);
    CUDA(cudaDeviceSynchronize());
    int seen = 0;
    CUDA(cudaMemcpyFromSymbol(&seen, counter, sizeof seen));
    unsigned long long bits = 0;
    CUDA(cudaMemcpyFromSymbol(&bits, everywhere, sizeof bits));
    check(seen == 4 * 96 * 2 && bits == ~0ull, "atomics");
    check(download(order, 4) == std::vector<int>(4, 95), "atomic references");
    int *data = zeros<int>(1), *out = zeros<int>(64);
    message<<<2, 1>>>(data, out);
    check(download(out, 1)[0] == 42, "a message from block to block");
    phases<<<1, 64>>>(out, 5);
    std::vector<int> got = download(out, 64);
    bool good = true;
    for (int i = 0; i < 64; i++)
        good = good && got[i] == (i + 5) % 64;
    check(good, "barriers of a block");
    latch_and_semaphore<<<1, 128>>>(out);
    check(download(out, 4) == std::vector<int>(4, 4), "latch and semaphore");
    double *reals = zeros<double>(6);
    values<<<1, 1>>>(reals);
    std::vector<double> r = download(reals, 6);
    check(r[0] == -6 && r[1] == 24 && r[2] == 5 && r[3] == 13.5 && r[4] == 1 && r[5] == 5.5, "complex numbers, arrays, tuples");
    return finish();
}
