/* Lets probes write their files at the end, with tables of instructions of whole kernels, over all launches. */
#include "gpu/block_probes.h"
#include "gpu/gpu.h"

#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

bool gpu_has_tables(const struct gpu_options *o)
{
    const struct heddle_policy *policies[GPU_POLICIES + 1];
    uint32_t count = gpu_policies(o, policies);
    for (uint32_t i = 0; i < count; i++)
        if (policies[i] && policy_column_count(policies[i]))
            return true;
    return false;
}

/* A listing belongs to one kernel of one module image. */
void gpu_kernel_tables_add(struct gpu *g, const char *kernel, const struct policy_tables *t)
{
    for (uint32_t i = 0; i < g->kernel_table_count; i++)
        if (g->kernel_tables[i].tables->listing == t->listing) {
            policy_tables_add(g->kernel_tables[i].tables, t);
            return;
        }
    g->kernel_tables = realloc(g->kernel_tables, (g->kernel_table_count + 1) * sizeof *g->kernel_tables);
    struct policy_tables *sum = policy_tables_create(t->policies, t->policy_count, t->listing);
    char *name = strdup(kernel);
    if (!g->kernel_tables || !name)
        out_of_memory();
    policy_tables_add(sum, t);
    g->kernel_tables[g->kernel_table_count++] = (struct gpu_kernel_tables){name, sum};
}

/* Lets one probe write, with what it counted for each instruction of each kernel. */
static bool write_one(struct gpu *g, uint32_t probe, const char **why)
{
    const struct policy_choice *choice = &g->options.policies.probes[probe];
    if (!choice->probe->write)
        return true;
    uint32_t columns = policy_column_count(choice->policy), count = columns ? g->kernel_table_count : 0;
    struct heddle_instruction_table *kernels = calloc(count + 1, sizeof *kernels);
    if (!kernels)
        out_of_memory();
    for (uint32_t i = 0; i < count; i++) {
        struct policy_tables *t = g->kernel_tables[i].tables;
        kernels[i] = (struct heddle_instruction_table){.kernel = g->kernel_tables[i].name,
                                                       .values = policy_tables_of(t, 3 + probe),
                                                       .instruction_count = t->instruction_count,
                                                       .column_count = columns};
    }
    bool ok = choice->probe->write(choice->values, kernels, count, why);
    free(kernels);
    return ok;
}

bool gpu_write_probes(struct gpu *g, struct error *e)
{
    bool all = true;
    for (uint32_t i = 0; i < g->options.policies.probe_count && !g->probes_have_written; i++) {
        const char *why = NULL;
        if (write_one(g, i, &why) && (!g->block_probes || block_probes_write(g->block_probes, i, &why)))
            continue;
        if (all)
            error_set(e, ERROR_INVALID, "probe %s could not write its results%s%s",
                      g->options.policies.probes[i].policy->name, why ? ": " : "", why ? why : "");
        else
            error_note(e, "probe %s could not either%s%s", g->options.policies.probes[i].policy->name, why ? ": " : "",
                       why ? why : "");
        all = false;
    }
    g->probes_have_written = true;
    return all;
}
