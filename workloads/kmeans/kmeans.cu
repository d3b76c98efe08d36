/*
 * kmeans: the nearest of a few centres for each of many points, one thread per point. First as CCWS and DAWS changed
 * it: features lie in global memory point by point, so the lanes of a warp load from as many lines as there are lanes,
 * and a thread uses its line again in the next iterations, if it is still in the cache. Centres are read by all lanes
 * alike. Warps stay converged. The kernels of the original program, which CAWA runs, follow below.
 *
 * Indices are unsigned: as they may wrap, the compiler computes both addresses anew in each iteration instead of
 * counting two pointers up. That makes 14 instructions per iteration; the 80 accesses in a thousand instructions that
 * DAWS measured are 13.
 */
#include "device.h"

extern "C" __global__ void kmeans_assign(const float *points, const float *centres, int *membership, unsigned point_count,
                                         unsigned feature_count, int centre_count)
{
    unsigned point = blockIdx.x * blockDim.x + threadIdx.x;

    if (point < point_count) {
        float nearest = 3.402823466e+38f;
        int best = 0;
#pragma unroll 1
        for (int centre = 0; centre < centre_count; centre++) {
            float distance = 0.0f;
#pragma unroll 1
            for (unsigned i = 0; i < feature_count; i++) {
                float difference = __fsub_rn(points[point * feature_count + i], centres[centre * feature_count + i]);
                distance = __fmaf_rn(difference, difference, distance);
            }
            if (distance < nearest) {
                nearest = distance;
                best = centre;
            }
        }
        membership[point] = best;
    }
}

/*
 * The program as Rodinia has it. kmeans_transpose runs once: a thread walks the row of its point, so that the lanes of
 * a warp load from as many lines as there are lanes, and from the same ones in the next iterations; what they store
 * lies side by side. kmeans_assign_transposed reads that copy through a texture, 32 neighbours per warp, and the
 * centres from constant memory: nothing is left for the L1D but the store of the result.
 */
enum { CENTRES = 5, FEATURES_MAX = 400 };

extern "C" {
__constant__ float kmeans_centres[CENTRES * FEATURES_MAX]; /* centre by centre, without gaps */
}

extern "C" __global__ void kmeans_transpose(const float *points, float *features, int point_count, int feature_count)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;

    if (point < point_count) {
#pragma unroll 1
        for (int i = 0; i < feature_count; i++)
            features[i * point_count + point] = points[point * feature_count + i];
    }
}

extern "C" __global__ void kmeans_assign_transposed(texture_1d features, int *membership, int point_count,
                                                    int feature_count, int centre_count)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;

    if (point < point_count) {
        float nearest = 3.402823466e+38f;
        int best = 0;
#pragma unroll 1
        for (int centre = 0; centre < centre_count; centre++) {
            float distance = 0.0f;
#pragma unroll 1
            for (int i = 0; i < feature_count; i++) {
                float difference = __fsub_rn(texture_fetch(features, i * point_count + point),
                                             kmeans_centres[centre * feature_count + i]);
                distance = __fmaf_rn(difference, difference, distance);
            }
            if (distance < nearest) {
                nearest = distance;
                best = centre;
            }
        }
        membership[point] = best;
    }
}
