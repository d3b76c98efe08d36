/* See sample.h. What is measured is cycles per warp instruction, not per block: blocks without time count their
 * instructions, so that an uneven grid is estimated by what its blocks had to do. */
#include "gpu/sample.h"

#include "base/out_of_memory.h"
#include "gpu/timing.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A wave is as many blocks as fit the machine at once. A batch is a wave: blocks that began together are at the same
 * thing at the same time, and only whole ones show all of it. */
enum {
    BATCHES = 3,       /* of a measurement, at least, */
    BATCHES_MOST = 10, /* and at most; more than the least as long as the last ones differ */
    LATER_BATCHES = 1, /* of the measurements after the first */
    LEAST_WAVES = 2,   /* without time at a time, else it does not pay */
    MEASUREMENTS_MOST = 4,
    RATIOS_MOST = BATCHES + MEASUREMENTS_MOST,
    PATIENCE = 4, /* times the instructions of a wave, without a block's end: it waits for another */
    KEPT_LAUNCHES = 16,
    FIRST_LAUNCHES = 3, /* of a kernel and shape: always timed */
};
static const double enough = 0.02; /* standard deviation of the last batches, relative, at which a measurement ends */
static const double least_doubt = 0.01; /* what no estimate is better than, relative: batches are alike by chance too */
static const double alike = 0.03;       /* standard deviation of launches, relative, up to which ever fewer are timed */
static const double near = 0.3;         /* logarithm of how many more instructions a launch may have than one like it */

enum phase { WARMS, MEASURES, AHEAD, TIMES_THE_REST };

struct sample_launch {
    enum phase phase;
    uint64_t wave, until; /* blocks; so many have ended when the phase, or batch, does */
    uint32_t gaps;        /* times that blocks are still to be executed without time */
    uint32_t batch;
    double begin_cycles, begin_instructions; /* of a batch */
    uint32_t ratio_count;
    double
        ratios[RATIOS_MOST]; /* cycles per instruction: of the last batches of the first measurement, then of others */
    struct residency *ahead; /* blocks without time that have not ended */
    bool waits;              /* some of those had to wait for blocks with time: their instructions say nothing */
    uint64_t blocks_ahead;   /* in all */
    struct exec_counters counters_ahead;
};

/* Half of the 95% interval in standard deviations (Student), by degrees of freedom. */
static double quantile(uint32_t freedom)
{
    static const double t[] = {0,     12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131};
    return freedom < sizeof t / sizeof *t ? t[freedom] : 2.1;
}

static double mean(const double *x, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += x[i];
    return sum / count;
}

static double deviation(const double *x, uint32_t count)
{
    double middle = mean(x, count), squares = 0;
    for (uint32_t i = 0; i < count; i++)
        squares += (x[i] - middle) * (x[i] - middle);
    return count > 1 ? sqrt(squares / (count - 1)) : 0;
}

static double instructions_of(const struct exec_counters *c)
{
    double sum = 0;
    for (int lanes = 0; lanes <= WARP_LANES; lanes++)
        sum += (double)c->lanes[lanes];
    return sum;
}

static void scale_words(void *words, size_t bytes, double by)
{
    uint64_t *w = words;
    for (size_t i = 0; i < bytes / sizeof *w; i++)
        w[i] = (uint64_t)((double)w[i] * by + 0.5);
}

/* All that time counts; instructions, cycles and what the kernel itself has are known. */
static void scale(struct gpu_counters *c, double by)
{
    struct gpu_counters exact = *c;
    scale_words(&c->sm, offsetof(struct gpu_counters, launches) - offsetof(struct gpu_counters, sm), by);
    if (c->policies)
        scale_words(c->policies->values, c->policies->value_count * sizeof *c->policies->values, by);
    c->exec = exact.exec;
}

/* Inside a launch */

static double instructions_timed(const struct timing *t, const struct residency *r)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->owner[i] == r)
            sum += instructions_of(&sm_launch(t->cores[i])->counters);
    return sum;
}

static uint64_t blocks_ended(const struct timing *t, const struct residency *r)
{
    uint64_t resident = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->owner[i] == r)
            resident += (uint64_t)__builtin_popcountll(sm_blocks_used(t->cores[i]));
    return r->next_block - r->sample->blocks_ahead - resident;
}

void sample_begin(struct timing *t, struct residency *r)
{
    uint64_t wave = (uint64_t)r->block_limit * t->core_count;
    if (r->workspace || t->options->machine.last_block_first || r->block_count < (2 + BATCHES + LEAST_WAVES) * wave)
        return;
    r->sample = calloc(1, sizeof *r->sample);
    if (!r->sample)
        out_of_memory();
    r->sample->wave = r->sample->until = wave;
}

