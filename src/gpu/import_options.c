/* The options of GPGPU-Sim's configurations, one row each: which key of a machine file it becomes, and how.
 *
 * Left out, and remarked when it is met: units, policies and index functions that Heddle does not model. */
#include "gpu/import.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MOST = 24, UNITS_OF_3 = 3, UNITS_OF_4_0 = 4 };
typedef bool option_handler(struct import *i, const char *target);

void import_remark(struct import *i, const char *format, ...)
{
    va_list args;
    if (i->quiet)
        return;
    va_start(args, format);
    vfprintf(i->remarks, format, args);
    va_end(args);
    fputc('\n', i->remarks);
}

bool import_wrong(struct import *i, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_at(i->error, ERROR_SYNTAX, i->source, i->value_line, i->value_column, "-%s %.80s: %s", i->option,
                    i->value, message);
}

/* A key out of the value of the current option. What our table refuses is remarked, and the key keeps what it had. */
static void set_text(struct import *i, const char *section, const char *name, const char *text)
{
    struct machine_complaint why;
    char kept[128];
    for (uint32_t k = 0; k < machine_key_count; k++) {
        const struct machine_key *key = &machine_keys[k];
        if (strcmp(key->section, section) != 0 || strcmp(key->name, name) != 0)
            continue;
        if (machine_parse(&i->machine, key, text, strlen(text), &why)) {
            i->places[k] = (struct machine_place){i->source, i->value_line, i->value_column, ++i->order, MACHINE_FILE};
            return;
        }
        machine_format(&i->machine, key, kept, sizeof kept);
        import_remark(i, "not carried over: -%s %s: %s.%s = %.60s: %s; it stays %s", i->option, i->value, section, name,
                      text, why.expected, kept);
        return;
    }
}

static void set_cache_rule(struct import *i, const char *cache, const char *name, const char *text)
{
    char rule[64];
    snprintf(rule, sizeof rule, "%s_%s", cache, name);
    set_text(i, "rules", rule, text);
}

static void set_number(struct import *i, const char *section, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    set_text(i, section, name, text);
}

static bool parse_whole(const char *text, uint64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    *value = strtoull(text, &end, 10);
    return *end == '\0' && *value <= UINT32_MAX;
}

/* Cuts the text at a letter, in place; returns how many parts, more than PARTS_MOST counting as that. */
static uint32_t split(char *text, char at, char *parts[PARTS_MOST])
{
    uint32_t count = 0;
    for (char *next = text; next && count < PARTS_MOST;) {
        parts[count++] = next;
        next = strchr(next, at);
        if (next)
            *next++ = '\0';
    }
    return count;
}

static bool parse_numbers(struct import *i, char at, uint64_t *out, uint32_t least, uint32_t most, uint32_t *count)
{
    char copy[VALUE_BYTES], *parts[PARTS_MOST];
    memcpy(copy, i->value, sizeof copy);
    *count = split(copy, at, parts);
    if (*count < least || *count > most)
        return import_wrong(i, "expected %u%s numbers with '%c' between them", least, most > least ? " or more" : "",
                            at);
    for (uint32_t n = 0; n < *count; n++)
        if (!parse_whole(parts[n], &out[n]))
            return import_wrong(i, "'%.40s' is no whole number", parts[n]);
    return true;
}

/* "section.key" of a target. */
static void split_target(const char *target, char section[32], const char **name)
{
    const char *dot = strchr(target, '.');
    snprintf(section, 32, "%.*s", (int)(dot - target), target);
    *name = dot + 1;
}

static bool take_number(struct import *i, const char *target)
{
    char section[32];
    const char *name;
    uint64_t value;
    split_target(target, section, &name);
    if (!parse_whole(i->value, &value))
        return import_wrong(i, "expected a whole number");
    set_number(i, section, name, value);
    return true;
}

static bool take_clusters(struct import *i, const char *target)
{
    uint64_t value;
    if (!parse_whole(i->value, &value) || !value || value > 1024)
        return import_wrong(i, "expected a whole number from 1 to 1024");
    *(target ? &i->cores_per_cluster : &i->clusters) = (uint32_t)value;
    set_number(i, "machine", "cores_per_cluster", i->cores_per_cluster);
    set_number(i, "machine", "cores", (uint64_t)i->clusters * i->cores_per_cluster);
    return true;
}

