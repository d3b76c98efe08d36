/* Does DRAM do over long streams what the same rules, written down the slow way, do? Does sleeping change nothing? How
 * much of the bus can be used? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dram_reference.h"
#include "mem/dram.h"

#include <stdlib.h>
#include <string.h>

struct channel {
    struct arena arena;
    struct dram_config config;
    struct address_map map;
    struct dram *dram;
    uint64_t now; /* the next cycle to run */
};

static struct channel *start(struct dram_config config)
{
    struct channel *c = calloc(1, sizeof *c);
    struct error e = {0};
    c->config = config;
    if (!address_map_init(&c->map, &c->config, 1, &e))
        fail_msg("%s", e.text);
    c->dram = dram_create(&c->arena, &c->config, &c->map);
    return c;
}

static void stop(struct channel *c)
{
    arena_free(&c->arena);
    free(c);
}

static struct dram_config gtx480(void)
{
    struct dram_config c = {.channels = 6,
                            .chips = 2,
                            .bus_bytes = 4,
                            .burst_length = 8,
                            .data_rate = 4,
                            .queue = 64,
                            .return_queue = 116,
                            .banks = 16,
                            .bank_groups = 4,
                            .t_ccd = 2,
                            .t_rrd = 6,
                            .t_rcd = 12,
                            .t_ras = 28,
                            .t_rp = 12,
                            .t_rc = 40,
                            .t_cl = 12,
                            .t_wl = 4,
                            .t_cdlr = 5,
                            .t_wr = 12,
                            .t_ccdl = 3,
                            .t_rtpl = 2,
                            .row_beside_column = true,
                            .group_by_low_bits = true,
                            .channel_bit = 8};
    strcpy(c.map, "RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS");
    return c;
}

