/* A memory channel between two crossbars: how long a hit and a miss take, to the cycle; how requests are cut; acknowledgements, atomics, merging, back-pressure; that sleep changes nothing. */
#include "mem/partition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CORES = 4, LOG = 20000, MIDWAY = 100 };
enum { ROP = 20, HOP = 3, DRAM_LATENCY = 15, RCD = 12, CL = 12, BURST = 2 }; /* BURST: burst length 8 at four transfers a cycle */
/* From a request's cycle to the reply's arrival, one flit each, all clocks alike: the crossbars; one cycle each to be taken from the crossbar (in which the delay begins), to be looked up, and to
 * leave. A miss is sent on in one cycle more, taken by the channel, taken by a bank; its data is taken back, made ready. */
enum { HIT_CYCLES = ROP + 2 * (HOP + 1) + 3, MISS_CYCLES = ROP + DRAM_LATENCY + RCD + CL + BURST + 2 * (HOP + 1) + 8 };

struct reply { uint64_t cycle; struct packet packet; };

struct rig {
    struct arena arena;
    struct mem_config config;
    struct address_map map;
    struct crossbar *requests, *replies;
    struct partition *partition;
    uint64_t now, dram_now, dram_phase, wake, l2_ticks;
    bool sleeps, holds_replies;
    uint64_t visits, l2_visits;
    uint32_t atomics;
    uint32_t atomic_mask;
    struct reply log[LOG];
    uint32_t log_count;
    struct partition_counters midway[MIDWAY];
};

static struct mem_config default_config(void)
{
    return (struct mem_config){
        .core_count = CORES,
        .crossbar = { .flit_bytes = 40, .input_flits = 16, .output_flits = 16, .hop_cycles = HOP, .speedup = 1 },
        .l2 = { .cache = { .sets = 16, .ways = 4, .line_bytes = 128, .sector_bytes = 32, .global_writes = WRITE_BACK, .local_writes = WRITE_BACK, .write_allocate = true,
                           .mshr_entries = 32, .mshr_merge = 4, .miss_queue = 4, .port_bytes = 32 },
                .slices_per_channel = 2, .rop_cycles = ROP, .input_queue = 8, .dram_queue = 8, .reply_queue = 8, .return_queue = 8 },
        .dram = { .channels = 1, .chips = 2, .bus_bytes = 4, .burst_length = 8, .data_rate = 4, .queue = 16, .return_queue = 20, .latency_cycles = DRAM_LATENCY, .banks = 16,
                  .bank_groups = 4, .t_ccd = 2, .t_rrd = 6, .t_rcd = RCD, .t_ras = 28, .t_rp = 12, .t_rc = 40, .t_cl = CL, .t_wl = 4, .t_cdlr = 5, .t_wr = 12, .t_ccdl = 3,
                  .t_rtpl = 2, .channel_bit = 8, .map = "RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS" },
        .core_khz = 700000, .icnt_khz = 700000, .l2_khz = 700000, .dram_khz = 700000,
    };
}

static void count_atomic(void *context, const struct packet *p)
{
    struct rig *r = context;
    r->atomics++;
    r->atomic_mask |= p->mask;
    assert_int_equal(p->kind, PACKET_ATOMIC);
}

static uint32_t cores_per_port(const struct mem_config *c) { return c->cores_per_port ? c->cores_per_port : 1; }
static uint32_t ports_of(const struct mem_config *c) { return CORES / cores_per_port(c); }

static struct rig *rig_of(struct mem_config config)
{
    struct rig *r = test_calloc(1, sizeof(*r));
    struct error e = {0};
    r->config = config;
    assert_true(address_map_init(&r->map, &r->config.dram, config.l2.slices_per_channel, &e));
    uint32_t slices = config.dram.channels * config.l2.slices_per_channel, ports = ports_of(&config);
    r->requests = crossbar_create(&r->arena, &r->config.crossbar, ports, slices);
    r->replies = crossbar_create(&r->arena, &r->config.crossbar, slices, ports);
    r->partition = partition_create(&r->arena, &r->config, &r->map, 0, r->requests, r->replies, &(struct partition_hooks){ .context = r, .on_atomic = count_atomic });
    return r;
}

static struct rig *default_rig(void) { return rig_of(default_config()); }

