/* An input-queued router with one virtual channel, after GPGPU-Sim's network (a butterfly of one stage, iSLIP with one
 * iteration).
 *
 * A packet waits in the queue in front of its port (injection_flits). One flit a cycle enters the link to the router,
 * if the router's buffer for the input has room as far as the port knows: it hears of a flit that has left as long
 * after that as a flit needs for the link. The router takes `speedup` steps per cycle. In a step, an input whose first
 * packet has no output asks for it; an output that belongs to no packet is given to one of those that ask, from a
 * rotating pointer; and each packet that was given its output in an earlier step moves one flit, if there is room
 * after the output. With its last flit it gives the output back, for the next step. So a packet of n flits holds its
 * input and its output for n + 1 steps, and packets of one flit pass at the rate of one per cycle with speedup 2. One
 * flit a cycle and output leaves the router: what moved in the last step of a cycle not before the next. After the
 * link it goes into the port's queue (ejection_flits), from which whole packets are taken; while that is full it stays
 * in the buffer before it, and the router hears of each flit that has left the buffer, a link later.
 *
 * The two links together take hop_cycles. In an empty network a packet of n flits, pushed before router_work(t), can be
 * taken after router_work(t + hop_cycles + n), as in the crossbar without these stages. Left out: several virtual
 * channels, several stages, delays of routing and allocation beyond those of a step. */
#include "mem/router.h"

#define NEVER UINT64_MAX

struct router_input {
    uint32_t present;       /* flits in the router's buffer */
    uint32_t held;          /* places of that buffer which the port does not know to be free */
    uint32_t left;          /* flits of the first packet that have not moved, where it has its output */
    uint32_t freed;         /* places that the port is to hear of, one per cycle */
    uint64_t coming, heard; /* on the links: bit n, in n cycles */
    uint64_t entering;      /* packet of the crossbar's input whose flits are the next to enter the link */
    uint32_t entered;       /* of its flits */
    bool owns;              /* its first packet has been given its output */
};

struct router_output {
    uint32_t held;           /* places of the buffer after the output which the router does not know to be free */
    uint32_t ready, soon;    /* flits at the output: may leave in this cycle, in the next */
    uint32_t buffered;       /* flits in front of the port's queue */
    uint32_t landing;        /* packet of the crossbar's output whose flits are the next to enter that queue */
    uint32_t landing_left;   /* of its flits; 0: it has not begun */
    uint64_t leaving, heard; /* on the links */
};

struct router {
    uint32_t inputs, input_words, output_words, speedup;
    uint32_t buffer_in, buffer_out,
        port_out;                     /* flits: the router's for an input, after an output, the port's queue there */
    uint32_t link_in, link_out;       /* cycles */
    uint64_t inside[CROSSBAR_WORDS];  /* inputs with packets, or with news on the link */
    uint64_t present[CROSSBAR_WORDS]; /* inputs with flits in the router */
    uint64_t owning[CROSSBAR_WORDS];  /* of those, whose packet has its output */
    uint64_t moved[CROSSBAR_WORDS];   /* inputs of which a flit has moved in this cycle */
    uint64_t used[CROSSBAR_WORDS];    /* outputs with flits, or with news on the link */
    uint64_t asked[CROSSBAR_WORDS];   /* outputs that belong to no packet and that some input asks for */
    uint64_t packets, flits, stalls;
    struct router_input *input;
    struct router_output *output;
};

static uint32_t at_least_one(uint32_t n) { return n ? n : 1; }

struct router *router_create(struct arena *a, const struct crossbar_config *c, uint32_t inputs, uint32_t outputs)
{
    struct router *r = arena_new(a, struct router);
    *r = (struct router){.inputs = inputs,
                         .input_words = (inputs + 63) / 64,
                         .output_words = (outputs + 63) / 64,
                         .speedup = c->speedup,
                         .buffer_in = at_least_one(c->input_flits - c->injection_flits),
                         .buffer_out = at_least_one(c->output_flits - c->ejection_flits),
                         .port_out = c->ejection_flits,
                         .link_in = at_least_one(c->hop_cycles / 2),
                         .link_out = at_least_one(c->hop_cycles - c->hop_cycles / 2),
                         .input = arena_lines(a, struct router_input, inputs),
                         .output = arena_lines(a, struct router_output, outputs)};
    for (uint32_t o = 0; o < outputs; o++)
        r->output[o] = (struct router_output){.held = 0};
    return r;
}

static inline void add_bit(uint64_t *words, uint32_t i) { words[i / 64] |= 1ull << i % 64; }
static inline void drop_bit(uint64_t *words, uint32_t i) { words[i / 64] &= ~(1ull << i % 64); }

