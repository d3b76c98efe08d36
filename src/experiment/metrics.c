/* Which metrics an expression may name: the counters of the table (heddle/metrics.def), "lanes.0" to "lanes.32", the
 * counters that the built-in policies declare, and, where an experiment uses a policy out of a shared object, any
 * POLICY.COUNTER with a first word that is nothing else's. Over time there are fewer: what --interval samples. */
#include "experiment/metrics.h"
#include "gpu/profile.h"
#include "policy/registry.h"
#include "replay/replay.h"
#include "results/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 33 };

struct names {
    const char **names;
    uint32_t count, room;
};

static void add_name(struct arena *a, struct names *n, const char *name)
{
    n->names = lab_grow(a, n->names, n->count, &n->room, sizeof *n->names);
    n->names[n->count++] = name;
}

/* A histogram has a metric for each of its buckets. */
static void add_counter(struct arena *a, struct names *n, const struct heddle_policy *p, const struct heddle_counter *c)
{
    if (c->kind != HEDDLE_HISTOGRAM)
        add_name(a, n, arena_printf(a, "%s.%s", p->name, c->name));
    for (uint32_t i = 0; c->kind == HEDDLE_HISTOGRAM && i < c->buckets; i++)
        add_name(a, n, arena_printf(a, "%s.%s.%u", p->name, c->name, i));
}

static void add_of_policies(struct arena *a, struct names *n)
{
    for (int kind = 0; kind < POLICY_KINDS; kind++) {
        const struct heddle_policy *p;
        for (size_t i = 0; (p = policy_builtin((enum policy_kind)kind, i)); i++)
            for (const struct heddle_counter *c = p->counters; c && c->name; c++)
                add_counter(a, n, p, c);
    }
}

/* What --pcs counts, and the columns that policies have for each instruction. */
static void add_of_instructions(struct arena *a, struct names *n)
{
    const struct heddle_policy *p;
    for (uint32_t i = 0; i < result_metric_count; i++)
        if (result_pc_name(&result_metrics[i]))
            add_name(a, n, result_pc_name(&result_metrics[i]));
    for (int kind = 0; kind < POLICY_KINDS; kind++)
        for (size_t i = 0; (p = policy_builtin((enum policy_kind)kind, i)); i++)
            for (const struct heddle_counter *c = p->instructions; c && c->name; c++)
                add_name(a, n, arena_printf(a, "%s.%s", p->name, c->name));
}

static void add_of_histograms(struct arena *a, struct names *n)
{
    const struct heddle_policy *p;
    add_name(a, n, "lanes");
    for (int kind = 0; kind < POLICY_KINDS; kind++)
        for (size_t i = 0; (p = policy_builtin((enum policy_kind)kind, i)); i++)
            for (const struct heddle_counter *c = p->counters; c && c->name; c++)
                if (c->kind == HEDDLE_HISTOGRAM)
                    add_name(a, n, arena_printf(a, "%s.%s", p->name, c->name));
}

static void add_of_glossary(struct arena *a, struct names *n)
{
    for (uint32_t i = 0; i < result_metric_count; i++) {
        const char *name = result_metrics[i].name;
        bool lanes = strcmp(name, "lanes") == 0;
        for (int lane = 0; result_is_counter(&result_metrics[i]) && lane < (lanes ? LANES : 1); lane++)
            add_name(a, n, lanes ? arena_printf(a, "lanes.%d", lane) : name);
    }
}

static void add_of_samples(struct arena *a, struct names *n)
{
    const struct heddle_policy *none[3] = {NULL};
    struct profile_series *s = profile_series_create(1, 2, none);
    for (uint32_t i = 0; i < s->column_count; i++)
        add_name(a, n, arena_printf(a, "%s", profile_series_column(s, i).name));
    profile_series_free(s);
}

static bool is_shared_object(const char *spec) { return strchr(spec, '/') || strstr(spec, ".so"); }

static bool uses_shared_objects(const struct experiment *x)
{
    for (int axis = AXIS_SCHEDULER; axis <= AXIS_DIVERGENCE; axis++)
        for (uint32_t i = 0; i < x->axes[axis].value_count; i++)
            if (is_shared_object(x->axes[axis].values[i].text))
                return true;
    for (uint32_t i = 0; i < x->probe_count; i++)
        if (is_shared_object(x->probes[i].spec))
            return true;
    return false;
}

static bool is_known(const struct lab_metrics *m, const char *name)
{
    const char *dot = strchr(name, '.');
    bool foreign = m->foreign && dot && dot[1];
    for (uint32_t i = 0; i < m->count; i++) {
        if (strcmp(m->names[i], name) == 0)
            return true;
        foreign = foreign && strncmp(m->names[i], name, (size_t)(dot + 1 - name)) != 0;
    }
    return foreign;
}