static void rig_free(struct rig *r)
{
    arena_free(&r->arena);
    test_free(r);
}

static void tick_partition(struct rig *r, uint32_t dram_ticks)
{
    const struct partition_head *head = partition_head(r->partition);
    bool asked = crossbar_waiting(r->requests, NULL, 0) & ~head->refusing;
    if (r->sleeps && r->now < r->wake && !asked)
        return;
    r->visits++;
    partition_reply_cycle(r->partition, r->now);
    for (uint32_t i = 0; i < dram_ticks; i++)
        partition_dram_cycle(r->partition, r->dram_now - dram_ticks + 1 + i, r->now);
    if (!r->sleeps || asked || head->l2_at <= r->now) {
        partition_l2_cycle(r->partition, r->now, r->now);
        r->l2_visits++;
    }
    r->wake = partition_next_event(r->partition, r->now);
    assert_true(r->wake > r->now);
    /* Other clocks may tick between two core cycles: those before the cycle of an event belong to it. */
    assert_true(r->wake == r->now + 1 || r->wake == UINT64_MAX || (r->wake < head->l2_at && r->wake < head->leaves_delay_at));
}

static void collect_replies(struct rig *r)
{
    for (uint32_t o = 0; o < ports_of(&r->config) && !r->holds_replies; o++)
        while (crossbar_front(r->replies, o)) {
            assert_true(r->log_count < LOG);
            r->log[r->log_count++] = (struct reply){ .cycle = r->now, .packet = *crossbar_front(r->replies, o) };
            crossbar_pop(r->replies, o);
        }
}

/* One core cycle. What is pushed after it carries its number. */
static void tick(struct rig *r)
{
    r->now++;
    r->dram_phase += r->config.dram_khz;
    uint32_t dram_ticks = (uint32_t)(r->dram_phase / r->config.core_khz);
    r->dram_phase %= r->config.core_khz;
    r->dram_now += dram_ticks;
    tick_partition(r, dram_ticks);
    r->l2_ticks = r->now + 1;
    crossbar_cycle(r->requests, r->now);
    crossbar_cycle(r->replies, r->now);
    collect_replies(r);
}

static void run(struct rig *r, uint32_t cycles)
{
    while (cycles--)
        tick(r);
}

static void drain(struct rig *r)
{
    uint64_t start = r->now;
    do {
        tick(r);
        assert_true(r->now - start < 200000);
    } while (!partition_idle(r->partition) || !crossbar_empty(r->requests) || !crossbar_empty(r->replies));
}

static struct packet request_of(enum packet_kind kind, uint32_t core, uint64_t address, uint32_t bytes, uint32_t token)
{
    return (struct packet){ .kind = (uint8_t)kind, .core = (uint16_t)core, .address = address, .bytes = (uint16_t)bytes, .token = token, .mask = 0xff };
}

static bool try_send(struct rig *r, const struct packet *p)
{
    uint32_t bytes = packet_is_write(p) ? 8u + p->bytes : 8;
    uint32_t port = p->core / cores_per_port(&r->config);
    if (!crossbar_has_room(r->requests, port, bytes))
        return false;
    crossbar_push(r->requests, port, address_map_slice(&r->map, p->address), p, bytes, r->now);
    return true;
}

static void send(struct rig *r, enum packet_kind kind, uint32_t core, uint64_t address, uint32_t bytes, uint32_t token)
{
    struct packet p = request_of(kind, core, address, bytes, token);
    assert_true(try_send(r, &p));
}

static void warm(struct rig *r, uint64_t address, uint32_t bytes)
{
    for (uint64_t a = address; a < address + bytes; a += 32)
        partition_touch(r->partition, a, r->now);
}

static struct partition_counters counters_of(const struct rig *r)
{
    struct partition_counters c = {0};
    partition_read_counters(r->partition, &c);
    return c;
}

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

