/* A cache: see cache.h. Follows GPGPU-Sim's data and read-only caches.
 *
 * The state of a line is three sets of 32-byte sectors: valid, reserved (on its way), modified. A cache without sectors
 * is one in which every access needs all sectors of its line. Where lines stand is the matter of cache_sets.h, which of
 * them are on their way that of mshr.h.
 *
 * With config->partial_writes, a cache with sectors remembers which bytes stores have written of a sector that a store
 * has taken. In an L1, such a sector is fetched when a load needs bytes that no store has written; in an L2, which does
 * not know which bytes a load needs, when it is read before all its bytes have been written. Without partial_writes,
 * and in caches without sectors, a sector that a store takes counts as written wholly, and a later read of it hits.
 *
 * Left out: a request for several sectors, of which some are on their way already, asks for the rest and waits for the
 * latest only. */
#include "mem/cache_inside.h"

#include "base/likely.h"

#include <assert.h>
#include <string.h>

#define NOINLINE      __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* What leaves with a victim. */
struct leaving {
    bool modified;
    struct packet writeback;
};

static inline void touch_line(struct cache *c, const struct lookup *l) { cache_sets_touch(&c->sets, l->set, l->way); }

static uint8_t widen(const struct cache *c, uint32_t sectors)
{
    uint32_t group = (1u << c->group) - 1, wide = 0;
    for (; group & c->all_sectors; group <<= c->group)
        if (sectors & group)
            wide |= group;
    return (uint8_t)wide & c->all_sectors;
}

static inline uint8_t sectors_of(const struct cache *c, uint64_t address, uint32_t bytes, uint8_t named)
{
    if (c->whole_lines)
        return c->all_sectors;
    uint32_t offset = (uint32_t)(address & ~c->line_mask);
    uint32_t last = offset + (bytes ? bytes - 1 : 0);
    if (last >= c->line_bytes)
        last = c->line_bytes - 1;
    uint32_t sectors = (2u << last / SECTOR_BYTES) - (1u << offset / SECTOR_BYTES);
    if (sectors & named)
        sectors &= named;
    return c->group > 1 ? widen(c, sectors) : (uint8_t)sectors;
}

static inline uint32_t queue_room(const struct cache *c)
{
    return c->head.misses.count < c->head.misses.limit ? c->head.misses.limit - c->head.misses.count : 0;
}

static inline void push_miss(struct cache *c, const struct packet *p) { ring_push(&c->head.misses, p); }

/* Bytes that stores write. */

static inline uint32_t *bytes_of(const struct cache *c, const struct lookup *l, uint32_t sector)
{
    return &c->written[(size_t)cache_sets_place(&c->sets, l->set, l->way) * (c->line_bytes / SECTOR_BYTES) + sector];
}

/* Of a sector. Below an L1 a packet for several sectors, or the line of an L1, has written all of them. */
static uint32_t bytes_written(const struct cache *c, const struct lookup *l, uint32_t sector)
{
    const struct packet *p = l->request;
    if (c->knows_bytes)
        return packet_sector_bytes(p, sector);
    return p->kind == PACKET_L1_WRITEBACK || (l->need & (l->need - 1)) ? UINT32_MAX : p->mask;
}

/* A store writes sectors of a line; taken: those that were not there before. What has been written wholly is as good as
 * read. */
static void write_bytes(struct cache *c, const struct lookup *l, uint8_t taken)
{
    struct cache_line *line = l->there;
    for (uint32_t left = l->need & (taken | line->partial); left; left &= left - 1) {
        uint32_t sector = (uint32_t)__builtin_ctz(left), *has = bytes_of(c, l, sector);
        uint8_t bit = (uint8_t)(1u << sector);
        *has = (taken & bit ? 0 : *has) | bytes_written(c, l, sector);
        line->partial = (uint8_t)(*has == UINT32_MAX ? line->partial & ~bit : line->partial | bit);
        line->valid = (uint8_t)(*has == UINT32_MAX ? line->valid | bit : line->valid & ~bit);
    }
}

static inline bool may_be_read_in_part(const struct cache *c, const struct lookup *l)
{
    return l->there && unlikely(l->there->partial & l->need) && c->knows_bytes && l->request->mask;
}

/* Sectors that are there for a load: also those that stores have written in part, if it reads nothing else of them. */
static ALWAYS_INLINE uint8_t sectors_there(const struct cache *c, const struct lookup *l, bool plain)
{
    uint8_t there = l->there ? l->there->valid : 0;
    if (plain || !may_be_read_in_part(c, l))
        return there;
    for (uint32_t left = l->need & l->there->partial; left; left &= left - 1) {
        uint32_t sector = (uint32_t)__builtin_ctz(left);
        if (!(packet_sector_bytes(l->request, sector) & ~*bytes_of(c, l, sector)))
            there |= (uint8_t)(1u << sector);
    }
    return there;
}

