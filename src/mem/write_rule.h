/* Write rules as data: the rows of write_rules.def. */
#ifndef HEDDLE_MEM_WRITE_RULE_H
#define HEDDLE_MEM_WRITE_RULE_H

#include "mem/config.h"

enum write_hit { WRITE_HIT_DROP, WRITE_HIT_KEEP, WRITE_HIT_MARK };
enum write_miss { WRITE_MISS_PASS, WRITE_MISS_TAKE, WRITE_MISS_FETCH };
enum write_down { WRITE_DOWN_NEVER, WRITE_DOWN_ON_MISS, WRITE_DOWN_ALWAYS };

struct write_rule {
    const char *name, *help;
    enum write_hit hit;
    enum write_miss miss;
    enum write_down down;
    enum write_rule_id allocating, fetching;
};

/* By enum write_rule_id. */
extern const struct write_rule write_rules[WRITE_RULE_COUNT];

/* The rule that stores to global memory, or to local memory, follow in a cache. */
const struct write_rule *write_rule_of(const struct cache_config *config, bool local);
/* Is there a kind of store of which a miss does this? */
bool write_rule_misses(const struct cache_config *config, enum write_miss miss);

#endif