struct cut { uint64_t address; uint16_t bytes; uint8_t sectors; uint8_t kind; uint32_t pieces; struct { uint64_t address; uint16_t bytes; uint8_t sectors; } piece[8]; };

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
        { 0x2004, 12, 0, PACKET_STORE, 1, { { 0x2004, 12, 1 } } },                                          /* less than a sector */
        { 0x2050, 32, 0, PACKET_STORE, 2, { { 0x2050, 16, 4 }, { 0x2060, 16, 8 } } },                       /* over the border of two */
        { 0x2040, 64, 0x0c, PACKET_LOAD, 2, { { 0x2040, 32, 4 }, { 0x2060, 32, 8 } } },                     /* half a line, named as in the line */
        { 0x2040, 64, 0x03, PACKET_CONST, 2, { { 0x2040, 32, 1 }, { 0x2060, 32, 2 } } },                    /* a line of 64 bytes, with its own names */
        { 0x2000, 128, 0x06, PACKET_STORE, 2, { { 0x2020, 32, 2 }, { 0x2040, 32, 4 } } },                   /* a segment of which the middle is meant */
        { 0x2020, 64, 0x0a, PACKET_LOAD, 2, { { 0x2020, 32, 2 }, { 0x2060, 32, 8 } } },                     /* an L1 that lacks two sectors with one between them */
        { 0x2000, 64, 0x0a, PACKET_L1_WRITEBACK, 2, { { 0x2020, 32, 2 }, { 0x2060, 32, 8 } } },             /* two of a line, by the line's address */
        { 0x2000, 256, 0xff, PACKET_INST, 8, { { 0x2000, 32, 1 }, { 0x2020, 32, 2 }, { 0x2040, 32, 4 }, { 0x2060, 32, 8 }, { 0x2080, 32, 16 }, { 0x20a0, 32, 32 },
                                               { 0x20c0, 32, 64 }, { 0x20e0, 32, 128 } } },
    };
    struct mem_config c = default_config();
    check_cuts(&c, cuts, sizeof(cuts) / sizeof(cuts[0]));
}

static void test_upper_halves_slip(void **state)
{
    (void)state;
    const struct cut cuts[] = {
        { 0x2040, 64, 0x0c, PACKET_STORE, 2, { { 0x20c0, 32, 4 }, { 0x20e0, 32, 8 } } },                    /* its own sectors, of the next line */
        { 0x2040, 64, 0x0c, PACKET_ATOMIC, 2, { { 0x20c0, 32, 4 }, { 0x20e0, 32, 8 } } },
        { 0x2000, 64, 0x03, PACKET_STORE, 2, { { 0x2000, 32, 1 }, { 0x2020, 32, 2 } } },                    /* the lower half */
        { 0x2040, 32, 0x04, PACKET_STORE, 1, { { 0x2040, 32, 4 } } },                                       /* a single sector */
        { 0x2000, 128, 0x0f, PACKET_STORE, 4, { { 0x2000, 32, 1 }, { 0x2020, 32, 2 }, { 0x2040, 32, 4 }, { 0x2060, 32, 8 } } },
        { 0x2040, 64, 0x0c, PACKET_CONST, 2, { { 0x2040, 32, 4 }, { 0x2060, 32, 8 } } },
    };
    struct mem_config c = default_config();
    c.l2.upper_halves_slip = true;
    check_cuts(&c, cuts, sizeof(cuts) / sizeof(cuts[0]));
}

