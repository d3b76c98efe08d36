/* The importer of GPGPU-Sim's configurations: the one option that describes a cache. Its groups, with commas between:
 *
 *   [N|S:]sets:line:ways
 *   replacement:write:allocate[:write allocate[:index]]
 *   mshr type:entries:merge
 *   miss queue[:result FIFO]
 *   [port]
 *
 * The oldest form has the policies in the first group. S is a cache with sectors. */
#include "gpu/import.h"

#include <ctype.h>
#include <string.h>

/* The option, cut into its groups. */
struct cache_option {
    const char *section; /* of the machine file */
    bool is_l2, sectored;
    char *groups[PARTS_MOST];
    uint32_t group_count, next; /* the next group to be read */
    char *policies[PARTS_MOST];
    uint32_t policy_count;
};

static void set_rule(struct import *i, const struct cache_option *o, const char *name, bool value)
{
    import_set_cache_rule(i, o->section, name, value ? "true" : "false");
}

/* The letter of the n-th policy; '\0' where the option leaves it out. */
static char policy(const struct cache_option *o, uint32_t n) { return n < o->policy_count ? *o->policies[n] : '\0'; }

static void take_writes(struct import *i, const struct cache_option *o)
{
    static const struct {
        char letter; /* '\0' for all others */
        const char *global, *local;
    } known[] = {{'B', "back", "back"}, {'T', "through", "through"}, {'L', "evict", "back"}, {'\0', "evict", "evict"}};
    char write = policy(o, 1), allocate = policy(o, 3);
    size_t row = 0;
    while (known[row].letter && known[row].letter != write)
        row++;
    import_set_cache_rule(i, o->section, "global_writes", known[row].global);
    import_set_cache_rule(i, o->section, "local_writes", known[row].local);
    set_rule(i, o, "write_allocate", o->policy_count > 3 && allocate != 'N');
    if (o->is_l2) {
        set_rule(i, o, "stores_fetch", allocate == 'W' && !o->sectored);
        set_rule(i, o, "partial_writes", allocate == 'L'); /* fetched when they are read */
    }
    if (write == 'R')
        import_remark(i, "assumed: -%s: a read-only cache; stores drop the line and go down", i->option);
}

static bool take_policies(struct import *i, const struct cache_option *o)
{
    char allocate = policy(o, 2), index = policy(o, 4);
    if (o->policy_count < 3)
        return import_wrong(i, "expected replacement:write:allocate policies of a letter each");
    if (policy(o, 0) != 'L')
        import_remark(i, "assumed: -%s: replacement %s; it is LRU, or a policy of --l1", i->option, o->policies[0]);
    if (allocate != 'm' && allocate != 'f')
        import_remark(i, "assumed: -%s: allocation %s; lines are taken on the miss", i->option, o->policies[2]);
    import_set_cache_rule(i, o->section, "allocate", allocate == 'f' ? "fill" : "miss");
    if (o->is_l2 || !strcmp(o->section, "l1d"))
        take_writes(i, o);
    bool hashed = o->policy_count > 4 && index != 'L';
    import_set_cache_rule(i, o->section, "index", hashed ? "hashed" : "linear");
    if (hashed && index != 'H')
        import_remark(i, "assumed: -%s: set index function %s; the hashed index is another one", i->option,
                      o->policies[4]);
    return true;
}

static void take_sectors(struct import *i, const struct cache_option *o)
{
    static const char *const of_4[] = {"upper_halves_slip", "constants_share_miss", "reads_evict_free"};
    if (o->is_l2 || !strcmp(o->section, "l1d"))
        import_set_number(i, o->section, "sector_bytes", o->sectored ? 32 : 0);
    for (size_t n = 0; o->is_l2 && n < sizeof of_4 / sizeof *of_4; n++)
        set_rule(i, o, of_4[n], o->sectored); /* as the L2 of 4.x does */
}

/* Sets, line and ways; and the policies, which stand in the same group or in the next. */
static bool take_shape(struct import *i, struct cache_option *o)
{
    static const char *const names[] = {"sets", "line_bytes", "ways"};
    char *shape[PARTS_MOST];
    uint64_t number[3];
    uint32_t count = import_split(o->groups[o->next++], ':', shape);
    uint32_t first = count && isalpha((unsigned char)*shape[0]), end = first + 3;
    o->sectored = first && *shape[0] == 'S';
    if (count < end || !import_parse_whole(shape[first], &number[0]) ||
        !import_parse_whole(shape[first + 1], &number[1]) || !import_parse_whole(shape[first + 2], &number[2]))
        return import_wrong(i, "expected sets:line bytes:ways in front, or none");
    for (int n = 0; n < 3; n++)
        import_set_number(i, o->section, names[n], number[n]);
    take_sectors(i, o);
    if (count == end && o->group_count < 2)
        return import_wrong(i, "expected the policies behind the cache's shape");
    if (count == end) {
        o->policy_count = import_split(o->groups[o->next++], ':', o->policies);
    } else {
        o->policy_count = count - end;
        memcpy(o->policies, shape + end, o->policy_count * sizeof *shape);
    }
    return take_policies(i, o);
}

static bool take_misses(struct import *i, struct cache_option *o)
{
    char *parts[PARTS_MOST];
    uint64_t entries, merge, queue;
    if (o->group_count < o->next + 2 || import_split(o->groups[o->next++], ':', parts) < 3 ||
        !import_parse_whole(parts[1], &entries) || !import_parse_whole(parts[2], &merge))
        return import_wrong(i, "expected type:entries:merge of the miss registers, then the miss queue");
    import_set_number(i, o->section, "mshr_entries", entries);
    import_set_number(i, o->section, "mshr_merge", merge);
    uint32_t count = import_split(o->groups[o->next++], ':', parts);
    if (!import_parse_whole(parts[0], &queue))
        return import_wrong(i, "'%.40s' is no length of the miss queue", parts[0]);
    import_set_number(i, o->section, "miss_queue", queue);
    if (!strcmp(o->section, "l1t"))
        import_set_text(i, "l1t", "result_queue", count > 1 ? parts[1] : "0");
    if (o->is_l2)
        import_set_text(i, "l2", "port_bytes", o->next < o->group_count ? o->groups[o->next] : "0");
    return true;
}

bool import_take_cache(struct import *i, const char *section)
{
    struct cache_option o = {.section = section, .is_l2 = !strcmp(section, "l2")};
    char copy[VALUE_BYTES];
    memcpy(copy, i->value, sizeof copy);
    if (!strcmp(copy, "none")) {
        import_set_text(i, section, "sets", "0");
        return true;
    }
    o.group_count = import_split(copy, ',', o.groups);
    return take_shape(i, &o) && take_misses(i, &o);
}
