/* The record of a launch: see launch_record.h. */
#include "gpu/launch_record.h"

#include "gpu/launch_filter.h"
#include "gpu/warps.h"

#include <string.h>

static struct gpu_kernel record_of(const struct residency *r)
{
    struct gpu_kernel k = {.name = (char *)(uintptr_t)r->launch.kernel->name,
                           .launches = 1,
                           .number = r->number,
                           .partial = true,
                           .unreported = r->record.unreported,
                           .start_cycle = r->gpu->clock_cycles,
                           .counters.timed = !r->gpu->options.functional};
    memcpy(k.grid, r->launch.grid, sizeof k.grid);
    memcpy(k.block, r->launch.block, sizeof k.block);
    return k;
}

void launch_record_begin(struct gpu *g, struct residency *r)
{
    r->number = g->next_launch++;
    if (g->options.filter)
        launch_filter_count(g->options.filter, r->launch.kernel->name, !r->is_functional);
    if (r->skipped && !r->estimated)
        return;
    r->record.unreported = g->unreported;
    r->record.is_kept = g->options.records == GPU_RECORDS_OF_LAUNCHES;
    if (r->record.is_kept) {
        struct gpu_kernel k = record_of(r);
        r->record.index = gpu_kernel_record(g, &k);
    }
    if (g->options.observers.warps)
        r->record.warps = warps_launch(g->options.observers.warps, r->launch.kernel->name, r->record.unreported);
}

static void fill_record(struct gpu_kernel *k, const struct residency *r)
{
    k->counters = r->record.counters;
    k->estimate = r->record.estimate;
    k->seconds = r->record.seconds;
    k->partial = !r->ok;
    k->overlapped = r->record.overlapped;
    k->pcs = r->record.pcs;
    k->tables = r->record.tables;
    k->series = r->record.series;
    if (!k->counters.timed)
        k->counters.exec = r->launch.counters;
    for (int i = 0; i <= WARP_LANES; i++) {
        k->warp_instructions += k->counters.exec.lanes[i];
        k->thread_instructions += k->counters.exec.lanes[i] * (uint64_t)i;
    }
}

void launch_record_end(struct gpu *g, const struct residency *r)
{
    if (r->skipped && !r->estimated)
        return;
    if (r->record.warps)
        warps_end(g->options.observers.warps, r->record.warps);
    if (r->record.tables && !r->record.unreported)
        gpu_kernel_tables_add(g, r->launch.kernel->name, r->record.tables);
    if (r->record.is_kept) {
        fill_record(&g->kernels[r->record.index], r);
        return;
    }
    struct gpu_kernel k = record_of(r);
    fill_record(&k, r);
    if (g->options.records == GPU_RECORDS_NONE)
        gpu_kernel_drop(&k);
    else
        gpu_kernel_record(g, &k);
}
