/* A DRAM channel, command by command (GPGPU-Sim's rules).
 *
 * A request waits in the queue of its bank until the bank has no current one. In each cycle at most one bank is given a
 * request; the channel's policy says which one (dram_policy.h). Banks with a current request are scanned from a
 * rotating pointer for one whose next command is allowed.
 *
 * All gates are cycles from which a command is allowed. Those of its bank and group are kept as one time for each bank
 * that waits, those of the channel apart. Whenever a command has gone out, or none could, the next cycle in which one
 * can is worked out; until then dram_cycle returns at once.
 *
 * Refresh (t_refi, t_rfc): every t_refi cycles all rows are closed, and no command goes out for t_rfc cycles. Data on
 * its way still comes. It is not waited for that rows may be closed. Where refresh_banks says of how many banks one is,
 * they take turns, evenly spread over t_refi, and the others work on.
 *
 * Rows that nobody asks for (t_idle): a row whose last column command is so long ago has been closed since then, when
 * it could be. That is looked at when the bank takes its next request.
 *
 * Left out: the column's place in a row, a separate queue for writes. */
#include "mem/dram_policy.h"

#include "base/invariant.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { NO_LIMIT_ENTRIES = 1024 }; /* a queue without a limit is this long, as in GPGPU-Sim */

#define NEVER UINT64_MAX

static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint32_t at_least_zero(int64_t n) { return n > 0 ? (uint32_t)n : 0; }

static struct dram_times timing_of(const struct dram_config *c)
{
    uint32_t burst = c->burst_length / c->data_rate;
    return (struct dram_times){
        .burst = burst,
        .data = c->data_with_burst ? 0 : burst,
        .ccd = c->t_ccd,
        .ccdl = c->t_ccdl,
        .rrd = c->t_rrd,
        .rcd = c->t_rcd,
        .ras = c->t_ras,
        .rp = c->t_rp,
        .rc = c->t_rc,
        .cl = c->t_cl,
        .wl = c->t_wl,
        .rtpl = c->t_rtpl,
        .refi = c->t_refi,
        .rfc = c->t_rfc,
        .idle = c->t_idle,
        .refresh_turns = c->refresh_banks ? c->banks / c->refresh_banks : 1,
        .rcd_write = at_least_zero((int64_t)c->t_rcd - (c->t_wl + 1)),
        .read_to_write = at_least_zero((int64_t)c->t_cl + burst + 2 - c->t_wl),
        .write_to_read = c->t_wl + burst + c->t_cdlr,
        .write_to_precharge = c->t_wl + burst + c->t_wr,
    };
}

static void create_requests(struct dram *d, struct arena *a)
{
    uint32_t count = d->queue_limit + d->bank_count; /* waiting, and one a bank */
    assert(count < DRAM_NO_REQUEST);
    d->requests = arena_lines(a, struct dram_request, count);
    for (uint32_t i = 0; i < count; i++)
        d->requests[i].next = i + 1 < count ? (uint16_t)(i + 1) : DRAM_NO_REQUEST;
    d->free_request = 0;
}

struct dram *dram_create(struct arena *a, const struct dram_config *config, const struct address_map *map)
{
    assert(config->banks && config->banks <= DRAM_BANKS_MOST);
    struct dram *d = arena_lines(a, struct dram, 1);
    uint32_t groups = config->bank_groups ? config->bank_groups : 1;
    d->map = map;
    d->bank_count = config->banks;
    d->queue_limit = config->queue ? config->queue : NO_LIMIT_ENTRIES;
    d->policy = dram_policies[config->scheduler];
    d->row_hit_cap = config->row_hit_cap;
    d->row_beside_column = config->row_beside_column;
    d->command_bytes = config->burst_length * config->bus_bytes * config->chips;
    d->t = timing_of(config);
    d->groups = arena_array(a, struct dram_bank_group, groups);
    for (uint32_t i = 0; i < d->bank_count; i++) {
        uint32_t group = config->group_by_low_bits ? i % groups : i * groups / d->bank_count;
        d->banks[i] = (struct dram_bank){
            .oldest = DRAM_NO_REQUEST, .end = &d->banks[i].oldest, .current = DRAM_NO_REQUEST, .group = (uint8_t)group};
        d->groups[group].banks |= 1ull << i;
    }
    create_requests(d, a);
    /* One column command a cycle: while data leaves in time there are never more on the way. */
    d->transfer_limit = (d->t.cl > d->t.wl ? d->t.cl : d->t.wl) + d->t.burst + 1;
    d->transfers = arena_array(a, struct dram_transfer, d->transfer_limit);
    ring_init(&d->returns, a, config->return_queue ? config->return_queue : NO_LIMIT_ENTRIES);
    d->wake_at = d->data_at = d->column_open = d->row_open = NEVER;
    d->issued.cycle = NEVER;
    d->refresh_at = d->t.refi ? d->t.refi / d->t.refresh_turns : NEVER;
    return d;
}

