/* The core's way into the interconnect, and how far the core may run without looking at others.
 *
 * A core that knows which answers come to it before a certain cycle may be run up to there in one go (sm_run_ahead).
 * Its state stays near the host's processor then, and threads meet once for all these cycles. Packets that it sends
 * meanwhile lie in its port, with the cycle from which the network sees them. The core stops before a cycle in which it
 * is not certain that its port has room, and after one in which it does something that other cores see: a load, store
 * or atomic of device memory, a surface, the end of a block. */
#include "base/numbers.h"
#include "sm/core.h"

/* Notes when the packet may be answered. A texture passes no delay, and an atomic acts before it is answered. */
void core_link_note_sent(struct sm_network *n, const struct packet *p, uint64_t now)
{
    bool early = p->kind == PACKET_TEXTURE || p->kind == PACKET_ATOMIC;
    n->answered_at = earlier(n->answered_at, now + (early ? 1 : n->answer_cycles));
    n->used = true;
}

/* Is it known, for all packets that the core may send in its next cycle, whether they have room? */
static bool may_go_on(const struct sm *c, uint64_t now)
{
    const struct sm_network *n = &c->net;
    return !n->used || (c->config->lsu_steps == 1 && network_room_from(n->requests, c->head.port, sm_lsu_may_send(c)) <=
                                                         network_tick(&n->clock, now));
}

/* Has the core done something that others may see at once? */
static bool is_seen(const struct sm *c) { return c->head.deferred | c->head.blocks_ended; }

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
    while (*c->wake_at < end && !is_seen(c) && !c->net.used)
        run_cycle(c, *c->wake_at);
}

static void run_ahead(struct sm *c, uint64_t end, struct answer_queue *answers)
{
    struct sm_network *n = &c->net;
    for (;;) {
        uint64_t next = answers_next(answers);
        run_quietly(c, earlier(next, end));
        answers->given_until = later(answers->given_until, c->now);
        if (is_seen(c) || *n->blocked_bytes) /* a cycle may send two packets, and have room for the first alone */
            return;
        end = earlier(end, n->answered_at);
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

bool sm_run_ahead(struct sm *c, uint64_t now, uint64_t end, struct answer_queue *answers)
{
    struct sm_network *n = &c->net;
    if (c->head.deferred && !sm_perform_unseen(c))
        return true;
    n->answered_at = UINT64_MAX;
    n->used = !network_input_is_empty(n->requests, c->head.port);
    answers->given_until = later(answers->given_until, now);
    run_ahead(c, end, answers);
    return is_seen(c);
}

uint64_t sm_now(const struct sm *c) { return c->now; }
