/* What the machine file says of the memory system; const after start. Sizes, counts and latencies are rows of
 * mem/keys.def; what is written here are rules (gpu/rules.def). */
#ifndef HEDDLE_MEM_CONFIG_H
#define HEDDLE_MEM_CONFIG_H

#include "mem/keys.h"

#include <stdbool.h>
#include <stdint.h>

enum set_index { SET_INDEX_LINEAR, SET_INDEX_HASHED, SET_INDEX_MULTIPLIED };
enum write_rule_id { /* write_rule.h */
#define WRITE_RULE(id, ...) WRITE_##id,
#include "heddle/write_rules.def"
                     WRITE_RULE_COUNT
};
enum {
    STORE_FETCH_ROOM = 3
}; /* places that a store asks for in the miss queue where it has its line fetched: itself, the fetch, a write-back */
enum allocate_policy { ALLOCATE_ON_MISS, ALLOCATE_ON_FILL };

struct cache_config {
    /* clang-format off */
    CACHE_FIELDS
    /* clang-format on */
    enum set_index index;
    enum write_rule_id global_writes, local_writes;
    enum allocate_policy allocate;
    bool write_allocate, stores_fetch; /* make other rules of these two (write_rules.def) */
    bool partial_writes; /* sectored, where stores take lines unread: a sector of which stores have written a part only
                            is fetched when it is read; false means that it counts as written */
};

/* Key interconnect.network: NETWORK_AUTO, then the rows of networks.def. */
enum network_choice {
    NETWORK_AUTO,
#define NETWORK(name, help) NETWORK_IS_##name,
#include "mem/networks.def"
};

struct network_config {
#define NETWORK_KEY(name, type, field, ...) KEY_FIELD_##type(field)
#include "mem/networks.def"
};

struct l2_config {
    struct cache_config cache; /* of one slice */
#define L2_KEY(name, type, field, ...) KEY_FIELD_##type(field)
#include "mem/keys.def"
    bool filled_by_copies;     /* copies from the host leave their data in the L2 */
    bool constants_share_miss; /* sectored: a constant line's second sector asks for data in the first one's name */
    bool reads_evict_free;     /* a modified line that a read pushes out takes nothing of the data port */
    bool upper_halves_slip;    /* sectored: a request for the upper half of a line takes sectors of the next line */
};

enum dram_scheduler {
#define DRAM_POLICY(id, object, name, help) DRAM_##id,
#include "mem/dram_policies.def"
};

struct dram_config {
#define DRAM_KEY(name, type, field, ...) KEY_FIELD_##type(field)
#include "mem/keys.def"
    enum dram_scheduler scheduler;
    bool channels_hashed;   /* which of the channels comes first differs from row to row of them (address_map.h) */
    bool group_by_low_bits; /* a bank's group: its number modulo the groups; else neighbouring banks share one */
    bool row_beside_column; /* a row command may go out in the cycle of a column command */
    bool data_with_burst;   /* data counts as there when its burst begins; false: when it ends */
};

struct mem_config {
    uint32_t core_count;     /* senders: network ports of the cores (clusters) */
    uint32_t cores_per_port; /* cores that share a port: core c is at port c / cores_per_port; 0 counts as 1 */
    struct network_config network;
    struct l2_config l2;
    struct dram_config dram;
#define CLOCK_KEY(name, type, field, ...) KEY_FIELD_##type(field)
#include "mem/keys.def"
};

#endif
