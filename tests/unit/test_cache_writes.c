/* Stores and atomics in a cache: the write rules, sectors written in part or on their way, what leaves
 * modified. */
#include "cache_test.h"
#include "mem/write_rule.h"

static void write_evict(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    bring(&b, 0x2000);
    assert_int_equal(access_as(&b, PACKET_STORE, 0x2044, 8, 4, 9, 55), CACHE_HIT);
    assert_true(b.result.sends_write);
    assert_false(b.result.evicted);
    assert_false(cache_probe(b.cache, 0x2000));
    struct packet down = take_miss(&b);
    assert_int_equal(down.kind, PACKET_STORE);
    assert_int_equal(down.address, 0x2044);
    assert_int_equal(down.bytes, 8);
    assert_int_equal(down.token, 55);
    assert_int_equal(store(&b, 0x2044), CACHE_MISS); /* absent: sent, nothing taken */
    assert_true(b.result.sends_write);
    take_miss(&b);
    assert_int_equal(load(&b, 0x2000), CACHE_MISS);
    assert_int_equal(store(&b, 0x2000), CACHE_MISS); /* reserved: sent, and the line still comes */
    assert_true(b.result.sends_write);
    settle(&b);
    assert_int_equal(load(&b, 0x2000), CACHE_HIT);
    const struct cache_counters *n = cache_counters(b.cache);
    assert_int_equal(n->write_hits, 1);
    assert_int_equal(n->write_misses, 2);
    assert_int_equal(n->evictions, 0);
    assert_conserved(b.cache);
    close_bench(&b);
}

static void write_through_keeps_the_line(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.global_writes = WRITE_THROUGH;
    struct bench b;
    open_bench(&b, &config);
    bring(&b, 0);
    assert_int_equal(store(&b, 0), CACHE_HIT);
    assert_true(b.result.sends_write);
    assert_int_equal(take_miss(&b).kind, PACKET_STORE);
    assert_int_equal(load(&b, 0), CACHE_HIT);
    assert_int_equal(store(&b, 128), CACHE_MISS);
    assert_true(b.result.sends_write);
    take_miss(&b);
    assert_false(cache_probe(b.cache, 128));
    close_bench(&b);
}

/* Local stores in the L1: a hit marks, a miss goes down; a modified line that leaves is written back behind the read
 * that pushed it out. */
static void local_write_back(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    assert_int_equal(access_as(&b, PACKET_LOCAL_STORE, 0, 4, 0, 0, 0), CACHE_MISS);
    assert_true(b.result.sends_write);
    settle(&b);
    assert_int_equal(access_as(&b, PACKET_LOCAL_LOAD, 0, 4, 7, 12, 0), CACHE_MISS);
    settle(&b);
    assert_int_equal(access_as(&b, PACKET_LOCAL_STORE, 4, 4, 8, 13, 0), CACHE_HIT);
    assert_false(b.result.sends_write);
    assert_null(cache_miss_front(b.cache));
    for (uint64_t i = 1; i < 4; i++)
        bring(&b, i * 4096);
    assert_int_equal(load(&b, 4 * 4096), CACHE_MISS);
    assert_true(b.result.evicted);
    assert_int_equal(b.result.evicted_warp, 7);
    assert_int_equal(b.result.evicted_age, 12);
    assert_int_equal(b.result.evicted_address, 0);
    assert_int_equal(b.result.writeback_bytes, 128);
    assert_int_equal(take_miss(&b).kind, PACKET_LOAD);
    struct packet back = take_miss(&b);
    assert_int_equal(back.kind, PACKET_L1_WRITEBACK);
    assert_int_equal(back.address, 0);
    assert_int_equal(back.bytes, 128);
    assert_int_equal(back.sectors, 0xf);
    assert_int_equal(cache_counters(b.cache)->writebacks, 1);
    close_bench(&b);
}

