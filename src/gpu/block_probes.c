/* Probes of functional mode: see block_probes.h. Launches that run together take turns, and a probe has one set of
 * counters: when another launch's turn comes, the counts are added to the launch whose turn ends. */
#include "gpu/block_probes.h"

#include "base/out_of_memory.h"
#include "gpu/profile.h"
#include "sm/program.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_PROGRAMS = 64 };

/* The program of a kernel is kept: programs launch the same kernel over and over. */
struct kept_program {
    struct kept_program *next;
    struct arena arena;
    uint64_t image;
    const struct exec_function *kernel;
    const struct sm_program *program;
    bool runs; /* whether its blocks can run in lockstep */
};

struct block_probes {
    struct arena arena;
    const struct gpu_options *options;
    struct heddle_core view;
    uint32_t count; /* probes that have been made */
    struct instance {
        const struct heddle_probe *probe;
        void *state;
        uint64_t *values;       /* counters of the current launch since its turn began */
        uint64_t *instructions; /* its table of instructions, or NULL */
    } list[GPU_PROBES];
    struct kept_program *programs;
    uint32_t program_count;
    struct residency *current; /* whose turn it is, or NULL */
    struct lockstep_observer observer;
};

/* Events */

static void on_branch(void *context, const struct exec_cta *cta, const struct lockstep_branch *b)
{
    const struct block_probes *p = context;
    const uint32_t *block = cta->launch->block;
    struct heddle_block_branch e = {.pc = b->pc,
                                    .target = b->target,
                                    .fall_through = b->fall_through,
                                    .reconvergence = b->reconvergence,
                                    .warps = cta->warp_count,
                                    .threads = block[0] * block[1] * block[2],
                                    .divergent = b->divergent,
                                    .taken = b->taken,
                                    .not_taken = b->not_taken};
    for (uint32_t i = 0; i < p->count; i++)
        if (p->list[i].probe->blocks.branch)
            p->list[i].probe->blocks.branch(p->list[i].state, &p->view, &e);
}

static void on_ran(void *context, const struct exec_cta *cta, const uint32_t *masks, uint64_t instructions)
{
    const struct block_probes *p = context;
    struct heddle_block_run e = {.warps = cta->warp_count, .instructions = instructions, .masks = masks};
    for (uint32_t i = 0; i < p->count; i++)
        if (p->list[i].probe->blocks.ran)
            p->list[i].probe->blocks.ran(p->list[i].state, &p->view, &e);
}

static void tell_left(const struct block_probes *p, bool whole_launch)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->list[i].probe->blocks.left)
            p->list[i].probe->blocks.left(p->list[i].state, &p->view, whole_launch);
}

static void on_left(void *context, const struct exec_cta *cta)
{
    (void)cta;
    tell_left(context, false);
}

/* Making */

static bool make(struct block_probes *p, const struct policy_choice *choice, struct error *e)
{
    struct instance *n = &p->list[p->count];
    const struct heddle_policy *policy = &choice->probe->policy;
    uint32_t rows = policy_counter_count(policy);
    const char *why = NULL;
    n->probe = choice->probe;
    n->state = arena_alloc(&p->arena, policy->state_bytes ? policy->state_bytes : 1);
    n->values = arena_array(&p->arena, uint64_t, policy_value_count(policy) + 1);
    uint64_t **histograms = arena_array(&p->arena, uint64_t *, rows + 1);
    for (uint32_t row = 0; row < rows; row++)
        if (policy->counters[row].kind == HEDDLE_HISTOGRAM)
            histograms[row] = policy_histogram(policy, n->values, row);
    struct heddle_setup setup = {.core = &p->view,
                                 .values = choice->values,
                                 .counters = n->values,
                                 .histograms = histograms,
                                 .instructions = &n->instructions,
                                 .seed = p->options->machine.seed,
                                 .why = &why};
    if (policy->init && !policy->init(n->state, &setup))
        return error_set(e, ERROR_INVALID, "policy %s cannot work on this machine%s%s", policy->name, why ? ": " : "",
                         why ? why : "");
    p->count++;
    return true;
}

