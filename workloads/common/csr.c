/* csr.c: see csr.h. */
#include "csr.h"

#include <stdlib.h>

#include "random.h"
#include "workload.h"

enum { PAD = 16, ONE_IN = 100, VALUE_LIMIT = 10 };

static void csr_alloc(struct csr *matrix, int row_count, int element_count)
{
    matrix->row_count = row_count;
    matrix->row_starts = workload_alloc(row_count + 1, sizeof(int));
    matrix->columns = workload_alloc(element_count, sizeof(int));
    matrix->values = workload_alloc(element_count, sizeof(float));
}

/*
 * Walks all places of the matrix in order and takes each with the probability that fills it exactly: elements still
 * wanted over places still to
 * come. */
void csr_random(struct csr *matrix, int row_count, uint64_t *state)
{
    uint64_t places = (uint64_t)row_count * row_count;
    int element_count = places / ONE_IN;
    int taken = 0;

    csr_alloc(matrix, row_count, element_count);
    for (int row = 0; row < row_count; row++) {
        matrix->row_starts[row] = taken;
        for (int column = 0; column < row_count; column++, places--) {
            if (random_below(state, places) >= (uint32_t)(element_count - taken))
                continue;
            matrix->columns[taken] = column;
            matrix->values[taken++] = random_float(state) * VALUE_LIMIT;
        }
    }
    matrix->row_starts[row_count] = taken;
}

static int padded_length(const struct csr *matrix, int row)
{
    return (matrix->row_starts[row + 1] - matrix->row_starts[row] + PAD - 1) / PAD * PAD;
}

void csr_pad(struct csr *padded, const struct csr *matrix)
{
    int element_count = 0;

    for (int row = 0; row < matrix->row_count; row++)
        element_count += padded_length(matrix, row);
    csr_alloc(padded, matrix->row_count, element_count);
    for (int row = 0; row < matrix->row_count; row++) {
        int to = padded->row_starts[row];
        for (int from = matrix->row_starts[row]; from < matrix->row_starts[row + 1]; from++, to++) {
            padded->columns[to] = matrix->columns[from];
            padded->values[to] = matrix->values[from];
        }
        padded->row_starts[row + 1] = padded->row_starts[row] + padded_length(matrix, row);
    }
}

void csr_free(struct csr *matrix)
{
    free(matrix->row_starts);
    free(matrix->columns);
    free(matrix->values);
}
