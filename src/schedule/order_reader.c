/* Reads a file of issue orders: see order_reader.h. Nothing in the file is believed: sizes, slots and numbers are
 * checked. */
#include "schedule/order_reader.h"

#include "base/out_of_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { MARK_BYTES = sizeof ISSUE_ORDER_MARK - 1 };

static void *grown(void *list, size_t count, size_t size)
{
    if (count & (count - 1)) /* doubles at powers of two */
        return list;
    list = realloc(list, (count ? 2 * count : 1) * size);
    if (!list)
        out_of_memory();
    return list;
}

static bool damaged(const struct order_file *f, const char *what, struct error *e)
{
    return error_set(e, ERROR_NOT_FOUND, "%s is damaged: %s", f->path, what);
}

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Chunks */

static bool unpack(const struct order_file *f, const struct order_chunk *c, uint8_t *to, struct error *e)
{
    size_t n = ZSTD_decompress(to, c->raw_bytes, f->data + c->at, c->packed_bytes);
    return n == c->raw_bytes || damaged(f, "a chunk cannot be decompressed", e);
}

static bool find_chunks(struct order_file *f, struct error *e)
{
    size_t at = MARK_BYTES;
    while (f->size_bytes - at >= ISSUE_ORDER_CHUNK_HEADER) {
        const uint8_t *h = f->data + at;
        struct order_chunk c = {word(h),      word(h + 4),  word(h + 8),
                                word(h + 12), word(h + 16), at + ISSUE_ORDER_CHUNK_HEADER};
        if (c.kind < ORDER_HEADER || c.kind > ORDER_REASONS || c.raw_bytes > ISSUE_ORDER_RAW_MOST)
            return damaged(f, "no chunk where one should be", e);
        if (c.packed_bytes > f->size_bytes - c.at)
            break;
        f->chunks = grown(f->chunks, f->chunk_count, sizeof *f->chunks);
        f->chunks[f->chunk_count++] = c;
        f->issues += c.issues;
        at = c.at + c.packed_bytes;
    }
    f->cut = at != f->size_bytes;
    return f->chunk_count || damaged(f, "it is empty", e);
}

/* The next line of a text that ends in one; NULL: there is none. */
static char *next_line(char **at)
{
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    *at = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return end ? line : NULL;
}

static bool read_header(struct order_file *f, char *text, struct error *e)
{
    char **const lines[] = {&f->machine, &f->program, &f->scheduler, &f->l1, &f->divergence};
    char *at = text, *first = next_line(&at);
    if (!first || sscanf(first, "%" SCNu32 " %" SCNu32 " %" SCNu32, &f->cores, &f->slots, &f->schedulers) != 3 ||
        !f->cores || f->cores > ISSUE_ORDER_CORES_MOST || f->slots > ISSUE_ORDER_SLOTS)
        return damaged(f, "its header", e);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *line = next_line(&at);
        free(*lines[i]);
        if (!line || !(*lines[i] = strdup(line)))
            return damaged(f, "its header", e);
    }
    return true;
}

static bool read_listing(struct order_file *f, const char *text)
{
    struct order_listing l = {.text = strdup(text)};
    if (!l.text)
        out_of_memory();
    for (char *at = l.text, *line; (line = next_line(&at));) {
        l.lines = grown(l.lines, l.count, sizeof *l.lines);
        l.lines[l.count++] = line;
    }
    f->listings = grown(f->listings, f->listing_count, sizeof *f->listings);
    f->listings[f->listing_count++] = l;
    return true;
}

static bool read_launch(struct order_file *f, char *text, struct error *e)
{
    struct order_launch l = {0};
    char *at = text;
    const char *line = next_line(&at);
    int name = 0;
    if (!line || sscanf(line, "%" SCNu64 " %" SCNu32 " %" SCNu64 " %n", &l.number, &l.listing, &l.cycle, &name) < 3 ||
        !name)
        return damaged(f, "a launch", e);
    l.kernel = strdup(line + name);
    if (!l.kernel)
        out_of_memory();
    f->launches = grown(f->launches, f->launch_count, sizeof *f->launches);
    f->launches[f->launch_count++] = l;
    return true;
}

static bool read_texts(struct order_file *f, struct error *e)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < f->chunk_count; i++) {
        const struct order_chunk *c = &f->chunks[i];
        if (c->kind >= ORDER_ISSUES)
            continue;
        char *text = calloc(1, c->raw_bytes + 1u);
        if (!text)
            out_of_memory();
        ok = unpack(f, c, (uint8_t *)text, e) && (c->kind == ORDER_HEADER    ? read_header(f, text, e)
                                                  : c->kind == ORDER_LISTING ? read_listing(f, text)
                                                                             : read_launch(f, text, e));
        free(text);
    }
    return ok && (f->cores || damaged(f, "it has no header", e));
}

/* The file */

static bool map_file(struct order_file *f, struct error *e)
{
    struct stat s;
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &s) == 0;
    if (ok && s.st_size > 0) {
        void *data = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = data != MAP_FAILED;
        f->data = ok ? data : NULL;
        f->size_bytes = ok ? (size_t)s.st_size : 0;
    }
    if (!ok)
        error_set(e, ERROR_IO, "%s: %s", f->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (ok && (f->size_bytes < MARK_BYTES || memcmp(f->data, ISSUE_ORDER_MARK, MARK_BYTES) != 0)) {
        error_set(e, ERROR_NOT_FOUND, "%s is no issue order", f->path);
        error_note(e, "'heddle run --issue-order FILE PROGRAM' writes them");
        return false;
    }
    return ok;
}

