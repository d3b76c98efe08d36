/* FR-FCFS with a cap on row hits (FR-FCFS+Cap, with which Mutlu and Moscibroda, MICRO 2007, compare theirs): a bank
 * serves its oldest request to the open row, until dram.row_hit_cap younger requests have passed the oldest one. Then
 * it serves the oldest.
 *
 * A request is passed by every younger one of its bank that is taken before it. The oldest has been passed by all that
 * passed any other, so it is the only one to look at. With a cap of 0 a bank serves its requests in order of arrival,
 * and banks still take turns. */
#include "mem/dram_policy.h"

static void count_passing(struct dram *d, const struct dram_bank *bank, uint16_t taken)
{
    for (uint16_t older = bank->oldest; older != taken; older = d->requests[older].next)
        d->requests[older].passed++;
}

static uint16_t *request(struct dram *d, struct dram_bank *bank)
{
    uint16_t *hit = dram_oldest_row_hit(d, bank);
    if (!hit || d->requests[bank->oldest].passed >= d->row_hit_cap)
        return &bank->oldest;
    count_passing(d, bank, *hit);
    return hit;
}

const struct dram_policy dram_frfcfs_cap = {.request = request};
