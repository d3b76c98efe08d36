/* Does each DRAM timing gate open neither a cycle early nor late? Are requests served in the scheduler's order?
 *
 * The gate tests run a channel in which all times are 0 but the one in question, so that only the rule of one command a
 * cycle is left besides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/dram.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MOST = 4096, COMMAND_BYTES = 32 };

struct logged {
    uint64_t cycle;
    enum dram_command command;
    uint32_t bank;
};

struct channel {
    struct arena arena;
    struct dram_config config;
    struct address_map map;
    struct dram *dram;
    uint64_t now; /* the next cycle to run */
    struct logged log[LOG_MOST];
    uint32_t logged;
};

/* 16 banks in 4 groups of neighbours; a burst takes 1 cycle and moves 32 bytes. */
static struct dram_config no_times(void)
{
    struct dram_config c = {.channels = 1,
                            .chips = 1,
                            .bus_bytes = COMMAND_BYTES,
                            .burst_length = 1,
                            .data_rate = 1,
                            .queue = 64,
                            .banks = 16,
                            .bank_groups = 4,
                            .channel_bit = 20};
    strcpy(c.map, "RRRRRRRR.BBBB.CCCCC.SSSSS");
    return c;
}

static uint64_t address_of(uint32_t bank, uint32_t row) { return (uint64_t)row << 14 | bank << 10; }

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

static void push(struct channel *c, enum packet_kind kind, uint32_t bank, uint32_t row, uint32_t commands,
                 uint32_t token)
{
    struct packet p = {.address = address_of(bank, row),
                       .kind = (uint8_t)kind,
                       .bytes = (uint16_t)(commands * COMMAND_BYTES),
                       .token = token};
    assert_false(dram_full(c->dram));
    dram_push(c->dram, &p);
}

static void push_read(struct channel *c, uint32_t bank, uint32_t row) { push(c, PACKET_LOAD, bank, row, 1, 0); }
static void push_write(struct channel *c, uint32_t bank, uint32_t row)
{
    push(c, PACKET_L2_WRITEBACK, bank, row, 1, 0);
}

static void log_command(struct channel *c, enum dram_command command, uint32_t bank)
{
    assert_in_range(c->logged, 0, LOG_MOST - 1);
    if (command != DRAM_NO_COMMAND)
        c->log[c->logged++] = (struct logged){c->now, command, bank};
}

static void step(struct channel *c)
{
    dram_cycle(c->dram, c->now);
    const struct dram_issued *i = dram_issued(c->dram);
    if (i->cycle == c->now) {
        log_command(c, i->row, i->row_bank);
        log_command(c, i->column, i->column_bank);
    }
    c->now++;
}

static void run(struct channel *c, uint32_t cycles)
{
    while (cycles--)
        step(c);
}

/* The cycle in which the command went out to the bank for the nth time (from 0). */
static uint64_t cycle_of(const struct channel *c, enum dram_command command, uint32_t bank, uint32_t nth)
{
    for (uint32_t i = 0; i < c->logged; i++)
        if (c->log[i].command == command && c->log[i].bank == bank && !nth--)
            return c->log[i].cycle;
    fail_msg("command %d of bank %u never went out", command, bank);
    return 0;
}

static const uint32_t tries[] = {4, 7, 20};
#define FOR_EACH_TRY(x) for (uint32_t i_ = 0, x; i_ < sizeof tries / sizeof *tries && (x = tries[i_], 1); i_++)

/* Gates. */

static void no_times_no_waiting(void **state)
{
    (void)state;
    struct channel *c = start(no_times());
    push_read(c, 3, 1);
    run(c, 20);
    assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 3, 0), 0);
    assert_int_equal(cycle_of(c, DRAM_READ, 3, 0), 1);
    assert_int_equal(c->logged, 2);
    stop(c);
}

static void gate_ccd(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_ccd = x;
        struct channel *c = start(config);
        push(c, PACKET_LOAD, 0, 0, 3, 0);
        push_write(c, 4, 0); /* of another group, and a write: the bus is one */
        run(c, 100);
        uint64_t first = cycle_of(c, DRAM_READ, 0, 0);
        assert_int_equal(cycle_of(c, DRAM_READ, 0, 1), first + x);
        assert_int_equal(cycle_of(c, DRAM_READ, 0, 2), first + 2 * x);
        assert_int_equal(cycle_of(c, DRAM_WRITE, 4, 0), first + 3 * x);
        stop(c);
    }
}

