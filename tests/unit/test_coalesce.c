/* Does the coalescer make the accesses that the rule says, in the order in which they leave? First the cases one can
 * count by hand, then random lanes against plain models written byte by byte.
 * Left out of quick: it runs for eight seconds, most of them with random lanes.
 * Left out of second builds: it compares whole numbers, which no compiler changes. */
#include "mem/coalesce.h"
#include "mem/shared_banks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ALL 0xffffffffu

static void fill(uint64_t address[32], uint64_t base, uint64_t stride)
{
    for (uint32_t i = 0; i < 32; i++)
        address[i] = base + i * stride;
}

static void check(const struct access *a, uint64_t address, uint32_t bytes, uint32_t mask, uint32_t sectors)
{
    assert_int_equal(a->address, address);
    assert_int_equal(a->bytes, bytes);
    assert_int_equal(a->mask, mask);
    assert_int_equal(a->sectors, sectors);
}

/* 32 words in a row, aligned. */
static void words_in_a_row(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x1000, 4);
    assert_int_equal(coalesce_global(address, ALL, 4, 128, 1, out), 1);
    check(&out[0], 0x1000, 128, ALL, 15);
    assert_int_equal(coalesce_global(address, ALL, 4, 128, 2, out), 2);
    check(&out[0], 0x1040, 64, 0xffff0000, 12); /* the later half leaves first */
    check(&out[1], 0x1000, 64, 0x0000ffff, 3);
}

static void stride_of_a_line(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x1000, 128);
    for (uint32_t parts = 1; parts <= 2; parts++) {
        assert_int_equal(coalesce_global(address, ALL, 4, 128, parts, out), 32);
        for (uint32_t i = 0; i < 32; i++)
            check(&out[i], 0x1000 + (31 - i) * 128, 32, 1u << (31 - i), 1); /* highest segment first */
    }
}

static void one_word_for_all(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x1064, 0);
    assert_int_equal(coalesce_global(address, ALL, 4, 128, 1, out), 1);
    check(&out[0], 0x1060, 32, ALL, 8);
    assert_int_equal(coalesce_global(address, ALL, 4, 128, 2, out), 2);
    check(&out[0], 0x1060, 32, 0xffff0000, 8);
    check(&out[1], 0x1060, 32, 0x0000ffff, 8);
}

static void half_a_line_too_far(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x1040, 4);
    assert_int_equal(coalesce_global(address, ALL, 4, 128, 1, out), 2);
    check(&out[0], 0x1080, 64, 0xffff0000, 3);
    check(&out[1], 0x1040, 64, 0x0000ffff, 12);
}

/* Segments of 32 and 64 bytes for elements of 1 and 2; a 16-byte element makes four whole lines. */
static void segment_follows_element(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x1000, 1);
    assert_int_equal(coalesce_global(address, ALL, 1, 128, 1, out), 1);
    check(&out[0], 0x1000, 32, ALL, 1);
    fill(address, 0x1000, 2);
    assert_int_equal(coalesce_global(address, ALL, 2, 128, 1, out), 1);
    check(&out[0], 0x1000, 64, ALL, 3);
    fill(address, 0x1010, 1);
    assert_int_equal(coalesce_global(address, ALL, 1, 128, 1, out), 2);
    check(&out[0], 0x1020, 32, 0xffff0000, 2);
    check(&out[1], 0x1000, 32, 0x0000ffff, 1);
    fill(address, 0x1000, 16);
    assert_int_equal(coalesce_global(address, ALL, 16, 128, 1, out), 4);
    for (uint32_t i = 0; i < 4; i++)
        check(&out[i], 0x1180 - i * 128, 128, 0xffu << (8 * (3 - i)), 15);
}

