/* Reads what `heddle run --trace` wrote (gpu/trace.h, docs/cache.md). A file that was cut off is read up to its last
 * whole chunk.
 *
 * What is kept in memory is the list of chunks, of launches and of instructions. Chunks of accesses are unpacked to
 * wherever the caller wants them, by several threads if there are: a reader does not change once it is open.
 * trace_window.h has the way through all of them. */
#ifndef HEDDLE_REPLAY_TRACE_READER_H
#define HEDDLE_REPLAY_TRACE_READER_H

#include "base/arena.h"
#include "gpu/trace.h"

/* TRACE_PADDING: after a chunk's bytes, so that a number may be read before it is known to end inside: five of ten
 * bytes each. */
enum { TRACE_LINE_BITS = 58, TRACE_WHAT_BITS = 4, TRACE_PADDING = 64 };

struct trace_chunk {
    uint64_t offset, records;
    uint32_t packed, raw, kernel;
}; /* of accesses */
struct trace_line {
    uint32_t pc, line;
    const char *function, *source, *text;
};
struct trace_listing {
    const char *kernel;
    uint32_t pc_count;
    struct trace_line *lines; /* of instructions that access memory */
    uint32_t line_count;
};
struct trace_kernel {
    uint32_t listing;
    bool flush /* its L1D is empty when it begins */, ended;
    struct trace_kernel_end end;
};

/* What unpacking needs; one per thread. All zero at first. */
struct trace_unpacker {
    struct ZSTD_DCtx_s *zstd;
    uint8_t *packed;
    size_t capacity;
};

struct trace_reader {
    struct trace_header header;
    struct trace_chunk *chunks;
    struct trace_kernel *kernels;
    struct trace_listing *listings;
    uint32_t chunk_count, kernel_count, listing_count;
    uint64_t accesses;
    bool truncated; /* something after the last chunk cannot be read: the run was ended before its time */
    /* private */
    struct arena arena;
    const char *name;
    int fd; /* -1: bytes in memory */
    const uint8_t *memory;
    uint64_t size_bytes;
    struct trace_unpacker unpacker; /* of texts */
    uint8_t *text;
    size_t text_capacity;
    uint32_t chunk_capacity, kernel_capacity, listing_capacity;
};

/* Where a core's accesses of a chunk are. */
struct trace_part {
    uint32_t core, chunk;
    uint64_t accesses;
    const uint8_t *start /* of the chunk */, *at, *end;
};
/* The way through the parts of a chunk: all of its bytes. */
struct trace_cursor {
    const uint8_t *start, *at, *end;
    uint32_t chunk, next_core;
};

/* A part, while its accesses are taken out piece by piece. */
struct trace_section {
    uint64_t left; /* accesses not taken yet */
    /* private */
    const uint8_t *start, *at, *end;
    uint32_t pc_count;
    struct trace_access last;
    uint64_t known;
    uint64_t ages[TRACE_WARPS];
};

bool trace_reader_open(struct trace_reader *r, const char *path, struct error *e);
bool trace_reader_open_memory(struct trace_reader *r, const void *data, size_t size_bytes,
                              struct error *e); /* the data stays the caller's, and stays */
void trace_reader_close(struct trace_reader *r);

/* A chunk of accesses to `to`, where there is room for it and TRACE_PADDING. */
bool trace_reader_unpack(const struct trace_reader *r, struct trace_unpacker *u, uint32_t chunk, uint8_t *to,
                         struct error *e);
void trace_unpacker_free(struct trace_unpacker *u);
/* The next part of a chunk: 1; none is left: 0; the file is damaged: -1. Parts are in the order of cores, one per core
 * at most. */
int trace_reader_part(const struct trace_reader *r, struct trace_cursor *c, struct trace_part *p, struct error *e);
void trace_reader_start(const struct trace_reader *r, const struct trace_part *p, struct trace_section *s);
/* Up to `most` accesses; 0 and an error: the file is damaged. */
uint32_t trace_reader_take(const struct trace_reader *r, struct trace_section *s, struct trace_access *out,
                           uint32_t most, struct error *e);
/* The same for somebody who wants no more than line << TRACE_WHAT_BITS | what: the rest is passed over, and not
 * checked. A section is taken by one of the two. */
uint32_t trace_reader_take_lines(const struct trace_reader *r, struct trace_section *s, uint64_t *out, uint32_t most,
                                 struct error *e);

/* Inside: the error of a file that makes no sense; false. */
bool trace_reader_damaged(const struct trace_reader *r, uint64_t offset, const char *what, struct error *e);

#endif
