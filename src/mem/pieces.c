/* Requests are cut where they leave the delay in front of a slice: all pieces of one have been delayed alike.
 *
 * Senders number the sectors of their own lines, which may be shorter or longer than the L2's, and may leave out some:
 * an L1 that asks for sectors that do not lie side by side names the address of the first, a write-back that of its
 * line, an access that of its segment. */
#include "mem/pieces.h"

#include "mem/delay_line.h"

struct piece_rules pieces_of(const struct l2_config *l2)
{
    const struct cache_config *cache = &l2->cache;
    if (!cache->sets)
        return (struct piece_rules){0};
    uint32_t bytes = cache->sector_bytes ? cache->sector_bytes : cache->line_bytes;
    return (struct piece_rules){.line_bytes = cache->line_bytes,
                                .bytes = bytes,
                                .line_sectors = (uint8_t)((1u << cache->line_bytes / SECTOR_BYTES) - 1),
                                .are_lines = cache->line_bytes / bytes == 1 && cache->line_bytes >= SECTOR_BYTES,
                                .upper_halves_slip = l2->upper_halves_slip,
                                .constants_share_miss = l2->constants_share_miss,
                                .partial_writes = cache->partial_writes};
}

static uint64_t sector_start(uint64_t address) { return address & ~(uint64_t)(SECTOR_BYTES - 1); }
static uint64_t last_byte(const struct packet *r) { return r->address + (r->bytes ? r->bytes - 1u : 0); }

/* One line of an L2 without sectors, as most requests are. */
static bool is_whole_line(const struct piece_rules *rules, const struct packet *r)
{
    return rules->are_lines && r->bytes == rules->line_bytes && !(r->address & (rules->line_bytes - 1)) &&
           r->sectors == rules->line_sectors && !packet_ends_silently(r);
}

/* Rule l2_upper_halves_slip, a mistake of GPGPU-Sim 4: the sectors of a line's upper half, numbered from the line's
 * beginning, are counted from the request's address, which puts them in the next line. Constants are cut apart from the
 * others there, and rightly. */
static bool upper_half_slips(const struct piece_rules *rules, const struct packet *r, uint32_t before, uint32_t touched)
{
    return rules->upper_halves_slip && touched > 1 && before * SECTOR_BYTES == rules->line_bytes / 2 &&
           r->kind != PACKET_CONST;
}

void pieces_name(const struct piece_rules *rules, struct delayed *d)
{
    const struct packet *r = &d->packet;
    if (is_whole_line(rules, r)) {
        d->sectors = d->packet.sectors = rules->line_sectors;
        d->whole = true;
        return;
    }
    uint64_t first = sector_start(r->address);
    uint32_t touched = (uint32_t)((sector_start(last_byte(r)) - first) / SECTOR_BYTES) + 1;
    uint32_t before = rules->line_bytes ? (uint32_t)(first & (rules->line_bytes - 1)) / SECTOR_BYTES : 0;
    uint32_t in_line = ((1u << touched) - 1) << before;
    d->sectors = r->sectors ? r->sectors : in_line;
    bool from_first = r->sectors && packet_ends_silently(r);
    d->whole = rules->bytes == 0 || (d->sectors == in_line && r->bytes && !from_first &&
                                     ((r->address ^ last_byte(r)) & -(uint64_t)rules->bytes) == 0);
    if (d->whole) {
        d->packet.sectors = (uint8_t)(rules->bytes ? in_line : r->sectors);
        return;
    }
    if (from_first)
        d->base = first;
    else if ((d->sectors & ~in_line) == 0)
        d->base = first - before * SECTOR_BYTES + (upper_half_slips(rules, r, before, touched) ? rules->line_bytes : 0);
    else
        d->base = first - (uint32_t)__builtin_ctz(d->sectors) * SECTOR_BYTES;
}

static uint64_t sector_address(const struct delayed *d, uint32_t n) { return d->base + (uint64_t)n * SECTOR_BYTES; }

static uint64_t first_sector(const struct delayed *d) { return sector_address(d, (uint32_t)__builtin_ctz(d->sectors)); }
static uint64_t last_sector(const struct delayed *d)
{
    return sector_address(d, 31u - (uint32_t)__builtin_clz(d->sectors));
}

/* Rule l2_constants_share_miss, a mistake of GPGPU-Sim 4: the last of a constant line's two sectors asks for data in
 * the first one's name. */
static bool constant_shares_miss(const struct piece_rules *rules, const struct packet *piece, bool last)
{
    return rules->constants_share_miss && piece->kind == PACKET_CONST && last;
}

struct packet pieces_cut(const struct piece_rules *rules, struct delayed *d)
{
    struct packet piece = d->packet;
    uint64_t start = first_sector(d), limit = (start & ~(uint64_t)(rules->bytes - 1)) + rules->bytes,
             end = last_sector(d);
    uint32_t names = d->sectors;
    if (end >= limit) { /* else it is all of the request */
        names &= ~(~0u << (limit - d->base) / SECTOR_BYTES);
        end = sector_address(d, 31u - (uint32_t)__builtin_clz(names));
    }
    d->sectors &= ~names;
    end += SECTOR_BYTES;
    uint64_t request_end = last_byte(&d->packet) + 1;
    if (start < d->packet.address && d->packet.address < end)
        start = d->packet.address;
    if (end - SECTOR_BYTES < request_end && request_end < end)
        end = request_end;
    piece.sectors = (uint8_t)names;
    piece.address = start;
    piece.bytes = (uint16_t)(end - start);
    if (constant_shares_miss(rules, &piece, d->sectors == 0))
        piece.twin = 1;
    if (rules->partial_writes && packet_is_write(&piece))
        piece.mask = packet_sector_bytes(&d->packet, (uint32_t)__builtin_ctz(names));
    else
        d->packet.mask = 0; /* an atomic takes effect once, with its first piece */
    return piece;
}

uint32_t pieces_count(const struct piece_rules *rules, const struct packet *request)
{
    struct delayed d = {.packet = *request};
    uint64_t piece = UINT64_MAX;
    uint32_t count = 0;
    pieces_name(rules, &d);
    if (d.whole)
        return 1;
    for (; d.sectors; d.sectors &= d.sectors - 1) {
        uint64_t next = first_sector(&d) & -(uint64_t)rules->bytes;
        count += next != piece;
        piece = next;
    }
    return count;
}

bool pieces_is_one(const struct piece_rules *rules, const struct delayed *d)
{
    return d->whole || last_sector(d) / rules->bytes == first_sector(d) / rules->bytes;
}
