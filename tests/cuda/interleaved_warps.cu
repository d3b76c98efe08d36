// Warps of a block that wait for one another without barriers: producer and consumer, a relay, named barriers, a race that all must take part in.
// nvcc: -arch=compute_75
#include "check.h"

// The first warp fills a ring, the second empties it.
__global__ void ring(int *out, int count)
{
    volatile __shared__ int buffer[4];
    volatile __shared__ int written, taken;
    if (threadIdx.x == 0)
        written = taken = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < count; i++) {
            while (written - taken >= 4) {}
            buffer[i % 4] = i * i;
            __threadfence_block();
            written = i + 1;
        }
    if (threadIdx.x == 32)
        for (int i = 0; i < count; i++) {
            while (written <= i) {}
            __threadfence_block();
            out[i] = buffer[i % 4];
            taken = i + 1;
        }
}
// From the last warp to the first: none may run to its end before the next has started.
__global__ void relay(int *out)
{
    volatile __shared__ int turn;
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        turn = blockDim.x / 32 - 1;
    __syncthreads();
    while (turn != warp) {}
    if (threadIdx.x % 32 == 0) {
        *out = *(volatile int *)out * 2 + warp;
        __threadfence_block();
        turn = warp - 1;
    }
}
__global__ void named(int *out)
{
    __shared__ int values[64];
    if (threadIdx.x < 64) {
        values[threadIdx.x] = threadIdx.x;
        asm volatile("bar.sync 1, 64;");
        out[threadIdx.x] = values[63 - threadIdx.x];
    } else {
        asm volatile("bar.sync 2, 64;");
        out[threadIdx.x] = -1;
    }
}
// Relaxation until nothing changes: the flag is written by whoever has work left.
__global__ void relax(int *distance, int count)
{
    __shared__ int changed;
    int i = threadIdx.x;
    do {
        __syncthreads();
        changed = 0;
        __syncthreads();
        int best = distance[i], left = i > 0 ? distance[i - 1] + 1 : best, right = i + 1 < count ? distance[i + 1] + 1 : best;
        int new_best = min(best, min(left, right));
        if (new_best < best) {
            distance[i] = new_best;
            changed = 1;
        }
        __syncthreads();
    } while (changed);
}

int main()
{
    const int count = 100;
    int *out = zeros<int>(256);
    ring<<<1, 64>>>(out, count);
    std::vector<int> got = download(out, count);
    bool good = true;
    for (int i = 0; i < count; i++)
        good = good && got[i] == i * i;
    check(good, "producer and consumer");
    CUDA(cudaMemset(out, 0, sizeof(int)));
    relay<<<1, 256>>>(out);
    int wanted = 0;
    for (int warp = 7; warp >= 0; warp--)
        wanted = wanted * 2 + warp;
    check(download(out, 1)[0] == wanted, "a relay of warps");
    named<<<1, 128>>>(out);
    got = download(out, 128);
    good = true;
    for (int i = 0; i < 128; i++)
        good = good && got[i] == (i < 64 ? 63 - i : -1);
    check(good, "named barriers");
    std::vector<int> distance(256, 1000000);
    distance[100] = 0;
    int *device = upload(distance);
    relax<<<1, 256>>>(device, 256);
    got = download(device, 256);
    good = true;
    for (int i = 0; i < 256; i++)
        good = good && got[i] == abs(i - 100);
    check(good, "relaxation until nothing changes");
    return finish();
}
