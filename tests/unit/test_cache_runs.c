/* A cache whose owner decides, and long runs of pseudo-random accesses against a plain model; the table of miss
 * registers. */
#include "cache_test.h"

/* Whose hit it is: of the warp that brought the line if slot and age are the same. Who merges into a miss, hits or
 * evicts by a store does not become the one who brought it. */
static void hits_of_the_warp_that_brought_it(struct bench *b)
{
    const uint64_t line = 5 * 128, rivals[] = {line + 4096, line + 2 * 4096, line + 3 * 4096, line + 4 * 4096};
    const struct cache_counters *n;
    assert_int_equal(access_as(b, PACKET_LOAD, line, 4, 3, 10, 0), CACHE_MISS);
    assert_int_equal(access_as(b, PACKET_LOAD, line, 4, 4, 11, 0), CACHE_PENDING);
    assert_int_equal(access_as(b, PACKET_LOAD, line, 4, 3, 10, 0), CACHE_PENDING);
    n = cache_counters(b->cache);
    assert_int_equal(n->intra_warp_hits + n->inter_warp_hits, 0); /* none is a hit yet */
    settle(b);
    assert_int_equal(access_as(b, PACKET_LOAD, line, 4, 4, 11, 0), CACHE_HIT);
    n = cache_counters(b->cache);
    assert_int_equal(n->intra_warp_hits, 0);
    assert_int_equal(n->inter_warp_hits, 1);
    assert_int_equal(access_as(b, PACKET_LOAD, line + 64, 4, 3, 10, 0), CACHE_HIT);
    n = cache_counters(b->cache);
    assert_int_equal(n->intra_warp_hits, 1);
    assert_int_equal(access_as(b, PACKET_LOAD, line, 4, 3, 40, 0), CACHE_HIT); /* another warp in the slot */
    n = cache_counters(b->cache);
    assert_int_equal(n->intra_warp_hits, 1);
    assert_int_equal(n->inter_warp_hits, 2);
    for (int i = 0; i < 4; i++) { /* it leaves, and the new warp of the slot brings it back */
        assert_int_equal(access_as(b, PACKET_LOAD, rivals[i], 4, 9, 12, 0), CACHE_MISS);
        settle(b);
    }
    assert_int_equal(b->result.evicted_warp, 3);
    assert_int_equal(b->result.evicted_age, 10);
    assert_int_equal(access_as(b, PACKET_LOAD, line, 4, 3, 40, 0), CACHE_MISS);
    settle(b);
    assert_int_equal(access_as(b, PACKET_LOAD, line, 4, 3, 40, 0), CACHE_HIT);
    n = cache_counters(b->cache);
    assert_int_equal(n->intra_warp_hits, 2);
    assert_int_equal(n->inter_warp_hits, 2);
    assert_conserved(b->cache);
}

/* An owner that writes down what it is asked, and answers what it is given. */
struct witness {
    uint32_t answer, asked, set;
    bool bypass;
    struct cache_ways ways;
    struct packet request;
};

static uint32_t witness_victim(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways)
{
    struct witness *w = context;
    w->asked++;
    w->set = set;
    w->ways = *ways;
    w->request = *request;
    return w->answer;
}

static bool witness_bypass(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways)
{
    struct witness *w = context;
    w->set = set;
    w->ways = *ways;
    w->request = *request;
    return w->bypass;
}

static void open_witnessed(struct bench *b, struct witness *w, const struct cache_config *config)
{
    open_bench(b, config);
    cache_set_choices(b->cache,
                      &(struct cache_choices){.context = w, .victim = witness_victim, .bypass = witness_bypass});
}

static uint32_t first_usable(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways)
{
    (void)context, (void)request, (void)set;
    return (uint32_t)__builtin_ctzll(ways->empty ? ways->empty : ways->lines);
}

/* By the cache itself, and with an owner that decides, which takes another way through it. */
static void intra_and_inter_warp_hits(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    hits_of_the_warp_that_brought_it(&b);
    close_bench(&b);
    open_bench(&b, &l1_config);
    cache_set_choices(b.cache, &(struct cache_choices){.victim = first_usable});
    hits_of_the_warp_that_brought_it(&b);
    close_bench(&b);
}

static void assert_ways(struct cache_ways ways, uint64_t lines, uint64_t empty, uint64_t reserved)
{
    assert_int_equal(ways.lines, lines);
    assert_int_equal(ways.empty, empty);
    assert_int_equal(ways.reserved, reserved);
}

static void assert_change(const struct bench *b, enum cache_change change, uint32_t way, bool evicted)
{
    assert_int_equal(b->result.change, change);
    assert_int_equal(b->result.set, 5);
    assert_int_equal(b->result.way, way);
    assert_int_equal(b->result.evicted, evicted);
}

