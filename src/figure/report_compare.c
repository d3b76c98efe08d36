/* What the page needs to compare two runs that somebody picks: the rules of src/compare/ as data, and the counters of
 * every run that a figure shows. A counter that is 0 in all of them is only named. */
#include "figure/report_parts.h"

#include "base/strmap.h"
#include "compare/compare.h"
#include "results/metrics.h"

#include <math.h>
#include <string.h>

struct columns {
    const char **names;
    uint32_t *metrics; /* rows of result_metrics */
    uint32_t count;
};

static struct columns all_columns(struct arena *a)
{
    struct columns c = {.names = arena_array(a, const char *, result_metric_count),
                        .metrics = arena_array(a, uint32_t, result_metric_count)};
    for (uint32_t i = 0; i < result_metric_count; i++)
        if (compare_uses(i)) {
            c.metrics[c.count] = i;
            c.names[c.count++] = result_metrics[i].name;
        }
    return c;
}

/* The runs of all cells, each once. */
static char (*shown_keys(struct arena *a, const struct report_experiment *list, uint32_t count,
                         uint32_t *key_count))[KEY_BYTES]
{
    uint32_t most = 0;
    struct strmap seen = {0};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t f = 0; f < list[i].figure_count; f++)
            most += list[i].figures[f].cell_count;
    char(*keys)[KEY_BYTES] = arena_alloc(a, (size_t)(most + 1) * KEY_BYTES);
    *key_count = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t f = 0; f < list[i].figure_count; f++)
            for (uint32_t n = 0; n < list[i].figures[f].cell_count; n++) {
                const char *key = list[i].figures[f].cells[n].key;
                if (!key || !*key || strmap_get(&seen, key, strlen(key)))
                    continue;
                strncpy(keys[*key_count], key, KEY_BYTES - 1);
                strmap_put(&seen, keys[*key_count], strlen(key), keys[*key_count]);
                (*key_count)++;
            }
    strmap_free(&seen);
    return keys;
}

static json_t *column_json(uint32_t metric)
{
    json_t *column = json_object();
    const char *kind = !compare_lists(metric)                          ? "other"
                       : !strcmp(result_metrics[metric].total, "mean") ? "share"
                                                                       : "count";
    json_object_set_new(column, "name", json_string(result_metrics[metric].name));
    json_object_set_new(column, "unit", json_string(result_metrics[metric].unit));
    json_object_set_new(column, "kind", json_string(kind));
    return column;
}

static json_t *counters_json(struct arena *a, const struct columns *c, const char (*keys)[KEY_BYTES],
                             uint32_t key_count, const double *values)
{
    json_t *columns = json_array(), *zero = json_array(), *runs = json_object(), *counters = json_object();
    bool *used = arena_array(a, bool, c->count + 1);
    for (size_t i = 0; i < (size_t)key_count * c->count; i++)
        used[i % c->count] |= values[i] != 0; /* NAN, too */
    for (uint32_t i = 0; i < c->count; i++)
        if (used[i])
            json_array_append_new(columns, column_json(c->metrics[i]));
        else
            json_array_append_new(zero, json_string(c->names[i]));
    for (uint32_t k = 0; k < key_count; k++) {
        json_t *row = json_array();
        for (uint32_t i = 0; i < c->count; i++)
            if (used[i])
                json_array_append_new(row, number_json(values[(size_t)k * c->count + i]));
        json_object_set_new(runs, keys[k], row);
    }
    json_object_set_new(counters, "columns", columns);
    json_object_set_new(counters, "zero", zero);
    json_object_set_new(counters, "runs", runs);
    return counters;
}

json_t *report_compare(struct arena *a, struct store *s, const struct report_experiment *list, uint32_t count,
                       struct error *e)
{
    uint32_t key_count;
    struct columns c = all_columns(a);
    char(*keys)[KEY_BYTES] = shown_keys(a, list, count, &key_count);
    double *values = arena_array(a, double, (size_t)key_count *c.count + 1);
    if (!store_metrics(s, (const char(*)[KEY_BYTES])keys, key_count, c.names, c.count, values, e))
        return NULL;
    json_t *compare = compare_rules_json();
    json_object_set_new(compare, "counters", counters_json(a, &c, (const char(*)[KEY_BYTES])keys, key_count, values));
    return compare;
}
