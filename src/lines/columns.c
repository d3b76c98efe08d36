/* Values of lines: columns as they were counted, and what follows from them. */
#include "lines/lines.h"

#include "policy/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool code_column_is_maximum(const char *name)
{
    const char *dot = strchr(name, '.');
    const struct heddle_policy *p;
    for (int kind = 0; dot && kind < POLICY_KINDS; kind++)
        for (size_t i = 0; (p = policy_builtin((enum policy_kind)kind, i)); i++)
            for (const struct heddle_counter *col = p->instructions; col && col->name; col++)
                if (!strcmp(col->name, dot + 1) && strlen(p->name) == (size_t)(dot - name) &&
                    !memcmp(p->name, name, strlen(p->name)))
                    return col->kind == HEDDLE_MAXIMUM;
    return false;
}

static double counted(const struct code_lines *l, const struct code_line *line, const char *name)
{
    uintptr_t column = (uintptr_t)strmap_get(&l->by_name, name, strlen(name));
    return column && column <= line->value_room ? (double)line->values[column - 1] : 0;
}

static double sum(const struct code_lines *l, const struct code_line *line, const char *a, const char *b)
{
    return counted(l, line, a) + counted(l, line, b);
}

static double ratio(double part, double whole) { return whole > 0 ? part / whole : NAN; }

double code_line_value(const struct code_lines *l, const struct code_line *line, const char *name)
{
    if (!strcmp(name, "lanes"))
        return ratio(counted(l, line, "thread_executions"), counted(l, line, "executions"));
    if (!strcmp(name, "requests"))
        return sum(l, line, "load_requests", "store_requests");
    if (!strcmp(name, "accesses"))
        return sum(l, line, "load_accesses", "store_accesses");
    if (!strcmp(name, "per_request"))
        return ratio(sum(l, line, "load_accesses", "store_accesses"), sum(l, line, "load_requests", "store_requests"));
    return counted(l, line, name);
}

bool code_lines_have(const struct code_lines *l, const char *name)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (code_line_value(l, &l->list[i], name) > 0)
            return true;
    return false;
}

/* What a line is sorted by. */
struct keyed {
    double key;
    uint32_t number; /* as they were */
    struct code_line line;
};

static int compare(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (isnan(x->key) || isnan(y->key))
        return isnan(x->key) != isnan(y->key) ? (isnan(x->key) ? 1 : -1) : x->number < y->number ? -1 : 1;
    return x->key != y->key ? (x->key < y->key ? 1 : -1) : x->number < y->number ? -1 : 1;
}

void code_lines_sort(struct code_lines *l, const char *name)
{
    struct keyed *list = arena_array(&l->arena, struct keyed, l->count + 1);
    for (uint32_t i = 0; i < l->count; i++)
        list[i] = (struct keyed){code_line_value(l, &l->list[i], name), i, l->list[i]};
    qsort(list, l->count, sizeof *list, compare);
    strmap_free(&l->by_place); /* numbers of lines have changed: nothing more is added */
    for (uint32_t i = 0; i < l->count; i++)
        l->list[i] = list[i].line;
}
