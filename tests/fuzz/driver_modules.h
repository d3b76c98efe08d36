/* Modules that the fuzzer of the driver loads: kernels that end soon, well or badly, and text that does not load, or
 * not all. */
#ifndef HEDDLE_TESTS_FUZZ_DRIVER_MODULES_H
#define HEDDLE_TESTS_FUZZ_DRIVER_MODULES_H

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
/* Every kernel has the same parameters: an address and a number. */
#define KERNEL(name, body)                                                                                   \
    ".visible .entry " name                                                                                  \
    "(.param .u64 to, .param .u64 number)\n{\n .reg .u64 %d<8>; .reg .u32 %r<8>; .reg .pred %p<2>;\n"        \
    " ld.param.u64 %d0, [to]; ld.param.u64 %d1, [number]; cvt.u32.u64 %r0, %d1; mov.u32 %r1, %tid.x;\n" body \
    " ret;\n}\n"
#define AT_TID " mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d0, %d2;\n"
/* A thread of each block launches the kernel `fill`, of a few blocks, into this stream. */
#define LAUNCH_FILL(stream)                                                                                            \
    " setp.ne.u32 %p0, %r1, 0; @%p0 bra OUT; and.b32 %r0, %r0, 7;\n { .param .b64 f; .param .align 4 .b8 g[12]; "      \
    ".param .align 4 .b8 b[12]; .param .b32 s; .param .b64 p; .param .b64 q;"                                          \
    " .param .b64 t; .param .b32 e; mov.u64 %d3, fill; st.param.b64 [f], %d3; st.param.b32 [g], %r0; st.param.b32 "    \
    "[g+4], 1;"                                                                                                        \
    " st.param.b32 [g+8], 1; st.param.b32 [b], 32; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;" \
    " call (p), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %d4, [p]; setp.eq.u64 %p0, %d4, 0; @%p0 "   \
    "bra OUT;"                                                                                                         \
    " st.u64 [%d4], %d0; st.u64 [%d4+8], %d1; st.param.b64 [q], %d4; st.param.b64 [t], " stream ";"                    \
    " call (e), __cudaCDP2LaunchDeviceV2, (q, t); }\nOUT:\n"

static const char *const modules[] = {
    HEAD ".global .align 8 .b8 table[256];\n.visible .global .u32 counter;\n" KERNEL("fill", AT_TID
                                                                                     " st.global.u32 [%d2], %r0;\n")
        KERNEL("count", " atom.global.add.u32 %r2, [counter], %r0;\n" AT_TID " atom.global.add.u32 %r3, [%d2], 1;\n")
            KERNEL("wait", "AGAIN: add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 200; @%p0 bra AGAIN;\n" AT_TID
                           " st.global.u32 [%d2], %r2;\n"),
    HEAD ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12],"
         " .param .align 4 .b8 b[12], .param .b32 s);\n"
         ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n" KERNEL(
             "fill", AT_TID " st.global.u32 [%d2], %r0;\n") KERNEL("count", LAUNCH_FILL("0"))
             KERNEL("wait", LAUNCH_FILL("3")),
    HEAD ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n" KERNEL(
        "fill",
        " { .param .b64 n; .param .b64 r; st.param.b64 [n], %d1; call (r), malloc, (n); ld.param.b64 %d3, [r]; }\n"
        " setp.eq.u64 %p0, %d3, 0; @%p0 bra OUT; st.u8 [%d3], %r0; st.global.u64 [%d0], %d3;\nOUT:\n")
        KERNEL("count", " ld.global.u64 %d3, [%d0]; { .param .b64 p; st.param.b64 [p], %d3; call free, (p); }\n")
            KERNEL("wait", " trap;\n"),
    HEAD KERNEL("fill", " st.global.u32 [%d0], %r0;\n")
        KERNEL("count", " st.shared.u32 [%r0], %r0;\n") ".visible .entry wait(.param .u64 to)\n{\n .reg .u64 %d; call "
                                                        "nobody, (%d); ret;\n}\n",
    HEAD ".visible .entry fill(.param .u64 to)\n{\n no such instruction;\n}\n",
    HEAD,
};

#endif
