/* What the machine file says of a core; const after start. Every field is a key of machines/NAME.ini
 * (gpu/machine_keys.def). */
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
    uint32_t warps, blocks, registers, shared_bytes; /* of a core */
    bool counts_dynamic_shared;         /* in how many blocks fit; false: only shared memory that a kernel declares */
    uint32_t registers_for_sm;          /* target whose assembler counts them; 0: the program's own */
    uint32_t register_granule;          /* registers of a thread are rounded up to a multiple of this */
    uint32_t cores_per_cluster;         /* cores that share a port of the interconnect */
    enum launch_empties launch_empties; /* what a launch finds empty that begins when others have ended */
    uint32_t schedulers;                /* warp slot i belongs to scheduler i mod schedulers */
    bool schedulers_take_turns;         /* in being first in a cycle; false: scheduler 0 is */
    uint32_t issue_per_warp;            /* instructions of one warp a scheduler may issue in a cycle: 1 or 2 */
    uint32_t fetch_bytes;               /* a fetch, 8 bytes an instruction */
    bool fetch_moves_on;      /* a fetch that the cache refuses has had its turn; false: it is tried again first */
    bool fetch_sends_at_once; /* a miss of the instruction cache leaves in its cycle; false: in the next */
    bool ends_in_fetch; /* a warp that is over gives its slot back when fetch comes to it in its turn; false: at once */
    bool code_packed;   /* functions lie one behind the other; false: each begins a line */
    /* Pipeline registers and units. */
    uint32_t sp_issue_width, sfu_issue_width, mem_issue_width; /* ID/OC = OC/EX registers of each kind */
    uint32_t writeback_width;                                  /* results a cycle from SP and SFU */
    uint32_t sp_units, sfu_units, dp_units;                    /* dp_units 0: double precision runs on the SFUs */
    /* Operand collectors. */
    uint32_t sp_collectors, sfu_collectors, mem_collectors;
    uint32_t sp_ports, sfu_ports, mem_ports; /* instructions a cycle into and out of the collectors of a kind */
    uint32_t register_banks;
    bool banks_at_once;      /* a collector reads all its banks in a cycle; false: one operand */
    bool banks_by_name;      /* a register's number is that in its name; false: all of a kernel are numbered through */
    bool enters_lsu_at_once; /* a memory instruction enters the load/store unit in the cycle in which it leaves its
                                collector; false: in the next */
    struct latency_row integer, single_precision, double_precision;
    uint32_t sfu_latency, sfu_initiation;
    uint32_t shuffle_latency, shuffle_initiation;
    enum multiply_unit integer_multiply;
    bool fma_is_mad; /* false: fma has latency 1, as the simulator of the papers had it */
    bool rem_is_div; /* false: integer remainder has latency 1, as there */
    /* Load/store unit. */
    uint32_t lsu_steps;      /* of it and of the operand collectors in a cycle of the core */
    uint32_t coalesce_parts; /* 1: a warp at once, 2: half warps */
    uint32_t atomic_parts;   /* the same for atomics */
    bool vectors_by_element; /* of a vector, its first element is what is coalesced */
    uint32_t
        past_l1_segment; /* bytes of the largest segment in which accesses past the L1D (.cg, atomics) are coalesced */
    uint32_t shared_banks, shared_parts;
    bool shared_limited_broadcast;
    uint32_t shared_latency; /* cycles in the load/store pipeline */
    uint32_t response_queue; /* packets of a cluster that wait for their core */
    uint32_t lsu_response_queue;
    bool l1_skips_global;        /* global loads bypass the L1D */
    bool volatile_past_l1;       /* .volatile and .cv bypass the L1D as .cg does */
    bool local_by_block;         /* local memory: threads are numbered by blocks, not by warp slots */
    bool atomics_await_address;  /* the register of an atomic's address is awaited and read */
    bool fence_waits_for_stores; /* a fence holds its warp until its stores are acknowledged, not only until its
                                    registers are written */
    bool fence_drops_l1;         /* and drops the lines of the L1D */
    struct cache_config l1d, l1c, l1t, l1i;
    bool l1d_latency_behind; /* a hit's registers are free l1d.latency_cycles behind its look-up; false: the pipeline is
                                in front of the look-up */
    bool texel_blocks;       /* two-dimensional textures lie in blocks, not row by row */
    uint32_t texture_results; /* places behind the texture cache's queue of accesses in order; 0: it has none */
};

#endif
