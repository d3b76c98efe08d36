/* Two issue orders side by side: see difference.h. Both are read once more or less at the same speed, core by core; of
 * the second, the issues of (a part of) its warps are kept to find the same instruction in it. */
#include "schedule/difference.h"

#include "base/out_of_memory.h"
#include "schedule/warp_issues.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_MOST = 8 << 20 };

static bool is_same(const struct order_issue *a, const struct order_issue *b)
{
    return a->pc == b->pc && a->warp.launch == b->warp.launch && a->warp.block == b->warp.block &&
           a->warp.index == b->warp.index;
}

/* Rows of 10, 20, 50, 100, ... issues, so that there are few of them. */
static void make_rows(struct difference *d)
{
    uint64_t longest = 0, step = 10;
    for (uint32_t i = 0; i < d->core_count; i++)
        for (int k = 0; k < 2; k++)
            longest = d->cores[i].issues[k] > longest ? d->cores[i].issues[k] : longest;
    for (int turn = 0; step * DIFFERENCE_ROWS < longest; turn++)
        step = turn % 3 == 1 ? step / 2 * 5 : step * 2;
    for (uint64_t at = 0; at < longest; at += step)
        d->rows[d->row_count++] =
            (struct difference_row){.first = at, .end = at + step, .least = INT64_MAX, .most = INT64_MIN};
}

static struct difference_row *row_of(struct difference *d, uint64_t number)
{
    return &d->rows[number / d->rows[0].end];
}

static void note_pair(struct difference *d, struct core_difference *c, uint64_t number, const struct order_issue i[2],
                      const bool has[2])
{
    bool same = has[0] && has[1] && is_same(&i[0], &i[1]);
    struct difference_row *row = row_of(d, number);
    row->places++;
    row->same += same;
    if (same && !c->differs) {
        c->common++;
        memcpy(c->last, i, sizeof c->last);
        c->later |= i[0].cycle != i[1].cycle;
        c->same_cycles += !c->later;
    } else if (!c->differs) {
        c->differs = c->later = true;
        memcpy(c->first, i, sizeof c->first);
        memcpy(c->has, has, sizeof c->has);
    }
}

static void note_distance(struct difference *d, const struct warp_issues *other, uint64_t number,
                          const struct order_issue *i)
{
    if (!warp_issues_has(other, &i->warp))
        return;
    const struct warp_issued *found = warp_issues_find(other, &i->warp, i->nth);
    if (!found || found->pc != i->pc) {
        d->lost++;
        return;
    }
    struct difference_row *row = row_of(d, number);
    int64_t cycles = (int64_t)(found->cycle - i->cycle);
    row->pairs++;
    row->sum += (double)cycles;
    row->squares += (double)cycles * (double)cycles;
    row->least = cycles < row->least ? cycles : row->least;
    row->most = cycles > row->most ? cycles : row->most;
}

static bool compare_core(struct difference *d, const struct order_file *const files[2], const struct warp_issues *other,
                         uint32_t core, struct error *e)
{
    struct order_stream *streams[2];
    struct order_issue i[2] = {{0}};
    struct error own = {0};
    bool has[2];
    for (int k = 0; k < 2; k++)
        streams[k] = order_stream_open(files[k], core, ORDER_ISSUES);
    for (uint64_t number = 0;; number++) {
        for (int k = 0; k < 2; k++)
            has[k] = order_next_issue(streams[k], &i[k], &own);
        if ((!has[0] && !has[1]) || own.kind != ERROR_NONE || number >= d->rows[d->row_count - 1].end)
            break;
        note_pair(d, &d->cores[core], number, i, has);
        if (has[0])
            note_distance(d, other, number, &i[0]);
    }
    for (int k = 0; k < 2; k++)
        order_stream_close(streams[k]);
    return own.kind == ERROR_NONE || error_set(e, own.kind, "%s", own.text);
}

static uint64_t cycle_of(const struct core_difference *c)
{
    uint64_t a = c->has[0] ? c->first[0].cycle : UINT64_MAX, b = c->has[1] ? c->first[1].cycle : UINT64_MAX;
    return a < b ? a : b;
}

static void sum_up(struct difference *d)
{
    for (uint32_t i = 0; i < d->core_count; i++) {
        const struct core_difference *c = &d->cores[i];
        if (c->differs && (!d->differing || cycle_of(c) < cycle_of(&d->cores[d->earliest])))
            d->earliest = i;
        d->differing += c->differs;
        d->shifted += c->later && !c->differs;
    }
}

bool difference_find(const struct order_file *a, const struct order_file *b, uint64_t kept_most, struct difference *out,
                     struct error *e)
{
    const struct order_file *const files[2] = {a, b};
    *out = (struct difference){.core_count = a->cores < b->cores ? a->cores : b->cores};
    out->cores = calloc(out->core_count, sizeof *out->cores);
    if (!out->cores)
        out_of_memory();
    for (uint32_t i = 0; i < out->core_count; i++)
        for (int k = 0; k < 2; k++)
            out->cores[i].issues[k] = order_issues_of(files[k], i);
    make_rows(out);
    if (!out->row_count) /* neither has any issue */
        return true;
    struct warp_issues *other = warp_issues_read(b, kept_most ? kept_most : KEPT_MOST, e);
    bool ok = other != NULL;
    for (uint32_t i = 0; ok && i < out->core_count; i++)
        ok = compare_core(out, files, other, i, e);
    out->one_of = ok ? warp_issues_one_of(other) : 1;
    warp_issues_free(other);
    sum_up(out);
    return ok;
}

void difference_free(struct difference *d) { free(d->cores); }
