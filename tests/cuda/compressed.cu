// The ways in which nvcc packs device code: not compressed, LZ4, zstd, several targets, debugging information, the newest architecture.
// nvcc: --compress-mode=none
// nvcc: --compress-mode=speed
// nvcc: --compress-mode=size
// nvcc: --compress-mode=default -arch=compute_75
// nvcc: -G
// nvcc: -lineinfo
// nvcc: -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=[compute_90,sm_90]
#include "check.h"

__device__ const char *words[3] = {"one", "two", "three"};
__device__ int lengths[3];
__global__ void measure()
{
    const char *word = words[threadIdx.x];
    int length = 0;
    while (word[length])
        length++;
    lengths[threadIdx.x] = length;
}
__global__ void matrix(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[8][8], right[8][8];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
        left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int i = 0; i < 8; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

int main()
{
    measure<<<1, 3>>>();
    int got[3];
    CUDA(cudaMemcpyFromSymbol(got, lengths, sizeof got));
    check(got[0] == 3 && got[1] == 3 && got[2] == 5, "strings of the device");
    const int n = 32;
    std::vector<float> a(n * n), b(n * n);
    for (int i = 0; i < n * n; i++) {
        a[i] = (float)(i % 13) - 6;
        b[i] = (float)(i % 7) - 3;
    }
    float *c = zeros<float>(n * n);
    matrix<<<dim3(n / 8, n / 8), dim3(8, 8)>>>(upload(a), upload(b), c, n);
    std::vector<float> product = download(c, n * n);
    bool good = true;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[y * n + k] * b[k * n + x];
            good = good && product[y * n + x] == sum;
        }
    check(good, "a product of matrices");
    return finish();
}
