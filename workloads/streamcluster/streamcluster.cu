/*
 * streamcluster: what clustering gains from one more centre, one thread per point, one launch per candidate.
 *
 * Coordinates lie in global memory dimension by dimension: in the loop each thread reads those of its own point (lanes
 * side by side) and those of the candidate (one address for all lanes). Whether a point would move to the candidate
 * depends on the data. Each thread then stores one number to its own row of the work matrix, whose columns are the
 * centres and, last, the candidate; the host adds up the columns and decides. Blocks are 512 threads.
 */
#include "device.h"

struct point {
    float weight;
    float cost; /* weighted distance to its centre */
    int centre; /* the number of a point */
};

/* `columns` is the column of a centre in the work matrix, by the number of its point. */
extern "C" __global__ void streamcluster_gain(const point *points, const float *coordinates, const int *columns,
                                              float *work, unsigned char *moves, int point_count, int dimensions,
                                              int candidate, int centre_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < point_count) {
        float distance = 0.0f;
#pragma unroll 1
        for (int d = 0; d < dimensions; d++) {
            float difference = __fsub_rn(coordinates[d * point_count + i], coordinates[d * point_count + candidate]);
            distance = __fmaf_rn(difference, difference, distance);
        }
        float cost = __fmul_rn(distance, points[i].weight);
        float extra = __fsub_rn(cost, points[i].cost);
        float *row = &work[i * (centre_count + 1)];

        if (cost < points[i].cost) {
            moves[i] = 1;
            row[centre_count] = extra;
        } else {
            row[columns[points[i].centre]] = extra; /* if its centre were closed */
        }
    }
}
