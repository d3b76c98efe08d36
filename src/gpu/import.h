/* Inside the importer of GPGPU-Sim's configurations: machine_import.c reads the text, import_options.c has the table of
 * options, import_core.c, import_cache.c and import_memory.c carry them over. */
#ifndef HEDDLE_GPU_IMPORT_H
#define HEDDLE_GPU_IMPORT_H

#include "gpu/machine.h"
#include "gpu/machine_key.h"

enum { VALUE_BYTES = 1024, PLACES_MOST = 256, PARTS_MOST = 24 };

struct import {
    struct machine machine;
    struct machine_place places[PLACES_MOST];
    uint32_t order;
    const struct source *source;
    const char *at, *line_text; /* reading: what comes next, and the start of its line */
    int line;
    const char *option; /* the current one, its value and where that stands */
    char value[VALUE_BYTES];
    int value_line, value_column;
    bool quiet;         /* defaults are read: nothing to remark */
    bool seeks_release; /* only what tells it is looked at */
    uint32_t units;     /* kinds of them */
    bool flushes_l1, flushes_l2;
    bool flit_given; /* -icnt_flit_size stands above the network's own file */
    uint32_t clusters, cores_per_cluster;
    FILE *remarks;
    struct error *error;
};

/* Remarks: one per line in the result's last comment and in the notes. */
void import_remark(struct import *i, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The value of the current option is not what it should be; returns false. */
bool import_wrong(struct import *i, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Carries the current option over. */
bool import_option(struct import *i);
/* The rulebook of the release, where it has been found out (units). */
void import_release(struct import *i);

/* import_value.c. Sets a key from the value of the current option. What the table of keys refuses is remarked, and the
 * key keeps what it had. */
void import_set_text(struct import *i, const char *section, const char *name, const char *text);
void import_set_number(struct import *i, const char *section, const char *name, uint64_t value);
void import_set_cache_rule(struct import *i, const char *cache, const char *name, const char *text);
bool import_parse_whole(const char *text, uint64_t *value);
/* Numbers with a letter between them. False: the value is wrong, and that has been said. */
bool import_parse_numbers(struct import *i, char at, uint64_t *out, uint32_t least, uint32_t most, uint32_t *count);
/* Cuts the text at a letter, in place; returns the number of parts, PARTS_MOST where there are more. */
uint32_t import_split(char *text, char at, char *parts[PARTS_MOST]);
/* Divides a target "section.key". */
void import_split_target(const char *target, char section[32], const char **name);

/* How options are carried over: target is the key, or what else the option's row says. False: the value is wrong, and
 * that has been said. */
typedef bool import_handler(struct import *i, const char *target);
import_handler import_take_number;
/* import_core.c */
import_handler import_take_clusters, import_take_clocks, import_take_pipeline, import_take_widths,
    import_take_latencies, import_take_warp_parts, import_take_flush, import_take_coalescing, import_take_out_ports,
    import_take_generic_collectors, import_take_scheduler;
/* import_cache.c */
import_handler import_take_cache;
/* import_memory.c */
import_handler import_take_partition_queues, import_take_dram_scheduler, import_take_timing, import_take_map,
    import_take_network;

#endif
