/* Does an address land in the channel, slice, row, bank and column that its map string says, and are bad strings
 * refused? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/address_map.h"

#include <stdio.h>
#include <string.h>

#define GTX480_MAP "RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS"
#define CCWS_MAP   "RRRR.RRRRRRRR.RRBBBCCC.CCCSSSSS"

static struct dram_config config_of(uint32_t channels, uint32_t channel_bit, uint32_t banks, const char *map)
{
    struct dram_config c = {.channels = channels, .channel_bit = channel_bit, .banks = banks};
    snprintf(c.map, sizeof c.map, "%s", map);
    return c;
}

static struct address_map map_of(uint32_t channels, uint32_t channel_bit, uint32_t banks, const char *map,
                                 uint32_t slices)
{
    struct dram_config c = config_of(channels, channel_bit, banks, map);
    struct address_map m;
    struct error e = {0};
    if (!address_map_init(&m, &c, slices, &e))
        fail_msg("%s", e.text);
    return m;
}

static void assert_place(const struct address_map *m, uint64_t address, uint32_t channel, uint32_t slice, uint32_t row,
                         uint32_t bank, uint32_t column)
{
    struct dram_place p = address_map_place(m, address);
    assert_int_equal(p.channel, channel);
    assert_int_equal(p.slice, slice);
    assert_int_equal(p.row, row);
    assert_int_equal(p.bank, bank);
    assert_int_equal(p.column, column);
    assert_int_equal(address_map_slice(m, address), slice);
}

/* RRRR RRRRRRRR BBBCCCCB CCSSSSSS: bits 5..0 burst, 7..6 column, 8 bank, 12..9 column, 15..13 bank, 27..16 row. */
static void six_channels_by_hand(void **state)
{
    (void)state;
    struct address_map m = map_of(6, 8, 16, GTX480_MAP, 2);
    assert_place(&m, 0x0, 0, 0, 0, 0, 0);
    assert_place(&m, 0x100, 1, 2, 0, 0, 0);  /* block 1 of 256 bytes: the second channel */
    assert_place(&m, 0x5c0, 5, 10, 0, 0, 3); /* block 5, bits 7..6 set */
    assert_place(&m, 0x600, 0, 1, 0, 1,
                 0); /* block 6 = quotient 1, remainder 0: rest 0x100, the low bank bit: the second slice */
    assert_place(&m, 0x740, 1, 3, 0, 1, 1);   /* block 7 = 6 + 1, column bit 6 */
    assert_place(&m, 0xc00, 0, 0, 0, 0, 4);   /* block 12: rest 0x200, the third column bit */
    assert_place(&m, 0xc000, 0, 0, 0, 2, 0);  /* block 192 = 6 * 32: rest 0x2000, the second bank bit */
    assert_place(&m, 0x60000, 0, 0, 1, 0, 0); /* block 1536 = 6 * 256: rest 0x10000, the first row bit */
    assert_place(&m, 0x60000 + 0x5ff00 + 0xff, 5, 11, 1, 15, 63); /* the last byte of row 1 */
    assert_place(&m, 0x60000ull << 12, 0, 0, 4096, 0, 0);         /* beyond the string: still the row */
    assert_int_equal(address_map_in_slice(&m, 0x600), 0);         /* the bit that chose the slice is gone */
    assert_int_equal(address_map_in_slice(&m, 0xc00), 0x100);
    assert_int_equal(address_map_in_slice(&m, 0x5c0), 0xc0);
    assert_int_equal(address_map_in_slice(&m, 0x60000), 0x8000);
}

/* RRRR RRRRRRRR RRBBBCCC CCCSSSSS: bits 4..0 burst, 10..5 column, 13..11 bank, 27..14 row; the three bits from 8 on
 * choose the channel and are taken out. */
static void eight_channels_by_hand(void **state)
{
    (void)state;
    struct address_map m = map_of(8, 8, 8, CCWS_MAP, 1);
    assert_place(&m, 0x0, 0, 0, 0, 0, 0);
    assert_place(&m, 0x700, 7, 7, 0, 0, 0);
    assert_place(&m, 0x8e0, 0, 0, 0, 0, 15); /* rest 0x1e0 */
    assert_place(&m, 0x4000, 0, 0, 0, 1, 0); /* rest 0x800 */
    assert_place(&m, 0x4300, 3, 3, 0, 1, 0);
    assert_place(&m, 0x20000, 0, 0, 1, 0, 0); /* rest 0x4000 */
    assert_place(&m, 0x7fffffff, 7, 7, 0x3fff, 7, 63);
    assert_int_equal(address_map_in_slice(&m, 0x4300), 0x800); /* one slice: only the channel is gone */
    assert_int_equal(address_map_in_slice(&m, 0x7fffffff), 0xfffffff);
}

