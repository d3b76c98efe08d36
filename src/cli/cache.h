/* heddle cache: what it found, between its two files. */
#ifndef HEDDLE_CLI_CACHE_H
#define HEDDLE_CLI_CACHE_H

#include "replay/replay.h"

struct cache_report {
    const char *path;
    struct trace_reader *trace;
    struct replay_geometry geometry;
    bool is_traced_geometry; /* the run had such a cache */
    bool ran[REPLAY_POLICIES];
    struct replay_result results[REPLAY_POLICIES];
    struct replay_distances distances;
    bool per_pc, curve, reuse; /* what is shown; the last two need the distances */
};

void cache_print_text(const struct cache_report *c);
bool cache_print_json(const struct cache_report *c);

#endif
