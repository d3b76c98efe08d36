/* Races: is what nothing puts in order found, and is what something does put in order left alone? First the parts
 * (clocks, cells), then kernels. */
#include "kernel_test.h"

#include "exec/race_shadow.h"
#include "gpu/profile.h"

/* Clocks */

struct clocks {
    struct race_orders *orders;
    struct race_block *a, *b;
};

static struct clocks clocks(bool in_step)
{
    struct clocks c = {race_orders_create(in_step), race_clock_create(4), race_clock_create(4)};
    race_clock_start(c.a);
    race_clock_start(c.b);
    c.b->index = 1;
    return c;
}

static void drop(struct clocks *c)
{
    race_clock_destroy(c->a);
    race_clock_destroy(c->b);
    race_orders_destroy(c->orders);
}

static struct race_access access_of(struct race_block *b, uint32_t thread)
{
    return (struct race_access){
        .block = b->index, .clock = ++b->clocks[thread / 32], .thread = (uint16_t)thread, .is_there = true};
}

static bool is_before(const struct clocks *c, const struct race_access *past, struct race_block *b, uint32_t thread)
{
    b->clocks[thread / 32]++;
    return race_clock_is_before(c->orders, b, thread, past);
}

static void meet(struct race_block *b, uint32_t id, uint32_t first, uint32_t second)
{
    race_clock_arrive(b, first, &b->barriers[id]);
    race_clock_arrive(b, second, &b->barriers[id]);
    race_clock_open(b, &b->barriers[id]);
    race_clock_pass(b, first);
    race_clock_pass(b, second);
}

static void barriers_order_those_who_meet(void **state)
{
    (void)state;
    struct clocks c = clocks(false);
    struct race_access x = access_of(c.a, 0);
    assert_false(is_before(&c, &x, c.a, 32));
    meet(c.a, 1, 0, 1);
    assert_true(is_before(&c, &x, c.a, 32));
    assert_false(is_before(&c, &x, c.a, 64));
    meet(c.a, 2, 1, 2); /* and what those have seen before */
    assert_true(is_before(&c, &x, c.a, 64));
    struct race_access y = access_of(c.a, 0);
    assert_false(is_before(&c, &y, c.a, 32));
    drop(&c);
}

/* bar.arrive: the one that waits is after the one that does not, not the other way round. */
static void who_does_not_wait_has_seen_nothing(void **state)
{
    (void)state;
    struct clocks c = clocks(false);
    struct race_access producer = access_of(c.a, 0), consumer = access_of(c.a, 32);
    race_clock_arrive(c.a, 0, &c.a->barriers[3]);
    race_clock_arrive(c.a, 1, &c.a->barriers[3]);
    race_clock_open(c.a, &c.a->barriers[3]);
    race_clock_pass(c.a, 1);
    assert_true(is_before(&c, &producer, c.a, 33));
    assert_false(is_before(&c, &consumer, c.a, 1));
    drop(&c);
}

static void warps_that_have_ended_are_before_a_barrier(void **state)
{
    (void)state;
    struct clocks c = clocks(false);
    struct race_access x = access_of(c.a, 96);
    race_clock_arrive(c.a, 3, &c.a->ended);
    assert_false(is_before(&c, &x, c.a, 0));
    meet(c.a, 0, 0, 1);
    assert_true(is_before(&c, &x, c.a, 0));
    drop(&c);
}

static void lanes_meet(void **state)
{
    (void)state;
    struct clocks c = clocks(false);
    struct race_access x = access_of(c.a, 3);
    assert_true(is_before(&c, &x, c.a, 3));
    assert_false(is_before(&c, &x, c.a, 4));
    race_clock_sync_lanes(c.a, 0, 0xff, FULL_MASK);
    assert_true(is_before(&c, &x, c.a, 4));
    assert_false(is_before(&c, &x, c.a, 8));
    race_clock_sync_lanes(c.a, 0, 0x110, FULL_MASK); /* lane 4 tells lane 8 */
    assert_true(is_before(&c, &x, c.a, 8));
    assert_false(is_before(&c, &x, c.a, 9));
    race_clock_sync_lanes(c.a, 0, 0xffff, 0xffff); /* all that are left */
    assert_true(is_before(&c, &x, c.a, 9));
    assert_false(is_before(&c, &x, c.a, 32));
    drop(&c);
}

