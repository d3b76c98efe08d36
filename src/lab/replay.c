/* One pass over a trace through a cache for each core. */
#include "lab/replay.h"

#include <time.h>

enum { BATCH = 512, KEPT_BYTES = 8 << 20 /* of the trace, for the second pass */, WINDOW_BYTES = 16 << 20 /* of distances */ };

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_power(uint32_t n) { return n && !(n & (n - 1)); }

enum cache_index replay_index(const struct trace_header *h, uint32_t sets)
{
    struct cache_config c = { .sets = sets, .index = h->index == INDEX_FERMI || h->index == INDEX_FOLD ? SET_INDEX_HASHED : SET_INDEX_LINEAR };
    return h->index == INDEX_MODULO && is_power(sets) ? INDEX_MODULO : cache_sets_index_kind(&c);
}

bool replay_check(const struct replay_geometry *g, const struct trace_header *h, struct error *e)
{
    if (!is_power(g->line_bytes) || g->line_bytes < h->line_bytes)
        return error_set(e, ERROR_INVALID, "lines of %u bytes: the trace knows which lines of %u bytes were accessed, so that a power of two from there on is needed", g->line_bytes, h->line_bytes);
    if (!g->sets || !g->ways)
        return error_set(e, ERROR_INVALID, "a cache needs at least one set and one way");
    if (g->index == INDEX_FERMI && g->sets != 32 && g->sets != 64)
        return error_set(e, ERROR_INVALID, "the index 'fermi' is for 32 or 64 sets, not %u", g->sets);
    if ((g->index == INDEX_MASK && !is_power(g->sets)) || (g->index == INDEX_FOLD && (!is_power(g->sets) || g->sets == 1)))
        return error_set(e, ERROR_INVALID, "the index '%s' needs a power of two of sets%s, not %u", trace_index_names[g->index], g->index == INDEX_FOLD ? " from 2" : "", g->sets);
    return true;
}

static bool run_section(struct trace_reader *r, struct trace_section *s, struct replay_cache *cache, struct replay_next *next, struct replay_counts *counts, struct error *e)
{
    struct trace_access list[BATCH];
    uint64_t ahead[BATCH];
    while (s->left) {
        uint32_t n = trace_reader_take(r, s, list, BATCH, e);
        if (!n)
            return false;
        if (next)
            replay_next_take(next, ahead, n);
        replay_cache_run(cache, list, ahead, n, counts);
    }
    return true;
}

static bool run_chunk(struct trace_reader *r, uint32_t chunk, struct replay_cache *caches, struct replay_next *next, struct replay_counts *counts, struct error *e)
{
    struct trace_cursor cursor;
    struct trace_section s;
    int more;
    if (!trace_reader_load(r, chunk, &cursor, e) || (next && !replay_next_load(next, chunk, e)))
        return false;
    while ((more = trace_reader_section(r, &cursor, &s, e)) > 0)
        if (!run_section(r, &s, &caches[s.core], next, counts, e))
            return false;
    return more == 0;
}

static bool run_all(struct trace_reader *r, struct replay_cache *caches, struct replay_next *next, struct replay_result *result, struct error *e)
{
    uint32_t kernel = 0; /* the next that has not begun */
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        bool flush = false;
        for (; kernel <= r->chunks[i].kernel; kernel++)
            flush |= r->kernels[kernel].flush;
        for (uint32_t core = 0; flush && core < r->header.cores; core++)
            replay_cache_flush(&caches[core]);
        if (!run_chunk(r, i, caches, next, result->pcs[r->kernels[kernel - 1].listing], e))
            return false;
    }
    return true;
}

static void add_up(const struct trace_reader *r, struct replay_result *result)
{
    for (uint32_t i = 0; i < r->listing_count; i++)
        for (uint32_t pc = 0; pc < r->listings[i].pc_count; pc++) {
            const struct replay_counts *n = &result->pcs[i][pc];
            result->total.reads += n->reads;
            result->total.read_misses += n->read_misses;
            result->total.stores += n->stores;
            result->total.store_misses += n->store_misses;
        }
}

static bool make_result(const struct trace_reader *r, struct replay_result *result, struct error *e)
{
    *result = (struct replay_result){ .pcs = calloc(r->listing_count + 1, sizeof *result->pcs), .listing_count = r->listing_count };
    bool ok = result->pcs;
    for (uint32_t i = 0; ok && i < r->listing_count; i++)
        ok = (result->pcs[i] = calloc(r->listings[i].pc_count + 1, sizeof **result->pcs));
    return ok ? true : error_set(e, ERROR_NO_MEMORY, "out of memory for the counts of a replay");
}

bool replay_run(struct trace_reader *r, const struct replay_geometry *g, enum replay_policy policy, struct replay_result *result, struct error *e)
{
    struct replay_next next = { .fd = -1 };
    struct replay_cache *caches = calloc(r->header.cores, sizeof *caches);
    double start = seconds_now();
    bool belady = policy >= REPLAY_BELADY, ok = make_result(r, result, e) && caches && replay_check(g, &r->header, e);
    for (uint32_t i = 0; ok && i < r->header.cores; i++)
        ok = replay_cache_init(&caches[i], g, &r->header, policy, e);
    trace_reader_keep(r, belady ? KEPT_BYTES : 0);
    if (ok && belady)
        ok = replay_next_make(&next, r, g, policy, WINDOW_BYTES, e);
    result->backward_seconds = belady ? seconds_now() - start : 0;
    ok = ok && run_all(r, caches, belady ? &next : NULL, result, e);
    result->temporary_bytes = next.size_bytes;
    result->seconds = seconds_now() - start;
    trace_reader_keep(r, 0);
    replay_next_free(&next);
    for (uint32_t i = 0; caches && i < r->header.cores; i++)
        replay_cache_free(&caches[i]);
    free(caches);
    if (ok)
        add_up(r, result);
    else
        replay_result_free(result);
    return ok;
}

void replay_result_free(struct replay_result *result)
{
    for (uint32_t i = 0; result->pcs && i < result->listing_count; i++)
        free(result->pcs[i]);
    free(result->pcs);
    *result = (struct replay_result){ .pcs = NULL };
}