/* "l1d.replay.belady.misses" is counted where the experiment asks for it. NULL, or the policy that it has to name. */
static const char *missing_replay(const struct lab_metrics *m, const char *name)
{
    static const char prefix[] = "l1d.replay.";
    const char *policy = name + sizeof prefix - 1;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return NULL;
    for (uint32_t i = 0; i < REPLAY_POLICIES; i++)
        if (strcspn(policy, ".") == strlen(replay_metric_names[i]) &&
            !strncmp(policy, replay_metric_names[i], strlen(replay_metric_names[i])))
            return m->experiment->replay >> i & 1 ? NULL : replay_policy_names[i];
    return NULL;
}

static bool has_counter(const struct heddle_counter *list, const char *name, size_t length)
{
    for (; list && list->name; list++)
        if (strlen(list->name) == length && memcmp(list->name, name, length) == 0)
            return true;
    return false;
}

/* "trips.this_trip" is counted where the probe runs. NULL, or the probe that no run has. */
static const char *missing_probe(const struct lab_metrics *m, const char *name)
{
    const char *dot = strchr(name, '.');
    const struct heddle_policy *p;
    for (size_t i = 0; dot && (p = policy_builtin(POLICY_PROBE, i)); i++) {
        size_t length = strlen(p->name), column = strcspn(dot + 1, ".");
        if (length != (size_t)(dot - name) || memcmp(p->name, name, length) != 0)
            continue;
        if (!has_counter(p->counters, dot + 1, column) && !has_counter(p->instructions, dot + 1, column))
            return NULL; /* something else of the same first word */
        for (uint32_t k = 0; k < m->experiment->probe_count; k++)
            if (policy_name_length(m->experiment->probes[k].spec) == length &&
                memcmp(m->experiment->probes[k].spec, name, length) == 0)
                return NULL;
        return p->name;
    }
    return NULL;
}

/* What nothing counts because the experiment does not ask for it. */
static bool check_counted(const struct lab_reader *r, const struct lab_metrics *m, const char *name, const char *at)
{
    const char *policy = missing_replay(m, name), *probe = missing_probe(m, name);
    if (policy)
        return lab_wrong(r, at, "nothing is replayed under %s: expected replay = %s in [experiment]", policy, policy);
    if (probe)
        return lab_wrong(r, at, "no run has the probe %s: expected probes = %s in [experiment], or a line in [probes]",
                         probe, probe);
    for (uint32_t i = 0; i < result_metric_count && !m->experiment->pcs; i++)
        if (result_pc_name(&result_metrics[i]) && !strcmp(name, result_pc_name(&result_metrics[i])))
            return lab_wrong(r, at, "instructions are not counted: expected pcs = yes in [experiment]");
    return true;
}

/* Where the name stands in the text as a word of its own. */
static size_t find_name(const char *text, const char *name)
{
    static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    for (const char *at = text; (at = strstr(at, name)); at++)
        if ((at == text || !strchr(more, at[-1])) && (!at[strlen(name)] || !strchr(more, at[strlen(name)])))
            return (size_t)(at - text);
    return 0;
}

struct lab_metrics lab_metrics_known(struct arena *a, const struct experiment *x)
{
    struct names n = {0};
    add_of_glossary(a, &n);
    add_of_policies(a, &n);
    return (struct lab_metrics){n.names, n.count, "metric", x, uses_shared_objects(x)};
}

struct lab_metrics lab_metrics_sampled(struct arena *a, const struct experiment *x)
{
    struct names n = {0};
    add_of_samples(a, &n);
    add_of_policies(a, &n);
    return (struct lab_metrics){n.names, n.count, "sample over time", x, uses_shared_objects(x)};
}

struct lab_metrics lab_metrics_of_rows(struct arena *a, const struct experiment *x, enum lab_over over)
{
    struct names n = {0};
    if (over == OVER_PCS)
        add_of_instructions(a, &n);
    else
        add_of_histograms(a, &n);
    add_of_glossary(a, &n);
    add_of_policies(a, &n);
    const char *what = over == OVER_PCS ? "counter of instructions" : "histogram";
    return (struct lab_metrics){n.names, n.count, what, x, uses_shared_objects(x)};
}

bool lab_expression_check(const struct lab_reader *r, const struct lab_metrics *m, struct lab_word word)
{
    int line, column;
    const char *text = lab_copy(r, word), *const * names;
    if (!word.length)
        return lab_wrong(r, word.at, "expected an expression over metrics (heddle list metrics)");
    lab_place(r, word.at, &line, &column);
    const struct expression *x = expression_parse(r->arena, text, r->source, line, column, r->error);
    uint32_t count = x ? expression_names(x, &names) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *at = word.at + find_name(text, names[i]), *near;
        if (is_known(m, names[i])) {
            if (!check_counted(r, m, names[i], at))
                return false;
            continue;
        }
        near = nearest_name(names[i], m->names, m->count);
        if (near)
            return lab_wrong(r, at, "unknown %s '%.60s'; did you mean '%s'?", m->what, names[i], near);
        return lab_wrong(r, at, "unknown %s '%.60s' (heddle list metrics)%s", m->what, names[i],
                         strchr(names[i], '-') ? "; a minus needs a blank before it" : "");
    }
    return x != NULL;
}
