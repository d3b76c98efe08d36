/* The cache: each outcome and each reason to fail, merging, sectors, index functions, order of replacement, ports.
 * Stores: test_cache_writes.c; owners that decide and long random runs: test_cache_runs.c. */
#include "cache_test.h"

static void miss_pending_hit(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    assert_false(cache_probe(b.cache, 0x1000));
    struct packet p = {
        .kind = PACKET_LOAD, .address = 0x1024, .bytes = 32, .core = 3, .warp = 5, .pc = 77, .token = 1000, .slice = 2};
    assert_int_equal(cache_access(b.cache, &p, 40, 0, &b.result), CACHE_MISS);
    assert_false(b.result.evicted);
    assert_false(b.result.sends_write);
    assert_int_equal(b.result.set, 0x1000 / 128 % 32);
    assert_int_equal(b.result.way, 0);
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1070, 16, 6, 41, 1001), CACHE_PENDING);
    assert_int_equal(b.result.line_warp, 5);
    assert_int_equal(b.result.line_age, 40);
    assert_int_equal(cache_outstanding(b.cache), 1);

    struct packet down = take_miss(&b);
    assert_int_equal(down.address, 0x1000);
    assert_int_equal(down.bytes, 128);
    assert_int_equal(down.sectors, 0xf);
    assert_int_equal(down.kind, PACKET_LOAD);
    assert_int_equal(down.core, 3);
    assert_int_equal(down.warp, 5);
    assert_int_equal(down.pc, 77);
    assert_int_equal(down.slice, 2);
    assert_true(cache_waits_for(b.cache, down.token));
    assert_null(cache_miss_front(b.cache));
    assert_null(cache_ready_front(b.cache));
    assert_true(cache_fill(b.cache, &down, 9));
    assert_true(cache_probe(b.cache, 0x107f));
    assert_false(cache_probe(b.cache, 0x1080));

    assert_int_equal(cache_ready_front(b.cache)->token, 1000);
    assert_int_equal(cache_ready_front(b.cache)->address, 0x1024);
    cache_ready_pop(b.cache);
    assert_true(cache_waits_for(b.cache, down.token));
    assert_int_equal(cache_ready_front(b.cache)->token, 1001);
    cache_ready_pop(b.cache);
    assert_null(cache_ready_front(b.cache));
    assert_false(cache_waits_for(b.cache, down.token));
    assert_true(cache_idle(b.cache));

    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1000, 4, 5, 40, 0), CACHE_HIT);
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1000, 4, 5, 90, 0), CACHE_HIT); /* the same slot, a later warp */
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1000, 4, 6, 40, 0), CACHE_HIT);
    assert_int_equal(b.result.line_warp, 5);
    assert_int_equal(b.result.line_age, 40);
    const struct cache_counters *n = cache_counters(b.cache);
    assert_int_equal(n->intra_warp_hits, 1);
    assert_int_equal(n->inter_warp_hits, 2);
    assert_int_equal(n->fills, 1);
    assert_int_equal(n->misses_sent, 1);
    assert_int_equal(n->pending_hits, 1);
    assert_conserved(b.cache);
    close_bench(&b);
}

/* A hit that is asked for first changes and counts what an access does; what is no hit is left to the access. */
static void read_hit_is_an_access(void **state)
{
    (void)state;
    struct bench whole, first;
    open_bench(&whole, &l1_config);
    open_bench(&first, &l1_config);
    uint32_t seed = 1, hits = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        uint64_t address = (seed >> 16) % (3 * 32 * 4 * 128) & ~7ull; /* three times what it holds */
        uint16_t warp = seed >> 8 & 3;
        enum cache_outcome outcome = access_as(&whole, PACKET_LOAD, address, 8, warp, warp, i);
        bool hit = cache_read_hit(first.cache, address, 8, warp, warp);
        hits += hit;
        assert_int_equal(hit ? CACHE_HIT : access_as(&first, PACKET_LOAD, address, 8, warp, warp, i), outcome);
        if (i % 3 == 0 && cache_miss_front(whole.cache)) {
            struct packet down = take_miss(&whole), same = take_miss(&first);
            assert_int_equal(down.address, same.address);
            assert_true(cache_fill(whole.cache, &down, i) && cache_fill(first.cache, &same, i));
        }
        while (cache_ready_front(whole.cache)) {
            cache_ready_pop(whole.cache);
            cache_ready_pop(first.cache);
        }
    }
    assert_in_range(hits, 1000, 19000);
    assert_memory_equal(cache_counters(whole.cache), cache_counters(first.cache), sizeof(struct cache_counters));
    close_bench(&whole);
    close_bench(&first);
}

