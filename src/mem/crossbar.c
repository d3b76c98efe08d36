/* A single-stage crossbar (GPGPU-Sim's butterfly of one stage, its iSLIP allocator with one iteration, one virtual
 * channel).
 *
 * An input sends one flit per cycle (times speedup) to the output that granted it; an output belongs to a packet from
 * its first flit to its last. In a matching each free output grants one of the inputs that ask for it, from a rotating
 * pointer. An input has one queue, whose first packet blocks those after it; it asks for one output at a time, so that
 * it accepts every grant. The speedup is the number of matchings per network cycle; they are counted from the start,
 * n * speedup being the first of cycle n.
 *
 * A packet pushed in cycle n sends its first flit in cycle n + 1 at the earliest; a flit sent in cycle t has arrived
 * after cycle t + hop_cycles, and a packet can be taken when its last flit has. In an empty network a packet of k flits
 * can be taken after cycle n + hop_cycles + ceil(k / speedup). Flits on their way already hold their place in the
 * output's buffer, and a packet that is taken gives back its places at once. A packet larger than a buffer passes
 * through it when nothing else is in it.
 *
 * hop_cycles = 0 is the network of GPGPU-Sim 3.0 to 3.2, all of whose stages work in one cycle: a packet pushed before
 * cycle n may send its first flit in it, and what is sent has arrived after it. In an empty network a packet of k flits
 * can then be taken after cycle n + ceil(k / speedup) - 1.
 *
 * The code looks at a packet twice if its output has room for it: when it is granted, and in the matching in which its
 * last flit leaves, which is known then. Only one that is larger than the room goes flit by flit, until the rest has
 * room. A cycle in which no packet begins, ends or arrives is not looked at; inputs that wait are counted for it later.
 *
 * Left out: routing and credit delays beyond hop_cycles, and that a port moves no more than one flit per cycle,
 * whatever the speedup inside. The router has both (router.c). */
#include "mem/network.h"

#include <assert.h>

/* One copy for up to 64 ports, one for more: see work_wide. */
#define INLINE static inline __attribute__((always_inline))

#define NEVER UINT64_MAX

enum { NO_INPUT = UINT16_MAX };

struct crossbar_input {
    const struct network_packet *first; /* the packet that asks, or leaves */
    uint64_t moved_at; /* the last network cycle in which a packet began or ended to leave, or a flit left for which
                          there was little room */
    uint32_t sent;     /* flits of the first packet that have left, where it leaves as the output has room for it */
};

struct crossbar_output {
    uint64_t asking[NETWORK_WORDS]; /* inputs, without the holder */
    uint16_t holder;                /* input whose packet is half through, or NO_INPUT */
    uint16_t next;                  /* input that is asked first for the next packet */
    bool is_busy;                   /* full, or with a packet that leaves, all of which has room: nobody is served */
};

struct crossbar {
    uint32_t output_flits, hop_cycles, speedup;
    struct crossbar_input *input;
    struct crossbar_output *output;
    uint64_t open[NETWORK_WORDS]; /* outputs that somebody asks for, or that are sent to flit by flit, and that may have
                                     room */
    uint64_t *ending;             /* of a matching: outputs whose packet's last flit comes then */
    uint32_t ending_mask;
    uint32_t sending; /* outputs with a packet that leaves, all of which has room */
};

/* One of those of a cycle. In what follows, `wide` says that there are more than 64 ports. It is constant where the
 * compiler sees it, since few machines have so many. */
struct matching {
    uint64_t number, now;
    uint64_t finished[NETWORK_WORDS]; /* inputs whose packet has left in it */
    uint32_t moved;                   /* inputs that stood when the cycle began, and moved */
};

static void *crossbar_create(struct network *n, struct arena *a, const struct network_config *config)
{
    assert(config->speedup);
    struct crossbar *x = arena_new(a, struct crossbar);
    uint32_t endings = 1;
    while (endings < config->output_flits + 1)
        endings *= 2;
    n->input_room = config->input_flits;
    n->ask_cycles = config->hop_cycles != 0;
    n->flits_per_cycle = config->speedup;
    n->least_cycles = n->foreseen_cycles = n->arrival_cycles = config->hop_cycles;
    x->output_flits = config->output_flits;
    x->hop_cycles = config->hop_cycles;
    x->speedup = config->speedup;
    x->input = arena_array(a, struct crossbar_input, n->inputs);
    x->output = arena_array(a, struct crossbar_output, n->outputs);
    x->ending = arena_array(a, uint64_t, (size_t)endings * n->output_words);
    x->ending_mask = endings - 1;
    for (uint32_t i = 0; i < n->inputs; i++)
        x->input[i].moved_at = NEVER;
    for (uint32_t o = 0; o < n->outputs; o++)
        x->output[o].holder = NO_INPUT;
    return x;
}

INLINE void bit_set(uint64_t *words, uint32_t i, bool wide) { words[wide ? i / 64 : 0] |= 1ull << (i % 64); }
INLINE void bit_clear(uint64_t *words, uint32_t i, bool wide) { words[wide ? i / 64 : 0] &= ~(1ull << (i % 64)); }