void dram_push(struct dram *d, const struct packet *p)
{
    invariant(!dram_full(d));
    struct dram_place place = address_map_place(d->map, p->address);
    uint16_t index = d->free_request;
    struct dram_request *r = &d->requests[index];
    d->free_request = r->next;
    uint32_t commands = (p->bytes + d->command_bytes - 1) / d->command_bytes;
    *r = (struct dram_request){.packet = *p,
                               .row = place.row,
                               .commands = commands ? (uint16_t)commands : 1,
                               .next = DRAM_NO_REQUEST,
                               .arrival = d->arrivals++,
                               .bank = (uint8_t)place.bank,
                               .write = packet_is_write(p)};
    struct dram_bank *bank = &d->banks[place.bank];
    *bank->end = index;
    bank->end = &r->next;
    d->queued_banks |= 1ull << place.bank;
    d->pending++;
    if (r->write)
        d->counters.requests_written++;
    else
        d->counters.requests_read++;
    if (!(d->current_banks >> place.bank & 1))
        d->wake_at = 0; /* the bank can take it */
}

/* Data: at most one packet a cycle leaves for the return queue. */

static bool answered(const struct packet *p)
{
    return p->kind != PACKET_L2_WRITEBACK && p->kind != PACKET_L1_WRITEBACK;
}

void dram_finish_data(struct dram *d, uint64_t now)
{
    struct dram_transfer *t = &d->transfers[d->transfer_head];
    if (!d->transfer_count || t->ready_at > now || ring_full(&d->returns))
        return;
    if (answered(&t->packet))
        ring_push(&d->returns, &t->packet);
    d->transfer_head = d->transfer_head + 1 == d->transfer_limit ? 0 : d->transfer_head + 1;
    d->transfer_count--;
    d->data_at =
        d->transfer_count && !ring_full(&d->returns) ? later(d->transfers[d->transfer_head].ready_at, now + 1) : NEVER;
}

static void start_transfer(struct dram *d, const struct packet *p, uint64_t ready_at)
{
    uint32_t tail = d->transfer_head + d->transfer_count;
    struct dram_transfer *t = &d->transfers[tail >= d->transfer_limit ? tail - d->transfer_limit : tail];
    t->ready_at = ready_at;
    t->packet = *p;
    if (!d->transfer_count++ && !ring_full(&d->returns))
        d->data_at = ready_at;
}

/* Scheduling: which request a free bank serves next. */

/* First of the set, counted from bank first round to it again. The set is not empty. */
static inline uint32_t first_from(uint64_t set, uint32_t first)
{
    uint64_t from = set >> first << first;
    return (uint32_t)__builtin_ctzll(from ? from : set);
}

static uint32_t after_bank(const struct dram *d, uint32_t bank) { return bank + 1 == d->bank_count ? 0 : bank + 1; }

/* The bank that is given a request now, or DRAM_NO_BANK. */
static inline uint32_t next_bank(const struct dram *d)
{
    uint64_t free_banks = d->queued_banks & ~d->current_banks;
    if (!free_banks)
        return DRAM_NO_BANK;
    return d->policy->bank ? d->policy->bank(d, free_banks) : first_from(free_banks, d->first_bank);
}

