/* Instructions in flight: between issue and their end. Issue takes an entry; the pipelines and the load/store unit
 * pass its index on; sm_finish gives it back. */
#ifndef HEDDLE_SM_INFLIGHT_H
#define HEDDLE_SM_INFLIGHT_H

#include "sm/program.h"

struct sm;

enum { SM_INFLIGHT = 1024, SM_DEFERRED = 32 };
#define SM_NONE UINT16_MAX

struct sm_inflight {
    const struct sm_inst *inst;
    const struct exec_inst *exec_inst;
    uint32_t pc, mask;
    uint32_t remaining;      /* answers that it still needs */
    uint32_t performed;      /* lanes in which an atomic has taken effect */
    uint32_t shared_cycles;  /* cycles of shared memory that are still to come */
    uint32_t shared_extra;   /* cycles of latency after these */
    uint16_t slot, accesses; /* accesses: index of its access list; SM_NONE means that it has none */
    uint16_t next_access;
    uint16_t next;   /* the next instruction that ends in the same cycle (pipeline.h) */
    uint8_t space;   /* enum sm_memory, as executed */
    uint8_t written; /* destinations written so far (load/store writeback) */
    bool store, atomic, texture, in_lsu;
    bool adds_up;  /* an atomic of shared memory whose lanes are added up first */
    uint8_t route; /* enum sm_route */
    uint8_t packet_kind;
};

struct sm_flights {
    struct sm_inflight *list;
    uint32_t free_count;
    /* Instructions that are performed at the end of the cycle; struct sm_head has their number. */
    uint16_t deferred[SM_DEFERRED];
    uint16_t free[SM_INFLIGHT];
};

void flights_init(struct sm_flights *f, struct arena *a); /* warp.c */
void sm_finish(struct sm *c, uint16_t id);                /* its destinations have been written */

#endif
