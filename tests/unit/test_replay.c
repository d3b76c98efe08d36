/* Does a trace come back as it was written, whole or cut off? Does the replay count what plain models of the policies
 * count, is Belady's choice the best there is, and do stack distances tell the misses of caches of every size? */
#include "replay_plain.h"

#include <zstd.h>

/* The file */

static void same_access(const struct trace_access *a, const struct trace_access *b)
{
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->age, b->age);
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->warp, b->warp);
    assert_int_equal(a->what, b->what);
}

/* Every access that can be read is the next of its core. Returns how many. */
static uint32_t compare_accesses(struct trace_reader *r, const struct made *m)
{
    uint32_t next[CORES] = {0}, seen = 0;
    struct error e = {0};
    struct trace_windows w;
    check(trace_windows_open(&w, r, 1, 3000, &e), &e);
    for (uint32_t window = 0; window < w.count; window++) {
        check(trace_windows_load(&w, window, &e), &e);
        for (uint32_t i = 0; i < w.part_count; i++) {
            const struct trace_part *p = &w.parts[i].part;
            struct trace_section s;
            struct trace_access list[7];
            trace_reader_start(r, p, &s);
            for (uint32_t n; s.left;) {
                n = trace_reader_take(r, &s, list, 7, &e);
                check(n, &e);
                for (uint32_t k = 0; k < n; k++, next[p->core]++, seen++) {
                    while (m->items[next[p->core]].core != p->core)
                        next[p->core]++;
                    assert_int_equal(m->items[next[p->core]].kernel, r->chunks[p->chunk].kernel);
                    same_access(&m->items[next[p->core]].a, &list[k]);
                }
            }
        }
        check(e.kind == ERROR_NONE, &e);
    }
    trace_windows_close(&w);
    return seen;
}

/* A file that ends after a header with this rule for stores to local memory. */
static void write_header_alone(const char *path, const char *local_stores)
{
    char text[300];
    uint8_t file[1024] = {0};
    int n = snprintf(text, sizeof text,
                     "version 1\ncores 1\nsets 4\nways 2\nline_bytes 128\nindex modulo\nglobal_stores evict\n"
                     "local_stores %s\n",
                     local_stores);
    size_t packed = ZSTD_compress(file + TRACE_CHUNK_HEADER, sizeof file - TRACE_CHUNK_HEADER, text, (size_t)n, 1);
    const uint32_t words[] = {TRACE_SKIPPABLE, TRACE_CHUNK_HEADER - 8, TRACE_MARK,
                              TRACE_HEADER,    (uint32_t)packed,       (uint32_t)n};
    memcpy(file, words, sizeof words);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(file, 1, TRACE_CHUNK_HEADER + packed, f), TRACE_CHUNK_HEADER + packed);
    fclose(f);
}

/* Every write rule is known by its name; older traces have two other words. */
static void rules_of_stores_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum write_rule_id rule;
    } names[] = {{"keep", WRITE_THROUGH},
                 {"allocate", WRITE_THROUGH_TAKE},
#define WRITE_RULE(id, name, ...) {name, WRITE_##id},
#include "heddle/write_rules.def"
                 {"never", WRITE_RULE_COUNT}};
    char path[] = "/tmp/heddle-header-XXXXXX";
    close(mkstemp(path));
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct trace_reader r;
        struct error e = {0};
        write_header_alone(path, names[i].name);
        bool known = names[i].rule != WRITE_RULE_COUNT;
        assert_int_equal(trace_reader_open(&r, path, &e), known);
        if (!known)
            continue;
        assert_int_equal(r.header.global_stores, WRITE_THROUGH_EVICT);
        assert_int_equal(r.header.local_stores, names[i].rule);
        trace_reader_close(&r);
    }
    unlink(path);
}

