/* Writes the rows of warps: see warps.h. */
#include "gpu/warps.h"

#include "base/out_of_memory.h"
#include "base/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { CHUNK_BYTES = 1 << 20, ROW_BYTES_MOST = 24 * (10 + STALL_COUNT), LEVEL = 3 };

struct warps_launch {
    struct warps_launch *next;
    char *kernel;
    bool unreported, ended;
    struct warp_row *rows;
    size_t count, capacity;
};

struct warps {
    struct whole_file whole;
    FILE *file; /* NULL means closed */
    char *path;
    int trouble;          /* errno of the first write that failed */
    pthread_mutex_t lock; /* a process may end, and close the file, while a launch goes on in another thread */
    ZSTD_CCtx *zstd;      /* NULL means not compressed */
    char *text;           /* rows that are not in the file yet */
    size_t used, capacity;
    char *packed;
    struct warps_launch *first, **end; /* launches that were started and are not in the file, in order */
    uint64_t number;                   /* the number of the first launch */
};

/* The file */

static char *room_for(struct warps *w, size_t bytes)
{
    if (w->capacity - w->used < bytes) {
        w->capacity = 2 * w->capacity + bytes;
        w->text = realloc(w->text, w->capacity);
        if (!w->text)
            out_of_memory();
    }
    return w->text + w->used;
}

static void put_header(struct warps *w)
{
    char *to = room_for(w, 1000), *at = to;
    at += sprintf(at, "launch,kernel,block,warp,core,slot,begin,end,partial,warp_instructions,thread_instructions");
    for (int i = 0; i < STALL_COUNT; i++)
        at += sprintf(at, ",%s", stall_names[i]);
    *at++ = '\n';
    w->used += (size_t)(at - to);
}

