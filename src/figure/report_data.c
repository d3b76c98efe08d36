/* The content of a report as one JSON object (docs/report.md has its format). The page draws it, and others may read it
 * out of the page. Numbers that are not there are null. */
#include "figure/report_parts.h"

#include "base/strmap.h"
#include "base/version.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

const char *const figure_kind_names[] = {[FIGURE_BARS] = "bars",
                                         [FIGURE_STACKED] = "stacked",
                                         [FIGURE_LINES] = "lines",
                                         [FIGURE_SCATTER] = "scatter",
                                         [FIGURE_HEAT] = "heat"};
const char *const mean_names[] = {
    [MEAN_NONE] = NULL, [MEAN_ARITHMETIC] = "arithmetic", [MEAN_GEOMETRIC] = "geometric", [MEAN_HARMONIC] = "harmonic"};

static json_t *texts_json(const char *const *texts, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, text_json(texts[i]));
    return list;
}

/* "scheduler=lrr machine=gtx480" */
static json_t *filter_json(const struct lab_filter *f)
{
    char text[1024] = "";
    size_t n = 0;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (f->labels[axis] && n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s=%s", n ? " " : "", lab_axis_names[axis],
                                  f->labels[axis]);
    return text_json(text);
}

/* ------------------------------------------------------------- figures */

static void set_number(json_t *object, const char *name, double value)
{
    if (isfinite(value))
        json_object_set_new(object, name, number_json(value));
}

/* Cells name what they belong to: whoever reads them needs no index. A cell with neither a value nor a published one is
 * still there: the run is missing. */
static json_t *cell_json(const struct figure_data *d, const struct figure_cell *c)
{
    json_t *cell = json_object();
    if (d->figure->kind != FIGURE_SCATTER && c->x < d->x_count)
        json_object_set_new(cell, "x", text_json(d->xs[c->x]));
    if (c->series < d->series_count)
        json_object_set_new(cell, "series", text_json(d->series[c->series]));
    if (d->figure->kind == FIGURE_STACKED && c->part < d->figure->y_count)
        json_object_set_new(cell, "part", text_json(d->figure->y_labels[c->part]));
    set_number(cell, "at", c->x_number);
    json_object_set_new(cell, "value", number_json(c->value));
    set_number(cell, "published", c->published);
    if (c->key)
        json_object_set_new(cell, "run", text_json(c->key));
    if (c->detail)
        json_object_set_new(cell, "detail", text_json(c->detail));
    return cell;
}

static json_t *verdict_json(const struct figure_data *d)
{
    struct figure_verdict v;
    figure_judge(d, &v);
    json_t *expectations = json_array();
    for (uint32_t i = 0; i < d->figure->expected_count; i++) {
        int held = figure_expectation(d, d->figure->expected[i]);
        json_t *one = json_object();
        json_object_set_new(one, "text", text_json(d->figure->expected[i]));
        json_object_set_new(one, "held", held < 0 ? json_null() : json_boolean(held));
        json_array_append_new(expectations, one);
    }
    json_t *verdict = json_object();
    json_object_set_new(verdict, "compared", json_integer(v.compared));
    json_object_set_new(verdict, "median_deviation", number_json(v.compared ? v.median_deviation : NAN));
    json_object_set_new(verdict, "directions", json_integer(v.directions));
    json_object_set_new(verdict, "directions_held", json_integer(v.directions_held));
    json_object_set_new(verdict, "rankings", json_integer(v.rankings));
    json_object_set_new(verdict, "rankings_held", json_integer(v.rankings_held));
    json_object_set_new(verdict, "expectations", expectations);
    return verdict;
}

static json_t *figure_json(const struct figure_data *d)
{
    const struct lab_figure *f = d->figure;
    json_t *cells = json_array(), *figure = json_object();
    for (uint32_t i = 0; i < d->cell_count; i++)
        json_array_append_new(cells, cell_json(d, &d->cells[i]));
    json_object_set_new(figure, "name", text_json(f->name));
    json_object_set_new(figure, "title", text_json(f->title));
    json_object_set_new(figure, "caption", text_json(f->caption));
    json_object_set_new(figure, "source", text_json(f->source));
    json_object_set_new(figure, "kind", text_json(figure_kind_names[f->kind]));
    json_object_set_new(figure, "x", text_json(f->x));
    json_object_set_new(figure, "y", texts_json(f->y, f->y_count));
    json_object_set_new(figure, "x_title", text_json(f->x_title));
    json_object_set_new(figure, "y_title", text_json(f->y_title));
    json_object_set_new(figure, "series_axis", text_json(f->series));
    json_object_set_new(figure, "normalised_to", f->has_normalise ? filter_json(&f->normalise) : json_null());
    json_object_set_new(figure, "mean", text_json(mean_names[f->mean]));
    json_object_set_new(figure, "xs", f->kind == FIGURE_SCATTER ? json_array() : texts_json(d->xs, d->x_count));
    json_object_set_new(figure, "series", texts_json(d->series, d->series_count));
    json_object_set_new(figure, "parts",
                        f->kind == FIGURE_STACKED ? texts_json(f->y_labels, f->y_count) : json_array());
    json_object_set_new(figure, "missing", json_integer(d->missing));
    json_object_set_new(figure, "verdict", verdict_json(d));
    json_object_set_new(figure, "cells", cells);
    return figure;
}

