/* Ways of a set of a cache as bits, of which the first is found at once: above 64 words there is one that says which of
 * them have any. Whoever has many such sets of the same number of ways keeps their words himself: what is in them is
 * anything before way_bits_empty, and of ways that have not been made known by way_bits_grow, one after the other from
 * the first on. */
#ifndef HEDDLE_REPLAY_WAY_BITS_H
#define HEDDLE_REPLAY_WAY_BITS_H

#include "mem/cache_sets.h"

#include <stdint.h>

enum { WAY_BITS_LEVELS = 6 };
struct way_bits_shape {
    uint32_t levels, words;
    uint32_t start[WAY_BITS_LEVELS]; /* of each level: its first word */
};

static inline struct way_bits_shape way_bits_shape_of(uint32_t ways)
{
    struct way_bits_shape s = {0};
    do {
        s.start[s.levels++] = s.words;
        ways = (ways - 1) / 64 + 1;
        s.words += ways;
    } while (ways > 1);
    return s;
}

static inline void way_bits_add(const struct way_bits_shape *s, uint64_t *words, uint32_t way)
{
    for (uint32_t i = 0; i < s->levels; i++, way /= 64)
        words[s->start[i] + way / 64] |= (uint64_t)1 << way % 64;
}

static inline void way_bits_remove(const struct way_bits_shape *s, uint64_t *words, uint32_t way)
{
    for (uint32_t i = 0; i < s->levels; i++, way /= 64)
        if (words[s->start[i] + way / 64] &= ~((uint64_t)1 << way % 64))
            return;
}

/* NO_WAY: there is none. */
static inline uint32_t way_bits_first(const struct way_bits_shape *s, const uint64_t *words)
{
    uint32_t way = 0;
    if (!words[s->words - 1])
        return NO_WAY;
    for (uint32_t i = s->levels; i-- > 0;)
        way = way * 64 + (uint32_t)__builtin_ctzll(words[s->start[i] + way]);
    return way;
}

static inline void way_bits_empty(const struct way_bits_shape *s, uint64_t *words) { words[s->words - 1] = 0; }

/* The next way may come from now on. */
static inline void way_bits_grow(const struct way_bits_shape *s, uint64_t *words, uint32_t way)
{
    for (uint32_t i = 0; i < s->levels && way % 64 == 0; i++, way /= 64)
        words[s->start[i] + way / 64] = 0;
}

#endif
