/* The table of write rules, and which of them a cache follows. */
#include "mem/write_rule.h"

const struct write_rule write_rules[WRITE_RULE_COUNT] = {
#define WRITE_RULE(id, name_, hit_, miss_, down_, allocating_, fetching_, help_) \
    [WRITE_##id] = {.name = name_,                                               \
                    .help = help_,                                               \
                    .hit = WRITE_HIT_##hit_,                                     \
                    .miss = WRITE_MISS_##miss_,                                  \
                    .down = WRITE_DOWN_##down_,                                  \
                    .allocating = WRITE_##allocating_,                           \
                    .fetching = WRITE_##fetching_},
#include "heddle/write_rules.def"
};

const struct write_rule *write_rule_of(const struct cache_config *config, bool local)
{
    enum write_rule_id rule = local ? config->local_writes : config->global_writes;
    if (config->write_allocate)
        rule = write_rules[rule].allocating;
    if (config->stores_fetch)
        rule = write_rules[rule].fetching;
    return &write_rules[rule];
}

bool write_rule_misses(const struct cache_config *config, enum write_miss miss)
{
    return write_rule_of(config, false)->miss == miss || write_rule_of(config, true)->miss == miss;
}
