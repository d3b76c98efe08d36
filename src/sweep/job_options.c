/* Lines of options among an experiment's schedulers: bundles are resolved here, once for each line, so that jobs and
 * their keys know policies only, and a job with -p is the same as one with the policies that it stands for. */
#include "base/out_of_memory.h"
#include "sweep/job_maker.h"

#include "policy/bundle.h"

#include <stdlib.h>

static bool take_bundle(struct job_maker *m, const char *bundle, struct options_part *part, struct error *why)
{
    struct policy_specs *specs = calloc(1, sizeof *specs);
    if (!specs)
        out_of_memory();
    bool good = policy_bundle_take(specs, job_path(m, bundle, policy_name_length(bundle)), part->specs, why);
    for (int kind = 0; good && kind < POLICY_KINDS; kind++)
        if (*specs->of[kind])
            part->specs[kind] = arena_printf(m->arena, "%s", specs->of[kind]);
    free(specs);
    return good;
}

bool job_options_part(struct job_maker *m, const struct lab_point *p, const struct options_part **out)
{
    static const enum lab_option options[POLICY_PROBE] = {OPTION_SCHEDULER, OPTION_L1, OPTION_DIVERGENCE};
    uint32_t value = p->value[AXIS_SCHEDULER];
    const char **given = m->x->axes[AXIS_SCHEDULER].values[value].options;
    struct options_part *part = &m->options[value];
    struct error why = {0};
    *out = given ? part : NULL;
    if (!given || part->made)
        return true;
    for (int kind = 0; kind < POLICY_KINDS; kind++)
        part->specs[kind] = kind < POLICY_PROBE && given[options[kind]] ? given[options[kind]] : "";
    if (given[OPTION_BUNDLE] && !take_bundle(m, given[OPTION_BUNDLE], part, &why))
        return job_blame(m, AXIS_SCHEDULER, value, given[OPTION_BUNDLE], &why);
    part->made = true;
    return true;
}