static bool take_clocks(struct import *i, const char *target)
{
    static const char *const names[] = {"core_mhz", "interconnect_mhz", "l2_mhz", "dram_mhz"};
    char copy[VALUE_BYTES], *parts[PARTS_MOST], *end;
    (void)target;
    memcpy(copy, i->value, sizeof copy);
    if (split(copy, ':', parts) != 4)
        return import_wrong(i, "expected four clocks in MHz: core:interconnect:L2:DRAM");
    for (int n = 0; n < 4; n++) {
        double mhz = strtod(parts[n], &end);
        char text[32];
        if (end == parts[n] || *end || !(mhz > 0 && mhz < 1e6))
            return import_wrong(i, "'%.40s' is no clock in MHz", parts[n]);
        snprintf(text, sizeof text, "%.3f", mhz);
        set_text(i, "clock", names[n], text);
    }
    return true;
}

/* threads of a core:threads of a warp[:lanes] */
static bool take_pipeline(struct import *i, const char *target)
{
    uint64_t n[3];
    uint32_t count;
    (void)target;
    if (!parse_numbers(i, ':', n, 2, 3, &count))
        return false;
    if (n[1] != 32)
        return import_wrong(i, "warps of %llu threads are not modelled: expected 32", (unsigned long long)n[1]);
    if (!n[0] || n[0] % 32)
        return import_wrong(i, "%llu threads are no whole number of warps", (unsigned long long)n[0]);
    set_number(i, "core", "warps", n[0] / 32);
    return true;
}

/* 4.x drops the L1D's lines between launches in any case, and at fences too, if this is set; 3.x between launches, if
 * it is. */
static void set_flush(struct import *i)
{
    bool four = i->units > UNITS_OF_3;
    set_text(i, "rules", "fence_drops_l1", i->flushes_l1 && four ? "true" : "false");
    set_text(i, "rules", "launch_empties", i->flushes_l2 ? "caches" : i->flushes_l1 || four ? "l1d" : "nothing");
}

/* How many kinds of units there are tells the release: SP, SFU and memory in 3.x, with DP in 4.0, with integer units in
 * the 4.x that the rulebook is of. In some rules the rulebook of 3 is ours, and what is imported is that simulator. */
void import_release(struct import *i)
{
    static const char *const not_in_3[][2] = {{"vectors_by_element", "true"},
                                              {"volatile_past_l1", "false"},
                                              {"atomics_await_address", "false"},
                                              {"fence_waits_for_stores", "false"}};
    static const char *const not_in_4_0[][2] = {
        {"banks_at_once", "false"}, {"counts_dynamic_shared", "true"}, {"integer_multiply", "sfu"}};
    set_text(i, "machine", "rules", i->units > UNITS_OF_3 ? "gpgpusim-4" : "gpgpusim-3");
    for (uint32_t k = 0; k < machine_key_count; k++)
        if (machine_keys[k].read)
            machine_follow(&i->machine, &machine_keys[k]);
    for (size_t n = 0; i->units <= UNITS_OF_3 && n < sizeof not_in_3 / sizeof *not_in_3; n++)
        set_text(i, "rules", not_in_3[n][0], not_in_3[n][1]);
    for (size_t n = 0; i->units == UNITS_OF_4_0 && n < sizeof not_in_4_0 / sizeof *not_in_4_0; n++)
        set_text(i, "rules", not_in_4_0[n][0], not_in_4_0[n][1]);
}

/* Registers in front of and after the collectors, by unit, then writeback: SP,SFU,MEM (3.x), SP,DP,SFU,MEM or
 * SP,DP,INT,SFU,MEM (4.x), tensor cores last. */
static bool take_widths(struct import *i, const char *target)
{
    uint64_t n[PARTS_MOST];
    uint32_t count;
    (void)target;
    if (!parse_numbers(i, ',', n, 7, 13, &count))
        return false;
    if (count % 2 == 0)
        return import_wrong(i, "expected 7, 9, 11 or 13 numbers");
    uint32_t units = count == 13 ? 5 : (count - 1) / 2;
    if (i->seeks_release)
        i->units = units;
    set_number(i, "issue", "sp_width", n[0]);
    set_number(i, "issue", "sfu_width", n[units - 2]);
    set_number(i, "issue", "memory_width", n[units - 1]);
    set_number(i, "issue", "writeback_width", n[2 * units]);
    if (memcmp(n, n + units, units * sizeof *n) != 0)
        import_remark(i, "assumed: -%s %s: the widths behind the collectors are those in front of them", i->option,
                      i->value);
    return true;
}

