/* Inside a cache: what an access has on its way through it. */
#ifndef HEDDLE_MEM_CACHE_INSIDE_H
#define HEDDLE_MEM_CACHE_INSIDE_H

#include "mem/cache.h"

enum { NO_OWNER = UINT16_MAX, CACHE_PAIR = 2 /* packets: a miss and the write-back of its victim */ };

#define PLAIN_READS \
    (1u << PACKET_LOAD | 1u << PACKET_LOCAL_LOAD | 1u << PACKET_CONST | 1u << PACKET_TEXTURE | 1u << PACKET_INST)

/* An access on its way through cache.c. */
struct lookup {
    const struct packet *request;
    uint64_t line, age;
    uint32_t set, way;        /* way NO_WAY: the line is not there */
    struct cache_line *there; /* the line, where it is */
    uint8_t need;             /* sectors */
    bool write;
    struct cache_result *result;
};

static inline uint32_t set_of(const struct cache *c, uint64_t line)
{
    return cache_sets_index(&c->sets, c->index_address ? c->index_address(c->index_context, line) : line);
}
static inline uint64_t *tag_at(const struct cache *c, uint32_t set, uint32_t way)
{
    return cache_sets_tag(&c->sets, set, way);
}
static inline struct cache_line *line_at(const struct cache *c, uint32_t set, uint32_t way)
{
    return cache_sets_line(&c->sets, set, way);
}

#endif