static void in_step_all_but_one_instruction_is_in_order(void **state)
{
    (void)state;
    struct clocks c = clocks(true);
    struct race_access x = access_of(c.a, 3);
    assert_false(race_clock_is_before(c.orders, c.a, 4, &x));
    assert_true(is_before(&c, &x, c.a, 4));
    drop(&c);
}

enum { FLAG = 0x1000, OTHER_FLAG = 0x2000 };

static void releases_are_acquired(void **state)
{
    (void)state;
    struct clocks c = clocks(false);
    struct race_access x = access_of(c.a, 0);
    race_clock_release(c.orders, c.a, 0, FLAG); /* no fence: nothing */
    race_clock_acquire(c.orders, c.b, 0, FLAG);
    assert_false(is_before(&c, &x, c.b, 0));
    race_clock_fence(c.a, 0);
    struct race_access y = access_of(c.a, 0);
    race_clock_acquire(c.orders, c.b, 0, FLAG); /* too early */
    assert_false(is_before(&c, &x, c.b, 0));
    race_clock_release(c.orders, c.a, 0, FLAG);
    race_clock_acquire(c.orders, c.b, 0, OTHER_FLAG); /* elsewhere */
    assert_false(is_before(&c, &x, c.b, 0));
    race_clock_acquire(c.orders, c.b, 0, FLAG);
    assert_true(is_before(&c, &x, c.b, 0));
    assert_false(is_before(&c, &y, c.b, 0)); /* came after the fence */
    assert_false(is_before(&c, &x, c.b, 32));
    meet(c.b, 0, 0, 1); /* what one knows, both know */
    assert_true(is_before(&c, &x, c.b, 32));
    drop(&c);
}

static void releases_are_handed_on(void **state)
{
    (void)state;
    struct clocks c = clocks(false);
    struct race_access x = access_of(c.a, 0);
    race_clock_fence(c.a, 0);
    race_clock_release(c.orders, c.a, 0, FLAG);
    race_clock_acquire(c.orders, c.b, 0, FLAG);
    race_clock_fence(c.b, 0);
    race_clock_release(c.orders, c.b, 0, OTHER_FLAG);
    assert_false(is_before(&c, &x, c.a, 32));
    race_clock_acquire(c.orders, c.a, 1, OTHER_FLAG);
    assert_true(is_before(&c, &x, c.a, 32));
    drop(&c);
}

/* More places and releases than are kept apart: what is in order must stay so. */
static void many_places_and_releases(void **state)
{
    (void)state;
    struct clocks c = clocks(false);
    for (uint64_t i = 1; i <= 10000; i++) {
        struct race_access x = access_of(c.a, 0);
        race_clock_fence(c.a, 0);
        race_clock_release(c.orders, c.a, 0, i * 8);
        race_clock_acquire(c.orders, c.b, 2, i * 8);
        assert_true(is_before(&c, &x, c.b, 64));
        assert_false(is_before(&c, &x, c.b, 0));
    }
    drop(&c);
}

/* An acquisition that comes long after its release, and after many others. */
static void old_releases_count(void **state)
{
    (void)state;
    struct clocks c = clocks(false);
    struct race_access first = {0};
    for (uint64_t i = 1; i <= 200; i++) {
        struct race_access x = access_of(c.a, 0);
        first = i == 1 ? x : first;
        race_clock_fence(c.a, 0);
        race_clock_release(c.orders, c.a, 0, i * 8);
    }
    assert_false(is_before(&c, &first, c.b, 0));
    race_clock_acquire(c.orders, c.b, 0, 8);
    assert_true(is_before(&c, &first, c.b, 0));
    drop(&c);
}

/* Cells */

struct seen {
    uint32_t counts[RACE_KINDS];
};

static void count(void *context, enum race_kind kind, const struct race_access *past, uint32_t offset)
{
    (void)past, (void)offset;
    ((struct seen *)context)->counts[kind]++;
}

struct cells {
    struct clocks clocks;
    struct race_page *page;
    struct seen seen;
    uint32_t owner;
};

