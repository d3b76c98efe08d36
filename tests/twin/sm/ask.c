/* What the machine asks a core: counters, blocks, what goes wrong. And what the twin leaves out. */
#include "twin.h"

#include "sm/regroup.h"

#include <stdlib.h>
#include <string.h>

const char *const stall_names[STALL_COUNT] = {
#define STALL(id, name, sample, help, nsight) &name[sizeof "stalls." - 1],
#include "heddle/metrics.def"
};

/* Blocks and programs */

uint64_t sm_blocks_used(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < BLOCKS; i++)
        if (c->blocks[i].cta)
            set |= 1ull << i;
    return set;
}

uint32_t sm_block_limit(const struct sm *c) { return c->block_limit; }

struct exec_launch *sm_launch(struct sm *c) { return &c->launch; }

const struct sm_program *sm_program(const struct sm *c) { return c->program; }

void sm_replace_program(struct sm *c, const struct sm_program *gone, const struct sm_program *by)
{
    if (c->program == gone) {
        c->program = by;
        c->view.program = &by->view;
    }
}

bool sm_idle(const struct sm *c)
{
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (c->warps[slot].exec)
            return false;
    return twin_lsu_empty(c) && twin_collectors_empty(c) && (!c->l1d || cache_idle(c->l1d));
}

uint64_t sm_kept_back(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++) {
        const struct warp *w = &c->warps[slot];
        if (w->exec && (w->held || (twin_may_issue(c, w) && twin_is_stale(c, w))))
            set |= 1ull << slot;
    }
    return set;
}

/* Counters */

static void add_numbers(void *sum, const void *more, size_t bytes)
{
    uint64_t *to = sum;
    const uint64_t *from = more;
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] += from[i];
}

void sm_add_counters(struct sm *c, struct sm_counters *sum)
{
    const struct cache *caches[4] = {c->l1d, c->l1c, c->l1t, c->l1i};
    struct cache_counters *sums[4] = {&sum->l1d, &sum->l1c, &sum->l1t, &sum->l1i};
    add_numbers(sum, &c->counters, sizeof *sum);
    for (int i = 0; i < 4; i++)
        if (caches[i])
            add_numbers(sums[i], cache_counters(caches[i]), sizeof *sums[i]);
}

void sm_reset_counters(struct sm *c)
{
    struct cache *caches[4] = {c->l1d, c->l1c, c->l1t, c->l1i};
    c->counters = (struct sm_counters){0};
    for (int i = 0; i < 4; i++)
        if (caches[i])
            cache_counters_reset(caches[i]);
    for (uint32_t i = 0; i < c->policy_count; i++)
        if (c->counts[i].policy)
            memset(c->counts[i].values, 0, c->counts[i].value_count * sizeof *c->counts[i].values);
}

const struct sm_counters *sm_counters(const struct sm *c) { return &c->counters; }

uint64_t sm_l1_fails(const struct sm *c)
{
    uint64_t sum = 0;
    for (int i = 0; c->l1d && i < CACHE_FAIL_COUNT; i++)
        sum += cache_counters(c->l1d)->fails[i];
    return sum;
}

struct sm_counts *sm_policy_counts(struct sm *c, uint32_t *count)
{
    *count = c->policy_count;
    return c->counts;
}

/* What goes wrong */

bool sm_check(const struct sm *c, struct error *e)
{
    if (c->launch.faulted) {
        exec_fault_describe(&c->launch, e);
        return false;
    }
    return c->trouble[0] ? error_set(e, ERROR_INVALID, "%s", c->trouble) : true;
}

struct sm_blame sm_blame_scheduler(const struct sm *c)
{
    uint64_t warps = sm_kept_back(c);
    uint32_t k = 0;
    while (!(warps & c->schedulers[k].warps))
        k++;
    return (struct sm_blame){.policy = c->schedulers[k].policy->policy.name,
                             .reason = "the twin does not say by which hook",
                             .scheduler = k,
                             .warps = warps & c->schedulers[k].warps};
}

uint64_t sm_l1_refusals(const struct sm *c, const char **policy, bool *in_flight)
{
    bool decides = c->l1d && c->l1_policy && c->l1_policy->victim;
    *in_flight = false;
    for (uint32_t i = 0; i < INFLIGHT; i++)
        if (c->inflight[i].used)
            *in_flight = true;
    *policy = decides ? c->l1_policy->policy.name : NULL;
    return decides ? cache_counters(c->l1d)->fails[CACHE_FAIL_WAYS] : 0;
}

bool sm_next_running(const struct sm *c, uint32_t *slot, uint32_t *pc)
{
    while (*slot < c->config->warps && (!c->warps[*slot].exec || c->warps[*slot].ended))
        ++*slot;
    if (*slot >= c->config->warps)
        return false;
    *pc = sm_program_pc(c->program, c->warps[*slot].exec);
    return true;
}

/* Left out: threads of several warps in one, and rows of warps. */

const struct heddle_divergence *sm_mixing_unit(const struct sm *c) { return (void)c, NULL; }
bool regroup_is_stuck(const struct sm *c, uint64_t window) { return (void)c, (void)window, false; }
void regroup_new_window(struct sm *c) { (void)c; }
bool regroup_is_starved(const struct sm *c, uint64_t window) { return (void)c, (void)window, false; }
void regroup_describe_stuck(const struct sm *c, uint64_t window, struct error *e) { (void)c, (void)window, (void)e; }
void warp_log_listen(struct warp_log *log, struct sm *core) { (void)log, (void)core; }
void warp_log_free(struct warp_log *log) { free(log->rows); }