/* Sectors of a line that are read from below have been written in part: if not below too, they are modified again when
 * they come. */
static void read_partial(struct cache *c, const struct lookup *l, uint32_t entry, uint8_t asked)
{
    uint8_t partial = l->there->partial & asked;
    c->head.mshr.entries[entry].modified |= partial & l->there->modified;
    l->there->partial &= (uint8_t)~partial;
    l->there->modified &= (uint8_t)~partial;
}

/* Taking and losing lines. */

static bool make_room(struct cache *c, const struct lookup *l);

/* Where a line comes into a bank that has as many as it may: mostly one of any set of the bank leaves before, and the
 * line takes a way that has none. */
static uint32_t victim_in_bank(struct cache *c, const struct lookup *l)
{
    uint32_t way = cache_sets_oldest(&c->sets, l->set);
    bool room = way == NO_WAY || *tag_at(c, l->set, way) != NO_TAG || !cache_sets_bank_is_full(&c->sets, l->set);
    if (room || make_room(c, l))
        return way;
    uint32_t line = cache_sets_oldest_line(&c->sets, l->set);
    return line == NO_WAY ? way : line; /* else one too many */
}

static NOINLINE uint32_t ask_victim(struct cache *c, const struct lookup *l)
{
    if (!c->choices.victim)
        return victim_in_bank(c, l);
    struct cache_ways ways = cache_ways(c, l->set);
    if (cache_sets_bank_is_full(&c->sets, l->set)) { /* its owner may know lines by their place: of this set, if any */
        if (!ways.lines)
            make_room(c, l);
        else
            ways.empty = 0;
    }
    return ways.lines | ways.empty ? c->choices.victim(c->choices.context, l->request, l->set, &ways) : NO_WAY;
}

static NOINLINE bool ask_bypass(struct cache *c, const struct lookup *l)
{
    struct cache_ways ways = cache_ways(c, l->set);
    return c->choices.bypass(c->choices.context, l->request, l->set, &ways);
}

/* A way whose sectors are reserved by nobody any more (read_twin). */
static NOINLINE uint32_t forgotten_way(const struct cache *c, uint32_t set)
{
    for (uint32_t way = 0; way < c->sets.ways; way++) {
        uint8_t covered;
        mshr_find(&c->head.mshr, *tag_at(c, set, way), c->all_sectors, &covered);
        if (!covered)
            return way;
    }
    return NO_WAY;
}

static inline uint32_t choose_victim(struct cache *c, const struct lookup *l, bool plain)
{
    uint32_t way = !plain && unlikely(c->chooses) ? ask_victim(c, l) : cache_sets_oldest(&c->sets, l->set);
    return unlikely(way == NO_WAY) && c->has_twins ? forgotten_way(c, l->set) : way;
}

static struct packet writeback_of(const struct cache *c, uint64_t address, const struct cache_line *line,
                                  const struct packet *cause)
{
    uint32_t bytes = c->whole_lines ? c->line_bytes : (uint32_t)__builtin_popcount(line->modified) * SECTOR_BYTES;
    return (struct packet){.address = address,
                           .pc = cause->pc,
                           .bytes = (uint16_t)bytes,
                           .core = cause->core,
                           .warp = line->warp,
                           .kind = (uint8_t)c->writeback_kind,
                           .slice = cause->slice,
                           .sectors = line->modified};
}

/* A line leaves. What of it is modified becomes the write-back. */
static void write_back(struct cache *c, const struct lookup *l, uint64_t address, const struct cache_line *line,
                       struct leaving *leaving)
{
    leaving->modified = true;
    leaving->writeback = writeback_of(c, address, line, l->request);
    l->result->writeback_bytes = leaving->writeback.bytes;
    c->writebacks++;
}

static inline void evict(struct cache *c, const struct lookup *l, uint32_t way, struct leaving *leaving)
{
    uint64_t address = *tag_at(c, l->set, way);
    const struct cache_line *line = line_at(c, l->set, way);
    if (unlikely(address == NO_TAG))
        return;
    l->result->evicted = true;
    l->result->evicted_address = address;
    l->result->evicted_warp = line->warp;
    l->result->evicted_age = line->age;
    c->evictions++;
    if (unlikely(line->modified))
        write_back(c, l, address, line, leaving);
}