/* Takes a request out of its bank's queue. */
static uint16_t unlink_request(struct dram *d, struct dram_bank *bank, uint16_t *link)
{
    uint16_t taken = *link;
    *link = d->requests[taken].next;
    if (*link == DRAM_NO_REQUEST)
        bank->end = link;
    return taken;
}

/* When a bank's next command may go out: its own gates, and those of the channel. */

static inline uint64_t column_gate(const struct dram *d, uint32_t bank)
{
    return later(d->command_at[bank], later(d->column_at, d->read_banks >> bank & 1 ? d->read_at : d->write_at));
}

static inline uint64_t row_gate(const struct dram *d, uint32_t bank)
{
    return d->activate_banks >> bank & 1 ? later(d->command_at[bank], d->activate_at) : d->command_at[bank];
}

/* A bank's next command has become one of a kind. */

static inline void expect_column(struct dram *d, uint32_t bank_index, bool write)
{
    const struct dram_bank *bank = &d->banks[bank_index];
    *(write ? &d->write_banks : &d->read_banks) |= 1ull << bank_index;
    d->command_at[bank_index] = later(write ? bank->write_at : bank->read_at, d->groups[bank->group].column_at);
    d->column_open = earlier(d->column_open, column_gate(d, bank_index));
}

static inline void expect_activate(struct dram *d, uint32_t bank)
{
    d->activate_banks |= 1ull << bank;
    d->command_at[bank] = d->banks[bank].activate_at;
    d->row_open = earlier(d->row_open, row_gate(d, bank));
}

static inline void expect_precharge(struct dram *d, uint32_t bank_index)
{
    const struct dram_bank *bank = &d->banks[bank_index];
    d->precharge_banks |= 1ull << bank_index;
    d->command_at[bank_index] = later(bank->precharge_at, d->groups[bank->group].precharge_at);
    d->row_open = earlier(d->row_open, d->command_at[bank_index]);
}

static void close_idle_row(struct dram *d, struct dram_bank *bank, uint64_t bit)
{
    uint64_t closed_at = later(bank->idle_at, later(bank->precharge_at, d->groups[bank->group].precharge_at));
    bank->activate_at = later(bank->activate_at, closed_at + d->t.rp);
    d->open_banks &= ~bit;
    d->counters.precharges++;
}

static void take_request(struct dram *d, uint32_t bank_index, uint64_t now)
{
    struct dram_bank *bank = &d->banks[bank_index];
    uint64_t bit = 1ull << bank_index;
    if (d->t.idle && d->open_banks & bit && now >= bank->idle_at)
        close_idle_row(d, bank, bit);
    bool row_is_open = d->open_banks & bit;
    uint16_t *choice = row_is_open && d->policy->request ? d->policy->request(d, bank) : &bank->oldest;
    uint16_t taken = unlink_request(d, bank, choice);
    const struct dram_request *r = &d->requests[taken];
    bank->current = taken;
    d->pending--;
    d->current_banks |= bit;
    if (bank->oldest == DRAM_NO_REQUEST)
        d->queued_banks &= ~bit;
    if (!row_is_open) {
        expect_activate(d, bank_index);
    } else if (r->row != bank->open_row) {
        expect_precharge(d, bank_index);
    } else {
        expect_column(d, bank_index, r->write);
        d->counters.row_hits++;
    }
}

static void schedule(struct dram *d, uint64_t now)
{
    uint32_t bank = next_bank(d);
    if (bank == DRAM_NO_BANK)
        return;
    take_request(d, bank, now);
    if (!d->policy->bank)
        d->first_bank = after_bank(d, d->first_bank);
}

/* Commands. */

/* The bank's request has had its last column command. */
static void finish_request(struct dram *d, struct dram_bank *bank, uint64_t bit, uint64_t ready_at)
{
    struct dram_request *r = &d->requests[bank->current];
    start_transfer(d, &r->packet, ready_at);
    r->next = d->free_request;
    d->free_request = bank->current;
    bank->current = DRAM_NO_REQUEST;
    d->current_banks &= ~bit;
    d->read_banks &= ~bit;
    d->write_banks &= ~bit;
}

