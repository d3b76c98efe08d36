/* Replays a trace: every core's accesses through a cache of any geometry under any policy, and how far apart the uses
 * of lines are. */
#ifndef HEDDLE_REPLAY_REPLAY_H
#define HEDDLE_REPLAY_REPLAY_H

#include "replay/cache.h"
#include "replay/trace_window.h"

#include <pthread.h>

extern const char *const replay_policy_names[REPLAY_POLICIES],
    *const replay_metric_names[REPLAY_POLICIES]; /* the latter as part of a metric, where a minus is one */
/* Sets of policies (policies.c), bit i for policy i: "lru, belady", or "all". False: *unknown is the word that
 * is none. */
enum { REPLAY_SET_BYTES = 64 };
bool replay_policies_read(const char *text, size_t length, uint32_t *set, const char **unknown, size_t *unknown_length);
void replay_policies_write(uint32_t set, char out[REPLAY_SET_BYTES]); /* "lru,belady" */

struct replay_result {
    struct replay_counts total;
    struct replay_counts **pcs; /* of each listing of the trace: by pc */
    uint32_t listing_count;
    double seconds, backward_seconds; /* of both passes; of the one backwards, for Belady */
    uint64_t temporary_bytes;         /* of the file between the two */
};

/* Is it a cache, and can the trace be replayed through it? */
bool replay_check(const struct replay_geometry *g, const struct trace_header *h, struct error *e);
/* The index that a machine with `sets` sets would have, of the same kind as the trace's. */
enum cache_index replay_index(const struct trace_header *h, uint32_t sets);
/* On how many threads, from 1 on, and with how much memory; 0: as usual. What is counted does not depend on it. */
struct replay_how {
    uint32_t threads;
    size_t window_bytes; /* of the trace, unpacked */
    size_t next_bytes;   /* of distances to the next use */
};
bool replay_run(const struct trace_reader *r, const struct replay_geometry *g, enum replay_policy policy,
                const struct replay_how *how, struct replay_result *result, struct error *e);
void replay_result_free(struct replay_result *result);
/* Of each chunk: how often caches were emptied before it, as launches that begin do. For free(); NULL: no memory. */
uint32_t *replay_flushes(const struct trace_reader *r);
bool replay_open(struct trace_windows *w, const struct trace_reader *r, const struct replay_how *how, struct error *e);

/* The backward pass (next_use.c): of each access how far ahead its line's next use is. Those of a core in a window
 * are a block, in a buffer or in a temporary file. */
struct replay_next {
    struct replay_block {
        uint64_t offset, bytes;
        bool in_file;
    } * *blocks; /* of each window, of each task */
    uint32_t window_count;
    uint16_t *buffer;
    uint64_t capacity, used; /* numbers of the buffer, reserved for windows so far */
    int fd;                  /* -1: there is no file yet */
    uint64_t file_bytes;
    pthread_mutex_t lock;     /* of the last two */
    struct replay_next_slot { /* of each thread */
        uint16_t *numbers;    /* of a task */
        uint64_t *list;       /* of a part */
        uint64_t number_capacity, list_capacity;
        const uint16_t *at, *end; /* of the block that is read */
    } * slots;
    uint32_t slot_count;
};
/* buffer_bytes: the most. */
bool replay_next_make(struct replay_next *n, struct trace_windows *w, const struct replay_geometry *g,
                      enum replay_policy policy, size_t buffer_bytes, struct error *e);
/* The block of a task of the window that is loaded, for a slot; then its numbers, in the order of accesses. */
bool replay_next_load(struct replay_next *n, const struct trace_windows *w, const struct trace_task *task,
                      uint32_t slot, struct error *e);
void replay_next_take(struct replay_next_slot *s, uint64_t *out, uint32_t count);
void replay_next_free(struct replay_next *n);

/* Stack distances (distance.c): of each access, how many other lines have been used since its line was. A fully
 * associative LRU cache of more lines than that has it. Counts are of all cores together; [distance], then a line's
 * first uses, and those after it was dropped. */
struct replay_distances {
    uint64_t *reads, *stores;
    uint64_t length; /* distances below it */
    uint64_t first_reads, first_stores;
    uint64_t between[65]; /* reads that are no first ones, by the accesses of their core since the last use: [0] none,
                             [i] from 2^(i-1) on, below 2^i */
    uint64_t lines;       /* distinct ones, summed over cores */
    double seconds;
};
bool replay_distances_run(const struct trace_reader *r, uint32_t line_bytes, const struct replay_how *how,
                          struct replay_distances *d, struct error *e);
/* Misses of caches of so many lines, one per core. */
struct replay_counts replay_distances_misses(const struct replay_distances *d, uint64_t lines);
void replay_distances_free(struct replay_distances *d);

#endif
