/* csr.h: random sparse matrices in compressed rows, for the workloads that multiply them with a vector. */
#ifndef WORKLOADS_CSR_H
#define WORKLOADS_CSR_H

#include <stdint.h>

struct csr {
    int row_count;
    int *row_starts; /* row_count + 1; the last is the number of elements */
    int *columns;
    float *values;
};

/* Square, one element in a hundred, at random places: rows differ in length. Columns ascend within a row. */
void csr_random(struct csr *matrix, int row_count, uint64_t *state);

/* The same matrix, each row filled up with zeros (of column 0) to a multiple of 16 elements. */
void csr_pad(struct csr *padded, const struct csr *matrix);

void csr_free(struct csr *matrix);

#endif