/* A store tells in 32nd parts of its bytes what it writes: sectors that it writes in part, or not at all, are read from DRAM when they are read. */
static void test_partial_writes(void **state)
{
    (void)state;
    const struct { uint64_t address; uint16_t bytes; uint8_t sectors; uint32_t mask, read; } stores[] = {
        { 0x2000, 128, 0x0f, 0xffffffff, 0 }, { 0x2000, 128, 0x0f, 0x00ff00ff, 2 }, { 0x2000, 128, 0x0f, 0xff7fffff, 1 }, { 0x2000, 128, 0x0f, 0x11111111, 4 },
        { 0x2040, 64, 0x0c, 0xffffffff, 2 },  { 0x2040, 64, 0x0c, 0x0000ffff, 3 },  { 0x2000, 64, 0x03, 0xfffeffff, 3 },  { 0x2020, 32, 0x02, 0xffffffff, 3 }, { 0x2060, 32, 0x08, 0xfffffffe, 4 },
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
            const uint32_t reads[] = { shares ? 1 : 2, 2, 2 };
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
    /* Four requests wait for the first sector: two of those that ask for both. The third waits until its data is there. */
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
        { 0x2000, 128, 0x0f, PACKET_LOAD, 1, { { 0x2000, 128, 0x0f } } },
        { 0x2044, 20, 0, PACKET_LOAD, 1, { { 0x2044, 20, 4 } } },
        { 0x2000, 256, 0xff, PACKET_INST, 2, { { 0x2000, 128, 0x0f }, { 0x2080, 128, 0xf0 } } },
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
    c.crossbar.flit_bytes = 136;
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

/* A modified line of four sectors leaves through the port: four cycles, for which the next hit waits; none where reads evict for free. A store that pushes one out always takes them. */
static void test_eviction_uses_the_port(void **state)
{
    (void)state;
    enum { SET_STRIDE = 16 * 128 * 2, WAYS = 4 }; /* the bit that chooses the slice is not one of the set's */
    for (uint32_t i = 0; i < 4; i++) {
        bool reads_are_free = i & 1, store = i & 2;
        struct mem_config c = default_config();
        c.l2.reads_evict_free = reads_are_free;
        c.crossbar.flit_bytes = 136;
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

/* Stores into a write-back L2 are acknowledged at once, found or not; what they wrote goes to DRAM only when it is driven out. */
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

/* Through a write-through L2 the acknowledgement comes from DRAM. Stores there and back: the column command needs tRCD less WL + 1 and the data WL and the burst. */
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
    for (uint32_t i = 0; i < 16 + 16 + 8 + 2 + 5; i++) { /* crossbar's output and input, reply queue, return queue; five more */
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
    c.crossbar.flit_bytes = 136;
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
    static const enum packet_kind kinds[] = { PACKET_LOAD, PACKET_LOAD, PACKET_LOAD, PACKET_STORE, PACKET_LOCAL_STORE, PACKET_ATOMIC, PACKET_TEXTURE, PACKET_L1_WRITEBACK, PACKET_INST };
    uint32_t bytes = 32u << random_below(seed, 3);
    uint64_t address = (uint64_t)random_below(seed, random_below(seed, 2) ? 1 << 16 : 1 << 12) * 32 & ~(uint64_t)(bytes - 1);
    return request_of(kinds[random_below(seed, sizeof(kinds) / sizeof(kinds[0]))], random_below(seed, CORES), address, bytes, token);
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
    assert_int_equal(partition_next_event(r->partition, r->now), UINT64_MAX);
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
    return r;
}

static void check_random(struct mem_config config, uint64_t seed)
{
    struct rig *awake = random_run(&config, false, seed), *sleeper = random_run(&config, true, seed);
    assert_int_equal(awake->now, sleeper->now);
    assert_int_equal(awake->log_count, sleeper->log_count);
    for (uint32_t i = 0; i < awake->log_count; i++) {
        assert_int_equal(awake->log[i].cycle, sleeper->log[i].cycle);
        assert_memory_equal(&awake->log[i].packet, &sleeper->log[i].packet, sizeof(struct packet));
    }
    struct partition_counters a = counters_of(awake), b = counters_of(sleeper);
    assert_memory_equal(&a, &b, sizeof(a));
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
    c.crossbar.speedup = 2;
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
}

/* A slice without a free miss register rests until data comes; the tries that it leaves out are counted, also when somebody reads the counters in between. */
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
    assert_int_equal(partition_next_event(r->partition, 10), UINT64_MAX);
    send(r, PACKET_LOAD, 0, 0x1000, 32, 1);
    drain(r);
    assert_int_equal(r->log[0].cycle, MISS_CYCLES - ROP - DRAM_LATENCY + 200 + 300);
    assert_true(r->visits < 25);
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
    assert_non_null(strstr(text, "1 requests in the delay from the crossbar, the first until core cycle 25"));
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
        cmocka_unit_test(test_line_is_cut_into_sectors),
        cmocka_unit_test(test_cuts_with_sectors),
        cmocka_unit_test(test_upper_halves_slip), cmocka_unit_test(test_cuts_without_sectors), cmocka_unit_test(test_partial_writes), cmocka_unit_test(test_eviction_uses_the_port), cmocka_unit_test(test_constants_share_miss),
        cmocka_unit_test(test_data_port),
        cmocka_unit_test(test_reads_of_a_sector_merge),
        cmocka_unit_test(test_store_is_acknowledged),
        cmocka_unit_test(test_write_through_is_acknowledged_by_dram),
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
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
