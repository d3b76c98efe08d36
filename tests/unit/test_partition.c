/* A memory channel between two crossbars: how long a hit and a miss take, to the cycle; how requests are cut;
 * acknowledgements, atomics, merging, back-pressure; that sleep changes nothing. */
#include "partition_test.h"

static void test_hit_takes(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    run(r, 5);
    warm(r, 0x1000, 128);
    send(r, PACKET_LOAD, 2, 0x1020, 32, 42);
    drain(r);
    assert_int_equal(r->log_count, 1);
    assert_int_equal(r->log[0].cycle, 5 + HIT_CYCLES);
    assert_int_equal(r->log[0].packet.token, 42);
    assert_int_equal(r->log[0].packet.core, 2);
    assert_int_equal(r->log[0].packet.reply, 1);
    assert_int_equal(counters_of(r).l2.hits, 1);
    assert_int_equal(counters_of(r).dram.requests_read, 0);
    rig_free(r);
}

static void test_miss_takes(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    run(r, 5);
    send(r, PACKET_LOAD, 2, 0x1020, 32, 42);
    drain(r);
    assert_int_equal(r->log_count, 1);
    assert_int_equal(r->log[0].cycle, 5 + MISS_CYCLES);
    assert_int_equal(counters_of(r).l2.misses, 1);
    assert_int_equal(counters_of(r).dram.requests_read, 1);
    /* And is a hit from then on. */
    uint64_t start = r->now;
    send(r, PACKET_LOAD, 2, 0x1020, 32, 43);
    drain(r);
    assert_int_equal(r->log[1].cycle, start + HIT_CYCLES);
    rig_free(r);
}

/* Each of the fixed delays counts cycle for cycle. */
static void test_delays_add_up(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.l2.rop_cycles += 7;
    c.dram.latency_cycles += 11;
    struct rig *r = rig_of(c);
    send(r, PACKET_LOAD, 0, 0x1020, 32, 1);
    drain(r);
    assert_int_equal(r->log[0].cycle, MISS_CYCLES + 7 + 11);
    rig_free(r);
    c.l2.rop_cycles = 0;
    c.dram.latency_cycles = 0;
    r = rig_of(c);
    send(r, PACKET_LOAD, 0, 0x1020, 32, 1);
    drain(r);
    assert_int_equal(r->log[0].cycle, MISS_CYCLES - ROP - DRAM_LATENCY);
    rig_free(r);
}

/* Textures do not pass the first delay: looked up in the cycle in which they are taken. Those that are cut do. */
static void test_texture_skips_the_delay(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    warm(r, 0x1000, 128);
    send(r, PACKET_LOAD, 1, 0x1000, 32, 1);
    run(r, 2);
    send(r, PACKET_TEXTURE, 0, 0x1000, 32, 2);
    drain(r);
    assert_int_equal(r->log_count, 2);
    assert_int_equal(r->log[0].cycle, 2 + 2 * (HOP + 1) + 2);
    assert_int_equal(r->log[0].packet.token, 2);
    assert_int_equal(r->log[1].packet.token, 1);
    rig_free(r);
    r = default_rig();
    warm(r, 0x1000, 128);
    send(r, PACKET_TEXTURE, 0, 0x1000, 64, 2);
    drain(r);
    assert_int_equal(r->log_count, 2);
    assert_int_equal(r->log[0].cycle, HIT_CYCLES);
    assert_int_equal(r->log[1].cycle, HIT_CYCLES + 1);
    rig_free(r);
    struct mem_config c = default_config();
    c.l2.cache.sector_bytes = 0;
    r = rig_of(c);
    warm(r, 0x1000, 128);
    send(r, PACKET_TEXTURE, 0, 0x1000, 128, 2);
    drain(r);
    assert_int_equal(r->log[0].cycle, 2 * (HOP + 1) + 2 + 3 /* the reply has three flits more */);
    rig_free(r);
}

