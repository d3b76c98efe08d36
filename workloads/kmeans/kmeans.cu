/*
 * kmeans: the nearest of a few centres for each of many points, one thread a point.
 *
 * Features lie in global memory point by point, so the lanes of a warp load from as many lines as there are lanes, and each
 * line is used again by the same thread in the next iterations: if it is still in the cache. That is the variant that CCWS and DAWS
 * study; Rodinia's own goes through textures and constant memory. Centres are read by all lanes alike. Warps stay converged.
 *
 * Indices are unsigned: as they may wrap, the compiler computes both addresses anew in each iteration instead of counting two pointers up. That makes
 * 14 instructions an iteration; the 80 accesses in a thousand instructions that DAWS measured are 13.
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
