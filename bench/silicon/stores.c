/* What stores take of an SM's port, loads of its L1, and what is kept of stores. */
#include "stores.h"
#include "gpu_run.h"

#include <stdio.h>
#include <string.h>

/* Sixteen warps store words. The lanes of each are spread over so many lines and over so many sectors of each line; a
 * sector has 32 / (lines * sectors) lanes, so that it is written wholly where that is eight or more. */
enum { WARPS = 16, STORES = 8 }; /* STORES: in a round */
static const char rate[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 to, .param .u64 out, .param .u32 lines, .param .u32 sectors, .param .u32 "
    "rounds)\n{\n"
    "  .reg .b64 %to, %out, %wide;\n  .reg .b32 %lane, %warp, %lines, %sectors, %n, %line, %rest, %x, %t, %u;\n"
    "  .reg .pred %p;\n"
    "  ld.param.u64 %to, [to];\n  ld.param.u64 %out, [out];\n  ld.param.u32 %lines, [lines];\n"
    "  ld.param.u32 %sectors, [sectors];\n  ld.param.u32 %n, [rounds];\n"
    "  mov.u32 %x, %tid.x;\n  and.b32 %lane, %x, 31;\n  shr.u32 %warp, %x, 5;\n"
    "  rem.u32 %line, %lane, %lines;\n  div.u32 %rest, %lane, %lines;\n"
    "  rem.u32 %x, %rest, %sectors;\n  div.u32 %rest, %rest, %sectors;\n  and.b32 %rest, %rest, 7;\n"
    "  shl.b32 %warp, %warp, 15;\n  shl.b32 %line, %line, 7;\n  shl.b32 %x, %x, 5;\n  shl.b32 %rest, %rest, 2;\n"
    "  add.u32 %x, %x, %warp;\n  add.u32 %x, %x, %line;\n  add.u32 %x, %x, %rest;\n"
    "  cvt.u64.u32 %wide, %x;\n  add.u64 %to, %to, %wide;\n"
    "  bar.sync 0;\n  mov.u32 %t, %clock;\n"
    "next:\n"
    "  st.global.u32 [%to], %n;\n  st.global.u32 [%to+4096], %n;\n  st.global.u32 [%to+8192], %n;\n"
    "  st.global.u32 [%to+12288], %n;\n  st.global.u32 [%to+16384], %n;\n  st.global.u32 [%to+20480], %n;\n"
    "  st.global.u32 [%to+24576], %n;\n  st.global.u32 [%to+28672], %n;\n"
    "  sub.u32 %n, %n, 1;\n  setp.ne.u32 %p, %n, 0;\n  @%p bra next;\n"
    "  bar.sync 0;\n  mov.u32 %u, %clock;\n  sub.u32 %u, %u, %t;\n  setp.eq.u32 %p, %lane, 0;\n"
    "  @%p st.global.u32 [%out], %u;\n  ret;\n}\n";

/* The same of loads, of 32 KB that all warps share and that the L1 has. */
#define READ(v, offset) "  ld.global.ca.u32 " v ", [%to+" offset "];\n  xor.b32 %sum, %sum, " v ";\n"
#define READS           \
    READ("%v0", "0")    \
    READ("%v1", "4096") \
    READ("%v2", "8192") \
    READ("%v3", "12288") READ("%v4", "16384") READ("%v5", "20480") READ("%v6", "24576") READ("%v7", "28672")
static const char reading[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 to, .param .u64 out, .param .u32 lines, .param .u32 sectors, .param .u32 "
    "rounds)\n{\n"
    "  .reg .b64 %to, %out, %wide;\n  .reg .b32 %lane, %lines, %sectors, %n, %line, %rest, %x, %t, %u, %v<8>, %sum;\n"
    "  .reg .pred %p;\n"
    "  ld.param.u64 %to, [to];\n  ld.param.u64 %out, [out];\n  ld.param.u32 %lines, [lines];\n"
    "  ld.param.u32 %sectors, [sectors];\n  ld.param.u32 %n, [rounds];\n"
    "  mov.u32 %x, %tid.x;\n  and.b32 %lane, %x, 31;\n  mov.u32 %sum, 0;\n  mov.u32 %t, 0;\n"
    "  rem.u32 %line, %lane, %lines;\n  div.u32 %rest, %lane, %lines;\n"
    "  rem.u32 %x, %rest, %sectors;\n  div.u32 %rest, %rest, %sectors;\n  and.b32 %rest, %rest, 7;\n"
    "  shl.b32 %line, %line, 7;\n  shl.b32 %x, %x, 5;\n  shl.b32 %rest, %rest, 2;\n"
    "  add.u32 %x, %x, %line;\n  add.u32 %x, %x, %rest;\n"
    "  cvt.u64.u32 %wide, %x;\n  add.u64 %to, %to, %wide;\n"
    "again:\n"
    "  bar.sync 0;\n  mov.u32 %u, %t;\n  mov.u32 %t, %clock;\n  ld.param.u32 %n, [rounds];\n"
    "next:\n" READS
    "  cvt.u64.u32 %wide, %v7;\n  add.u64 %to, %to, %wide;\n" /* of zeros, or the assembler would load but once */
    "  sub.u32 %n, %n, 1;\n  setp.ne.u32 %p, %n, 0;\n  @%p bra next;\n"
    "  setp.eq.u32 %p, %u, 0;\n  @%p bra again;\n" /* the first time they come from the L2 */
    "  setp.eq.u32 %p, %sum, 12345;\n  @%p bra again;\n"
    "  bar.sync 0;\n  mov.u32 %u, %clock;\n  sub.u32 %u, %u, %t;\n  setp.eq.u32 %p, %lane, 0;\n"
    "  @%p st.global.u32 [%out], %u;\n  ret;\n}\n";

static void measure_rates(const char *group, const char *ptx, CUdeviceptr buffer, CUdeviceptr out)
{
    struct loaded k = load_kernel(group, ptx);
    for (unsigned lines = 1; lines <= 32; lines *= 2)
        for (unsigned sectors = 1; sectors <= 4 && lines * sectors <= 32; sectors *= 2) {
            char name[64];
            double values[REPEATS];
            unsigned rounds = 32;
            void *arguments[] = {&buffer, &out, &lines, &sectors, &rounds};
            snprintf(name, sizeof name, "%s/%u-lines-%u-sectors", group, lines, sectors);
            for (int i = 0; row_is_wanted(name) && i < repeats; i++) {
                uint32_t cycles;
                CHECK(cuLaunchKernel(k.function, 1, 1, 1, WARPS * 32, 1, 1, 0, NULL, arguments, NULL));
                CHECK(cuMemcpyDtoH(&cycles, out, sizeof cycles));
                values[i] = (double)cycles / (rounds * STORES * WARPS);
            }
            if (row_is_wanted(name))
                print_row(name, measured_of(values), "cycles");
        }
    unload(&k);
}

/* Eight lines, one after the other: what is done to the line (bits of `how`), some time, and a load of a word of it.
 * Each row has lines of its own. A word is stored by the first warp; the last one's load is measured. The load also
 * goes past the L1, where it says in which half of the L2 the line is. */
enum { LOADED = 1, WORD = 2, LINE = 4, REDUCED = 8, LINES = 8, LINE_STEP = 1024 };
static const char read_back[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 to, .param .u64 out, .param .u32 how, .param .u32 at)\n{\n"
    "  .reg .b64 %to, %out, %own, %from, %wide;\n  .reg .b32 %lane, %how, %at, %x, %n, %v, %t, %u, %sum;\n"
    "  .reg .pred %p, %first, %last;\n"
    "  ld.param.u64 %to, [to];\n  ld.param.u64 %out, [out];\n  ld.param.u32 %how, [how];\n  ld.param.u32 %at, [at];\n"
    "  mov.u32 %lane, %tid.x;\n  setp.eq.u32 %first, %lane, 0;\n  mov.u32 %n, 8;\n  mov.u32 %sum, 0;\n"
    "  mov.u32 %v, 0;\n  mov.u32 %x, %ntid.x;\n  sub.u32 %x, %x, 32;\n  setp.eq.u32 %last, %lane, %x;\n"
    "next:\n"
    "  mad.wide.u32 %own, %lane, 4, %to;\n"
    "  and.b32 %x, %how, 1;\n  setp.eq.u32 %p, %x, 0;\n  @%p bra stored;\n"
    "  ld.global.ca.u32 %v, [%own];\n  setp.eq.u32 %p, %v, 12345;\n  @%p bra next;\n"
    "stored:\n"
    "  and.b32 %x, %how, 2;\n  setp.ne.and.u32 %p, %x, 0, %first;\n  @%p st.global.u32 [%to], %lane;\n"
    "  and.b32 %x, %how, 4;\n  setp.ne.u32 %p, %x, 0;\n  @%p st.global.u32 [%own], 0;\n"
    "  and.b32 %x, %how, 8;\n  setp.ne.and.u32 %p, %x, 0, %first;\n  @%p red.global.add.u32 [%to], 0;\n"
    "  mov.u32 %t, %clock;\n"
    "wait:\n"
    "  mov.u32 %u, %clock;\n  sub.u32 %u, %u, %t;\n  setp.lt.u32 %p, %u, 2000;\n  @%p bra wait;\n"
    "  cvt.u64.u32 %wide, %at;\n  add.u64 %from, %to, %wide;\n"
    "  mov.u32 %t, %clock;\n  ld.global.ca.u32 %v, [%from];\n"
    "  setp.ne.u32 %p, %v, 12345;\n  mov.u32 %u, 0;\n  @%p mov.u32 %u, %clock;\n"
    "  sub.u32 %u, %u, %t;\n  add.u32 %sum, %sum, %u;\n"
    "  add.u64 %to, %to, 1024;\n  sub.u32 %n, %n, 1;\n  setp.ne.u32 %p, %n, 0;\n  @%p bra next;\n"
    "  @%last st.global.u32 [%out], %sum;\n  ret;\n}\n";

static void measure_read_back(CUdeviceptr buffer, CUdeviceptr out, int past_l1)
{
    static const struct {
        const char *name;
        unsigned how, warps;
    } kinds[] = {{"loaded", LOADED, 1},
                 {"word", WORD, 1},
                 {"line", LINE, 1},
                 {"loaded-word", LOADED | WORD, 1},
                 {"loaded-line", LOADED | LINE, 1},
                 {"loaded-red", LOADED | REDUCED, 1},
                 {"other-warps-word", WORD, 2}};
    char text[sizeof read_back];
    memcpy(text, read_back, sizeof text);
    if (past_l1)
        memcpy(strstr(text, ".ca.u32 %v, [%from]"), ".cg", 3);
    struct loaded k = load_kernel("stores read back", text);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (unsigned at = 0; at <= 32; at = at ? at * 8 : 4, buffer += LINES * LINE_STEP) { /* the word, its neighbour,
                                                                                             the next sector */
            char name[64];
            double values[REPEATS];
            void *arguments[] = {&buffer, &out, (void *)&kinds[i].how, &at};
            snprintf(name, sizeof name, "stores/read-back-%s%s/%u", kinds[i].name, past_l1 ? ".cg" : "", at);
            for (int r = 0; row_is_wanted(name) && r < repeats; r++) {
                uint32_t cycles;
                CHECK(cuLaunchKernel(k.function, 1, 1, 1, kinds[i].warps * 32, 1, 1, 0, NULL, arguments, NULL));
                CHECK(cuMemcpyDtoH(&cycles, out, sizeof cycles));
                values[r] = (double)cycles / LINES;
            }
            if (row_is_wanted(name))
                print_row(name, measured_of(values), "cycles");
        }
    unload(&k);
}

void measure_stores(void)
{
    CUdeviceptr buffer, out;
    size_t bytes = (size_t)WARPS << 15;
    CHECK(cuMemAlloc(&buffer, bytes));
    CHECK(cuMemsetD8(buffer, 0, bytes));
    CHECK(cuMemAlloc(&out, sizeof(uint32_t)));
    measure_rates("stores/loads", reading, buffer, out); /* before it is written to */
    measure_rates("stores", rate, buffer, out);
    measure_read_back(buffer, out, 0);
    measure_read_back(buffer + bytes / 2, out, 1);
    CHECK(cuMemFree(buffer));
    CHECK(cuMemFree(out));
}
