/* Is an issue order read as it was written, and is the first difference of two found, wherever it is? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/issue_order.h"
#include "gpu/machine.h"
#include "gpu/profile.h"
#include "schedule/difference.h"
#include "schedule/picture.h"
#include "schedule/warp_issues.h"
#include "sm/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct profile_line lines[] = {{.text = "first"}, {.text = "second < 2"}, {.text = "third"}};
static const struct profile_listing listing = {.lines = lines, .count = 3};

struct recording {
    char path[64];
    struct issue_order *order;
    const struct sm_observer *o;
};

static struct recording start(uint32_t cores)
{
    struct recording r = {.path = "/tmp/heddle-order-XXXXXX"};
    struct machine *m = calloc(1, sizeof *m);
    struct error e = {0};
    assert_non_null(m);
    close(mkstemp(r.path));
    m->cores = cores;
    m->sm.warps = 8;
    m->sm.schedulers = 2;
    snprintf(m->name, sizeof m->name, "tiny");
    r.order = issue_order_open(r.path, m, &(struct issue_order_run){"p", "lrr", "lru", "pdom"}, &e);
    free(m);
    if (!r.order)
        fail_msg("%s", e.text);
    r.o = issue_order_observer(r.order);
    issue_order_launch(r.order, &listing, "kernel", 4, 0);
    for (uint32_t i = 0; i < cores; i++)
        issue_order_core(r.order, i, 4);
    return r;
}

static struct order_file *finish(struct recording *r)
{
    struct error e = {0};
    assert_true(issue_order_close(r->order, &e));
    assert_true(issue_order_close(r->order, &e));
    issue_order_destroy(r->order);
    struct order_file *f = order_open(r->path, &e);
    unlink(r->path);
    if (!f)
        fail_msg("%s", e.text);
    return f;
}

static void place(struct recording *r, uint32_t core, uint32_t slot, uint64_t cycle, uint64_t block, uint32_t index)
{
    r->o->warp_begin(r->o->context, core, slot, cycle, block, index);
}
static void issue(struct recording *r, uint32_t core, uint32_t slot, uint64_t cycle, uint32_t pc)
{
    r->o->issue(r->o->context, core, slot % 2, slot, cycle, pc, 32);
}
static void reasons(struct recording *r, uint64_t from, uint64_t to, enum stall first, uint64_t first_slots,
                    enum stall second, uint64_t second_slots)
{
    uint64_t slots[STALL_COUNT] = {0};
    slots[first] |= first_slots;
    slots[second] |= second_slots;
    r->o->reasons(r->o->context, 0, from, to, slots);
}

static void read_as_written(void **state)
{
    struct recording r = start(2);
    struct order_issue i;
    struct error e = {0};
    (void)state;
    place(&r, 1, 3, 10, 1ull << 40, 2);
    issue(&r, 1, 3, 12, 0);
    issue(&r, 1, 3, 13, 2);
    issue(&r, 1, 3, 1000000, 1);
    place(&r, 1, 3, 1000001, 7, 0);
    issue(&r, 1, 3, 1000002, 0);
    struct order_file *f = finish(&r);
    assert_int_equal(f->cores, 2);
    assert_string_equal(f->scheduler, "lrr");
    assert_int_equal(f->launch_count, 1);
    assert_string_equal(f->launches[0].kernel, "kernel");
    assert_string_equal(order_text(f, 4, 2), "third");
    assert_string_equal(order_text(f, 4, 99), "");
    assert_string_equal(order_text(f, 3, 0), "");
    assert_int_equal(f->issues, 4);
    assert_int_equal(order_issues_of(f, 0), 0);
    struct order_stream *s = order_stream_open(f, 1, ORDER_ISSUES);
    static const struct {
        uint64_t cycle, block, nth;
        uint32_t pc;
    } expected[] = {{12, 1ull << 40, 0, 0}, {13, 1ull << 40, 1, 2}, {1000000, 1ull << 40, 2, 1}, {1000002, 7, 0, 0}};
    for (int k = 0; k < 4; k++) {
        assert_true(order_next_issue(s, &i, &e));
        assert_true(i.cycle == expected[k].cycle && i.pc == expected[k].pc && i.nth == expected[k].nth &&
                    i.warp.block == expected[k].block);
        assert_int_equal(i.slot, 3);
        assert_int_equal(i.scheduler, 1);
        assert_int_equal(i.warp.launch, 4);
    }
    assert_false(order_next_issue(s, &i, &e));
    assert_int_equal(e.kind, ERROR_NONE);
    order_stream_close(s);
    order_close(f);
}

static void reasons_are_read_as_written(void **state)
{
    static const struct order_change expected[] = {
        {5, 0, STALL_FETCH},      {5, 1, STALL_FETCH},      {9, 0, STALL_ISSUED},  {10, 0, STALL_MEMORY},
        {20, 1, ORDER_NO_REASON}, {30, 0, ORDER_NO_REASON}, {40, 0, STALL_MEMORY}, {50, 0, ORDER_NO_REASON}};
    struct recording r = start(1);
    struct order_change c;
    struct error e = {0};
    (void)state;
    reasons(&r, 5, 9, STALL_FETCH, 3, STALL_HELD, 0);
    reasons(&r, 9, 10, STALL_ISSUED, 1, STALL_FETCH, 2);
    reasons(&r, 10, 20, STALL_MEMORY, 1, STALL_FETCH, 2);
    reasons(&r, 20, 30, STALL_MEMORY, 1, STALL_FETCH, 0); /* slot 1 has gone */
    reasons(&r, 40, 50, STALL_MEMORY, 1, STALL_FETCH, 0); /* ten cycles without a warp */
    struct order_file *f = finish(&r);
    struct order_stream *s = order_stream_open(f, 0, ORDER_REASONS);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        assert_true(order_next_change(s, &c, &e));
        assert_int_equal(c.cycle, expected[k].cycle);
        assert_int_equal(c.slot, expected[k].slot);
        assert_int_equal(c.reason, expected[k].reason);
    }
    assert_false(order_next_change(s, &c, &e));
    order_stream_close(s);
    order_close(f);
}

