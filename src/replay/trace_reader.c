/* The reader of traces: see trace_reader.h. The file, its texts and its chunks; accesses are in trace_section.c.
 * Nothing of a file is believed: sizes are bounded, numbers are checked against the header and the listings, and zstd
 * checks its sums. */
#include "replay/trace_reader.h"

#include "base/out_of_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { GROWTH = 64 };

bool trace_reader_damaged(const struct trace_reader *r, uint64_t offset, const char *what, struct error *e)
{
    return error_set(e, ERROR_SYNTAX, "%s is no trace that can be read: %s (at byte %llu)", r->name, what,
                     (unsigned long long)offset);
}

/* Bytes of the file */

static bool read_at(const struct trace_reader *r, uint64_t offset, void *to, size_t bytes, struct error *e)
{
    if (r->fd < 0) {
        if (bytes) /* a chunk that claims no bytes may have no buffer */
            memcpy(to, r->memory + offset, bytes);
        return true;
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(r->fd, (char *)to + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_set(e, ERROR_IO, "%s cannot be read: %s", r->name, n ? strerror(errno) : "it became shorter");
        done += (size_t)n;
    }
    return true;
}

static uint64_t word(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static bool make_room(uint8_t **data, size_t *capacity, size_t bytes, struct error *e)
{
    if (*capacity >= bytes)
        return true;
    uint8_t *more = realloc(*data, bytes);
    if (!more)
        return error_set(e, ERROR_NO_MEMORY, "out of memory for %zu bytes of a trace", bytes);
    *data = more;
    *capacity = bytes;
    return true;
}

static bool unpack(const struct trace_reader *r, struct trace_unpacker *u, const struct trace_chunk *c, uint8_t *to,
                   struct error *e)
{
    uint64_t offset = c->offset + TRACE_CHUNK_HEADER;
    if (!u->zstd && !(u->zstd = ZSTD_createDCtx()))
        return error_set(e, ERROR_NO_MEMORY, "out of memory for unpacking a trace");
    if (!make_room(&u->packed, &u->capacity, c->packed, e) || !read_at(r, offset, u->packed, c->packed, e))
        return false;
    size_t n = ZSTD_decompressDCtx(u->zstd, to, c->raw, u->packed, c->packed);
    if (ZSTD_isError(n) || n != c->raw)
        return trace_reader_damaged(r, offset,
                                    ZSTD_isError(n) ? ZSTD_getErrorName(n) : "a chunk is shorter than it says", e);
    memset(to + n, 0, TRACE_PADDING);
    return true;
}

bool trace_reader_unpack(const struct trace_reader *r, struct trace_unpacker *u, uint32_t chunk, uint8_t *to,
                         struct error *e)
{
    return unpack(r, u, &r->chunks[chunk], to, e);
}

void trace_unpacker_free(struct trace_unpacker *u)
{
    ZSTD_freeDCtx(u->zstd);
    free(u->packed);
    *u = (struct trace_unpacker){.zstd = NULL};
}

/* Chunks of text */

struct text {
    char *at;
};

/* The next line without its end, or NULL. */
static char *next_line(struct text *t)
{
    char *line = t->at, *end = *line ? strchr(line, '\n') : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    t->at = end + 1;
    return line;
}

static char *next_field(char **at)
{
    char *field = *at, *end = field ? strchr(field, '\t') : NULL;
    *at = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return field;
}

static bool number(const char *text, uint64_t most, uint64_t *to)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n > most)
        return false;
    *to = n;
    return true;
}

static bool number32(const char *text, uint64_t most, uint32_t *to)
{
    uint64_t n;
    if (!number(text, most, &n))
        return false;
    *to = (uint32_t)n;
    return true;
}

static bool name_of(const char *text, const char *const *names, uint32_t count, uint32_t *to)
{
    for (*to = 0; *to < count; ++*to)
        if (!strcmp(text, names[*to]))
            return true;
    return false;
}