/* A line of the bank leaves. False: all are modified or on their way. */
static bool make_room(struct cache *c, const struct lookup *l)
{
    struct leaving leaving;
    struct lookup other = *l;
    for (uint32_t i = 0; i < c->sets.bank_sets; i++) {
        other.set = cache_sets_move_hand(&c->sets, l->set);
        uint32_t way = cache_sets_oldest_line(&c->sets, other.set);
        if (way == NO_WAY || line_at(c, other.set, way)->modified)
            continue;
        evict(c, &other, way, &leaving);
        cache_sets_empty(&c->sets, other.set, way);
        return true;
    }
    return false;
}

/* Puts the line of the access where the victim was; nothing of it is valid yet. */
static ALWAYS_INLINE struct cache_line *take_way(struct cache *c, struct lookup *l, uint32_t way,
                                                 struct leaving *leaving)
{
    evict(c, l, way, leaving);
    c->touched = true;
    l->way = way;
    l->there = cache_sets_put(&c->sets, l->set, way, l->line, l->request->warp, l->age);
    l->result->change = CACHE_INSERTED;
    return l->there;
}

static void drop_sectors(struct cache *c, const struct lookup *l)
{
    struct cache_line *line = l->there;
    line->valid &= (uint8_t)~l->need;
    line->modified &= (uint8_t)~l->need;
    line->partial &= (uint8_t)~l->need;
    if (line->valid || line->reserved || line->partial)
        return;
    cache_sets_empty(&c->sets, l->set, l->way);
    l->result->change = CACHE_DROPPED;
}

/* Outcomes. */

static inline uint32_t rest_of(const struct packet *p)
{
    return (uint32_t)p->bytes << 16 | (uint32_t)p->kind << 8 | p->sectors;
}

static void count_repeats(struct cache *c)
{
    c->fails[c->blocked.why] += c->head.repeats;
    c->head.repeats = 0;
}

static enum cache_outcome fail_at(struct cache *c, const struct packet *request, uint32_t set, enum cache_fail why,
                                  struct cache_result *result)
{
    count_repeats(c);
    result->fail = why;
    c->fails[why]++;
    c->head.blocked = why == CACHE_FAIL_MSHR ? CACHE_BLOCKED_BY_ENTRIES : CACHE_BLOCKED;
    if (c->asks && why == CACHE_FAIL_WAYS)
        c->head.blocked = 0; /* the owner may decide differently when it is asked again */
    c->blocked =
        (struct cache_blocked_access){.address = request->address, .rest = rest_of(request), .set = set, .why = why};
    return CACHE_FAIL;
}

static enum cache_outcome fail(struct cache *c, const struct lookup *l, enum cache_fail why)
{
    return fail_at(c, l->request, l->set, why, l->result);
}

/* The line is there, or on its way. */
static inline void found(const struct lookup *l)
{
    l->result->line_warp = l->there->warp;
    l->result->line_age = l->there->age;
}

static inline enum cache_outcome done(struct cache *c, const struct lookup *l, enum cache_outcome outcome)
{
    l->result->way = l->way;
    c->head.blocked = 0;
    c->taken[l->write][outcome]++;
    return outcome;
}

/* Reads. */

static ALWAYS_INLINE enum cache_outcome read_hit(struct cache *c, const struct lookup *l, bool plain)
{
    struct cache_line *line = l->there;
    c->intra_warp_hits += line->warp == l->request->warp && line->age == l->age;
    touch_line(c, l);
    if (!plain && l->request->kind == PACKET_ATOMIC)
        line->modified |= l->need;
    found(l);
    l->result->change = CACHE_TOUCHED;
    return done(c, l, CACHE_HIT);
}

static enum cache_outcome read_pending(struct cache *c, const struct lookup *l, uint32_t entry)
{
    if (!mshr_can_merge(&c->head.mshr, entry))
        return fail(c, l, CACHE_FAIL_MERGE);
    mshr_merge(&c->head.mshr, entry, l->request);
    if (l->way == NO_WAY) {
        l->result->line_warp = c->head.mshr.entries[entry].first.warp;
        l->result->line_age = c->head.mshr.entries[entry].age;
    } else {
        touch_line(c, l);
        found(l);
        l->result->change = CACHE_TOUCHED;
    }
    return done(c, l, CACHE_PENDING);
}

