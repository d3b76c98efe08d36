/* The life of each warp of a core (`heddle run --warps`): when it was placed and when nothing of it was left, the
 * instructions that it issued, and the reason for every cycle in between.
 *
 * Cycles are counted by account.c, in the same sets as the core's own counters, and often after the fact: cycles
 * that look alike are counted together. So a warp that is over stays open until the cycles before its end have been
 * counted (warp_log_collect), which is before its slot is given to another. Only then, between two cycles of the
 * machine, is memory asked for. */
#ifndef HEDDLE_SM_WARP_LOG_H
#define HEDDLE_SM_WARP_LOG_H

#include "sm/config.h"
#include "sm/counters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sm;

struct warp_row {
    uint64_t block;      /* linear in the grid */
    uint64_t begin, end; /* core cycles of the machine: the one it was placed in; the first in which it is gone */
    uint64_t warp_instructions, thread_instructions;
    uint64_t stalls[STALL_COUNT]; /* they add up to end - begin */
    uint32_t warp;                /* in its block */
    uint16_t core;
    uint8_t slot;
    bool partial; /* the launch was cut short before the warp's end */
};

struct warp_log {                          /* of a core */
    struct warp_row open[CORE_WARPS_MOST]; /* by slot */
    /* in_use: slots with a row; over: slots among these whose warp has ended. */
    uint64_t in_use, over;
    struct warp_row *rows; /* complete rows */
    size_t count, capacity;
};

/* The core counts into the log from now on. */
void warp_log_listen(struct warp_log *log, struct sm *core);
void warp_log_begin(struct warp_log *log, const struct warp_row *row);
void warp_log_end(struct warp_log *log, uint32_t slot, uint64_t now);
/* All cycles up to now are counted: rows of warps that are over are complete. With `cut` the rows of other warps end
 * here too. */
void warp_log_collect(struct warp_log *log, uint64_t now, bool cut);
void warp_log_free(struct warp_log *log);

/* Counts an instruction of the warp that has vanished (ptx/lowering.h); policies do not hear of it. */
void warp_log_vanished(struct warp_log *log, uint32_t slot, uint32_t lanes);

static inline void warp_log_add(struct warp_log *log, enum stall reason, uint64_t slots, uint64_t cycles)
{
    for (; slots; slots &= slots - 1)
        log->open[__builtin_ctzll(slots)].stalls[reason] += cycles;
}

#endif
