/* Warp slots and blocks: the state of each warp of a core, whatever part it is in. All parts read slots; comments
 * say who writes which field. Sets of slots are in issue.h, front_end.h and struct heddle_core. */
#ifndef HEDDLE_SM_WARP_H
#define HEDDLE_SM_WARP_H

#include "exec/exec.h"

#include <stdint.h>

struct sm;

enum { SM_BLOCKS = 64 };

/* As long as a line of the host's cache. */
struct sm_slot {
    struct exec_warp *exec; /* NULL means that the slot is free */
    /* The scoreboard, written by issue and by sm_finish. */
    uint8_t *scoreboard; /* enum sm_wait of each register */
    /* The instruction buffer, filled by the front end and emptied by issue. */
    uint32_t buffer[2]; /* pcs of fetched instructions */
    uint8_t buffered;
    bool fetching;   /* an instruction miss is outstanding */
    bool at_barrier; /* the warp is at a barrier, and policies have been told */
    uint8_t unit;    /* unit of the next instruction, if the slot is in one of the sets `needs` */
    uint8_t block;
    uint8_t loop_depth; /* calls around the code that `loop` is in */
    uint16_t awaited;   /* registers that are awaited */
    uint32_t fetch_pc;
    uint32_t in_pipeline;     /* instructions issued and not finished */
    uint32_t stores, atomics; /* answers that the load/store unit expects */
    uint16_t atomic;          /* the instruction in flight, while atomics are expected */
    int32_t loop;             /* the innermost loop that the warp is in, or -1 */
    uint64_t wake_cycle;      /* asleep until then */
};
_Static_assert(sizeof(struct sm_slot) == 64, "a slot is as long as a line of the host's cache");

struct sm_block {
    struct exec_cta *cta;
    uint32_t first_warp, warp_count, warps_left;
};

struct sm_blocks {
    uint64_t used;
    uint32_t limit, warps_each; /* limit: blocks of the launch's shape that fit; warps_each: their warps */
    uint64_t next_age;          /* the age of the next warp */
    struct sm_block list[SM_BLOCKS];
};

/* warp.c. Called when the slot's next instruction has changed, or a register has come. */
void sm_refresh(struct sm *c, uint32_t slot);
void sm_set_barriers(struct sm *c, uint32_t block); /* barriers of the block may have opened */
void sm_try_fence(struct sm *c, uint32_t slot);     /* a warp at a fence goes on, if all that it waits for has come */
void sm_try_retire(struct sm *c, uint32_t slot);    /* a warp that has ended is over, if nothing of it is in flight */
void sm_retire(struct sm *c, uint32_t slot);        /* a warp that is over gives its slot back */
void sm_nap(struct sm *c, uint32_t slot, uint32_t cycles); /* the warp issues nothing for so many cycles */
void sm_stop(struct sm *c, uint32_t slot);                 /* after a fault: the warp issues nothing more */

#endif
