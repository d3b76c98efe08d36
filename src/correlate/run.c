/* Our run of a program, in the counts that are recorded on silicon. Counters are looked up by their names, nested as in
 * --stats or flat as in a store. */
#include "correlate/correlate.h"

#include <math.h>
#include <string.h>

enum { SECTOR_BYTES = 32 };

static const char *const our_metrics[CORRELATE_COUNTS] = {
#define COUNT(id, name, nsight, ours) ours,
#include "correlate/counts.def"
};

/* NAN: there is none. */
static double metric(const json_t *counters, const char *name)
{
    const json_t *value = json_object_get(counters, name);
    const char *dot = strchr(name, '.');
    char first[64];
    if (!value && dot && (size_t)(dot - name) < sizeof first) {
        memcpy(first, name, (size_t)(dot - name));
        first[dot - name] = '\0';
        value = json_object_get(json_object_get(counters, first), dot + 1);
    }
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Sectors are counted where the L1 data cache has them: machines without do not know. */
static void forget_sectors(double c[CORRELATE_COUNTS])
{
    if (c[COUNT_LOAD_SECTORS] == 0 && c[COUNT_LOAD_REQUESTS] > 0)
        c[COUNT_LOAD_SECTORS] = c[COUNT_LOAD_HITS] = NAN;
    if (c[COUNT_STORE_SECTORS] == 0 && c[COUNT_STORE_REQUESTS] > 0)
        c[COUNT_STORE_SECTORS] = NAN;
}

static void read_counts(const json_t *kernel, double c[CORRELATE_COUNTS])
{
    for (int i = 0; i < CORRELATE_COUNTS; i++)
        c[i] = *our_metrics[i] ? metric(kernel, our_metrics[i]) : NAN;
    if (isnan(c[COUNT_INSTRUCTIONS]))
        c[COUNT_INSTRUCTIONS] = metric(kernel, "warp_instructions");
    /* On silicon a write finds its place in the L2, and what is on its way counts as there. */
    c[COUNT_L2_HITS] = c[COUNT_L2_SECTORS] - metric(kernel, "sectors.l2_read_misses");
    c[COUNT_DRAM_READ] = SECTOR_BYTES * metric(kernel, "sectors.dram_reads");
    c[COUNT_DRAM_WRITTEN] = SECTOR_BYTES * metric(kernel, "sectors.dram_writes");
    /* Silicon's share is of the cycles in which an SM has a warp; ours of all. */
    double idle = metric(kernel, "issue.idle"), slots = metric(kernel, "issue.slots");
    c[COUNT_WARPS] = metric(kernel, "occupancy") * c[COUNT_CYCLES] / (1 - idle / slots);
    forget_sectors(c);
}

static void read_shape(const json_t *list, uint32_t shape[3])
{
    for (size_t i = 0; i < 3; i++)
        shape[i] = (uint32_t)json_integer_value(json_array_get(list, i));
}

static const char *copy_of(struct arena *a, const char *text) { return arena_strndup(a, text, strlen(text)); }

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The last of "--size SIZE" and "--size=SIZE"; NULL: neither. */
static const char *size_of(struct arena *a, const json_t *arguments)
{
    const char *size = NULL;
    for (size_t i = 0; i < json_array_size(arguments); i++) {
        const char *word = json_string_value(json_array_get(arguments, i)),
                   *next = json_string_value(json_array_get(arguments, i + 1));
        if (word && !strcmp(word, "--size") && next)
            size = copy_of(a, next);
        else if (word && !strncmp(word, "--size=", 7))
            size = copy_of(a, word + 7);
    }
    return size;
}

/* Bytes per core cycle, out of the keys of the machine; 0: they are not there. */
static double dram_peak(const json_t *machine)
{
    double bytes = metric(machine, "dram.channels") * metric(machine, "dram.chips") *
                   metric(machine, "dram.chip_bus_bytes") * metric(machine, "dram.data_rate"),
           peak = bytes * metric(machine, "clock.dram_mhz") / metric(machine, "clock.core_mhz");
    return isfinite(peak) ? peak : 0;
}

static bool check(const json_t *results, const char *from, struct error *e)
{
    const json_t *kernels = json_object_get(results, "kernels");
    if (!json_is_array(kernels)) {
        error_set(e, ERROR_NOT_FOUND, "%s is not the results of a run", from);
        error_note(e, "'heddle run --stats FILE PROGRAM' writes them");
        return false;
    }
    if (json_is_true(json_object_get(results, "functional")))
        return error_set(e, ERROR_NOT_FOUND, "%s is a functional run, which has no cycles to compare", from);
    return true;
}

bool correlate_read_run(struct arena *a, const json_t *results, const char *from, struct correlate_run *out,
                        struct error *e)
{
    const json_t *kernels = json_object_get(results, "kernels");
    const char *program = json_string_value(json_object_get(results, "program")),
               *machine = json_string_value(json_object_get(json_object_get(results, "machine"), "name"));
    if (!check(results, from, e))
        return false;
    *out = (struct correlate_run){.machine = machine ? copy_of(a, base_name(machine)) : "",
                                  .size = size_of(a, json_object_get(results, "arguments")),
                                  .dram_peak = dram_peak(json_object_get(results, "machine"))};
    struct correlate_launches *l = &out->launches;
    l->program = program ? copy_of(a, base_name(program)) : "";
    l->list = arena_array(a, struct correlate_launch, json_array_size(kernels) + 1);
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *kernel = json_array_get(kernels, i);
        const char *name = json_string_value(json_object_get(kernel, "name"));
        struct correlate_launch *launch = &l->list[l->count++];
        launch->kernel = name ? copy_of(a, name) : "";
        read_shape(json_object_get(kernel, "grid"), launch->grid);
        read_shape(json_object_get(kernel, "block"), launch->block);
        read_counts(kernel, launch->counts);
        out->estimates |= !isnan(metric(kernel, our_metrics[COUNT_INSTRUCTIONS]));
    }
    return true;
}
