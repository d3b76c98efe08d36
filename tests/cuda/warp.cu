// Shuffles, votes, matches and reductions of a warp, also with some lanes away.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_80
#include "check.h"

__global__ void shuffles(int *out)
{
    int lane = threadIdx.x;
    out[lane] = __shfl_sync(~0u, lane * 2, 5);
    out[32 + lane] = __shfl_up_sync(~0u, lane, 3);
    out[64 + lane] = __shfl_down_sync(~0u, lane, 3, 8);
    out[96 + lane] = __shfl_xor_sync(~0u, lane, 9);
    double wide = __shfl_sync(~0u, lane * 1.25, (lane + 1) % 32);
    out[128 + lane] = (int)(wide * 4);
}
__global__ void votes(unsigned *out)
{
    unsigned lane = threadIdx.x;
    unsigned *mine = out + lane * 8;
    mine[0] = __ballot_sync(~0u, lane % 3 == 0);
    mine[1] = __any_sync(~0u, lane == 31);
    mine[2] = __all_sync(~0u, lane < 31);
    mine[3] = __match_any_sync(~0u, lane / 5);
    int same;
    __match_all_sync(~0u, lane / 32, &same);
    mine[4] = same;
    if (lane < 12) {
        mine[5] = __activemask();
        mine[6] = __ballot_sync(0xfff, lane & 1);
    } else {
        mine[5] = __activemask();
        mine[6] = __ballot_sync(~0xfffu, lane & 1);
    }
    __syncwarp();
    mine[7] = __popc(__ballot_sync(~0u, 1));
}
__global__ void sums(const int *in, int *out, int count)
{
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int distance = 16; distance; distance /= 2)
        sum += __shfl_down_sync(~0u, sum, distance);
    __shared__ int warps[32];
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
#if __CUDA_ARCH__ >= 800
        sum = __reduce_add_sync(~0u, sum);
#else
        for (int distance = 16; distance; distance /= 2)
            sum += __shfl_xor_sync(~0u, sum, distance);
#endif
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
    }
}
// Lanes leave a loop one after the other; those that remain know who they are.
__global__ void leaving(int *out)
{
    int rounds = 0;
    unsigned mask = ~0u;
    for (int i = 0; i <= (int)threadIdx.x; i++) {
        mask = __ballot_sync(mask, true);
        rounds += __popc(mask);
        unsigned stay = __ballot_sync(mask, i < (int)threadIdx.x);
        if (i == (int)threadIdx.x)
            break;
        mask = stay;
    }
    out[threadIdx.x] = rounds;
}

int main()
{
    int *out = zeros<int>(160);
    shuffles<<<1, 32>>>(out);
    std::vector<int> s = download(out, 160);
    bool good = true;
    for (int i = 0; i < 32; i++)
        good = good && s[i] == 10 && s[32 + i] == (i < 3 ? i : i - 3) && s[64 + i] == (i % 8 < 5 ? i + 3 : i) && s[96 + i] == (i ^ 9) && s[128 + i] == (i + 1) % 32 * 5;
    check(good, "shuffles");
    unsigned *masks = zeros<unsigned>(256);
    votes<<<1, 32>>>(masks);
    std::vector<unsigned> v = download(masks, 256);
    good = true;
    for (unsigned i = 0; i < 32; i++) {
        unsigned *m = &v[i * 8], match = 0;
        for (unsigned j = 0; j < 32; j++)
            match |= (j / 5 == i / 5 ? 1u : 0u) << j;
        good = good && m[0] == 0x49249249 && m[1] == 1 && m[2] == 0 && m[3] == match && m[4] == 1 && m[5] == (i < 12 ? 0xfffu : ~0xfffu)
               && m[6] == (0xaaaaaaaa & (i < 12 ? 0xfffu : ~0xfffu)) && m[7] == 32;
    }
    check(good, "votes and matches");
    std::vector<int> data(10000);
    int wanted = 0;
    for (int i = 0; i < 10000; i++)
        wanted += data[i] = i % 37 - 10;
    int *sum = zeros<int>(1);
    sums<<<5, 192>>>(upload(data), sum, 10000);
    check(download(sum, 1)[0] == wanted, "a sum over blocks");
    leaving<<<1, 32>>>(out);
    s = download(out, 32);
    good = true;
    for (int i = 0; i < 32; i++) {
        int rounds = 0;
        for (int j = 0; j <= i; j++)
            rounds += 32 - j;
        good = good && s[i] == rounds;
    }
    check(good, "lanes that leave a loop");
    return finish();
}
