/* streams COUNT BLOCKS one|many [leave|fault|hang|long]: launches COUNT kernels of BLOCKS blocks, in one stream or each
 * in its own, and prints the simulated milliseconds from the start of the first to the end of the last. Exit status 1
 * when a result is wrong. leave: ends without waiting for them; fault: the same, and the last one reads where nothing
 * is; hang: waits, with one more that spins for ever; long: waits, with one more that the simulator needs seconds
 * for. */
#include "heddle/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32, THREADS = 96, ROUNDS = 40 };

/* data[i] += each of 40 neighbours, for all threads; the i-th kernel begins with data[j] = 1. */
static const char source[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry add_up(.param .u64 from, .param .u64 to)\n"
    "{\n"
    " .reg .u32 %r<9>; .reg .u64 %d<6>; .reg .pred %p; .shared .u32 seen[96];\n"
    " ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];\n"
    " mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;\n"
    " mul.wide.u32 %d2, %r3, 4; add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2;\n"
    " mov.u32 %r4, 0; mov.u32 %r5, 0;\n"
    "AGAIN: ld.global.u32 %r6, [%d3]; add.u32 %r5, %r5, %r6; add.u64 %d3, %d3, 4;\n"
    " add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, 40; @%p bra AGAIN;\n"
    " bar.sync 0;\n"
    " st.global.u32 [%d4], %r5;\n"
    " ret;\n"
    "}\n"
    ".visible .entry spin(.param .u64 flag)\n"
    "{\n"
    " .reg .u32 %r0; .reg .u64 %d0; .reg .pred %p;\n"
    " ld.param.u64 %d0, [flag];\n"
    "AGAIN: ld.volatile.global.u32 %r0, [%d0]; setp.ne.u32 %p, %r0, 12345; @%p bra AGAIN;\n"
    " ret;\n"
    "}\n"
    ".visible .entry count()\n"
    "{\n"
    " .reg .u32 %r0; .reg .pred %p;\n"
    " mov.u32 %r0, 0;\n"
    "AGAIN: add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 12000; @%p bra AGAIN;\n"
    " ret;\n"
    "}\n";

static void check(CUresult r, const char *what)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorName(r, &name);
    fprintf(stderr, "streams: %s: %s\n", what, name);
    exit(1);
}
#define CHECK(call) check((call), #call)

struct lane {
    CUstream stream;
    CUevent end;
    CUdeviceptr from, to;
};

static void make(struct lane *l, size_t words, CUstream shared)
{
    l->stream = shared;
    if (!shared)
        CHECK(cuStreamCreate(&l->stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&l->end, 0));
    CHECK(cuMemAlloc(&l->from, (words + ROUNDS) * 4));
    CHECK(cuMemAlloc(&l->to, words * 4));
    CHECK(cuMemsetD32(l->from, 1, words + ROUNDS));
}

static int is_right(const struct lane *l, size_t words, unsigned int *host)
{
    CHECK(cuMemcpyDtoH(host, l->to, words * 4));
    for (size_t i = 0; i < words; i++)
        if (host[i] != ROUNDS)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    struct lane lanes[MOST];
    CUcontext ctx;
    CUmodule module;
    CUfunction kernel, spin, counting;
    CUevent start;
    float last = 0;
    unsigned int count = argc > 3 ? (unsigned int)atoi(argv[1]) : 0,
                 blocks = argc > 3 ? (unsigned int)atoi(argv[2]) : 0;
    size_t words = (size_t)blocks * THREADS;
    if (!count || count > MOST || !blocks)
        return 2;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&ctx, 0));
    CHECK(cuCtxSetCurrent(ctx));
    CHECK(cuModuleLoadData(&module, source));
    CHECK(cuModuleGetFunction(&kernel, module, "add_up"));
    CHECK(cuModuleGetFunction(&spin, module, "spin"));
    CHECK(cuModuleGetFunction(&counting, module, "count"));
    CHECK(cuEventCreate(&start, 0));
    for (unsigned int i = 0; i < count; i++)
        make(&lanes[i], words, i && !strcmp(argv[3], "one") ? lanes[0].stream : NULL);
    CHECK(cuCtxSynchronize());
    CHECK(cuEventRecord(start, lanes[0].stream));
    if (argc > 4 && !strcmp(argv[4], "fault"))
        lanes[count - 1].from = 64;
    if (argc > 4 && !strcmp(argv[4], "hang"))
        CHECK(cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, lanes[0].stream, (void *[]){&lanes[0].from}, NULL));
    if (argc > 4 && !strcmp(argv[4], "long"))
        CHECK(cuLaunchKernel(counting, 30, 1, 1, 256, 1, 1, 0, lanes[0].stream, NULL, NULL));
    for (unsigned int i = 0; i < count; i++) {
        CHECK(cuStreamWaitEvent(lanes[i].stream, start, 0));
        CHECK(cuLaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, lanes[i].stream,
                             (void *[]){&lanes[i].from, &lanes[i].to}, NULL));
        CHECK(cuEventRecord(lanes[i].end, lanes[i].stream));
    }
    if (argc > 4 && strcmp(argv[4], "hang") && strcmp(argv[4], "long"))
        return 0;
    unsigned int *host = malloc(words * 4);
    for (unsigned int i = 0; i < count; i++) {
        float ms = 0;
        CHECK(cuEventSynchronize(lanes[i].end));
        CHECK(cuEventElapsedTime(&ms, start, lanes[i].end));
        last = ms > last ? ms : last;
        if (!host || !is_right(&lanes[i], words, host)) {
            fprintf(stderr, "streams: kernel %u is wrong\n", i);
            return 1;
        }
    }
    free(host);
    printf("%.6f\n", (double)last);
    return 0;
}
