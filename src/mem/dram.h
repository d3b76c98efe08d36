/* One DRAM channel: a request queue, banks with their rows, the command bus, the data on its way back (GPGPU-Sim's
 * model).
 *
 * A request of n bytes takes ceil(n / bytes per command) column commands. All gates are times, not counters, so that a
 * channel in which nothing can happen sleeps. The struct is plain data: dram.c and the policies (dram_policy.h) change
 * it, its owner reads it. */
#ifndef HEDDLE_MEM_DRAM_H
#define HEDDLE_MEM_DRAM_H

#include "base/arena.h"
#include "mem/address_map.h"
#include "mem/packet.h"
#include "mem/ring.h"

enum { DRAM_NO_REQUEST = UINT16_MAX };

struct dram_counters {
#define DRAM_COUNT(field, name, unit, sample, help, nsight) uint64_t field;
#include "heddle/metrics.def"
};

/* What went out on the command bus last. Both can go out in one cycle where config->row_beside_column says so. */
enum dram_command { DRAM_NO_COMMAND, DRAM_READ, DRAM_WRITE, DRAM_ACTIVATE, DRAM_PRECHARGE };
struct dram_issued {
    uint64_t cycle; /* UINT64_MAX means that no command has gone out yet */
    enum dram_command column, row;
    uint32_t column_bank, row_bank;
};

struct dram_request {
    struct packet packet;
    uint64_t arrival; /* number of the request, in order of arrival at the channel */
    uint32_t row;
    uint16_t commands; /* column commands still to go out */
    uint16_t next;     /* younger request of the bank, or next of the free list */
    uint16_t passed;   /* by how many younger requests of its bank, where a policy counts them */
    uint8_t bank;
    bool write;
};

struct dram_bank {
    uint64_t read_at, write_at, activate_at, precharge_at;
    uint64_t idle_at; /* the row counts as closed from this cycle on, unless a command for it has come before */
    uint16_t *end;    /* link in which the next request to arrive is written: `oldest`, or `next` of the youngest */
    uint32_t open_row;
    uint16_t oldest;  /* of the requests that wait; DRAM_NO_REQUEST means that none does */
    uint16_t current; /* request that the bank serves, or DRAM_NO_REQUEST */
    uint8_t group;
};

struct dram_bank_group {
    uint64_t column_at, precharge_at;
    uint64_t banks; /* bits */
};

/* Data between its last column command and the return queue. */
struct dram_transfer {
    uint64_t ready_at;
    struct packet packet;
};

struct dram_times {
    uint32_t burst, data /* cycles of the burst that are waited for */, ccd, ccdl, rrd, rcd, rcd_write, ras, rp, rc, cl,
        wl, read_to_write, write_to_read, write_to_precharge, rtpl, refi, rfc, idle;
    uint32_t refresh_turns; /* refreshes in refi cycles, each of as many banks as the others */
};

struct dram_policy;

struct dram {
    /* What the owner asks in every cycle stands first. */
    uint64_t wake_at;              /* no command goes out, and no bank is given a request, before */
    uint64_t data_at;              /* no data comes into the return queue before */
    uint32_t pending, queue_limit; /* requests that wait for a bank; room for so many */
    struct ring returns;

    uint64_t column_open, row_open; /* no column command, no activate or precharge, is allowed before: gates only move
                                       to later cycles. UINT64_MAX means that none is wanted */

    /* Banks as bit sets. A bank with a current request is in exactly one of read_banks, write_banks (row open),
     * activate_banks (no row open), precharge_banks (another row open). */
    uint64_t queued_banks, current_banks, open_banks;
    uint64_t read_banks, write_banks, activate_banks, precharge_banks;
    uint64_t column_at, read_at, write_at, activate_at; /* gates of the whole channel */
    uint64_t refresh_at;   /* the next refresh begins; UINT64_MAX means that there are none */
    uint32_t refresh_turn; /* of the banks that the next refresh is of */
    uint32_t first_bank;   /* of the scan */
    uint32_t bank_count;

    uint16_t free_request;
    bool row_beside_column;
    uint32_t command_bytes, row_hit_cap;
    uint64_t arrivals; /* requests so far */
    const struct dram_policy *policy;
    struct dram_times t;

    struct dram_transfer *transfers; /* in order of ready_at */
    uint32_t transfer_head, transfer_count, transfer_limit;

    const struct address_map *map;
    struct dram_counters counters;
    struct dram_issued issued;
    struct dram_request *requests;
    struct dram_bank_group *groups;
    uint64_t command_at[DRAM_BANKS_MOST]; /* banks with a current request: its next command, as far as the bank and its
                                             group have a say */
    struct dram_bank banks[DRAM_BANKS_MOST];
};

struct dram *dram_create(struct arena *a, const struct dram_config *config, const struct address_map *map);
/* The scheduler's queue has no room. */
static inline bool dram_full(const struct dram *d) { return d->pending >= d->queue_limit; }
void dram_push(struct dram *d, const struct packet *p);
/* One command cycle. now counts command cycles and grows by at least 1 from call to call; cycles before dram_next_event
 * need no call. */
void dram_work(struct dram *d, uint64_t now); /* of dram_cycle: the cycles in which something may happen */
static inline void dram_cycle(struct dram *d, uint64_t now)
{
    if (now >= d->wake_at || now >= d->data_at)
        dram_work(d, now);
}
/* Data that has come before cycle now, for an owner who has left out the cycle before now because nothing but data was
 * due in it. At most one packet; called before dram_cycle(now). */
void dram_finish_data(struct dram *d, uint64_t now);
static inline void dram_catch_up(struct dram *d, uint64_t now)
{
    if (d->data_at < now)
        dram_finish_data(d, now - 1);
}

/* The first cycle after now in which the owner must call dram_catch_up, look at the return queue and call dram_cycle,
 * if it pushes and pops nothing before; UINT64_MAX means never. Data is taken in the cycle after the one in which it
 * has come: where nothing else is due, that one is left out. */
static inline uint64_t dram_next_event(const struct dram *d, uint64_t now)
{
    uint64_t at = d->wake_at;
    if (d->data_at != UINT64_MAX && d->data_at + 1 < at)
        at = d->data_at + 1;
    return at > now ? at : now + 1;
}
/* A packet whose data is complete, or NULL. Write-backs end silently; all other kinds come back, stores too. */
static inline struct packet *dram_return_front(struct dram *d)
{
    return d->returns.count ? ring_front(&d->returns) : NULL;
}
void dram_return_pop(struct dram *d);
bool dram_idle(const struct dram *d); /* holds nothing at all */
static inline const struct dram_counters *dram_counters(const struct dram *d) { return &d->counters; }
static inline const struct dram_issued *dram_issued(const struct dram *d) { return &d->issued; }
/* Text for people: what is queued and what gates it. */
void dram_describe(const struct dram *d, char *out, uint32_t out_bytes);

#endif
