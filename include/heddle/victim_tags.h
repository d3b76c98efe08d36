/* Victim tags, a part that any policy may use: each warp slot has a small set-associative array of the tags of lines
 * that it brought into the L1D and that left. A miss that finds its tag there would have been a hit, had the warp had
 * more of the cache to itself (CCWS: lost locality).
 *
 *   l1_evict:   victim_tags_evicted, into the portion of the slot that brought the line
 *   l1_access:  victim_tags_accessed: a load that misses, or finds its line on its way, is looked up in the portion of
 *               its own slot; a global store takes the tag out of every portion
 *   kernel:     victim_tags_flush, with the L1D
 *
 * l1_evict comes before the l1_access that caused it, so the line that leaves is in before the look-up, as in the
 * simulator that CCWS published. Inside a set the tag that came first leaves first (FIFO). A tag that is found stays,
 * and one that comes again keeps its place. Portions go by slot, as five bits per line allow: a warp finds the tags of
 * the one that had its slot before.
 *
 * The tag of line n is in set (n % sets + 7 * (n / sets)) % sets, as in the same simulator: bit 0 XOR bit 1 where there
 * are two. The other index is n % sets. */
#ifndef HEDDLE_VICTIM_TAGS_H
#define HEDDLE_VICTIM_TAGS_H

#include "heddle/policy.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_VICTIM_FILTER = 1024 };

enum heddle_victim_index { HEDDLE_VICTIM_HASH, HEDDLE_VICTIM_PLAIN /* the line's number modulo the sets */ };
static const char *const heddle_victim_indices[] = {"hash", "plain", NULL}; /* choices of a parameter */
#define HEDDLE_VICTIM_INDEX_HELP \
    "set of a victim tag: from all of its line's number, as in the code of CCWS' authors, or from the lowest bits"

struct heddle_victim_tags {
    uint32_t warps, sets, ways, line_bytes;
    enum heddle_victim_index index;
    uint64_t *
        tags; /* by warp, set, way: line number + 1, the one that came first in front; 0 means none, after the others */
    uint16_t present[HEDDLE_VICTIM_FILTER]; /* tags held, by a few bits of the line's number: most stores are of lines
                                               that are in no portion, and need not look into all */
};

/* False: no memory, or nothing to hold (a size is 0). To be freed in either case. */
static inline bool heddle_victim_tags_init(struct heddle_victim_tags *v, uint32_t warps, uint32_t sets, uint32_t ways,
                                           uint32_t line_bytes, enum heddle_victim_index index)
{
    memset(v, 0, sizeof *v);
    v->warps = warps;
    v->sets = sets;
    v->ways = ways;
    v->line_bytes = line_bytes;
    v->index = index;
    if (!warps || !sets || !ways || !line_bytes)
        return false;
    v->tags = (uint64_t *)calloc((size_t)warps * sets * ways, sizeof *v->tags);
    return v->tags != NULL;
}

static inline void heddle_victim_tags_free(struct heddle_victim_tags *v)
{
    free(v->tags);
    v->tags = NULL;
}

static inline void heddle_victim_tags_flush(struct heddle_victim_tags *v)
{
    memset(v->tags, 0, (size_t)v->warps * v->sets * v->ways * sizeof *v->tags);
    memset(v->present, 0, sizeof v->present);
}

static inline uint16_t *heddle_victim_tags_present(struct heddle_victim_tags *v, uint64_t tag)
{
    return &v->present[(tag * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

static inline uint32_t heddle_victim_tags_index(const struct heddle_victim_tags *v, uint64_t line)
{
    uint64_t lowest = line % v->sets, above = line / v->sets;
    return (uint32_t)(v->index == HEDDLE_VICTIM_PLAIN ? lowest : (lowest + 7 * above) % v->sets);
}

static inline uint64_t *heddle_victim_tags_set(const struct heddle_victim_tags *v, uint32_t warp, uint64_t line)
{
    return v->tags + ((size_t)warp * v->sets + heddle_victim_tags_index(v, line)) * v->ways;
}

/* The way that holds a tag, or how many there are. */
static inline uint32_t heddle_victim_tags_find(const uint64_t *set, uint32_t ways, uint64_t tag)
{
    uint32_t way = 0;
    while (way < ways && set[way] != tag)
        way++;
    return way;
}

static inline void heddle_victim_tags_remove(struct heddle_victim_tags *v, uint64_t *set, uint32_t way)
{
    --*heddle_victim_tags_present(v, set[way]);
    memmove(set + way, set + way + 1, (v->ways - way - 1) * sizeof *set);
    set[v->ways - 1] = 0;
}

static inline void heddle_victim_tags_insert(struct heddle_victim_tags *v, uint32_t warp, uint64_t address)
{
    uint64_t line = address / v->line_bytes, tag = line + 1, *set = heddle_victim_tags_set(v, warp, line);
    if (heddle_victim_tags_find(set, v->ways, tag) < v->ways)
        return;
    if (set[v->ways - 1])
        heddle_victim_tags_remove(v, set, 0);
    set[heddle_victim_tags_find(set, v->ways, 0)] = tag;
    ++*heddle_victim_tags_present(v, tag);
}

static inline bool heddle_victim_tags_probe(struct heddle_victim_tags *v, uint32_t warp, uint64_t address)
{
    uint64_t line = address / v->line_bytes, tag = line + 1;
    return *heddle_victim_tags_present(v, tag) &&
           heddle_victim_tags_find(heddle_victim_tags_set(v, warp, line), v->ways, tag) < v->ways;
}

/* Out of every portion. */
static inline void heddle_victim_tags_invalidate(struct heddle_victim_tags *v, uint64_t address)
{
    uint64_t line = address / v->line_bytes, tag = line + 1;
    for (uint32_t warp = 0; warp < v->warps && *heddle_victim_tags_present(v, tag); warp++) {
        uint64_t *set = heddle_victim_tags_set(v, warp, line);
        uint32_t way = heddle_victim_tags_find(set, v->ways, tag);
        if (way < v->ways)
            heddle_victim_tags_remove(v, set, way);
    }
}

static inline void heddle_victim_tags_evicted(struct heddle_victim_tags *v, const struct heddle_l1_evict *e)
{
    if (e->owner >= 0 && (uint32_t)e->owner < v->warps)
        heddle_victim_tags_insert(v, (uint32_t)e->owner, e->address);
}

/* True: a load of a line that its warp had and lost. */
static inline bool heddle_victim_tags_accessed(struct heddle_victim_tags *v, const struct heddle_l1_access *e)
{
    if (e->outcome == HEDDLE_FAIL)
        return false;
    if (!e->store)
        return e->outcome != HEDDLE_HIT && heddle_victim_tags_probe(v, e->warp, e->address);
    if (!e->local)
        heddle_victim_tags_invalidate(v, e->address);
    return false;
}

#ifdef __cplusplus
}
#endif

#endif
