/* The importer of GPGPU-Sim's configurations: options of the cores, and which release a file is of. */
#include "gpu/import.h"

#include <stdlib.h>
#include <string.h>

enum { UNITS_OF_3 = 3, UNITS_OF_4_0 = 4 };

bool import_take_clusters(struct import *i, const char *target)
{
    uint64_t value;
    if (!import_parse_whole(i->value, &value) || !value || value > 1024)
        return import_wrong(i, "expected a whole number from 1 to 1024");
    *(target ? &i->cores_per_cluster : &i->clusters) = (uint32_t)value;
    import_set_number(i, "machine", "cores_per_cluster", i->cores_per_cluster);
    import_set_number(i, "machine", "cores", (uint64_t)i->clusters * i->cores_per_cluster);
    return true;
}

bool import_take_clocks(struct import *i, const char *target)
{
    static const char *const names[] = {"core_mhz", "interconnect_mhz", "l2_mhz", "dram_mhz"};
    char copy[VALUE_BYTES], *parts[PARTS_MOST], *end;
    (void)target;
    memcpy(copy, i->value, sizeof copy);
    if (import_split(copy, ':', parts) != 4)
        return import_wrong(i, "expected four clocks in MHz: core:interconnect:L2:DRAM");
    for (int n = 0; n < 4; n++) {
        double mhz = strtod(parts[n], &end);
        char text[32];
        if (end == parts[n] || *end || !(mhz > 0 && mhz < 1e6))
            return import_wrong(i, "'%.40s' is no clock in MHz", parts[n]);
        snprintf(text, sizeof text, "%.3f", mhz);
        import_set_text(i, "clock", names[n], text);
    }
    return true;
}

/* threads of a core:threads of a warp[:lanes] */
bool import_take_pipeline(struct import *i, const char *target)
{
    uint64_t n[3];
    uint32_t count;
    (void)target;
    if (!import_parse_numbers(i, ':', n, 2, 3, &count))
        return false;
    if (n[1] != 32)
        return import_wrong(i, "warps of %llu threads are not modelled: expected 32", (unsigned long long)n[1]);
    if (!n[0] || n[0] % 32)
        return import_wrong(i, "%llu threads are no whole number of warps", (unsigned long long)n[0]);
    import_set_number(i, "core", "warps", n[0] / 32);
    return true;
}

/* 4.x drops the L1D's lines between launches in any case, and at fences too, if this is set; 3.x between launches, if
 * it is. */
static void set_flush(struct import *i)
{
    bool four = i->units > UNITS_OF_3;
    const char *empties = "nothing";
    if (i->flushes_l2)
        empties = "caches";
    else if (i->flushes_l1 || four)
        empties = "l1d";
    import_set_text(i, "rules", "fence_drops_l1", i->flushes_l1 && four ? "true" : "false");
    import_set_text(i, "rules", "launch_empties", empties);
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
    import_set_text(i, "machine", "rules", i->units > UNITS_OF_3 ? "gpgpusim-4" : "gpgpusim-3");
    for (uint32_t k = 0; k < machine_key_count; k++)
        if (machine_keys[k].read)
            machine_follow(&i->machine, &machine_keys[k]);
    for (size_t n = 0; i->units <= UNITS_OF_3 && n < sizeof not_in_3 / sizeof *not_in_3; n++)
        import_set_text(i, "rules", not_in_3[n][0], not_in_3[n][1]);
    for (size_t n = 0; i->units == UNITS_OF_4_0 && n < sizeof not_in_4_0 / sizeof *not_in_4_0; n++)
        import_set_text(i, "rules", not_in_4_0[n][0], not_in_4_0[n][1]);
}

/* Registers in front of and after the collectors, by unit, then writeback: SP,SFU,MEM (3.x), SP,DP,SFU,MEM or
 * SP,DP,INT,SFU,MEM (4.x), tensor cores last. */
