/* What is in order (race.h): a clock for each warp, and what each warp has seen of the others' clocks.
 *
 * - A clock counts memory instructions of its warp. An access has its warp's clock.
 * - Barriers of the block: who arrives leaves what it has seen, who passes takes it along. A warp arrives as a whole.
 * - bar.warp.sync: the same for lanes. In code for architectures before sm_70 the lanes of a warp run in step: what
 * they did in an earlier instruction is in order.
 * - Releases and acquisitions: a fence, then a strong write (an atomic, a volatile or relaxed store) to a place release
 *   what came before the fence; a strong read of the place acquires all that was released there before. This is what
 *   orders blocks, and warps of a block without a barrier.
 *
 * Coarser than the model, so that races are missed rather than reported wrongly: a fence or an acquisition of one lane
 * counts for its warp; any fence counts, whatever its scope; an acquisition needs no fence, and takes whatever was
 * released before it, not only by the write whose value it read. A warp remembers some places; then all of them
 * count. */
#ifndef HEDDLE_EXEC_RACE_CLOCK_H
#define HEDDLE_EXEC_RACE_CLOCK_H

#include "exec/race.h"

enum { RACE_PLACES_SEEN = 8 };

/* Which releases are known, by place and turn. */
struct race_acquired {
    uint64_t all; /* every one up to this turn */
    uint32_t count;
    struct {
        uint64_t place, turn;
    } list[RACE_PLACES_SEEN];
};

struct race_view {
    uint32_t *seen;   /* of each warp of the block: its clock up to which accesses are in order */
    uint32_t *fenced; /* the same, before the last fence */
    bool has_fenced;
    struct race_acquired acquired;
};

struct race_block {
    struct race_launch *launch;
    uint32_t index;  /* of the block in the grid */
    uint32_t number; /* unlike that of any block before it */
    uint32_t warp_count;
    uint32_t *clocks, *synced; /* of each warp; clock up to which its lanes are in order */
    uint32_t **lanes;        /* of each warp: [32][32], what a lane has seen of another; NULL: nothing beyond synced */
    struct race_view *views; /* of each warp */
    struct race_view barriers[CTA_BARRIERS], opened, ended;
    struct race_page **shared; /* shadow of shared memory */
    uint32_t shared_pages;
    uint32_t instruction; /* that is executed */
    uint8_t strength;
};

struct race_orders; /* releases of a launch */
struct race_orders *race_orders_create(bool in_step);
void race_orders_destroy(struct race_orders *o);
bool race_orders_none(const struct race_orders *o); /* nothing was released yet */

/* Room for the clocks of a block, and its start. */
struct race_block *race_clock_create(uint32_t warp_count);
void race_clock_start(struct race_block *b);
void race_clock_destroy(struct race_block *b);

void race_clock_fence(struct race_block *b, uint32_t warp);
void race_clock_release(struct race_orders *o, struct race_block *b, uint32_t warp,
                        uint64_t place); /* what was fenced */
void race_clock_acquire(struct race_orders *o, struct race_block *b, uint32_t warp, uint64_t place);
void race_clock_arrive(struct race_block *b, uint32_t warp, struct race_view *gate);
void race_clock_open(struct race_block *b, struct race_view *gate);
void race_clock_pass(struct race_block *b, uint32_t warp);
void race_clock_sync_lanes(struct race_block *b, uint32_t warp, uint32_t lanes, uint32_t live);

/* Did that access come before what this thread does now? thread: in its block. */
struct race_access {
    uint32_t block, clock, instruction;
    uint16_t thread;
    uint8_t strength;
    bool is_there;
};
bool race_clock_is_before(const struct race_orders *o, const struct race_block *b, uint32_t thread,
                          const struct race_access *past);

#endif
