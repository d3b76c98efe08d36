/* Resolves a machine and the policies that run on it: see setup.h. Errors are found here, before anything runs. */
#include "gpu/setup.h"

#include <stdio.h>
#include <string.h>

static bool choose(struct policy_choice *choice, enum policy_kind kind, const char *asked, const char *of_machine,
                   const char *machine, struct error *e)
{
    bool given = asked && *asked;
    if (policy_choose(choice, kind, given ? asked : of_machine, e))
        return true;
    if (!given)
        error_note(e, "this is what machine %s names; another can be given on the command line", machine);
    return false;
}

/* A probe's results carry its name, so that each name may be given once. */
static bool is_new_probe(const struct gpu_options *o, const struct policy_choice *probe, struct error *e)
{
    for (uint32_t i = 0; i < o->policies.probe_count; i++)
        if (!strcmp(o->policies.probes[i].policy->name, probe->policy->name))
            return error_set(e, ERROR_INVALID, "probe '%s' is given twice (%s, %s); a run has at most one of a name",
                             probe->policy->name, o->policies.probes[i].spec, probe->spec);
    return true;
}

static bool fits_mode(const struct policy_choice *probe, bool functional, struct error *e)
{
    if (policy_probe_is_functional(probe->probe) == functional)
        return true;
    if (!functional)
        return error_set(e, ERROR_INVALID,
                         "probe '%s' counts in blocks that run in lockstep, without time; it needs "
                         "--functional",
                         probe->policy->name);
    char known[200] = "";
    for (size_t i = 0; policy_probes[i]; i++)
        if (policy_probe_is_functional(policy_probes[i]))
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "",
                     policy_probes[i]->policy.name);
    return error_set(e, ERROR_INVALID,
                     "probe '%s' listens to cores, which --functional does not model; probes that "
                     "work there: %s",
                     probe->policy->name, known);
}

static bool choose_probes(struct gpu_options *o, const struct gpu_setup *s, struct error *e)
{
    if (s->probe_count > GPU_PROBES)
        return error_set(e, ERROR_INVALID, "%u probes are given; the most is %d", s->probe_count, GPU_PROBES);
    for (uint32_t i = 0; i < s->probe_count; i++) {
        struct policy_choice *probe = &o->policies.probes[i];
        if (!policy_choose(probe, POLICY_PROBE, s->probes[i], e))
            return false;
        if (!fits_mode(probe, s->functional, e) || !is_new_probe(o, probe, e)) {
            policy_release(probe);
            return false;
        }
        o->policies.probe_count++;
    }
    return true;
}

static bool choose_all(struct gpu_options *options, const struct gpu_setup *s, struct error *e)
{
    const struct machine *m = &options->machine;
    struct gpu_policy_choices *p = &options->policies;
    return choose(&p->scheduler, POLICY_SCHEDULER, s->scheduler, m->scheduler, m->name, e) &&
           choose(&p->l1, POLICY_L1, s->l1, m->l1, m->name, e) &&
           choose(&p->l2, POLICY_L1, NULL, m->mem.l2.policy, m->name, e) &&
           choose(&p->divergence, POLICY_DIVERGENCE, s->divergence, m->divergence, m->name, e) &&
           choose_probes(options, s, e);
}

bool gpu_setup(struct gpu_options *options, const struct gpu_setup *s, struct error *e)
{
    options->policies = (struct gpu_policy_choices){0};
    if (!machine_load(&options->machine, s->machine, s->sets, s->set_count, e))
        return false;
    if (choose_all(options, s, e))
        return true;
    gpu_setup_release(options);
    return false;
}

void gpu_setup_release(struct gpu_options *options)
{
    struct gpu_policy_choices *p = &options->policies;
    policy_release(&p->scheduler);
    policy_release(&p->l1);
    policy_release(&p->l2);
    policy_release(&p->divergence);
    for (uint32_t i = 0; i < p->probe_count; i++)
        policy_release(&p->probes[i]);
    p->probe_count = 0;
}
