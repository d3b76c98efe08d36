/* Replays a trace: every core's accesses through a cache of any geometry under any policy, and how far apart the uses of lines are. */
#ifndef HEDDLE_LAB_REPLAY_H
#define HEDDLE_LAB_REPLAY_H

#include "lab/replay_cache.h"

extern const char *const replay_policy_names[REPLAY_POLICIES], *const replay_metric_names[REPLAY_POLICIES]; /* the latter as part of a metric, where a minus is one */
/* Sets of policies (replay_policies.c), bit i for policy i: "lru, belady", or "all". False: *unknown is the word that is none. */
enum { REPLAY_SET_BYTES = 64 };
bool replay_policies_read(const char *text, size_t length, uint32_t *set, const char **unknown, size_t *unknown_length);
void replay_policies_write(uint32_t set, char out[REPLAY_SET_BYTES]); /* "lru,belady" */

struct replay_result {
    struct replay_counts total;
    struct replay_counts **pcs;    /* of each listing of the trace: by pc */
    uint32_t listing_count;
    double seconds, backward_seconds; /* of both passes; of the one backwards, for Belady */
    uint64_t temporary_bytes;      /* of the file between the two */
};

/* Is it a cache, and can the trace be replayed through it? */
bool replay_check(const struct replay_geometry *g, const struct trace_header *h, struct error *e);
/* The index that a machine with `sets` sets would have, of the same kind as the trace's. */
enum cache_index replay_index(const struct trace_header *h, uint32_t sets);
bool replay_run(struct trace_reader *r, const struct replay_geometry *g, enum replay_policy policy, struct replay_result *result, struct error *e);
void replay_result_free(struct replay_result *result);

/* The backward pass (replay_next.c): of each access of a chunk how far ahead its line's next use is; of the first chunks in memory, of the others in a temporary file. */
struct replay_next {
    struct replay_block { uint64_t offset, bytes; } *blocks; /* of each chunk: a place of the buffer, or a byte of the file */
    uint32_t in_buffer;        /* chunks before this one */
    uint16_t *buffer;
    size_t capacity, low;      /* of the buffer: from `low` on it is used */
    int fd;
    uint64_t size_bytes;       /* of the file */
    const uint16_t *at, *end;
};
/* window_bytes: of the buffer, or as many as one chunk needs. */
bool replay_next_make(struct replay_next *n, struct trace_reader *r, const struct replay_geometry *g, enum replay_policy policy, size_t window_bytes, struct error *e);
bool replay_next_load(struct replay_next *n, uint32_t chunk, struct error *e); /* in the order of chunks */
void replay_next_take(struct replay_next *n, uint64_t *out, uint32_t count); /* in the order of the chunk */
void replay_next_free(struct replay_next *n);

/* Stack distances (replay_distance.c): of each access, how many other lines have been used since its line was. A fully associative LRU cache of more lines than that has it.
 * Counts are of all cores together; [distance], then a line's first uses, and those after it was dropped. */
struct replay_distances {
    uint64_t *reads, *stores;
    uint64_t length;               /* distances below it */
    uint64_t first_reads, first_stores;
    uint64_t between[65];          /* reads that are no first ones, by the accesses of their core since the last use: [0] none, [i] from 2^(i-1) on, below 2^i */
    uint64_t lines;                /* distinct ones, summed over cores */
    double seconds;
};
bool replay_distances_run(struct trace_reader *r, uint32_t line_bytes, struct replay_distances *d, struct error *e);
/* Misses of caches of so many lines, one a core. */
struct replay_counts replay_distances_misses(const struct replay_distances *d, uint64_t lines);
void replay_distances_free(struct replay_distances *d);

#endif
