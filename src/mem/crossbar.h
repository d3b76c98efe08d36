/* One direction of the interconnect: a single-stage crossbar. A packet is cut into flits; an input sends one flit a
 * cycle (times speedup) to the output that granted it, and an output is held by a packet from its first flit to its
 * last. Arbitration is iSLIP with one iteration: each free output grants one asking input from a rotating pointer, each
 * input accepts one grant from a rotating pointer. An input has one queue (one virtual channel): its first packet
 * blocks those after it.
 *
 * Time: a packet pushed in network cycle n sends its first flit in crossbar_cycle(n + 1) at the earliest, whether it
 * was pushed before or after crossbar_cycle(n); a flit sent in cycle t has arrived after crossbar_cycle(t +
 * hop_cycles), and a packet can be taken when its last flit has. In an empty network a packet of k flits can be taken
 * after crossbar_cycle(n + hop_cycles + ceil(k / speedup)). Flits on their way already hold their place in the output's
 * buffer, a packet taken gives back its places at once. A packet larger than a buffer passes through it when nothing
 * else is in it.
 *
 * hop_cycles = 0 is the network of GPGPU-Sim 3.0 to 3.2, all of whose stages work in one cycle: a packet pushed before
 * crossbar_cycle(n) may send its first flit in it, and what is sent has arrived after it. In an empty network a packet
 * of k flits can then be taken after crossbar_cycle(n + ceil(k / speedup) - 1).
 *
 * Where the configuration says how much enters an input in a cycle (request_flit_bytes), packets enter one after the
 * other, and one that takes k cycles counts as pushed in the last of them.
 *
 * Left out: routing and credit delays beyond hop_cycles, and that a port moves no more than one flit a cycle, whatever
 * the speedup inside. Both are there where the configuration names the queues at the ports (injection_flits): then what
 * is between them is that of router.c, an input has room as long as the queue in front of it has, and a packet pushed
 * before crossbar_cycle(n) may be on its way in it. */
#ifndef HEDDLE_MEM_CROSSBAR_H
#define HEDDLE_MEM_CROSSBAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/invariant.h"
#include "mem/config.h"
#include "mem/packet.h"

/* in: pushed; out: arrived at an output, as whole packets; stalls: input cycles with a packet that could not move. */
struct crossbar_counters {
#define CROSSBAR_COUNT(field, name, unit, sample, help, nsight) uint64_t field;
#include "heddle/metrics.def"
};

enum { CROSSBAR_PORTS_MOST = 256, CROSSBAR_WORDS = CROSSBAR_PORTS_MOST / 64 };

struct crossbar; /* opaque, but for its head */

struct crossing {
    struct packet packet;
    uint64_t pushed;
    uint32_t flits;
    uint32_t output;
};

struct crossbar_input {
    _Alignas(64) struct crossing *slots, *first; /* first: the packet that asks, or leaves */
    uint64_t head, tail;                         /* packets that have left, packets pushed: both only grow */
    uint64_t
        gone_at; /* the first packet leaves flit by flit, one a matching; all of it has left before this matching */
    uint64_t moved_at;   /* the last network cycle in which a packet began or ended to leave, or a flit left for which
                            there was little room */
    uint32_t flits;      /* in the buffer, without those counted by gone_at */
    uint32_t sent;       /* flits of a packet that leaves as the output has room for it */
    uint64_t flits_in;   /* flits pushed: only grows */
    uint64_t left;       /* flits that have left, or whose time to leave is known: the same */
    uint64_t *left_at;   /* of the last ones: the network cycle after it */
    uint64_t entry_free; /* entry_bytes: the first cycle in which its owner may begin with another packet */
};

struct arrival {
    struct packet packet;
    uint64_t ready;
    uint32_t flits;
};

enum { CROSSBAR_NO_INPUT = UINT16_MAX };

struct crossbar_output {
    struct arrival *slots;
    uint32_t head, tail;             /* packets taken, packets wholly sent: both only grow */
    uint32_t flits;                  /* places taken in the buffer, by a packet that has room at once */
    uint16_t holder;                 /* input whose packet is half through, or CROSSBAR_NO_INPUT */
    uint16_t next;                   /* input that is asked first for the next packet */
    bool full;                       /* found without room: until a packet is taken */
    bool busy;                       /* full, or with a packet that leaves, all of which has room: nobody is served */
    uint64_t asking[CROSSBAR_WORDS]; /* inputs, without the holder */
};