/* A column command of a bank holds back its whole group. */
static inline void hold_back(struct dram *d, uint64_t banks, uint64_t until)
{
    for (; banks; banks &= banks - 1) {
        uint64_t *at = &d->command_at[__builtin_ctzll(banks)];
        *at = later(*at, until);
    }
}

static void issue_column(struct dram *d, uint32_t bank_index, uint64_t now)
{
    struct dram_bank *bank = &d->banks[bank_index];
    struct dram_bank_group *group = &d->groups[bank->group];
    struct dram_request *r = &d->requests[bank->current];
    d->column_at = now + d->t.ccd;
    group->column_at = now + d->t.ccdl;
    if (r->write) {
        d->read_at = now + d->t.write_to_read;
        bank->precharge_at = later(bank->precharge_at, now + d->t.write_to_precharge);
        d->counters.writes++;
    } else {
        d->write_at = now + d->t.read_to_write;
        bank->precharge_at = later(bank->precharge_at, now + d->t.burst);
        group->precharge_at = now + d->t.rtpl;
        hold_back(d, d->precharge_banks & group->banks, group->precharge_at);
        d->counters.reads++;
    }
    bank->idle_at = now + d->t.idle;
    d->counters.busy_cycles += d->t.burst;
    d->issued.column = r->write ? DRAM_WRITE : DRAM_READ;
    d->issued.column_bank = bank_index;
    if (!--r->commands)
        finish_request(d, bank, 1ull << bank_index, now + (r->write ? d->t.wl : d->t.cl) + d->t.data);
    hold_back(d, (d->read_banks | d->write_banks) & group->banks, group->column_at);
}

static void issue_activate(struct dram *d, uint32_t bank_index, uint64_t now)
{
    struct dram_bank *bank = &d->banks[bank_index];
    const struct dram_request *r = &d->requests[bank->current];
    uint64_t bit = 1ull << bank_index;
    bank->open_row = r->row;
    bank->read_at = now + d->t.rcd;
    bank->write_at = now + d->t.rcd_write;
    bank->precharge_at = later(bank->precharge_at, now + d->t.ras);
    bank->activate_at = now + d->t.rc;
    d->activate_at = now + d->t.rrd;
    d->open_banks |= bit;
    d->activate_banks &= ~bit;
    expect_column(d, bank_index, r->write);
    d->counters.activates++;
    d->issued.row = DRAM_ACTIVATE;
    d->issued.row_bank = bank_index;
}

static void issue_precharge(struct dram *d, uint32_t bank_index, uint64_t now)
{
    struct dram_bank *bank = &d->banks[bank_index];
    uint64_t bit = 1ull << bank_index;
    bank->activate_at = later(bank->activate_at, now + d->t.rp);
    d->open_banks &= ~bit;
    d->precharge_banks &= ~bit;
    expect_activate(d, bank_index);
    d->counters.precharges++;
    d->issued.row = DRAM_PRECHARGE;
    d->issued.row_bank = bank_index;
}

/* The banks of set that the channel's gate holds back are taken out: they need no look before it opens. */
static inline uint64_t past_gate(uint64_t set, uint64_t gate, uint64_t now, uint64_t *wake_at)
{
    if (!set || gate <= now)
        return set;
    *wake_at = earlier(*wake_at, gate);
    return 0;
}

static inline bool data_has_room(const struct dram *d) { return d->transfer_count < d->transfer_limit; }

/* Banks whose next command is a column command, and which no gate of the channel holds back. */
static inline uint64_t column_banks(struct dram *d, uint64_t now, uint64_t *open)
{
    return past_gate(d->read_banks, later(d->column_at, d->read_at), now, open) |
           past_gate(d->write_banks, later(d->column_at, d->write_at), now, open);
}

static inline void note_issue(struct dram *d, uint64_t now)
{
    if (d->issued.cycle == now)
        return;
    d->issued.cycle = now;
    d->issued.column = d->issued.row = DRAM_NO_COMMAND;
}

static void issue_row(struct dram *d, uint32_t bank, uint64_t now)
{
    if (d->activate_banks >> bank & 1)
        issue_activate(d, bank, now);
    else
        issue_precharge(d, bank, now);
    d->first_bank = after_bank(d, bank);
}

