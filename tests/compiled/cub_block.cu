/*
 * Block and warp primitives of the CUB library.
 */
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/functional>
#define EXPORT extern "C" __global__ void
constexpr int threads = 128;
constexpr int items = 4;

struct affine { /* x -> a x + b: a composition that does not commute */
    unsigned a, b;
};
struct compose {
    __device__ affine operator()(const affine &f, const affine &g) const { return {f.a * g.a, g.a * f.b + g.b}; }
};

EXPORT cub_scan(const unsigned *in, unsigned *out)
{
    using scan = cub::BlockScan<unsigned, threads>;
    using raking = cub::BlockScan<affine, threads, cub::BLOCK_SCAN_RAKING>;
    __shared__ union {
        typename scan::TempStorage a;
        typename raking::TempStorage b;
    } storage;
    unsigned base = (blockIdx.x * threads + threadIdx.x) * items, value[items], sum;
    for (int k = 0; k < items; k++)
        value[k] = in[base + k];
    unsigned maximum[items];
    scan(storage.a).ExclusiveSum(value, value, sum);
    __syncthreads();
    scan(storage.a).InclusiveScan(value, maximum, cuda::maximum<>());
    __syncthreads();
    affine f = {in[base] | 1, in[base + 1]}, result;
    raking(storage.b).InclusiveScan(f, result, compose());
    for (int k = 0; k < items; k++)
        out[base + k] = value[k] ^ (maximum[k] >> 3) ^ sum ^ (k & 1 ? result.a : result.b);
}

EXPORT cub_reduce(const float *in, float *out)
{
    using warps = cub::BlockReduce<float, threads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    using raking = cub::BlockReduce<float, threads, cub::BLOCK_REDUCE_RAKING>;
    using pair = cub::KeyValuePair<int, float>;
    using arg = cub::BlockReduce<pair, threads>;
    __shared__ union {
        typename warps::TempStorage a;
        typename raking::TempStorage b;
        typename arg::TempStorage c;
    } storage;
    unsigned i = blockIdx.x * threads + threadIdx.x;
    float x = in[i];
    float first = warps(storage.a).Sum(x);
    __syncthreads();
    float second = raking(storage.b).Sum(x, 100);
    __syncthreads();
    pair best = arg(storage.c).Reduce(pair((int)threadIdx.x, x), cub::ArgMax());
    if (threadIdx.x == 0) {
        out[4 * blockIdx.x] = first;
        out[4 * blockIdx.x + 1] = second;
        out[4 * blockIdx.x + 2] = best.value;
        out[4 * blockIdx.x + 3] = (float)best.key;
    }
}

EXPORT cub_sort(const unsigned *in, unsigned *out)
{
    using sort = cub::BlockRadixSort<unsigned, threads, items, unsigned short>;
    __shared__ typename sort::TempStorage storage;
    unsigned base = (blockIdx.x * threads + threadIdx.x) * items, key[items];
    unsigned short value[items];
    for (int k = 0; k < items; k++) {
        key[k] = in[base + k] >> (blockIdx.x % 3 * 9);
        value[k] = (unsigned short)(threadIdx.x * items + k);
    }
    if (blockIdx.x & 1)
        sort(storage).SortDescending(key, value);
    else
        sort(storage).SortBlockedToStriped(key, value);
    for (int k = 0; k < items; k++)
        out[base + k] = key[k] * 31 + value[k];
}

EXPORT cub_sort_float(const float *in, float *out)
{
    using sort = cub::BlockRadixSort<float, threads, items>;
    __shared__ typename sort::TempStorage storage;
    unsigned base = (blockIdx.x * threads + threadIdx.x) * items;
    float key[items];
    for (int k = 0; k < items; k++)
        key[k] = in[base + k];
    sort(storage).Sort(key);
    for (int k = 0; k < items; k++)
        out[base + k] = key[k];
}

EXPORT cub_exchange(const unsigned *in, unsigned *out)
{
    using load = cub::BlockLoad<unsigned, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using store = cub::BlockStore<unsigned, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
    using exchange = cub::BlockExchange<unsigned, threads, items>;
    __shared__ union {
        typename load::TempStorage a;
        typename store::TempStorage b;
        typename exchange::TempStorage c;
    } storage;
    unsigned base = blockIdx.x * threads * items, value[items];
    int rank[items];
    load(storage.a).Load(in + base, value, threads * items - 5, 7u);
    __syncthreads();
    exchange(storage.c).BlockedToWarpStriped(value, value);
    __syncthreads();
    for (int k = 0; k < items; k++)
        rank[k] = (int)((threadIdx.x * items + k) * 5 % (threads * items));
    exchange(storage.c).ScatterToStriped(value, value, rank);
    __syncthreads();
    store(storage.b).Store(out + base, value);
}