static inline void send_read(struct cache *c, const struct packet *request, uint64_t line, uint32_t entry,
                             uint8_t asked)
{
    struct packet *p = ring_back(&c->head.misses);
    *p = *request;
    p->address = c->whole_lines ? line : line + (uint64_t)__builtin_ctz(asked) * SECTOR_BYTES;
    p->bytes = (uint16_t)(c->whole_lines ? c->line_bytes : (uint32_t)__builtin_popcount(asked) * SECTOR_BYTES);
    p->sectors = asked;
    p->token = entry;
    p->reply = 0;
    c->head.misses.count++;
}

/* A place for the answer, where lines are taken at the miss. False: there is none; why says what for. */
static ALWAYS_INLINE bool reserve_line(struct cache *c, struct lookup *l, uint8_t asked, struct leaving *leaving,
                                       enum cache_fail *why, bool plain)
{
    struct cache_line *line;
    if (plain || l->way == NO_WAY) {
        uint32_t way = choose_victim(c, l, plain);
        *why = CACHE_FAIL_WAYS;
        if (way == NO_WAY)
            return false;
        *why = CACHE_FAIL_QUEUE;
        if (unlikely(line_at(c, l->set, way)->modified) && queue_room(c) < c->pair)
            return false;
        line = take_way(c, l, way, leaving);
    } else {
        line = l->there;
        touch_line(c, l);
    }
    line->reserved |= asked;
    return true;
}

static ALWAYS_INLINE enum cache_outcome read_miss(struct cache *c, struct lookup *l, uint8_t asked, bool plain)
{
    if (mshr_full(&c->head.mshr))
        return fail(c, l, CACHE_FAIL_MSHR);
    if (queue_room(c) < 1)
        return fail(c, l, CACHE_FAIL_QUEUE);
    bool bypass = !plain && l->way == NO_WAY && unlikely(c->choices.bypass != NULL) && ask_bypass(c, l);
    struct leaving leaving;
    enum cache_fail why;
    bool takes_line = plain || (!bypass && !c->on_fill);
    leaving.modified = false;
    if (takes_line && !reserve_line(c, l, asked, &leaving, &why, plain))
        return fail(c, l, why);
    uint32_t entry = mshr_open(&c->head.mshr, l->line, asked, l->request, l->age,
                               takes_line ? cache_sets_place(&c->sets, l->set, l->way) : MSHR_NONE);
    c->head.mshr.entries[entry].bypass = bypass;
    if (!plain && c->written && l->there)
        read_partial(c, l, entry, asked);
    send_read(c, l->request, l->line, entry, asked);
    if (unlikely(leaving.modified))
        push_miss(c, &leaving.writeback);
    return done(c, l, CACHE_MISS);
}

/* The second sector of a pair that GPGPU-Sim 4 gives one address for both (packet->twin): it waits for what is on its
 * way in the first one's name, though that brings the first alone. Its own sector is then reserved without end, or
 * until the line is the last victim that the set has; the next that asks for it, when nothing is on its way, reads it,
 * in the first one's name again. */
static NOINLINE enum cache_outcome read_twin(struct cache *c, struct lookup *l)
{
    uint8_t covered, name = (uint8_t)(l->need >> 1);
    uint32_t entry = mshr_find(&c->head.mshr, l->line, name, &covered);
    if (entry != MSHR_NONE && !mshr_can_merge(&c->head.mshr, entry))
        return fail(c, l, CACHE_FAIL_MERGE);
    if (entry == MSHR_NONE && mshr_full(&c->head.mshr))
        return fail(c, l, CACHE_FAIL_MSHR);
    c->has_twins = true;
    l->there->reserved |= l->need;
    if (entry != MSHR_NONE)
        return read_pending(c, l, entry);
    touch_line(c, l);
    entry = mshr_open(&c->head.mshr, l->line, l->need, l->request, l->age, cache_sets_place(&c->sets, l->set, l->way));
    c->head.mshr.entries[entry].names = name;
    send_read(c, l->request, l->line, entry, l->need);
    return done(c, l, CACHE_MISS);
}

static ALWAYS_INLINE enum cache_outcome read_not_there(struct cache *c, struct lookup *l, bool plain)
{
    uint32_t entry = MSHR_NONE;
    uint8_t missing = l->need, covered = 0;
    if (unlikely(queue_room(c) < c->miss_reserve))
        return fail(c, l, CACHE_FAIL_QUEUE);
    if (plain) /* the line is not there, and so cannot be on its way either */
        return read_miss(c, l, l->need, true);
    if (unlikely(l->request->twin) && l->there)
        return read_twin(c, l);
    if (l->way != NO_WAY) {
        uint8_t there = sectors_there(c, l, plain);
        missing &= (uint8_t)~there;
        l->result->present = l->need & there;
    }
    if (l->way != NO_WAY || c->on_fill ||
        c->asks) /* else it cannot be on its way: that has a line, unless it bypasses the cache */
        entry = mshr_find(&c->head.mshr, l->line, missing, &covered);
    uint8_t asked = missing & (uint8_t)~covered;
    enum cache_outcome outcome = likely(asked) ? read_miss(c, l, asked, false) : read_pending(c, l, entry);
    if (unlikely(l->request->kind == PACKET_ATOMIC) && outcome != CACHE_FAIL)
        mshr_mark_modified(&c->head.mshr, l->line, l->need);
    return outcome;
}

