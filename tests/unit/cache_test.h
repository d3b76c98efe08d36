/* What tests of caches share: a cache with its memory, accesses to it, answers to what it sends down. */
#ifndef HEDDLE_TESTS_CACHE_TEST_H
#define HEDDLE_TESTS_CACHE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/cache.h"
#include "mem/mshr.h"

#include <string.h>

/* A cache with its memory, and the clock of the test. */
struct bench {
    struct arena arena;
    struct cache *cache;
    struct cache_result result;
    uint64_t now;
};

static const struct cache_config l1_config = {.sets = 32,
                                              .ways = 4,
                                              .line_bytes = 128,
                                              .index = SET_INDEX_LINEAR,
                                              .global_writes = WRITE_THROUGH_EVICT,
                                              .local_writes = WRITE_BACK,
                                              .mshr_entries = 8,
                                              .mshr_merge = 3,
                                              .miss_queue = 8};
static const struct cache_config l2_config = {.sets = 64,
                                              .ways = 8,
                                              .line_bytes = 128,
                                              .sector_bytes = 32,
                                              .index = SET_INDEX_LINEAR,
                                              .global_writes = WRITE_BACK,
                                              .local_writes = WRITE_BACK,
                                              .write_allocate = true,
                                              .mshr_entries = 16,
                                              .mshr_merge = 4,
                                              .miss_queue = 4,
                                              .port_bytes = 32};

static inline void open_bench(struct bench *b, const struct cache_config *config)
{
    *b = (struct bench){.now = 0};
    b->cache = cache_create(&b->arena, config, NULL, NULL);
}

static inline void close_bench(struct bench *b) { arena_free(&b->arena); }

static inline struct packet packet(enum packet_kind kind, uint64_t address, uint32_t bytes)
{
    return (struct packet){.kind = (uint8_t)kind, .address = address, .bytes = (uint16_t)bytes};
}

static inline enum cache_outcome access_as(struct bench *b, enum packet_kind kind, uint64_t address, uint32_t bytes,
                                           uint16_t warp, uint64_t age, uint32_t token)
{
    struct packet p = packet(kind, address, bytes);
    p.warp = warp;
    p.token = token;
    return cache_access(b->cache, &p, age, b->now++, &b->result);
}

static inline enum cache_outcome load(struct bench *b, uint64_t address)
{
    return access_as(b, PACKET_LOAD, address, 4, 0, 0, 0);
}
static inline enum cache_outcome store(struct bench *b, uint64_t address)
{
    return access_as(b, PACKET_STORE, address, 4, 0, 0, 0);
}

static inline struct packet take_miss(struct bench *b)
{
    assert_non_null(cache_miss_front(b->cache));
    struct packet p = *cache_miss_front(b->cache);
    cache_miss_pop(b->cache);
    return p;
}

/* Answers what has been sent down, at once and whole, and takes all requests that are ready. */
static inline void settle(struct bench *b)
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

static inline void bring(struct bench *b, uint64_t address)
{
    assert_int_equal(load(b, address), CACHE_MISS);
    settle(b);
}

static inline void assert_fails(struct bench *b, enum cache_outcome outcome, enum cache_fail why)
{
    assert_int_equal(outcome, CACHE_FAIL);
    assert_int_equal(b->result.fail, why);
}

static inline void assert_conserved(const struct cache *c)
{
    const struct cache_counters *n = cache_counters(c);
    assert_int_equal(n->hits + n->misses + n->pending_hits, n->accesses);
    assert_int_equal(n->reads + n->writes, n->accesses);
    assert_int_equal(n->write_hits + n->write_misses, n->writes);
    assert_int_equal(n->intra_warp_hits + n->inter_warp_hits, n->hits - n->write_hits);
}

#endif
