/* The backward pass for Belady's policy: chunks are read from the last to the first, and in each the accesses of a core from the last to the first. What is kept is where each line of a core was
 * used last on the way, which is its next use for those before. Distances, 0: no next use, are numbers of 16 bits, or MORE and four of them: which of the two is easy to guess, other than with bytes.
 * They fill a buffer from its end down, and so stand in it in the order in which the forward pass wants them. A buffer that is full goes into a temporary file; what is in it at the end, the beginning of the trace, is there when the forward pass comes.
 *
 * A use is any reference, as in the simulator that the authors of CCWS published, or, for belady-reads, a read that finds the line unless it was evicted for want of room. A store that drops
 * the line, or puts it there itself, ends the use of what was there before. Marks of launches need no care: whatever comes behind one is farther away than all before it. */
#include "lab/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NUMBER_PARTS: of 16 bits, the longest. LOOK_AHEAD: accesses, so that the table's slots are there when they are needed. BLOCK: accesses between two looks at its size. */
enum { NUMBER_PARTS = 5, MORE = 0xffff, LOOK_AHEAD = 16, BLOCK = 64 };

struct pass {
    struct line_map *lines;           /* of each core: position of the next use, counted from the end */
    struct slabs slabs;               /* of all of them */
    uint64_t *position;               /* of each core: accesses behind the one at hand */
    struct trace_section *sections;   /* of a chunk */
    uint64_t *list;                   /* of a section, behind LOOK_AHEAD others: line << TRACE_WHAT_BITS | what */
    size_t capacity;
    size_t window;                    /* parts of the buffer */
    uint32_t line_shift;
    enum trace_store stores[2];
    bool reads_only;
};

static int open_temporary(struct error *e)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/heddle-next-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        error_set(e, ERROR_IO, "cannot make a temporary file %s: %s", path, strerror(errno));
    else
        unlink(path);
    return fd;
}

/* Numbers */

/* In front of `to`. Returns where it begins. */
static inline uint16_t *put_number(uint16_t *to, uint64_t value)
{
    if (__builtin_expect(value >= MORE, 0)) {
        to -= 4;
        memcpy(to, &value, sizeof value);
        value = MORE;
    }
    *--to = (uint16_t)value;
    return to;
}

static inline uint64_t take_number(const uint16_t **at)
{
    uint64_t value = *(*at)++;
    if (__builtin_expect(value == MORE, 0)) {
        memcpy(&value, *at, sizeof value);
        *at += 4;
    }
    return value;
}

/* The buffer */

/* All that is in it, for chunks behind this one, goes into the file. */
static bool empty_buffer(struct replay_next *n, uint32_t chunk, struct error *e)
{
    size_t bytes = (n->capacity - n->low) * sizeof *n->buffer;
    for (size_t done = 0; done < bytes;) {
        ssize_t w = pwrite(n->fd, (char *)(n->buffer + n->low) + done, bytes - done, (off_t)(n->size_bytes + done));
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return error_set(e, ERROR_IO, "the temporary file in %s could not be written: %s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", strerror(w ? errno : ENOSPC));
        done += (size_t)w;
    }
    for (uint32_t i = chunk + 1; i < n->in_buffer; i++)
        n->blocks[i].offset = n->size_bytes + (n->blocks[i].offset - n->low) * sizeof *n->buffer;
    n->in_buffer = chunk + 1;
    n->size_bytes += bytes;
    n->low = n->capacity;
    return true;
}

static bool make_room(struct replay_next *n, struct pass *p, uint32_t chunk, uint64_t in_chunk, uint64_t in_section, struct error *e)
{
    size_t parts = in_chunk * NUMBER_PARTS;
    if (n->low < parts && !empty_buffer(n, chunk, e))
        return false;
    if (n->capacity < parts) {
        free(n->buffer);
        n->capacity = n->low = parts < p->window ? p->window : parts;
        n->buffer = slab_alloc(n->capacity * sizeof *n->buffer);
    }
    if (p->capacity < in_section) {
        free(p->list);
        p->capacity = in_section;
        p->list = calloc(in_section + LOOK_AHEAD, sizeof *p->list);
    }
    if (!n->buffer || !p->list)
        return error_set(e, ERROR_NO_MEMORY, "out of memory for a part of a trace with %llu accesses", (unsigned long long)in_chunk);
    return true;
}

/* The pass */

/* A store counts as a use of the line for those before it, or else it may end the line's time there. */
static inline uint64_t use(const struct pass *p, uint64_t what, uint64_t position, uint64_t next, bool reads_only)
{
    if (!reads_only || !(what & TRACE_STORE))
        return position;
    return p->stores[(what & TRACE_LOCAL) != 0] == TRACE_STORE_KEEP ? next : REPLAY_NEVER;
}

