/* Is floating-point arithmetic right to the bit in every format and rounding? The reference is the host's own unit with
 * its rounding mode switched (f32, f64), and exact integer arithmetic, itself checked against the host, for the 16-bit
 * formats and the conversions. */
#include "exec/cvt_ops.h"
#include "exec/float_handlers.h"
#include "exec/lanes.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 600 }; /* warps of random operands a form */
static const int host_mode[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static uint64_t random_state = 0x9e3779b97f4a7c15ull;
static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1dull;
}

/* Half of the operands are random bits, the rest special values, small integers, and numbers close to one another. */
static uint32_t random_f32(uint32_t near)
{
    static const uint32_t special[] = {0,          1,          2,          0x7fffff,   0x800000,   0x800001,
                                       0x3f800000, 0x3f7fffff, 0x3f800001, 0x7f7fffff, 0x7f800000, 0x7fc00000,
                                       0x7f800001, 0x7fffffff, 0x00400000, 0x4b800000, 0x4f000000, 0x5f000000,
                                       0x33800000, 0x34000000, 0x7effffff};
    uint64_t r = next_random();
    uint32_t sign = (uint32_t)(r & 1) << 31;
    switch (r >> 1 & 7) {
    case 0: return special[(r >> 8) % (sizeof special / sizeof special[0])] | sign;
    case 1: return near ^ (uint32_t)(r >> 8 & 3) ^ (sign & (uint32_t)(r >> 10));
    case 2: return (near & 0xff800000u) + (uint32_t)(r >> 40);
    case 3: return f32_bits((float)(int)(r >> 54)) | sign;
    case 4: return (uint32_t)(r >> 41) | sign; /* subnormal */
    default: return (uint32_t)(r >> 32);
    }
}

static uint64_t random_f64(uint64_t near)
{
    static const uint64_t special[] = {0,
                                       1,
                                       0x000fffffffffffff,
                                       0x0010000000000000,
                                       0x3ff0000000000000,
                                       0x3fefffffffffffff,
                                       0x7fefffffffffffff,
                                       0x7ff0000000000000,
                                       0x7ff8000000000000,
                                       0x7ff0000000000001,
                                       0x3ca0000000000000,
                                       0x4340000000000000};
    uint64_t r = next_random(), sign = (r & 1) << 63;
    switch (r >> 1 & 7) {
    case 0: return special[(r >> 8) % (sizeof special / sizeof special[0])] | sign;
    case 1: return near ^ (r >> 8 & 3) ^ (sign & r << 40);
    case 2: return (near & 0xfff0000000000000ull) + (next_random() >> 12) + (r >> 8 & 0x7f) * 0x0010000000000000ull;
    case 3: return f64_bits((double)(int)(r >> 54)) | sign;
    case 4: return next_random() >> 12 >> (r >> 8 & 31) | sign; /* subnormal */
    default: return next_random();
    }
}

/* A warp with a frame of a few registers, enough to call a handler. */
struct bench {
    struct exec_warp warp;
    uint64_t frame[4][WARP_LANES]; /* destination, three sources */
};

static void bench_run(struct bench *b, exec_handler *fn, struct exec_inst in, uint32_t mask)
{
    assert_non_null(fn);
    b->warp.bank[BANK_FRAME] = (uint8_t *)b->frame;
    in.dst = 0;
    for (uint32_t i = 0; i < 3; i++)
        in.src[i] = (exec_ref)((i + 1) * sizeof b->frame[0]);
    memset(b->frame[0], 0xa5, sizeof b->frame[0]);
    fn(&b->warp, &in, mask);
}

static uint32_t lane32(const struct bench *b, int reg, int i) { return ((const uint32_t *)b->frame[reg])[i]; }

