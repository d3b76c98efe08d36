// Matrix fragments of a warp.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_80
#include "check.h"
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void product(const __half *a, const __half *b, float *c, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(left, a + row * n + k, n);
        wmma::load_matrix_sync(right, b + column * n + k, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] *= 2.0f;
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
__global__ void bytes(const signed char *a, const signed char *b, int *c)
{
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 32);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 32, wmma::mem_row_major);
}

int main()
{
    const int n = 48;
    std::vector<__half> a(n * n), b(n * n);
    std::vector<float> x(n * n), y(n * n);
    for (int i = 0; i < n * n; i++) {
        x[i] = (float)(i * 7 % 11 - 5);
        y[i] = (float)(i * 5 % 13 - 6);
        a[i] = __float2half(x[i]);
        b[i] = __float2half(y[i]);
    }
    float *c = zeros<float>(n * n);
    product<<<dim3(n / 16, n / 16), 32>>>(upload(a), upload(b), c, n);
    std::vector<float> got = download(c, n * n);
    bool good = true;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 1;
            for (int k = 0; k < n; k++)
                sum += x[i * n + k] * y[j * n + k];
            good = good && got[i * n + j] == 2 * sum;
        }
    check(good, "halves");
    std::vector<signed char> p(8 * 16), q(16 * 32);
    for (size_t i = 0; i < p.size(); i++)
        p[i] = (signed char)(i * 3);
    for (size_t i = 0; i < q.size(); i++)
        q[i] = (signed char)(i * 5 - 100);
    int *d = zeros<int>(8 * 32);
    bytes<<<1, 32>>>(upload(p), upload(q), d);
    std::vector<int> r = download(d, 8 * 32);
    good = true;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 32; j++) {
            int sum = 0;
            for (int k = 0; k < 16; k++)
                sum += p[i * 16 + k] * q[k * 32 + j];
            good = good && r[i * 32 + j] == sum;
        }
    check(good, "bytes");
    return finish();
}
