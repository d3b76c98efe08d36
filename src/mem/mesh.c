/* A two-dimensional mesh: a router for each core port and each slice, in rows and columns, linked to its neighbours to
 * the north, east, south and west (the textbook network on a chip: Dally and Towles, Principles and Practices of
 * Interconnection Networks, chapters 5, 8, 12, 13 and 16). Requests and replies have a mesh each.
 *
 * Places. Slices lie at the upper and lower edge, since DRAM channels are connected there; those with even numbers
 * above, those with odd numbers below; they fill rows from the edge inwards. Core ports fill the rows between, from top
 * to bottom. Ports that do not fill their last row are spread over it. mesh_columns says how long a row is; 0 means as
 * long as in the smallest square that has a place for each port. Routers in places that stay empty only pass flits on.
 *
 * Routing is XY: along the row to the column of the output, then along the column. It is deterministic, so packets from
 * an input to an output stay in order, and no circle of packets can wait for one another.
 *
 * Flow control is wormhole: a packet holds an output of a router from its first flit to its last there, but its flits
 * may be spread over several routers. There is one virtual channel. In a cycle each output of each router moves one
 * flit: of the packet that holds it, or of one of those whose first flit asks for it, from a rotating pointer; if the
 * buffer at the other end has a free place (mesh_buffer_flits, one buffer per neighbour). A flit that moves in cycle t
 * may move on in cycle t + hop, hop = mesh_router_cycles + mesh_link_cycles. Its place in the buffer that it left may
 * be taken by a flit that moves in cycle t + mesh_link_cycles or later: so long does the credit need. A buffer of hop +
 * mesh_link_cycles flits keeps a link busy.
 *
 * An input of the network is the queue from which its router takes flits, as from a fifth neighbour; an output is such
 * a fifth neighbour too, at a distance of one hop. So a packet of k flits that crosses d links, and is pushed before
 * cycle n into an empty mesh, can be taken after cycle n + (d + 1) * hop + k - 1.
 *
 * Left out: several virtual channels, adaptive routes, several ports per router, and that the links to ports are
 * shorter than others. */
#include "mem/network.h"

#define NEVER UINT64_MAX

enum side { NORTH, EAST, SOUTH, WEST, PORT, SIDES, NOBODY = SIDES };
enum { NO_PORT = UINT16_MAX };

struct mesh_place {
    uint64_t at;     /* with a flit: it may move from this cycle on; free: a flit may be sent here from this cycle on */
    uint32_t packet; /* the flit's: of mesh.packets */
};

/* Of a router, for one neighbour. */
struct mesh_buffer {
    struct mesh_place *places; /* a ring */
    uint64_t head, tail;       /* flits that have moved on, flits sent here: both only grow */
};

struct mesh_router {
    struct mesh_buffer buffer[PORT];
    uint32_t column, row;
    uint32_t left[SIDES];   /* flits of the first packet from a side that have yet to move; 0 means that none has */
    uint32_t entering;      /* packet whose flits are moving out of the input's queue: of mesh.packets */
    uint8_t holder[SIDES];  /* side whose packet an output belongs to, or NOBODY */
    uint8_t next[SIDES];    /* side that an output asks first for the next packet */
    uint16_t input, output; /* the port of the network in this place, or NO_PORT */
};

/* A packet whose first flit has left its input, and whose last has not reached its output. */
struct mesh_packet {
    struct packet packet;
    uint32_t flits, output;
};

struct mesh {
    uint32_t cores, slices; /* ports of the network */
    uint32_t columns, rows, nodes, node_words;
    uint32_t buffer_flits, ring_mask;  /* of a buffer: its places, and the size of its ring less 1 */
    uint32_t move_cycles, link_cycles; /* a hop, and the way of a credit */
    uint32_t output_flits;
    struct mesh_router *router;
    uint16_t *home_of_input, *home_of_output; /* routers of ports */
    uint64_t *active;                         /* routers with flits, or with packets in their input */
    struct mesh_packet *packets;
    uint32_t *free_packets, free_count;
};

/* Places. */

/* Rows for `count` ports, of which the last may be half full. */
static uint32_t rows_for(uint32_t count, uint32_t columns) { return (count + columns - 1) / columns; }