static void short_line_asks_for_two_sectors(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.line_bytes = 64;
    struct bench b;
    open_bench(&b, &config);
    assert_int_equal(load(&b, 0x1060), CACHE_MISS);
    assert_int_equal(cache_miss_front(b.cache)->sectors, 3);
    assert_int_equal(cache_miss_front(b.cache)->bytes, 64);
    assert_int_equal(cache_miss_front(b.cache)->address, 0x1040);
    close_bench(&b);
}

/* A line asked for whole comes in sectors, in any order, perhaps with another line's between them. */
static void sectors_come_out_of_order(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    load(&b, 0);
    load(&b, 128);
    struct packet first = take_miss(&b), second = take_miss(&b);
    static const uint8_t order[3] = {2, 0, 3};
    for (int i = 0; i < 3; i++) {
        first.sectors = (uint8_t)(1 << order[i]);
        first.bytes = 32;
        assert_false(cache_fill(b.cache, &first, 0));
        assert_false(cache_probe(b.cache, 0));
    }
    assert_true(cache_fill(b.cache, &second, 0));
    assert_int_equal(load(&b, 0), CACHE_PENDING);
    first.sectors = 2;
    assert_true(cache_fill(b.cache, &first, 0));
    assert_int_equal(load(&b, 0), CACHE_HIT);
    assert_int_equal(cache_ready_front(b.cache)->address, 128); /* it was complete first */
    cache_ready_pop(b.cache);
    assert_int_equal(cache_ready_front(b.cache)->address, 0);
    assert_int_equal(cache_counters(b.cache)->fills, 5);
    close_bench(&b);
}

static void merge_limit(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    assert_int_equal(load(&b, 0), CACHE_MISS);
    assert_int_equal(load(&b, 0), CACHE_PENDING);
    assert_int_equal(load(&b, 0), CACHE_PENDING);
    for (int i = 0; i < 5; i++)
        assert_fails(&b, load(&b, 64), CACHE_FAIL_MERGE);
    assert_int_equal(cache_counters(b.cache)->fails[CACHE_FAIL_MERGE], 5);
    assert_int_equal(cache_counters(b.cache)->accesses, 3);
    settle(&b);
    assert_int_equal(load(&b, 64), CACHE_HIT); /* the failure is not remembered beyond the fill */
    assert_conserved(b.cache);
    close_bench(&b);
}

static void mshr_entries_run_out(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(load(&b, i * 128), CACHE_MISS);
        take_miss(&b);
    }
    assert_fails(&b, load(&b, 8 * 128), CACHE_FAIL_MSHR);
    assert_fails(&b, load(&b, 8 * 128), CACHE_FAIL_MSHR);
    assert_int_equal(load(&b, 7 * 128), CACHE_PENDING); /* merging needs no entry */
    struct packet answer = {.token = 0, .sectors = 0xf};
    assert_true(cache_fill(b.cache, &answer, 0));
    assert_fails(&b, load(&b, 8 * 128), CACHE_FAIL_MSHR); /* filled, but its request has not been taken */
    cache_ready_pop(b.cache);
    assert_int_equal(load(&b, 8 * 128), CACHE_MISS);
    assert_int_equal(cache_miss_front(b.cache)->token, 0);
    close_bench(&b);
}

static void all_ways_reserved(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(load(&b, i * 4096), CACHE_MISS);
    assert_fails(&b, load(&b, 4 * 4096), CACHE_FAIL_WAYS);
    assert_fails(&b, load(&b, 4 * 4096), CACHE_FAIL_WAYS);
    assert_int_equal(load(&b, 4 * 4096 + 128), CACHE_MISS); /* another set */
    assert_int_equal(store(&b, 4 * 4096), CACHE_MISS);      /* a store takes no line here */
    settle(&b);
    assert_int_equal(load(&b, 4 * 4096), CACHE_MISS);
    assert_true(b.result.evicted);
    assert_int_equal(b.result.evicted_address, 0);
    assert_int_equal(cache_counters(b.cache)->fails[CACHE_FAIL_WAYS], 2);
    close_bench(&b);
}

