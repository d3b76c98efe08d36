/* Where the cycles of warps went: each warp counts once in every cycle, under the first reason that fits. */
#include "model/model.h"

#include <string.h>

const char *const stall_names[STALL_COUNT] = {
#define STALL(id, name, sample, help, nsight) &name[sizeof "stalls." - 1],
#include "heddle/metrics.def"
};

/* The reason under which a cycle counts in which the warp could not issue. */
static const enum stall stall_of[] = {
    [OBSTACLE_ENDED] = STALL_DRAIN,      [OBSTACLE_BARRIER] = STALL_BARRIER, [OBSTACLE_FENCE] = STALL_FENCE,
    [OBSTACLE_ATOMIC] = STALL_ATOMIC,    [OBSTACLE_ASLEEP] = STALL_FETCH,    [OBSTACLE_NO_BUFFER] = STALL_FETCH,
    [OBSTACLE_STALE] = STALL_FETCH,      [OBSTACLE_MEMORY] = STALL_MEMORY,   [OBSTACLE_REGISTER] = STALL_SCOREBOARD,
    [OBSTACLE_PIPELINE] = STALL_PIPELINE};

/* Looked at when all stages have run. Whether the pipeline took an instruction is known from issue: the stages after
 * it may have given the warp another instruction. */
static enum stall reason(const struct sm *c, const struct warp *w)
{
    if (w->issued)
        return STALL_ISSUED;
    enum obstacle obstacle = model_obstacle(c, w);
    if (obstacle != OBSTACLE_NONE && obstacle != OBSTACLE_PIPELINE)
        return stall_of[obstacle];
    if (w->held)
        return STALL_HELD;
    return w->pipeline_open ? STALL_NOT_PICKED : STALL_PIPELINE;
}

/* What fills the pipeline of a warp that has to wait for it. */

static uint64_t *part_of_subcore(struct sm_counters *n, enum sm_unit unit)
{
    switch (unit) {
    case SM_MEM: return &n->pipeline_load_store;
    case SM_SFU:
    case SM_DP:
    case SM_TENSOR:
    case SM_LANES:
    case SM_BARRIER: return &n->pipeline_sfu;
    default: return &n->pipeline_sp;
    }
}

/* A pipeline that takes instructions now was full when issue looked, or the warp had no instruction then. */
static uint64_t *part_of(const struct sm *c, struct sm_counters *n, enum kind kind)
{
    if (model_collectors_accept(c, kind))
        return &n->pipeline_decode;
    if (model_collectors_limit(c, kind))
        return &n->pipeline_collectors;
    if (kind == KIND_MEMORY)
        return &n->pipeline_load_store;
    return kind == KIND_SP ? &n->pipeline_sp : &n->pipeline_sfu;
}

static void count_pipeline(struct sm *c, const struct warp *w)
{
    const struct sm_inst *in = model_next(c, w);
    uint64_t *part;
    if (c->has_subcores)
        part = part_of_subcore(&c->counters, (enum sm_unit)in->unit);
    else if (in->unit == SM_SP_OR_SFU && !model_collectors_accept(c, KIND_SFU))
        part = part_of(c, &c->counters, KIND_SP);
    else
        part = part_of(c, &c->counters, model_kind(c, in));
    (*part)++;
}

void model_count(struct sm *c)
{
    uint64_t sets[STALL_COUNT] = {0};
    bool any = false;
    for (uint32_t slot = 0; slot < c->config->warps; slot++) {
        const struct warp *w = &c->warps[slot];
        if (!w->exec)
            continue;
        enum stall why = reason(c, w);
        any = true;
        c->counters.warp_cycles++;
        c->counters.stalls[why]++;
        if (why == STALL_PIPELINE)
            count_pipeline(c, w);
        sets[why] |= 1ull << slot;
        if (c->warp_log)
            c->warp_log->open[slot].stalls[why]++;
    }
    for (int i = 0; c->stall_log && i < STALL_COUNT; i++)
        stall_log_set(c->stall_log, (enum stall)i, sets[i]);
    if (c->stall_log)
        stall_log_pass(c->stall_log, 1);
    c->counters.active_cycles += any;
}

/* What the machine asks of counters. Every cycle has been counted by then. */

void sm_account_until(struct sm *c, uint64_t now) { (void)c, (void)now; }
void sm_settle_stalls(struct sm *c) { (void)c; }
void sm_log_warps(struct sm *c, struct warp_log *log) { c->warp_log = log; }
void sm_log_stalls(struct sm *c, struct stall_log *log) { c->stall_log = log; }
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