/* Writes. */

static enum cache_outcome write_down(struct cache *c, const struct lookup *l, bool drops, enum cache_outcome outcome)
{
    if (queue_room(c) < 1)
        return fail(c, l, CACHE_FAIL_QUEUE);
    push_miss(c, l->request);
    l->result->sends_write = true;
    if (l->way != NO_WAY) {
        found(l);
        if (drops && (l->there->valid & l->need)) {
            drop_sectors(c, l);
        } else if (outcome == CACHE_HIT) {
            touch_line(c, l);
            l->result->change = CACHE_TOUCHED;
        }
    }
    return done(c, l, outcome);
}

/* The same, and what is written is kept: the store takes a line, if there is a place for one. */
static NOINLINE enum cache_outcome write_down_and_take(struct cache *c, struct lookup *l, enum cache_outcome outcome)
{
    struct leaving leaving = {.modified = false};
    if (queue_room(c) < 1)
        return fail(c, l, CACHE_FAIL_QUEUE);
    if (l->way == NO_WAY) {
        uint32_t way = choose_victim(c, l, false);
        if (way == NO_WAY)
            return write_down(c, l, false, outcome);
        if (line_at(c, l->set, way)->modified && queue_room(c) < c->pair)
            return fail(c, l, CACHE_FAIL_QUEUE);
        take_way(c, l, way, &leaving);
    } else {
        found(l);
        touch_line(c, l);
        l->result->change = CACHE_TOUCHED;
    }
    uint8_t taken = l->need & (uint8_t) ~(l->there->valid | l->there->reserved | l->there->partial);
    l->there->valid |= taken;
    if (c->written)
        write_bytes(c, l, taken);
    push_miss(c, l->request);
    l->result->sends_write = true;
    if (leaving.modified)
        push_miss(c, &leaving.writeback);
    return done(c, l, outcome);
}

static enum cache_outcome write_back_hit(struct cache *c, const struct lookup *l)
{
    struct cache_line *line = l->there;
    line->modified |= l->need & line->valid;
    if (unlikely(line->partial & l->need))
        write_bytes(c, l, 0);
    touch_line(c, l);
    found(l);
    l->result->change = CACHE_TOUCHED;
    return done(c, l, CACHE_HIT);
}

/* A store takes what it misses without fetching it; sectors on their way become modified when they come. */
static enum cache_outcome write_allocate(struct cache *c, struct lookup *l)
{
    if (queue_room(c) < 1)
        return fail(c, l, CACHE_FAIL_QUEUE);
    struct leaving leaving = {.modified = false};
    struct cache_line *line;
    uint8_t coming = 0, had = l->there ? l->there->valid : 0;
    if (l->way == NO_WAY) {
        uint32_t way = choose_victim(c, l, false);
        if (way == NO_WAY)
            return fail(c, l, CACHE_FAIL_WAYS);
        line = take_way(c, l, way, &leaving);
    } else {
        line = l->there;
        coming = line->reserved & l->need;
        if (coming)
            mshr_mark_modified(&c->head.mshr, l->line, coming);
        if (((line->valid | coming | line->partial) & l->need) == l->need)
            return write_back_hit(c, l);
        touch_line(c, l);
    }
    uint8_t taken = l->need & (uint8_t) ~(coming | line->partial);
    line->valid |= taken;
    line->modified |= taken;
    if (c->written)
        write_bytes(c, l, taken & (uint8_t)~had);
    if (leaving.modified)
        push_miss(c, &leaving.writeback);
    return done(c, l, CACHE_MISS);
}

/* The fetch for a line that no other brings. */
static bool open_fetch(struct cache *c, struct lookup *l, const struct packet *fetch, struct leaving *leaving,
                       enum cache_fail *why)
{
    *why = CACHE_FAIL_MSHR;
    if (mshr_full(&c->head.mshr) || (!c->on_fill && !reserve_line(c, l, c->all_sectors, leaving, why, false)))
        return false;
    uint32_t entry = mshr_open(&c->head.mshr, l->line, c->all_sectors, fetch, l->age,
                               c->on_fill ? MSHR_NONE : cache_sets_place(&c->sets, l->set, l->way));
    push_miss(c, l->request);
    send_read(c, fetch, l->line, entry, c->all_sectors);
    c->fetches++;
    return true;
}

