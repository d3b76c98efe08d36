/* The core's way into the interconnect, which the load/store unit and the front end use.
 *
 * How far a core may run ahead of the others: network.c. */
#ifndef HEDDLE_SM_NETWORK_H
#define HEDDLE_SM_NETWORK_H

#include "mem/address_map.h"
#include "mem/expected.h"
#include "mem/network.h"
#include "mem/pieces.h"

struct sm;

struct sm_network {
    struct network *requests;
    struct expected_answers *expected;
    const struct address_map *map;
    struct network_clock clock;
    /* Of a core that runs ahead of the others. */
    bool used;              /* its port was not empty when it began, or it has sent something since */
    uint64_t answered_at;   /* the first cycle in which something that it has sent since may be answered */
    struct piece_rules cut; /* each piece of a request is answered */
    uint32_t half;          /* slices in one half of an L2 that has two; 0 means that the L2 is one */
    uint32_t near;          /* the first slice of the half that is near to this core */
    uint32_t answer_cycles; /* the least time from a request to its answer */
    /* The bytes of the shortest packet that found no room; the owner runs the core again when there is some. 0 means
     * that no packet was refused. */
    uint32_t *blocked_bytes;
};

/* The slice that has an address. */
static inline uint8_t core_link_slice(const struct sm_network *n, uint64_t address)
{
    uint32_t slice = address_map_slice(n->map, address);
    if (n->half)
        slice = (slice < n->half ? slice : slice - n->half) + n->near;
    return (uint8_t)slice;
}

static inline uint32_t core_link_answers(const struct sm_network *n, const struct packet *request)
{
    return pieces_of_request(&n->cut, request);
}

static inline bool core_link_has_room(const struct sm_network *n, uint32_t port, uint32_t bytes, uint64_t now)
{
    return network_has_room_at(n->requests, port, bytes, network_tick(&n->clock, now));
}

void core_link_note_sent(struct sm_network *n, const struct packet *p, uint64_t now);

static inline void core_link_push(struct sm_network *n, uint32_t port, const struct packet *p, uint32_t bytes,
                                  uint64_t now)
{
    expected_add(n->expected, p, now);
    network_push(n->requests, port, p->slice, p, bytes, network_tick(&n->clock, now));
    core_link_note_sent(n, p, now);
}

#endif
