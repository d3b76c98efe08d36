/* What takes the whole GPU: bandwidth, atomics, launches, where blocks go. */
#ifndef BENCH_SILICON_MACHINE_H
#define BENCH_SILICON_MACHINE_H

#include <stddef.h>

void measure_bandwidth(size_t most_bytes);
void measure_atomics(void);
void measure_launches(void);
void measure_order(void);    /* in which order the warps of a block issue */
void measure_dispatch(void); /* which multiprocessor each block got, and when */

#endif
