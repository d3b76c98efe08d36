/* What the driver tests share. Each is a plain program against cuda.h, that runs on a real GPU as well: it exits 0 when
 * all of its checks held. */
#ifndef DRIVER_CHECK_H
#define DRIVER_CHECK_H

#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int failures; /* some have several threads */

static inline void check_result(CUresult got, CUresult wanted, const char *call, int line)
{
    const char *got_name = NULL, *wanted_name = NULL;
    if (got == wanted)
        return;
    cuGetErrorName(got, &got_name);
    cuGetErrorName(wanted, &wanted_name);
    fprintf(stderr, "line %d: %s: %s (%d), expected %s (%d)\n", line, call, got_name ? got_name : "?", (int)got,
            wanted_name ? wanted_name : "?", (int)wanted);
    failures++;
}

static inline void check_true(int holds, const char *text, int line)
{
    if (holds)
        return;
    fprintf(stderr, "line %d: does not hold: %s\n", line, text);
    failures++;
}

#define EXPECT(wanted, call) check_result(call, wanted, #call, __LINE__)
#define OK(call)             EXPECT(CUDA_SUCCESS, call)
#define TRUE(condition)      check_true(!!(condition), #condition, __LINE__)
/* For what everything after it needs. */
#define MUST(call)    \
    do {              \
        OK(call);     \
        if (failures) \
            exit(1);  \
    } while (0)

static inline int done(void)
{
    int count = failures;
    fprintf(stderr, count ? "%d checks failed\n" : "all checks passed\n", count);
    return count != 0;
}

static inline CUcontext new_context(void)
{
    CUcontext ctx = NULL;
    CUdevice dev = -1;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&dev, 0));
#if CUDA_VERSION >= 13000
    MUST(cuCtxCreate(&ctx, NULL, 0, dev));
#else
    MUST(cuCtxCreate(&ctx, 0, dev));
#endif
    return ctx;
}

/* Some checks are stricter than a real GPU is. */
static inline int on_heddle(void)
{
    char name[64] = "";
    CUdevice dev;
    return cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&dev, 0) == CUDA_SUCCESS &&
           cuDeviceGetName(name, sizeof name, dev) == CUDA_SUCCESS && !strncmp(name, "Heddle", 6);
}

#define PTX_HEAD ".version 6.0\n.target sm_60\n.address_size 64\n"

/* out[i] = value + i, for i below n */
#define PTX_RAMP                                                                    \
    ".visible .entry ramp(.param .u64 out, .param .u32 value, .param .u32 n)\n"     \
    "{\n"                                                                           \
    " .reg .u32 %r<8>; .reg .u64 %d<4>; .reg .pred %p;\n"                           \
    " ld.param.u64 %d0, [out]; ld.param.u32 %r0, [value]; ld.param.u32 %r1, [n];\n" \
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"          \
    " mad.lo.u32 %r5, %r2, %r3, %r4;\n"                                             \
    " setp.ge.u32 %p, %r5, %r1;\n"                                                  \
    " @%p bra END;\n"                                                               \
    " add.u32 %r6, %r0, %r5;\n"                                                     \
    " mul.wide.u32 %d1, %r5, 4;\n"                                                  \
    " add.u64 %d2, %d0, %d1;\n"                                                     \
    " st.global.u32 [%d2], %r6;\n"                                                  \
    "END: ret;\n"                                                                   \
    "}\n"

#endif
