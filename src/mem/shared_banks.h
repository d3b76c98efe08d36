/* Bank conflicts of shared memory. */
#ifndef HEDDLE_MEM_SHARED_BANKS_H
#define HEDDLE_MEM_SHARED_BANKS_H

#include <stdbool.h>
#include <stdint.h>

enum { SHARED_BANKS_MOST = 64 };

/* Lanes of the bank that has most: what a shared-memory atomic takes where they take turns. */
uint32_t shared_banks_serial(const uint64_t address[32], uint32_t mask, uint32_t banks);
/* Cycles that a shared-memory instruction takes: 1 without conflicts. Words are 4 bytes. limited_broadcast: in one
 * cycle only one word may serve several lanes (the first generation); else any word that is asked for several times
 * counts once. parts 2: half warps one after the other (cycles add up). Addresses below 2^32. */
uint32_t shared_banks_cycles(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t banks, uint32_t parts,
                             bool limited_broadcast);

#endif
