/* Where an address lies in DRAM, and which L2 slice owns it (GPGPU-Sim's mapping strings).
 *
 * The channel is taken at channel_bit: the bits above it modulo the number of channels, the quotient put back after
 * the bits below it (with a power of two this takes the bits out). Where channels are hashed, the quotient turns them
 * by a number without pattern: neighbours still take turns, and addresses at any distance meet all channels. Where
 * there are halves (half_bit), the parity of the bits from there on chooses one of them first, and takes the place of
 * the lowest of these bits. Of the rest, the string's letters R, B, C, S gather row, bank, column and burst bits. The
 * low bits of the bank choose the slice of the channel. */
#ifndef HEDDLE_MEM_ADDRESS_MAP_H
#define HEDDLE_MEM_ADDRESS_MAP_H

#include "base/error.h"
#include "mem/config.h"

/* The bits under a mask, packed together: each run of neighbouring bits is moved down as one piece. */
enum { BIT_RUNS_MOST = 32 }; /* a map of 63 letters has no more of one kind */
struct bit_run {
    uint64_t mask; /* after the shift */
    uint32_t shift;
};
struct bit_gather {
    uint32_t count;
    struct bit_run run[BIT_RUNS_MOST];
};

struct address_map {
    uint32_t channels, channel_bit, slices_per_channel;
    uint32_t half_bit; /* 0: no halves */
    bool hashed;
    uint32_t in_turn;       /* channels, or those of a half */
    uint32_t channel_shift; /* log2(in_turn), or UINT32_MAX where that is no power of two */
    uint64_t row_mask, bank_mask, column_mask, burst_mask, slice_mask; /* of the address without its channel */
    struct bit_gather row, bank, column, slice, in_slice;
};

struct dram_place {
    uint32_t channel, slice /* of all slices */, row, bank, column;
};

/* False with a message that names the key for a string that has no row, bank or column, more banks than dram->banks,
 * other letters, or does not end in S; for a number of banks beyond DRAM_BANKS_MOST; for a number of slices that the
 * bank bits cannot choose from. */
enum { DRAM_BANKS_MOST = 64 };
bool address_map_init(struct address_map *m, const struct dram_config *dram, uint32_t slices_per_channel,
                      struct error *e);
static inline uint64_t bit_gather(const struct bit_gather *g, uint64_t bits)
{
    uint64_t packed = 0;
    for (uint32_t i = 0; i < g->count; i++)
        packed |= bits >> g->run[i].shift & g->run[i].mask;
    return packed;
}

static inline uint32_t address_map_turn(const struct address_map *m, uint64_t quotient, uint32_t channel)
{
    uint32_t mixed = (uint32_t)((quotient * 0x9e3779b97f4a7c15u) >> 32);
    channel += (uint32_t)((uint64_t)mixed * m->in_turn >> 32);
    return channel < m->in_turn ? channel : channel - m->in_turn;
}

/* Takes the half out of the address; first: of its channels. */
static inline uint64_t address_map_without_half(const struct address_map *m, uint64_t address, uint32_t *first)
{
    uint64_t above = address >> m->half_bit, below = address & ((1ull << m->half_bit) - 1);
    *first = __builtin_parityll(above) ? 0 : m->in_turn;
    return above >> 1 << m->half_bit | below;
}

/* Takes the channel out of the address. */
static inline uint64_t address_map_without_channel(const struct address_map *m, uint64_t address, uint32_t *channel)
{
    uint32_t first = 0;
    if (m->half_bit)
        address = address_map_without_half(m, address, &first);
    uint64_t above = address >> m->channel_bit, below = address & ((1ull << m->channel_bit) - 1);
    uint64_t quotient = m->channel_shift != UINT32_MAX ? above >> m->channel_shift : above / m->in_turn;
    *channel = (uint32_t)(above - quotient * m->in_turn);
    if (m->hashed)
        *channel = address_map_turn(m, quotient, *channel);
    *channel += first;
    return quotient << m->channel_bit | below;
}

static inline struct dram_place address_map_place(const struct address_map *m, uint64_t address)
{
    struct dram_place p;
    uint64_t rest = address_map_without_channel(m, address, &p.channel);
    p.row = (uint32_t)bit_gather(&m->row, rest);
    p.bank = (uint32_t)bit_gather(&m->bank, rest);
    p.column = (uint32_t)bit_gather(&m->column, rest);
    p.slice = p.channel * m->slices_per_channel + (p.bank & (m->slices_per_channel - 1));
    return p;
}

static inline uint32_t address_map_slice(const struct address_map *m, uint64_t address)
{
    uint32_t channel;
    uint64_t rest = address_map_without_channel(m, address, &channel);
    return channel * m->slices_per_channel + (uint32_t)bit_gather(&m->slice, rest);
}

/* The address as the slice's cache indexes its sets: without the bits that chose channel and slice. */
static inline uint64_t address_map_in_slice(const struct address_map *m, uint64_t address)
{
    uint32_t channel;
    return bit_gather(&m->in_slice, address_map_without_channel(m, address, &channel));
}

#endif