/* A store that misses goes down, and its line is fetched; one to a line on its way goes down too, and waits for
 * nothing. */
static NOINLINE enum cache_outcome write_and_fetch(struct cache *c, struct lookup *l)
{
    if (queue_room(c) < STORE_FETCH_ROOM)
        return fail(c, l, CACHE_FAIL_QUEUE);
    uint8_t covered = 0;
    struct packet fetch = *l->request;
    struct leaving leaving = {.modified = false};
    enum cache_fail why;
    fetch.kind = PACKET_L2_FETCH;
    uint32_t entry = l->way != NO_WAY || c->on_fill ? mshr_find(&c->head.mshr, l->line, l->need, &covered) : MSHR_NONE;
    if (entry == MSHR_NONE) {
        if (!open_fetch(c, l, &fetch, &leaving, &why))
            return fail(c, l, why);
    } else {
        if (!mshr_can_merge(&c->head.mshr, entry))
            return fail(c, l, CACHE_FAIL_MERGE);
        mshr_merge(&c->head.mshr, entry, &fetch);
        push_miss(c, l->request);
        if (l->way != NO_WAY)
            touch_line(c, l);
    }
    l->result->sends_write = true;
    if (leaving.modified)
        push_miss(c, &leaving.writeback);
    return done(c, l, CACHE_MISS);
}

static const struct write_rule *rule_of(const struct cache *c, const struct lookup *l, bool there)
{
    const struct write_rule *rule = NULL;
    if (unlikely(c->choices.store != NULL))
        rule = c->choices.store(c->choices.context, l->request, l->set, l->way, there);
    return rule ? rule : c->writes[l->request->kind == PACKET_LOCAL_STORE];
}

static enum cache_outcome access_write(struct cache *c, struct lookup *l, bool there)
{
    const struct write_rule *rule = rule_of(c, l, there);
    if (there && rule->hit == WRITE_HIT_MARK)
        return write_back_hit(c, l);
    if (there && rule->hit == WRITE_HIT_KEEP)
        return write_down_and_take(c, l, CACHE_HIT);
    if (there || rule->miss == WRITE_MISS_PASS)
        return write_down(c, l, rule->hit == WRITE_HIT_DROP, there ? CACHE_HIT : CACHE_MISS);
    if (rule->miss == WRITE_MISS_FETCH)
        return write_and_fetch(c, l);
    if (rule->down == WRITE_DOWN_NEVER)
        return write_allocate(c, l);
    return write_down_and_take(c, l, CACHE_MISS);
}

static inline struct lookup look_up(const struct cache *c, const struct packet *request, uint64_t line, uint32_t set,
                                    uint32_t way, uint8_t need, uint64_t age, struct cache_result *result)
{
    return (struct lookup){.request = request,
                           .line = line,
                           .age = age,
                           .set = set,
                           .way = way,
                           .there = way == NO_WAY ? NULL : line_at(c, set, way),
                           .need = need,
                           .result = result};
}

static ALWAYS_INLINE enum cache_outcome access_line(struct cache *c, struct lookup *l, bool plain)
{
    *l->result = (struct cache_result){.set = l->set, .way = NO_WAY};
    if (!plain && packet_is_write(l->request)) {
        l->write = true;
        return access_write(c, l, l->there && ((l->there->valid | l->there->partial) & l->need) == l->need);
    }
    return l->there && (sectors_there(c, l, plain) & l->need) == l->need ? read_hit(c, l, plain)
                                                                         : read_not_there(c, l, plain);
}

static NOINLINE enum cache_outcome access_any(struct cache *c, const struct packet *request, uint64_t age, uint32_t set,
                                              uint32_t way, struct cache_result *result)
{
    uint8_t need = sectors_of(c, request->address, request->bytes, request->sectors);
    struct lookup l = look_up(c, request, request->address & c->line_mask, set, way, need, age, result);
    return access_line(c, &l, false);
}

/* Hits and misses that a cache mostly sees are plain: reads other than of atomics, of lines that are there wholly or
 * not at all, in a cache that takes lines at the miss and asks nobody. They take the same way as all others
 * (access_line), of which the compiler makes a copy for them, without what cannot be. */
