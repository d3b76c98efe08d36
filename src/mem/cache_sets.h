/* The lines of a cache: which set an address belongs to, which way of it holds a line, and in what order the ways were
 * used. Part of cache.c, which decides what happens to lines.
 *
 * A way is found by one byte of its line's hash, sixteen ways at a time; the tag then tells for sure. The order of use
 * is a ring through the ways of a set: from the least recently used over ever newer ones to the newest, and round. Ways
 * without a line stand in front of all others, lowest first. A miss takes the front and makes it the newest: the ring
 * turns by one. */
#ifndef HEDDLE_MEM_CACHE_SETS_H
#define HEDDLE_MEM_CACHE_SETS_H

#include "base/arena.h"
#include "mem/config.h"
#include "mem/packet.h"

#define NO_TAG UINT64_MAX
#define NO_WAY UINT32_MAX

/* All zero in a way without a line. */
struct cache_line {
    uint64_t age; /* of the warp that brought it, with its slot */
    uint16_t warp;
    uint8_t valid, reserved, modified; /* sectors; reserved: on their way */
    uint8_t partial;                   /* sectors that stores have taken and written in part: not valid */
};

struct cache_link {
    uint16_t newer, older;
};
enum cache_index { INDEX_MASK, INDEX_MODULO, INDEX_FERMI, INDEX_FOLD, INDEX_MULTIPLIED, INDEX_HOPPER, INDEX_COUNT };
enum { CACHE_FERMI_SETS = 64, CACHE_HOPPER_SETS = 512 }; /* that those are for; Fermi's also half as many */

/* A cache whose size changes from launch to launch keeps its sets and ways, but has fewer lines than they have room
 * for. Neighbouring sets form a bank, and each bank has its share of the lines. When a bank is full and a new line goes
 * into a set with a free way, another set of the bank evicts its least recently used line. Sets take turns at that, in
 * descending order. This is what an H200 does (docs/h200-memory.md). */
enum { CACHE_BANKS = 4 };
struct cache_bank {
    uint32_t lines; /* that the bank has now */
    uint32_t hand;  /* the set that evicted a line last, counted from the bank's first; launches do not move it */
};

struct cache_sets {
    uint64_t *marks; /* a byte of the hash of each line, eight in a word; mark_words for each set, an even number */
    uint64_t *tags;  /* line addresses: ways of a set beside each other */
    struct cache_line *lines; /* in the same order */
    struct cache_link *links;
    uint16_t *newest; /* way of each set */
    uint64_t recent;  /* the line found or put last, and its way; NO_TAG: none */
    uint32_t recent_way;
    uint64_t absent; /* the line searched for last in vain, if none has been put since; NO_TAG: none */
    uint32_t count, ways, mark_words, line_shift, set_bits;
    uint32_t bank_lines; /* that a bank may have; 0 means as many as there is room for */
    uint32_t bank_sets;
    struct cache_bank banks[CACHE_BANKS];
    enum cache_index index;
};

/* What the configuration comes to. */
enum cache_index cache_sets_index_kind(const struct cache_config *config);
void cache_sets_init(struct cache_sets *s, struct arena *a, const struct cache_config *config);
/* The cache may have so many lines from now on, at least one per bank, and loses those that it has. False means that
 * its size is the same and nothing is lost. */
bool cache_sets_resize(struct cache_sets *s, uint32_t lines);
/* The set's bank has as many lines as it may. */
static inline bool cache_sets_bank_is_full(const struct cache_sets *s, uint32_t set)
{
    return s->bank_lines && s->banks[set / s->bank_sets].lines >= s->bank_lines;
}
/* The next set of the bank to evict a line. */
uint32_t cache_sets_move_hand(struct cache_sets *s, uint32_t set);
/* The least recently used way with a line of which nothing is reserved, or NO_WAY. */
uint32_t cache_sets_oldest_line(const struct cache_sets *s, uint32_t set);
/* No set has a line. */
void cache_sets_clear(struct cache_sets *s);
/* The way has lost its line. */
void cache_sets_empty(struct cache_sets *s, uint32_t set, uint32_t way);
uint32_t cache_sets_hashed_index(const struct cache_sets *s, uint64_t address);

/* Where the index is INDEX_MASK. */
static inline uint32_t cache_sets_plain_index(const struct cache_sets *s, uint64_t address)
{
    return (uint32_t)(address >> s->line_shift) & (s->count - 1);
}
/* INDEX_MULTIPLIED: those bits, and a multiple of the ones above them. */
enum { CACHE_TAG_FACTOR = 7 };
static inline uint32_t cache_sets_multiplied_index(const struct cache_sets *s, uint64_t address)
{
    uint64_t number = address >> s->line_shift;
    return (uint32_t)(number + CACHE_TAG_FACTOR * (number >> s->set_bits)) & (s->count - 1);
}
static inline uint32_t cache_sets_index(const struct cache_sets *s, uint64_t address)
{
    if (s->index == INDEX_MASK)
        return cache_sets_plain_index(s, address);
    return s->index == INDEX_MULTIPLIED ? cache_sets_multiplied_index(s, address) : cache_sets_hashed_index(s, address);
}