/* Two warps take turns on each core; from `at` on, of core 1, in the other order; all of it `late` cycles later. */
static struct order_file *turns(uint32_t count, uint32_t at, uint32_t late)
{
    struct recording r = start(2);
    for (uint32_t core = 0; core < 2; core++)
        for (uint32_t slot = 0; slot < 2; slot++)
            place(&r, core, slot, 1, core, slot);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t core = 0; core < 2; core++) {
            bool other = core == 1 && i >= at;
            issue(&r, core, (i & 1) ^ other, 10 + i + (i > 5 ? late : 0), i / 2);
        }
    return finish(&r);
}

static void the_first_difference_is_found(void **state)
{
    struct difference d;
    struct error e = {0};
    (void)state;
    for (uint32_t at = 0; at < 60; at += 2) {
        struct order_file *a = turns(50, 1000, 0), *b = turns(50, at, 0);
        assert_true(difference_find(a, b, 0, &d, &e));
        assert_int_equal(d.differing, at < 50);
        assert_int_equal(d.shifted, 0);
        assert_int_equal(d.cores[0].common, 50);
        assert_int_equal(d.cores[1].common, at < 50 ? at : 50);
        if (at < 50) {
            assert_int_equal(d.earliest, 1);
            assert_int_equal(d.cores[1].first[0].cycle, 10 + at);
            assert_int_equal(d.cores[1].first[0].slot, 0);
            assert_int_equal(d.cores[1].first[1].slot, 1);
        }
        assert_int_equal(d.lost, 0);
        difference_free(&d);
        order_close(a);
        order_close(b);
    }
}

static void one_may_have_more(void **state)
{
    struct difference d;
    struct error e = {0};
    struct order_file *a = turns(50, 1000, 0), *b = turns(40, 1000, 0);
    (void)state;
    assert_true(difference_find(a, b, 0, &d, &e));
    assert_int_equal(d.differing, 2);
    assert_int_equal(d.cores[0].common, 40);
    assert_true(d.cores[0].has[0] && !d.cores[0].has[1]);
    assert_int_equal(d.lost, 20);
    difference_free(&d);
    order_close(a);
    order_close(b);
}

static void cycles_alone_may_differ(void **state)
{
    struct difference d;
    struct error e = {0};
    struct order_file *a = turns(50, 1000, 0), *b = turns(50, 1000, 7);
    (void)state;
    assert_true(difference_find(a, b, 0, &d, &e));
    assert_int_equal(d.differing, 0);
    assert_int_equal(d.shifted, 2);
    assert_int_equal(d.cores[0].same_cycles, 6);
    uint64_t pairs = 0;
    double sum = 0;
    for (uint32_t i = 0; i < d.row_count; i++) {
        pairs += d.rows[i].pairs;
        sum += d.rows[i].sum;
    }
    assert_int_equal(pairs, 100);
    assert_true(sum == 7.0 * 2 * 44);
    assert_int_equal(d.rows[0].least, 0);
    assert_int_equal(d.rows[0].most, 7);
    difference_free(&d);
    order_close(a);
    order_close(b);
}