EXPORT cub_histogram(const unsigned *in, unsigned *out)
{
    using sorted = cub::BlockHistogram<unsigned char, threads, items, 64, cub::BLOCK_HISTO_SORT>;
    using counted = cub::BlockHistogram<unsigned char, threads, items, 64, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ union {
        typename sorted::TempStorage a;
        typename counted::TempStorage b;
    } storage;
    __shared__ unsigned bins[64], more[64];
    unsigned char value[items];
    for (int k = 0; k < items; k++)
        value[k] = in[(blockIdx.x * threads + threadIdx.x) * items + k] >> 11 & 63;
    counted(storage.b).Histogram(value, more);
    __syncthreads();
    sorted(storage.a).Histogram(value, bins);
    __syncthreads();
    if (threadIdx.x < 64)
        out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x] | more[threadIdx.x] << 16;
}

EXPORT cub_warp(const unsigned *in, unsigned *out)
{
    using reduce = cub::WarpReduce<unsigned>;
    using eight = cub::WarpReduce<unsigned, 8>;
    using scan = cub::WarpScan<int, 16>;
    using sort = cub::WarpMergeSort<unsigned, items, 32>;
    __shared__ union {
        typename reduce::TempStorage a[threads / 32];
        typename eight::TempStorage b[threads / 8];
        typename scan::TempStorage c[threads / 16];
        typename sort::TempStorage d[threads / 32];
    } storage;
    unsigned t = threadIdx.x, base = (blockIdx.x * threads + t) * items, key[items], mixed;
    for (int k = 0; k < items; k++)
        key[k] = in[base + k];
    mixed = reduce(storage.a[t / 32]).Sum(key[0]) * (t % 32 == 0);
    __syncthreads();
    mixed += eight(storage.b[t / 8]).Reduce(key[1], cuda::minimum<>()) * (t % 8 == 0);
    __syncthreads();
    mixed += reduce(storage.a[t / 32]).HeadSegmentedSum(key[2], key[3] % 5 == 0) * (t % 32 == 0);
    __syncthreads();
    int before, after;
    scan(storage.c[t / 16]).Scan((int)key[3] >> 8, after, before, 0, cuda::std::plus<>());
    __syncthreads();
    sort(storage.d[t / 32]).Sort(key, [](unsigned a, unsigned b) { return (a & 0xffff) < (b & 0xffff); });
    for (int k = 0; k < items; k++)
        out[base + k] = key[k] + mixed + (unsigned)before - 3 * (unsigned)after;
}

EXPORT cub_neighbours(const unsigned *in, unsigned *out)
{
    using flags = cub::BlockDiscontinuity<unsigned, threads>;
    using difference = cub::BlockAdjacentDifference<unsigned, threads>;
    using shuffle = cub::BlockShuffle<unsigned, threads>;
    using merge = cub::BlockMergeSort<unsigned, threads, items>;
    __shared__ union {
        typename flags::TempStorage a;
        typename difference::TempStorage b;
        typename shuffle::TempStorage c;
        typename merge::TempStorage d;
    } storage;
    unsigned base = (blockIdx.x * threads + threadIdx.x) * items, key[items], minus[items], rotated;
    int head[items];
    for (int k = 0; k < items; k++)
        key[k] = in[base + k] & 0xff;
    merge(storage.d).StableSort(key, [](unsigned a, unsigned b) { return a > b; });
    __syncthreads();
    flags(storage.a).FlagHeads(head, key, cuda::std::not_equal_to<>());
    __syncthreads();
    difference(storage.b).SubtractLeft(key, minus, [](unsigned a, unsigned b) { return a - b; });
    __syncthreads();
    shuffle(storage.c).Rotate(key[0], rotated, 3);
    for (int k = 0; k < items; k++)
        out[base + k] = key[k] | (unsigned)head[k] << 8 | (minus[k] & 0xff) << 16 | rotated << 24;
}
