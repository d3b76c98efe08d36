/* Stack distances in one pass (Mattson et al., 1970), exact, for caches of all sizes at once.
 *
 * Of each core: lines stand in the order of their last use, in slots of which every use takes the next; a Fenwick tree
 * counts the slots in use, so that a line's distance is the number of those after its own. When the slots run out,
 * those in use are moved together.
 *
 * A store that drops its line leaves a gap: a cache that had the line has a free way now. The gap keeps its slot.
 * Whoever comes from below it (or from outside) fills the uppermost gap, in the caches that have it; in larger ones,
 * which had the line that came, its old slot is the gap now. So a use from below a gap empties the gap's slot and
 * leaves its own as a gap.
 *
 * A store that neither drops nor brings lines is counted but does not change the order: there is no single order for
 * all sizes if it does. */
#include "base/out_of_memory.h"
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 2048, SLOTS_LEAST = 4096 };
#define EMPTY LINE_MAP_NEW
#define GAP   (UINT64_MAX - 1)

struct last_use {
    uint64_t line, access;
}; /* of a slot: the line, or EMPTY, or GAP; number of the access */

struct stack {
    struct line_map lines; /* slot of each, or EMPTY */
    struct last_use *slots;
    uint32_t *tree;      /* [i]: slots in use from i - (i & -i) + 1 to i, counted from 1 */
    uint64_t size, next; /* slots; the first that no use has taken */
    uint64_t used;       /* lines and gaps */
    uint64_t *gaps;      /* a heap: the uppermost first */
    uint64_t gap_count, gap_capacity;
    uint64_t clock;
};

static void add(struct stack *s, uint64_t slot, uint32_t n)
{
    for (uint64_t i = slot + 1; i <= s->size; i += i & -i)
        s->tree[i] += n;
    s->used += (uint64_t)(int64_t)(int32_t)n;
}

/* In use up to the slot, it included. */
static uint64_t up_to(const struct stack *s, uint64_t slot)
{
    uint64_t sum = 0;
    for (uint64_t i = slot + 1; i; i &= i - 1)
        sum += s->tree[i];
    return sum;
}

/* Gaps */

static void push_gap(struct stack *s, uint64_t slot)
{
    if (s->gap_count == s->gap_capacity) {
        s->gap_capacity = 2 * s->gap_capacity + 64;
        s->gaps = realloc(s->gaps, s->gap_capacity * sizeof *s->gaps);
        if (!s->gaps)
            out_of_memory();
    }
    uint64_t at = s->gap_count++;
    for (; at && s->gaps[(at - 1) / 2] < slot; at = (at - 1) / 2)
        s->gaps[at] = s->gaps[(at - 1) / 2];
    s->gaps[at] = slot;
}

static void pop_gap(struct stack *s)
{
    uint64_t last = s->gaps[--s->gap_count], at = 0;
    for (uint64_t child; (child = 2 * at + 1) < s->gap_count; at = child) {
        child += child + 1 < s->gap_count && s->gaps[child + 1] > s->gaps[child];
        if (s->gaps[child] <= last)
            break;
        s->gaps[at] = s->gaps[child];
    }
    s->gaps[at] = last;
}

/* Slots */

/* Room for as many uses again as slots are in use, or more. */
static void move_together(struct stack *s)
{
    uint64_t size = SLOTS_LEAST, to = 0;
    while (size < 4 * s->used)
        size *= 2;
    struct last_use *slots = malloc(size * sizeof *slots);
    uint32_t *tree = calloc(size + 1, sizeof *tree);
    if (!slots || !tree)
        out_of_memory();
    s->gap_count = 0;
    for (uint64_t i = 0; i < s->next; i++) {
        if (s->slots[i].line == EMPTY)
            continue;
        slots[to] = s->slots[i];
        if (slots[to].line == GAP)
            push_gap(s, to);
        else
            *line_map_at(&s->lines, slots[to].line) = to;
        to++;
    }
    for (uint64_t i = 1; i <= size; i++) {
        tree[i] += i <= to;
        if (i + (i & -i) <= size)
            tree[i + (i & -i)] += tree[i];
    }
    free(s->slots);
    free(s->tree);
    s->slots = slots;
    s->tree = tree;
    s->size = size;
    s->next = to;
}

