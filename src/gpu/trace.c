/* Writes the trace of L1D accesses: see trace.h. The fields that an access leaves out are those of the access before it
 * on the same core; the first access of each chunk has all. */
#include "gpu/trace.h"

#include "base/out_of_memory.h"
#include "gpu/counters.h"
#include "gpu/machine.h"
#include "gpu/profile.h"
#include "sm/sm.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { CHUNK_BYTES = 1 << 20, ACCESS_BYTES_MOST = 1 + 10 + 10 + 5 + 3, SECTION_BYTES_MOST = 30, LEVEL = 3 };

const char *const trace_index_names[INDEX_COUNT] = {
    [INDEX_MASK] = "mask", [INDEX_MODULO] = "modulo",         [INDEX_FERMI] = "fermi",
    [INDEX_FOLD] = "fold", [INDEX_MULTIPLIED] = "multiplied", [INDEX_HOPPER] = "hopper"};

struct bytes {
    uint8_t *data;
    size_t used, capacity;
};

struct stream { /* the accesses of a core */
    struct bytes bytes;
    uint64_t count;
    struct trace_access last;
    uint64_t known; /* warps whose age has been written */
    uint64_t ages[TRACE_WARPS];
    struct trace *trace;
};

struct trace {
    FILE *file; /* NULL means closed */
    char *path;
    struct error trouble; /* why the first write failed */
    pthread_mutex_t
        lock; /* guards the file: a process may end, and close it, while a launch goes on in another thread */
    ZSTD_CCtx *zstd;
    struct bytes raw, packed;
    uint32_t line_shift, core_count;
    uint64_t kernels;
    const struct profile_listing **listings; /* listings written so far; the index is the number in the file */
    uint32_t listing_count, listing_capacity;
    struct stream *streams;
};

/* Bytes */

static void make_room(struct bytes *b, size_t more)
{
    if (b->capacity - b->used >= more)
        return;
    b->capacity = 2 * b->capacity + more;
    b->data = realloc(b->data, b->capacity);
    if (!b->data)
        out_of_memory();
}

static inline void put_number(struct bytes *b, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        b->data[b->used++] = (uint8_t)(n | 0x80);
    b->data[b->used++] = (uint8_t)n;
}

static inline uint64_t zigzag(int64_t n) { return (uint64_t)n << 1 ^ (uint64_t)(n >> 63); }

