/*
 * Cooperative groups: tiles, coalesced and labelled groups, reductions and scans over them.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define EXPORT extern "C" __global__ void

EXPORT cg_tiles(const unsigned *in, unsigned *out)
{
    auto block = cg::this_thread_block();
    unsigned i = blockIdx.x * blockDim.x + block.thread_rank(), x = in[i], result = 0;
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    cg::thread_group four = cg::tiled_partition(block, 4);
    result += warp.shfl_down(x, 3) ^ eight.shfl_xor(x, 5) ^ eight.shfl(x, 2);
    result += four.thread_rank() * 3 + (unsigned)four.size();
    result ^= eight.ballot(x & 1) | eight.any(x % 3 == 0) << 9 | eight.all(x % 3) << 10;
    result += eight.match_any(x & 3) << 12 | warp.meta_group_rank() << 24;
    result ^= block.group_index().x << 20 | eight.size() << 27;
    block.sync();
    out[i] = result;
}

EXPORT cg_coalesced(const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], result = 0;
    if (x % 3) {
        auto active = cg::coalesced_threads();
        result = active.thread_rank() | active.size() << 8 | (active.shfl(x, 0) & 0xff) << 16;
        if (x & 4) {
            auto inner = cg::coalesced_threads();
            result ^= (inner.ballot(x & 8) + inner.shfl_up(x, 1) * 2u) << 4;
        }
        active.sync();
        result += cg::reduce(active, x & 0xffff, cg::plus<unsigned>());
    }
    out[i] = result;
}

EXPORT cg_partition(const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto label = cg::labeled_partition(warp, (int)(x % 5));
    unsigned result = label.thread_rank() | label.size() << 8;
    result += cg::reduce(label, x >> 4, cg::greater<unsigned>());
    auto binary = cg::binary_partition(warp, (x & 1) != 0);
    result ^= cg::reduce(binary, x, cg::bit_xor<unsigned>()) + binary.num_threads();
    result += cg::inclusive_scan(binary, x & 0xff, cg::plus<unsigned>());
    out[i] = result;
}

EXPORT cg_reduce(const int *in, int *out)
{
    auto block = cg::this_thread_block();
    unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    auto warp = cg::tiled_partition<32>(block);
    auto sixteen = cg::tiled_partition<16>(block);
    int x = in[i];
    out[i] = cg::reduce(warp, x, cg::plus<int>());
    out[n + i] = cg::reduce(warp, x, cg::less<int>());
    out[2 * n + i] = cg::reduce(sixteen, x, cg::bit_and<int>()) ^ cg::reduce(sixteen, x, cg::bit_or<int>());
    out[3 * n + i] = (int)(cg::reduce(sixteen, (long long)x * x, cg::plus<long long>()) >> 7);
    out[4 * n + i] = __float_as_int(cg::reduce(sixteen, (float)x, cg::plus<float>()));
    out[5 * n + i] = cg::reduce(warp, x, [](int a, int b) { return (a & 0xff) > (b & 0xff) ? a : (a & 0xff) == (b & 0xff) ? max(a, b) : b; });
}

EXPORT cg_scan(const unsigned *in, unsigned *out)
{
    unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto eight = cg::tiled_partition<8>(warp);
    out[i] = cg::exclusive_scan(warp, x, cg::plus<unsigned>());
    out[n + i] = cg::inclusive_scan(eight, x, cg::greater<unsigned>());
    out[2 * n + i] = cg::inclusive_scan(warp, x | 1, [](unsigned a, unsigned b) { return a * b; });
    out[3 * n + i] = cg::exclusive_scan(eight, x, cg::bit_xor<unsigned>());
}

/* Compaction by one atomic a group: the classic use. Order is not kept, so the sum and the count are compared. */
EXPORT cg_compact(const unsigned *in, unsigned *out)
{
    __shared__ unsigned count, kept[256];
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0)
        count = 0;
    block.sync();
    unsigned x = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (x % 7 < 3) {
        auto active = cg::coalesced_threads();
        unsigned first = 0;
        if (active.thread_rank() == 0)
            first = atomicAdd(&count, active.size());
        kept[active.shfl(first, 0) + active.thread_rank()] = x;
    }
    block.sync();
    if (threadIdx.x < 32) {
        unsigned sum = 0;
        for (unsigned k = threadIdx.x; k < count; k += 32)
            sum += kept[k];
        sum = cg::reduce(cg::tiled_partition<32>(block), sum, cg::plus<unsigned>());
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum ^ count << 24;
    }
}

EXPORT cg_grid(const unsigned *in, unsigned *out)
{
    auto grid = cg::this_grid();
    unsigned i = (unsigned)grid.thread_rank(), n = (unsigned)grid.size();
    out[i] = in[i] * 3;
    grid.sync();
    unsigned other = out[(i + n / 2 + 5) % n];
    grid.sync();
    out[i] = other ^ i;
    grid.sync();
    unsigned last = out[n - 1 - i];
    out[n + i] = last + (unsigned)grid.num_blocks();
}