/* Where the i-th of `count` ports is, which fill rows one after the other; those of the last row are spread over it. */
static void place_in_rows(uint32_t i, uint32_t count, uint32_t columns, uint32_t *row, uint32_t *column)
{
    *row = i / columns;
    uint32_t in_row = count - *row * columns;
    if (in_row > columns)
        in_row = columns;
    *column = i % columns * columns / in_row;
}

static uint32_t slices_above(const struct mesh *m) { return (m->slices + 1) / 2; }
static uint32_t slices_below(const struct mesh *m) { return m->slices / 2; }

static void set_shape(struct mesh *m, uint32_t columns)
{
    m->columns = columns;
    while (columns == 0 && m->columns * m->columns < m->cores + m->slices)
        m->columns++;
    m->rows =
        rows_for(slices_above(m), m->columns) + rows_for(m->cores, m->columns) + rows_for(slices_below(m), m->columns);
    m->nodes = m->columns * m->rows;
    m->node_words = (m->nodes + 63) / 64;
}

static uint16_t home_of_slice(const struct mesh *m, uint32_t slice)
{
    uint32_t row, column;
    if (slice % 2 == 0) {
        place_in_rows(slice / 2, slices_above(m), m->columns, &row, &column);
    } else {
        place_in_rows(slice / 2, slices_below(m), m->columns, &row, &column);
        row = m->rows - 1 - row;
    }
    return (uint16_t)(row * m->columns + column);
}

static uint16_t home_of_core(const struct mesh *m, uint32_t core)
{
    uint32_t row, column;
    place_in_rows(core, m->cores, m->columns, &row, &column);
    return (uint16_t)((rows_for(slices_above(m), m->columns) + row) * m->columns + column);
}

static void place_ports(struct mesh *m, const struct network *n, struct arena *a)
{
    uint16_t *home_of_slices = arena_array(a, uint16_t, m->slices);
    uint16_t *home_of_cores = arena_array(a, uint16_t, m->cores);
    for (uint32_t s = 0; s < m->slices; s++)
        home_of_slices[s] = home_of_slice(m, s);
    for (uint32_t c = 0; c < m->cores; c++)
        home_of_cores[c] = home_of_core(m, c);
    bool to_slices = n->direction == NETWORK_REQUESTS;
    m->home_of_input = to_slices ? home_of_cores : home_of_slices;
    m->home_of_output = to_slices ? home_of_slices : home_of_cores;
    for (uint32_t i = 0; i < n->inputs; i++)
        m->router[m->home_of_input[i]].input = (uint16_t)i;
    for (uint32_t o = 0; o < n->outputs; o++)
        m->router[m->home_of_output[o]].output = (uint16_t)o;
}

/* How it is made. */

static void create_router(const struct mesh *m, struct arena *a, uint32_t node)
{
    struct mesh_router *r = &m->router[node];
    r->column = node % m->columns;
    r->row = node / m->columns;
    r->input = r->output = NO_PORT;
    for (int side = 0; side < PORT; side++)
        r->buffer[side].places = arena_array(a, struct mesh_place, m->ring_mask + 1);
    for (int side = 0; side < SIDES; side++)
        r->holder[side] = NOBODY;
}

/* Each packet on its way has a flit in some buffer, or is half out of an input. */
static void create_packets(struct mesh *m, struct arena *a, uint32_t inputs)
{
    m->free_count = m->nodes * PORT * m->buffer_flits + inputs;
    m->packets = arena_array(a, struct mesh_packet, m->free_count);
    m->free_packets = arena_array(a, uint32_t, m->free_count);
    for (uint32_t i = 0; i < m->free_count; i++)
        m->free_packets[i] = i;
}

