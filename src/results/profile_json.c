/* Counters of each instruction and samples over time, as JSON (docs/profile.md). Counts that cannot be other than zero
 * are left out: those of memory for instructions that asked for none, "divergent" for instructions that are no
 * branches, and in functional mode what only time can tell. Of the reasons for waiting, those that it never had. */
#include "gpu/profile.h"
#include "results/put.h"
#include "results/results.h"

static void put_text(json_t *object, const char *key, const char *s)
{
    json_t *t = s ? json_string(s) : NULL;
    if (t) /* what is not UTF-8, in a comment say, is left out */
        put(object, key, t);
}

static json_t *instruction(const struct profile_line *line, uint32_t pc)
{
    json_t *o = json_object();
    put_count(o, "pc", pc);
    put_text(o, "function", line->function);
    put_count(o, "line", line->line);
    put_text(o, "source", line->source);
    put_text(o, "text", line->text);
    return o;
}

static void put_executed(json_t *o, const struct profile_line *line, const struct profile_pc *n, bool timed)
{
    bool memory = n->load_requests | n->store_requests;
#define PC_COUNT(field, name, unit, present, help, nsight) \
    if (present)                                           \
        put_count(o, #field, n->field);
#include "heddle/metrics.def"
    if (!timed)
        return;
    json_t *cycles = json_object();
#define PC_CYCLES(id, name, help, nsight) \
    if (n->cycles[STALL_##id])            \
        put_count(cycles, stall_names[STALL_##id], n->cycles[STALL_##id]);
#include "heddle/metrics.def"
    put(o, "cycles", cycles);
}

/* Under the policy's name, unless that is the name of something else. */
static void put_columns(json_t *o, const struct heddle_policy *p, const uint64_t *row)
{
    json_t *inside = json_object();
    char name[200];
    snprintf(name, sizeof name, json_object_get(o, p->name) ? "policy %.150s" : "%.150s", p->name);
    for (uint32_t i = 0; i < policy_column_count(p); i++)
        put_count(inside, p->instructions[i].name, row[i]);
    put(o, name, inside);
}

static void put_tables(json_t *o, const struct policy_tables *t, uint32_t pc)
{
    const uint64_t *table = t->values;
    for (uint32_t i = 0; i < t->policy_count; i++) {
        uint32_t columns = t->policies[i] ? policy_column_count(t->policies[i]) : 0;
        if (columns)
            put_columns(o, t->policies[i], table + (size_t)pc * columns);
        table += (size_t)t->instruction_count * columns;
    }
}

static bool counts_anything(const struct policy_tables *t, uint32_t pc)
{
    const uint64_t *table = t->values;
    for (uint32_t i = 0; i < t->policy_count; i++) {
        uint32_t columns = t->policies[i] ? policy_column_count(t->policies[i]) : 0;
        for (uint32_t k = 0; k < columns; k++)
            if (table[(size_t)pc * columns + k])
                return true;
        table += (size_t)t->instruction_count * columns;
    }
    return false;
}

json_t *results_pcs(const struct gpu_kernel *k)
{
    const struct profile_executed *next = k->pcs ? k->pcs->list : NULL, *end = k->pcs ? next + k->pcs->count : NULL;
    const struct profile_listing *listing = k->pcs ? k->pcs->listing : k->tables ? k->tables->listing : NULL;
    if (!listing)
        return NULL;
    json_t *list = json_array();
    for (uint32_t pc = 0; pc < listing->count; pc++) {
        bool executed = next < end && next->pc == pc;
        if (!executed && !(k->tables && counts_anything(k->tables, pc)))
            continue;
        json_t *o = instruction(&listing->lines[pc], pc);
        if (executed)
            put_executed(o, &listing->lines[pc], &next++->counts, k->counters.timed);
        if (k->tables)
            put_tables(o, k->tables, pc);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *column(const struct profile_series *s, uint32_t column, bool is_rate)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t value = s->values[(size_t)i * s->column_count + column],
                 cycles = s->cycles[i] - (i ? s->cycles[i - 1] : 0);
        json_array_append_new(list,
                              is_rate ? json_real((double)value / (double)cycles) : json_integer((json_int_t)value));
    }
    return list;
}

json_t *results_series(const struct gpu_kernel *k)
{
    const struct profile_series *s = k->series;
    if (!s)
        return NULL;
    json_t *o = json_object(), *cycles = json_array(), *values = json_object();
    for (uint32_t i = 0; i < s->count; i++)
        json_array_append_new(cycles, json_integer((json_int_t)s->cycles[i]));
    for (uint32_t i = 0; i < s->column_count; i++) {
        struct profile_column c = profile_series_column(s, i);
        put(values, c.name, column(s, i, c.is_rate));
    }
    put_count(o, "interval", s->interval);
    put(o, "cycles", cycles);
    put(o, "values", values);
    return o;
}
