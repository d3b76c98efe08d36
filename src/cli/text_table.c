/* Tables for people: two spaces between columns, no lines, nothing after the last cell of a row. */
#include "cli/text_table.h"

#include <stdarg.h>
#include <string.h>

enum { MOST_COLUMNS = 24 };

struct text_table text_table_start(struct arena *a, const char *const *titles)
{
    struct text_table t = {.arena = a, .titles = titles};
    while (titles[t.column_count])
        t.column_count++;
    return t;
}

void text_table_cell(struct text_table *t, const char *format, ...)
{
    if (t->cell_count == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 64;
        char **grown = arena_array(t->arena, char *, t->capacity);
        if (t->cell_count)
            memcpy(grown, t->cells, sizeof *grown * t->cell_count);
        t->cells = grown;
    }
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(t->arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    t->cells[t->cell_count++] = text;
}

static int is_right_aligned(const struct text_table *t, unsigned column) { return t->titles[column][0] == '>'; }

static const char *title(const struct text_table *t, unsigned column)
{
    return t->titles[column] + is_right_aligned(t, column);
}

static void print_row(const struct text_table *t, const int *widths, const char *indent, char *const *cells, FILE *to)
{
    int owed = 0; /* spaces that are written only when something follows */
    fputs(indent, to);
    for (unsigned c = 0; c < t->column_count; c++) {
        const char *text = cells ? cells[c] : title(t, c);
        int length = (int)strlen(text), pad = widths[c] - length;
        if (is_right_aligned(t, c)) {
            owed += pad;
            pad = 0;
        }
        if (length) {
            fprintf(to, "%*s%s", owed, "", text);
            owed = 0;
        }
        owed += pad + 2;
    }
    fputc('\n', to);
}

void text_table_print(const struct text_table *t, const char *indent, FILE *to)
{
    int widths[MOST_COLUMNS] = {0};
    for (unsigned c = 0; c < t->column_count; c++)
        widths[c] = (int)strlen(title(t, c));
    for (size_t i = 0; i < t->cell_count; i++) {
        int length = (int)strlen(t->cells[i]);
        if (length > widths[i % t->column_count])
            widths[i % t->column_count] = length;
    }
    print_row(t, widths, indent, NULL, to);
    for (size_t i = 0; i + t->column_count <= t->cell_count; i += t->column_count)
        print_row(t, widths, indent, t->cells + i, to);
}