/* Reads of two banks: returns how long the second waits behind the first. */
static uint64_t column_distance(uint32_t ccdl, uint32_t other_bank, bool by_low_bits)
{
    struct dram_config config = no_times();
    config.t_ccdl = ccdl;
    config.group_by_low_bits = by_low_bits;
    struct channel *c = start(config);
    bool same_group = by_low_bits ? other_bank % 4 == 0 : other_bank < 4;
    push(c, PACKET_LOAD, 0, 0, same_group ? 1 : 2, 0);
    push_read(c, other_bank, 0);
    run(c, 100);
    uint64_t first = cycle_of(c, DRAM_READ, 0, 0), second = cycle_of(c, DRAM_READ, other_bank, 0);
    if (!same_group)
        assert_int_equal(cycle_of(c, DRAM_READ, 0, 1), first + ccdl); /* the bank itself */
    stop(c);
    return second - first;
}

static void gate_ccdl(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        assert_int_equal(column_distance(x, 1, false), x);
        assert_int_equal(column_distance(x, 3, false), x);
        assert_int_equal(column_distance(x, 4, false), 1);
        assert_int_equal(column_distance(x, 15, false), 1);
        assert_int_equal(column_distance(x, 2, true), 1);
        assert_int_equal(column_distance(x, 5, true), 1);
        assert_int_equal(column_distance(x, 4, true), x);
        assert_int_equal(column_distance(x, 12, true), x);
    }
}

static void gate_rrd(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_rrd = x;
        struct channel *c = start(config);
        push_read(c, 0, 0);
        push_read(c, 9, 0);
        run(c, 100);
        assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 9, 0), cycle_of(c, DRAM_ACTIVATE, 0, 0) + x);
        stop(c);
    }
}

static void gate_rcd(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_rcd = x;
        struct channel *c = start(config);
        push_read(c, 0, 0);
        run(c, 100);
        assert_int_equal(cycle_of(c, DRAM_READ, 0, 0), cycle_of(c, DRAM_ACTIVATE, 0, 0) + x);
        stop(c);
    }
}

static uint64_t activate_to_write(uint32_t rcd, uint32_t wl)
{
    struct dram_config config = no_times();
    config.t_rcd = rcd;
    config.t_wl = wl;
    struct channel *c = start(config);
    push_write(c, 0, 0);
    run(c, 100);
    uint64_t distance = cycle_of(c, DRAM_WRITE, 0, 0) - cycle_of(c, DRAM_ACTIVATE, 0, 0);
    stop(c);
    return distance;
}

static void gate_rcdwr(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        assert_int_equal(activate_to_write(x, 1), x - 2);
        assert_int_equal(activate_to_write(x, 0), x - 1);
    }
    assert_int_equal(activate_to_write(20, 4), 15);
    assert_int_equal(activate_to_write(4, 10), 1); /* never below 0: the next cycle */
}

/* Two rows of bank 0, one after the other: the first by kind, then a read. */
static struct channel *run_two_rows(struct dram_config config, enum packet_kind kind)
{
    struct channel *c = start(config);
    push(c, kind, 0, 0, 1, 0);
    push_read(c, 0, 1);
    run(c, 200);
    return c;
}

static void gate_ras(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_ras = x;
        struct channel *c = run_two_rows(config, PACKET_LOAD);
        assert_int_equal(cycle_of(c, DRAM_PRECHARGE, 0, 0), cycle_of(c, DRAM_ACTIVATE, 0, 0) + x);
        assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 0, 1), cycle_of(c, DRAM_PRECHARGE, 0, 0) + 1);
        stop(c);
    }
}

static void gate_rp(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_rp = x;
        struct channel *c = run_two_rows(config, PACKET_LOAD);
        assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 0, 1), cycle_of(c, DRAM_PRECHARGE, 0, 0) + x);
        stop(c);
    }
}

static void gate_rc(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_rc = x;
        struct channel *c = run_two_rows(config, PACKET_LOAD);
        assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 0, 1), cycle_of(c, DRAM_ACTIVATE, 0, 0) + x);
        assert_int_equal(cycle_of(c, DRAM_PRECHARGE, 0, 0), 2);
        stop(c);
    }
}