/* ------------------------------------------------------------- tables */

static json_t *table_json(const struct lab_table *t)
{
    json_t *rows = json_array(), *table = json_object();
    for (uint32_t i = 0; i < t->row_count; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "label", text_json(t->rows[i].label));
        json_object_set_new(row, "values", texts_json(t->rows[i].values, t->column_count));
        json_array_append_new(rows, row);
    }
    json_object_set_new(table, "name", text_json(t->name));
    json_object_set_new(table, "title", text_json(t->title));
    json_object_set_new(table, "caption", text_json(t->caption));
    json_object_set_new(table, "source", text_json(t->source));
    json_object_set_new(table, "columns", texts_json(t->columns, t->column_count));
    json_object_set_new(table, "rows", rows);
    return table;
}

/* ------------------------------------------------------------- experiments */

static json_t *experiment_json(struct arena *a, const struct report_experiment *r, const struct strmap *runs,
                               const char *store_name, bool all)
{
    const struct experiment *x = &r->experiment;
    uint32_t missing = 0, failed = 0;
    for (uint32_t i = 0; i < x->point_count; i++) {
        const struct store_run *run = strmap_get(runs, r->keys[i], strlen(r->keys[i]));
        missing += !run;
        failed += run && run->failure;
    }
    json_t *figures = json_array(), *tables = json_array(), *experiment = json_object();
    for (uint32_t i = 0; i < r->figure_count; i++) {
        json_t *figure = figure_json(&r->figures[i]);
        if (r->robust[i].machine_count)
            json_object_set_new(figure, "robust", robust_json(a, &r->robust[i]));
        json_array_append_new(figures, figure);
    }
    for (uint32_t i = 0; all && i < x->table_count; i++)
        json_array_append_new(tables, table_json(&x->tables[i]));
    json_object_set_new(experiment, "name", text_json(x->name));
    json_object_set_new(experiment, "title", text_json(x->title));
    json_object_set_new(experiment, "about", text_json(x->about));
    json_object_set_new(experiment, "size", text_json(r->stored->size));
    json_object_set_new(experiment, "when", text_json(r->stored->when));
    json_object_set_new(experiment, "points", json_integer(x->point_count));
    json_object_set_new(experiment, "missing", json_integer(missing));
    json_object_set_new(experiment, "sampled", json_boolean(x->sample));
    json_object_set_new(experiment, "failed", json_integer(failed));
    const char *size = r->stored->size && *r->stored->size ? arena_printf(a, " --size %s", r->stored->size) : "";
    json_object_set_new(experiment, "command",
                        text_json(arena_printf(a, "heddle sweep %s.ini%s -o %s && heddle report %s", x->name, size,
                                               store_name, store_name)));
    json_object_set_new(experiment, "text", text_json(r->stored->text));
    json_object_set_new(experiment, "figures", figures);
    json_object_set_new(experiment, "tables", tables);
    return experiment;
}

/* ------------------------------------------------------------- runs and machines */

static const char *const run_columns[] = {
    "key",  "program", "arguments",         "machine",      "scheduler",  "l1",           "divergence",     "sets",
    "ipc",  "cycles",  "warp_instructions", "l1d_accesses", "l1d_misses", "wall_seconds", "launch_seconds", "kwips",
    "exit", "failure", "version",           "epoch",        "host",       "when",         "command",        "probes"};

/* With what makes its numbers estimates. */
static json_t *arguments_json(const struct store_run *r)
{
    char with[4096];
    if (!r->command || !strstr(r->command, " --sample "))
        return text_json(r->arguments);
    snprintf(with, sizeof with, "%.4000s%s--sample", r->arguments, *r->arguments ? " " : "");
    return text_json(with);
}

/* In the order of run_columns. */
static json_t *run_json(const struct store_run *r)
{
    json_t *row = json_array();
    const char *const names[] = {r->key,       r->program, r->arguments,  r->machine,
                                 r->scheduler, r->l1,      r->divergence, r->sets};
    const double numbers[] = {r->ipc,        r->cycles,       r->warp_instructions, r->l1d_accesses,
                              r->l1d_misses, r->wall_seconds, r->launch_seconds,    r->kwips,
                              r->exit};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_array_append_new(row, names[i] == r->arguments ? arguments_json(r) : text_json(names[i]));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_array_append_new(row, number_json(numbers[i]));
    json_array_append_new(row, text_json(r->failure));
    json_array_append_new(row, text_json(r->version));
    json_array_append_new(row, json_integer(r->epoch));
    json_array_append_new(row, text_json(r->host));
    json_array_append_new(row, text_json(r->when));
    json_array_append_new(row, text_json(r->command));
    json_array_append_new(row, text_json(r->probes));
    return row;
}

