/* Registers of inner and outer { } scopes: has each its own value, where an inner declaration hides a part of an outer
 * range? */
#include "check.h"

enum { VALUES = 24 };

/* Every register is written before any is read, so that two names for one register would show. */
static const char text[] =
    PTX_HEAD ".visible .entry scopes(.param .u64 out, .param .u32 base)\n"
             "{\n"
             " .reg .b32 %r<4000>; .reg .b64 %d<2>; .reg .b32 x5;\n"
             " ld.param.u64 %d0, [out]; ld.param.u32 %r0, [base];\n"
             " add.u32 %r3, %r0, 3; add.u32 %r5, %r0, 5; add.u32 %r9, %r0, 9; add.u32 %r10, %r0, 10;\n"
             " add.u32 %r19, %r0, 19; add.u32 %r20, %r0, 20; add.u32 %r2521, %r0, 2521; add.u32 x5, %r0, 55;\n"
             " {\n"
             "  .reg .b32 %r<10>;\n" /* hides 0 to 9 */
             "  add.u32 %r3, %r2521, 1000; add.u32 %r5, %r10, 1000; add.u32 %r9, %r19, 1000;\n"
             "  st.global.u32 [%d0], %r3; st.global.u32 [%d0+4], %r5; st.global.u32 [%d0+8], %r9;\n"
             "  add.u32 %r10, %r10, 7;\n" /* the outer one */
             "  {\n"
             "   .reg .b32 %r<20>, x<9>;\n" /* hides 0 to 19; x5 */
             "   mov.u32 %r3, 103; mov.u32 %r9, 109; mov.u32 %r10, 110; mov.u32 %r19, 119; mov.u32 x5, 105;\n"
             "   st.global.u32 [%d0+12], %r3; st.global.u32 [%d0+16], %r9; st.global.u32 [%d0+20], %r10;\n"
             "   st.global.u32 [%d0+24], %r19; st.global.u32 [%d0+28], x5; st.global.u32 [%d0+32], %r20;\n"
             "   add.u32 %r20, %r20, 100;\n" /* the outer one */
             "  }\n"
             "  st.global.u32 [%d0+36], %r3; st.global.u32 [%d0+40], %r9; st.global.u32 [%d0+44], %r10;\n"
             "  { .reg .b32 %r2521, %r4; mov.u32 %r2521, 21; mov.u32 %r4, 4; st.global.u32 [%d0+48], %r2521; }\n"
             " }\n"
             " { .reg .b32 %r<4>; mov.u32 %r3, 203; st.global.u32 [%d0+52], %r3; st.global.u32 [%d0+56], %r5; }\n"
             " st.global.u32 [%d0+60], %r3; st.global.u32 [%d0+64], %r5; st.global.u32 [%d0+68], %r9;\n"
             " st.global.u32 [%d0+72], %r10; st.global.u32 [%d0+76], %r19; st.global.u32 [%d0+80], %r20;\n"
             " st.global.u32 [%d0+84], %r2521; st.global.u32 [%d0+88], x5; st.global.u32 [%d0+92], %r05;\n"
             " ret;\n"
             "}\n"
             /* out = the way a branch went: to the label that its scope knows, not to a later one further in */
             ".visible .entry labels(.param .u64 out)\n"
             "{\n"
             " .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"
             " ld.param.u64 %d0, [out]; mov.u32 %r1, 0;\n"
             "L: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 5;\n"
             " { { @%p0 bra L; } add.u32 %r1, %r1, 100;\n"
             "L: add.u32 %r1, %r1, 10; setp.lt.u32 %p1, %r1, 200; @%p1 bra L; }\n"
             " st.global.u32 [%d0], %r1;\n"
             " ret;\n"
             "}\n";

int main(void)
{
    enum { BASE = 10000 };
    static const unsigned int wanted[VALUES] = {/* inner 3, 5, 9, of outer values */
                                                BASE + 3521, BASE + 1010, BASE + 1019,
                                                /* the innermost ones; %r20 */
                                                103, 109, 110, 119, 105, BASE + 20,
                                                /* one scope further out again */
                                                BASE + 3521, BASE + 1019, BASE + 17,
                                                /* a plain register; a sibling scope */
                                                21, 203, BASE + 5,
                                                /* the outermost ones */
                                                BASE + 3, BASE + 5, BASE + 9, BASE + 17, BASE + 19, BASE + 120,
                                                BASE + 2521, BASE + 55, BASE + 5};
    unsigned int got[VALUES] = {0}, value = BASE;
    CUdeviceptr out;
    CUmodule m;
    CUfunction f;
    void *params[] = {&out, &value};
    CUcontext ctx = new_context();
    MUST(cuMemAlloc(&out, sizeof got));
    MUST(cuModuleLoadData(&m, text));
    MUST(cuModuleGetFunction(&f, m, "scopes"));
    MUST(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    MUST(cuMemcpyDtoH(got, out, sizeof got));
    for (int i = 0; i < VALUES; i++)
        if (got[i] != wanted[i]) {
            fprintf(stderr, "value %d is %u, expected %u\n", i, got[i], wanted[i]);
            failures++;
        }
    MUST(cuModuleGetFunction(&f, m, "labels"));
    MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    MUST(cuMemcpyDtoH(got, out, sizeof got[0]));
    TRUE(got[0] == 205);
    OK(cuModuleUnload(m));
    OK(cuCtxDestroy(ctx));
    return done();
}
