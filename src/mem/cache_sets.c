/* The lines of a cache: see cache_sets.h. Set indices after GPGPU-Sim, and after the code that CCWS published. */
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
    if (config->index == SET_INDEX_HASHED && (config->sets == 32 || config->sets == 64))
        return INDEX_FERMI;
    if (config->index == SET_INDEX_HASHED && power && config->sets > 1)
        return INDEX_FOLD;
    if (config->index == SET_INDEX_MULTIPLIED && power && config->sets > 1)
        return INDEX_MULTIPLIED;
    return power ? INDEX_MASK : INDEX_MODULO;
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
                             .most_sets = config->sets,
                             .lines_in_use = (uint32_t)lines,
                             .ways_in_use = arena_array(a, uint16_t, config->sets),
                             .ways = config->ways,
                             .mark_words = mark_words,
                             .line_shift = log2_of(config->line_bytes),
                             .set_bits = log2_of(config->sets),
                             .index = cache_sets_index_kind(config)};
    cache_sets_clear(s);
}

void cache_sets_clear(struct cache_sets *s)
{
    size_t lines = (size_t)s->most_sets * s->ways;
    s->recent = s->absent = NO_TAG;
    s->drawn = 1;
    s->spare = s->lines_in_use % s->count;
    memset(s->tags, 0xff, lines * sizeof *s->tags); /* NO_TAG */
    memset(s->lines, 0, lines * sizeof *s->lines);
    for (uint32_t set = 0; set < s->count; set++) {
        uint32_t ways = s->lines_in_use / s->count;
        for (uint32_t way = 0; way < ways; way++)
            s->links[cache_sets_place(s, set, way)] = (struct cache_link){
                .newer = (uint16_t)(way + 1 < ways ? way + 1 : 0), .older = (uint16_t)(way > 0 ? way - 1 : ways - 1)};
        s->newest[set] = (uint16_t)(ways - 1);
        s->ways_in_use[set] = (uint16_t)ways;
    }
}

void cache_sets_resize(struct cache_sets *s, uint32_t lines)
{
    uint32_t most = s->most_sets * s->ways;
    s->lines_in_use = lines < 1 ? 1 : lines < most ? lines : most;
    s->count = s->most_sets;
    while (s->count > s->lines_in_use)
        s->count /= 2;
    s->set_bits = log2_of(s->count);
    cache_sets_clear(s);
}

void cache_sets_grow(struct cache_sets *s, uint32_t set)
{
    struct cache_link *links = &s->links[set * s->ways];
    uint32_t newest = s->newest[set], oldest = links[newest].newer, way = s->ways_in_use[set];
    if (way == s->ways || *cache_sets_tag(s, set, oldest) == NO_TAG)
        return;
    s->spare--;
    s->ways_in_use[set]++;
    links[way] = (struct cache_link){.newer = (uint16_t)oldest, .older = (uint16_t)newest};
    links[newest].newer = links[oldest].older = (uint16_t)way;
}

static uint32_t draw(struct cache_sets *s) /* xorshift: the same numbers in each launch */
{
    s->drawn ^= s->drawn << 13;
    s->drawn ^= s->drawn >> 17;
    s->drawn ^= s->drawn << 5;
    return s->drawn;
}

uint32_t cache_sets_giver(struct cache_sets *s, uint32_t set)
{
    uint32_t oldest = s->links[set * s->ways + s->newest[set]].newer;
    if (s->spare || s->ways_in_use[set] == s->ways || *cache_sets_tag(s, set, oldest) == NO_TAG ||
        draw(s) % (s->lines_in_use + s->kept) >= s->kept)
        return set;
    uint32_t other = draw(s) % s->count;
    return s->ways_in_use[other] > 1 && s->ways_in_use[other] >= s->ways_in_use[set] ? other : set;
}

/* The last way of a set takes the number of one that goes. */
static void close_gap(struct cache_sets *s, uint32_t set, uint32_t way)
{
    struct cache_link *links = &s->links[set * s->ways];
    uint32_t last = --s->ways_in_use[set];
    links[links[way].older].newer = links[way].newer;
    links[links[way].newer].older = links[way].older;
    if (s->newest[set] == way)
        s->newest[set] = links[way].older;
    if (way == last)
        return;
    uint64_t *marks = &s->marks[set * s->mark_words];
    uint64_t mark = marks[last / 8] >> (last % 8 * 8) & 0xff;
    marks[way / 8] = (marks[way / 8] & ~(0xffull << (way % 8 * 8))) | mark << (way % 8 * 8);
    *cache_sets_tag(s, set, way) = *cache_sets_tag(s, set, last);
    *cache_sets_line(s, set, way) = *cache_sets_line(s, set, last);
    *cache_sets_tag(s, set, last) = NO_TAG;
    *cache_sets_line(s, set, last) = (struct cache_line){.age = 0};
    struct cache_link link = links[last];
    links[link.older].newer = links[link.newer].older = (uint16_t)way;
    links[way] = link.newer == last ? links[last] : link; /* the only one is its own neighbour */
    if (s->newest[set] == last)
        s->newest[set] = (uint16_t)way;
}

void cache_sets_move_way(struct cache_sets *s, uint32_t from, uint32_t way, uint32_t to)
{
    struct cache_link *links = &s->links[to * s->ways];
    uint32_t newest = s->newest[to], oldest = links[newest].newer, added = s->ways_in_use[to]++;
    *cache_sets_tag(s, from, way) = NO_TAG;
    *cache_sets_line(s, from, way) = (struct cache_line){.age = 0};
    s->recent = NO_TAG;
    close_gap(s, from, way);
    links[added] = (struct cache_link){.newer = (uint16_t)oldest, .older = (uint16_t)newest};
    links[newest].newer = links[oldest].older = (uint16_t)added;
}

/* Its place is among the other ways without a line, before those above it. */
void cache_sets_empty(struct cache_sets *s, uint32_t set, uint32_t way)
{
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

uint32_t cache_sets_hashed_index(const struct cache_sets *s, uint64_t address)
{
    if (s->index == INDEX_FERMI)
        return fermi_index(address, s->line_shift, s->count);
    if (s->index == INDEX_FOLD)
        return fold_index(address >> s->line_shift, s->set_bits);
    if (s->index == INDEX_MULTIPLIED)
        return cache_sets_multiplied_index(s, address);
    return (uint32_t)((address >> s->line_shift) % s->count);
}