/* Read to precharge of its bank: the burst. */
static void gate_rtp(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.burst_length = 2 * x;
        config.data_rate = 2;
        struct channel *c = run_two_rows(config, PACKET_LOAD);
        assert_int_equal(cycle_of(c, DRAM_PRECHARGE, 0, 0), cycle_of(c, DRAM_READ, 0, 0) + x);
        stop(c);
    }
}

/* Bank 1 holds row 0 open; a read of other_bank, then bank 1 is asked for row 1. */
static uint64_t read_to_precharge(uint32_t rtpl, uint32_t other_bank)
{
    struct dram_config config = no_times();
    config.t_rtpl = rtpl;
    struct channel *c = start(config);
    push_read(c, 1, 0);
    push_read(c, other_bank, 0);
    run(c, 60);
    push_read(c, other_bank, 0);
    step(c);
    push_read(c, 1, 1);
    run(c, 100);
    uint64_t distance = cycle_of(c, DRAM_PRECHARGE, 1, 0) - cycle_of(c, DRAM_READ, other_bank, 1);
    stop(c);
    return distance;
}

static void gate_rtpl(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_rtpl = x;
        struct channel *c = run_two_rows(config, PACKET_LOAD);
        assert_int_equal(cycle_of(c, DRAM_PRECHARGE, 0, 0), cycle_of(c, DRAM_READ, 0, 0) + x);
        stop(c);
        assert_int_equal(read_to_precharge(x, 2), x);
        assert_int_equal(read_to_precharge(x, 5), 1); /* another group */
    }
}

static void gate_wr(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_wr = x;
        config.t_wl = 3;
        struct channel *c = run_two_rows(config, PACKET_L2_WRITEBACK);
        assert_int_equal(cycle_of(c, DRAM_PRECHARGE, 0, 0), cycle_of(c, DRAM_WRITE, 0, 0) + 3 + 1 + x);
        stop(c);
    }
}

static void gate_wl_to_precharge(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_wl = x;
        struct channel *c = run_two_rows(config, PACKET_L2_WRITEBACK);
        assert_int_equal(cycle_of(c, DRAM_PRECHARGE, 0, 0), cycle_of(c, DRAM_WRITE, 0, 0) + x + 1);
        stop(c);
    }
}

static void gate_cdlr(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_cdlr = x;
        config.t_wl = 3;
        struct channel *c = start(config);
        push_write(c, 0, 0);
        push_read(c, 0, 0);
        push_write(c, 0, 0);
        run(c, 100);
        assert_int_equal(cycle_of(c, DRAM_READ, 0, 0), cycle_of(c, DRAM_WRITE, 0, 0) + 3 + 1 + x);
        stop(c);
    }
}

/* A write after a read of another group: CL + burst + 2 - WL. */
static uint64_t read_to_write(uint32_t cl, uint32_t wl)
{
    struct dram_config config = no_times();
    config.t_cl = cl;
    config.t_wl = wl;
    struct channel *c = start(config);
    push_read(c, 0, 0);
    run(c, 40);
    push_read(c, 0, 0);
    step(c);
    push_write(c, 8, 0);
    run(c, 100);
    uint64_t distance = cycle_of(c, DRAM_WRITE, 8, 0) - cycle_of(c, DRAM_READ, 0, 1);
    stop(c);
    return distance;
}

static void gate_rtw(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        assert_int_equal(read_to_write(x, 1), x + 1 + 2 - 1);
        assert_int_equal(read_to_write(30, x), 33 - x);
    }
    assert_int_equal(read_to_write(1, 20),
                     2); /* no gate: bank 8 is activated in the next cycle, written to in the one after */
}

/* Runs until data is returned; the cycle in which it was. */
static uint64_t first_return(struct channel *c)
{
    for (int i = 0; i < 1000 && !dram_return_front(c->dram); i++)
        step(c);
    assert_non_null(dram_return_front(c->dram));
    return c->now - 1;
}

static void gate_cl(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_cl = x;
        config.burst_length = 6;
        config.data_rate = 2;
        struct channel *c = start(config);
        push(c, PACKET_LOAD, 0, 0, 12, 5); /* two commands of 192 bytes: the second counts */
        uint64_t done = first_return(c);
        assert_int_equal(done, cycle_of(c, DRAM_READ, 0, 1) + x + 3);
        assert_int_equal(dram_return_front(c->dram)->token, 5);
        stop(c);
    }
}