void sample_stop(struct residency *r)
{
    if (r->sample && !r->sample->ahead)
        r->sample->phase = TIMES_THE_REST;
}

bool sample_holds(const struct residency *r) { return r->sample && r->sample->ahead; }

static struct residency *make_ahead(const struct residency *r, uint64_t blocks)
{
    struct residency *a = calloc(1, sizeof *a);
    if (!a)
        out_of_memory();
    a->gpu = r->gpu;
    a->functional = a->skipped = true;
    a->launch = r->launch;
    a->launch.clock = functional_clock;
    a->launch.user = a;
    a->launch.error = &a->error;
    a->launch.register_stacks_bytes = &a->register_stacks_bytes;
    a->launch.counters = (struct exec_counters){0};
    a->cluster_blocks = 1;
    a->next_block = r->next_block;
    a->block_count = r->next_block + blocks;
    a->slot_count = (uint32_t)(blocks < r->slot_count ? blocks : r->slot_count);
    a->blocks = calloc(a->slot_count, sizeof *a->blocks);
    a->busy = calloc(a->slot_count, sizeof *a->busy);
    if (!a->blocks || !a->busy)
        out_of_memory();
    functional_start(a);
    return a;
}

static void free_ahead(struct residency *a)
{
    for (uint32_t i = 0; i < a->slot_count; i++)
        if (a->blocks[i])
            exec_cta_destroy(a->blocks[i]);
    free(a->blocks);
    free(a->busy);
    free(a);
}

static void begin_batch(struct timing *t, struct residency *r)
{
    struct sample_launch *s = r->sample;
    s->begin_cycles = (double)t->now;
    s->begin_instructions = instructions_timed(t, r);
    s->until += s->wave;
}

static void end_batch(struct timing *t, struct residency *r)
{
    struct sample_launch *s = r->sample;
    double cycles = (double)t->now - s->begin_cycles, instructions = instructions_timed(t, r) - s->begin_instructions;
    s->batch++;
    if (s->ratio_count == BATCHES && !s->blocks_ahead) { /* the first of them is forgotten */
        memmove(&s->ratios[0], &s->ratios[1], (BATCHES - 1) * sizeof *s->ratios);
        s->ratio_count--;
    }
    if (s->ratio_count < RATIOS_MOST)
        s->ratios[s->ratio_count++] = cycles / (instructions > 0 ? instructions : 1);
}

static bool has_measured(const struct sample_launch *s)
{
    if (s->blocks_ahead)
        return s->batch >= LATER_BATCHES;
    return s->batch >= BATCHES_MOST ||
           (s->batch >= BATCHES && deviation(s->ratios, s->ratio_count) < enough * mean(s->ratios, s->ratio_count));
}

/* After a measurement: how many of the blocks that are left are executed without time. The more there are, the more
 * often it is measured between them. */
static uint64_t choose_ahead(struct residency *r, bool first)
{
    struct sample_launch *s = r->sample;
    uint64_t left = r->block_count - r->next_block, between = 2 * s->wave; /* to get going again, and to measure */
    if (first)
        s->gaps = left > 40 * s->wave ? MEASUREMENTS_MOST : left > 20 * s->wave ? 3 : left > 10 * s->wave ? 2 : 1;
    if (!s->gaps || left < (s->gaps - 1) * between)
        return 0;
    uint64_t blocks = (left - (s->gaps - 1) * between) / s->gaps;
    return blocks < LEAST_WAVES * s->wave ? 0 : blocks;
}

/* Until all have ended, or none can go on: some may wait for blocks that have time. */
static bool run_ahead(struct timing *t, struct residency *r)
{
    struct sample_launch *s = r->sample;
    struct residency *a = s->ahead;
    uint64_t done = 1;
    while (!a->ended && done && a->executed - a->executed_at_progress <= a->patience)
        done = functional_round(a);
    if (!a->ended) {
        s->waits = true;
        a->executed_at_progress = a->executed; /* it gets another chance after some cycles */
        return true;
    }
    bool ok = a->ok;
    if (ok)
        counters_add(&s->counters_ahead, &a->launch.counters, sizeof s->counters_ahead);
    else
        r->error = a->error;
    free_ahead(a);
    s->ahead = NULL;
    s->gaps--;
    s->phase = s->waits ? TIMES_THE_REST : WARMS;
    s->until = blocks_ended(t, r) + s->wave;
    t->may_place = true;
    return ok;
}

static bool start_ahead(struct timing *t, struct residency *r)
{
    struct sample_launch *s = r->sample;
    uint64_t blocks = choose_ahead(r, s->blocks_ahead == 0);
    if (!blocks) {
        s->phase = TIMES_THE_REST;
        return true;
    }
    s->phase = AHEAD;
    s->ahead = make_ahead(r, blocks);
    s->ahead->patience = (uint64_t)(PATIENCE * instructions_timed(t, r) / (double)blocks_ended(t, r) * (double)s->wave);
    r->next_block += blocks;
    s->blocks_ahead += blocks;
    return run_ahead(t, r);
}

