/* Victim tags as one would draw them: a list a warp and set, looked through from end to end. */
#ifndef VICTIM_TAGS_MODEL_H
#define VICTIM_TAGS_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MODEL_WARPS = 64, MODEL_TAGS = 64 };

struct model_tags {
    unsigned sets, ways;
    bool plain;
    struct {
        uint64_t line[MODEL_TAGS];
        unsigned count;
    } list[MODEL_WARPS][MODEL_TAGS]; /* first come first */
};

static inline void model_tags_start(struct model_tags *m, unsigned sets, unsigned ways)
{
    bool plain = m->plain;
    memset(m, 0, sizeof *m);
    m->sets = sets;
    m->ways = ways;
    m->plain = plain;
}

static inline unsigned model_tags_set(const struct model_tags *m, uint64_t line)
{
    uint64_t tag = line / m->sets;
    return (unsigned)((m->plain ? line : line - tag * m->sets + 7 * tag) % m->sets);
}

static inline bool model_tags_has(const struct model_tags *m, unsigned warp, uint64_t line)
{
    unsigned set = model_tags_set(m, line);
    for (unsigned i = 0; i < m->list[warp][set].count; i++)
        if (m->list[warp][set].line[i] == line)
            return true;
    return false;
}

static inline void model_tags_take(struct model_tags *m, unsigned warp, unsigned set, unsigned at)
{
    for (unsigned i = at; i + 1 < m->list[warp][set].count; i++)
        m->list[warp][set].line[i] = m->list[warp][set].line[i + 1];
    m->list[warp][set].count--;
}

static inline void model_tags_put(struct model_tags *m, unsigned warp, uint64_t line)
{
    unsigned set = model_tags_set(m, line);
    if (model_tags_has(m, warp, line))
        return;
    if (m->list[warp][set].count == m->ways)
        model_tags_take(m, warp, set, 0);
    m->list[warp][set].line[m->list[warp][set].count++] = line;
}

static inline void model_tags_forget(struct model_tags *m, uint64_t line)
{
    unsigned set = model_tags_set(m, line);
    for (unsigned warp = 0; warp < MODEL_WARPS; warp++)
        for (unsigned i = 0; i < m->list[warp][set].count;)
            if (m->list[warp][set].line[i] == line)
                model_tags_take(m, warp, set, i);
            else
                i++;
}

#endif