/* Which quarters are used decides what is left of a line: all sixteen sets of quarters. */
static void shrinking(void **state)
{
    (void)state;
    static const struct {
        uint32_t offset, bytes;
    } want[16] = {{0, 0},   {0, 32},  {32, 32}, {0, 64},  {64, 32}, {0, 128}, {0, 128}, {0, 128},
                  {96, 32}, {0, 128}, {0, 128}, {0, 128}, {64, 64}, {0, 128}, {0, 128}, {0, 128}};
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x2000, 32);
    for (uint32_t mask = 1; mask < 16; mask++) {
        assert_int_equal(coalesce_global(address, mask, 4, 128, 1, out), 1);
        check(&out[0], 0x2000 + want[mask].offset, want[mask].bytes, mask,
              (want[mask].bytes == 128  ? 15u
               : want[mask].bytes == 64 ? 3u
                                        : 1u)
                  << want[mask].offset / 32);
    }
}

static void nobody_asks(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x2000, 4);
    assert_int_equal(coalesce_global(address, 0, 4, 128, 2, out), 0);
    assert_int_equal(coalesce_atomic(address, 0, 4, 128, 2, out), 0);
    assert_int_equal(coalesce_local(address, 0, 4, 0, 1024, 128, 1, out), 0);
    assert_int_equal(coalesce_lines(address, 0, 4, 64, out), 0);
    assert_int_equal(shared_banks_cycles(address, 0, 4, 32, 1, false), 0);
}

static void atomics(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x1000, 0); /* a counter: each lane its own access */
    assert_int_equal(coalesce_atomic(address, ALL, 4, 128, 2, out), 32);
    for (uint32_t i = 0; i < 32; i++)
        check(&out[i], 0x1000, 32, 1u << (31 - i), 1);
    fill(address, 0x1000, 4); /* half warps, whatever the machine's parts */
    assert_int_equal(coalesce_atomic(address, ALL, 4, 128, 2, out), 2);
    check(&out[0], 0x1040, 64, 0xffff0000, 12);
    check(&out[1], 0x1000, 64, 0x0000ffff, 3);
    for (uint32_t i = 0; i < 4;
         i++) /* lanes 0 and 2 collide, 1 and 3 too: two accesses of two lanes, the second one first */
        address[i] = 0x1000 + i % 2 * 64;
    assert_int_equal(coalesce_atomic(address, 15, 4, 128, 2, out), 2);
    check(&out[0], 0x1000, 128, 12, 15);
    check(&out[1], 0x1000, 128, 3, 15);
    address[2] = 0x1020; /* a lane without a collision joins the first */
    assert_int_equal(coalesce_atomic(address, 15, 4, 128, 2, out), 2);
    check(&out[0], 0x1040, 32, 8, 4);
    check(&out[1], 0x1000, 128, 7, 15);
}

static void local_words_interleave(void **state)
{
    (void)state;
    uint64_t offset[32];
    struct access out[COALESCE_MOST];
    assert_int_equal(coalesce_local_address(0, 5, 1000), 20);
    assert_int_equal(coalesce_local_address(4, 5, 1000), 4020);
    assert_int_equal(coalesce_local_address(7, 5, 1000), 4023);
    fill(offset, 8, 0); /* the same variable of all threads: one line a word */
    assert_int_equal(coalesce_local(offset, ALL, 4, 64, 1024, 128, 1, out), 1);
    check(&out[0], (2 * 1024 + 64) * 4, 128, ALL, 15);
    assert_int_equal(coalesce_local(offset, ALL, 8, 64, 1024, 128, 1, out), 2);
    check(&out[0], (3 * 1024 + 64) * 4, 128, ALL, 15);
    check(&out[1], (2 * 1024 + 64) * 4, 128, ALL, 15);
    assert_int_equal(coalesce_local(offset, ALL, 16, 64, 1024, 128, 2, out), 8);
    check(&out[0], (5 * 1024 + 80) * 4, 64, 0xffff0000, 12);
    check(&out[7], (2 * 1024 + 64) * 4, 64, 0x0000ffff, 3);
    fill(offset, 8, 16); /* each thread another element: nothing meets */
    assert_int_equal(coalesce_local(offset, ALL, 16, 64, 1024, 128, 1, out), 128);
}

