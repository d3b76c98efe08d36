/* The cache: each outcome and each reason to fail, merging, sectors, the four write policies, index functions, order of replacement, the policy hook, ports; and long runs of
 * pseudo-random accesses against a plain model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/cache.h"
#include "mem/mshr.h"

#include <string.h>

/* A cache with its memory, and the clock of the test. */
struct bench { struct arena arena; struct cache *cache; struct cache_result result; uint64_t now; };

static const struct cache_config l1_config = { .sets = 32, .ways = 4, .line_bytes = 128, .index = SET_INDEX_LINEAR, .global_writes = WRITE_THROUGH_EVICT, .local_writes = WRITE_BACK,
                                               .mshr_entries = 8, .mshr_merge = 3, .miss_queue = 8 };
static const struct cache_config l2_config = { .sets = 64, .ways = 8, .line_bytes = 128, .sector_bytes = 32, .index = SET_INDEX_LINEAR, .global_writes = WRITE_BACK, .local_writes = WRITE_BACK,
                                               .write_allocate = true, .mshr_entries = 16, .mshr_merge = 4, .miss_queue = 4, .port_bytes = 32 };

static void open_bench(struct bench *b, const struct cache_config *config)
{
    *b = (struct bench){ .now = 0 };
    b->cache = cache_create(&b->arena, config, NULL, NULL);
}

static void close_bench(struct bench *b) { arena_free(&b->arena); }

static struct packet packet(enum packet_kind kind, uint64_t address, uint32_t bytes)
{
    return (struct packet){ .kind = (uint8_t)kind, .address = address, .bytes = (uint16_t)bytes };
}

static enum cache_outcome access_as(struct bench *b, enum packet_kind kind, uint64_t address, uint32_t bytes, uint16_t warp, uint64_t age, uint32_t token)
{
    struct packet p = packet(kind, address, bytes);
    p.warp = warp;
    p.token = token;
    return cache_access(b->cache, &p, age, b->now++, &b->result);
}

static enum cache_outcome load(struct bench *b, uint64_t address) { return access_as(b, PACKET_LOAD, address, 4, 0, 0, 0); }
static enum cache_outcome store(struct bench *b, uint64_t address) { return access_as(b, PACKET_STORE, address, 4, 0, 0, 0); }

static struct packet take_miss(struct bench *b)
{
    assert_non_null(cache_miss_front(b->cache));
    struct packet p = *cache_miss_front(b->cache);
    cache_miss_pop(b->cache);
    return p;
}

/* Answers what has been sent down, at once and whole, and takes all requests that are ready. */
static void settle(struct bench *b)
{
    while (cache_miss_front(b->cache)) {
        struct packet p = take_miss(b);
        if (!packet_is_write(&p))
            assert_true(cache_fill(b->cache, &p, b->now));
    }
    while (cache_ready_front(b->cache))
        cache_ready_pop(b->cache);
    assert_true(cache_idle(b->cache));
}

static void bring(struct bench *b, uint64_t address)
{
    assert_int_equal(load(b, address), CACHE_MISS);
    settle(b);
}

static void assert_fails(struct bench *b, enum cache_outcome outcome, enum cache_fail why)
{
    assert_int_equal(outcome, CACHE_FAIL);
    assert_int_equal(b->result.fail, why);
}

static void assert_conserved(const struct cache *c)
{
    const struct cache_counters *n = cache_counters(c);
    assert_int_equal(n->hits + n->misses + n->pending_hits, n->accesses);
    assert_int_equal(n->reads + n->writes, n->accesses);
    assert_int_equal(n->write_hits + n->write_misses, n->writes);
    assert_int_equal(n->intra_warp_hits + n->inter_warp_hits, n->hits - n->write_hits);
}

static void miss_pending_hit(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &l1_config);
    assert_false(cache_probe(b.cache, 0x1000));
    struct packet p = { .kind = PACKET_LOAD, .address = 0x1024, .bytes = 32, .core = 3, .warp = 5, .pc = 77, .token = 1000, .slice = 2 };
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

