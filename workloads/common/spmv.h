/*
 * spmv.h: the host program of the sparse matrix-vector products. They differ in how threads share the rows, and so in
 * the order in which a row's products are added; both run the plain and the padded matrix, x through a texture
 * object. */
#ifndef WORKLOADS_SPMV_H
#define WORKLOADS_SPMV_H

#include "csr.h"
#include "workload.h"

struct spmv_method {
    const char *kernel;
    const char *padded_kernel;
    unsigned threads_per_row;
    float (*reference_row)(const struct csr *matrix, int row, const float *x);
};

int spmv_main(const struct workload *workload, const struct spmv_method *method, int argc, char **argv);

#endif
