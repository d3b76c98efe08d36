/* spmv-scalar: host program; see spmv-scalar.cu for what the kernels do and common/spmv.h for what is shared. */
#include <math.h>

#include "spmv.h"

/* The thread of a row adds its products from left to right. */
static float reference_row(const struct csr *matrix, int row, const float *x)
{
    float sum = 0.0f;

    for (int i = matrix->row_starts[row]; i < matrix->row_starts[row + 1]; i++)
        sum = fmaf(matrix->values[i], x[matrix->columns[i]], sum);
    return sum;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "spmv-scalar",
        .summary = "Sparse matrix-vector product, compressed rows, one thread a row.",
        .inputs = {"2,000 rows, 40,000 elements", "12,288 rows, 1,509,949 elements", "8,192 rows, 671,088 elements"},
    };
    static const struct spmv_method method = {"spmv_scalar", "spmv_scalar_padded", 1, reference_row};

    return spmv_main(&workload, &method, argc, argv);
}