/* add,max,mul,mad,div; 4.x has a sixth for shuffle in the integer row. */
static bool take_latencies(struct import *i, const char *target)
{
    uint64_t n[PARTS_MOST];
    uint32_t count;
    char section[32], list[128];
    const char *name;
    split_target(target, section, &name);
    if (!parse_numbers(i, ',', n, 5, 6, &count))
        return false;
    snprintf(list, sizeof list, "%u,%u,%u,%u,%u", (unsigned)n[0], (unsigned)n[1], (unsigned)n[2], (unsigned)n[3],
             (unsigned)n[4]);
    set_text(i, section, name, list);
    if (count == 6)
        set_number(i, "latency", strstr(name, "initiation") ? "shuffle_initiation" : "shuffle", n[5]);
    if (strncmp(name, "double_precision", 16) ==
        0) /* special functions take the entry of double-precision mul, unless a later option says otherwise */
        set_number(i, "latency", strstr(name, "initiation") ? "sfu_initiation" : "sfu", n[2]);
    return true;
}

static bool take_partition_queues(struct import *i, const char *target)
{
    uint64_t n[4];
    uint32_t count;
    (void)target;
    if (!parse_numbers(i, ':', n, 4, 4, &count))
        return false;
    set_number(i, "l2", "input_queue", n[0]);
    set_number(i, "l2", "dram_queue", n[1]);
    set_number(i, "l2", "return_queue", n[2]);
    set_number(i, "l2", "reply_queue", n[3]);
    return true;
}

/* The load/store unit takes a step for each part. */
static bool take_warp_parts(struct import *i, const char *target)
{
    (void)target;
    return take_number(i, "lsu.shared_parts") && take_number(i, "lsu.coalesce_parts") && take_number(i, "lsu.steps");
}

static bool take_flush(struct import *i, const char *target)
{
    bool flushes = strcmp(i->value, "0") != 0;
    if (strcmp(target, "l2") != 0)
        i->flushes_l1 = flushes;
    if (strcmp(target, "l1d") != 0)
        i->flushes_l2 = flushes;
    if (flushes && !strcmp(target, "l2"))
        import_remark(i, "assumed: -%s: what a launch begins with is an empty L2, L1 data and constant cache",
                      i->option);
    set_flush(i);
    return true;
}

static bool take_coalescing(struct import *i, const char *target)
{
    uint64_t arch;
    (void)target;
    if (!parse_whole(i->value, &arch))
        return import_wrong(i, "expected a whole number");
    set_number(i, "lsu", "past_l1_segment_bytes", arch < 20 ? 128 : 32); /* as 4.x does; 3.x knows 13 alone */
    set_number(i, "lsu", "atomic_parts", arch < 20 ? 2 : 1);
    if (arch != 13 && arch != 20)
        import_remark(i, "assumed: -%s %s: coalesced by the rules of 20, lanes by segments of 128 bytes", i->option,
                      i->value);
    return true;
}

static bool take_out_ports(struct import *i, const char *target)
{
    char section[32], had[128] = "";
    const char *name;
    split_target(target, section, &name);
    for (uint32_t k = 0; k < machine_key_count; k++)
        if (!strcmp(machine_keys[k].section, section) && !strcmp(machine_keys[k].name, name))
            machine_format(&i->machine, &machine_keys[k], had, sizeof had);
    if (strcmp(had, i->value) != 0)
        import_remark(i, "assumed: -%s %s: as many out of the collectors as into them, %s", i->option, i->value, had);
    return true;
}

static bool take_generic_collectors(struct import *i, const char *target)
{
    (void)target;
    if (strcmp(i->value, "0") != 0)
        import_remark(
            i,
            "not carried over: -%s %s: collectors that take any instruction; collectors belong to a kind of unit here",
            i->option, i->value);
    return true;
}

/* Options whose model is left out, where 0 is what Heddle does. */
static bool take_if_zero(struct import *i, const char *target)
{
    if (strcmp(i->value, "0") != 0)
        import_remark(i, "not carried over: -%s %s: %s", i->option, i->value, target);
    return true;
}