/* Number of a line of the cache. */
static inline uint32_t cache_sets_place(const struct cache_sets *s, uint32_t set, uint32_t way)
{
    return set * s->ways + way;
}
static inline uint64_t *cache_sets_tag(const struct cache_sets *s, uint32_t set, uint32_t way)
{
    return &s->tags[cache_sets_place(s, set, way)];
}
static inline struct cache_line *cache_sets_line(const struct cache_sets *s, uint32_t set, uint32_t way)
{
    return &s->lines[cache_sets_place(s, set, way)];
}

/* The high bits of a product with an odd constant: lines differ in any bits. */
static inline uint64_t cache_sets_mark(uint64_t line) { return (uint32_t)(line / SECTOR_BYTES) * 0x9e3779b1u >> 24; }

/* Sixteen marks at once: the compiler makes vector instructions of it where the host has them. */
typedef uint8_t cache_marks __attribute__((vector_size(16), may_alias));
typedef uint64_t cache_mark_words __attribute__((vector_size(16)));
enum { CACHE_MARKS = 16 };

/* The way from `first` on, among eight, whose tag is the line's; equal: a byte of ones for every mark that is the same,
 * also for the padding after the last way. */
static inline uint32_t cache_sets_match(const struct cache_sets *s, const uint64_t *tags, uint64_t equal,
                                        uint32_t first, uint64_t line)
{
    for (uint64_t found = equal & 0x0101010101010101u; found; found &= found - 1) {
        uint32_t way = first + (uint32_t)__builtin_ctzll(found) / 8;
        if (way < s->ways && tags[way] == line)
            return way;
    }
    return NO_WAY;
}

static inline uint32_t cache_sets_search(const struct cache_sets *s, uint32_t set, uint64_t line)
{
    const uint64_t *marks = &s->marks[set * s->mark_words], *tags = &s->tags[set * s->ways];
    cache_marks pattern = (cache_marks){0} + (uint8_t)cache_sets_mark(line);
    uint32_t first = 0;
    do {
        cache_mark_words equal = (cache_mark_words)(*(const cache_marks *)marks == pattern);
        uint32_t way = cache_sets_match(s, tags, equal[0], first, line);
        if (way == NO_WAY)
            way = cache_sets_match(s, tags, equal[1], first + CACHE_MARKS / 2, line);
        if (way != NO_WAY)
            return way;
        marks += CACHE_MARKS / sizeof *marks;
    } while ((first += CACHE_MARKS) < s->ways);
    return NO_WAY;
}

/* The same line is often asked for again: several warps fetch from it, or it is not there and the access has to be
 * tried again. */
static inline uint32_t cache_sets_find(struct cache_sets *s, uint32_t set, uint64_t line)
{
    if (s->recent == line)
        return s->recent_way;
    if (s->absent == line)
        return NO_WAY;
    uint32_t way = cache_sets_search(s, set, line);
    if (way == NO_WAY) {
        s->absent = line;
        return NO_WAY;
    }
    s->recent = line;
    s->recent_way = way;
    return way;
}

/* The set will be looked at soon. */
static inline void cache_sets_prefetch(const struct cache_sets *s, uint32_t set)
{
    __builtin_prefetch(&s->marks[set * s->mark_words]);
    __builtin_prefetch(&s->tags[set * s->ways]);
    __builtin_prefetch(&s->links[set * s->ways], 1);
    __builtin_prefetch(&s->lines[set * s->ways], 1);
}

/* Makes a way the newest. */
static inline void cache_sets_touch(struct cache_sets *s, uint32_t set, uint32_t way)
{
    struct cache_link *links = &s->links[set * s->ways];
    uint32_t newest = s->newest[set], oldest = links[newest].newer;
    if (way == newest)
        return;
    s->newest[set] = (uint16_t)way;
    if (way == oldest)
        return;
    links[links[way].older].newer = links[way].newer;
    links[links[way].newer].older = links[way].older;
    links[way] = (struct cache_link){.newer = (uint16_t)oldest, .older = (uint16_t)newest};
    links[newest].newer = links[oldest].older = (uint16_t)way;
}

/* The least recently used way of which nothing is reserved, or NO_WAY. */
static inline uint32_t cache_sets_oldest(const struct cache_sets *s, uint32_t set)
{
    const struct cache_line *lines = &s->lines[set * s->ways];
    const struct cache_link *links = &s->links[set * s->ways];
    uint32_t newest = s->newest[set], way = links[newest].newer;
    for (; lines[way].reserved; way = links[way].newer)
        if (way == newest)
            return NO_WAY;
    return way;
}

/* Puts a line into a way, in place of any other, as the newest; nothing of it is valid yet. */
static inline struct cache_line *cache_sets_put(struct cache_sets *s, uint32_t set, uint32_t way, uint64_t line,
                                                uint16_t warp, uint64_t age)
{
    uint64_t *marks = &s->marks[set * s->mark_words + way / 8];
    uint32_t shift = way % 8 * 8;
    *marks = (*marks & ~(0xffull << shift)) | cache_sets_mark(line) << shift;
    if (s->bank_lines)
        s->banks[set / s->bank_sets].lines += *cache_sets_tag(s, set, way) == NO_TAG;
    *cache_sets_tag(s, set, way) = line;
    s->recent = line;
    s->recent_way = way;
    s->absent = NO_TAG;
    struct cache_line *to = cache_sets_line(s, set, way);
    *to = (struct cache_line){.age = age, .warp = warp};
    cache_sets_touch(s, set, way);
    return to;
}

#endif
