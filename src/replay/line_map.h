/* A table from lines to numbers, which grows by itself; a line may be taken out.
 *
 * Slots are in groups of four, a line of the host's cache. A line is in the group that its hash says, or, where that
 * was full, in one behind it with no gap between. The slots of a group are in use from the first on; all four are
 * compared, so that a processor has one branch to guess, which nearly always goes the same way, and a line that comes
 * new changes no branch either. */
#ifndef HEDDLE_REPLAY_LINE_MAP_H
#define HEDDLE_REPLAY_LINE_MAP_H

#include "replay/slabs.h"

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
    struct slabs *slabs;  /* where its memory is from; may be shared */
};

/* The first slot of the group that a line should be in. */
static inline uint64_t line_map_home(const struct line_map *m, uint64_t line)
{
    line *= 0x9e3779b97f4a7c15u;
    return (line ^ line >> 32) & m->mask & ~(uint64_t)(LINE_MAP_GROUP - 1);
}

static inline uint64_t line_map_behind(const struct line_map *m, uint64_t group)
{
    return (group + LINE_MAP_GROUP) & m->mask;
}
static inline bool line_map_is_full(const struct line_map_slot *group)
{
    return group[LINE_MAP_GROUP - 1].line != LINE_MAP_FREE;
}

static inline uint32_t line_map_used(const struct line_map_slot *group)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < LINE_MAP_GROUP; i++)
        used += group[i].line != LINE_MAP_FREE;
    return used;
}

/* Soon the line will be asked for. */
static inline void line_map_prefetch(const struct line_map *m, uint64_t line)
{
    __builtin_prefetch(m->slots + line_map_home(m, line), 1);
}

static inline void line_map_clear(struct line_map *m)
{
    if (m->count)
        memset(m->slots, 0xff, (m->mask + 1) * sizeof *m->slots);
    m->count = 0;
}

/* NULL: the line is not there. */
static inline struct line_map_slot *line_map_slot(const struct line_map *m, uint64_t line)
{
    for (uint64_t group = line_map_home(m, line);; group = line_map_behind(m, group)) {
        struct line_map_slot *s = &m->slots[group];
        uint32_t found = 0;
        for (uint32_t i = 0; i < LINE_MAP_GROUP; i++)
            found |= (uint32_t)(s[i].line == line) << i;
        if (found)
            return &s[__builtin_ctz(found)];
        if (!line_map_is_full(s))
            return NULL;
    }
}

static inline uint64_t *line_map_find(const struct line_map *m, uint64_t line)
{
    struct line_map_slot *s = m->count ? line_map_slot(m, line) : NULL;
    return s ? &s->value : NULL;
}

/* A line that is not there yet. There is room. */
static inline void line_map_put(struct line_map *m, struct line_map_slot slot)
{
    uint64_t group = line_map_home(m, slot.line);
    while (line_map_is_full(&m->slots[group]))
        group = line_map_behind(m, group);
    struct line_map_slot *s = &m->slots[group + line_map_used(&m->slots[group])];
    *s = slot;
    m->count++;
}

static __attribute__((unused, noinline)) void line_map_grow(struct line_map *m)
{
    struct line_map old = *m;
    uint64_t size = !old.slots ? 64 : old.mask < 4096 ? 4 * (old.mask + 1) : 2 * (old.mask + 1);
    *m = (struct line_map){.slots = slabs_take(m->slabs, size * sizeof *m->slots), .mask = size - 1, .slabs = m->slabs};
    memset(m->slots, 0xff, size * sizeof *m->slots);
    for (uint64_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].line != LINE_MAP_FREE)
            line_map_put(m, old.slots[i]);
    if (old.slots)
        slabs_give(m->slabs, old.slots, (old.mask + 1) * sizeof *old.slots);
}

/* So many lines may come before the table grows. */
static inline void line_map_reserve(struct line_map *m, uint64_t lines)
{
    while (!m->slots || 4 * (m->count + lines) > 3 * m->mask)
        line_map_grow(m);
}

/* The slot of the line, or the free one that it should have; its value is LINE_MAP_NEW then. There is room. */
static inline struct line_map_slot *line_map_place(const struct line_map *m, uint64_t line)
{
    for (uint64_t group = line_map_home(m, line);; group = line_map_behind(m, group)) {
        struct line_map_slot *s = &m->slots[group];
        uint32_t good = 0; /* bits: the line's slot, and free ones behind it */
        for (uint32_t i = 0; i < LINE_MAP_GROUP; i++)
            good |= (uint32_t)((s[i].line == line) | (s[i].line == LINE_MAP_FREE)) << i;
        if (__builtin_expect(good != 0, 1))
            return &s[__builtin_ctz(good)];
    }
}

/* The value of a line; LINE_MAP_NEW where it was not there. Good until the next line comes or goes. */
static inline uint64_t *line_map_at(struct line_map *m, uint64_t line)
{
    line_map_reserve(m, 1);
    struct line_map_slot *s = line_map_place(m, line);
    m->count += s->line != line;
    s->line = line;
    return &s->value;
}

/* Of the groups behind a full one: a slot whose line could stand in that one. NULL: there is none. */
static inline struct line_map_slot *line_map_overflow(const struct line_map *m, uint64_t group, uint64_t *of)
{
    for (uint64_t at = line_map_behind(m, group);; at = line_map_behind(m, at)) {
        struct line_map_slot *s = &m->slots[at];
        for (uint32_t i = 0; i < LINE_MAP_GROUP && s[i].line != LINE_MAP_FREE; i++)
            if (((at - line_map_home(m, s[i].line)) & m->mask) >= ((at - group) & m->mask)) {
                *of = at;
                return &s[i];
            }
        if (!line_map_is_full(s))
            return NULL;
    }
}

static inline void line_map_remove(struct line_map *m, uint64_t line)
{
    struct line_map_slot *hole = m->count ? line_map_slot(m, line) : NULL, *other;
    if (!hole)
        return;
    uint64_t group = (uint64_t)(hole - m->slots) & ~(uint64_t)(LINE_MAP_GROUP - 1);
    while (line_map_is_full(&m->slots[group]) && (other = line_map_overflow(m, group, &group))) {
        *hole = *other;
        hole = other;
    }
    other = &m->slots[group + line_map_used(&m->slots[group]) - 1];
    *hole = *other;
    *other = (struct line_map_slot){LINE_MAP_FREE, LINE_MAP_NEW};
    m->count--;
}

#endif
