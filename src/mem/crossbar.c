/* One direction of the interconnect (GPGPU-Sim's butterfly of one stage, its iSLIP allocator with one iteration, one
 * virtual channel).
 *
 * An input has one queue, so it asks for one output at a time and every grant it gets is accepted: iSLIP comes down to
 * one rotating pointer an output. The speedup is the number of matchings a network cycle; matchings are counted from
 * the start, n * speedup being the first of cycle n. What an output holds from the first flit sent to it on is counted
 * against its buffer.
 *
 * A packet that its output has room for is looked at twice: when it is granted, and in the matching in which its last
 * flit leaves, which is known then. Only one that is larger than the room goes flit by flit, until the rest has room. A
 * cycle in which no packet begins, ends or arrives is not looked at; inputs that wait are counted for it later.
 *
 * Inputs that have been pushed to are bytes, not bits: several threads may push at once. */
#include "mem/crossbar.h"
#include "mem/router.h"

#include <assert.h>
#include <string.h>

/* One copy for up to 64 ports, one for more: see work_wide. */
#define INLINE static inline __attribute__((always_inline))

#define NEVER UINT64_MAX

struct crossbar {
    struct crossbar_head head;
    uint32_t input_flits, output_flits, hop_cycles, inputs, input_words, output_words;
    uint64_t *ending; /* a matching: outputs whose packet's last flit comes then */
    uint32_t ending_mask;
    uint32_t sending; /* outputs with a packet that leaves, all of which has room */
    uint64_t worked;  /* the last cycle that was looked at */
    uint64_t stalls;  /* up to it */
    bool notes_times; /* crossbar_note_times */
    struct crossbar_counters *sums;
    struct router *router; /* NULL: none */
};

/* One of those of a cycle. In what follows, wide says: more than 64 ports. It is constant where the compiler sees it,
 * since few machines have so many. */
struct matching {
    uint64_t number, now;
    uint64_t finished[CROSSBAR_WORDS]; /* inputs whose packet has left in it */
    uint32_t moved;                    /* inputs that stood when the cycle began, and moved */
};

static uint32_t power_of_two(uint32_t least)
{
    uint32_t size = 1;
    while (size < least)
        size *= 2;
    return size;
}

static uint32_t words_of(uint32_t ports) { return (ports + 63) / 64; }

static void create_queues(struct crossbar *x, struct arena *a)
{
    uint32_t in_size = power_of_two(x->input_flits + 1), /* one may be leaving that its owner no longer counts */
        out_size = power_of_two(x->output_flits +
                                1); /* a router gives an output to a packet before its first flit has a place */
    x->head.input = arena_lines(a, struct crossbar_input, x->inputs);
    x->head.output = arena_array(a, struct crossbar_output, x->head.outputs);
    x->head.input_mask = in_size - 1;
    x->head.output_mask = out_size - 1;
    x->head.left_mask = in_size - 1;
    for (uint32_t i = 0; i < x->inputs; i++)
        x->head.input[i] = (struct crossbar_input){.slots = arena_array(a, struct crossing, in_size),
                                                   .left_at = arena_array(a, uint64_t, in_size),
                                                   .moved_at = NEVER};
    for (uint32_t o = 0; o < x->head.outputs; o++)
        x->head.output[o] =
            (struct crossbar_output){.slots = arena_array(a, struct arrival, out_size), .holder = CROSSBAR_NO_INPUT};
}

