/* The pipelines: operand collectors, SP, SFU and DP units, their writeback.
 *
 * Holds the instructions in the units, and the cycles in which they end. Touches instructions in flight, and through
 * sm_finish the scoreboard of their slots. */
#ifndef HEDDLE_SM_PIPELINE_H
#define HEDDLE_SM_PIPELINE_H

#include "sm/collector.h"
#include "sm/config.h"

struct sm;

enum { SM_TIME_RING = 1024, SM_ALU_UNITS = 48, SM_WRITEBACK = 16 };

/* Instructions that end in one cycle, in the order in which they started, linked by sm_inflight.next. (A table with
 * a place for each would push everything else out of the host's cache.) */
struct sm_ending {
    uint64_t units; /* one bit per unit: an instruction of the unit is among them */
    uint16_t first, last;
    uint8_t count;
};

struct sm_pipelines {
    struct collector *collector;
    uint32_t unit_count;
    uint32_t pending; /* results that will be written */
    uint32_t register_banks;
    uint64_t all_banks;                 /* the set of all banks */
    uint8_t slot_bank[CORE_WARPS_MOST]; /* slot modulo register banks */
    uint64_t unit_free_at[SM_ALU_UNITS];
    uint8_t unit_from[SM_ALU_UNITS];            /* enum collector_kind */
    uint64_t writeback_bits[SM_TIME_RING / 64]; /* one bit per cycle of the ring: an instruction ends in it */
    struct sm_ending ending[SM_TIME_RING];
};

/* pipeline.c */
void pipelines_init(struct sm_pipelines *p, struct arena *a, const struct sm_config *config);
void sm_writeback_cycle(struct sm *c);
void sm_units_cycle(struct sm *c);
/* The result is written in the cycle `at`, modulo SM_TIME_RING. */
void sm_end_at(struct sm *c, uint16_t id, uint32_t at);
/* The same, so many cycles from now or, where there is no room for one more result, as soon after as there is. */
void sm_end_after(struct sm *c, uint16_t id, uint32_t cycles);
uint64_t pipelines_next(const struct sm_pipelines *p, uint64_t now); /* the next cycle in which something moves */

/* Register r of a warp is in bank (r + slot) modulo banks. `bank` is r modulo banks. */
static inline uint32_t sm_bank(const struct sm_pipelines *p, uint32_t bank, uint32_t slot)
{
    bank += p->slot_bank[slot];
    return bank >= p->register_banks ? bank - p->register_banks : bank;
}

/* The same for a set of banks: its bits move round the banks. */
static inline uint64_t sm_bank_set(const struct sm_pipelines *p, uint64_t set, uint32_t slot)
{
    uint32_t by = p->slot_bank[slot];
    return (set << by | set >> 1 >> (p->register_banks - 1 - by)) & p->all_banks;
}

/* The same for operands. Banks are numbers below 64, so that sums stay below 128: the highest bit of a byte is free
 * to say that its bank is past the last one. */
static inline struct collector_banks sm_operand_banks(const struct sm_pipelines *p,
                                                      const struct collector_banks *operands, uint32_t slot)
{
    const uint64_t ones = 0x0101010101010101ull;
    uint64_t each = operands->each + ones * p->slot_bank[slot],
             past = (each + ones * (128 - p->register_banks)) >> 7 & ones;
    return (struct collector_banks){.set = sm_bank_set(p, operands->set, slot),
                                    .each = each - past * p->register_banks,
                                    .count = operands->count,
                                    .apart = operands->apart};
}

#endif