static void gate_wl_of_a_store(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_wl = x;
        struct channel *c = start(config);
        push(c, PACKET_STORE, 0, 0, 1, 0);
        uint64_t done = first_return(c);
        assert_int_equal(done, cycle_of(c, DRAM_WRITE, 0, 0) + x + 1);
        stop(c);
    }
}

/* Queues and answers. */

static void write_backs_end_silently(void **state)
{
    (void)state;
    struct channel *c = start(no_times());
    push(c, PACKET_L2_WRITEBACK, 0, 0, 4, 0);
    push(c, PACKET_L1_WRITEBACK, 1, 0, 1, 0);
    push(c, PACKET_ATOMIC, 2, 0, 1, 9);
    run(c, 100);
    assert_int_equal(dram_return_front(c->dram)->token, 9);
    assert_false(dram_idle(c->dram));
    dram_return_pop(c->dram);
    assert_null(dram_return_front(c->dram));
    assert_true(dram_idle(c->dram));
    assert_int_equal(dram_next_event(c->dram, c->now), UINT64_MAX);
    const struct dram_counters *n = dram_counters(c->dram);
    assert_int_equal(n->writes, 5);
    assert_int_equal(n->reads, 1);
    assert_int_equal(n->busy_cycles, 6);
    assert_int_equal(n->requests_written, 2);
    assert_int_equal(n->requests_read, 1);
    assert_int_equal(n->activates, 3);
    assert_int_equal(n->row_hits, 0);
    stop(c);
}

static void queue_full(void **state)
{
    (void)state;
    struct dram_config config = no_times();
    config.queue = 3;
    config.t_rcd = 10;
    struct channel *c = start(config);
    for (int i = 0; i < 3; i++)
        push_read(c, 0, 0);
    assert_true(dram_full(c->dram));
    step(c); /* the bank takes one */
    assert_false(dram_full(c->dram));
    push_read(c, 0, 0);
    assert_true(dram_full(c->dram));
    run(c, 9);
    assert_true(dram_full(c->dram));
    step(c); /* cycle 10: read */
    assert_true(dram_full(c->dram));
    step(c); /* cycle 11: the next is taken */
    assert_false(dram_full(c->dram));
    stop(c);
}

static void return_queue_full(void **state)
{
    (void)state;
    struct dram_config config = no_times();
    config.return_queue = 2;
    config.t_cl = 3;
    struct channel *c = start(config);
    for (uint32_t i = 0; i < 30; i++)
        push(c, PACKET_LOAD, 0, 0, 1, i);
    run(c, 200);
    uint64_t reads = dram_counters(c->dram)->reads;
    assert_int_equal(reads, 2 + (3 + 1 + 1)); /* returned, and those that there is place for on the way */
    assert_true(dram_next_event(c->dram, c->now) == UINT64_MAX);
    for (uint32_t i = 0; i < 30; i++) {
        assert_int_equal(dram_return_front(c->dram)->token, i);
        dram_return_pop(c->dram);
        assert_true(dram_next_event(c->dram, c->now) == c->now + 1 || i > 20);
        if (i == 0) {
            step(c); /* exactly one place, exactly one more read, in the very next cycle */
            assert_int_equal(dram_counters(c->dram)->reads, reads + 1);
            run(c, 20);
            assert_int_equal(dram_counters(c->dram)->reads, reads + 1);
        }
        run(c, 20);
    }
    assert_true(dram_idle(c->dram));
    stop(c);
}

/* Order. */

static void assert_returns(struct channel *c, const uint32_t *tokens, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        first_return(c);
        assert_int_equal(dram_return_front(c->dram)->token, tokens[i]);
        dram_return_pop(c->dram);
    }
    assert_true(dram_idle(c->dram));
}

