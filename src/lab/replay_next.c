/* The backward pass for Belady's policy: chunks are read from the last to the first, and in each the accesses of a core from the last to the first. What is kept is where each line of a core was
 * used last on the way, which is its next use for those before. Distances go into a temporary file, a block a chunk, as numbers of 7 bits a byte; 0: no next use.
 *
 * A use is any reference, as in the simulator that the authors of CCWS published, or, for belady-reads, a read that finds the line unless it was evicted for want of room. A store that drops
 * the line, or puts it there itself, ends the use of what was there before. Marks of launches need no care: whatever comes behind one is farther away than all before it. */
#include "lab/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_BYTES = 10 };

struct pass {
    struct line_map *lines;        /* of each core: position of the next use, counted from the end */
    uint64_t *position;            /* of each core: accesses behind the one at hand */
    struct trace_access *list;     /* of a section */
    uint64_t *ahead;
    size_t capacity;
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

/* Does the access count as a use of the line for those before it; and does it end the line's time there? */
static inline bool is_use(const struct pass *p, const struct trace_access *a)
{
    return !p->reads_only || !(a->what & TRACE_STORE);
}

static inline bool ends_use(const struct pass *p, const struct trace_access *a)
{
    return p->reads_only && (a->what & TRACE_STORE) && p->stores[(a->what & TRACE_LOCAL) != 0] != TRACE_STORE_KEEP;
}

static void look_back(struct pass *p, uint32_t core, uint64_t count)
{
    struct line_map *lines = &p->lines[core];
    uint64_t position = p->position[core];
    for (uint64_t i = count; i-- > 0; position++) {
        const struct trace_access *a = &p->list[i];
        uint64_t *next = line_map_at(lines, a->line >> p->line_shift, REPLAY_NEVER);
        p->ahead[i] = *next == REPLAY_NEVER ? 0 : position - *next;
        if (is_use(p, a))
            *next = position;
        else if (ends_use(p, a))
            *next = REPLAY_NEVER;
    }
    p->position[core] = position;
}

static bool make_room(struct pass *p, uint64_t count, struct error *e)
{
    if (count <= p->capacity)
        return true;
    free(p->list);
    free(p->ahead);
    p->list = malloc(count * sizeof *p->list);
    p->ahead = malloc(count * sizeof *p->ahead);
    p->capacity = p->list && p->ahead ? count : 0;
    return p->capacity ? true : error_set(e, ERROR_NO_MEMORY, "out of memory for a part of a trace with %llu accesses", (unsigned long long)count);
}

/* The block's numbers of a section, behind those of the sections before it. */
static bool put_section(struct replay_next *n, size_t *used, const struct pass *p, uint64_t count, struct error *e)
{
    if (n->capacity - *used < count * NUMBER_BYTES) {
        size_t capacity = 2 * n->capacity + count * NUMBER_BYTES;
        uint8_t *more = realloc(n->block, capacity);
        if (!more)
            return error_set(e, ERROR_NO_MEMORY, "out of memory for a part of a trace with %llu accesses", (unsigned long long)count);
        n->block = more;
        n->capacity = capacity;
    }
    uint8_t *to = n->block + *used;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = p->ahead[i];
        for (; value >= 0x80; value >>= 7)
            *to++ = (uint8_t)(value | 0x80);
        *to++ = (uint8_t)value;
    }
    *used = (size_t)(to - n->block);
    return true;
}

static bool write_block(struct replay_next *n, uint32_t chunk, size_t used, struct error *e)
{
    n->offset[chunk] = n->size_bytes;
    n->bytes[chunk] = used;
    for (size_t done = 0; done < used;) {
        ssize_t w = pwrite(n->fd, n->block + done, used - done, (off_t)(n->size_bytes + done));
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return error_set(e, ERROR_IO, "the temporary file in %s could not be written: %s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", strerror(w ? errno : ENOSPC));
        done += (size_t)w;
    }
    n->size_bytes += used;
    return true;
}

static bool pass_chunk(struct replay_next *n, struct pass *p, struct trace_reader *r, uint32_t chunk, struct error *e)
{
    struct trace_cursor cursor;
    struct trace_section s;
    size_t used = 0;
    int more;
    if (!trace_reader_load(r, chunk, &cursor, e))
        return false;
    while ((more = trace_reader_section(r, &cursor, &s, e)) > 0) {
        uint64_t count = s.left;
        if (!count)
            continue;
        if (!make_room(p, count, e) || !trace_reader_take(r, &s, p->list, (uint32_t)count, e))
            return false;
        look_back(p, s.core, count);
        if (!put_section(n, &used, p, count, e))
            return false;
    }
    return more == 0 && write_block(n, chunk, used, e);
}

bool replay_next_make(struct replay_next *n, struct trace_reader *r, const struct replay_geometry *g, enum replay_policy policy, struct error *e)
{
    const struct trace_header *h = &r->header;
    struct pass p = { .lines = calloc(h->cores, sizeof *p.lines), .position = calloc(h->cores, sizeof *p.position), .stores = { h->global_stores, h->local_stores },
                      .line_shift = (uint32_t)(__builtin_ctz(g->line_bytes) - __builtin_ctz(h->line_bytes)), .reads_only = policy == REPLAY_BELADY_READS };
    *n = (struct replay_next){ .fd = open_temporary(e), .offset = calloc(r->chunk_count + 1, sizeof *n->offset), .bytes = calloc(r->chunk_count + 1, sizeof *n->bytes) };
    if (!p.lines || !p.position || !n->offset || !n->bytes)
        abort();
    bool ok = n->fd >= 0;
    for (uint32_t chunk = r->chunk_count; ok && chunk-- > 0;)
        ok = pass_chunk(n, &p, r, chunk, e);
    for (uint32_t i = 0; i < h->cores; i++)
        line_map_free(&p.lines[i]);
    free(p.lines);
    free(p.position);
    free(p.list);
    free(p.ahead);
    return ok;
}

bool replay_next_load(struct replay_next *n, uint32_t chunk, struct error *e)
{
    for (size_t done = 0; done < n->bytes[chunk];) {
        ssize_t got = pread(n->fd, n->block + done, n->bytes[chunk] - done, (off_t)(n->offset[chunk] + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_set(e, ERROR_IO, "the temporary file cannot be read: %s", got ? strerror(errno) : "it became shorter");
        done += (size_t)got;
    }
    n->at = n->end = n->block;
    if (n->bytes[chunk])
        n->end += n->bytes[chunk];
    return true;
}

void replay_next_take(struct replay_next *n, uint64_t *out, uint32_t count)
{
    const uint8_t *at = n->at;
    for (uint32_t i = 0; i < count && at < n->end; i++) {
        uint64_t value = *at & 0x7f;
        for (uint32_t shift = 7; *at++ & 0x80; shift += 7)
            value |= (uint64_t)(*at & 0x7f) << shift;
        out[i] = value;
    }
    n->at = at;
}

void replay_next_free(struct replay_next *n)
{
    if (n->fd >= 0)
        close(n->fd);
    free(n->offset);
    free(n->bytes);
    free(n->block);
    *n = (struct replay_next){ .fd = -1 };
}
