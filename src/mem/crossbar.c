/* One direction of the interconnect (GPGPU-Sim's butterfly of one stage, its iSLIP allocator with one iteration, one virtual channel).
 *
 * An input has one queue, so it asks for one output at a time and every grant it gets is accepted: iSLIP comes down to one rotating pointer an output. The speedup is the number of
 * matchings a network cycle; matchings are counted from the start, n * speedup being the first of cycle n. What an output holds from the first flit sent to it on is counted against its buffer.
 *
 * A packet that its output has room for is looked at twice: when it is granted, and in the matching in which its last flit leaves, which is known then. Only one that is larger than the room
 * goes flit by flit, until the rest has room. A cycle in which no packet begins, ends or arrives is not looked at; inputs that wait are counted for it later.
 *
 * Inputs that have been pushed to are bytes, not bits: several threads may push at once. */
#include "mem/crossbar.h"

#include <assert.h>
#include <string.h>

enum { NO_INPUT = UINT16_MAX };
#define NEVER UINT64_MAX

struct crossing { struct packet packet; uint64_t pushed; uint32_t flits; uint32_t output; };

struct arrival { struct packet packet; uint32_t flits; };

struct crossbar_output {
    struct arrival *slots;
    uint64_t head, arrived, tail; /* packets taken, arrived, wholly sent: all only grow */
    uint32_t flits;               /* places taken in the buffer, by a packet that has room at once */
    uint16_t holder;              /* input whose packet is half through, or NO_INPUT */
    uint16_t next;                /* input that is asked first for the next packet */
    bool sending;                 /* the holder's packet, all of which has room */
    bool full;                    /* found without room: until a packet is taken */
    uint64_t asking[CROSSBAR_WORDS]; /* inputs, without the holder */
};

struct flight { uint64_t ready; uint32_t output; };

struct crossbar {
    struct crossbar_head head;
    uint32_t output_flits, hop_cycles, inputs, outputs, input_words, output_words, input_mask, output_mask;
    struct crossbar_output *output;
    uint8_t fresh[CROSSBAR_PORTS_MOST];     /* inputs whose first packet has not asked yet */
    uint64_t engaged[CROSSBAR_WORDS];       /* inputs whose first packet asks for an output, or is half through it */
    uint64_t standing[CROSSBAR_WORDS];      /* those of them that are not sure to send a flit in the next matching */
    uint64_t open[CROSSBAR_WORDS];          /* outputs that somebody asks for, or that are sent to flit by flit, and that may have room */
    uint64_t *ending;                       /* a matching: outputs whose packet's last flit comes then */
    uint32_t ending_mask, sending;          /* sending: outputs */
    struct flight *flight;                  /* packets sent wholly and not arrived, in order of arrival: all take the same time */
    uint32_t flight_mask, flight_head, flight_count;
    uint32_t standing_count;                /* after the last cycle looked at */
    uint64_t worked;                        /* that cycle */
    uint64_t stalls;                        /* up to it */
    struct crossbar_counters *sums;
};

/* What a matching leaves to do behind it. */
struct matching { uint64_t number, now; uint64_t moved[CROSSBAR_WORDS]; uint32_t finished; uint16_t finisher[CROSSBAR_PORTS_MOST]; };

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
    uint32_t in_size = power_of_two(x->head.input_flits), out_size = power_of_two(x->output_flits);
    x->head.input = arena_array(a, struct crossbar_input, x->inputs);
    x->output = arena_array(a, struct crossbar_output, x->outputs);
    x->input_mask = in_size - 1;
    x->output_mask = out_size - 1;
    for (uint32_t i = 0; i < x->inputs; i++)
        x->head.input[i] = (struct crossbar_input){ .slots = arena_array(a, struct crossing, in_size) };
    for (uint32_t o = 0; o < x->outputs; o++)
        x->output[o] = (struct crossbar_output){ .slots = arena_array(a, struct arrival, out_size), .holder = NO_INPUT };
}

