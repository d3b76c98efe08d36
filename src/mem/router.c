/* An input-queued router with one virtual channel, after GPGPU-Sim's network (a butterfly of one stage, iSLIP with one
 * iteration), flit by flit.
 *
 * A packet waits in the queue in front of its port (injection_flits). One flit per cycle enters the link to the router,
 * if the router's buffer for the input has room as far as the port knows: it hears of a flit that has left as long
 * after that as a flit needs for the link. The router takes `speedup` steps per cycle. In a step, an input whose first
 * packet has no output asks for it; an output that belongs to no packet is given to one of those that ask, from a
 * rotating pointer; and each packet that was given its output in an earlier step moves one flit, if there is room
 * after the output. With its last flit it gives the output back, for the next step. So a packet of n flits holds its
 * input and its output for n + 1 steps, and packets of one flit pass at the rate of one per cycle with speedup 2. One
 * flit per cycle leaves the router at each output: what moved in the last step of a cycle not before the next. After
 * the link it goes into the port's queue (ejection_flits), from which whole packets are taken; while that is full it
 * stays in the buffer before it, and the router hears of each flit that has left the buffer, a link later.
 *
 * The two links together take hop_cycles. In an empty network a packet of n flits, pushed before cycle t, can be taken
 * after cycle t + hop_cycles + n. Left out: several virtual channels, several stages, delays of routing and allocation
 * beyond those of a step. */
#include "mem/network.h"

#include <stdio.h>

#define NEVER UINT64_MAX

enum { LINKS_MOST = 120 }; /* cycles of both: each is a word of bits */
enum { NO_INPUT = UINT16_MAX };

struct router_input {
    uint32_t present;       /* flits in the router's buffer */
    uint32_t held;          /* places of that buffer which the port does not know to be free */
    uint32_t left;          /* flits of the first packet that have not moved, where it has its output */
    uint32_t freed;         /* places that the port is to hear of, one per cycle */
    uint64_t coming, heard; /* on the links: bit n, in n cycles */
    uint64_t entering;      /* packet of the port's queue whose flits are the next to enter the link */
    uint32_t entered;       /* of its flits */
    bool owns;              /* its first packet has been given its output */
};

struct router_output {
    uint64_t asking[NETWORK_WORDS]; /* inputs whose first packet asks for it */
    uint16_t holder;                /* input whose packet it belongs to, or NO_INPUT */
    uint16_t next;                  /* input that is asked first for the next packet */
    uint32_t held;           /* places of the buffer after the output which the router does not know to be free */
    uint32_t ready, soon;    /* flits at the output: may leave in this cycle, in the next */
    uint32_t buffered;       /* flits in front of the port's queue */
    uint64_t landing;        /* packet of the output's queue whose flits are the next to enter it */
    uint32_t landing_left;   /* of its flits; 0 means that it has not begun */
    uint64_t leaving, heard; /* on the links */
};

struct router {
    uint32_t speedup;
    uint32_t buffer_in, buffer_out;  /* flits: the router's for an input, after an output */
    uint32_t port_out;               /* flits: the port's queue at an output */
    uint32_t link_in, link_out;      /* cycles */
    uint64_t inside[NETWORK_WORDS];  /* inputs with packets, or with news on the link */
    uint64_t present[NETWORK_WORDS]; /* inputs with flits in the router */
    uint64_t owning[NETWORK_WORDS];  /* of those, whose packet has its output */
    uint64_t moved[NETWORK_WORDS];   /* inputs of which a flit has moved in this cycle */
    uint64_t used[NETWORK_WORDS];    /* outputs with flits, or with news on the link */
    uint64_t asked[NETWORK_WORDS];   /* outputs that belong to no packet and that some input asks for */
    struct router_input *input;
    struct router_output *output;
};

static bool misfit(struct network_misfit *why, const uint32_t *first, const uint32_t *second)
{
    why->fields[0] = first;
    why->fields[1] = second;
    return false;
}

static bool router_fits(const struct network_config *c, struct network_misfit *why)
{
    if (!c->injection_flits || !c->ejection_flits) {
        snprintf(why->text, sizeof why->text,
                 "interconnect.injection_flits = %u but interconnect.ejection_flits = %u: a router has both, a network "
                 "without one none",
                 c->injection_flits, c->ejection_flits);
        return misfit(why, &c->injection_flits, &c->ejection_flits);
    }
    if (c->injection_flits >= c->input_flits) {
        snprintf(why->text, sizeof why->text,
                 "interconnect.injection_flits = %u leaves the router nothing of an input buffer of %u flits "
                 "(input_buffer_flits)",
                 c->injection_flits, c->input_flits);
        return misfit(why, &c->injection_flits, &c->input_flits);
    }
    if (c->ejection_flits >= c->output_flits) {
        snprintf(why->text, sizeof why->text,
                 "interconnect.ejection_flits = %u leaves nothing in front of it of an output buffer of %u flits "
                 "(output_buffer_flits)",
                 c->ejection_flits, c->output_flits);
        return misfit(why, &c->ejection_flits, &c->output_flits);
    }
    if (c->hop_cycles < 2 || c->hop_cycles > LINKS_MOST) {
        snprintf(why->text, sizeof why->text,
                 "interconnect.hop_cycles = %u: expected 2 to %d with a router (interconnect.injection_flits), to and "
                 "from which it is",
                 c->hop_cycles, LINKS_MOST);
        return misfit(why, &c->hop_cycles, &c->injection_flits);
    }
    return true;
}

