/* A hash table of warps, each with a list of its issues. When there are too many, half of the warps go. */
#include "schedule/warp_issues.h"

#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ISSUES = 32 };

struct row {
    bool used;
    struct order_warp warp;
    struct warp_issued *list;
    uint64_t count, capacity;
};

struct warp_issues {
    struct row *rows;
    uint64_t capacity, used; /* a power of two; rows */
    uint64_t kept, most;     /* issues */
    uint64_t mask;           /* bits of a warp's hash that are 0 if it is kept */
};

static uint64_t hash_of(const struct order_warp *w)
{
    uint64_t h = w->launch * 0x9e3779b97f4a7c15ull ^ w->block * 0xc2b2ae3d27d4eb4full ^ (w->index + 1ull) << 32;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9ull;
    h ^= h >> 32;
    h *= 0x94d049bb133111ebull;
    return h ^ h >> 31;
}

static struct row *place_of(struct row *rows, uint64_t capacity, const struct order_warp *w)
{
    uint64_t i = hash_of(w) >> 20 & (capacity - 1);
    while (rows[i].used &&
           (rows[i].warp.launch != w->launch || rows[i].warp.block != w->block || rows[i].warp.index != w->index))
        i = (i + 1) & (capacity - 1);
    return &rows[i];
}

/* Into a table of this capacity, without those that are not kept any more. */
static void rebuild(struct warp_issues *w, uint64_t capacity)
{
    struct row *rows = calloc(capacity, sizeof *rows);
    if (!rows)
        out_of_memory();
    w->used = w->kept = 0;
    for (uint64_t i = 0; i < w->capacity; i++) {
        struct row *r = &w->rows[i];
        if (r->used && hash_of(&r->warp) & w->mask) {
            free(r->list);
        } else if (r->used) {
            *place_of(rows, capacity, &r->warp) = *r;
            w->used++;
            w->kept += r->count;
        }
    }
    free(w->rows);
    w->rows = rows;
    w->capacity = capacity;
}

static struct row *row_of(struct warp_issues *w, const struct order_warp *warp)
{
    if (2 * w->used >= w->capacity)
        rebuild(w, 2 * w->capacity);
    struct row *r = place_of(w->rows, w->capacity, warp);
    if (!r->used) {
        *r = (struct row){.used = true, .warp = *warp};
        w->used++;
    }
    return r;
}

static void add(struct warp_issues *w, const struct order_issue *i)
{
    if (hash_of(&i->warp) & w->mask)
        return;
    struct row *r = row_of(w, &i->warp);
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : FIRST_ISSUES;
        r->list = realloc(r->list, r->capacity * sizeof *r->list);
        if (!r->list)
            out_of_memory();
    }
    r->list[r->count++] = (struct warp_issued){i->cycle, i->pc};
    if (++w->kept <= w->most)
        return;
    w->mask = w->mask << 1 | 1;
    rebuild(w, w->capacity);
}

struct warp_issues *warp_issues_read(const struct order_file *f, uint64_t most, struct error *e)
{
    struct warp_issues *w = calloc(1, sizeof *w);
    struct error own = {0};
    if (!w || !(w->rows = calloc(1024, sizeof *w->rows)))
        out_of_memory();
    w->capacity = 1024;
    w->most = most;
    for (uint32_t core = 0; core < f->cores && own.kind == ERROR_NONE; core++) {
        struct order_stream *s = order_stream_open(f, core, ORDER_ISSUES);
        struct order_issue i;
        while (order_next_issue(s, &i, &own))
            add(w, &i);
        order_stream_close(s);
    }
    if (own.kind == ERROR_NONE)
        return w;
    warp_issues_free(w);
    error_set(e, own.kind, "%s", own.text);
    return NULL;
}

void warp_issues_free(struct warp_issues *w)
{
    if (!w)
        return;
    for (uint64_t i = 0; i < w->capacity; i++)
        free(w->rows[i].list);
    free(w->rows);
    free(w);
}

uint32_t warp_issues_one_of(const struct warp_issues *w) { return (uint32_t)w->mask + 1; }

bool warp_issues_has(const struct warp_issues *w, const struct order_warp *warp) { return !(hash_of(warp) & w->mask); }

const struct warp_issued *warp_issues_find(const struct warp_issues *w, const struct order_warp *warp, uint64_t nth)
{
    const struct row *r = place_of(w->rows, w->capacity, warp);
    return r->used && nth < r->count ? &r->list[nth] : NULL;
}