/* A read whose victim is modified needs two places, one whose victim is clean one. */
static void modified_victim_needs_room(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.ways = 1;
    config.miss_queue = 2;
    struct bench b;
    open_bench(&b, &config);
    bring(&b, 0);
    bring(&b, 128);
    assert_int_equal(access_as(&b, PACKET_LOCAL_STORE, 0, 4, 0, 0, 0), CACHE_HIT);
    assert_int_equal(store(&b, 256), CACHE_MISS);
    assert_fails(&b, load(&b, 4096), CACHE_FAIL_QUEUE);
    assert_true(cache_probe(b.cache, 0));
    assert_false(b.result.evicted);
    assert_int_equal(load(&b, 4096 + 128), CACHE_MISS);
    settle(&b);
    assert_int_equal(load(&b, 4096), CACHE_MISS);
    assert_int_equal(take_miss(&b).kind, PACKET_LOAD);
    assert_int_equal(take_miss(&b).kind, PACKET_L1_WRITEBACK);
    close_bench(&b);
}

/* The L2: stores take sectors without fetching; what leaves modified goes down in one packet. */
static enum cache_outcome store_bytes(struct bench *b, uint64_t sector, uint32_t bytes)
{
    struct packet p = packet(PACKET_STORE, sector, 32);
    p.mask = bytes;
    return cache_access(b->cache, &p, 0, b->now++, &b->result);
}

/* A sector that stores have written in part is read from below when it is read, and modified still when it has come;
 * one that they have written wholly is not. */
static void partial_writes(void **state)
{
    (void)state;
    struct bench b;
    struct cache_config c = l2_config;
    c.partial_writes = true;
    open_bench(&b, &c);
    assert_int_equal(store_bytes(&b, 0x1000, 0xffff), CACHE_MISS);
    assert_null(cache_miss_front(b.cache)); /* fetched when it is read, not before */
    assert_false(cache_probe(b.cache, 0x1000));
    assert_int_equal(store_bytes(&b, 0x1000, 0x3), CACHE_HIT);
    assert_int_equal(load(&b, 0x1000), CACHE_MISS);
    assert_int_equal(load(&b, 0x1004), CACHE_PENDING);
    struct packet down = take_miss(&b);
    assert_int_equal(down.address, 0x1000);
    assert_int_equal(down.bytes, 32);
    assert_int_equal(down.kind, PACKET_LOAD);
    assert_null(cache_miss_front(b.cache));
    assert_true(cache_fill(b.cache, &down, b.now));
    settle(&b);
    assert_int_equal(load(&b, 0x1000), CACHE_HIT);
    assert_int_equal(store_bytes(&b, 0x1000, 0x1), CACHE_HIT); /* a part of what is there */
    assert_int_equal(load(&b, 0x1000), CACHE_HIT);

    assert_int_equal(store_bytes(&b, 0x1020, 0x0000ffff), CACHE_MISS);
    assert_int_equal(store_bytes(&b, 0x1020, 0x7fff0000), CACHE_HIT);
    assert_false(cache_probe(b.cache, 0x1020)); /* all but a byte */
    assert_int_equal(store_bytes(&b, 0x1020, 0x80000000), CACHE_HIT);
    assert_true(cache_probe(b.cache, 0x1020));
    assert_int_equal(load(&b, 0x1020), CACHE_HIT);
    assert_int_equal(store_bytes(&b, 0x1040, UINT32_MAX), CACHE_MISS);
    assert_int_equal(load(&b, 0x1040), CACHE_HIT);

    /* An atomic reads. */
    assert_int_equal(store_bytes(&b, 0x1060, 0xf), CACHE_MISS);
    assert_int_equal(access_as(&b, PACKET_ATOMIC, 0x1060, 4, 0, 0, 0), CACHE_MISS);
    settle(&b);
    assert_int_equal(access_as(&b, PACKET_ATOMIC, 0x1060, 4, 0, 0, 0), CACHE_HIT);

    /* All four sectors leave, those that were fetched too; and in the line that takes their place nothing is left of
     * their bytes. */
    for (uint32_t i = 1; i < 8; i++)
        bring(&b, 0x1000 + i * 64 * 128);
    assert_int_equal(store_bytes(&b, 0x1000 + 8 * 64 * 128 + 0x20, 0x80000000), CACHE_MISS);
    assert_int_equal(b.result.writeback_bytes, 128);
    assert_int_equal(b.result.evicted_address, 0x1000);
    assert_false(cache_probe(b.cache, 0x1000 + 8 * 64 * 128 + 0x20));
    settle(&b);

    /* A copy from the host writes all, below too: what it wrote is not modified. */
    cache_touch(b.cache, 0x1000 + 8 * 64 * 128 + 0x20, &b.result);
    assert_int_equal(load(&b, 0x1000 + 8 * 64 * 128 + 0x20), CACHE_HIT);
    for (uint32_t i = 9; i < 17; i++)
        bring(&b, 0x1000 + i * 64 * 128);
    assert_int_equal(cache_counters(b.cache)->writebacks, 1);
    assert_conserved(b.cache);
    close_bench(&b);

    /* Elsewhere what a store takes counts as written. */
    open_bench(&b, &l2_config);
    assert_int_equal(store_bytes(&b, 0x1000, 0x1), CACHE_MISS);
    assert_int_equal(load(&b, 0x1000), CACHE_HIT);
    close_bench(&b);
}