/* A write rule by its name, or by one of those that version 1 began with. */
static bool write_rule_named(const char *text, enum write_rule_id *to)
{
    static const struct {
        const char *name;
        enum write_rule_id rule;
    } older[] = {{"keep", WRITE_THROUGH}, {"allocate", WRITE_THROUGH_TAKE}};
    for (uint32_t i = 0; i < sizeof older / sizeof *older; i++) {
        *to = older[i].rule;
        if (!strcmp(text, older[i].name))
            return true;
    }
    for (uint32_t i = 0; i < WRITE_RULE_COUNT; i++) {
        *to = (enum write_rule_id)i;
        if (!strcmp(text, write_rules[i].name))
            return true;
    }
    return false;
}

/* "key value": the value, where the key is this one. */
static const char *value_of(const char *line, const char *key)
{
    size_t n = strlen(key);
    return !strncmp(line, key, n) && line[n] == ' ' ? line + n + 1 : NULL;
}

static bool read_header_line(struct trace_header *h, const char *line, uint32_t *version)
{
    const char *v;
    uint32_t choice;
    if ((v = value_of(line, "version")))
        return number32(v, UINT32_MAX, version);
    if ((v = value_of(line, "cores")))
        return number32(v, TRACE_CORES_MOST, &h->cores) && h->cores;
    if ((v = value_of(line, "sets")))
        return number32(v, 1u << 24, &h->sets) && h->sets;
    if ((v = value_of(line, "ways")))
        return number32(v, UINT16_MAX, &h->ways) && h->ways;
    if ((v = value_of(line, "line_bytes")))
        return number32(v, 1u << 16, &h->line_bytes) && h->line_bytes && !(h->line_bytes & (h->line_bytes - 1));
    if ((v = value_of(line, "machine")))
        return snprintf(h->machine, sizeof h->machine, "%s", v) >= 0;
    if ((v = value_of(line, "program")))
        return snprintf(h->program, sizeof h->program, "%s", v) >= 0;
    if ((v = value_of(line, "index"))) {
        bool ok = name_of(v, trace_index_names, INDEX_COUNT, &choice);
        h->index = (enum cache_index)choice;
        return ok;
    }
    if ((v = value_of(line, "global_stores")))
        return write_rule_named(v, &h->global_stores);
    if ((v = value_of(line, "local_stores")))
        return write_rule_named(v, &h->local_stores);
    return true; /* what later versions may add */
}

static bool index_fits(const struct trace_header *h)
{
    bool power = !(h->sets & (h->sets - 1));
    switch (h->index) {
    case INDEX_MODULO: return true;
    case INDEX_FERMI: return h->sets == 32 || h->sets == CACHE_FERMI_SETS;
    case INDEX_HOPPER: return h->sets == CACHE_HOPPER_SETS;
    default: return power && (h->index != INDEX_FOLD || h->sets > 1);
    }
}

static bool read_header(struct trace_reader *r, struct text *t, struct error *e)
{
    uint32_t version = 0;
    for (const char *line; (line = next_line(t));)
        if (!read_header_line(&r->header, line, &version))
            return trace_reader_damaged(r, 0, "a line of the header makes no sense", e);
    if (version != TRACE_VERSION)
        return error_set(e, ERROR_UNSUPPORTED, "%s is a trace of version %u; this program reads version %d", r->name,
                         version, TRACE_VERSION);
    const struct trace_header *h = &r->header;
    if (!h->cores || !h->sets || !h->ways || !h->line_bytes || !index_fits(h))
        return trace_reader_damaged(r, 0, "the header does not describe a cache", e);
    return true;
}

static bool read_listing_line(struct arena *a, struct trace_listing *g, char *line, uint32_t *capacity)
{
    char *at = line, *field[5];
    struct trace_line l;
    for (int i = 0; i < 5; i++)
        if (!(field[i] = next_field(&at)))
            return false;
    if (!number32(field[0], TRACE_PCS_MOST, &l.pc) || l.pc >= g->pc_count || !number32(field[1], UINT32_MAX, &l.line) ||
        (g->line_count && l.pc <= g->lines[g->line_count - 1].pc))
        return false;
    l.function = arena_strndup(a, field[2], strlen(field[2]));
    l.source = arena_strndup(a, field[3], strlen(field[3]));
    l.text = arena_strndup(a, field[4], strlen(field[4]));
    if (g->line_count == *capacity) {
        struct trace_line *more = arena_array(a, struct trace_line, *capacity = 2 * *capacity + 16);
        if (g->line_count)
            memcpy(more, g->lines, g->line_count * sizeof *more);
        g->lines = more;
    }
    g->lines[g->line_count++] = l;
    return true;
}

