/* An input-queued router written the slow and obvious way, to compare the real one with: every flit is an object that
 * stands in one of many queues, every stage of every port is looked at in every step. */
#ifndef HEDDLE_TESTS_ROUTER_REFERENCE_H
#define HEDDLE_TESTS_ROUTER_REFERENCE_H

#include "mem/network.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOW_FLITS = 512, SLOW_PORTS = 130, NO_PORT = -1 };

struct slow_flit {
    uint32_t token, flits, output;
    bool head, tail;
    uint64_t at; /* cycle from which it may go on */
};
struct slow_queue {
    struct slow_flit flit[SLOW_FLITS];
    uint32_t count;
};

struct slow_router {
    struct network_config config;
    uint32_t inputs, outputs, link_in, link_out;
    struct slow_queue *injection, *link, *buffer; /* of an input */
    struct slow_queue *switched, *leaving, *landed,
        *port; /* of an output: through the switch, on the link, in the buffer, in the port's queue */
    struct slow_queue *freed_in, *news_in, *news_out; /* places: to be told of, on the way */
    uint32_t used_in[SLOW_PORTS], used_out[SLOW_PORTS];
    int owner[SLOW_PORTS], has[SLOW_PORTS]; /* input that an output belongs to, output that an input has */
    uint32_t next[SLOW_PORTS];
    struct network_counters counters;
};

static inline struct slow_flit slow_pop(struct slow_queue *q)
{
    struct slow_flit first = q->flit[0];
    assert(q->count);
    memmove(q->flit, q->flit + 1, --q->count * sizeof *q->flit);
    return first;
}

static inline void slow_push(struct slow_queue *q, struct slow_flit f, uint64_t at)
{
    assert(q->count < SLOW_FLITS);
    f.at = at;
    q->flit[q->count++] = f;
}

static inline bool slow_due(const struct slow_queue *q, uint64_t now) { return q->count && q->flit[0].at <= now; }

static inline struct slow_router *slow_create(const struct network_config *c, uint32_t inputs, uint32_t outputs)
{
    struct slow_router *r = calloc(1, sizeof *r);
    assert(r && inputs <= SLOW_PORTS && outputs <= SLOW_PORTS);
    *r = (struct slow_router){.config = *c,
                              .inputs = inputs,
                              .outputs = outputs,
                              .link_in = c->hop_cycles / 2,
                              .link_out = c->hop_cycles - c->hop_cycles / 2};
    struct slow_queue **all[] = {&r->injection, &r->link, &r->buffer,   &r->switched, &r->leaving,
                                 &r->landed,    &r->port, &r->freed_in, &r->news_in,  &r->news_out};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i] = calloc(SLOW_PORTS, sizeof **all[i]);
        assert(*all[i]);
    }
    for (uint32_t p = 0; p < SLOW_PORTS; p++)
        r->owner[p] = r->has[p] = NO_PORT;
    return r;
}

static inline void slow_free(struct slow_router *r)
{
    struct slow_queue *all[] = {r->injection, r->link, r->buffer,   r->switched, r->leaving,
                                r->landed,    r->port, r->freed_in, r->news_in,  r->news_out};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(r);
}

static inline bool slow_has_room(const struct slow_router *r, uint32_t input, uint32_t flits)
{
    return !r->injection[input].count || r->injection[input].count + flits <= r->config.injection_flits;
}

static inline void slow_send(struct slow_router *r, uint32_t input, uint32_t output, uint32_t token, uint32_t flits)
{
    for (uint32_t i = 0; i < flits; i++)
        slow_push(&r->injection[input],
                  (struct slow_flit){
                      .token = token, .flits = flits, .output = output, .head = i == 0, .tail = i + 1 == flits},
                  0);
    r->counters.packets_in++;
    r->counters.flits_in += flits;
}

static inline uint32_t slow_complete(const struct slow_router *r, uint32_t output)
{
    uint32_t packets = 0;
    for (uint32_t i = 0; i < r->port[output].count; i++)
        packets += r->port[output].flit[i].tail;
    return packets;
}

static inline uint32_t slow_front(const struct slow_router *r, uint32_t output)
{
    return slow_complete(r, output) ? r->port[output].flit[0].token : 0;
}

