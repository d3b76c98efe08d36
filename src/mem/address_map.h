/* Where an address lies in DRAM, and which L2 slice owns it (GPGPU-Sim's mapping strings).
 *
 * The channel is taken at channel_bit: the bits above it modulo the number of channels, the quotient put back behind the bits below it (with a power of two this takes
 * the bits out). Of the rest, the string's letters R, B, C, S gather row, bank, column and burst bits. The low bits of the bank choose the slice of the channel. */
#ifndef HEDDLE_MEM_ADDRESS_MAP_H
#define HEDDLE_MEM_ADDRESS_MAP_H

#include "base/error.h"
#include "mem/config.h"

/* The bits under a mask, packed together: each run of neighbouring bits is moved down as one piece. */
enum { BIT_RUNS_MOST = 32 }; /* a map of 63 letters has no more of one kind */
struct bit_run { uint64_t mask; /* after the shift */ uint32_t shift; };
struct bit_gather { uint32_t count; struct bit_run run[BIT_RUNS_MOST]; };

struct address_map {
    uint32_t channels, channel_bit, slices_per_channel;
    uint32_t channel_shift; /* log2(channels), or UINT32_MAX where channels is no power of two */
    uint64_t row_mask, bank_mask, column_mask, burst_mask, slice_mask; /* of the address without its channel */
    struct bit_gather row, bank, column, slice, in_slice;
};

struct dram_place { uint32_t channel, slice /* of all slices */, row, bank, column; };

/* False with a message that names the key for a string that has no row, bank or column, more banks than dram->banks, other letters, or does not end in S; for a number of banks
 * beyond DRAM_BANKS_MOST; for a number of slices that the bank bits cannot choose from. */
enum { DRAM_BANKS_MOST = 64 };
bool address_map_init(struct address_map *m, const struct dram_config *dram, uint32_t slices_per_channel, struct error *e);
struct dram_place address_map_place(const struct address_map *m, uint64_t address);
uint32_t address_map_slice(const struct address_map *m, uint64_t address);
/* The address as the slice's cache indexes its sets: without the bits that chose channel and slice. */
uint64_t address_map_in_slice(const struct address_map *m, uint64_t address);

#endif