/* The accesses from first to end - 1, from the last to the first. */
static inline __attribute__((always_inline)) uint16_t *look_back_block(const struct pass *p, struct line_map *lines, uint64_t position, const uint64_t *first, const uint64_t *end, uint16_t *to, bool reads_only)
{
    const struct line_map table = *lines; /* a copy that nothing else points to stays in registers */
    uint64_t fresh = 0;
    uint32_t shift = TRACE_WHAT_BITS + p->line_shift;
    while (end-- > first) {
        line_map_prefetch(&table, end[-LOOK_AHEAD] >> shift);
        uint64_t line = *end >> shift;
        struct line_map_slot *s = line_map_place(&table, line);
        uint64_t next = s->value, distance = next == REPLAY_NEVER ? 0 : position - next;
        __asm__("" : "+r"(distance)); /* or else a compiler takes the lines without a next use another way, with a branch that nobody can guess */
        to = put_number(to, distance);
        fresh += s->line != line;
        s->line = line;
        s->value = use(p, *end, position, next, reads_only);
        position++;
    }
    lines->count += fresh;
    return to;
}

static inline __attribute__((always_inline)) uint16_t *look_back(struct pass *p, uint32_t core, uint64_t count, uint16_t *to, bool reads_only)
{
    const uint64_t *first = p->list + LOOK_AHEAD;
    while (count) {
        uint64_t n = count < BLOCK ? count : BLOCK;
        line_map_reserve(&p->lines[core], n);
        to = look_back_block(p, &p->lines[core], p->position[core], first + count - n, first + count, to, reads_only);
        p->position[core] += n;
        count -= n;
    }
    return to;
}

static bool pass_section(struct replay_next *n, struct pass *p, struct trace_reader *r, struct trace_section *s, struct error *e)
{
    uint64_t count = s->left;
    if (!count)
        return true;
    if (!trace_reader_take_lines(r, s, p->list + LOOK_AHEAD, (uint32_t)count, e))
        return false;
    uint16_t *to = n->buffer + n->low;
    to = p->reads_only ? look_back(p, s->core, count, to, true) : look_back(p, s->core, count, to, false);
    n->low = (size_t)(to - n->buffer);
    return true;
}

static bool pass_chunk(struct replay_next *n, struct pass *p, struct trace_reader *r, uint32_t chunk, struct error *e)
{
    struct trace_cursor cursor;
    uint32_t sections = 0;
    uint64_t total = 0, longest = 0;
    int more = 0;
    if (!trace_reader_load(r, chunk, &cursor, e))
        return false;
    while (sections < r->header.cores && (more = trace_reader_section(r, &cursor, &p->sections[sections], e)) > 0) {
        uint64_t count = p->sections[sections++].left;
        total += count;
        longest = count > longest ? count : longest;
    }
    if (more < 0 || (total && !make_room(n, p, chunk, total, longest, e)))
        return false;
    size_t end = n->low;
    while (sections--)
        if (!pass_section(n, p, r, &p->sections[sections], e))
            return false;
    n->blocks[chunk] = (struct replay_block){ n->low, (end - n->low) * sizeof *n->buffer };
    return true;
}

bool replay_next_make(struct replay_next *n, struct trace_reader *r, const struct replay_geometry *g, enum replay_policy policy, size_t window_bytes, struct error *e)
{
    const struct trace_header *h = &r->header;
    struct pass p = { .lines = calloc(h->cores, sizeof *p.lines), .position = calloc(h->cores, sizeof *p.position), .sections = calloc(h->cores, sizeof *p.sections),
                      .stores = { h->global_stores, h->local_stores }, .line_shift = (uint32_t)(__builtin_ctz(g->line_bytes) - __builtin_ctz(h->line_bytes)),
                      .reads_only = policy == REPLAY_BELADY_READS, .window = window_bytes / sizeof *n->buffer };
    *n = (struct replay_next){ .fd = open_temporary(e), .blocks = calloc(r->chunk_count + 1, sizeof *n->blocks), .in_buffer = r->chunk_count };
    if (!p.lines || !p.position || !p.sections || !n->blocks)
        abort();
    for (uint32_t i = 0; i < h->cores; i++)
        p.lines[i].slabs = &p.slabs;
    bool ok = n->fd >= 0;
    for (uint32_t chunk = r->chunk_count; ok && chunk-- > 0;)
        ok = pass_chunk(n, &p, r, chunk, e);
    slabs_free(&p.slabs);
    free(p.lines);
    free(p.position);
    free(p.sections);
    free(p.list);
    return ok;
}

bool replay_next_load(struct replay_next *n, uint32_t chunk, struct error *e)
{
    const struct replay_block *b = &n->blocks[chunk];
    bool there = chunk < n->in_buffer;
    for (size_t done = 0; !there && done < b->bytes;) {
        ssize_t got = pread(n->fd, (char *)n->buffer + done, b->bytes - done, (off_t)(b->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_set(e, ERROR_IO, "the temporary file cannot be read: %s", got ? strerror(errno) : "it became shorter");
        done += (size_t)got;
    }
    n->at = there && b->bytes ? n->buffer + b->offset : n->buffer;
    n->end = b->bytes ? n->at + b->bytes / sizeof *n->at : n->at;
    return true;
}

void replay_next_take(struct replay_next *n, uint64_t *out, uint32_t count)
{
    const uint16_t *at = n->at;
    for (uint32_t i = 0; i < count && at < n->end; i++)
        out[i] = take_number(&at);
    n->at = at;
}

void replay_next_free(struct replay_next *n)
{
    if (n->fd >= 0)
        close(n->fd);
    free(n->blocks);
    free(n->buffer);
    *n = (struct replay_next){ .fd = -1 };
}