/* Memory is bounded: of many warps a part is kept, the same in both runs. */
static void many_warps_are_sampled(void **state)
{
    struct recording r = start(1);
    struct error e = {0};
    (void)state;
    for (uint32_t w = 0; w < 4096; w++) {
        place(&r, 0, 0, 10 * w, w, 0);
        for (uint32_t i = 0; i < 4; i++)
            issue(&r, 0, 0, 10 * w + i, i);
    }
    struct order_file *f = finish(&r);
    struct warp_issues *w = warp_issues_read(f, 1000, &e);
    uint32_t kept = 0, one_of = warp_issues_one_of(w);
    for (uint32_t i = 0; i < 4096; i++) {
        struct order_warp warp = {.launch = 4, .block = i};
        const struct warp_issued *third = warp_issues_find(w, &warp, 3);
        assert_int_equal(third != NULL, warp_issues_has(w, &warp));
        if (third)
            assert_int_equal(third->cycle, 10 * i + 3);
        assert_null(warp_issues_find(w, &warp, 4));
        kept += third != NULL;
    }
    assert_true(one_of >= 16 && one_of <= 64);
    assert_in_range(kept, 4096 / one_of / 2, 4096 / one_of * 2);
    warp_issues_free(w);
    order_close(f);
}

static void a_picture_shows_both(void **state)
{
    struct error e = {0};
    struct recording r = start(1);
    char *text = NULL;
    size_t size = 0;
    (void)state;
    place(&r, 0, 0, 1, 9, 0);
    issue(&r, 0, 0, 9, 1);
    reasons(&r, 1, 9, STALL_FETCH, 1, STALL_HELD, 0);
    reasons(&r, 9, 10, STALL_ISSUED, 1, STALL_HELD, 0);
    reasons(&r, 10, 90, STALL_MEMORY, 1, STALL_HELD, 0);
    struct order_file *f = finish(&r);
    FILE *to = open_memstream(&text, &size);
    struct picture p = {.files = {f, f}, .names = {"a<b", "c"}, .to = 50, .marks = {9, UINT64_MAX}};
    assert_true(picture_write(&p, to, &e));
    fclose(to);
    static const char *const parts[] = {"slot 0: fetch, cycles 1 to 8",
                                        "slot 0: issued, cycles 9 to 9: second &lt; 2",
                                        "slot 0: memory, cycles 10 to 49",
                                        "a&lt;b",
                                        "first difference: cycle 9",
                                        "block 9, warp 0",
                                        "</svg>"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("no '%s' in it", parts[i]);
    assert_null(strstr(text, ">held<"));
    free(text);
    order_close(f);
}

/* Whatever byte is wrong, it is an error or another order, never more than that. */
static void damage_is_found(void **state)
{
    struct recording r = start(1);
    struct error e = {0};
    uint8_t bytes[4096];
    (void)state;
    place(&r, 0, 0, 1, 9, 0);
    for (uint32_t i = 0; i < 200; i++)
        issue(&r, 0, 0, 9 + i, i * 7);
    assert_true(issue_order_close(r.order, &e));
    issue_order_destroy(r.order);
    FILE *in = fopen(r.path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    assert_in_range(size, 100, sizeof bytes - 1);
    for (size_t at = 0; at < 2 * size; at++) { /* a byte that is wrong; cut off */
        FILE *out = fopen(r.path, "wb");
        uint8_t kept = bytes[at % size];
        bytes[at % size] ^= at < size ? 0x55 : 0;
        fwrite(bytes, 1, at < size ? size : at - size, out);
        fclose(out);
        bytes[at % size] = kept;
        e = (struct error){0};
        struct order_file *f = order_open(r.path, &e);
        struct difference d = {0};
        if (f && difference_find(f, f, 0, &d, &e))
            assert_int_equal(d.differing, 0);
        difference_free(&d);
        order_close(f);
    }
    unlink(r.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_as_written),
        cmocka_unit_test(reasons_are_read_as_written),
        cmocka_unit_test(the_first_difference_is_found),
        cmocka_unit_test(one_may_have_more),
        cmocka_unit_test(cycles_alone_may_differ),
        cmocka_unit_test(many_warps_are_sampled),
        cmocka_unit_test(a_picture_shows_both),
        cmocka_unit_test(damage_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
