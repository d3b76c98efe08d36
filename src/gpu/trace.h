/* The accesses of every core's L1 data cache as a file (`heddle run --trace`), for `heddle cache` to replay.
 * docs/cache.md describes the format.
 *
 * Cores are not touched: accesses come from the events that policies hear. Each core has a buffer of its own; now and
 * then, at cycles that do not depend on the number of threads, all of them go into the file, core after core, as one
 * chunk that can be read without any other. So memory is bounded, a file that was cut off can be read up to its last
 * whole chunk, and the same run gives the same file on any number of threads. */
#ifndef HEDDLE_GPU_TRACE_H
#define HEDDLE_GPU_TRACE_H

#include "base/error.h"
#include "mem/cache_sets.h"
#include "mem/write_rule.h"

#include <stdbool.h>
#include <stdint.h>

struct trace;
struct machine;
struct sm;
struct gpu_counters;
struct profile_listing;
struct heddle_program;

enum {
    TRACE_VERSION = 1,
    TRACE_CHUNK_HEADER = 32,
    TRACE_RAW_MOST = 64 << 20,
    TRACE_CORES_MOST = 1024,
    TRACE_PCS_MOST = 1 << 20,
    TRACE_WARPS = 64
};
/* A chunk's header is a frame that zstd's own tools skip. */
#define TRACE_SKIPPABLE 0x184d2a5du
#define TRACE_MARK      0x544c4448u /* "HDLT" */
enum trace_kind { TRACE_HEADER = 1, TRACE_LISTING, TRACE_KERNEL, TRACE_ACCESSES, TRACE_KERNEL_END };

struct trace_header {
    char machine[64], program[256];
    uint32_t cores, sets, ways, line_bytes;
    enum cache_index index;
    enum write_rule_id global_stores, local_stores;
};

/* Bits of an access. The first two are enum heddle_outcome, without failures. */
enum {
    TRACE_OUTCOME = 3,
    TRACE_STORE = 1 << 2,
    TRACE_LOCAL = 1 << 3,
    TRACE_WHAT = 15,
    /* in the file: the fields that differ from the core's last access follow */
    TRACE_NEW_WARP = 1 << 4,
    TRACE_NEW_AGE = 1 << 5,
    TRACE_NEW_PC = 1 << 6,
    TRACE_NEXT_LINE = 1 << 7 /* the line after the last one: nothing follows */
};
struct trace_access {
    uint64_t line; /* address / line_bytes */
    uint64_t age;  /* the warp's number on the core, in order of launch */
    uint32_t pc;
    uint16_t warp; /* slot */
    uint8_t what;  /* TRACE_WHAT */
};
/* What a launch counted in the run. */
struct trace_kernel_end {
    bool partial;
    uint64_t cycles, warp_instructions, thread_instructions, reads, read_hits, read_misses, read_pending, stores,
        store_hits;
};

extern const char *const trace_index_names[INDEX_COUNT];

struct trace_header trace_header_of(const struct machine *m, const char *program);
/* NULL: the machine has no L1D, or the file cannot be made; *e says which. */
struct trace *trace_open(const char *path, const struct trace_header *h, struct error *e);
void trace_listen(struct trace *t, struct sm *core);
/* Adds one access. Cores may call this at the same time. */
void trace_put(struct trace *t, uint32_t core, const struct trace_access *a);
/* A launch begins; flush: its L1D is empty. All these return false when something could not be written. */
bool trace_kernel(struct trace *t, const struct profile_listing *listing, const struct heddle_program *program,
                  bool flush, struct error *e);
/* To be called between cycles: writes the accesses so far, if they are enough for a chunk. */
bool trace_gather(struct trace *t, struct error *e);
bool trace_kernel_end(struct trace *t, const struct trace_kernel_end *end, struct error *e);
struct trace_kernel_end trace_end_of(const struct gpu_counters *c, bool partial);
/* Completes the file. A second call does nothing. */
bool trace_close(struct trace *t, struct error *e);
void trace_destroy(struct trace *t);

#endif
