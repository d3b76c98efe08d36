/* One run out of its results. Counters may be nested, as --stats writes them, or flat, as a store has them: "l1d":
 * {"misses": 3} and "l1d.misses": 3 are the same. */
#include "compare/compare.h"

#include "results/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool compare_uses(uint32_t metric)
{
    const struct result_metric *m = &result_metrics[metric];
    return (m->when == RESULT_ALWAYS || m->when == RESULT_TIMED) && strcmp(m->name, "lanes");
}

int64_t compare_metric(const char *name)
{
    for (uint32_t i = 0; i < result_metric_count; i++)
        if (compare_uses(i) && !strcmp(result_metrics[i].name, name))
            return i;
    return -1;
}

double compare_value(const struct compare_run *r, const char *metric)
{
    int64_t i = compare_metric(metric);
    return i < 0 ? NAN : r->values[i];
}

static const json_t *counter(const json_t *counters, const char *name)
{
    const json_t *flat = json_object_get(counters, name);
    const char *dot = strchr(name, '.');
    char first[64];
    if (flat || !dot || (size_t)(dot - name) >= sizeof first)
        return flat;
    memcpy(first, name, (size_t)(dot - name));
    first[dot - name] = '\0';
    return counter(json_object_get(counters, first), dot + 1);
}

static double number(const json_t *value) { return json_is_number(value) ? json_number_value(value) : NAN; }

static const char *text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static const char *words(struct arena *a, const json_t *list)
{
    const char *all = "";
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        all = arena_printf(a, "%s%s%s", all, i ? " " : "", word ? word : "");
    }
    return all;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ------------------------------------------------------------- instructions */

static int by_instruction(const void *a, const void *b)
{
    const struct compare_instruction *x = a, *y = b;
    int order = strcmp(x->kernel, y->kernel);
    if (!order)
        order = (x->pc > y->pc) - (x->pc < y->pc);
    return order ? order : strcmp(x->text, y->text);
}

/* Launches of a kernel are added up. */
static uint32_t merge(struct compare_instruction *list, uint32_t count)
{
    uint32_t kept = 0;
    if (count)
        qsort(list, count, sizeof *list, by_instruction);
    for (uint32_t i = 0; i < count; i++) {
        if (!kept || by_instruction(&list[kept - 1], &list[i])) {
            list[kept++] = list[i];
            continue;
        }
        list[kept - 1].stalled += list[i].stalled;
        list[kept - 1].misses += list[i].misses;
        for (int reason = 0; reason < COMPARE_MOST_REASONS; reason++)
            list[kept - 1].waits[reason] += list[i].waits[reason];
    }
    return kept;
}

const char *compare_reason(uint32_t number)
{
    for (uint32_t i = 0; i < result_metric_count; i++)
        if (!strncmp(result_metrics[i].name, "stalls.", 7) && compare_uses(i) && !number--)
            return result_metrics[i].name + 7;
    return NULL;
}

/* "stalls.memory" of a run is "cycles.memory" of an instruction. */
static void read_waits(const json_t *pc, double waits[COMPARE_MOST_REASONS])
{
    const char *reason;
    for (uint32_t i = 0; i < COMPARE_MOST_REASONS && (reason = compare_reason(i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "cycles.%s", reason);
        double cycles = number(counter(pc, name));
        waits[i] = isnan(cycles) || !strcmp(reason, "issued") ? 0 : cycles;
    }
}

static void read_instructions(struct arena *a, const json_t *kernels, struct compare_run *out)
{
    size_t i, p, all = 0;
    json_t *kernel, *pc;
    json_array_foreach(kernels, i, kernel) all += json_array_size(json_object_get(kernel, "pcs"));
    out->instructions = arena_array(a, struct compare_instruction, all + 1);
    json_array_foreach(kernels, i, kernel)
    {
        json_array_foreach(json_object_get(kernel, "pcs"), p, pc)
        {
            double stalled = number(json_object_get(pc, "stalled")), misses = number(json_object_get(pc, "l1d_misses"));
            if (isnan(stalled))
                continue; /* without --pcs: only what a probe counted */
            out->instructions[out->instruction_count++] =
                (struct compare_instruction){.kernel = text(kernel, "name"),
                                             .text = text(pc, "text"),
                                             .source = text(pc, "source"),
                                             .pc = json_integer_value(json_object_get(pc, "pc")),
                                             .line = json_integer_value(json_object_get(pc, "line")),
                                             .stalled = stalled,
                                             .misses = isnan(misses) ? 0 : misses};
            read_waits(pc, out->instructions[out->instruction_count - 1].waits);
        }
    }
    out->has_instructions = out->instruction_count > 0;
    out->instruction_count = merge(out->instructions, out->instruction_count);
}

/* ------------------------------------------------------------- the run */

static void read_launches(struct arena *a, const json_t *kernels, struct compare_run *out)
{
    size_t i;
    json_t *kernel;
    out->launches = arena_array(a, struct compare_launch, json_array_size(kernels) + 1);
    json_array_foreach(kernels, i, kernel)
    {
        out->launches[out->launch_count++] =
            (struct compare_launch){text(kernel, "name"), number(counter(kernel, "cycles"))};
        out->partial |= json_is_true(json_object_get(kernel, "partial"));
    }
}

static bool check(const json_t *results, const char *from, struct error *e)
{
    const json_t *total = json_object_get(results, "total");
    if (!json_is_object(total) || !json_is_array(json_object_get(results, "kernels"))) {
        error_set(e, ERROR_NOT_FOUND, "%s is not the results of a run", from);
        error_note(e, "'heddle run --stats FILE PROGRAM' writes them");
        return false;
    }
    if (!json_array_size(json_object_get(results, "kernels")))
        return error_set(e, ERROR_NOT_FOUND, "%s: no kernel was launched, so that there is nothing to compare", from);
    if (json_is_true(json_object_get(results, "functional")) || !json_is_number(counter(total, "cycles"))) {
        error_set(e, ERROR_NOT_FOUND, "%s is a functional run, which has no cycles to compare", from);
        error_note(e, "run it without --functional");
        return false;
    }
    return true;
}

bool compare_read(struct arena *a, const json_t *results, const char *from, struct compare_run *out, struct error *e)
{
    const json_t *total = json_object_get(results, "total"), *kernels = json_object_get(results, "kernels");
    const json_t *machine = json_object_get(results, "machine"), *epoch = json_object_get(results, "timing_epoch");
    if (!check(results, from, e))
        return false;
    *out = (struct compare_run){.from = from,
                                .program = base_name(text(results, "program")),
                                .arguments = words(a, json_object_get(results, "arguments")),
                                .machine = base_name(text(machine, "name")),
                                .sets = words(a, json_object_get(results, "sets")),
                                .scheduler = text(results, "scheduler"),
                                .l1 = text(results, "l1"),
                                .divergence = text(results, "divergence"),
                                .machine_keys = json_object_get(results, "sets") ? NULL : machine,
                                .epoch = json_is_integer(epoch) ? json_integer_value(epoch) : -1};
    out->failed = json_is_false(json_object_get(json_object_get(results, "checks"), "passed"));
    out->values = arena_array(a, double, result_metric_count);
    for (uint32_t i = 0; i < result_metric_count; i++)
        out->values[i] = compare_uses(i) ? number(counter(total, result_metrics[i].name)) : NAN;
    read_launches(a, kernels, out);
    read_instructions(a, kernels, out);
    compare_spend(out);
    return true;
}