static enum cache_outcome load_bytes(struct bench *b, uint64_t sector, uint32_t bytes)
{
    struct packet p = packet(PACKET_LOAD, sector, 32);
    p.mask = bytes;
    return cache_access(b->cache, &p, 0, b->now++, &b->result);
}

/* An H200's L1: stores go through, and take a line. What they have written is read there; what else of a sector is
 * fetched with all of it, and not modified when it has come. */
static void through_and_taken(void **state)
{
    (void)state;
    struct bench b;
    struct cache_config c = l2_config;
    c.global_writes = WRITE_THROUGH;
    c.write_allocate = c.partial_writes = true;
    c.allocate = ALLOCATE_ON_FILL;
    open_bench(&b, &c);
    struct packet p = packet(PACKET_STORE, 0xa080, 128); /* of words all, all but one, none and one */
    p.mask = 0x0400efff & ~0xff0000u;
    p.sectors = 0xb;
    assert_int_equal(cache_access(b.cache, &p, 0, b.now++, &b.result), CACHE_MISS);
    assert_int_equal(take_miss(&b).bytes, 128);
    assert_true(cache_probe(b.cache, 0xa080));
    assert_false(cache_probe(b.cache, 0xa0a0));
    assert_false(cache_probe(b.cache, 0xa0c0));
    assert_false(cache_probe(b.cache, 0xa0e0));
    assert_int_equal(store_bytes(&b, 0xa0a0, 0xf0000), CACHE_HIT);
    assert_int_equal(take_miss(&b).bytes, 32);
    assert_true(cache_probe(b.cache, 0xa0a0));
    assert_int_equal(store_bytes(&b, 0x1000, UINT32_MAX), CACHE_MISS);
    assert_true(b.result.sends_write);
    assert_int_equal(take_miss(&b).kind, PACKET_STORE);
    assert_int_equal(load(&b, 0x1000), CACHE_HIT);
    assert_int_equal(store_bytes(&b, 0x1000, 0xf), CACHE_HIT); /* of what is there */
    assert_int_equal(take_miss(&b).kind, PACKET_STORE);
    assert_int_equal(load(&b, 0x1000), CACHE_HIT);

    assert_int_equal(store_bytes(&b, 0x1020, 0xffff), CACHE_MISS);
    assert_int_equal(take_miss(&b).kind, PACKET_STORE);
    assert_false(cache_probe(b.cache, 0x1020));
    assert_int_equal(load_bytes(&b, 0x1020, 0xf0f), CACHE_HIT);
    assert_int_equal(load_bytes(&b, 0x1020, 0x1000f), CACHE_MISS);
    struct packet down = take_miss(&b);
    assert_int_equal(down.kind, PACKET_LOAD);
    assert_true(cache_fill(b.cache, &down, b.now));
    settle(&b);
    assert_int_equal(load(&b, 0x1020), CACHE_HIT);

    assert_int_equal(store_bytes(&b, 0x1040, 0xffff), CACHE_MISS);
    assert_int_equal(store_bytes(&b, 0x1040, 0xffff0000), CACHE_HIT);
    assert_int_equal(load(&b, 0x1040), CACHE_HIT);
    settle(&b);

    /* Dropped, the rest stays; nothing of it is ever written back. */
    assert_int_equal(store_bytes(&b, 0x1060, 0x1), CACHE_MISS);
    settle(&b);
    assert_true(cache_forget(b.cache, 0x1000, 32));
    assert_true(cache_forget(b.cache, 0x1060, 32));
    assert_false(cache_forget(b.cache, 0x1060, 32));
    assert_false(cache_probe(b.cache, 0x1000));
    assert_int_equal(load(&b, 0x1020), CACHE_HIT);
    for (uint32_t i = 1; i < 17; i++)
        bring(&b, 0x1000 + i * 64 * 128);
    assert_int_equal(cache_counters(b.cache)->writebacks, 0);
    assert_conserved(b.cache);
    close_bench(&b);
}