static bool take_scheduler(struct import *i, const char *target)
{
    static const char *const known[][2] = {{"lrr", "lrr"}, {"gto", "gto"}, {"old", "oldest"}, {"rrr", "rr"}};
    (void)target;
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        if (!strcmp(i->value, known[n][0])) {
            set_text(i, "machine", "scheduler", known[n][1]);
            return true;
        }
    set_text(i, "machine", "scheduler", "lrr");
    import_remark(i, "not carried over: -%s %s: machine.scheduler is lrr (heddle list schedulers)", i->option,
                  i->value);
    return true;
}

static bool take_dram_scheduler(struct import *i, const char *target)
{
    (void)target;
    if (strcmp(i->value, "0") && strcmp(i->value, "1"))
        return import_wrong(i, "expected 0 (in order) or 1 (FR-FCFS)");
    set_text(i, "rules", "dram_scheduler", *i->value == '0' ? "fifo" : "frfcfs");
    return true;
}

/* nbk=16:CCD=2:... or the numbers alone, in this order, the last ones left out in older releases. */
static bool take_timing(struct import *i, const char *target)
{
    static const char *const names[][2] = {
        {"nbk", "banks"},   {"CCD", "t_ccd"},   {"RRD", "t_rrd"}, {"RCD", "t_rcd"},
        {"RAS", "t_ras"},   {"RP", "t_rp"},     {"RC", "t_rc"},   {"CL", "t_cl"},
        {"WL", "t_wl"},     {"CDLR", "t_cdlr"}, {"WR", "t_wr"},   {"nbkgrp", "bank_groups"},
        {"CCDL", "t_ccdl"}, {"RTPL", "t_rtpl"},
    };
    enum { NAMES = sizeof names / sizeof *names };
    char copy[VALUE_BYTES], *parts[PARTS_MOST];
    (void)target;
    memcpy(copy, i->value, sizeof copy);
    uint32_t count = split(copy, ':', parts);
    if (!strchr(i->value, '=') && (count < 10 || count > NAMES))
        return import_wrong(i, "expected 10 to %d numbers: nbk:CCD:RRD:RCD:RAS:RP:RC:CL:WL:CDLR:WR:nbkgrp:CCDL:RTPL",
                            NAMES);
    for (uint32_t n = 0; n < count; n++) {
        char *equals = strchr(parts[n], '=');
        uint32_t row = n;
        uint64_t number;
        if (equals) {
            *equals = '\0';
            for (row = 0; row < NAMES && strcmp(parts[n], names[row][0]) != 0; row++)
                ;
        }
        if (row == NAMES) {
            import_remark(i, "not carried over: -%s: %.40s=%.40s", i->option, parts[n], equals + 1);
            continue;
        }
        if (!parse_whole(equals ? equals + 1 : parts[n], &number))
            return import_wrong(i, "'%.40s' is no whole number", equals ? equals + 1 : parts[n]);
        set_number(i, "dram", names[row][1], number);
    }
    return true;
}

/* dramid@8;0000RRRR...: the bit of the channel, then the other bits; zeros in front are bits that no address has. */
static bool take_map(struct import *i, const char *target)
{
    const char *map = strchr(i->value, ';');
    char letters[64], *to = letters;
    uint64_t bit;
    char digits[16] = "";
    (void)target;
    if (map && sscanf(i->value, "dramid@%15[0-9];", digits) != 1)
        return import_wrong(i, "expected dramid@BIT;MAP");
    map = map ? map + 1 : i->value;
    if (strchr(map, 'D'))
        return import_wrong(i, "channels chosen by D bits of the map are not modelled: expected dramid@BIT;MAP");
    if (*digits && parse_whole(digits, &bit))
        set_number(i, "dram", "channel_bit", bit);
    for (map += strspn(map, "0. |"); *map && to < letters + sizeof letters - 1; map++)
        if (*map != ' ')
            *to++ = *map == '|' ? '.' : *map;
    *to = '\0';
    set_text(i, "dram", "map", letters);
    return true;
}