struct crossbar *crossbar_create(struct arena *a, const struct crossbar_config *config, uint32_t inputs,
                                 uint32_t outputs)
{
    assert(inputs <= CROSSBAR_PORTS_MOST && outputs <= CROSSBAR_PORTS_MOST);
    assert(config->flit_bytes && config->speedup);
    struct crossbar *x = arena_new(a, struct crossbar);
    *x = (struct crossbar){
        .head = {.asks_at = NEVER,
                 .match_at = NEVER,
                 .flit_bytes = config->flit_bytes,
                 .entry_bytes = config->request_flit_bytes,
                 .speedup = config->speedup,
                 .outputs = outputs,
                 .has_router = config->injection_flits != 0,
                 .foreseen_cycles = config->injection_flits ? 0 : config->hop_cycles,
                 .input_flits = config->injection_flits ? config->injection_flits : config->input_flits,
                 .ask_cycles = config->injection_flits || !config->hop_cycles ? 0 : 1},
        .input_flits = config->input_flits,
        .output_flits = config->output_flits,
        .hop_cycles = config->hop_cycles,
        .inputs = inputs,
        .input_words = words_of(inputs),
        .output_words = words_of(outputs)};
    create_queues(x, a);
    uint32_t endings = power_of_two(config->output_flits + 1), arrivals = power_of_two(config->hop_cycles + 1);
    x->ending = arena_array(a, uint64_t, (size_t)endings * x->output_words);
    x->head.arriving = arena_array(a, uint64_t, (size_t)arrivals * x->output_words);
    x->ending_mask = endings - 1;
    x->head.arriving_mask = arrivals - 1;
    x->head.output_words = x->output_words;
    x->sums = arena_new(a, struct crossbar_counters);
    if (config->injection_flits)
        x->router = router_create(a, config, inputs, outputs);
    return x;
}

void crossbar_note_times(struct crossbar *x) { x->notes_times = true; }

INLINE void bit_set(uint64_t *words, uint32_t i, bool wide) { words[wide ? i / 64 : 0] |= 1ull << (i % 64); }
INLINE void bit_clear(uint64_t *words, uint32_t i, bool wide) { words[wide ? i / 64 : 0] &= ~(1ull << (i % 64)); }

/* The first packet of an input begins to ask for its output, if it was pushed early enough. */
INLINE void ask(struct crossbar *x, uint32_t input, uint64_t now, bool wide)
{
    struct crossbar_input *in = &x->head.input[input];
    if (in->head == in->tail)
        return;
    struct crossing *c = &in->slots[in->head & x->head.input_mask];
    if (c->pushed + x->head.ask_cycles > now) {
        crossbar_note_fresh(&x->head, input, c->pushed);
        return;
    }
    struct crossbar_output *out = &x->head.output[c->output];
    in->first = c;
    x->head.standing++;
    bit_set(out->asking, input, wide);
    if (!out->busy)
        bit_set(x->head.open, c->output, wide);
}

INLINE void ask_fresh(struct crossbar *x, uint64_t now, bool wide)
{
    x->head.asks_at = NEVER;
    for (uint32_t i = 0; i < x->inputs; i += 8) {
        uint64_t eight;
        memcpy(&eight, x->head.fresh + i, 8);
        if (!eight)
            continue;
        memset(x->head.fresh + i, 0, 8);
        for (; eight; eight &= eight - 1) /* one bit a byte: hosts are little-endian */
            ask(x, i + (uint32_t)__builtin_ctzll(eight) / 8, now, wide);
    }
}

/* The asking input that comes first from out->next on, round the end; there is one. */
INLINE uint32_t pick(const struct crossbar_output *out, uint32_t words, bool wide)
{
    uint32_t first = wide ? out->next / 64 : 0;
    uint64_t bits = out->asking[first] & ~0ull << (out->next % 64);
    if (!wide)
        return (uint32_t)__builtin_ctzll(bits ? bits : out->asking[0]);
    for (uint32_t w = first; bits == 0;) {
        w = w + 1 < words ? w + 1 : 0;
        bits = out->asking[w];
        first = w;
    }
    return 64 * first + (uint32_t)__builtin_ctzll(bits);
}

INLINE bool is_asked(const struct crossbar *x, const struct crossbar_output *out, bool wide)
{
    uint64_t any = out->asking[0];
    for (uint32_t w = 1; wide && w < x->input_words; w++)
        any |= out->asking[w];
    return any != 0;
}

/* The last flit of an input's first packet leaves: the packet is on its way. */
INLINE void finish_packet(struct crossbar *x, struct crossbar_output *out, uint32_t output, uint32_t input,
                          struct matching *m, bool wide)
{
    struct crossbar_input *in = &x->head.input[input];
    struct arrival *place = &out->slots[out->tail++ & x->head.output_mask];
    uint64_t ready = m->now + x->hop_cycles;
    place->packet = in->first->packet;
    place->flits = in->first->flits;
    place->ready = x->head.last_arrival = ready;
    bit_set(x->hop_cycles ? &x->head.arriving[(ready & x->head.arriving_mask) * (wide ? x->output_words : 1)]
                          : x->head.waiting,
            output, wide);
    in->head++;
    bit_set(m->finished, input, wide);
}