static void test_reads_of_a_sector_merge(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    send(r, PACKET_LOAD, 0, 0x1020, 32, 1);
    run(r, 10);
    send(r, PACKET_LOAD, 3, 0x1020, 32, 2);
    drain(r);
    assert_int_equal(r->log_count, 2);
    assert_int_equal(r->log[0].cycle, MISS_CYCLES);
    assert_int_equal(r->log[0].packet.token, 1);
    assert_int_equal(r->log[1].cycle, MISS_CYCLES + 1); /* with the same data, one cycle behind */
    assert_int_equal(r->log[1].packet.token, 2);
    assert_int_equal(r->log[1].packet.core, 3);
    assert_int_equal(counters_of(r).l2.pending_hits, 1);
    assert_int_equal(counters_of(r).dram.requests_read, 1);
    rig_free(r);
}

/* Stores into a write-back L2 are acknowledged at once, found or not; what they wrote goes to DRAM only when it is
 * driven out. */
static void test_store_is_acknowledged(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    send(r, PACKET_STORE, 1, 0x1020, 32, 7);
    drain(r);
    assert_int_equal(r->log_count, 1);
    assert_int_equal(r->log[0].cycle, HIT_CYCLES);
    assert_int_equal(r->log[0].packet.token, 7);
    uint64_t start = r->now;
    send(r, PACKET_STORE, 1, 0x1020, 32, 8);
    drain(r);
    assert_int_equal(r->log[1].cycle, start + HIT_CYCLES);
    assert_int_equal(counters_of(r).dram.requests_read + counters_of(r).dram.requests_written, 0);
    send(r, PACKET_L1_WRITEBACK, 1, 0x1040, 32, 9);
    drain(r);
    assert_int_equal(r->log_count, 2);
    assert_int_equal(counters_of(r).l2.writes, 3);
    rig_free(r);
}

/* Through a write-through L2 the acknowledgement comes from DRAM. Stores there and back: the column command needs tRCD
 * less WL + 1 and the data WL and the burst. */
static void test_write_through_is_acknowledged_by_dram(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.l2.cache.global_writes = WRITE_THROUGH;
    struct rig *r = rig_of(c);
    send(r, PACKET_STORE, 1, 0x1020, 32, 7);
    drain(r);
    assert_int_equal(r->log_count, 1);
    assert_int_equal(r->log[0].packet.token, 7);
    /* As a miss, less one cycle: an acknowledgement goes from DRAM into the reply queue without a fill. */
    assert_int_equal(r->log[0].cycle, MISS_CYCLES - RCD - CL + (RCD - 4 - 1) + 4 - 1);
    assert_int_equal(counters_of(r).dram.requests_written, 1);
    rig_free(r);
}

/* Where stores have their lines fetched: one that misses is acknowledged by DRAM, as one through a write-through L2,
 * though its line is read behind it; one that hits by the L2. Two to a line are both written, and read it once. */
static void test_stores_fetch(void **state)
{
    (void)state;
    enum { DRAM_ACKNOWLEDGES = MISS_CYCLES - RCD - CL + (RCD - 4 - 1) + 4 - 1 };
    struct mem_config c = default_config();
    c.l2.cache.sector_bytes = 0;
    c.l2.cache.stores_fetch = true;
    c.l2.slices_per_channel = 1;
    c.network.flit_bytes = 136;
    struct rig *r = rig_of(c);
    send(r, PACKET_STORE, 1, 0x1020, 32, 7);
    drain(r);
    assert_int_equal(r->log_count, 1); /* nothing for the fetch */
    assert_int_equal(r->log[0].packet.token, 7);
    assert_int_equal(r->log[0].packet.kind, PACKET_STORE);
    assert_int_equal(r->log[0].cycle, DRAM_ACKNOWLEDGES);
    assert_int_equal(counters_of(r).dram.requests_written, 1);
    assert_int_equal(counters_of(r).dram.requests_read, 1);
    assert_int_equal(counters_of(r).l2.fills, 1);
    uint64_t start = r->now;
    send(r, PACKET_STORE, 1, 0x1000, 32, 8);
    drain(r);
    assert_int_equal(r->log[1].cycle, start + HIT_CYCLES);
    start = r->now;
    send(r, PACKET_LOAD, 1, 0x1000, 128, 9);
    drain(r);
    assert_int_equal(r->log[2].cycle, start + HIT_CYCLES);
    send(r, PACKET_STORE, 1, 0x3000, 32, 10);
    send(r, PACKET_STORE, 2, 0x3020, 32, 11);
    send(r, PACKET_L1_WRITEBACK, 3, 0x3040, 32, 12);
    drain(r);
    assert_int_equal(r->log_count, 5); /* nobody waits for the L1's */
    assert_int_equal(counters_of(r).dram.requests_written, 1 + 3);
    assert_int_equal(counters_of(r).dram.requests_read, 1 + 1);
    assert_int_equal(counters_of(r).l2.write_misses, 1 + 3);
    rig_free(r);
}