/* A part of a sector is written while the miss queue is full: nothing is needed there. */
static void partial_write_needs_no_queue(void **state)
{
    (void)state;
    struct bench b;
    struct cache_config c = l2_config;
    c.partial_writes = true;
    c.miss_queue = 1;
    open_bench(&b, &c);
    assert_int_equal(store_bytes(&b, 0x1000, 0xf), CACHE_MISS);
    assert_int_equal(load(&b, 0x2000), CACHE_MISS);
    assert_fails(&b, store_bytes(&b, 0x1020, 0xf), CACHE_FAIL_QUEUE);
    assert_int_equal(store_bytes(&b, 0x1000, 0xf0), CACHE_HIT);
    settle(&b);
    close_bench(&b);
}

static void write_allocate_and_back(void **state)
{
    (void)state;
    struct cache_config config = l2_config;
    config.sets = 1;
    config.ways = 2;
    struct bench b;
    open_bench(&b, &config);
    cache_set_writeback(b.cache, PACKET_L2_WRITEBACK, 0);
    assert_int_equal(access_as(&b, PACKET_STORE, 0x20, 32, 1, 0, 0), CACHE_MISS);
    assert_false(b.result.sends_write);
    assert_null(cache_miss_front(b.cache));
    assert_int_equal(access_as(&b, PACKET_STORE, 0x20, 32, 1, 0, 0), CACHE_HIT);
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x20, 32, 1, 0, 0), CACHE_HIT);
    assert_int_equal(access_as(&b, PACKET_L1_WRITEBACK, 0x60, 32, 1, 0, 0),
                     CACHE_MISS);                                                /* a sector more of the same line */
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x00, 32, 1, 0, 0), CACHE_MISS); /* a clean one */
    settle(&b);
    bring(&b, 0x80);
    assert_int_equal(store(&b, 0x100), CACHE_MISS);
    assert_true(b.result.evicted);
    assert_int_equal(b.result.writeback_bytes, 64);
    struct packet back = take_miss(&b);
    assert_int_equal(back.kind, PACKET_L2_WRITEBACK);
    assert_int_equal(back.address, 0);
    assert_int_equal(back.bytes, 64);
    assert_int_equal(back.sectors, 0xa);
    assert_null(cache_miss_front(b.cache));
    assert_int_equal(store(&b, 0x180), CACHE_MISS); /* pushes out a clean line: nothing goes down */
    assert_int_equal(b.result.evicted_address, 0x80);
    assert_null(cache_miss_front(b.cache));
    assert_int_equal(cache_counters(b.cache)->writebacks, 1);
    assert_int_equal(cache_counters(b.cache)->evictions, 2);
    assert_conserved(b.cache);
    close_bench(&b);
}