INLINE uint64_t cycle_after(const struct crossbar *x, uint64_t matching)
{
    return (x->head.speedup == 1 ? matching : matching / x->head.speedup) + 1;
}

/* The output has room for what is left of the packet: it goes, one flit a matching. */
INLINE void send_all(struct crossbar *x, struct crossbar_output *out, uint32_t output, uint32_t input, uint32_t flits,
                     struct matching *m, bool wide)
{
    struct crossbar_input *in = &x->head.input[input];
    out->flits += flits;
    in->flits -= flits;
    for (uint32_t i = 0; x->notes_times && i < flits; i++)
        in->left_at[in->left++ & x->head.left_mask] = cycle_after(x, m->number + i);
    bit_set(x->head.gave, input, wide);
    x->head.standing--;
    if (flits == 1) {
        out->holder = CROSSBAR_NO_INPUT;
        in->sent = 0;
        finish_packet(x, out, output, input, m, wide);
        if (!is_asked(x, out, wide))
            bit_clear(x->head.open, output, wide);
        return;
    }
    in->gone_at = m->number + flits;
    out->holder = (uint16_t)input;
    out->busy = true;
    x->sending++;
    bit_clear(x->head.open, output, wide);
    bit_set(&x->ending[((m->number + flits - 1) & x->ending_mask) * (wide ? x->output_words : 1)], output, wide);
}

/* A packet for which the output has no room as a whole: one flit. */
INLINE void send_flit(struct crossbar *x, struct crossbar_output *out, uint32_t input, const struct matching *m,
                      bool wide)
{
    struct crossbar_input *in = &x->head.input[input];
    out->holder = (uint16_t)input;
    out->flits++;
    in->flits--;
    in->sent++;
    if (x->notes_times)
        in->left_at[in->left++ & x->head.left_mask] = m->now + 1;
    bit_set(x->head.gave, input, wide);
}

INLINE uint32_t grant(struct crossbar *x, struct crossbar_output *out, bool wide)
{
    uint32_t input = pick(out, x->input_words, wide);
    out->next = (uint16_t)(input + 1u < x->inputs ? input + 1u : 0);
    bit_clear(out->asking, input, wide);
    return input;
}

/* An open output takes a flit if it has room, and if it has room for the whole packet, all of them. */
INLINE void serve(struct crossbar *x, uint32_t output, struct matching *m, bool wide)
{
    struct crossbar_output *out = &x->head.output[output];
    if (out->flits >= x->output_flits && out->tail != out->head) {
        out->full = out->busy = true;
        bit_clear(x->head.open, output, wide);
        return;
    }
    uint32_t input = out->holder;
    if (input == CROSSBAR_NO_INPUT)
        input = grant(x, out, wide);
    struct crossbar_input *in = &x->head.input[input];
    uint32_t left = in->first->flits - in->sent;
    m->moved += in->moved_at != m->now;
    in->moved_at = m->now;
    if (left == 1 || out->flits + left <= x->output_flits)
        send_all(x, out, output, input, left, m, wide);
    else
        send_flit(x, out, input, m, wide);
}

/* A packet that was sent as a whole ends in this matching. */
INLINE void end_packet(struct crossbar *x, uint32_t output, struct matching *m, bool wide)
{
    struct crossbar_output *out = &x->head.output[output];
    uint32_t input = out->holder;
    x->sending--;
    x->head.input[input].moved_at = m->now;
    x->head.input[input].sent = 0;
    finish_packet(x, out, output, input, m, wide);
    out->holder = CROSSBAR_NO_INPUT;
    out->busy = false;
    if (is_asked(x, out, wide))
        bit_set(x->head.open, output, wide);
}

INLINE void serve_word(struct crossbar *x, uint32_t word, struct matching *m, bool wide)
{
    uint64_t *ending = &x->ending[(m->number & x->ending_mask) * (wide ? x->output_words : 1) + word];
    uint64_t open = x->head.open[word]; /* outputs that become free in this matching are served in the next */
    if (!(*ending | open))
        return;
    if (*ending) {
        for (uint64_t left = *ending; left; left &= left - 1)
            end_packet(x, 64 * word + (uint32_t)__builtin_ctzll(left), m, wide);
        *ending = 0;
    }
    for (; open; open &= open - 1)
        serve(x, 64 * word + (uint32_t)__builtin_ctzll(open), m, wide);
}