static void comes_back(void **state)
{
    (void)state;
    struct made m = make(header(4, 2), MOST, 5, 200, 20, 10);
    m.items[10].a.line = 1ull << 50; /* far away, and old */
    m.items[11].a.age = UINT64_MAX;
    unlink(m.path);
    write_items(&m);
    struct trace_reader r = opened(&m);
    assert_int_equal(r.accesses, MOST);
    assert_int_equal(r.kernel_count, 5);
    assert_false(r.truncated);
    assert_string_equal(r.header.machine, "test");
    assert_string_equal(r.header.program, "a program");
    assert_int_equal(r.header.sets, 4);
    assert_int_equal(r.header.index, INDEX_MODULO);
    assert_int_equal(r.header.local_stores, WRITE_THROUGH);
    assert_true(r.kernels[4].flush && r.kernels[4].ended);
    assert_int_equal(r.kernels[4].end.cycles, 5);
    assert_int_equal(r.kernels[4].end.store_hits, 2);
    assert_string_equal(r.listings[0].kernel, "k");
    assert_int_equal(compare_accesses(&r, &m), MOST);
    trace_reader_close(&r);
    discard(&m);
}

/* More than one chunk a launch: 1 MB is the mark. */
static void long_launches_are_cut(void **state)
{
    (void)state;
    uint32_t count = 400000;
    struct made m = {.header = header(4, 2), .items = calloc(count, sizeof *m.items), .count = count, .kernels = 1};
    for (uint32_t i = 0; i < count; i++)
        m.items[i] = (struct item){.core = i % CORES,
                                   .a = {.line = random_below(1u << 30),
                                         .pc = random_below(PCS),
                                         .warp = (uint16_t)random_below(TRACE_WARPS)}};
    write_items(&m);
    struct trace_reader r = opened(&m);
    assert_in_range(r.chunk_count, 2, 10);
    assert_int_equal(compare_accesses(&r, &m), count);
    trace_reader_close(&r);
    discard(&m);
}

static uint8_t *bytes_of(const struct made *m, size_t *size)
{
    FILE *f = fopen(m->path, "rb");
    uint8_t *data = malloc(1 << 20);
    assert_non_null(f);
    *size = fread(data, 1, 1 << 20, f);
    fclose(f);
    return data;
}

static void cut_off_anywhere(void **state)
{
    (void)state;
    struct made m = make(header(4, 2), 600, 4, 50, 20, 10);
    size_t size;
    uint8_t *data = bytes_of(&m, &size);
    uint32_t before = 0;
    for (size_t length = 0; length <= size; length++) {
        uint8_t *part = malloc(length + 1); /* its own block: reading past its end is noticed */
        memcpy(part, data, length);
        struct trace_reader r;
        struct error e = {0};
        if (trace_reader_open_memory(&r, part, length, &e)) {
            uint32_t seen = compare_accesses(&r, &m);
            assert_true(seen >= before);
            assert_true(length == size || r.truncated || r.kernels == NULL || r.kernels[r.kernel_count - 1].ended);
            before = seen;
            trace_reader_close(&r);
        } else {
            assert_int_equal(before, 0);
            assert_true(strlen(e.text) > 0);
        }
        free(part);
    }
    assert_int_equal(before, 600);
    free(data);
    discard(&m);
}

/* A byte that is not what it was is found out, or does not matter; it never ends in nonsense. */
static void damage_is_noticed(void **state)
{
    (void)state;
    struct made m = make(header(4, 2), 600, 4, 50, 20, 10);
    size_t size, noticed = 0;
    uint8_t *data = bytes_of(&m, &size);
    for (size_t at = 0; at < size; at++) {
        struct trace_reader r;
        struct replay_result result;
        struct error e = {0};
        data[at] ^= 0x10;
        bool ok = trace_reader_open_memory(&r, data, size, &e);
        if (ok) {
            ok = replay_run(&r, &(struct replay_geometry){4, 2, 128, INDEX_MODULO}, REPLAY_LRU, &alone, &result, &e);
            if (ok)
                replay_result_free(&result);
            trace_reader_close(&r);
        }
        noticed += !ok;
        assert_true(ok || strlen(e.text) > 0);
        data[at] ^= 0x10;
    }
    assert_true(noticed > size * 8 / 10);
    free(data);
    discard(&m);
}