/* A store to a sector on its way: it is modified when it has come. */
static void store_to_reserved_sector(void **state)
{
    (void)state;
    struct cache_config config = l2_config;
    config.sets = config.ways = 1;
    struct bench b;
    open_bench(&b, &config);
    cache_set_writeback(b.cache, PACKET_L2_WRITEBACK, 0);
    load(&b, 0x40);
    assert_int_equal(store(&b, 0x40), CACHE_HIT);
    assert_fails(&b, store(&b, 0x80), CACHE_FAIL_WAYS);
    assert_int_equal(load(&b, 0x40), CACHE_PENDING);
    settle(&b);
    assert_int_equal(store(&b, 0x80), CACHE_MISS);
    assert_int_equal(take_miss(&b).sectors, 4);
    close_bench(&b);
}

/* A store over a sector on its way and one that is absent takes the absent one only. */
static void store_over_reserved_and_absent(void **state)
{
    (void)state;
    struct cache_config config = l2_config;
    config.sets = config.ways = 1;
    struct bench b;
    open_bench(&b, &config);
    load(&b, 0);
    assert_int_equal(access_as(&b, PACKET_STORE, 0, 64, 0, 0, 0), CACHE_MISS);
    assert_false(cache_probe(b.cache, 0));
    assert_true(cache_probe(b.cache, 32));
    assert_int_equal(load(&b, 0), CACHE_PENDING);
    settle(&b);
    load(&b, 128);
    assert_int_equal(b.result.writeback_bytes, 64);
    close_bench(&b);
}

/* A store that misses and has its line fetched. */

static struct cache_config fetching_config(void)
{
    struct cache_config config = l2_config;
    config.sector_bytes = 0;
    config.stores_fetch = true;
    return config;
}

static void open_fetching(struct bench *b, const struct cache_config *config)
{
    open_bench(b, config);
    cache_set_writeback(b->cache, PACKET_L2_WRITEBACK, 2);
}

/* It goes down as it is, behind it a read of the whole line, which is reserved until that comes, and clean then. Only a
 * store that hits modifies it. */
static void store_fetches_its_line(void **state)
{
    (void)state;
    struct cache_config config = fetching_config();
    config.sets = config.ways = 1;
    struct bench b;
    open_fetching(&b, &config);
    assert_int_equal(access_as(&b, PACKET_STORE, 0x1024, 8, 3, 0, 55), CACHE_MISS);
    assert_true(b.result.sends_write);
    assert_false(cache_probe(b.cache, 0x1000));
    struct packet down = take_miss(&b), fetch = take_miss(&b);
    assert_int_equal(down.kind, PACKET_STORE);
    assert_int_equal(down.address, 0x1024);
    assert_int_equal(down.bytes, 8);
    assert_int_equal(down.token, 55);
    assert_int_equal(fetch.kind, PACKET_L2_FETCH);
    assert_int_equal(fetch.address, 0x1000);
    assert_int_equal(fetch.bytes, 128);
    assert_int_equal(fetch.sectors, 0xf);
    assert_null(cache_miss_front(b.cache));
    assert_fails(&b, store(&b, 0x2000), CACHE_FAIL_WAYS); /* the line is reserved */
    assert_true(cache_fill(b.cache, &fetch, b.now));
    assert_int_equal(cache_ready_front(b.cache)->kind, PACKET_L2_FETCH);
    settle(&b);
    assert_true(cache_probe(b.cache, 0x1000));
    bring(&b, 0x2000);
    assert_int_equal(b.result.writeback_bytes, 0); /* it was clean */
    assert_int_equal(store(&b, 0x2000), CACHE_HIT);
    assert_false(b.result.sends_write);
    assert_null(cache_miss_front(b.cache));
    assert_int_equal(store(&b, 0x1000), CACHE_MISS);
    assert_int_equal(b.result.writeback_bytes, 128);
    assert_int_equal(take_miss(&b).kind, PACKET_STORE);
    fetch = take_miss(&b);
    assert_int_equal(fetch.kind, PACKET_L2_FETCH);
    down = take_miss(&b);
    assert_int_equal(down.kind, PACKET_L2_WRITEBACK);
    assert_int_equal(down.address, 0x2000);
    assert_true(cache_fill(b.cache, &fetch, b.now));
    settle(&b);
    const struct cache_counters *n = cache_counters(b.cache);
    assert_int_equal(n->write_misses, 2);
    assert_int_equal(n->write_hits, 1);
    assert_int_equal(n->misses_sent, 3);
    assert_int_equal(n->fills, 3);
    assert_int_equal(n->writebacks, 1);
    assert_conserved(b.cache);
    close_bench(&b);
}

