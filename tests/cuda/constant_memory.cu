// Constant memory: initial values, copies to symbols whole and in part, structures, pointers into it.
// nvcc: -arch=compute_75
#include "check.h"

struct settings { float scale; int offset; char name[8]; };
__constant__ float coefficients[64];
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ settings options = {1.5f, 4, "first"};
__constant__ const int *where = primes + 2;
__device__ int device_copy[8];

__global__ void polynomial(const float *x, float *y, int terms)
{
    float sum = 0;
    for (int i = terms - 1; i >= 0; i--)
        sum = sum * x[threadIdx.x] + coefficients[i];
    y[threadIdx.x] = sum;
}
__global__ void look(int *out, int i)
{
    out[0] = primes[i];
    out[1] = *where;
    out[2] = (int)(options.scale * 10) + options.offset;
    out[3] = options.name[0];
    device_copy[threadIdx.x] = primes[threadIdx.x] * 2;
}

int main()
{
    std::vector<float> c(64), x(32);
    for (int i = 0; i < 64; i++)
        c[i] = (float)(i % 5) - 2;
    for (int i = 0; i < 32; i++)
        x[i] = (i - 16) / 16.0f;
    CUDA(cudaMemcpyToSymbol(coefficients, c.data(), 64 * sizeof(float)));
    float *device_x = upload(x), *y = zeros<float>(32);
    polynomial<<<1, 32>>>(device_x, y, 64);
    std::vector<float> got = download(y, 32);
    bool good = true;
    for (int t = 0; t < 32; t++) {
        float sum = 0;
        for (int i = 63; i >= 0; i--)
            sum = fmaf(sum, x[t], c[i]);
        good = good && got[t] == sum;
    }
    check(good, "an array of coefficients");
    int *out = zeros<int>(4);
    look<<<1, 8>>>(out, 6);
    std::vector<int> o = download(out, 4);
    check(o[0] == 17 && o[1] == 5 && o[2] == 19 && o[3] == 'f', "initial values");
    int more[2] = {101, 103};
    CUDA(cudaMemcpyToSymbol(primes, more, sizeof more, 6 * sizeof(int)));
    settings changed = {2.0f, 9, "second"};
    CUDA(cudaMemcpyToSymbol(options, &changed, sizeof changed));
    look<<<1, 8>>>(out, 6);
    o = download(out, 4);
    check(o[0] == 101 && o[1] == 5 && o[2] == 29 && o[3] == 's', "changed in part and whole");
    int back[8];
    CUDA(cudaMemcpyFromSymbol(back, device_copy, sizeof back));
    check(back[0] == 4 && back[7] == 206, "read back through a device variable");
    int three = 0;
    CUDA(cudaMemcpyFromSymbol(&three, primes, sizeof three, sizeof(int)));
    check(three == 3, "constant memory is read back too");
    check_error(cudaMemcpyToSymbol(primes, back, sizeof back + 4), cudaErrorInvalidValue, "too much of it");
    cudaGetLastError();
    return finish();
}
