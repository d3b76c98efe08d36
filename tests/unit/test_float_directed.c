/* Do f64 operations and conversions rounded toward zero, down or up give what the host's unit gives in that mode, for
 * all kinds of operands? The host's mode is the slow, obvious twin: millions of operands, most of them near where the
 * quick way could go wrong. Both ways of getting the error of a product are tried, whatever the host has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HOST_HAS_FMA             0
#define float64_directed_handler directed_without_fma
#include "exec/float64_directed.c"
#undef float64_directed_handler
exec_handler *float64_directed_handler(enum float_op op, enum exec_rounding r);

#include "kernel_test.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>

static const int host_mode[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static uint64_t random_state = 0x9e3779b97f4a7c15ull;
static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1dull;
}

static uint64_t with_exponent(uint64_t bits, int exponent)
{
    return (bits & 0x800fffffffffffffull) | (uint64_t)(exponent + 1023) << 52;
}

/* Where the quick way begins and ends, and where numbers do. */
static int edge_exponent(uint64_t r)
{
    static const int edges[] = {MOST, LEAST, MOST / 2, LEAST / 2, -1022, 1023, -1022 / 2, 1023 / 2, 0, -53, 53};
    return edges[(r >> 8) % (sizeof edges / sizeof *edges)] + (int)(r & 7) - 4;
}

static uint64_t random_operand(uint64_t near)
{
    static const uint64_t special[] = {0,
                                       1,
                                       2,
                                       0x000fffffffffffff,
                                       0x0010000000000000,
                                       0x0010000000000001,
                                       0x3ff0000000000000,
                                       0x3fefffffffffffff,
                                       0x3ff0000000000001,
                                       0x7fefffffffffffff,
                                       0x7ff0000000000000,
                                       0x7ff8000000000123,
                                       0x7ff0000000000001};
    uint64_t r = next_random(), bits = next_random(), sign = bits & 1ull << 63;
    switch (r >> 56 & 15) {
    case 0: return special[(r >> 8) % (sizeof special / sizeof *special)] | sign;
    case 1: return near ^ (r & 3) ^ sign; /* cancels, or nearly */
    case 2: return (near & 0x7ff0000000000000ull) | (bits & 0x800fffffffffffffull);
    case 3: return f64_bits((double)(int)(r >> 54)) | sign; /* exact results, ties */
    case 4: return bits >> 12 >> (r & 31) | sign;           /* subnormal */
    case 5: return bits;
    case 6: return bits & ~((1ull << (20 + (r & 31))) - 1);     /* few digits */
    case 7: return with_exponent(sign, (int)(r % 2046) - 1022); /* a power of two */
    case 8:
    case 9:
    case 10: {
        int e = edge_exponent(r);
        return with_exponent(bits, e < -1022 ? -1022 : e > 1023 ? 1023 : e);
    }
    default: return with_exponent(bits, (int)(r % 120) - 60);
    }
}

/* A third operand that nearly takes the product away, or is far below it. */
static uint64_t random_addend(double a, double b)
{
    uint64_t r = next_random(), product = f64_bits(a * b);
    if ((r & 3) == 0)
        return (product ^ 1ull << 63) + (r >> 8 & 7) - 3;
    if ((r & 3) == 1 && (product >> 52 & 0x7ff) > 200 && (product >> 52 & 0x7ff) < 0x7ff)
        return (product ^ (r & 1ull << 63)) - ((r >> 8) % 180 << 52); /* down to below its last bit */
    return random_operand(product);
}

static __attribute__((noinline)) double on_host(enum float_op op, volatile double a, volatile double b,
                                                volatile double c)
{
    switch (op) {
    case FLOAT_ADD: return a + b;
    case FLOAT_SUB: return a - b;
    case FLOAT_MUL: return a * b;
    case FLOAT_FMA: return fma(a, b, c);
    case FLOAT_DIV: return a / b;
    case FLOAT_RCP: return 1.0 / a;
    default: return sqrt(a);
    }
}

struct operands {
    uint64_t frame[4][WARP_LANES]; /* destination, three sources */
};

static void fill(struct operands *o)
{
    for (int i = 0; i < WARP_LANES; i++) {
        o->frame[1][i] = random_operand(0x3ff0000000000000);
        o->frame[2][i] = random_operand(o->frame[1][i]);
        o->frame[3][i] = random_addend(f64_from(o->frame[1][i]), f64_from(o->frame[2][i]));
    }
}

/* dst: which of the frame's registers is written, the sources among them. */
static void run(exec_handler *fn, struct operands *o, uint32_t dst, uint32_t mask)
{
    struct exec_warp w = {0};
    struct exec_inst in = {.dst = dst * (exec_ref)sizeof o->frame[0]};
    w.bank[BANK_FRAME] = (uint8_t *)o->frame;
    for (uint32_t k = 0; k < 3; k++)
        in.src[k] = (exec_ref)((k + 1) * sizeof o->frame[0]);
    fn(&w, &in, mask);
}

