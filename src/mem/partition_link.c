/* The link between the two halves of an L2 (l2.link_cycles).
 *
 * An address is at home in one slice, of one half. The slice at the same place in the other half, its mirror, keeps
 * copies for the cores near to it. Cores ask the slice of the near half. What that one does not hold, and what is
 * written, goes over the link to the home; answers come back the same way. A store or atomic drops the copy: of the
 * half that it comes from when it passes there, of the other when the home has taken it. A packet stays what it is in
 * the other half, but for where it is: away (not at home) or a guest (at home, from the other half).
 *
 * What is away waits for the other half, where it waits for all that is at home there. That must not wait for the first
 * half again: so reads that are away never have all places of a cache (entries for misses, ways of a set), and two
 * slices do not both wait for room in an entry that the other one is to answer. A read that would come to that goes
 * home, and is answered for the core alone, without a copy.
 *
 * Left out: the traffic by which the home drops a copy, and any limit of the link but that a slice sends and takes one
 * packet in a tick for each of its queues. */
#include "mem/partition_inside.h"

enum { LINK_ENTRIES = 2048 }; /* packets on their way to a slice */

void link_slices(struct partition *p, struct partition *q, struct arena *a)
{
    for (uint32_t i = 0; i < p->slice_count; i++) {
        struct slice *here = &p->slices[i], *there = &q->slices[i];
        here->mirror = there;
        there->mirror = here;
        here->mirror_owner = q;
        there->mirror_owner = p;
        for (struct slice *s = here;; s = there) {
            delay_init(&s->visitors, a, LINK_ENTRIES);
            delay_init(&s->answers, a, LINK_ENTRIES);
            if (s == there)
                break;
        }
    }
}

static void send_over(struct partition *p, const struct slice *s, struct delay_line *line, const struct packet *r,
                      bool as_guest)
{
    struct delayed *d = delay_back(line);
    d->packet = *r;
    d->packet.guest = as_guest;
    d->packet.away = !as_guest;
    d->packet.slice = (uint8_t)s->mirror->number;
    d->ready = p->core_now + p->config->l2.link_cycles;
    line->count++;
    slice_due(s->mirror_owner, s->mirror, d->ready);
}

bool link_has_room(const struct slice *s) { return !delay_full(&s->mirror->visitors); }

void link_send_home(struct partition *p, struct slice *s, const struct packet *r)
{
    send_over(p, s, &s->mirror->visitors, r, true);
}

void link_send_answer(struct partition *p, struct slice *s, const struct packet *r)
{
    send_over(p, s, &s->mirror->answers, r, false);
}

/* The copy's line may have gone with the sectors that were dropped. */
static __attribute__((noinline)) void tell_forgotten(const struct slice *s, const struct packet *r, uint32_t way)
{
    uint32_t set, now;
    cache_where(s->cache, r->address, &set, &now);
    if (way != now)
        s->listener->forgot(s->listener->context, set, way);
}

static void drop_copy(struct partition *owner, struct slice *s, const struct packet *r)
{
    uint32_t set, way;
    if (s->listener)
        cache_where(s->cache, r->address, &set, &way);
    if (!cache_forget(s->cache, r->address, r->bytes))
        return;
    if (s->listener)
        tell_forgotten(s, r, way);
    if (s->fails)
        wake_slice(owner, s);
}

static bool is_at_home(const void *slice, uint64_t line)
{
    const struct slice *s = slice;
    return address_map_slice(s->map, line) == s->number;
}

bool link_may_copy(const struct slice *s, const struct packet *r, uint32_t set)
{
    return (s->reads_away + 1 < cache_head(s->cache)->mshr.limit && cache_has_two_ways(s->cache, set, is_at_home, s)) ||
           cache_probe(s->cache, r->address);
}

bool link_waits_in_turn(struct slice *s)
{
    struct slice *m = s->mirror;
    return m->failed && m->input.count && ring_front(&m->input)->away;
}

bool link_forward_read(struct partition *p, struct slice *s, const struct packet *r)
{
    struct packet read = *r;
    if (!link_has_room(s))
        return false;
    read.uncopied = 1;
    link_send_home(p, s, &read);
    return true;
}

/* A store or atomic of this half, for the other one. */
bool link_forward_write(struct partition *p, struct slice *s, const struct packet *r)
{
    if (!link_has_room(s))
        return false;
    if (r->kind == PACKET_ATOMIC)
        drop_copy(p, s, r);
    else if (r->mask == UINT32_MAX)
        slice_touch(s, r);
    link_send_home(p, s, r);
    return true;
}

void link_written_at_home(struct slice *s, const struct packet *r)
{
    if (!r->guest) /* a guest has dropped it on its way */
        drop_copy(s->mirror_owner, s->mirror, r);
}

/* An answer from the home: data for the copy, or for the core alone. */
void link_take_answer(struct partition *p, struct slice *s, uint64_t l2_now)
{
    struct delayed *d = delay_front(&s->answers);
    struct packet *r = &d->packet;
    if (d->ready > p->core_now)
        return;
    if (packet_is_write(r) || r->kind == PACKET_ATOMIC || r->uncopied) {
        if (ring_full(&s->reply))
            return;
        r->away = r->uncopied = 0;
        queue_reply(p, s, r);
    } else {
        if (!cache_fill_port_free(s->cache, l2_now))
            return;
        s->reads_away--;
        slice_fill(s, r);
        cache_use_fill_port(s->cache, p->cut.bytes, l2_now);
    }
    delay_pop(&s->answers);
}

uint64_t link_next(const struct slice *s)
{
    uint64_t at = s->answers.count ? delay_front(&s->answers)->ready : NEVER;
    return s->visitors.count && !ring_full(&s->input) ? earlier(at, delay_front(&s->visitors)->ready) : at;
}
