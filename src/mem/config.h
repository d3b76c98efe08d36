/* What the machine file says of the memory system; const after start. Every field is a key of machines/NAME.ini
 * (gpu/machine_keys.def). */
#ifndef HEDDLE_MEM_CONFIG_H
#define HEDDLE_MEM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

enum set_index { SET_INDEX_LINEAR, SET_INDEX_HASHED, SET_INDEX_MULTIPLIED };
enum write_policy {
    WRITE_THROUGH_EVICT, /* global stores go down and drop the line */
    WRITE_BACK,          /* stores mark the line modified */
    WRITE_THROUGH,       /* stores go down and keep the line */
    WRITE_READ_ONLY
};
enum {
    STORE_FETCH_ROOM = 3
}; /* places that a store asks for in the miss queue where it has its line fetched: itself, the fetch, a write-back */
enum allocate_policy { ALLOCATE_ON_MISS, ALLOCATE_ON_FILL };

struct cache_config {
    uint32_t sets, ways, line_bytes; /* sets 0: no such cache */
    uint32_t sector_bytes;           /* 0: lines are filled whole */
    enum set_index index;
    enum write_policy global_writes, local_writes;
    enum allocate_policy allocate;
    bool write_allocate; /* a store that misses takes a line */
    bool stores_fetch;   /* with write_allocate, not sectored: a store that misses goes down itself, and its line is
                            fetched, as in GPGPU-Sim 3; false: it takes the line unread */
    bool partial_writes; /* sectored, with write_allocate: a sector of which stores have written a part only is fetched
                            when it is read; false: it counts as written */
    uint32_t mshr_entries, mshr_merge; /* distinct lines (sectors) waited for, requests for each */
    uint32_t miss_queue;               /* packets */
    uint32_t latency_cycles;           /* L1D: cycles of a hit before its registers are free, 0: the same cycle */
    uint32_t banks;                    /* L1D: accesses a cycle */
    uint32_t port_bytes;               /* L2: bytes a cycle through the data port, 0: a line */
};

struct crossbar_config {
    uint32_t flit_bytes;
    uint32_t input_flits;  /* buffer of an input */
    uint32_t output_flits; /* buffer of an output, in which packets wait to be taken */
    uint32_t hop_cycles;   /* from buffer to buffer; 0: what is sent has arrived in the same cycle */
    uint32_t speedup;      /* flits a port may move a network cycle; with a router: steps that it takes in one */
    uint32_t injection_flits, ejection_flits; /* of those buffers, in front of and behind an input-queued router
                                                 (mem/router.h); 0, both: there is none */
};

struct l2_config {
    struct cache_config cache; /* of one slice */
    uint32_t slices_per_channel;
    uint32_t rop_cycles; /* core cycles from the crossbar to the slice's queue */
    uint32_t input_queue, dram_queue, reply_queue,
        return_queue;          /* crossbar -> L2, L2 -> DRAM, L2 -> crossbar, DRAM -> L2 */
    bool filled_by_copies;     /* copies from the host leave their data in the L2 */
    bool constants_share_miss; /* sectored: the second sector of a constant line asks for data in the first one's name,
                                  as in GPGPU-Sim 4 */
    bool
        reads_evict_free; /* a modified line that a read pushes out takes nothing of the data port, as in GPGPU-Sim 4 */
    bool upper_halves_slip; /* sectored: a request for the upper half of a line takes its sectors in the next line, as
                               in GPGPU-Sim 4 */
};

enum dram_scheduler { DRAM_FRFCFS, DRAM_FIFO };

struct dram_config {
    uint32_t channels, chips, bus_bytes, burst_length,
        data_rate; /* data_rate: transfers a command cycle (DDR 2, GDDR5 4) */
    enum dram_scheduler scheduler;
    uint32_t queue, return_queue; /* return_queue 0: no limit */
    uint32_t latency_cycles;      /* fixed, core cycles in front of the controller */
    uint32_t banks, bank_groups;
    bool group_by_low_bits; /* a bank's group: its number modulo the groups (GPGPU-Sim 4's machines); else neighbouring
                               banks share one */
    uint32_t t_ccd, t_rrd, t_rcd, t_ras, t_rp, t_rc, t_cl, t_wl, t_cdlr, t_wr, t_ccdl, t_rtpl; /* command cycles */
    bool row_beside_column; /* a row command may go out in the cycle of a column command (GPGPU-Sim 4) */
    bool data_with_burst;   /* data counts as there when its burst begins; false: when it ends */
    uint32_t channel_bit;   /* lowest address bit that chooses the channel */
    char map[64]; /* from the highest bit to the lowest: R row, B bank, C column, S within a burst; dots are ignored */
};

struct mem_config {
    uint32_t core_count; /* senders: crossbar ports of the cores (clusters) */
    uint32_t
        cores_per_port; /* cores that share a crossbar port: core c is behind port c / cores_per_port; 0 counts as 1 */
    struct crossbar_config crossbar;
    struct l2_config l2;
    struct dram_config dram;
    uint64_t core_khz, icnt_khz, l2_khz, dram_khz;
};

#endif
