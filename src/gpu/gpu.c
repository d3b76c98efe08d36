/* A GPU as a whole: its memory, its textures, the list of what ran on it. */
#include "gpu/launch.h"

#include "base/out_of_memory.h"
#include "exec/race.h"
#include "gpu/block_probes.h"
#include "gpu/host_watch.h"
#include "gpu/profile.h"
#include "gpu/sample.h"
#include "gpu/setup.h"
#include "gpu/timing.h"
#include "gpu/workers.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_STACK_BYTES = 1024, DEFAULT_HEAP_BYTES = 8 << 20, DEFAULT_PRINTF_BYTES = 1 << 20 };

/* A policy that was not chosen is the machine's own. */
static bool choose_policies(struct gpu_options *o, struct error *e)
{
    const struct machine *m = &o->machine;
    struct gpu_policy_choices *p = &o->policies;
    return (p->scheduler.policy || policy_choose(&p->scheduler, POLICY_SCHEDULER, m->scheduler, e)) &&
           (p->l1.policy || policy_choose(&p->l1, POLICY_L1, m->l1, e)) &&
           (p->l2.policy || policy_choose(&p->l2, POLICY_L1, m->mem.l2.policy, e)) &&
           (p->divergence.policy || policy_choose(&p->divergence, POLICY_DIVERGENCE, m->divergence, e));
}

uint32_t gpu_policies(const struct gpu_options *o, const struct heddle_policy *out[GPU_POLICIES + 1])
{
    const struct gpu_policy_choices *p = &o->policies;
    const struct policy_choice *const timed[] = {&p->scheduler, &p->l1, &p->divergence};
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof timed / sizeof *timed; i++)
        out[count++] = o->functional ? NULL : timed[i]->policy;
    for (uint32_t i = 0; i < p->probe_count; i++)
        out[count++] = p->probes[i].policy;
    out[count] = NULL;
    return count;
}

void gpu_note_copy(struct gpu *g, uint64_t address, uint64_t bytes)
{
    if (g->timing && bytes)
        timing_note_copy(g->timing, g->memory, address, bytes);
}

struct gpu *gpu_create(const struct gpu_options *options, struct error *e)
{
    struct gpu *g = calloc(1, sizeof *g);
    if (!g) {
        error_set(e, ERROR_NO_MEMORY, "out of host memory");
        return NULL;
    }
    g->options = *options;
    g->memory = memory_create(options->machine.memory_bytes, e);
    if (!g->memory) {
        free(g);
        return NULL;
    }
    g->memory->exact_bounds = options->exact_bounds;
    g->heap = calloc(1, sizeof *g->heap);
    if (!g->heap)
        out_of_memory();
    g->stack_limit_bytes = DEFAULT_STACK_BYTES;
    g->heap_limit_bytes = DEFAULT_HEAP_BYTES;
    g->printf_fifo_bytes = DEFAULT_PRINTF_BYTES;
    g->printf_out = stdout;
    g->next_grid_id = 1;
    if (!options->functional && !(choose_policies(&g->options, e) && (g->timing = timing_create(&g->options, e)))) {
        gpu_destroy(g);
        return NULL;
    }
    if (options->functional && options->policies.probe_count &&
        !(g->block_probes = block_probes_create(&g->options, e))) {
        gpu_destroy(g);
        return NULL;
    }
    if (!options->functional && options->host_parts)
        g->watch = host_watch_create();
    if (options->functional && options->races)
        g->races = races_create();
    return g;
}

uint64_t gpu_pulse(const struct gpu *g)
{
    if (!g)
        return 0;
    return g->timing ? g->timing->now : g->clock_cycles;
}

bool gpu_shared(const struct gpu *g, double *share)
{
    if (!g->timing || !g->timing->threads.workers)
        return false;
    const uint64_t *done = g->timing->threads.sharing.done;
    uint64_t all = done[SHARING_ALONE] + done[SHARING_THREADS];
    *share = all ? (double)done[SHARING_THREADS] / (double)all : 0;
    return true;
}

uint32_t gpu_threads(const struct gpu *g, pthread_t *out, uint32_t most)
{
    return g->timing && g->timing->threads.workers ? workers_threads(g->timing->threads.workers, out, most) : 0;
}

void gpu_destroy(struct gpu *g)
{
    if (!g)
        return;
    gpu_give_up(g, false);
    while (g->started || g->untimed)
        gpu_finish(g->started ? g->started : g->untimed, &(struct error){0});
    for (uint32_t i = 0; i < g->kernel_count; i++) {
        free(g->kernels[i].name);
        gpu_kernel_drop(&g->kernels[i]);
    }
    free(g->kernels);
    for (uint32_t i = 0; i < g->kernel_table_count; i++) {
        free(g->kernel_tables[i].name);
        free(g->kernel_tables[i].tables);
    }
    free(g->kernel_tables);
    gpu_spare_free(g);
    races_destroy(g->races);
    profile_listings_free(g->listings);
    sample_kernels_free(g->samples);
    host_watch_destroy(g->watch);
    timing_destroy(g->timing);
    block_probes_destroy(g->block_probes);
    gpu_setup_release(&g->options);
    texture_table_free(&g->textures);
    memory_destroy(g->memory);
    free(g->heap);
    free(g);
}