static void *mesh_create(struct network *n, struct arena *a, const struct network_config *c)
{
    struct mesh *m = arena_new(a, struct mesh);
    bool to_slices = n->direction == NETWORK_REQUESTS;
    m->cores = to_slices ? n->inputs : n->outputs;
    m->slices = to_slices ? n->outputs : n->inputs;
    m->link_cycles = c->mesh_link_cycles;
    m->move_cycles = c->mesh_router_cycles + c->mesh_link_cycles;
    n->input_room = c->input_flits;
    n->flits_per_cycle = 1;
    n->least_cycles = 2 * m->move_cycles; /* no input shares a router with an output */
    n->arrival_cycles = m->move_cycles;
    set_shape(m, c->mesh_columns);
    m->output_flits = c->output_flits;
    m->buffer_flits = c->mesh_buffer_flits;
    m->ring_mask = 0;
    while (m->ring_mask + 1 < m->buffer_flits)
        m->ring_mask = 2 * m->ring_mask + 1;
    m->router = arena_lines(a, struct mesh_router, m->nodes);
    m->active = arena_array(a, uint64_t, m->node_words);
    for (uint32_t node = 0; node < m->nodes; node++)
        create_router(m, a, node);
    place_ports(m, n, a);
    create_packets(m, a, n->inputs);
    return m;
}

/* Its cycle. Routers may be visited in any order: a flit that moves, and a place that becomes free, are seen by others
 * in later cycles only. */

static void activate(struct mesh *m, uint32_t node) { m->active[node / 64] |= 1ull << node % 64; }

static enum side side_towards(const struct mesh *m, const struct mesh_router *r, uint32_t output)
{
    const struct mesh_router *home = &m->router[m->home_of_output[output]];
    if (home->column != r->column)
        return home->column > r->column ? EAST : WEST;
    if (home->row != r->row)
        return home->row > r->row ? SOUTH : NORTH;
    return PORT;
}

static uint32_t neighbour(const struct mesh *m, uint32_t node, enum side side)
{
    switch (side) {
    case NORTH: return node - m->columns;
    case SOUTH: return node + m->columns;
    case EAST: return node + 1;
    default: return node - 1;
    }
}

static enum side opposite(enum side side) { return (side + 2) % PORT; }

/* What comes from a side: the output of the network that its first flit is for, and from when on that flit may move.
 * NEVER means that there is none. */
static uint64_t first_flit(const struct mesh *m, const struct network *n, const struct mesh_router *r, enum side from,
                           uint32_t *output)
{
    if (from != PORT) {
        const struct mesh_buffer *b = &r->buffer[from];
        if (b->head == b->tail)
            return NEVER;
        const struct mesh_place *place = &b->places[b->head & m->ring_mask];
        *output = m->packets[place->packet].output;
        return place->at;
    }
    if (r->input == NO_PORT || n->input[r->input].head == n->input[r->input].tail)
        return NEVER;
    const struct network_packet *p = network_first_in(n, &n->input[r->input]);
    *output = p->output;
    return p->pushed;
}

/* The buffer has a free place, and its router would know by now. */
static bool has_place(const struct mesh *m, const struct mesh_buffer *b, uint64_t now)
{
    if (b->tail < m->buffer_flits)
        return true;
    return b->tail - b->head < m->buffer_flits && b->places[(b->tail - m->buffer_flits) & m->ring_mask].at <= now;
}

/* Is there room behind an output of a router? In the network's own output a packet longer than its buffer has room if
 * no other is there. */
static bool has_room(struct mesh *m, struct network *n, uint32_t node, enum side to, uint64_t now)
{
    if (to != PORT)
        return has_place(m, &m->router[neighbour(m, node, to)].buffer[opposite(to)], now);
    const struct network_output *out = &n->output[m->router[node].output];
    return out->flits < m->output_flits || out->head == out->tail;
}

/* A flit leaves the queue of its router's input. Returns its packet. */
static uint32_t take_from_input(struct mesh *m, struct network *n, struct mesh_router *r, uint64_t now)
{
    struct network_input *in = &n->input[r->input];
    const struct network_packet *p = network_first_in(n, in);
    if (!r->left[PORT]) {
        r->entering = m->free_packets[--m->free_count];
        r->left[PORT] = p->flits;
        m->packets[r->entering] = (struct mesh_packet){.packet = p->packet, .flits = p->flits, .output = p->output};
    }
    network_flit_leaves(n, in, now);
    network_note_given(n, r->input);
    if (--r->left[PORT] == 0)
        in->head++;
    return r->entering;
}