static void same_counts(struct replay_counts a, struct replay_counts b)
{
    assert_int_equal(a.reads, b.reads);
    assert_int_equal(a.stores, b.stores);
    assert_int_equal(a.read_misses, b.read_misses);
    assert_int_equal(a.store_misses, b.store_misses);
}

static const struct replay_geometry geometries[] = {
    {1, 1, 128, INDEX_MASK},        {1, 4, 128, INDEX_MODULO},     {4, 2, 128, INDEX_MASK},
    {3, 3, 128, INDEX_MODULO},      {8, 2, 128, INDEX_FOLD},       {32, 2, 128, INDEX_FERMI},
    {4, 2, 256, INDEX_MASK},        {8, 2, 128, INDEX_MULTIPLIED}, {4, 3, 256, INDEX_MULTIPLIED},
    {2, 33, 128, INDEX_MULTIPLIED}, {2, 32, 128, INDEX_MASK},      {2, 33, 128, INDEX_MASK},
    {1, 60, 128, INDEX_MASK},       {2, 40, 512, INDEX_MODULO},    {3, 17, 128, INDEX_MODULO},
    {512, 2, 128, INDEX_HOPPER},    {1, 80, 128, INDEX_MASK}, /* from 17 ways on: the table */
};
enum { GEOMETRIES = sizeof geometries / sizeof *geometries };

static void policies_are_what_they_say(void **state)
{
    const bool is_short = getenv("TEST_SHORT"); /* sanitizers: every other geometry, the rest with the next rules */
    (void)state;
    static const enum write_rule_id rules[] = {WRITE_THROUGH_EVICT, WRITE_THROUGH, WRITE_THROUGH_TAKE};
    for (uint32_t stores = 0; stores < 9; stores++) {
        struct trace_header h = header(4, 2);
        h.global_stores = rules[stores % 3];
        h.local_stores = rules[stores / 3];
        struct made m = make(h, MOST, 3, stores % 2 ? 300 : 90, 25, 30);
        if (stores % 4 == 0) { /* launches that find the caches as they were */
            unlink(m.path);
            m.keeps = true;
            write_items(&m);
        }
        for (uint32_t i = is_short ? stores % 2 : 0; i < GEOMETRIES; i += is_short ? 2 : 1)
            for (enum replay_policy policy = REPLAY_LRU; policy < REPLAY_POLICIES; policy++)
                if (policy < REPLAY_BELADY ||
                    geometries[i].line_bytes == h.line_bytes) /* the model knows next uses of the trace's lines */
                    same_counts(replayed(&m, geometries[i], policy), plain_replay(&m, &geometries[i], policy));
        discard(&m);
    }
}

static void each_instruction_has_its_own(void **state)
{
    (void)state;
    struct made m = make(header(4, 2), MOST, 2, 90, 25, 0);
    struct trace_reader r = opened(&m);
    struct replay_result result;
    struct error e = {0};
    check(replay_run(&r, &geometries[2], REPLAY_LRU, &alone, &result, &e), &e);
    for (uint32_t pc = 0; pc < PCS; pc++) {
        uint64_t reads = 0, stores = 0;
        for (uint32_t i = 0; i < m.count; i++)
            if (m.items[i].a.pc == pc)
                *(m.items[i].a.what & TRACE_STORE ? &stores : &reads) += 1;
        assert_int_equal(result.pcs[0][pc].reads, reads);
        assert_int_equal(result.pcs[0][pc].stores, stores);
        assert_true(result.pcs[0][pc].read_misses <= reads);
    }
    replay_result_free(&result);
    trace_reader_close(&r);
    discard(&m);
}

