/* A memory channel with its L2 slices (GPGPU-Sim's memory partition unit and its sub-partitions, with the order of
 * their steps): how it is made, its replies, when it sleeps, what it has counted. What happens on the L2's clock is in
 * partition_slice.c, on the DRAM's in partition_dram.c. */
#include "mem/partition_inside.h"
#include "mem/write_rule.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { HEADER_BYTES = 8 }; /* of a packet in the network */

struct partition *partition_create(struct arena *a, const struct mem_config *config, const struct address_map *map,
                                   uint32_t channel, struct network *requests, struct network *replies,
                                   const struct partition_hooks *hooks)
{
    const struct l2_config *l2 = &config->l2;
    assert(l2->input_queue && l2->dram_queue && l2->return_queue && l2->reply_queue && l2->slices_per_channel <= 64);
    struct partition *p = arena_new(a, struct partition);
    *p = (struct partition){.requests = requests,
                            .replies = replies,
                            .config = config,
                            .map = map,
                            .channel = channel,
                            .head = {.l2_at = NEVER, .dram_at = NEVER, .leaves_delay_at = NEVER},
                            .slice_count = l2->slices_per_channel,
                            .cut = pieces_of(l2),
                            .reads_evict_free = l2->reads_evict_free,
                            .stores_evict_free =
                                write_rule_misses(&l2->cache, WRITE_MISS_FETCH) /* as in GPGPU-Sim 3 */};
    p->calendar = &p->own_calendar;
    if (hooks)
        p->hooks = *hooks;
    p->cores_per_port = config->cores_per_port ? config->cores_per_port : 1;
    p->pieces = p->cut.bytes ? p->cut.line_bytes / p->cut.bytes : 1;
    if (p->pieces > l2->input_queue)
        p->pieces = l2->input_queue;
    p->slices = arena_array(a, struct slice, p->slice_count);
    p->slices_end = p->slices + p->slice_count;
    for (uint32_t i = 0; i < p->slice_count; i++)
        slice_create(&p->slices[i], a, l2, map, channel * p->slice_count + i);
    dram_side_create(p, a);
    return p;
}

void partition_count_answers(struct partition *p, struct expected_answers *of_cores) { p->expected = of_cores; }

void partition_share_calendar(struct partition *p, struct partition_calendar *calendar) { p->calendar = calendar; }

void partition_link(struct partition *p, struct partition *q, struct arena *a) { link_slices(p, q, a); }

void partition_set_listener(struct partition *p, uint32_t slice, const struct slice_listener *listener)
{
    p->slices[slice].listener = listener;
}

struct cache *partition_cache(const struct partition *p, uint32_t slice) { return p->slices[slice].cache; }

const uint64_t *partition_core_clock(const struct partition *p) { return &p->core_now; }

void partition_set_l2_clock(struct partition *p, const uint64_t *ticks) { p->l2_ticks = ticks; }

/* Replies: interconnect clock. */

static uint32_t reply_bytes(const struct packet *r)
{
    return packet_is_write(r) ? HEADER_BYTES : HEADER_BYTES + r->bytes;
}

static void send_reply(struct partition *p, struct slice *s, uint64_t icnt_now)
{
    struct packet *r = ring_front(&s->reply);
    uint32_t bytes = reply_bytes(r);
    s->reply_at = network_may_have_room_at(p->replies, s->number, bytes, icnt_now);
    if (s->reply_at > icnt_now) {
        p->reply_stalls += s->reply_at - icnt_now;
        return;
    }
    network_push(p->replies, s->number, r->core / p->cores_per_port, r, bytes, icnt_now);
    if (r->kind == PACKET_ATOMIC && r->mask && p->hooks.on_atomic)
        p->hooks.on_atomic(p->hooks.context, r);
    if (ring_full(&s->reply))
        wake_slice(p, s);
    ring_pop(&s->reply);
    p->head.replies--;
}

void partition_send_replies(struct partition *p, uint64_t icnt_now)
{
    uint64_t at = NEVER;
    for (struct slice *s = p->slices; s != p->slices_end; s++) {
        if (!s->reply.count)
            continue;
        if (s->reply_at <= icnt_now)
            send_reply(p, s, icnt_now);
        if (s->reply.count)
            at = earlier(at, s->reply_at);
    }
    p->head.reply_at = at;
}

static bool slice_idle(const struct slice *s)
{
    return (s->rop.count | s->input.count | s->to_dram.count | s->from_dram.count | s->reply.count) == 0 &&
           (s->visitors.count | s->answers.count) == 0 && (s->cache == NULL || cache_idle(s->cache));
}

