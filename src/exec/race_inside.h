/* Between race.c, which knows what an access means, and race_step.c, which steps warps and tells it. */
#ifndef HEDDLE_EXEC_RACE_INSIDE_H
#define HEDDLE_EXEC_RACE_INSIDE_H

#include "exec/race.h"
#include "exec/race_shadow.h"
#include "exec/store_value.h"

enum { MOST_PAIRS = 1024 };

enum act {
    ACT_NONE,
    ACT_ACCESS,   /* one, which the warp reports when it is done */
    ACT_ACCESSES, /* several, reported one by one (race_access) */
    ACT_FENCE,
    ACT_CLUSTER_ARRIVE,
    ACT_CLUSTER_WAIT,
    ACT_ARRIVE,
    ACT_WAIT, /* mbarrier */
};

/* What an instruction means here. */
struct rule {
    uint8_t act, strength;
    bool releases;   /* a fence comes before it */
    bool has_values; /* a store whose values can be asked for */
};

struct code {
    struct code *next;
    const void *program;
    char *kernel;
    struct rule *rules;
};

struct races {
    struct race_pair *pairs;
    uint32_t pair_count;
    uint32_t slots[4 * MOST_PAIRS]; /* by hash: 1 + index of a pair; 0: free */
    uint64_t dropped, launches;
    uint32_t last_launch, last_block;
    struct race_page_table *pages;
    struct code *codes;
};

struct race_launch {
    struct races *races;
    struct race_orders *orders;
    const struct exec_launch *exec;
    const struct code *code;
    const uint32_t *first;
    uint32_t number;
};

/* The warp's last access; values: of a store, by lane; NULL: what memory holds. */
void race_access_values(struct exec_warp *w, const uint8_t values[WARP_LANES][STORE_VALUE_BYTES]);
/* An mbarrier's object is a place like any other. */
void race_meet_at_objects(struct exec_warp *w, bool arrives);
void race_meet_cluster(struct exec_warp *w, bool arrives);

#endif
