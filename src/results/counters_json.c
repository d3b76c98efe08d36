/* A metric's name says where it stands: "l1d.hits" is "hits" of the object "l1d". After the metrics of the table come
 * the policies, each with what it counts under its own name. */
#include "results/counters_json.h"

#include "results/metrics.h"
#include "results/put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The object that the last word of a name belongs in, made where it is not there; *name: that word. */
static json_t *object_for(json_t *o, const char **name)
{
    const char *dot;
    while ((dot = strchr(*name, '.'))) {
        char key[100];
        snprintf(key, sizeof key, "%.*s", (int)(dot - *name), *name);
        json_t *inside = json_object_get(o, key);
        if (!inside)
            put(o, key, inside = json_object());
        o = inside;
        *name = dot + 1;
    }
    return o;
}

static json_t *value_json(const struct result_value *v)
{
    switch (v->kind) {
    case RESULT_COUNT: return count_json(v->count);
    case RESULT_REAL: return json_real(v->real);
    case RESULT_LIST: return list_json(v->list, v->count);
    case RESULT_NULL: break;
    }
    return json_null();
}

/* What a policy declares stands under its name; two of one name share the object. */
static void put_policy(json_t *o, const struct heddle_policy *p, uint64_t *values, json_t **made, uint32_t *made_count)
{
    uint32_t counters = policy_counter_count(p);
    if (!counters)
        return;
    json_t *inside = json_object_get(o, p->name);
    bool ours = false;
    for (uint32_t i = 0; i < *made_count; i++)
        ours |= made[i] == inside;
    if (!inside || !ours) {
        char name[200]; /* not over a counter of the machine's that has the same name */
        snprintf(name, sizeof name, inside ? "policy %.150s" : "%.150s", p->name);
        inside = json_object();
        put(o, name, inside);
        made[(*made_count)++] = inside;
    }
    for (uint32_t i = 0; i < counters; i++)
        put(inside, p->counters[i].name,
            p->counters[i].kind == HEDDLE_HISTOGRAM ? list_json(policy_histogram(p, values, i), p->counters[i].buckets)
                                                    : count_json(values[i]));
}

static void put_policies(json_t *o, const struct gpu_counters *c, const struct gpu_options *options)
{
    const struct heddle_policy *policies[GPU_POLICIES + 1];
    json_t *made[GPU_POLICIES];
    uint32_t made_count = 0, policy_count = gpu_policies(options, policies);
    struct policy_counts *none =
        c->policies ? NULL : policy_counts_create(policies, policy_count); /* nothing was launched */
    for (uint32_t i = 0; i < policy_count; i++)
        if (policies[i])
            put_policy(o, policies[i], policy_counts_of(none ? none : c->policies, i), made, &made_count);
    free(none);
}

void put_counters(json_t *to, const struct gpu_counters *c, const struct gpu_options *o)
{
    struct result_value *values = calloc(result_metric_count, sizeof *values);
    if (values)
        result_values(c, !o->functional, values);
    for (uint32_t i = 0; values && i < result_metric_count; i++)
        if (result_metrics[i].when == RESULT_ALWAYS || result_metrics[i].when == RESULT_TIMED) {
            const char *name = result_metrics[i].name;
            json_t *inside = object_for(to, &name);
            put(inside, name, value_json(&values[i]));
        }
    free(values);
    put_policies(to, c, o);
}