/* The first cycle in which some bank's column command, or row command, is allowed; none is before `least`. */

static uint64_t next_column(const struct dram *d, uint64_t least)
{
    uint64_t at = NEVER;
    for (uint64_t banks = d->read_banks | d->write_banks; banks && at > least; banks &= banks - 1)
        at = earlier(at, column_gate(d, (uint32_t)__builtin_ctzll(banks)));
    return at;
}

static uint64_t next_row(const struct dram *d, uint64_t least)
{
    uint64_t at = NEVER;
    for (uint64_t banks = d->precharge_banks; banks && at > least; banks &= banks - 1)
        at = earlier(at, d->command_at[__builtin_ctzll(banks)]);
    least = later(least, d->activate_at);
    for (uint64_t banks = d->activate_banks; banks && at > least; banks &= banks - 1)
        at = earlier(at, later(d->command_at[__builtin_ctzll(banks)], d->activate_at));
    return at;
}

/* The banks at which a scan that began at `first` may find a column command after the row command of `bank`, as
 * GPGPU-Sim 4 has it: the row command moves the start of the scan, but not the number of banks that it has seen, so
 * that it passes over as many as that, and goes on to where the row command was. start: the first of them. */
static uint64_t banks_behind(const struct dram *d, uint32_t first, uint32_t bank, uint32_t *start)
{
    uint32_t seen = (bank + d->bank_count - first) % d->bank_count + 1;
    uint64_t all = d->bank_count == 64 ? UINT64_MAX : (1ull << d->bank_count) - 1, behind = 0;
    *start = (bank + 1 + seen) % d->bank_count;
    for (uint32_t i = seen; i < d->bank_count; i++)
        behind |= 1ull << (bank + 1 + i) % d->bank_count;
    return behind & all;
}

/* Looks through the banks for what may go out. Without row_beside_column that is one command. With it, a row command
 * may be followed by a column command of some of the other banks. What is not found tells when to look again. */
static void issue_commands(struct dram *d, uint64_t now)
{
    uint64_t columns = 0, rows = 0, column_open = NEVER, row_open = NEVER;
    bool look_at_columns = now >= d->column_open && data_has_room(d), look_at_rows = now >= d->row_open;
    if (look_at_columns)
        columns = column_banks(d, now, &column_open);
    if (look_at_rows)
        rows = past_gate(d->activate_banks, d->activate_at, now, &row_open) | d->precharge_banks;
    uint64_t left = columns | rows;
    uint64_t ahead = left >> d->first_bank << d->first_bank; /* first_bank and those above it come first */
    while (left) {
        uint32_t bank = (uint32_t)__builtin_ctzll(ahead ? ahead : left);
        uint64_t bit = 1ull << bank, gate = d->command_at[bank];
        ahead &= ~bit;
        left &= ~bit;
        if (gate > now) {
            if (columns & bit)
                column_open = earlier(column_open, gate);
            else
                row_open = earlier(row_open, gate);
            continue;
        }
        note_issue(d, now);
        if (columns & bit) {
            issue_column(d, bank, now);
            d->column_open = next_column(d, d->column_at);
            return;
        }
        uint32_t first = d->first_bank, start;
        issue_row(d, bank, now);
        d->row_open = next_row(d, now + 1);
        if (!d->row_beside_column)
            return;
        look_at_rows = look_at_columns = false;
        left &= columns;
        if (!left)
            return;
        left &= banks_behind(d, first, bank, &start);
        ahead = left >> start << start;
    }
    if (look_at_columns)
        d->column_open = column_open;
    if (look_at_rows)
        d->row_open = row_open;
}

/* One bank in a refresh that ends at `end`. */
static void refresh_bank(struct dram *d, uint32_t index, uint64_t end)
{
    struct dram_bank *bank = &d->banks[index];
    uint64_t bit = 1ull << index;
    bank->activate_at = later(bank->activate_at, end);
    if (!(d->current_banks & bit))
        return;
    d->read_banks &= ~bit;
    d->write_banks &= ~bit;
    d->precharge_banks &= ~bit;
    expect_activate(d, index);
}