static void open_row_first(void **state)
{
    (void)state;
    struct channel *c = start(no_times());
    push(c, PACKET_LOAD, 0, 7, 1, 0);
    push(c, PACKET_LOAD, 0, 8, 1, 1);
    push(c, PACKET_LOAD, 0, 7, 1, 2);
    push(c, PACKET_LOAD, 0, 9, 1, 3);
    push(c, PACKET_LOAD, 0, 8, 1, 4);
    run(c, 2);
    push(c, PACKET_LOAD, 0, 7, 1, 5); /* joins those of row 7 while that is open */
    assert_returns(c, (uint32_t[]){0, 2, 5, 1, 4, 3}, 6);
    assert_int_equal(dram_counters(c->dram)->row_hits, 3);
    assert_int_equal(dram_counters(c->dram)->activates, 3);
    assert_int_equal(dram_counters(c->dram)->precharges, 2);
    stop(c);
}

static void arrival_order(void **state)
{
    (void)state;
    struct dram_config config = no_times();
    config.scheduler = DRAM_FIFO;
    config.t_rcd = 10;
    struct channel *c = start(config);
    push(c, PACKET_LOAD, 0, 7, 1, 0);
    push(c, PACKET_LOAD, 0, 8, 1, 1);
    push(c, PACKET_LOAD, 0, 7, 1, 2);
    push(c, PACKET_LOAD, 5, 7, 1, 3);
    assert_returns(c, (uint32_t[]){0, 1, 3, 2}, 4); /* taken in order; the last then needs no precharge */
    /* Bank 5 was free all the time, but the third request waited for bank 0: taken the cycle after the second was read;
     * the fourth one cycle later. */
    assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 5, 0), cycle_of(c, DRAM_READ, 0, 1) + 2);
    assert_int_equal(dram_counters(c->dram)->activates, 4);
    stop(c);
}

/* Reads of bank 0, all there from the beginning, of these rows. */
static struct channel *reads_of_rows(enum dram_scheduler scheduler, uint32_t cap, const char *rows)
{
    struct dram_config config = no_times();
    config.scheduler = scheduler;
    config.row_hit_cap = cap;
    struct channel *c = start(config);
    for (uint32_t i = 0; rows[i]; i++)
        push(c, PACKET_LOAD, 0, (uint32_t)(rows[i] - '0'), 1, i);
    return c;
}

/* Request 0 opens row 7. Request 1, to row 8, waits for as long as row hits come; with a cap of 2, requests 2 and 3
 * pass it, 4 and 5 do not. Row 8 is then open, and 4 and 5 are the oldest. */
static void row_hits_starve_the_oldest(void **state)
{
    (void)state;
    static const char rows[] = "787777";
    struct channel *c = reads_of_rows(DRAM_FRFCFS, 2, rows);
    assert_returns(c, (uint32_t[]){0, 2, 3, 4, 5, 1}, 6);
    stop(c);
    c = reads_of_rows(DRAM_FRFCFS_CAP, 2, rows);
    assert_returns(c, (uint32_t[]){0, 2, 3, 1, 4, 5}, 6);
    assert_int_equal(dram_counters(c->dram)->row_hits, 3); /* 2, 3 and 5 */
    stop(c);
    c = reads_of_rows(DRAM_FRFCFS_CAP, 0, rows);
    assert_returns(c, (uint32_t[]){0, 1, 2, 3, 4, 5}, 6);
    stop(c);
}

/* A row hit arrives in every cycle: the other request is read when the hits end, or in its turn. */
static void cap_ends_starvation(void **state)
{
    (void)state;
    static const struct {
        enum dram_scheduler scheduler;
        uint64_t hits_before;
    } cases[] = {{DRAM_FRFCFS, 100}, {DRAM_FRFCFS_CAP, 3}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct channel *c = reads_of_rows(cases[i].scheduler, 3, "78");
        uint64_t row_hits = UINT64_MAX;
        for (uint32_t hit = 0; hit < 200; hit++) {
            if (hit < 100)
                push(c, PACKET_LOAD, 0, 7, 1, 2 + hit);
            step(c);
            const struct packet *back = dram_return_front(c->dram);
            if (back && back->token == 1)
                row_hits = dram_counters(c->dram)->row_hits;
            if (back)
                dram_return_pop(c->dram);
        }
        assert_int_equal(row_hits, cases[i].hits_before);
        stop(c);
    }
}

/* Requests 3 and 4 pass 1 and 2, to rows 8 and 9. When 1 is served, row 8 is open, but 5 may not be the third to pass
 * 2. */
