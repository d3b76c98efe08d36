/* The load/store unit as a kernel meets it: how many accesses an instruction makes, where threads' local memory lies,
 * the order of texture accesses. What waits for memory is in test_gates_memory.c. */
#include "timing_test.h"

#include "gpu/timing.h"
#include "sm/core.h"

enum { LINE = 128, SECTOR = 32 };

#define MACHINE                    "gtx480-gs4"
#define TEXTURE_READ(to, more, at) "tex.1d.v4.u32.s32 {" to ", " more "0, " more "1, " more "2}, [%rd5, {" at "}];\n"

/* Accesses of one instruction, whose lanes have their places so many bytes apart: %rd1, and %rd3 in local memory. */
static uint64_t accesses_of(const char *set, uint32_t apart, const char *access)
{
    struct timed t;
    struct text body = {0};
    say(&body,
        ".local .align 16 .b8 own[64];\nmov.u64 %%rd3, own;\nld.param.u64 %%rd1, [buffer];\nmov.u32 %%r60, "
        "%%tid.x;\nmul.wide.u32 %%rd2, %%r60, %u;\nadd.u64 %%rd1, %%rd1, %%rd2;\n%s",
        apart, access);
    timed_open(&t, &(struct timed_machine){.name = MACHINE}, SETS(ONE_CORE, set), "", body.s);
    timed_launch(&t, 1, 32, 0);
    uint64_t accesses = t.counters->sm.load_accesses + t.counters->sm.store_accesses;
    timed_close(&t);
    free(body.s);
    return accesses;
}

/* Neighbouring lanes meet in segments of lsu.past_l1_segment_bytes, a request each. */
static void test_segments_past_l1(void **state)
{
    (void)state;
    static const char *const segments[] = {"lsu.past_l1_segment_bytes=32", "lsu.past_l1_segment_bytes=64",
                                           "lsu.past_l1_segment_bytes=128"};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t requests = LINE / (SECTOR << i);
        assert_int_equal(accesses_of(segments[i], 4, "ld.global.cg.u32 %r3, [%rd1];\n"), requests);
        assert_int_equal(accesses_of(segments[i], 4, "st.global.cg.u32 [%rd1], %r60;\n"), requests);
        assert_int_equal(accesses_of(segments[i], 4, "atom.global.add.u32 %r3, [%rd1], 1;\n"), requests);
        assert_int_equal(accesses_of(segments[i], 4, "ld.global.u32 %r3, [%rd1];\n"), 1);
    }
}