/* The host's result in a rounding mode; not inlined, so that nothing moves across the change of mode. */
static __attribute__((noinline)) float host_f32(enum float_op op, volatile float a, volatile float b, volatile float c,
                                                int mode)
{
    volatile float r = 0;
    fesetround(mode);
    switch (op) {
    case FLOAT_ADD: r = a + b; break;
    case FLOAT_SUB: r = a - b; break;
    case FLOAT_MUL: r = a * b; break;
    case FLOAT_FMA: r = fmaf(a, b, c); break;
    case FLOAT_DIV: r = a / b; break;
    case FLOAT_RCP: r = 1.0f / a; break;
    default: r = sqrtf(a); break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

static __attribute__((noinline)) double host_f64(enum float_op op, volatile double a, volatile double b,
                                                 volatile double c, int mode)
{
    volatile double r = 0;
    fesetround(mode);
    switch (op) {
    case FLOAT_ADD: r = a + b; break;
    case FLOAT_SUB: r = a - b; break;
    case FLOAT_MUL: r = a * b; break;
    case FLOAT_FMA: r = fma(a, b, c); break;
    case FLOAT_DIV: r = a / b; break;
    case FLOAT_RCP: r = 1.0 / a; break;
    default: r = sqrt(a); break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

static uint32_t flush_bits(uint32_t u) { return (u & 0x7f800000u) == 0 ? u & 0x80000000u : u; }

/* Does the exact result, rounded to 24 bits whatever its exponent, stay below 2^-126? (f32 operands, finite) */
static bool rounds_to_tiny(enum float_op op, const uint32_t x[3], enum exec_rounding r)
{
    struct soft a = soft_unpack(&soft_f32, x[0]), b = soft_unpack(&soft_f32, x[1]), c = soft_unpack(&soft_f32, x[2]),
                one = soft_from_integer(1, false), v;
    switch (op) {
    case FLOAT_ADD: v = soft_add(a, b, r); break;
    case FLOAT_SUB:
        b.negative = !b.negative;
        v = soft_add(a, b, r);
        break;
    case FLOAT_MUL: v = soft_mul(a, b); break;
    case FLOAT_FMA: v = soft_add(soft_mul(a, b), c, r); break;
    case FLOAT_DIV: v = b.significand ? soft_div(a, b) : one; break;
    case FLOAT_RCP: v = a.significand ? soft_div(one, a) : one; break;
    default: v = one; break;
    }
    v.exponent += 100;
    return (soft_pack(&soft_f32, v, r, false) & 0x7fffffffu) < (uint32_t)(127 - 126 + 100) << 23;
}

static uint32_t expected_f32(enum float_op op, const uint32_t in[3], const struct float_mode *m)
{
    uint32_t x[3];
    for (int k = 0; k < 3; k++)
        x[k] = m->ftz ? flush_bits(in[k]) : in[k];
    float r = host_f32(op, f32_from(x[0]), f32_from(x[1]), f32_from(x[2]), host_mode[m->rounding]);
    uint32_t u = f32_bits(r);
    if (m->ftz && fabsf(r) <= 0x1p-126f)
        u = (u & 0x7fffffffu) < 0x00800000u || rounds_to_tiny(op, x, m->rounding) ? u & 0x80000000u : u;
    if (isnan(r))
        return m->sat ? 0 : 0x7fffffff;
    if (m->sat)
        return u >> 31 || u == 0 ? 0 : u > 0x3f800000u ? 0x3f800000u : u;
    return u;
}

static void check_f32(enum float_op op, const struct float_mode *m)
{
    struct bench b = {0};
    exec_handler *fn = float32_handler(op, m);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WARP_LANES; i++) {
            uint32_t near = 0x3f800000;
            for (int k = 1; k < 4; k++)
                ((uint32_t *)b.frame[k])[i] = near = random_f32(near);
            if (i % 8 == 0) { /* a product just below 2^-126 */
                uint32_t n = (uint32_t)next_random() % 3000;
                ((uint32_t *)b.frame[1])[i] = (0x3f800000 - 2 * n) | (n & 1) << 31;
                ((uint32_t *)b.frame[2])[i] = 0x00800000 + n;
                ((uint32_t *)b.frame[3])[i] = 0;
            }
        }
        uint32_t mask = round & 1 ? FULL_MASK : (uint32_t)next_random() | 1;
        bench_run(&b, fn, (struct exec_inst){0}, mask);
        for (int i = 0; i < WARP_LANES; i++) {
            uint32_t x[3] = {lane32(&b, 1, i), lane32(&b, 2, i), lane32(&b, 3, i)};
            uint32_t want = mask >> i & 1 ? expected_f32(op, x, m) : 0xa5a5a5a5u;
            if (lane32(&b, 0, i) != want)
                fail_msg("op %d rounding %d ftz %d sat %d of %08x %08x %08x: %08x, not %08x", op, m->rounding, m->ftz,
                         m->sat, x[0], x[1], x[2], lane32(&b, 0, i), want);
        }
    }
}

static void test_f32_all_roundings(void **state)
{
    (void)state;
    for (int op = FLOAT_ADD; op <= FLOAT_SQRT; op++) {
        for (int form = 0; form < 16; form++) {
            struct float_mode m = {.rounding = form & 3, .ftz = form & 4, .sat = form & 8};
            if (!m.sat || op <= FLOAT_FMA)
                check_f32(op, &m);
        }
    }
}

static void test_f64_all_roundings(void **state)
{
    (void)state;
    struct bench b = {0};
    for (int form = 0; form < 4 * (FLOAT_SQRT + 1); form++) {
        enum float_op op = form / 4;
        struct float_mode m = {.rounding = form & 3};
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < WARP_LANES; i++) {
                uint64_t near = 0x3ff0000000000000;
                for (int k = 1; k < 4; k++)
                    b.frame[k][i] = near = random_f64(near);
            }
            bench_run(&b, float64_handler(op, &m), (struct exec_inst){.sub = {m.rounding}}, FULL_MASK);
            for (int i = 0; i < WARP_LANES; i++) {
                double x = f64_from(b.frame[1][i]), y = f64_from(b.frame[2][i]), z = f64_from(b.frame[3][i]);
                uint64_t got = b.frame[0][i], want = f64_bits(host_f64(op, x, y, z, host_mode[m.rounding]));
                if (isnan(f64_from(want)) ? !isnan(f64_from(got)) : got != want)
                    fail_msg("op %d rounding %d of %a %a %a: %a, not %a", op, m.rounding, x, y, z, f64_from(got),
                             f64_from(want));
            }
        }
    }
}

