/* One direction of the interconnect (GPGPU-Sim's butterfly of one stage, its iSLIP allocator with one iteration, one virtual channel).
 *
 * An input has one queue, so it asks for one output at a time and every grant it gets is accepted: iSLIP comes down to one rotating pointer an output. The speedup is the number of
 * matchings a network cycle. What an output holds from the first flit sent to it on is counted against its buffer.
 *
 * Ports that wait are bytes, not bits, where their owners write them: several threads may push and take at once. */
#include "mem/crossbar.h"

#include <assert.h>
#include <string.h>

enum { NO_INPUT = UINT16_MAX };

struct crossing { struct packet packet; uint64_t pushed; uint32_t flits; uint32_t output; };

struct crossbar_input {
    struct crossing *slots;
    uint32_t mask, head, count;
    uint32_t flits;              /* in the buffer */
    uint32_t sent;               /* flits of the first packet that have left */
    uint64_t packets_in, flits_in;
};

struct arrival { struct packet packet; uint32_t flits; };

struct crossbar_output {
    struct arrival *slots;
    uint32_t mask, head, count;  /* packets wholly sent, arrived or on their way */
    uint32_t arrived;
    uint32_t flits;              /* places taken in the buffer */
    uint16_t holder;             /* input whose packet is half through, or NO_INPUT */
    uint16_t next;               /* input that is asked first for the next packet */
    uint64_t asking[CROSSBAR_WORDS];
};

struct flight { uint64_t ready; uint32_t output; };

struct crossbar {
    uint32_t flit_bytes, input_flits, output_flits, hop_cycles, speedup, inputs, outputs;
    struct crossbar_input *input;
    struct crossbar_output *output;
    uint8_t pending[CROSSBAR_PORTS_MOST];   /* inputs that hold a packet */
    uint8_t ready[CROSSBAR_PORTS_MOST];     /* outputs with a packet to take */
    uint64_t known[CROSSBAR_WORDS];         /* inputs whose first packet asks for an output, or is half through it */
    uint64_t wanted[CROSSBAR_WORDS];        /* outputs that somebody asks for or holds */
    struct flight *flight;                  /* packets sent wholly and not arrived, in order of arrival: all take the same time */
    uint32_t flight_mask, flight_head, flight_count;
    uint64_t packets_out, flits_out, stalls;
    struct crossbar_counters *sums;
};

static uint32_t power_of_two(uint32_t least)
{
    uint32_t size = 1;
    while (size < least)
        size *= 2;
    return size;
}

struct crossbar *crossbar_create(struct arena *a, const struct crossbar_config *config, uint32_t inputs, uint32_t outputs)
{
    assert(inputs <= CROSSBAR_PORTS_MOST && outputs <= CROSSBAR_PORTS_MOST);
    assert(config->flit_bytes && config->hop_cycles && config->speedup);
    struct crossbar *x = arena_new(a, struct crossbar);
    *x = (struct crossbar){ .flit_bytes = config->flit_bytes, .input_flits = config->input_flits, .output_flits = config->output_flits, .hop_cycles = config->hop_cycles,
                            .speedup = config->speedup, .inputs = inputs, .outputs = outputs };
    x->input = arena_array(a, struct crossbar_input, inputs);
    x->output = arena_array(a, struct crossbar_output, outputs);
    for (uint32_t i = 0; i < inputs; i++) {
        uint32_t size = power_of_two(config->input_flits);
        x->input[i] = (struct crossbar_input){ .slots = arena_array(a, struct crossing, size), .mask = size - 1 };
    }
    for (uint32_t o = 0; o < outputs; o++) {
        uint32_t size = power_of_two(config->output_flits);
        x->output[o] = (struct crossbar_output){ .slots = arena_array(a, struct arrival, size), .mask = size - 1, .holder = NO_INPUT };
    }
    uint32_t flights = power_of_two(outputs * config->speedup * (config->hop_cycles + 1));
    x->flight = arena_array(a, struct flight, flights);
    x->flight_mask = flights - 1;
    x->sums = arena_new(a, struct crossbar_counters);
    return x;
}

