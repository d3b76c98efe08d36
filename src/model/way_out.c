/* The way into the interconnect: how large a packet is there, and to which slice of the L2 it goes. */
#include "model/model.h"

enum { HEADER_BYTES = 8 };

static uint32_t bytes_with(const struct packet *p, uint32_t data_bytes)
{
    bool carries_data = packet_is_write(p) || p->kind == PACKET_ATOMIC;
    return HEADER_BYTES + (carries_data ? data_bytes : 0);
}

/* With the rule exact_sectors, stores and atomics that name their sectors carry these alone. Only a store that writes a
 * sector in part needs a header, for the mask that says which part. */
static uint32_t bytes_of(const struct sm *c, const struct packet *p)
{
    bool names_sectors = c->config->exact_sectors && c->wires.tells_written && p->sectors;
    uint32_t sector_bytes = packet_sectors(p->sectors) * SECTOR_BYTES;
    if (names_sectors && p->kind == PACKET_ATOMIC)
        return sector_bytes;
    if (names_sectors && p->kind == PACKET_STORE)
        return packet_writes_all(p) ? sector_bytes : HEADER_BYTES + sector_bytes;
    return bytes_with(p, p->bytes);
}

/* An L2 in two halves has each slice twice: a core asks the one in the half that is near to it. Cores are near to the
 * halves in turn, two by two. */
static uint8_t slice_of(const struct sm *c, uint64_t address)
{
    uint32_t slice = address_map_slice(c->wires.map, address), half = c->wires.half_slices;
    bool is_near_second = c->head.id / 2 % 2 == 0;
    if (half)
        slice = slice % half + (is_near_second ? half : 0);
    return (uint8_t)slice;
}

static uint64_t tick(const struct sm *c) { return network_tick(&c->wires.clock, c->now); }

bool model_send(struct sm *c, struct packet *p)
{
    uint32_t bytes = bytes_of(c, p);
    if (!network_has_room_at(c->wires.requests, c->head.port, bytes, tick(c)))
        return false;
    p->core = (uint16_t)c->head.id;
    p->slice = slice_of(c, p->address);
    network_push(c->wires.requests, c->head.port, p->slice, p, bytes, tick(c));
    return true;
}

void model_send_miss(struct sm *c, struct cache *cache, enum origin origin)
{
    if (!cache || !cache_has_miss(cache))
        return;
    struct packet *p = cache_miss_front(cache);
    p->origin = (uint8_t)origin;
    if (model_send(c, p))
        cache_miss_pop(cache);
}

uint32_t model_answers(const struct sm *c, const struct packet *request)
{
    return pieces_of_request(&c->wires.cut, request);
}
