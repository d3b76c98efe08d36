/* An L1 policy on a cache that is nothing but tags. */
#ifndef L1_TEST_H
#define L1_TEST_H

#include "policy_test.h"

enum { SETS = 4, WAYS = 4 };

/* A set-associative cache with nothing but tags, for one set at a time. */
struct bench {
    struct fake_core f;
    struct instance l1;
    uint64_t lines[SETS][WAYS]; /* address, 0: none */
    uint64_t reserved[SETS];    /* masks of ways */
};

static inline void start(struct bench *b, const char *spec)
{
    memset(b, 0, sizeof *b);
    fake_core_init(&b->f);
    instance_start(&b->l1, &b->f, POLICY_L1, spec, 0);
}

static inline void end(struct bench *b) { instance_end(&b->l1); }

static inline const struct heddle_l1 *hooks(const struct bench *b) { return b->l1.choice.l1; }

static inline void masks_of(const struct bench *b, uint32_t set, uint64_t *ways, uint64_t *empty)
{
    *ways = *empty = 0;
    for (int way = 0; way < WAYS; way++) {
        if (b->reserved[set] >> way & 1)
            continue; /* a line is on its way to it */
        if (b->lines[set][way])
            *ways |= UINT64_C(1) << way;
        else
            *empty |= UINT64_C(1) << way;
    }
}

static inline int victim_for(struct bench *b, const struct heddle_l1_access *access)
{
    uint64_t ways, empty;
    masks_of(b, access->set, &ways, &empty);
    return hooks(b)->victim(b->l1.state, &b->f.core, access->set, ways, empty, access);
}

static inline int victim(struct bench *b, uint32_t set)
{
    return victim_for(b,
                      &(struct heddle_l1_access){.outcome = HEDDLE_MISS, .owner = -1, .set = set, .way = UINT32_MAX});
}

/* A read: the way that it hits, or the way that it took for the line; -1: reservation failure. */
static inline int read_by(struct bench *b, uint32_t set, uint64_t line, uint32_t warp, uint32_t pc)
{
    struct heddle_l1_access access = {.address = line * 128, .warp = warp, .pc = pc, .owner = -1, .set = set};
    for (uint32_t way = 0; way < WAYS; way++)
        if (b->lines[set][way] == line) {
            access.outcome = b->reserved[set] >> way & 1 ? HEDDLE_PENDING : HEDDLE_HIT;
            access.way = way;
            if (hooks(b)->touched)
                hooks(b)->touched(b->l1.state, &b->f.core, set, way, &access);
            return (int)way;
        }
    access.outcome = HEDDLE_MISS;
    access.way = UINT32_MAX;
    int way = victim_for(b, &access);
    if (way < 0)
        return -1;
    access.way = (uint32_t)way;
    if (b->lines[set][way] && hooks(b)->removed)
        hooks(b)->removed(b->l1.state, &b->f.core, set, (uint32_t)way, HEDDLE_EVICTED);
    b->lines[set][way] = line;
    hooks(b)->inserted(b->l1.state, &b->f.core, set, (uint32_t)way, &access);
    return way;
}

static inline int read_line(struct bench *b, uint32_t set, uint64_t line) { return read_by(b, set, line, 0, 0); }

static inline void read_lines(struct bench *b, uint32_t set, const char *lines)
{
    for (; *lines; lines++)
        assert_true(read_line(b, set, (uint64_t)*lines) >= 0);
}

static inline void invalidate(struct bench *b, uint32_t set, uint32_t way, enum heddle_leave why)
{
    b->lines[set][way] = 0;
    if (hooks(b)->removed)
        hooks(b)->removed(b->l1.state, &b->f.core, set, way, why);
}

#endif
