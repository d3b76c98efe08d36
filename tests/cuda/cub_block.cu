// CUB's parts for warps and blocks, inside kernels of one's own.
// nvcc: -arch=compute_75
// cost: high
#include "check.h"
#include <algorithm>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

enum { THREADS = 96, ITEMS = 4, TILE = THREADS * ITEMS };

__global__ void sort_tile(const int *in, int *out)
{
    using load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    using sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
    __shared__ union {
        typename load::TempStorage load;
        typename store::TempStorage store;
        typename sort::TempStorage sort;
    } scratch;
    int items[ITEMS];
    load(scratch.load).Load(in + blockIdx.x * TILE, items);
    __syncthreads();
    sort(scratch.sort).Sort(items);
    __syncthreads();
    store(scratch.store).Store(out + blockIdx.x * TILE, items);
}
__global__ void scan_tile(const int *in, int *out, int *sums)
{
    using scan = cub::BlockScan<int, THREADS>;
    using reduce = cub::BlockReduce<int, THREADS>;
    __shared__ typename scan::TempStorage scan_scratch;
    __shared__ typename reduce::TempStorage reduce_scratch;
    int items[ITEMS], sum;
    for (int i = 0; i < ITEMS; i++)
        items[i] = in[blockIdx.x * TILE + threadIdx.x * ITEMS + i];
    int total = reduce(reduce_scratch).Sum(items);
    scan(scan_scratch).ExclusiveSum(items, items, sum);
    for (int i = 0; i < ITEMS; i++)
        out[blockIdx.x * TILE + threadIdx.x * ITEMS + i] = items[i];
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total == sum ? total : -1;
}
__global__ void warps(const int *in, int *sums, int *scans)
{
    using reduce = cub::WarpReduce<int>;
    using scan = cub::WarpScan<int>;
    __shared__ typename reduce::TempStorage reduce_scratch[THREADS / 32];
    __shared__ typename scan::TempStorage scan_scratch[THREADS / 32];
    int warp = threadIdx.x / 32, value = in[threadIdx.x], total = reduce(reduce_scratch[warp]).Sum(value);
    scan(scan_scratch[warp]).InclusiveSum(value, scans[threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        sums[warp] = total;
}

int main()
{
    const int blocks = 3, n = blocks * TILE;
    std::vector<int> host(n);
    random_numbers random(19);
    for (int &x : host)
        x = (int)(random.next() % 20000) - 10000;
    int *in = upload(host), *out = zeros<int>(n), *sums = zeros<int>(blocks);
    sort_tile<<<blocks, THREADS>>>(in, out);
    std::vector<int> wanted = host, got = download(out, n);
    for (int b = 0; b < blocks; b++)
        std::sort(wanted.begin() + b * TILE, wanted.begin() + (b + 1) * TILE);
    check(got == wanted, "radix sort of a block");
    scan_tile<<<blocks, THREADS>>>(in, out, sums);
    got = download(out, n);
    std::vector<int> totals = download(sums, blocks);
    bool good = true;
    for (int b = 0, i = 0; b < blocks; b++) {
        int sum = 0;
        for (int j = 0; j < TILE; j++, i++) {
            good = good && got[i] == sum;
            sum += host[i];
        }
        good = good && totals[b] == sum;
    }
    check(good, "scan and sum of a block");
    warps<<<1, THREADS>>>(in, sums, out);
    got = download(out, THREADS);
    totals = download(sums, THREADS / 32);
    good = true;
    for (int w = 0, i = 0; w < THREADS / 32; w++) {
        int sum = 0;
        for (int j = 0; j < 32; j++, i++) {
            sum += host[i];
            good = good && got[i] == sum;
        }
        good = good && totals[w] == sum;
    }
    check(good, "scan and sum of a warp");
    return finish();
}
