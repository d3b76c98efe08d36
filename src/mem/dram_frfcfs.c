/* First ready, first come first served (Rixner et al., ISCA 2000): a bank serves its oldest request to the open row. If
 * there is none, it serves its oldest request. The row that a bank has opened thus stays open while requests to it
 * wait, however long others have waited. */
#include "mem/dram_policy.h"

static uint16_t *request(struct dram *d, struct dram_bank *bank)
{
    uint16_t *hit = dram_oldest_row_hit(d, bank);
    if (hit)
        return hit;
    return &bank->oldest;
}

const struct dram_policy dram_frfcfs = {.request = request};
