/* How a memory channel cuts requests into sectors and lines, and what the pieces cost at the data port of the L2. */
#include "partition_test.h"

/* A line is cut into its sectors, which come back one cycle after the other. */
static void test_line_is_cut_into_sectors(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    warm(r, 0x2000, 128);
    send(r, PACKET_LOAD, 0, 0x2000, 128, 9);
    drain(r);
    assert_int_equal(r->log_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(r->log[i].cycle, HIT_CYCLES + i);
        assert_int_equal(r->log[i].packet.sectors, 1u << i);
        assert_int_equal(r->log[i].packet.address, 0x2000 + 32 * i);
        assert_int_equal(r->log[i].packet.bytes, 32);
        assert_int_equal(r->log[i].packet.token, 9);
    }
    assert_int_equal(counters_of(r).l2.accesses, 4);
    rig_free(r);
}

struct cut {
    uint64_t address;
    uint16_t bytes;
    uint8_t sectors;
    uint8_t kind;
    uint32_t pieces;
    struct {
        uint64_t address;
        uint16_t bytes;
        uint8_t sectors;
    } piece[8];
};

static void check_cuts(const struct mem_config *config, const struct cut *cuts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct cut *c = &cuts[i];
        struct rig *r = rig_of(*config);
        for (uint32_t n = 0; n < c->pieces; n++)
            warm(r, c->piece[n].address, c->piece[n].bytes);
        struct packet p = request_of(c->kind, 0, c->address, c->bytes, i);
        p.sectors = c->sectors;
        assert_true(try_send(r, &p));
        drain(r);
        assert_int_equal(counters_of(r).l2.accesses, c->pieces);
        bool silent = c->kind == PACKET_L1_WRITEBACK;
        assert_int_equal(r->log_count, silent ? 0 : c->pieces);
        for (uint32_t n = 0; n < r->log_count; n++) {
            assert_int_equal(r->log[n].packet.address, c->piece[n].address);
            assert_int_equal(r->log[n].packet.bytes, c->piece[n].bytes);
            assert_int_equal(r->log[n].packet.sectors, c->piece[n].sectors);
        }
        assert_int_equal(counters_of(r).l2.hits, c->pieces); /* nothing but the pieces was there */
        rig_free(r);
    }
}

static void test_cuts_with_sectors(void **state)
{
    (void)state;
    const struct cut cuts[] = {
        {0x2004, 12, 0, PACKET_STORE, 1, {{0x2004, 12, 1}}},                     /* less than a sector */
        {0x2050, 32, 0, PACKET_STORE, 2, {{0x2050, 16, 4}, {0x2060, 16, 8}}},    /* over the border of two */
        {0x2040, 64, 0x0c, PACKET_LOAD, 2, {{0x2040, 32, 4}, {0x2060, 32, 8}}},  /* half a line, named as in the line */
        {0x2040, 64, 0x03, PACKET_CONST, 2, {{0x2040, 32, 1}, {0x2060, 32, 2}}}, /* a line of 64 bytes, with its own
                                                                                    names */
        {0x2000, 128, 0x06, PACKET_STORE, 2, {{0x2020, 32, 2}, {0x2040, 32, 4}}}, /* a segment of which the middle is
                                                                                     meant */
        {0x2020, 64, 0x0a, PACKET_LOAD, 2, {{0x2020, 32, 2}, {0x2060, 32, 8}}}, /* an L1 that lacks two sectors with one
                                                                                   between them */
        {0x2000, 64, 0x0a, PACKET_L1_WRITEBACK, 2, {{0x2020, 32, 2}, {0x2060, 32, 8}}}, /* two of a line, by the line's
                                                                                           address */
        {0x2000,
         256,
         0xff,
         PACKET_INST,
         8,
         {{0x2000, 32, 1},
          {0x2020, 32, 2},
          {0x2040, 32, 4},
          {0x2060, 32, 8},
          {0x2080, 32, 16},
          {0x20a0, 32, 32},
          {0x20c0, 32, 64},
          {0x20e0, 32, 128}}},
    };
    struct mem_config c = default_config();
    check_cuts(&c, cuts, sizeof(cuts) / sizeof(cuts[0]));
}

