/* Reads what `heddle run --trace` wrote (gpu/trace.h, docs/cache.md): chunk after chunk, in either direction. A file that was cut off is read up to its last whole chunk.
 *
 * What is kept in memory is the list of chunks, of launches and of instructions; accesses are there one chunk at a time, beside those that trace_reader_keep asks for. */
#ifndef HEDDLE_LAB_TRACE_READER_H
#define HEDDLE_LAB_TRACE_READER_H

#include "base/arena.h"
#include "gpu/trace.h"

enum { TRACE_LINE_BITS = 58, TRACE_WHAT_BITS = 4 };

struct trace_chunk { uint64_t offset, records; uint32_t packed, raw, kernel; /* of accesses */ size_t place; /* among those that are kept */ bool unpacked; /* there */ };
struct trace_line { uint32_t pc, line; const char *function, *source, *text; };
struct trace_listing { const char *kernel; uint32_t pc_count; struct trace_line *lines; /* of instructions that access memory */ uint32_t line_count; };
struct trace_kernel { uint32_t listing; bool flush /* its L1D is empty when it begins */, ended; struct trace_kernel_end end; };

struct trace_reader {
    struct trace_header header;
    struct trace_chunk *chunks;
    struct trace_kernel *kernels;
    struct trace_listing *listings;
    uint32_t chunk_count, kernel_count, listing_count;
    uint64_t accesses;
    bool truncated;            /* something behind the last chunk cannot be read: the run was ended before its time */
    /* private */
    struct arena arena;
    const char *name;
    int fd;                    /* -1: bytes in memory */
    const uint8_t *memory;
    uint64_t size_bytes;
    uint8_t *packed, *raw, *kept;
    const uint8_t *loaded;     /* the chunk at hand, in one of them */
    size_t packed_capacity, raw_capacity;
    uint32_t kept_count;
    struct ZSTD_DCtx_s *zstd;
    uint32_t chunk_capacity, kernel_capacity, listing_capacity;
};

/* A core's accesses of a chunk, taken out piece by piece. */
struct trace_section {
    uint32_t core;
    uint64_t left;             /* accesses not taken yet */
    /* private */
    const uint8_t *at, *end;
    uint32_t pc_count;
    struct trace_access last;
    uint64_t known;
    uint64_t ages[TRACE_WARPS];
};
struct trace_cursor { const uint8_t *at, *end; uint32_t chunk, next_core; };

bool trace_reader_open(struct trace_reader *r, const char *path, struct error *e);
bool trace_reader_open_memory(struct trace_reader *r, const void *data, size_t size_bytes, struct error *e); /* the data stays the caller's, and stays */
void trace_reader_close(struct trace_reader *r);

/* From now on as many of the first chunks as fit into so many bytes stay there once they are unpacked, for somebody who reads the file more than once. 0: none. */
void trace_reader_keep(struct trace_reader *r, size_t bytes);
/* Unpacks a chunk, in place of the last. */
bool trace_reader_load(struct trace_reader *r, uint32_t chunk, struct trace_cursor *c, struct error *e);
/* The next section of the chunk that is loaded: 1; none is left: 0; the file is damaged: -1. Sections are in the order of cores, one a core at most. */
int trace_reader_section(struct trace_reader *r, struct trace_cursor *c, struct trace_section *s, struct error *e);
/* Up to `most` accesses; 0 and an error: the file is damaged. */
uint32_t trace_reader_take(struct trace_reader *r, struct trace_section *s, struct trace_access *out, uint32_t most, struct error *e);
/* The same for somebody who wants no more than line << TRACE_WHAT_BITS | what: the rest is passed over, and not checked. A section is taken by one of the two. */
uint32_t trace_reader_take_lines(struct trace_reader *r, struct trace_section *s, uint64_t *out, uint32_t most, struct error *e);

/* Inside: the error of a file that makes no sense; false. */
bool trace_reader_damaged(const struct trace_reader *r, uint64_t offset, const char *what, struct error *e);

#endif
