/* When each instruction of each warp was issued in a run: of all warps, or where that would be too much of a part of
 * them, chosen by their names alone, so that two runs have the same ones. */
#ifndef HEDDLE_SCHEDULE_WARP_ISSUES_H
#define HEDDLE_SCHEDULE_WARP_ISSUES_H

#include "schedule/order_reader.h"

struct warp_issues;

struct warp_issued {
    uint64_t cycle;
    uint32_t pc;
};

/* NULL: the file is damaged. most: issues that are kept. */
struct warp_issues *warp_issues_read(const struct order_file *f, uint64_t most, struct error *e);
void warp_issues_free(struct warp_issues *w);
uint32_t warp_issues_one_of(const struct warp_issues *w); /* warps that are kept: 1, all; 2, every second, ... */
bool warp_issues_has(const struct warp_issues *w, const struct order_warp *warp); /* would it be kept? */
/* Its nth instruction; NULL: there is none. */
const struct warp_issued *warp_issues_find(const struct warp_issues *w, const struct order_warp *warp, uint64_t nth);

#endif