static struct cells cells(void)
{
    return (struct cells){.clocks = clocks(false), .page = race_page_create(), .owner = 1};
}

static void drop_cells(struct cells *c)
{
    race_page_destroy(c->page);
    drop(&c->clocks);
}

static void touch(struct cells *c, struct race_block *b, uint32_t thread, bool writes, enum race_strength strength,
                  uint32_t offset, uint32_t bytes, uint32_t value)
{
    struct race_touch t = {.owner = c->owner,
                           .offset = offset,
                           .bytes = bytes,
                           .value = value,
                           .is_write = writes,
                           .access = access_of(b, thread)};
    t.access.strength = (uint8_t)strength;
    race_touch_page(c->page, &t, c->clocks.orders, b, count, &c->seen);
}

static void read_word(struct cells *c, struct race_block *b, uint32_t thread)
{
    touch(c, b, thread, false, RACE_WEAK, 8, 4, 0);
}
static void write_word(struct cells *c, struct race_block *b, uint32_t thread, uint32_t value)
{
    touch(c, b, thread, true, RACE_WEAK, 8, 4, value);
}

#define SEES(c, ww, raw, war)                                          \
    do {                                                               \
        assert_int_equal((c).seen.counts[RACE_WRITE_WRITE], ww);       \
        assert_int_equal((c).seen.counts[RACE_READ_AFTER_WRITE], raw); \
        assert_int_equal((c).seen.counts[RACE_WRITE_AFTER_READ], war); \
        (c).seen = (struct seen){{0}};                                 \
    } while (0)

static void kinds(void **state)
{
    (void)state;
    struct cells c = cells();
    struct race_block *a = c.clocks.a, *b = c.clocks.b;
    read_word(&c, a, 0);
    read_word(&c, a, 32);
    read_word(&c, b, 0);
    SEES(c, 0, 0, 0);
    write_word(&c, a, 0, 1);
    SEES(c, 0, 0, 1);
    write_word(&c, a, 0, 2);
    read_word(&c, a, 0);
    SEES(c, 0, 0, 0);
    read_word(&c, a, 32);
    SEES(c, 0, 1, 0);
    write_word(&c, b, 5, 3);
    SEES(c, 1, 0, 1);
    c.owner = 2; /* another launch, or block */
    write_word(&c, a, 7, 4);
    SEES(c, 0, 0, 0);
    touch(&c, a, 64, true, RACE_WEAK, 12, 4, 9); /* another place */
    SEES(c, 0, 0, 0);
    drop_cells(&c);
}

static void equal_values_are_harmless(void **state)
{
    (void)state;
    struct cells c = cells();
    struct race_block *a = c.clocks.a;
    for (uint32_t thread = 0; thread < 128; thread += 8)
        write_word(&c, a, thread, 7);
    SEES(c, 0, 0, 0);
    write_word(&c, a, 1, 8);
    SEES(c, 1, 0, 0);
    read_word(&c, a, 64);
    SEES(c, 0, 1, 0);
    drop_cells(&c);
}

/* Of those that wrote the same another one is kept beside the last, who may well change the value. */
static void the_other_of_two_equal_writers(void **state)
{
    (void)state;
    struct cells c = cells();
    struct race_block *a = c.clocks.a, *b = c.clocks.b;
    write_word(&c, a, 31, 7);
    write_word(&c, a, 32, 7);
    read_word(&c, a, 32); /* whoever was first: 7 */
    SEES(c, 0, 0, 0);
    write_word(&c, a, 32, 8);
    SEES(c, 1, 0, 0);
    drop_cells(&c);

    c = cells(); /* one of its own warp does not take the place of the other block's */
    a = c.clocks.a;
    b = c.clocks.b;
    write_word(&c, b, 0, 7);
    write_word(&c, a, 0, 7);
    write_word(&c, a, 1, 7);
    SEES(c, 0, 0, 0);
    write_word(&c, a, 1, 8);
    SEES(c, 1, 0, 0);
    drop_cells(&c);
}

