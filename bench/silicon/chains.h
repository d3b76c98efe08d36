/* Chains of instructions: latency, and rate of a multiprocessor. */
#ifndef BENCH_SILICON_CHAINS_H
#define BENCH_SILICON_CHAINS_H

#include "kernel.h"

extern const struct chain chains[];
extern const unsigned chain_count;

void measure_chain(const struct chain *c);
void measure_barriers(void);

#endif