/* Modified lines that are driven out are written, and nobody hears of it. */
static void test_write_backs(void **state)
{
    (void)state;
    enum { LINES = 400 };
    struct rig *r = default_rig();
    for (uint32_t i = 0; i < LINES; i++) {
        struct packet p = request_of(PACKET_STORE, i % CORES, 0x10000 + 128 * i, 128, i);
        while (!try_send(r, &p))
            tick(r);
    }
    drain(r);
    struct partition_counters c = counters_of(r);
    assert_int_equal(r->log_count, 4 * LINES);
    assert_int_equal(c.l2.writes, 4 * LINES);
    assert_int_equal(c.l2.writebacks, LINES - 2 * 16 * 4);
    assert_int_equal(c.dram.requests_written, c.l2.writebacks);
    assert_int_equal(c.dram.requests_read, 0);
    rig_free(r);
}

static void test_atomic_takes_effect_once(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    send(r, PACKET_ATOMIC, 1, 0x1020, 32, 7);
    run(r, MISS_CYCLES - HOP - 2);
    assert_int_equal(r->atomics, 0); /* takes effect in the cycle in which it leaves for the core */
    tick(r);
    assert_int_equal(r->atomics, 1);
    drain(r);
    assert_int_equal(r->atomics, 1);
    assert_int_equal(r->log_count, 1);
    assert_int_equal(r->log[0].cycle, MISS_CYCLES);
    /* Cut into four, it is answered four times and takes effect once, with all its lanes. */
    send(r, PACKET_ATOMIC, 1, 0x1000, 128, 8);
    drain(r);
    assert_int_equal(r->log_count, 5);
    assert_int_equal(r->atomics, 2);
    assert_int_equal(r->atomic_mask, 0xff);
    rig_free(r);
}

/* Nobody takes the replies: everything fills up behind them, to the crossbar of the requests; then all is answered. */
static void test_back_pressure(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    warm(r, 0x2000, 128);
    r->holds_replies = true;
    uint32_t sent = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        struct packet p = request_of(PACKET_LOAD, 0, 0x2000, 32, sent);
        sent += try_send(r, &p);
        tick(r);
    }
    struct partition_counters c = counters_of(r);
    assert_true(c.reply_stalls > 2000);
    assert_true(c.input_stalls > 2000);
    /* 16 at the output, 16 at the input, 8 in the reply queue were looked up; 8 wait for it, and so on. */
    assert_int_equal(c.l2.accesses, 16 + 16 + 8);
    r->holds_replies = false;
    drain(r);
    assert_int_equal(r->log_count, sent);
    for (uint32_t i = 0; i < sent; i++)
        assert_int_equal(r->log[i].packet.token, i); /* one core, one sector: in order */
    rig_free(r);
}

/* Acknowledgements that cannot leave hold back DRAM, and none is lost or doubled. */
static void test_back_pressure_on_dram(void **state)
{
    (void)state;
    enum { STORES = 300 };
    struct mem_config c = default_config();
    c.l2.cache.global_writes = WRITE_THROUGH;
    c.l2.return_queue = 2;
    struct rig *r = rig_of(c);
    uint32_t seen[STORES] = {0};
    r->holds_replies = true;
    for (uint32_t i = 0; i < STORES; i++) {
        struct packet p = request_of(PACKET_STORE, 0, 0x2000 + 32 * i, 32, i);
        while (!try_send(r, &p)) {
            r->holds_replies = r->now % 1000 != 0;
            tick(r);
        }
    }
    r->holds_replies = false;
    drain(r);
    assert_int_equal(r->log_count, STORES);
    for (uint32_t i = 0; i < STORES; i++)
        seen[r->log[i].packet.token]++;
    for (uint32_t i = 0; i < STORES; i++)
        assert_int_equal(seen[i], 1);
    rig_free(r);
}

