/* A crossbar written the slow and obvious way, to compare the real one with: every flit is moved by itself, every port
 * looked at in every matching, no sleeping. */
#ifndef HEDDLE_TESTS_CROSSBAR_REFERENCE_H
#define HEDDLE_TESTS_CROSSBAR_REFERENCE_H

#include "mem/network.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_PACKETS = 4096 };

struct reference_packet {
    uint32_t token, flits, sent, output;
    uint64_t pushed, ready;
};
struct reference_queue {
    struct reference_packet at[REFERENCE_PACKETS];
    uint32_t count;
};

struct reference {
    struct network_config config;
    uint32_t inputs, outputs;
    struct reference_queue *input, *output;                      /* output: wholly sent, arrived once ready */
    int holder[NETWORK_PORTS_MOST];                              /* of an output; -1: none */
    uint32_t next[NETWORK_PORTS_MOST], held[NETWORK_PORTS_MOST]; /* held: places of an output's buffer */
    uint64_t now;
    struct network_counters counters;
};

static inline struct reference *reference_create(const struct network_config *config, uint32_t inputs, uint32_t outputs)
{
    struct reference *r = calloc(1, sizeof *r);
    assert(r);
    *r = (struct reference){.config = *config, .inputs = inputs, .outputs = outputs};
    r->input = calloc(inputs, sizeof *r->input);
    r->output = calloc(outputs, sizeof *r->output);
    assert(r->input && r->output);
    for (uint32_t o = 0; o < outputs; o++)
        r->holder[o] = -1;
    return r;
}

static inline void reference_free(struct reference *r)
{
    free(r->input);
    free(r->output);
    free(r);
}

static inline void reference_remove_first(struct reference_queue *q)
{
    memmove(q->at, q->at + 1, --q->count * sizeof *q->at);
}

static inline uint32_t reference_input_flits(const struct reference *r, uint32_t input)
{
    uint32_t flits = 0;
    for (uint32_t i = 0; i < r->input[input].count; i++)
        flits += r->input[input].at[i].flits - r->input[input].at[i].sent;
    return flits;
}

static inline bool reference_has_room(const struct reference *r, uint32_t input, uint32_t flits)
{
    return r->input[input].count == 0 || reference_input_flits(r, input) + flits <= r->config.input_flits;
}

static inline void reference_push(struct reference *r, uint32_t input, uint32_t output, uint32_t token, uint32_t flits,
                                  uint64_t now)
{
    struct reference_queue *q = &r->input[input];
    assert(q->count < REFERENCE_PACKETS);
    q->at[q->count++] = (struct reference_packet){.token = token, .flits = flits, .output = output, .pushed = now};
    r->counters.packets_in++;
    r->counters.flits_in += flits;
}

static inline int reference_choose(const struct reference *r, uint32_t output, const bool *asks)
{
    for (uint32_t i = 0; i < r->inputs; i++) {
        uint32_t input = (r->next[output] + i) % r->inputs;
        if (asks[input] && r->input[input].at[0].output == output)
            return (int)input;
    }
    return -1;
}

/* A packet sends nothing in the cycle of its push, but where all happens at once. */
static inline bool reference_may_move(const struct reference *r, uint32_t input)
{
    return r->input[input].count && r->input[input].at[0].pushed + (r->config.hop_cycles ? 1 : 0) <= r->now;
}

/* One matching; asks: inputs with a packet that may move in it. */
static inline void reference_match(struct reference *r, bool *moved)
{
    bool asks[NETWORK_PORTS_MOST];
    for (uint32_t i = 0; i < r->inputs; i++)
        asks[i] = reference_may_move(r, i);
    for (uint32_t o = 0; o < r->outputs; o++) {
        struct reference_queue *out = &r->output[o];
        if (r->held[o] >= r->config.output_flits && out->count)
            continue;
        int input = r->holder[o] >= 0 ? r->holder[o] : reference_choose(r, o, asks);
        if (input < 0)
            continue;
        if (r->holder[o] < 0)
            r->next[o] = ((uint32_t)input + 1) % r->inputs;
        struct reference_packet *p = &r->input[input].at[0];
        moved[input] = true;
        asks[input] = false;
        r->held[o]++;
        r->holder[o] = input;
        if (++p->sent < p->flits)
            continue;
        r->holder[o] = -1;
        p->ready = r->now + r->config.hop_cycles;
        assert(out->count < REFERENCE_PACKETS);
        out->at[out->count++] = *p;
        reference_remove_first(&r->input[input]);
    }
}

static inline void reference_cycle(struct reference *r, uint64_t now)
{
    bool stood[NETWORK_PORTS_MOST], moved[NETWORK_PORTS_MOST] = {false};
    r->now = now;
    for (uint32_t i = 0; i < r->inputs; i++)
        stood[i] = reference_may_move(r, i);
    for (uint32_t s = 0; s < r->config.speedup; s++)
        reference_match(r, moved);
    for (uint32_t i = 0; i < r->inputs; i++)
        r->counters.stalls += stood[i] && !moved[i];
    for (uint32_t o = 0; o < r->outputs; o++)
        for (uint32_t i = 0; i < r->output[o].count; i++)
            if (r->output[o].at[i].ready == now) {
                r->counters.packets_out++;
                r->counters.flits_out += r->output[o].at[i].flits;
            }
}

/* The packet that can be taken, or NULL. */
static inline const struct reference_packet *reference_front(const struct reference *r, uint32_t output)
{
    const struct reference_queue *q = &r->output[output];
    return q->count && q->at[0].ready <= r->now ? &q->at[0] : NULL;
}

static inline void reference_pop(struct reference *r, uint32_t output)
{
    r->held[output] -= r->output[output].at[0].flits;
    reference_remove_first(&r->output[output]);
}

#endif
