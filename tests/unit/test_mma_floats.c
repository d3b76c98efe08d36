/* Matrix sums by the host's floats and term by term: the same bits. A NaN in the last row of A keeps mma_compute from
 * the quick way, and changes no other row. */
#include "exec/mma_math.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 4000 };

static uint64_t state_of_chance = 88172645463325252u;

static uint32_t chance(void)
{
    state_of_chance ^= state_of_chance << 13;
    state_of_chance ^= state_of_chance >> 7;
    state_of_chance ^= state_of_chance << 17;
    return (uint32_t)(state_of_chance >> 16);
}

/* A number with an exponent up to `spread` below or above that of 1; now and then zero, or subnormal in f16. */
static uint32_t element(enum ptx_type type, uint32_t spread)
{
    uint32_t sign = chance() & 1, fraction = chance(), kind = chance() % 16;
    uint32_t above = chance() % (2 * spread + 1); /* than the smallest */
    if (kind == 0)
        return type == PTX_F16 || type == PTX_BF16 ? sign << 15 : sign << 31;
    if (kind == 1)
        fraction |= 0x7fffff;
    switch (type) {
    case PTX_F16: {
        uint32_t e = 15 - (spread < 14 ? spread : 14) + above % (2 * (spread < 14 ? spread : 14) + 1);
        return sign << 15 | (kind == 2 ? 0 : e) << 10 | (fraction & 0x3ff);
    }
    case PTX_BF16: return sign << 15 | (127 - spread + above) << 7 | (fraction & 0x7f);
    default: return sign << 31 | (127 - spread + above) << 23 | (fraction & 0x7fffff);
    }
}

static uint32_t nan_of(enum ptx_type type) { return type == PTX_F16 ? 0x7e00 : type == PTX_BF16 ? 0x7fc0 : 0x7fc00000; }

/* Returns whether the quick way was one for it. */
static bool compare(const struct mma_problem *p, uint32_t spread, uint32_t c_spread)
{
    static union matrix a, b, c, quick, slow;
    for (int i = 0; i < p->m * p->k; i++)
        a.word[i] = element(p->a, spread);
    for (int i = 0; i < p->n * p->k; i++)
        b.word[i] = element(p->b, spread);
    for (int i = 0; i < p->m * p->n; i++)
        c.word[i] = element(PTX_F32, c_spread);
    if (!mma_compute_floats(p, &a, &b, &c, &quick))
        return false;
    a.word[p->m * p->k - 1] = nan_of(p->a);
    assert_false(mma_compute_floats(p, &a, &b, &c, &slow));
    mma_compute(p, NULL, &a, &b, &c, &slow);
    assert_memory_equal(quick.word, slow.word, (size_t)((p->m - 1) * p->n) * sizeof *quick.word);
    return true;
}

static void test_sums(void **state)
{
    (void)state;
    static const struct mma_problem problems[] = {
        {.m = 16, .n = 8, .k = 16, .a = PTX_F16},
        {.m = 16, .n = 8, .k = 8, .a = PTX_F16},
        {.m = 16, .n = 16, .k = 16, .a = PTX_F16},
        {.m = 16, .n = 8, .k = 16, .a = PTX_BF16},
        {.m = 16, .n = 8, .k = 4, .a = PTX_TF32},
        {.m = 16, .n = 8, .k = 8, .a = PTX_TF32},
        {.m = 32, .n = 8, .k = 16, .a = PTX_BF16},
        {.m = 16, .n = 8, .k = 16, .a = PTX_F16, .width = 8},
        {.m = 16, .n = 8, .k = 8, .a = PTX_TF32, .width = 4},
    };
    static const uint32_t spreads[] = {0, 2, 8, 14, 40, 50};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        struct mma_problem p = problems[i];
        uint32_t used = 0;
        p.b = p.a;
        p.c = p.d = PTX_F32;
        p.row = p.k;
        for (int n = 0; n < ROUNDS; n++)
            used += compare(&p, spreads[chance() % 6], chance() % 2 ? 5 : 60);
        assert_true(used > ROUNDS / 2);
    }
}

/* What it must leave alone: accumulators and elements near the ends of the range, and sums that fill 32 bits. */
static void test_refusals(void **state)
{
    (void)state;
    struct mma_problem p = {
        .m = 16, .n = 8, .k = 16, .row = 16, .a = PTX_F16, .b = PTX_F16, .c = PTX_F32, .d = PTX_F32};
    static union matrix a, b, c, d;
    for (int i = 0; i < 256; i++)
        a.word[i] = b.word[i % 128] = 0x3c00;
    memset(&c, 0, sizeof c);
    assert_true(mma_compute_floats(&p, &a, &b, &c, &d));
    assert_int_equal(d.word[127], 0x41800000); /* 16 */
    static const uint32_t ends[] = {0x00000001, 0x00800000, 0x7f7fffff, 0x7f800000, 0x7fc00000};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        c.word[37] = ends[i];
        assert_false(mma_compute_floats(&p, &a, &b, &c, &d));
    }
    c.word[37] = 0;
    for (int i = 0; i < 256; i++)
        a.word[i] = b.word[i % 128] = 0x3fff;
    assert_false(mma_compute_floats(&p, &a, &b, &c, &d));
    a.word[0] = 0x7c00;
    assert_false(mma_compute_floats(&p, &a, &b, &c, &d));
    p.a = p.b = PTX_BF16;
    for (int i = 0; i < 256; i++)
        a.word[i] = b.word[i % 128] = 0x3f80;
    assert_true(mma_compute_floats(&p, &a, &b, &c, &d));
    b.word[5] = (127 + 51) << 7;
    assert_false(mma_compute_floats(&p, &a, &b, &c, &d));
    b.word[5] = 1; /* subnormal */
    assert_false(mma_compute_floats(&p, &a, &b, &c, &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