static void miss_queue_full(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.miss_queue = 2;
    struct bench b;
    open_bench(&b, &config);
    assert_int_equal(load(&b, 0), CACHE_MISS);
    assert_int_equal(store(&b, 128), CACHE_MISS);
    assert_fails(&b, load(&b, 256), CACHE_FAIL_QUEUE);
    assert_fails(&b, store(&b, 256), CACHE_FAIL_QUEUE);
    assert_int_equal(load(&b, 0), CACHE_PENDING);
    take_miss(&b);
    assert_int_equal(store(&b, 256), CACHE_MISS);
    assert_fails(&b, load(&b, 256), CACHE_FAIL_QUEUE);
    take_miss(&b);
    assert_int_equal(load(&b, 256), CACHE_MISS);
    assert_conserved(b.cache);
    close_bench(&b);
}

/* With a reserve of two, a read that does not hit needs two places, also one that would be merged; stores need one. */
static void miss_reserve(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.miss_queue = 2;
    struct bench b;
    open_bench(&b, &config);
    cache_set_writeback(b.cache, PACKET_L1_WRITEBACK, 2);
    assert_int_equal(load(&b, 0), CACHE_MISS);
    assert_fails(&b, load(&b, 128), CACHE_FAIL_QUEUE);
    assert_fails(&b, load(&b, 0), CACHE_FAIL_QUEUE);
    assert_int_equal(store(&b, 128), CACHE_MISS);
    assert_fails(&b, store(&b, 128), CACHE_FAIL_QUEUE);
    take_miss(&b);
    assert_fails(&b, load(&b, 128), CACHE_FAIL_QUEUE);
    take_miss(&b);
    assert_int_equal(load(&b, 128), CACHE_MISS);
    close_bench(&b);
}

/* A queue of one place is enough for a miss, whatever the reserve, and for the write-back of its victim with it. */
static void queue_of_one(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.miss_queue = config.ways = 1;
    struct bench b;
    open_bench(&b, &config);
    cache_set_writeback(b.cache, PACKET_L1_WRITEBACK, 2);
    bring(&b, 0);
    assert_int_equal(access_as(&b, PACKET_LOCAL_STORE, 0, 4, 0, 0, 0), CACHE_HIT); /* the line is modified */
    assert_int_equal(load(&b, 32 * 128), CACHE_MISS);
    assert_fails(&b, load(&b, 128), CACHE_FAIL_QUEUE);
    assert_int_equal(take_miss(&b).kind, PACKET_LOAD);
    assert_fails(&b, load(&b, 128), CACHE_FAIL_QUEUE);
    assert_int_equal(take_miss(&b).kind, PACKET_L1_WRITEBACK);
    assert_int_equal(load(&b, 128), CACHE_MISS);
    assert_conserved(b.cache);
    close_bench(&b);
}

static void sector_misses(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l2_config);
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1020, 32, 0, 0, 0), CACHE_MISS);
    struct packet one = take_miss(&b);
    assert_int_equal(one.address, 0x1020);
    assert_int_equal(one.bytes, 32);
    assert_int_equal(one.sectors, 2);
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1020, 32, 0, 0, 0), CACHE_PENDING);
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1060, 32, 0, 0, 0),
                     CACHE_MISS); /* another sector of the line: an entry of its own, no way of its own */
    assert_int_equal(b.result.way, 0);
    assert_int_equal(cache_outstanding(b.cache), 2);
    struct packet three = take_miss(&b);
    assert_int_equal(three.sectors, 8);
    assert_true(cache_fill(b.cache, &three, 0));
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1060, 32, 0, 0, 0), CACHE_HIT);
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1020, 32, 0, 0, 0), CACHE_PENDING);
    assert_true(cache_fill(b.cache, &one, 0));
    assert_true(cache_probe(b.cache, 0x1020));
    assert_false(cache_probe(b.cache, 0x1000));
    /* The whole line: asks for what is missing. */
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1000, 128, 0, 0, 0), CACHE_MISS);
    struct packet rest = take_miss(&b);
    assert_int_equal(rest.sectors, 5);
    assert_int_equal(rest.bytes, 64);
    assert_int_equal(rest.address, 0x1000);
    rest.sectors = 4;
    assert_false(cache_fill(b.cache, &rest, 0));
    rest.sectors = 1;
    assert_true(cache_fill(b.cache, &rest, 0));
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1000, 128, 0, 0, 0), CACHE_HIT);
    /* Only the sectors that the packet names. */
    struct packet named = packet(PACKET_LOAD, 0x2000, 128);
    named.sectors = 9;
    assert_int_equal(cache_access(b.cache, &named, 0, 0, &b.result), CACHE_MISS);
    assert_int_equal(take_miss(&b).sectors, 9);
    assert_conserved(b.cache);
    close_bench(&b);
}