static void *router_create(struct network *n, struct arena *a, const struct network_config *c)
{
    struct router *r = arena_new(a, struct router);
    n->input_room = c->injection_flits;
    n->flits_per_cycle = 1;
    n->least_cycles = c->hop_cycles;
    *r = (struct router){.speedup = c->speedup,
                         .buffer_in = c->input_flits - c->injection_flits,
                         .buffer_out = c->output_flits - c->ejection_flits,
                         .port_out = c->ejection_flits,
                         .link_in = c->hop_cycles / 2,
                         .link_out = c->hop_cycles - c->hop_cycles / 2,
                         .input = arena_lines(a, struct router_input, n->inputs),
                         .output = arena_lines(a, struct router_output, n->outputs)};
    for (uint32_t o = 0; o < n->outputs; o++)
        r->output[o].holder = NO_INPUT;
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

static inline const struct network_packet *first_packet(const struct network *n, uint32_t input)
{
    return network_first_in(n, &n->input[input]);
}

/* Inputs that were empty and have been pushed to. */
static void look_for_fresh(struct router *r, struct network *n)
{
    n->fresh_at = NEVER;
    for (uint32_t w = 0; w < n->input_words; w++)
        r->inside[w] |= network_take_fresh(n, w);
}

/* The port's queue has room; a packet longer than it enters when nothing waits there. */
static inline bool may_land(const struct router *r, const struct network_output *out, const struct router_output *o)
{
    return out->flits < r->port_out || out->head == o->landing;
}

static void land_flit(struct router *r, struct network *n, uint32_t output, uint64_t now)
{
    struct network_output *out = &n->output[output];
    struct router_output *o = &r->output[output];
    struct arrival *packet = &out->slots[o->landing & n->output_mask];
    if (!o->landing_left)
        o->landing_left = packet->flits;
    o->buffered--;
    out->flits++;
    o->heard |= 1ull << r->link_out;
    if (--o->landing_left)
        return;
    packet->ready = now;
    o->landing++;
    network_arrive(n, output, now);
}

/* What is left of the cycle before, then what arrives in this one. */
static void outputs_cycle(struct router *r, struct network *n, uint64_t now)
{
    for (uint32_t w = 0; w < n->output_words; w++)
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
            if (o->buffered && may_land(r, &n->output[output], o))
                land_flit(r, n, output, now);
            if (!o->held)
                drop_bit(r->used, output);
        }
}

/* The packet at the front of an input, which has no output, asks for it from the next step on. */
static inline void ask(struct router *r, const struct network *n, uint32_t input)
{
    uint32_t output = first_packet(n, input)->output;
    add_bit(r->output[output].asking, input);
    if (r->output[output].holder == NO_INPUT)
        add_bit(r->asked, output);
}

static inline void flit_arrives(struct router *r, const struct network *n, uint32_t input)
{
    struct router_input *i = &r->input[input];
    if (i->present++)
        return;
    add_bit(r->present, input);
    if (i->owns)
        add_bit(r->owning, input);
    else
        ask(r, n, input);
}

/* A flit leaves the queue in front of the port, if there is one that has been pushed by now. */
static void enter_link(struct router *r, struct network *n, uint32_t input, uint64_t now)
{
    struct network_input *in = &n->input[input];
    struct router_input *i = &r->input[input];
    const struct network_packet *p = &in->slots[i->entering & n->input_mask];
    if (p->pushed > now)
        return;
    network_flit_leaves(n, in, now);
    network_note_given(n, input);
    i->held++;
    i->coming |= 1ull << r->link_in;
    if (++i->entered == p->flits) {
        i->entered = 0;
        i->entering++;
    }
}

