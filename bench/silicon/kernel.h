/* The PTX that is measured. */
#ifndef BENCH_SILICON_KERNEL_H
#define BENCH_SILICON_KERNEL_H

enum { MOST_CHAINS = 4, THREAD_INPUT_BYTES = 256, THREAD_OUTPUT_BYTES = 32, SHARED_BYTES = 16384 };

struct chain {
    const char *name, *text;
    unsigned bits, instructions; /* of the text */
    int stride;                  /* of lanes in shared memory, in bytes; below 0: the chain is not of shared memory */
};

/* kernel k(in, out, zero, warm, trips): each thread repeats the text `length` times, for each of `chains` chains, in a
 * loop of `warm` turns and again, with the clock read before and after, in one of `trips`. To be freed.
 *
 *   in    256 bytes per thread: 16 values of 8 bytes for the registers a, then 4 each for b, c and d
 *   out   32 bytes per thread: clock before, clock after, the multiprocessor, what is left of the chains
 *   zero  0, which the compiler does not know: it ties the first instruction to the first reading of the clock; the
 *         second reading is guarded by a comparison with the result */
char *chain_kernel(const struct chain *c, unsigned chains, unsigned length);

#endif
