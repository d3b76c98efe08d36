/* State that the files of regrouped warps share: regroup.c, regroup_launch.c, regroup_homes.c, regroup_spin.c. */
#ifndef HEDDLE_SM_REGROUP_STATE_H
#define HEDDLE_SM_REGROUP_STATE_H

#include "sm/core.h"
#include "sm/regroup.h"
#include "sm/regroup_paths.h"

struct regroup_slot {
    struct exec_warp face;                     /* masks of physical lanes */
    struct heddle_piece pieces[HEDDLE_PIECES]; /* masks of logical lanes */
    uint32_t count;
    uint32_t lanes;              /* physical lanes of all its pieces */
    uint32_t had[HEDDLE_PIECES]; /* by home warp: lanes that the slot was given last and that have not ended */
    uint32_t stop_pc;
    uint64_t ready_cycle;
    uint32_t asked;                     /* branches in this window (regroup_spin.c) */
    uint32_t atomic_then, atomics_then; /* sm_slot.atomic and .atomics at the beginning of the window */
    uint64_t waits_for;                 /* slots whose results must be there before this one starts */
    struct regroup_paths paths;
};

struct regroup_block {
    uint32_t live, at_barrier;                   /* threads */
    uint32_t at_work[HEDDLE_PIECES];             /* by home warp: lanes that are in a slot that is not parked */
    uint32_t ran[HEDDLE_PIECES];                 /* lanes that were, at any time in this window */
    uint8_t slot_of[HEDDLE_PIECES][WARP_LANES];  /* the slot that the thread was in last */
    uint32_t next_pc[HEDDLE_PIECES][WARP_LANES]; /* the place of a thread when its slot was parked */
};

/* The threads that take part in a memory instruction. */
struct regroup_flight {
    uint32_t count;
    struct heddle_piece pieces[HEDDLE_PIECES];
};

struct regroup {
    struct heddle_divergence_services services;
    const struct heddle_divergence *unit;
    void *state;
    bool permuted;
    uint64_t draining;                                                               /* slots with waits_for */
    uint8_t physical[HEDDLE_PIECES][WARP_LANES], logical[HEDDLE_PIECES][WARP_LANES]; /* by home warp */
    struct regroup_slot slots[CORE_WARPS_MOST];
    struct regroup_block blocks[SM_BLOCKS];
    struct regroup_flight flights[SM_INFLIGHT];
};

/* Notes a mistake of the unit, with which the launch ends. */
void regroup_trouble(struct sm *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void regroup_park(struct sm *c, uint32_t slot);
/* The service: a unit gives a slot threads. */
void regroup_by_unit(void *context, uint32_t slot, const struct heddle_piece *pieces, uint32_t count, uint32_t pc,
                     uint32_t stop_pc, uint64_t ready_cycle);
/* The lanes of a piece that are on the path that runs. */
uint32_t regroup_running(const struct regroup *r, const struct regroup_slot *g, uint32_t piece);
/* The lanes of a home warp that these physical lanes are. */
uint32_t regroup_logical(const struct regroup *r, uint32_t home, uint32_t lanes);
/* The unit's answer to a branch of the slot e->warp. */
enum heddle_branch_answer regroup_ask(struct sm *c, const struct heddle_branch *e, const struct heddle_piece *pieces,
                                      const uint32_t *taken, uint32_t count);

#endif