/* Whose hit it is: of the warp that brought the line if slot and age are the same. Who merges into a miss, hits or evicts by a store does not become the one who brought it. */
static void hits_of_the_warp_that_brought_it(struct bench *b)
{
    const uint64_t line = 5 * 128, rivals[] = { line + 4096, line + 2 * 4096, line + 3 * 4096, line + 4 * 4096 };
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
    static const uint8_t order[3] = { 2, 0, 3 };
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
    struct packet answer = { .token = 0, .sectors = 0xf };
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
    assert_int_equal(access_as(&b, PACKET_LOAD, 0x1060, 32, 0, 0, 0), CACHE_MISS); /* another sector of the line: an entry of its own, no way of its own */
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

static uint32_t set_of_address(struct bench *b, uint64_t address)
{
    cache_access(b->cache, &(struct packet){ .kind = PACKET_STORE, .address = address, .bytes = 4 }, 0, 0, &b->result);
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
    assert_int_equal(set_of_address(&b, 0x1000), 0);        /* bit 12 takes no part with 32 sets */
    assert_int_equal(set_of_address(&b, 0x2000), 1);        /* bit 13 -> 0 */
    assert_int_equal(set_of_address(&b, 0x4000), 2);        /* bit 14 -> 1 */
    assert_int_equal(set_of_address(&b, 0x8000), 4);        /* bit 15 -> 2 */
    assert_int_equal(set_of_address(&b, 0x10000), 0);
    assert_int_equal(set_of_address(&b, 0x20000), 8);       /* bit 17 -> 3 */
    assert_int_equal(set_of_address(&b, 0x40000), 0);
    assert_int_equal(set_of_address(&b, 0x80000), 16);      /* bit 19 -> 4 */
    assert_int_equal(set_of_address(&b, 0xaef80), 31 ^ 31); /* 10101110111110000000: low 31; bits 13, 14, 15, 17, 19 all set */
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

    config.index = SET_INDEX_LINEAR;
    config.sets = 12;
    open_bench(&b, &config);
    assert_int_equal(set_of_address(&b, 128 * 25), 1);
    close_bench(&b);

    config.sets = 64;
    b = (struct bench){ .now = 0 };
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
    /* Order of use: 1 3 0 2. Use is what counts, not when the data comes: 4 is asked for before 3 is used again, and comes after. */
    assert_int_equal(load(&b, 4 * 4096), CACHE_MISS);
    assert_int_equal(b.result.evicted_address, 1 * 4096);
    assert_int_equal(load(&b, 3 * 4096), CACHE_HIT);
    settle(&b);
    static const uint64_t leaves[] = { 0, 2, 4, 3 };
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

/* Ways that stores have emptied, in whatever order, are taken from the lowest on; then the order of use counts again. */
static void lowest_empty_way_first(void **state)
{
    (void)state;
    struct cache_config config = l1_config;
    config.ways = 11;
    static const uint64_t dropped[] = { 7, 2, 10, 3, 0 }, taken[] = { 0, 2, 3, 7, 10 }, kept[] = { 1, 4, 5, 6, 8, 9 };
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
    assert_int_equal(cache_head(b.cache)->blocked, CACHE_BLOCKED_BY_ENTRIES); /* a place in the miss queue is not what it waits for */
    assert_fails(&b, load(&b, 8 * 128), CACHE_FAIL_MSHR);
    assert_true(cache_fails_again(b.cache));
    assert_true(cache_fill(b.cache, &down, 0));
    assert_int_equal(cache_head(b.cache)->blocked, CACHE_BLOCKED_BY_ENTRIES); /* the entry is in use until its request has been taken */
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
    struct packet last = { .kind = 0 };
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

/* A filled entry whose requests wait to be taken is no longer found: the line, dropped meanwhile, is asked for again. */
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
    cache_touch(b.cache, 0x1020, 0);
    assert_true(cache_probe(b.cache, 0x103f));
    assert_false(cache_probe(b.cache, 0x1040));
    assert_int_equal(cache_counters(b.cache)->accesses, 0);
    for (uint64_t i = 0; i < 8; i++)
        cache_touch(b.cache, 0x10000 + i * 8192, 0); /* same set as 0x10000, not as 0x1020 */
    cache_touch(b.cache, 0x10000 + 8 * 8192, 0);
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
    open_bench(&b, &l2_config); /* 32 bytes a cycle */
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

/* A policy that writes down what it is asked and told, and answers what it is given. */
struct witness {
    int answer;
    bool bypass;
    uint32_t asked, inserted, touched, pending, removed, set, way;
    uint64_t ways, free;
    struct heddle_l1_access access;
};

static int witness_victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free, const struct heddle_l1_access *access)
{
    struct witness *w = state;
    assert_int_equal(core->id, 17);
    w->asked++;
    w->set = set;
    w->ways = ways;
    w->free = free;
    w->access = *access;
    return w->answer;
}

static void witness_inserted(void *state, const struct heddle_core *core, uint32_t set, uint32_t way, const struct heddle_l1_access *access)
{
    struct witness *w = state;
    (void)core;
    (void)set;
    w->inserted++;
    w->way = way;
    w->access = *access;
}

static void witness_touched(void *state, const struct heddle_core *core, uint32_t set, uint32_t way, const struct heddle_l1_access *access)
{
    struct witness *w = state;
    (void)core;
    (void)set;
    w->touched++;
    w->pending += access->outcome == HEDDLE_PENDING;
    w->way = way;
    w->access = *access;
}

static void witness_removed(void *state, const struct heddle_core *core, uint32_t set, uint32_t way)
{
    struct witness *w = state;
    (void)core;
    (void)set;
    (void)way;
    w->removed++;
}

static bool witness_bypass(void *state, const struct heddle_core *core, const struct heddle_l1_access *access)
{
    (void)core;
    (void)access;
    return ((struct witness *)state)->bypass;
}

static const struct heddle_l1 witness_policy = { .victim = witness_victim, .inserted = witness_inserted, .touched = witness_touched, .removed = witness_removed, .bypass = witness_bypass };

static int oldest_first(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free, const struct heddle_l1_access *access)
{
    (void)state, (void)core, (void)set, (void)access;
    return __builtin_ctzll(free ? free : ways);
}

/* By the cache itself, and with a policy, which takes another way through it. */
static void intra_and_inter_warp_hits(void **state)
{
    (void)state;
    static const struct heddle_l1 policy = { .victim = oldest_first };
    struct heddle_core core = { .id = 17 };
    struct bench b;
    open_bench(&b, &l1_config);
    hits_of_the_warp_that_brought_it(&b);
    close_bench(&b);
    open_bench(&b, &l1_config);
    assert_true(cache_set_policy(b.cache, &policy, NULL, &core));
    hits_of_the_warp_that_brought_it(&b);
    close_bench(&b);
}

static void policy_chooses(void **state)
{
    (void)state;
    struct bench b;
    struct witness w = { .answer = 2 };
    struct heddle_core core = { .id = 17 };
    open_bench(&b, &l1_config);
    assert_true(cache_set_policy(b.cache, &witness_policy, &w, &core));
    assert_int_equal(access_as(&b, PACKET_LOCAL_LOAD, 5 * 128, 4, 9, 30, 0), CACHE_MISS);
    assert_int_equal(w.ways, 0);
    assert_int_equal(w.free, 0xf);
    assert_int_equal(w.set, 5);
    assert_int_equal(w.way, 2);
    assert_int_equal(b.result.way, 2);
    assert_int_equal(w.access.warp, 9);
    assert_int_equal(w.access.address, 5 * 128);
    assert_true(w.access.local);
    assert_int_equal(w.access.owner, -1);
    w.answer = 0;
    assert_int_equal(load(&b, 5 * 128 + 4096), CACHE_MISS);
    assert_int_equal(w.ways, 0); /* way 2 is reserved */
    assert_int_equal(w.free, 0xb);
    assert_int_equal(load(&b, 5 * 128), CACHE_PENDING);
    assert_int_equal(w.pending, 1);
    settle(&b);
    assert_int_equal(load(&b, 5 * 128), CACHE_HIT);
    assert_int_equal(w.touched, 2);
    assert_int_equal(w.way, 2);
    assert_int_equal(w.access.owner, 9);
    assert_int_equal(w.access.owner_age, 30);
    assert_int_equal(w.removed, 0);
    w.answer = 2; /* takes a valid line although ways are free */
    assert_int_equal(load(&b, 5 * 128 + 8192), CACHE_MISS);
    assert_int_equal(w.ways, 0x5);
    assert_int_equal(w.free, 0xa);
    assert_int_equal(w.removed, 1);
    assert_int_equal(b.result.evicted_address, 5 * 128);
    assert_int_equal(b.result.evicted_warp, 9);
    assert_int_equal(b.result.evicted_age, 30);
    w.answer = -1;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t asked = w.asked;
        assert_fails(&b, load(&b, 5 * 128 + 3 * 4096), CACHE_FAIL_WAYS);
        assert_int_equal(w.asked, asked + 1); /* each try asks again */
    }
    assert_int_equal(cache_illegal_victim(b.cache), -1);
    w.answer = 2; /* reserved */
    assert_fails(&b, load(&b, 5 * 128 + 3 * 4096), CACHE_FAIL_WAYS);
    assert_int_equal(cache_illegal_victim(b.cache), 2);
    uint32_t inserted = w.inserted;
    settle(&b);
    w.bypass = true;
    assert_int_equal(load(&b, 5 * 128 + 3 * 4096), CACHE_MISS);
    assert_int_equal(b.result.way, UINT32_MAX);
    assert_int_equal(load(&b, 5 * 128 + 3 * 4096), CACHE_PENDING);
    assert_int_equal(cache_outstanding(b.cache), 1);
    settle(&b);
    assert_false(cache_probe(b.cache, 5 * 128 + 3 * 4096));
    assert_int_equal(w.inserted, inserted);
    assert_int_equal(store(&b, 5 * 128 + 8192), CACHE_HIT); /* write-evict */
    assert_int_equal(w.removed, 2);
    settle(&b);
    cache_invalidate(b.cache);
    assert_int_equal(w.removed, 3);
    close_bench(&b);

    struct cache_config wide = l1_config;
    wide.ways = 65;
    open_bench(&b, &wide);
    assert_false(cache_set_policy(b.cache, &witness_policy, &w, &core));
    bring(&b, 0);
    close_bench(&b);
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Plain model: a list of lines a set, most recently used first. */
enum { MODEL_SETS = 8, MODEL_WAYS = 70 };
struct model { uint64_t lines[MODEL_SETS][MODEL_WAYS]; uint32_t count[MODEL_SETS], ways; uint64_t evictions; };

static bool model_access(struct model *m, uint64_t number, bool is_store)
{
    uint64_t *set = m->lines[number % MODEL_SETS];
    uint32_t *count = &m->count[number % MODEL_SETS], at = 0;
    while (at < *count && set[at] != number)
        at++;
    bool hit = at < *count;
    if (hit) {
        memmove(&set[at], &set[at + 1], (*count - at - 1) * sizeof *set);
        --*count;
    }
    if (is_store)
        return hit;
    if (*count == m->ways) {
        --*count;
        m->evictions++;
    }
    memmove(&set[1], &set[0], *count * sizeof *set);
    set[0] = number;
    ++*count;
    return hit;
}

static void compare_with_model(uint32_t ways)
{
    struct cache_config config = l1_config;
    config.sets = MODEL_SETS;
    config.ways = ways;
    struct bench b;
    open_bench(&b, &config);
    struct model m = { .ways = ways };
    uint64_t seed = ways, hits = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t number = next_random(&seed) % (MODEL_SETS * ways * 3 / 2);
        bool is_store = next_random(&seed) % 8 == 0;
        bool hit = model_access(&m, number, is_store);
        hits += hit;
        enum cache_outcome outcome = is_store ? store(&b, number * 128) : load(&b, number * 128 + next_random(&seed) % 32 * 4);
        assert_int_equal(outcome, hit ? CACHE_HIT : CACHE_MISS);
        settle(&b);
    }
    assert_in_range(hits, 10000, 90000); /* else it would show little */
    assert_int_equal(cache_counters(b.cache)->hits, hits);
    assert_int_equal(cache_counters(b.cache)->accesses, 100000);
    assert_int_equal(cache_counters(b.cache)->evictions, m.evictions);
    assert_conserved(b.cache);
    close_bench(&b);
}

static void same_as_plain_model(void **state)
{
    (void)state;
    compare_with_model(1);
    compare_with_model(4);
    compare_with_model(12);
    compare_with_model(16);
    compare_with_model(MODEL_WAYS);
}

/* Answers that come late and out of order, stores, atomics, failures: every read that was taken is given back once, after which nothing is left. */
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
    uint64_t seed = 99, writebacks = 0;
    struct packet p = { .kind = 0 };
    bool retry = false;
    while (taken < ACCESSES || !cache_idle(b.cache) || pending_count) {
        if (taken < ACCESSES) {
            if (!retry) {
                static const uint8_t kinds[8] = { PACKET_LOAD, PACKET_LOAD, PACKET_LOAD, PACKET_LOAD, PACKET_LOAD, PACKET_STORE, PACKET_LOCAL_STORE, PACKET_ATOMIC };
                p = packet(kinds[next_random(&seed) % 8], next_random(&seed) % lines * 128 + next_random(&seed) % 4 * 32, 32);
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
            if (!packet_is_write(&down))
                for (uint32_t sector = 0; sector < 4; sector++)
                    if (down.sectors >> sector & 1 && pending_count < PENDING_MOST) {
                        pending[pending_count] = down;
                        pending[pending_count++].sectors = (uint8_t)(config->sector_bytes ? 1u << sector : down.sectors);
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
            assert_int_equal(waits[token], 1);
            waits[token] = 0;
            reads_out--;
            cache_ready_pop(b.cache);
        }
        assert_true(cache_has_miss(b.cache) == (cache_miss_front(b.cache) != NULL) && cache_has_ready(b.cache) == (cache_ready_front(b.cache) != NULL));
        b.now++;
        assert_true(b.now < 10 * ACCESSES);
    }
    assert_int_equal(reads_out, 0);
    const struct cache_counters *n = cache_counters(b.cache);
    assert_int_equal(n->accesses, ACCESSES);
    assert_int_equal(n->fails[0] + n->fails[1] + n->fails[2] + n->fails[3], fails);
    assert_true(n->fails[CACHE_FAIL_MERGE] && n->fails[CACHE_FAIL_QUEUE] && n->pending_hits && n->hits);
    assert_int_equal(n->writebacks, writebacks);
    assert_int_equal(n->misses_sent, n->misses - n->write_misses);
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
    config = l1_config;
    config.sets = 4;
    crowded(&config, 24);
}

/* The table of the MSHRs, full and emptied in another order, many times: what is on its way is found, what is not is not. */
static void mshr_table(void **state)
{
    (void)state;
    enum { ENTRIES = 512 };
    struct arena arena = { NULL, 0 };
    struct mshr m;
    mshr_init(&m, &arena, ENTRIES, 64);
    uint64_t line[ENTRIES] = { 0 }, seed = 5;
    bool open[ENTRIES] = { false };
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
        cmocka_unit_test(miss_pending_hit),
        cmocka_unit_test(short_line_asks_for_two_sectors),
        cmocka_unit_test(sectors_come_out_of_order),
        cmocka_unit_test(merge_limit),
        cmocka_unit_test(mshr_entries_run_out),
        cmocka_unit_test(all_ways_reserved),
        cmocka_unit_test(miss_queue_full),
        cmocka_unit_test(miss_reserve),
        cmocka_unit_test(write_evict),
        cmocka_unit_test(write_through_keeps_the_line),
        cmocka_unit_test(local_write_back),
        cmocka_unit_test(modified_victim_needs_room),
        cmocka_unit_test(sector_misses),
        cmocka_unit_test(request_over_two_entries),
        cmocka_unit_test(write_allocate_and_back),
        cmocka_unit_test(partial_writes),
        cmocka_unit_test(partial_write_needs_no_queue),
        cmocka_unit_test(store_to_reserved_sector),
        cmocka_unit_test(store_over_reserved_and_absent),
        cmocka_unit_test(write_evict_of_a_sector),
        cmocka_unit_test(atomics_modify),
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
        cmocka_unit_test(intra_and_inter_warp_hits),
        cmocka_unit_test(policy_chooses),
        cmocka_unit_test(same_as_plain_model),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(mshr_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