static void geometries_that_cannot_be(void **state)
{
    (void)state;
    struct trace_header h = header(4, 2);
    const struct {
        struct replay_geometry g;
        const char *why;
    } bad[] = {
        {{4, 2, 64, INDEX_MASK}, "128 bytes"},     {{4, 2, 384, INDEX_MASK}, "power of two"},
        {{3, 2, 128, INDEX_MASK}, "mask"},         {{16, 2, 128, INDEX_FERMI}, "fermi"},
        {{1, 2, 128, INDEX_FOLD}, "fold"},         {{6, 2, 128, INDEX_MULTIPLIED}, "multiplied"},
        {{0, 2, 128, INDEX_MASK}, "at least one"}, {{256, 2, 128, INDEX_HOPPER}, "hopper"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error e = {0};
        assert_false(replay_check(&bad[i].g, &h, &e));
        assert_non_null(strstr(e.text, bad[i].why));
    }
    h.index = INDEX_FERMI;
    assert_int_equal(replay_index(&h, 64), INDEX_FERMI);
    assert_int_equal(replay_index(&h, 128), INDEX_FOLD);
    assert_int_equal(replay_index(&h, 48), INDEX_MODULO);
    h.index = INDEX_HOPPER;
    assert_int_equal(replay_index(&h, 512), INDEX_HOPPER);
    assert_int_equal(replay_index(&h, 256), INDEX_FOLD);
    h.index = INDEX_MULTIPLIED;
    assert_int_equal(replay_index(&h, 64), INDEX_MULTIPLIED);
    assert_int_equal(replay_index(&h, 8), INDEX_MULTIPLIED);
    assert_int_equal(replay_index(&h, 48), INDEX_MODULO);
    h.index = INDEX_MASK;
    assert_int_equal(replay_index(&h, 64), INDEX_MASK);
}

/* Belady */

static struct made of_lines(const char *lines)
{
    struct made m = {.header = header(1, 2),
                     .items = calloc(strlen(lines) + 1, sizeof *m.items),
                     .count = (uint32_t)strlen(lines),
                     .kernels = 1};
    for (uint32_t i = 0; i < m.count; i++)
        m.items[i].a.line = (uint64_t)lines[i];
    write_items(&m);
    return m;
}

static void worked_example(void **state)
{
    (void)state;
    struct made m = of_lines("ABCAB");
    struct replay_geometry two = {1, 2, 128, INDEX_MASK};
    assert_int_equal(misses(replayed(&m, two, REPLAY_BELADY)), 4);
    assert_int_equal(misses(replayed(&m, two, REPLAY_BELADY_READS)), 4);
    assert_int_equal(misses(replayed(&m, two, REPLAY_LRU)), 5);
    discard(&m);
}

static void same_nexts(const struct made *m, enum replay_policy policy, size_t next_bytes, size_t window_bytes,
                       bool spills)
{
    uint64_t *expected = plain_nexts(m, policy == REPLAY_BELADY_READS), got[64], seen = 0, at[CORES] = {0};
    struct replay_geometry g = {1, 1, 128, INDEX_MASK};
    struct trace_reader r = opened(m);
    struct trace_windows w;
    struct replay_next next;
    struct error e = {0};
    assert_int_equal(r.chunk_count, m->kernels);
    check(trace_windows_open(&w, &r, 1, window_bytes, &e), &e);
    check(replay_next_make(&next, &w, &g, policy, next_bytes, &e), &e);
    assert_int_equal(next.file_bytes != 0, spills);
    for (uint32_t window = 0; window < w.count; window++) {
        check(trace_windows_load(&w, window, &e), &e);
        for (uint32_t i = 0; i < w.task_count; i++) {
            const struct trace_task *t = &w.tasks[i];
            check(replay_next_load(&next, &w, t, 0, &e), &e);
            for (uint64_t left = t->accesses, n; left; left -= n, at[t->core] += n, seen += n) {
                n = left < 64 ? left : 64;
                replay_next_take(&next.slots[0], got, (uint32_t)n);
                assert_memory_equal(got, expected + t->core * m->count + at[t->core], n * sizeof *got);
            }
            assert_true(next.slots[0].at == next.slots[0].end);
        }
    }
    assert_int_equal(seen, m->count);
    replay_next_free(&next);
    trace_windows_close(&w);
    trace_reader_close(&r);
    free(expected);
}

/* In memory, in the file, and in part; in one window and in several. */
static void next_uses_are_found(void **state)
{
    (void)state;
    struct made m = make(header(4, 2), MOST, 7, 200, 25, 30);
    for (enum replay_policy policy = REPLAY_BELADY; policy <= REPLAY_BELADY_READS; policy++) {
        same_nexts(&m, policy, 1 << 20, 1 << 20, false);
        same_nexts(&m, policy, 1 << 20, 1, false);
        same_nexts(&m, policy, 1, 1 << 20, true);
        same_nexts(&m, policy, 1, 1, true);
        same_nexts(&m, policy, 8000, 5000, true); /* some chunks of seven */
    }
    discard(&m);
}

/* Beyond what 16 bits hold. */
static void next_uses_far_away(void **state)
{
    (void)state;
    enum { FAR = 70000 };
    struct made m = {.header = header(4, 2), .items = calloc(FAR + 3, sizeof *m.items), .count = FAR + 3, .kernels = 1};
    for (uint32_t i = 0; i < m.count; i++)
        m.items[i].a.line = 1000 + i;
    m.items[0].a.line = m.items[FAR].a.line = 7;
    m.items[1].a.line = m.items[1 + 0xffff].a.line = 8;
    m.items[3].a.line = m.items[3 + 0xfffe].a.line = 9;
    write_items(&m);
    struct replay_geometry g = {1, 1, 128, INDEX_MASK};
    struct trace_reader r = opened(&m);
    struct trace_windows w;
    struct replay_next next;
    struct error e = {0};
    uint64_t *got = calloc(m.count, sizeof *got);
    check(trace_windows_open(&w, &r, 1, 1 << 20, &e), &e);
    check(replay_next_make(&next, &w, &g, REPLAY_BELADY, 1, &e), &e);
    check(trace_windows_load(&w, 0, &e), &e);
    check(replay_next_load(&next, &w, &w.tasks[0], 0, &e), &e);
    replay_next_take(&next.slots[0], got, m.count);
    assert_int_equal(got[0], FAR);
    assert_int_equal(got[1], 0xffff);
    assert_int_equal(got[3], 0xfffe);
    assert_int_equal(got[2], 0);
    for (uint32_t i = 4; i < m.count; i++)
        assert_int_equal(got[i], 0);
    replay_next_free(&next);
    trace_windows_close(&w);
    trace_reader_close(&r);
    discard(&m);
    free(got);
}

/* The least number of misses that any choice of victims comes to, for one core and one set. `present`: a bit a line.
 * Reads alone are counted, or stores as well. */
struct brute {
    const struct made *m;
    uint32_t ways;
    bool reads_only;
    uint32_t best[20][64];
    bool known[20][64];
};

static uint32_t least(struct brute *b, uint32_t at, uint32_t present)
{
    if (at == b->m->count)
        return 0;
    if (at && b->m->items[at].kernel != b->m->items[at - 1].kernel)
        present = 0;
    if (b->known[at][present])
        return b->best[at][present];
    const struct trace_access *a = &b->m->items[at].a;
    uint32_t bit = 1u << a->line, best = UINT32_MAX;
    bool store = a->what & TRACE_STORE;
    enum write_rule_id does = a->what & TRACE_LOCAL ? b->m->header.local_stores : b->m->header.global_stores;
    if (present & bit) {
        best = least(b, at + 1, store && does == WRITE_THROUGH_EVICT ? present & ~bit : present);
    } else {
        uint32_t cost = store && b->reads_only ? 0 : 1;
        if (store && does != WRITE_THROUGH_TAKE) {
            best = cost + least(b, at + 1, present);
        } else if ((uint32_t)__builtin_popcount(present) < b->ways) {
            best = cost + least(b, at + 1, present | bit);
        } else {
            for (uint32_t left = present; left; left &= left - 1) {
                uint32_t n = cost + least(b, at + 1, (present & ~(left & -left)) | bit);
                best = n < best ? n : best;
            }
        }
    }
    b->known[at][present] = true;
    return b->best[at][present] = best;
}

static uint32_t brute_force(const struct made *m, uint32_t ways, bool reads_only)
{
    struct brute *b = calloc(1, sizeof *b);
    b->m = m;
    b->ways = ways;
    b->reads_only = reads_only;
    uint32_t n = least(b, 0, 0);
    free(b);
    return n;
}

static void belady_is_the_optimum(void **state)
{
    const uint32_t traces = getenv("TEST_SHORT") ? 300 : 1500; /* sanitizers */
    (void)state;
    for (uint32_t i = 0; i < traces; i++) {
        struct trace_header h = header(1, 2);
        uint32_t ways = 1 + i % 4, local = i % 3 == 0 ? 40 : 0;
        h.cores = 1;
        h.global_stores = i % 5 == 4 ? WRITE_THROUGH_TAKE : WRITE_THROUGH_EVICT;
        struct made m = make(h, 12 + i % 8, 1 + i % 2, 6, i % 2 ? 30 : 0, local);
        struct replay_geometry g = {1, ways, 128, INDEX_MASK};
        assert_int_equal(replayed(&m, g, REPLAY_BELADY_READS).read_misses, brute_force(&m, ways, true));
        if (!local) /* stores that neither drop nor bring lines make it a harder problem than looking ahead can solve */
            assert_int_equal(misses(replayed(&m, g, REPLAY_BELADY)), brute_force(&m, ways, false));
        discard(&m);
    }
}

static void nobody_beats_belady(void **state)
{
    const uint32_t step = getenv("TEST_SHORT") ? 5 : 1; /* sanitizers: a fifth of the traces, of all sizes */
    (void)state;
    for (uint32_t i = 0; i < 60; i += step) {
        bool local = i % 4 == 0;
        struct made m = make(header(4, 2), MOST / 2, 1 + i % 3, 20 + 10 * i, i % 3 * 15, local ? 30 : 0);
        for (uint32_t k = 0; k < GEOMETRIES; k++) {
            struct replay_counts best = replayed(&m, geometries[k], REPLAY_BELADY),
                                 best_reads = replayed(&m, geometries[k], REPLAY_BELADY_READS);
            assert_int_equal(best.reads, best_reads.reads);
            for (enum replay_policy policy = REPLAY_LRU; policy <= REPLAY_SRRIP; policy++) {
                struct replay_counts n = replayed(&m, geometries[k], policy);
                assert_true(best_reads.read_misses <= n.read_misses);
                assert_true(local || misses(best) <= misses(n));
            }
            assert_true(best_reads.read_misses <= best.read_misses);
            assert_true(local || misses(best) <= misses(best_reads));
        }
        discard(&m);
    }
}

/* Stack distances */

static struct replay_distances distances_of(const struct made *m)
{
    struct trace_reader r = opened(m);
    struct replay_distances d;
    struct error e = {0};
    check(replay_distances_run(&r, 128, &alone, &d, &e), &e);
    trace_reader_close(&r);
    return d;
}

/* A list of lines, the newest first, and the distance of each load in it. */
static void distances_as_in_a_list(void **state)
{
    (void)state;
    struct made m = make(header(4, 2), 20000, 2, LINES_MOST, 0, 0); /* more than fit the slots at once */
    struct replay_distances d = distances_of(&m);
    uint64_t list[CORES][LINES_MOST], counts[LINES_MOST] = {0}, first = 0, between[65] = {0}, last[CORES][LINES_MOST],
                                      clock[CORES] = {0};
    uint32_t length[CORES] = {0}, kernel = 0;
    for (uint32_t i = 0; i < m.count; i++) {
        uint32_t core = m.items[i].core, at = 0;
        uint64_t line = m.items[i].a.line;
        if (m.items[i].kernel != kernel)
            memset(length, 0, sizeof length);
        kernel = m.items[i].kernel;
        while (at < length[core] && list[core][at] != line)
            at++;
        clock[core]++;
        if (at < length[core]) {
            uint64_t gap = clock[core] - last[core][line] - 1;
            uint32_t bucket = 0;
            for (; gap; gap /= 2)
                bucket++;
            between[bucket]++;
            counts[at]++;
        } else {
            first++;
            length[core]++;
        }
        memmove(&list[core][1], &list[core][0], at * sizeof list[core][0]);
        list[core][0] = line;
        last[core][line] = clock[core];
    }
    assert_int_equal(d.first_reads, first);
    for (uint32_t i = 0; i < LINES_MOST; i++)
        assert_int_equal(i < d.length ? d.reads[i] : 0, counts[i]);
    assert_memory_equal(d.between, between, sizeof between);
    replay_distances_free(&d);
    discard(&m);
}

/* With stores that drop lines, or bring them: what a cache of each size misses. */
static void the_curve_is_right_at_every_size(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct trace_header h = header(4, 2);
        h.global_stores = i % 2 ? WRITE_THROUGH_EVICT : WRITE_THROUGH_TAKE;
        h.local_stores = i % 4 < 2 ? WRITE_THROUGH_EVICT : WRITE_THROUGH_TAKE;
        struct made m = make(h, 9000, 1 + i % 3, 40 + 20 * i, 5 + 10 * (i % 4), 30);
        struct replay_distances d = distances_of(&m);
        for (uint32_t lines = 1; lines <= CURVE_MOST; lines++) {
            struct replay_geometry full = {1, lines, 128, INDEX_MASK};
            same_counts(replay_distances_misses(&d, lines), plain_replay(&m, &full, REPLAY_LRU));
            if (lines % 16 == 1)
                same_counts(replay_distances_misses(&d, lines), replayed(&m, full, REPLAY_LRU));
        }
        replay_distances_free(&d);
        discard(&m);
    }
}

