/* The core's way into the interconnect, and how far the core may run without looking at others.
 *
 * A core that knows which answers come to it before a certain cycle may be run up to there in one go (sm_run_ahead).
 * Its state stays near the host's processor then, and threads meet once for all these cycles. Packets that it sends
 * meanwhile lie in its port, with the cycle from which the network sees them. Where the network has been run further
 * than the core, it is known for each cycle which packets have left the port. Elsewhere the core stops, unless its
 * port has room in any case.
 *
 * With several threads, loads and stores of device memory are kept: they take effect in the order of cycles and
 * cores. The registers of a load are awaited until it ends, so that their values may come later; the core stops
 * before a cycle in which a kept load may end. Everything else that other cores can see ends the run: an atomic, a
 * surface, the end of a block. */
#include "base/numbers.h"
#include "sm/core.h"

/* Notes when the packet may be answered. If the network has been run past `now`, it has not seen the packet, which
 * is in the port after others. A texture passes no delay, and an atomic acts before it is answered. */
void core_link_note_sent(struct sm_network *n, const struct packet *p, uint64_t now)
{
    bool early = p->kind == PACKET_TEXTURE || p->kind == PACKET_ATOMIC;
    uint64_t at = later(now + (early ? 1 : n->answer_cycles), *n->clock.run_until);
    if (at < n->answered_at)
        n->answered_at = at;
    n->used = true;
}

void core_link_await_room(struct sm *c)
{
    struct sm_network *n = &c->net;
    uint64_t tick = network_room_from(n->requests, c->head.port, network_flits(n->requests, *n->blocked_bytes));
    n->room_at = UINT64_MAX;
    if (tick != UINT64_MAX)
        n->room_at = later(network_owner_cycle(&n->clock, tick), c->now + 1);
    if (n->room_at < *c->wake_at)
        *c->wake_at = n->room_at;
}

/* May a kept load end in the next step? It may if its last access is next, all others were hits, and the line is
 * there or arrives in the same step. */
static __attribute__((noinline)) bool may_end_load(const struct sm *c)
{
    const struct sm_lsu *l = &c->lsu;
    if (l->at_work.id == SM_NONE)
        return false;
    const struct sm_inflight *f = &c->flights.list[l->at_work.id];
    const struct sm_accesses *a = &l->access_pool[f->accesses];
    return f->kept && f->remaining <= 1 && f->next_access + 1u >= a->count &&
           (l->responses.count || !l->l1d || !a->count || cache_probe(l->l1d, a->list[a->count - 1].address));
}

/* Is it known, for all packets that the core may send in its next cycle, whether they have room? And is it certain
 * that no kept load ends? */
static bool may_go_on(const struct sm *c, uint64_t now)
{
    const struct sm_network *n = &c->net;
    if (c->issue.loading && may_end_load(c))
        return false;
    if (!n->used || core_link_is_known(n, now))
        return true;
    return c->config->lsu_steps == 1 &&
           network_room_from(n->requests, c->head.port, sm_lsu_may_send(c)) <= network_tick(&n->clock, now);
}

/* Has the core done something that others may see at once? */
static bool is_seen(const struct sm *c) { return c->head.deferred | c->head.blocks_ended | c->net.stops; }

/* Gives the core the first answer of the queue, if the core has room. */
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

/* Runs the core as long as no question has to be asked before a cycle. */
static inline void run_quietly(struct sm *c, uint64_t end)
{
    uint64_t known = *c->net.clock.run_until;
    while (*c->wake_at < end && !(c->head.deferred | c->head.blocks_ended | c->issue.loading | *c->net.blocked_bytes) &&
           (!c->net.used || *c->wake_at < known))
        run_cycle(c, *c->wake_at);
}

static void run_ahead(struct sm *c, uint64_t end, struct answer_queue *answers)
{
    struct sm_network *n = &c->net;
    uint32_t put = answers_put_so_far(answers); /* answers that are put meanwhile come later than `end` */
    for (;;) {
        uint64_t next = answers->taken == put ? UINT64_MAX : answers_front_at(answers);
        run_quietly(c, next < end ? next : end);
        if (c->now > answers->given_until)
            answers->given_until = c->now;
        if (is_seen(c))
            return;
        if (n->answered_at < end)
            end = n->answered_at;
        if (*n->clock.run_until < end && *n->blocked_bytes && n->room_at == UINT64_MAX)
            end = *n->clock.run_until;
        uint64_t wake = *c->wake_at;
        if (next <= wake && next < end) {
            take_from(c, answers, next);
        } else if (wake >= end) {
            answers->given_until = later(answers->given_until, end - 1);
            return;
        } else if (may_go_on(c, wake)) {
            run_cycle(c, wake);
        } else {
            return;
        }
    }
}

/* A core without a block may not: the launch may end at any time. */
bool sm_may_run_ahead(const struct sm *c)
{
    return !c->regroup && !c->observer && c->blocks.used && !c->head.blocks_ended;
}

void sm_run_ahead(struct sm *c, uint64_t now, uint64_t end, struct answer_queue *answers)
{
    struct sm_network *n = &c->net;
    if (c->head.deferred && !sm_perform_unseen(c))
        return;
    n->answered_at = UINT64_MAX;
    n->used = !network_input_is_empty(n->requests, c->head.port);
    answers->given_until = later(answers->given_until, now);
    run_ahead(c, end, answers);
}

void sm_run_further(struct sm *c, uint64_t end, struct answer_queue *answers)
{
    if (!is_seen(c))
        run_ahead(c, end, answers);
}

uint64_t sm_next_seen(const struct sm *c)
{
    const struct sm_network *n = &c->net;
    if (n->access_first != n->access_count)
        return n->kept->accesses[n->access_first].cycle;
    return is_seen(c) ? c->now : 0;
}

void sm_catch_up(struct sm *c, uint64_t now)
{
    struct sm_network *n = &c->net;
    for (; n->access_first != n->access_count; n->access_first++) {
        struct kept_access *k = &n->kept->accesses[n->access_first];
        if (k->cycle != now)
            return;
        exec_perform_kept(&k->exec);
        if (!k->store)
            c->flights.list[k->id].kept = false;
    }
    n->access_first = n->access_count = 0;
    c->issue.loading = 0;
    n->merged = false;
    if (now >= c->now)
        n->stops = false;
}

uint64_t sm_now(const struct sm *c) { return c->now; }