static void lines(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x1044, 0);
    assert_int_equal(coalesce_lines(address, ALL, 4, 64, out), 1);
    check(&out[0], 0x1040, 64, ALL, 12);
    for (uint32_t i = 0; i < 32; i++)
        address[i] = 0x1000 + i % 2 * 64;
    assert_int_equal(coalesce_lines(address, ALL, 4, 64, out), 2);
    check(&out[0], 0x1040, 64, 0xaaaaaaaa, 12);
    check(&out[1], 0x1000, 64, 0x55555555, 3);
    assert_int_equal(coalesce_lines(address, ALL, 4, 256, out), 1);
    check(&out[0], 0x1000, 256, ALL, 255);
}

static uint32_t shared(const uint64_t address[32], uint32_t bytes, bool first_generation)
{
    return first_generation ? shared_banks_cycles(address, ALL, bytes, 16, 2, true)
                            : shared_banks_cycles(address, ALL, bytes, 32, 1, false);
}

static void shared_conflicts(void **state)
{
    (void)state;
    uint64_t address[32];
    static const struct {
        uint32_t stride, bytes, half_warps, whole_warp;
    } cases[] = {
        {4, 4, 2, 1},  {8, 4, 4, 2}, {64, 4, 32, 16}, {128, 4, 32, 32}, {0, 4, 2, 1},
        {12, 4, 2, 1}, {8, 8, 4, 2}, {16, 16, 8, 4},  {2, 2, 4, 1}, /* two lanes a word: one of the words is broadcast,
                                                                       the others take a cycle a lane */
        {1, 1, 8, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill(address, 0, cases[i].stride);
        assert_int_equal(shared(address, cases[i].bytes, true), cases[i].half_warps);
        assert_int_equal(shared(address, cases[i].bytes, false), cases[i].whole_warp);
    }
    fill(address, 0, 4); /* lanes of one half only: the other half takes no cycle */
    assert_int_equal(shared_banks_cycles(address, 0x0000ffff, 4, 16, 2, true), 1);
    assert_int_equal(shared_banks_cycles(address, 0x80000001, 4, 16, 2, true), 2);
    /* Three lanes want word 16, four want word 1: that one is broadcast. */
    static const uint64_t word[8] = {1, 1, 1, 1, 16, 16, 16, 2};
    for (uint32_t i = 0; i < 8; i++)
        address[i] = word[i] * 4;
    assert_int_equal(shared_banks_cycles(address, 0xff, 4, 16, 2, true), 3);
    assert_int_equal(shared_banks_cycles(address, 0xff, 4, 16, 2, false), 1);
}

/* The plain models. */
struct model_access {
    uint64_t segment;
    uint32_t lanes;
    bool bytes[256];
};
struct model {
    uint32_t count;
    struct model_access list[512];
};

static struct model_access *model_new(struct model *m, uint64_t segment)
{
    struct model_access *a = &m->list[m->count++];
    memset(a, 0, sizeof *a);
    a->segment = segment;
    return a;
}

static bool model_collides(const struct model_access *a, uint64_t address, uint32_t bytes, uint32_t segment_bytes)
{
    for (uint64_t b = address; b < address + bytes; b++)
        if (b / segment_bytes * segment_bytes == a->segment && a->bytes[b % 256])
            return true;
    return false;
}

static void model_add(struct model *m, uint64_t address, uint32_t bytes, uint32_t segment_bytes, uint32_t lane,
                      bool atomic)
{
    for (uint64_t segment = address / segment_bytes * segment_bytes; segment < address + bytes;
         segment += segment_bytes) {
        struct model_access *a = NULL;
        for (uint32_t i = 0; !a && i < m->count; i++)
            if (m->list[i].segment == segment &&
                !(atomic && model_collides(&m->list[i], address, bytes, segment_bytes)))
                a = &m->list[i];
        if (!a)
            a = model_new(m, segment);
        a->lanes |= 1u << lane;
        for (uint64_t b = address; b < address + bytes; b++)
            if (b / segment_bytes * segment_bytes == segment)
                a->bytes[b % 256] = true;
    }
}

static bool model_used(const struct model_access *a, uint64_t address, uint32_t bytes)
{
    for (uint64_t b = address; b < address + bytes; b++)
        if (a->bytes[b % 256])
            return true;
    return false;
}

static struct access model_shrink(const struct model_access *a, uint32_t segment_bytes)
{
    struct access out = {.address = a->segment, .mask = a->lanes};
    uint32_t size = segment_bytes;
    while (size > 32 && model_used(a, out.address, size / 2) != model_used(a, out.address + size / 2, size / 2)) {
        size /= 2;
        if (!model_used(a, out.address, size))
            out.address += size;
    }
    out.bytes = (uint16_t)size;
    for (uint32_t s = 0; s < size / 32; s++)
        out.sectors = (uint8_t)(out.sectors | 1u << (out.address / 32 + s) % (size == 256 ? 8 : 4));
    return out;
}

/* Out of the back: highest segment first, of one segment the access made last first. */
static uint32_t model_leave(struct model *m, uint32_t segment_bytes, struct access *out)
{
    uint32_t count = 0;
    for (uint32_t left = m->count; left > 0; left--) {
        uint32_t pick = ~0u;
        for (uint32_t i = 0; i < m->count; i++)
            if (m->list[i].lanes && (pick == ~0u || m->list[i].segment >= m->list[pick].segment))
                pick = i;
        out[count++] = model_shrink(&m->list[pick], segment_bytes);
        m->list[pick].lanes = 0;
    }
    return count;
}

static uint32_t size_of_segment(uint32_t bytes, uint32_t most)
{
    uint32_t size = bytes == 1 ? 32 : bytes == 2 ? 64 : 256;
    return size > most ? most : size;
}

static uint32_t model_warp(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t most, uint32_t parts,
                           bool atomic, struct access *out)
{
    uint32_t count = 0, segment = size_of_segment(bytes, most);
    for (int part = (int)parts - 1; part >= 0; part--) {
        struct model m = {0};
        for (uint32_t lane = 32 / parts * (uint32_t)part; lane < 32 / parts * ((uint32_t)part + 1); lane++)
            if (mask >> lane & 1)
                model_add(&m, address[lane], bytes, segment, lane, atomic);
        count += model_leave(&m, segment, out + count);
    }
    return count;
}

static uint32_t model_local(const uint64_t offset[32], uint32_t mask, uint32_t bytes, uint64_t first, uint64_t threads,
                            uint32_t most, uint32_t parts, struct access *out)
{
    uint32_t count = 0;
    for (int part = (int)parts - 1; part >= 0; part--) {
        struct model m = {0};
        for (uint32_t lane = 32 / parts * (uint32_t)part; lane < 32 / parts * ((uint32_t)part + 1); lane++)
            for (uint64_t b = offset[lane]; mask >> lane & 1 && b < offset[lane] + bytes; b++)
                model_add(&m, b / 4 * threads * 4 + (first + lane) * 4 + b % 4, 1, size_of_segment(bytes, most), lane,
                          false);
        count += model_leave(&m, size_of_segment(bytes, most), out + count);
    }
    return count;
}

static uint32_t model_lines(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                            uint64_t line[64], uint32_t lanes[64])
{
    uint32_t count = 0;
    uint64_t below = ~0ull;
    for (;; count++) { /* the highest line below the one before */
        bool found = false;
        for (uint32_t i = 0; i < 32 * bytes; i++) {
            uint64_t l = (address[i / bytes] + i % bytes) / line_bytes * line_bytes;
            if (mask >> i / bytes & 1 && l < below && (!found || l >= line[count])) {
                lanes[count] = (found && l == line[count] ? lanes[count] : 0) | 1u << i / bytes;
                line[count] = l;
                found = true;
            }
        }
        if (!found)
            return count;
        below = line[count];
    }
}

static uint32_t model_lanes_at(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint64_t word)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < 32; i++)
        lanes += mask >> i & 1 && address[i] / 4 <= word && word <= (address[i] + bytes - 1) / 4;
    return lanes;
}