/* Two sectors that come with different entries: the request waits for the later one. */
static void request_over_two_entries(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l2_config);
    access_as(&b, PACKET_LOAD, 0, 32, 0, 0, 1);
    access_as(&b, PACKET_LOAD, 32, 32, 0, 0, 2);
    assert_int_equal(access_as(&b, PACKET_LOAD, 0, 64, 0, 0, 3), CACHE_PENDING);
    struct packet first = take_miss(&b), second = take_miss(&b);
    assert_true(cache_fill(b.cache, &first, 0));
    assert_int_equal(cache_ready_front(b.cache)->token, 1);
    cache_ready_pop(b.cache);
    assert_null(cache_ready_front(b.cache));
    assert_true(cache_fill(b.cache, &second, 0));
    assert_int_equal(cache_ready_front(b.cache)->token, 2);
    cache_ready_pop(b.cache);
    assert_int_equal(cache_ready_front(b.cache)->token, 3);
    cache_ready_pop(b.cache);
    assert_true(cache_idle(b.cache));
    close_bench(&b);
}

static uint32_t set_of_address(struct bench *b, uint64_t address)
{
    cache_access(b->cache, &(struct packet){.kind = PACKET_STORE, .address = address, .bytes = 4}, 0, 0, &b->result);
    settle(b);
    return b->result.set;
}

static uint64_t without_bit_8(const void *context, uint64_t address)
{
    (void)context;
    return (address >> 9 << 8) | (address & 0xff);
}

static void set_index(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.index = SET_INDEX_HASHED;
    struct bench b;
    open_bench(&b, &config);
    assert_int_equal(set_of_address(&b, 0x80), 1);
    assert_int_equal(set_of_address(&b, 0x1000), 0); /* bit 12 takes no part with 32 sets */
    assert_int_equal(set_of_address(&b, 0x2000), 1); /* bit 13 -> 0 */
    assert_int_equal(set_of_address(&b, 0x4000), 2); /* bit 14 -> 1 */
    assert_int_equal(set_of_address(&b, 0x8000), 4); /* bit 15 -> 2 */
    assert_int_equal(set_of_address(&b, 0x10000), 0);
    assert_int_equal(set_of_address(&b, 0x20000), 8); /* bit 17 -> 3 */
    assert_int_equal(set_of_address(&b, 0x40000), 0);
    assert_int_equal(set_of_address(&b, 0x80000), 16); /* bit 19 -> 4 */
    assert_int_equal(set_of_address(&b, 0xaef80),
                     31 ^ 31); /* 10101110111110000000: low 31; bits 13, 14, 15, 17, 19 all set */
    assert_int_equal(set_of_address(&b, 0xa0080), 1 ^ 24);
    close_bench(&b);

    config.sets = 64;
    open_bench(&b, &config);
    assert_int_equal(set_of_address(&b, 0x1000), 32);
    assert_int_equal(set_of_address(&b, 0x3f80), 32 | (31 ^ 1));
    close_bench(&b);

    config.sets = 8; /* folded: the line number 0b101'110'011 */
    open_bench(&b, &config);
    assert_int_equal(set_of_address(&b, 0x173u << 7), 5 ^ 6 ^ 3);
    close_bench(&b);

    config.index = SET_INDEX_MULTIPLIED; /* 7 times what stands above the set's bits is added to them */
    open_bench(&b, &config);
    assert_int_equal(set_of_address(&b, 0x173u << 7), (3 + 7 * 0x2e) % 8);
    assert_int_equal(set_of_address(&b, 0x80), 1);
    assert_int_equal(set_of_address(&b, 0x400), 7);
    assert_int_equal(set_of_address(&b, 0x480), 0);
    close_bench(&b);
    for (config.sets = 1; config.sets <= 128; config.sets *= 2) {
        open_bench(&b, &config);
        for (uint64_t number = 0; number < 1u << 20; number = number * 3 + 1)
            assert_int_equal(set_of_address(&b, number * 128),
                             (number % config.sets + 7 * (number / config.sets)) % config.sets);
        close_bench(&b);
    }

    config.index = SET_INDEX_LINEAR;
    config.sets = 12;
    open_bench(&b, &config);
    assert_int_equal(set_of_address(&b, 128 * 25), 1);
    close_bench(&b);

    config.sets = 64;
    b = (struct bench){.now = 0};
    b.cache = cache_create(&b.arena, &config, without_bit_8, NULL);
    assert_int_equal(set_of_address(&b, 0x100), 0);
    assert_int_equal(set_of_address(&b, 0x200), 2);
    assert_int_equal(set_of_address(&b, 0x380), 3);
    close_bench(&b);
}