/* A cycle on a link: is there anything at its end? */
static inline uint32_t advance(uint64_t *link)
{
    *link >>= 1;
    return (uint32_t)*link & 1;
}

static inline struct crossing *first_packet(const struct crossbar_head *h, uint32_t input)
{
    return &h->input[input].slots[h->input[input].head & h->input_mask];
}

/* Inputs that were empty and have been pushed to. */
static void look_for_fresh(struct router *r, struct crossbar_head *h)
{
    h->asks_at = NEVER;
    for (uint32_t i = 0; i < r->inputs; i++)
        if (h->fresh[i]) {
            h->fresh[i] = 0;
            add_bit(r->inside, i);
        }
}

/* The port's queue has room; a packet longer than it enters when nothing waits there. */
static inline bool may_land(const struct router *r, const struct crossbar_output *out, const struct router_output *o)
{
    return out->flits < r->port_out || out->head == o->landing;
}

static void land_flit(struct router *r, struct crossbar_head *h, uint32_t output, uint64_t now)
{
    struct crossbar_output *out = &h->output[output];
    struct router_output *o = &r->output[output];
    struct arrival *packet = &out->slots[o->landing & h->output_mask];
    if (!o->landing_left)
        o->landing_left = packet->flits;
    o->buffered--;
    out->flits++;
    o->heard |= 1ull << r->link_out;
    if (--o->landing_left)
        return;
    packet->ready = now;
    o->landing++;
    add_bit(h->waiting, output);
    r->packets++;
    r->flits += packet->flits;
}

/* What is left of the cycle before, then what arrives in this one. */
static void outputs_cycle(struct router *r, struct crossbar_head *h, uint64_t now)
{
    for (uint32_t w = 0; w < r->output_words; w++)
        for (uint64_t left = r->used[w]; left; left &= left - 1) {
            uint32_t output = 64 * w + (uint32_t)__builtin_ctzll(left);
            struct router_output *o = &r->output[output];
            if (o->ready) {
                o->ready--;
                o->leaving |= 1ull << r->link_out;
            }
            o->ready += o->soon;
            o->soon = 0;
            o->buffered += advance(&o->leaving);
            o->held -= advance(&o->heard);
            if (o->buffered && may_land(r, &h->output[output], o))
                land_flit(r, h, output, now);
            if (!o->held)
                drop_bit(r->used, output);
        }
}

/* The packet at the front of an input, which has no output, asks for it from the next step on. */
static inline void ask(struct router *r, struct crossbar_head *h, uint32_t input)
{
    uint32_t output = first_packet(h, input)->output;
    struct crossbar_output *out = &h->output[output];
    add_bit(out->asking, input);
    if (out->holder == CROSSBAR_NO_INPUT)
        add_bit(r->asked, output);
}

static inline void flit_arrives(struct router *r, struct crossbar_head *h, uint32_t input)
{
    struct router_input *i = &r->input[input];
    if (i->present++)
        return;
    add_bit(r->present, input);
    if (i->owns)
        add_bit(r->owning, input);
    else
        ask(r, h, input);
}

/* A flit leaves the queue in front of the port, if there is one that has been pushed by now. */
static void enter_link(struct router *r, struct crossbar_head *h, uint32_t input, uint64_t now)
{
    struct crossbar_input *in = &h->input[input];
    struct router_input *i = &r->input[input];
    const struct crossing *c = &in->slots[i->entering & h->input_mask];
    if (c->pushed > now)
        return;
    in->flits--;
    in->left_at[in->left++ & h->left_mask] = now + 1;
    add_bit(h->gave, input);
    i->held++;
    i->coming |= 1ull << r->link_in;
    if (++i->entered == c->flits) {
        i->entered = 0;
        i->entering++;
    }
}

static void inputs_cycle(struct router *r, struct crossbar_head *h, uint64_t now)
{
    for (uint32_t w = 0; w < r->input_words; w++)
        for (uint64_t left = r->inside[w]; left; left &= left - 1) {
            uint32_t input = 64 * w + (uint32_t)__builtin_ctzll(left);
            struct crossbar_input *in = &h->input[input];
            struct router_input *i = &r->input[input];
            if (i->freed) {
                i->freed--;
                i->heard |= 1ull << r->link_in;
            }
            if (advance(&i->coming))
                flit_arrives(r, h, input);
            i->held -= advance(&i->heard);
            if (in->flits && i->held < r->buffer_in)
                enter_link(r, h, input, now);
            else if (!i->held && in->head == in->tail)
                drop_bit(r->inside, input);
        }
}

