/* Which lines an L1 still has after it was filled: a warp loads lines one after the other, then looks at each of them
 * with loads that take no line, and counts those that take long. What it finds stays in registers to the end, a bit a
 * line, since stores would take lines too.
 *
 * The rows of one set and of one bank use the parities by which an H200 was found to place lines (docs/h200-memory.md).
 * How they were found: after lines 0, 1, 2, ..., each line too many pushes out one that came early; which one follows a
 * counter, so that lines pushed out at the same count by fills that differ in one address bit have the same set. */
#include "l1_lines.h"
#include "gpu_run.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 2048, LINE_BYTES = 128, LANES = 32 }; /* MOST: lines */

static const char look[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n.const .align 4 .u32 lines[2048];\n"
    ".visible .entry k(.param .u64 from, .param .u64 out, .param .u32 count)\n{\n"
    "  .reg .b64 %from, %out, %a, %line, %map, %bit, %wide;\n  .reg .b32 %i, %n, %v, %t, %u, %lane;\n"
    "  .reg .pred %p, %q;\n"
    "  ld.param.u64 %from, [from];\n  ld.param.u64 %out, [out];\n  ld.param.u32 %n, [count];\n"
    "  mov.u32 %lane, %tid.x;\n  mov.u64 %map, 0;\n  mov.u32 %v, 0;\n  mov.u32 %i, 0;\n  mov.u64 %line, lines;\n"
    "fill:\n"
    "  ld.const.u32 %t, [%line];\n  add.u32 %t, %t, %v;\n  mad.wide.u32 %a, %t, 128, %from;\n"
    "  ld.global.ca.u32 %v, [%a];\n  add.u64 %line, %line, 4;\n"
    "  add.u32 %i, %i, 1;\n  setp.lt.u32 %p, %i, %n;\n  @%p bra fill;\n"
    "  mov.u32 %i, 0;\n  mov.u64 %line, lines;\n"
    "look:\n"
    "  ld.const.u32 %t, [%line];\n  add.u32 %t, %t, %v;\n  mad.wide.u32 %a, %t, 128, %from;\n"
    "  setp.ne.u64 %p, %a, 12345;\n  mov.u32 %t, 0;\n  @%p mov.u32 %t, %clock;\n"
    "  and.b32 %u, %t, %v;\n  cvt.u64.u32 %wide, %u;\n  add.u64 %a, %a, %wide;\n"
    "  ld.global.L1::no_allocate.u32 %v, [%a];\n"
    "  setp.ne.u32 %p, %v, 12345;\n  mov.u32 %u, 0;\n  @%p mov.u32 %u, %clock;\n"
    "  sub.u32 %u, %u, %t;\n  setp.gt.u32 %p, %u, 150;\n"
    "  shr.u32 %t, %i, 6;\n  setp.eq.and.u32 %q, %t, %lane, %p;\n"
    "  and.b32 %t, %i, 63;\n  mov.u64 %bit, 1;\n  shl.b64 %bit, %bit, %t;\n  @%q or.b64 %map, %map, %bit;\n"
    "  add.u64 %line, %line, 4;\n  add.u32 %i, %i, 1;\n  setp.lt.u32 %p, %i, %n;\n  @%p bra look;\n"
    "  mad.wide.u32 %out, %lane, 8, %out;\n  st.global.u64 [%out], %map;\n  ret;\n}\n";

/* Of the number of a line, which is its address without the lowest seven bits: the set of its bank, and the bank. */
enum { SET_BITS = 7, PLACE_BITS = 9 };
static const uint32_t parities[PLACE_BITS] = {0xe9184, 0x16b748, 0x18a938, 0x1addb0, 0x13aec8,
                                              0xde5d4, 0x7ff14,  0xf7ab5,  0x15af6f};
static unsigned place_of(uint64_t line)
{
    unsigned place = 0;
    for (unsigned i = 0; i < PLACE_BITS; i++)
        place |= (unsigned)__builtin_parity((uint32_t)line & parities[i]) << i;
    return place;
}

struct experiment {
    struct loaded kernel;
    CUdeviceptr buffer, out, lines; /* lines: the list in the kernel's constants */
    uint32_t list[MOST];
};

static void measure(struct experiment *x, const char *name, unsigned count)
{
    uint64_t map[LANES];
    double values[REPEATS];
    void *arguments[] = {&x->buffer, &x->out, &count};
    if (!row_is_wanted(name))
        return;
    CHECK(cuMemcpyHtoD(x->lines, x->list, count * sizeof *x->list));
    for (int i = 0; i < repeats; i++) {
        unsigned gone = 0;
        CHECK(cuLaunchKernel(x->kernel.function, 1, 1, 1, LANES, 1, 1, 0, NULL, arguments, NULL));
        CHECK(cuMemcpyDtoH(map, x->out, sizeof map));
        printf("# %s:", name);
        for (unsigned k = 0; k < count; k++)
            if (map[k / 64] >> k % 64 & 1) {
                printf(" %u", x->list[k]);
                gone++;
            }
        printf("\n");
        values[i] = gone;
    }
    print_row(name, measured_of(values), "lines");
}

/* All lines in order; those of one bank; those of one set. */
static void measure_kinds(struct experiment *x, int carveout, unsigned kb)
{
    char name[64];
    unsigned size = kb * 1024 / LINE_BYTES;
    uint64_t first = (uint64_t)x->buffer / LINE_BYTES;
    for (unsigned i = 0; i < MOST; i++)
        x->list[i] = i;
    for (unsigned count = size - 4; count <= size + 28; count += 4) {
        snprintf(name, sizeof name, "l1-lines/%d/in-order/%u", carveout, count);
        measure(x, name, count);
    }
    for (unsigned found = 0, i = 0; found < MOST / 4; i++)
        if (place_of(first + i) >> SET_BITS == 0)
            x->list[found++] = i;
    for (unsigned count = size / 4 - 1; count <= size / 4 + 7; count++) {
        snprintf(name, sizeof name, "l1-lines/%d/one-bank/%u", carveout, count);
        measure(x, name, count);
    }
    for (unsigned found = 0, i = 0; found < 8; i++)
        if (place_of(first + i) == 0)
            x->list[found++] = i;
    for (unsigned count = 3; count <= 8; count++) {
        snprintf(name, sizeof name, "l1-lines/%d/one-set/%u", carveout, count);
        measure(x, name, count);
    }
}

void measure_l1_lines(void)
{
    static const struct {
        int carveout;
        unsigned kb; /* of L1 */
    } sizes[] = {{0, 217}, {50, 117}, {75, 53}, {100, 21}};
    static struct experiment x;
    size_t bytes = (size_t)MOST * 4 * LINE_BYTES;
    x.kernel = load_kernel("L1 lines", look);
    CHECK(cuModuleGetGlobal(&x.lines, NULL, x.kernel.module, "lines"));
    CHECK(cuMemAlloc(&x.buffer, bytes));
    CHECK(cuMemsetD8(x.buffer, 0, bytes));
    CHECK(cuMemAlloc(&x.out, LANES * sizeof(uint64_t)));
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK(cuFuncSetAttribute(x.kernel.function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                 sizes[i].carveout));
        measure_kinds(&x, sizes[i].carveout, sizes[i].kb);
    }
    CHECK(cuMemFree(x.buffer));
    CHECK(cuMemFree(x.out));
    unload(&x.kernel);
}