static void put_text(struct bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_text(struct bytes *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    make_room(b, (size_t)n + 1);
    vsnprintf((char *)b->data + b->used, (size_t)n + 1, format, again);
    b->used += (size_t)n;
    va_end(again);
    va_end(args);
}

/* Writes text from outside, in which the marks between fields must not appear. */
static void put_field(struct bytes *b, const char *text, char behind)
{
    size_t n = strlen(text);
    make_room(b, n + 1);
    for (size_t i = 0; i < n; i++)
        b->data[b->used++] = (uint8_t)((unsigned char)text[i] < ' ' ? ' ' : text[i]);
    b->data[b->used++] = (uint8_t)behind;
}

/* Chunks */

static void put_word(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Writes t->raw as a chunk of the file, and empties it. */
static bool write_chunk(struct trace *t, enum trace_kind kind, uint64_t records, struct error *e)
{
    size_t bound = ZSTD_compressBound(t->raw.used);
    t->packed.used = 0;
    make_room(&t->packed, TRACE_CHUNK_HEADER + bound);
    uint8_t *head = t->packed.data;
    size_t packed = ZSTD_compress2(t->zstd, head + TRACE_CHUNK_HEADER, bound, t->raw.data, t->raw.used);
    if (ZSTD_isError(packed))
        out_of_memory(); /* there is room for whatever comes */
    put_word(head, TRACE_SKIPPABLE, 4);
    put_word(head + 4, TRACE_CHUNK_HEADER - 8, 4);
    put_word(head + 8, TRACE_MARK, 4);
    put_word(head + 12, kind, 4);
    put_word(head + 16, packed, 4);
    put_word(head + 20, t->raw.used, 4);
    put_word(head + 24, records, 8);
    t->raw.used = 0;
    pthread_mutex_lock(&t->lock);
    size_t size = TRACE_CHUNK_HEADER + packed;
    if (t->file && t->trouble.kind == ERROR_NONE && (fwrite(head, 1, size, t->file) != size || fflush(t->file) != 0))
        error_set(&t->trouble, ERROR_IO, "the trace could not be written to %s: %s", t->path, strerror(errno));
    bool ok = t->trouble.kind == ERROR_NONE;
    pthread_mutex_unlock(&t->lock);
    return ok ? true : error_set(e, t->trouble.kind, "%s", t->trouble.text);
}

/* Each core's accesses: core, number of accesses, number of bytes, the bytes. */
static bool write_streams(struct trace *t, struct error *e)
{
    uint64_t records = 0;
    bool ok = true;
    for (uint32_t i = 0; i < t->core_count; i++) {
        struct stream *s = &t->streams[i];
        if (s->count) {
            make_room(&t->raw, SECTION_BYTES_MOST + s->bytes.used);
            put_number(&t->raw, i);
            put_number(&t->raw, s->count);
            put_number(&t->raw, s->bytes.used);
            memcpy(t->raw.data + t->raw.used, s->bytes.data, s->bytes.used);
            t->raw.used += s->bytes.used;
            records += s->count;
            *s = (struct stream){.bytes = {s->bytes.data, 0, s->bytes.capacity}, .trace = t};
        }
        if (t->raw.used && (t->raw.used >= CHUNK_BYTES || i + 1 == t->core_count)) {
            ok = write_chunk(t, TRACE_ACCESSES, records, e) && ok;
            records = 0;
        }
    }
    return ok;
}

/* Accesses */

void trace_put(struct trace *t, uint32_t core, const struct trace_access *a)
{
    struct stream *s = &t->streams[core];
    uint64_t bit = (uint64_t)1 << a->warp;
    make_room(&s->bytes, ACCESS_BYTES_MOST);
    uint8_t *head = &s->bytes.data[s->bytes.used++];
    *head = a->what & TRACE_WHAT;
    if (a->warp != s->last.warp) {
        *head |= TRACE_NEW_WARP;
        put_number(&s->bytes, a->warp);
    }
    if (!(s->known & bit) || s->ages[a->warp] != a->age) {
        *head |= TRACE_NEW_AGE;
        put_number(&s->bytes, a->age);
        s->known |= bit;
        s->ages[a->warp] = a->age;
    }
    if (a->pc != s->last.pc) {
        *head |= TRACE_NEW_PC;
        put_number(&s->bytes, zigzag((int64_t)a->pc - (int64_t)s->last.pc));
    }
    if (a->line == s->last.line + 1)
        *head |= TRACE_NEXT_LINE;
    else
        put_number(&s->bytes, zigzag((int64_t)(a->line - s->last.line)));
    s->last = *a;
    s->count++;
}

static void on_l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct stream *s = state;
    struct trace *t = s->trace;
    if (e->outcome == HEDDLE_FAIL)
        return;
    trace_put(t, core->id,
              &(struct trace_access){.line = e->address >> t->line_shift,
                                     .age = core->warp[e->warp].age,
                                     .pc = e->pc,
                                     .warp = (uint16_t)e->warp,
                                     .what = (uint8_t)((unsigned)e->outcome | (e->store ? TRACE_STORE : 0u) |
                                                       (e->local ? TRACE_LOCAL : 0u))});
}

static const struct heddle_policy listener = {.name = "trace", .on = {.l1_access = on_l1_access}};

void trace_listen(struct trace *t, struct sm *core) { sm_listen(core, &listener, &t->streams[sm_id(core)]); }

/* Launches */

static bool is_listed(const struct heddle_program *p, uint32_t pc)
{
    return p->instructions[pc].flags & (HEDDLE_LOAD | HEDDLE_STORE);
}

/* The instructions that may be in the trace, once for each kernel: pc, line, function, source, text. */
static bool write_listing(struct trace *t, const struct profile_listing *listing, const struct heddle_program *program,
                          uint32_t *number, struct error *e)
{
    for (*number = 0; *number < t->listing_count; ++*number)
        if (t->listings[*number] == listing)
            return true;
    if (t->listing_count == t->listing_capacity) {
        t->listing_capacity = 2 * t->listing_capacity + 8;
        t->listings = realloc(t->listings, t->listing_capacity * sizeof *t->listings);
        if (!t->listings)
            out_of_memory();
    }
    t->listings[t->listing_count++] = listing;
    put_text(&t->raw, "listing %u\npcs %u\nkernel ", *number, program->instruction_count);
    put_field(&t->raw, program->kernel, '\n');
    for (uint32_t pc = 0; pc < program->instruction_count; pc++) {
        const struct profile_line *l = listing && pc < listing->count ? &listing->lines[pc] : NULL;
        if (!l || !is_listed(program, pc))
            continue;
        put_text(&t->raw, "%u\t%u\t", pc, l->line);
        put_field(&t->raw, l->function ? l->function : "", '\t');
        put_field(&t->raw, l->source ? l->source : "", '\t');
        put_field(&t->raw, l->text, '\n');
    }
    return write_chunk(t, TRACE_LISTING, 0, e);
}

bool trace_kernel(struct trace *t, const struct profile_listing *listing, const struct heddle_program *program,
                  bool flush, struct error *e)
{
    uint32_t number;
    if (program->instruction_count > TRACE_PCS_MOST)
        return error_set(e, ERROR_UNSUPPORTED, "kernel %s has %u instructions; a trace has room for %d",
                         program->kernel, program->instruction_count, TRACE_PCS_MOST);
    if (!write_listing(t, listing, program, &number, e))
        return false;
    put_text(&t->raw, "kernel %" PRIu64 "\nlisting %u\nflush %d\n", t->kernels++, number, flush);
    return write_chunk(t, TRACE_KERNEL, 0, e);
}

bool trace_gather(struct trace *t, struct error *e)
{
    size_t used = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        used += t->streams[i].bytes.used;
    return used < CHUNK_BYTES || write_streams(t, e);
}

struct trace_kernel_end trace_end_of(const struct gpu_counters *c, bool partial)
{
    const struct cache_counters *d = &c->sm.l1d;
    struct trace_kernel_end end = {.partial = partial,
                                   .cycles = c->cycles,
                                   .reads = d->reads,
                                   .read_hits = d->hits - d->write_hits,
                                   .read_misses = d->misses - d->write_misses,
                                   .read_pending = d->pending_hits,
                                   .stores = d->writes,
                                   .store_hits = d->write_hits};
    for (uint64_t lanes = 0; lanes <= WARP_LANES; lanes++) {
        end.warp_instructions += c->exec.lanes[lanes];
        end.thread_instructions += c->exec.lanes[lanes] * lanes;
    }
    return end;
}

bool trace_kernel_end(struct trace *t, const struct trace_kernel_end *end, struct error *e)
{
    if (!write_streams(t, e))
        return false;
    put_text(&t->raw,
             "partial %d\ncycles %" PRIu64 "\nwarp_instructions %" PRIu64 "\nthread_instructions %" PRIu64 "\n",
             end->partial, end->cycles, end->warp_instructions, end->thread_instructions);
    put_text(&t->raw,
             "reads %" PRIu64 "\nread_hits %" PRIu64 "\nread_misses %" PRIu64 "\nread_pending %" PRIu64
             "\nstores %" PRIu64 "\nstore_hits %" PRIu64 "\n",
             end->reads, end->read_hits, end->read_misses, end->read_pending, end->stores, end->store_hits);
    return write_chunk(t, TRACE_KERNEL_END, 0, e);
}

/* The file */

static enum write_rule_id stores_of(const struct cache_config *c, bool local)
{
    return (enum write_rule_id)(write_rule_of(c, local) - write_rules);
}

struct trace_header trace_header_of(const struct machine *m, const char *program)
{
    const struct cache_config *c = &m->sm.l1d;
    struct trace_header h = {.cores = m->cores,
                             .sets = c->sets,
                             .ways = c->ways,
                             .line_bytes = c->line_bytes,
                             .index = cache_sets_index_kind(c),
                             .global_stores = stores_of(c, false),
                             .local_stores = stores_of(c, true)};
    snprintf(h.machine, sizeof h.machine, "%s", m->name);
    snprintf(h.program, sizeof h.program, "%s", program);
    return h;
}

static bool write_header(struct trace *t, const struct trace_header *h, struct error *e)
{
    put_text(&t->raw,
             "version %d\ncores %u\nsets %u\nways %u\nline_bytes %u\nindex %s\nglobal_stores %s\nlocal_stores %s\n",
             TRACE_VERSION, h->cores, h->sets, h->ways, h->line_bytes, trace_index_names[h->index],
             write_rules[h->global_stores].name, write_rules[h->local_stores].name);
    put_text(&t->raw, "machine ");
    put_field(&t->raw, h->machine, '\n');
    put_text(&t->raw, "program ");
    put_field(&t->raw, h->program, '\n');
    return write_chunk(t, TRACE_HEADER, 0, e);
}

struct trace *trace_open(const char *path, const struct trace_header *h, struct error *e)
{
    if (!h->sets) {
        error_set(e, ERROR_INVALID, "machine %s has no L1 data cache to trace", h->machine);
        return NULL;
    }
    FILE *file = fopen(path, "we");
    if (!file) {
        error_set(e, ERROR_IO, "cannot write the trace to %s: %s", path, strerror(errno));
        return NULL;
    }
    struct trace *t = calloc(1, sizeof *t);
    if (!t)
        out_of_memory();
    *t = (struct trace){.file = file,
                        .path = strdup(path),
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .zstd = ZSTD_createCCtx(),
                        .line_shift = (uint32_t)__builtin_ctz(h->line_bytes),
                        .core_count = h->cores,
                        .streams = calloc(h->cores, sizeof *t->streams)};
    if (!t->path || !t->zstd || !t->streams)
        out_of_memory();
    for (uint32_t i = 0; i < h->cores; i++)
        t->streams[i].trace = t;
    ZSTD_CCtx_setParameter(t->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(t->zstd, ZSTD_c_checksumFlag, 1);
    if (write_header(t, h, e))
        return t;
    trace_destroy(t);
    return NULL;
}

bool trace_close(struct trace *t, struct error *e)
{
    pthread_mutex_lock(&t->lock);
    FILE *file = t->file;
    t->file = NULL;
    if (file && fclose(file) != 0)
        error_set(&t->trouble, ERROR_IO, "the trace could not be written to %s: %s", t->path, strerror(errno));
    pthread_mutex_unlock(&t->lock);
    return t->trouble.kind == ERROR_NONE ? true : error_set(e, t->trouble.kind, "%s", t->trouble.text);
}

void trace_destroy(struct trace *t)
{
    if (!t)
        return;
    trace_close(t, NULL);
    for (uint32_t i = 0; i < t->core_count; i++)
        free(t->streams[i].bytes.data);
    ZSTD_freeCCtx(t->zstd);
    pthread_mutex_destroy(&t->lock);
    free(t->raw.data);
    free(t->packed.data);
    free(t->listings);
    free(t->streams);
    free(t->path);
    free(t);
}
