/*
 * Matrix products through the wmma interface. Operands are small whole numbers, so that sums are exact in any order.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#define EXPORT extern "C" __global__ void

/* 64 x 64 = 64 x 64 times 64 x 64, a warp a 16 x 16 tile. */
template <typename in_type, typename sum_type, int M, int N, int K, typename layout_b, typename load_type>
static __device__ void product(const int *in, load_type *a_store, load_type *b_store, sum_type *out)
{
    unsigned t = threadIdx.x, warp = (blockIdx.x * blockDim.x + t) / 32;
    for (unsigned k = t; k < 4096; k += blockDim.x) {
        a_store[k] = (load_type)(float)(in[k] % 8);
        b_store[k] = (load_type)(float)(in[4096 + k] % 8);
    }
    __syncthreads();
    unsigned row = warp / (64 / N) * M, column = warp % (64 / N) * N;
    wmma::fragment<wmma::matrix_a, M, N, K, in_type, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, M, N, K, in_type, layout_b> b;
    wmma::fragment<wmma::accumulator, M, N, K, sum_type> c;
    wmma::fill_fragment(c, (sum_type)1.0f);
    for (unsigned k = 0; k < 64; k += K) {
        wmma::load_matrix_sync(a, a_store + row * 64 + k, 64);
        wmma::load_matrix_sync(b, b_store + k * 64 + column, 64);
        wmma::mma_sync(c, a, b, c);
    }
    for (int e = 0; e < c.num_elements; e++)
        c.x[e] = c.x[e] * (sum_type)2.0f;
    wmma::store_matrix_sync(out + row * 64 + column, c, 64, wmma::mem_row_major);
}

EXPORT tensor_half(const int *in, float *out)
{
    __shared__ alignas(32) __half a[4096], b[4096];
    product<__half, float, 16, 16, 16, wmma::row_major>(in, a, b, out);
}

EXPORT tensor_half_half(const int *in, __half *out)
{
    __shared__ alignas(32) __half a[4096], b[4096];
    product<__half, __half, 32, 8, 16, wmma::row_major>(in, a, b, out);
}

#if __CUDA_ARCH__ >= 800
EXPORT tensor_bfloat(const int *in, float *out)
{
    __shared__ alignas(32) __nv_bfloat16 a[4096], b[4096];
    product<__nv_bfloat16, float, 16, 16, 16, wmma::row_major>(in, a, b, out);
}
#endif

EXPORT tensor_byte(const int *in, int *out)
{
    __shared__ alignas(32) signed char a[4096], b[4096];
    product<signed char, int, 8, 32, 16, wmma::row_major>(in, a, b, out);
}

#if __CUDA_ARCH__ >= 800
EXPORT tensor_double(const double *in, double *out)
{
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> c;
    wmma::fill_fragment(c, 0.0);
    for (unsigned k = 0; k < 16; k += 4) {
        wmma::load_matrix_sync(a, in + warp * 128 + k, 16);
        wmma::load_matrix_sync(b, in + 512 + warp * 128 + k, 16);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(out + warp * 64, c, 8, wmma::mem_col_major);
}

EXPORT tensor_tf32(const int *in, float *out)
{
    __shared__ float a[256], b[256];
    for (unsigned k = threadIdx.x; k < 256; k += 32) {
        a[k] = (float)(in[k] % 1000);
        b[k] = (float)(in[256 + k] % 4) + 0.5f;
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (unsigned k = 0; k < 16; k += 8) {
        wmma::load_matrix_sync(fa, a + k, 16);
        wmma::load_matrix_sync(fb, b + k * 16, 16);
        for (int e = 0; e < fa.num_elements; e++)
            fa.x[e] = wmma::__float_to_tf32(fa.x[e]);
        for (int e = 0; e < fb.num_elements; e++)
            fb.x[e] = wmma::__float_to_tf32(fb.x[e]);
        wmma::mma_sync(c, fa, fb, c);
    }
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
#endif