static void cap_counts_for_each_request(void **state)
{
    (void)state;
    static const char rows[] = "789778";
    struct channel *c = reads_of_rows(DRAM_FRFCFS, 2, rows);
    assert_returns(c, (uint32_t[]){0, 3, 4, 1, 5, 2}, 6);
    stop(c);
    c = reads_of_rows(DRAM_FRFCFS_CAP, 2, rows);
    assert_returns(c, (uint32_t[]){0, 3, 4, 1, 2, 5}, 6);
    stop(c);
}

/* With FR-FCFS other banks go on meanwhile. */
static void banks_are_independent(void **state)
{
    (void)state;
    struct dram_config config = no_times();
    config.t_rcd = 10;
    struct channel *c = start(config);
    push(c, PACKET_LOAD, 0, 7, 1, 0);
    push(c, PACKET_LOAD, 0, 8, 1, 1);
    push(c, PACKET_LOAD, 5, 7, 1, 2);
    assert_returns(c, (uint32_t[]){0, 2, 1}, 3);
    assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 5, 0), 1); /* at most one bank a cycle is given a request */
    stop(c);
}

/* Bank 5 reads in every cycle. After its activation the scan starts at bank 6, at bank 7 once another has been given a
 * request, so that all but banks 5 and 6 come before bank 5. */
static struct channel *reads_of_bank_5(bool row_beside_column, uint32_t other)
{
    struct dram_config config = no_times();
    config.row_beside_column = row_beside_column;
    struct channel *c = start(config);
    push(c, PACKET_LOAD, 5, 0, 40, 0);
    run(c, 10);
    assert_int_equal(cycle_of(c, DRAM_READ, 5, 8), 9);
    push_read(c, other, 0);
    run(c, 5);
    return c;
}

static void one_command_a_cycle(void **state)
{
    (void)state;
    struct channel *c = reads_of_bank_5(false, 3);
    assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 3, 0), 10);
    assert_int_equal(cycle_of(c, DRAM_READ, 5, 9), 11);
    stop(c);
}

static void row_beside_column(void **state)
{
    (void)state;
    /* Behind a row command the scan passes over as many banks as it has seen: the fifteen banks from bank 8 on for the
     * first that it looks at; those from bank 5 on for the seventh, bank 13; those from bank 7 on for the eighth. */
    for (uint32_t other = 7; other < 16 + 5; other++) {
        struct channel *d = reads_of_bank_5(true, other % 16);
        assert_int_equal(cycle_of(d, DRAM_ACTIVATE, other % 16, 0), 10);
        assert_int_equal(cycle_of(d, DRAM_READ, 5, 9), other <= 13 ? 10 : 11);
        stop(d);
    }
    struct channel *c = reads_of_bank_5(true, 3);
    /* The scan starts at bank 4 now, and at bank 5 once bank 4 has been given a request: a row command behind column
     * commands waits. */
    push_read(c, 4, 0);
    run(c, 60);
    uint64_t last = cycle_of(c, DRAM_READ, 5, 39);
    assert_int_equal(cycle_of(c, DRAM_READ, 3, 0), last + 1);
    assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 4, 0), last + 2);
    stop(c);
}

static void described(void **state)
{
    (void)state;
    struct dram_config config = no_times();
    config.t_rcd = 10;
    struct channel *c = start(config);
    push_read(c, 2, 7);
    push_read(c, 2, 8);
    step(c);
    char text[600], cut[20];
    dram_describe(c->dram, text, sizeof text);
    assert_non_null(strstr(text, "1 of 64 requests waiting"));
    assert_non_null(strstr(text, "bank 2: row 7 open, 1 waiting; read of row 7"));
    assert_non_null(strstr(text, "read from cycle 10 on"));
    dram_describe(c->dram, cut, sizeof cut);
    assert_int_equal(strlen(cut), sizeof cut - 1);
    stop(c);
}

/* A refresh closes the row that a request has opened, holds all commands back until it is over, and no longer. */
static void gate_refresh(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_refi = 100;
        config.t_rfc = x;
        struct channel *c = start(config);
        run(c, 90);
        push_read(c, 3, 1);
        run(c, 9);
        push_read(c, 5, 1); /* its row is opened in cycle 99, and read after the refresh of cycle 100 */
        run(c, 1);
        push_read(c, 3, 1); /* row hit no more */
        run(c, 100);
        assert_int_equal(cycle_of(c, DRAM_READ, 3, 0), 91);
        assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 5, 0), 99);
        uint64_t first = cycle_of(c, DRAM_ACTIVATE, 3, 1), second = cycle_of(c, DRAM_ACTIVATE, 5, 1);
        assert_int_equal(first < second ? first : second, 100 + x);
        assert_in_range(first > second ? first : second, 101 + x, 102 + x);
        /* One that nobody looked at: it is over, and the row is closed. */
        push_read(c, 3, 1);
        run(c, 40);
        assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 3, 2), 200 + x);
        stop(c);
    }
}