/* A slice whose queue from DRAM is full sends nothing more there. */
static void test_full_return_queue_stops_the_slice(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.l2.cache.sets = 0; /* an L2 looks nothing up while the reply queue is full */
    c.l2.return_queue = 2;
    struct rig *r = rig_of(c);
    r->holds_replies = true;
    for (uint32_t i = 0; i < 16 + 16 + 8 + 2 + 5;
         i++) { /* crossbar's output and input, reply queue, return queue; five more */
        send(r, PACKET_STORE, 0, 0x2000, 32, i);
        run(r, 2 * MISS_CYCLES);
    }
    assert_int_equal(counters_of(r).dram.requests_written, 16 + 16 + 8 + 2);
    r->holds_replies = false;
    drain(r);
    assert_int_equal(counters_of(r).dram.requests_written, 16 + 16 + 8 + 2 + 5);
    rig_free(r);
}

/* A channel takes no more requests than its DRAM's two queues hold, counted from where they leave the slices. */
static void test_credits(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.dram.queue = 4;
    c.dram.return_queue = 3;
    c.dram.latency_cycles = 500;
    struct rig *r = rig_of(c);
    for (uint32_t i = 0; i < 5; i++)
        send(r, PACKET_LOAD, i % CORES, 0x2000 + 128 * i, 128, i);
    run(r, 300);
    char text[2000];
    partition_describe(r->partition, text, sizeof(text));
    assert_non_null(strstr(text, "\n7 requests in the delay in front of DRAM"));
    drain(r);
    assert_int_equal(r->log_count, 20);
    rig_free(r);
    c.dram.return_queue = 0; /* no limit: all but what the queues ahead of it hold */
    r = rig_of(c);
    for (uint32_t i = 0; i < 5; i++)
        send(r, PACKET_LOAD, i % CORES, 0x2000 + 128 * i, 128, i);
    run(r, 300);
    partition_describe(r->partition, text, sizeof(text));
    assert_non_null(strstr(text, "\n20 requests in the delay in front of DRAM"));
    drain(r);
    rig_free(r);
}

static void test_cores_share_a_port(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.cores_per_port = CORES;
    struct rig *r = rig_of(c);
    send(r, PACKET_LOAD, 3, 0x1000, 32, 1);
    send(r, PACKET_LOAD, 1, 0x3000, 32, 2);
    drain(r);
    assert_int_equal(r->log_count, 2);
    assert_int_equal(r->log[0].packet.core, 3);
    assert_int_equal(r->log[1].packet.core, 1);
    rig_free(r);
}

/* Without an L2 all requests go to DRAM, whole, and their answers to the cores. */
static void test_no_l2(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.l2.cache.sets = 0;
    c.network.flit_bytes = 136;
    struct rig *r = rig_of(c);
    send(r, PACKET_LOAD, 0, 0x1000, 64, 1);
    drain(r);
    assert_int_equal(r->log_count, 1);
    assert_int_equal(r->log[0].packet.bytes, 64);
    assert_int_equal(r->log[0].cycle, MISS_CYCLES - 2); /* no miss queue, no fill */
    send(r, PACKET_STORE, 0, 0x1000, 64, 2);
    send(r, PACKET_ATOMIC, 1, 0x1000, 64, 3);
    send(r, PACKET_L1_WRITEBACK, 2, 0x1000, 64, 4);
    drain(r);
    assert_int_equal(r->log_count, 3);
    assert_int_equal(r->atomics, 1);
    assert_int_equal(counters_of(r).dram.requests_written, 2);
    rig_free(r);
}

/* Slices take turns at the channel. (DRAM in order of arrival, so that the order of the replies shows it.) */
static void test_slices_take_turns(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.dram.scheduler = DRAM_FIFO;
    struct rig *r = rig_of(c);
    uint64_t address[2][6];
    uint32_t found[2] = {0};
    for (uint64_t a = 0; found[0] < 6 || found[1] < 6; a += 128) {
        uint32_t s = address_map_slice(&r->map, a);
        if (found[s] < 6)
            address[s][found[s]++] = a;
    }
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t s = 0; s < 2; s++)
            send(r, PACKET_LOAD, s, address[s][i], 32, i);
    drain(r);
    assert_int_equal(r->log_count, 12);
    uint32_t of_slice[2] = {0};
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t s = address_map_slice(&r->map, r->log[i].packet.address);
        of_slice[s]++;
        assert_in_range(of_slice[s], i / 2, i / 2 + 2); /* neither runs ahead */
    }
    rig_free(r);
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*seed >> 33) % n;
}

