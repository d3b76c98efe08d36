/* Columns of text, as wide as their widest cell. */
#ifndef HEDDLE_CLI_TEXT_TABLE_H
#define HEDDLE_CLI_TEXT_TABLE_H

#include "base/arena.h"

#include <stdio.h>

struct text_table {
    struct arena *arena;
    const char *const
        *titles; /* one per column, then NULL; a title that starts with '>' makes a right-aligned column */
    unsigned column_count;
    char **cells; /* row after row */
    size_t cell_count, capacity;
};

struct text_table text_table_start(struct arena *a, const char *const *titles);
/* The next cell, left to right and row by row. */
void text_table_cell(struct text_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Columns of a terminal that all but the last column take. */
int text_table_width(const struct text_table *t);
/* Shortens the cells of the last column so that no row is wider. */
void text_table_cut(struct text_table *t, int width);
void text_table_print(const struct text_table *t, const char *indent, FILE *to);

#endif