static void strong_ones_are_no_race(void **state)
{
    (void)state;
    struct cells c = cells();
    struct race_block *a = c.clocks.a, *b = c.clocks.b;
    touch(&c, a, 0, true, RACE_STRONG, 8, 4, 1);
    touch(&c, b, 0, true, RACE_STRONG, 8, 4, 2);
    touch(&c, a, 64, false, RACE_STRONG, 8, 4, 0);
    SEES(c, 0, 0, 0);
    touch(&c, a, 64, true, RACE_STRONG_IN_BLOCK, 8, 4, 3); /* does not reach the other block */
    SEES(c, 1, 0, 0);
    touch(&c, a, 32, true, RACE_STRONG_IN_BLOCK, 8, 4, 4);
    SEES(c, 1, 0, 0);     /* with the other block's, though that is not the last */
    read_word(&c, a, 96); /* weak */
    SEES(c, 0, 1, 0);
    drop_cells(&c);
}

/* Readers before a barrier are forgotten, those of another block are not, however many there are. */
static void readers_are_kept(void **state)
{
    (void)state;
    struct cells c = cells();
    struct race_block *a = c.clocks.a, *b = c.clocks.b;
    read_word(&c, a, 0);
    read_word(&c, a, 1);
    read_word(&c, a, 32);
    read_word(&c, a, 64);
    write_word(&c, a, 0, 1);
    SEES(c, 0, 0, 1);
    c.owner = 2;
    read_word(&c, a, 0);
    read_word(&c, a, 1);
    read_word(&c, b, 0);
    meet(a, 0, 0, 1);
    write_word(&c, a, 40, 1);
    SEES(c, 0, 0, 1);
    c.owner = 3;
    read_word(&c, a, 0);
    read_word(&c, a, 32);
    meet(a, 0, 0, 1);
    write_word(&c, a, 3, 1);
    SEES(c, 0, 0, 0);
    drop_cells(&c);
}

static void bytes_of_a_word(void **state)
{
    (void)state;
    struct cells c = cells();
    struct race_block *a = c.clocks.a;
    write_word(&c, a, 0, 0x04030201);
    touch(&c, a, 32, true, RACE_WEAK, 9, 1, 2); /* what was there */
    SEES(c, 0, 0, 0);
    touch(&c, a, 32, true, RACE_WEAK, 9, 1, 7); /* and something else */
    SEES(c, 1, 0, 0);
    touch(&c, a, 64, true, RACE_WEAK, 10, 2, 7);
    SEES(c, 2, 0, 0);
    touch(&c, a, 64, false, RACE_WEAK, 10, 2, 0);
    SEES(c, 0, 0, 0);
    touch(&c, a, 96, false, RACE_WEAK, 9, 1, 0);
    SEES(c, 0, 1, 0);
    race_page_forget(c.page, 8, 4);
    read_word(&c, a, 100);
    SEES(c, 0, 0, 0);
    drop_cells(&c);
}

/* Kernels */

#define THREAD \
    "mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd1, %rd0;\n" /* %rd1: a word of its own */
#define SHARED_THREAD \
    ".shared .b32 s[1024]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;\n"

static uint32_t races_in(const char *ptx, uint32_t blocks, uint32_t threads, struct race_pair *first)
{
    struct kernel_run k;
    uint32_t found;
    kernel_open(&k, ptx);
    k.gpu->races = races_create();
    if (!kernel_launch(&k, blocks, threads))
        fail_msg("%s", k.error.text);
    const struct race_pair *pairs = races_pairs(k.gpu->races, &found);
    if (first && found)
        *first = pairs[0];
    kernel_close(&k);
    return found;
}

#define SILENT(ptx, blocks, threads) assert_int_equal(races_in(ptx, blocks, threads, NULL), 0)
#define FOUND(ptx, blocks, threads)  assert_true(races_in(ptx, blocks, threads, NULL) > 0)

