/* The core's way into the interconnect, and how far it may run without looking at anybody else.
 *
 * A core that knows which answers come to it before a certain cycle may be run up to there in one go (sm_run_ahead), so
 * that its state stays near the host's processor, and threads meet once for all these cycles. What it sends meanwhile
 * is kept, and pushed into its port when the others are in that cycle too; it stops where it is not certain that its
 * port has room. With several threads so are loads and stores of device memory, which take effect in the order of
 * cycles and cores: a load's registers are awaited until it ends, so that their values may come later, and the core
 * stops before a cycle in which it may end. All else that others can see ends the run: an atomic, a texture, the end of
 * a block. */
#include "sm/core.h"

enum { SENDERS = 6 }; /* packets of a step: of four caches, and of an instruction past them */

static bool is_certain(const struct sm_network *n, uint32_t flits)
{
    return crossbar_holds(n->requests, n->held_flits + flits);
}

/* Of a port that was empty it is known. */
bool network_keeps(const struct sm_network *n, uint32_t bytes)
{
    return !n->held_flits || is_certain(n, crossbar_flits(n->requests, bytes));
}

void network_keep(struct sm_network *n, const struct packet *p, uint32_t bytes, uint64_t now)
{
    invariant(n->packet_count < SM_KEPT_PACKETS);
    n->kept->packets[n->packet_count++] = (struct kept_packet){.packet = *p, .cycle = now, .bytes = bytes};
    n->stops |= p->kind == PACKET_TEXTURE || p->kind == PACKET_ATOMIC;
    n->held_flits += crossbar_flits(n->requests, bytes);
}

/* May a load end in the next step whose result is still to come? Its last access is next, all others were hits, and the
 * line is there or arrives in the same step. */
static __attribute__((noinline)) bool may_end_load(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    if (l->dispatch == SM_NONE)
        return false;
    const struct sm_inflight *f = &c->flights.list[l->dispatch];
    const struct sm_accesses *a = &l->access_pool[f->accesses];
    return f->kept && f->remaining <= 1 && f->next_access + 1u >= a->count &&
           (l->responses.count || !l->l1d || !a->count || cache_probe(l->l1d, a->list[a->count - 1].address));
}

/* Can it be told, for all that it may send in its next cycle, whether there is room? And of its loads whose results are
 * still to come, that none ends? */
static bool may_go_on(const struct sm *c)
{
    const struct sm_network *n = &c->net;
    if (c->issue.loading && may_end_load(c))
        return false;
    if (!n->held_flits)
        return true;
    return c->config->lsu_steps == 1 && n->packet_count + SENDERS <= SM_KEPT_PACKETS &&
           is_certain(n, sm_lsu_may_send(c) + 1 /* of the instruction cache */);
}

/* Has it done something that the others may see at once? */
static bool is_seen(const struct sm *c) { return c->head.deferred | c->head.blocks_ended | c->net.stops; }

/* The first cycle in which something that it has sent meanwhile may be answered. */
static uint64_t answered_at(const struct sm_network *n)
{
    return n->packet_count ? n->kept->packets[0].cycle + n->answer_cycles : UINT64_MAX;
}

/* The first of these is given to the core, if there is room. */
static void take_from(struct sm *c, struct answer_queue *from, uint64_t now)
{
    if (sm_accept(c, answers_front(from), now))
        answers_take(from);
    from->given_until = now;
}

static inline void run_cycle(struct sm *c, uint64_t now)
{
    sm_cycle(c, now);
    if (unlikely(c->head.deferred))
        sm_perform_unseen(c);
}

/* As long as it has sent nothing, and no load is without its result. */
static inline void run_quietly(struct sm *c, uint64_t end)
{
    while (*c->wake_at < end && !(c->head.deferred | c->head.blocks_ended | c->net.held_flits | c->issue.loading))
        run_cycle(c, *c->wake_at);
}

static void run_ahead(struct sm *c, uint64_t end, struct answer_queue *answers)
{
    struct sm_network *n = &c->net;
    uint32_t put = answers_put_so_far(answers); /* those that are put meanwhile come later than `end` */
    for (;;) {
        uint64_t next = answers->taken == put ? UINT64_MAX : answers_front_at(answers);
        run_quietly(c, next < end ? next : end);
        if (c->now > answers->given_until)
            answers->given_until = c->now;
        if (is_seen(c))
            return;
        if (answered_at(n) < end)
            end = answered_at(n);
        uint64_t wake = *c->wake_at;
        if (next <= wake && next < end) {
            take_from(c, answers, next);
        } else if (wake >= end) {
            answers->given_until = end - 1;
            return;
        } else if (may_go_on(c)) {
            run_cycle(c, wake);
        } else {
            return;
        }
    }
}

bool sm_run_ahead(struct sm *c, uint64_t end, struct answer_queue *answers)
{
    struct sm_network *n = &c->net;
    bool alone = !c->regroup && !c->observer;
    if (c->head.blocks_ended || !alone || !c->blocks.used) /* without a block: the launch may end at any time */
        return false;
    if (c->head.deferred && !sm_perform_unseen(c))
        return n->access_count != 0;
    n->ahead = true;
    n->held_flits = crossbar_held(crossbar_look(n->requests), c->head.port);
    answers->given_until = c->now;
    run_ahead(c, end, answers);
    n->ahead = false;
    return sm_next_seen(c) != 0;
}

uint64_t sm_next_seen(const struct sm *c)
{
    const struct sm_network *n = &c->net;
    uint64_t packet = n->packet_first != n->packet_count ? n->kept->packets[n->packet_first].cycle : UINT64_MAX,
             access = n->access_first != n->access_count ? n->kept->accesses[n->access_first].cycle : UINT64_MAX,
             next = packet < access ? packet : access;
    return next != UINT64_MAX ? next : is_seen(c) ? c->now : 0;
}

void sm_catch_up(struct sm *c, uint64_t now)
{
    struct sm_network *n = &c->net;
    for (; n->access_first != n->access_count && n->kept->accesses[n->access_first].cycle == now; n->access_first++) {
        exec_perform_kept(&n->kept->accesses[n->access_first].exec);
        if (!n->kept->accesses[n->access_first].store)
            c->flights.list[n->kept->accesses[n->access_first].id].kept = false;
    }
    if (n->access_first == n->access_count) {
        n->access_first = n->access_count = 0;
        c->issue.loading = 0;
        n->merged = false;
    }
    for (; n->packet_first != n->packet_count && n->kept->packets[n->packet_first].cycle == now; n->packet_first++) {
        const struct kept_packet *k = &n->kept->packets[n->packet_first];
        crossbar_push(n->requests, c->head.port, k->packet.slice, &k->packet, k->bytes, *n->now);
    }
    if (n->packet_first == n->packet_count)
        n->packet_first = n->packet_count = 0;
    if (!n->packet_count && !n->access_count && now >= c->now)
        n->stops = false;
}

uint64_t sm_now(const struct sm *c) { return c->now; }
