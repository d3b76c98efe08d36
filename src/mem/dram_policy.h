/* Which waiting request a DRAM channel serves next.
 *
 * A bank that serves no request is free. In each cycle the channel gives a request to at most one free bank that has
 * some waiting. A policy is one file with a const struct dram_policy, and a row of dram_policies.def. It sees the
 * channel as plain data (dram.h); an unused hook is NULL. */
#ifndef HEDDLE_MEM_DRAM_POLICY_H
#define HEDDLE_MEM_DRAM_POLICY_H

#include "mem/dram.h"

enum { DRAM_NO_BANK = UINT32_MAX };

struct dram_policy {
    /* The bank that is given a request now: one of free_banks, or DRAM_NO_BANK. Asked with at least one free bank, and
     * not only in cycles in which a bank is given one. NULL means that banks take turns. */
    uint32_t (*bank)(const struct dram *d, uint64_t free_banks);
    /* The request that this bank is given: the link that holds its number, which is `oldest` of the bank or `next` of
     * another of its requests. Asked when the bank has a row open. NULL means the oldest. A bank without an open row is
     * given the oldest always. */
    uint16_t *(*request)(struct dram *d, struct dram_bank *bank);
};

#define DRAM_POLICY(id, object, name, help) extern const struct dram_policy object;
#include "mem/dram_policies.def"

/* By enum dram_scheduler. */
extern const struct dram_policy *const dram_policies[];

/* The link to the bank's oldest request to its open row, or NULL. */
static inline uint16_t *dram_oldest_row_hit(struct dram *d, struct dram_bank *bank)
{
    for (uint16_t *link = &bank->oldest; *link != DRAM_NO_REQUEST; link = &d->requests[*link].next)
        if (d->requests[*link].row == bank->open_row)
            return link;
    return NULL;
}

#endif