/* f32 neighbours of f16 and bf16 arithmetic: exact values, packed once by soft_float. */
static uint16_t expected_half(enum float_op op, const struct soft_format *f, uint16_t a, uint16_t b, uint16_t c)
{
    uint16_t minus_b = op == FLOAT_SUB ? b ^ 0x8000 : b;
    double x = f == &soft_f16 ? f16_to_f32(a) : bf16_to_f32(a),
           y = f == &soft_f16 ? f16_to_f32(minus_b) : bf16_to_f32(minus_b);
    double z = f == &soft_f16 ? f16_to_f32(c) : bf16_to_f32(c);
    double sample = op == FLOAT_FMA ? fma(x, y, z) : op == FLOAT_MUL ? x * y : x + y;
    if (isnan(sample))
        return 0x7fff;
    if (isinf(sample))
        return (uint16_t)soft_infinity(f, sample < 0);
    struct soft sa = soft_unpack(f, a), sb = soft_unpack(f, minus_b), sc = soft_unpack(f, c);
    struct soft r = op == FLOAT_FMA   ? soft_add(soft_mul(sa, sb), sc, ROUND_NEAREST)
                    : op == FLOAT_MUL ? soft_mul(sa, sb)
                                      : soft_add(sa, sb, ROUND_NEAREST);
    return (uint16_t)soft_pack(f, r, ROUND_NEAREST, false);
}

static void check_half(enum float_op op, enum ptx_type type, const struct soft_format *f)
{
    struct bench b = {0};
    struct exec_inst in = {0};
    struct float_mode m = {0};
    bool packed = type == PTX_F16X2 || type == PTX_BF16X2;
    exec_handler *fn = half_handler(op, type, &m, &in);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WARP_LANES; i++) {
            for (int k = 1; k < 4; k++)
                ((uint32_t *)b.frame[k])[i] = (uint32_t)next_random();
        }
        bench_run(&b, fn, in, FULL_MASK);
        for (int i = 0; i < WARP_LANES; i++) {
            uint32_t x = lane32(&b, 1, i), y = lane32(&b, 2, i), z = lane32(&b, 3, i);
            uint32_t want = expected_half(op, f, (uint16_t)x, (uint16_t)y, (uint16_t)z);
            if (packed)
                want |= (uint32_t)expected_half(op, f, (uint16_t)(x >> 16), (uint16_t)(y >> 16), (uint16_t)(z >> 16))
                        << 16;
            if (lane32(&b, 0, i) != want)
                fail_msg("op %d type %s of %08x %08x %08x: %08x, not %08x", op, ptx_type_name(type), x, y, z,
                         lane32(&b, 0, i), want);
        }
    }
}