struct crossbar *crossbar_create(struct arena *a, const struct crossbar_config *config, uint32_t inputs, uint32_t outputs)
{
    assert(inputs <= CROSSBAR_PORTS_MOST && outputs <= CROSSBAR_PORTS_MOST);
    assert(config->flit_bytes && config->hop_cycles && config->speedup);
    struct crossbar *x = arena_new(a, struct crossbar);
    *x = (struct crossbar){ .head = { .flit_bytes = config->flit_bytes, .input_flits = config->input_flits, .speedup = config->speedup, .next_event = NEVER },
                            .output_flits = config->output_flits, .hop_cycles = config->hop_cycles, .inputs = inputs, .outputs = outputs,
                            .input_words = words_of(inputs), .output_words = words_of(outputs) };
    create_queues(x, a);
    uint32_t endings = power_of_two(config->output_flits + 1), flights = power_of_two(outputs * config->speedup * (config->hop_cycles + 1));
    x->ending = arena_array(a, uint64_t, (size_t)endings * x->output_words);
    x->ending_mask = endings - 1;
    x->flight = arena_array(a, struct flight, flights);
    x->flight_mask = flights - 1;
    x->sums = arena_new(a, struct crossbar_counters);
    return x;
}

static inline void bit_set(uint64_t *words, uint32_t i) { words[i / 64] |= 1ull << (i % 64); }
static inline void bit_clear(uint64_t *words, uint32_t i) { words[i / 64] &= ~(1ull << (i % 64)); }

/* The first packet of an input has not been looked at. Threads that push write the same. */
static inline void note_fresh(struct crossbar *x, uint32_t input)
{
    x->fresh[input] = 1;
    if (!__atomic_load_n(&x->head.pushed, __ATOMIC_RELAXED))
        __atomic_store_n(&x->head.pushed, 1, __ATOMIC_RELAXED);
}

void crossbar_push(struct crossbar *x, uint32_t input, uint32_t output, const struct packet *p, uint32_t bytes, uint64_t now)
{
    struct crossbar_input *in = &x->head.input[input];
    uint32_t flits = crossbar_flits(x, bytes);
    assert(output < x->outputs && crossbar_has_room(x, input, bytes));
    if (in->head == in->tail)
        note_fresh(x, input);
    in->slots[in->tail++ & x->input_mask] = (struct crossing){ .packet = *p, .pushed = now, .flits = flits, .output = output };
    in->flits += flits;
    in->flits_in += flits;
}

/* The first packet of an input begins to ask for its output, if it was not pushed in this very cycle. */
static void ask(struct crossbar *x, uint32_t input, uint64_t now)
{
    const struct crossbar_input *in = &x->head.input[input];
    if (in->head == in->tail)
        return;
    const struct crossing *c = &in->slots[in->head & x->input_mask];
    if (c->pushed >= now) {
        note_fresh(x, input);
        return;
    }
    struct crossbar_output *out = &x->output[c->output];
    bit_set(x->engaged, input);
    bit_set(x->standing, input);
    bit_set(out->asking, input);
    x->head.inside++;
    if (!out->sending && !out->full)
        bit_set(x->open, c->output);
}

static void ask_fresh(struct crossbar *x, uint64_t now)
{
    x->head.pushed = 0;
    for (uint32_t i = 0; i < x->inputs; i += 8) {
        uint64_t eight;
        memcpy(&eight, x->fresh + i, 8);
        if (!eight)
            continue;
        memset(x->fresh + i, 0, 8);
        for (; eight; eight &= eight - 1) { /* one bit a byte: hosts are little-endian */
            uint32_t input = i + (uint32_t)__builtin_ctzll(eight) / 8;
            if (!(x->engaged[input / 64] >> (input % 64) & 1))
                ask(x, input, now);
        }
    }
}

static void arrive(struct crossbar *x, uint64_t now)
{
    while (x->flight_count && x->flight[x->flight_head].ready <= now) {
        uint32_t output = x->flight[x->flight_head].output;
        x->output[output].arrived++;
        bit_set(x->head.waiting, output);
        x->flight_head = (x->flight_head + 1) & x->flight_mask;
        x->flight_count--;
        x->head.inside--;
    }
}