static struct packet random_request(uint64_t *seed, uint32_t token)
{
    static const enum packet_kind kinds[] = {PACKET_LOAD,    PACKET_LOAD,         PACKET_LOAD,
                                             PACKET_STORE,   PACKET_LOCAL_STORE,  PACKET_ATOMIC,
                                             PACKET_TEXTURE, PACKET_L1_WRITEBACK, PACKET_INST};
    uint32_t bytes = 32u << random_below(seed, 3);
    uint64_t address =
        (uint64_t)random_below(seed, random_below(seed, 2) ? 1 << 16 : 1 << 12) * 32 & ~(uint64_t)(bytes - 1);
    return request_of(kinds[random_below(seed, sizeof(kinds) / sizeof(kinds[0]))], random_below(seed, CORES), address,
                      bytes, token);
}

static uint32_t answers_to(const struct packet *p, const struct mem_config *c)
{
    if (p->kind == PACKET_L1_WRITEBACK)
        return 0;
    return c->l2.cache.sets && c->l2.cache.sector_bytes ? p->bytes / 32 : 1;
}

/* Bursts of random requests with pauses; every one is answered as often as it was cut, with each sector once. */
static struct rig *random_run(const struct mem_config *config, bool sleeps, uint64_t seed)
{
    enum { REQUESTS = 3000 };
    static uint32_t expected[REQUESTS], seen[REQUESTS], sectors[REQUESTS];
    memset(seen, 0, sizeof(seen));
    memset(sectors, 0, sizeof(sectors));
    struct rig *r = rig_of(*config);
    r->sleeps = sleeps;
    if (sleeps)
        partition_set_l2_clock(r->partition, &r->l2_ticks);
    uint32_t atomics = 0;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        struct packet p = random_request(&seed, i);
        expected[i] = answers_to(&p, config);
        atomics += p.kind == PACKET_ATOMIC;
        while (!try_send(r, &p))
            tick(r);
        if (random_below(&seed, 100) == 0)
            run(r, random_below(&seed, 400));
        else if (random_below(&seed, 2))
            tick(r);
        if (i % (REQUESTS / MIDWAY) == 0)
            r->midway[i / (REQUESTS / MIDWAY)] = counters_of(r); /* slices that rest have counted all the same */
    }
    drain(r);
    assert_true(is_due_never(r));
    for (uint32_t i = 0; i < r->log_count; i++) {
        const struct packet *p = &r->log[i].packet;
        seen[p->token]++;
        assert_int_equal(sectors[p->token] & p->sectors, 0);
        sectors[p->token] |= p->sectors;
    }
    assert_memory_equal(seen, expected, sizeof(seen));
    assert_int_equal(r->atomics, atomics);
    struct partition_counters c = counters_of(r);
    assert_int_equal(c.l2.accesses, c.l2.hits + c.l2.misses + c.l2.pending_hits);
    assert_int_equal(c.l2.fills, c.l2.misses_sent);
    if (config->l2.cache.sets)
        assert_int_equal(c.dram.requests_read, c.l2.misses_sent);
    if (config->l2.cache.stores_fetch)
        assert_int_equal(c.dram.requests_written, c.l2.write_misses + c.l2.writebacks);
    return r;
}

/* But for the bits of its last byte that mean nothing. */
static void check_same_packet(const struct packet *a, const struct packet *b)
{
    assert_memory_equal(a, b, sizeof *a - 1);
    assert_int_equal(a->twin, b->twin);
    assert_int_equal(a->away, b->away);
    assert_int_equal(a->guest, b->guest);
    assert_int_equal(a->takes_turns, b->takes_turns);
}

static void check_same(struct rig *one, struct rig *other)
{
    assert_int_equal(one->log_count, other->log_count);
    for (uint32_t i = 0; i < one->log_count; i++) {
        assert_int_equal(one->log[i].cycle, other->log[i].cycle);
        check_same_packet(&one->log[i].packet, &other->log[i].packet);
    }
    struct partition_counters a = counters_of(one), b = counters_of(other);
    assert_memory_equal(&a, &b, sizeof(a));
}