struct block_probes *block_probes_create(const struct gpu_options *o, struct error *e)
{
    struct block_probes *p = calloc(1, sizeof *p);
    if (!p)
        out_of_memory();
    p->options = o;
    p->observer = (struct lockstep_observer){p, on_branch, on_ran, on_left};
    for (uint32_t i = 0; i < o->policies.probe_count; i++)
        if (!make(p, &o->policies.probes[i], e)) {
            block_probes_destroy(p);
            return NULL;
        }
    return p;
}

/* Forgets all programs but those of launches that run. */
static void forget_programs(struct block_probes *p, const struct residency *running)
{
    for (struct kept_program **at = &p->programs, *k; (k = *at);) {
        const struct residency *r = running;
        while (r && r->program != k->program)
            r = r->next;
        if (r) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        arena_free(&k->arena);
        free(k);
        p->program_count--;
    }
}

void block_probes_destroy(struct block_probes *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->list[i].probe->policy.finish)
            p->list[i].probe->policy.finish(p->list[i].state);
    forget_programs(p, NULL);
    arena_free(&p->arena);
    free(p);
}

/* Launches */

static const struct kept_program *program_of(struct block_probes *p, const struct residency *r)
{
    const struct exec_function *kernel = r->launch.kernel;
    for (struct kept_program *k = p->programs; k; k = k->next)
        if (k->image == kernel->image->id && k->kernel == kernel)
            return k;
    if (p->program_count >= KEPT_PROGRAMS)
        forget_programs(p, r->gpu->untimed);
    struct kept_program *k = calloc(1, sizeof *k);
    if (!k)
        out_of_memory();
    k->image = kernel->image->id;
    k->kernel = kernel;
    k->program = sm_program_create(&k->arena, kernel, &p->options->machine.sm);
    k->runs = !lockstep_obstacle(kernel);
    k->next = p->programs;
    p->programs = k;
    p->program_count++;
    return k;
}

static void settle(struct block_probes *p)
{
    struct residency *r = p->current;
    for (uint32_t i = 0; r && i < p->count; i++) {
        const struct heddle_policy *policy = &p->list[i].probe->policy;
        policy_values_add(policy, policy_counts_of(r->record.counters.policies, 3 + i), p->list[i].values);
        memset(p->list[i].values, 0, policy_value_count(policy) * sizeof *p->list[i].values);
    }
}

static void turn_to(struct block_probes *p, struct residency *r)
{
    if (p->current == r)
        return;
    settle(p);
    p->current = r;
    p->view.program = r ? &r->program->view : NULL;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t columns = r && r->record.tables ? policy_column_count(&p->list[i].probe->policy) : 0;
        p->list[i].instructions = columns ? policy_tables_of(r->record.tables, 3 + i) : NULL;
    }
}

const struct lockstep_observer *block_probes_listen(struct block_probes *p, struct residency *r)
{
    turn_to(p, r);
    return &p->observer;
}

bool block_probes_begin(struct block_probes *p, struct residency *r)
{
    const struct heddle_policy *policies[GPU_POLICIES + 1];
    uint32_t count = gpu_policies(p->options, policies);
    const struct kept_program *k = program_of(p, r);
    bool runs = k->runs && !r->blocks.clusters;
    r->program = k->program;
    r->record.counters.policies = policy_counts_create(policies, count);
    if (gpu_has_tables(p->options))
        r->record.tables = policy_tables_create(policies, count, profile_listing(&r->gpu->listings, r->launch.kernel));
    turn_to(p, r);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->list[i].probe->policy.on.kernel)
            p->list[i].probe->policy.on.kernel(p->list[i].state, &p->view);
    if (!runs)
        tell_left(p, true);
    return runs;
}

void block_probes_end(struct block_probes *p, struct residency *r)
{
    turn_to(p, r);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->list[i].probe->policy.on.kernel_end)
            p->list[i].probe->policy.on.kernel_end(p->list[i].state, &p->view);
    turn_to(p, NULL);
    p->view.kernel++;
}

bool block_probes_write(const struct block_probes *p, uint32_t probe, const char **why)
{
    const struct instance *n = &p->list[probe];
    return !n->probe->blocks.write || n->probe->blocks.write(n->state, why);
}
