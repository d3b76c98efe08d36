/* What the machine file says of a core; const after start. Sizes, counts and latencies are rows of sm/keys.def; what is
 * written here are its caches and rules (gpu/rules.def). */
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
}; /* the last: L1D, L1C and L2 */

struct sm_config {
#define SM_KEY(section, name, type, field, ...) KEY_FIELD_##type(field)
#define SM_ROW(name, field, ...)                struct latency_row field;
#include "sm/keys.def"
    struct cache_config l1d, l1c, l1t, l1i;
    /* Launches. */
    enum launch_empties launch_empties; /* what a launch finds empty that begins when others have ended */
    bool counts_dynamic_shared;         /* in how many blocks fit; false: only shared memory that a kernel declares */
    /* Fetch and issue. */
    bool fetch_moves_on;      /* a fetch that the cache refuses has had its turn; false: it is tried again first */
    bool fetch_sends_at_once; /* a miss of the instruction cache leaves in its cycle; false: in the next */
    bool ends_in_fetch; /* a warp that is over gives its slot back when fetch comes to it in its turn; false: at once */
    bool code_packed;   /* functions follow each other without gaps; false: each begins a line */
    bool schedulers_take_turns; /* in being first in a cycle; false: scheduler 0 is */
    enum multiply_unit integer_multiply;
    bool fma_is_mad; /* false: fma has latency 1 */
    bool rem_is_div; /* false: integer remainder has latency 1 */
    bool sub_cores;  /* each scheduler has its own pipelines, without collectors (subcore.h) */
    bool lowers;     /* instructions are counted and timed as an assembler would leave them (ptx/lowering.h) */
    /* Operand collectors. */
    bool banks_at_once;      /* a collector reads all its banks in a cycle; false: one operand */
    bool banks_by_name;      /* a register's number is that in its name; false: all of a kernel are numbered through */
    bool enters_lsu_at_once; /* a memory instruction enters the load/store unit in the cycle in which it leaves its
                                collector; false: in the next */
    /* Load/store unit. */
    bool vectors_by_element; /* of a vector, its first element is what is coalesced */
    bool shared_limited_broadcast;
    bool l1_skips_global;  /* global loads bypass the L1D */
    bool volatile_past_l1; /* .volatile and .cv bypass the L1D as .cg does */
    bool local_by_block;   /* local memory: threads are numbered by blocks, not by warp slots */
    bool l1d_has_banks;    /* those of shared memory: a load takes the unit for as many cycles */
    bool exact_sectors; /* of a line, the L1D is asked for the sectors in which a lane has a byte; false: for 1, 2 or 4
                           in a row */
    bool atomics_at_once;        /* an atomic takes effect as it issues, and its warp goes on until it needs the result;
                                    false: in the memory partition, and the warp waits for it */
    bool shared_atomics_serial;  /* lanes of an atomic that share a word of shared memory take turns */
    bool atomics_await_address;  /* the register of an atomic's address is awaited and read */
    bool atomics_drop_l1;        /* the L1 data cache loses the line of an atomic */
    bool uniform_atomics_once;   /* lanes of a warp that all want one address send one access, where they may
                                    (sm_inst.adds_up) */
    bool fence_waits_for_stores; /* a fence holds its warp until its stores are acknowledged, not only until its
                                    registers are written */
    bool fence_drops_l1;         /* and drops the lines of the L1D */
    bool l1d_latency_behind; /* a hit's registers are free l1d.latency_cycles after its look-up; false: the pipeline is
                                before the look-up */
    bool texel_blocks;       /* two-dimensional textures lie in blocks, not row by row */
};

#endif