/* The asking input that comes first from out->next on, round the end; there is one. */
static inline uint32_t pick(const struct crossbar_output *out, uint32_t words)
{
    uint32_t first = out->next / 64;
    uint64_t bits = out->asking[first] & ~0ull << (out->next % 64);
    for (uint32_t w = first; bits == 0;) {
        w = w + 1 < words ? w + 1 : 0;
        bits = out->asking[w];
        first = w;
    }
    return 64 * first + (uint32_t)__builtin_ctzll(bits);
}

static inline bool is_asked(const struct crossbar *x, const struct crossbar_output *out)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < x->input_words; w++)
        any |= out->asking[w];
    return any != 0;
}

/* The last flit of the holder's packet has left: the packet is on its way, the output is free. */
static inline void finish_packet(struct crossbar *x, uint32_t output, struct matching *m)
{
    struct crossbar_output *out = &x->output[output];
    uint32_t input = out->holder;
    struct crossbar_input *in = &x->head.input[input];
    const struct crossing *c = &in->slots[in->head++ & x->input_mask];
    struct arrival *place = &out->slots[out->tail++ & x->output_mask];
    place->packet = c->packet;
    place->flits = c->flits;
    in->sent = 0;
    bit_clear(x->engaged, input);
    out->holder = NO_INPUT;
    if (is_asked(x, out))
        bit_set(x->open, output);
    else
        bit_clear(x->open, output);
    x->flight[(x->flight_head + x->flight_count++) & x->flight_mask] = (struct flight){ .ready = m->now + x->hop_cycles, .output = output };
    m->finisher[m->finished++] = (uint16_t)input;
}

static void grant(struct crossbar *x, struct crossbar_output *out)
{
    uint32_t input = pick(out, x->input_words);
    out->holder = (uint16_t)input;
    out->next = (uint16_t)(input + 1u < x->inputs ? input + 1u : 0);
    bit_clear(out->asking, input);
}

static void send_flit(struct crossbar *x, uint32_t output, struct matching *m)
{
    struct crossbar_output *out = &x->output[output];
    struct crossbar_input *in = &x->head.input[out->holder];
    in->flits--;
    out->flits++;
    if (++in->sent < in->slots[in->head & x->input_mask].flits)
        return;
    bit_clear(x->standing, out->holder);
    finish_packet(x, output, m);
}

/* An open output takes a flit if it has room, and if it has room for the whole packet, all of them, one a matching. */
static inline void serve(struct crossbar *x, uint32_t output, struct matching *m)
{
    struct crossbar_output *out = &x->output[output];
    if (out->flits >= x->output_flits && out->tail != out->head) {
        out->full = true;
        bit_clear(x->open, output);
        return;
    }
    if (out->holder == NO_INPUT)
        grant(x, out);
    struct crossbar_input *in = &x->head.input[out->holder];
    uint32_t left = in->slots[in->head & x->input_mask].flits - in->sent;
    bit_set(m->moved, out->holder);
    if (out->flits + left > x->output_flits) {
        send_flit(x, output, m);
        return;
    }
    out->flits += left;
    in->flits -= left;
    in->gone_at = m->number + left;
    bit_clear(x->standing, out->holder);
    if (left == 1) {
        finish_packet(x, output, m);
        return;
    }
    out->sending = true;
    x->sending++;
    bit_clear(x->open, output);
    bit_set(&x->ending[((m->number + left - 1) & x->ending_mask) * x->output_words], output);
}

static inline void end_packet(struct crossbar *x, uint32_t output, struct matching *m)
{
    x->output[output].sending = false;
    x->sending--;
    finish_packet(x, output, m);
}

