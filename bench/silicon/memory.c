/* Rings of pointers: a thread that loads the next address from the last has one load under way. A ring that fits into a
 * cache has that cache's latency; the size at which the time rises is the cache's, the stride at which it does not is
 * that of a line or a sector. */
#include "memory.h"

#include "gpu_run.h"
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 64 };

struct ring {
    const char *name, *text;
    size_t bytes, stride;
    int shuffled; /* in an order without pattern */
    int carveout; /* percent of the L1 that is asked for as shared memory; below 0: nothing is asked for */
};

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* The pointers, in a copy on the host of what is between the first and the last. */
static CUdeviceptr make_ring(const struct ring *r, CUdeviceptr at)
{
    size_t count = r->bytes / r->stride;
    uint32_t *order = malloc(count * sizeof *order);
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count; r->shuffled && i > 1; i--) {
        size_t k = next_random(&state) % i;
        uint32_t other = order[i - 1];
        order[i - 1] = order[k];
        order[k] = other;
    }
    int sparse = r->stride > 65536;
    unsigned char *host = sparse ? NULL : calloc(1, r->bytes);
    for (size_t i = 0; i < count; i++) {
        uint64_t next = at + order[(i + 1) % count] * r->stride;
        if (sparse)
            CHECK(cuMemcpyHtoD(at + order[i] * r->stride, &next, 8));
        else
            memcpy(host + order[i] * r->stride, &next, 8);
    }
    if (!sparse)
        CHECK(cuMemcpyHtoD(at, host, r->bytes));
    CUdeviceptr first = at + order[0] * r->stride;
    free(host);
    free(order);
    return first;
}

