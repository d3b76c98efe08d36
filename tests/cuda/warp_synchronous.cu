// Habits of programs from before 2017: a warp's lanes exchange data through volatile shared memory, and no barrier says so.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -G
#include "check.h"

__global__ void sums(const int *in, int *out)
{
    volatile __shared__ int values[256];
    int t = threadIdx.x;
    values[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    if (t < 128)
        values[t] += values[t + 128];
    __syncthreads();
    if (t < 64)
        values[t] += values[t + 64];
    __syncthreads();
    if (t < 32) {
        values[t] += values[t + 32];
        values[t] += values[t + 16];
        values[t] += values[t + 8];
        values[t] += values[t + 4];
        values[t] += values[t + 2];
        values[t] += values[t + 1];
    }
    if (t == 0)
        out[blockIdx.x] = values[0];
}
__global__ void scan(const int *in, int *out)
{
    volatile __shared__ int values[128 + 16 * 4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, place = warp * 48 + 16 + lane;
    values[place - 16] = 0;
    values[place] = in[threadIdx.x];
    values[place] += values[place - 1];
    values[place] += values[place - 2];
    values[place] += values[place - 4];
    values[place] += values[place - 8];
    values[place] += values[place - 16];
    out[threadIdx.x] = values[place];
}
__global__ void bitonic(int *data)
{
    volatile __shared__ int values[32];
    int t = threadIdx.x;
    values[t] = data[t];
    for (int size = 2; size <= 32; size *= 2)
        for (int stride = size / 2; stride; stride /= 2) {
            int other = t ^ stride;
            if (other > t) {
                int a = values[t], b = values[other];
                if ((a > b) == ((t & size) == 0)) {
                    values[t] = b;
                    values[other] = a;
                }
            }
        }
    data[t] = values[t];
}
// All lanes write one place; one of them wins and all see the same winner.
__global__ void vote(int *out)
{
    volatile __shared__ int winner;
    winner = threadIdx.x;
    out[threadIdx.x] = winner;
}

int main()
{
    const int blocks = 4, n = blocks * 256;
    std::vector<int> host(n);
    random_numbers random(29);
    for (int &x : host)
        x = random.next() % 1000;
    int *in = upload(host), *out = zeros<int>(n);
    sums<<<blocks, 256>>>(in, out);
    std::vector<int> got = download(out, blocks);
    bool good = true;
    for (int b = 0; b < blocks; b++) {
        int sum = 0;
        for (int i = 0; i < 256; i++)
            sum += host[b * 256 + i];
        good = good && got[b] == sum;
    }
    check(good, "sums");
    scan<<<1, 128>>>(in, out);
    got = download(out, 128);
    good = true;
    for (int w = 0; w < 4; w++) {
        int sum = 0;
        for (int i = w * 32; i < w * 32 + 32; i++) {
            sum += host[i];
            good = good && got[i] == sum;
        }
    }
    check(good, "prefix sums");
    bitonic<<<1, 32>>>(in);
    got = download(in, 32);
    good = true;
    for (int i = 1; i < 32; i++)
        good = good && got[i - 1] <= got[i];
    check(good, "sorting");
    vote<<<1, 32>>>(out);
    got = download(out, 32);
    good = true;
    for (int i = 1; i < 32; i++)
        good = good && got[i] == got[0];
    check(good, "one winner");
    return finish();
}