static bool take_cache_policies(struct import *i, const char *section, bool sectored, char **p, uint32_t count)
{
    bool writes = !strcmp(section, "l1d") || !strcmp(section, "l2");
    if (count < 3)
        return import_wrong(i, "expected replacement:write:allocate policies of a letter each");
    if (*p[0] != 'L')
        import_remark(i, "assumed: -%s: replacement %s; it is LRU, or a policy of --l1", i->option, p[0]);
    if (*p[2] != 'm' && *p[2] != 'f')
        import_remark(i, "assumed: -%s: allocation %s; lines are taken on the miss", i->option, p[2]);
    set_cache_rule(i, section, "allocate", *p[2] == 'f' ? "fill" : "miss");
    if (writes) {
        const char *global = *p[1] == 'B'   ? "back"
                             : *p[1] == 'T' ? "through"
                                            : "evict",
                   *local = *p[1] == 'L' || *p[1] == 'B' ? "back" : global;
        set_cache_rule(i, section, "global_writes", global);
        set_cache_rule(i, section, "local_writes", local);
        set_cache_rule(i, section, "write_allocate", count > 3 && *p[3] != 'N' ? "true" : "false");
        if (!strcmp(section, "l2")) {
            set_cache_rule(i, section, "stores_fetch", count > 3 && *p[3] == 'W' && !sectored ? "true" : "false");
            set_cache_rule(i, section, "partial_writes",
                           count > 3 && *p[3] == 'L' ? "true" : "false"); /* fetched when they are read */
        }
        if (*p[1] == 'R')
            import_remark(i, "assumed: -%s: a read-only cache; stores drop the line and go down", i->option);
    }
    set_cache_rule(i, section, "index", count > 4 && *p[4] != 'L' ? "hashed" : "linear");
    if (count > 4 && *p[4] != 'L' && *p[4] != 'H')
        import_remark(i, "assumed: -%s: set index function %s; the hashed index is another one", i->option, p[4]);
    return true;
}

/* [N|S:]sets:line:ways,replacement:write:allocate[:write allocate[:index]],mshr type:entries:merge,queue[:result
 * FIFO][,port] - the oldest form has the policies in the first group. */
static bool take_cache(struct import *i, const char *section)
{
    char copy[VALUE_BYTES], *groups[PARTS_MOST], *shape[PARTS_MOST], *p[PARTS_MOST];
    uint64_t n[6];
    memcpy(copy, i->value, sizeof copy);
    if (!strcmp(copy, "none")) {
        set_text(i, section, "sets", "0");
        return true;
    }
    uint32_t group_count = split(copy, ',', groups), count = split(groups[0], ':', shape),
             first = count && isalpha((unsigned char)*shape[0]), next = 1;
    bool sectored = first && *shape[0] == 'S';
    if (count < first + 3 || !parse_whole(shape[first], &n[0]) || !parse_whole(shape[first + 1], &n[1]) ||
        !parse_whole(shape[first + 2], &n[2]))
        return import_wrong(i, "expected sets:line bytes:ways in front, or none");
    set_number(i, section, "sets", n[0]);
    set_number(i, section, "line_bytes", n[1]);
    set_number(i, section, "ways", n[2]);
    if (!strcmp(section, "l1d") || !strcmp(section, "l2"))
        set_number(i, section, "sector_bytes", sectored ? 32 : 0);
    if (!strcmp(section, "l2"))
        for (const char *const *key =
                 (const char *const[]){"upper_halves_slip", "constants_share_miss", "reads_evict_free", NULL};
             *key; key++)
            set_cache_rule(i, section, *key, sectored ? "true" : "false"); /* as the L2 of 4.x does */
    if (count > first + 3) {
        if (!take_cache_policies(i, section, sectored, shape + first + 3, count - first - 3))
            return false;
    } else if (group_count < 2 || !take_cache_policies(i, section, sectored, p, split(groups[next++], ':', p))) {
        return i->error->kind ? false : import_wrong(i, "expected the policies behind the cache's shape");
    }
    if (group_count < next + 2 || split(groups[next++], ':', p) < 3 || !parse_whole(p[1], &n[3]) ||
        !parse_whole(p[2], &n[4]))
        return import_wrong(i, "expected type:entries:merge of the miss registers, then the miss queue");
    set_number(i, section, "mshr_entries", n[3]);
    set_number(i, section, "mshr_merge", n[4]);
    count = split(groups[next++], ':', p);
    if (!parse_whole(p[0], &n[5]))
        return import_wrong(i, "'%.40s' is no length of the miss queue", p[0]);
    set_number(i, section, "miss_queue", n[5]);
    if (!strcmp(section, "l1t"))
        set_text(i, "l1t", "result_queue", count > 1 ? p[1] : "0");
    if (!strcmp(section, "l2"))
        set_text(i, "l2", "port_bytes", next < group_count ? groups[next] : "0");
    return true;
}

