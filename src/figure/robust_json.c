/* Judgements on other machines in the page's data (docs/report.md has the format). */
#include "figure/report_parts.h"
#include "figure/robust.h"

#include <math.h>

static json_t *machine_json(const struct robust_data *d, const struct robust_variant *m)
{
    json_t *machine = json_object();
    json_object_set_new(machine, "label", text_json(m->label));
    json_object_set_new(machine, "factor", text_json(m->factor < 0 ? NULL : d->factors[m->factor]));
    json_object_set_new(machine, "value", text_json(m->value));
    json_object_set_new(machine, "levels", text_json(m->levels));
    return machine;
}

static json_t *judgement_json(struct arena *a, const struct robust_data *d, const struct robust_judgement *j)
{
    json_t *one = json_object(), *ratios = json_array(), *outcomes = json_array();
    for (uint32_t m = 0; m < d->machine_count; m++) {
        json_array_append_new(ratios, number_json(j->ratios[m]));
        json_array_append_new(outcomes, text_json(robust_outcome_names[j->outcomes[m] + 1]));
    }
    json_object_set_new(one, "kind", text_json(j->is_claim ? "claim" : "pair"));
    json_object_set_new(one, "text", text_json(j->text));
    json_object_set_new(one, "judged", json_boolean(!j->is_close));
    json_object_set_new(one, "known", json_integer(j->known));
    json_object_set_new(one, "held", json_integer(j->held));
    json_object_set_new(one, "level", json_integer(j->level));
    json_object_set_new(one, "turned", json_integer(j->turned));
    json_object_set_new(one, "turned_by", text_json(robust_turned_by(a, d, j)));
    json_object_set_new(one, "ratios", ratios);
    json_object_set_new(one, "outcomes", outcomes);
    return one;
}

json_t *robust_json(struct arena *a, const struct robust_data *d)
{
    json_t *robust = json_object(), *machines = json_array(), *judgements = json_array();
    for (uint32_t i = 0; i < d->machine_count; i++)
        json_array_append_new(machines, machine_json(d, &d->machines[i]));
    for (uint32_t i = 0; i < d->judgement_count; i++)
        json_array_append_new(judgements, judgement_json(a, d, &d->judgements[i]));
    json_object_set_new(robust, "machines", machines);
    json_object_set_new(robust, "judgements", judgements);
    return robust;
}