/* Asks for one word after the other; random_lanes stays below MODEL_WORDS of them. */
enum { MODEL_WORDS = 5200 };
static uint32_t model_shared_part(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t banks,
                                  bool limited)
{
    uint32_t most = 0, broadcast_bank = ~0u, broadcast_lanes = 1;
    for (uint32_t bank = 0; limited && bank < banks; bank++) {
        for (uint64_t word = bank; word < MODEL_WORDS; word += banks) {
            uint32_t lanes = model_lanes_at(address, mask, bytes, word);
            if (lanes > broadcast_lanes) {
                broadcast_lanes = lanes;
                broadcast_bank = bank;
            }
        }
    }
    for (uint32_t bank = 0; bank < banks; bank++) {
        uint32_t cycles = 0;
        for (uint64_t word = bank; word < MODEL_WORDS; word += banks) {
            uint32_t lanes = model_lanes_at(address, mask, bytes, word);
            cycles += limited ? lanes : lanes > 0;
        }
        cycles -= bank == broadcast_bank ? broadcast_lanes - 1 : 0;
        most = cycles > most ? cycles : most;
    }
    return most;
}

static uint32_t rounds(void) { return getenv("TEST_SHORT") ? 4000 : 20000; /* sanitizers */ }

static uint32_t random_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Lanes as programs make them: rows, strides, gathers within a window, a few hot addresses; now and then not
 * aligned. */
