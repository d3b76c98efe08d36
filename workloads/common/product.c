/* product.c: see product.h. */
#include "product.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"
#include "workload.h"

/* Whether one element is as near as 24 bits and any order of additions make it. */
static int is_near(const struct product *product, size_t row, size_t column, float got, double *sum)
{
    const float *a = product->a + row * product->depth;
    const float *b = product->b + column * product->b_next;
    double absolute = 0.0;

    *sum = 0.0;
    for (int k = 0; k < product->depth; k++) {
        double term = (double)a[k] * b[(size_t)k * product->b_step];
        *sum += term;
        absolute += fabs(term);
    }
    return fabs(got - *sum) <= absolute * 2e-6 + 1e-6;
}

size_t product_check(const char *what, const struct product *product, CUdeviceptr c, size_t wanted, uint64_t *state)
{
    size_t count = (size_t)product->rows * product->columns, mismatches = 0;
    float *got = workload_alloc(count, sizeof(float));
    size_t steps = count <= wanted ? count : wanted;

    gpu_download(got, c, count * sizeof(float));
    for (size_t i = 0; i < steps; i++) {
        size_t at = steps == count ? i : random_below(state, count);
        double sum;
        if (!is_near(product, at / product->columns, at % product->columns, got[at], &sum) && mismatches++ == 0)
            fprintf(stderr, "%s: element %zu is %.9g, expected about %.9g\n", what, at, got[at], sum);
    }
    free(got);
    return mismatches;
}