/* Threads and memory */

static void same_results(const struct trace_reader *r, const struct replay_result *a, const struct replay_result *b)
{
    same_counts(a->total, b->total);
    for (uint32_t i = 0; i < r->listing_count; i++)
        assert_memory_equal(a->pcs[i], b->pcs[i], r->listings[i].pc_count * sizeof **a->pcs);
}

static void same_distances(const struct replay_distances *a, const struct replay_distances *b)
{
    assert_int_equal(a->lines, b->lines);
    assert_int_equal(a->first_reads, b->first_reads);
    assert_int_equal(a->first_stores, b->first_stores);
    assert_memory_equal(a->between, b->between, sizeof a->between);
    for (uint64_t i = 0; i < a->length || i < b->length; i++) {
        assert_int_equal(i < a->length ? a->reads[i] : 0, i < b->length ? b->reads[i] : 0);
        assert_int_equal(i < a->length ? a->stores[i] : 0, i < b->length ? b->stores[i] : 0);
    }
}

/* As one thread with memory for all of it counts. More threads than cores; windows of one chunk, of some, of all; all
 * distances in the file, some, none. */
static void however_it_is_done(void **state)
{
    (void)state;
    static const struct replay_how ways[] = {
        {1, 1, 1}, {1, 4000, 9000}, {2, 0, 0}, {2, 1, 9000}, {3, 4000, 1}, {CORES + 4, 0, 0}, {CORES + 4, 4000, 9000}};
    struct made m = make(header(4, 2), MOST, 7, 150, 25, 30);
    struct trace_reader r = opened(&m);
    struct error e = {0};
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct replay_distances d, same_d;
        for (enum replay_policy policy = REPLAY_LRU; policy < REPLAY_POLICIES; policy++)
            for (uint32_t k = 2; k < GEOMETRIES; k += 3) {
                struct replay_result expected, got;
                check(replay_run(&r, &geometries[k], policy, &alone, &expected, &e), &e);
                check(replay_run(&r, &geometries[k], policy, &ways[i], &got, &e), &e);
                same_results(&r, &expected, &got);
                assert_int_equal(expected.temporary_bytes, 0);
                assert_int_equal(got.temporary_bytes != 0, policy >= REPLAY_BELADY && ways[i].next_bytes != 0);
                replay_result_free(&expected);
                replay_result_free(&got);
            }
        check(replay_distances_run(&r, 128, &alone, &d, &e), &e);
        check(replay_distances_run(&r, 128, &ways[i], &same_d, &e), &e);
        same_distances(&d, &same_d);
        replay_distances_free(&d);
        replay_distances_free(&same_d);
    }
    trace_reader_close(&r);
    discard(&m);
}

