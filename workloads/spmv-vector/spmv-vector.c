/* spmv-vector: host program; see spmv-vector.cu for what the kernels do and common/spmv.h for what is shared. */
#include <math.h>

#include "spmv.h"

enum { LANES = 32 };

/* Every 32nd product goes to one sum; then the upper half of the sums is added to the lower, until one is left. */
static float reference_row(const struct csr *matrix, int row, const float *x)
{
    float sums[LANES] = {0.0f};
    int start = matrix->row_starts[row];

    for (int i = start; i < matrix->row_starts[row + 1]; i++) {
        float *sum = &sums[(i - start) % LANES];
        *sum = fmaf(matrix->values[i], x[matrix->columns[i]], *sum);
    }
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++)
            sums[i] += sums[i + half];
    }
    return sums[0];
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "spmv-vector",
        .summary = "Sparse matrix-vector product, compressed rows, one warp a row.",
        .inputs = {"2,000 rows, 40,000 elements", "12,288 rows, 1,509,949 elements", "8,192 rows, 671,088 elements"},
    };
    static const struct spmv_method method = {"spmv_vector", "spmv_vector_padded", LANES, reference_row};

    return spmv_main(&workload, &method, argc, argv);
}