/* One pass to warm up, then at least one whole pass under the clock. */
static void chase(const struct ring *r, CUdeviceptr buffer)
{
    if (!row_is_wanted(r->name))
        return;
    struct chain c = {r->name, r->text, 64, 1, -1};
    char *ptx = chain_kernel(&c, 1, LENGTH);
    struct loaded k = load_kernel(r->name, ptx);
    if (r->carveout >= 0)
        CHECK(cuFuncSetAttribute(k.function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, r->carveout));
    CUdeviceptr in, out, first = make_ring(r, buffer);
    unsigned zero = 0, trips = (unsigned)((r->bytes / r->stride + LENGTH - 1) / LENGTH), warm = trips;
    uint64_t host[THREAD_INPUT_BYTES / 8] = {[0] = first, [27] = 1};
    void *arguments[] = {&in, &out, &zero, &warm, &trips};
    double values[REPEATS];
    for (int i = 1; i < 4; i++)
        host[i] = 0;
    trips = trips < 8 ? 8 : trips;
    CHECK(cuMemAlloc(&in, sizeof host));
    CHECK(cuMemAlloc(&out, THREAD_OUTPUT_BYTES));
    CHECK(cuMemcpyHtoD(in, host, sizeof host));
    for (int i = 0; i < repeats; i++) {
        struct thread_times t;
        CHECK(cuLaunchKernel(k.function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
        CHECK(cuMemcpyDtoH(&t, out, sizeof t));
        values[i] = (double)cycles_of(&t, 1) / ((double)trips * LENGTH);
    }
    print_row(r->name, measured_of(values), "cycles");
    CHECK(cuMemFree(in));
    CHECK(cuMemFree(out));
    unload(&k);
    free(ptx);
}

#define LOAD_CA "ld.global.ca.u64 $a, [$a];"
#define LOAD_CG "ld.global.cg.u64 $a, [$a];"

static void chase_named(CUdeviceptr buffer, size_t most, const char *what, const char *text, size_t bytes,
                        size_t stride, int shuffled)
{
    char name[96];
    if (bytes > most)
        return;
    snprintf(name, sizeof name, "chase/%s/%zuK/%zu", what, bytes >> 10, stride);
    chase(&(struct ring){name, text, bytes, stride, shuffled, -1}, buffer);
}

/* The size of the L1 beside so much shared memory. */
static void chase_l1(CUdeviceptr buffer, size_t most, int carveout)
{
    for (size_t kb = 8; kb <= 264; kb += 8) {
        char name[96];
        snprintf(name, sizeof name, "chase/l1-carveout-%d/%zuK", carveout, kb);
        if (kb << 10 <= most)
            chase(&(struct ring){name, LOAD_CA, kb << 10, 128, 0, carveout}, buffer);
    }
}

void measure_chases(size_t most)
{
    CUdeviceptr buffer;
    CHECK(cuMemAlloc(&buffer, most));
    CHECK(cuMemsetD8(buffer, 0, most));
    /* The L1: size, line and sector. */
    chase_named(buffer, most, "l1", LOAD_CA, 8 << 10, 128, 0);
    for (int carveout = 0; carveout <= 100; carveout += 25)
        chase_l1(buffer, most, carveout);
    for (size_t stride = 8; stride <= 256; stride *= 2)
        chase_named(buffer, most, "l1-stride", LOAD_CA, 1 << 20, stride, 0);
    for (size_t stride = 32; stride <= 256; stride *= 2)
        chase_named(buffer, most, "l2-stride", LOAD_CG, (size_t)256 << 20, stride, 0);
    /* Sets: rings of a few lines far apart. */
    for (size_t stride = 1 << 10; stride <= 64 << 10; stride *= 2)
        for (size_t lines = 64; lines <= 1024; lines *= 2)
            chase_named(buffer, most, "l1-sets", LOAD_CA, lines * stride, stride, 0);
    /* The L2 and what is after it. */
    for (size_t mb = 1; mb <= 256; mb = mb < 16 ? mb * 2 : mb < 80 ? mb + 4 : mb * 2)
        chase_named(buffer, most, "l2", LOAD_CG, mb << 20, 128, 1);
    /* Pages. */
    for (size_t mb = 64; mb <= 16384; mb *= 4)
        chase_named(buffer, most, "pages", LOAD_CG, mb << 20, (2 << 20) + 128, 1);
    /* Atomics, and a store that is read back. */
    chase_named(buffer, most, "atom.exch", "atom.global.exch.b64 $a, [$a], $a;", 128, 128, 0);
    chase_named(buffer, most, "st+ld", "st.global.u64 [$a], $a; ld.global.ca.u64 $a, [$a];", 128, 128, 0);
    chase_named(buffer, most, "st+ld.cg", "st.global.u64 [$a], $a; ld.global.cg.u64 $a, [$a];", 128, 128, 0);
    chase_named(buffer, most, "ld.nc", "ld.global.nc.u64 $a, [$a];", 16 << 10, 128, 0);
    CHECK(cuMemFree(buffer));
}

/* Each load by itself: a walk along a ring, of which every step's time is kept. */
static const char each_load[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 from, .param .u64 out, .param .u32 count)\n{\n"
    "  .reg .b64 %from, %out, %v, %a, %b;\n  .reg .b32 %n, %x;\n  .reg .pred %p;\n"
    "  ld.param.u64 %from, [from];\n  ld.param.u64 %out, [out];\n  ld.param.u32 %n, [count];\nnext:\n"
    "  mov.u64 %a, %clock64;\n  ld.global.cg.u64 %v, [%from];\n  setp.ne.u64 %p, %v, 12345;\n"
    "  mov.u64 %b, 0;\n  @%p mov.u64 %b, %clock64;\n  sub.u64 %b, %b, %a;\n  cvt.u32.u64 %x, %b;\n"
    "  st.global.u32 [%out], %x;\n  mov.b64 %from, %v;\n  add.u64 %out, %out, 4;\n"
    "  sub.u32 %n, %n, 1;\n  setp.ne.u32 %p, %n, 0;\n  @%p bra next;\n  st.global.u64 [%out], %from;\n  ret;\n}\n";

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void print_shares(const char *name, uint32_t *cycles, size_t count)
{
    static const unsigned percents[] = {1, 10, 25, 40, 50, 60, 75, 90, 99};
    char row[128];
    qsort(cycles, count, sizeof *cycles, by_value);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        double v = cycles[count * percents[i] / 100];
        snprintf(row, sizeof row, "%s/p%u", name, percents[i]);
        print_row(row, (struct measured){v, v, v}, "cycles");
    }
}

void measure_each_load(size_t most)
{
    static const size_t sizes[] = {4, 16, 28, 32, 44, 56, 64, 256}; /* MB */
    struct loaded k = load_kernel("each load", each_load);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] << 20 <= most; i++) {
        char name[64];
        struct ring r = {name, NULL, sizes[i] << 20, 128, 1, -1};
        unsigned count = (unsigned)(r.bytes / r.stride);
        uint32_t *cycles = malloc((count + 2) * sizeof *cycles);
        CUdeviceptr buffer, out, first;
        void *arguments[] = {&first, &out, &count};
        snprintf(name, sizeof name, "each-load/%zuM/%zu", sizes[i], r.stride);
        if (!row_is_wanted(name)) {
            free(cycles);
            continue;
        }
        CHECK(cuMemAlloc(&buffer, r.bytes));
        CHECK(cuMemAlloc(&out, (count + 2) * sizeof *cycles));
        first = make_ring(&r, buffer);
        for (int pass = 0; pass < 2; pass++)
            CHECK(cuLaunchKernel(k.function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
        CHECK(cuMemcpyDtoH(cycles, out, count * sizeof *cycles));
        print_shares(name, cycles, count);
        CHECK(cuMemFree(buffer));
        CHECK(cuMemFree(out));
        free(cycles);
    }
    unload(&k);
}