static bool read_listing(struct trace_reader *r, struct text *t, struct trace_listing *g)
{
    uint32_t number_of = UINT32_MAX, capacity = 0;
    for (char *line; (line = next_line(t));) {
        const char *v;
        if ((v = value_of(line, "listing"))) {
            if (!number32(v, UINT32_MAX, &number_of))
                return false;
        } else if ((v = value_of(line, "pcs"))) {
            if (!number32(v, TRACE_PCS_MOST, &g->pc_count))
                return false;
        } else if ((v = value_of(line, "kernel"))) {
            g->kernel = arena_strndup(&r->arena, v, strlen(v));
        } else if (!read_listing_line(&r->arena, g, line, &capacity)) {
            return false;
        }
    }
    return number_of == r->listing_count && g->kernel;
}

static bool read_kernel(struct trace_reader *r, struct text *t, struct trace_kernel *k)
{
    uint32_t flush = 0, number_of = UINT32_MAX;
    k->listing = UINT32_MAX;
    for (const char *line; (line = next_line(t));) {
        const char *v;
        if (((v = value_of(line, "kernel")) && !number32(v, UINT32_MAX - 1, &number_of)) ||
            ((v = value_of(line, "listing")) && !number32(v, UINT32_MAX - 1, &k->listing)) ||
            ((v = value_of(line, "flush")) && !number32(v, 1, &flush)))
            return false;
    }
    k->flush = flush;
    return number_of == r->kernel_count && k->listing < r->listing_count;
}

static bool read_kernel_end(struct text *t, struct trace_kernel_end *end)
{
    const struct {
        const char *key;
        uint64_t *to;
    } rows[] = {
        {"cycles", &end->cycles},
        {"warp_instructions", &end->warp_instructions},
        {"thread_instructions", &end->thread_instructions},
        {"reads", &end->reads},
        {"read_hits", &end->read_hits},
        {"read_misses", &end->read_misses},
        {"read_pending", &end->read_pending},
        {"stores", &end->stores},
        {"store_hits", &end->store_hits},
    };
    for (const char *line; (line = next_line(t));) {
        const char *v = value_of(line, "partial");
        if (v)
            end->partial = *v == '1';
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if ((v = value_of(line, rows[i].key)) && !number(v, UINT64_MAX >> 16, rows[i].to))
                return false;
    }
    return true;
}

/* The list of chunks */

static void grow(void **list, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return;
    *capacity = 2 * *capacity + GROWTH;
    *list = realloc(*list, *capacity * size);
    if (!*list)
        out_of_memory();
}

static bool read_text(struct trace_reader *r, const struct trace_chunk *c, uint32_t kind, struct error *e)
{
    if (!make_room(&r->text, &r->text_capacity, (size_t)c->raw + TRACE_PADDING, e) ||
        !unpack(r, &r->unpacker, c, r->text, e))
        return false;
    struct text t = {(char *)r->text};
    if (memchr(r->text, 0, c->raw))
        return trace_reader_damaged(r, c->offset, "a text with zeros in it", e);
    if (kind == TRACE_HEADER)
        return read_header(r, &t, e);
    if (kind == TRACE_LISTING) {
        struct trace_listing g = {0};
        if (!read_listing(r, &t, &g))
            return trace_reader_damaged(r, c->offset, "a list of instructions makes no sense", e);
        grow((void **)&r->listings, r->listing_count, &r->listing_capacity, sizeof *r->listings);
        r->listings[r->listing_count++] = g;
        return true;
    }
    if (kind == TRACE_KERNEL) {
        struct trace_kernel k = {0};
        if (!read_kernel(r, &t, &k))
            return trace_reader_damaged(r, c->offset, "the start of a launch makes no sense", e);
        grow((void **)&r->kernels, r->kernel_count, &r->kernel_capacity, sizeof *r->kernels);
        r->kernels[r->kernel_count++] = k;
        return true;
    }
    if (!r->kernel_count || r->kernels[r->kernel_count - 1].ended ||
        !read_kernel_end(&t, &r->kernels[r->kernel_count - 1].end))
        return trace_reader_damaged(r, c->offset, "the end of a launch makes no sense", e);
    r->kernels[r->kernel_count - 1].ended = true;
    return true;
}

