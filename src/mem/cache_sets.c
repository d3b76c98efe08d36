/* The lines of a cache: see cache_sets.h. Set indices after GPGPU-Sim, after the code that CCWS published, and as they
 * were measured on an H200. */
#include "mem/cache_sets.h"

#include <assert.h>
#include <string.h>

static uint32_t log2_of(uint32_t n)
{
    uint32_t bits = 0;
    while ((2u << bits) <= n)
        bits++;
    return bits;
}

enum cache_index cache_sets_index_kind(const struct cache_config *config)
{
    bool power = (config->sets & (config->sets - 1)) == 0;
    if (config->index == SET_INDEX_HASHED && (config->sets == 32 || config->sets == CACHE_FERMI_SETS))
        return INDEX_FERMI;
    if (config->index == SET_INDEX_HASHED && config->sets == CACHE_HOPPER_SETS)
        return INDEX_HOPPER;
    if (config->index == SET_INDEX_HASHED && power && config->sets > 1)
        return INDEX_FOLD;
    if (config->index == SET_INDEX_MULTIPLIED && power && config->sets > 1)
        return INDEX_MULTIPLIED;
    return power ? INDEX_MASK : INDEX_MODULO;
}

/* No way has a line; the ways of each set stand in their order. */
static void begin(struct cache_sets *s)
{
    uint32_t last = s->ways - 1;
    s->recent = s->absent = NO_TAG;
    memset(s->tags, 0xff, (size_t)s->count * s->ways * sizeof *s->tags); /* NO_TAG */
    for (uint32_t bank = 0; bank < CACHE_BANKS; bank++)
        s->banks[bank].lines = 0;
    for (uint32_t way = 0; way < s->ways; way++)
        s->links[way] = (struct cache_link){.newer = (uint16_t)(way + 1), .older = (uint16_t)(way - 1)};
    s->links[last].newer = 0;
    s->links[0].older = (uint16_t)last;
    for (uint32_t set = 0; set < s->count; set++)
        s->newest[set] = (uint16_t)last;
    for (uint32_t set = 1; set < s->count; set++)
        memcpy(&s->links[set * s->ways], s->links, s->ways * sizeof *s->links);
}

void cache_sets_init(struct cache_sets *s, struct arena *a, const struct cache_config *config)
{
    assert(config->sets && config->ways && config->ways <= UINT16_MAX);
    size_t lines = (size_t)config->sets * config->ways;
    uint32_t mark_words = (config->ways + CACHE_MARKS - 1) / CACHE_MARKS * (CACHE_MARKS / sizeof(uint64_t));
    *s = (struct cache_sets){.marks = arena_lines(a, uint64_t, (size_t)config->sets * mark_words),
                             .tags = arena_lines(a, uint64_t, lines),
                             .lines = arena_lines(a, struct cache_line, lines),
                             .links = arena_lines(a, struct cache_link, lines),
                             .newest = arena_array(a, uint16_t, config->sets),
                             .count = config->sets,
                             .ways = config->ways,
                             .mark_words = mark_words,
                             .line_shift = log2_of(config->line_bytes),
                             .set_bits = log2_of(config->sets),
                             .bank_sets = (config->sets + CACHE_BANKS - 1) / CACHE_BANKS,
                             .index = cache_sets_index_kind(config)};
    begin(s); /* new memory is all zero: so are its lines */
}

void cache_sets_clear(struct cache_sets *s)
{
    memset(s->lines, 0, (size_t)s->count * s->ways * sizeof *s->lines);
    begin(s);
}

bool cache_sets_resize(struct cache_sets *s, uint32_t lines)
{
    uint32_t banks = (s->count + s->bank_sets - 1) / s->bank_sets, share = lines / banks,
             bank_lines = lines >= s->count * s->ways ? 0
                          : share                     ? share
                                                      : 1;
    if (bank_lines == s->bank_lines)
        return false;
    s->bank_lines = bank_lines;
    cache_sets_clear(s);
    return true;
}

uint32_t cache_sets_move_hand(struct cache_sets *s, uint32_t set)
{
    uint32_t bank = set / s->bank_sets, first = bank * s->bank_sets,
             sets = s->count - first < s->bank_sets ? s->count - first : s->bank_sets;
    struct cache_bank *b = &s->banks[bank];
    b->hand = b->hand ? b->hand - 1 : sets - 1;
    return first + b->hand;
}