static void flush(struct stack *s)
{
    line_map_clear(&s->lines);
    s->next = s->used = s->gap_count = 0;
    if (s->tree)
        memset(s->tree, 0, (s->size + 1) * sizeof *s->tree);
}

/* The line becomes the newest. slot: where it was, or EMPTY. */
static void use(struct stack *s, uint64_t line, uint64_t slot)
{
    bool fills = s->gap_count && (slot == EMPTY || s->gaps[0] > slot);
    uint64_t freed = fills ? s->gaps[0] : slot;
    if (fills)
        pop_gap(s);
    if (fills && slot != EMPTY) {
        s->slots[slot].line = GAP;
        push_gap(s, slot);
    }
    if (freed != EMPTY) {
        s->slots[freed].line = EMPTY;
        add(s, freed, (uint32_t)-1);
    }
    if (s->next == s->size)
        move_together(s);
    s->slots[s->next] = (struct last_use){line, s->clock};
    add(s, s->next, 1);
    *line_map_at(&s->lines, line) = s->next++;
}

static void drop(struct stack *s, uint64_t line, uint64_t slot)
{
    s->slots[slot].line = GAP;
    push_gap(s, slot);
    *line_map_at(&s->lines, line) = EMPTY;
}

/* Counting */

static void count_distance(struct replay_distances *d, uint64_t distance, bool store)
{
    if (distance >= d->length) {
        uint64_t length = 2 * distance + 1024;
        d->reads = realloc(d->reads, length * sizeof *d->reads);
        d->stores = realloc(d->stores, length * sizeof *d->stores);
        if (!d->reads || !d->stores)
            out_of_memory();
        memset(d->reads + d->length, 0, (length - d->length) * sizeof *d->reads);
        memset(d->stores + d->length, 0, (length - d->length) * sizeof *d->stores);
        d->length = length;
    }
    (store ? d->stores : d->reads)[distance]++;
}

static void access_line(struct stack *s, uint64_t line, bool store, struct replay_store does,
                        struct replay_distances *d)
{
    uint64_t slot = *line_map_at(&s->lines, line);
    bool there = slot != EMPTY;
    s->clock++;
    if (!there) {
        *(store ? &d->first_stores : &d->first_reads) += 1;
    } else {
        uint64_t between = s->clock - s->slots[slot].access - 1;
        count_distance(d, s->used - up_to(s, slot), store);
        if (!store)
            d->between[between ? 64 - __builtin_clzll(between) : 0]++;
    }
    if (store && there && does.drops)
        drop(s, line, slot);
    else if (!store || does.takes)
        use(s, line, slot);
}

/* The pass */

struct pass {
    struct pass_core {
        struct stack stack;
        struct line_map seen;
        uint32_t flushes; /* that it has seen */
    } * cores;
    uint32_t *flushes; /* of each chunk */
    struct replay_store stores[2];
    uint32_t line_shift;
    struct replay_distances *counts; /* of each thread */
};

static bool pass_section(const struct trace_reader *r, struct trace_section *section, const struct pass *p,
                         struct pass_core *core, struct replay_distances *d, struct error *e)
{
    struct trace_access list[BATCH];
    while (section->left) {
        uint32_t n = trace_reader_take(r, section, list, BATCH, e);
        if (!n)
            return false;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t line = list[i].line >> p->line_shift;
            line_map_at(&core->seen, line);
            access_line(&core->stack, line, list[i].what & TRACE_STORE, p->stores[(list[i].what & TRACE_LOCAL) != 0],
                        d);
        }
    }
    return true;
}

static bool pass_task(void *context, const struct trace_windows *w, const struct trace_task *t, uint32_t slot,
                      uint32_t *chunk, struct error *e)
{
    struct pass *p = context;
    struct pass_core *core = &p->cores[t->core];
    for (uint32_t i = t->first; i != TRACE_NO_PART; i = w->parts[i].behind) {
        const struct trace_part *part = &w->parts[i].part;
        struct trace_section section;
        *chunk = part->chunk;
        if (core->flushes != p->flushes[*chunk])
            flush(&core->stack);
        core->flushes = p->flushes[*chunk];
        trace_reader_start(w->trace, part, &section);
        if (!pass_section(w->trace, &section, p, core, &p->counts[slot], e))
            return false;
    }
    return true;
}