/* Writes the rows so far into the file: frames of zstd, one after another, read like one. */
static void write_text(struct warps *w)
{
    const char *from = w->text;
    size_t bytes = w->used;
    if (w->zstd && bytes) {
        size_t bound = ZSTD_compressBound(bytes);
        w->packed = realloc(w->packed, bound);
        if (!w->packed)
            out_of_memory();
        from = w->packed;
        bytes = ZSTD_compress2(w->zstd, w->packed, bound, w->text, w->used);
        if (ZSTD_isError(bytes))
            out_of_memory(); /* there is room for whatever comes */
    }
    if (!w->trouble && bytes && (fwrite(from, 1, bytes, w->file) != bytes || fflush(w->file) != 0))
        w->trouble = errno ? errno : EIO;
    w->used = 0;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

struct warps *warps_open(const char *path, struct error *e)
{
    struct warps *w = calloc(1, sizeof *w);
    if (!w || !(w->path = strdup(path)))
        out_of_memory();
    pthread_mutex_init(&w->lock, NULL);
    w->end = &w->first;
    if (whole_file_open(&w->whole, path)) {
        w->file = w->whole.file;
    } else {
        error_set(e, ERROR_IO, "cannot write the warps to %s: %s", path, strerror(errno));
        warps_destroy(w);
        return NULL;
    }
    if (!ends_in(path, ".csv")) {
        w->zstd = ZSTD_createCCtx();
        if (!w->zstd)
            out_of_memory();
        ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
    }
    put_header(w);
    return w;
}

/* Launches */

struct warps_launch *warps_launch(struct warps *w, const char *kernel, bool unreported)
{
    struct warps_launch *l = calloc(1, sizeof *l);
    if (!l || !(l->kernel = strdup(kernel)))
        out_of_memory();
    l->unreported = unreported;
    for (char *at = l->kernel; *at; at++) /* names are identifiers; whatever else comes may not break the file */
        if (*at < ' ' || *at > '~' || *at == ',' || *at == '"')
            *at = '?';
    pthread_mutex_lock(&w->lock);
    *w->end = l;
    w->end = &l->next;
    pthread_mutex_unlock(&w->lock);
    return l;
}

void warps_take(struct warps_launch *l, struct warp_log *log, uint64_t start)
{
    if (l->capacity - l->count < log->count) {
        l->capacity = 2 * l->capacity + log->count;
        l->rows = realloc(l->rows, l->capacity * sizeof *l->rows);
        if (!l->rows)
            out_of_memory();
    }
    for (size_t i = 0; i < log->count; i++) {
        struct warp_row *row = &l->rows[l->count++];
        *row = log->rows[i];
        row->begin -= start;
        row->end -= start;
    }
    warp_log_free(log);
}

static int by_block_and_warp(const void *first, const void *second)
{
    const struct warp_row *a = first, *b = second;
    return a->block != b->block ? (a->block > b->block) - (a->block < b->block)
                                : (a->warp > b->warp) - (a->warp < b->warp);
}

static void put_rows(struct warps *w, const struct warps_launch *l)
{
    size_t name_bytes = strlen(l->kernel);
    for (size_t i = 0; i < l->count; i++) {
        const struct warp_row *r = &l->rows[i];
        char *to = room_for(w, ROW_BYTES_MOST + name_bytes), *at = to;
        at += sprintf(at, "%" PRIu64 ",%s,%" PRIu64 ",%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%d,%" PRIu64 ",%" PRIu64,
                      w->number, l->kernel, r->block, r->warp, r->core, r->slot, r->begin, r->end, r->partial,
                      r->warp_instructions, r->thread_instructions);
        for (int k = 0; k < STALL_COUNT; k++)
            at += sprintf(at, ",%" PRIu64, r->stalls[k]);
        *at++ = '\n';
        w->used += (size_t)(at - to);
        if (w->used >= CHUNK_BYTES)
            write_text(w);
    }
}

/* Writes the rows of the first launch, as far as they are wanted, and takes it out of the list. */
static void write_first(struct warps *w)
{
    struct warps_launch *l = w->first;
    if (w->file && !l->unreported) {
        put_rows(w, l);
        w->number++;
    }
    w->first = l->next;
    if (!w->first)
        w->end = &w->first;
    free(l->rows);
    free(l->kernel);
    free(l);
}

void warps_end(struct warps *w, struct warps_launch *l)
{
    if (l->count)
        qsort(l->rows, l->count, sizeof *l->rows, by_block_and_warp);
    pthread_mutex_lock(&w->lock);
    l->ended = true;
    while (w->first && w->first->ended)
        write_first(w);
    pthread_mutex_unlock(&w->lock);
}

void warps_forget(struct warps *w)
{
    pthread_mutex_lock(&w->lock);
    for (struct warps_launch *l = w->first; l; l = l->next)
        l->unreported = true;
    if (w->file && !w->trouble && (fflush(w->file) != 0 || ftruncate(fileno(w->file), 0) != 0))
        w->trouble = errno;
    if (w->file)
        rewind(w->file);
    w->used = 0;
    w->number = 0;
    put_header(w);
    pthread_mutex_unlock(&w->lock);
}

/* The end */

/* Launches that still run have a number, and no rows. */
static void write_ended(struct warps *w)
{
    for (const struct warps_launch *l = w->first; l; l = l->next) {
        if (l->ended && !l->unreported)
            put_rows(w, l);
        w->number += !l->unreported;
    }
}

bool warps_close(struct warps *w, struct error *e)
{
    pthread_mutex_lock(&w->lock);
    FILE *file = w->file;
    if (file) {
        write_ended(w);
        write_text(w);
        w->file = NULL;
        if (w->trouble)
            whole_file_discard(&w->whole);
        else if (!whole_file_close(&w->whole))
            w->trouble = errno;
    }
    pthread_mutex_unlock(&w->lock);
    if (w->trouble)
        return error_set(e, ERROR_IO, "the warps could not be written to %s: %s", w->path, strerror(w->trouble));
    return true;
}

void warps_destroy(struct warps *w)
{
    if (!w)
        return;
    warps_close(w, NULL);
    pthread_mutex_destroy(&w->lock);
    while (w->first)
        write_first(w);
    ZSTD_freeCCtx(w->zstd);
    free(w->text);
    free(w->packed);
    free(w->path);
    free(w);
}