uint32_t crossbar_flits(const struct crossbar *x, uint32_t bytes)
{
    return bytes <= x->flit_bytes ? 1 : (bytes + x->flit_bytes - 1) / x->flit_bytes;
}

bool crossbar_has_room(const struct crossbar *x, uint32_t input, uint32_t bytes)
{
    const struct crossbar_input *in = &x->input[input];
    return in->count == 0 || in->flits + crossbar_flits(x, bytes) <= x->input_flits;
}

void crossbar_push(struct crossbar *x, uint32_t input, uint32_t output, const struct packet *p, uint32_t bytes, uint64_t now)
{
    struct crossbar_input *in = &x->input[input];
    uint32_t flits = crossbar_flits(x, bytes);
    assert(output < x->outputs && crossbar_has_room(x, input, bytes));
    in->slots[(in->head + in->count++) & in->mask] = (struct crossing){ .packet = *p, .pushed = now, .flits = flits, .output = output };
    in->flits += flits;
    in->packets_in++;
    in->flits_in += flits;
    x->pending[input] = 1;
}

static void bit_set(uint64_t *words, uint32_t i) { words[i / 64] |= 1ull << (i % 64); }
static void bit_clear(uint64_t *words, uint32_t i) { words[i / 64] &= ~(1ull << (i % 64)); }

/* Bit i of the result is byte 64 * word + i of the ports' bytes, each 0 or 1 (hosts are little-endian). */
static uint64_t gather_bytes(const uint8_t *bytes, uint32_t ports, uint32_t word)
{
    uint64_t bits = 0;
    for (uint32_t i = 64 * word; i < ports && i < 64 * (word + 1); i += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + i, 8);
        bits |= (eight * 0x0102040810204080ull >> 56) << (i % 64);
    }
    return bits;
}

static uint32_t words_of(uint32_t ports) { return (ports + 63) / 64; }

/* The first packet of an input begins to ask for its output, if it was not pushed in this very cycle. */
static void ask(struct crossbar *x, uint32_t input, uint64_t now)
{
    const struct crossbar_input *in = &x->input[input];
    if (in->count == 0 || in->slots[in->head].pushed >= now)
        return;
    uint32_t output = in->slots[in->head].output;
    bit_set(x->known, input);
    bit_set(x->output[output].asking, input);
    bit_set(x->wanted, output);
}

static void ask_fresh(struct crossbar *x, uint64_t now)
{
    for (uint32_t w = 0; w < words_of(x->inputs); w++)
        for (uint64_t fresh = gather_bytes(x->pending, x->inputs, w) & ~x->known[w]; fresh; fresh &= fresh - 1)
            ask(x, 64 * w + (uint32_t)__builtin_ctzll(fresh), now);
}

static void arrive(struct crossbar *x, uint64_t now)
{
    while (x->flight_count && x->flight[x->flight_head].ready <= now) {
        uint32_t output = x->flight[x->flight_head].output;
        struct crossbar_output *out = &x->output[output];
        x->packets_out++;
        x->flits_out += out->slots[(out->head + out->arrived) & out->mask].flits;
        out->arrived++;
        x->ready[output] = 1;
        x->flight_head = (x->flight_head + 1) & x->flight_mask;
        x->flight_count--;
    }
}

/* The asking input that comes first from out->next on, round the end; there is one. */
static uint32_t pick(const struct crossbar_output *out, uint32_t words)
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

/* The last flit of an input's first packet has left: the packet is on its way, the output is free. */
static void finish_packet(struct crossbar *x, uint32_t input, uint32_t output, uint64_t now)
{
    struct crossbar_input *in = &x->input[input];
    struct crossbar_output *out = &x->output[output];
    const struct crossing *c = &in->slots[in->head];
    out->slots[(out->head + out->count++) & out->mask] = (struct arrival){ .packet = c->packet, .flits = c->flits };
    out->holder = NO_INPUT;
    bit_clear(out->asking, input);
    uint64_t any = 0;
    for (uint32_t w = 0; w < words_of(x->inputs); w++)
        any |= out->asking[w];
    if (any == 0)
        bit_clear(x->wanted, output);
    x->flight[(x->flight_head + x->flight_count++) & x->flight_mask] = (struct flight){ .ready = now + x->hop_cycles, .output = output };
    in->head = (in->head + 1) & in->mask;
    in->sent = 0;
    if (--in->count == 0)
        x->pending[input] = 0;
    bit_clear(x->known, input);
}

