/* Traces made by a test, and the slow and obvious replay of them to compare the real one with. */
#ifndef HEDDLE_TESTS_REPLAY_PLAIN_H
#define HEDDLE_TESTS_REPLAY_PLAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heddle/policy.h"
#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CORES = 3, MOST = 4000, PCS = 40, LINES_MOST = 512 };

/* A trace as the test knows it. */
struct item {
    uint32_t kernel, core;
    struct trace_access a;
};
struct made {
    struct trace_header header;
    struct item *items;
    uint32_t count;
    uint32_t kernels;
    bool keeps; /* launches find the caches as they were */
    char path[64];
};

static uint64_t seed = 1;
static inline uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static inline struct trace_header header(uint32_t sets, uint32_t ways)
{
    return (struct trace_header){.machine = "test",
                                 .program = "a program",
                                 .cores = CORES,
                                 .sets = sets,
                                 .ways = ways,
                                 .line_bytes = 128,
                                 .index = INDEX_MODULO,
                                 .global_stores = WRITE_THROUGH_EVICT,
                                 .local_stores = WRITE_THROUGH};
}

static inline void check(bool ok, const struct error *e)
{
    if (!ok)
        fail_msg("%s", e->text);
}

/* Writes the items in their order, with a chance to gather after each. */
static inline void write_items(struct made *m)
{
    static struct heddle_instruction instructions[PCS];
    struct heddle_program program = {.kernel = "k", .instructions = instructions, .instruction_count = PCS};
    struct error e = {0};
    strcpy(m->path, "/tmp/heddle-trace-XXXXXX");
    close(mkstemp(m->path));
    struct trace *t = trace_open(m->path, &m->header, &e);
    check(t, &e);
    uint32_t at = 0;
    for (uint32_t k = 0; k < m->kernels; k++) {
        check(trace_kernel(t, NULL, &program, !m->keeps, &e), &e);
        for (; at < m->count && m->items[at].kernel == k; at++) {
            trace_put(t, m->items[at].core, &m->items[at].a);
            check(trace_gather(t, &e), &e);
        }
        struct trace_kernel_end end = {.cycles = k + 1,
                                       .warp_instructions = 100,
                                       .thread_instructions = 3200,
                                       .reads = 7,
                                       .stores = 5,
                                       .store_hits = 2};
        check(trace_kernel_end(t, &end, &e), &e);
    }
    check(trace_close(t, &e), &e);
    trace_destroy(t);
}

/* lines: distinct ones; store_percent, local_percent: of the accesses. Some runs of neighbouring lines, some hops. */
static inline struct made make(struct trace_header h, uint32_t count, uint32_t kernels, uint32_t lines,
                               uint32_t store_percent, uint32_t local_percent)
{
    struct made m = {.header = h, .items = calloc(count + 1, sizeof *m.items), .count = count, .kernels = kernels};
    uint64_t line = 0;
    for (uint32_t i = 0; i < count; i++) {
        line = random_below(3) ? random_below(lines) : (line + 1) % lines;
        bool store = random_below(100) < store_percent, local = random_below(100) < local_percent;
        m.items[i] = (struct item){
            .kernel = (uint32_t)((uint64_t)i * kernels / count),
            .core = random_below(h.cores),
            .a = {.line = line,
                  .age = random_below(5) + i / 100,
                  .pc = random_below(PCS),
                  .warp = (uint16_t)random_below(TRACE_WARPS),
                  .what = (uint8_t)(random_below(3) | (store ? TRACE_STORE : 0u) | (local ? TRACE_LOCAL : 0u))}};
    }
    write_items(&m);
    return m;
}

static inline void discard(struct made *m)
{
    unlink(m->path);
    free(m->items);
}

static inline struct trace_reader opened(const struct made *m)
{
    struct trace_reader r;
    struct error e = {0};
    check(trace_reader_open(&r, m->path, &e), &e);
    return r;
}

static const struct replay_how alone = {.threads = 1};

static inline struct replay_counts replayed(const struct made *m, struct replay_geometry g, enum replay_policy policy)
{
    struct trace_reader r = opened(m);
    struct replay_result result;
    struct error e = {0};
    check(replay_run(&r, &g, policy, &alone, &result, &e), &e);
    struct replay_counts n = result.total;
    replay_result_free(&result);
    trace_reader_close(&r);
    return n;
}

static inline uint64_t misses(struct replay_counts n) { return n.read_misses + n.store_misses; }

/* Of each access the distance to the core's next of the same line, or, for reads alone, what of it counts; 0: none. */
static inline uint64_t plain_next(const struct made *m, uint32_t at, bool reads_only)
{
    uint64_t passed = 0;
    for (uint32_t i = at + 1; i < m->count; i++) {
        const struct trace_access *a = &m->items[i].a;
        if (m->items[i].core != m->items[at].core)
            continue;
        passed++;
        if (a->line != m->items[at].a.line)
            continue;
        if (!reads_only || !(a->what & TRACE_STORE))
            return passed;
        if ((a->what & TRACE_LOCAL ? m->header.local_stores : m->header.global_stores) != WRITE_THROUGH)
            return 0;
    }
    return 0;
}