/* What is asked for all the time, and what packets enter and leave by, so that that costs no call. */
struct crossbar_head {
    uint64_t waiting[CROSSBAR_WORDS]; /* outputs with a packet to take */
    uint64_t now;                     /* the last network cycle */
    uint64_t matchings;               /* that it has ended: speedup for each cycle */
    uint32_t standing; /* inputs whose first packet waits for an output, after the last cycle that was looked at */
    uint32_t flit_bytes, input_flits, speedup;
    uint32_t entry_bytes; /* 0, or what enters an input in a cycle */
    uint32_t ask_cycles;  /* from a push to the first cycle that it matters for */
    /* A packet that leaves its input arrives so many cycles later, whatever others do. 0 means that no arrival is known
     * before its cycle: the network has hop_cycles = 0, or a router, in which others may hold a packet up. */
    uint32_t foreseen_cycles;
    bool has_router;
    struct crossbar_input *input;
    uint64_t match_at; /* no output can be served, and no packet ends to leave, before this cycle, even if nothing is
                          pushed */
    uint64_t last_arrival; /* the last cycle in which a packet that has left arrives */
    uint64_t *arriving;    /* a cycle: outputs at which a packet arrives then */
    uint32_t arriving_mask, output_words;
    struct crossbar_output *output;
    uint64_t open[CROSSBAR_WORDS]; /* outputs that somebody asks for, or that are sent to flit by flit, and that may
                                      have room */
    uint32_t outputs, input_mask, output_mask, left_mask;
    uint8_t fresh[CROSSBAR_PORTS_MOST]; /* inputs whose first packet has not asked yet */
    /* Inputs that have given flits since they were last looked at (crossbar_forget_given): no other can have more room
     * than it had then. */
    uint64_t gave[CROSSBAR_WORDS];
    uint64_t asks_at; /* some input may hold a first packet that has not been looked at, and that may ask from this
                         cycle on; written by all who push. UINT64_MAX: none */
};

static inline struct crossbar_head *crossbar_head(struct crossbar *x) { return (struct crossbar_head *)x; }
static inline const struct crossbar_head *crossbar_look(const struct crossbar *x)
{
    return (const struct crossbar_head *)x;
}

/* The clock of a network, seen from that of its owners, whose cycles come after those of the network at the same time.
 */
struct network_clock {
    uint64_t owner_period, period; /* of a cycle, in the same unit */
    uint64_t whole;                /* network cycles to a cycle of an owner, if they are that many; 0: they are not */
    const uint64_t *run_until;     /* the network has been run for all of its owners' cycles before this one */
};

/* Of an owner's cycle: the first network cycle after it. */
static inline uint64_t network_tick(const struct network_clock *c, uint64_t cycle)
{
    return (c->whole ? cycle * c->whole : cycle * c->owner_period / c->period) + 1;
}

/* The first cycle of an owner after which this network cycle is the next, or an earlier one. */
static inline uint64_t network_owner_cycle(const struct network_clock *c, uint64_t tick)
{
    return tick ? ((tick - 1) * c->period + c->owner_period - 1) / c->owner_period : 0;
}

struct crossbar *crossbar_create(struct arena *a, const struct crossbar_config *config, uint32_t inputs,
                                 uint32_t outputs);

/* From the start on, it is kept when flits leave their input, for owners who are in other cycles than the network. */
void crossbar_note_times(struct crossbar *x);

static inline uint32_t crossbar_flits(const struct crossbar *x, uint32_t bytes)
{
    uint32_t flit_bytes = crossbar_look(x)->flit_bytes;
    return bytes <= flit_bytes ? 1 : (bytes + flit_bytes - 1) / flit_bytes;
}

/* Flits in an input. */
static inline uint32_t crossbar_held(const struct crossbar_head *h, uint32_t input)
{
    const struct crossbar_input *in = &h->input[input];
    return in->flits + (in->gone_at > h->matchings ? (uint32_t)(in->gone_at - h->matchings) : 0);
}

/* Of a network that notes times: the first network cycle before which an input has room for so many flits after all
 * that have been pushed; UINT64_MAX: that is not known yet. What does not fit into it as a whole has room when all else
 * has left. */