static void add_up(struct replay_distances *d, const struct replay_distances *n)
{
    for (uint64_t i = 0; i < n->length; i++) {
        d->reads[i] += n->reads[i];
        d->stores[i] += n->stores[i];
    }
    for (uint32_t i = 0; i < 65; i++)
        d->between[i] += n->between[i];
    d->first_reads += n->first_reads;
    d->first_stores += n->first_stores;
}

static bool sum_of(const struct replay_distances *counts, uint32_t threads, struct replay_distances *d)
{
    for (uint32_t i = 0; i < threads; i++)
        d->length = counts[i].length > d->length ? counts[i].length : d->length;
    d->reads = calloc(d->length + 1, sizeof *d->reads);
    d->stores = calloc(d->length + 1, sizeof *d->stores);
    for (uint32_t i = 0; d->reads && d->stores && i < threads; i++)
        add_up(d, &counts[i]);
    return d->reads && d->stores;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool run(struct pass *p, struct trace_windows *w, struct replay_distances *d, struct error *e)
{
    const struct trace_header *h = &w->trace->header;
    p->cores = calloc(h->cores, sizeof *p->cores);
    p->flushes = replay_flushes(w->trace);
    p->counts = calloc(w->threads, sizeof *p->counts);
    bool ok = p->cores && p->flushes && p->counts;
    for (uint32_t i = 0; ok && i < w->count; i++)
        ok = trace_windows_load(w, i, e) && trace_windows_each(w, pass_task, p, e);
    ok = ok && sum_of(p->counts, w->threads, d);
    for (uint32_t i = 0; ok && i < h->cores; i++)
        d->lines += p->cores[i].seen.count;
    return ok;
}

static void free_pass(struct pass *p, uint32_t cores, uint32_t threads)
{
    for (uint32_t i = 0; p->cores && i < cores; i++) {
        line_map_free(&p->cores[i].seen);
        line_map_free(&p->cores[i].stack.lines);
        free(p->cores[i].stack.slots);
        free(p->cores[i].stack.tree);
        free(p->cores[i].stack.gaps);
    }
    for (uint32_t i = 0; p->counts && i < threads; i++)
        replay_distances_free(&p->counts[i]);
    free(p->cores);
    free(p->flushes);
    free(p->counts);
}

bool replay_distances_run(const struct trace_reader *r, uint32_t line_bytes, const struct replay_how *how,
                          struct replay_distances *d, struct error *e)
{
    const struct trace_header *h = &r->header;
    double start = seconds_now();
    *d = (struct replay_distances){.length = 0};
    if (!replay_check(&(struct replay_geometry){1, 1, line_bytes, INDEX_MODULO}, h, e))
        return false;
    struct pass p = {.stores = {replay_store_of(h->global_stores), replay_store_of(h->local_stores)},
                     .line_shift = (uint32_t)(__builtin_ctz(line_bytes) - __builtin_ctz(h->line_bytes))};
    struct trace_windows w;
    bool ok = replay_open(&w, r, how, e) && run(&p, &w, d, e);
    free_pass(&p, h->cores, w.threads);
    trace_windows_close(&w);
    d->seconds = seconds_now() - start;
    if (ok)
        return true;
    replay_distances_free(d);
    return error_set(e, ERROR_NO_MEMORY, "out of memory for stack distances"); /* where nothing else was said */
}

struct replay_counts replay_distances_misses(const struct replay_distances *d, uint64_t lines)
{
    struct replay_counts n = {.reads = d->first_reads,
                              .read_misses = d->first_reads,
                              .stores = d->first_stores,
                              .store_misses = d->first_stores};
    for (uint64_t i = 0; i < d->length; i++) {
        n.reads += d->reads[i];
        n.stores += d->stores[i];
        n.read_misses += i >= lines ? d->reads[i] : 0;
        n.store_misses += i >= lines ? d->stores[i] : 0;
    }
    return n;
}

void replay_distances_free(struct replay_distances *d)
{
    free(d->reads);
    free(d->stores);
    *d = (struct replay_distances){.length = 0};
}
