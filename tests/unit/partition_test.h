/* What tests of a memory channel share: one between two crossbars, its clocks, requests to it and the replies in the
 * order in which they came. */
#ifndef HEDDLE_TESTS_PARTITION_TEST_H
#define HEDDLE_TESTS_PARTITION_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/partition.h"

#include <string.h>

enum { CORES = 4, LOG = 20000, MIDWAY = 100 };
enum {
    ROP = 20,
    HOP = 3,
    DRAM_LATENCY = 15,
    RCD = 12,
    CL = 12,
    BURST = 2
}; /* BURST: burst length 8 at four transfers a cycle */
/* From a request's cycle to the reply's arrival, one flit each, all clocks alike: the crossbars; one cycle each to be
 * taken from the crossbar (in which the delay begins), to be looked up, and to leave. A miss is sent on in one cycle
 * more, taken by the channel, taken by a bank; its data is taken back, made ready. */
enum { HIT_CYCLES = ROP + 2 * (HOP + 1) + 3, MISS_CYCLES = ROP + DRAM_LATENCY + RCD + CL + BURST + 2 * (HOP + 1) + 8 };

struct reply {
    uint64_t cycle;
    struct packet packet;
};

struct rig {
    struct arena arena;
    struct mem_config config;
    struct address_map map;
    struct network *requests, *replies;
    struct partition *partition;
    uint64_t now, dram_now, dram_phase, l2_ticks;
    bool sleeps, holds_replies;
    uint64_t visits, l2_visits;
    uint32_t atomics;
    uint32_t atomic_mask;
    struct reply log[LOG];
    uint32_t log_count;
    struct partition_counters midway[MIDWAY];
};

static inline struct mem_config default_config(void)
{
    return (struct mem_config){
        .core_count = CORES,
        .network = {.flit_bytes = 40, .input_flits = 16, .output_flits = 16, .hop_cycles = HOP, .speedup = 1},
        .l2 = {.cache = {.sets = 16,
                         .ways = 4,
                         .line_bytes = 128,
                         .sector_bytes = 32,
                         .global_writes = WRITE_BACK,
                         .local_writes = WRITE_BACK,
                         .write_allocate = true,
                         .mshr_entries = 32,
                         .mshr_merge = 4,
                         .miss_queue = 4,
                         .port_bytes = 32},
               .slices_per_channel = 2,
               .rop_cycles = ROP,
               .input_queue = 8,
               .dram_queue = 8,
               .reply_queue = 8,
               .return_queue = 8},
        .dram = {.channels = 1,
                 .chips = 2,
                 .bus_bytes = 4,
                 .burst_length = 8,
                 .data_rate = 4,
                 .queue = 16,
                 .return_queue = 20,
                 .latency_cycles = DRAM_LATENCY,
                 .banks = 16,
                 .bank_groups = 4,
                 .t_ccd = 2,
                 .t_rrd = 6,
                 .t_rcd = RCD,
                 .t_ras = 28,
                 .t_rp = 12,
                 .t_rc = 40,
                 .t_cl = CL,
                 .t_wl = 4,
                 .t_cdlr = 5,
                 .t_wr = 12,
                 .t_ccdl = 3,
                 .t_rtpl = 2,
                 .channel_bit = 8,
                 .map = "RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS"},
        .core_khz = 700000,
        .icnt_khz = 700000,
        .l2_khz = 700000,
        .dram_khz = 700000,
    };
}

static inline void count_atomic(void *context, const struct packet *p)
{
    struct rig *r = context;
    r->atomics++;
    r->atomic_mask |= p->mask;
    assert_int_equal(p->kind, PACKET_ATOMIC);
}

static inline uint32_t cores_per_port(const struct mem_config *c) { return c->cores_per_port ? c->cores_per_port : 1; }
static inline uint32_t ports_of(const struct mem_config *c) { return CORES / cores_per_port(c); }

static inline struct rig *rig_of(struct mem_config config)
{
    struct rig *r = test_calloc(1, sizeof(*r));
    struct error e = {0};
    r->config = config;
    assert_true(address_map_init(&r->map, &r->config.dram, config.l2.slices_per_channel, &e));
    uint32_t slices = config.dram.channels * config.l2.slices_per_channel, ports = ports_of(&config);
    r->requests = network_create(&r->arena, &r->config.network, NETWORK_REQUESTS, ports, slices);
    r->replies = network_create(&r->arena, &r->config.network, NETWORK_REPLIES, slices, ports);
    r->partition = partition_create(&r->arena, &r->config, &r->map, 0, r->requests, r->replies,
                                    &(struct partition_hooks){.context = r, .on_atomic = count_atomic});
    return r;
}