/* One flit to an output, if it has room. True when that was the last of its packet. */
static bool send_flit(struct crossbar *x, uint32_t output, uint64_t now, uint64_t *moved, uint32_t *input)
{
    struct crossbar_output *out = &x->output[output];
    if (out->flits >= x->output_flits && out->count)
        return false;
    if (out->holder == NO_INPUT) {
        out->holder = (uint16_t)pick(out, words_of(x->inputs));
        out->next = (uint16_t)(out->holder + 1u < x->inputs ? out->holder + 1u : 0);
    }
    *input = out->holder;
    struct crossbar_input *in = &x->input[*input];
    bit_set(moved, *input);
    in->flits--;
    out->flits++;
    if (++in->sent < in->slots[in->head].flits)
        return false;
    finish_packet(x, *input, output, now);
    return true;
}

/* One matching: each output takes at most one flit, and each input gives at most one: what comes behind a packet's last flit asks after the others have been served. */
static void match(struct crossbar *x, uint64_t now, uint64_t *moved)
{
    uint16_t finished[CROSSBAR_PORTS_MOST];
    uint32_t count = 0, input;
    for (uint32_t w = 0; w < words_of(x->outputs); w++)
        for (uint64_t bits = x->wanted[w]; bits; bits &= bits - 1)
            if (send_flit(x, 64 * w + (uint32_t)__builtin_ctzll(bits), now, moved, &input))
                finished[count++] = (uint16_t)input;
    for (uint32_t i = 0; i < count; i++)
        ask(x, finished[i], now);
}

void crossbar_cycle(struct crossbar *x, uint64_t now)
{
    arrive(x, now);
    ask_fresh(x, now);
    uint64_t moved[CROSSBAR_WORDS] = {0}, known[CROSSBAR_WORDS];
    memcpy(known, x->known, sizeof(known));
    for (uint32_t s = 0; s < x->speedup; s++)
        match(x, now, moved);
    for (uint32_t w = 0; w < words_of(x->inputs); w++)
        x->stalls += (uint64_t)__builtin_popcountll(known[w] & ~moved[w]);
}

struct packet *crossbar_front(struct crossbar *x, uint32_t output)
{
    struct crossbar_output *out = &x->output[output];
    return out->arrived ? &out->slots[out->head].packet : NULL;
}

void crossbar_pop(struct crossbar *x, uint32_t output)
{
    struct crossbar_output *out = &x->output[output];
    assert(out->arrived);
    out->flits -= out->slots[out->head].flits;
    out->head = (out->head + 1) & out->mask;
    out->count--;
    if (--out->arrived == 0)
        x->ready[output] = 0;
}

static bool any_byte(const uint8_t *bytes, uint32_t ports)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < ports; i += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + i, 8);
        any |= eight;
    }
    return any != 0;
}

bool crossbar_idle(const struct crossbar *x) { return x->flight_count == 0 && !any_byte(x->pending, x->inputs); }
bool crossbar_empty(const struct crossbar *x) { return crossbar_idle(x) && !any_byte(x->ready, x->outputs); }

uint64_t crossbar_waiting(const struct crossbar *x, uint64_t *words, uint32_t word_count)
{
    for (uint32_t w = 0; w < word_count; w++)
        words[w] = gather_bytes(x->ready, x->outputs, w);
    return word_count ? words[0] : gather_bytes(x->ready, x->outputs, 0);
}

const struct crossbar_counters *crossbar_counters(const struct crossbar *x)
{
    struct crossbar_counters sums = { .packets_out = x->packets_out, .flits_out = x->flits_out, .stalls = x->stalls };
    for (uint32_t i = 0; i < x->inputs; i++) {
        sums.packets_in += x->input[i].packets_in;
        sums.flits_in += x->input[i].flits_in;
    }
    *x->sums = sums;
    return x->sums;
}
