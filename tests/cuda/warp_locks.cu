// Lanes of one warp that wait for one another: locks, turns, flags. Since sm_70 each lane goes on by itself, and all of this ends.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -G
#include "check.h"

__device__ int sum, locks[8], sums[8];

__device__ void take(int *lock)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
}
__device__ void give(int *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}
__device__ void add(volatile int *to, int value) { *to = *to + value; }

__global__ void one_lock(int times)
{
    for (int i = 0; i < times; i++) {
        take(&locks[0]);
        add(&sum, threadIdx.x + 1);
        give(&locks[0]);
    }
}
// Which lock, and for how long, is up to the lane; then all meet.
__global__ void many_locks(int *out)
{
    for (int i = 0; i < (int)threadIdx.x % 5; i++) {
        int which = (threadIdx.x * 7 + i) % 8;
        take(&locks[which]);
        add(&sums[which], 1);
        give(&locks[which]);
    }
    __syncthreads();
    int total = 0;
    for (int i = 0; i < 8; i++)
        total += *(volatile int *)&sums[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
__device__ __noinline__ int critical(int *lock, int value)
{
    take(lock);
    int before = *(volatile int *)&sum;
    add(&sum, value);
    give(lock);
    return before;
}
// The lock is taken and given back in a function; lanes exchange what they got afterwards.
__global__ void in_function(int *out)
{
    int before = critical(&locks[0], 1), most = before;
    for (int d = 16; d; d /= 2)
        most = max(most, __shfl_xor_sync(~0u, most, d));
    out[threadIdx.x] = most;
    out[32 + threadIdx.x] = __popc(__ballot_sync(~0u, before < 16));
}
__device__ __noinline__ int exchange(int value, int times)
{
    int result = 0;
    for (int i = 0; i < times; i++)
        result += __shfl_xor_sync(~0u, value + i, 1);
    return result;
}
// A shuffle in a function that the lanes have called one by one.
__global__ void shuffle_in_function(int *out)
{
    take(&locks[0]);
    add(&sum, 1);
    give(&locks[0]);
    out[threadIdx.x] = exchange(threadIdx.x, 3);
}
__global__ void turns(int *out)
{
    __shared__ volatile int turn, at;
    if (threadIdx.x == 0)
        turn = at = 0;
    __syncthreads();
    int mine = (threadIdx.x * 11) % blockDim.x;
    while (turn != mine)
        ;
    out[at] = threadIdx.x;
    at = at + 1;
    __threadfence_block();
    turn = mine + 1;
}
__global__ void flag_of_other_side(int *out, int waiter)
{
    __shared__ volatile int flag, value;
    flag = value = 0;
    __syncwarp();
    if ((int)threadIdx.x == waiter) {
        while (!flag)
            ;
        out[waiter] = value;
    } else {
        value = 42;
        __threadfence_block();
        flag = 1;
        out[threadIdx.x] = 1;
    }
}
__global__ void two_way(int *out, int rounds)
{
    __shared__ volatile int ball;
    ball = 0;
    __syncwarp();
    if (threadIdx.x < 2)
        for (int i = 0; i < rounds; i++) {
            while (ball % 2 != (int)threadIdx.x)
                ;
            ball = ball + 1;
        }
    __syncwarp();
    out[threadIdx.x] = ball;
}
// One half meets within itself while the other spins until that has happened.
__global__ void half_meets(int *out)
{
    __shared__ volatile int ready;
    ready = 0;
    __syncwarp();
    if (threadIdx.x >= 16) {
        while (!ready)
            ;
        out[threadIdx.x] = __shfl_xor_sync(0xffff0000, threadIdx.x, 4);
    } else {
        int sum = 0;
        if (threadIdx.x % 3 == 0) // they come on two paths
            sum = 100;
        for (int d = 8; d; d /= 2)
            sum += __shfl_xor_sync(0x0000ffff, sum, d);
        __syncwarp(0x0000ffff);
        ready = 1;
        out[threadIdx.x] = sum;
    }
}
// Lanes that leave early are not waited for.
__global__ void leavers(int *out)
{
    take(&locks[0]);
    add(&sum, 1);
    give(&locks[0]);
    if (threadIdx.x % 3 == 0)
        return;
    unsigned rest = 0;
    for (int i = 0; i < 32; i++)
        rest |= (i % 3 != 0) << i;
    out[threadIdx.x] = __popc(__ballot_sync(rest, 1));
    __syncthreads();
    out[threadIdx.x] += *(volatile int *)&sum;
}
// The loop counts and sleeps, so that it never comes back to the same state.
__global__ void backoff()
{
    unsigned ns = 1;
    long long spins = 0;
    while (atomicCAS(&locks[0], 0, 1) != 0) {
        spins++;
        __nanosleep(ns);
        ns = ns < 256 ? ns * 2 : 256;
    }
    add(&sum, spins >= 0 ? 1 : 100);
    give(&locks[0]);
}
// Threads of the block come to its barrier one by one, the last long after the first.
__global__ void barriers(int *out, int rounds)
{
    __shared__ int lock, count;
    if (threadIdx.x == 0)
        lock = count = 0;
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        take(&lock);
        add(&count, 1);
        give(&lock);
        __syncthreads();
        int seen = *(volatile int *)&count;
        if (seen != (i + 1) * (int)blockDim.x)
            out[0] = 1;
        if (__syncthreads_count(threadIdx.x % 2) != (int)blockDim.x / 2)
            out[1] = 1;
    }
}

static void start()
{
    static const int zero[8] = { 0 };
    CUDA(cudaMemcpyToSymbol(sum, zero, sizeof(int)));
    CUDA(cudaMemcpyToSymbol(locks, zero, sizeof locks));
    CUDA(cudaMemcpyToSymbol(sums, zero, sizeof sums));
}
static int total()
{
    int value;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpyFromSymbol(&value, sum, sizeof value));
    return value;
}
static bool all_are(const std::vector<int> &got, int value)
{
    for (int x : got)
        if (x != value)
            return false;
    return true;
}