/* Of each core, `count` apart. */
static inline uint64_t *plain_nexts(const struct made *m, bool reads_only)
{
    uint64_t *out = calloc(CORES * m->count, sizeof *out), used[CORES] = {0};
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t core = m->items[i].core;
        out[core * m->count + used[core]++] = plain_next(m, i, reads_only);
    }
    return out;
}

enum { WAYS_MOST = 80, CURVE_MOST = 64 };
struct plain_line {
    uint64_t line, used, put, next; /* UINT64_MAX: never */
    int distance;
};
struct plain_set {
    struct plain_line lines[WAYS_MOST];
    uint32_t count;
}; /* without order; ways have numbers for SRRIP */

static inline uint32_t plain_index(const struct replay_geometry *g, uint64_t line)
{
    uint64_t folded = 0, address = line * g->line_bytes;
    switch (g->index) {
    case INDEX_FOLD:
        for (uint64_t rest = line; rest; rest /= g->sets)
            folded ^= rest % g->sets;
        return (uint32_t)folded;
    case INDEX_FERMI:
        return (uint32_t)(line % 32 ^ (address >> 13 & 7) ^ (address >> 17 & 1) << 3 ^ (address >> 19 & 1) << 4);
    case INDEX_HOPPER: /* bit by bit: the parity of these bits */
        for (uint32_t bit = 0; bit < 9; bit++) {
            static const uint64_t of[] = {0xe9184, 0x16b748, 0x18a938, 0x1addb0, 0x13aec8,
                                          0xde5d4, 0x7ff14,  0xf7ab5,  0x15af6f};
            for (uint64_t rest = line; rest; rest >>= 21)
                folded ^= (uint64_t)__builtin_parityll(rest & of[bit]) << bit;
        }
        return (uint32_t)folded;
    case INDEX_MULTIPLIED: return (uint32_t)((line % g->sets + 7 * (line / g->sets)) % g->sets);
    default: return (uint32_t)(line % g->sets);
    }
}

/* The way that leaves. */
static inline uint32_t plain_victim(struct plain_set *s, uint32_t ways, enum replay_policy policy)
{
    uint32_t best = 0;
    for (;;) {
        for (uint32_t way = 0; way < ways; way++)
            if (s->lines[way].line == UINT64_MAX)
                return way;
        for (uint32_t way = 0; way < ways; way++) {
            if (policy == REPLAY_SRRIP && s->lines[way].distance == 3)
                return way;
            if (policy == REPLAY_LRU && s->lines[way].used < s->lines[best].used)
                best = way;
            if (policy == REPLAY_FIFO && s->lines[way].put < s->lines[best].put)
                best = way;
            if (policy >= REPLAY_BELADY && s->lines[way].next > s->lines[best].next)
                best = way;
        }
        if (policy != REPLAY_SRRIP)
            return best;
        for (uint32_t way = 0; way < ways; way++)
            s->lines[way].distance++;
    }
}

static inline struct replay_counts plain_replay(const struct made *m, const struct replay_geometry *g,
                                                enum replay_policy policy)
{
    struct plain_set *sets = malloc(CORES * g->sets * sizeof *sets);
    uint64_t *nexts = policy >= REPLAY_BELADY ? plain_nexts(m, policy == REPLAY_BELADY_READS) : NULL,
             clock[CORES] = {0};
    struct replay_counts n = {0};
    uint32_t kernel = UINT32_MAX;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct item *x = &m->items[i];
        if (kernel == UINT32_MAX || (x->kernel != kernel && !m->keeps))
            memset(sets, 0xff, CORES * g->sets * sizeof *sets);
        kernel = x->kernel;
        uint64_t line = x->a.line * m->header.line_bytes / g->line_bytes;
        struct plain_set *s = &sets[x->core * g->sets + plain_index(g, line)];
        bool store = x->a.what & TRACE_STORE;
        enum write_rule_id does = x->a.what & TRACE_LOCAL ? m->header.local_stores : m->header.global_stores;
        uint64_t ahead = nexts ? nexts[x->core * m->count + clock[x->core]] : 0,
                 next = ahead ? clock[x->core] + ahead : UINT64_MAX;
        uint32_t way = 0;
        clock[x->core]++;
        while (way < g->ways && s->lines[way].line != line)
            way++;
        *(store ? &n.stores : &n.reads) += 1;
        if (way == g->ways) {
            *(store ? &n.store_misses : &n.read_misses) += 1;
            if (store && does != WRITE_THROUGH_TAKE)
                continue;
            way = plain_victim(s, g->ways, policy);
            s->lines[way] = (struct plain_line){line, i, i, next, 2};
        } else if (store && does == WRITE_THROUGH_EVICT) {
            s->lines[way].line = UINT64_MAX;
        } else {
            s->lines[way].used = i;
            s->lines[way].next = next;
            s->lines[way].distance = 0;
        }
    }
    free(nexts);
    free(sets);
    return n;
}

#endif