static void owner_chooses_victims(void **state)
{
    (void)state;
    struct bench b;
    struct witness w = {.answer = 2};
    open_witnessed(&b, &w, &l1_config);
    assert_int_equal(access_as(&b, PACKET_LOCAL_LOAD, 5 * 128, 4, 9, 30, 0), CACHE_MISS);
    assert_ways(w.ways, 0, 0xf, 0);
    assert_int_equal(w.set, 5);
    assert_int_equal(w.request.warp, 9);
    assert_int_equal(w.request.address, 5 * 128);
    assert_int_equal(w.request.kind, PACKET_LOCAL_LOAD);
    assert_change(&b, CACHE_INSERTED, 2, false);
    w.answer = 0;
    assert_int_equal(load(&b, 5 * 128 + 4096), CACHE_MISS);
    assert_ways(w.ways, 0, 0xb, 0x4);
    assert_int_equal(load(&b, 5 * 128), CACHE_PENDING);
    assert_change(&b, CACHE_TOUCHED, 2, false);
    settle(&b);
    assert_int_equal(load(&b, 5 * 128), CACHE_HIT);
    assert_change(&b, CACHE_TOUCHED, 2, false);
    assert_int_equal(b.result.line_warp, 9);
    assert_int_equal(b.result.line_age, 30);
    w.answer = 2; /* takes a valid line although ways are free */
    assert_int_equal(load(&b, 5 * 128 + 8192), CACHE_MISS);
    assert_ways(w.ways, 0x5, 0xa, 0);
    assert_change(&b, CACHE_INSERTED, 2, true);
    assert_int_equal(b.result.evicted_address, 5 * 128);
    assert_int_equal(b.result.evicted_warp, 9);
    assert_int_equal(b.result.evicted_age, 30);
    w.answer = UINT32_MAX;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t asked = w.asked;
        assert_fails(&b, load(&b, 5 * 128 + 3 * 4096), CACHE_FAIL_WAYS);
        assert_int_equal(w.asked, asked + 1); /* each try asks again */
        assert_change(&b, CACHE_UNCHANGED, UINT32_MAX, false);
    }
    settle(&b);
    assert_int_equal(store(&b, 5 * 128 + 8192), CACHE_HIT); /* write-evict */
    assert_change(&b, CACHE_DROPPED, 2, false);
    assert_ways(cache_ways(b.cache, 5), 0x1, 0xe, 0);
    settle(&b);
    cache_invalidate(b.cache);
    assert_ways(cache_ways(b.cache, 5), 0, 0xf, 0);
    close_bench(&b);
}

static void owner_lets_reads_bypass(void **state)
{
    (void)state;
    struct bench b;
    struct witness w = {.bypass = true};
    open_witnessed(&b, &w, &l1_config);
    assert_int_equal(load(&b, 5 * 128), CACHE_MISS);
    assert_int_equal(w.asked, 0);
    assert_ways(w.ways, 0, 0xf, 0);
    assert_change(&b, CACHE_UNCHANGED, UINT32_MAX, false);
    assert_int_equal(load(&b, 5 * 128), CACHE_PENDING);
    assert_change(&b, CACHE_UNCHANGED, UINT32_MAX, false);
    assert_int_equal(cache_outstanding(b.cache), 1);
    settle(&b);
    assert_false(cache_probe(b.cache, 5 * 128));
    close_bench(&b);
}

/* Where lines are taken when their data comes, it is the fill that says what it did. */
static void fill_takes_a_line(void **state)
{
    (void)state;
    struct bench b;
    struct witness w = {.answer = 3};
    struct cache_config on_fill = l1_config;
    on_fill.allocate = ALLOCATE_ON_FILL;
    open_witnessed(&b, &w, &on_fill);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(access_as(&b, PACKET_LOAD, 5 * 128 + 4096 * i, 4, 7, 70, 0), CACHE_MISS);
        assert_change(&b, CACHE_UNCHANGED, UINT32_MAX, false);
        assert_int_equal(w.asked, i);
        struct packet down = take_miss(&b);
        assert_true(cache_fill_line(b.cache, &down, &b.result));
        assert_change(&b, CACHE_INSERTED, 3, i == 1);
        assert_int_equal(w.request.warp, 7);
        cache_ready_pop(b.cache);
    }
    assert_int_equal(b.result.evicted_address, 5 * 128);
    assert_int_equal(b.result.evicted_age, 70);
    close_bench(&b);
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Plain model: a list of lines a set, most recently used first; each twice its number, and one more where it is
 * modified. Stores drop their line or, where they fetch it, bring it. */
enum { MODEL_SETS = 8, MODEL_WAYS = 70 };
struct model {
    uint64_t lines[MODEL_SETS][MODEL_WAYS];
    uint32_t count[MODEL_SETS], ways;
    bool stores_fetch;
    uint64_t evictions, writebacks;
};