static void test_half_arithmetic(void **state)
{
    (void)state;
    for (int op = FLOAT_ADD; op <= FLOAT_FMA; op++) {
        check_half(op, PTX_F16, &soft_f16);
        check_half(op, PTX_F16X2, &soft_f16);
        check_half(op, PTX_BF16, &soft_bf16);
        check_half(op, PTX_BF16X2, &soft_bf16);
    }
}

static uint16_t run_half(enum float_op op, enum ptx_type type, struct float_mode m, uint32_t x, uint32_t y, uint32_t z)
{
    struct bench b = {0};
    struct exec_inst in = {0};
    exec_handler *fn = half_handler(op, type, &m, &in);
    ((uint32_t *)b.frame[1])[0] = x;
    ((uint32_t *)b.frame[2])[0] = y;
    ((uint32_t *)b.frame[3])[0] = z;
    bench_run(&b, fn, in, 1);
    return (uint16_t)lane32(&b, 0, 0);
}

static void test_half_flags(void **state)
{
    (void)state;
    struct float_mode ftz = {.ftz = true}, sat = {.sat = true}, relu = {.relu = true}, oob = {.oob = true};
    assert_int_equal(run_half(FLOAT_ADD, PTX_F16, ftz, 0x8001, 0x8000, 0), 0x8000);
    assert_int_equal(run_half(FLOAT_ADD, PTX_F16, ftz, 0x0401, 0x8400, 0), 0x0000);
    assert_int_equal(run_half(FLOAT_ADD, PTX_F16, sat, 0x3c00, 0x3c00, 0), 0x3c00);
    assert_int_equal(run_half(FLOAT_ADD, PTX_F16, sat, 0x7e00, 0x3c00, 0), 0);
    assert_int_equal(run_half(FLOAT_MUL, PTX_F16, sat, 0x8000, 0x3c00, 0), 0);
    assert_int_equal(run_half(FLOAT_FMA, PTX_F16, relu, 0xbc00, 0x3c00, 0), 0);
    assert_int_equal(run_half(FLOAT_FMA, PTX_BF16, relu, 0x7f80, 0, 0), 0x7fff);
    assert_int_equal(run_half(FLOAT_FMA, PTX_BF16, relu, 0x3f80, 0x3f80, 0x3f80), 0x4000);
    assert_int_equal(run_half(FLOAT_FMA, PTX_F16, oob, 0x7ff7, 0x3c00, 0x3c00), 0);
    assert_int_equal(run_half(FLOAT_FMA, PTX_BF16, oob, 0x3f80, 0xfff7, 0x3f80), 0);
    assert_int_equal(run_half(FLOAT_FMA, PTX_F16, oob, 0x3c00, 0x3c00, 0x7ff7), 0x7fff);
    assert_int_equal(run_half(FLOAT_FMA, PTX_F16, oob, 0xffff, 0x3c00, 0x3c00), 0x7fff);
    /* Just below 2^-14: 11 bits round it up to that number, or not. */
    assert_int_equal(run_half(FLOAT_MUL, PTX_F16, ftz, 0x3c00 - 2 * 16, 0x0400 + 16, 0), 0x0400);
    assert_int_equal(run_half(FLOAT_MUL, PTX_F16, ftz, 0x3c00 - 2 * 17, 0x0400 + 17, 0), 0);
}

struct pick_case {
    uint32_t a, b, min, max, min_nan, min_xor;
};

