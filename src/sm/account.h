/* Accounting: where the cycles of warps and schedulers went.
 *
 * Most cycles of a waiting core look like the one before: they are counted together when something changes. Reads the
 * sets of warps; touches nothing but itself and the logs. */
#ifndef HEDDLE_SM_ACCOUNT_H
#define HEDDLE_SM_ACCOUNT_H

#include "sm/counters.h"
#include "sm/program.h"
#include "sm/stall_log.h"
#include "sm/warp_log.h"

struct sm;

/* Why a warp's pipeline does not take its instruction, in the order of CORE_COUNT pipeline_... Decode: it would, but
 * the instruction was decoded in this cycle, after issue had looked. */
enum pipeline_part { PIPELINE_SP, PIPELINE_SFU, PIPELINE_LOAD_STORE, PIPELINE_COLLECTORS, PIPELINE_DECODE };

/* What decides how a cycle is counted. */
struct sm_seen {
    uint64_t resident, issued, ended, at_barrier, fenced, atomic_wait, no_instruction, clear, long_wait, held,
        unit_free;
};
/* And which part, where a warp waits for a pipeline. */
struct sm_seen_pipes {
    uint64_t needs[SM_UNITS]; /* as in struct sm_issue */
    uint64_t parts;           /* enum pipeline_part of each unit, 4 bits each */
};

struct sm_account {
    uint64_t until; /* cycles before this one are counted, from the machine's start */
    uint64_t seen_cycles;
    uint64_t
        unasked; /* of these, those in which the schedulers were not asked, and that are not in their counters yet */
    struct sm_seen seen; /* of the last cycles, all alike */
    uint64_t seen_from;  /* the first of them */
    struct sm_seen_pipes seen_pipes;
    uint64_t parts; /* as in struct sm_seen_pipes, when issue last looked and found a warp that had to wait */
    /* Of each warp, what is counted of all; NULL: nobody wants to know. */
    struct warp_log *warp_log;
    struct stall_log *stall_log;
    bool logs;                     /* there is one of them, or an observer that wants reasons */
    uint64_t reasons[STALL_COUNT]; /* of the cycles logged last: the slots with each */
    struct sm_counters counters;
};

/* account.c */
void account_begin(struct sm_account *a, uint64_t now);
/* The cycle at hand, at its end: the schedulers were asked in it, or (asked is false) the front end has changed what
 * warps wait for. A cycle in which neither happened is counted by account_until, like those in which the core slept. */
void account_cycle(struct sm *c, bool asked);
/* The cycles before `now` that have not been counted yet: all like the last one, or, with account_changed, with the
 * sets of warps as they are now. */
static inline void account_same(struct sm_account *a, uint64_t now)
{
    a->seen_cycles += now - a->until;
    a->unasked += now - a->until;
    a->until = now;
}
void account_changed(struct sm *c, uint64_t now);
void account_unasked(struct sm *c); /* what schedulers did in the cycles in which they were not asked */
/* All cycles so far are counted: */
void account_log(struct sm *c);                                    /* the observer hears of all cycles so far */
void account_complete_warps(struct sm *c, uint64_t now, bool cut); /* see warp_log.h */

#endif