static uint32_t random_lanes(uint64_t *seed, uint64_t address[32], uint32_t bytes, uint32_t most)
{
    static const uint32_t strides[] = {0, 1, 1, 1, 2, 3, 8, 33};
    uint32_t shape = random_next(seed) % 5, window = 1u << (5 + random_next(seed) % 8),
             stride = strides[random_next(seed) % 8] * bytes;
    window = window > most / 2 ? most / 2 : window;
    uint64_t base = random_next(seed) % (most / 2) / bytes * bytes;
    for (uint32_t i = 0; i < 32; i++)
        address[i] = shape == 0 ? base + i * stride : base + random_next(seed) % window / bytes * bytes;
    if (shape == 2)
        for (uint32_t i = 0; i < 32; i++)
            address[i] = address[random_next(seed) % 4];
    for (uint32_t i = 1; shape == 4 && i < 32; i++) /* rising, but for the last lane now and then */
        for (uint32_t k = i; k > 0 && address[k - 1] > address[k] && (i < 31 || random_next(seed) % 4); k--) {
            uint64_t higher = address[k - 1];
            address[k - 1] = address[k];
            address[k] = higher;
        }
    uint32_t mask = random_next(seed) % 3 ? ALL : random_next(seed) ^ random_next(seed) << 16;
    return random_next(seed) % 4 ? mask : mask & random_next(seed) << 8;
}

static void same(const struct access *got, uint32_t got_count, const struct access *want, uint32_t want_count)
{
    assert_int_equal(got_count, want_count);
    for (uint32_t i = 0; i < got_count; i++)
        check(&got[i], want[i].address, want[i].bytes, want[i].mask, want[i].sectors);
}

static void random_global(void **state)
{
    (void)state;
    uint64_t seed = 1, address[32];
    static struct access out[COALESCE_MOST], want[512];
    for (uint32_t round = 0; round < rounds(); round++) {
        uint32_t bytes = 1u << random_next(&seed) % 5, parts = 1 + random_next(&seed) % 2,
                 mask = random_lanes(&seed, address, bytes, 8192);
        uint64_t shift = random_next(&seed) % 8 ? 0 : random_next(&seed) % 16; /* lanes that straddle segments */
        for (uint32_t i = 0; i < 32; i++)
            address[i] += 0x7f0000000000 + shift;
        for (uint32_t most = 32; most <= 256; most *= 2)
            same(out, coalesce_global(address, mask, bytes, most, parts, out), want,
                 model_warp(address, mask, bytes, most, parts, false, want));
    }
}

static void random_atomic(void **state)
{
    (void)state;
    uint64_t seed = 2, address[32];
    static struct access out[COALESCE_MOST], want[512];
    for (uint32_t round = 0; round < rounds(); round++) {
        uint32_t bytes = 1u << random_next(&seed) % 5, mask = random_lanes(&seed, address, bytes, 8192);
        for (uint32_t most = 32; most <= 128; most *= 2)
            for (uint32_t parts = 1; parts <= 2; parts++)
                same(out, coalesce_atomic(address, mask, bytes, most, parts, out), want,
                     model_warp(address, mask, bytes, most, parts, true, want));
    }
}

