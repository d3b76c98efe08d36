/* Steps of warps whose accesses are looked at (race.h): what an instruction means is known before it is executed, what
 * it accessed after. */
#include "exec/race_inside.h"

#include "exec/control.h"

static void step_with_rule(struct exec_warp *w, const struct rule *rule)
{
    struct race_block *b = w->cta->race;
    const struct exec_inst *in = &w->code[w->pc];
    uint8_t values[WARP_LANES][STORE_VALUE_BYTES];
    uint32_t mask = exec_lanes(w), pc = w->pc;
    if (mask && rule->act == ACT_FENCE)
        race_clock_fence(b, w->index);
    if (mask && rule->act == ACT_CLUSTER_ARRIVE)
        race_meet_cluster(w, true);
    if (mask && rule->releases)
        race_clock_fence(b, w->index);
    if (mask && rule->has_values)
        store_values(w, in, mask, values);
    b->clocks[w->index]++;
    b->strength = rule->strength;
    w->access.space = PTX_SPACE_NONE;
    exec_step(w);
    if (!mask || w->state == WARP_FAULT)
        return;
    if (rule->act == ACT_ACCESS)
        race_access_values(w, rule->has_values ? (const uint8_t(*)[STORE_VALUE_BYTES])values : NULL);
    else if (rule->act == ACT_ARRIVE || rule->act == ACT_WAIT)
        race_meet_at_objects(w, rule->act == ACT_ARRIVE);
    else if (rule->act == ACT_CLUSTER_WAIT && w->pc != pc)
        race_meet_cluster(w, false);
}

void race_step(struct exec_warp *w)
{
    struct race_block *b = w->cta->race;
    const struct race_launch *l = b->launch;
    uint32_t instruction = l->first[w->at.function->index] + w->pc;
    b->instruction = instruction;
    if (l->code->rules[instruction].act == ACT_NONE)
        exec_step(w);
    else
        step_with_rule(w, &l->code->rules[instruction]);
}

uint32_t race_run(struct exec_warp *w, uint32_t budget)
{
    uint32_t done = 0;
    for (; done < budget && w->state == WARP_READY; done++)
        race_step(w);
    exec_end_turn(w);
    return done;
}