static void check_random(struct mem_config config, uint64_t seed)
{
    struct rig *awake = random_run(&config, false, seed), *sleeper = random_run(&config, true, seed);
    assert_int_equal(awake->now, sleeper->now);
    check_same(awake, sleeper);
    assert_memory_equal(awake->midway, sleeper->midway, sizeof(awake->midway));
    assert_true(sleeper->visits < awake->visits && sleeper->l2_visits < sleeper->visits); /* it did sleep */
    rig_free(awake);
    rig_free(sleeper);
}

static void test_random_requests(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    check_random(c, 1);
    c.dram_khz = 924000;
    check_random(c, 2);
    c.dram_khz = 300000;
    c.l2.slices_per_channel = 1;
    check_random(c, 3);
    c.l2.cache.sector_bytes = 0;
    c.network.speedup = 2;
    check_random(c, 4);
    c.l2.cache.sets = 0;
    c.dram_khz = 924000;
    check_random(c, 5);
    c = default_config();
    c.l2.input_queue = c.l2.dram_queue = c.l2.reply_queue = c.l2.return_queue = 1;
    c.l2.cache.miss_queue = 2;
    c.dram.queue = 2;
    c.dram.return_queue = 1;
    check_random(c, 6);
    c = default_config();
    c.l2.cache.global_writes = c.l2.cache.local_writes = WRITE_THROUGH;
    check_random(c, 7);
    c = default_config();
    c.l2.cache.mshr_entries = 2; /* most tries fail */
    c.l2.cache.mshr_merge = 2;
    c.l2.input_queue = 4;
    check_random(c, 8);
    c.l2.slices_per_channel = 1;
    c.l2.cache.sector_bytes = 0;
    c.l2.cache.port_bytes = 0;
    c.dram_khz = 300000;
    check_random(c, 9);
    c = default_config();
    c.l2.cache.sector_bytes = 0;
    c.l2.cache.stores_fetch = true;
    check_random(c, 10);
    c.dram.return_queue = 0;
    c.dram_khz = 924000;
    c.l2.cache.mshr_entries = 2;
    c.l2.cache.mshr_merge = 2;
    c.l2.cache.miss_queue = 3;
    check_random(c, 11);
    c.l2.input_queue = c.l2.dram_queue = c.l2.reply_queue = c.l2.return_queue = 1;
    c.l2.slices_per_channel = 1;
    check_random(c, 12);
}

/* A slice without a free miss register rests until data comes; the tries that it leaves out are counted, also when
 * somebody reads the counters in between. */
static void test_rests_when_refused(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.l2.slices_per_channel = 1;
    c.l2.cache.mshr_entries = 1;
    struct rig *r = rig_of(c);
    r->sleeps = true;
    partition_set_l2_clock(r->partition, &r->l2_ticks);
    for (uint32_t i = 0; i < 2; i++)
        send(r, PACKET_LOAD, i, 0x1000 + 0x1000 * i, 32, i);
    while (counters_of(r).l2.fails[CACHE_FAIL_MSHR] == 0)
        tick(r);
    uint64_t visits = r->l2_visits, fails = 1;
    while (r->log_count == 0) {
        assert_int_equal(counters_of(r).l2.fails[CACHE_FAIL_MSHR], fails++);
        tick(r);
        if (r->l2_visits != visits)
            break;
    }
    assert_true(fails > DRAM_LATENCY);
    assert_int_equal(r->log_count, 0); /* woken by the data, before it is on its way */
    drain(r);
    assert_int_equal(r->log_count, 2);
    rig_free(r);
}

/* A lone miss: the channel is looked at when something can happen, not in every cycle. */
static void test_sleeps_through_delays(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.l2.rop_cycles = 200;
    c.dram.latency_cycles = 300;
    struct rig *r = rig_of(c);
    r->sleeps = true;
    assert_true(is_due_never(r));
    send(r, PACKET_LOAD, 0, 0x1000, 32, 1);
    drain(r);
    assert_int_equal(r->log[0].cycle, MISS_CYCLES - ROP - DRAM_LATENCY + 200 + 300);
    assert_true(r->visits < 25);
    rig_free(r);
}

/* A multiplied index is one of the whole address, with the bits that choose channel and slice; others leave those out.
 * One way a set: of two lines of a set the later stays. */
