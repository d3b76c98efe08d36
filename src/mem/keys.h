/* What the tables of keys (keys.def) share: how a row becomes a field of a configuration, and the keys of caches. */
#ifndef HEDDLE_MEM_KEYS_H
#define HEDDLE_MEM_KEYS_H

#include <stdint.h>

/* A field, by the type of its key (gpu/machine_keys.def). */
#define KEY_FIELD_U32(field)     uint32_t field;
#define KEY_FIELD_U64(field)     uint64_t field;
#define KEY_FIELD_MHZ(field)     uint64_t field;
#define KEY_FIELD_TEXT(field)    char field[64];
#define KEY_FIELD_BOOK(field)    uint32_t field;
#define KEY_FIELD_NETWORK(field) enum network_choice field;

/* A cache has some of these groups. KEY is its macro in a table, the others are defaults. */
#define CACHE_SHAPE(KEY, sets_, ways_, line_)                                      \
    KEY("sets", U32, sets, sets_, 0, 65536, "", "sets; 0: there is no such cache") \
    KEY("ways", U32, ways, ways_, 1, 64, "", "lines of a set")                     \
    KEY("line_bytes", U32, line_bytes, line_, 32, 256, "bytes", "a line; a power of two")
#define CACHE_SECTORS(KEY)                                       \
    KEY("sector_bytes", U32, sector_bytes, "0", 0, 256, "bytes", \
        "part of a line that is filled on its own; 0: lines are filled whole")
#define CACHE_MISSES(KEY, entries_, merge_, queue_)                                                     \
    KEY("mshr_entries", U32, mshr_entries, entries_, 1, 4096, "", "lines (sectors) waited for at once") \
    KEY("mshr_merge", U32, mshr_merge, merge_, 1, 4096, "", "requests that may wait for each")          \
    KEY("miss_queue", U32, miss_queue, queue_, 1, 4096, "packets", "on their way down")
#define CACHE_HITS(KEY)                                               \
    KEY("latency_cycles", U32, latency_cycles, "0", 0, 512, "cycles", \
        "a hit; 0: its registers are free in the same cycle")         \
    KEY("banks", U32, banks, "1", 1, 64, "", "accesses per cycle")
#define CACHE_PORT(KEY) \
    KEY("port_bytes", U32, port_bytes, "0", 0, 4096, "bytes", "through the data port per cycle; 0: a line")

#define CACHE_FIELD(name, type, field, ...) KEY_FIELD_##type(field)
#define CACHE_FIELDS               \
    CACHE_SHAPE(CACHE_FIELD, , , ) \
    CACHE_SECTORS(CACHE_FIELD) CACHE_MISSES(CACHE_FIELD, , , ) CACHE_HITS(CACHE_FIELD) CACHE_PORT(CACHE_FIELD)

#endif
