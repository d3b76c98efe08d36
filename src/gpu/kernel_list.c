/* What is kept of launches: one record per launch, one per kernel, or none (enum gpu_records). */
#include "gpu/gpu.h"

#include "base/out_of_memory.h"
#include "gpu/profile.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* All members of the counters are counts, but `timed` and the counts of policies. */
void gpu_kernel_add(struct gpu_kernel *sum, const struct gpu_kernel *k)
{
    struct gpu_counters *to = &sum->counters;
    const struct gpu_counters *from = &k->counters;
    counters_add(&to->exec, &from->exec, sizeof to->exec);
    to->timed |= from->timed;
    if (to->policies && from->policies)
        policy_counts_add(to->policies, from->policies);
    else if (from->policies)
        to->policies = policy_counts_copy(from->policies);
    counters_add(&to->cycles, &from->cycles, sizeof *to - offsetof(struct gpu_counters, cycles));
    sum->warp_instructions += k->warp_instructions;
    sum->thread_instructions += k->thread_instructions;
    sum->estimate.timed_cycles += k->estimate.instructions ? k->estimate.timed_cycles : k->counters.cycles;
    sum->estimate.timed_instructions += k->estimate.timed_instructions;
    sum->estimate.instructions += k->estimate.instructions;
    sum->estimate.launches += k->estimate.launches;
    sum->estimate.half_squared += k->estimate.half_squared;
    sum->estimate.half_common += k->estimate.half_common;
    sum->seconds += k->seconds;
    sum->launches += k->launches;
}

static bool has_same_tables(const struct policy_tables *a, const struct policy_tables *b)
{
    return a && b ? a->listing == b->listing : a == b;
}

static bool has_same_pcs(const struct profile_pcs *a, const struct profile_pcs *b)
{
    return a && b ? a->listing == b->listing : a == b;
}

/* An earlier record to which the launch can be added. The search begins with the last record, as programs launch the
 * same few kernels over and over. */
static struct gpu_kernel *earlier(struct gpu *g, const struct gpu_kernel *k)
{
    if (g->options.records != GPU_RECORDS_OF_KERNELS || k->series)
        return NULL;
    for (uint32_t i = g->kernel_count; i-- > 0;) {
        struct gpu_kernel *other = &g->kernels[i];
        if (other->partial == k->partial && !other->series && other->unreported == k->unreported &&
            has_same_pcs(other->pcs, k->pcs) && has_same_tables(other->tables, k->tables) &&
            !strcmp(other->name, k->name))
            return other;
    }
    return NULL;
}

void gpu_kernel_drop(const struct gpu_kernel *k)
{
    free(k->counters.policies);
    free(k->tables);
    free(k->pcs);
    profile_series_free(k->series);
}

uint32_t gpu_kernel_record(struct gpu *g, const struct gpu_kernel *k)
{
    struct gpu_kernel *same = earlier(g, k);
    if (same) {
        gpu_kernel_add(same, k);
        if (k->tables)
            policy_tables_add(same->tables, k->tables);
        if (k->pcs)
            same->pcs = profile_pcs_add(same->pcs, k->pcs);
        gpu_kernel_drop(k);
        return (uint32_t)(same - g->kernels);
    }
    if (g->kernel_count == g->kernel_capacity) {
        g->kernel_capacity = g->kernel_capacity ? g->kernel_capacity * 2 : 64;
        g->kernels = realloc(g->kernels, g->kernel_capacity * sizeof *g->kernels);
        if (!g->kernels)
            out_of_memory();
    }
    struct gpu_kernel *kept = &g->kernels[g->kernel_count++];
    *kept = *k;
    kept->name = strdup(k->name);
    return g->kernel_count - 1;
}