struct order_file *order_open(const char *path, struct error *e)
{
    struct order_file *f = calloc(1, sizeof *f);
    if (!f || !(f->path = strdup(path)))
        out_of_memory();
    if (map_file(f, e) && find_chunks(f, e) && read_texts(f, e))
        return f;
    order_close(f);
    return NULL;
}

void order_close(struct order_file *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < f->listing_count; i++) {
        free(f->listings[i].text);
        free(f->listings[i].lines);
    }
    for (uint32_t i = 0; i < f->launch_count; i++)
        free(f->launches[i].kernel);
    if (f->data)
        munmap((void *)(uintptr_t)f->data, f->size_bytes);
    char *const texts[] = {f->machine, f->program, f->scheduler, f->l1, f->divergence, f->path};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    free(f->listings);
    free(f->launches);
    free(f->chunks);
    free(f);
}

uint64_t order_issues_of(const struct order_file *f, uint32_t core)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->chunk_count; i++)
        sum += f->chunks[i].kind == ORDER_ISSUES && f->chunks[i].core == core ? f->chunks[i].issues : 0;
    return sum;
}

const char *order_text(const struct order_file *f, uint64_t launch, uint32_t pc)
{
    for (uint32_t i = 0; i < f->launch_count; i++)
        if (f->launches[i].number == launch && f->launches[i].listing < f->listing_count &&
            pc < f->listings[f->launches[i].listing].count)
            return f->listings[f->launches[i].listing].lines[pc];
    return "";
}

/* Streams */

struct order_stream *order_stream_open(const struct order_file *f, uint32_t core, enum issue_order_kind kind)
{
    struct order_stream *s = calloc(1, sizeof *s);
    if (!s)
        out_of_memory();
    s->file = f;
    s->core = core;
    s->kind = kind;
    return s;
}

void order_stream_close(struct order_stream *s)
{
    if (!s)
        return;
    free(s->raw);
    free(s);
}

/* True: there are more bytes. */
static bool fill(struct order_stream *s, struct error *e)
{
    const struct order_file *f = s->file;
    while (s->used == s->size) {
        while (s->next_chunk < f->chunk_count &&
               (f->chunks[s->next_chunk].kind != s->kind || f->chunks[s->next_chunk].core != s->core))
            s->next_chunk++;
        if (s->next_chunk == f->chunk_count)
            return false;
        const struct order_chunk *c = &f->chunks[s->next_chunk++];
        if (s->capacity < c->raw_bytes) {
            free(s->raw);
            s->raw = malloc(c->raw_bytes);
            if (!s->raw)
                out_of_memory();
            s->capacity = c->raw_bytes;
        }
        s->used = 0;
        s->size = c->raw_bytes;
        if (!unpack(f, c, s->raw, e))
            return false;
    }
    return true;
}

static bool take_number(struct order_stream *s, uint64_t *out)
{
    *out = 0;
    for (uint32_t shift = 0; s->used < s->size && shift < 64; shift += 7) {
        uint8_t b = s->raw[s->used++];
        *out |= (uint64_t)(b & 127) << shift;
        if (!(b & 128))
            return true;
    }
    return false;
}

static bool take_slot(struct order_stream *s, uint32_t *out)
{
    *out = s->used < s->size ? s->raw[s->used++] : ISSUE_ORDER_SLOTS;
    return *out < ISSUE_ORDER_SLOTS;
}

static bool take_warp(struct order_stream *s, uint32_t slot)
{
    struct order_warp *w = &s->warps[slot];
    uint64_t index;
    if (!take_number(s, &w->launch) || !take_number(s, &w->block) || !take_number(s, &index))
        return false;
    w->index = (uint32_t)index;
    w->known = s->is_new[slot] = true;
    s->next_pc[slot] = 0;
    s->nth[slot] = 0;
    return true;
}

static bool take_issue(struct order_stream *s, uint32_t slot, struct order_issue *out)
{
    uint64_t step;
    if (s->used == s->size)
        return false;
    uint32_t scheduler = s->raw[s->used++];
    if (!take_number(s, &step))
        return false;
    uint32_t pc = s->next_pc[slot] + (uint32_t)(step >> 1 ^ -(step & 1));
    *out = (struct order_issue){.cycle = s->cycle,
                                .slot = slot,
                                .scheduler = scheduler,
                                .pc = pc,
                                .nth = s->nth[slot]++,
                                .warp = s->warps[slot],
                                .is_new = s->is_new[slot]};
    s->next_pc[slot] = pc + 1;
    s->is_new[slot] = false;
    return true;
}

bool order_next_issue(struct order_stream *s, struct order_issue *out, struct error *e)
{
    uint64_t number;
    uint32_t slot;
    while (fill(s, e)) {
        if (!take_number(s, &number) || !take_slot(s, &slot))
            return damaged(s->file, "an issue", e);
        s->cycle += number >> 1;
        if (!(number & 1))
            return take_issue(s, slot, out) || damaged(s->file, "an issue", e);
        if (!take_warp(s, slot))
            return damaged(s->file, "a warp", e);
    }
    return false;
}

bool order_next_change(struct order_stream *s, struct order_change *out, struct error *e)
{
    uint64_t cycles;
    uint32_t slot;
    if (!fill(s, e))
        return false;
    if (!take_number(s, &cycles) || !take_slot(s, &slot) || s->used == s->size)
        return damaged(s->file, "a reason", e);
    s->cycle += cycles;
    *out = (struct order_change){s->cycle, slot, s->raw[s->used++]};
    return true;
}