static void test_upper_halves_slip(void **state)
{
    (void)state;
    const struct cut cuts[] = {
        {0x2040, 64, 0x0c, PACKET_STORE, 2, {{0x20c0, 32, 4}, {0x20e0, 32, 8}}}, /* its own sectors, of the next line */
        {0x2040, 64, 0x0c, PACKET_ATOMIC, 2, {{0x20c0, 32, 4}, {0x20e0, 32, 8}}},
        {0x2000, 64, 0x03, PACKET_STORE, 2, {{0x2000, 32, 1}, {0x2020, 32, 2}}}, /* the lower half */
        {0x2040, 32, 0x04, PACKET_STORE, 1, {{0x2040, 32, 4}}},                  /* a single sector */
        {0x2000, 128, 0x0f, PACKET_STORE, 4, {{0x2000, 32, 1}, {0x2020, 32, 2}, {0x2040, 32, 4}, {0x2060, 32, 8}}},
        {0x2040, 64, 0x0c, PACKET_CONST, 2, {{0x2040, 32, 4}, {0x2060, 32, 8}}},
    };
    struct mem_config c = default_config();
    c.l2.upper_halves_slip = true;
    check_cuts(&c, cuts, sizeof(cuts) / sizeof(cuts[0]));
}

/* A store tells in 32nd parts of its bytes what it writes: sectors that it writes in part, or not at all, are read from
 * DRAM when they are read. */
static void test_partial_writes(void **state)
{
    (void)state;
    const struct {
        uint64_t address;
        uint16_t bytes;
        uint8_t sectors;
        uint32_t mask, read;
    } stores[] = {
        {0x2000, 128, 0x0f, 0xffffffff, 0}, {0x2000, 128, 0x0f, 0x00ff00ff, 2}, {0x2000, 128, 0x0f, 0xff7fffff, 1},
        {0x2000, 128, 0x0f, 0x11111111, 4}, {0x2040, 64, 0x0c, 0xffffffff, 2},  {0x2040, 64, 0x0c, 0x0000ffff, 3},
        {0x2000, 64, 0x03, 0xfffeffff, 3},  {0x2020, 32, 0x02, 0xffffffff, 3},  {0x2060, 32, 0x08, 0xfffffffe, 4},
        {0x2000, 128, 0x0a, 0xff00ff00, 2}, {0x2040, 64, 0x08, 0xffff0000, 3}, /* they leave out sectors of theirs */
    };
    for (uint32_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        struct mem_config c = default_config();
        c.l2.cache.partial_writes = true;
        struct rig *r = rig_of(c);
        struct packet p = request_of(PACKET_STORE, 0, stores[i].address, stores[i].bytes, 1);
        p.sectors = stores[i].sectors;
        p.mask = stores[i].mask;
        assert_true(try_send(r, &p));
        drain(r);
        assert_int_equal(counters_of(r).dram.requests_read, 0);
        p = request_of(PACKET_LOAD, 0, 0x2000, 128, 2);
        p.sectors = 0x0f;
        assert_true(try_send(r, &p));
        drain(r);
        assert_int_equal(counters_of(r).dram.requests_read, stores[i].read);
        rig_free(r);
    }
}

/* Both sectors of a constant line wait for the first one's data; the second is read when it is asked for again. */
static void test_constants_share_miss(void **state)
{
    (void)state;
    for (uint32_t shares = 0; shares < 2; shares++)
        for (uint32_t upper = 0; upper < 2; upper++) {
            struct mem_config c = default_config();
            c.l2.constants_share_miss = shares;
            c.l2.upper_halves_slip = shares;
            struct rig *r = rig_of(c);
            const uint32_t reads[] = {shares ? 1 : 2, 2, 2};
            for (uint32_t n = 0; n < 3; n++) {
                struct packet p = request_of(PACKET_CONST, (uint16_t)n, 0x2000 + 64 * upper, 64, n);
                p.sectors = 3;
                assert_true(try_send(r, &p));
                drain(r);
                assert_int_equal(r->log_count, 2 * (n + 1)); /* each is answered twice */
                assert_int_equal(counters_of(r).dram.requests_read, reads[n]);
            }
            struct partition_counters k = counters_of(r);
            assert_int_equal(k.l2.accesses, 6);
            assert_int_equal(k.l2.misses, 2);
            assert_int_equal(k.l2.hits, shares ? 3 : 4);
            assert_int_equal(k.l2.pending_hits, shares ? 1 : 0);
            rig_free(r);
        }
    /* Four requests wait for the first sector: two of those that ask for both. The third waits until its data is
     * there. */
    struct mem_config c = default_config();
    c.l2.constants_share_miss = true;
    struct rig *r = rig_of(c);
    for (uint32_t n = 0; n < 3; n++) {
        struct packet p = request_of(PACKET_CONST, (uint16_t)n, 0x2000, 64, n);
        p.sectors = 3;
        assert_true(try_send(r, &p));
    }
    drain(r);
    assert_int_equal(r->log_count, 6);
    assert_int_equal(counters_of(r).dram.requests_read, 2);
    assert_true(counters_of(r).l2.fails[CACHE_FAIL_MERGE] > 0);
    assert_true(r->log[5].cycle > r->log[4].cycle + DRAM_LATENCY); /* the second sector of the last, read again */
    rig_free(r);
}

