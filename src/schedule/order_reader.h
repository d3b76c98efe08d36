/* Reads a file of `heddle run --issue-order` (gpu/issue_order.h): what ran, and core by core the issues and the
 * reasons, in their order, without keeping more than a chunk of each in memory. */
#ifndef HEDDLE_SCHEDULE_ORDER_READER_H
#define HEDDLE_SCHEDULE_ORDER_READER_H

#include "base/error.h"
#include "gpu/issue_order.h"

#include <stddef.h>

struct order_chunk {
    uint32_t kind, core, issues, raw_bytes, packed_bytes;
    size_t at; /* of its data in the file */
};

struct order_listing {
    char *text;
    const char **lines; /* by pc */
    uint32_t count;
};

struct order_launch {
    uint64_t number, cycle; /* among all launches; when it began */
    uint32_t listing;
    char *kernel;
};

struct order_file {
    char *path;
    const uint8_t *data; /* the whole file */
    size_t size_bytes;
    struct order_chunk *chunks;
    uint32_t chunk_count;
    uint32_t cores, slots, schedulers;
    char *machine, *program, *scheduler, *l1, *divergence;
    struct order_listing *listings;
    uint32_t listing_count;
    struct order_launch *launches; /* in the order of their starts */
    uint32_t launch_count;
    uint64_t issues;
    bool cut; /* the file ends in the middle of a chunk: what is before it can be read */
};

/* NULL: it cannot be read, or is no such file. */
struct order_file *order_open(const char *path, struct error *e);
void order_close(struct order_file *f);
uint64_t order_issues_of(const struct order_file *f, uint32_t core);
/* The text of an instruction; "" where it is not known. */
const char *order_text(const struct order_file *f, uint64_t launch, uint32_t pc);

struct order_warp { /* who is in a slot */
    uint64_t launch, block;
    uint32_t index; /* in the block */
    bool known;
};

struct order_issue {
    uint64_t cycle;
    uint32_t slot, scheduler, pc;
    uint64_t nth; /* instruction of the warp, from 0 */
    struct order_warp warp;
    bool is_new; /* the warp's first */
};

struct order_change { /* of a slot's reason */
    uint64_t cycle;
    uint32_t slot;
    uint8_t reason; /* enum stall, or ORDER_NO_REASON */
};

struct order_stream {
    const struct order_file *file;
    enum issue_order_kind kind;
    uint32_t core, next_chunk;
    uint8_t *raw;
    size_t used, size, capacity;
    uint64_t cycle;
    uint32_t next_pc[ISSUE_ORDER_SLOTS];
    uint64_t nth[ISSUE_ORDER_SLOTS];
    struct order_warp warps[ISSUE_ORDER_SLOTS];
    bool is_new[ISSUE_ORDER_SLOTS];
};

/* kind: ORDER_ISSUES or ORDER_REASONS. */
struct order_stream *order_stream_open(const struct order_file *f, uint32_t core, enum issue_order_kind kind);
/* False: that was all, or *e says what is wrong with the file. */
bool order_next_issue(struct order_stream *s, struct order_issue *out, struct error *e);
bool order_next_change(struct order_stream *s, struct order_change *out, struct error *e);
void order_stream_close(struct order_stream *s);

#endif
