/* Writes the issue order: see issue_order.h. Numbers are written seven bits at a time, the lowest first. */
#include "gpu/issue_order.h"

#include "base/out_of_memory.h"
#include "base/whole_file.h"
#include "gpu/machine.h"
#include "gpu/profile.h"
#include "sm/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { CHUNK_BYTES = 256 << 10, EVENT_MOST = 64, LEVEL = 3 };

struct bytes {
    uint8_t *list;
    size_t used, capacity;
};

struct core_order {
    struct bytes issues, reasons;
    uint32_t issue_count; /* in the buffer */
    uint64_t issue_cycle, reason_cycle;
    uint64_t launch;
    uint64_t told_until; /* the cycle up to which reasons were reported */
    uint32_t next_pc[ISSUE_ORDER_SLOTS];
    uint8_t reason[ISSUE_ORDER_SLOTS];
};

struct issue_order {
    struct whole_file whole;
    FILE *file; /* NULL means closed */
    char *path;
    int trouble; /* errno of the first write that failed */
    struct core_order *cores;
    uint32_t core_count;
    const struct profile_listing **listings;
    uint32_t listing_count;
    struct bytes text, packed;
    ZSTD_CCtx *zstd;
    struct sm_observer observer;
};

/* Bytes */

static void make_room(struct bytes *b, size_t bytes)
{
    if (b->capacity - b->used >= bytes)
        return;
    b->capacity = 2 * b->capacity + bytes;
    b->list = realloc(b->list, b->capacity);
    if (!b->list)
        out_of_memory();
}

static void put_number(struct bytes *b, uint64_t n)
{
    for (; n >= 128; n >>= 7)
        b->list[b->used++] = (uint8_t)(n | 128);
    b->list[b->used++] = (uint8_t)n;
}

