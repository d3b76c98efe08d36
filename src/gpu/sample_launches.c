/* --sample among launches (sample.h): which are timed, and what the others are taken to be. */
#include "base/numbers.h"
#include "base/out_of_memory.h"
#include "gpu/sample_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_LAUNCHES = 16,
    FIRST_LAUNCHES = 3, /* the first launches of a kernel and shape are always timed */
};
static const double alike = 0.03; /* up to this relative standard deviation of launches, ever fewer are timed */
static const double near = 0.3; /* two launches are alike whose instructions differ by less than this, in logarithms */

struct kept_launch {
    double instructions;
    struct gpu_counters counters; /* policies: a copy of its own */
    struct gpu_estimate estimate;
};

struct sampled_kernel {
    struct sampled_kernel *next;
    uint64_t image;
    const struct exec_function *kernel;
    uint32_t grid[3], block[3];
    uint64_t seen, next_timed; /* launches so far; the number of the next one that is timed */
    uint32_t count;            /* launches that were timed; the last KEPT_LAUNCHES of these are in `kept` */
    struct kept_launch kept[KEPT_LAUNCHES];
};

struct sample_kernels {
    struct sampled_kernel *first;
};

static struct sampled_kernel *find(struct gpu *g, const struct exec_function *kernel, const uint32_t grid[3],
                                   const uint32_t block[3])
{
    if (!g->samples && !(g->samples = calloc(1, sizeof *g->samples)))
        out_of_memory();
    struct sampled_kernel *k = g->samples->first;
    while (k && (k->image != kernel->image->id || k->kernel != kernel || memcmp(k->grid, grid, sizeof k->grid) != 0 ||
                 memcmp(k->block, block, sizeof k->block) != 0))
        k = k->next;
    if (k)
        return k;
    k = calloc(1, sizeof *k);
    if (!k)
        out_of_memory();
    *k = (struct sampled_kernel){.next = g->samples->first, .image = kernel->image->id, .kernel = kernel};
    memcpy(k->grid, grid, sizeof k->grid);
    memcpy(k->block, block, sizeof k->block);
    g->samples->first = k;
    return k;
}

void sample_kernels_free(struct sample_kernels *all)
{
    while (all && all->first) {
        struct sampled_kernel *k = all->first;
        all->first = k->next;
        for (uint32_t i = 0; i < KEPT_LAUNCHES; i++)
            free(k->kept[i].counters.policies);
        free(k);
    }
    free(all);
}

bool sample_times(struct gpu *g, const struct gpu_launch *in)
{
    struct sampled_kernel *k = find(g, in->kernel, in->grid, in->block);
    return in->cooperative || k->seen++ >= k->next_timed;
}

static uint32_t kept_count(const struct sampled_kernel *k) { return (uint32_t)smaller(k->count, KEPT_LAUNCHES); }

/* Standard deviation of cycles per instruction, relative to their mean. */
static double spread(const struct sampled_kernel *k)
{
    double ratios[KEPT_LAUNCHES] = {0};
    uint32_t count = kept_count(k);
    for (uint32_t i = 0; i < count; i++)
        ratios[i] = (double)k->kept[i].counters.cycles / k->kept[i].instructions;
    return sample_deviation(ratios, count) / sample_mean(ratios, count);
}

static void keep(struct sampled_kernel *k, const struct residency *r, double instructions)
{
    struct kept_launch *to = &k->kept[k->count++ % KEPT_LAUNCHES];
    free(to->counters.policies);
    *to = (struct kept_launch){
        .instructions = instructions, .counters = r->record.counters, .estimate = r->record.estimate};
    to->counters.policies = policy_counts_copy(r->record.counters.policies);
    k->next_timed = k->seen + (k->count >= FIRST_LAUNCHES && spread(k) < alike ? k->seen : 0);
}

static const struct kept_launch *nearest(const struct sampled_kernel *k, double instructions)
{
    const struct kept_launch *found = &k->kept[0];
    for (uint32_t i = 1; i < kept_count(k); i++)
        if (fabs(log(k->kept[i].instructions / instructions)) < fabs(log(found->instructions / instructions)))
            found = &k->kept[i];
    return found;
}

/* A launch may be off by as much as launches differ; the mean of launches, which is common to all that are estimated
 * from it, by less. The numbers of a launch with more or fewer instructions are scaled, and trusted less. */
static void estimate(struct sampled_kernel *k, struct residency *r, double instructions)
{
    const struct kept_launch *from = nearest(k, instructions);
    if (fabs(log(instructions / from->instructions)) > near)
        k->next_timed = k->seen; /* the kernel does something else now: time the next launch */
    double by = instructions / from->instructions, cycles = (double)from->counters.cycles * by;
    double single = sample_quantile(kept_count(k) - 1) * spread(k) * cycles;
    r->record.counters = from->counters;
    r->record.counters.policies = policy_counts_copy(from->counters.policies);
    sample_scale(&r->record.counters, by);
    r->record.counters.cycles = (uint64_t)(cycles + 0.5);
    r->record.counters.exec = r->launch.counters;
    r->record.estimate = (struct gpu_estimate){.instructions = (uint64_t)instructions,
                                               .launches = 1,
                                               .half_squared = single * single + from->estimate.half_squared * by * by,
                                               .half_common = single / sqrt(kept_count(k)) +
                                                              (SAMPLE_LEAST_DOUBT + 0.5 * fabs(log(by))) * cycles};
}

void sample_note(struct residency *r)
{
    struct sampled_kernel *k = find(r->gpu, r->launch.kernel, r->launch.grid, r->launch.block);
    double instructions = sample_instructions(r->is_functional ? &r->launch.counters : &r->record.counters.exec);
    if (!r->ok || !(instructions > 0))
        return;
    if (!r->is_functional)
        keep(k, r, instructions);
    else
        estimate(k, r, instructions);
}