/* A number of the network's file ("name = 8;"), or a default where there is none or none that a buffer could have. */
static double network_number(const char *text, const char *name, double otherwise)
{
    size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        if (strncmp(line, name, length) == 0) {
            const char *value = line + length + strspn(line + length, " \t");
            double number = *value == '=' ? strtod(value + 1, NULL) : -1;
            if (number >= 0 && number <= 4096)
                return number;
        }
    }
    return otherwise;
}

enum { NETWORK_HOP_CYCLES = 4 }; /* its links to and from a router, each a cycle to send and one to receive */

/* The buffers of BookSim: in front of the network and in the router's virtual channel; after it for ejection and
 * between the clock domains. */
static bool read_network(struct import *i, const char *target)
{
    char path[PATH_MAX];
    struct source s = {0};
    struct error unread = {0};
    const char *slash = strrchr(i->source->name, '/');
    (void)target;
    int length = snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - i->source->name) + 1 : 0, i->source->name,
                          i->value);
    if (length < 0 || length >= (int)sizeof path || !machine_read_text(path, "network file", &s, &unread)) {
        import_remark(
            i, "not carried over: -%s %s: the file is not beside this one; the interconnect's buffers are the defaults",
            i->option, i->value);
        free((char *)s.text);
        return true;
    }
    bool routed = network_number(s.text, "subnets", 0) >
                  0; /* the network of 3.2.2 and later, with links and a pipelined router; that before it was called
                        otherwise in places, and works in one cycle */
    double channel = network_number(s.text, "vc_buf_size", 8),
           ejection = network_number(s.text, routed ? "ejection_buffer_size" : "ejection_buf_size", 0);
    double input = network_number(s.text, routed ? "input_buffer_size" : "input_buf_size", 0),
           boundary = network_number(s.text, routed ? "boundary_buffer_size" : "boundary_buf_size", 16);
    double vcs = network_number(s.text, "num_vcs", 1),
           ports = network_number(s.text, "input_speedup", 1); /* of an input; a virtual channel uses one of them */
    double speedup = network_number(s.text, "internal_speedup", 1) * (ports < vcs ? ports : vcs),
           flit = network_number(s.text, "flit_size", 32);
    if (!i->flit_given)
        set_number(i, "interconnect", "flit_bytes", (uint64_t)flit);
    set_number(i, "interconnect", "input_buffer_flits", (uint64_t)((input > 0 ? input : 9) + channel));
    set_number(i, "interconnect", "output_buffer_flits", (uint64_t)((ejection > 0 ? ejection : channel) + boundary));
    set_number(i, "interconnect", "speedup", speedup < 1 ? 1 : (uint64_t)speedup);
    if (routed) {
        set_number(i, "interconnect", "injection_flits", (uint64_t)(input > 0 ? input : 9));
        set_number(i, "interconnect", "ejection_flits", (uint64_t)boundary);
        set_number(i, "interconnect", "hop_cycles", NETWORK_HOP_CYCLES);
    } else {
        set_number(i, "interconnect", "hop_cycles", 0);
    }
    if (vcs != 1)
        import_remark(i, "not carried over: %s: %g virtual channels; an input has one queue", path, vcs);
    free((char *)s.text);
    return true;
}

