/*
 * Separate compilation: this unit calls functions, and uses variables, of link_second.cu.
 */
#define EXPORT extern "C" __global__ void

struct pair {
    unsigned first, second;
    double third;
};
extern __device__ pair second_combine(pair a, unsigned by);
extern __device__ unsigned (*second_choose(unsigned which))(unsigned);
extern __device__ unsigned second_table[8];
extern __constant__ unsigned second_constant[4];
__device__ unsigned first_counter = 5;
__device__ unsigned first_callback(unsigned x) { return x * 11 + first_counter; }

EXPORT link_calls(const unsigned *in, unsigned *out)
{
    unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    pair p = {x, i, x * 0.5};
    for (unsigned k = 0; k < 4; k++)
        p = second_combine(p, k);
    out[i] = p.first;
    out[n + i] = p.second ^ (unsigned)(long long)p.third;
    out[2 * n + i] = second_choose(x % 3)(x) + second_table[x % 8] + second_constant[x & 3];
}
