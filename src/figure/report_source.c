/* The source view's content: the lines of every run whose instructions were counted, the hottest of each, with the text
 * of the source as it is found now. Places and columns are named once. */
#include "figure/report_parts.h"

#include "base/strmap.h"
#include "lines/lines.h"
#include "program/program.h"
#include "program/source_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 300, MOST_LINES = 300, MOST_COUNTERS = 512 };

struct sources {
    struct arena *arena;
    struct strmap columns, places; /* name, place: number + 1 */
    json_t *column_list, *place_list, *runs;
    struct places heddle;
    bool knows_heddle;
};

static uint32_t number_of(struct sources *s, struct strmap *map, json_t *list, const char *name, json_t *entry)
{
    uintptr_t known = (uintptr_t)strmap_get(map, name, strlen(name));
    if (known) {
        json_decref(entry);
        return (uint32_t)known - 1;
    }
    json_array_append_new(list, entry);
    name = arena_printf(s->arena, "%s", name);
    strmap_put(map, name, strlen(name), (void *)(uintptr_t)json_array_size(list));
    return (uint32_t)json_array_size(list) - 1;
}

static void add_pc(void *context, const struct store_pc *pc)
{
    struct code_counter counters[MOST_COUNTERS];
    struct code_instruction in = {.kernel = pc->kernel,
                                  .function = pc->function,
                                  .source = pc->source,
                                  .text = pc->text,
                                  .line = (uint32_t)pc->line,
                                  .counters = counters};
    for (; in.counter_count < pc->count && in.counter_count < MOST_COUNTERS; in.counter_count++)
        counters[in.counter_count] =
            (struct code_counter){pc->names[in.counter_count], (uint64_t)pc->values[in.counter_count]};
    code_lines_add(context, &in);
}

static uint32_t place_number(struct sources *s, const char *program, const struct code_line *line)
{
    const char *file = line->file ? line->file : "ptx",
               *name =
                   arena_printf(s->arena, "%s %s %s:%u", program, line->file ? "" : line->kernel, file, line->number);
    json_t *place = json_pack("{s:o, s:i, s:o, s:b}", "file", text_json(file), "line", (int)line->number, "text",
                              text_json(line->text), "source", line->is_source);
    return number_of(s, &s->places, s->place_list, name, place);
}

/* [place, value of each column]; zeros at the end are left out. */
static json_t *line_json(struct sources *s, const char *program, const struct code_lines *l,
                         const struct code_line *line, const uint32_t *columns)
{
    json_t *row = json_array();
    json_array_append_new(row, json_integer(place_number(s, program, line)));
    for (uint32_t i = 0; i < l->column_count && i < line->value_room; i++) {
        while (line->values[i] && json_array_size(row) <= columns[i] + 1)
            json_array_append_new(row, json_integer(0));
        if (line->values[i])
            json_array_set_new(row, columns[i] + 1, json_integer((json_int_t)line->values[i]));
    }
    return row;
}

static json_t *lines_json(struct sources *s, const char *program, struct code_lines *l)
{
    struct program found = {.is_workload = false};
    struct error ignored = {0};
    struct source_files files = {.program = NULL};
    json_t *rows = json_array();
    if (s->knows_heddle && program_find(&found, program, &s->heddle, &ignored))
        files.program = found.path;
    code_lines_sort(l, "stalled");
    code_lines_find_texts(l, &files);
    uint32_t *columns = arena_array(s->arena, uint32_t, l->column_count + 1);
    for (uint32_t i = 0; i < l->column_count; i++)
        columns[i] = number_of(s, &s->columns, s->column_list, l->columns[i].name, text_json(l->columns[i].name));
    for (uint32_t i = 0; i < l->count && i < MOST_LINES; i++)
        json_array_append_new(rows, line_json(s, program, l, &l->list[i], columns));
    source_files_free(&files);
    return rows;
}

static bool add_run(struct sources *s, struct store *store, const char *key, const char *program, struct error *e)
{
    struct code_lines l = {.count = 0};
    bool ok = store_each_pc(store, key, add_pc, &l, e);
    if (ok)
        json_object_set_new(s->runs, key, lines_json(s, program, &l));
    code_lines_free(&l);
    return ok;
}

json_t *report_source(struct arena *a, struct store *store, const json_t *runs, struct error *e)
{
    struct sources s = {.arena = a, .column_list = json_array(), .place_list = json_array(), .runs = json_object()};
    struct error ignored = {0};
    struct strmap counted = {0};
    const char **keys;
    uint32_t count;
    size_t i;
    json_t *row;
    bool ok = store_keys_with_pcs(store, a, &keys, &count, e);
    s.knows_heddle = places_find(&s.heddle, &ignored);
    for (uint32_t k = 0; ok && k < count; k++)
        strmap_put(&counted, keys[k], strlen(keys[k]), &counted);
    json_array_foreach(json_object_get(runs, "rows"), i, row)
    {
        const char *key = json_string_value(json_array_get(row, 0)),
                   *program = json_string_value(json_array_get(row, 1));
        if (ok && key && program && strmap_get(&counted, key, strlen(key)) && json_object_size(s.runs) < MOST_RUNS)
            ok = add_run(&s, store, key, program, e);
    }
    strmap_free(&counted);
    strmap_free(&s.columns);
    strmap_free(&s.places);
    return json_pack("{s:o, s:o, s:o}", "columns", s.column_list, "places", s.place_list, "runs", s.runs);
}