/* One matching: each output takes at most one flit, and each input gives at most one: what comes behind a packet's last flit asks after the others have been served. */
static void match(struct crossbar *x, struct matching *m)
{
    uint64_t *ending = &x->ending[(m->number & x->ending_mask) * x->output_words];
    m->finished = 0;
    for (uint32_t w = 0; w < x->output_words; w++) {
        uint64_t open = x->open[w]; /* outputs that become free in this matching are served in the next */
        for (uint64_t bits = ending[w]; bits; bits &= bits - 1)
            end_packet(x, 64 * w + (uint32_t)__builtin_ctzll(bits), m);
        ending[w] = 0;
        for (; open; open &= open - 1)
            serve(x, 64 * w + (uint32_t)__builtin_ctzll(open), m);
    }
    for (uint32_t i = 0; i < m->finished; i++)
        ask(x, m->finisher[i], m->now);
}

static uint32_t count_bits(uint64_t word) { return word ? (uint32_t)__builtin_popcountll(word) : 0; }

void crossbar_work(struct crossbar *x, uint64_t now)
{
    struct matching m;
    uint64_t standing[CROSSBAR_WORDS], open = 0;
    x->stalls += x->standing_count * (now - 1 - x->worked);
    arrive(x, now);
    if (x->head.pushed)
        ask_fresh(x, now);
    for (uint32_t w = 0; w < x->input_words; w++) {
        standing[w] = x->standing[w];
        m.moved[w] = 0;
    }
    m.now = now;
    m.number = now * x->head.speedup;
    for (uint32_t s = 0; s < x->head.speedup; s++, m.number++)
        match(x, &m);
    x->standing_count = 0;
    for (uint32_t w = 0; w < x->input_words; w++) {
        x->stalls += count_bits(standing[w] & ~m.moved[w]);
        x->standing_count += count_bits(x->standing[w]);
    }
    for (uint32_t w = 0; w < x->output_words; w++)
        open |= x->open[w];
    x->head.now = x->worked = now;
    x->head.matchings = m.number;
    x->head.next_event = open || x->sending ? now + 1 : x->flight_count ? x->flight[x->flight_head].ready : NEVER;
}

struct packet *crossbar_first(struct crossbar *x, uint32_t output)
{
    struct crossbar_output *out = &x->output[output];
    return &out->slots[out->head & x->output_mask].packet;
}

void crossbar_pop(struct crossbar *x, uint32_t output)
{
    struct crossbar_output *out = &x->output[output];
    assert(out->arrived != out->head);
    out->flits -= out->slots[out->head++ & x->output_mask].flits;
    if (out->arrived == out->head)
        bit_clear(x->head.waiting, output);
    if (!out->full)
        return;
    out->full = false;
    bit_set(x->open, output);
    x->head.next_event = 0;
}

bool crossbar_empty(const struct crossbar *x)
{
    uint64_t waiting = 0;
    for (uint32_t w = 0; w < x->output_words; w++)
        waiting |= x->head.waiting[w];
    return crossbar_idle(x) && !waiting;
}

/* Flits of whole packets that have been pushed and have not arrived. */
static uint64_t flits_not_arrived(const struct crossbar *x)
{
    uint64_t flits = 0;
    for (uint32_t i = 0; i < x->inputs; i++)
        for (uint64_t n = x->head.input[i].head; n != x->head.input[i].tail; n++)
            flits += x->head.input[i].slots[n & x->input_mask].flits;
    for (uint32_t o = 0; o < x->outputs; o++)
        for (uint64_t n = x->output[o].arrived; n != x->output[o].tail; n++)
            flits += x->output[o].slots[n & x->output_mask].flits;
    return flits;
}

const struct crossbar_counters *crossbar_counters(const struct crossbar *x)
{
    struct crossbar_counters sums = { .stalls = x->stalls + x->standing_count * (x->head.now - x->worked) };
    for (uint32_t i = 0; i < x->inputs; i++) {
        sums.packets_in += x->head.input[i].tail;
        sums.flits_in += x->head.input[i].flits_in;
    }
    for (uint32_t o = 0; o < x->outputs; o++)
        sums.packets_out += x->output[o].arrived;
    sums.flits_out = sums.flits_in - flits_not_arrived(x);
    *x->sums = sums;
    return x->sums;
}
