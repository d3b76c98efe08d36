/* Kernels for tests/cli/races.sh: three patterns with races as they are found in public programs, and their like without.
 * races.ptx is made of it: nvcc -ptx -arch=compute_75 -lineinfo races.cu, then directories are taken out of .file lines. */
#include <cooperative_groups.h>

enum { BINS = 64, VERTICES = 512 };
#define LAST (gridDim.x - 1)

/* All threads of a column add into one element. */
extern "C" __global__ void columns(unsigned *buffer)
{
    buffer[threadIdx.x % 16] += threadIdx.x;
}

extern "C" __global__ void columns_atomic(unsigned *buffer)
{
    atomicAdd(&buffer[threadIdx.x % 16], threadIdx.x);
}

/* Histograms in shared memory, zeroed by some threads, with no barrier before others count. */
template <bool barrier> __device__ void histogram(unsigned *buffer)
{
    __shared__ unsigned bins[BINS];
    if (threadIdx.x < BINS)
        bins[threadIdx.x] = 0;
    if (barrier)
        __syncthreads();
    atomicAdd(&bins[(threadIdx.x * 7 + 40) % BINS], 1);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&buffer[threadIdx.x], bins[threadIdx.x]);
}
extern "C" __global__ void histogram_unzeroed(unsigned *buffer) { histogram<false>(buffer); }
extern "C" __global__ void histogram_zeroed(unsigned *buffer) { histogram<true>(buffer); }

/* Breadth-first search in a tree (the neighbours of v are 2v+1 and 2v+2), one launch for all levels: a thread sees a level
 * that another has just written. */
extern "C" __global__ void levels(unsigned *level)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v == 0)
        level[0] = 1;
#pragma unroll 1
    for (unsigned round = 1; round < 10; round++)
        if (v < VERTICES && level[v] == round)
#pragma unroll 1
            for (unsigned child = 2 * v + 1; child <= 2 * v + 2 && child < VERTICES; child++)
                if (level[child] == 0)
                    level[child] = round + 1;
}

/* The same with a barrier of the grid before and after each look, by hand: a counter and fences. */
__device__ void grid_barrier(unsigned *counter, unsigned round)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1);
        while (*(volatile unsigned *)counter < round * gridDim.x)
            ;
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void levels_apart(unsigned *buffer)
{
    unsigned *level = buffer + 1, barriers = 0, v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v == 0)
        level[0] = 1;
#pragma unroll 1
    for (unsigned round = 1; round < 10; round++) {
        grid_barrier(buffer, ++barriers);
        bool is_mine = v < VERTICES && level[v] == round;
        grid_barrier(buffer, ++barriers);
        for (unsigned child = 2 * v + 1; is_mine && child <= 2 * v + 2 && child < VERTICES; child++)
            level[child] = round + 1;
    }
}

/* The last block to come adds up what all have left. */
template <bool fence> __device__ void last_block(unsigned *buffer)
{
    __shared__ bool is_last;
    unsigned *sums = buffer + 2;
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = blockIdx.x + 1;
        if (fence)
            __threadfence();
        is_last = atomicInc(buffer, LAST) == LAST;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            sum += sums[i];
        buffer[1] = sum;
    }
}
extern "C" __global__ void last_block_fenced(unsigned *buffer) { last_block<true>(buffer); }
extern "C" __global__ void last_block_unfenced(unsigned *buffer) { last_block<false>(buffer); }

/* A sum over a warp through shared memory. */
template <bool sync> __device__ void warp_sum(unsigned *buffer)
{
    __shared__ unsigned part[1024];
    unsigned lane = threadIdx.x % 32;
    part[threadIdx.x] = threadIdx.x;
#pragma unroll 1
    for (unsigned half = 16; half; half /= 2) {
        if (sync)
            __syncwarp();
        unsigned other = lane < half ? part[threadIdx.x + half] : 0;
        if (sync)
            __syncwarp();
        part[threadIdx.x] += other;
    }
    if (lane == 0)
        buffer[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = part[threadIdx.x];
}
extern "C" __global__ void warp_sum_synced(unsigned *buffer) { warp_sum<true>(buffer); }
extern "C" __global__ void warp_sum_unsynced(unsigned *buffer) { warp_sum<false>(buffer); }

/* Half-warps, each by itself. */
extern "C" __global__ void tiles(unsigned *buffer)
{
    namespace cg = cooperative_groups;
    __shared__ unsigned part[1024];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    part[threadIdx.x] = threadIdx.x;
    tile.sync();
    buffer[blockIdx.x * blockDim.x + threadIdx.x] = part[threadIdx.x ^ 15];
}

/* Warp 0 fills two buffers in turn, the others empty them: named barriers, as specialised warps use them. */
__device__ void named_sync(int id) { asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(blockDim.x) : "memory"); }
__device__ void named_arrive(int id) { asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(blockDim.x) : "memory"); }

template <bool early> __device__ void two_buffers(unsigned *buffer)
{
    __shared__ unsigned data[2][32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
#pragma unroll 1
    for (unsigned i = 0; i < 8; i++) {
        unsigned half = i % 2;
        if (warp == 0) {
            if (i >= 2)
                named_sync(3 + half);
            data[half][lane] = i * 32 + lane;
            named_arrive(1 + half);
        } else {
            named_sync(1 + half);
            if (early && i < 6)
                named_arrive(3 + half);
            sum += data[half][31 - lane];
            if (!early && i < 6)
                named_arrive(3 + half);
        }
    }
    if (warp)
        buffer[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void buffers_in_turn(unsigned *buffer) { two_buffers<false>(buffer); }
extern "C" __global__ void buffers_early(unsigned *buffer) { two_buffers<true>(buffer); }

/* One warp hands a value to the next through a volatile flag. */
extern "C" __global__ void flags(unsigned *buffer)
{
    __shared__ unsigned value[32];
    __shared__ volatile unsigned ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        value[threadIdx.x] = threadIdx.x;
        __syncwarp();
        __threadfence_block();
        if (threadIdx.x == 0)
            ready = 1;
    } else if (threadIdx.x < 64) {
        while (!ready)
            ;
        __threadfence_block();
        buffer[blockIdx.x * blockDim.x + threadIdx.x] = value[63 - threadIdx.x];
    }
}

/* A lock around what is not atomic. */
extern "C" __global__ void locked(unsigned *buffer)
{
    for (bool done = false; !done;)
        if (atomicCAS(buffer, 0, 1) == 0) {
            __threadfence();
            buffer[1]++;
            __threadfence();
            atomicExch(buffer, 0);
            done = true;
        }
}

/* Bytes of one word that belong to different threads. */
extern "C" __global__ void bytes(unsigned *buffer)
{
    unsigned char *mine = (unsigned char *)buffer + blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < 3; i++)
        *mine = (unsigned char)(*mine + threadIdx.x);
}

/* All write the same. */
extern "C" __global__ void same_value(unsigned *buffer)
{
    if (threadIdx.x % 3 == 0)
        buffer[0] = 7;
}

extern "C" __global__ void different_values(unsigned *buffer)
{
    if (threadIdx.x % 3 == 0)
        buffer[0] = threadIdx.x / 32 ? 7 : threadIdx.x;
}