/* Damage in several places: everybody tells the same of it, and of the first place. */
static void the_same_error_is_told(void **state)
{
    (void)state;
    struct made m = make(header(4, 2), MOST, 7, 150, 25, 30);
    struct trace_reader r = opened(&m);
    size_t size, at[2] = {r.chunks[2].offset + TRACE_CHUNK_HEADER + r.chunks[2].packed / 2,
                          r.chunks[5].offset + TRACE_CHUNK_HEADER + r.chunks[5].packed / 2};
    char place[64];
    snprintf(place, sizeof place, "(at byte %llu)", (unsigned long long)r.chunks[2].offset + TRACE_CHUNK_HEADER);
    trace_reader_close(&r);
    uint8_t *data = bytes_of(&m, &size);
    data[at[0]] ^= 0x55;
    data[at[1]] ^= 0x55;
    struct error opening = {0};
    check(trace_reader_open_memory(&r, data, size, &opening), &opening);
    for (uint32_t threads = 1; threads <= 4; threads++)
        for (size_t window = 0; window < 9000; window += 4000)
            for (enum replay_policy policy = REPLAY_LRU; policy < REPLAY_POLICIES; policy++) {
                struct replay_how how = {.threads = threads, .window_bytes = window};
                struct replay_result result;
                struct replay_distances d;
                struct error e = {0}, other = {0};
                assert_false(replay_run(&r, &geometries[2], policy, &how, &result, &e));
                assert_false(replay_distances_run(&r, 128, &how, &d, &other));
                if (policy < REPLAY_BELADY || !window) /* who reads backwards comes to the last window first */
                    assert_non_null(strstr(e.text, place));
                assert_non_null(strstr(other.text, place));
            }
    trace_reader_close(&r);
    free(data);
    discard(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(rules_of_stores_are_named),
        cmocka_unit_test(long_launches_are_cut),
        cmocka_unit_test(cut_off_anywhere),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(policies_are_what_they_say),
        cmocka_unit_test(each_instruction_has_its_own),
        cmocka_unit_test(geometries_that_cannot_be),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(next_uses_are_found),
        cmocka_unit_test(next_uses_far_away),
        cmocka_unit_test(belady_is_the_optimum),
        cmocka_unit_test(nobody_beats_belady),
        cmocka_unit_test(distances_as_in_a_list),
        cmocka_unit_test(the_curve_is_right_at_every_size),
        cmocka_unit_test(however_it_is_done),
        cmocka_unit_test(the_same_error_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
