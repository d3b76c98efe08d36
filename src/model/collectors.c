/* Operand collectors, after GPGPU-Sim's. An issued instruction waits in a register before the collectors (ID/OC) until
 * one of its kind is free, in the collector for its operands, and in a register after it (OC/EX) for its unit.
 *
 * Every register bank serves one request per step, in order of arrival, unless the bank was written in that step. A
 * collector receives one operand per step or, with the rule banks_at_once, one from every bank. Which bank is asked
 * first moves on by one in every step in which a bank has a request. */
#include "model/model.h"

static void init_kind(struct sm *c, enum kind kind, uint32_t count, uint32_t ports, uint32_t width)
{
    struct collectors *all = &c->collectors;
    all->kinds[kind] = (struct collector_kind){
        .first = all->count, .count = count, .ports = ports, .width = width, .last = all->count + count - 1};
    for (uint32_t i = 0; i < count; i++)
        all->list[all->count++].id = NOTHING;
}

void model_collectors_init(struct sm *c)
{
    const struct sm_config *g = c->config;
    init_kind(c, KIND_SP, g->sp_collectors, g->sp_ports, g->sp_issue_width);
    init_kind(c, KIND_SFU, g->sfu_collectors, g->sfu_ports, g->sfu_issue_width);
    init_kind(c, KIND_MEMORY, g->mem_collectors, g->mem_ports, g->mem_issue_width);
    c->collectors.bank_count = g->register_banks;
}

/* Register r of a warp is in bank (r + slot) mod banks. The parameter `bank` is r mod banks. */
static uint32_t bank_of(const struct sm *c, uint32_t bank, uint32_t slot)
{
    return (bank + slot) % c->config->register_banks;
}

bool model_write_bank(struct sm *c, uint32_t slot, uint32_t bank)
{
    bool *written = &c->collectors.written[bank_of(c, bank, slot)];
    bool is_first = !*written;
    *written = true;
    return is_first;
}

bool model_collectors_accept(const struct sm *c, enum kind kind)
{
    return c->collectors.kinds[kind].waiting_count < c->collectors.kinds[kind].width;
}

bool model_collectors_limit(const struct sm *c, enum kind kind)
{
    const struct collector_kind *k = &c->collectors.kinds[kind];
    for (uint32_t i = k->first; i < k->first + k->count; i++)
        if (c->collectors.list[i].id == NOTHING)
            return false;
    return k->done_count < k->width;
}

void model_collect(struct sm *c, enum kind kind, uint32_t id)
{
    struct collector_kind *k = &c->collectors.kinds[kind];
    const struct instruction *f = &c->inflight[id];
    struct waiting *w = &k->waiting[k->waiting_count++];
    *w = (struct waiting){.id = id, .age = c->collectors.next_age++, .operands = f->inst->source_count};
    for (uint32_t i = 0; i < w->operands; i++)
        w->banks[i] = bank_of(c, f->inst->banks[i], f->slot);
}

/* Into the registers after the collectors, which units take oldest first. */
static void add_done(struct collector_kind *k, const struct collecting *from)
{
    uint32_t at = k->done_count++;
    for (; at > 0 && k->done[at - 1].age > from->age; at--)
        k->done[at] = k->done[at - 1];
    k->done[at] = (struct waiting){.id = (uint32_t)from->id, .age = from->age};
}

/* Collectors with all operands are emptied, in turn after the one that was emptied last. */
static void empty_collectors(struct collectors *all, struct collector_kind *k)
{
    uint32_t last = k->last, moved = 0;
    for (uint32_t i = 1; i <= k->count; i++) {
        uint32_t at = k->first + (last - k->first + i) % k->count;
        if (!all->list[at].ready || moved == k->ports || k->done_count == k->width)
            continue;
        add_done(k, &all->list[at]);
        all->list[at] = (struct collecting){.id = NOTHING};
        k->last = at;
        moved++;
    }
}

static void serve(struct collectors *all, uint32_t bank)
{
    struct collecting *to = &all->list[all->requests[bank].list[0]];
    to->received = true;
    to->operands--;
    to->ready = to->operands == 0;
    all->requests[bank].count--;
    for (uint32_t i = 0; i < all->requests[bank].count; i++)
        all->requests[bank].list[i] = all->requests[bank].list[i + 1];
}

static void read_banks(struct sm *c)
{
    struct collectors *all = &c->collectors;
    bool any = false;
    for (uint32_t i = 0; i < all->count; i++)
        all->list[i].received = false;
    for (uint32_t i = 0; i < all->bank_count; i++) {
        uint32_t bank = (all->first_bank + i) % all->bank_count;
        if (!all->requests[bank].count)
            continue;
        any = true;
        bool has_received = all->list[all->requests[bank].list[0]].received;
        if (!all->written[bank] && (!has_received || c->config->banks_at_once))
            serve(all, bank);
    }
    if (any)
        all->first_bank = (all->first_bank + 1) % all->bank_count;
}

/* The oldest instructions that wait enter free collectors, which ask the banks for their operands. */
static void fill_collectors(struct collectors *all, struct collector_kind *k)
{
    uint32_t moved = 0;
    for (uint32_t at = k->first; at < k->first + k->count; at++) {
        if (all->list[at].id != NOTHING || moved == k->ports || !k->waiting_count)
            continue;
        struct waiting from = k->waiting[0];
        all->list[at] = (struct collecting){
            .id = (int32_t)from.id, .age = from.age, .operands = from.operands, .ready = !from.operands};
        for (uint32_t i = 0; i < from.operands; i++)
            all->requests[from.banks[i]].list[all->requests[from.banks[i]].count++] = at;
        k->waiting_count--;
        for (uint32_t i = 0; i < k->waiting_count; i++)
            k->waiting[i] = k->waiting[i + 1];
        moved++;
    }
}

void model_collectors_step(struct sm *c)
{
    struct collectors *all = &c->collectors;
    for (enum kind kind = 0; kind < KINDS; kind++)
        empty_collectors(all, &all->kinds[kind]);
    read_banks(c);
    for (enum kind kind = 0; kind < KINDS; kind++)
        fill_collectors(all, &all->kinds[kind]);
    for (uint32_t i = 0; i < all->bank_count; i++)
        all->written[i] = false;
}

int32_t model_collected(const struct sm *c, enum kind kind)
{
    const struct collector_kind *k = &c->collectors.kinds[kind];
    return k->done_count ? (int32_t)k->done[0].id : NOTHING;
}

void model_take_collected(struct sm *c, enum kind kind)
{
    struct collector_kind *k = &c->collectors.kinds[kind];
    k->done_count--;
    for (uint32_t i = 0; i < k->done_count; i++)
        k->done[i] = k->done[i + 1];
}

bool model_collectors_empty(const struct sm *c)
{
    const struct collectors *all = &c->collectors;
    for (enum kind kind = 0; kind < KINDS; kind++)
        if (all->kinds[kind].waiting_count || all->kinds[kind].done_count)
            return false;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->list[i].id != NOTHING)
            return false;
    return true;
}