static void pair_is_named(void **state)
{
    (void)state;
    struct kernel_run k;
    uint32_t found;
    kernel_open(&k,
                PTX_HEADER KERNEL_HEAD THREAD "setp.eq.u32 %p0, %r0, 40;\n@%p0 st.global.u32 [%rd0+8], %r0;\n"
                                              "setp.eq.u32 %p0, %r0, 70;\n@%p0 ld.global.u32 %r3, [%rd0+8];\nret; }");
    k.gpu->races = races_create();
    assert_true(kernel_launch(&k, 1, 96));
    const struct race_pair *p = races_pairs(k.gpu->races, &found);
    assert_int_equal(found, 1);
    assert_int_equal(p->kind, RACE_READ_AFTER_WRITE);
    assert_int_equal(p->count, 1);
    assert_int_equal(p->earlier.thread[0], 40);
    assert_int_equal(p->later.thread[0], 70);
    assert_false(p->shared);
    assert_string_equal(p->kernel, "kernel");
    assert_non_null(strstr(p->where, "8 bytes into a"));
    const struct profile_listing *l = p->program;
    assert_non_null(strstr(l->lines[p->earlier.instruction].text, "st.global.u32 [%rd0+8], %r0"));
    assert_non_null(strstr(l->lines[p->later.instruction].text, "ld.global.u32 %r3, [%rd0+8]"));
    assert_true(kernel_launch(&k, 1, 96)); /* the same pair, once more; nothing between launches */
    p = races_pairs(k.gpu->races, &found);
    assert_int_equal(found, 1);
    assert_int_equal(p->count, 2);
    assert_int_equal(races_launches(k.gpu->races), 2);
    kernel_close(&k);
}

static void shared_variable_is_named(void **state)
{
    (void)state;
    struct race_pair p;
    assert_int_equal(races_in(PTX_HEADER KERNEL_HEAD
                              ".shared .b32 before[4]; .shared .align 4 .b8 counts[64];\n"
                              "mov.u32 %r0, %tid.x; st.shared.u32 [before], 1; st.shared.u32 [counts+12], %r0; ret; }",
                              1, 2, &p),
                     1);
    assert_true(p.shared);
    assert_string_equal(p.where, "12 bytes into shared variable 'counts'");
}

static void own_words_are_silent(void **state)
{
    (void)state;
    SILENT(PTX_HEADER KERNEL_HEAD THREAD
           "st.global.u32 [%rd1], %r0; ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd1], %r3; ret; }",
           1, 128);
    SILENT(PTX_HEADER KERNEL_HEAD "ld.global.u32 %r3, [%rd0]; ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd0]; ret; }", 4,
           128);
}

#define SWAP(sync) "st.shared.u32 [%r1], %r0; " sync " xor.b32 %r3, %r1, 4; ld.shared.u32 %r4, [%r3]; ret; }"
static void neighbours_in_a_warp(void **state)
{
    (void)state;
    FOUND(PTX_HEADER KERNEL_HEAD SHARED_THREAD SWAP(""), 1, 32);
    SILENT(PTX_HEADER KERNEL_HEAD SHARED_THREAD SWAP("bar.warp.sync 0xffffffff;"), 1, 32);
    FOUND(PTX_HEADER KERNEL_HEAD SHARED_THREAD SWAP("shfl.sync.bfly.b32 %r5, %r0, 1, 31, 0xffffffff;"), 1,
          32); /* no order of memory */
    SILENT(PTX_HEADER KERNEL_HEAD SHARED_THREAD SWAP("bar.sync 0;"), 2, 96);
    SILENT(PTX_HEADER KERNEL_HEAD SHARED_THREAD SWAP("barrier.sync 5, 96;"), 2, 96);
    SILENT(PTX_HEADER KERNEL_HEAD SHARED_THREAD SWAP("bar.red.popc.u32 %r5, 0, %p0;"), 2, 96);
    SILENT(PTX_LOCKSTEP_HEADER KERNEL_HEAD SHARED_THREAD SWAP(""), 1, 64);
}

/* Lanes that come to bar.warp.sync on different paths. */
static void paths_meet(void **state)
{
    (void)state;
    SILENT(PTX_HEADER KERNEL_HEAD SHARED_THREAD "setp.lt.u32 %p0, %r0, 16; @%p0 bra A;\n"
                                                "st.shared.u32 [%r1], %r0; bar.warp.sync 0xffffffff; bra E;\nA: "
                                                "bar.warp.sync 0xffffffff; ld.shared.u32 %r4, [%r1+64];\nE: ret; }",
           1, 32);
    FOUND(PTX_HEADER KERNEL_HEAD SHARED_THREAD "setp.lt.u32 %p0, %r0, 16; @%p0 bra A;\n"
                                               "bar.warp.sync 0xffff0000; st.shared.u32 [%r1], %r0; bra E;\nA: "
                                               "bar.warp.sync 0x0000ffff; ld.shared.u32 %r4, [%r1+64];\nE: ret; }",
          1, 32);
}

