/* What else the machine asks of a core: whether something keeps it from its end, and what the model does without. */
#include "model/model.h"

#include "sm/regroup.h"

const bool sm_is_model = true;

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
    if (c->program != gone)
        return;
    c->program = by;
    c->view.program = &by->view;
}

uint64_t sm_now(const struct sm *c) { return c->now; }

bool sm_next_running(const struct sm *c, uint32_t *slot, uint32_t *pc)
{
    for (; *slot < c->config->warps; (*slot)++) {
        const struct warp *w = &c->warps[*slot];
        if (!w->exec || w->ended)
            continue;
        *pc = sm_program_pc(c->program, w->exec);
        return true;
    }
    return false;
}

/* What goes wrong */

bool sm_check(const struct sm *c, struct error *e)
{
    if (c->launch.faulted) {
        exec_fault_describe(&c->launch, e);
        return false;
    }
    return !c->trouble[0] || error_set(e, ERROR_INVALID, "%s", c->trouble);
}

uint64_t sm_awaiting_scheduler(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++) {
        const struct warp *w = &c->warps[slot];
        if (w->exec && (w->held || model_obstacle(c, w) == OBSTACLE_STALE))
            set |= 1ull << slot;
    }
    return set;
}

/* The model says which scheduler keeps warps back, but not by which hook. */
struct sm_blame sm_blame_scheduler(const struct sm *c)
{
    uint64_t warps = sm_awaiting_scheduler(c);
    uint32_t k = 0;
    while (!(warps & c->schedulers[k].warps))
        k++;
    return (struct sm_blame){c->schedulers[k].policy->policy.name, "", k, warps & c->schedulers[k].warps};
}

static bool has_instructions(const struct sm *c)
{
    for (uint32_t i = 0; i < INFLIGHT; i++)
        if (c->inflight[i].used)
            return true;
    return false;
}

uint64_t sm_l1_refusals(const struct sm *c, const char **policy, bool *stands)
{
    *stands = has_instructions(c);
    *policy = c->l1d && c->l1_policy && c->l1_policy->victim ? c->l1_policy->policy.name : NULL;
    return *policy ? cache_counters(c->l1d)->fails[CACHE_FAIL_WAYS] : 0;
}

/* A machine in which nothing moves: the model does not tell, it runs on. */
uint64_t sm_awaiting_memory(const struct sm *c) { return (void)c, 0; }

uint32_t sm_describe_awaiting(const struct sm *c, uint32_t most, struct error *e)
{
    return (void)c, (void)most, (void)e, 0;
}

/* The model never runs ahead of the other cores. */
bool sm_may_run_ahead(const struct sm *c) { return (void)c, false; }
bool sm_run_ahead(struct sm *c, uint64_t now, uint64_t end, struct answer_queue *answers)
{
    return (void)c, (void)now, (void)end, (void)answers, false;
}

/* Nor does it stand still for estimates: sm_may_rest says so, and the others are never asked. */
bool sm_may_rest(const struct sm *c) { return (void)c, false; }
void sm_rest(struct sm *c, uint64_t now) { (void)c, (void)now; }
bool sm_is_at_rest(const struct sm *c) { return (void)c, true; }
void sm_go_on(struct sm *c, uint64_t now) { (void)c, (void)now; }
bool sm_warp_progress(const struct sm *c, uint32_t slot, struct sm_progress *out)
{
    return (void)c, (void)slot, (void)out, false;
}
uint32_t sm_skip(struct sm *c, uint32_t slot, uint32_t instructions)
{
    return (void)c, (void)slot, (void)instructions, 0;
}
bool sm_end_block(struct sm *c, uint32_t slot) { return (void)c, (void)slot, false; }

/* There are no divergence units that regroup (policies.c). */
const struct heddle_divergence *sm_mixing_unit(const struct sm *c) { return (void)c, NULL; }
bool regroup_is_stuck(const struct sm *c, uint64_t window) { return (void)c, (void)window, false; }
void regroup_new_window(struct sm *c) { (void)c; }
bool regroup_is_starved(const struct sm *c, uint64_t window) { return (void)c, (void)window, false; }
void regroup_describe_stuck(const struct sm *c, uint64_t window, struct error *e) { (void)c, (void)window, (void)e; }