bool partition_idle(const struct partition *p)
{
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (!slice_idle(&p->slices[i]))
            return false;
    return p->to_dram.count == 0 && dram_idle(p->dram);
}

uint32_t partition_waiting(const struct partition *p) { return p->queued + p->to_dram.count + p->dram->pending; }

/* Data from the host. */

void partition_touch(struct partition *p, uint64_t address)
{
    uint32_t number = address_map_slice(p->map, address) - p->channel * p->slice_count;
    assert(number < p->slice_count);
    struct slice *s = &p->slices[number];
    struct packet copy = {.address = address, .bytes = 1};
    if (s->cache)
        slice_touch(s, &copy);
    if (s->mirror)
        link_written_at_home(s, &copy);
    if (s->fails)
        wake_slice(p, s);
}

void partition_flush(struct partition *p)
{
    for (uint32_t i = 0; i < p->slice_count; i++) {
        const struct slice_listener *listener = p->slices[i].listener;
        if (listener)
            listener->emptied(listener->context);
        if (p->slices[i].cache)
            cache_empty(p->slices[i].cache);
        if (p->slices[i].fails)
            wake_slice(p, &p->slices[i]);
    }
}

/* Counters and text. */

static void add_counts(void *sum, const void *counts, size_t size_bytes)
{
    uint64_t *to = sum;
    const uint64_t *from = counts;
    for (size_t i = 0; i < size_bytes / sizeof(uint64_t); i++)
        to[i] += from[i];
}

/* What the other half reads is no access of a core: that was counted there. */
static void subtract_guests(const struct slice *s, struct cache_counters *sum)
{
    uint64_t reads = s->guest_reads[CACHE_HIT] + s->guest_reads[CACHE_MISS] + s->guest_reads[CACHE_PENDING];
    sum->reads -= reads;
    sum->accesses -= reads;
    sum->hits -= s->guest_reads[CACHE_HIT];
    sum->misses -= s->guest_reads[CACHE_MISS];
    sum->pending_hits -= s->guest_reads[CACHE_PENDING];
}

void partition_read_counters(struct partition *p, struct partition_counters *sum)
{
    for (uint32_t i = 0; i < p->slice_count; i++) {
        struct slice *s = &p->slices[i];
        if (p->l2_ticks && s->fails)
            slice_settle(s, *p->l2_ticks - 1);
        if (s->cache)
            add_counts(&sum->l2, cache_counters(s->cache), sizeof(sum->l2));
        if (s->mirror)
            subtract_guests(s, &sum->l2);
    }
    add_counts(&sum->dram, dram_counters(p->dram), sizeof(sum->dram));
    sum->reply_stalls += p->reply_stalls;
    sum->input_stalls += p->input_stalls;
    sum->l1_sectors += p->l1_sectors;
    sum->l1_sector_misses += p->l1_sector_misses;
}

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

static void describe_queue(struct text *t, const char *name, const struct ring *r)
{
    if (r->count)
        print(t, ", %u of %u %s%s", r->count, r->limit, name, ring_full(r) ? " (full)" : "");
}

static void describe_slice(struct text *t, const struct slice *s)
{
    print(t, "L2 slice %u:", s->number);
    if (s->rop.count)
        print(t, " %u requests in the delay from the network, the first until core cycle %llu", s->rop.count,
              (unsigned long long)delay_front(&s->rop)->ready);
    else
        print(t, " no request in the delay from the network");
    if (s->visitors.count | s->answers.count)
        print(t, ", %u requests and %u answers from the other half", s->visitors.count, s->answers.count);
    describe_queue(t, "wait for the L2", &s->input);
    describe_queue(t, "on the way to DRAM", &s->to_dram);
    describe_queue(t, "back from DRAM", &s->from_dram);
    describe_queue(t, "replies wait for the network", &s->reply);
    if (s->cache)
        print(t, ", %u misses outstanding", cache_outstanding(s->cache));
    print(t, "\n");
}

void partition_describe(const struct partition *p, char *out, uint32_t out_bytes)
{
    struct text t = {.out = out, .size = out_bytes};
    if (out_bytes)
        out[0] = '\0';
    print(&t, "memory channel %u%s\n", p->channel, partition_idle(p) ? ": empty" : "");
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (!slice_idle(&p->slices[i]))
            describe_slice(&t, &p->slices[i]);
    if (p->to_dram.count)
        print(&t, "%u requests in the delay in front of DRAM, the first until core cycle %llu\n", p->to_dram.count,
              (unsigned long long)delay_front(&p->to_dram)->ready);
    if (!dram_idle(p->dram) && t.used < t.size)
        dram_describe(p->dram, t.out + t.used, t.size - t.used);
}