static uint32_t take_from_buffer(const struct mesh *m, struct mesh_router *r, enum side from, uint64_t now)
{
    struct mesh_buffer *b = &r->buffer[from];
    struct mesh_place *place = &b->places[b->head++ & m->ring_mask];
    place->at = now + m->link_cycles;
    if (!r->left[from])
        r->left[from] = m->packets[place->packet].flits;
    r->left[from]--;
    return place->packet;
}

static void put_into_output(struct mesh *m, struct network *n, uint32_t packet, bool is_last, uint64_t now)
{
    const struct mesh_packet *p = &m->packets[packet];
    n->output[p->output].flits++;
    if (!is_last)
        return;
    network_place(n, p->output, &p->packet, p->flits, now + m->move_cycles);
    network_arrive(n, p->output, now + m->move_cycles);
    m->free_packets[m->free_count++] = packet;
}

static void put_into_buffer(struct mesh *m, uint32_t node, enum side to, uint32_t packet, uint64_t now)
{
    uint32_t there = neighbour(m, node, to);
    struct mesh_buffer *b = &m->router[there].buffer[opposite(to)];
    b->places[b->tail++ & m->ring_mask] = (struct mesh_place){.at = now + m->move_cycles, .packet = packet};
    activate(m, there);
}

static void move_flit(struct mesh *m, struct network *n, uint32_t node, enum side from, enum side to, uint64_t now)
{
    struct mesh_router *r = &m->router[node];
    uint32_t packet = from == PORT ? take_from_input(m, n, r, now) : take_from_buffer(m, r, from, now);
    bool is_last = r->left[from] == 0;
    r->holder[to] = (uint8_t)(is_last ? NOBODY : from);
    if (to == PORT)
        put_into_output(m, n, packet, is_last, now);
    else
        put_into_buffer(m, node, to, packet, now);
}

/* The side whose flit an output moves next, of those in the bit set `asking`; NOBODY if there is none. */
static enum side choose(struct mesh_router *r, enum side to, uint32_t asking)
{
    if (r->holder[to] != NOBODY)
        return asking >> r->holder[to] & 1 ? r->holder[to] : NOBODY;
    if (!asking)
        return NOBODY;
    uint32_t from = r->next[to];
    while (!(asking >> from & 1))
        from = from + 1 < SIDES ? from + 1 : 0;
    r->next[to] = (uint8_t)(from + 1 < SIDES ? from + 1 : 0);
    return from;
}

/* One cycle of a router. Returns the next cycle in which it may have something to do; NEVER: after something comes. */
static uint64_t router_cycle(struct mesh *m, struct network *n, uint32_t node, uint64_t now)
{
    struct mesh_router *r = &m->router[node];
    uint32_t asking[SIDES] = {0}, output = 0;
    uint64_t next = NEVER;
    bool port_asks = false;
    for (enum side from = 0; from < SIDES; from++) {
        uint64_t at = first_flit(m, n, r, from, &output);
        if (at <= now) {
            asking[side_towards(m, r, output)] |= 1u << from;
            port_asks |= from == PORT;
            at = now + 1;
        }
        next = at < next ? at : next;
    }
    for (enum side to = 0; to < SIDES; to++) {
        if (!asking[to] || !has_room(m, n, node, to, now))
            continue;
        enum side from = choose(r, to, asking[to]);
        if (from == NOBODY)
            continue;
        move_flit(m, n, node, from, to, now);
        port_asks &= from != PORT;
    }
    n->stalls += port_asks;
    return next;
}

static void mesh_work(struct network *n, uint64_t now)
{
    struct mesh *m = n->state;
    uint64_t next = NEVER;
    n->fresh_at = NEVER;
    for (uint32_t w = 0; w < n->input_words; w++)
        for (uint64_t fresh = network_take_fresh(n, w); fresh; fresh &= fresh - 1)
            activate(m, m->home_of_input[64 * w + (uint32_t)__builtin_ctzll(fresh)]);
    for (uint32_t w = 0; w < m->node_words; w++)
        for (uint64_t left = m->active[w]; left; left &= left - 1) {
            uint64_t at = router_cycle(m, n, 64 * w + (uint32_t)__builtin_ctzll(left), now);
            if (at == NEVER)
                m->active[w] &= ~(left & -left);
            next = at < next ? at : next;
        }
    n->work_at = next;
}

const struct network_ops mesh_network = {.create = mesh_create, .work = mesh_work};