static void test_min_max(void **state)
{
    (void)state;
    static const struct pick_case cases[] = {
        {0x3f800000, 0x40000000, 0x3f800000, 0x40000000, 0x3f800000, 0x3f800000},
        {0xbf800000, 0x40000000, 0xbf800000, 0x40000000, 0xbf800000, 0xbf800000},
        {0x80000000, 0x00000000, 0x80000000, 0x00000000, 0x80000000, 0x80000000},
        {0x00000000, 0x80000000, 0x80000000, 0x00000000, 0x80000000, 0x80000000},
        {0x7fc00000, 0xc0000000, 0xc0000000, 0xc0000000, 0x7fffffff, 0xc0000000},
        {0xff800001, 0x7fc00000, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
        {0xff800000, 0x7f800000, 0xff800000, 0x7f800000, 0xff800000, 0xff800000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pick_case *c = &cases[i];
        const struct float_mode plain = {0}, nan = {.nan = true}, xorsign = {.xorsign = true};
        struct bench b = {0};
        for (int lane = 0; lane < WARP_LANES; lane++) {
            ((uint32_t *)b.frame[1])[lane] = c->a;
            ((uint32_t *)b.frame[2])[lane] = c->b;
        }
        bench_run(&b, float32_handler(FLOAT_MIN, &plain), (struct exec_inst){0}, FULL_MASK);
        assert_int_equal(lane32(&b, 0, 7), c->min);
        bench_run(&b, float32_handler(FLOAT_MAX, &plain), (struct exec_inst){0}, FULL_MASK);
        assert_int_equal(lane32(&b, 0, 7), c->max);
        bench_run(&b, float32_handler(FLOAT_MIN, &nan), (struct exec_inst){0}, FULL_MASK);
        assert_int_equal(lane32(&b, 0, 7), c->min_nan);
        bench_run(&b, float32_handler(FLOAT_MIN, &xorsign), (struct exec_inst){0}, FULL_MASK);
        assert_int_equal(lane32(&b, 0, 7), c->min_xor);
    }
}

static uint64_t run_f64(enum float_op op, uint64_t x, uint64_t y, uint64_t z)
{
    struct bench b = {0};
    struct float_mode m = {0};
    b.frame[1][0] = x;
    b.frame[2][0] = y;
    b.frame[3][0] = z;
    bench_run(&b, float64_handler(op, &m), (struct exec_inst){0}, 1);
    return b.frame[0][0];
}

/* f64 hands NaNs on, quiet, in an order of its own. */
static void test_f64_nan(void **state)
{
    (void)state;
    const uint64_t one = 0x3ff0000000000000, infinity = 0x7ff0000000000000, p = 0x7ff0000000000001,
                   q = 0xfff8000000000002, t = 0x7ff8000000000003;
    assert_int_equal(run_f64(FLOAT_ADD, p, q, 0), q);
    assert_int_equal(run_f64(FLOAT_ADD, p, one, 0), p | F64_QUIET);
    assert_int_equal(run_f64(FLOAT_SUB, infinity, infinity, 0), F64_INVALID);
    assert_int_equal(run_f64(FLOAT_DIV, t, q, 0), t);
    assert_int_equal(run_f64(FLOAT_FMA, p, q, t), q);
    assert_int_equal(run_f64(FLOAT_FMA, p, one, t), t);
    assert_int_equal(run_f64(FLOAT_MIN, p, q, 0), q);
    assert_int_equal(run_f64(FLOAT_MAX, p, one, 0), one);
    assert_int_equal(run_f64(FLOAT_NEG, q, 0, 0), q);
    assert_int_equal(run_f64(FLOAT_ABS, q, 0, 0), q);
}

static void test_copysign_takes_the_sign_of_its_first_operand(void **state)
{
    (void)state;
    struct bench b = {0};
    struct float_mode m = {0};
    ((uint32_t *)b.frame[1])[0] = 0xbf800000;
    ((uint32_t *)b.frame[2])[0] = 0x40400000;
    bench_run(&b, float32_handler(FLOAT_COPYSIGN, &m), (struct exec_inst){0}, 1);
    assert_int_equal(lane32(&b, 0, 0), 0xc0400000);
}

/* All 65,536 values of the 16-bit formats, there and back, against the exact engine. */
static void test_half_conversions(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        if ((h & 0x7fff) <= 0x7c00) {
            assert_int_equal(f16_from_f32(f16_to_f32((uint16_t)h)), h);
            if ((h & 0x7fff) < 0x7c00)
                assert_int_equal(f32_bits(f16_to_f32((uint16_t)h)),
                                 soft_pack(&soft_f32, soft_unpack(&soft_f16, h), ROUND_NEAREST, false));
        }
    }
    for (int i = 0; i < 1000000; i++) {
        uint32_t u = random_f32(0x38800000);
        if (i & 1)
            u = (u & 0x807fffff) | (uint32_t)(90 + next_random() % 60) << 23;
        if ((u & 0x7fffffff) >= 0x7f800000)
            continue;
        assert_int_equal(f16_from_f32(f32_from(u)),
                         soft_pack(&soft_f16, soft_unpack(&soft_f32, u), ROUND_NEAREST, false));
        assert_int_equal(bf16_from_f32(f32_from(u)),
                         soft_pack(&soft_bf16, soft_unpack(&soft_f32, u), ROUND_NEAREST, false));
    }
}

static __attribute__((noinline)) uint64_t host_narrow(volatile double x, int mode)
{
    fesetround(mode);
    volatile float r = (float)x;
    fesetround(FE_TONEAREST);
    return f32_bits(r);
}

static __attribute__((noinline)) uint64_t host_from_s64(volatile int64_t x, int mode, bool wide)
{
    fesetround(mode);
    volatile float f = (float)x;
    volatile double d = (double)x;
    fesetround(FE_TONEAREST);
    return wide ? f64_bits(d) : f32_bits(f);
}

/* The engine behind all rare conversions agrees with the host where the host can do it. */
static void test_convert_against_host(void **state)
{
    (void)state;
    const struct cvt_end f32 = {&soft_f32, 32, false}, f64 = {&soft_f64, 64, false}, s64 = {NULL, 64, true};
    for (int i = 0; i < 400000; i++) {
        enum exec_rounding r = i & 3;
        uint64_t u = random_f64(0x3810000000000000);
        if (i & 4)
            u = (u & 0x800fffffffffffff) | (uint64_t)(1023 - 160 + next_random() % 300) << 52;
        if (!isnan(f64_from(u)))
            assert_int_equal(cvt_convert(&(struct cvt_form){f64, f32, r, 0, 0, 0, 0, 0}, u),
                             host_narrow(f64_from(u), host_mode[r]));
        int64_t n = (int64_t)next_random() >> (next_random() & 63);
        assert_int_equal(cvt_convert(&(struct cvt_form){s64, f32, r, 0, 0, 0, 0, 0}, (uint64_t)n),
                         host_from_s64(n, host_mode[r], false));
        assert_int_equal(cvt_convert(&(struct cvt_form){s64, f64, r, 0, 0, 0, 0, 0}, (uint64_t)n),
                         host_from_s64(n, host_mode[r], true));
    }
}

/* The vectorised float-to-integer conversions agree with the engine, which has no clamping tricks. */
static void test_float_to_integer(void **state)
{
    (void)state;
    const struct cvt_end f32 = {&soft_f32, 32, false}, f64 = {&soft_f64, 64, false};
    const struct cvt_end s32 = {NULL, 32, true}, u32 = {NULL, 32, false}, s64 = {NULL, 64, true},
                         u64 = {NULL, 64, false};
    for (int i = 0; i < 400000; i++) {
        enum exec_rounding r = i & 3;
        uint32_t u = random_f32(0x4f000000);
        if (i & 4)
            u = (u & 0x807fffff) | (uint32_t)(120 + next_random() % 75) << 23;
        float x = f32_integral(f32_from(u), r);
#define SAME(got, from, to, bits) \
    assert_int_equal((uint64_t)(got), cvt_convert(&(struct cvt_form){from, to, r, 0, 0, 0, 0, 0}, bits))
        SAME((int64_t)f32_to_s32(x), f32, s32, u);
        SAME(f32_to_u32(x), f32, u32, u);
        SAME(f32_to_s64(x), f32, s64, u);
        SAME(f32_to_u64(x), f32, u64, u);
        uint64_t v = i & 8 ? random_f64(0x41e0000000000000)
                           : (next_random() & 0x800fffffffffffff) | (1015 + next_random() % 80) << 52;
        double y = f64_integral(f64_from(v), r);
        SAME((int64_t)f64_to_s32(y), f64, s32, v);
        SAME(f64_to_u32(y), f64, u32, v);
        SAME(f64_to_s64(y), f64, s64, v);
        SAME(f64_to_u64(y), f64, u64, v);
    }
}

static uint64_t convert(const struct soft_format *from, const struct soft_format *to, enum exec_rounding r, bool relu,
                        uint64_t bits)
{
    struct cvt_form f = {{from, (uint8_t)(1 + from->exponent_bits + from->fraction_bits), false},
                         {to, 0, false},
                         r,
                         false,
                         false,
                         false,
                         relu,
                         to == &soft_e4m3 || to == &soft_e5m2};
    return cvt_convert(&f, bits);
}

static void test_special_formats(void **state)
{
    (void)state;
    assert_int_equal(convert(&soft_f32, &soft_e4m3, ROUND_NEAREST, false, f32_bits(448.0f)), 0x7e);
    assert_int_equal(convert(&soft_f32, &soft_e4m3, ROUND_NEAREST, false, f32_bits(1e9f)), 0x7e);
    assert_int_equal(convert(&soft_f32, &soft_e4m3, ROUND_NEAREST, false, f32_bits(-1e9f)), 0xfe);
    assert_int_equal(convert(&soft_f32, &soft_e4m3, ROUND_NEAREST, false, 0xff800000), 0xfe);
    assert_int_equal(convert(&soft_f32, &soft_e4m3, ROUND_NEAREST, false, 0x7fc00000), 0x7f);
    assert_int_equal(convert(&soft_f32, &soft_e4m3, ROUND_NEAREST, false, f32_bits(0x1p-9f)), 0x01);
    assert_int_equal(convert(&soft_f32, &soft_e4m3, ROUND_NEAREST, false, f32_bits(0x1p-10f)), 0x00);
    assert_int_equal(convert(&soft_f32, &soft_e4m3, ROUND_NEAREST, true, f32_bits(-2.0f)), 0x00);
    assert_int_equal(convert(&soft_f32, &soft_e5m2, ROUND_NEAREST, false, f32_bits(57344.0f)), 0x7b);
    assert_int_equal(convert(&soft_f32, &soft_e5m2, ROUND_NEAREST, false, f32_bits(1e9f)), 0x7b);
    assert_int_equal(convert(&soft_e4m3, &soft_f16, ROUND_NEAREST, false, 0x7e), 0x5f00);
    assert_int_equal(convert(&soft_e4m3, &soft_f16, ROUND_NEAREST, false, 0xff), 0x7fff);
    assert_int_equal(convert(&soft_e5m2, &soft_f16, ROUND_NEAREST, false, 0xfc), 0xfc00);
    assert_int_equal(convert(&soft_f32, &soft_tf32, ROUND_NEAREST, false, 0x3f801000) << 13, 0x3f800000);
}

/* The half of fma that hosts without the instruction run. */
static void test_fma_without_the_instruction(void **state)
{
    (void)state;
    for (int i = 0; i < 1000000; i++) {
        uint32_t near = random_f32(0x3f800000);
        float a = f32_from(near), b = f32_from(random_f32(near)), c = f32_from(random_f32(near));
        if (i & 1)
            c = -(a * b) * (1.0f + (float)(int)(next_random() % 5) * 0x1p-23f);
        double product = (double)a * (double)b, sum = product + (double)c;
        float got = (float)f64_round_odd(sum, f64_sum_error(product, (double)c, sum)), want = fmaf(a, b, c);
        if (isnan(want) ? !isnan(got) : f32_bits(got) != f32_bits(want))
            fail_msg("%a * %a + %a: %a, not %a", a, b, c, got, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32_all_roundings),
        cmocka_unit_test(test_f64_all_roundings),
        cmocka_unit_test(test_half_arithmetic),
        cmocka_unit_test(test_half_flags),
        cmocka_unit_test(test_min_max),
        cmocka_unit_test(test_f64_nan),
        cmocka_unit_test(test_copysign_takes_the_sign_of_its_first_operand),
        cmocka_unit_test(test_half_conversions),
        cmocka_unit_test(test_convert_against_host),
        cmocka_unit_test(test_float_to_integer),
        cmocka_unit_test(test_special_formats),
        cmocka_unit_test(test_fma_without_the_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