/* A store to a line on its way goes down too, and takes a place of those that wait for the line, whoever asked for it;
 * nothing of it is modified when it comes, unless an atomic waits. */
static void store_to_a_line_on_its_way(void **state)
{
    (void)state;
    struct cache_config config = fetching_config();
    config.sets = config.ways = 1;
    config.miss_queue = 8;
    struct bench b;
    for (uint32_t loads_first = 0; loads_first < 2; loads_first++) {
        open_fetching(&b, &config);
        assert_int_equal(loads_first ? load(&b, 0x40) : store(&b, 0x40), CACHE_MISS);
        assert_int_equal(store(&b, 0x60), CACHE_MISS);
        assert_true(b.result.sends_write);
        assert_int_equal(load(&b, 0), CACHE_PENDING);
        assert_int_equal(store(&b, 0), CACHE_MISS);
        assert_fails(&b, store(&b, 0), CACHE_FAIL_MERGE); /* four wait */
        assert_fails(&b, load(&b, 0), CACHE_FAIL_MERGE);
        uint32_t reads = 0, writes = 0;
        struct packet read = {.kind = 0};
        for (const struct packet *p; (p = cache_miss_front(b.cache)); cache_miss_pop(b.cache)) {
            reads += !packet_is_write(p);
            writes += packet_is_write(p);
            if (!packet_is_write(p))
                read = *p;
        }
        assert_int_equal(reads, 1);
        assert_int_equal(writes, loads_first ? 2 : 3);
        assert_fails(&b, store(&b, 0), CACHE_FAIL_MERGE);
        assert_true(cache_fill(b.cache, &read, b.now));
        static const uint8_t order[2][4] = {{PACKET_L2_FETCH, PACKET_L2_FETCH, PACKET_LOAD, PACKET_L2_FETCH},
                                            {PACKET_LOAD, PACKET_L2_FETCH, PACKET_LOAD, PACKET_L2_FETCH}};
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(cache_ready_front(b.cache)->kind, order[loads_first][i]);
            cache_ready_pop(b.cache);
        }
        bring(&b, 0x80);
        assert_int_equal(b.result.writeback_bytes, 0);
        assert_int_equal(access_as(&b, PACKET_ATOMIC, 0, 4, 0, 0, 0), CACHE_MISS);
        assert_int_equal(store(&b, 0), CACHE_MISS);
        settle(&b);
        bring(&b, 0x80);
        assert_int_equal(b.result.writeback_bytes, 128);
        assert_conserved(b.cache);
        close_bench(&b);
    }
}

/* Three places of the miss queue, whatever the victim is, and an entry. It opens when the third is free, and when the
 * entry's last request has been taken. */
static void store_that_fetches_needs_room(void **state)
{
    (void)state;
    struct cache_config config = fetching_config();
    config.mshr_entries = 3;
    struct bench b;
    open_fetching(&b, &config);
    bring(&b, 0x8000);
    assert_int_equal(load(&b, 0), CACHE_MISS);
    assert_int_equal(load(&b, 0x80), CACHE_MISS);
    assert_fails(&b, store(&b, 0x100), CACHE_FAIL_QUEUE); /* two of four are free */
    assert_fails(&b, store(&b, 0), CACHE_FAIL_QUEUE);     /* on its way: the same */
    assert_int_equal(store(&b, 0x8000), CACHE_HIT);       /* needs nothing */
    struct packet first = take_miss(&b);
    assert_int_equal(store(&b, 0x100), CACHE_MISS);
    take_miss(&b);
    take_miss(&b);
    assert_int_equal(take_miss(&b).kind, PACKET_L2_FETCH);
    assert_fails(&b, store(&b, 0x180), CACHE_FAIL_MSHR);
    assert_int_equal(store(&b, 0x100), CACHE_MISS); /* needs no entry */
    take_miss(&b);
    assert_fails(&b, store(&b, 0x180), CACHE_FAIL_MSHR);
    assert_true(cache_fill(b.cache, &first, b.now));
    assert_fails(&b, store(&b, 0x180), CACHE_FAIL_MSHR);
    cache_ready_pop(b.cache);
    assert_int_equal(store(&b, 0x180), CACHE_MISS);
    assert_conserved(b.cache);
    close_bench(&b);
}

