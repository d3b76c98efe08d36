/* Caches and memory, walked by one thread. */
#ifndef BENCH_SILICON_MEMORY_H
#define BENCH_SILICON_MEMORY_H

#include <stddef.h>

/* most_bytes: of the largest buffer. */
void measure_chases(size_t most_bytes);
void measure_each_load(size_t most_bytes);

#endif
