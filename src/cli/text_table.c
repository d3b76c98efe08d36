/* Tables for people: two spaces between columns, no lines, nothing after the last cell of a row. */
#include "cli/text_table.h"

#include <stdarg.h>
#include <string.h>

enum { MOST_COLUMNS = 40 };

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

static void find_widths(const struct text_table *t, int widths[MOST_COLUMNS])
{
    for (unsigned c = 0; c < t->column_count; c++)
        widths[c] = (int)strlen(title(t, c));
    for (size_t i = 0; i < t->cell_count; i++) {
        int length = (int)strlen(t->cells[i]);
        if (length > widths[i % t->column_count])
            widths[i % t->column_count] = length;
    }
}

int text_table_width(const struct text_table *t)
{
    int widths[MOST_COLUMNS], sum = 0;
    find_widths(t, widths);
    for (unsigned c = 0; c + 1 < t->column_count; c++)
        sum += widths[c] + 2;
    return sum;
}

/* A character of UTF-8 is not cut apart. */
void text_table_cut(struct text_table *t, int width)
{
    int room = width - text_table_width(t);
    for (size_t i = t->column_count - 1; i < t->cell_count; i += t->column_count) {
        char *cell = t->cells[i];
        if ((int)strlen(cell) <= room || room < 4)
            continue;
        size_t end = (size_t)room - 3;
        while (end && (cell[end] & 0xc0) == 0x80)
            end--;
        memcpy(cell + end, "...", 4);
    }
}

void text_table_print(const struct text_table *t, const char *indent, FILE *to)
{
    int widths[MOST_COLUMNS];
    find_widths(t, widths);
    print_row(t, widths, indent, NULL, to);
    for (size_t i = 0; i + t->column_count <= t->cell_count; i += t->column_count)
        print_row(t, widths, indent, t->cells + i, to);
}
