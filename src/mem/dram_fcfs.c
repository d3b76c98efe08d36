/* First come, first served: requests are served in order of arrival at the channel. While the bank of the oldest one is
 * busy, no other bank is given a request. */
#include "mem/dram_policy.h"

static uint32_t bank_of_the_oldest(const struct dram *d)
{
    uint32_t oldest = DRAM_NO_BANK;
    uint64_t arrival = UINT64_MAX;
    for (uint64_t left = d->queued_banks; left; left &= left - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(left);
        const struct dram_request *r = &d->requests[d->banks[bank].oldest];
        if (r->arrival < arrival) {
            arrival = r->arrival;
            oldest = bank;
        }
    }
    return oldest;
}

static uint32_t bank(const struct dram *d, uint64_t free_banks)
{
    uint32_t oldest = bank_of_the_oldest(d);
    bool is_free = free_banks >> oldest & 1;
    return is_free ? oldest : DRAM_NO_BANK;
}

const struct dram_policy dram_fcfs = {.bank = bank};
