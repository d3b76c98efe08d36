/* The DRAM side of a channel, on the DRAM's command clock: the slices' queues to DRAM -> fixed delay -> DRAM -> the
 * slices' return queues.
 *
 * Left out: the credit that a write-back holds while it is inside DRAM (it is given back when DRAM takes it, not when
 * DRAM has written it). */
#include "mem/partition_inside.h"

/* Packets enter the delay in front of DRAM one a DRAM cycle, and leave as fast once it is over: it never holds more
 * than the cycles it lasts. */
static uint32_t delay_entries(const struct mem_config *config)
{
    uint64_t core_khz = config->core_khz ? config->core_khz : 1;
    return (uint32_t)((config->dram.latency_cycles + 1) * (config->dram_khz / core_khz + 1) + 2);
}

void dram_side_create(struct partition *p, struct arena *a)
{
    p->dram = dram_create(a, &p->config->dram, p->map);
    delay_init(&p->to_dram, a, delay_entries(p->config));
    p->dram_latency_cycles = p->config->dram.latency_cycles;
    p->credit_limit = p->config->dram.return_queue ? p->config->dram.queue + p->config->dram.return_queue : 0;
    p->last_served = p->slice_count - 1;
}

static struct slice *slice_of(const struct partition *p, const struct packet *r)
{
    return &p->slices[r->slice - p->channel * p->slice_count];
}

static void return_from_dram(struct partition *p)
{
    const struct packet *r = dram_return_front(p->dram);
    struct slice *s = slice_of(p, r);
    if (ring_full(&s->from_dram))
        return;
    ring_push(&s->from_dram, r);
    if (s->cache && !packet_is_write(r))
        cache_expect_fill(s->cache, r->token);
    dram_return_pop(p->dram);
    p->credits_used--;
    wake_slice(p, s);
}

static bool may_go_to_dram(const struct partition *p, const struct slice *s)
{
    return s->to_dram.count && !ring_full(&s->from_dram) && (p->credit_limit == 0 || p->credits_used < p->credit_limit);
}

/* One packet a cycle from the slices, in turn, into the fixed delay. */
static void take_from_slices(struct partition *p, uint64_t core_now)
{
    if (dram_full(p->dram) || delay_full(&p->to_dram))
        return;
    for (uint32_t i = 0, n = p->last_served; i < p->slice_count; i++) {
        n = n + 1 < p->slice_count ? n + 1 : 0;
        struct slice *s = &p->slices[n];
        if (!may_go_to_dram(p, s))
            continue;
        struct delayed *d = delay_back(&p->to_dram);
        d->packet = *ring_front(&s->to_dram);
        d->ready = core_now + p->dram_latency_cycles;
        p->to_dram.count++;
        if (ring_full(&s->to_dram))
            wake_slice(p, s);
        ring_pop(&s->to_dram);
        p->queued--;
        p->credits_used++;
        p->last_served = n;
        return;
    }
}

static void push_to_dram(struct partition *p, uint64_t core_now)
{
    if (!delay_over(&p->to_dram, core_now) || dram_full(p->dram))
        return;
    const struct packet *r = &delay_front(&p->to_dram)->packet;
    if (packet_ends_silently(r))
        p->credits_used--;
    dram_push(p->dram, r);
    delay_pop(&p->to_dram);
}

/* Something that waits for the DRAM's clock can go on in the next command cycle. What waits for room in a queue from
 * DRAM is told when there is some. */
static bool dram_side_moves(struct partition *p)
{
    const struct packet *r = dram_return_front(p->dram);
    if (r && !ring_full(&slice_of(p, r)->from_dram))
        return true;
    if (!p->queued || dram_full(p->dram) || delay_full(&p->to_dram))
        return false;
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (may_go_to_dram(p, &p->slices[i]))
            return true;
    return false;
}

void partition_run_dram(struct partition *p, uint64_t dram_now, uint64_t core_now)
{
    dram_catch_up(p->dram, dram_now);
    if (p->dram->returns.count)
        return_from_dram(p);
    dram_cycle(p->dram, dram_now);
    if (p->queued)
        take_from_slices(p, core_now);
    if (p->to_dram.count)
        push_to_dram(p, core_now);
    p->head.dram_at = dram_side_moves(p) ? dram_now + 1 : dram_next_event(p->dram, dram_now);
    p->head.leaves_delay_at = p->to_dram.count && !dram_full(p->dram) ? delay_front(&p->to_dram)->ready : NEVER;
}