/* The refreshes that have begun by now: a channel that had nothing to do did not look at them. Of each bank, the last
 * one tells. */
static __attribute__((noinline)) void refresh(struct dram *d, uint64_t now)
{
    uint32_t turns = d->t.refresh_turns, step = d->t.refi / turns, banks = d->bank_count / turns;
    uint64_t begun = (now - d->refresh_at) / step + 1, told = begun > turns ? begun - turns : 0;
    for (uint64_t n = told; n < begun; n++) {
        uint32_t first = (uint32_t)((d->refresh_turn + n) % turns) * banks;
        for (uint32_t i = first; i < first + banks; i++) {
            d->open_banks &= ~(1ull << i);
            refresh_bank(d, i, d->refresh_at + n * step + d->t.rfc);
        }
    }
    d->refresh_at += begun * step;
    d->refresh_turn = (uint32_t)((d->refresh_turn + begun) % turns);
}

void dram_work(struct dram *d, uint64_t now)
{
    if (now >= d->data_at)
        dram_finish_data(d, now);
    if (now >= d->refresh_at)
        refresh(d, now);
    schedule(d, now);
    if (now >= d->column_open || now >= d->row_open)
        issue_commands(d, now);
    uint64_t at = earlier(d->row_open, data_has_room(d) ? d->column_open : d->data_at);
    d->wake_at = at <= now || next_bank(d) != DRAM_NO_BANK ? now + 1 : at;
}

void dram_return_pop(struct dram *d)
{
    if (ring_full(&d->returns) && d->transfer_count)
        d->data_at = d->transfers[d->transfer_head].ready_at; /* data may have waited for the place */
    ring_pop(&d->returns);
    if (!d->returns.count)
        d->returns.head = 0; /* it is long, and holds little */
}

bool dram_idle(const struct dram *d)
{
    return !d->pending && !d->current_banks && !d->transfer_count && !d->returns.count;
}

/* Text for people. */

struct text {
    char *out;
    uint32_t size, used;
};

static void print(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(struct text *t, const char *format, ...)
{
    if (t->used >= t->size)
        return;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(t->out + t->used, t->size - t->used, format, args);
    va_end(args);
    t->used = length < 0 ? t->size : t->used + (uint32_t)length;
}

static uint32_t waiting_in(const struct dram *d, const struct dram_bank *bank)
{
    uint32_t count = 0;
    for (uint16_t i = bank->oldest; i != DRAM_NO_REQUEST; i = d->requests[i].next)
        count++;
    return count;
}

static void describe_bank(const struct dram *d, uint32_t index, struct text *t)
{
    const struct dram_bank *bank = &d->banks[index];
    print(t, "bank %u:", index);
    if (d->open_banks >> index & 1)
        print(t, " row %u open,", bank->open_row);
    else
        print(t, " no row open,");
    print(t, " %u waiting", waiting_in(d, bank));
    if (bank->current != DRAM_NO_REQUEST) {
        const struct dram_request *r = &d->requests[bank->current];
        bool is_column = (d->read_banks | d->write_banks) >> index & 1;
        const char *next = is_column                        ? (r->write ? "write" : "read")
                           : d->activate_banks >> index & 1 ? "activate"
                                                            : "precharge";
        print(t, "; %s of row %u (address 0x%llx, %u commands left): %s from cycle %llu on",
              r->write ? "write" : "read", r->row, (unsigned long long)r->packet.address, r->commands, next,
              (unsigned long long)(is_column ? column_gate(d, index) : row_gate(d, index)));
    }
    print(t, "\n");
}

void dram_describe(const struct dram *d, char *out, uint32_t out_bytes)
{
    struct text t = {.out = out, .size = out_bytes};
    if (out_bytes)
        out[0] = '\0';
    print(&t, "%u of %u requests waiting, %u with data on the way, %u of %u to be returned\n", d->pending,
          d->queue_limit, d->transfer_count, d->returns.count, d->returns.limit);
    for (uint64_t set = d->queued_banks | d->current_banks; set; set &= set - 1)
        describe_bank(d, (uint32_t)__builtin_ctzll(set), &t);
}