static bool model_access(struct model *m, uint64_t number, bool is_store)
{
    uint64_t *set = m->lines[number % MODEL_SETS];
    uint32_t *count = &m->count[number % MODEL_SETS], at = 0;
    while (at < *count && set[at] / 2 != number)
        at++;
    bool hit = at < *count, modified = hit && (set[at] % 2 || is_store);
    if (hit) {
        memmove(&set[at], &set[at + 1], (*count - at - 1) * sizeof *set);
        --*count;
    }
    if (is_store && !m->stores_fetch)
        return hit;
    if (*count == m->ways) {
        --*count;
        m->evictions++;
        m->writebacks += set[*count] % 2;
    }
    memmove(&set[1], &set[0], *count * sizeof *set);
    set[0] = number * 2 + modified;
    ++*count;
    return hit;
}

static void compare_with_model(uint32_t ways, bool stores_fetch)
{
    struct cache_config config = l1_config;
    if (stores_fetch) {
        config.global_writes = WRITE_BACK;
        config.write_allocate = config.stores_fetch = true;
    }
    config.sets = MODEL_SETS;
    config.ways = ways;
    struct bench b;
    open_bench(&b, &config);
    struct model m = {.ways = ways, .stores_fetch = stores_fetch};
    uint64_t seed = ways, hits = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t number = next_random(&seed) % (MODEL_SETS * ways * 3 / 2);
        bool is_store = next_random(&seed) % 8 == 0;
        bool hit = model_access(&m, number, is_store);
        hits += hit;
        enum cache_outcome outcome =
            is_store ? store(&b, number * 128) : load(&b, number * 128 + next_random(&seed) % 32 * 4);
        assert_int_equal(outcome, hit ? CACHE_HIT : CACHE_MISS);
        settle(&b);
    }
    assert_in_range(hits, 10000, 90000); /* else it would show little */
    assert_int_equal(cache_counters(b.cache)->hits, hits);
    assert_int_equal(cache_counters(b.cache)->accesses, 100000);
    assert_int_equal(cache_counters(b.cache)->evictions, m.evictions);
    assert_int_equal(cache_counters(b.cache)->writebacks, m.writebacks);
    assert_true(!stores_fetch || m.writebacks > 1000);
    assert_conserved(b.cache);
    close_bench(&b);
}

static void same_as_plain_model(void **state)
{
    (void)state;
    compare_with_model(1, false);
    compare_with_model(4, false);
    compare_with_model(12, false);
    compare_with_model(16, false);
    compare_with_model(MODEL_WAYS, false);
    compare_with_model(1, true);
    compare_with_model(4, true);
    compare_with_model(16, true);
}

/* Answers that come late and out of order, stores, atomics, failures: every read that was taken is given back once,
 * after which nothing is left. */
