/*
 * Warp intrinsics: shuffles, votes, matches, reductions, under full and partial masks, in divergent code. No header of the toolkit beyond nvcc's own.
 */
#define EXPORT extern "C" __global__ void
#define START unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, plane = 0, x = in[i]
#define PUT(VALUE) out[n * plane++ + i] = (VALUE)
constexpr unsigned everyone = 0xffffffffu;

EXPORT warp_shuffle(const unsigned *in, unsigned *out)
{
    START;
    PUT(__shfl_sync(everyone, x, x));
    PUT(__shfl_sync(everyone, x, lane * 7, 16));
    PUT(__shfl_up_sync(everyone, x, 3));
    PUT(__shfl_up_sync(everyone, x, 2, 8));
    PUT(__shfl_down_sync(everyone, x, 5, 16));
    PUT(__shfl_xor_sync(everyone, x, 21));
    PUT((unsigned)(__shfl_sync(everyone, (unsigned long long)x << 20 | lane, lane ^ 9) >> 10));
    PUT((unsigned)__double2hiint(__shfl_down_sync(everyone, (double)x, 1)));
    PUT(__float_as_uint(__shfl_xor_sync(everyone, (float)x, 2, 4)));
}

EXPORT warp_vote(const unsigned *in, unsigned *out)
{
    START;
    PUT(__ballot_sync(everyone, x & 1));
    PUT(__any_sync(everyone, x % 37 == 0) | __all_sync(everyone, x % 37 != 0) << 1);
    PUT(__match_any_sync(everyone, x % 5));
    int same;
    unsigned matched = (__match_all_sync(everyone, x % 2 == 7 ? 1 : in[i - lane] % 3 == 0 ? x : 9, &same));
    PUT(matched + (unsigned)same);
    PUT(__match_any_sync(everyone, (unsigned long long)(x % 3) << 40));
    if (x & 2) {
        PUT(__ballot_sync(__activemask(), x & 4));
        plane--;
    } else {
        PUT(__popc(__activemask()));
        plane--;
    }
    plane++;
    __syncwarp();
    if (lane < 20)
        PUT(__ballot_sync(0xfffff, x % 3) ^ __match_any_sync(0xfffff, x & 1));
    else
        PUT(__all_sync(0xfff00000u, x) + __any_sync(0xfff00000u, x % 11 == 0) * 2);
}

#if __CUDA_ARCH__ >= 800
EXPORT warp_reduce(const unsigned *in, unsigned *out)
{
    START;
    PUT(__reduce_add_sync(everyone, x));
    PUT((unsigned)__reduce_add_sync(everyone, (int)x));
    PUT(__reduce_min_sync(everyone, x));
    PUT((unsigned)__reduce_min_sync(everyone, (int)x));
    PUT((unsigned)__reduce_max_sync(everyone, (int)x));
    PUT(__reduce_and_sync(everyone, x | 0x0f0f));
    PUT(__reduce_or_sync(everyone, x & 0xf00f));
    PUT(__reduce_xor_sync(everyone, x));
    if (lane % 3 == 0)
        PUT(__reduce_add_sync(0x49249249u, x));
    else
        PUT(__reduce_max_sync(~0x49249249u, x));
}
#endif

/* A bitonic sort over the lanes, then a segmented scan, both by shuffles alone. */
EXPORT warp_sort(const unsigned *in, unsigned *out)
{
    START;
    for (unsigned size = 2; size <= 32; size *= 2)
        for (unsigned stride = size / 2; stride; stride /= 2) {
            unsigned other = __shfl_xor_sync(everyone, x, stride);
            bool up = !(lane & size), low = !(lane & stride);
            x = (up == low) ? min(x, other) : max(x, other);
        }
    PUT(x);
    unsigned head = x % 4 == 0, sum = x >> 8;
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned before = __shfl_up_sync(everyone, sum, d), stop = __shfl_up_sync(everyone, head, d);
        if (lane >= d) {
            sum += head ? 0 : before;
            head |= stop;
        }
    }
    PUT(sum);
}

/* Lanes leave one after another; the rest goes on with what is left of the mask. */
EXPORT warp_leave(const unsigned *in, unsigned *out)
{
    START;
    unsigned mask = everyone, rounds = 0, mixed = 0;
    for (;;) {
        unsigned stay = __ballot_sync(mask, x % 9 != 0);
        if (x % 9 == 0)
            break;
        mask = stay;
        mixed = mixed * 5 + __shfl_sync(mask, x, __ffs(mask) - 1) + __popc(mask);
        x = x * 1664525u + 1013904223u + lane;
        if (++rounds == 40) {
            mixed ^= 0x5a5a;
            break;
        }
    }
    PUT(mixed);
    PUT(rounds);
}
