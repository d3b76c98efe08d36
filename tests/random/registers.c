/*
 * The register pools of a kernel, one a PTX type, and what is drawn from them. An operand class is a letter:
 *   h 16-bit integer   w 32-bit integer   l 64-bit integer      f f32    d f64    p predicate
 *   e f16              x f16x2            y bf16 (.b16 only)    z bf16x2 (.b32 only)
 *   b any 32 bits      c any 64 bits      a any 16 bits
 * Untyped registers serve several classes, so that values travel between integers and floats.
 * A statement's destinations can be traced: stored to a column of the output, so that a mismatch names its
 * statement. */
#include "random.h"
#include <string.h>

struct pool {
    const char *name, *type;
    int count;
    const char *classes;
};

static const struct pool pools[] = {
    {"h", "b16", 4, "heya"},   {"hu", "u16", 2, "ha"}, {"hs", "s16", 2, "ha"}, {"e", "f16", 3, "eeea"},
    {"w", "b32", 6, "wfxzb"},  {"u", "u32", 3, "wb"},  {"s", "s32", 3, "wb"},  {"f", "f32", 4, "ffffb"},
    {"x", "f16x2", 2, "xxxb"}, {"l", "b64", 4, "ldc"}, {"lu", "u64", 2, "lc"}, {"ls", "s64", 2, "lc"},
    {"d", "f64", 3, "dddc"},   {"p", "pred", 5, "p"},
};

enum { POOLS = sizeof pools / sizeof pools[0], MAX_NAMES = 64 };

/* All register names ever handed out: "%hu1" and so on; fixed text, so pointers to it stay good. */
static const char *register_name(int pool, int index)
{
    static const char *const names[POOLS][6] = {
        {"%h0", "%h1", "%h2", "%h3", 0, 0},
        {"%hu0", "%hu1", 0, 0, 0, 0},
        {"%hs0", "%hs1", 0, 0, 0, 0},
        {"%e0", "%e1", "%e2", 0, 0, 0},
        {"%w0", "%w1", "%w2", "%w3", "%w4", "%w5"},
        {"%u0", "%u1", "%u2", 0, 0, 0},
        {"%s0", "%s1", "%s2", 0, 0, 0},
        {"%f0", "%f1", "%f2", "%f3", 0, 0},
        {"%x0", "%x1", 0, 0, 0, 0},
        {"%l0", "%l1", "%l2", "%l3", 0, 0},
        {"%lu0", "%lu1", 0, 0, 0, 0},
        {"%ls0", "%ls1", 0, 0, 0, 0},
        {"%d0", "%d1", "%d2", 0, 0, 0},
        {"%p0", "%p1", "%p2", "%p3", "%p4", 0},
    };
    return names[pool][index];
}

void registers_declare(struct text *text)
{
    for (int i = 0; i < POOLS; i++)
        text_add(text, "    .reg .%s %%%s<%d>;\n", pools[i].type, pools[i].name, pools[i].count);
}

const char *register_pick(struct generator *g, char class)
{
    int total = 0;
    for (int i = 0; i < POOLS; i++)
        for (const char *c = pools[i].classes; *c; c++)
            total += *c == class ? pools[i].count : 0;
    int at = (int)rng_below(&g->rng, (unsigned)total);
    for (int i = 0; i < POOLS; i++) {
        for (const char *c = pools[i].classes; *c; c++) {
            if (*c != class)
                continue;
            if (at < pools[i].count)
                return register_name(i, at);
            at -= pools[i].count;
        }
    }
    return "%none";
}

void registers_pick_distinct(struct generator *g, char class, const char **names, int count)
{
    for (int i = 0; i < count; i++) {
        int again;
        do {
            again = 0;
            names[i] = register_pick(g, class);
            for (int k = 0; k < i; k++)
                again |= names[k] == names[i];
        } while (again);
    }
}

int class_bits(char class) { return strchr("heya", class) ? 16 : strchr("ldc", class) ? 64 : class == 'p' ? 1 : 32; }

static uint64_t random_integer(struct generator *g, int bits)
{
    static const uint64_t edges[] = {0,  1,   2,   3,   4,   7,   8,    10,     16,     31,    32,
                                     63, 100, 127, 128, 255, 256, 1000, 0x7fff, 0x8000, 0xffff};
    uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    switch (rng_below(&g->rng, 4)) {
    case 0: return rng_bits(&g->rng) & mask;
    case 1: return rng_percent(&g->rng, 50) ? mask >> 1 : mask ^ (mask >> 1);
    default: return edges[rng_below(&g->rng, sizeof edges / sizeof edges[0])];
    }
}

static void float_literal(struct generator *g, struct text *text)
{
    static const uint32_t edges[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000,
                                     0x40490fdb, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
                                     0x00800000, 0x7f7fffff, 0x4f000000, 0x3fffffff, 0xc2c80000};
    uint32_t bits = edges[rng_below(&g->rng, sizeof edges / sizeof edges[0])];
    if (rng_percent(&g->rng, 30))
        bits = (uint32_t)rng_bits(&g->rng);
    text_add(text, "0f%08X", bits);
}

