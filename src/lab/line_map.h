/* A table from lines to numbers: open addressing, a slot a line. Grows by itself; a line may be taken out. */
#ifndef HEDDLE_LAB_LINE_MAP_H
#define HEDDLE_LAB_LINE_MAP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAP_FREE UINT64_MAX

struct line_map_slot { uint64_t line, value; };
struct line_map { struct line_map_slot *slots; uint64_t count, mask; };

static inline uint64_t line_map_hash(uint64_t line)
{
    line *= 0x9e3779b97f4a7c15u;
    return line ^ line >> 32;
}

static inline void line_map_free(struct line_map *m)
{
    free(m->slots);
    *m = (struct line_map){0};
}

static inline void line_map_clear(struct line_map *m)
{
    if (m->count)
        memset(m->slots, 0xff, (m->mask + 1) * sizeof *m->slots);
    m->count = 0;
}

/* The slot of the line, or the free one where it would be. There is one as long as the table is not full. */
static inline struct line_map_slot *line_map_slot(const struct line_map *m, uint64_t line)
{
    uint64_t at = line_map_hash(line) & m->mask;
    while (m->slots[at].line != line && m->slots[at].line != LINE_MAP_FREE)
        at = (at + 1) & m->mask;
    return &m->slots[at];
}

/* NULL: the line is not there. */
static inline uint64_t *line_map_find(const struct line_map *m, uint64_t line)
{
    if (!m->count)
        return NULL;
    struct line_map_slot *s = line_map_slot(m, line);
    return s->line == line ? &s->value : NULL;
}

static inline void line_map_grow(struct line_map *m)
{
    struct line_map old = *m;
    uint64_t size = old.slots ? 2 * (old.mask + 1) : 64;
    m->slots = malloc(size * sizeof *m->slots);
    if (!m->slots)
        abort();
    memset(m->slots, 0xff, size * sizeof *m->slots);
    m->mask = size - 1;
    for (uint64_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].line != LINE_MAP_FREE)
            *line_map_slot(m, old.slots[i].line) = old.slots[i];
    free(old.slots);
}

/* The value of a line, new ones with `missing`. Good until the next line comes or goes. */
static inline uint64_t *line_map_at(struct line_map *m, uint64_t line, uint64_t missing)
{
    if (!m->slots || 2 * m->count > m->mask)
        line_map_grow(m);
    struct line_map_slot *s = line_map_slot(m, line);
    if (s->line != line) {
        *s = (struct line_map_slot){line, missing};
        m->count++;
    }
    return &s->value;
}

/* Those behind it that could stand in its place move up. */
static inline void line_map_remove(struct line_map *m, uint64_t line)
{
    if (!line_map_find(m, line))
        return;
    uint64_t hole = (uint64_t)(line_map_slot(m, line) - m->slots);
    for (uint64_t at = (hole + 1) & m->mask; m->slots[at].line != LINE_MAP_FREE; at = (at + 1) & m->mask) {
        uint64_t home = line_map_hash(m->slots[at].line) & m->mask;
        if (((at - home) & m->mask) < ((at - hole) & m->mask))
            continue;
        m->slots[hole] = m->slots[at];
        hole = at;
    }
    m->slots[hole].line = LINE_MAP_FREE;
    m->count--;
}

#endif
