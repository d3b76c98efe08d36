/* product.h: references for products of matrices: single elements of C = A B, so that a large product can be sampled.
 */
#ifndef WORKLOADS_PRODUCT_H
#define WORKLOADS_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "gpu.h"

/*
 * Compares elements of C (rows x columns, on the device) with the product of A and B, all of them or, of large ones,
 * about `wanted` at random places. `b_step` is the distance from one row of B to the next, `b_next` from one column to
 * the next.
 */
struct product {
    const float *a, *b;
    int rows, columns, depth;
    int b_step, b_next;
};
size_t product_check(const char *what, const struct product *product, CUdeviceptr c, size_t wanted, uint64_t *state);

#endif