static void crowded(const struct cache_config *config, uint32_t lines)
{
    enum { PENDING_MOST = 64, ACCESSES = 100000 };
    struct bench b;
    open_bench(&b, config);
    cache_set_writeback(b.cache, PACKET_L2_WRITEBACK, 0);
    static uint8_t waits[ACCESSES + 1];
    memset(waits, 0, sizeof waits);
    struct packet pending[PENDING_MOST];
    uint32_t pending_count = 0, taken = 0, reads_out = 0, fails = 0;
    uint64_t seed = 99, writebacks = 0, fetches = 0, stores = 0, silent = 0;
    struct packet p = {.kind = 0};
    bool retry = false;
    while (taken < ACCESSES || !cache_idle(b.cache) || pending_count) {
        if (taken < ACCESSES) {
            if (!retry) {
                static const uint8_t kinds[8] = {PACKET_LOAD, PACKET_LOAD,  PACKET_LOAD,        PACKET_LOAD,
                                                 PACKET_LOAD, PACKET_STORE, PACKET_LOCAL_STORE, PACKET_ATOMIC};
                p = packet(kinds[next_random(&seed) % 8],
                           next_random(&seed) % lines * 128 + next_random(&seed) % 4 * 32, 32);
                p.token = taken;
            }
            enum cache_outcome outcome = cache_access(b.cache, &p, 0, b.now, &b.result);
            retry = outcome == CACHE_FAIL;
            fails += retry;
            if (!retry) {
                waits[taken++] = !packet_is_write(&p) && outcome != CACHE_HIT;
                reads_out += waits[taken - 1];
            }
        }
        if (cache_miss_front(b.cache) && pending_count < PENDING_MOST && next_random(&seed) % 2) {
            struct packet down = take_miss(&b);
            writebacks += down.kind == PACKET_L2_WRITEBACK;
            fetches += down.kind == PACKET_L2_FETCH;
            stores += down.kind == PACKET_STORE || down.kind == PACKET_LOCAL_STORE;
            if (!packet_is_write(&down))
                for (uint32_t sector = 0; sector < 4; sector++)
                    if (down.sectors >> sector & 1 && pending_count < PENDING_MOST) {
                        pending[pending_count] = down;
                        pending[pending_count++].sectors =
                            (uint8_t)(config->sector_bytes ? 1u << sector : down.sectors);
                        if (!config->sector_bytes)
                            break;
                    }
        }
        if (pending_count && next_random(&seed) % 3 == 0) {
            uint32_t at = next_random(&seed) % pending_count;
            assert_true(cache_waits_for(b.cache, pending[at].token));
            cache_fill(b.cache, &pending[at], b.now);
            pending[at] = pending[--pending_count];
        }
        if (cache_ready_front(b.cache) && next_random(&seed) % 2) {
            uint32_t token = cache_ready_front(b.cache)->token;
            bool fetched = cache_ready_front(b.cache)->kind == PACKET_L2_FETCH; /* nobody waits */
            assert_int_equal(waits[token], !fetched);
            waits[token] = 0;
            silent += fetched;
            reads_out -= !fetched;
            cache_ready_pop(b.cache);
        }
        assert_true(cache_has_miss(b.cache) == (cache_miss_front(b.cache) != NULL) &&
                    cache_has_ready(b.cache) == (cache_ready_front(b.cache) != NULL));
        b.now++;
        assert_true(b.now < 10 * ACCESSES);
    }
    assert_int_equal(reads_out, 0);
    const struct cache_counters *n = cache_counters(b.cache);
    assert_int_equal(n->accesses, ACCESSES);
    assert_int_equal(n->fails[0] + n->fails[1] + n->fails[2] + n->fails[3], fails);
    assert_true(n->fails[CACHE_FAIL_MERGE] && n->fails[CACHE_FAIL_QUEUE] && n->pending_hits && n->hits);
    assert_int_equal(n->writebacks, writebacks);
    assert_int_equal(n->misses_sent, n->misses - n->write_misses + fetches);
    if (config->stores_fetch) { /* every store that missed went down, and left with its line */
        assert_int_equal(stores, n->write_misses);
        assert_int_equal(silent, n->write_misses);
        assert_true(fetches && fetches < n->write_misses && writebacks);
    }
    assert_int_equal(n->fills, n->misses_sent);
    assert_conserved(b.cache);
    close_bench(&b);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    struct cache_config config = l2_config;
    config.sets = 4;
    config.ways = 2;
    config.mshr_entries = 8;
    config.mshr_merge = 2;
    crowded(&config, 24);
    config.allocate = ALLOCATE_ON_FILL;
    crowded(&config, 24);
    config.sector_bytes = 0;
    config.stores_fetch = true;
    crowded(&config, 24);
    config.allocate = ALLOCATE_ON_MISS;
    crowded(&config, 24);
    config = l1_config;
    config.sets = 4;
    crowded(&config, 24);
}

/* The table of the MSHRs, full and emptied in another order, many times: what is on its way is found, what is not is
 * not. */
static void mshr_table(void **state)
{
    (void)state;
    enum { ENTRIES = 512 };
    struct arena arena = {NULL, 0};
    struct mshr m;
    mshr_init(&m, &arena, ENTRIES, 64);
    uint64_t line[ENTRIES] = {0}, seed = 5;
    bool open[ENTRIES] = {false};
    uint8_t covered;
    for (uint32_t i = 0; i < 50000; i++) {
        uint64_t address = next_random(&seed) % 4096 * 128;
        uint32_t expected = MSHR_NONE;
        for (uint32_t e = 0; e < ENTRIES; e++)
            if (open[e] && line[e] == address)
                expected = e;
        uint32_t entry = mshr_find(&m, address, 1, &covered);
        assert_int_equal(entry, expected);
        if (entry == MSHR_NONE && !mshr_full(&m)) {
            struct packet p = packet(PACKET_LOAD, address, 32);
            entry = mshr_open(&m, address, 1, &p, 0, MSHR_NONE);
            assert_false(open[entry]);
            open[entry] = true;
            line[entry] = address;
        }
        uint32_t victim = next_random(&seed) % ENTRIES;
        if (open[victim] && next_random(&seed) % 4 == 0) {
            assert_true(mshr_answer(&m, victim, 1));
            assert_int_equal(mshr_ready_front(&m)->address, line[victim]);
            mshr_ready_pop(&m);
            open[victim] = false;
        }
    }
    assert_in_range(m.used, ENTRIES / 2, ENTRIES);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intra_and_inter_warp_hits),
        cmocka_unit_test(owner_chooses_victims),
        cmocka_unit_test(owner_lets_reads_bypass),
        cmocka_unit_test(fill_takes_a_line),
        cmocka_unit_test(same_as_plain_model),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(mshr_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