/* Outputs that were full, and of which a packet has been taken. */
INLINE void reopen(struct network *n, struct crossbar *x, bool wide)
{
    for (uint32_t w = 0; w < (wide ? n->output_words : 1); w++) {
        if (!n->taken_from[w])
            continue;
        x->open[w] |= n->taken_from[w];
        for (uint64_t left = n->taken_from[w]; left; left &= left - 1)
            x->output[64 * w + (uint32_t)__builtin_ctzll(left)].is_busy = false;
        n->taken_from[w] = 0;
    }
}

/* The first packet of an input begins to ask for its output, if it was pushed early enough. */
INLINE void ask(struct network *n, struct crossbar *x, uint32_t input, uint64_t now, bool wide)
{
    struct network_input *in = &n->input[input];
    if (in->head == in->tail)
        return;
    const struct network_packet *first = network_first_in(n, in);
    if (first->pushed + n->ask_cycles > now) {
        network_note_fresh(n, input, first->pushed);
        return;
    }
    struct crossbar_output *out = &x->output[first->output];
    x->input[input].first = first;
    n->standing++;
    bit_set(out->asking, input, wide);
    if (!out->is_busy)
        bit_set(x->open, first->output, wide);
}

INLINE void ask_fresh(struct network *n, struct crossbar *x, uint64_t now, bool wide)
{
    n->fresh_at = NEVER;
    for (uint32_t w = 0; w < (wide ? n->input_words : 1); w++)
        for (uint64_t fresh = network_take_fresh(n, w); fresh; fresh &= fresh - 1)
            ask(n, x, 64 * w + (uint32_t)__builtin_ctzll(fresh), now, wide);
}

/* The asking input that comes first from out->next on, round the end; there is one. */
INLINE uint32_t pick(const struct crossbar_output *out, uint32_t words, bool wide)
{
    uint32_t first = wide ? out->next / 64 : 0;
    uint64_t bits = out->asking[first] & ~0ull << (out->next % 64);
    if (!wide)
        return (uint32_t)__builtin_ctzll(bits ? bits : out->asking[0]);
    while (bits == 0) {
        first = first + 1 < words ? first + 1 : 0;
        bits = out->asking[first];
    }
    return 64 * first + (uint32_t)__builtin_ctzll(bits);
}

INLINE bool is_asked(const struct network *n, const struct crossbar_output *out, bool wide)
{
    uint64_t any = out->asking[0];
    for (uint32_t w = 1; wide && w < n->input_words; w++)
        any |= out->asking[w];
    return any != 0;
}

/* The last flit of an input's first packet leaves: the packet is on its way. */
INLINE void finish_packet(struct network *n, struct crossbar *x, uint32_t output, uint32_t input, struct matching *m,
                          bool wide)
{
    const struct network_packet *first = x->input[input].first;
    network_place(n, output, &first->packet, first->flits, m->now + x->hop_cycles);
    network_arrive(n, output, m->now + x->hop_cycles);
    x->input[input].sent = 0;
    n->input[input].head++;
    bit_set(m->finished, input, wide);
}

/* Flits leave an input, one per matching from this one on. */
INLINE void leave(const struct network *n, const struct crossbar *x, struct network_input *in, uint32_t flits,
                  const struct matching *m)
{
    if (x->speedup == 1)
        network_flits_leave(n, in, m->now, flits);
    else
        for (uint32_t i = 0; i < flits; i++)
            network_flit_leaves(n, in, (m->number + i) / x->speedup);
}

/* The output has room for what is left of the packet: it goes, one flit per matching. */
INLINE void send_all(struct network *n, struct crossbar *x, uint32_t output, uint32_t input, uint32_t flits,
                     struct matching *m, bool wide)
{
    struct crossbar_output *out = &x->output[output];
    n->output[output].flits += flits;
    leave(n, x, &n->input[input], flits, m);
    network_note_given(n, input);
    n->standing--;
    if (flits == 1) {
        out->holder = NO_INPUT;
        finish_packet(n, x, output, input, m, wide);
        if (!is_asked(n, out, wide))
            bit_clear(x->open, output, wide);
        return;
    }
    out->holder = (uint16_t)input;
    out->is_busy = true;
    x->sending++;
    bit_clear(x->open, output, wide);
    bit_set(&x->ending[((m->number + flits - 1) & x->ending_mask) * (wide ? n->output_words : 1)], output, wide);
}

/* A packet for which the output has no room as a whole: one flit. */
INLINE void send_flit(struct network *n, struct crossbar *x, uint32_t output, uint32_t input, const struct matching *m)
{
    x->output[output].holder = (uint16_t)input;
    n->output[output].flits++;
    x->input[input].sent++;
    network_flit_leaves(n, &n->input[input], m->now);
    network_note_given(n, input);
}

