/* From instructions to lines: those of one place are added up. */
#include "lines/lines.h"

#include "program/source_file.h"

#include <stdlib.h>
#include <string.h>

enum { WARP = 32, MOST_COUNTERS = 512 };

static void *grow(struct arena *a, void *old, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return old;
    *room = *room ? 2 * *room : 64;
    void *grown = arena_alloc(a, *room * size);
    if (count)
        memcpy(grown, old, count * size);
    return grown;
}

/* Numbers in maps are one more: NULL is absent. */
static uint32_t column_number(struct code_lines *l, const char *name)
{
    uintptr_t known = (uintptr_t)strmap_get(&l->by_name, name, strlen(name));
    if (known)
        return (uint32_t)known - 1;
    l->columns = grow(&l->arena, l->columns, l->column_count, &l->column_room, sizeof *l->columns);
    struct code_column *c = &l->columns[l->column_count++];
    *c = (struct code_column){arena_strndup(&l->arena, name, strlen(name)), code_column_is_maximum(name)};
    strmap_put(&l->by_name, c->name, strlen(c->name), (void *)(uintptr_t)l->column_count);
    return l->column_count - 1;
}

static void add(struct code_lines *l, struct code_line *line, const char *name, uint64_t value)
{
    uint32_t column = column_number(l, name);
    while (column >= line->value_room)
        line->values = grow(&l->arena, line->values, line->value_room, &line->value_room, sizeof *line->values);
    uint64_t *to = &line->values[column];
    *to = !l->columns[column].maximum ? *to + value : value > *to ? value : *to;
}

/* "file.cu:12": the file, and *number. NULL: it is not of that form. */
static const char *split_source(struct arena *a, const char *source, uint32_t *number)
{
    const char *colon = source ? strrchr(source, ':') : NULL;
    if (!colon || colon == source)
        return NULL;
    *number = (uint32_t)strtoul(colon + 1, NULL, 10);
    return arena_strndup(a, source, (size_t)(colon - source));
}

static struct code_line *line_of(struct code_lines *l, const struct code_instruction *i)
{
    bool in_function = i->function && *i->function, has_source = i->source && *i->source;
    const char *where = in_function ? i->function : i->kernel;
    const char *place = has_source ? arena_printf(&l->arena, "%s", i->source)
                                   : arena_printf(&l->arena, "%s %s %u", i->kernel, where, i->line);
    uint32_t number = (uint32_t)(uintptr_t)strmap_get(&l->by_place, place, strlen(place));
    if (number)
        return &l->list[number - 1];
    l->list = grow(&l->arena, l->list, l->count, &l->room, sizeof *l->list);
    struct code_line *line = &l->list[l->count++];
    *line = (struct code_line){.kernel = arena_strndup(&l->arena, where, strlen(where)),
                               .text = arena_strndup(&l->arena, i->text, strlen(i->text)),
                               .number = i->line};
    line->file = has_source ? split_source(&l->arena, i->source, &line->number) : NULL;
    strmap_put(&l->by_place, place, strlen(place), (void *)(uintptr_t)l->count);
    return line;
}

static uint64_t counter(const struct code_instruction *i, const char *name)
{
    for (uint32_t k = 0; k < i->counter_count; k++)
        if (!strcmp(i->counters[k].name, name))
            return i->counters[k].value;
    return 0;
}

void code_lines_add(struct code_lines *l, const struct code_instruction *i)
{
    struct code_line *line = line_of(l, i);
    uint64_t misses = counter(i, "l1d_misses");
    for (uint32_t k = 0; k < i->counter_count; k++)
        add(l, line, i->counters[k].name, i->counters[k].value);
    if (misses)
        add(l, line, counter(i, "store_requests") ? "store_misses" : "load_misses", misses);
    /* Within a launch lanes could be put together, not over several. */
    add(l, line, "full_issues", (counter(i, "thread_executions") + WARP - 1) / WARP);
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

/* Its counters into list, in objects of objects those with a dot in their name. Returns how many. */
static uint32_t read_counters(struct arena *a, const json_t *o, const char *prefix, struct code_counter *list,
                              uint32_t count)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)o, key, value)
    {
        bool is_place = !*prefix && (!strcmp(key, "pc") || !strcmp(key, "line"));
        const char *name = *prefix ? arena_printf(a, "%s.%s", prefix, key) : key;
        if (json_is_object(value) && !*prefix)
            count = read_counters(a, value, key, list, count);
        else if (json_is_integer(value) && !is_place && count < MOST_COUNTERS)
            list[count++] = (struct code_counter){name, (uint64_t)json_integer_value(value)};
    }
    return count;
}

static void add_of_kernel(struct code_lines *l, const json_t *kernel)
{
    struct code_counter counters[MOST_COUNTERS];
    struct arena names = {0};
    size_t i;
    json_t *pc;
    json_array_foreach(json_object_get(kernel, "pcs"), i, pc)
    {
        struct code_instruction in = {.kernel = text_of(kernel, "name"),
                                      .function = text_of(pc, "function"),
                                      .source = text_of(pc, "source"),
                                      .text = text_of(pc, "text"),
                                      .line = (uint32_t)json_integer_value(json_object_get(pc, "line")),
                                      .counters = counters};
        in.counter_count = read_counters(&names, pc, "", counters, 0);
        code_lines_add(l, &in);
    }
    arena_free(&names);
}

void code_lines_of_results(struct code_lines *l, const json_t *results)
{
    size_t k;
    json_t *kernel;
    json_array_foreach(json_object_get(results, "kernels"), k, kernel) add_of_kernel(l, kernel);
}

void code_lines_find_texts(struct code_lines *l, struct source_files *files)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const char *text = l->list[i].file ? source_files_line(files, l->list[i].file, l->list[i].number) : NULL;
        if (text) {
            l->list[i].text = arena_strndup(&l->arena, text, strlen(text));
            l->list[i].is_source = true;
        }
    }
}

void code_lines_free(struct code_lines *l)
{
    strmap_free(&l->by_name);
    strmap_free(&l->by_place);
    arena_free(&l->arena);
    *l = (struct code_lines){.count = 0};
}
