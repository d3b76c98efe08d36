/*
 * attention: softmax(Q K' / 8) V for heads of 64, in half precision with sums in single.
 *
 * attention_forward follows FlashAttention 2 (Dao, 2023): a block has 64 queries of one head, a warp 16 of them; it
 * walks over the keys 64 at a time, keeps the greatest score and the sum of each row in registers, and corrects what it
 * has summed when the greatest changes. Scores never leave the registers: what mma leaves of Q K' is, packed to halves,
 * what it takes for P V.
 *
 * attention_decode is one query per head against all keys, as in generating text: blocks take a part of the keys each,
 * a warp a key at a time; attention_combine joins the parts.
 */
#include "device_matrix.h"

enum { HEAD = 64, ROWS = 64, THREADS = 128, PITCH = HEAD + 8, DECODE_WARPS = 4, DECODE_KEYS = 128 };
#define SCALE (0.125f * 0x1.715476p+0f) /* of 8, and of powers of two in place of powers of e */

/* 64 rows of 64 halves into shared memory. */
static inline __device__ void fetch_rows(unsigned to, const half_bits *from)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int piece = threadIdx.x + i * THREADS;
        copy_async(to + 2 * (piece / 8 * PITCH + piece % 8 * 8), from + piece * 8);
    }
}

/* The greatest, or the sum, over the four lanes that have a row's columns. */
static inline __device__ float quad_max(float value)
{
    value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, 1));
    return fmaxf(value, __shfl_xor_sync(ALL_LANES, value, 2));
}
static inline __device__ float quad_sum(float value)
{
    value += __shfl_xor_sync(ALL_LANES, value, 1);
    return value + __shfl_xor_sync(ALL_LANES, value, 2);
}

/* What a warp has: 16 rows, of which a lane has columns of two (lane / 4 and 8 below). */
struct rows {
    float out[HEAD / 8][4];
    float greatest[2], sum[2];
};

/* Scores become weights, and what was summed before is brought to the new greatest. */
static inline __device__ void reweigh(rows &rows, float (&scores)[ROWS / 8][4])
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float greatest = rows.greatest[half], sum = 0.0f;
#pragma unroll
        for (int j = 0; j < ROWS / 8; j++)
            greatest = fmaxf(greatest, fmaxf(scores[j][half * 2], scores[j][half * 2 + 1]));
        greatest = quad_max(greatest);
        float shrink = exp2_approx((rows.greatest[half] - greatest) * SCALE);
        float base = greatest * SCALE;
#pragma unroll
        for (int j = 0; j < ROWS / 8; j++) {
            sum += scores[j][half * 2] = exp2_approx(__fmaf_rn(scores[j][half * 2], SCALE, -base));
            sum += scores[j][half * 2 + 1] = exp2_approx(__fmaf_rn(scores[j][half * 2 + 1], SCALE, -base));
            rows.out[j][half * 2] *= shrink;
            rows.out[j][half * 2 + 1] *= shrink;
        }
        rows.sum[half] = __fmaf_rn(rows.sum[half], shrink, sum);
        rows.greatest[half] = greatest;
    }
}

/* scores += Q K' for the warp's 16 queries. */
static inline __device__ void make_scores(float (&scores)[ROWS / 8][4], unsigned queries, unsigned keys)
{
    int lane = threadIdx.x % LANES, top = threadIdx.x / LANES * 16;

#pragma unroll
    for (int i = 0; i < HEAD / 16; i++) {
        unsigned a[4];
        load_matrices(a, queries + 2 * ((top + lane % 16) * PITCH + i * 16 + lane / 16 * 8));
#pragma unroll
        for (int j = 0; j < ROWS / 16; j++) {
            unsigned b[4];
            load_matrices(b, keys + 2 * ((j * 16 + lane / 16 * 8 + lane % 8) * PITCH + i * 16 + lane / 8 % 2 * 8));
            multiply_add(scores[j * 2], a, b[0], b[1]);
            multiply_add(scores[j * 2 + 1], a, b[2], b[3]);
        }
    }
}

