/* What stores take of an SM's port, loads of its L1, and what is kept of stores. */
#ifndef BENCH_SILICON_STORES_H
#define BENCH_SILICON_STORES_H

void measure_stores(void);

#endif
