/* The intra-loop repetition detector of DAWS (ILRD, section 5.2.2), a part that any policy may use: a small
 * set-associative array (LRU) of the lines that a warp has touched in the current iteration of a loop, each with the
 * load that touched it first. A load that finds its line there under another load repeats it.
 *
 *   l1_access:                  heddle_loop_repetition_probe, for loads of warps that one watches
 *   loop, entered or iterated:  heddle_loop_repetition_clear, of such a warp
 *
 * A line belongs to its warp: two warps that touch the same line have an entry each, and do not repeat each other. */
#ifndef HEDDLE_LOOP_REPETITION_H
#define HEDDLE_LOOP_REPETITION_H

#include "heddle/policy.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_repeated_line {
    uint64_t tag; /* line number + 1; 0 means none */
    uint32_t pc, warp;
};
struct heddle_loop_repetition {
    uint32_t sets, ways, line_bytes;
    struct heddle_repeated_line *lines; /* by set, the one used last in front; empty places at the end */
};

/* False: no memory, or nothing to hold (a size is 0). To be freed in either case. */
static inline bool heddle_loop_repetition_init(struct heddle_loop_repetition *t, uint32_t sets, uint32_t ways,
                                               uint32_t line_bytes)
{
    t->sets = sets;
    t->ways = ways;
    t->line_bytes = line_bytes;
    t->lines = NULL;
    if (sets && ways && line_bytes)
        t->lines = (struct heddle_repeated_line *)calloc((size_t)sets * ways, sizeof *t->lines);
    return t->lines != NULL;
}

static inline void heddle_loop_repetition_free(struct heddle_loop_repetition *t)
{
    free(t->lines);
    t->lines = NULL;
}

static inline void heddle_loop_repetition_flush(struct heddle_loop_repetition *t)
{
    memset(t->lines, 0, (size_t)t->sets * t->ways * sizeof *t->lines);
}

/* All lines of a warp. */
static inline void heddle_loop_repetition_clear(struct heddle_loop_repetition *t, uint32_t warp)
{
    for (uint32_t s = 0; s < t->sets; s++) {
        struct heddle_repeated_line *set = t->lines + (size_t)s * t->ways;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < t->ways && set[i].tag; i++)
            if (set[i].warp != warp)
                set[kept++] = set[i];
        for (; kept < t->ways; kept++)
            set[kept].tag = 0;
    }
}

/* The load that touched the line first in this iteration; HEDDLE_NO_PC means that none has, and the line is now
 * entered. */
static inline uint32_t heddle_loop_repetition_probe(struct heddle_loop_repetition *t, uint32_t warp, uint32_t pc,
                                                    uint64_t address)
{
    uint64_t line = address / t->line_bytes;
    struct heddle_repeated_line *set = t->lines + (size_t)(line % t->sets) * t->ways;
    struct heddle_repeated_line found = {line + 1, pc, warp};
    uint32_t way = 0, first = HEDDLE_NO_PC;
    while (way < t->ways && set[way].tag && (set[way].tag != found.tag || set[way].warp != warp))
        way++;
    if (way == t->ways)
        way--; /* full: the line used longest ago leaves */
    else if (set[way].tag) {
        found = set[way];
        first = found.pc;
    }
    memmove(set + 1, set, way * sizeof *set);
    set[0] = found;
    return first;
}

#ifdef __cplusplus
}
#endif

#endif
