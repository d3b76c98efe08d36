/* Times of whole launches are taken by the GPU's own clock of nanoseconds: from the first block's start to the last
 * one's end. */
#include "machine.h"

#include "gpu_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every kernel here has the same parameters: a, b, the number of 16-byte pieces, and where each block writes when it
 * began, when it ended (nanoseconds), its multiprocessor and its clock. */
#define HEAD                                                                                                  \
    ".version 7.8\n.target sm_90\n.address_size 64\n"                                                         \
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n, .param .u64 times)\n{\n"                  \
    "  .reg .b64 %a, %b, %n, %times, %i, %step, %at, %t0, %t1, %to, %c0;\n  .reg .b32 %x, %y, %r<8>, %z;\n"   \
    "  .reg .pred %p;\n  ld.param.u64 %a, [a];\n  ld.param.u64 %b, [b];\n  ld.param.u64 %n, [n];\n"           \
    "  ld.param.u64 %times, [times];\n  mov.u64 %t0, %globaltimer;\n  mov.u64 %c0, %clock64;\n"               \
    "  mov.u32 %x, %ctaid.x;\n  mov.u32 %y, %ntid.x;\n  mul.lo.u32 %x, %x, %y;\n  mov.u32 %z, %tid.x;\n"      \
    "  add.u32 %x, %x, %z;\n  cvt.u64.u32 %i, %x;\n  mov.u32 %x, %nctaid.x;\n  mul.wide.u32 %step, %x, %y;\n" \
    "  mov.u32 %z, 0;\n"
#define TAIL                                                                                                \
    "  bar.sync 0;\n  mov.u32 %x, %tid.x;\n  setp.ne.u32 %p, %x, 0;\n  @%p ret;\n  mov.u32 %x, %ctaid.x;\n" \
    "  mul.wide.u32 %at, %x, 32;\n  add.u64 %times, %times, %at;\n  mov.u64 %t1, %globaltimer;\n"           \
    "  st.global.u64 [%times], %t0;\n  st.global.u64 [%times+8], %t1;\n  mov.u32 %x, %smid;\n"              \
    "  cvt.u64.u32 %at, %x;\n  st.global.u64 [%times+16], %at;\n  st.global.u64 [%times+24], %c0;\n  ret;\n}\n"
#define LOOP(body)                                                                                             \
    HEAD "next:\n  setp.ge.u64 %p, %i, %n;\n  @%p bra done;\n  shl.b64 %at, %i, 4;\n  add.u64 %to, %b, %at;\n" \
         "  add.u64 %at, %a, %at;\n" body "  add.u64 %i, %i, %step;\n  bra next;\ndone:\n" TAIL

static const char read_all[] =
    LOOP("  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%at];\n  xor.b32 %r0, %r0, %r1;\n  xor.b32 %r2, %r2, %r3;\n"
         "  xor.b32 %r0, %r0, %r2;\n  setp.eq.u32 %p, %r0, 77;\n  @%p st.global.u32 [%to], %r0;\n");
static const char write_all[] = LOOP("  st.global.v4.u32 [%at], {%z, %z, %z, %z};\n");
static const char copy_all[] =
    LOOP("  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%at];\n  st.global.v4.u32 [%to], {%r0, %r1, %r2, %r3};\n");
/* Each thread adds n / threads times. */
static const char add_one[] = LOOP("  atom.global.add.u32 %r0, [%a], 1;\n  add.u32 %z, %z, %r0;\n");
static const char red_one[] = LOOP("  red.global.add.u32 [%a], 1;\n");
static const char red_own[] = LOOP("  red.global.add.u32 [%at], 1;\n");
/* Neighbours lie 2^shift bytes apart. */
#define APART(shift) "  shl.b64 %at, %i, " shift ";\n  add.u64 %at, %a, %at;\n"
static const char red_words[] = LOOP(APART("2") "  red.global.add.u32 [%at], 1;\n");
static const char red_sectors[] = LOOP(APART("5") "  red.global.add.u32 [%at], 1;\n");
/* Over 16 MB again and again. */
#define AGAIN(shift) "  shl.b64 %at, %i, " shift ";\n  and.b64 %at, %at, 0xffffff;\n  add.u64 %at, %a, %at;\n"
static const char write_again[] = LOOP(AGAIN("4") "  st.global.v4.u32 [%at], {%z, %z, %z, %z};\n");
static const char write_words[] = LOOP(AGAIN("5") "  st.global.u32 [%at], %z;\n");
static const char write_lines[] = LOOP(AGAIN("7") "  st.global.u32 [%at], %z;\n");
static const char red_words_f32[] = LOOP(APART("2") "  red.global.add.f32 [%at], 0f3f800000;\n");
static const char red_one_f32[] = LOOP("  red.global.add.f32 [%a], 0f3f800000;\n");
/* The first lane of each warp alone. */
#define FIRST_LANE "  mov.u32 %x, %laneid;\n  setp.eq.u32 %p, %x, 0;\n"
static const char red_lane[] = LOOP(FIRST_LANE "  @%p red.global.add.u32 [%a], 1;\n");
static const char red_lane_f32[] = LOOP(FIRST_LANE "  @%p red.global.add.f32 [%a], 0f3f800000;\n");
static const char red_lanes_own[] = LOOP(FIRST_LANE "  @%p red.global.add.u32 [%at], 1;\n");
/* One of 2^(32 - shift) words, as a hash of the thread has it. */
#define BINS(shift)                                                                                           \
    "  cvt.u32.u64 %x, %i;\n  mul.lo.u32 %x, %x, 0x9e3779b1;\n  shr.u32 %y, %x, 15;\n  xor.b32 %x, %x, %y;\n" \
    "  mul.lo.u32 %x, %x, 0x85ebca6b;\n  shr.u32 %x, %x, " shift ";\n  mul.wide.u32 %at, %x, 4;\n"            \
    "  add.u64 %at, %a, %at;\n"
static const char red_256[] = LOOP(BINS("24") "  red.global.add.u32 [%at], 1;\n");
static const char red_4096[] = LOOP(BINS("20") "  red.global.add.u32 [%at], 1;\n");
static const char red_1m[] = LOOP(BINS("12") "  red.global.add.u32 [%at], 1;\n");
static const char red_256_f32[] = LOOP(BINS("24") "  red.global.add.f32 [%at], 0f3f800000;\n");
static const char add_1m[] = LOOP(BINS("12") "  atom.global.add.u32 %r0, [%at], 1;\n  add.u32 %z, %z, %r0;\n");
static const char nothing[] = HEAD TAIL;

struct block_times {
    uint64_t begin, end, sm, clock;
};

static struct block_times *launch(struct loaded *k, unsigned blocks, unsigned threads, CUdeviceptr a, CUdeviceptr b,
                                  uint64_t n)
{
    struct block_times *times = malloc(blocks * sizeof *times);
    CUdeviceptr out;
    void *arguments[] = {&a, &b, &n, &out};
    CHECK(cuMemAlloc(&out, blocks * sizeof *times));
    CHECK(cuLaunchKernel(k->function, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuMemcpyDtoH(times, out, blocks * sizeof *times));
    CHECK(cuMemFree(out));
    return times;
}

static double nanoseconds(const struct block_times *t, unsigned blocks)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (unsigned i = 0; i < blocks; i++) {
        first = t[i].begin < first ? t[i].begin : first;
        last = t[i].end > last ? t[i].end : last;
    }
    return (double)(last - first);
}

static unsigned multiprocessors(void)
{
    int count, device;
    CHECK(cuCtxGetDevice(&device));
    CHECK(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    return (unsigned)count;
}

/* per: what n pieces of work count. */
static void measure_rate(const char *name, const char *ptx, unsigned blocks, CUdeviceptr a, CUdeviceptr b, uint64_t n,
                         double per, const char *unit)
{
    if (!row_is_wanted(name))
        return;
    struct loaded k = load_kernel(name, ptx);
    double values[REPEATS];
    for (int i = -1; i < repeats; i++) { /* once to warm up */
        struct block_times *t = launch(&k, blocks, 1024, a, b, n);
        if (i >= 0)
            values[i] = (double)n * per / nanoseconds(t, blocks);
        free(t);
    }
    print_row(name, measured_of(values), unit);
    unload(&k);
}

void measure_bandwidth(size_t most)
{
    CUdeviceptr a;
    size_t l2 = 16 << 20, half = most / 2;
    unsigned blocks = 2 * multiprocessors();
    CHECK(cuMemAlloc(&a, most));
    CHECK(cuMemsetD8(a, 0, most));
    measure_rate("bandwidth/dram.read", read_all, blocks, a, a, most / 16, 16, "GB/s");
    measure_rate("bandwidth/dram.write", write_all, blocks, a, a, most / 16, 16, "GB/s");
    measure_rate("bandwidth/dram.copy", copy_all, blocks, a, a + half, half / 16, 32, "GB/s");
    if (most >= l2)
        measure_rate("bandwidth/l2.read", read_all, blocks, a, a, l2 / 16, 16, "GB/s");
    if (most >= l2) { /* whole lines; a word of each sector, a word of each line */
        measure_rate("bandwidth/l2.write", write_again, blocks, a, a, l2 / 2, 16, "GB/s");
        measure_rate("bandwidth/l2.write.32-bytes-apart", write_words, blocks, a, a, l2 / 4, 1, "sectors per ns");
        measure_rate("bandwidth/l2.write.128-bytes-apart", write_lines, blocks, a, a, l2 / 8, 1, "sectors per ns");
    }
    CHECK(cuMemFree(a));
}

void measure_atomics(void)
{
    CUdeviceptr a;
    unsigned sms = multiprocessors(), blocks = 2 * sms;
    uint64_t n = (uint64_t)blocks * 1024 * 16;
    CHECK(cuMemAlloc(&a, n * 32));
    CHECK(cuMemsetD8(a, 0, n * 32));
    measure_rate("atomics/atom.add.one-address", add_one, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.one-address", red_one, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.own-address", red_own, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.4-bytes-apart", red_words, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.32-bytes-apart", red_sectors, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.f32.one-address", red_one_f32, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.f32.4-bytes-apart", red_words_f32, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.first-lanes.one-address", red_lane, blocks, a, a, n, 1.0 / 32, "per ns");
    measure_rate("atomics/red.add.first-lanes.f32.one-address", red_lane_f32, blocks, a, a, n, 1.0 / 32, "per ns");
    measure_rate("atomics/red.add.first-lanes.own-address", red_lanes_own, blocks, a, a, n, 1.0 / 32, "per ns");
    measure_rate("atomics/red.add.256-bins", red_256, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.4096-bins", red_4096, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.1048576-bins", red_1m, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/red.add.f32.256-bins", red_256_f32, blocks, a, a, n, 1, "per ns");
    measure_rate("atomics/atom.add.1048576-bins", add_1m, blocks, a, a, n, 1, "per ns");
    /* Of one multiprocessor, and of eight. */
    measure_rate("atomics/red.add.4-bytes-apart.1-block", red_words, 1, a, a, 1 << 20, 1, "per ns");
    measure_rate("atomics/red.add.1048576-bins.1-block", red_1m, 1, a, a, 1 << 18, 1, "per ns");
    measure_rate("atomics/red.add.1048576-bins.8-blocks", red_1m, 8, a, a, 1 << 21, 1, "per ns");
    measure_rate("atomics/red.add.256-bins.1-block", red_256, 1, a, a, 1 << 18, 1, "per ns");
    CHECK(cuMemFree(a));
}

static double elapsed(CUfunction f, unsigned blocks, unsigned launches)
{
    CUevent begin, end;
    float ms;
    CUdeviceptr times;
    uint64_t none = 0;
    void *arguments[] = {&none, &none, &none, &times};
    CHECK(cuMemAlloc(&times, (size_t)blocks * sizeof(struct block_times)));
    CHECK(cuEventCreate(&begin, 0));
    CHECK(cuEventCreate(&end, 0));
    CHECK(cuEventRecord(begin, NULL));
    for (unsigned i = 0; i < launches; i++)
        CHECK(cuLaunchKernel(f, blocks, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuEventRecord(end, NULL));
    CHECK(cuEventSynchronize(end));
    CHECK(cuEventElapsedTime(&ms, begin, end));
    CHECK(cuEventDestroy(begin));
    CHECK(cuEventDestroy(end));
    CHECK(cuMemFree(times));
    return 1e6 * ms;
}

void measure_launches(void)
{
    struct loaded k = load_kernel("launches", nothing);
    double each[REPEATS], blocks[REPEATS];
    unsigned many = 1 << 16;
    elapsed(k.function, 1, 10);
    for (int i = 0; i < repeats; i++) {
        each[i] = (elapsed(k.function, 1, 1100) - elapsed(k.function, 1, 100)) / 1000;
        struct block_times *few_times = launch(&k, many / 2, 32, 0, 0, 0), *many_times = launch(&k, many, 32, 0, 0, 0);
        blocks[i] = (many / 2) / (nanoseconds(many_times, many) - nanoseconds(few_times, many / 2));
        free(few_times);
        free(many_times);
    }
    print_row("launch/kernel-after-kernel", measured_of(each), "ns");
    print_row("launch/blocks-of-32", measured_of(blocks), "blocks per ns");
    unload(&k);
}

void measure_dispatch(void)
{
    struct loaded k = load_kernel("dispatch", nothing);
    unsigned blocks = 3 * multiprocessors();
    struct block_times *t = launch(&k, blocks, 1024, 0, 0, 0);
    uint64_t first = UINT64_MAX;
    char name[64];
    for (unsigned i = 0; i < blocks; i++)
        first = t[i].begin < first ? t[i].begin : first;
    for (unsigned i = 0; i < blocks; i++) {
        snprintf(name, sizeof name, "dispatch/block-%u", i);
        print_row(name, (struct measured){(double)t[i].sm, (double)(t[i].begin - first), (double)(t[i].end - first)},
                  "SM; begin and end, ns");
    }
    free(t);
    unload(&k);
}

/* Warps that all start together: each reads the clock, with a multiply-add between two readings. */
static char *order_kernel(unsigned readings)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    fprintf(to,
            ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
            "  .reg .b64 %%out, %%at;\n  .reg .b32 %%x, %%y, %%k<%u>;\n  .reg .f32 %%f;\n"
            "  ld.param.u64 %%out, [out];\n  mov.u32 %%x, %%tid.x;\n  mul.wide.u32 %%at, %%x, %u;\n"
            "  add.u64 %%out, %%out, %%at;\n  cvt.rn.f32.u32 %%f, %%x;\n  bar.sync 0;\n  bar.sync 0;\n",
            readings, 4 * readings + 4);
    for (unsigned i = 0; i < readings; i++)
        fprintf(to, "  mov.u32 %%k%u, %%clock;\n  fma.rn.f32 %%f, %%f, %%f, %%f;\n", i);
    for (unsigned i = 0; i < readings; i++)
        fprintf(to, "  st.global.u32 [%%out+%u], %%k%u;\n", 4 * i, i);
    fprintf(to, "  st.global.f32 [%%out+%u], %%f;\n  ret;\n}\n", 4 * readings);
    fclose(to);
    return text;
}

void measure_order(void)
{
    enum { READINGS = 16, WARPS = 12, LANES = 32 };
    char *text = order_kernel(READINGS), name[64];
    struct loaded k = load_kernel("order", text);
    static uint32_t clocks[WARPS * LANES][READINGS + 1];
    CUdeviceptr out;
    void *arguments[] = {&out};
    CHECK(cuMemAlloc(&out, sizeof clocks));
    for (int pass = 0; pass < 2; pass++)
        CHECK(cuLaunchKernel(k.function, 1, 1, 1, WARPS * LANES, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuMemcpyDtoH(clocks, out, sizeof clocks));
    uint32_t first = clocks[0][0];
    for (unsigned w = 0; w < WARPS; w++)
        first = (int32_t)(clocks[w * LANES][0] - first) < 0 ? clocks[w * LANES][0] : first;
    for (unsigned w = 0; w < WARPS; w++)
        for (unsigned i = 0; i < READINGS; i++) {
            double at = clocks[w * LANES][i] - first;
            snprintf(name, sizeof name, "order/warp-%u/%u", w, i);
            print_row(name, (struct measured){at, at, at}, "cycles");
        }
    CHECK(cuMemFree(out));
    unload(&k);
    free(text);
}