static void gpgpusim_spelling(void **state)
{
    (void)state;
    struct address_map a = map_of(6, 8, 16, "dramid@8;0000.0000" GTX480_MAP, 2), b = map_of(6, 8, 16, GTX480_MAP, 2);
    for (uint64_t address = 0; address < 1 << 24; address += 0x4f1) {
        struct dram_place p = address_map_place(&b, address);
        assert_place(&a, address, p.channel, p.slice, p.row, p.bank, p.column);
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

/* Puts packed bits back under the mask, bit by bit. */
static uint64_t scatter(uint64_t packed, uint64_t mask)
{
    uint64_t out = 0;
    for (; mask; mask &= mask - 1, packed >>= 1)
        if (packed & 1)
            out |= mask & -mask;
    return out;
}

static void assert_invertible(const struct address_map *m, uint64_t address)
{
    struct dram_place p = address_map_place(m, address);
    uint64_t low = (1ull << m->channel_bit) - 1;
    uint64_t rest = scatter(p.row, m->row_mask) | scatter(p.bank, m->bank_mask) | scatter(p.column, m->column_mask);
    rest |= address & m->burst_mask & low; /* places do not hold the byte of the burst */
    assert_true(((rest >> m->channel_bit) * m->channels + p.channel) << m->channel_bit == (address & ~low));
    assert_true((rest & low) == (address & low));
    /* slice and address within it name the address just as well */
    uint64_t in_slice = address_map_in_slice(m, address);
    uint64_t back = scatter(in_slice, ~m->slice_mask) | scatter(p.slice % m->slices_per_channel, m->slice_mask);
    assert_true(back == rest);
    assert_int_equal(p.slice / m->slices_per_channel, p.channel);
    assert_int_equal(address_map_slice(m, address), p.slice);
}

static void invertible(void **state)
{
    (void)state;
    const struct address_map maps[] = {
        map_of(6, 8, 16, GTX480_MAP, 2),
        map_of(8, 8, 8, CCWS_MAP, 1),
        map_of(6, 8, 16, "RRRR.RRRRRRRR.BBBBCCCC.CCSSSSSS", 4),
        map_of(1, 8, 16, "RBRBRBCBCRCSSS", 8), /* nothing stands together */
        map_of(11, 12, 32, "BRRRRRRRRRRRRRRRRRRRRRBBBCCCCBCCSSSSSS", 2),
    };
    uint64_t seed = 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        for (int n = 0; n < 20000; n++)
            assert_invertible(&maps[i], next_random(&seed) >> (22 + next_random(&seed) % 30));
}

static void refused(struct dram_config c, uint32_t slices, const char *wanted)
{
    struct address_map m;
    struct error e = {0};
    assert_false(address_map_init(&m, &c, slices, &e));
    assert_int_equal(e.kind, ERROR_INVALID);
    if (!strstr(e.text, wanted))
        fail_msg("'%s' is not in: %s", wanted, e.text);
}

static void bad_strings(void **state)
{
    (void)state;
    refused(config_of(6, 8, 16, "BBBBCCCCSSSSSS"), 2, "dram.map 'BBBBCCCCSSSSSS' has no row bit");
    refused(config_of(6, 8, 16, "RRRRCCCCSSSSSS"), 2, "no bank bit");
    refused(config_of(6, 8, 16, "RRRRBBBBSSSSSS"), 2, "no column bit");
    refused(config_of(6, 8, 16, "RRRRBBBBCCCC"), 2, "does not end in S");
    refused(config_of(6, 8, 16, ""), 2, "no row bit");
    refused(config_of(6, 8, 16, "RRRRBXBBCCCCSS"), 2, "'X' is none of");
    refused(config_of(6, 8, 16, "RRRRB0BBCCCCSS"), 2, "'0' is none of");
    refused(config_of(6, 8, 16, "RRRRBBBBBCCCCSS"), 2, "5 bank bits, which is more than dram.banks = 16");
    refused(config_of(6, 8, 16, "dramid@9;" GTX480_MAP), 2, "must be 'dramid@8'");
    refused(config_of(6, 8, 16, GTX480_MAP), 3, "l2.slices_per_channel is 3");
    refused(config_of(6, 8, 16, GTX480_MAP), 0, "l2.slices_per_channel is 0");
    refused(config_of(6, 8, 16, GTX480_MAP), 32, "choose from 16 only");
    refused(config_of(0, 8, 16, GTX480_MAP), 2, "dram.channels");
    refused(config_of(6, 48, 16, GTX480_MAP), 2, "dram.channel_bit");
    refused(config_of(6, 8, 65, GTX480_MAP), 2, "dram.banks is 65");
}

/* Hashed: neighbours take turns through all channels, strides of powers of two meet them all, no two addresses share a
 * place. */
static void hashed_channels(void **state)
{
    (void)state;
    enum { CHANNELS = 96 };
    struct address_map m = map_of(CHANNELS, 8, 64, "RRRR.RRRRRRRR.BBBBBBCC.CCSSSSSS", 1);
    m.hashed = true;
    uint32_t channel, seen[CHANNELS] = {0};
    for (uint64_t row = 0; row < 100; row++) {
        uint64_t rest = 0;
        for (uint64_t i = 0; i < CHANNELS; i++) {
            rest = address_map_without_channel(&m, (row * CHANNELS + i) << 8, &channel);
            assert_int_equal(rest, row << 8);
            seen[channel]++;
        }
        for (uint32_t i = 0; i < CHANNELS; i++)
            assert_int_equal(seen[i], row + 1);
    }
    for (uint32_t bit = 12; bit < 22; bit++) {
        uint32_t most = 0, met[CHANNELS] = {0};
        for (uint64_t i = 0; i < 96 * 64; i++) {
            address_map_without_channel(&m, i << bit, &channel);
            most = ++met[channel] > most ? met[channel] : most;
        }
        assert_in_range(most, 64, 128); /* 64 each would be even */
    }
}

/* Halves: blocks of 4 KB are in one, chosen by the parity of the bits above; strides meet all channels of both; no two
 * addresses share a place. */
static void halves(void **state)
{
    (void)state;
    enum { CHANNELS = 96, BLOCKS = 1 << 14 };
    struct dram_config c = config_of(CHANNELS, 9, 64, "RRRR.RRRRRRRR.BBBBBBCC.CCSSSSSS");
    struct address_map m;
    struct error e = {0};
    c.half_bit = 12;
    c.channels_hashed = true;
    assert_true(address_map_init(&m, &c, 1, &e));
    uint32_t channel;
    static uint8_t seen[CHANNELS][BLOCKS * 8 / CHANNELS + 2];
    for (uint64_t chunk = 0; chunk < BLOCKS * 8; chunk++) {
        uint64_t rest = address_map_without_channel(&m, chunk << 9 | 77, &channel);
        assert_int_equal(channel < CHANNELS / 2, __builtin_parityll(chunk >> 3));
        assert_int_equal(rest & 511, 77);
        assert_true(rest >> 9 < sizeof *seen);
        assert_int_equal(seen[channel][rest >> 9]++, 0);
    }
    for (uint32_t bit = 9; bit < 22; bit++) {
        uint32_t most = 0, met[CHANNELS] = {0};
        for (uint64_t i = 0; i < 96 * 64; i++) {
            address_map_without_channel(&m, i << bit, &channel);
            most = ++met[channel] > most ? met[channel] : most;
        }
        assert_in_range(most, 64, 128); /* 64 each would be even */
    }
    c.half_bit = 8;
    refused(c, 1, "dram.half_bit is 8");
    c.half_bit = 12;
    c.channels = 95;
    refused(c, 1, "dram.half_bit is 12");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(six_channels_by_hand),
        cmocka_unit_test(eight_channels_by_hand),
        cmocka_unit_test(gpgpusim_spelling),
        cmocka_unit_test(invertible),
        cmocka_unit_test(bad_strings),
        cmocka_unit_test(hashed_channels),
        cmocka_unit_test(halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
