/* One direction of the interconnect: packets enter at inputs, each for one output, and leave there whole.
 *
 * This header has what all networks share: a queue at each input and each output, and the functions by which packets
 * enter and leave. Both are called all the time, so they are inline and their data is plain. What lies between the
 * queues is one file per network (crossbar.c, router.c, mesh.c) with one row in networks.def. docs/add-a-network.md
 * shows how to write one.
 *
 * Time. Network cycles are counted from 0. network_cycle(n, c) runs cycle c; it may be left out while network_idle. A
 * packet is pushed in a cycle: it matters to the network from that cycle + ask_cycles on, whether the push was made
 * before or after network_cycle of the same cycle. The owner of an input, who pushes to it, may be in a later cycle
 * than the network. One thread may push to each input between two cycles, and one takes from the outputs.
 *
 * Room. A packet is cut into flits. It enters an input whole, if all its flits have room, or if the input is empty. Its
 * flits leave the input in order and one by one: the network writes down the cycle after that of each (left_at), as
 * soon as it knows it. An output holds what has been sent to it until the packet is taken.
 *
 * What a network promises, in fields that its `create` sets, and what others make of it:
 *
 *   ask_cycles        a packet matters so many cycles after its push: how long the network may sleep
 *   flits_per_cycle   an input gives no more flits than that in a cycle: when it can have room at the earliest
 *   least_cycles      a packet that is pushed before cycle c cannot be taken before network_cycle(c + least_cycles)
 *   foreseen_cycles   a packet is placed at its output as soon as its last flit leaves the input, and arrives so many
 *                     cycles later, whatever others do. 0 means that arrivals are not known before their cycle */
#ifndef HEDDLE_MEM_NETWORK_H
#define HEDDLE_MEM_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/invariant.h"
#include "mem/config.h"
#include "mem/packet.h"

/* in: pushed; out: arrived at an output, as whole packets; stalls: input cycles with a packet that could not move. */
struct network_counters {
#define NETWORK_COUNT(field, name, unit, sample, help, nsight) uint64_t field;
#include "heddle/metrics.def"
};

enum { NETWORK_PORTS_MOST = 256, NETWORK_WORDS = NETWORK_PORTS_MOST / 64 };
enum network_direction { NETWORK_REQUESTS /* from cores to slices */, NETWORK_REPLIES };

struct network_packet {
    struct packet packet;
    uint64_t pushed;
    uint32_t flits;
    uint32_t output;
};

struct network_input {
    _Alignas(64) struct network_packet *slots;
    uint64_t head, tail;     /* packets that the network is done with, packets pushed */
    uint64_t flits_in, left; /* flits pushed, flits whose cycle of leaving is known: both only grow */
    uint64_t *left_at;       /* of the last ones: the network cycle after it */
    uint64_t entry_free;     /* entry_bytes: the first cycle in which its owner may begin with another packet */
};

struct arrival {
    struct packet packet;
    uint64_t ready; /* the cycle in which it arrives; UINT64_MAX means not known yet */
    uint32_t flits;
};

struct network_output {
    struct arrival *slots;
    uint64_t head, tail; /* packets taken, packets placed: both only grow */
    uint32_t flits;      /* places taken in the buffer */
    bool is_awaited;     /* the network waits for a packet to be taken (network_await_taken) */
};

struct network {
    /* What owners look at all the time. */
    uint64_t waiting[NETWORK_WORDS]; /* outputs with a packet to take */
    uint64_t now;                    /* the last network cycle */
    uint64_t work_at;                /* the network has no work before this cycle, even if nothing is pushed */
    uint64_t fresh_at;               /* no packet pushed to an empty input matters before this cycle; all who push write
                                        it. UINT64_MAX means that there is none */
    uint64_t last_arrival;           /* the last cycle in which a packet that has been placed arrives */
    uint32_t standing;               /* inputs that wait until the next cycle with work: one stall each per cycle */

    /* Const after create: its shape, and the promises above. */
    uint32_t flit_bytes;
    uint32_t input_room;  /* flits that an input takes */
    uint32_t entry_bytes; /* what enters an input in a cycle; 0 means all at once */
    uint32_t ask_cycles, flits_per_cycle, least_cycles, foreseen_cycles;
    uint32_t arrival_cycles; /* from placing a packet to its arrival at most, where that is known then */
    uint32_t inputs, outputs, input_words, output_words;
    uint32_t input_mask, output_mask, arriving_mask; /* sizes of rings, less 1 */
    enum network_direction direction;