INLINE uint32_t grant(const struct network *n, struct crossbar_output *out, bool wide)
{
    uint32_t input = pick(out, n->input_words, wide);
    out->next = (uint16_t)(input + 1u < n->inputs ? input + 1u : 0);
    bit_clear(out->asking, input, wide);
    return input;
}

/* An open output takes a flit if it has room, and if it has room for the whole packet, all of them. */
INLINE void serve(struct network *n, struct crossbar *x, uint32_t output, struct matching *m, bool wide)
{
    struct crossbar_output *out = &x->output[output];
    struct network_output *queue = &n->output[output];
    if (queue->flits >= x->output_flits && queue->tail != queue->head) {
        network_await_taken(n, output);
        out->is_busy = true;
        bit_clear(x->open, output, wide);
        return;
    }
    uint32_t input = out->holder;
    if (input == NO_INPUT)
        input = grant(n, out, wide);
    struct crossbar_input *in = &x->input[input];
    uint32_t left = in->first->flits - in->sent;
    m->moved += in->moved_at != m->now;
    in->moved_at = m->now;
    if (left == 1 || queue->flits + left <= x->output_flits)
        send_all(n, x, output, input, left, m, wide);
    else
        send_flit(n, x, output, input, m);
}

/* A packet that was sent as a whole ends in this matching. */
INLINE void end_packet(struct network *n, struct crossbar *x, uint32_t output, struct matching *m, bool wide)
{
    struct crossbar_output *out = &x->output[output];
    x->sending--;
    x->input[out->holder].moved_at = m->now;
    finish_packet(n, x, output, out->holder, m, wide);
    out->holder = NO_INPUT;
    out->is_busy = false;
    if (is_asked(n, out, wide))
        bit_set(x->open, output, wide);
}

INLINE void serve_word(struct network *n, struct crossbar *x, uint32_t word, struct matching *m, bool wide)
{
    uint64_t *ending = &x->ending[(m->number & x->ending_mask) * (wide ? n->output_words : 1) + word];
    uint64_t open = x->open[word]; /* outputs that become free in this matching are served in the next */
    if (!(*ending | open))
        return;
    if (*ending) {
        for (uint64_t left = *ending; left; left &= left - 1)
            end_packet(n, x, 64 * word + (uint32_t)__builtin_ctzll(left), m, wide);
        *ending = 0;
    }
    for (; open; open &= open - 1)
        serve(n, x, 64 * word + (uint32_t)__builtin_ctzll(open), m, wide);
}

INLINE void ask_word(struct network *n, struct crossbar *x, uint32_t word, struct matching *m, bool wide)
{
    if (!m->finished[word])
        return;
    for (uint64_t left = m->finished[word]; left; left &= left - 1)
        ask(n, x, 64 * word + (uint32_t)__builtin_ctzll(left), m->now, wide);
    m->finished[word] = 0;
}

/* One matching: each output takes at most one flit, and each input gives at most one: what comes after a packet's last
 * flit asks after the others have been served. */
INLINE void match(struct network *n, struct crossbar *x, struct matching *m, bool wide)
{
    serve_word(n, x, 0, m, wide);
    for (uint32_t w = 1; wide && w < n->output_words; w++)
        serve_word(n, x, w, m, wide);
    ask_word(n, x, 0, m, wide);
    for (uint32_t w = 1; wide && w < n->input_words; w++)
        ask_word(n, x, w, m, wide);
}

/* The next cycle with a matching in which something happens by itself. */
INLINE uint64_t next_match(const struct network *n, const struct crossbar *x, uint64_t now, bool wide)
{
    uint32_t words = wide ? n->output_words : 1;
    for (uint32_t w = 0; w < words; w++)
        if (x->open[w])
            return now + 1;
    if (!x->sending)
        return NEVER;
    for (uint64_t cycle = now + 1;; cycle++)
        for (uint32_t s = 0; s < x->speedup; s++)
            for (uint32_t w = 0; w < words; w++)
                if (x->ending[((cycle * x->speedup + s) & x->ending_mask) * words + w])
                    return cycle;
}

INLINE void work(struct network *n, struct crossbar *x, uint64_t now, bool wide)
{
    struct matching m = {.number = now * x->speedup, .now = now};
    uint64_t stalls = n->stalls + n->standing * (now - 1 - n->worked);
    reopen(n, x, wide);
    if (now >= n->fresh_at)
        ask_fresh(n, x, now, wide);
    stalls += n->standing;
    for (uint32_t s = x->speedup; s; s--, m.number++)
        match(n, x, &m, wide);
    n->stalls = stalls - m.moved;
    n->worked = now;
    n->work_at = next_match(n, x, now, wide);
}

static __attribute__((noinline)) void work_wide(struct network *n, struct crossbar *x, uint64_t now)
{
    work(n, x, now, true);
}

static void crossbar_work(struct network *n, uint64_t now)
{
    if ((n->input_words | n->output_words) == 1)
        work(n, n->state, now, false);
    else
        work_wide(n, n->state, now);
}

const struct network_ops crossbar_network = {.create = crossbar_create, .work = crossbar_work};