static void one_instruction(void **state)
{
    (void)state;
    FOUND(PTX_LOCKSTEP_HEADER KERNEL_HEAD THREAD "st.global.u32 [%rd0], %r0; ret; }", 1, 32);
    SILENT(PTX_HEADER KERNEL_HEAD THREAD "st.global.u32 [%rd0], 5; ret; }", 4, 128);
    SILENT(PTX_HEADER KERNEL_HEAD THREAD "atom.global.add.u32 %r3, [%rd0], %r0; red.global.max.u32 [%rd0], %r0; ret; }",
           4, 128);
    SILENT(PTX_HEADER KERNEL_HEAD THREAD
           "st.volatile.global.u32 [%rd0], %r0; ld.relaxed.gpu.global.u32 %r3, [%rd0]; ret; }",
           4, 128);
    FOUND(PTX_HEADER KERNEL_HEAD THREAD "red.global.add.u32 [%rd0], %r0; ld.global.u32 %r3, [%rd0]; ret; }", 1, 128);
    FOUND(PTX_HEADER KERNEL_HEAD THREAD "red.cta.global.add.u32 [%rd0], %r0; ret; }", 2, 32);
}

/* All of a wide access counts, through generic addresses too. */
static void wide_and_generic(void **state)
{
    (void)state;
    FOUND(PTX_HEADER KERNEL_HEAD THREAD "setp.eq.u32 %p0, %r0, 0; @%p0 st.global.v4.u32 [%rd0], {%r0, %r0, %r0, %r0};\n"
                                        "setp.eq.u32 %p0, %r0, 64; @%p0 ld.global.u8 %r3, [%rd0+15]; ret; }",
          1, 96);
    FOUND(PTX_HEADER KERNEL_HEAD SHARED_THREAD
          "cvta.shared.u64 %rd2, %rd2; cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd3, %rd3;\n"
          "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [s+4], %r0; setp.eq.u32 %p0, %r0, 64; @%p0 ld.u32 %r3, "
          "[%rd3+4]; ret; }",
          1, 96);
}

static void blocks(void **state)
{
    (void)state;
    FOUND(PTX_HEADER KERNEL_HEAD THREAD "mov.u32 %r1, %ctaid.x; st.global.u32 [%rd0], %r1; ret; }", 2, 1);
    SILENT(PTX_HEADER KERNEL_HEAD SHARED_THREAD "mov.u32 %r3, %ctaid.x; st.shared.u32 [%r1], %r3; ret; }", 40,
           32); /* each has its own */
}

/* A warp that has ended is before the barrier of the others. */
static void ended_warps(void **state)
{
    (void)state;
    SILENT(PTX_HEADER KERNEL_HEAD SHARED_THREAD
           "setp.ge.u32 %p0, %r0, 32; @%p0 bra B; st.shared.u32 [%r1], %r0; exit;\n"
           "B: bar.sync 0; ld.shared.u32 %r3, [%r1+-128]; ret; }",
           1, 64);
}

/* One warp arrives and goes on, the other waits: what the first did before is in order, what it does after is not. */
static void who_only_arrives(void **state)
{
    (void)state;
#define HAND_OVER(before, after)                                                         \
    PTX_HEADER KERNEL_HEAD SHARED_THREAD                                                 \
        "setp.ge.u32 %p0, %r0, 32; @%p0 bra B;\n" before " barrier.arrive 1, 64; " after \
        " barrier.sync 2, 64; bra E;\n"                                                  \
        "B: barrier.sync 1, 64; ld.shared.u32 %r3, [%r1+-128]; barrier.sync 2, 64;\nE: ret; }"
    SILENT(HAND_OVER("st.shared.u32 [%r1], %r0;", ""), 1, 64);
    FOUND(HAND_OVER("", "st.shared.u32 [%r1], %r0;"), 1, 64);
}

