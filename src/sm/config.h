/* The part of the machine file that describes a core; const after start. Sizes, counts and latencies are rows of
 * sm/keys.def; this file has its caches and rules (gpu/rules.def). */
#ifndef HEDDLE_SM_CONFIG_H
#define HEDDLE_SM_CONFIG_H

#include "mem/config.h"

enum { CORE_WARPS_MOST = 64 }; /* a set of warps is one 64-bit mask */

/* Latency and initiation interval of the five arithmetic classes, in the order add, max, mul, mad, div. */
struct latency_row {
    uint32_t latency[5], initiation[5];
};

enum multiply_unit { MULTIPLY_ON_SP, MULTIPLY_ON_SFU }; /* where integer multiply and multiply-add run */

enum launch_empties {
    LAUNCH_EMPTIES_NOTHING,
    LAUNCH_EMPTIES_L1D,
    LAUNCH_EMPTIES_CACHES
}; /* LAUNCH_EMPTIES_CACHES means L1D, L1C and L2 */

enum core_kind_choice {
#define CORE_KIND(name, help) CORE_KIND_##name,
#include "sm/core_kinds.def"
};

struct sm_config {
#define SM_KEY(section, name, type, field, ...) KEY_FIELD_##type(field)
#define SM_ROW(name, field, ...)                struct latency_row field;
#include "sm/keys.def"
    struct cache_config l1d, l1c, l1t, l1i;
    /* Launches. */
    enum launch_empties launch_empties; /* the caches that are emptied for a launch when all others have ended */
    /* Dynamic shared memory counts in how many blocks fit; false means that only declared memory does. */
    bool counts_dynamic_shared;
    /* Fetch and issue. */
    /* A fetch that the cache refuses has had its turn; false means that it is tried again first. */
    bool fetch_moves_on;
    bool fetch_sends_at_once; /* a miss of the instruction cache leaves in its cycle; false means in the next */
    /* A warp that is over gives its slot back when fetch comes to it in its turn; false means at once. */
    bool ends_in_fetch;
    bool code_packed; /* functions follow each other without gaps; false means that each begins a line */
    /* Schedulers take turns in being first in a cycle; false means that scheduler 0 is first. */
    bool schedulers_take_turns;
    enum multiply_unit integer_multiply;
    bool fma_is_mad; /* false means that fma has latency 1 */
    bool rem_is_div; /* false means that integer remainder has latency 1 */
    enum core_kind_choice kind;
    bool lowers; /* instructions are counted and timed as an assembler would leave them (ptx/lowering.h) */
    /* Operand collectors. */
    bool banks_at_once; /* a collector reads all its banks in a cycle; false means one operand */
    /* A register has the number in its name; false means that a kernel's registers are numbered through. */
    bool banks_by_name;
    /* A memory instruction enters the load/store unit in the cycle in which it leaves its collector; false means in
     * the next. */
    bool enters_lsu_at_once;
    /* Load/store unit. */
    bool vectors_by_element; /* a vector is coalesced by its first element */
    bool shared_limited_broadcast;
    bool l1_skips_global;  /* global loads bypass the L1D */
    bool volatile_past_l1; /* .volatile and .cv bypass the L1D as .cg does */
    bool local_by_block;   /* threads that share local memory are numbered by blocks, not by warp slots */
    bool l1d_has_banks;    /* the L1D has the banks of shared memory: a load takes the unit for as many cycles */
    /* The L1D is asked for the sectors of a line in which a lane has a byte; false means for 1, 2 or 4 in a row. */
    bool exact_sectors;
    /* An atomic takes effect as it issues, and its warp goes on until it needs the result; false means that it takes
     * effect in the memory partition, and its warp waits. */
    bool atomics_at_once;
    bool shared_atomics_serial; /* lanes of an atomic that share a word of shared memory take turns */
    bool atomics_await_address; /* the register of an atomic's address is awaited and read */
    bool atomics_drop_l1;       /* the L1 data cache loses the line of an atomic */
    /* Lanes of a warp that all want one address send one access, where they may (sm_inst.adds_up). */
    bool uniform_atomics_once;
    /* A warp waits at a fence until its stores are acknowledged, not only until its registers are written. */
    bool fence_waits_for_stores;
    bool fence_drops_l1; /* a fence drops the lines of the L1D */
    /* A hit's registers are free l1d.latency_cycles after its look-up; false means that the pipeline comes before
     * the look-up. */
    bool l1d_latency_behind;
    bool texel_blocks; /* two-dimensional textures lie in blocks, not row by row */
};

#endif