static void random_local(void **state)
{
    (void)state;
    uint64_t seed = 3, offset[32];
    static struct access out[COALESCE_MOST], want[512];
    for (uint32_t round = 0; round < rounds(); round++) {
        uint32_t bytes = 1u << random_next(&seed) % 5, parts = 1 + random_next(&seed) % 2,
                 mask = random_lanes(&seed, offset, bytes, 1024);
        uint64_t threads = random_next(&seed) % 4
                               ? 32 * (1 + random_next(&seed) % 900)
                               : 32 + random_next(&seed) % 100; /* few: the words of a variable may share segments */
        uint64_t first = random_next(&seed) % threads / (random_next(&seed) % 4 ? 32 : 1) * 32;
        for (uint32_t most = 32; most <= 256; most *= 2)
            same(out, coalesce_local(offset, mask, bytes, first, threads, most, parts, out), want,
                 model_local(offset, mask, bytes, first, threads, most, parts, want));
    }
}

static void random_line(void **state)
{
    (void)state;
    uint64_t seed = 4, address[32], line[65];
    uint32_t lanes[65];
    struct access out[COALESCE_MOST];
    for (uint32_t round = 0; round < 5000; round++) {
        uint32_t bytes = 1u << random_next(&seed) % 5, line_bytes = 32u << random_next(&seed) % 4,
                 mask = random_lanes(&seed, address, bytes, 8192);
        if (random_next(&seed) % 8 == 0)
            for (uint32_t i = 0; i < 32; i++)
                address[i] += 7;
        uint32_t count = coalesce_lines(address, mask, bytes, line_bytes, out);
        assert_int_equal(count, model_lines(address, mask, bytes, line_bytes, line, lanes));
        for (uint32_t i = 0; i < count; i++)
            check(&out[i], line[i], line_bytes, lanes[i],
                  line_bytes == 256   ? 255
                  : line_bytes == 128 ? 15
                  : line_bytes == 64  ? 3u << line[i] / 32 % 4
                                      : 1u << line[i] / 32 % 4);
    }
}

static void random_shared(void **state)
{
    (void)state;
    static const uint32_t bank_counts[] = {16, 32, 32, 16, 64, 12, 1, 8};
    uint64_t seed = 5, address[32];
    const uint32_t shared_rounds = getenv("TEST_SHORT") ? 500 : 1500; /* sanitizers */
    for (uint32_t round = 0; round < shared_rounds; round++) {
        uint32_t bytes = 1u << random_next(&seed) % 5, parts = 1 + random_next(&seed) % 2,
                 banks = bank_counts[random_next(&seed) % 8];
        uint32_t mask = random_lanes(&seed, address, bytes, 8192), want[2] = {0, 0};
        for (uint32_t i = 16; round % 4 == 0 && i < 32; i++) /* tiles of half a warp's width */
            address[i] = address[i - 16];
        for (uint32_t i = 0, with = random_next(&seed) % 32; round % 4 == 1 && i < 32; i++) /* partners of a sort */
            address[i] = (i ^ with) * bytes;
        for (uint32_t part = 0; part < parts; part++) {
            uint32_t lanes = parts == 1 ? mask : mask & (part ? 0xffff0000u : 0xffffu);
            want[0] += model_shared_part(address, lanes, bytes, banks, false);
            want[1] += model_shared_part(address, lanes, bytes, banks, true);
        }
        assert_int_equal(shared_banks_cycles(address, mask, bytes, banks, parts, false), want[0]);
        assert_int_equal(shared_banks_cycles(address, mask, bytes, banks, parts, true), want[1]);
    }
}

/* Lines of all sizes. The plain model is a set: the lines that hold a byte of an active lane of the part. */
enum { FLAGS_MOST = 32768 };
struct touched {
    bool line[FLAGS_MOST / 32], byte[FLAGS_MOST];
    uint32_t lines;
};

static void touch(struct touched *t, const uint64_t address[32], uint32_t mask, uint32_t bytes, uint64_t base,
                  uint32_t line_bytes)
{
    memset(t, 0, sizeof *t);
    for (uint32_t i = 0; i < 32; i++) {
        for (uint64_t b = address[i] - base; mask >> i & 1 && b < address[i] - base + bytes; b++) {
            t->lines += !t->line[b / line_bytes];
            t->line[b / line_bytes] = t->byte[b] = true;
        }
    }
}

