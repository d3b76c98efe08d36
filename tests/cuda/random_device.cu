// The random number generators of the device, which are headers alone: Philox against the published algorithm, XORWOW against itself after a skip, and distributions by
// their moments.
// nvcc: -arch=compute_75
#include "check.h"
#include <curand_kernel.h>

__global__ void philox(unsigned *out, unsigned long long seed)
{
    curandStatePhilox4_32_10_t state;
    curand_init(seed, threadIdx.x, 0, &state);
    uint4 four = curand4(&state);
    out[threadIdx.x * 4] = four.x;
    out[threadIdx.x * 4 + 1] = four.y;
    out[threadIdx.x * 4 + 2] = four.z;
    out[threadIdx.x * 4 + 3] = four.w;
}
__global__ void skips(unsigned *out)
{
    curandState drawn, skipped;
    curand_init(1234, threadIdx.x, 0, &drawn);
    curand_init(1234, threadIdx.x, 37, &skipped);
    for (int i = 0; i < 37; i++)
        curand(&drawn);
    out[threadIdx.x * 2] = curand(&drawn);
    out[threadIdx.x * 2 + 1] = curand(&skipped);
}
__global__ void moments(double *sums, int count)
{
    curandState state;
    curand_init(99, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    double uniform = 0, normal = 0, squares = 0, poisson = 0;
    for (int i = 0; i < count; i++) {
        uniform += curand_uniform(&state);
        double x = curand_normal_double(&state);
        normal += x;
        squares += x * x;
        poisson += curand_poisson(&state, 3.0);
    }
    atomicAdd(&sums[0], uniform);
    atomicAdd(&sums[1], normal);
    atomicAdd(&sums[2], squares);
    atomicAdd(&sums[3], poisson);
}

// Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011.
static void philox_host(unsigned *c, unsigned k0, unsigned k1)
{
    for (int round = 0; round < 10; round++) {
        unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        unsigned next[4] = {(unsigned)(b >> 32) ^ c[1] ^ k0, (unsigned)b, (unsigned)(a >> 32) ^ c[3] ^ k1, (unsigned)a};
        for (int i = 0; i < 4; i++)
            c[i] = next[i];
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

int main()
{
    unsigned *out = zeros<unsigned>(256);
    philox<<<1, 64>>>(out, 0x123456789abcull);
    std::vector<unsigned> got = download(out, 256);
    bool good = true;
    for (unsigned t = 0; t < 64; t++) {
        unsigned counter[4] = {0, 0, t, 0};
        philox_host(counter, 0x56789abc, 0x1234);
        for (int i = 0; i < 4; i++)
            good = good && got[t * 4 + i] == counter[i];
    }
    check(good, "Philox");
    skips<<<1, 64>>>(out);
    got = download(out, 128);
    good = true;
    for (int t = 0; t < 64; t++)
        good = good && got[t * 2] == got[t * 2 + 1] && (t == 0 || got[t * 2] != got[t * 2 - 2]);
    check(good, "XORWOW skips ahead");
    double *sums = zeros<double>(4);
    const int draws = 100, n = 128 * draws;
    moments<<<2, 64>>>(sums, draws);
    std::vector<double> s = download(sums, 4);
    check(fabs(s[0] / n - 0.5) < 0.02, "mean of the uniform distribution");
    check(fabs(s[1] / n) < 0.05 && fabs(s[2] / n - 1) < 0.08, "mean and variance of the normal distribution");
    check(fabs(s[3] / n - 3) < 0.1, "mean of the Poisson distribution");
    return finish();
}