static void inputs_cycle(struct router *r, struct network *n, uint64_t now)
{
    for (uint32_t w = 0; w < n->input_words; w++)
        for (uint64_t left = r->inside[w]; left; left &= left - 1) {
            uint32_t input = 64 * w + (uint32_t)__builtin_ctzll(left);
            const struct network_input *in = &n->input[input];
            struct router_input *i = &r->input[input];
            if (i->freed) {
                i->freed--;
                i->heard |= 1ull << r->link_in;
            }
            if (advance(&i->coming))
                flit_arrives(r, n, input);
            i->held -= advance(&i->heard);
            if (in->left != in->flits_in && i->held < r->buffer_in)
                enter_link(r, n, input, now);
            else if (!i->held && in->head == in->tail)
                drop_bit(r->inside, input);
        }
}

/* The asking input that comes first from the pointer on, round the end; there is one. */
static uint32_t pick(const struct network *n, const struct router_output *o)
{
    uint32_t word = o->next / 64;
    uint64_t bits = o->asking[word] & ~0ull << o->next % 64;
    while (!bits) {
        word = word + 1 < n->input_words ? word + 1 : 0;
        bits = o->asking[word];
    }
    return 64 * word + (uint32_t)__builtin_ctzll(bits);
}

/* Gives an output to one of the packets that ask for it. */
static void give(struct router *r, struct network *n, uint32_t output)
{
    struct router_output *o = &r->output[output];
    uint32_t input = pick(n, o);
    const struct network_packet *p = first_packet(n, input);
    network_place(n, output, &p->packet, p->flits, NEVER);
    o->holder = (uint16_t)input;
    o->next = (uint16_t)(input + 1 < n->inputs ? input + 1 : 0);
    drop_bit(o->asking, input);
    drop_bit(r->asked, output);
    add_bit(r->owning, input);
    r->input[input].owns = true;
    r->input[input].left = p->flits;
}

static inline bool is_asked(const struct network *n, const struct router_output *o)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < n->input_words; w++)
        any |= o->asking[w];
    return any != 0;
}

/* The last flit of a packet has moved: its output is free, and the packet after it asks for its own. */
static void end_packet(struct router *r, struct network *n, uint32_t input, uint32_t output)
{
    r->input[input].owns = false;
    drop_bit(r->owning, input);
    r->output[output].holder = NO_INPUT;
    if (is_asked(n, &r->output[output]))
        add_bit(r->asked, output);
    n->input[input].head++;
    if (r->input[input].present)
        ask(r, n, input);
}

static void move_flit(struct router *r, struct network *n, uint32_t input, bool last_step)
{
    struct router_input *i = &r->input[input];
    uint32_t output = first_packet(n, input)->output;
    struct router_output *o = &r->output[output];
    if (o->held >= r->buffer_out)
        return;
    i->freed++;
    o->held++;
    if (last_step)
        o->soon++;
    else
        o->ready++;
    add_bit(r->used, output);
    add_bit(r->moved, input);
    if (!--i->present) {
        drop_bit(r->present, input);
        drop_bit(r->owning, input);
    }
    if (!--i->left)
        end_packet(r, n, input, output);
}

/* What becomes free in a step is free in the next, and a packet that is given its output moves from the next on. */
static void take_step(struct router *r, struct network *n, bool last_step)
{
    uint64_t moves[NETWORK_WORDS];
    memcpy(moves, r->owning, sizeof moves);
    for (uint32_t w = 0; w < n->output_words; w++)
        for (uint64_t left = r->asked[w]; left; left &= left - 1)
            give(r, n, 64 * w + (uint32_t)__builtin_ctzll(left));
    for (uint32_t w = 0; w < n->input_words; w++)
        for (uint64_t left = moves[w]; left; left &= left - 1)
            move_flit(r, n, 64 * w + (uint32_t)__builtin_ctzll(left), last_step);
}

static bool any_of(const uint64_t *words, uint32_t count)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < count; w++)
        any |= words[w];
    return any != 0;
}

static void router_work(struct network *n, uint64_t now)
{
    struct router *r = n->state;
    uint64_t standing[NETWORK_WORDS];
    if (n->fresh_at != NEVER)
        look_for_fresh(r, n);
    outputs_cycle(r, n, now);
    inputs_cycle(r, n, now);
    memcpy(standing, r->present, sizeof standing);
    memset(r->moved, 0, sizeof r->moved);
    bool has_flits = any_of(r->present, n->input_words);
    for (uint32_t s = 0; has_flits && s < r->speedup; s++)
        take_step(r, n, s + 1 == r->speedup);
    for (uint32_t w = 0; w < n->input_words; w++)
        n->stalls += (uint32_t)__builtin_popcountll(standing[w] & ~r->moved[w]);
    bool goes_on = any_of(r->inside, n->input_words) || any_of(r->used, n->output_words);
    n->work_at = goes_on ? now + 1 : NEVER;
}

const struct network_ops router_network = {.create = router_create, .work = router_work, .fits = router_fits};