static inline void slow_take(struct slow_router *r, uint32_t output)
{
    while (!slow_pop(&r->port[output]).tail)
        ;
}

/* Ejection and injection. */
static inline void slow_ports(struct slow_router *r, uint64_t now)
{
    for (uint32_t o = 0; o < r->outputs; o++) {
        if (slow_due(&r->leaving[o], now))
            slow_push(&r->landed[o], slow_pop(&r->leaving[o]), 0);
        if (slow_due(&r->news_out[o], now)) {
            slow_pop(&r->news_out[o]);
            r->used_out[o]--;
        }
        if (!r->landed[o].count || (r->port[o].count >= r->config.ejection_flits && slow_complete(r, o)))
            continue;
        struct slow_flit f = slow_pop(&r->landed[o]);
        slow_push(&r->port[o], f, 0);
        slow_push(&r->news_out[o], f, now + r->link_out);
        r->counters.packets_out += f.tail;
        r->counters.flits_out += f.tail ? f.flits : 0;
    }
    for (uint32_t i = 0; i < r->inputs; i++) {
        if (slow_due(&r->link[i], now))
            slow_push(&r->buffer[i], slow_pop(&r->link[i]), 0);
        if (slow_due(&r->news_in[i], now)) {
            slow_pop(&r->news_in[i]);
            r->used_in[i]--;
        }
        if (!r->injection[i].count || r->used_in[i] >= r->config.input_flits - r->config.injection_flits)
            continue;
        slow_push(&r->link[i], slow_pop(&r->injection[i]), now + r->link_in);
        r->used_in[i]++;
    }
}

static inline void slow_step(struct slow_router *r, uint64_t now, bool last, bool *moved)
{
    int gets[SLOW_PORTS];
    bool moves[SLOW_PORTS] = {false};
    for (uint32_t o = 0; o < r->outputs; o++) {
        gets[o] = NO_PORT;
        for (uint32_t n = 0; r->owner[o] == NO_PORT && n < r->inputs && gets[o] == NO_PORT; n++) {
            uint32_t i = (r->next[o] + n) % r->inputs;
            if (r->has[i] == NO_PORT && r->buffer[i].count && r->buffer[i].flit[0].output == o)
                gets[o] = (int)i;
        }
    }
    for (uint32_t i = 0; i < r->inputs; i++)
        moves[i] = r->has[i] != NO_PORT && r->buffer[i].count &&
                   r->used_out[r->has[i]] < r->config.output_flits - r->config.ejection_flits;
    for (uint32_t o = 0; o < r->outputs; o++)
        if (gets[o] != NO_PORT) {
            assert(r->buffer[gets[o]].flit[0].head);
            r->owner[o] = gets[o];
            r->has[gets[o]] = (int)o;
            r->next[o] = ((uint32_t)gets[o] + 1) % r->inputs;
        }
    for (uint32_t i = 0; i < r->inputs; i++) {
        if (!moves[i])
            continue;
        struct slow_flit f = slow_pop(&r->buffer[i]);
        slow_push(&r->switched[f.output], f, last ? now + 1 : now);
        slow_push(&r->freed_in[i], f, 0);
        r->used_out[f.output]++;
        moved[i] = true;
        if (f.tail)
            r->owner[f.output] = r->has[i] = NO_PORT;
    }
}

static inline void slow_cycle(struct slow_router *r, uint64_t now)
{
    bool standing[SLOW_PORTS], moved[SLOW_PORTS] = {false};
    slow_ports(r, now);
    for (uint32_t i = 0; i < r->inputs; i++)
        standing[i] = r->buffer[i].count;
    for (uint32_t s = 0; s < r->config.speedup; s++)
        slow_step(r, now, s + 1 == r->config.speedup, moved);
    for (uint32_t o = 0; o < r->outputs; o++)
        if (slow_due(&r->switched[o], now))
            slow_push(&r->leaving[o], slow_pop(&r->switched[o]), now + r->link_out);
    for (uint32_t i = 0; i < r->inputs; i++) {
        if (r->freed_in[i].count)
            slow_push(&r->news_in[i], slow_pop(&r->freed_in[i]), now + r->link_in);
        r->counters.stalls += standing[i] && !moved[i];
    }
}

#endif