/* What the accesses of one part say: each is about one line, lines fall or, of small elements, stay; no lane is
 * forgotten and no byte. base: where the lines begin to count, a multiple of 256. */
static void covers(const struct access *a, uint32_t count, const uint64_t address[32], uint32_t mask, uint32_t bytes,
                   uint64_t base, uint32_t line_bytes)
{
    static struct touched want;
    static bool line[FLAGS_MOST / 32], byte[FLAGS_MOST];
    uint32_t lines = 0, lanes = 0;
    memset(line, 0, sizeof line);
    memset(byte, 0, sizeof byte);
    touch(&want, address, mask, bytes, base, line_bytes);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = a[i].address - base;
        assert_true(a[i].bytes && at / line_bytes == (at + a[i].bytes - 1) / line_bytes);
        assert_true(want.line[at / line_bytes]);
        assert_true(i == 0 || a[i].address < a[i - 1].address);
        lines += !line[at / line_bytes];
        lanes |= a[i].mask;
        line[at / line_bytes] = true;
        memset(&byte[at], true, a[i].bytes);
    }
    assert_int_equal(lines, want.lines);
    assert_int_equal(lanes, mask);
    if (bytes >= 4)
        assert_int_equal(count, want.lines); /* one access per line */
    for (uint32_t b = 0; b < FLAGS_MOST; b++)
        if (want.byte[b] && !byte[b])
            fail_msg("byte %u of lines of %u bytes is not asked for", b, line_bytes);
}

static void covers_in_parts(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint64_t base,
                            uint32_t line_bytes)
{
    struct access out[COALESCE_MOST];
    for (uint32_t parts = 1; parts <= 2; parts++) {
        uint32_t count = coalesce_global(address, mask, bytes, line_bytes, parts, out), done = 0;
        for (uint32_t part = parts; part-- > 0;) {
            uint32_t lanes = parts == 1 ? mask : mask & 0xffffu << 16 * part, from = done;
            while (done < count && (out[done].mask & lanes))
                done++;
            covers(&out[from], done - from, address, lanes, bytes, base, line_bytes);
        }
        assert_int_equal(done, count);
    }
}

/* Rows, strides up and down, vectors and starts that are not aligned, of all element sizes. */
static void lines_of_all_sizes(void **state)
{
    (void)state;
    static const uint32_t masks[] = {ALL, 0xffff, 0xffff0000, 0x55555555, 0x80000001, 0x00ff0ff0, 1, 0xfffffffe};
    static const uint32_t starts[] = {0,  1,  4,   8,   16,  20,  31,  32,  48,  60,
                                      64, 96, 100, 124, 127, 128, 192, 240, 252, 255};
    static const int32_t strides[] = {0, 1, 2, 3, 5, 8, 17, -1, -2, -8}; /* elements */
    const uint64_t base = 0x7f0000000000;
    const uint32_t step = getenv("TEST_SHORT") ? 3 : 1; /* sanitizers: a third of the starts for each stride */
    uint64_t address[32];
    for (uint32_t line_bytes = 32; line_bytes <= 256; line_bytes *= 2)
        for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
            for (uint32_t s = 0; s < sizeof strides / sizeof *strides; s++)
                for (uint32_t start = s % step; start < sizeof starts / sizeof *starts; start += step) {
                    fill(address, base + 8192 + starts[start], (uint64_t)((int64_t)strides[s] * (int64_t)bytes));
                    for (uint32_t m = 0; m < sizeof masks / sizeof *masks; m += 1 + (start % 4 != 0) * 3)
                        covers_in_parts(address, masks[m], bytes, base, line_bytes);
                }
}