INLINE void ask_word(struct crossbar *x, uint32_t word, struct matching *m, bool wide)
{
    if (!m->finished[word])
        return;
    for (uint64_t left = m->finished[word]; left; left &= left - 1)
        ask(x, 64 * word + (uint32_t)__builtin_ctzll(left), m->now, wide);
    m->finished[word] = 0;
}

/* One matching: each output takes at most one flit, and each input gives at most one: what comes after a packet's last
 * flit asks after the others have been served. */
INLINE void match(struct crossbar *x, struct matching *m, bool wide)
{
    serve_word(x, 0, m, wide);
    for (uint32_t w = 1; wide && w < x->output_words; w++)
        serve_word(x, w, m, wide);
    ask_word(x, 0, m, wide);
    for (uint32_t w = 1; wide && w < x->input_words; w++)
        ask_word(x, w, m, wide);
}

/* The next cycle with a matching in which something happens by itself. */
INLINE uint64_t next_match(const struct crossbar *x, uint64_t now, bool wide)
{
    uint32_t words = wide ? x->output_words : 1;
    for (uint32_t w = 0; w < words; w++)
        if (x->head.open[w])
            return now + 1;
    if (!x->sending)
        return NEVER;
    for (uint64_t cycle = now + 1;; cycle++)
        for (uint32_t s = 0; s < x->head.speedup; s++)
            for (uint32_t w = 0; w < words; w++)
                if (x->ending[((cycle * x->head.speedup + s) & x->ending_mask) * words + w])
                    return cycle;
}

INLINE void work(struct crossbar *x, uint64_t now, bool wide)
{
    struct matching m = {.number = now * x->head.speedup, .now = now};
    uint64_t stalls = x->stalls + x->head.standing * (now - 1 - x->worked);
    if (now >= x->head.asks_at)
        ask_fresh(x, now, wide);
    stalls += x->head.standing;
    for (uint32_t s = x->head.speedup; s; s--, m.number++)
        match(x, &m, wide);
    x->stalls = stalls - m.moved;
    x->worked = now;
    x->head.match_at = next_match(x, now, wide);
}

static __attribute__((noinline)) void work_wide(struct crossbar *x, uint64_t now) { work(x, now, true); }

void crossbar_work(struct crossbar *x, uint64_t now)
{
    if (x->router)
        router_work(x->router, &x->head, now);
    else if ((x->input_words | x->output_words) == 1)
        work(x, now, false);
    else
        work_wide(x, now);
}

bool crossbar_empty(const struct crossbar *x)
{
    uint64_t waiting = 0;
    for (uint32_t w = 0; w < x->output_words; w++)
        waiting |= x->head.waiting[w];
    return crossbar_idle(x) && !waiting;
}

/* Takes from the sums of what was pushed the packets that have not arrived. */
static void subtract_inside(const struct crossbar *x, struct crossbar_counters *sums)
{
    for (uint32_t i = 0; i < x->inputs; i++)
        for (uint64_t n = x->head.input[i].head; n != x->head.input[i].tail; n++) {
            sums->packets_out--;
            sums->flits_out -= x->head.input[i].slots[n & x->head.input_mask].flits;
        }
    for (uint32_t o = 0; o < x->head.outputs; o++)
        for (uint32_t n = x->head.output[o].head; n != x->head.output[o].tail; n++) {
            const struct arrival *a = &x->head.output[o].slots[n & x->head.output_mask];
            sums->packets_out -= a->ready > x->head.now;
            sums->flits_out -= a->ready > x->head.now ? a->flits : 0;
        }
}

const struct crossbar_counters *crossbar_counters(const struct crossbar *x)
{
    struct crossbar_counters sums = {.stalls = x->stalls + x->head.standing * (x->head.now - x->worked)};
    for (uint32_t i = 0; i < x->inputs; i++) {
        sums.packets_in += x->head.input[i].tail;
        sums.flits_in += x->head.input[i].flits_in;
    }
    if (x->router) {
        router_count(x->router, &sums);
    } else {
        sums.packets_out = sums.packets_in;
        sums.flits_out = sums.flits_in;
        subtract_inside(x, &sums);
    }
    *x->sums = sums;
    return x->sums;
}
