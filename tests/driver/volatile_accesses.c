/* Loads and stores that are .volatile, .mmio or of scope .sys give the values that weak ones give, for all widths; and
 * what the host wrote before it raised a flag is there for the kernel that sees the flag, and the other way round,
 * while neither makes a call. */
#include "check.h"

#include <stdatomic.h>
#include <stdint.h>

enum { LANES = 32, WIDTH = 32 };

/* One element by both, into registers of one kind; the differences are gathered in %b0. */
#define BOTH(type, kind, unsigned_kind, reg)                                                 \
    " ld.global." type " " reg "0, [%d2]; ld.relaxed.sys.global." type " " reg "1, [%d2];\n" \
    " xor." kind " " reg "0, " reg "0, " reg "1; cvt.u64." unsigned_kind " %b1, " reg "0; or.b64 %b0, %b0, %b1;\n"

/* Each thread: 32 bytes of `in`. differences[i] stays 0; then the elements are stored to `out` by other
 * instructions. */
#define PTX_COMPARE                                                                                                    \
    ".visible .entry compare(.param .u64 in, .param .u64 differences, .param .u64 out)\n"                              \
    "{\n"                                                                                                              \
    " .reg .u16 %h<2>; .reg .u32 %r<4>; .reg .u64 %d<6>, %b<3>, %w<2>;\n"                                              \
    " ld.param.u64 %d0, [in]; ld.param.u64 %d1, [differences]; ld.param.u64 %d3, [out];\n"                             \
    " mov.u32 %r2, %tid.x;\n"                                                                                          \
    " mad.wide.u32 %d2, %r2, 32, %d0; mad.wide.u32 %d1, %r2, 8, %d1; mad.wide.u32 %d3, %r2, 32, %d3;\n"                \
    " mov.u64 %b0, 0;\n" BOTH("u8", "b16", "u16", "%h") BOTH("s8", "b16", "u16", "%h") BOTH("s8", "b32", "u32", "%r")  \
        BOTH("u8", "b32", "u32", "%r") BOTH("s8", "b64", "u64", "%w") BOTH("u16", "b16", "u16", "%h")                  \
            BOTH("s16", "b32", "u32", "%r") BOTH("u16", "b32", "u32", "%r") BOTH("s16", "b64", "u64", "%w")            \
                BOTH("u32", "b32", "u32", "%r") BOTH("s32", "b64", "u64", "%w") BOTH("u32", "b64", "u64", "%w")        \
                    BOTH("u64", "b64", "u64",                                                                          \
                         "%w") " ld.volatile.global.u8 %h0, [%d2+1]; st.volatile.global.u8 [%d3+1], %h0;\n"            \
                               " ld.volatile.global.u8 %r0, [%d2]; st.mmio.relaxed.sys.global.u8 [%d3], %r0;\n"        \
                               " ld.volatile.global.s16 %w0, [%d2+2]; st.volatile.global.u16 [%d3+2], %w0;\n"          \
                               " ld.acquire.sys.global.u32 %r0, [%d2+4]; st.release.sys.global.u32 [%d3+4], %r0;\n"    \
                               " ld.volatile.global.u64 %w0, [%d2+8]; st.volatile.global.u64 [%d3+8], %w0;\n"          \
                               " ld.volatile.global.v2.u32 {%r0, %r1}, [%d2+16]; st.volatile.global.v2.u32 [%d3+16], " \
                               "{%r0, %r1};\n"                                                                         \
                               " ld.volatile.u32 %r0, [%d2+24]; st.volatile.u32 [%d3+24], %r0;\n"                      \
                               " ld.global.u32 %r0, [%d2+28]; st.volatile.global.u32 [%d3+28], %r0;\n"                 \
                               " st.global.u64 [%d1], %b0;\n"                                                          \
                               " ret;\n"                                                                               \
                               "}\n"

/* When *flag is 1: *data += 1, *flag = 2. */
#define PTX_ANSWER                                                 \
    ".visible .entry answer(.param .u64 flag, .param .u64 data)\n" \
    "{\n"                                                          \
    " .reg .u32 %r<3>; .reg .u64 %d<2>; .reg .pred %p;\n"          \
    " ld.param.u64 %d0, [flag]; ld.param.u64 %d1, [data];\n"       \
    "AGAIN: ld.volatile.global.u32 %r0, [%d0];\n"                  \
    " setp.ne.u32 %p, %r0, 1;\n"                                   \
    " @%p bra AGAIN;\n"                                            \
    " ld.global.u32 %r1, [%d1];\n"                                 \
    " add.u32 %r1, %r1, 1;\n"                                      \
    " st.global.u32 [%d1], %r1;\n"                                 \
    " membar.sys;\n"                                               \
    " st.volatile.global.u32 [%d0], 2;\n"                          \
    " ret;\n"                                                      \
    "}\n"

static void widths_agree(CUmodule m)
{
    CUfunction f;
    CUdeviceptr in, differences, out;
    unsigned char bytes[LANES * WIDTH], got[LANES * WIDTH];
    uint64_t wrong[LANES];
    for (unsigned int i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + 11) ^ (i % 3 ? 0x80 : 0); /* of both signs */
    MUST(cuModuleGetFunction(&f, m, "compare"));
    MUST(cuMemAlloc(&in, sizeof bytes));
    MUST(cuMemAlloc(&out, sizeof bytes));
    MUST(cuMemAlloc(&differences, sizeof wrong));
    OK(cuMemcpyHtoD(in, bytes, sizeof bytes));
    OK(cuMemsetD8(out, 0, sizeof bytes));
    OK(cuLaunchKernel(f, 1, 1, 1, LANES, 1, 1, 0, NULL, (void *[]){&in, &differences, &out}, NULL));
    OK(cuMemcpyDtoH(wrong, differences, sizeof wrong));
    OK(cuMemcpyDtoH(got, out, sizeof got));
    for (int i = 0; i < LANES; i++)
        TRUE(wrong[i] == 0);
    TRUE(!memcmp(got, bytes, sizeof got));
}

static void flags_carry_data(CUmodule m)
{
    CUfunction f;
    CUstream s;
    atomic_uint *flag;
    unsigned int *data; /* in another page */
    CUdeviceptr device_flag, device_data;
    MUST(cuModuleGetFunction(&f, m, "answer"));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuMemHostAlloc((void **)&flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostAlloc((void **)&data, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&device_flag, flag, 0));
    MUST(cuMemHostGetDevicePointer(&device_data, data, 0));
    *flag = 0;
    *data = 0;
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&device_flag, &device_data}, NULL));
    *data = 41;
    *flag = 1;
    while (*flag != 2)
        ;
    TRUE(*data == 42);
    OK(cuStreamSynchronize(s));

    /* the same by operations of a stream */
    OK(cuStreamWaitValue32(s, device_flag, 3, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuMemsetD32Async(device_data, 7, 1, s));
    OK(cuStreamWriteValue32(s, device_flag, 4, 0));
    *flag = 3;
    while (*flag != 4)
        ;
    TRUE(*data == 7);
    OK(cuStreamSynchronize(s));
}

int main(void)
{
    CUmodule m;
    setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* a GPU does not load a kernel while another runs */
    CUcontext ctx = new_context();
    MUST(cuModuleLoadData(&m, ".version 8.2\n.target sm_70\n.address_size 64\n" PTX_COMPARE PTX_ANSWER));
    widths_agree(m);
    flags_carry_data(m);
    cuCtxDestroy(ctx);
    return done();
}