static void least_recently_used_leaves(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    for (uint64_t i = 0; i < 4; i++)
        bring(&b, i * 4096);
    load(&b, 0);
    load(&b, 2 * 4096);
    /* Order of use: 1 3 0 2. Use is what counts, not when the data comes: 4 is asked for before 3 is used again, and
     * comes after. */
    assert_int_equal(load(&b, 4 * 4096), CACHE_MISS);
    assert_int_equal(b.result.evicted_address, 1 * 4096);
    assert_int_equal(load(&b, 3 * 4096), CACHE_HIT);
    settle(&b);
    static const uint64_t leaves[] = {0, 2, 4, 3};
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(load(&b, (5 + i) * 4096), CACHE_MISS);
        assert_int_equal(b.result.evicted_address, leaves[i] * 4096);
        settle(&b);
    }
    /* A merged request counts as use. */
    load(&b, 9 * 4096); /* in place of 5; 6 7 8 are older */
    load(&b, 6 * 4096);
    load(&b, 7 * 4096);
    load(&b, 8 * 4096);
    assert_int_equal(load(&b, 9 * 4096), CACHE_PENDING);
    settle(&b);
    load(&b, 10 * 4096);
    assert_int_equal(b.result.evicted_address, 6 * 4096);
    settle(&b);
    /* A way that a store emptied is taken before any line is pushed out. */
    store(&b, 8 * 4096);
    settle(&b);
    assert_int_equal(load(&b, 11 * 4096), CACHE_MISS);
    assert_false(b.result.evicted);
    close_bench(&b);
}

/* Ways that stores have emptied, in whatever order, are taken from the lowest on; then the order of use counts
 * again. */
static void lowest_empty_way_first(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.ways = 11;
    static const uint64_t dropped[] = {7, 2, 10, 3, 0}, taken[] = {0, 2, 3, 7, 10}, kept[] = {1, 4, 5, 6, 8, 9};
    struct bench b;
    open_bench(&b, &config);
    for (uint64_t i = 0; i < 11; i++) {
        bring(&b, i * 4096);
        assert_int_equal(b.result.way, i);
    }
    for (int i = 0; i < 5; i++) {
        assert_int_equal(store(&b, dropped[i] * 4096), CACHE_HIT);
        settle(&b);
        assert_false(cache_probe(b.cache, dropped[i] * 4096));
    }
    for (uint64_t i = 0; i < 5; i++) {
        bring(&b, (20 + i) * 4096);
        assert_int_equal(b.result.way, taken[i]);
        assert_false(b.result.evicted);
    }
    for (uint64_t i = 0; i < 6; i++) {
        bring(&b, (30 + i) * 4096);
        assert_int_equal(b.result.way, kept[i]);
        assert_int_equal(b.result.evicted_address, kept[i] * 4096);
    }
    close_bench(&b);
}

