/* A cache is made, and told who decides for it. */
#include "mem/cache_inside.h"

#include <assert.h>

struct cache *cache_create(struct arena *a, const struct cache_config *config, cache_index_fn *index_address,
                           const void *context)
{
    if (config->sets == 0)
        return NULL;
    assert(config->ways && config->line_bytes && config->line_bytes <= 8 * SECTOR_BYTES &&
           (config->line_bytes & (config->line_bytes - 1)) == 0);
    const struct write_rule *global = write_rule_of(config, false), *local = write_rule_of(config, true);
    assert(!write_rule_misses(config, WRITE_MISS_FETCH) ||
           (config->sector_bytes == 0 && config->miss_queue >= STORE_FETCH_ROOM));
    struct cache *c = arena_new(a, struct cache);
    uint32_t sectors = (config->line_bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    *c = (struct cache){
        .line_mask = ~(uint64_t)(config->line_bytes - 1),
        .plain_reads = PLAIN_READS,
        .all_sectors = (uint8_t)((1u << sectors) - 1),
        .group = (uint8_t)(config->sector_bytes > SECTOR_BYTES ? config->sector_bytes / SECTOR_BYTES : 1),
        .whole_lines = config->sector_bytes == 0 || config->sector_bytes >= config->line_bytes,
        .on_fill = config->allocate == ALLOCATE_ON_FILL,
        .knows_bytes = global->hit == WRITE_HIT_KEEP,
        .writes = {global, local},
        .writeback_kind = PACKET_L1_WRITEBACK,
        .line_bytes = config->line_bytes,
        .head = {.port_bytes = config->port_bytes},
        .index_address = index_address,
        .index_context = context,
        .blocked = {.address = UINT64_MAX},
        .counters = arena_new(a, struct cache_counters),
    };
    mshr_init(&c->head.mshr, a, config->mshr_entries, config->mshr_merge);
    /* A line that is taken when data comes may push out a modified one when the miss queue is full: room for one
     * write-back an entry. So may a miss that has the only place of a queue of one: room for its write-back. */
    ring_init(&c->head.misses, a,
              config->miss_queue + (config->miss_queue < CACHE_PAIR) + (c->on_fill ? config->mshr_entries : 0));
    c->head.misses.limit = config->miss_queue;
    c->pair = config->miss_queue < CACHE_PAIR ? config->miss_queue : CACHE_PAIR;
    cache_sets_init(&c->sets, a, config);
    if (config->partial_writes && !c->whole_lines && c->group == 1)
        c->written = arena_array(a, uint32_t, (size_t)config->sets * config->ways * sectors);
    c->mapped = index_address || c->sets.index != INDEX_MASK;
    return c;
}

const struct cache_head *cache_head_or_none(const struct cache *c)
{
    static const struct cache_head none;
    return c ? cache_head(c) : &none;
}

void cache_set_choices(struct cache *c, const struct cache_choices *choices)
{
    assert(c->sets.ways <= CACHE_MASK_WAYS);
    c->choices = *choices;
    c->chooses = choices->victim != NULL;
    c->asks = true;
    c->plain_reads = 0;
}

struct cache_ways cache_ways(const struct cache *c, uint32_t set)
{
    struct cache_ways w = {0};
    for (uint32_t way = 0; way < c->sets.ways; way++) {
        uint64_t bit = (uint64_t)1 << way;
        if (*tag_at(c, set, way) == NO_TAG)
            w.empty |= bit;
        else if (line_at(c, set, way)->reserved)
            w.reserved |= bit;
        else
            w.lines |= bit;
    }
    return w;
}

void cache_set_writeback(struct cache *c, enum packet_kind kind, uint32_t miss_reserve)
{
    uint32_t limit = c->head.misses.limit;
    c->writeback_kind = kind;
    c->miss_reserve = miss_reserve < limit ? miss_reserve : limit;
}
