/* A core as its parts. Each part has a header of its own, which says what the part holds and what it may touch; this
 * file has what they share.
 *
 * Stages run back to front within a cycle, as in GPGPU-Sim, so that a result freed in a cycle can be used in it:
 * writeback, units, load/store unit, operand collectors, issue, decode, fetch. The states of warps are bit masks,
 * one bit per warp slot. */
#ifndef HEDDLE_SM_CORE_H
#define HEDDLE_SM_CORE_H

#include "base/likely.h"
#include "mem/address_map.h"
#include "sm/account.h"
#include "sm/due.h"
#include "sm/front_end.h"
#include "sm/inflight.h"
#include "sm/issue.h"
#include "sm/lsu.h"
#include "sm/network.h"
#include "sm/observer.h"
#include "sm/pipeline.h"
#include "sm/policy_host.h"
#include "sm/sm.h"
#include "sm/warp.h"

/* The fields that a cycle mostly touches come first, close together, because the host's first-level cache does not
 * hold all of all cores. Large tables come last. */
struct sm {
    struct sm_head head; /* first: read from outside */
    const struct sm_config *config;
    const struct sm_program *program;
    uint64_t now;
    uint64_t *wake_at; /* the next cycle in which the core must be run; the owner has it */
    struct sm_due due;
    /* The divergence unit puts threads of several warps into a slot: a slot shows a face, not a warp of the
     * executor. */
    bool mixes;
    bool has_collectors; /* its kind is collectors: only core_kind.h asks */
    uint32_t core_count; /* cores of the machine */
    const struct core_kind *kind;
    void *kind_state; /* what its kind has created */
    /* regroup.c: warps of threads that the unit puts together; NULL means that every warp has its own threads. */
    struct regroup *regroup;
    const struct sm_observer *observer;

    struct heddle_core view; /* the core as policies see it, with the sets of warps that they may read */
    struct sm_issue issue;
    struct sm_front_end front;
    struct sm_lsu lsu;
    struct sm_network net;
    struct sm_account account;
    struct sm_policy_host host;
    _Alignas(64) struct sm_slot slots[CORE_WARPS_MOST];
    struct heddle_warp warps[CORE_WARPS_MOST]; /* as policies see them */
    struct sm_flights flights;
    struct sm_pipelines pipes;
    struct sm_blocks blocks;
    struct exec_launch launch; /* the core's own copy */
};

/* The sectors of an access that the L1D is asked for, or for an atomic the L2. */
static inline uint8_t sm_sectors(const struct sm_lsu *l, const struct sm_inflight *f, const struct access *a)
{
    return l->exact_sectors && (f->route == ROUTE_L1D || f->atomic) ? a->touched : a->sectors;
}

/* Slots whose warp has not finished: it is resident, or has ended and something of it is in flight. */
static inline uint64_t sm_occupied(const struct sm *c) { return c->view.resident | c->issue.ended; }

/* Puts a warp into a set of warps that may not issue, or takes it out; the set's name says why. Issue looks at the
 * warps again. */
static inline void warp_block(struct sm *c, uint64_t *set, uint32_t slot)
{
    *set |= 1ull << slot;
    due_now(&c->due, PART_ISSUE);
}
static inline void warp_unblock(struct sm *c, uint64_t *set, uint32_t slot)
{
    *set &= ~(1ull << slot);
    due_now(&c->due, PART_ISSUE);
}

/* The kinds of collectors that take another instruction, as a set. A memory instruction also needs an access list. */
static inline uint32_t sm_collectors_accept(const struct sm *c)
{
    uint32_t accepts = collector_head(c->pipes.collector)->accepts;
    if (!c->lsu.free_access_count || c->head.deferred >= SM_DEFERRED)
        accepts &= ~(1u << COLLECT_MEM);
    return c->flights.free_count ? accepts : 0;
}

/* Counts the cycles before `now` that have not been counted yet. */
static inline void sm_account_passed(struct sm *c, uint64_t now)
{
    if (c->due.at[PART_ISSUE] && !c->issue.issued)
        account_same(&c->account, now);
    else
        account_changed(c, now);
}

/* Shows policies whether the slot's warp is at a barrier. A parked warp counts as one that is: it waits for others
 * of its block. */
static inline void sm_show_barrier(struct sm *c, uint32_t slot)
{
    uint64_t bit = 1ull << slot;
    c->view.at_barrier = (c->slots[slot].at_barrier ? bit : 0) | (c->view.at_barrier & ~bit) | (c->issue.parked & bit);
}

#endif
