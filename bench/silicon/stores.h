/* What stores take of an SM's port, and what of them the L1 keeps. */
#ifndef BENCH_SILICON_STORES_H
#define BENCH_SILICON_STORES_H

void measure_stores(void);

#endif
