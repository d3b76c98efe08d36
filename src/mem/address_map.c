/* From an address to channel, slice, row, bank and column: the map string is read once, into masks and shifts.
 *
 * Left out: GPGPU-Sim's hashes of channels and banks (xor and polynomial), which none of the machines uses. */
#include "mem/address_map.h"

#include <stdio.h>
#include <string.h>

static bool is_power_of_two(uint32_t n) { return n && !(n & (n - 1)); }

static struct bit_gather gather_for(uint64_t mask)
{
    struct bit_gather g = {0};
    uint32_t packed = 0; /* bits placed so far */
    while (mask) {
        uint32_t low = (uint32_t)__builtin_ctzll(mask);
        uint64_t ends = ~(mask >> low); /* bits above a run that reaches bit 63 read as 0 */
        uint32_t length = ends ? (uint32_t)__builtin_ctzll(ends) : 64;
        uint64_t ones = length == 64 ? UINT64_MAX : (1ull << length) - 1;
        g.run[g.count++] = (struct bit_run){.mask = ones << packed, .shift = low - packed};
        packed += length;
        mask &= ~(ones << low);
    }
    return g;
}

/* The lowest count bits that are set in mask. */
static uint64_t lowest_bits(uint64_t mask, uint32_t count)
{
    uint64_t kept = 0;
    for (; count; count--) {
        kept |= mask & -mask;
        mask &= mask - 1;
    }
    return kept;
}

/* A map may be written as in GPGPU-Sim's files, with the channel's bit in front: "dramid@8;". It must then agree with
 * channel_bit. */
static bool skip_channel_prefix(const char **text, const struct dram_config *dram, struct error *e)
{
    const char *end = strchr(*text, ';');
    if (!end)
        return true;
    char wanted[32];
    size_t length = (size_t)snprintf(wanted, sizeof wanted, "dramid@%u", dram->channel_bit);
    if ((size_t)(end - *text) != length || strncmp(*text, wanted, length) != 0)
        return error_set(e, ERROR_INVALID,
                         "dram.map '%s': what stands before ';' must be '%s', the bit of dram.channel_bit", dram->map,
                         wanted);
    *text = end + 1;
    return true;
}

/* Reads the letters, highest bit first, into the masks. */
static bool read_letters(struct address_map *m, const char *text, const char *map, struct error *e)
{
    uint32_t length = 0;
    char last = 0;
    for (; *text; text++) {
        if (*text == '.' || *text == ' ' || *text == '|')
            continue;
        if (*text == '0' && !length)
            continue; /* a place above the row */
        uint64_t *mask = *text == 'R'   ? &m->row_mask
                         : *text == 'B' ? &m->bank_mask
                         : *text == 'C' ? &m->column_mask
                         : *text == 'S' ? &m->burst_mask
                                        : NULL;
        if (!mask)
            return error_set(e, ERROR_INVALID,
                             "dram.map '%s': '%c' is none of R (row), B (bank), C (column), S (within a burst)", map,
                             *text);
        if (++length > 63)
            return error_set(e, ERROR_INVALID, "dram.map '%s' has more than 63 letters", map);
        m->row_mask <<= 1, m->bank_mask <<= 1, m->column_mask <<= 1, m->burst_mask <<= 1;
        *mask |= 1;
        last = *text;
    }
    if (!m->row_mask || !m->bank_mask || !m->column_mask)
        return error_set(e, ERROR_INVALID, "dram.map '%s' has no %s", map,
                         !m->row_mask    ? "row bit (R)"
                         : !m->bank_mask ? "bank bit (B)"
                                         : "column bit (C)");
    if (last != 'S')
        return error_set(e, ERROR_INVALID, "dram.map '%s' does not end in S, the bits within a burst", map);
    m->row_mask |= UINT64_MAX << length;
    return true;
}

static bool check_counts(const struct address_map *m, const struct dram_config *dram, struct error *e)
{
    if (!dram->channels)
        return error_set(e, ERROR_INVALID, "dram.channels must be at least 1");
    if (dram->channel_bit > 47)
        return error_set(e, ERROR_INVALID, "dram.channel_bit is %u: addresses have 48 bits", dram->channel_bit);
    if (dram->half_bit && (dram->half_bit < dram->channel_bit || dram->channels % 2))
        return error_set(e, ERROR_INVALID,
                         "dram.half_bit is %u: must be dram.channel_bit or above, and dram.channels even",
                         dram->half_bit);
    if (!dram->banks || dram->banks > DRAM_BANKS_MOST)
        return error_set(e, ERROR_INVALID, "dram.banks is %u: must be 1 to %d", dram->banks, DRAM_BANKS_MOST);
    uint32_t bank_bits = (uint32_t)__builtin_popcountll(m->bank_mask);
    if (bank_bits > 31 || 1u << bank_bits > dram->banks)
        return error_set(e, ERROR_INVALID, "dram.map '%s' has %u bank bits, which is more than dram.banks = %u",
                         dram->map, bank_bits, dram->banks);
    if (!is_power_of_two(m->slices_per_channel))
        return error_set(e, ERROR_INVALID, "l2.slices_per_channel is %u: must be a power of two",
                         m->slices_per_channel);
    if (m->slices_per_channel > 1u << bank_bits)
        return error_set(e, ERROR_INVALID,
                         "l2.slices_per_channel is %u, but the %u bank bits of dram.map '%s' choose from %u only",
                         m->slices_per_channel, bank_bits, dram->map, 1u << bank_bits);
    return true;
}

bool address_map_init(struct address_map *m, const struct dram_config *dram, uint32_t slices_per_channel,
                      struct error *e)
{
    *m = (struct address_map){.channels = dram->channels,
                              .channel_bit = dram->channel_bit,
                              .slices_per_channel = slices_per_channel,
                              .half_bit = dram->half_bit,
                              .hashed = dram->channels_hashed};
    const char *letters = dram->map;
    if (!skip_channel_prefix(&letters, dram, e) || !read_letters(m, letters, dram->map, e) || !check_counts(m, dram, e))
        return false;
    m->in_turn = m->half_bit ? m->channels / 2 : m->channels;
    m->channel_shift = is_power_of_two(m->in_turn) ? (uint32_t)__builtin_ctz(m->in_turn) : UINT32_MAX;
    m->slice_mask = lowest_bits(m->bank_mask, (uint32_t)__builtin_ctz(slices_per_channel));
    m->row = gather_for(m->row_mask);
    m->bank = gather_for(m->bank_mask);
    m->column = gather_for(m->column_mask);
    m->slice = gather_for(m->slice_mask);
    m->in_slice = gather_for(~m->slice_mask);
    return true;
}