/* The segment of a vector is that of its elements, and of local memory its first element alone is asked for. */
static void test_vectors_by_element(void **state)
{
    (void)state;
    static const char by_element[] = "rules.vectors_by_element=true", whole[] = "rules.vectors_by_element=false";
    static const struct {
        const char *access;
        uint32_t apart, elements, whole;
    } cases[] = {
        {"ld.global.v4.u8 {%r1, %r2, %r3, %r4}, [%rd1];\n", 4, 4, 1},
        {"st.global.v4.u8 [%rd1], {%r1, %r2, %r3, %r4};\n", 4, 4, 1},
        {"ld.global.v2.u16 {%r1, %r2}, [%rd1];\n", 4, 2, 1},
        {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];\n", 16, 4, 4},
        {"ld.global.v2.u32 {%r1, %r2}, [%rd1];\n", 8, 2, 2},
        {"ld.global.u32 %r1, [%rd1];\n", 4, 1, 1},
        {"st.local.v4.u32 [%rd3], {%r1, %r2, %r3, %r4};\n", 4, 1, 4},
        {"st.local.u64 [%rd3], %rd1;\n", 4, 2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(accesses_of(by_element, cases[i].apart, cases[i].access), cases[i].elements);
        assert_int_equal(accesses_of(whole, cases[i].apart, cases[i].access), cases[i].whole);
    }
}

/* Local memory */

/* Threads of local memory by blocks: those of block k of core c come behind those of all cores' blocks before it, and a
 * word of all threads that run at once stands in front of the next word. */
static void test_local_by_block(void **state)
{
    (void)state;
    static const struct {
        uint32_t blocks, threads;
        uint64_t interleave;
    } cases[] = {
        {100, 64, 3 * 8 * 64},
        {7, 64, 3 * 3 * 64},
        {2, 33, 3 * 1 * 64},
        {100, 768, 3 * 2 * 768},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timed t;
        timed_open(&t, &(struct timed_machine){.name = MACHINE},
                   SETS(ONE_CORE, "machine.cores=3", "rules.local_by_block=true"), "", "mov.u32 %r1, 0;\n");
        timed_launch(&t, cases[i].blocks, cases[i].threads, 0);
        struct sm *c = t.gpu->timing->cores[1];
        assert_int_equal(c->lsu.thread_interleave, cases[i].interleave);
        uint32_t warps = (cases[i].threads + 31) / 32;
        c->slots[warps].block = 1;
        c->blocks.list[1].first_warp = warps;
        assert_int_equal(sm_first_thread(c, 0), 1 * warps * 32);
        assert_int_equal(sm_first_thread(c, warps), (1 + 3) * warps * 32);
        timed_close(&t);
    }
    struct timed t;
    timed_open(&t, &(struct timed_machine){.name = MACHINE},
               SETS(ONE_CORE, "machine.cores=3", "rules.local_by_block=false"), "", "mov.u32 %r1, 0;\n");
    timed_launch(&t, 2, 33, 0);
    struct sm *c = t.gpu->timing->cores[1];
    assert_int_equal(c->lsu.thread_interleave, 3 * 48 * 32);
    assert_int_equal(sm_first_thread(c, 5), (48 + 5) * 32);
    timed_close(&t);
}

/* Textures */

/* rd11 - rd10 around a piece of code, in which %rd5 is a texture of words, all 0, behind the clocks; %r1 is 0 in all
 * lanes. Its first line is in the texture cache. */
static uint64_t around_textures(const char *const *sets, const char *code)
{
    struct timed t;
    struct text body = {0};
    uint64_t clocks[2];
    struct texture description = {.kind = TEXTURE_LINEAR,
                                  .read_as_integer = true,
                                  .array = {.width = 1 << 16, .format = TEXTURE_U32, .channels = 1}};
    say(&body,
        "ld.param.u64 %%rd1, [buffer];\nld.global.u64 %%rd5, [%%rd1];\nmov.u32 %%r1, 0;\n%sadd.u32 %%r1, %%r1, "
        "%%r2;\nadd.u32 %%r1, %%r1, 0;\n",
        TEXTURE_READ("%r2", "%r2", "%r1"));
    say(&body,
        "bra HERE;\nHERE:\nmov.u64 %%rd10, %%clock64;\n%smov.u64 %%rd11, %%clock64;\nst.global.v2.u64 [%%rd1+16], "
        "{%%rd10, %%rd11};\n",
        code);
    timed_open(&t, &(struct timed_machine){.name = MACHINE}, sets, "", body.s);
    for (uint32_t i = 0; i < 2; i++) { /* the second time a texture that nobody has read */
        description.array.data = (uint64_t)(uintptr_t)t.buffer + 65536 + i * (TIMED_BYTES / 2);
        uint64_t handle = texture_create(&t.gpu->textures, &description);
        memcpy(t.buffer, &handle, sizeof handle);
        timed_launch(&t, 1, 32, 0);
    }
    memcpy(clocks, t.buffer + 16, sizeof clocks);
    timed_close(&t);
    free(body.s);
    return clocks[1] - clocks[0];
}

#define IN_ORDER     "l1t.result_queue=2"
#define AS_THEY_COME "l1t.result_queue=0"
#define OTHER_LINE   "add.u32 %r12, %r1, 4096;\n"
#define READ_FIRST   TEXTURE_READ("%r2", "%r2", "%r1")
#define READ_OTHER   TEXTURE_READ("%r3", "%r3", "%r12")
#define USE(r)       "add.u32 %r4, " r ", 1;\n"

/* A hit stands in the queue for a cycle before it is a result, and comes behind misses that were before it. */
static void test_textures_in_order(void **state)
{
    (void)state;
    const char *const *queue = SETS(ONE_CORE, IN_ORDER), *const *none = SETS(ONE_CORE, AS_THEY_COME, "l1t.sets=4");
    uint64_t hit = around_textures(none, OTHER_LINE READ_FIRST USE("%r2")),
             miss = around_textures(queue, OTHER_LINE READ_OTHER READ_FIRST USE("%r3"));
    assert_int_equal(around_textures(queue, OTHER_LINE READ_FIRST USE("%r2")), hit + 1);
    assert_true(miss > hit + 50);
    assert_in_range(around_textures(none, OTHER_LINE READ_OTHER READ_FIRST USE("%r2")), hit, hit + 20);
    assert_int_equal(around_textures(queue, OTHER_LINE READ_OTHER READ_FIRST USE("%r2")), miss + 1);
}

/* Full, of accesses under way or of answers waited for: the second of two misses is looked up when the first has
 * gone. */
static void test_texture_queue_full(void **state)
{
    (void)state;
    static const char two[] =
        OTHER_LINE "add.u32 %r13, %r1, 8192;\n" READ_OTHER TEXTURE_READ("%r7", "%r4", "%r13") USE("%r7");
    uint64_t together = around_textures(SETS(ONE_CORE, IN_ORDER), two),
             answers = around_textures(SETS(ONE_CORE, IN_ORDER, "l1t.miss_queue=1"), two);
    uint64_t hit = around_textures(SETS(ONE_CORE, IN_ORDER), OTHER_LINE READ_FIRST USE("%r2")),
             miss = around_textures(SETS(ONE_CORE, IN_ORDER), OTHER_LINE READ_OTHER USE("%r3")) - hit;
    assert_in_range(answers,
                    together + miss - 25 /* the way into the unit and out again is gone twice here, but not there */,
                    together + miss);
    assert_int_equal(around_textures(SETS(ONE_CORE, IN_ORDER, "l1t.mshr_entries=1"), two), answers);
    assert_int_equal(around_textures(SETS(ONE_CORE, IN_ORDER, "l1t.mshr_merge=1"), two),
                     together); /* a request leaves in the cycle behind */
}

/* 8 x 4 words are a block of 128 bytes, 64 bytes behind the one to its left; below a row of blocks comes the next
 * one. */
static void test_texel_blocks(void **state)
{
    (void)state;
    static const struct {
        uint32_t x, y, channels, line, at;
    } cases[] = {
        {0, 0, 1, 128, 0},   {7, 0, 1, 128, 28},
        {8, 0, 1, 128, 64},  {0, 1, 1, 128, 32},
        {0, 2, 1, 128, 64},  {9, 3, 1, 128, 64 + 96 + 4},
        {0, 4, 1, 128, 512}, {63, 7, 1, 128, 512 + 7 * 64 + 96 + 28},
        {3, 0, 4, 128, 48},  {4, 0, 4, 128, 64},
        {0, 1, 4, 128, 64},  {0, 2, 4, 128, 1024}, /* 16 bytes: 4 x 2 */
        {4, 0, 1, 64, 64},   {0, 3, 1, 64, 48},
        {0, 4, 1, 64, 1024}, /* 4 x 4 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct texture_array a = {
            .data = 0x10000, .width = 64, .height = 8, .format = TEXTURE_F32, .channels = cases[i].channels};
        a.pitch_bytes = 64 * texture_texel_bytes(&a);
        uint64_t address[32] = {
            [5] = a.data + cases[i].y * a.pitch_bytes + cases[i].x * texture_texel_bytes(&a), [6] = 77};
        sm_texel_blocks(&a, cases[i].line, 1 << 5, address);
        assert_int_equal(address[5], a.data + cases[i].at);
        assert_int_equal(address[6], 77);
    }
}

/* Accesses of a warp that reads 16 x 2 texels of a plane: what its lanes share a line of. */
static void test_plane_accesses(void **state)
{
    (void)state;
    static const char *const sets[] = {"rules.texel_blocks=true", "rules.texel_blocks=false"};
    for (uint32_t i = 0; i < 2; i++) {
        struct timed t;
        timed_open(&t, &(struct timed_machine){.name = MACHINE}, SETS(ONE_CORE, sets[i]), "",
                   "ld.param.u64 %rd1, [buffer];\nld.global.u64 %rd5, [%rd1];\nmov.u32 %r1, %tid.x;\nshr.u32 %r3, %r1, "
                   "4;\nand.b32 %r1, %r1, 15;\n"
                   "tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd5, {%r1, %r3}];\n");
        struct texture description = {
            .kind = TEXTURE_PITCH2D,
            .read_as_integer = true,
            .array = {.width = 64, .height = 64, .pitch_bytes = 256, .format = TEXTURE_U32, .channels = 1}};
        description.array.data = (uint64_t)(uintptr_t)t.buffer + 65536;
        uint64_t handle = texture_create(&t.gpu->textures, &description);
        memcpy(t.buffer, &handle, sizeof handle);
        timed_launch(&t, 1, 32, 0);
        assert_int_equal(t.counters->sm.l1t.accesses, i ? 2 : 1);
        timed_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments_past_l1),   cmocka_unit_test(test_vectors_by_element),
        cmocka_unit_test(test_local_by_block),     cmocka_unit_test(test_textures_in_order),
        cmocka_unit_test(test_texture_queue_full), cmocka_unit_test(test_texel_blocks),
        cmocka_unit_test(test_plane_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