/* The asking input that comes first from the pointer on, round the end; there is one. */
static uint32_t pick(const struct router *r, const struct crossbar_output *out)
{
    uint32_t word = out->next / 64;
    uint64_t bits = out->asking[word] & ~0ull << out->next % 64;
    while (!bits) {
        word = word + 1 < r->input_words ? word + 1 : 0;
        bits = out->asking[word];
    }
    return 64 * word + (uint32_t)__builtin_ctzll(bits);
}

/* Gives an output to one of the packets that ask for it. */
static void give(struct router *r, struct crossbar_head *h, uint32_t output)
{
    struct crossbar_output *out = &h->output[output];
    uint32_t input = pick(r, out);
    const struct crossing *c = first_packet(h, input);
    struct arrival *place = &out->slots[out->tail++ & h->output_mask];
    *place = (struct arrival){.packet = c->packet, .flits = c->flits, .ready = NEVER};
    out->holder = (uint16_t)input;
    out->next = (uint16_t)(input + 1 < r->inputs ? input + 1 : 0);
    drop_bit(out->asking, input);
    drop_bit(r->asked, output);
    add_bit(r->owning, input);
    r->input[input].owns = true;
    r->input[input].left = c->flits;
}

static inline bool is_asked(const struct router *r, const struct crossbar_output *out)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < r->input_words; w++)
        any |= out->asking[w];
    return any != 0;
}

/* The last flit of a packet has moved: its output is free, and the packet after it asks for its own. */
static void end_packet(struct router *r, struct crossbar_head *h, uint32_t input, uint32_t output)
{
    r->input[input].owns = false;
    drop_bit(r->owning, input);
    h->output[output].holder = CROSSBAR_NO_INPUT;
    if (is_asked(r, &h->output[output]))
        add_bit(r->asked, output);
    h->input[input].head++;
    if (r->input[input].present)
        ask(r, h, input);
}

static void move_flit(struct router *r, struct crossbar_head *h, uint32_t input, bool last_step)
{
    struct router_input *i = &r->input[input];
    uint32_t output = first_packet(h, input)->output;
    struct router_output *o = &r->output[output];
    if (o->held >= r->buffer_out)
        return;
    i->freed++;
    o->held++;
    *(last_step ? &o->soon : &o->ready) += 1;
    add_bit(r->used, output);
    add_bit(r->moved, input);
    if (!--i->present) {
        drop_bit(r->present, input);
        drop_bit(r->owning, input);
    }
    if (!--i->left)
        end_packet(r, h, input, output);
}

/* What becomes free in a step is free in the next, and a packet that is given its output moves from the next on. */
static void take_step(struct router *r, struct crossbar_head *h, bool last_step)
{
    uint64_t moves[CROSSBAR_WORDS];
    for (uint32_t w = 0; w < r->input_words; w++)
        moves[w] = r->owning[w];
    for (uint32_t w = 0; w < r->output_words; w++)
        for (uint64_t left = r->asked[w]; left; left &= left - 1)
            give(r, h, 64 * w + (uint32_t)__builtin_ctzll(left));
    for (uint32_t w = 0; w < r->input_words; w++)
        for (uint64_t left = moves[w]; left; left &= left - 1)
            move_flit(r, h, 64 * w + (uint32_t)__builtin_ctzll(left), last_step);
}

void router_work(struct router *r, struct crossbar_head *h, uint64_t now)
{
    if (h->asks_at != NEVER)
        look_for_fresh(r, h);
    outputs_cycle(r, h, now);
    inputs_cycle(r, h, now);
    uint64_t standing[CROSSBAR_WORDS], any = 0;
    for (uint32_t w = 0; w < r->input_words; w++) {
        standing[w] = r->present[w];
        r->moved[w] = 0;
        any |= r->present[w];
    }
    for (uint32_t s = 0; any && s < r->speedup; s++)
        take_step(r, h, s + 1 == r->speedup);
    any = 0;
    for (uint32_t w = 0; w < r->input_words; w++) {
        r->stalls += (uint32_t)__builtin_popcountll(standing[w] & ~r->moved[w]);
        any |= r->inside[w];
    }
    for (uint32_t w = 0; w < r->output_words; w++)
        any |= r->used[w];
    h->match_at = any ? now + 1 : NEVER;
}

void router_count(const struct router *r, struct crossbar_counters *sums)
{
    sums->packets_out += r->packets;
    sums->flits_out += r->flits;
    sums->stalls += r->stalls;
}
