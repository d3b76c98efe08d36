/* Stores and atomics in a cache: the four write policies, sectors written in part or on their way, what leaves modified. */
#include "cache_test.h"

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

/* Local stores in the L1: a hit marks, a miss goes down; a modified line that leaves is written back behind the read that pushed it out. */
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

/* A sector that stores have written in part is read from below when it is read, and modified still when it has come; one that they have written wholly is not. */
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

    /* All four sectors leave, those that were fetched too; and in the line that takes their place nothing is left of their bytes. */
    for (uint32_t i = 1; i < 8; i++)
        bring(&b, 0x1000 + i * 64 * 128);
    assert_int_equal(store_bytes(&b, 0x1000 + 8 * 64 * 128 + 0x20, 0x80000000), CACHE_MISS);
    assert_int_equal(b.result.writeback_bytes, 128);
    assert_int_equal(b.result.evicted_address, 0x1000);
    assert_false(cache_probe(b.cache, 0x1000 + 8 * 64 * 128 + 0x20));
    settle(&b);

    /* A copy from the host writes all, below too: what it wrote is not modified. */
    cache_touch(b.cache, 0x1000 + 8 * 64 * 128 + 0x20, b.now);
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
    assert_int_equal(access_as(&b, PACKET_L1_WRITEBACK, 0x60, 32, 1, 0, 0), CACHE_MISS); /* a sector more of the same line */
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x00, 32, 1, 0, 0), CACHE_MISS);         /* a clean one */
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
    assert_int_equal(access_as(&b, PACKET_STORE, 0, 64, 0, 0, 0), CACHE_MISS); /* not all of it was there; what was goes */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_evict),
        cmocka_unit_test(write_through_keeps_the_line),
        cmocka_unit_test(local_write_back),
        cmocka_unit_test(modified_victim_needs_room),
        cmocka_unit_test(write_allocate_and_back),
        cmocka_unit_test(partial_writes),
        cmocka_unit_test(partial_write_needs_no_queue),
        cmocka_unit_test(store_to_reserved_sector),
        cmocka_unit_test(store_over_reserved_and_absent),
        cmocka_unit_test(write_evict_of_a_sector),
        cmocka_unit_test(atomics_modify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