    /* The queues. */
    struct network_input *input;
    struct network_output *output;
    uint64_t *arriving;                 /* of a cycle: outputs at which a packet arrives then */
    uint8_t fresh[NETWORK_PORTS_MOST];  /* inputs that were empty when they were pushed to: bytes, since threads push */
    uint64_t gave[NETWORK_WORDS];       /* inputs that have given flits since owners last looked for room */
    uint64_t taken_from[NETWORK_WORDS]; /* awaited outputs of which a packet has been taken */

    uint64_t stalls, worked; /* stalls up to the last cycle with work, and that cycle */
    uint64_t flits_placed;   /* of all packets that were placed at outputs */
    const struct network_ops *ops;
    void *state; /* the network's own */
    struct network_counters *sums;
};

/* Two keys that do not fit together, and why. */
struct network_misfit {
    const uint32_t *fields[2]; /* of the configuration; the second may be NULL */
    char text[256];
};

/* What a network is: the functions of its file. */
struct network_ops {
    /* Makes the state, and sets the promises, input_room and arrival_cycles. Numbers of ports are there already. */
    void *(*create)(struct network *n, struct arena *a, const struct network_config *config);
    /* Runs a cycle in which it has something to do (work_at), or in which a fresh input may ask (fresh_at). It may be
     * called in other cycles too, and must then change nothing. */
    void (*work)(struct network *n, uint64_t now);
    /* Whether keys that it reads fit together. NULL means that they always do. */
    bool (*fits)(const struct network_config *config, struct network_misfit *why);
};

struct network *network_create(struct arena *a, const struct network_config *config, enum network_direction direction,
                               uint32_t inputs, uint32_t outputs);
bool network_fits(const struct network_config *config, struct network_misfit *why);
bool network_is_empty(const struct network *n); /* nothing inside, and nothing waits at an output */
const struct network_counters *network_counters(const struct network *n);

/* Owners' clocks. */

/* The clock of a network, seen from that of its owners, whose cycles come after those of the network at the same time.
 */
struct network_clock {
    uint64_t owner_period, period; /* of a cycle, in the same unit */
    uint64_t whole;                /* network cycles per cycle of an owner; 0 means that it is no whole number */
};

/* The first network cycle after an owner's cycle. */
static inline uint64_t network_tick(const struct network_clock *c, uint64_t cycle)
{
    return (c->whole ? cycle * c->whole : cycle * c->owner_period / c->period) + 1;
}

/* Room at inputs. */

static inline uint32_t network_flits(const struct network *n, uint32_t bytes)
{
    return bytes <= n->flit_bytes ? 1 : (bytes + n->flit_bytes - 1) / n->flit_bytes;
}

/* The first network cycle before which an input has room for so many flits after all that have been pushed. UINT64_MAX
 * means that it is not known yet. A packet that is larger than the input has room when all else has left. */
static inline uint64_t network_room_from(const struct network *n, uint32_t input, uint32_t flits)
{
    const struct network_input *in = &n->input[input];
    uint32_t most = flits < n->input_room ? n->input_room - flits : 0;
    if (in->flits_in <= most)
        return 0;
    uint64_t must_leave = in->flits_in - most;
    return in->left < must_leave ? UINT64_MAX : in->left_at[(must_leave - 1) & n->input_mask];
}

/* The same as a question; `tick` is the number of the owner's next network cycle. */
static inline bool network_has_room_at(const struct network *n, uint32_t input, uint32_t bytes, uint64_t tick)
{
    return network_room_from(n, input, network_flits(n, bytes)) <= tick;
}

static inline bool network_has_room(const struct network *n, uint32_t input, uint32_t bytes)
{
    return network_has_room_at(n, input, bytes, n->now + 1);
}

static inline bool network_input_is_empty(const struct network *n, uint32_t input)
{
    return network_room_from(n, input, n->input_room) <= n->now + 1;
}

/* Whether flits are still in an input, though it is known in which cycle each of them leaves. */
static inline bool network_is_leaving(const struct network *n, const struct network_input *in)
{
    return in->left && in->left_at[(in->left - 1) & n->input_mask] > n->now + 1;
}