static void asynchronous_copies(void **state)
{
    (void)state;
#define COPY(sync)                                                                                              \
    PTX_HEADER KERNEL_HEAD SHARED_THREAD "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd1, %rd0;\n"               \
                                         "cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.wait_all; " sync \
                                         " xor.b32 %r3, %r1, 4; ld.shared.u32 %r4, [%r3]; ret; }"
    FOUND(COPY(""), 1, 64);
    SILENT(COPY("bar.sync 0;"), 1, 64);
}

static void mbarriers(void **state)
{
    (void)state;
#define MBARRIER(wait)                                                                                               \
    PTX_HEADER KERNEL_HEAD SHARED_THREAD                                                                             \
        ".shared .align 8 .b64 bar; setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [bar], 64; bar.sync 0;\n" \
        "st.shared.u32 [%r1], %r0; mbarrier.arrive.shared.b64 %rd2, [bar];\n" wait                                   \
        "xor.b32 %r3, %r1, 128; ld.shared.u32 %r4, [%r3]; ret; }"
    SILENT(MBARRIER("W: mbarrier.try_wait.shared.b64 %p1, [bar], %rd2; @!%p1 bra W;\n"), 1, 64);
    FOUND(MBARRIER(""), 1, 64);
}

/* What a kernel's malloc hands out again is new. */
static void memory_that_is_handed_out_again(void **state)
{
    (void)state;
    SILENT(PTX_HEADER
           ".extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p);\n" KERNEL_HEAD
           "{ .param .b64 n; .param .b64 r; mov.u64 %rd2, 64; st.param.b64 [n], %rd2; call (r), malloc, (n); "
           "ld.param.b64 %rd1, [r]; }\n"
           "mov.u32 %r0, %ctaid.x; st.u32 [%rd1], %r0;\n"
           "{ .param .b64 p; st.param.b64 [p], %rd1; call free, (p); } ret; }",
           4, 1);
}

/* Counters of instructions (--pcs) and the check together. */
static void with_counters(void **state)
{
    (void)state;
    struct kernel_run k;
    uint32_t found;
    kernel_open(&k, PTX_HEADER KERNEL_HEAD THREAD "st.global.u32 [%rd0], %r0; ret; }");
    k.gpu->races = races_create();
    k.gpu->options.pcs = true;
    assert_true(kernel_launch(&k, 1, 64));
    races_pairs(k.gpu->races, &found);
    assert_int_equal(found, 1);
    assert_non_null(k.counted->pcs);
    kernel_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_order_those_who_meet),
        cmocka_unit_test(who_does_not_wait_has_seen_nothing),
        cmocka_unit_test(warps_that_have_ended_are_before_a_barrier),
        cmocka_unit_test(lanes_meet),
        cmocka_unit_test(in_step_all_but_one_instruction_is_in_order),
        cmocka_unit_test(releases_are_acquired),
        cmocka_unit_test(releases_are_handed_on),
        cmocka_unit_test(many_places_and_releases),
        cmocka_unit_test(old_releases_count),
        cmocka_unit_test(kinds),
        cmocka_unit_test(equal_values_are_harmless),
        cmocka_unit_test(the_other_of_two_equal_writers),
        cmocka_unit_test(strong_ones_are_no_race),
        cmocka_unit_test(readers_are_kept),
        cmocka_unit_test(bytes_of_a_word),
        cmocka_unit_test(pair_is_named),
        cmocka_unit_test(shared_variable_is_named),
        cmocka_unit_test(own_words_are_silent),
        cmocka_unit_test(neighbours_in_a_warp),
        cmocka_unit_test(paths_meet),
        cmocka_unit_test(one_instruction),
        cmocka_unit_test(wide_and_generic),
        cmocka_unit_test(blocks),
        cmocka_unit_test(ended_warps),
        cmocka_unit_test(who_only_arrives),
        cmocka_unit_test(asynchronous_copies),
        cmocka_unit_test(mbarriers),
        cmocka_unit_test(memory_that_is_handed_out_again),
        cmocka_unit_test(with_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