static void put_text(struct bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_text(struct bytes *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    make_room(b, (size_t)n + 1);
    vsnprintf((char *)b->list + b->used, (size_t)n + 1, format, again);
    b->used += (size_t)n;
    va_end(args);
    va_end(again);
}

/* Text may hold anything, and stays one line. */
static void put_line(struct bytes *b, const char *text)
{
    size_t from = b->used;
    put_text(b, "%s", text ? text : "");
    for (; from < b->used; from++)
        if (b->list[from] < ' ')
            b->list[from] = ' ';
    put_text(b, "\n");
}

static void put_word(uint8_t *to, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(n >> 8 * i);
}

static void write_chunk(struct issue_order *o, enum issue_order_kind kind, uint32_t core, uint32_t issues,
                        struct bytes *raw)
{
    uint8_t header[ISSUE_ORDER_CHUNK_HEADER];
    size_t bound = ZSTD_compressBound(raw->used);
    o->packed.used = 0;
    make_room(&o->packed, bound);
    size_t bytes = ZSTD_compress2(o->zstd, o->packed.list, o->packed.capacity, raw->list, raw->used);
    if (ZSTD_isError(bytes))
        out_of_memory(); /* there is room for whatever comes */
    const uint32_t words[] = {kind, core, issues, (uint32_t)raw->used, (uint32_t)bytes};
    for (int i = 0; i < 5; i++)
        put_word(header + 4 * i, words[i]);
    if (!o->trouble && (fwrite(header, sizeof header, 1, o->file) != 1 ||
                        fwrite(o->packed.list, 1, bytes, o->file) != bytes || fflush(o->file) != 0))
        o->trouble = errno ? errno : EIO;
    raw->used = 0;
}

/* Events */

static void write_issues(struct issue_order *o, uint32_t core)
{
    struct core_order *c = &o->cores[core];
    if (c->issues.used)
        write_chunk(o, ORDER_ISSUES, core, c->issue_count, &c->issues);
    c->issue_count = 0;
}

static struct bytes *begin_event(struct issue_order *o, uint32_t core, uint64_t cycle, bool warp)
{
    struct core_order *c = &o->cores[core];
    if (c->issues.used >= CHUNK_BYTES)
        write_issues(o, core);
    make_room(&c->issues, EVENT_MOST);
    put_number(&c->issues, (cycle - c->issue_cycle) << 1 | warp);
    c->issue_cycle = cycle;
    return &c->issues;
}

static void on_warp_begin(void *context, uint32_t core, uint32_t warp, uint64_t cycle, uint64_t block_index,
                          uint32_t index)
{
    struct issue_order *o = context;
    if (!o->file)
        return;
    struct bytes *b = begin_event(o, core, cycle, true);
    b->list[b->used++] = (uint8_t)warp;
    put_number(b, o->cores[core].launch);
    put_number(b, block_index);
    put_number(b, index);
    o->cores[core].next_pc[warp] = 0;
}

static void on_issue(void *context, uint32_t core, uint32_t scheduler, uint32_t warp, uint64_t cycle, uint32_t pc,
                     uint32_t lanes)
{
    struct issue_order *o = context;
    (void)lanes;
    if (!o->file)
        return;
    struct core_order *c = &o->cores[core];
    struct bytes *b = begin_event(o, core, cycle, false);
    int64_t step = (int64_t)pc - c->next_pc[warp];
    b->list[b->used++] = (uint8_t)warp;
    b->list[b->used++] = (uint8_t)scheduler;
    put_number(b, (uint64_t)step << 1 ^ (uint64_t)(step >> 63));
    c->next_pc[warp] = pc + 1;
    c->issue_count++;
}

static void put_reason(struct issue_order *o, uint32_t core, uint64_t cycle, uint32_t slot, uint8_t reason)
{
    struct core_order *c = &o->cores[core];
    struct bytes *b = &c->reasons;
    if (b->used >= CHUNK_BYTES)
        write_chunk(o, ORDER_REASONS, core, 0, b);
    make_room(b, EVENT_MOST);
    put_number(b, cycle - c->reason_cycle);
    b->list[b->used++] = (uint8_t)slot;
    b->list[b->used++] = reason;
    c->reason_cycle = cycle;
    c->reason[slot] = reason;
}

/* Marks slots that have no warp any more, from the end of the cycles that were reported. */
static void put_absent(struct issue_order *o, uint32_t core, uint64_t present)
{
    struct core_order *c = &o->cores[core];
    for (uint32_t slot = 0; slot < ISSUE_ORDER_SLOTS; slot++)
        if (c->reason[slot] != ORDER_NO_REASON && !(present >> slot & 1))
            put_reason(o, core, c->told_until, slot, ORDER_NO_REASON);
}

static void on_reasons(void *context, uint32_t core, uint64_t from, uint64_t to, const uint64_t *slots)
{
    struct issue_order *o = context;
    uint64_t present = 0;
    if (!o->file)
        return;
    for (int reason = 0; reason < STALL_COUNT; reason++)
        present |= slots[reason];
    put_absent(o, core, o->cores[core].told_until == from ? present : 0);
    for (uint8_t reason = 0; reason < STALL_COUNT; reason++)
        for (uint64_t left = slots[reason]; left; left &= left - 1) {
            uint32_t slot = (uint32_t)__builtin_ctzll(left);
            if (o->cores[core].reason[slot] != reason)
                put_reason(o, core, from, slot, reason);
        }
    o->cores[core].told_until = to;
}

const struct sm_observer *issue_order_observer(struct issue_order *o) { return &o->observer; }

/* Launches */

static uint32_t listing_number(struct issue_order *o, const struct profile_listing *listing)
{
    for (uint32_t i = 0; i < o->listing_count; i++)
        if (o->listings[i] == listing)
            return i;
    o->listings = realloc(o->listings, (o->listing_count + 1) * sizeof *o->listings);
    if (!o->listings)
        out_of_memory();
    o->listings[o->listing_count] = listing;
    for (uint32_t pc = 0; pc < listing->count; pc++)
        put_line(&o->text, listing->lines[pc].text);
    put_text(&o->text, "\n");
    write_chunk(o, ORDER_LISTING, o->listing_count, 0, &o->text);
    return o->listing_count++;
}

void issue_order_launch(struct issue_order *o, const struct profile_listing *listing, const char *kernel,
                        uint64_t number, uint64_t cycle)
{
    if (!o->file)
        return;
    uint32_t lines = listing_number(o, listing);
    put_text(&o->text, "%" PRIu64 " %u %" PRIu64 " ", number, lines, cycle);
    put_line(&o->text, kernel);
    write_chunk(o, ORDER_LAUNCH, 0, 0, &o->text);
}

void issue_order_core(struct issue_order *o, uint32_t core, uint64_t launch) { o->cores[core].launch = launch; }

/* The file */

struct issue_order *issue_order_open(const char *path, const struct machine *m, const struct issue_order_run *run,
                                     struct error *e)
{
    struct issue_order *o = calloc(1, sizeof *o);
    if (!o || !(o->path = strdup(path)) || !(o->cores = calloc(m->cores, sizeof *o->cores)) ||
        !(o->zstd = ZSTD_createCCtx()))
        out_of_memory();
    o->core_count = m->cores;
    for (uint32_t i = 0; i < m->cores; i++)
        memset(o->cores[i].reason, ORDER_NO_REASON, sizeof o->cores[i].reason);
    ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_checksumFlag, 1);
    o->observer =
        (struct sm_observer){.context = o, .warp_begin = on_warp_begin, .issue = on_issue, .reasons = on_reasons};
    if (!whole_file_open(&o->whole, path)) {
        error_set(e, ERROR_IO, "cannot write the issue order to %s: %s", path, strerror(errno));
        issue_order_destroy(o);
        return NULL;
    }
    o->file = o->whole.file;
    if (fputs(ISSUE_ORDER_MARK, o->file) == EOF)
        o->trouble = errno;
    put_text(&o->text, "%u %u %u\n", m->cores, m->sm.warps, m->sm.schedulers);
    const char *const lines[] = {m->name, run->program, run->scheduler, run->l1, run->divergence};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        put_line(&o->text, lines[i]);
    write_chunk(o, ORDER_HEADER, 0, 0, &o->text);
    return o;
}

bool issue_order_close(struct issue_order *o, struct error *e)
{
    if (o->file) {
        for (uint32_t i = 0; i < o->core_count; i++) {
            put_absent(o, i, 0);
            write_issues(o, i);
            if (o->cores[i].reasons.used)
                write_chunk(o, ORDER_REASONS, i, 0, &o->cores[i].reasons);
        }
        o->file = NULL;
        if (o->trouble)
            whole_file_discard(&o->whole);
        else if (!whole_file_close(&o->whole))
            o->trouble = errno;
    }
    if (o->trouble)
        return error_set(e, ERROR_IO, "the issue order could not be written to %s: %s", o->path, strerror(o->trouble));
    return true;
}

void issue_order_destroy(struct issue_order *o)
{
    if (!o)
        return;
    issue_order_close(o, NULL);
    for (uint32_t i = 0; i < o->core_count; i++) {
        free(o->cores[i].issues.list);
        free(o->cores[i].reasons.list);
    }
    ZSTD_freeCCtx(o->zstd);
    free(o->cores);
    free(o->listings);
    free(o->text.list);
    free(o->packed.list);
    free(o->path);
    free(o);
}