static struct dram_config ccws(void)
{
    struct dram_config c = {.channels = 8,
                            .chips = 2,
                            .bus_bytes = 4,
                            .burst_length = 4,
                            .data_rate = 2,
                            .queue = 32,
                            .banks = 8,
                            .bank_groups = 1,
                            .t_ccd = 2,
                            .t_rrd = 8,
                            .t_rcd = 12,
                            .t_ras = 25,
                            .t_rp = 10,
                            .t_rc = 35,
                            .t_cl = 10,
                            .t_wl = 7,
                            .t_cdlr = 6,
                            .t_wr = 11,
                            .channel_bit = 8};
    strcpy(c.map, "RRRR.RRRRRRRR.RRBBBCCC.CCCSSSSS");
    return c;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

/* Sustained rates. */

/* Keeps the queue filled from next() until it has none left; every cycle one packet is pushed and one taken back.
 * Returns the cycles. */
typedef bool next_packet(void *context, struct packet *p);
static uint64_t stream(struct channel *c, next_packet *next, void *context)
{
    struct packet p;
    bool more = next(context, &p);
    while (more || !dram_idle(c->dram)) {
        dram_cycle(c->dram, c->now);
        if (dram_return_front(c->dram))
            dram_return_pop(c->dram);
        if (more && !dram_full(c->dram)) {
            dram_push(c->dram, &p);
            more = next(context, &p);
        }
        c->now++;
    }
    return c->now;
}

static bool next_of_one_row(void *context, struct packet *p)
{
    uint32_t *left = context;
    *p = (struct packet){.kind = PACKET_LOAD, .bytes = 32, .address = 0x60000};
    return (*left)-- > 0;
}

static void one_row_fills_the_bus(void **state)
{
    (void)state;
    struct dram_config config = gtx480();
    config.t_ccdl = 0; /* one bank: its group must not hold it back */
    struct channel *c = start(config);
    uint32_t left = 1000;
    uint64_t cycles = stream(c, next_of_one_row, &left);
    assert_int_equal(dram_counters(c->dram)->busy_cycles, 2000);
    /* The push in cycle 0, activation in 1, first read at 13, the last 2 * 999 later, its data CL + burst after that;
     * the loop counts one more. */
    assert_int_equal(cycles, 13 + 1998 + 14 + 1);
    assert_int_equal(dram_counters(c->dram)->row_hits, 999);
    stop(c);
}

/* c = a + b, seen from channel 0: blocks of 1 KB of a and b are read in sectors of 32 bytes, lines of 128 bytes of c,
 * an L2's worth behind, are written back. Requests of neighbouring blocks come mixed: a window of the stream is handed
 * out in a seeded random order. */
enum { ARRAY_BYTES = 4 << 20, LAG_BYTES = 256 << 10, WINDOW = 96 };
struct vector_add {
    const struct address_map *map;
    struct packet window[WINDOW];
    uint32_t filled;
    uint64_t offset, seed; /* of the next sector */
    uint32_t array;
};

static bool next_in_order(struct vector_add *v, struct packet *p)
{
    while (v->offset < ARRAY_BYTES + LAG_BYTES) {
        uint64_t offset = v->array == 2 ? v->offset - LAG_BYTES : v->offset;
        uint64_t address = 0x10000000 + (uint64_t)v->array * ARRAY_BYTES + offset;
        bool there = offset < ARRAY_BYTES && (v->array < 2 || offset % 128 == 0);
        *p = (struct packet){.address = address,
                             .kind = v->array == 2 ? PACKET_L2_WRITEBACK : PACKET_LOAD,
                             .bytes = v->array == 2 ? 128 : 32};
        v->offset += 32;
        if (v->offset % 1024 == 0) { /* a block of a, of b, of c, then the next */
            v->array = v->array == 2 ? 0 : v->array + 1;
            v->offset -= v->array ? 1024 : 0;
        }
        if (there && address_map_place(v->map, address).channel == 0)
            return true;
    }
    return false;
}

static bool next_of_vector_add(void *context, struct packet *p)
{
    struct vector_add *v = context;
    while (v->filled < WINDOW && next_in_order(v, &v->window[v->filled]))
        v->filled++;
    if (!v->filled)
        return false;
    uint32_t i = (uint32_t)(next_random(&v->seed) % v->filled);
    *p = v->window[i];
    memmove(&v->window[i], &v->window[i + 1], (--v->filled - i) * sizeof *v->window);
    return true;
}

static void vector_add_uses_the_bus(void **state)
{
    (void)state;
    struct channel *c = start(gtx480());
    struct vector_add v = {.map = &c->map, .seed = 88172645463325252ull};
    uint64_t cycles = stream(c, next_of_vector_add, &v);
    const struct dram_counters *n = dram_counters(c->dram);
    double use = (double)n->busy_cycles / (double)cycles;
    print_message("vector add: %.1f%% of %llu cycles, %llu reads, %llu writes, %llu activates\n", 100 * use,
                  (unsigned long long)cycles, (unsigned long long)n->reads, (unsigned long long)n->writes,
                  (unsigned long long)n->activates);
    assert_true(n->reads >= 43600 && n->reads <= 43800);
    assert_true(use > 0.94 && use < 1.0);
    stop(c);
}

/* Against the slow model, and sleeping. */

enum { REQUESTS = 3000 };
struct completion {
    uint64_t cycle;
    uint32_t token;
};
struct history {
    struct completion at[REQUESTS];
    uint32_t count;
    struct dram_counters counters;
};

static struct packet random_packet(uint64_t *seed, uint32_t token)
{
    static const uint8_t kinds[] = {PACKET_LOAD,  PACKET_LOAD,         PACKET_LOAD,
                                    PACKET_STORE, PACKET_L2_WRITEBACK, PACKET_ATOMIC};
    struct packet p = {
        .token = token, .kind = kinds[next_random(seed) % sizeof kinds], .bytes = next_random(seed) % 2 ? 32 : 128};
    p.address = next_random(seed) % (3 << 16) / 32 * 32;
    return p;
}

/* Requests come at random times, alone or in crowds; the receiver takes data in random cycles. Models that answer in
 * the same cycles are asked for the same. */
struct visitor {
    uint64_t seed, push_at, pop_at;
    uint32_t pushed;
};

static bool visitor_pops(struct visitor *v, uint64_t now, const struct packet *front, struct history *h)
{
    if (now < v->pop_at || !front)
        return false;
    assert_in_range(h->count, 0, REQUESTS - 1);
    h->at[h->count++] = (struct completion){now, front->token};
    v->pop_at = now + 1 + (next_random(&v->seed) % 16 == 0 ? next_random(&v->seed) % 100 : 0);
    return true;
}

static bool visitor_pushes(struct visitor *v, uint64_t now, bool full, struct packet *p)
{
    if (now < v->push_at || v->pushed == REQUESTS || full)
        return false;
    *p = random_packet(&v->seed, v->pushed++);
    v->push_at = now + 1 + (next_random(&v->seed) % 32 == 0 ? next_random(&v->seed) % 300 : next_random(&v->seed) % 4);
    return true;
}

/* always: every cycle is run. Otherwise only those that dram_next_event asks for. */
static void real_history(struct history *h, struct dram_config config, uint64_t seed, bool always)
{
    struct channel *c = start(config);
    struct visitor v = {.seed = seed};
    struct packet p;
    uint64_t wake_at = 0, slept = 0;
    for (; v.pushed < REQUESTS || !dram_idle(c->dram); c->now++) {
        bool runs = always || c->now >= wake_at;
        if (runs)
            dram_catch_up(c->dram, c->now);
        if (visitor_pops(&v, c->now, dram_return_front(c->dram), h)) {
            dram_return_pop(c->dram);
            runs = true;
        }
        if (runs)
            dram_cycle(c->dram, c->now);
        slept += !runs;
        if (visitor_pushes(&v, c->now, dram_full(c->dram), &p))
            dram_push(c->dram, &p);
        wake_at = dram_next_event(c->dram, c->now);
        assert_true(wake_at > c->now);
        assert_in_range(c->now, 0, 10000000);
    }
    if (!always)
        assert_true(slept > c->now / 10);
    h->counters = *dram_counters(c->dram);
    stop(c);
}

static void reference_history(struct history *h, struct dram_config config, uint64_t seed)
{
    struct channel *c = start(config); /* for its map */
    struct reference *d = reference_create(&config, &c->map);
    struct visitor v = {.seed = seed};
    struct packet p;
    for (uint64_t now = 0; v.pushed < REQUESTS || !reference_idle(d); now++) {
        if (visitor_pops(&v, now, reference_return_front(d), h))
            reference_return_pop(d);
        reference_cycle(d);
        if (visitor_pushes(&v, now, reference_full(d), &p))
            reference_push(d, &p);
        assert_in_range(now, 0, 10000000);
    }
    h->counters = d->counters;
    free(d);
    stop(c);
}

static void assert_same_history(const struct history *a, const struct history *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++)
        if (a->at[i].token != b->at[i].token || a->at[i].cycle != b->at[i].cycle)
            fail_msg("answer %u: request %u in cycle %llu, and request %u in cycle %llu", i, a->at[i].token,
                     (unsigned long long)a->at[i].cycle, b->at[i].token, (unsigned long long)b->at[i].cycle);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(&a->counters, &b->counters, sizeof a->counters);
}