static inline uint64_t crossbar_room_from(const struct crossbar *x, uint32_t input, uint32_t flits)
{
    const struct crossbar_head *h = crossbar_look(x);
    const struct crossbar_input *in = &h->input[input];
    uint32_t most = flits < h->input_flits ? h->input_flits - flits : 0;
    if (in->flits_in <= most)
        return 0;
    uint64_t must_leave = in->flits_in - most;
    return in->left < must_leave ? UINT64_MAX : in->left_at[(must_leave - 1) & h->left_mask];
}

/* An input is touched by its owner only: inputs may be pushed to by several threads at once (each by one), between two
 * crossbar_cycle. One thread takes from the outputs. The owner may be in an earlier cycle than the network, as long as
 * its input has not been empty since, or in a later one: `tick` is the number of the owner's next network cycle. */
static inline bool crossbar_has_room_at(const struct crossbar *x, uint32_t input, uint32_t bytes, uint64_t tick)
{
    return crossbar_room_from(x, input, crossbar_flits(x, bytes)) <= tick;
}

static inline bool crossbar_has_room(const struct crossbar *x, uint32_t input, uint32_t bytes)
{
    const struct crossbar_head *h = crossbar_look(x);
    uint32_t held = crossbar_held(h, input);
    return held == 0 || held + crossbar_flits(x, bytes) <= h->input_flits;
}

/* Of a packet for which an input has no room in the network cycle `now`: the first one, after it, in which it may have
 * some, as it gives no more than one flit a matching. */
static inline uint64_t crossbar_room_at(const struct crossbar *x, uint32_t input, uint32_t bytes, uint64_t now)
{
    const struct crossbar_head *h = crossbar_look(x);
    uint32_t held = crossbar_held(h, input), flits = crossbar_flits(x, bytes),
             most = flits < h->input_flits ? h->input_flits - flits : 0;
    return now + (held - most + h->speedup - 1) / h->speedup;
}

static inline bool crossbar_input_empty(const struct crossbar *x, uint32_t input)
{
    const struct crossbar_head *h = crossbar_look(x);
    return !h->input[input].flits && h->input[input].gone_at <= h->matchings;
}

/* Inputs that give no more flits are taken out of `gave`: who waits for room in one has looked. */
static inline void crossbar_forget_given(struct crossbar *x, uint32_t words)
{
    struct crossbar_head *h = crossbar_head(x);
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t left = h->gave[w]; left; left &= left - 1)
            if (h->input[64 * w + (uint32_t)__builtin_ctzll(left)].gone_at <= h->matchings)
                h->gave[w] &= ~(left & -left);
}

/* The first packet of an input has not been looked at. Threads that push are in different cycles: the earliest counts.
 */