/* Write-evict with sectors: the rest of the line stays until its last sector goes. */
static void write_evict_of_a_sector(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.sector_bytes = 32;
    struct bench b;
    open_bench(&b, &config);
    bring(&b, 0);
    bring(&b, 32);
    assert_int_equal(store(&b, 0), CACHE_HIT);
    assert_false(cache_probe(b.cache, 0));
    assert_true(cache_probe(b.cache, 32));
    assert_int_equal(access_as(&b, PACKET_STORE, 0, 64, 0, 0, 0),
                     CACHE_MISS); /* not all of it was there; what was goes */
    assert_false(cache_probe(b.cache, 32));
    settle(&b);
    close_bench(&b);
}

static void atomics_modify(void **state)
{
    (void)state;
    struct cache_config config = l2_config;
    config.sets = config.ways = 1;
    struct bench b;
    open_bench(&b, &config);
    assert_int_equal(access_as(&b, PACKET_ATOMIC, 0x40, 4, 0, 0, 0), CACHE_MISS); /* modified when it comes */
    settle(&b);
    assert_int_equal(load(&b, 0x80), CACHE_MISS);
    assert_int_equal(b.result.writeback_bytes, 32);
    assert_int_equal(access_as(&b, PACKET_ATOMIC, 0x80, 4, 0, 0, 0), CACHE_PENDING);
    settle(&b);
    assert_int_equal(load(&b, 0x100), CACHE_MISS);
    assert_int_equal(b.result.writeback_bytes, 32);
    settle(&b);
    assert_int_equal(access_as(&b, PACKET_ATOMIC, 0x100, 4, 0, 0, 0), CACHE_HIT);
    assert_int_equal(load(&b, 0x180), CACHE_MISS);
    assert_int_equal(b.result.writeback_bytes, 32);
    settle(&b);
    assert_int_equal(load(&b, 0x200), CACHE_MISS);
    assert_int_equal(b.result.writeback_bytes, 0); /* was only read */
    assert_int_equal(cache_counters(b.cache)->writes, 0);
    close_bench(&b);
}

/* What a store does is what the columns of its rule say. A cache of one line: what leaves it modified is written back.
 */

static const struct cache_config one_line = {.sets = 1,
                                             .ways = 1,
                                             .line_bytes = 128,
                                             .local_writes = WRITE_READ_ONLY,
                                             .mshr_entries = 2,
                                             .mshr_merge = 2,
                                             .miss_queue = 4};

static bool leaves_modified(struct bench *b)
{
    assert_int_equal(load(b, 0x10000), CACHE_MISS);
    bool modified = b->result.writeback_bytes != 0;
    settle(b);
    return modified;
}

static void assert_hit_as_in_table(const struct cache_config *config, const struct write_rule *rule)
{
    struct bench b;
    open_bench(&b, config);
    bring(&b, 0);
    assert_int_equal(store(&b, 0), CACHE_HIT);
    assert_int_equal(b.result.sends_write, rule->down == WRITE_DOWN_ALWAYS);
    settle(&b);
    assert_int_equal(cache_probe(b.cache, 0), rule->hit != WRITE_HIT_DROP);
    assert_int_equal(leaves_modified(&b), rule->hit == WRITE_HIT_MARK);
    close_bench(&b);
}

