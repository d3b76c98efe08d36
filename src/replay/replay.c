/* One pass over a trace through a cache for each core. Threads count by themselves; their counts are added up at the
 * end. */
#include "replay/replay.h"

#include <time.h>

enum {
    BATCH = 512,
    APART = 4 /* counts between those of two threads, so that they share no line of the host's caches */,
    WINDOW_BYTES = 8 << 20,
    NEXT_BYTES = 16 << 20
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_power(uint32_t n) { return n && !(n & (n - 1)); }

enum cache_index replay_index(const struct trace_header *h, uint32_t sets)
{
    static const enum set_index kinds[INDEX_COUNT] = {
        [INDEX_FERMI] = SET_INDEX_HASHED,
        [INDEX_FOLD] = SET_INDEX_HASHED,
        [INDEX_MULTIPLIED] = SET_INDEX_MULTIPLIED,
        [INDEX_HOPPER] = SET_INDEX_HASHED,
    };
    struct cache_config c = {.sets = sets, .index = kinds[h->index]};
    return h->index == INDEX_MODULO && is_power(sets) ? INDEX_MODULO : cache_sets_index_kind(&c);
}

bool replay_check(const struct replay_geometry *g, const struct trace_header *h, struct error *e)
{
    if (!is_power(g->line_bytes) || g->line_bytes < h->line_bytes)
        return error_set(e, ERROR_INVALID,
                         "lines of %u bytes: the trace knows which lines of %u bytes were accessed, so that a power of "
                         "two from there on is needed",
                         g->line_bytes, h->line_bytes);
    if (!g->sets || !g->ways)
        return error_set(e, ERROR_INVALID, "a cache needs at least one set and one way");
    if (g->index == INDEX_FERMI && g->sets != 32 && g->sets != 64)
        return error_set(e, ERROR_INVALID, "the index 'fermi' is for 32 or 64 sets, not %u", g->sets);
    if (g->index == INDEX_HOPPER && g->sets != CACHE_HOPPER_SETS)
        return error_set(e, ERROR_INVALID, "the index 'hopper' is for %d sets, not %u", CACHE_HOPPER_SETS, g->sets);
    if (((g->index == INDEX_MASK || g->index == INDEX_MULTIPLIED) && !is_power(g->sets)) ||
        (g->index == INDEX_FOLD && (!is_power(g->sets) || g->sets == 1)))
        return error_set(e, ERROR_INVALID, "the index '%s' needs a power of two of sets%s, not %u",
                         trace_index_names[g->index], g->index == INDEX_FOLD ? " from 2" : "", g->sets);
    return true;
}

uint32_t *replay_flushes(const struct trace_reader *r)
{
    uint32_t *flushes = calloc(r->chunk_count + 1, sizeof *flushes), kernel = 0, count = 0;
    for (uint32_t i = 0; flushes && i < r->chunk_count; i++) {
        bool flush = false;
        for (; kernel <= r->chunks[i].kernel; kernel++)
            flush |= r->kernels[kernel].flush;
        flushes[i] = count += flush;
    }
    return flushes;
}

bool replay_open(struct trace_windows *w, const struct trace_reader *r, const struct replay_how *how, struct error *e)
{
    return trace_windows_open(w, r, how->threads, how->window_bytes ? how->window_bytes : WINDOW_BYTES, e);
}

/* The pass */

struct pass {
    struct replay_core {
        struct replay_cache cache;
        uint32_t flushes; /* that it has seen */
    } * cores;
    struct arena arena;            /* of caches */
    uint32_t *flushes;             /* of each chunk */
    struct replay_counts **counts; /* of each thread: by pc, all listings of the trace one after the other */
    uint64_t *listings;            /* where each begins; after the last: how many there are */
    struct replay_next *next;      /* NULL: nobody wants to know */
};

static bool run_section(const struct trace_reader *r, struct trace_section *s, struct replay_cache *cache,
                        struct replay_next_slot *next, struct replay_counts *counts, struct error *e)
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

static bool run_task(void *context, const struct trace_windows *w, const struct trace_task *t, uint32_t slot,
                     uint32_t *chunk, struct error *e)
{
    struct pass *p = context;
    const struct trace_reader *r = w->trace;
    struct replay_core *core = &p->cores[t->core];
    if (p->next && !replay_next_load(p->next, w, t, slot, e))
        return false;
    for (uint32_t i = t->first; i != TRACE_NO_PART; i = w->parts[i].behind) {
        const struct trace_part *part = &w->parts[i].part;
        struct trace_section section;
        *chunk = part->chunk;
        if (core->flushes != p->flushes[*chunk])
            replay_cache_flush(&core->cache);
        core->flushes = p->flushes[*chunk];
        trace_reader_start(r, part, &section);
        if (!run_section(r, &section, &core->cache, p->next ? &p->next->slots[slot] : NULL,
                         p->counts[slot] + p->listings[r->kernels[r->chunks[*chunk].kernel].listing], e))
            return false;
    }
    return true;
}

static bool run_windows(struct pass *p, struct trace_windows *w, struct error *e)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (!trace_windows_load(w, i, e) || !trace_windows_each(w, run_task, p, e))
            return false;
    return true;
}

