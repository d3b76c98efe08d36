/* Every issue of every core, and the reason of every cycle of every warp, as a file (`heddle run --issue-order`), for
 * `heddle schedule`. docs/schedule.md describes the format.
 *
 * Each core has two buffers, issues and reasons, which go into the file, compressed, when they are full. So memory is
 * bounded. Cores report one after another, so that the file is the same for any -j. */
#ifndef HEDDLE_GPU_ISSUE_ORDER_H
#define HEDDLE_GPU_ISSUE_ORDER_H

#include "base/error.h"
#include "sm/observer.h"

#include <stdbool.h>
#include <stdint.h>

struct issue_order;
struct machine;
struct profile_listing;

#define ISSUE_ORDER_MARK "HDLISS1\n"
enum {
    ISSUE_ORDER_CHUNK_HEADER = 20, /* five numbers of 32 bits: kind, core, issues in it, bytes, bytes in the file */
    ISSUE_ORDER_RAW_MOST = 64 << 20,
    ISSUE_ORDER_CORES_MOST = 1024,
    ISSUE_ORDER_SLOTS = 64,
};
enum issue_order_kind { ORDER_HEADER = 1, ORDER_LISTING, ORDER_LAUNCH, ORDER_ISSUES, ORDER_REASONS };
/* In ORDER_ISSUES: a number (cycles since the last event << 1 | is it a new warp?), then slot, and of a new warp
 * launch, block and index; of an issue scheduler and pc, as the difference to the one after the slot's last. */
/* In ORDER_REASONS: cycles since the last event, slot, reason; from that cycle on. */
enum { ORDER_NO_REASON = 255 }; /* the slot has no warp */

struct issue_order_run {
    const char *program, *scheduler, *l1, *divergence; /* for people */
};

struct issue_order *issue_order_open(const char *path, const struct machine *m, const struct issue_order_run *run,
                                     struct error *e);
const struct sm_observer *issue_order_observer(struct issue_order *o);
/* A launch begins; `number` is its number among all launches. */
void issue_order_launch(struct issue_order *o, const struct profile_listing *listing, const char *kernel,
                        uint64_t number, uint64_t cycle);
void issue_order_core(struct issue_order *o, uint32_t core, uint64_t launch); /* blocks placed from now on are its */
bool issue_order_close(struct issue_order *o, struct error *e);               /* a second call does nothing */
void issue_order_destroy(struct issue_order *o);

#endif