static inline struct rig *default_rig(void) { return rig_of(default_config()); }

static inline void rig_free(struct rig *r)
{
    arena_free(&r->arena);
    test_free(r);
}

static inline void take_requests(struct rig *r)
{
    for (uint64_t left = r->requests->waiting[0]; left; left &= left - 1)
        if (__builtin_ctzll(left) < (int)r->config.l2.slices_per_channel)
            partition_take_request(r->partition, (uint32_t)__builtin_ctzll(left), r->now, r->now);
}

/* Something of the channel has to be run in these cycles. */
static inline bool is_due(const struct partition_head *head, uint64_t now, uint64_t dram_now)
{
    return head->l2_at <= now || head->leaves_delay_at <= now || (head->replies && head->reply_at <= now) ||
           head->dram_at <= dram_now;
}

static inline bool is_due_never(const struct rig *r)
{
    return !is_due(partition_head(r->partition), UINT64_MAX - 1, UINT64_MAX - 1);
}

static inline void tick_partition(struct rig *r, uint32_t dram_ticks)
{
    const struct partition_head *head = partition_head(r->partition);
    uint64_t now = r->now;
    if (r->sleeps && !is_due(head, now, r->dram_now))
        return;
    r->visits++;
    if (head->replies && head->reply_at <= now)
        partition_send_replies(r->partition, now);
    for (uint32_t i = 0; i < dram_ticks; i++)
        partition_dram_cycle(r->partition, r->dram_now - dram_ticks + 1 + i, now);
    if (!r->sleeps || head->l2_at <= now) {
        partition_l2_cycle(r->partition, now, now);
        r->l2_visits++;
    }
}

static inline void collect_replies(struct rig *r)
{
    for (uint32_t o = 0; o < ports_of(&r->config) && !r->holds_replies; o++)
        while (network_front(r->replies, o)) {
            assert_true(r->log_count < LOG);
            r->log[r->log_count++] = (struct reply){.cycle = r->now, .packet = *network_front(r->replies, o)};
            network_pop(r->replies, o);
        }
}

static inline void tick_memory(struct rig *r)
{
    r->dram_phase += r->config.dram_khz;
    uint32_t dram_ticks = (uint32_t)(r->dram_phase / r->config.core_khz);
    r->dram_phase %= r->config.core_khz;
    r->dram_now += dram_ticks;
    tick_partition(r, dram_ticks);
    r->l2_ticks = r->now + 1;
    network_cycle(r->replies, r->now);
    collect_replies(r);
}

/* One core cycle. What is pushed after it carries its number. */
static inline void tick(struct rig *r)
{
    r->now++;
    take_requests(r);
    tick_memory(r);
    network_cycle(r->requests, r->now);
}

static inline void run(struct rig *r, uint32_t cycles)
{
    while (cycles--)
        tick(r);
}

static inline void drain(struct rig *r)
{
    uint64_t start = r->now;
    do {
        tick(r);
        assert_true(r->now - start < 200000);
    } while (!partition_idle(r->partition) || !network_is_empty(r->requests) || !network_is_empty(r->replies));
}

static inline struct packet request_of(enum packet_kind kind, uint32_t core, uint64_t address, uint32_t bytes,
                                       uint32_t token)
{
    return (struct packet){.kind = (uint8_t)kind,
                           .core = (uint16_t)core,
                           .address = address,
                           .bytes = (uint16_t)bytes,
                           .token = token,
                           .mask = 0xff};
}

static inline bool try_send(struct rig *r, const struct packet *p)
{
    uint32_t bytes = packet_is_write(p) ? 8u + p->bytes : 8;
    uint32_t port = p->core / cores_per_port(&r->config);
    if (!network_has_room(r->requests, port, bytes))
        return false;
    network_push(r->requests, port, address_map_slice(&r->map, p->address), p, bytes, r->now);
    return true;
}

static inline void send(struct rig *r, enum packet_kind kind, uint32_t core, uint64_t address, uint32_t bytes,
                        uint32_t token)
{
    struct packet p = request_of(kind, core, address, bytes, token);
    assert_true(try_send(r, &p));
}

static inline void warm(struct rig *r, uint64_t address, uint32_t bytes)
{
    for (uint64_t a = address; a < address + bytes; a += 32)
        partition_touch(r->partition, a);
}

static inline struct partition_counters counters_of(const struct rig *r)
{
    struct partition_counters c = {0};
    partition_read_counters(r->partition, &c);
    return c;
}

#endif
