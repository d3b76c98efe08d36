/* A DRAM channel written the slow and obvious way, to compare the real one with: one list of requests in order of
 * arrival, a countdown for every gate, every bank looked at in every cycle, no sleeping. */
#ifndef HEDDLE_TESTS_DRAM_REFERENCE_H
#define HEDDLE_TESTS_DRAM_REFERENCE_H

#include "mem/dram.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_REQUESTS = 4096 };

struct reference_request {
    struct packet packet;
    struct dram_place place;
    uint32_t bytes_left;
    bool write;
    int countdown;
    uint32_t passed; /* by how many younger requests of its bank */
};

struct reference_bank {
    int rcd, rcd_write, ras, rc, rp, write_to_precharge, read_to_precharge;
    bool open;
    uint32_t row;
    struct reference_request *current;
};

struct reference_list {
    struct reference_request *at[REFERENCE_REQUESTS];
    uint32_t count;
};

struct reference {
    struct dram_config config;
    struct address_map map;
    struct reference_bank bank[DRAM_BANKS_MOST];
    int column, read, write, activate; /* of the channel */
    int group_column[DRAM_BANKS_MOST], group_precharge[DRAM_BANKS_MOST];
    struct reference_list waiting, transfers, returned;
    uint32_t first_bank, burst, transfer_limit;
    struct dram_counters counters;
};

static struct reference *reference_create(const struct dram_config *config, const struct address_map *map)
{
    struct reference *d = calloc(1, sizeof *d);
    d->config = *config;
    d->map = *map;
    d->burst = config->burst_length / config->data_rate;
    d->transfer_limit = (config->t_cl > config->t_wl ? config->t_cl : config->t_wl) + d->burst + 1;
    return d;
}

static void reference_append(struct reference_list *l, struct reference_request *r)
{
    assert(l->count < REFERENCE_REQUESTS);
    l->at[l->count++] = r;
}

static struct reference_request *reference_remove(struct reference_list *l, uint32_t i)
{
    struct reference_request *r = l->at[i];
    memmove(&l->at[i], &l->at[i + 1], (--l->count - i) * sizeof *l->at);
    return r;
}

static bool reference_full(const struct reference *d) { return d->waiting.count >= d->config.queue; }

static void reference_push(struct reference *d, const struct packet *p)
{
    struct reference_request *r = calloc(1, sizeof *r);
    *r = (struct reference_request){.packet = *p,
                                    .place = address_map_place(&d->map, p->address),
                                    .bytes_left = p->bytes,
                                    .write = packet_is_write(p)};
    reference_append(&d->waiting, r);
    r->write ? d->counters.requests_written++ : d->counters.requests_read++;
}

static bool reference_returns_full(const struct reference *d)
{
    return d->config.return_queue && d->returned.count >= d->config.return_queue;
}

static void reference_finish_transfer(struct reference *d)
{
    if (!d->transfers.count || d->transfers.at[0]->countdown > 0 || reference_returns_full(d))
        return;
    struct reference_request *r = reference_remove(&d->transfers, 0);
    if (r->packet.kind == PACKET_L2_WRITEBACK || r->packet.kind == PACKET_L1_WRITEBACK)
        free(r);
    else
        reference_append(&d->returned, r);
}

static void reference_give(struct reference *d, struct reference_bank *b, uint32_t i)
{
    for (uint32_t older = 0; older < i; older++)
        d->waiting.at[older]->passed += d->waiting.at[older]->place.bank == d->waiting.at[i]->place.bank;
    b->current = reference_remove(&d->waiting, i);
    d->counters.row_hits += b->open && b->row == b->current->place.row;
}

/* The open row's oldest, or the bank's oldest; the latter where the cap has been reached. */
static int reference_choice(const struct reference *d, uint32_t bank)
{
    int oldest = -1;
    for (uint32_t i = 0; i < d->waiting.count; i++) {
        const struct reference_request *r = d->waiting.at[i];
        if (r->place.bank != bank)
            continue;
        if (oldest < 0)
            oldest = (int)i;
        bool capped = d->config.scheduler == DRAM_FRFCFS_CAP && d->waiting.at[oldest]->passed >= d->config.row_hit_cap;
        if (d->bank[bank].open && d->bank[bank].row == r->place.row && !capped)
            return (int)i;
    }
    return oldest;
}

static void reference_schedule(struct reference *d)
{
    if (d->config.scheduler == DRAM_FIFO) {
        if (d->waiting.count && !d->bank[d->waiting.at[0]->place.bank].current)
            reference_give(d, &d->bank[d->waiting.at[0]->place.bank], 0);
        return;
    }
    for (uint32_t i = 0; i < d->config.banks; i++) {
        uint32_t bank = (d->first_bank + i) % d->config.banks;
        int choice = d->bank[bank].current ? -1 : reference_choice(d, bank);
        if (choice < 0)
            continue;
        reference_give(d, &d->bank[bank], (uint32_t)choice);
        d->first_bank = (d->first_bank + 1) % d->config.banks;
        return;
    }
}