static ALWAYS_INLINE enum cache_outcome access_set(struct cache *c, const struct packet *request, uint64_t age,
                                                   uint32_t set, struct cache_result *result)
{
    uint32_t way = cache_sets_find(&c->sets, set, request->address & c->line_mask);
    if (!(c->plain_reads >> request->kind & 1))
        return access_any(c, request, age, set, way, result);
    uint8_t need = sectors_of(c, request->address, request->bytes, request->sectors);
    struct lookup l = look_up(c, request, request->address & c->line_mask, set, way, need, age, result);
    if (way == NO_WAY ? c->on_fill : (l.there->valid & need) != need)
        return access_any(c, request, age, set, way, result);
    return access_line(c, &l, true);
}

/* The bits of the address alone do not tell its set. An access that failed is tried again: its set is known. */
static NOINLINE enum cache_outcome access_mapped(struct cache *c, const struct packet *request, uint64_t age,
                                                 struct cache_result *result)
{
    uint32_t set = c->blocked.address == request->address ? c->blocked.set : set_of(c, request->address & c->line_mask);
    return access_set(c, request, age, set, result);
}

static inline bool fails_again(const struct cache *c, const struct packet *request)
{
    return unlikely(c->head.blocked) && c->blocked.address == request->address && c->blocked.rest == rest_of(request);
}

enum cache_outcome cache_access(struct cache *c, const struct packet *request, uint64_t age, uint64_t now,
                                struct cache_result *result)
{
    (void)now; /* the order of use needs no time */
    if (fails_again(c, request)) {
        *result = (struct cache_result){.fail = c->blocked.why, .set = c->blocked.set, .way = NO_WAY};
        c->head.repeats++;
        return CACHE_FAIL;
    }
    if (c->mapped)
        return access_mapped(c, request, age, result);
    return access_set(c, request, age, cache_sets_plain_index(&c->sets, request->address), result);
}

bool cache_read_hit(struct cache *c, uint64_t address, uint32_t bytes, uint16_t warp, uint64_t age)
{
    uint64_t line = address & c->line_mask;
    if (unlikely(c->mapped || c->head.blocked || c->plain_reads != PLAIN_READS))
        return false;
    uint32_t set = cache_sets_plain_index(&c->sets, address), way = cache_sets_find(&c->sets, set, line);
    if (way == NO_WAY)
        return false;
    uint8_t need = sectors_of(c, address, bytes, 0);
    const struct cache_line *there = line_at(c, set, way);
    if ((there->valid & need) != need)
        return false;
    c->intra_warp_hits += there->warp == warp && there->age == age;
    cache_sets_touch(&c->sets, set, way);
    c->taken[0][CACHE_HIT]++;
    return true;
}

enum cache_outcome cache_read_now(struct cache *c, const struct packet *request, uint64_t age, uint32_t token)
{
    struct cache_result result = {.evicted = false};
    struct leaving leaving = {.modified = false};
    uint64_t line = request->address & c->line_mask;
    uint32_t set = set_of(c, line);
    struct lookup l =
        look_up(c, request, line, set, cache_sets_find(&c->sets, set, line), c->all_sectors, age, &result);
    if (l.way != NO_WAY)
        return read_hit(c, &l, false);
    take_way(c, &l, cache_sets_oldest(&c->sets, set), &leaving)->valid = c->all_sectors;
    send_read(c, request, line, token, c->all_sectors);
    return done(c, &l, CACHE_MISS);
}

uint32_t cache_expect(const struct cache *c, uint64_t address)
{
    uint32_t set = set_of(c, address & c->line_mask);
    cache_sets_prefetch(&c->sets, set);
    return set;
}

enum cache_outcome cache_access_expected(struct cache *c, const struct packet *request, uint32_t set,
                                         struct cache_result *result)
{
    return access_set(c, request, 0, set, result);
}

bool cache_has_two_ways(const struct cache *c, uint32_t set, bool (*is_of_kind)(const void *context, uint64_t line),
                        const void *context)
{
    uint32_t count = 0;
    for (uint32_t way = 0; way < c->sets.ways && count < 2; way++)
        count += !line_at(c, set, way)->reserved || is_of_kind(context, *tag_at(c, set, way));
    return count == 2;
}

bool cache_probe(const struct cache *c, uint64_t address)
{
    uint64_t line = address & c->line_mask;
    uint32_t set = set_of(c, line), way = cache_sets_search(&c->sets, set, line);
    uint8_t need = sectors_of(c, address, 1, 0);
    return way != NO_WAY && (line_at(c, set, way)->valid & need) == need;
}

