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

/* Why a warp's pipeline does not take its instruction, in the order of the CORE_COUNTs pipeline_... PIPELINE_DECODE
 * means that it would, but the instruction was decoded after issue had looked in this cycle. */
enum pipeline_part { PIPELINE_SP, PIPELINE_SFU, PIPELINE_LOAD_STORE, PIPELINE_COLLECTORS, PIPELINE_DECODE };

/* A value of struct sm_seen_pipes.parts. An instruction that may go to SP or SFU waits when both are full. */
#define PIPELINE_PARTS(sp, sfu, memory)                                                               \
    ((uint64_t)(sp) << 4 * SM_SP | (uint64_t)(sfu) << 4 * SM_SFU | (uint64_t)(memory) << 4 * SM_MEM | \
     (uint64_t)((sfu) == PIPELINE_DECODE ? PIPELINE_DECODE : (sp)) << 4 * SM_SP_OR_SFU | (uint64_t)(sfu) << 4 * SM_DP)

/* The sets that decide how a cycle is counted. Cycles with equal sets are counted together. */
struct sm_seen {
    uint64_t resident, issued, ended, at_barrier, fenced, atomic_wait, no_instruction, clear, long_wait, held,
        unit_free;
};
/* For warps that wait for a pipeline: which one it is. */
struct sm_seen_pipes {
    uint64_t needs[SM_UNITS]; /* as in struct sm_issue */
    uint64_t parts;           /* enum pipeline_part of each unit, 4 bits per unit */
};

struct sm_account {
    uint64_t until; /* cycles before this one are counted, from the machine's start */
    uint64_t seen_cycles;
    /* Of these, the cycles in which the schedulers were not asked, and which their counters do not have yet. */
    uint64_t unasked;
    struct sm_seen seen; /* of the last cycles, which were all alike */
    uint64_t seen_from;  /* the first of them */
    struct sm_seen_pipes seen_pipes;
    /* As in struct sm_seen_pipes, from the last cycle in which a warp had to wait for a pipeline. */
    uint64_t parts;
    /* Logs that have for each warp what the counters have for all; NULL means that nobody asked for one. */
    struct warp_log *warp_log;
    struct stall_log *stall_log;
    bool logs;                     /* there is a log, or an observer of reasons */
    uint64_t reasons[STALL_COUNT]; /* of the cycles logged last: the slots with each reason */
    struct sm_counters counters;
};

/* account.c */
void account_begin(struct sm_account *a, uint64_t now);
/* Counts the cycle at hand, at its end. Either the schedulers were asked in it, or (asked is false) the front end
 * has changed what warps wait for. A cycle in which neither happened is counted later, like those in which the core
 * slept. */
void account_cycle(struct sm *c, bool asked);
/* Counts the cycles before `now` that have not been counted: as the last one, or, with account_changed, with the
 * sets of warps as they are now. */
static inline void account_same(struct sm_account *a, uint64_t now)
{
    a->seen_cycles += now - a->until;
    a->unasked += now - a->until;
    a->until = now;
}
void account_changed(struct sm *c, uint64_t now);
void account_unasked(struct sm *c); /* counts the cycles in which no scheduler was asked */
/* Reports all cycles so far to logs and to the observer. */
void account_log(struct sm *c);
void account_complete_warps(struct sm *c, uint64_t now, bool cut); /* see warp_log.h */

#endif
