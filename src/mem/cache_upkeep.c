/* What happens to a cache between accesses: its lines are lost, its size is another, its counters are read, somebody
 * asks where a line is. */
#include "mem/cache_inside.h"

#include <assert.h>
#include <string.h>

void cache_where(const struct cache *c, uint64_t address, uint32_t *set, uint32_t *way)
{
    uint64_t line = address & c->line_mask;
    *set = set_of(c, line);
    *way = cache_sets_search(&c->sets, *set, line);
}

void cache_drop(struct cache *c)
{
    if (!c->touched)
        return;
    c->touched = false;
    c->head.blocked = 0;
    for (uint32_t set = 0; set < c->sets.count; set++)
        for (uint32_t way = 0; way < c->sets.ways; way++) {
            if (*tag_at(c, set, way) == NO_TAG)
                continue;
            struct cache_line *line = line_at(c, set, way);
            if (line->reserved) {
                line->valid = line->modified = line->partial = 0;
                c->touched = true;
                continue;
            }
            cache_sets_empty(&c->sets, set, way);
        }
}

void cache_invalidate(struct cache *c)
{
    assert(c->head.mshr.used == 0);
    if (!c->touched)
        return;
    cache_sets_clear(&c->sets);
    c->touched = false;
    c->head.blocked = 0;
}

void cache_resize(struct cache *c, uint32_t bytes)
{
    assert(c->head.mshr.used == 0);
    if (!cache_sets_resize(&c->sets, bytes / c->line_bytes))
        return;
    c->chooses = c->choices.victim || c->sets.bank_lines;
    c->plain_reads = c->asks || c->sets.bank_lines ? 0 : PLAIN_READS;
    c->touched = false;
    c->head.blocked = 0;
    c->blocked.address = UINT64_MAX;
}

const struct cache_counters *cache_counters(const struct cache *c)
{
    struct cache_counters *n = c->counters;
    memcpy(n->fails, c->fails, sizeof n->fails);
    n->fails[c->blocked.why] += c->head.repeats;
    n->reads = c->taken[0][CACHE_HIT] + c->taken[0][CACHE_MISS] + c->taken[0][CACHE_PENDING];
    n->write_hits = c->taken[1][CACHE_HIT];
    n->write_misses = c->taken[1][CACHE_MISS];
    n->writes = n->write_hits + n->write_misses;
    n->accesses = n->reads + n->writes;
    n->hits = c->taken[0][CACHE_HIT] + n->write_hits;
    n->misses = c->taken[0][CACHE_MISS] + n->write_misses;
    n->misses_sent = c->taken[0][CACHE_MISS] + c->fetches;
    n->pending_hits = c->taken[0][CACHE_PENDING];
    n->intra_warp_hits = c->intra_warp_hits;
    n->evictions = c->evictions;
    n->writebacks = c->writebacks;
    n->fills = c->fills;
    n->inter_warp_hits = c->taken[0][CACHE_HIT] - n->intra_warp_hits;
    return n;
}

void cache_counters_reset(struct cache *c)
{
    memset(c->taken, 0, sizeof c->taken);
    memset(c->fails, 0, sizeof c->fails);
    c->head.repeats = 0;
    c->intra_warp_hits = c->evictions = c->writebacks = c->fills = c->fetches = 0;
    *c->counters = (struct cache_counters){.accesses = 0};
}