/* A caller that has to repeat an access may ask whether that is in vain; tries count as if it had been repeated. */
static void fails_again_until_something_changes(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    assert_false(cache_fails_again(b.cache));
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(load(&b, i * 128), CACHE_MISS);
    assert_false(cache_fails_again(b.cache));
    assert_fails(&b, load(&b, 8 * 128), CACHE_FAIL_MSHR);
    for (int i = 0; i < 3; i++)
        assert_true(cache_fails_again(b.cache));
    assert_fails(&b, load(&b, 8 * 128), CACHE_FAIL_MSHR);
    assert_int_equal(cache_counters(b.cache)->fails[CACHE_FAIL_MSHR], 5);
    struct packet down = take_miss(&b);
    assert_int_equal(cache_head(b.cache)->blocked,
                     CACHE_BLOCKED_BY_ENTRIES); /* a place in the miss queue is not what it waits for */
    assert_fails(&b, load(&b, 8 * 128), CACHE_FAIL_MSHR);
    assert_true(cache_fails_again(b.cache));
    assert_true(cache_fill(b.cache, &down, 0));
    assert_int_equal(cache_head(b.cache)->blocked,
                     CACHE_BLOCKED_BY_ENTRIES); /* the entry is in use until its request has been taken */
    cache_ready_pop(b.cache);
    assert_false(cache_fails_again(b.cache));
    assert_int_equal(load(&b, 8 * 128), CACHE_MISS);
    assert_int_equal(cache_counters(b.cache)->fails[CACHE_FAIL_MSHR], 7);
    cache_counters_reset(b.cache);
    assert_int_equal(cache_counters(b.cache)->fails[CACHE_FAIL_MSHR], 0);
    close_bench(&b);
}

static void full_queue_blocks_until_a_miss_is_taken(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.miss_queue = 2;
    struct bench b;
    open_bench(&b, &config);
    assert_int_equal(load(&b, 0), CACHE_MISS);
    assert_int_equal(load(&b, 128), CACHE_MISS);
    assert_fails(&b, load(&b, 2 * 128), CACHE_FAIL_QUEUE);
    assert_true(cache_fails_again(b.cache));
    take_miss(&b);
    assert_false(cache_fails_again(b.cache));
    assert_int_equal(load(&b, 2 * 128), CACHE_MISS);
    close_bench(&b);
}

static void allocate_on_fill(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.allocate = ALLOCATE_ON_FILL;
    config.sets = 1;
    config.ways = 2;
    struct bench b;
    open_bench(&b, &config);
    bring(&b, 0);
    bring(&b, 128);
    for (uint64_t i = 2; i < 6; i++) { /* more misses than ways */
        assert_int_equal(load(&b, i * 128), CACHE_MISS);
        assert_false(b.result.evicted);
        assert_int_equal(b.result.way, UINT32_MAX);
    }
    assert_int_equal(access_as(&b, PACKET_LOAD, 2 * 128, 4, 3, 0, 0), CACHE_PENDING);
    assert_int_equal(load(&b, 0), CACHE_HIT); /* still there, and now the younger */
    struct packet p = take_miss(&b);
    assert_true(cache_fill(b.cache, &p, 0));
    assert_true(cache_probe(b.cache, 0));
    assert_false(cache_probe(b.cache, 128));
    assert_true(cache_probe(b.cache, 2 * 128));
    /* A modified line that is pushed out by a fill goes down although the queue is full. */
    assert_int_equal(access_as(&b, PACKET_LOCAL_STORE, 0, 4, 0, 0, 0), CACHE_HIT);
    assert_int_equal(load(&b, 2 * 128), CACHE_HIT);
    p = take_miss(&b);
    for (int i = 0; i < 6; i++)
        assert_int_equal(store(&b, 0x10000), CACHE_MISS);
    assert_fails(&b, store(&b, 0x10000), CACHE_FAIL_QUEUE);
    assert_true(cache_fill(b.cache, &p, 0));
    assert_fails(&b, store(&b, 0x10000), CACHE_FAIL_QUEUE);
    struct packet last = {.kind = 0};
    int count = 0;
    for (; cache_miss_front(b.cache); count++) {
        last = take_miss(&b);
        if (!packet_is_write(&last))
            cache_fill(b.cache, &last, 0);
    }
    assert_int_equal(count, 9);
    assert_int_equal(last.kind, PACKET_L1_WRITEBACK);
    assert_int_equal(last.address, 0);
    close_bench(&b);
}

/* A filled entry whose requests wait to be taken is no longer found: the line, dropped meanwhile, is asked for
 * again. */
static void dropped_while_requests_wait(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    load(&b, 0);
    struct packet p = take_miss(&b);
    cache_fill(b.cache, &p, 0);
    assert_int_equal(store(&b, 0), CACHE_HIT);
    assert_int_equal(load(&b, 0), CACHE_MISS);
    assert_int_equal(cache_outstanding(b.cache), 2);
    settle(&b);
    assert_int_equal(load(&b, 0), CACHE_HIT);
    close_bench(&b);
}