/* Data has come for a line that was not reserved. */
static void store_unreserved(struct cache *c, uint32_t entry, struct cache_result *result)
{
    const struct mshr_entry *e = &c->head.mshr.entries[entry];
    const struct packet *request = mshr_request(&c->head.mshr, entry, 0);
    uint32_t set = set_of(c, e->line);
    struct lookup l =
        look_up(c, request, e->line, set, cache_sets_find(&c->sets, set, e->line), e->asked, e->age, result);
    if (l.way == NO_WAY) {
        struct leaving leaving = {.modified = false};
        uint32_t way = choose_victim(c, &l, false);
        if (way == NO_WAY)
            return;
        take_way(c, &l, way, &leaving);
        result->set = set;
        result->way = way;
        if (leaving.modified)
            push_miss(c, &leaving.writeback);
    }
    l.there->valid |= e->asked;
    l.there->partial &= (uint8_t)~e->asked;
    l.there->modified |= e->modified;
}

static ALWAYS_INLINE bool fill_line(struct cache *c, const struct packet *answer, struct cache_result *result)
{
    result->change = CACHE_UNCHANGED;
    result->evicted = false;
    c->fills++;
    if (!mshr_answer(&c->head.mshr, answer->token, answer->sectors ? answer->sectors : c->all_sectors))
        return false;
    c->head.blocked &= c->on_fill ? 0 : CACHE_BLOCKED_BY_ENTRIES; /* a line that is taken now may fill the miss queue,
                                                                     which then is what the access waits for */
    const struct mshr_entry *e = &c->head.mshr.entries[answer->token];
    c->head.ready_requests += e->count;
    if (e->place != MSHR_NONE) {
        struct cache_line *line = &c->sets.lines[e->place];
        line->reserved &= (uint8_t)~e->asked;
        line->valid |= e->asked;
        line->modified |= e->modified;
    } else if (!e->bypass) {
        store_unreserved(c, answer->token, result);
    }
    return true;
}

bool cache_fill_line(struct cache *c, const struct packet *answer, struct cache_result *result)
{
    return fill_line(c, answer, result);
}

bool cache_fill(struct cache *c, const struct packet *answer, uint64_t now)
{
    (void)now;
    struct cache_result result;
    return fill_line(c, answer, &result);
}

/* Puts a line that nobody has asked for; a line that has to leave is neither counted nor written back. */
static bool put_untouched(struct cache *c, struct lookup *l)
{
    uint32_t way = c->chooses ? ask_victim(c, l) : cache_sets_oldest(&c->sets, l->set);
    if (way == NO_WAY)
        return false;
    l->result->evicted = *tag_at(c, l->set, way) != NO_TAG;
    l->result->evicted_address = *tag_at(c, l->set, way);
    l->way = way;
    l->there = cache_sets_put(&c->sets, l->set, way, l->line, NO_OWNER, 0);
    l->result->change = CACHE_INSERTED;
    c->touched = true;
    return true;
}

void cache_touch(struct cache *c, uint64_t address, struct cache_result *result)
{
    uint64_t tag = address & c->line_mask;
    struct packet nobody = {.address = address, .warp = NO_OWNER};
    uint32_t set = set_of(c, tag);
    struct lookup l =
        look_up(c, &nobody, tag, set, cache_sets_find(&c->sets, set, tag), sectors_of(c, address, 1, 0), 0, result);
    *result = (struct cache_result){.set = set, .way = NO_WAY};
    c->head.blocked = 0;
    if (l.way == NO_WAY && !put_untouched(c, &l))
        return;
    result->way = l.way;
    struct cache_line *line = l.there;
    uint8_t need = l.need & (uint8_t) ~(line->valid | line->reserved);
    line->modified &= (uint8_t) ~(l.need & (uint8_t)~line->reserved); /* below it is the same now */
    if (!need)
        return;
    line->valid |= need;
    line->partial &= (uint8_t)~need;
    touch_line(c, &l);
    if (result->change == CACHE_UNCHANGED)
        result->change = CACHE_TOUCHED;
}

bool cache_forget(struct cache *c, uint64_t address, uint32_t bytes)
{
    uint64_t line = address & c->line_mask;
    uint32_t set = set_of(c, line), way = cache_sets_search(&c->sets, set, line);
    if (way == NO_WAY)
        return false;
    struct cache_result result = {.evicted = false};
    struct lookup l = look_up(c, NULL, line, set, way, sectors_of(c, address, bytes, 0), 0, &result);
    if (!((l.there->valid | l.there->partial) & l.need))
        return false;
    drop_sectors(c, &l);
    c->head.blocked = 0;
    return true;
}