static void assert_miss_as_in_table(const struct cache_config *config, const struct write_rule *rule)
{
    struct bench b;
    open_bench(&b, config);
    assert_int_equal(store(&b, 0), CACHE_MISS);
    assert_int_equal(b.result.sends_write, rule->down != WRITE_DOWN_NEVER);
    bool fetches = false;
    while (cache_miss_front(b.cache)) {
        struct packet p = take_miss(&b);
        if (p.kind != PACKET_L2_FETCH)
            continue;
        fetches = true;
        cache_fill(b.cache, &p, b.now);
    }
    settle(&b);
    assert_int_equal(fetches, rule->miss == WRITE_MISS_FETCH);
    assert_int_equal(cache_probe(b.cache, 0), rule->miss != WRITE_MISS_PASS);
    assert_int_equal(leaves_modified(&b), rule->miss == WRITE_MISS_TAKE && rule->down == WRITE_DOWN_NEVER);
    close_bench(&b);
}

static void rules_do_what_their_columns_say(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WRITE_RULE_COUNT; i++) {
        struct cache_config config = one_line;
        config.global_writes = (enum write_rule_id)i;
        assert_hit_as_in_table(&config, &write_rules[i]);
        assert_miss_as_in_table(&config, &write_rules[i]);
    }
}

/* A rule must not lose what a store writes, nor write it twice. */
static void rules_lose_nothing(void **state)
{
    (void)state;
    for (const struct write_rule *r = write_rules; r != write_rules + WRITE_RULE_COUNT; r++) {
        assert_int_equal(r->hit == WRITE_HIT_MARK, r->down != WRITE_DOWN_ALWAYS);
        assert_true(r->miss == WRITE_MISS_TAKE || r->down != WRITE_DOWN_NEVER);
    }
}

/* The words of older machine files: write_allocate and stores_fetch make other rules of what global_writes says. */
static void rules_of_older_words(void **state)
{
    (void)state;
    static const struct {
        enum write_rule_id says;
        bool write_allocate, stores_fetch;
        enum write_rule_id means;
    } words[] = {
        {WRITE_THROUGH_EVICT, false, false, WRITE_THROUGH_EVICT},
        {WRITE_THROUGH_EVICT, true, true, WRITE_THROUGH_EVICT},
        {WRITE_BACK, false, false, WRITE_BACK},
        {WRITE_BACK, true, false, WRITE_BACK_TAKE},
        {WRITE_BACK, true, true, WRITE_BACK_FETCH},
        {WRITE_THROUGH, false, false, WRITE_THROUGH},
        {WRITE_THROUGH, true, false, WRITE_THROUGH_TAKE},
        {WRITE_BACK_TAKE, false, false, WRITE_BACK_TAKE},
        {WRITE_BACK_FETCH, false, false, WRITE_BACK_FETCH},
        {WRITE_THROUGH_TAKE, true, true, WRITE_THROUGH_TAKE},
    };
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct cache_config config = {.global_writes = words[i].says,
                                      .local_writes = WRITE_READ_ONLY,
                                      .write_allocate = words[i].write_allocate,
                                      .stores_fetch = words[i].stores_fetch};
        assert_ptr_equal(write_rule_of(&config, false), &write_rules[words[i].means]);
        assert_ptr_equal(write_rule_of(&config, true), &write_rules[WRITE_READ_ONLY]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_evict),
        cmocka_unit_test(write_through_keeps_the_line),
        cmocka_unit_test(local_write_back),
        cmocka_unit_test(modified_victim_needs_room),
        cmocka_unit_test(write_allocate_and_back),
        cmocka_unit_test(partial_writes),
        cmocka_unit_test(through_and_taken),
        cmocka_unit_test(partial_write_needs_no_queue),
        cmocka_unit_test(store_to_reserved_sector),
        cmocka_unit_test(store_over_reserved_and_absent),
        cmocka_unit_test(store_fetches_its_line),
        cmocka_unit_test(store_to_a_line_on_its_way),
        cmocka_unit_test(store_that_fetches_needs_room),
        cmocka_unit_test(write_evict_of_a_sector),
        cmocka_unit_test(atomics_modify),
        cmocka_unit_test(rules_do_what_their_columns_say),
        cmocka_unit_test(rules_lose_nothing),
        cmocka_unit_test(rules_of_older_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
