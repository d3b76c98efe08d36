/* Register banks that an instruction reads. */
#ifndef HEDDLE_SM_BANKS_H
#define HEDDLE_SM_BANKS_H

#include <stdbool.h>
#include <stdint.h>

enum { COLLECT_OPERANDS = 8 }; /* at most */

/* The banks of the operands, in the order of these. */
struct collector_banks {
    uint64_t set;  /* all of them */
    uint64_t each; /* one byte per operand, the first one lowest */
    uint8_t count;
    bool apart; /* no two operands in one bank */
};

/* `banks` has the bank of each operand; all are below register_banks. */
static inline struct collector_banks collector_banks(const uint8_t *banks, uint32_t count)
{
    struct collector_banks b = {.count = (uint8_t)count};
    for (uint32_t i = 0; i < count; i++) {
        b.set |= 1ull << banks[i];
        b.each |= (uint64_t)banks[i] << 8 * i;
    }
    b.apart = (uint32_t)__builtin_popcountll(b.set) == count;
    return b;
}

#endif
