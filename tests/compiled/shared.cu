/*
 * Algorithms in shared memory: transpose, matrix product, scans (one of them warp-synchronous with volatile), sorting, a stencil; static and dynamic arrays.
 */
#define EXPORT extern "C" __global__ void

template <typename T> static __device__ void transpose(const T *in, T *out)
{
    __shared__ T tile[32][33];
    unsigned x = blockIdx.x * 32 + threadIdx.x, width = gridDim.x * 32, height = gridDim.y * 32;
    for (unsigned y = threadIdx.y; y < 32; y += blockDim.y)
        tile[y][threadIdx.x] = in[(blockIdx.y * 32 + y) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    for (unsigned y = threadIdx.y; y < 32; y += blockDim.y)
        out[(blockIdx.x * 32 + y) * height + x] = tile[threadIdx.x][y];
}
EXPORT shared_transpose(const unsigned *in, unsigned *out) { transpose(in, out); }
EXPORT shared_transpose_wide(const ulonglong2 *in, ulonglong2 *out) { transpose(in, out); }

/* C = A B of 64 x 64 floats, a 16 x 16 tile a block. */
EXPORT shared_matmul(const float *in, float *out)
{
    __shared__ float a[16][16], b[16][16];
    unsigned tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (unsigned k = 0; k < 64; k += 16) {
        a[ty][tx] = in[row * 64 + k + tx];
        b[ty][tx] = in[4096 + (k + ty) * 64 + column];
        __syncthreads();
#pragma unroll
        for (unsigned j = 0; j < 16; j++)
            sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    out[row * 64 + column] = sum;
}

/* Register tiles of 4 x 4 doubles out of dynamic shared memory. */
EXPORT shared_matmul_double(const double *in, double *out)
{
    extern __shared__ double panel[];
    double *a = panel, *b = panel + 32 * 32, sum[4][4] = {};
    unsigned t = threadIdx.x, tx = t % 8, ty = t / 8;
    for (unsigned k = t; k < 1024; k += blockDim.x) {
        a[k] = in[blockIdx.x * 1024 + k];
        b[k] = in[(gridDim.x - 1 - blockIdx.x) * 1024 + k];
    }
    __syncthreads();
    for (unsigned k = 0; k < 32; k++)
        for (unsigned r = 0; r < 4; r++)
            for (unsigned c = 0; c < 4; c++)
                sum[r][c] += a[(ty * 4 + r) * 32 + k] * b[k * 32 + tx * 4 + c];
    for (unsigned r = 0; r < 4; r++)
        for (unsigned c = 0; c < 4; c++)
            out[blockIdx.x * 1024 + (ty * 4 + r) * 32 + tx * 4 + c] = sum[r][c];
}

/* The reduction of the days before __syncwarp: volatile, the last warp without barriers. __syncwarp keeps it legal on later machines. */
EXPORT shared_reduce(const unsigned *in, unsigned *out)
{
    __shared__ volatile unsigned data[256];
    unsigned t = threadIdx.x;
    data[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned s = 128; s > 32; s >>= 1) {
        if (t < s)
            data[t] += data[t + s];
        __syncthreads();
    }
    if (t < 32) {
        unsigned v = data[t];
        for (unsigned s = 32; s; s >>= 1) {
            v += data[t + s];
            __syncwarp();
            data[t] = v;
            __syncwarp();
        }
        if (t == 0)
            out[blockIdx.x] = v;
    }
}

/* Warp-synchronous Hillis-Steele scan in volatile memory with a margin of zeros, then a scan of the warps' sums. */
EXPORT shared_scan(const unsigned *in, unsigned *out)
{
    __shared__ volatile unsigned lanes[8][48];
    __shared__ unsigned sums[8];
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32, i = blockIdx.x * blockDim.x + t;
    volatile unsigned *mine = &lanes[warp][16];
    unsigned v = in[i];
    if (lane < 16)
        lanes[warp][lane] = 0;
    mine[lane] = v;
    __syncwarp();
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned add = mine[(int)lane - (int)(d & 31)];
        __syncwarp();
        v += lane >= d ? add : 0;
        mine[lane] = v;
        __syncwarp();
    }
    if (lane == 31)
        sums[warp] = v;
    __syncthreads();
    for (unsigned w = 0; w < warp; w++)
        v += sums[w];
    out[i] = v;
}

EXPORT shared_bitonic(const unsigned *in, unsigned *out)
{
    extern __shared__ unsigned keys[];
    unsigned t = threadIdx.x, n = 2 * blockDim.x;
    keys[t] = in[blockIdx.x * n + t];
    keys[t + blockDim.x] = in[blockIdx.x * n + t + blockDim.x];
    for (unsigned size = 2; size <= n; size *= 2)
        for (unsigned stride = size / 2; stride; stride /= 2) {
            __syncthreads();
            unsigned low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool up = !(low & size);
            if ((keys[low] > keys[high]) == up) {
                unsigned swap = keys[low];
                keys[low] = keys[high];
                keys[high] = swap;
            }
        }
    __syncthreads();
    out[blockIdx.x * n + t] = keys[t];
    out[blockIdx.x * n + t + blockDim.x] = keys[t + blockDim.x];
}

EXPORT shared_stencil(const float *in, float *out)
{
    __shared__ float line[2][260];
    unsigned t = threadIdx.x, base = blockIdx.x * 256;
    line[0][t + 2] = in[base + t];
    if (t < 2) {
        line[0][t] = line[1][t] = 1.0f;
        line[0][258 + t] = line[1][258 + t] = -1.0f;
    }
    for (int step = 0; step < 10; step++) {
        __syncthreads();
        const float *from = line[step & 1];
        line[~step & 1][t + 2] = 0.1f * (from[t] + from[t + 4]) + 0.25f * (from[t + 1] + from[t + 3]) + 0.3f * from[t + 2];
    }
    out[base + t] = line[0][t + 2];
}

/* Barriers that count and vote, and named barriers between producers and consumers. */
EXPORT shared_barriers(const unsigned *in, unsigned *out)
{
    __shared__ unsigned box[64];
    unsigned t = threadIdx.x, x = in[blockIdx.x * blockDim.x + t], mixed = 0;
    mixed += __syncthreads_count(x & 1);
    mixed += __syncthreads_or(x % 97 == 0) << 9;
    mixed += (__syncthreads_and(x != 0) != 0) << 12;
    unsigned warp = t / 32, lane = t % 32;
    for (unsigned round = 0; round < 5; round++) {
        if (warp == 0) {
            box[lane] = x + round;
            asm volatile("barrier.sync 1, 64;" ::: "memory");
            asm volatile("barrier.sync 2, 64;" ::: "memory");
        } else if (warp == 1) {
            asm volatile("barrier.sync 1, 64;" ::: "memory");
            mixed = mixed * 3 + box[31 - lane];
            asm volatile("barrier.sync 2, 64;" ::: "memory");
        }
    }
    if (warp == 2)
        asm volatile("bar.arrive 3, 64;" ::: "memory");
    else if (warp == 3)
        asm volatile("bar.sync 3, 64;" ::: "memory");
    out[blockIdx.x * blockDim.x + t] = mixed;
}
