/* A table from lines to numbers, which grows by itself.
 *
 * Slots are in groups of four, a line of the host's cache. A line is in the group that its hash says, or, where that
 * was full, in one after it with no gap between. The slots of a group are in use from the first on; all four are
 * compared, so that a processor has one branch to guess, which nearly always goes the same way, and a line that comes
 * new changes no branch either.
 *
 * Why not a library's: four million look-ups of 5,000, 100,000 and 1.7 million lines, in million per second of one
 * processor: this table 67, 27 and 12, JudyL 26, 15 and 9, uthash 45, 11 and 5. A replay has one or two per access, and
 * should do 20 million accesses per second. */
#ifndef HEDDLE_REPLAY_LINE_MAP_H
#define HEDDLE_REPLAY_LINE_MAP_H

#include "base/out_of_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAP_FREE UINT64_MAX
#define LINE_MAP_NEW  UINT64_MAX /* the value of a line that came just now, and of slots that have none */
enum { LINE_MAP_GROUP = 4 };

struct line_map_slot {
    uint64_t line, value;
};
struct line_map {
    struct line_map_slot *slots;
    uint64_t count, mask; /* of slots */
};

/* The first slot of the group that a line should be in. */
static inline uint64_t line_map_home(const struct line_map *m, uint64_t line)
{
    line *= 0x9e3779b97f4a7c15u;
    return (line ^ line >> 32) & m->mask & ~(uint64_t)(LINE_MAP_GROUP - 1);
}

/* Soon the line will be asked for. */
static inline void line_map_prefetch(const struct line_map *m, uint64_t line)
{
    __builtin_prefetch(m->slots + line_map_home(m, line), 1);
}

/* The slot of the line, or the free one that it should have; its value is LINE_MAP_NEW then. There is room. */
static inline struct line_map_slot *line_map_place(const struct line_map *m, uint64_t line)
{
    for (uint64_t group = line_map_home(m, line);; group = (group + LINE_MAP_GROUP) & m->mask) {
        struct line_map_slot *s = &m->slots[group];
        uint32_t good = 0; /* bits: the line's slot, and free ones after it */
        for (uint32_t i = 0; i < LINE_MAP_GROUP; i++)
            good |= (uint32_t)((s[i].line == line) | (s[i].line == LINE_MAP_FREE)) << i;
        if (__builtin_expect(good != 0, 1))
            return &s[__builtin_ctz(good)];
    }
}

static __attribute__((unused, noinline)) void line_map_grow(struct line_map *m)
{
    struct line_map old = *m;
    uint64_t size = !old.slots ? 64 : old.mask < 4096 ? 4 * (old.mask + 1) : 2 * (old.mask + 1);
    m->slots = aligned_alloc(LINE_MAP_GROUP * sizeof *m->slots, size * sizeof *m->slots);
    if (!m->slots)
        out_of_memory();
    m->mask = size - 1;
    memset(m->slots, 0xff, size * sizeof *m->slots);
    for (uint64_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].line != LINE_MAP_FREE)
            *line_map_place(m, old.slots[i].line) = old.slots[i];
    free(old.slots);
}

/* So many lines may come before the table grows. */
static inline void line_map_reserve(struct line_map *m, uint64_t lines)
{
    while (!m->slots || 4 * (m->count + lines) > 3 * m->mask)
        line_map_grow(m);
}

/* The value of a line; LINE_MAP_NEW where it was not there. Good until the next line comes. */
static inline uint64_t *line_map_at(struct line_map *m, uint64_t line)
{
    line_map_reserve(m, 1);
    struct line_map_slot *s = line_map_place(m, line);
    m->count += s->line != line;
    s->line = line;
    return &s->value;
}

static inline void line_map_clear(struct line_map *m)
{
    if (m->count)
        memset(m->slots, 0xff, (m->mask + 1) * sizeof *m->slots);
    m->count = 0;
}

static inline void line_map_free(struct line_map *m)
{
    free(m->slots);
    *m = (struct line_map){0};
}

#endif
