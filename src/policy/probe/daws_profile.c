/* The profile that Profiled-DAWS reads (DAWS, MICRO 2013, sections 4.2 and 5.1): which loads diverge, and which find
 * lines of their own warp. A text file with every load of global or local memory that went through the L1D, in a loop
 * or not:
 *
 *   # heddle daws-profile 2
 *   kernel NAME
 *   load PC EXECUTIONS DIVERGED CONSIDERED ACCESSES LOCAL
 *
 * EXECUTIONS had an active lane. CONSIDERED of them had more than 2, and DIVERGED of these made more than 2 accesses.
 * LOCAL of all ACCESSES showed intra-warp locality, as Detected-DAWS judges it (heddle/load_locality.h): they found a
 * line, in the cache or on its way, that an earlier load of the same warp (slot and age) had asked for, or its tag in
 * the warp's victim tags (heddle/victim_tags.h, with the sizes of CCWS). */
#include "heddle/load_locality.h"
#include "heddle/victim_tags.h"
#include "heddle/whole_file.h"

#include <inttypes.h>

enum { FILE_NAME, VTA_ENTRIES, VTA_WAYS, VTA_INDEX };
enum { EXECUTIONS, DIVERGED, CONSIDERED, ACCESSES, LOCAL, COLUMNS };
enum { FEW = 2 };

struct profile {
    struct heddle_victim_tags tags;
    struct heddle_load_locality locality;
    uint64_t *const *instructions;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct profile *s = state;
    const struct heddle_core *core = setup->core;
    uint32_t entries = (uint32_t)setup->values[VTA_ENTRIES].integer, ways = (uint32_t)setup->values[VTA_WAYS].integer;
    if (ways > entries)
        ways = entries;
    s->instructions = setup->instructions;
    if (!*setup->values[FILE_NAME].text)
        return heddle_refuse(setup, "it needs the name of the file to write: file=NAME");
    if (entries % ways)
        return heddle_refuse(setup, "vta_entries is not a multiple of vta_ways");
    if (!core->l1_line_bytes)
        return heddle_refuse(setup, "it needs an L1 data cache");
    return heddle_victim_tags_init(&s->tags, core->warp_slots, entries / ways, ways, core->l1_line_bytes,
                                   (enum heddle_victim_index)setup->values[VTA_INDEX].integer);
}

static void finish(void *state)
{
    struct profile *s = state;
    heddle_victim_tags_free(&s->tags);
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct profile *s = state;
    (void)core;
    heddle_victim_tags_flush(&s->tags);
    memset(&s->locality, 0, sizeof s->locality); /* of loads of a launch that was cut short */
}

static void coalesced(void *state, const struct heddle_core *core, const struct heddle_coalesced *e)
{
    const struct profile *s = state;
    (void)core;
    if (e->store || !e->through_l1)
        return;
    uint64_t *row = heddle_row(*s->instructions, COLUMNS, e->pc);
    bool considered = __builtin_popcount(e->active) > FEW;
    row[EXECUTIONS]++;
    row[CONSIDERED] += considered;
    row[DIVERGED] += considered && e->accesses > FEW;
    row[ACCESSES] += e->accesses;
}

static void l1_evict(void *state, const struct heddle_core *core, const struct heddle_l1_evict *e)
{
    struct profile *s = state;
    (void)core;
    heddle_victim_tags_evicted(&s->tags, e);
}

static void l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct profile *s = state;
    bool lost = heddle_victim_tags_accessed(&s->tags, e);
    bool local = heddle_load_locality_of_access(&s->locality, e, core->warp[e->warp].age, lost);
    heddle_load_locality_accessed(&s->locality, e, local);
    if (!e->store)
        heddle_row(*s->instructions, COLUMNS, e->pc)[LOCAL] += local;
}

/* ---------------------------------------------------------------- the file */

static void write_kernel(FILE *file, const struct heddle_instruction_table *t)
{
    fprintf(file, "kernel %s\n", t->kernel);
    for (uint32_t pc = 0; pc < t->instruction_count; pc++) {
        const uint64_t *row = t->values + (size_t)pc * t->column_count;
        if (row[EXECUTIONS])
            fprintf(file, "load %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", pc,
                    row[EXECUTIONS], row[DIVERGED], row[CONSIDERED], row[ACCESSES], row[LOCAL]);
    }
}

static bool write_profile(const union heddle_value *values, const struct heddle_instruction_table *kernels,
                          uint32_t kernel_count, const char **why)
{
    struct heddle_whole_file f;
    if (!heddle_whole_file_open(&f, values[FILE_NAME].text, why))
        return false;
    fputs("# heddle daws-profile 2\n", f.file);
    for (uint32_t i = 0; i < kernel_count; i++)
        write_kernel(f.file, &kernels[i]);
    return heddle_whole_file_close(&f, why);
}

static const struct heddle_param params[] = {
    [FILE_NAME] = {.name = "file", .type = HEDDLE_TEXT, .default_value = "", .help = "the file to write; required"},
    [VTA_ENTRIES] = {.name = "vta_entries",
                     .type = HEDDLE_INTEGER,
                     .default_value = "16",
                     .least = 1,
                     .most = 1024,
                     .help = "victim tags per warp, as CCWS has them"},
    [VTA_WAYS] = {.name = "vta_ways",
                  .type = HEDDLE_INTEGER,
                  .default_value = "8",
                  .least = 1,
                  .most = 1024,
                  .help = "of them in a set, a divisor; at most all"},
    [VTA_INDEX] = {.name = "vta_index",
                   .type = HEDDLE_CHOICE,
                   .default_value = "hash",
                   .choices = heddle_victim_indices,
                   .help = HEDDLE_VICTIM_INDEX_HELP},
    {0},
};
static const struct heddle_counter columns[] = {
    [EXECUTIONS] = {.name = "executions",
                    .unit = "instructions",
                    .help = "executions with an active lane, counted once per warp"},
    [DIVERGED] = {.name = "diverged",
                  .unit = "instructions",
                  .help = "executions with more than 2 lanes and more than 2 accesses"},
    [CONSIDERED] = {.name = "considered", .unit = "instructions", .help = "executions with more than 2 lanes"},
    [ACCESSES] = {.name = "accesses", .unit = "accesses", .help = "accesses that they were coalesced into"},
    [LOCAL] = {.name = "local",
               .unit = "accesses",
               .help = "of accesses, those that found a line their own warp had, or had lost"},
    {0},
};

const struct heddle_probe probe_daws_profile = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "daws-profile",
            .help =
                "writes the profile that Profiled-DAWS reads: of each load, divergence and intra-warp locality (DAWS)",
            .params = params,
            .instructions = columns,
            .state_bytes = sizeof(struct profile),
            .init = init,
            .finish = finish,
            .on = {.kernel = kernel, .coalesced = coalesced, .l1_evict = l1_evict, .l1_access = l1_access},
        },
    .write = write_profile,
};
