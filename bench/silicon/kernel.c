/* A kernel for each measurement, written as text. */
#include "kernel.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One repetition of the text for a chain. */
static void write_text(FILE *to, const struct chain *c, unsigned chain)
{
    for (const char *at = c->text; *at; at++) {
        if (*at != '$') {
            fputc(*at, to);
            continue;
        }
        char name = *++at;
        unsigned digit = at[1] >= '1' && at[1] <= '3' ? (unsigned)(*++at - '0') : 0;
        switch (name) {
        case 'a': fprintf(to, "%%a%u", 4 * chain + digit); break;
        case 'b':
        case 'c':
        case 'd': fprintf(to, "%%%c%u", name, digit); break;
        case 's': fputs("%s", to); break;
        default: fprintf(to, "%%%c%u", name, chain); break; /* t, u, q, p */
        }
    }
    fputc('\n', to);
}

static void write_loop(FILE *to, const struct chain *c, unsigned chains, unsigned length, const char *label,
                       const char *turns)
{
    fprintf(to, "  mov.u32 %%n, %s;\n%s:\n  .pragma \"nounroll\";\n", turns, label);
    for (unsigned i = 0; i < length; i++)
        for (unsigned k = 0; k < chains; k++)
            write_text(to, c, k);
    fprintf(to, "  sub.u32 %%n, %%n, 1;\n  setp.ne.u32 %%more, %%n, 0;\n  @%%more bra %s;\n", label);
}

/* Each word of the tile holds the tile's address; then each lane's word its own. */
static void write_tile(FILE *to, const struct chain *c, unsigned chains)
{
    fprintf(to,
            "  mov.u32 %%s, tile;\n  mov.u32 %%n, %%tid.x;\n  shl.b32 %%n, %%n, 2;\nfill:\n  add.u32 %%x, %%s, %%n;\n"
            "  st.shared.u32 [%%x], %%s;\n  mov.u32 %%x, %%ntid.x;\n  shl.b32 %%x, %%x, 2;\n  add.u32 %%n, %%n, %%x;\n"
            "  setp.lt.u32 %%more, %%n, %d;\n  @%%more bra fill;\n  bar.sync 0;\n",
            SHARED_BYTES);
    if (c->stride < 0)
        return;
    fprintf(to,
            "  mov.u32 %%x, %%laneid;\n  mul.lo.u32 %%x, %%x, %d;\n  add.u32 %%x, %%x, %%s;\n"
            "  st.shared.u32 [%%x], %%x;\n",
            c->stride);
    for (unsigned k = 0; k < chains; k++)
        fprintf(to, "  mov.b32 %%a%u, %%x;\n", 4 * k);
    fputs("  bar.sync 0;\n", to);
}

/* x, or 0 of the width, into every chain. */
static void tie_to_clock(FILE *to, const struct chain *c, unsigned chains)
{
    fputs("  mov.u64 %before, %clock64;\n  cvt.u32.u64 %x, %before;\n  and.b32 %x, %x, %zero;\n", to);
    fprintf(to, "  cvt.u%u.u32 %%tie, %%x;\n", c->bits);
    for (unsigned k = 0; k < chains; k++)
        fprintf(to, "  or.b%u %%a%u, %%a%u, %%tie;\n", c->bits, 4 * k, 4 * k);
}

static void read_clock_after(FILE *to, const struct chain *c, unsigned chains)
{
    for (unsigned k = 1; k < 4 * chains; k++)
        fprintf(to, "  xor.b%u %%a0, %%a0, %%a%u;\n", c->bits, k);
    fprintf(to, "  setp.eq.u%u %%more, %%a0, %%d3;\n  mov.u64 %%after, 0;\n  @!%%more mov.u64 %%after, %%clock64;\n",
            c->bits);
}

static void write_registers(FILE *to, const struct chain *c, bool tile)
{
    fputs(".version 7.8\n.target sm_90\n.address_size 64\n", to);
    if (tile)
        fprintf(to, ".shared .align 16 .b8 tile[%d];\n", SHARED_BYTES);
    fprintf(
        to,
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 zero, .param .u32 warm, .param .u32 trips)\n"
        ".maxntid 1024, 1, 1\n{\n  .reg .b%u %%a<16>, %%b<4>, %%c<4>, %%d<4>, %%tie;\n"
        "  .reg .b32 %%t<4>, %%u<4>, %%s, %%n, %%x, %%zero, %%warm, %%trips;\n"
        "  .reg .b64 %%q<4>, %%in, %%out, %%at, %%before, %%after;\n  .reg .pred %%p<4>, %%more;\n"
        "  ld.param.u64 %%in, [in];\n  ld.param.u64 %%out, [out];\n  ld.param.u32 %%zero, [zero];\n"
        "  ld.param.u32 %%warm, [warm];\n  ld.param.u32 %%trips, [trips];\n",
        c->bits);
    fprintf(to,
            "  mov.u32 %%x, %%tid.x;\n  mul.wide.u32 %%at, %%x, %d;\n  add.u64 %%in, %%in, %%at;\n"
            "  mov.u32 %%n, %%ctaid.x;\n  mov.u32 %%s, %%ntid.x;\n  mad.lo.u32 %%x, %%n, %%s, %%x;\n"
            "  mul.wide.u32 %%at, %%x, %d;\n  add.u64 %%out, %%out, %%at;\n",
            THREAD_INPUT_BYTES, THREAD_OUTPUT_BYTES);
    for (unsigned i = 0; i < 16; i++)
        fprintf(to, "  ld.global.b%u %%a%u, [%%in+%u];\n", c->bits, i, 8 * i);
    for (unsigned i = 0; i < 12; i++)
        fprintf(to, "  ld.global.b%u %%%c%u, [%%in+%u];\n", c->bits, "bcd"[i / 4], i % 4, 128 + 8 * i);
}

char *chain_kernel(const struct chain *c, unsigned chains, unsigned length)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    bool tile = c->stride >= 0 || strstr(c->text, "$s");
    write_registers(to, c, tile);
    if (tile)
        write_tile(to, c, chains);
    write_loop(to, c, chains, length, "first", "%warm");
    fputs("  bar.sync 0;\n", to);
    tie_to_clock(to, c, chains);
    write_loop(to, c, chains, length, "timed", "%trips");
    read_clock_after(to, c, chains);
    fputs("  mov.u32 %x, %smid;\n  cvt.u64.u32 %at, %x;\n  st.global.u64 [%out], %before;\n"
          "  st.global.u64 [%out+8], %after;\n  st.global.u64 [%out+16], %at;\n",
          to);
    fprintf(to, "  st.global.b%u [%%out+24], %%a0;\n  ret;\n}\n", c->bits);
    fclose(to);
    return text;
}