static void touch_and_invalidate(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l2_config);
    cache_touch(b.cache, 0x1020, &b.result);
    assert_true(cache_probe(b.cache, 0x103f));
    assert_false(cache_probe(b.cache, 0x1040));
    assert_int_equal(cache_counters(b.cache)->accesses, 0);
    for (uint64_t i = 0; i < 8; i++)
        cache_touch(b.cache, 0x10000 + i * 8192, &b.result); /* same set as 0x10000, not as 0x1020 */
    cache_touch(b.cache, 0x10000 + 8 * 8192, &b.result);
    assert_false(cache_probe(b.cache, 0x10000));
    assert_true(cache_probe(b.cache, 0x10000 + 8192));
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1020, 32, 0, 0, 0), CACHE_HIT);
    assert_int_equal(cache_counters(b.cache)->evictions, 0);
    assert_int_equal(cache_counters(b.cache)->inter_warp_hits, 1);
    cache_invalidate(b.cache);
    assert_false(cache_probe(b.cache, 0x1020));
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1020, 32, 0, 0, 0), CACHE_MISS);
    assert_false(b.result.evicted);
    cache_counters_reset(b.cache);
    assert_int_equal(cache_counters(b.cache)->accesses, 0);
    close_bench(&b);
}

/* What is there goes, what is on its way comes and stays. */
static void drop(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    cache_drop(b.cache);
    bring(&b, 0);
    bring(&b, 4096);
    assert_int_equal(access_as(&b, PACKET_LOCAL_STORE, 4096, 4, 0, 0, 0), CACHE_HIT);
    assert_int_equal(load(&b, 8192), CACHE_MISS);
    cache_drop(b.cache);
    assert_false(cache_probe(b.cache, 0));
    assert_false(cache_probe(b.cache, 4096));
    assert_int_equal(load(&b, 8192), CACHE_PENDING);
    settle(&b);
    assert_true(cache_probe(b.cache, 8192));
    cache_drop(b.cache);
    assert_false(cache_probe(b.cache, 8192));
    for (uint64_t i = 0; i < 8; i++)
        bring(&b, i * 4096);
    assert_int_equal(cache_counters(b.cache)->writebacks, 0); /* the modified line went without a word */
    assert_int_equal(cache_counters(b.cache)->evictions, 4);
    close_bench(&b);
}

static void ports(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l2_config); /* 32 bytes per cycle */
    assert_true(cache_port_free(b.cache, 10));
    cache_use_port(b.cache, 32, 10);
    assert_false(cache_port_free(b.cache, 10));
    assert_true(cache_port_free(b.cache, 11));
    cache_use_port(b.cache, 100, 11);
    assert_false(cache_port_free(b.cache, 14));
    assert_true(cache_port_free(b.cache, 15));
    assert_true(cache_fill_port_free(b.cache, 14));
    cache_use_fill_port(b.cache, 32, 14);
    cache_use_fill_port(b.cache, 32, 14);
    assert_false(cache_fill_port_free(b.cache, 15));
    assert_true(cache_fill_port_free(b.cache, 16));
    close_bench(&b);
    open_bench(&b, &l1_config); /* no limit */
    cache_use_port(b.cache, 4096, 1);
    assert_true(cache_port_free(b.cache, 1));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(miss_pending_hit),
        cmocka_unit_test(read_hit_is_an_access),
        cmocka_unit_test(short_line_asks_for_two_sectors),
        cmocka_unit_test(sectors_come_out_of_order),
        cmocka_unit_test(merge_limit),
        cmocka_unit_test(mshr_entries_run_out),
        cmocka_unit_test(all_ways_reserved),
        cmocka_unit_test(miss_queue_full),
        cmocka_unit_test(miss_reserve),
        cmocka_unit_test(queue_of_one),
        cmocka_unit_test(sector_misses),
        cmocka_unit_test(request_over_two_entries),
        cmocka_unit_test(set_index),
        cmocka_unit_test(least_recently_used_leaves),
        cmocka_unit_test(lowest_empty_way_first),
        cmocka_unit_test(fails_again_until_something_changes),
        cmocka_unit_test(full_queue_blocks_until_a_miss_is_taken),
        cmocka_unit_test(allocate_on_fill),
        cmocka_unit_test(dropped_while_requests_wait),
        cmocka_unit_test(touch_and_invalidate),
        cmocka_unit_test(drop),
        cmocka_unit_test(ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
