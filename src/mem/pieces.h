/* Pieces of a request: an L2 slice takes a sector at a time where its lines are sectored, and a line where not. */
#ifndef HEDDLE_MEM_PIECES_H
#define HEDDLE_MEM_PIECES_H

#include "mem/config.h"
#include "mem/packet.h"

struct delayed; /* delay_line.h */

struct piece_rules {
    uint32_t line_bytes;  /* of the L2; 0 means that there is none */
    uint32_t bytes;       /* requests are cut at multiples of this; 0 means that they are not cut */
    uint8_t line_sectors; /* all of a line */
    bool are_lines, upper_halves_slip, constants_share_miss, partial_writes;
};

/* Of an L2; all 0 where there is none. */
struct piece_rules pieces_of(const struct l2_config *l2);
/* What the request of d->packet is about: fills in d->sectors, d->base and d->whole. */
void pieces_name(const struct piece_rules *rules, struct delayed *d);
/* The next piece: the first sector left or, where lines are not sectored, all those left of its line. */
struct packet pieces_cut(const struct piece_rules *rules, struct delayed *d);
bool pieces_is_one(const struct piece_rules *rules, const struct delayed *d);
/* How many pieces a request comes to. pieces_count: of one that does not lie in one. */
uint32_t pieces_count(const struct piece_rules *rules, const struct packet *request);
static inline uint32_t pieces_of_request(const struct piece_rules *rules, const struct packet *request)
{
    uint64_t last = request->address + request->bytes - 1;
    return (request->address ^ last) & -(uint64_t)rules->bytes ? pieces_count(rules, request) : 1;
}

#endif