/* The runs of the chosen experiments; all there are where none was chosen. */
static json_t *runs_json(const struct store_run *runs, uint32_t run_count, const struct report_experiment *chosen,
                         uint32_t chosen_count, bool all)
{
    struct strmap keys = {0};
    for (uint32_t i = 0; !all && i < chosen_count; i++)
        for (uint32_t p = 0; p < chosen[i].experiment.point_count; p++)
            strmap_put(&keys, chosen[i].keys[p], strlen(chosen[i].keys[p]), chosen[i].keys[p]);
    json_t *rows = json_array(), *table = json_object();
    for (uint32_t i = 0; i < run_count; i++)
        if (all || strmap_get(&keys, runs[i].key, strlen(runs[i].key)))
            json_array_append_new(rows, run_json(&runs[i]));
    strmap_free(&keys);
    json_object_set_new(table, "columns", texts_json(run_columns, sizeof run_columns / sizeof *run_columns));
    json_object_set_new(table, "rows", rows);
    return table;
}

/* A machine is thousands of bytes, and a sweep may have thousands that differ from each other in one line: the first of
 * a name is written as a whole, the others as the lines in which they differ from it. All machines are printed key by
 * key in the same order; NULL where these two were not. */
static const char *changed_lines(struct arena *a, const char *base, const char *text)
{
    char *out = arena_alloc(a, strlen(text) + 1), *to = out;
    while (*base && *text) {
        size_t base_bytes = strcspn(base, "\n"), bytes = strcspn(text, "\n");
        if (bytes != base_bytes || memcmp(base, text, bytes)) {
            memcpy(to, text, bytes);
            to += bytes;
            *to++ = '\n';
        }
        base += base_bytes + (base[base_bytes] != '\0');
        text += bytes + (text[bytes] != '\0');
    }
    return *base || *text ? NULL : out;
}

static json_t *machines_json(struct arena *a, const struct store_machine *machines, uint32_t count)
{
    json_t *list = json_array();
    struct strmap bases = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct store_machine *base = strmap_get(&bases, machines[i].name, strlen(machines[i].name));
        const char *changes = base ? changed_lines(a, base->text, machines[i].text) : NULL;
        json_t *machine = json_object();
        if (!base)
            strmap_put(&bases, machines[i].name, strlen(machines[i].name), (void *)&machines[i]);
        json_object_set_new(machine, "name", text_json(machines[i].name));
        json_object_set_new(machine, "sets", text_json(machines[i].sets));
        json_object_set_new(machine, changes ? "changes" : "text", text_json(changes ? changes : machines[i].text));
        json_array_append_new(list, machine);
    }
    strmap_free(&bases);
    return list;
}

/* ------------------------------------------------------------- all together */

static const char *now(struct arena *a)
{
    char text[32];
    time_t seconds = time(NULL);
    struct tm tm;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &tm));
    return arena_printf(a, "%s", text);
}

static const char *page_title(struct arena *a, const struct report_options *o, const struct report_experiment *list,
                              uint32_t count, const char *store_name)
{
    if (o->title)
        return o->title;
    if (count == 1 && list[0].experiment.title)
        return list[0].experiment.title;
    return arena_printf(a, "Results in %s", store_name);
}

json_t *report_data(struct arena *a, struct store *s, const char *store_path, const struct report_options *o,
                    struct error *e)
{
    struct report_experiment *list;
    struct store_run *runs;
    struct store_machine *machines;
    uint32_t count, run_count, machine_count;
    if (!report_select(a, s, o, &list, &count, e) || !store_runs(s, a, &runs, &run_count, e) ||
        !store_machines(s, a, &machines, &machine_count, e))
        return NULL;
    json_t *compare = report_compare(a, s, list, count, e);
    if (!compare)
        return NULL;
    const char *slash = strrchr(store_path, '/'), *store_name = slash ? slash + 1 : store_path;
    struct strmap by_key = {0};
    for (uint32_t i = 0; i < run_count; i++)
        strmap_put(&by_key, runs[i].key, strlen(runs[i].key), &runs[i]);
    json_t *experiments = json_array(), *data = json_object();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(experiments, experiment_json(a, &list[i], &by_key, store_name, !o->figure));
    strmap_free(&by_key);
    json_object_set_new(data, "format", json_integer(1));
    json_object_set_new(data, "heddle", json_string(version_with_commit));
    json_object_set_new(data, "made", json_string(now(a)));
    json_object_set_new(data, "store", text_json(store_name));
    json_object_set_new(data, "title", text_json(page_title(a, o, list, count, store_name)));
    json_object_set_new(data, "experiments", experiments);
    json_t *run_table = runs_json(runs, run_count, list, count, !o->experiment);
    json_object_set_new(data, "runs", run_table);
    json_object_set_new(data, "source", report_source(a, s, run_table, e));
    json_object_set_new(data, "compare", compare);
    json_object_set_new(data, "machines", machines_json(a, machines, machine_count));
    return data;
}