static bool note_chunk(struct trace_reader *r, struct trace_chunk *c, uint32_t kind, struct error *e)
{
    if (c->offset == 0 ? kind != TRACE_HEADER : kind == TRACE_HEADER)
        return trace_reader_damaged(r, c->offset, "a header in the wrong place, or none", e);
    if (kind == TRACE_HEADER || kind == TRACE_LISTING || kind == TRACE_KERNEL || kind == TRACE_KERNEL_END)
        return read_text(r, c, kind, e);
    if (kind != TRACE_ACCESSES)
        return true; /* what later versions may add */
    if (!r->kernel_count || c->records > c->raw)
        return trace_reader_damaged(r, c->offset, "accesses that cannot be", e);
    c->kernel = r->kernel_count - 1;
    grow((void **)&r->chunks, r->chunk_count, &r->chunk_capacity, sizeof *r->chunks);
    r->chunks[r->chunk_count++] = *c;
    r->accesses += c->records;
    return true;
}

static bool list_chunks(struct trace_reader *r, struct error *e)
{
    uint8_t head[TRACE_CHUNK_HEADER];
    uint64_t offset = 0;
    while (r->size_bytes - offset >= sizeof head) {
        if (!read_at(r, offset, head, sizeof head, e))
            return false;
        struct trace_chunk c = {.offset = offset,
                                .packed = (uint32_t)word(head + 16, 4),
                                .raw = (uint32_t)word(head + 20, 4),
                                .records = word(head + 24, 8)};
        if (word(head, 4) != TRACE_SKIPPABLE || word(head + 4, 4) != TRACE_CHUNK_HEADER - 8 ||
            word(head + 8, 4) != TRACE_MARK || c.raw > TRACE_RAW_MOST || c.packed > ZSTD_compressBound(c.raw))
            return trace_reader_damaged(r, offset, offset ? "no chunk begins here" : "it does not begin as one", e);
        if (r->size_bytes - offset - sizeof head < c.packed)
            break;
        if (!note_chunk(r, &c, (uint32_t)word(head + 12, 4), e))
            return false;
        offset += sizeof head + c.packed;
    }
    r->truncated = offset < r->size_bytes || (r->kernel_count && !r->kernels[r->kernel_count - 1].ended);
    return offset ? true : trace_reader_damaged(r, 0, "it is too short", e);
}

static bool start(struct trace_reader *r, struct error *e)
{
    if (list_chunks(r, e))
        return true;
    trace_reader_close(r);
    return false;
}

bool trace_reader_open(struct trace_reader *r, const char *path, struct error *e)
{
    struct stat s;
    *r = (struct trace_reader){.name = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (r->fd < 0 || fstat(r->fd, &s) != 0 || S_ISDIR(s.st_mode)) {
        error_set(e, ERROR_IO, "cannot read %s: %s", path,
                  r->fd >= 0 && S_ISDIR(s.st_mode) ? "it is a folder" : strerror(errno));
        if (r->fd >= 0)
            close(r->fd);
        return false;
    }
    r->size_bytes = (uint64_t)s.st_size;
    return start(r, e);
}

bool trace_reader_open_memory(struct trace_reader *r, const void *data, size_t size_bytes, struct error *e)
{
    *r = (struct trace_reader){.name = "the trace", .fd = -1, .memory = data, .size_bytes = size_bytes};
    return start(r, e);
}

void trace_reader_close(struct trace_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    trace_unpacker_free(&r->unpacker);
    arena_free(&r->arena);
    free(r->chunks);
    free(r->kernels);
    free(r->listings);
    free(r->text);
    *r = (struct trace_reader){.fd = -1};
}
