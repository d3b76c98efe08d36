/* One DRAM channel: a request queue, banks with their rows, the command bus, the data on its way back (GPGPU-Sim's
 * model).
 *
 * A request of n bytes takes ceil(n / bytes a command) column commands. All gates are times, not counters, so that a
 * channel in which nothing can happen sleeps. */
#ifndef HEDDLE_MEM_DRAM_H
#define HEDDLE_MEM_DRAM_H

#include "base/arena.h"
#include "mem/address_map.h"
#include "mem/packet.h"
#include "mem/ring.h"

struct dram_counters {
#define DRAM_COUNT(field, name, unit, sample, help, nsight) uint64_t field;
#include "heddle/metrics.def"
};

/* What went out on the command bus last. Both can go out in one cycle where config->row_beside_column says so. */
enum dram_command { DRAM_NO_COMMAND, DRAM_READ, DRAM_WRITE, DRAM_ACTIVATE, DRAM_PRECHARGE };
struct dram_issued {
    uint64_t cycle;
    enum dram_command column, row;
    uint32_t column_bank, row_bank;
};

struct dram; /* opaque but for its head: dram.c */

/* What is asked in every cycle, read without a call. */
struct dram_head {
    uint64_t wake_at;              /* no command, and no bank to be given a request, before */
    uint64_t data_at;              /* no data for the return queue before */
    uint32_t pending, queue_limit; /* in the scheduler: not yet taken by a bank */
    struct ring returns;
};

static inline struct dram_head *dram_head(struct dram *d) { return (struct dram_head *)d; }
static inline const struct dram_head *dram_look(const struct dram *d) { return (const struct dram_head *)d; }

struct dram *dram_create(struct arena *a, const struct dram_config *config, const struct address_map *map);
/* No room in the scheduler's queue. */
static inline bool dram_full(const struct dram *d) { return dram_look(d)->pending >= dram_look(d)->queue_limit; }
void dram_push(struct dram *d, const struct packet *p, uint64_t now);
/* One command cycle. now counts command cycles and grows by at least 1 from call to call; cycles that dram_next_event
 * allows to skip need no call. */
void dram_work(struct dram *d, uint64_t now); /* of dram_cycle: the cycles in which something may happen */
static inline void dram_cycle(struct dram *d, uint64_t now)
{
    if (now >= dram_look(d)->wake_at || now >= dram_look(d)->data_at)
        dram_work(d, now);
}
/* Data that has come by cycle now, for an owner who has left out dram_cycle(now) because there was nothing but data: at
 * most one packet, before the next dram_cycle. */
void dram_finish_data(struct dram *d, uint64_t now);

/* The first cycle after now in which dram_cycle may do anything, given no push; UINT64_MAX: never. Early is allowed,
 * late is not. */
static inline uint64_t dram_next_event(const struct dram *d, uint64_t now)
{
    uint64_t wake_at = dram_look(d)->wake_at, data_at = dram_look(d)->data_at,
             at = wake_at < data_at ? wake_at : data_at;
    return at > now ? at : now + 1;
}
/* A packet whose data is complete: NULL if none. Write-backs end silently; all other kinds come back, stores too. */
static inline struct packet *dram_return_front(struct dram *d)
{
    return dram_look(d)->returns.count ? ring_front(&dram_head(d)->returns) : NULL;
}
void dram_return_pop(struct dram *d);
bool dram_idle(const struct dram *d); /* holds nothing at all */
const struct dram_counters *dram_counters(const struct dram *d);
const struct dram_issued *dram_issued(const struct dram *d); /* cycle UINT64_MAX: nothing yet */
/* Text for people: what is queued and what gates it. */
void dram_describe(const struct dram *d, char *out, uint32_t out_bytes);

#endif
