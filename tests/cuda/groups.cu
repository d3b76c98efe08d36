// Cooperative groups within a block: tiles, partitions, collectives, coalesced threads.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_80
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <int Width> __global__ void tile_sums(const int *in, int *sums, int *maxima, int *scans)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<Width> tile = cg::tiled_partition<Width>(block);
    int value = in[block.thread_rank()];
    int sum = cg::reduce(tile, value, cg::plus<int>());
    int most = cg::reduce(tile, value, cg::greater<int>());
    scans[block.thread_rank()] = cg::inclusive_scan(tile, value);
    if (tile.thread_rank() == 0) {
        sums[tile.meta_group_rank()] = sum;
        maxima[tile.meta_group_rank()] = most;
    }
}
__global__ void shuffles(int *out)
{
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    int r = tile.thread_rank();
    out[threadIdx.x] = tile.shfl(r * 10, 3) + tile.shfl_down(r, 2) * 100 + tile.shfl_xor(r, 1) * 10000 + tile.any(r == 5) * 100000 + tile.all(r >= 0) * 200000
                       + __popc(tile.ballot(r & 1)) * 1000000;
}
__global__ void coalesced(int *counter, int *ranks)
{
    if (threadIdx.x % 3 == 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        int first = 0;
        if (active.thread_rank() == 0)
            first = atomicAdd(counter, active.size());
        first = active.shfl(first, 0);
        ranks[threadIdx.x] = active.thread_rank() + 1;
        if (first > 1000)
            ranks[threadIdx.x] = -1;
    }
}
__global__ void partitions(int *out)
{
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::coalesced_group same = cg::labeled_partition(warp, (int)threadIdx.x % 5);
    cg::coalesced_group half = cg::binary_partition(warp, threadIdx.x % 4 == 0);
    out[threadIdx.x] = same.size() * 100 + half.size();
}
__global__ void dynamic_tile(int *out)
{
    cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), 16);
    int rank = tile.thread_rank();
    __shared__ int values[64];
    values[threadIdx.x] = rank;
    tile.sync();
    out[threadIdx.x] = values[(threadIdx.x & ~15) + (rank + 1) % 16] + tile.size() * 100;
}
__global__ void copies(const int *in, int *out)
{
    __shared__ int stage[128];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, stage, in, sizeof stage);
    cg::wait(block);
    out[threadIdx.x] = stage[127 - threadIdx.x];
}

template <int Width> static void test_tiles(const std::vector<int> &host, const char *what)
{
    int n = host.size();
    int *in = upload(host), *sums = zeros<int>(n), *maxima = zeros<int>(n), *scans = zeros<int>(n);
    tile_sums<Width><<<1, n>>>(in, sums, maxima, scans);
    std::vector<int> s = download(sums, n / Width), m = download(maxima, n / Width), c = download(scans, n);
    bool good = true;
    for (int t = 0; t < n / Width; t++) {
        int sum = 0, most = -1;
        for (int i = 0; i < Width; i++) {
            int value = host[t * Width + i];
            sum += value;
            most = value > most ? value : most;
            good = good && c[t * Width + i] == sum;
        }
        good = good && s[t] == sum && m[t] == most;
    }
    check(good, what);
}

int main()
{
    std::vector<int> host(128);
    random_numbers random(3);
    for (int &x : host)
        x = random.next() % 1000;
    test_tiles<32>(host, "tiles of 32");
    test_tiles<16>(host, "tiles of 16");
    test_tiles<4>(host, "tiles of 4");
    test_tiles<1>(host, "tiles of 1");
    int *out = zeros<int>(128), *counter = zeros<int>(1), *in = upload(host);
    shuffles<<<1, 64>>>(out);
    std::vector<int> got = download(out, 128);
    bool good = true;
    for (int i = 0; i < 64; i++) {
        int r = i % 8;
        good = good && got[i] == 30 + (r < 6 ? r + 2 : r) * 100 + (r ^ 1) * 10000 + 300000 + 4000000;
    }
    check(good, "shuffles and votes in a tile");
    CUDA(cudaMemset(out, 0, 128 * sizeof(int)));
    coalesced<<<1, 128>>>(counter, out);
    got = download(out, 128);
    good = true;
    int rank = 0;
    for (int i = 0; i < 128; i++) {
        if (i % 32 == 0)
            rank = 0;
        good = good && got[i] == (i % 3 == 1 ? ++rank : 0);
    }
    check(good && download(counter, 1)[0] == 43, "coalesced threads");
    partitions<<<1, 32>>>(out);
    got = download(out, 32);
    good = true;
    for (int i = 0; i < 32; i++)
        good = good && got[i] == (i % 5 < 2 ? 7 : 6) * 100 + (i % 4 == 0 ? 8 : 24);
    check(good, "partitions by label");
    dynamic_tile<<<1, 64>>>(out);
    got = download(out, 64);
    good = true;
    for (int i = 0; i < 64; i++)
        good = good && got[i] == (i + 1) % 16 + 1600;
    check(good, "tiles whose size is a run-time number");
    copies<<<1, 128>>>(in, out);
    got = download(out, 128);
    good = true;
    for (int i = 0; i < 128; i++)
        good = good && got[i] == host[127 - i];
    check(good, "asynchronous copy by a group");
    return finish();
}