/* The network cycle from `now` on, which is its next one, before which an input has room for a packet. If that is not
 * known yet: one before which it has none, since flits leave one after the other. */
static inline uint64_t network_may_have_room_at(const struct network *n, uint32_t input, uint32_t bytes, uint64_t now)
{
    const struct network_input *in = &n->input[input];
    uint32_t flits = network_flits(n, bytes), most = flits < n->input_room ? n->input_room - flits : 0;
    uint64_t must_leave = in->flits_in - most, at = 0;
    if (in->flits_in <= most)
        return now;
    if (in->left >= must_leave) {
        at = in->left_at[(must_leave - 1) & n->input_mask];
        return at > now ? at : now;
    }
    uint64_t unknown = must_leave - in->left;
    if (in->left)
        at = in->left_at[(in->left - 1) & n->input_mask] + unknown / n->flits_per_cycle;
    now += (unknown + n->flits_per_cycle - 1) / n->flits_per_cycle;
    return at > now ? at : now;
}

/* Whoever waits for room has looked at all inputs in `gave`: those that give no more flits are taken out of it. */
static inline void network_forget_given(struct network *n)
{
    for (uint32_t w = 0; w < n->input_words; w++)
        for (uint64_t left = n->gave[w]; left; left &= left - 1)
            if (!network_is_leaving(n, &n->input[64 * w + (uint32_t)__builtin_ctzll(left)]))
                n->gave[w] &= ~(left & -left);
}

/* Packets enter. */