bool sample_advance(struct timing *t, struct residency *r)
{
    struct sample_launch *s = r->sample;
    if (s->ahead)
        return run_ahead(t, r);
    if (s->phase == TIMES_THE_REST || blocks_ended(t, r) < s->until)
        return true;
    if (s->phase == WARMS) {
        s->phase = MEASURES;
        s->batch = 0;
        begin_batch(t, r);
        return true;
    }
    end_batch(t, r);
    if (!has_measured(s)) {
        begin_batch(t, r);
        return true;
    }
    return start_ahead(t, r);
}

void sample_end(struct residency *r)
{
    struct sample_launch *s = r->sample;
    struct gpu_counters *c = &r->counters;
    double timed = instructions_of(&c->exec), ahead = instructions_of(&s->counters_ahead);
    if (s->ahead)
        free_ahead(s->ahead);
    if (ahead > 0) {
        double blocks = (double)s->blocks_ahead, timed_blocks = (double)r->block_count - blocks;
        double work = s->waits ? timed * blocks / timed_blocks : ahead;
        double cycles = mean(s->ratios, s->ratio_count) * work;
        double half = work * quantile(s->ratio_count - 1) * deviation(s->ratios, s->ratio_count) / sqrt(s->ratio_count);
        r->estimate = (struct gpu_estimate){.timed_cycles = c->cycles,
                                            .blocks = r->block_count,
                                            .timed_blocks = r->block_count - s->blocks_ahead,
                                            .half_squared = half * half,
                                            .half_common = least_doubt * cycles};
        scale(c, (timed + work) / timed);
        c->cycles += (uint64_t)(cycles + 0.5);
        counters_add(&c->exec, &s->counters_ahead, sizeof c->exec);
    }
    free(s);
    r->sample = NULL;
}

/* Among launches */

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
    uint64_t seen, next_timed; /* launches; the number of the next that is timed */
    uint32_t count;            /* that were timed; the last KEPT_LAUNCHES of them are kept */
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

static uint32_t kept_count(const struct sampled_kernel *k)
{
    return k->count < KEPT_LAUNCHES ? k->count : KEPT_LAUNCHES;
}

/* Standard deviation of cycles per instruction, relative to their mean. */
static double spread(const struct sampled_kernel *k)
{
    double ratios[KEPT_LAUNCHES] = {0};
    uint32_t count = kept_count(k);
    for (uint32_t i = 0; i < count; i++)
        ratios[i] = (double)k->kept[i].counters.cycles / k->kept[i].instructions;
    return deviation(ratios, count) / mean(ratios, count);
}

static void keep(struct sampled_kernel *k, const struct residency *r, double instructions)
{
    struct kept_launch *to = &k->kept[k->count++ % KEPT_LAUNCHES];
    free(to->counters.policies);
    *to = (struct kept_launch){.instructions = instructions, .counters = r->counters, .estimate = r->estimate};
    to->counters.policies = policy_counts_copy(r->counters.policies);
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

/* Another launch may be off by what launches differ; their mean, which is common to all that are estimated from it, by
 * less. Numbers of a launch that did more or less are taken as they are, and trusted less. */
static void estimate(struct sampled_kernel *k, struct residency *r, double instructions)
{
    const struct kept_launch *from = nearest(k, instructions);
    if (fabs(log(instructions / from->instructions)) > near)
        k->next_timed = k->seen; /* the kernel has come to something else */
    double by = instructions / from->instructions, cycles = (double)from->counters.cycles * by;
    double single = quantile(kept_count(k) - 1) * spread(k) * cycles;
    r->counters = from->counters;
    r->counters.policies = policy_counts_copy(from->counters.policies);
    scale(&r->counters, by);
    r->counters.cycles = (uint64_t)(cycles + 0.5);
    r->counters.exec = r->launch.counters;
    r->estimate = (struct gpu_estimate){.blocks = r->block_count,
                                        .launches = 1,
                                        .half_squared = single * single + from->estimate.half_squared * by * by,
                                        .half_common = single / sqrt(kept_count(k)) +
                                                       (least_doubt + 0.5 * fabs(log(by))) * cycles};
}

void sample_note(struct residency *r)
{
    struct sampled_kernel *k = find(r->gpu, r->launch.kernel, r->launch.grid, r->launch.block);
    double instructions = instructions_of(r->functional ? &r->launch.counters : &r->counters.exec);
    if (!r->ok || !(instructions > 0))
        return;
    if (!r->functional)
        keep(k, r, instructions);
    else
        estimate(k, r, instructions);
}