static void check_warp(exec_handler *fn, enum float_op op, enum exec_rounding r)
{
    struct operands before, after;
    double want[WARP_LANES];
    uint64_t random = next_random();
    uint32_t dst = random & 3, mask = random & 4 ? FULL_MASK : (uint32_t)(random >> 32);
    fill(&before);
    memset(before.frame[0], 0xa5, sizeof before.frame[0]);
    after = before;
    run(fn, &after, dst, mask);
    fesetround(host_mode[r]);
    for (int i = 0; i < WARP_LANES; i++)
        want[i] = on_host(op, f64_from(before.frame[1][i]), f64_from(before.frame[2][i]), f64_from(before.frame[3][i]));
    fesetround(FE_TONEAREST);
    for (int i = 0; i < WARP_LANES; i++) {
        uint64_t got = after.frame[dst][i], expected = mask >> i & 1 ? f64_bits(want[i]) : before.frame[dst][i];
        bool nan = (mask >> i & 1) && isnan(want[i]); /* which one: test_float_ops.c */
        if (nan ? !isnan(f64_from(got)) : got != expected)
            fail_msg("op %d rounding %d of %a %a %a: %a, not %a", op, r, f64_from(before.frame[1][i]),
                     f64_from(before.frame[2][i]), f64_from(before.frame[3][i]), f64_from(got), want[i]);
    }
}

static void check_all(exec_handler *(*handler)(enum float_op, enum exec_rounding))
{
    enum { WARPS = 5000 };
    for (enum float_op op = FLOAT_ADD; op <= FLOAT_SQRT; op++)
        for (enum exec_rounding r = ROUND_ZERO; r <= ROUND_UP; r++)
            for (int i = 0; i < WARPS; i++)
                check_warp(handler(op, r), op, r);
}

static void operations(void **state)
{
    (void)state;
    check_all(float64_directed_handler);
}

static void operations_without_fma(void **state)
{
    (void)state;
    check_all(directed_without_fma);
}

/* Conversions. Each thread converts one operand, seven ways. */
enum { FORMS = 7, CONVERSIONS = 256 };

static __attribute__((noinline)) uint64_t converted(int form, uint64_t bits)
{
    volatile uint64_t u = bits;
    volatile float f;
    volatile double d;
    switch (form) {
    case 0: f = (float)f64_from(u); return f32_bits(f);
    case 1: f = (float)(int32_t)u; return f32_bits(f);
    case 2: f = (float)(uint32_t)u; return f32_bits(f);
    case 3: f = (float)(int64_t)u; return f32_bits(f);
    case 4: f = (float)u; return f32_bits(f);
    case 5: d = (double)(int64_t)u; return f64_bits(d);
    default: d = u ? (double)u : 0.0; return f64_bits(d); /* clang makes it a difference, whose zero may be negative */
    }
}

/* Integers, of all lengths and near ties, and floats near what an f32 holds. */
static uint64_t random_source(void)
{
    uint64_t r = next_random(), bits = next_random() >> (r & 63);
    switch (r >> 60 & 3) {
    case 0: return bits;
    case 1: return ~bits;
    case 2: return bits & ~0ull << (r >> 8 & 31);
    default: return with_exponent(next_random(), (int)(r % 320) - 170);
    }
}

static void convert(const char *rounding, enum exec_rounding r)
{
    static const char *const forms[FORMS] = {"f32.f64 %f0, %d0;",  "f32.s32 %f0, %r1;",  "f32.u32 %f0, %r1;",
                                             "f32.s64 %f0, %rd2;", "f32.u64 %f0, %rd2;", "f64.s64 %d1, %rd2;",
                                             "f64.u64 %d1, %rd2;"};
    char ptx[4096];
    int used = snprintf(ptx, sizeof ptx, "%s",
                        PTX_HEADER KERNEL_HEAD
                        ".reg .f64 %d<2>; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 64; add.u64 %rd1, %rd0, %rd1;\n"
                        "ld.global.u64 %rd2, [%rd1]; cvt.u32.u64 %r1, %rd2; mov.b64 %d0, %rd2;\n");
    for (int k = 0; k < FORMS; k++)
        used += snprintf(ptx + used, sizeof ptx - (size_t)used, "cvt.%s.%s\nst.global.f%s [%%rd1 + %d], %s;\n",
                         rounding, forms[k], k < 5 ? "32" : "64", 8 * (k + 1), k < 5 ? "%f0" : "%d1");
    snprintf(ptx + used, sizeof ptx - (size_t)used, "ret; }\n");
    struct kernel_run k;
    kernel_open(&k, ptx);
    for (int round = 0; round < 40; round++) {
        uint64_t(*words)[8] = (void *)k.words;
        memset(k.words, 0, CONVERSIONS * sizeof *words);
        for (int i = 0; i < CONVERSIONS; i++)
            words[i][0] = random_source();
        assert_true(kernel_launch(&k, 1, CONVERSIONS));
        for (int i = 0; i < CONVERSIONS; i++)
            for (int form = 0; form < FORMS; form++) {
                if (form == 0 && isnan(f64_from(words[i][0])))
                    continue;
                fesetround(host_mode[r]);
                uint64_t want = converted(form, words[i][0]);
                fesetround(FE_TONEAREST);
                if (words[i][form + 1] != want)
                    fail_msg("cvt.%s.%s of %016llx: %llx, not %llx", rounding, forms[form],
                             (unsigned long long)words[i][0], (unsigned long long)words[i][form + 1],
                             (unsigned long long)want);
            }
    }
    kernel_close(&k);
}

static void conversions(void **state)
{
    (void)state;
    convert("rz", ROUND_ZERO);
    convert("rm", ROUND_DOWN);
    convert("rp", ROUND_UP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations), cmocka_unit_test(operations_without_fma),
                                       cmocka_unit_test(conversions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
