/* A comparison, and the rules that it follows, as JSON. docs/compare.md has the fields. */
#include "compare/causes.h"

#include "results/metrics.h"
#include "results/put.h"

#include <math.h>
#include <string.h>

static json_t *real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *run_json(const struct compare_run *r)
{
    json_t *o = json_object();
    put(o, "from", json_string(r->from));
    put(o, "label", json_string(r->label));
    put(o, "program", json_string(r->program));
    put(o, "arguments", json_string(r->arguments));
    put(o, "machine", json_string(r->machine));
    put(o, "scheduler", json_string(r->scheduler));
    put(o, "l1", json_string(r->l1));
    put(o, "divergence", json_string(r->divergence));
    put(o, "cycles", real(compare_value(r, "cycles")));
    return o;
}

/* Two numbers and what lies between them. */
static json_t *row(const char *name, double a, double b)
{
    json_t *o = json_object();
    put(o, "name", json_string(name));
    put(o, "a", real(a));
    put(o, "b", real(b));
    put(o, "difference", real(b - a));
    return o;
}

static json_t *parts_json(const struct comparison *c)
{
    json_t *list = json_array();
    double all = compare_value(c->b, "cycles") - compare_value(c->a, "cycles");
    for (int i = 0; i < COMPARE_PARTS; i++) {
        json_t *o = row(compare_parts[i].name, c->a->spent[i], c->b->spent[i]);
        put(o, "share", real(all != 0 ? (c->b->spent[i] - c->a->spent[i]) / all : NAN));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *stalls_json(const struct comparison *c)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < result_metric_count; i++)
        if (!strncmp(result_metrics[i].name, "stalls.", 7) && compare_uses(i))
            json_array_append_new(list, row(result_metrics[i].name + 7, c->a->values[i], c->b->values[i]));
    return list;
}

static json_t *metrics_json(const struct comparison *c)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < c->metric_count; i++) {
        json_t *o = row(c->metrics[i].name, c->metrics[i].a, c->metrics[i].b);
        put(o, "change", real(c->metrics[i].change));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *kernels_json(const struct comparison *c)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        const struct compare_kernel *k = &c->kernels[i];
        json_t *o = row(k->name, k->a, k->b), *most = json_object();
        put_count(o, "launches", k->launches);
        put_count(o, "only_a", k->only_a);
        put_count(o, "only_b", k->only_b);
        put_count(most, "launch", k->most);
        put(most, "a", real(k->most_a));
        put(most, "b", real(k->most_b));
        put(o, "most", k->launches ? most : json_null());
        if (!k->launches)
            json_decref(most);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *lines_json(const struct comparison *c)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < c->line_count; i++) {
        const struct compare_instruction *a = c->lines[i].a, *b = c->lines[i].b;
        json_t *o = json_object();
        put(o, "kernel", json_string(a->kernel));
        put_count(o, "pc", (uint64_t)a->pc);
        put_count(o, "line", (uint64_t)a->line);
        put(o, "source", json_string(a->source));
        put(o, "text", json_string(a->text));
        put(o, "stalled_a", real(a->stalled));
        put(o, "stalled_b", real(b->stalled));
        put(o, "reason", json_string(compare_line_reason(&c->lines[i])));
        put(o, "misses_a", real(a->misses));
        put(o, "misses_b", real(b->misses));
        json_array_append_new(list, o);
    }
    return list;
}

json_t *comparison_json(const struct comparison *c)
{
    json_t *o = json_object(), *sentences = json_array(), *notes = json_array();
    for (uint32_t i = 0; i < c->sentence_count; i++) {
        json_t *one = json_object();
        put(one, "cause", json_string(c->sentences[i].cause));
        put(one, "text", json_string(c->sentences[i].text));
        put(one, "cycles", real(c->sentences[i].cycles));
        json_array_append_new(sentences, one);
    }
    for (uint32_t i = 0; i < c->note_count; i++)
        json_array_append_new(notes, json_string(c->notes[i]));
    put(o, "a", run_json(c->a));
    put(o, "b", run_json(c->b));
    put(o, "same", json_boolean(c->same));
    put(o, "sentences", sentences);
    put(o, "notes", notes);
    put(o, "parts", parts_json(c));
    put(o, "stalls", stalls_json(c));
    put(o, "metrics", metrics_json(c));
    put(o, "kernels", kernels_json(c));
    put(o, "instructions", c->has_lines ? lines_json(c) : json_null());
    return o;
}

json_t *compare_rules_json(void)
{
    json_t *o = json_object(), *parts = json_array(), *causes = json_array(), *texts = json_object();
    static const char *const kinds[] = {"slots", "wait", "rest"};
    for (int i = 0; i < COMPARE_PARTS; i++) {
        json_t *one = json_object();
        put(one, "name", json_string(compare_parts[i].name));
        put(one, "kind", json_string(kinds[compare_parts[i].kind]));
        put(one, "metric", json_string(compare_parts[i].metric));
        put(one, "less", json_string(compare_parts[i].less));
        put(one, "title", json_string(compare_parts[i].title));
        json_array_append_new(parts, one);
    }
    for (uint32_t i = 0; i < compare_cause_count; i++) {
        const struct compare_cause *c = &compare_causes[i];
        json_t *one = json_object();
        put(one, "group", json_string(c->group));
        put(one, "name", json_string(c->name));
        put(one, "carries", json_string(c->carries));
        put(one, "least", json_real(c->least));
        put(one, "when", json_string(c->when));
        put(one, "sentence", json_string(c->sentence));
        json_array_append_new(causes, one);
    }
    for (uint32_t i = 0; i < compare_text_count; i++)
        put(texts, compare_texts[i].name, json_string(compare_texts[i].sentence));
    put(o, "parts", parts);
    put(o, "causes", causes);
    put(o, "texts", texts);
    put(o, "most_causes", json_integer(COMPARE_MOST_CAUSES));
    put(o, "least_events", json_real(compare_least_events));
    put(o, "least_difference", json_real(compare_least_difference));
    return o;
}