static void double_literal(struct generator *g, struct text *text)
{
    static const uint64_t edges[] = {
        0, 1ull << 63,         0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000,
        1, 0x0010000000000000, 0x7fefffffffffffff, 0x41e0000000000000, 0x400921fb54442d18};
    uint64_t bits = edges[rng_below(&g->rng, sizeof edges / sizeof edges[0])];
    if (rng_percent(&g->rng, 30))
        bits = rng_bits(&g->rng);
    text_add(text, "0d%016llX", (unsigned long long)bits);
}

void operand_add(struct generator *g, struct text *text, char class)
{
    if (!strchr("hwlfd", class) || !rng_percent(&g->rng, 15)) {
        text_add(text, "%s", register_pick(g, class));
        return;
    }
    if (class == 'f')
        float_literal(g, text);
    else if (class == 'd')
        double_literal(g, text);
    else if (rng_percent(&g->rng, 20))
        text_add(text, "-%u", 1 + rng_below(&g->rng, 300));
    else
        text_add(text, "%llu", (unsigned long long)random_integer(g, class_bits(class)));
}

static void store_column(struct generator *g, int words, const char *type, const char *name)
{
    struct kernel *kernel = g->kernel;
    size_t at = kernel->columns_at + kernel->columns * kernel->column_bytes;
    text_add(&g->body, "    st.global.%s [%%o%d+%zu], %s;\n", type, words * 4, at, name);
    kernel->columns += (unsigned)words;
}

void trace_always(struct generator *g, char class, const char *name)
{
    if (g->inside_function)
        return;
    switch (class_bits(class)) {
    case 1:
        text_add(&g->body, "    selp.u32 %%traced, 1, 0, %s;\n", name);
        store_column(g, 1, "u32", "%traced");
        break;
    case 16: store_column(g, 1, "b16", name); break;
    case 32: store_column(g, 1, "b32", name); break;
    default: store_column(g, 2, "b64", name);
    }
}

void trace(struct generator *g, char class, const char *name)
{
    if (rng_percent(&g->rng, (unsigned)g->trace_percent))
        trace_always(g, class, name);
}

void trace_everything(struct generator *g, unsigned percent)
{
    for (int i = 0; i < POOLS; i++)
        for (int k = 0; k < pools[i].count; k++)
            if (rng_percent(&g->rng, percent))
                trace_always(g, pools[i].classes[strlen(pools[i].classes) - 1], register_name(i, k));
}

static int pool_bits(int pool) { return class_bits(pools[pool].classes[0]); }

void registers_load(struct generator *g)
{
    unsigned at = 0;
    for (int i = 0; i < POOLS; i++) {
        for (int k = 0; k < pools[i].count; k++, at += 8) {
            const char *name = register_name(i, k);
            if (pool_bits(i) == 1)
                text_add(&g->body, "    ld.global.u8 %%traced, [%%entry+%u];\n    setp.lt.u32 %s, %%traced, 100;\n", at,
                         name);
            else
                text_add(&g->body, "    ld.global.b%d %s, [%%entry+%u];\n", pool_bits(i), name, at);
        }
    }
}

void registers_derive(struct generator *g)
{
    for (int i = 0; i < POOLS; i++) {
        for (int k = 0; k < pools[i].count; k++) {
            const char *name = register_name(i, k);
            text_add(&g->body,
                     "    mad.lo.u64 %%mixed, %%mixed, 6364136223846793005, 1442695040888963407;\n    shr.u64 "
                     "%%shifted, %%mixed, %d;\n",
                     pool_bits(i) == 64 ? 1 : 64 - pool_bits(i) - 1);
            if (pool_bits(i) == 1)
                text_add(&g->body, "    setp.ge.s64 %s, %%mixed, 0;\n", name);
            else if (pool_bits(i) == 16)
                text_add(&g->body, "    cvt.u16.u64 %%derived, %%shifted;\n    mov.b16 %s, %%derived;\n", name);
            else if (pool_bits(i) == 32)
                text_add(&g->body, "    cvt.u32.u64 %%traced, %%shifted;\n    mov.b32 %s, %%traced;\n", name);
            else
                text_add(&g->body, "    mov.b64 %s, %%shifted;\n", name);
        }
    }
}

int temporary(struct generator *g) { return g->temporaries++; }

int label(struct generator *g) { return g->labels++; }

int masked_value(struct generator *g, unsigned mask)
{
    int t = temporary(g);
    text_add(&g->body, "    and.b32 %%t%d, %s, %u;\n", t, register_pick(g, 'w'), mask);
    return t;
}

const char *predicate_guard(struct generator *g)
{
    static const char *const guards[] = {"@%p0 ",  "@%p1 ",  "@%p2 ",  "@%p3 ",  "@%p4 ",
                                         "@!%p0 ", "@!%p1 ", "@!%p2 ", "@!%p3 ", "@!%p4 "};
    return guards[rng_below(&g->rng, sizeof guards / sizeof guards[0])];
}