struct option_row {
    const char *option;
    option_handler *take;
    const char *target;
};
static const struct option_row options[] = {
    {"gpgpu_n_clusters", take_clusters, NULL},
    {"gpgpu_n_cores_per_cluster", take_clusters, "each"},
    {"gpgpu_n_mem", take_number, "dram.channels"},
    {"gpgpu_n_sub_partition_per_mchannel", take_number, "l2.slices_per_channel"},
    {"gpgpu_clock_domains", take_clocks, NULL},
    {"gpgpu_shader_registers", take_number, "core.registers"},
    {"gpgpu_shader_core_pipeline", take_pipeline, NULL},
    {"gpgpu_shader_cta", take_number, "core.blocks"},
    {"gpgpu_shmem_size", take_number, "core.shared_bytes"},
    {"gpgpu_pipeline_widths", take_widths, NULL},
    {"gpgpu_num_sp_units", take_number, "issue.sp_units"},
    {"gpgpu_num_sfu_units", take_number, "issue.sfu_units"},
    {"gpgpu_num_dp_units", take_number, "issue.dp_units"},
    {"gpgpu_num_int_units", take_if_zero, "integer units; the SP units do their work"},
    {"gpgpu_num_tensor_core_units", take_if_zero, "tensor cores"},
    {"gpgpu_tensor_core_avail", take_if_zero, "tensor cores"},
    {"ptx_opcode_latency_int", take_latencies, "latency.integer"},
    {"ptx_opcode_initiation_int", take_latencies, "latency.integer_initiation"},
    {"ptx_opcode_latency_fp", take_latencies, "latency.single_precision"},
    {"ptx_opcode_initiation_fp", take_latencies, "latency.single_precision_initiation"},
    {"ptx_opcode_latency_dp", take_latencies, "latency.double_precision"},
    {"ptx_opcode_initiation_dp", take_latencies, "latency.double_precision_initiation"},
    {"ptx_opcode_latency_sfu", take_number, "latency.sfu"},
    {"ptx_opcode_initiation_sfu", take_number, "latency.sfu_initiation"},
    {"gpgpu_cache:dl1", take_cache, "l1d"},
    {"gpgpu_cache:dl2", take_cache, "l2"},
    {"gpgpu_cache:il1", take_cache, "l1i"},
    {"gpgpu_tex_cache:l1", take_cache, "l1t"},
    {"gpgpu_const_cache:l1", take_cache, "l1c"},
    {"gpgpu_cache:dl2_texture_only", take_if_zero, "an L2 for textures alone"},
    {"gpgpu_gmem_skip_L1D", take_number, "rules.l1_skips_global"},
    {"gpgpu_l1_banks", take_number, "l1d.banks"},
    {"gpgpu_l1_latency", take_number, "l1d.latency_cycles"},
    {"gpgpu_smem_latency", take_number, "lsu.shared_latency_cycles"},
    {"gpgpu_n_cluster_ejection_buffer_size", take_number, "lsu.cluster_response_queue"},
    {"gpgpu_n_ldst_response_buffer_size", take_number, "lsu.response_queue"},
    {"icnt_flit_size", take_number, "interconnect.flit_bytes"},
    {"inter_config_file", read_network, NULL},
    {"gpgpu_perf_sim_memcpy", take_number, "rules.l2_filled_by_copies"},
    {"gpgpu_memory_partition_indexing", take_if_zero, "channels chosen by a hash of the address"},
    {"gpgpu_dram_partition_queues", take_partition_queues, NULL},
    {"gpgpu_operand_collector_num_units_sp", take_number, "collector.sp_collectors"},
    {"gpgpu_operand_collector_num_units_sfu", take_number, "collector.sfu_collectors"},
    {"gpgpu_operand_collector_num_units_mem", take_number, "collector.memory_collectors"},
    {"gpgpu_operand_collector_num_units_gen", take_generic_collectors, NULL},
    {"gpgpu_operand_collector_num_in_ports_sp", take_number, "collector.sp_ports"},
    {"gpgpu_operand_collector_num_in_ports_sfu", take_number, "collector.sfu_ports"},
    {"gpgpu_operand_collector_num_in_ports_mem", take_number, "collector.memory_ports"},
    {"gpgpu_operand_collector_num_out_ports_sp", take_out_ports, "collector.sp_ports"},
    {"gpgpu_operand_collector_num_out_ports_sfu", take_out_ports, "collector.sfu_ports"},
    {"gpgpu_operand_collector_num_out_ports_mem", take_out_ports, "collector.memory_ports"},
    {"gpgpu_num_reg_banks", take_number, "collector.register_banks"},
    {"gpgpu_sub_core_model", take_if_zero, "units and registers that belong to one scheduler; they are shared here"},
    {"gpgpu_shmem_num_banks", take_number, "lsu.shared_banks"},
    {"gpgpu_shmem_limited_broadcast", take_number, "rules.shared_limited_broadcast"},
    {"gpgpu_shmem_warp_parts", take_warp_parts, NULL},
    {"gpgpu_coalesce_arch", take_coalescing, NULL},
    {"gpgpu_local_mem_map", take_number, "rules.local_by_block"},
    {"gpgpu_flush_l1_cache", take_flush, "l1d"},
    {"gpgpu_flush_l2_cache", take_flush, "l2"},
    {"gpgpu_flush_cache", take_flush, "all"}, /* of 3.0 to 3.2.0 */
    {"gpgpu_max_insn_issue_per_warp", take_number, "issue.instructions_per_warp"},
    {"gpgpu_num_sched_per_core", take_number, "issue.schedulers"},
    {"gpgpu_scheduler", take_scheduler, NULL},
    {"gpgpu_l2_rop_latency", take_number, "l2.rop_cycles"},
    {"dram_latency", take_number, "dram.latency_cycles"},
    {"gpgpu_dram_scheduler", take_dram_scheduler, NULL},
    {"gpgpu_frfcfs_dram_sched_queue_size", take_number, "dram.queue"},
    {"gpgpu_dram_sched_queue_size", take_number, "dram.queue"},
    {"gpgpu_dram_return_queue_size", take_number, "dram.return_queue"},
    {"gpgpu_n_mem_per_ctrlr", take_number, "dram.chips"},
    {"gpgpu_dram_buswidth", take_number, "dram.chip_bus_bytes"},
    {"gpgpu_dram_burst_length", take_number, "dram.burst_length"},
    {"dram_data_command_freq_ratio", take_number, "dram.data_rate"},
    {"gpgpu_mem_addr_mapping", take_map, NULL},
    {"gpgpu_dram_timing_opt", take_timing, NULL},
    {"dram_dual_bus_interface", take_number, "rules.dram_row_beside_column"},
    {"dram_bnkgrp_indexing_policy", take_number, "rules.dram_group_by_low_bits"},
    {"dram_bnk_indexing_policy", take_if_zero, "banks chosen by a hash of the address"},
};

