/* The programs that random machines run: three kernels of different nature, a launch each. */
#ifndef HEDDLE_TESTS_MACHINES_PROGRAMS_H
#define HEDDLE_TESTS_MACHINES_PROGRAMS_H

#include <stdint.h>

/* The buffer that a kernel is given, in words: what it reads; what it writes, which is the same on every machine; and
 * what depends on which thread comes first. */
enum {
    INPUT_WORDS = 16384,
    OUTPUT_WORDS = 8192,
    ORDER_WORDS = 1024,
    BUFFER_WORDS = INPUT_WORDS + OUTPUT_WORDS + ORDER_WORDS
};

struct program {
    const char *name, *nature;
    uint32_t blocks, threads;
};
enum { PROGRAMS = 3 };
extern const struct program programs[PROGRAMS];
extern const char programs_ptx[]; /* a kernel for each, of its name */

static inline uint32_t programs_input(uint32_t i) { return i * 2654435761u ^ (i * 2654435761u >> 15); }

#endif
