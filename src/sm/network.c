/* The core's way into the interconnect, and how far it may run without looking at anybody else.
 *
 * A core that no answer can reach before a certain cycle, and whose port is empty, may be run up to there in one go
 * (sm_run_ahead), so that its state stays near the host's processor, and threads meet once for all these cycles. The
 * first cycle in which it does what others can see is the last: it issues an instruction of device memory, which is
 * performed in the order of cycles and cores; it sends a packet, which is kept here until the others are in that cycle
 * too; or a block ends. */
#include "sm/core.h"

/* Its port was empty when it began. */
bool network_keeps(const struct sm_network *n, uint32_t bytes)
{
    return !n->kept_count || crossbar_holds(n->requests, n->kept_flits + crossbar_flits(n->requests, bytes));
}

void network_keep(struct sm_network *n, const struct packet *p, uint32_t bytes)
{
    invariant(n->kept_count < SM_KEPT_PACKETS);
    n->kept[n->kept_count].packet = *p;
    n->kept[n->kept_count++].bytes = bytes;
    n->kept_flits += crossbar_flits(n->requests, bytes);
}

/* Has it done something that the others may see? */
static bool is_seen(const struct sm *c) { return c->head.deferred | c->head.blocks_ended | c->net.kept_count; }

bool sm_run_ahead(struct sm *c, uint64_t end)
{
    bool alone = !c->regroup && !c->observer && crossbar_input_empty(c->net.requests, c->head.port);
    if (is_seen(c) || !alone || !c->blocks.used) /* without a block: the launch may end at any time */
        return false;
    c->net.ahead = true;
    while (*c->wake_at < end && !is_seen(c))
        sm_cycle(c, *c->wake_at);
    c->net.ahead = false;
    return is_seen(c);
}

void sm_catch_up(struct sm *c)
{
    struct sm_network *n = &c->net;
    for (uint32_t i = 0; i < n->kept_count; i++)
        crossbar_push(n->requests, c->head.port, n->kept[i].packet.slice, &n->kept[i].packet, n->kept[i].bytes,
                      *n->now);
    n->kept_count = n->kept_flits = 0;
}

uint64_t sm_now(const struct sm *c) { return c->now; }
