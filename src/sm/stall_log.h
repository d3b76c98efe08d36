/* The cycles of each warp slot by their reason, since they were last taken: account.c says which slots had which
 * reason, and for how many cycles. A reader that takes them when an instruction issues knows what that instruction
 * waited for (gpu/profile.c).
 *
 * Most slots have the same reason cycle after cycle. So a count changes only when its slot comes to a reason (minus
 * the clock), or leaves it (plus the clock). */
#ifndef HEDDLE_SM_STALL_LOG_H
#define HEDDLE_SM_STALL_LOG_H

#include "sm/config.h"
#include "sm/counters.h"

struct stall_log {                                 /* of a core */
    uint64_t clock;                                /* cycles logged so far */
    uint64_t slots[STALL_COUNT];                   /* by the reason of the last cycles logged */
    uint64_t cycles[CORE_WARPS_MOST][STALL_COUNT]; /* without the clock if the slot still has the reason */
};

/* First call stall_log_set for every reason, with the slots that have it in the next cycles; then stall_log_pass
 * with their number. */
static inline void stall_log_set(struct stall_log *log, enum stall reason, uint64_t slots)
{
    uint64_t changed = log->slots[reason] ^ slots;
    log->slots[reason] = slots;
    for (; changed; changed &= changed - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(changed);
        log->cycles[slot][reason] += slots >> slot & 1 ? -log->clock : log->clock;
    }
}
static inline void stall_log_pass(struct stall_log *log, uint64_t cycles) { log->clock += cycles; }

/* Cycles of the slot since it was last taken. */
static inline void stall_log_take(struct stall_log *log, uint32_t slot, uint64_t cycles[STALL_COUNT])
{
    for (int i = 0; i < STALL_COUNT; i++) {
        uint64_t clock = log->slots[i] >> slot & 1 ? log->clock : 0;
        cycles[i] = log->cycles[slot][i] + clock;
        log->cycles[slot][i] = -clock;
    }
}

#endif
