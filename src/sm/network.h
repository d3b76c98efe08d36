/* The core's way into the interconnect, which the load/store unit and the front end use.
 *
 * Holds what a core that runs ahead of the others has done, and what it knows of its port and of the answers that will
 * come. How far it may run: network.c. */
#ifndef HEDDLE_SM_NETWORK_H
#define HEDDLE_SM_NETWORK_H

#include "exec/exec.h"
#include "mem/address_map.h"
#include "mem/network.h"
#include "mem/pieces.h"

struct sm;

enum { SM_KEPT_ACCESSES = 32 };

/* A load or store of device memory that is kept: it has issued, and takes effect when the other cores have come to its
 * cycle. */
struct kept_access {
    uint64_t cycle;
    uint16_t id, slot; /* of the instruction */
    bool store;
    struct exec_kept exec;
};

/* Kept accesses, in the order of their cycles. */
struct sm_kept {
    struct kept_access accesses[SM_KEPT_ACCESSES];
};

struct sm_network {
    struct network *requests;
    struct expected_answers *expected;
    /* Facts about the core's run ahead of the others. */
    bool keeps;  /* loads and stores are kept (struct sm_wires) */
    bool stops;  /* a kept load may end: the core may run no further */
    bool merged; /* a kept load waits for a line for which an earlier miss is outstanding */
    bool used;   /* the core's port was not empty when it began, or the core has sent something since */
    const struct address_map *map;
    struct network_clock clock;
    uint64_t room_at; /* the cycle in which the port has room for blocked_bytes; UINT64_MAX means not known */
    /* The first cycle in which something that it has sent while running ahead may be answered. */
    uint64_t answered_at;
    struct piece_rules cut; /* each piece of a request is answered */
    uint32_t half;          /* slices in one half of an L2 that has two; 0 means that the L2 is one */
    uint32_t near;          /* the first slice of the half that is near to this core */
    uint32_t answer_cycles; /* the least time from a request to its answer */
    /* The bytes of the shortest packet that found no room; the owner runs the core again when there is some. 0 means
     * that no packet was refused. */
    uint32_t *blocked_bytes;
    uint16_t access_first, access_count; /* of `kept`: those from the first on have not taken effect yet */
    struct sm_kept *kept;
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

/* Has the network been run for this cycle? Then it is known what has left the port before the cycle. Otherwise only a
 * lower bound is. */
static inline bool core_link_is_known(const struct sm_network *n, uint64_t now) { return now < *n->clock.run_until; }

static inline bool core_link_has_room(const struct sm_network *n, uint32_t port, uint32_t bytes, uint64_t now)
{
    return network_has_room_at(n->requests, port, bytes, network_tick(&n->clock, now));
}

/* The core is run again in the cycle in which its port has room for blocked_bytes, as far as that is known. */
void core_link_await_room(struct sm *c);
void core_link_note_sent(struct sm_network *n, const struct packet *p, uint64_t now);

static inline void core_link_push(struct sm_network *n, uint32_t port, const struct packet *p, uint32_t bytes,
                                  uint64_t now)
{
    expected_add(n->expected, p, now);
    network_push(n->requests, port, p->slice, p, bytes, network_tick(&n->clock, now));
    core_link_note_sent(n, p, now);
}

#endif
