/* Resolves a machine and the policies that run on it. What is wrong is found here, before anything runs. */
#include "gpu/setup.h"

static bool choose(struct policy_choice *choice, enum policy_kind kind, const char *asked, const char *of_machine, const char *machine, struct error *e)
{
    bool given = asked && *asked;
    if (policy_choose(choice, kind, given ? asked : of_machine, e))
        return true;
    if (!given)
        error_note(e, "this is what machine %s names; another can be given on the command line", machine);
    return false;
}

bool gpu_setup(struct gpu_options *options, const struct gpu_setup *s, struct error *e)
{
    struct machine *m = &options->machine;
    if (!machine_load(m, s->machine, s->sets, s->set_count, e))
        return false;
    if (!choose(&options->scheduler, POLICY_SCHEDULER, s->scheduler, m->scheduler, m->name, e))
        return false;
    if (choose(&options->l1, POLICY_L1, s->l1, m->l1, m->name, e)) {
        if (choose(&options->divergence, POLICY_DIVERGENCE, s->divergence, m->divergence, m->name, e))
            return true;
        policy_release(&options->l1);
    }
    policy_release(&options->scheduler);
    return false;
}

void gpu_setup_release(struct gpu_options *options)
{
    policy_release(&options->scheduler);
    policy_release(&options->l1);
    policy_release(&options->divergence);
}