/* out += P V. */
static inline __device__ void sum_values(rows &rows, const float (&scores)[ROWS / 8][4], unsigned values)
{
    int lane = threadIdx.x % LANES;

#pragma unroll
    for (int j = 0; j < ROWS / 16; j++) {
        const float(&low)[4] = scores[j * 2], (&high)[4] = scores[j * 2 + 1];
        unsigned weights[4] = {pack_halves(low[0], low[1]), pack_halves(low[2], low[3]), pack_halves(high[0], high[1]),
                               pack_halves(high[2], high[3])};
#pragma unroll
        for (int i = 0; i < HEAD / 16; i++) {
            unsigned b[4];
            load_matrices_turned(b, values + 2 * ((j * 16 + lane % 16) * PITCH + i * 16 + lane / 16 * 8));
            multiply_add(rows.out[i * 2], weights, b[0], b[1]);
            multiply_add(rows.out[i * 2 + 1], weights, b[2], b[3]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    attention_forward(const half_bits *__restrict__ q, const half_bits *__restrict__ k, const half_bits *__restrict__ v,
                      float *__restrict__ out, int length)
{
    __shared__ half_bits q_tile[ROWS * PITCH] __attribute__((aligned(16)));
    __shared__ half_bits k_tile[ROWS * PITCH] __attribute__((aligned(16)));
    __shared__ half_bits v_tile[ROWS * PITCH] __attribute__((aligned(16)));
    int lane = threadIdx.x % LANES, top = threadIdx.x / LANES * 16;
    unsigned queries = shared_address(q_tile), keys = shared_address(k_tile), values = shared_address(v_tile);
    rows rows = {};

    q += blockIdx.y * length * HEAD + blockIdx.x * ROWS * HEAD;
    k += blockIdx.y * length * HEAD;
    v += blockIdx.y * length * HEAD;
    rows.greatest[0] = rows.greatest[1] = -1e30f;
    fetch_rows(queries, q);
    fetch_rows(keys, k);
    copy_commit();
    copy_wait<0>();
    __syncthreads();
#pragma unroll 1
    for (int base = 0; base < length; base += ROWS) {
        float scores[ROWS / 8][4] = {};
        fetch_rows(values, v + base * HEAD); /* while the scores are made */
        copy_commit();
        make_scores(scores, queries, keys);
        copy_wait<0>();
        __syncthreads();
        if (base + ROWS < length) /* while the values are summed */
            fetch_rows(keys, k + (base + ROWS) * HEAD);
        copy_commit();
        reweigh(rows, scores);
        sum_values(rows, scores, values);
        copy_wait<0>();
        __syncthreads();
    }
    out += (blockIdx.y * length + blockIdx.x * ROWS + top + lane / 4) * HEAD + lane % 4 * 2;
    float upper = __fdividef(1.0f, quad_sum(rows.sum[0])), lower = __fdividef(1.0f, quad_sum(rows.sum[1]));
#pragma unroll
    for (int i = 0; i < HEAD / 8; i++) {
        float2 first = {rows.out[i][0] * upper, rows.out[i][1] * upper};
        float2 second = {rows.out[i][2] * lower, rows.out[i][3] * lower};
        *(float2 *)(out + i * 8) = first;
        *(float2 *)(out + 8 * HEAD + i * 8) = second;
    }
}

static inline __device__ float2 unpack_halves(unsigned both)
{
    float low, high;
    asm("{ .reg .b16 %%l, %%h; mov.b32 {%%l, %%h}, %2; cvt.f32.f16 %0, %%l; cvt.f32.f16 %1, %%h; }"
        : "=f"(low), "=f"(high)
        : "r"(both));
    float2 result = {low, high};
    return result;
}

/* Queries are floats here, one per head. A part is HEAD sums, the greatest score, and the sum of weights. */
extern "C" __global__ void attention_decode(const float2 *__restrict__ q, const unsigned *__restrict__ k,
                                            const unsigned *__restrict__ v, float *__restrict__ parts, int length)
{
    __shared__ float2 outs[DECODE_WARPS][LANES];
    __shared__ float greatests[DECODE_WARPS], sums[DECODE_WARPS];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, head = blockIdx.y;
    int first = blockIdx.x * DECODE_KEYS, end = first + DECODE_KEYS < length ? first + DECODE_KEYS : length;
    float2 query = q[head * LANES + lane], out = {0.0f, 0.0f};
    float greatest = -1e30f, sum = 0.0f;

    for (int i = first + warp; i < end; i += DECODE_WARPS) {
        float2 key = unpack_halves(k[(head * length + i) * LANES + lane]);
        float2 value = unpack_halves(v[(head * length + i) * LANES + lane]);
        float score = warp_sum(__fmaf_rn(query.x, key.x, query.y * key.y)) * SCALE;
        float next = fmaxf(greatest, score);
        float shrink = exp2_approx(greatest - next), weight = exp2_approx(score - next);
        sum = __fmaf_rn(sum, shrink, weight);
        out = out * shrink + value * weight;
        greatest = next;
    }
    outs[warp][lane] = out;
    if (lane == 0) {
        greatests[warp] = greatest;
        sums[warp] = sum;
    }
    __syncthreads();
    if (warp > 0)
        return;
    for (int w = 1; w < DECODE_WARPS; w++) {
        float next = fmaxf(greatest, greatests[w]);
        float shrink = exp2_approx(greatest - next), weight = exp2_approx(greatests[w] - next);
        sum = sum * shrink + sums[w] * weight;
        out = out * shrink + outs[w][lane] * weight;
        greatest = next;
    }
    parts += (head * gridDim.x + blockIdx.x) * (HEAD + 2);
    parts[lane * 2] = out.x;
    parts[lane * 2 + 1] = out.y;
    if (lane == 0) {
        parts[HEAD] = greatest;
        parts[HEAD + 1] = sum;
    }
}

/* A block of 64 threads per head. */
extern "C" __global__ void attention_combine(const float *__restrict__ parts, float *__restrict__ out, int count)
{
    float greatest = -1e30f, sum = 0.0f, total = 0.0f;

    parts += blockIdx.x * count * (HEAD + 2);
    for (int i = 0; i < count; i++)
        greatest = fmaxf(greatest, parts[i * (HEAD + 2) + HEAD]);
    for (int i = 0; i < count; i++) {
        float weight = exp2_approx(parts[i * (HEAD + 2) + HEAD] - greatest);
        sum = __fmaf_rn(parts[i * (HEAD + 2) + HEAD + 1], weight, sum);
        total = __fmaf_rn(parts[i * (HEAD + 2) + threadIdx.x], weight, total);
    }
    out[blockIdx.x * HEAD + threadIdx.x] = __fdividef(total, sum);
}