uint32_t cache_sets_oldest_line(const struct cache_sets *s, uint32_t set)
{
    const struct cache_link *links = &s->links[set * s->ways];
    for (uint32_t i = 0, way = links[s->newest[set]].newer; i < s->ways; i++, way = links[way].newer)
        if (*cache_sets_tag(s, set, way) != NO_TAG && !cache_sets_line(s, set, way)->reserved)
            return way;
    return NO_WAY;
}

/* Its place is among the other ways without a line, before those above it. */
void cache_sets_empty(struct cache_sets *s, uint32_t set, uint32_t way)
{
    if (s->bank_lines)
        s->banks[set / s->bank_sets].lines--;
    *cache_sets_tag(s, set, way) = NO_TAG;
    s->recent = NO_TAG;
    *cache_sets_line(s, set, way) = (struct cache_line){.age = 0};
    cache_sets_touch(s, set, way);
    struct cache_link *links = &s->links[set * s->ways];
    uint32_t behind = links[way].newer;
    while (behind < way && *cache_sets_tag(s, set, behind) == NO_TAG)
        behind = links[behind].newer;
    if (behind == way) /* all others are empty and below it: the newest, where it is */
        return;
    s->newest[set] = links[way].older;
    if (behind == links[way].newer) /* the very first */
        return;
    links[links[way].older].newer = links[way].newer;
    links[links[way].newer].older = links[way].older;
    links[way] = (struct cache_link){.newer = (uint16_t)behind, .older = links[behind].older};
    links[links[behind].older].newer = (uint16_t)way;
    links[behind].older = (uint16_t)way;
}

/* Sets of 32 and 64: the hash that was measured on Fermi's L1. */
static uint32_t fermi_index(uint64_t address, uint32_t line_shift, uint32_t sets)
{
    uint32_t low = (uint32_t)(address >> line_shift) & 31;
    uint32_t high =
        (uint32_t)(address >> 13 & 7) | (uint32_t)(address >> 17 & 1) << 3 | (uint32_t)(address >> 19 & 1) << 4;
    return (low ^ high) | (sets == 64 ? (uint32_t)(address >> 12 & 1) << 5 : 0);
}

static uint32_t fold_index(uint64_t number, uint32_t bits)
{
    uint64_t folded = 0;
    for (; number; number >>= bits)
        folded ^= number;
    return (uint32_t)folded & ((1u << bits) - 1);
}

/* 512 sets, as measured on an H200's L1: each bit of a set's number is the parity of some bits of the line's. What each
 * of the lowest 21 of these adds is below, four in a group; those above count as the ones 21 below them. */
static uint32_t hopper_index(uint64_t number)
{
#define ADD(a, b, c, d)                                                                                      \
    {                                                                                                        \
        0, a, b, a ^ b, c, a ^ c, b ^ c, a ^ b ^ c, d, a ^ d, b ^ d, a ^ b ^ d, c ^ d, a ^ c ^ d, b ^ c ^ d, \
            a ^ b ^ c ^ d                                                                                    \
    }
    static const uint16_t adds[][16] = {ADD(0x180, 0x100, 0x1e1, 0x116), ADD(0x0ec, 0x18c, 0x132, 0x0b9),
                                        ADD(0x16f, 0x1d2, 0x17a, 0x1dc), ADD(0x0cb, 0x1f6, 0x0e8, 0x17f),
                                        ADD(0x1f0, 0x0db, 0x1e3, 0x0ad), ADD(0x11e, 0, 0, 0)};
#undef ADD
    uint32_t low = (uint32_t)(number ^ number >> 21 ^ number >> 42) & 0x1fffff, set = 0;
    for (uint32_t i = 0; i < sizeof adds / sizeof *adds; i++)
        set ^= adds[i][low >> 4 * i & 15];
    return set;
}

uint32_t cache_sets_hashed_index(const struct cache_sets *s, uint64_t address)
{
    if (s->index == INDEX_FERMI)
        return fermi_index(address, s->line_shift, s->count);
    if (s->index == INDEX_FOLD)
        return fold_index(address >> s->line_shift, s->set_bits);
    if (s->index == INDEX_MULTIPLIED)
        return cache_sets_multiplied_index(s, address);
    if (s->index == INDEX_HOPPER)
        return hopper_index(address >> s->line_shift);
    return (uint32_t)((address >> s->line_shift) % s->count);
}
