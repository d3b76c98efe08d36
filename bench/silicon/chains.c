/* A chain of dependent instructions in one warp has the latency: the difference between a chain and one twice as long,
 * so that what surrounds it cancels. Four chains in each of 32 warps have the rate. */
#include "chains.h"

#include "gpu_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct chain chains[] = {
#define CHAIN(name, bits, count, text)          {name, text, bits, count, -1},
#define SHARED(name, bits, count, text, stride) {name, text, bits, count, stride},
#include "chains.def"
};
const unsigned chain_count = sizeof chains / sizeof *chains;

enum { LENGTH = 32, WARP = 32, BLOCK = 1024, RATE_TRIPS = 64 };

/* Values that are near 1 as floating point of the width, and nothing special as integers. */
static void fill_inputs(unsigned char *in, unsigned threads, unsigned bits)
{
    for (unsigned i = 0; i < threads * THREAD_INPUT_BYTES / 8; i++) {
        uint64_t value = bits == 64 ? 0x3ff0000000000123 + i % 32 : bits == 16 ? 0x3c01 + i % 3 : 0x3f800123 + i % 32;
        memcpy(in + 8 * (size_t)i, &value, 8);
    }
    for (unsigned t = 0; t < threads; t++) { /* d3, which no result equals */
        uint64_t never = bits == 64 ? 0xfff1234512345123 : bits == 16 ? 0x7e77 : 0xffc12345;
        memcpy(in + (size_t)t * THREAD_INPUT_BYTES + 128 + 88, &never, 8);
    }
}

/* Cycles of the timed part, of each repetition. */
static void run_chain(const struct chain *c, unsigned chain_number, unsigned length, unsigned threads, unsigned trips,
                      double cycles[REPEATS])
{
    char *ptx = chain_kernel(c, chain_number, length);
    struct loaded k = load_kernel(c->name, ptx);
    size_t in_bytes = (size_t)threads * THREAD_INPUT_BYTES, out_bytes = (size_t)threads * THREAD_OUTPUT_BYTES;
    unsigned char *host = malloc(in_bytes);
    struct thread_times *times = malloc(out_bytes);
    CUdeviceptr in, out;
    unsigned zero = 0, warm = 2;
    void *arguments[] = {&in, &out, &zero, &warm, &trips};
    fill_inputs(host, threads, c->bits);
    CHECK(cuMemAlloc(&in, in_bytes));
    CHECK(cuMemAlloc(&out, out_bytes));
    CHECK(cuMemcpyHtoD(in, host, in_bytes));
    for (int i = 0; i < repeats; i++) {
        CHECK(cuLaunchKernel(k.function, 1, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL));
        CHECK(cuMemcpyDtoH(times, out, out_bytes));
        cycles[i] = (double)cycles_of(times, threads);
    }
    CHECK(cuMemFree(in));
    CHECK(cuMemFree(out));
    unload(&k);
    free(times);
    free(host);
    free(ptx);
}

void measure_chain(const struct chain *c)
{
    double one[REPEATS], two[REPEATS];
    char name[128];
    run_chain(c, 1, LENGTH, WARP, 1, one);
    run_chain(c, 1, 2 * LENGTH, WARP, 1, two);
    for (int i = 0; i < repeats; i++)
        two[i] = (two[i] - one[i]) / LENGTH;
    snprintf(name, sizeof name, "latency/%s", c->name);
    print_row(name, measured_of(two), c->instructions > 1 ? "cycles per repetition of the text" : "cycles");
    run_chain(c, MOST_CHAINS, LENGTH / 4, BLOCK, RATE_TRIPS, one);
    run_chain(c, MOST_CHAINS, LENGTH / 4, BLOCK, 2 * RATE_TRIPS, two);
    for (int i = 0; i < repeats; i++)
        two[i] = (double)BLOCK / WARP * MOST_CHAINS * (LENGTH / 4) * RATE_TRIPS / (two[i] - one[i]);
    snprintf(name, sizeof name, "rate/%s", c->name);
    print_row(name, measured_of(two), "warp instructions per cycle and SM");
}

void measure_barriers(void)
{
    static const struct chain barrier = {"bar.sync", "bar.sync 0;", 32, 1, -1};
    for (unsigned threads = WARP; threads <= BLOCK; threads *= 2) {
        double one[REPEATS], two[REPEATS];
        char name[64];
        run_chain(&barrier, 1, LENGTH, threads, 1, one);
        run_chain(&barrier, 1, 2 * LENGTH, threads, 1, two);
        for (int i = 0; i < repeats; i++)
            two[i] = (two[i] - one[i]) / LENGTH;
        snprintf(name, sizeof name, "latency/bar.sync.%u-warps", threads / WARP);
        print_row(name, measured_of(two), "cycles");
    }
}