/* Of no consequence for the machine: what is printed, traced, charged, or how a program is loaded. */
static const char *const silent_prefixes[] = {
    "gpgpu_ptx_",
    "gpgpu_stack_size",
    "gpgpu_heap_size",
    "gpgpu_runtime_",
    "gpgpu_compute_capability",
    "gpgpu_occupancy_sm",
    "gpgpu_simd_model",
    "gpgpu_shmem_sizeDefault",
    "gpgpu_shmem_size_Pref",
    "gpgpu_shmem_per_block",
    "gpgpu_registers_per_block",
    "gpgpu_mem_address_mask",
    "gpgpu_memlatency_stat",
    "gpgpu_cflog",
    "enable_ptx_file_line",
    "visualizer",
    "power_",
    "gpuwattch",
    "accelwattch",
    "trace_",
    "network_mode",
    "gpgpu_kernel_launch",
    "gpgpu_max_",
    "gpgpu_deadlock",
    "save_embedded",
};

/* Options that lost or gained the prefix gpgpu_ between releases are found by either name. */
static const struct option_row *find_option(const char *option)
{
    for (size_t n = 0; n < sizeof options / sizeof *options; n++) {
        const char *known = options[n].option;
        if (!strcmp(option, known) || (!strncmp(known, "gpgpu_", 6) && !strcmp(option, known + 6)))
            return &options[n];
    }
    if (!strcmp(option, "rop_latency"))
        return find_option("gpgpu_l2_rop_latency");
    if (!strcmp(option, "dual_bus_interface"))
        return find_option("dram_dual_bus_interface");
    return NULL;
}

bool import_option(struct import *i)
{
    const struct option_row *row = find_option(i->option);
    if (i->seeks_release && !(row && row->take == take_widths))
        return true;
    if (row && !*i->value)
        return import_wrong(i, "expected a value");
    if (row)
        return row->take(i, row->target);
    for (size_t n = 0; n < sizeof silent_prefixes / sizeof *silent_prefixes; n++)
        if (!strncmp(i->option, silent_prefixes[n], strlen(silent_prefixes[n])))
            return true;
    import_remark(i, "not carried over: -%s %s (line %d)", i->option, i->value, i->value_line);
    return true;
}