static uint32_t reference_group(const struct reference *d, uint32_t bank)
{
    return d->config.group_by_low_bits ? bank % d->config.bank_groups
                                       : bank / (d->config.banks / d->config.bank_groups);
}

static bool reference_column(struct reference *d, uint32_t bank)
{
    struct reference_bank *b = &d->bank[bank];
    struct reference_request *r = b->current;
    const struct dram_config *c = &d->config;
    uint32_t group = reference_group(d, bank), bytes = c->burst_length * c->bus_bytes * c->chips;
    if (!r || !b->open || b->row != r->place.row || d->column || d->group_column[group] ||
        d->transfers.count >= d->transfer_limit)
        return false;
    if (r->write ? d->write || b->rcd_write : d->read || b->rcd)
        return false;
    d->column = (int)c->t_ccd;
    d->group_column[group] = (int)c->t_ccdl;
    d->counters.busy_cycles += d->burst;
    if (r->write) {
        d->read = (int)(c->t_wl + d->burst + c->t_cdlr);
        b->write_to_precharge = (int)(c->t_wl + d->burst + c->t_wr);
        d->counters.writes++;
    } else {
        d->write = (int)(c->t_cl + d->burst + 2) - (int)c->t_wl;
        b->read_to_precharge = (int)d->burst;
        d->group_precharge[group] = (int)c->t_rtpl;
        d->counters.reads++;
    }
    r->bytes_left -= r->bytes_left < bytes ? r->bytes_left : bytes;
    if (!r->bytes_left) {
        r->countdown = (int)((r->write ? c->t_wl : c->t_cl) + (c->data_with_burst ? 0 : d->burst));
        reference_append(&d->transfers, r);
        b->current = NULL;
    }
    return true;
}

static bool reference_row(struct reference *d, uint32_t bank)
{
    struct reference_bank *b = &d->bank[bank];
    const struct dram_config *c = &d->config;
    if (!b->current)
        return false;
    if (!b->open && !d->activate && !b->rp && !b->rc) {
        b->open = true;
        b->row = b->current->place.row;
        d->activate = (int)c->t_rrd;
        b->rcd = (int)c->t_rcd;
        b->rcd_write = (int)c->t_rcd - (int)(c->t_wl + 1);
        b->ras = (int)c->t_ras;
        b->rc = (int)c->t_rc;
        d->counters.activates++;
        return true;
    }
    if (b->open && b->row != b->current->place.row && !b->ras && !b->write_to_precharge && !b->read_to_precharge &&
        !d->group_precharge[reference_group(d, bank)]) {
        b->open = false;
        b->rp = (int)c->t_rp;
        d->counters.precharges++;
        return true;
    }
    return false;
}

static void reference_commands(struct reference *d)
{
    bool column = false, row = false;
    for (uint32_t i = 0; i < d->config.banks; i++) {
        uint32_t bank = (d->first_bank + i) % d->config.banks; /* first_bank moves with a row command */
        if (!column && (!row || d->config.row_beside_column))
            column = reference_column(d, bank);
        if (!column && !row && reference_row(d, bank)) {
            row = true;
            d->first_bank = (bank + 1) % d->config.banks;
        }
    }
}

static void count_down(int *n) { *n = *n > 0 ? *n - 1 : 0; }

static void reference_count_down(struct reference *d)
{
    count_down(&d->column), count_down(&d->read), count_down(&d->write), count_down(&d->activate);
    for (uint32_t i = 0; i < d->config.banks; i++) {
        struct reference_bank *b = &d->bank[i];
        count_down(&b->rcd), count_down(&b->rcd_write), count_down(&b->ras), count_down(&b->rc), count_down(&b->rp);
        count_down(&b->write_to_precharge), count_down(&b->read_to_precharge);
        count_down(&d->group_column[i]), count_down(&d->group_precharge[i]);
    }
    for (uint32_t i = 0; i < d->transfers.count; i++)
        count_down(&d->transfers.at[i]->countdown);
}

static void reference_cycle(struct reference *d)
{
    reference_finish_transfer(d);
    reference_schedule(d);
    reference_commands(d);
    reference_count_down(d);
}

static struct packet *reference_return_front(struct reference *d)
{
    return d->returned.count ? &d->returned.at[0]->packet : NULL;
}

static void reference_return_pop(struct reference *d) { free(reference_remove(&d->returned, 0)); }

static bool reference_idle(const struct reference *d)
{
    bool current = false;
    for (uint32_t i = 0; i < d->config.banks; i++)
        current |= d->bank[i].current != NULL;
    return !current && !d->waiting.count && !d->transfers.count && !d->returned.count;
}

#endif