static void test_cuts_without_sectors(void **state)
{
    (void)state;
    const struct cut cuts[] = {
        {0x2000, 128, 0x0f, PACKET_LOAD, 1, {{0x2000, 128, 0x0f}}},
        {0x2044, 20, 0, PACKET_LOAD, 1, {{0x2044, 20, 4}}},
        {0x2000, 256, 0xff, PACKET_INST, 2, {{0x2000, 128, 0x0f}, {0x2080, 128, 0xf0}}},
    };
    struct mem_config c = default_config();
    c.l2.cache.sector_bytes = 0;
    check_cuts(&c, cuts, sizeof(cuts) / sizeof(cuts[0]));
}

/* A line through a port of a quarter of it: the next hit is looked up four cycles later. */
static void test_data_port(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.l2.cache.sector_bytes = 0;
    c.network.flit_bytes = 136;
    struct rig *r = rig_of(c);
    warm(r, 0x2000, 128);
    send(r, PACKET_LOAD, 0, 0x2000, 128, 1);
    send(r, PACKET_LOAD, 1, 0x2000, 128, 2);
    drain(r);
    assert_int_equal(r->log_count, 2);
    assert_int_equal(r->log[0].cycle, HIT_CYCLES);
    assert_int_equal(r->log[1].cycle, HIT_CYCLES + 4);
    rig_free(r);
}

/* A modified line of four sectors leaves through the port: four cycles, for which the next hit waits; none where reads
 * evict for free. A store that pushes one out always takes them. */
static void test_eviction_uses_the_port(void **state)
{
    (void)state;
    enum { SET_STRIDE = 16 * 128 * 2, WAYS = 4 }; /* the bit that chooses the slice is not one of the set's */
    for (uint32_t i = 0; i < 4; i++) {
        bool reads_are_free = i & 1, store = i & 2;
        struct mem_config c = default_config();
        c.l2.reads_evict_free = reads_are_free;
        c.network.flit_bytes = 136;
        struct rig *r = rig_of(c);
        for (uint32_t n = 0; n < WAYS; n++) {
            send(r, PACKET_STORE, 0, 0x2000 + n * SET_STRIDE, 128, n);
            drain(r);
        }
        uint64_t before = r->now;
        r->log_count = 0;
        send(r, store ? PACKET_STORE : PACKET_LOAD, 1, 0x2000 + WAYS * SET_STRIDE, 32, 10);
        send(r, PACKET_LOAD, 2, 0x2000 + SET_STRIDE, 32, 11);
        drain(r);
        assert_int_equal(r->log_count, 2);
        assert_int_equal(counters_of(r).l2.writebacks, 1);
        const struct reply *hit = &r->log[store ? 1 : 0];
        assert_int_equal(hit->packet.token, 11);
        assert_int_equal(hit->cycle - before, HIT_CYCLES + (reads_are_free && !store ? 1 : 4));
        rig_free(r);
    }
}

/* Where stores have their lines fetched, a modified line that a store pushes out takes nothing of the port; one that a
 * read pushes out does. */
static void test_stores_that_fetch_evict_for_free(void **state)
{
    (void)state;
    enum { SET_STRIDE = 16 * 128 * 2, WAYS = 4 };
    for (uint32_t store = 0; store < 2; store++) {
        struct mem_config c = default_config();
        c.l2.cache.sector_bytes = 0;
        c.l2.cache.stores_fetch = true;
        c.network.flit_bytes = 136;
        struct rig *r = rig_of(c);
        warm(r, 0x2000, 128);
        send(r, PACKET_STORE, 0, 0x2000, 128, 0); /* hits */
        drain(r);
        for (uint32_t n = 1; n < WAYS; n++)
            warm(r, 0x2000 + n * SET_STRIDE, 128);
        uint64_t before = r->now;
        r->log_count = 0;
        send(r, store ? PACKET_STORE : PACKET_LOAD, 1, 0x2000 + WAYS * SET_STRIDE, 32, 10);
        send(r, PACKET_LOAD, 2, 0x2000 + SET_STRIDE, 32, 11);
        drain(r);
        assert_int_equal(r->log_count, 2);
        assert_int_equal(counters_of(r).l2.writebacks, 1);
        assert_int_equal(r->log[0].packet.token, 11);
        assert_int_equal(r->log[0].cycle - before, HIT_CYCLES + (store ? 1 : 4));
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_is_cut_into_sectors),
        cmocka_unit_test(test_cuts_with_sectors),
        cmocka_unit_test(test_upper_halves_slip),
        cmocka_unit_test(test_cuts_without_sectors),
        cmocka_unit_test(test_partial_writes),
        cmocka_unit_test(test_eviction_uses_the_port),
        cmocka_unit_test(test_stores_that_fetch_evict_for_free),
        cmocka_unit_test(test_constants_share_miss),
        cmocka_unit_test(test_data_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
