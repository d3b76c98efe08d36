/* Names of metrics: how the nested objects of --stats become flat names, the number that stands for each in the tables,
 * and its unit (the table of metrics; the policies' own counters). */
#include "policy/registry.h"
#include "results/metrics.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

static bool is_name(const char *candidate, const char *name, size_t length)
{
    return strlen(candidate) == length && !memcmp(candidate, name, length);
}

static const char *glossary_unit(const char *name, size_t length)
{
    for (uint32_t i = 0; i < result_metric_count; i++)
        if (is_name(result_metrics[i].name, name, length))
            return result_metrics[i].unit;
    return NULL;
}

static const char *counter_unit(const struct heddle_counter *list, const char *name, size_t length)
{
    for (; list && list->name; list++)
        if (is_name(list->name, name, length))
            return list->unit;
    return NULL;
}

/* POLICY.COUNTER; those of shared objects are not known here. */
static const char *policy_unit(const char *name, size_t length)
{
    const char *dot = memrchr(name, '.', length);
    if (!dot)
        return NULL;
    for (int kind = 0; kind < POLICY_KINDS; kind++) {
        const struct heddle_policy *p;
        for (size_t i = 0; (p = policy_builtin((enum policy_kind)kind, i)); i++) {
            if (!is_name(p->name, name, (size_t)(dot - name)))
                continue;
            const char *unit = counter_unit(p->counters, dot + 1, length - (size_t)(dot + 1 - name));
            if (!unit)
                unit = counter_unit(p->instructions, dot + 1, length - (size_t)(dot + 1 - name));
            if (unit)
                return unit;
        }
    }
    return NULL;
}

/* Of an element of an array, "lanes.7": what its array is counted in, without the number of elements ("33 counts"). */
static const char *element_unit(const char *name, size_t length)
{
    const char *dot = memrchr(name, '.', length);
    if (!dot || strspn(dot + 1, "0123456789") < length - (size_t)(dot + 1 - name))
        return NULL;
    const char *unit = glossary_unit(name, (size_t)(dot - name));
    if (!unit)
        unit = policy_unit(name, (size_t)(dot - name)); /* a histogram */
    return unit ? unit + strspn(unit, "0123456789 ") : NULL;
}

static const char *unit_of(const char *name, size_t length)
{
    const char *unit = glossary_unit(name, length);
    if (!unit)
        unit = policy_unit(name, length);
    if (!unit)
        unit = element_unit(name, length);
    return unit ? unit : "";
}

static void remember(struct store *s, const char *name, size_t length, sqlite3_int64 id)
{
    strmap_put(&s->names, arena_strndup(&s->names_arena, name, length), length, (void *)(intptr_t)id);
}

void store_forget_names(struct store *s)
{
    strmap_free(&s->names);
    arena_free(&s->names_arena);
    s->names = (struct strmap){0};
    s->names_arena = (struct arena){0};
    s->names_known = false;
}

static bool read_names(struct store *s, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT id, name FROM metric_name", e);
    int got;
    if (!q)
        return false;
    while ((got = store_step(s, q, e)) > 0)
        remember(s, (const char *)sqlite3_column_text(q, 1), (size_t)sqlite3_column_bytes(q, 1),
                 sqlite3_column_int64(q, 0));
    sqlite3_finalize(q);
    s->names_known = got == 0;
    return got == 0;
}

bool store_metric_id(struct store *s, const char *name, size_t length, sqlite3_int64 *id, struct error *e)
{
    if (!s->names_known && !read_names(s, e))
        return false;
    *id = (intptr_t)strmap_get(&s->names, name, length);
    if (*id)
        return true;
    sqlite3_stmt *q = store_statement(s, INSERT_NAME, e);
    if (!q)
        return false;
    sqlite3_bind_text(q, 1, name, (int)length, SQLITE_STATIC);
    store_bind_text(q, 2, unit_of(name, length));
    if (!store_run_once(s, q, e))
        return false;
    *id = sqlite3_last_insert_rowid(s->db);
    remember(s, name, length, *id);
    return true;
}

struct walk {
    char name[NAME_BYTES];
    store_number_visitor *visit;
    void *context;
};

static bool walk_value(struct walk *w, size_t length, const json_t *value);

/* Goes on with one more part of the name; a name that does not fit is nothing that Heddle writes, and is left out. */
static bool walk_part(struct walk *w, size_t length, const char *part, const json_t *value)
{
    int more = snprintf(w->name + length, NAME_BYTES - length, "%s%s", length ? "." : "", part);
    return more < 0 || (size_t)more >= NAME_BYTES - length || walk_value(w, length + (size_t)more, value);
}

static bool walk_array(struct walk *w, size_t length, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        char part[24];
        snprintf(part, sizeof part, "%zu", i);
        if (!walk_part(w, length, part, json_array_get(value, i)))
            return false;
    }
    return true;
}

static bool walk_value(struct walk *w, size_t length, const json_t *value)
{
    const char *part;
    json_t *inner;
    if (json_is_array(value))
        return walk_array(w, length, value);
    if (json_is_object(value)) {
        json_object_foreach((json_t *)value, part, inner) if (!walk_part(w, length, part, inner)) return false;
        return true;
    }
    return !(json_is_number(value) || json_is_boolean(value)) || w->visit(w->context, w->name, length, value);
}

static bool is_among(const char *name, const char *const *list)
{
    for (; list && *list; list++)
        if (!strcmp(name, *list))
            return true;
    return false;
}

bool store_flatten(const json_t *object, const char *const *skip, store_number_visitor *visit, void *context)
{
    struct walk w = {.visit = visit, .context = context};
    const char *part;
    json_t *inner;
    json_object_foreach((json_t *)object, part,
                        inner) if (!is_among(part, skip) && !walk_part(&w, 0, part, inner)) return false;
    return true;
}

void store_bind_number(sqlite3_stmt *q, int at, const json_t *value)
{
    if (json_is_integer(value))
        sqlite3_bind_int64(q, at, json_integer_value(value));
    else if (json_is_real(value))
        sqlite3_bind_double(q, at, json_real_value(value));
    else if (json_is_boolean(value))
        sqlite3_bind_int(q, at, json_is_true(value));
    else
        sqlite3_bind_null(q, at);
}