static void assert_like_reference(struct dram_config config, uint64_t seed)
{
    struct history *h = calloc(3, sizeof *h);
    real_history(&h[0], config, seed, true);
    real_history(&h[1], config, seed, false);
    reference_history(&h[2], config, seed);
    assert_same_history(&h[0], &h[2]);
    assert_same_history(&h[1], &h[2]);
    free(h);
}

static void like_the_slow_model(void **state)
{
    (void)state;
    static const enum dram_scheduler schedulers[] = {DRAM_FRFCFS, DRAM_FIFO, DRAM_FRFCFS_CAP};
    for (uint32_t i = 0; i < 48; i++) {
        struct dram_config config = i & 1 ? ccws() : gtx480();
        config.scheduler = schedulers[i % 3];
        config.row_hit_cap = i / 3 % 4;
        config.row_beside_column = i & 4;
        config.data_with_burst = i % 5 < 2;
        config.group_by_low_bits = i & 16;
        if (i % 7 < 2) { /* a bank's column command holds back the others of its group for long */
            config.t_rtpl = 30;
            config.t_ccdl = 6;
        }
        if (i & 8) {
            config.return_queue = 3;
            config.queue = 5;
        }
        assert_like_reference(config, 0x2545f4914f6cdd1d + i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_row_fills_the_bus),
        cmocka_unit_test(vector_add_uses_the_bus),
        cmocka_unit_test(like_the_slow_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