static void random_lines_of_all_sizes(void **state)
{
    (void)state;
    uint64_t seed = 6, address[32];
    const uint64_t base = 0x7f0000000000;
    for (uint32_t round = 0; round < 800; round++) {
        uint32_t bytes = 1u << random_next(&seed) % 5, mask = random_lanes(&seed, address, bytes, 8192);
        uint64_t shift = random_next(&seed) % 4 ? 0 : random_next(&seed) % 16;
        for (uint32_t i = 0; i < 32; i++)
            address[i] += base + shift;
        for (uint32_t line_bytes = 32; line_bytes <= 256; line_bytes *= 2)
            covers_in_parts(address, mask, bytes, base, line_bytes);
    }
}

/* The case of 64-byte lines: 32 elements of 8 bytes lie in four of them. */
static void doubles_in_short_lines(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    fill(address, 0x1000, 8);
    assert_int_equal(coalesce_global(address, ALL, 8, 64, 1, out), 4);
    for (uint32_t i = 0; i < 4; i++)
        check(&out[i], 0x10c0 - i * 64, 64, 0xffu << (8 * (3 - i)), i % 2 ? 3 : 12);
    assert_int_equal(coalesce_global(address, ALL, 8, 32, 1, out), 8);
    assert_int_equal(coalesce_global(address, ALL, 8, 256, 1, out), 1);
    check(&out[0], 0x1000, 256, ALL, 255);
    fill(address, 8, 0); /* a word of local memory of all threads */
    assert_int_equal(coalesce_local(address, ALL, 4, 64, 1024, 64, 1, out), 2);
    check(&out[0], (2 * 1024 + 80) * 4, 64, 0xffff0000, 12);
    check(&out[1], (2 * 1024 + 64) * 4, 64, 0x0000ffff, 3);
}

/* What a store writes of its accesses, in 32nd parts. */
static void written_parts(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access out[COALESCE_MOST];
    for (uint32_t i = 0; i < 32; i++)
        address[i] = 0x1000 + 4 * i;
    assert_int_equal(coalesce_global(address, 0xffff00ff, 4, 128, 1, out), 1);
    assert_int_equal(coalesce_written(address, 4, &out[0]), 0xffff00ff); /* a word each */
    for (uint32_t i = 0; i < 32; i++)
        address[i] = 0x1000 + 2 * i;
    assert_int_equal(coalesce_global(address, 0xfffffffe, 2, 128, 1, out), 1);
    assert_int_equal(out[0].bytes, 64);
    assert_int_equal(coalesce_written(address, 2, &out[0]), 0xfffffffe);
    for (uint32_t i = 0; i < 32; i++)
        address[i] = 0x1000 + 4 * i; /* a byte of each word */
    assert_int_equal(coalesce_global(address, 0xff, 1, 128, 1, out), 1);
    assert_int_equal(coalesce_written(address, 1, &out[0]), 0x11111111);
    for (uint32_t i = 0; i < 32; i++)
        address[i] = 0x1000 + 16 * i;
    assert_int_equal(coalesce_global(address, UINT32_MAX, 8, 128, 1, out), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(coalesce_written(address, 8, &out[i]), 0x33333333);
    assert_int_equal(coalesce_global(address, 1, 4, 128, 1, out), 1);
    assert_int_equal(out[0].bytes, 32);
    assert_int_equal(coalesce_written(address, 4, &out[0]), 0xf); /* bytes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_in_a_row),
        cmocka_unit_test(stride_of_a_line),
        cmocka_unit_test(one_word_for_all),
        cmocka_unit_test(half_a_line_too_far),
        cmocka_unit_test(segment_follows_element),
        cmocka_unit_test(shrinking),
        cmocka_unit_test(written_parts),
        cmocka_unit_test(nobody_asks),
        cmocka_unit_test(atomics),
        cmocka_unit_test(local_words_interleave),
        cmocka_unit_test(lines),
        cmocka_unit_test(shared_conflicts),
        cmocka_unit_test(random_global),
        cmocka_unit_test(lines_of_all_sizes),
        cmocka_unit_test(random_lines_of_all_sizes),
        cmocka_unit_test(doubles_in_short_lines),
        cmocka_unit_test(random_atomic),
        cmocka_unit_test(random_local),
        cmocka_unit_test(random_line),
        cmocka_unit_test(random_shared),
    };
    return cmocka_run_group_tests_name("coalesce", tests, NULL, NULL);
}