/* The first packet of an input is to be looked at. Threads that push are in different cycles: the earliest counts. */
static inline void network_note_fresh(struct network *n, uint32_t input, uint64_t pushed)
{
    n->fresh[input] = 1;
    uint64_t at = pushed + n->ask_cycles, seen = __atomic_load_n(&n->fresh_at, __ATOMIC_RELAXED);
    while (seen > at && !__atomic_compare_exchange_n(&n->fresh_at, &seen, at, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* The cycle in which the last of a packet enters an input, if its first part may in this one. */
static inline uint64_t network_entry(const struct network *n, struct network_input *in, uint32_t bytes, uint64_t now)
{
    if (!n->entry_bytes)
        return now;
    uint64_t first = in->entry_free > now ? in->entry_free : now, last = first + (bytes - 1) / n->entry_bytes;
    in->entry_free = last + 1;
    return last;
}

static inline void network_push(struct network *n, uint32_t input, uint32_t output, const struct packet *p,
                                uint32_t bytes, uint64_t now)
{
    struct network_input *in = &n->input[input];
    uint32_t flits = network_flits(n, bytes);
    invariant(output < n->outputs && in->tail - in->head <= n->input_mask);
    uint64_t pushed = network_entry(n, in, bytes, now);
    if (in->head == in->tail)
        network_note_fresh(n, input, pushed);
    in->slots[in->tail++ & n->input_mask] =
        (struct network_packet){.packet = *p, .pushed = pushed, .flits = flits, .output = output};
    in->flits_in += flits;
}

/* Packets leave. */

static inline bool network_waits_at(const struct network *n, uint32_t output)
{
    return n->waiting[output / 64] >> (output % 64) & 1;
}

/* The packet that waits at an output; there is one. */
static inline struct packet *network_first(struct network *n, uint32_t output)
{
    return &n->output[output].slots[n->output[output].head & n->output_mask].packet;
}

/* The packet that waits at an output, or NULL. */
static inline struct packet *network_front(struct network *n, uint32_t output)
{
    return network_waits_at(n, output) ? network_first(n, output) : NULL;
}

static inline void network_pop(struct network *n, uint32_t output)
{
    struct network_output *out = &n->output[output];
    invariant(network_waits_at(n, output));
    out->flits -= out->slots[out->head++ & n->output_mask].flits;
    if (out->head == out->tail || out->slots[out->head & n->output_mask].ready > n->now)
        n->waiting[output / 64] &= ~(1ull << output % 64);
    if (!out->is_awaited)
        return;
    out->is_awaited = false;
    n->taken_from[output / 64] |= 1ull << output % 64;
    n->work_at = 0;
}

/* No packet waits at the output, and arrivals are foreseen: none arrives before this cycle. next: the next cycle. */
static inline uint64_t network_arrives_at(const struct network *n, uint32_t output, uint64_t next)
{
    const struct network_output *out = &n->output[output];
    const struct arrival *first = &out->slots[out->head & n->output_mask];
    uint64_t at = next + n->foreseen_cycles;
    return out->head != out->tail && first->ready < at ? first->ready : at;
}

/* Cycles. */

/* Nothing inside that still moves: all queues are empty, but for packets that wait at outputs. */
static inline bool network_idle(const struct network *n)
{
    return (n->work_at & n->fresh_at) == UINT64_MAX && !n->standing && n->last_arrival <= n->now;
}

/* The next network cycle in which anything can happen inside, or an earlier one. UINT64_MAX means network_idle. */
static inline uint64_t network_next(const struct network *n)
{
    return n->work_at == UINT64_MAX && !n->standing && n->last_arrival <= n->now ? n->fresh_at : 0;
}

static inline void network_let_arrive(struct network *n, uint64_t now)
{
    uint64_t *arriving = &n->arriving[(now & n->arriving_mask) * n->output_words];
    n->waiting[0] |= arriving[0];
    arriving[0] = 0;
    for (uint32_t w = 1; w < n->output_words; w++) {
        n->waiting[w] |= arriving[w];
        arriving[w] = 0;
    }
}

/* One network cycle; skipped freely while network_idle. */
static inline void network_cycle(struct network *n, uint64_t now)
{
    if (now <= n->last_arrival)
        network_let_arrive(n, now);
    n->now = now;
    if (now >= n->work_at || now >= n->fresh_at)
        n->ops->work(n, now);
}

/* For networks: what their `work` does with the queues. */

/* The first packet that the network is not done with; there is one if head != tail. */
static inline const struct network_packet *network_first_in(const struct network *n, const struct network_input *in)
{
    return &in->slots[in->head & n->input_mask];
}

/* Of the inputs 64 * word and up: those that were empty and have been pushed to, once each. The caller has set fresh_at
 * to UINT64_MAX, and calls network_note_fresh again for an input whose packet does not matter yet. */
static inline uint64_t network_take_fresh(struct network *n, uint32_t word)
{
    uint64_t bits = 0, eight;
    for (uint32_t i = 64 * word; i < n->inputs && i < 64 * (word + 1); i += 8) {
        memcpy(&eight, n->fresh + i, 8);
        if (!eight)
            continue;
        memset(n->fresh + i, 0, 8);
        bits |= (eight * 0x0102040810204080 >> 56) << i % 64; /* a bit for each byte; hosts are little-endian */
    }
    return bits;
}

/* The next flit of an input leaves in this cycle, or flits leave in this and those that follow. */
static inline void network_flit_leaves(const struct network *n, struct network_input *in, uint64_t cycle)
{
    in->left_at[in->left++ & n->input_mask] = cycle + 1;
}
static inline void network_flits_leave(const struct network *n, struct network_input *in, uint64_t cycle,
                                       uint32_t flits)
{
    uint64_t *left_at = in->left_at, first = in->left, mask = n->input_mask;
    in->left = first + flits;
    for (uint64_t k = first; k != first + flits; k++)
        left_at[k & mask] = ++cycle;
}

/* After that: those who wait for room in the input look again. */
static inline void network_note_given(struct network *n, uint32_t input) { n->gave[input / 64] |= 1ull << input % 64; }

/* The network finds an output full: it has work again when a packet is taken (taken_from). */
static inline void network_await_taken(struct network *n, uint32_t output) { n->output[output].is_awaited = true; }

/* A packet gets its place in an output's queue; the caller counts its flits (output.flits) as they come. It arrives in
 * the cycle `ready`, which the caller then says (network_arrive). UINT64_MAX means that it is not known yet. */
static inline void network_place(struct network *n, uint32_t output, const struct packet *p, uint32_t flits,
                                 uint64_t ready)
{
    struct network_output *out = &n->output[output];
    struct arrival *place = &out->slots[out->tail++ & n->output_mask];
    place->packet = *p;
    place->flits = flits;
    place->ready = ready;
    n->flits_placed += flits;
}

/* A packet, which comes after those placed before it, arrives at its output in this cycle. */
static inline void network_arrive(struct network *n, uint32_t output, uint64_t ready)
{
    uint64_t *words = ready > n->now ? &n->arriving[(ready & n->arriving_mask) * n->output_words] : n->waiting;
    words[output / 64] |= 1ull << output % 64;
    n->last_arrival = ready;
}

#endif
