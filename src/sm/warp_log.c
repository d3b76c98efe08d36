/* Rows of warps, from the warp's begin to the list of complete rows: see warp_log.h. If a divergence unit regroups
 * threads, a row is of the slot, under the name of the warp that was placed in it. */
#include "sm/warp_log.h"

#include "base/out_of_memory.h"
#include "sm/sm.h"

#include <stdlib.h>

static void on_issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct warp_row *row = &((struct warp_log *)state)->open[e->warp];
    (void)core;
    row->warp_instructions++;
    row->thread_instructions += (uint64_t)__builtin_popcount(e->active);
}

void warp_log_vanished(struct warp_log *log, uint32_t slot, uint32_t lanes)
{
    log->open[slot].warp_instructions++;
    log->open[slot].thread_instructions += (uint64_t)__builtin_popcount(lanes);
}

static const struct heddle_policy listener = {.name = "warps", .on = {.issued = on_issued}};

void warp_log_listen(struct warp_log *log, struct sm *core)
{
    sm_log_warps(core, log);
    sm_listen(core, &listener, log);
}

void warp_log_begin(struct warp_log *log, const struct warp_row *row)
{
    log->open[row->slot] = *row;
    log->in_use |= 1ull << row->slot;
}

void warp_log_end(struct warp_log *log, uint32_t slot, uint64_t now)
{
    log->open[slot].end = now;
    log->over |= 1ull << slot;
}

static void add_row(struct warp_log *log, const struct warp_row *row)
{
    if (log->count == log->capacity) {
        log->capacity = 2 * log->capacity + CORE_WARPS_MOST;
        log->rows = realloc(log->rows, log->capacity * sizeof *log->rows);
        if (!log->rows)
            out_of_memory();
    }
    log->rows[log->count++] = *row;
}

void warp_log_collect(struct warp_log *log, uint64_t now, bool cut)
{
    for (uint64_t left = cut ? log->in_use & ~log->over : 0; left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        log->open[slot].partial = true;
        warp_log_end(log, slot, now);
    }
    for (uint64_t left = log->over; left; left &= left - 1)
        add_row(log, &log->open[__builtin_ctzll(left)]);
    log->in_use &= ~log->over;
    log->over = 0;
}

void warp_log_free(struct warp_log *log)
{
    free(log->rows);
    *log = (struct warp_log){0};
}