int main()
{
    int *out = zeros<int>(256);
    start();
    one_lock<<<1, 32>>>(1);
    check(total() == 32 * 33 / 2, "one lock, one warp");
    start();
    one_lock<<<2, 64>>>(2);
    check(total() == 2 * 2 * 64 * 65 / 2, "one lock, four warps, twice");
    start();
    many_locks<<<1, 96>>>(out);
    int all = 0;
    for (int i = 0; i < 96; i++)
        all += i % 5;
    check(all_are(download(out, 96), all), "many locks, and a barrier");
    start();
    in_function<<<1, 32>>>(out);
    check(total() == 32 && all_are(download(out, 32), 31) && all_are(download(out + 32, 32), 16), "a lock in a function");
    start();
    shuffle_in_function<<<1, 32>>>(out);
    std::vector<int> got = download(out, 32);
    bool good = total() == 32;
    for (int i = 0; i < 32; i++)
        good = good && got[i] == 3 * (i ^ 1) + 3;
    check(good, "a shuffle in a function");
    turns<<<1, 64>>>(out);
    got = download(out, 64);
    good = true;
    for (int i = 0; i < 64; i++)
        good = good && got[i] * 11 % 64 == i;
    check(good, "turns");
    good = true;
    for (int waiter = 0; waiter < 32; waiter += 31) {
        flag_of_other_side<<<1, 32>>>(out, waiter);
        got = download(out, 32);
        for (int i = 0; i < 32; i++)
            good = good && got[i] == (i == waiter ? 42 : 1);
    }
    check(good, "a flag that the other side of a branch sets");
    two_way<<<1, 32>>>(out, 50);
    check(all_are(download(out, 32), 100), "back and forth");
    half_meets<<<1, 32>>>(out);
    got = download(out, 32);
    good = true;
    for (int i = 0; i < 32; i++)
        good = good && got[i] == (i < 16 ? 600 : i ^ 4);
    check(good, "half a warp meets");
    start();
    CUDA(cudaMemset(out, 0, 256 * sizeof(int)));
    leavers<<<1, 32>>>(out);
    got = download(out, 32);
    good = total() == 32;
    for (int i = 0; i < 32; i++)
        good = good && got[i] == (i % 3 ? 21 + 32 : 0);
    check(good, "lanes that leave");
    start();
    backoff<<<2, 32>>>();
    check(total() == 64, "a loop that counts and sleeps");
    CUDA(cudaMemset(out, 0, 256 * sizeof(int)));
    barriers<<<1, 64>>>(out, 3);
    check(all_are(download(out, 2), 0), "barriers");
    return finish();
}
