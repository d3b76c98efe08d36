// Large arrays in local memory: a table of each thread's own, through generic pointers, in calls that pass structures, in recursion, and where lanes diverge.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -G
#include "check.h"

enum { ENTRIES = 700, BLOCKS = 6, THREADS = 96 }; // an odd number of bytes in lines, and blocks whose last warp is full

struct row { int words[40]; double sum; };

__device__ __noinline__ void fill(unsigned char *bytes, int *words, int seed)
{
    for (int i = 0; i < ENTRIES; i++) {
        bytes[i] = (unsigned char)(i * 7 + seed);
        words[i] = i * seed;
    }
}
__device__ __noinline__ row make_row(const int *words, int from)
{
    row r;
    r.sum = 0;
    for (int i = 0; i < 40; i++) {
        r.words[i] = words[(from + i) % ENTRIES];
        r.sum += r.words[i];
    }
    return r;
}
__device__ __noinline__ int deep(int n, const int *above)
{
    int own[64];
    for (int i = 0; i < 64; i++)
        own[i] = above[i] + n;
    return n == 0 ? own[63] : deep(n - 1, own) + own[n];
}
__host__ __device__ static int byte_at(int i, int seed) { return (unsigned char)(i * 7 + seed); }

__global__ void tables(double *out)
{
    unsigned char bytes[ENTRIES];
    int words[ENTRIES], id = blockIdx.x * blockDim.x + threadIdx.x;
    fill(bytes, words, id + 1);
    double sum = 0;
    for (int i = id % 5; i < ENTRIES; i += 1 + id % 3) // lanes leave the loop at different times
        sum += bytes[(i * 11 + id) % ENTRIES];
    if (id % 2)
        words[id % ENTRIES] = -1;
    row r = make_row(words, id);
    out[id] = sum + r.sum + r.words[0] + deep(id % 4, words);
}

static double expected(int id)
{
    double sum = 0;
    std::vector<int> words(ENTRIES);
    for (int i = 0; i < ENTRIES; i++)
        words[i] = i * (id + 1);
    for (int i = id % 5; i < ENTRIES; i += 1 + id % 3)
        sum += byte_at((i * 11 + id) % ENTRIES, id + 1);
    if (id % 2)
        words[id % ENTRIES] = -1;
    for (int i = 0; i < 40; i++)
        sum += words[(id + i) % ENTRIES];
    sum += words[id % ENTRIES];
    int depth = id % 4, added = 0;
    for (int n = depth; n >= 0; n--) {
        added += n;
        sum += words[n == 0 ? 63 : n] + added;
    }
    return sum;
}

int main()
{
    CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10)); // nobody can tell how deep the recursion is
    double *out = zeros<double>(BLOCKS * THREADS);
    tables<<<BLOCKS, THREADS>>>(out);
    CUDA(cudaDeviceSynchronize());
    std::vector<double> got = download(out, BLOCKS * THREADS);
    bool good = true;
    for (int i = 0; i < BLOCKS * THREADS; i++)
        good = good && got[i] == expected(i);
    check(good, "tables of each thread's own");
    return finish();
}
