/* CACP as algorithm 4 of the paper has it, written for the eye: a line is a row of a list, predictions age step by
 * step. Criticality as equation 1, of plain counts. */
#ifndef CACP_MODEL_H
#define CACP_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MODEL_SETS = 4, MODEL_WAYS = 4, MODEL_CRITICAL_WAYS = 2, MODEL_THRESHOLD = 2, MODEL_WARPS = 8 };

struct model_line {
    bool there, reserved;
    uint64_t number;
    unsigned signature, rrpv;
    bool c_reuse, nc_reuse;
};
struct model_warp {
    long n_inst, n_stall, committed, launch, last_issue;
    bool issued;
    unsigned block;
};
struct cacp_model {
    bool half_is_critical;    /* critical=block_half; otherwise only the first warp of a block is critical */
    bool fails_when_reserved; /* reserved=fail */
    struct model_line line[MODEL_SETS][MODEL_WAYS];
    int ccbp[256], ship[256];
    struct model_warp warp[MODEL_WARPS];
    long now;
};

static inline void model_start(struct cacp_model *m, bool half_is_critical, bool fails_when_reserved)
{
    memset(m, 0, sizeof *m);
    m->half_is_critical = half_is_critical;
    m->fails_when_reserved = fails_when_reserved;
    for (int i = 0; i < 256; i++)
        m->ccbp[i] = m->ship[i] = 1;
}

static inline double model_criticality(const struct cacp_model *m, unsigned w)
{
    const struct model_warp *p = &m->warp[w];
    if (!p->committed)
        return (double)(p->n_inst + p->n_stall);
    return (double)p->n_inst * (double)(m->now - p->launch) / (double)p->committed + (double)p->n_stall;
}

/* Warps are launched in the order of their numbers. */
static inline bool model_is_critical(const struct cacp_model *m, unsigned w)
{
    unsigned others = 0, less = 0;
    for (unsigned i = 0; i < MODEL_WARPS; i++) {
        if (i == w || m->warp[i].block != m->warp[w].block)
            continue;
        double mine = model_criticality(m, w), its = model_criticality(m, i);
        others++;
        less += its < mine || (its == mine && i > w);
    }
    return m->half_is_critical ? less * 2 >= others : less == others;
}

static inline void model_bump(int *counter, int by)
{
    *counter += by;
    if (*counter < 0)
        *counter = 0;
    if (*counter > 3)
        *counter = 3;
}

static inline void model_evict(struct cacp_model *m, const struct model_line *line, unsigned way)
{
    if (!line->c_reuse && line->nc_reuse && way < MODEL_CRITICAL_WAYS)
        model_bump(&m->ccbp[line->signature], -1);
    else if (!line->c_reuse && !line->nc_reuse)
        model_bump(&m->ship[line->signature], -1);
}

/* The way within [from, to) that a new line takes, or -1; the others have aged. */
static inline int model_srrip(struct model_line *set, unsigned from, unsigned to)
{
    bool any = false;
    for (unsigned way = from; way < to; way++) {
        if (!set[way].there)
            return (int)way;
        any |= !set[way].reserved;
    }
    while (any) {
        for (unsigned way = from; way < to; way++)
            if (!set[way].reserved && set[way].rrpv == 3)
                return (int)way;
        for (unsigned way = from; way < to; way++)
            set[way].rrpv += set[way].rrpv < 3;
    }
    return -1;
}

static inline int model_part(struct model_line *set, bool critical)
{
    return critical ? model_srrip(set, 0, MODEL_CRITICAL_WAYS) : model_srrip(set, MODEL_CRITICAL_WAYS, MODEL_WAYS);
}

static inline unsigned model_signature(uint64_t number, unsigned pc) { return (pc ^ (unsigned)(number * 128)) & 255; }

/* The way of the access: of the line that it hits, or that it took; -1: none could be had. */
static inline int model_read(struct cacp_model *m, unsigned set, uint64_t number, unsigned w, unsigned pc)
{
    struct model_line *lines = m->line[set];
    for (unsigned way = 0; way < MODEL_WAYS; way++) {
        struct model_line *line = &lines[way];
        if (!line->there || line->number != number)
            continue;
        if (line->reserved)
            return (int)way;
        line->rrpv = 0;
        if (model_is_critical(m, w)) {
            line->c_reuse = true;
            model_bump(&m->ccbp[line->signature], 1);
        } else {
            line->nc_reuse = true;
        }
        model_bump(&m->ship[line->signature], 1);
        return (int)way;
    }
    unsigned signature = model_signature(number, pc);
    bool critical = m->ccbp[signature] >= MODEL_THRESHOLD;
    int way = model_part(lines, critical);
    if (way < 0 && !m->fails_when_reserved)
        way = model_part(lines, !critical);
    if (way < 0)
        return -1;
    if (lines[way].there)
        model_evict(m, &lines[way], (unsigned)way);
    lines[way] = (struct model_line){.there = true, .number = number, .signature = signature};
    lines[way].rrpv = m->ship[signature] == 0 ? 3 : 2;
    return way;
}

static inline void model_drop(struct cacp_model *m, unsigned set, unsigned way) { m->line[set][way].there = false; }

#endif