static inline void crossbar_note_fresh(struct crossbar_head *h, uint32_t input, uint64_t pushed)
{
    h->fresh[input] = 1;
    uint64_t at = pushed + h->ask_cycles, seen = __atomic_load_n(&h->asks_at, __ATOMIC_RELAXED);
    while (seen > at && !__atomic_compare_exchange_n(&h->asks_at, &seen, at, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* The cycle in which the last of a packet enters an input, if its first part may in this one. */
static inline uint64_t crossbar_entry(const struct crossbar_head *h, struct crossbar_input *in, uint32_t bytes,
                                      uint64_t now)
{
    if (!h->entry_bytes)
        return now;
    uint64_t first = in->entry_free > now ? in->entry_free : now, last = first + (bytes - 1) / h->entry_bytes;
    in->entry_free = last + 1;
    return last;
}

static inline void crossbar_push(struct crossbar *x, uint32_t input, uint32_t output, const struct packet *p,
                                 uint32_t bytes, uint64_t now)
{
    struct crossbar_head *h = crossbar_head(x);
    struct crossbar_input *in = &h->input[input];
    uint32_t flits = crossbar_flits(x, bytes);
    invariant(output < h->outputs && in->tail - in->head <= h->input_mask);
    uint64_t pushed = crossbar_entry(h, in, bytes, now);
    if (in->head == in->tail)
        crossbar_note_fresh(h, input, pushed);
    in->slots[in->tail++ & h->input_mask] =
        (struct crossing){.packet = *p, .pushed = pushed, .flits = flits, .output = output};
    in->flits += flits;
    in->flits_in += flits;
}

/* Nothing inside that still moves: queues empty but for packets that wait at outputs. */
static inline bool crossbar_idle(const struct crossbar *x)
{
    const struct crossbar_head *h = crossbar_look(x);
    return (h->match_at & h->asks_at) == UINT64_MAX && !h->standing && h->last_arrival <= h->now;
}

/* The next network cycle in which anything can happen inside, or an earlier one; UINT64_MAX: crossbar_idle. */
static inline uint64_t crossbar_next(const struct crossbar *x)
{
    const struct crossbar_head *h = crossbar_look(x);
    return h->match_at == UINT64_MAX && !h->standing && h->last_arrival <= h->now ? h->asks_at : 0;
}

/* For so many network cycles at least, what comes after the packets that an input holds matters to nobody. */
static inline uint64_t crossbar_settled_cycles(const struct crossbar *x, uint32_t input)
{
    const struct crossbar_head *h = crossbar_look(x);
    const struct crossbar_input *in = &h->input[input];
    return h->has_router ? in->flits : h->speedup == 1 ? in->tail - in->head : (in->tail - in->head) / h->speedup;
}

bool crossbar_empty(const struct crossbar *x); /* nothing at all */

void crossbar_work(struct crossbar *x,
                   uint64_t now); /* of crossbar_cycle: the cycles in which a packet asks, begins or ends to leave */

static inline void crossbar_arrive(struct crossbar_head *h, uint64_t now)
{
    uint64_t *arriving = &h->arriving[(now & h->arriving_mask) * h->output_words];
    h->waiting[0] |= arriving[0];
    arriving[0] = 0;
    for (uint32_t w = 1; w < h->output_words; w++) {
        h->waiting[w] |= arriving[w];
        arriving[w] = 0;
    }
}

/* One network cycle; skipped freely while crossbar_idle. */
static inline void crossbar_cycle(struct crossbar *x, uint64_t now)
{
    struct crossbar_head *h = crossbar_head(x);
    if (now <= h->last_arrival)
        crossbar_arrive(h, now);
    h->now = now;
    h->matchings = (now + 1) * h->speedup;
    if (now >= h->match_at || now >= h->asks_at)
        crossbar_work(x, now);
}

static inline bool crossbar_waits_at(const struct crossbar *x, uint32_t output)
{
    return crossbar_look(x)->waiting[output / 64] >> (output % 64) & 1;
}
/* Where arrivals are foreseen and no packet waits: none arrives at the output before this cycle. next: the next one. */
static inline uint64_t crossbar_arrives_at(const struct crossbar *x, uint32_t output, uint64_t next)
{
    const struct crossbar_head *h = crossbar_look(x);
    const struct crossbar_output *out = &h->output[output];
    uint64_t at = next + h->foreseen_cycles;
    if (out->head != out->tail && out->slots[out->head & h->output_mask].ready < at)
        at = out->slots[out->head & h->output_mask].ready;
    return at;
}

/* There is one. */
static inline struct packet *crossbar_first(struct crossbar *x, uint32_t output)
{
    struct crossbar_output *out = &crossbar_head(x)->output[output];
    return &out->slots[out->head & crossbar_head(x)->output_mask].packet;
}
/* The packet that has wholly arrived at an output, or NULL. */
static inline struct packet *crossbar_front(struct crossbar *x, uint32_t output)
{
    return crossbar_waits_at(x, output) ? crossbar_first(x, output) : NULL;
}
static inline void crossbar_pop(struct crossbar *x, uint32_t output)
{
    struct crossbar_head *h = crossbar_head(x);
    struct crossbar_output *out = &h->output[output];
    invariant(crossbar_waits_at(x, output));
    out->flits -= out->slots[out->head++ & h->output_mask].flits;
    if (out->head == out->tail || out->slots[out->head & h->output_mask].ready > h->now)
        h->waiting[output / 64] &= ~(1ull << output % 64);
    if (!out->full)
        return;
    out->full = out->busy = false;
    h->open[output / 64] |= 1ull << output % 64;
    h->match_at = 0;
}

/* Bit set of outputs with a packet to take, as words of 64; returns the first word. */
static inline uint64_t crossbar_waiting(const struct crossbar *x, uint64_t *words, uint32_t word_count)
{
    for (uint32_t w = 0; w < word_count; w++)
        words[w] = crossbar_look(x)->waiting[w];
    return crossbar_look(x)->waiting[0];
}

const struct crossbar_counters *crossbar_counters(const struct crossbar *x); /* sums over inputs */

#endif
