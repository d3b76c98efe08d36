// Blocks that wait for one another: software barriers between blocks, chains from block to block, a lock. As many blocks as fit the cores must make progress together.
// nvcc: -arch=compute_75
#include "check.h"

__device__ volatile unsigned arrived, released;
__device__ void barrier(unsigned blocks, unsigned round)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd((unsigned *)&arrived, 1) + 1 == blocks * round)
            released = round;
        while (released < round) {}
        __threadfence();
    }
    __syncthreads();
}
// Each round, every block reads what its neighbour wrote in the round before.
__global__ void rounds(int *a, int *b, int count)
{
    int *from = a, *to = b;
    for (int round = 1; round <= count; round++) {
        int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
        to[i] = ((volatile int *)from)[(i + blockDim.x) % n] + 1;
        barrier(gridDim.x, round);
        int *swap = from;
        from = to;
        to = swap;
    }
}
// A block waits for the one before it, the last one first in line.
__global__ void chain(volatile int *flags, int *out)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (flags[blockIdx.x + 1] == 0) {}
        *out = *(volatile int *)out * 3 % 1000 + blockIdx.x;
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}
__global__ void locked(int *lock, volatile int *value)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *value = *value + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

int main()
{
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    int blocks = device.multiProcessorCount * 2;
    blocks = blocks > 30 ? 30 : blocks;
    const int threads = 64, count = 6, n = blocks * threads;
    std::vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = i;
    int *a = upload(host), *b = zeros<int>(n);
    rounds<<<blocks, threads>>>(a, b, count);
    CUDA(cudaDeviceSynchronize());
    std::vector<int> got = download(a, n);
    bool good = true;
    for (int i = 0; i < n; i++)
        good = good && got[i] == (i + count * threads) % n + count;
    check(good, "a barrier between blocks");
    int *flags = zeros<int>(blocks), *out = zeros<int>(1), wanted = 0;
    chain<<<blocks, 32>>>(flags, out);
    for (int i = blocks - 1; i >= 0; i--)
        wanted = wanted * 3 % 1000 + i;
    check(download(out, 1)[0] == wanted, "each waits for the next");
    int *lock = zeros<int>(1), *value = zeros<int>(1);
    locked<<<100, 32>>>(lock, value);
    check(download(value, 1)[0] == 100, "a lock between blocks");
    return finish();
}