bool import_take_widths(struct import *i, const char *target)
{
    uint64_t n[PARTS_MOST];
    uint32_t count;
    (void)target;
    if (!import_parse_numbers(i, ',', n, 7, 13, &count))
        return false;
    if (count % 2 == 0)
        return import_wrong(i, "expected 7, 9, 11 or 13 numbers");
    uint32_t units = count == 13 ? 5 : (count - 1) / 2;
    if (i->seeks_release)
        i->units = units;
    import_set_number(i, "issue", "sp_width", n[0]);
    import_set_number(i, "issue", "sfu_width", n[units - 2]);
    import_set_number(i, "issue", "memory_width", n[units - 1]);
    import_set_number(i, "issue", "writeback_width", n[2 * units]);
    if (memcmp(n, n + units, units * sizeof *n) != 0)
        import_remark(i, "assumed: -%s %s: the widths behind the collectors are those in front of them", i->option,
                      i->value);
    return true;
}

/* add,max,mul,mad,div; 4.x has a sixth for shuffle in the integer row. */
bool import_take_latencies(struct import *i, const char *target)
{
    uint64_t n[PARTS_MOST];
    uint32_t count;
    char section[32], list[128];
    const char *name;
    import_split_target(target, section, &name);
    if (!import_parse_numbers(i, ',', n, 5, 6, &count))
        return false;
    snprintf(list, sizeof list, "%u,%u,%u,%u,%u", (unsigned)n[0], (unsigned)n[1], (unsigned)n[2], (unsigned)n[3],
             (unsigned)n[4]);
    import_set_text(i, section, name, list);
    if (count == 6)
        import_set_number(i, "latency", strstr(name, "initiation") ? "shuffle_initiation" : "shuffle", n[5]);
    /* Special functions take the entry of double-precision mul, unless a later option says otherwise. */
    if (strncmp(name, "double_precision", 16) == 0)
        import_set_number(i, "latency", strstr(name, "initiation") ? "sfu_initiation" : "sfu", n[2]);
    return true;
}

/* The load/store unit takes a step for each part. */
bool import_take_warp_parts(struct import *i, const char *target)
{
    (void)target;
    return import_take_number(i, "lsu.shared_parts") && import_take_number(i, "lsu.coalesce_parts") &&
           import_take_number(i, "lsu.steps");
}

bool import_take_flush(struct import *i, const char *target)
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

bool import_take_coalescing(struct import *i, const char *target)
{
    uint64_t arch;
    (void)target;
    if (!import_parse_whole(i->value, &arch))
        return import_wrong(i, "expected a whole number");
    import_set_number(i, "lsu", "past_l1_segment_bytes", arch < 20 ? 128 : 32); /* as 4.x does; 3.x knows 13 alone */
    import_set_number(i, "lsu", "atomic_parts", arch < 20 ? 2 : 1);
    if (arch != 13 && arch != 20)
        import_remark(i, "assumed: -%s %s: coalesced by the rules of 20, lanes by segments of 128 bytes", i->option,
                      i->value);
    return true;
}

bool import_take_out_ports(struct import *i, const char *target)
{
    char section[32], had[128] = "";
    const char *name;
    import_split_target(target, section, &name);
    for (uint32_t k = 0; k < machine_key_count; k++)
        if (!strcmp(machine_keys[k].section, section) && !strcmp(machine_keys[k].name, name))
            machine_format(&i->machine, &machine_keys[k], had, sizeof had);
    if (strcmp(had, i->value) != 0)
        import_remark(i, "assumed: -%s %s: as many out of the collectors as into them, %s", i->option, i->value, had);
    return true;
}

bool import_take_generic_collectors(struct import *i, const char *target)
{
    (void)target;
    if (strcmp(i->value, "0") != 0)
        import_remark(
            i,
            "not carried over: -%s %s: collectors that take any instruction; collectors belong to a kind of unit here",
            i->option, i->value);
    return true;
}

bool import_take_scheduler(struct import *i, const char *target)
{
    static const char *const known[][2] = {{"lrr", "lrr"}, {"gto", "gto"}, {"old", "oldest"}, {"rrr", "rr"}};
    (void)target;
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        if (!strcmp(i->value, known[n][0])) {
            import_set_text(i, "machine", "scheduler", known[n][1]);
            return true;
        }
    import_set_text(i, "machine", "scheduler", "lrr");
    import_remark(i, "not carried over: -%s %s: machine.scheduler is lrr (heddle list schedulers)", i->option,
                  i->value);
    return true;
}