/* Banks in turn, a quarter of them at a time: the others neither wait nor lose their rows. */
static void gate_refresh_of_some(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        struct dram_config config = no_times();
        config.t_refi = 400;
        config.refresh_banks = config.banks / 4;
        config.t_rfc = x;
        struct channel *c = start(config);
        run(c, 90);
        push_read(c, 0, 1);
        push_read(c, config.banks - 1, 1);
        run(c, 10); /* to cycle 100, in which the first quarter is refreshed */
        push_read(c, 0, 1);
        push_read(c, config.banks - 1, 1);
        run(c, 100);
        assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 0, 1), 100 + x);
        assert_in_range(cycle_of(c, DRAM_READ, config.banks - 1, 1), 100, 102); /* a row hit */
        run(c, 200 + x); /* cycle 400: the turn of the last quarter, which nobody looked at */
        push_read(c, 0, 1);
        push_read(c, config.banks - 1, 1);
        run(c, 50);
        assert_in_range(cycle_of(c, DRAM_READ, 0, 2), 400 + x, 402 + x);
        assert_in_range(cycle_of(c, DRAM_ACTIVATE, config.banks - 1, 1), 400 + x, 402 + x);
        stop(c);
    }
}

/* A row that nobody asks for is closed so long after its last column command: not a cycle earlier or later. */
static void gate_idle(void **state)
{
    (void)state;
    FOR_EACH_TRY(x) {
        for (uint32_t late = 0; late < 2; late++) {
            struct dram_config config = no_times();
            config.t_idle = x + 3;
            config.t_rp = 5;
            struct channel *c = start(config);
            push_read(c, 3, 1);
            run(c, 2); /* activate in cycle 0, read in cycle 1 */
            assert_int_equal(cycle_of(c, DRAM_READ, 3, 0), 1);
            run(c, x + 1 + late);
            push_read(c, 3, 1); /* taken in cycle 1 + t_idle, or the one before */
            run(c, 40);
            if (late) {
                assert_int_equal(cycle_of(c, DRAM_ACTIVATE, 3, 1), 1 + x + 3 + 5);
            } else {
                assert_int_equal(cycle_of(c, DRAM_READ, 3, 1), x + 3);
            }
            stop(c);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_times_no_waiting),
        cmocka_unit_test(gate_ccd),
        cmocka_unit_test(gate_ccdl),
        cmocka_unit_test(gate_rrd),
        cmocka_unit_test(gate_rcd),
        cmocka_unit_test(gate_rcdwr),
        cmocka_unit_test(gate_ras),
        cmocka_unit_test(gate_rp),
        cmocka_unit_test(gate_rc),
        cmocka_unit_test(gate_rtp),
        cmocka_unit_test(gate_rtpl),
        cmocka_unit_test(gate_wr),
        cmocka_unit_test(gate_wl_to_precharge),
        cmocka_unit_test(gate_cdlr),
        cmocka_unit_test(gate_rtw),
        cmocka_unit_test(gate_cl),
        cmocka_unit_test(gate_wl_of_a_store),
        cmocka_unit_test(write_backs_end_silently),
        cmocka_unit_test(queue_full),
        cmocka_unit_test(return_queue_full),
        cmocka_unit_test(open_row_first),
        cmocka_unit_test(arrival_order),
        cmocka_unit_test(row_hits_starve_the_oldest),
        cmocka_unit_test(cap_ends_starvation),
        cmocka_unit_test(cap_counts_for_each_request),
        cmocka_unit_test(banks_are_independent),
        cmocka_unit_test(one_command_a_cycle),
        cmocka_unit_test(row_beside_column),
        cmocka_unit_test(gate_refresh),
        cmocka_unit_test(gate_refresh_of_some),
        cmocka_unit_test(gate_idle),
        cmocka_unit_test(described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