static void test_multiplied_index(void **state)
{
    (void)state;
    struct mem_config c = default_config();
    c.l2.cache.ways = 1;
    c.l2.cache.sector_bytes = 0;
    c.l2.cache.index = SET_INDEX_MULTIPLIED;
    uint32_t sets = c.l2.cache.sets, met = 0;
    struct rig *r = rig_of(c);
    for (uint64_t line = 1; line < 400; line++) {
        if (address_map_slice(&r->map, line * 128) != address_map_slice(&r->map, 0))
            continue;
        bool same = (line % sets + 7 * (line / sets)) % sets == 0;
        partition_flush(r->partition);
        warm(r, 0, 128);
        warm(r, line * 128, 128);
        uint64_t hits = counters_of(r).l2.hits;
        send(r, PACKET_LOAD, 0, 0, 32, 1);
        drain(r);
        assert_int_equal(counters_of(r).l2.hits - hits, !same);
        met += same;
    }
    assert_in_range(met, 5, 50);
    rig_free(r);
}

static void test_flush(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    warm(r, 0x1000, 128);
    partition_flush(r->partition);
    send(r, PACKET_LOAD, 0, 0x1000, 32, 1);
    drain(r);
    assert_int_equal(counters_of(r).l2.misses, 1);
    /* While a line is on its way: the others are lost, modified ones without a word, and it comes. */
    send(r, PACKET_STORE, 0, 0x1000, 32, 2);
    drain(r);
    send(r, PACKET_LOAD, 0, 0x3000, 32, 3);
    run(r, HIT_CYCLES);
    assert_false(partition_idle(r->partition));
    partition_flush(r->partition);
    drain(r);
    assert_int_equal(r->log_count, 3);
    assert_int_equal(r->log[2].packet.token, 3);
    send(r, PACKET_LOAD, 0, 0x3000, 32, 4);
    send(r, PACKET_LOAD, 1, 0x1000, 32, 5);
    drain(r);
    assert_int_equal(counters_of(r).l2.hits, 1 + 1); /* of the store, and of the line that came */
    assert_int_equal(counters_of(r).l2.misses, 1 + 2);
    assert_int_equal(counters_of(r).dram.requests_written, 0);
    rig_free(r);
}

static void test_description(void **state)
{
    (void)state;
    struct rig *r = default_rig();
    char text[2000];
    partition_describe(r->partition, text, sizeof(text));
    assert_string_equal(text, "memory channel 0: empty\n");
    send(r, PACKET_LOAD, 0, 0x1000, 32, 1);
    run(r, HOP + 3);
    partition_describe(r->partition, text, sizeof(text));
    assert_non_null(strstr(text, "1 requests in the delay from the network, the first until core cycle 25"));
    run(r, 22);
    partition_describe(r->partition, text, sizeof(text));
    assert_non_null(strstr(text, "1 misses outstanding"));
    assert_non_null(strstr(text, "in front of DRAM"));
    for (uint32_t size = 0; size < 100; size++) {
        memset(text, '#', sizeof(text));
        partition_describe(r->partition, text, size);
        assert_int_equal(text[size], '#');
        assert_true(size == 0 || memchr(text, '\0', size));
    }
    drain(r);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hit_takes),
        cmocka_unit_test(test_miss_takes),
        cmocka_unit_test(test_delays_add_up),
        cmocka_unit_test(test_texture_skips_the_delay),
        cmocka_unit_test(test_reads_of_a_sector_merge),
        cmocka_unit_test(test_store_is_acknowledged),
        cmocka_unit_test(test_write_through_is_acknowledged_by_dram),
        cmocka_unit_test(test_stores_fetch),
        cmocka_unit_test(test_write_backs),
        cmocka_unit_test(test_atomic_takes_effect_once),
        cmocka_unit_test(test_back_pressure),
        cmocka_unit_test(test_back_pressure_on_dram),
        cmocka_unit_test(test_full_return_queue_stops_the_slice),
        cmocka_unit_test(test_credits),
        cmocka_unit_test(test_cores_share_a_port),
        cmocka_unit_test(test_no_l2),
        cmocka_unit_test(test_slices_take_turns),
        cmocka_unit_test(test_random_requests),
        cmocka_unit_test(test_sleeps_through_delays),
        cmocka_unit_test(test_rests_when_refused),
        cmocka_unit_test(test_multiplied_index),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