static bool run_both(struct pass *p, struct trace_windows *w, const struct replay_geometry *g,
                     enum replay_policy policy, size_t next_bytes, struct replay_result *result, struct error *e)
{
    struct replay_next next = {.fd = -1};
    bool belady = policy >= REPLAY_BELADY;
    double start = seconds_now();
    bool ok = !belady || replay_next_make(&next, w, g, policy, next_bytes, e);
    p->next = belady ? &next : NULL;
    result->backward_seconds = belady ? seconds_now() - start : 0;
    ok = ok && run_windows(p, w, e);
    result->temporary_bytes = next.file_bytes;
    if (belady)
        replay_next_free(&next);
    return ok;
}

static bool make_counts(struct pass *p, const struct trace_reader *r, uint32_t threads)
{
    p->flushes = replay_flushes(r);
    p->counts = calloc(threads, sizeof *p->counts);
    p->listings = calloc(r->listing_count + 1, sizeof *p->listings);
    if (!p->flushes || !p->counts || !p->listings)
        return false;
    for (uint32_t i = 0; i < r->listing_count; i++)
        p->listings[i + 1] = p->listings[i] + r->listings[i].pc_count;
    for (uint32_t i = 0; i < threads; i++)
        if (!(p->counts[i] = calloc(p->listings[r->listing_count] + APART, sizeof **p->counts)))
            return false;
    return true;
}

static bool make_caches(struct pass *p, const struct trace_header *h, const struct replay_geometry *g,
                        enum replay_policy policy)
{
    p->cores = calloc(h->cores, sizeof *p->cores);
    for (uint32_t i = 0; p->cores && i < h->cores; i++)
        replay_cache_init(&p->cores[i].cache, g, h, policy, &p->arena);
    return p->cores;
}

static void free_pass(struct pass *p, uint32_t cores, uint32_t threads)
{
    for (uint32_t i = 0; p->cores && i < cores; i++)
        replay_cache_close(&p->cores[i].cache);
    arena_free(&p->arena);
    for (uint32_t i = 0; p->counts && i < threads; i++)
        free(p->counts[i]);
    free(p->cores);
    free(p->counts);
    free(p->listings);
    free(p->flushes);
}

static void add(struct replay_counts *to, const struct replay_counts *n)
{
    to->reads += n->reads;
    to->read_misses += n->read_misses;
    to->stores += n->stores;
    to->store_misses += n->store_misses;
}

static void add_up(const struct pass *p, uint32_t threads, const struct trace_reader *r, struct replay_result *result)
{
    for (uint32_t i = 0; i < r->listing_count; i++)
        for (uint32_t pc = 0; pc < r->listings[i].pc_count; pc++) {
            for (uint32_t k = 0; k < threads; k++)
                add(&result->pcs[i][pc], &p->counts[k][p->listings[i] + pc]);
            add(&result->total, &result->pcs[i][pc]);
        }
}

static bool make_result(const struct trace_reader *r, struct replay_result *result)
{
    *result = (struct replay_result){.pcs = calloc(r->listing_count + 1, sizeof *result->pcs),
                                     .listing_count = r->listing_count};
    bool ok = result->pcs;
    for (uint32_t i = 0; ok && i < r->listing_count; i++)
        ok = (result->pcs[i] = calloc(r->listings[i].pc_count + 1, sizeof **result->pcs));
    return ok;
}

bool replay_run(const struct trace_reader *r, const struct replay_geometry *g, enum replay_policy policy,
                const struct replay_how *how, struct replay_result *result, struct error *e)
{
    struct trace_windows w = {.threads = 0};
    struct pass p = {.next = NULL};
    double start = seconds_now();
    bool ok = make_result(r, result) && replay_open(&w, r, how, e) && make_counts(&p, r, w.threads);
    ok = ok && replay_check(g, &r->header, e) && make_caches(&p, &r->header, g, policy);
    if (!ok)
        error_set(e, ERROR_NO_MEMORY, "out of memory for a replay"); /* where nothing else was said */
    ok = ok && run_both(&p, &w, g, policy, how->next_bytes ? how->next_bytes : NEXT_BYTES, result, e);
    if (ok)
        add_up(&p, w.threads, r, result);
    free_pass(&p, r->header.cores, w.threads);
    trace_windows_close(&w);
    result->seconds = seconds_now() - start;
    if (!ok)
        replay_result_free(result);
    return ok;
}

void replay_result_free(struct replay_result *result)
{
    for (uint32_t i = 0; result->pcs && i < result->listing_count; i++)
        free(result->pcs[i]);
    free(result->pcs);
    *result = (struct replay_result){.pcs = NULL};
}
