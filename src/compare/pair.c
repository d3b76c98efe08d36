/* Two runs put beside each other: which is faster, whether they are the same at all, which counters changed. */
#include "compare/causes.h"

#include "results/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double compare_least_events = 0.001;

static bool equal(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

static bool starts_with(const char *name, const char *start) { return !strncmp(name, start, strlen(start)); }

bool compare_lists(uint32_t metric)
{
    const char *name = result_metrics[metric].name;
    return compare_uses(metric) && strcmp(name, "cycles") && strcmp(name, "ipc") && !starts_with(name, "issue.") &&
           !starts_with(name, "stalls.") && !starts_with(name, "pipeline.") && !starts_with(name, "energy.") &&
           !strstr(name, "_delivered");
}

static int by_change(const void *a, const void *b)
{
    const struct compare_metric *x = a, *y = b;
    return x->change != y->change ? (x->change < y->change) - (x->change > y->change) : strcmp(x->name, y->name);
}

static void list_metrics(struct arena *arena, struct comparison *c)
{
    double work = fmax(compare_value(c->a, "warp_instructions"), compare_value(c->b, "warp_instructions"));
    c->metrics = arena_array(arena, struct compare_metric, result_metric_count);
    for (uint32_t i = 0; i < result_metric_count; i++) {
        const struct result_metric *m = &result_metrics[i];
        double a = c->a->values[i], b = c->b->values[i], larger = fmax(fabs(a), fabs(b));
        bool share = !strcmp(m->total, "mean");
        if (!compare_lists(i) || isnan(a) || isnan(b) || a == b || (!share && larger < compare_least_events * work))
            continue;
        c->metrics[c->metric_count++] = (struct compare_metric){m->name, m->unit, a, b, fabs(b - a) / larger};
    }
    if (c->metric_count)
        qsort(c->metrics, c->metric_count, sizeof *c->metrics, by_change);
}

static void note(struct comparison *c, const char *text)
{
    if (c->note_count < sizeof c->notes / sizeof *c->notes)
        c->notes[c->note_count++] = text;
}

static void add_notes(struct arena *a, struct comparison *c)
{
    const struct compare_run *x = c->a, *y = c->b;
    if (strcmp(x->program, y->program))
        note(c, compare_text(a, c, "programs"));
    else if (strcmp(x->arguments, y->arguments))
        note(c, compare_text(a, c, "arguments"));
    if (strcmp(x->machine, y->machine))
        note(c, compare_text(a, c, "machines"));
    if (x->epoch >= 0 && y->epoch >= 0 && x->epoch != y->epoch)
        note(c, compare_text(a, c, "epochs"));
    for (int i = 0; i < 2; i++) {
        const struct compare_run *r = i ? y : x;
        if (r->partial)
            note(c, arena_printf(a, "%s did not come to its end: its counters are those up to then.", r->label));
        else if (r->failed)
            note(c, arena_printf(a, "%s ended with an error.", r->label));
    }
}

void compare_runs(struct arena *a, struct compare_run *first, struct compare_run *second, struct comparison *out)
{
    double cycles = compare_value(first, "cycles"), other = compare_value(second, "cycles");
    *out = (struct comparison){.a = first, .b = second, .same = true, .difference = fabs(cycles - other)};
    out->fast = other < cycles ? second : first;
    out->slow = other < cycles ? first : second;
    for (uint32_t i = 0; i < result_metric_count; i++)
        out->same &= equal(first->values[i], second->values[i]);
    compare_name(a, out);
    add_notes(a, out);
    list_metrics(a, out);
    compare_launches(a, out);
    compare_explain(a, out);
}
