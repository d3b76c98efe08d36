/* [table NAME]: numbers of a paper as they stand there. They are text: nothing is computed of them, and no run is
 * compared with them; values that ours are to be compared with belong to a figure (claims.c). */
#include "experiment/figure_section.h"
#include "experiment/paper_section.h"

#include <string.h>

enum { MOST_COLUMNS = 64 };
static const char *const keys[] = {"title", "caption", "source", "columns", "row.LABEL", "claim"};
enum { KEY_COUNT = sizeof keys / sizeof *keys };
static const char row_prefix[] = "row.";

static bool is_row(const struct lab_line *line)
{
    return line->name.length >= sizeof row_prefix - 1 && memcmp(line->name.at, row_prefix, sizeof row_prefix - 1) == 0;
}

static bool check_keys(const struct lab_reader *r, const struct lab_section *s)
{
    for (uint32_t i = 0; i < s->line_count; i++) {
        int key = 0;
        while (key < KEY_COUNT && !lab_word_is(s->lines[i].name, keys[key]))
            key++;
        if (key == KEY_COUNT && !is_row(&s->lines[i]))
            return lab_unknown(r, s->lines[i].name, "key of a table", keys, KEY_COUNT);
    }
    return true;
}

/* A text between commas; quotes around it are taken off. */
static bool read_text(const struct lab_reader *r, struct lab_word piece, const char **text)
{
    if (!lab_unquote(r, &piece))
        return false;
    *text = lab_copy(r, piece);
    return true;
}

static bool read_columns(const struct lab_reader *r, const struct lab_section *s, struct lab_table *t)
{
    const struct lab_line *line = lab_find_line(s, "columns");
    struct lab_word rest, piece;
    if (!line)
        return lab_wrong(r, s->title.at, "expected columns = LABEL, LABEL, ...");
    t->columns = arena_array(r->arena, const char *, MOST_COLUMNS);
    for (rest = line->value; lab_next_piece(&rest, ',', &piece); t->column_count++) {
        if (t->column_count == MOST_COLUMNS)
            return lab_wrong(r, piece.at, "more than %d columns", MOST_COLUMNS);
        if (!read_text(r, piece, &t->columns[t->column_count]))
            return false;
        if (!*t->columns[t->column_count])
            return lab_wrong(r, piece.at, "expected the label of a column");
        for (uint32_t i = 0; i < t->column_count; i++)
            if (strcmp(t->columns[i], t->columns[t->column_count]) == 0)
                return lab_wrong(r, piece.at, "the column '%s' is given twice", t->columns[i]);
    }
    return true;
}

static bool read_values(const struct lab_reader *r, const struct lab_line *line, const struct lab_table *t,
                        const char **values)
{
    struct lab_word rest = line->value, piece = rest;
    uint32_t count = 0;
    while (lab_next_piece(&rest, ',', &piece)) {
        if (count == t->column_count)
            return lab_wrong(r, piece.at, "more values than the %u columns; a value with a comma needs quotes",
                             t->column_count);
        if (!read_text(r, piece, &values[count++]))
            return false;
    }
    return count == t->column_count ||
           lab_wrong(r, lab_end(line->value), "expected %u values, one for each column; here are %u", t->column_count,
                     count);
}

static bool read_row(const struct lab_reader *r, const struct lab_line *line, struct lab_table *t)
{
    struct lab_word label = lab_trim(line->name.at + sizeof row_prefix - 1, lab_end(line->name)), plain = label;
    struct lab_table_row *row = &t->rows[t->row_count];
    if (!lab_unquote(r, &plain))
        return false;
    if (!plain.length)
        return lab_wrong(r, label.at, "expected the label of a row: row.LABEL = VALUE, ...");
    for (uint32_t i = 0; i < t->row_count; i++)
        if (lab_word_is(plain, t->rows[i].label))
            return lab_wrong(r, label.at, "the row '%s' is given twice", t->rows[i].label);
    row->label = lab_copy(r, plain);
    row->values = arena_array(r->arena, const char *, t->column_count);
    t->row_count++;
    return read_values(r, line, t, row->values);
}

static bool read_table(const struct lab_reader *r, const struct lab_section *s, struct lab_table *t)
{
    if (!check_keys(r, s))
        return false;
    t->name = lab_copy(r, s->title);
    t->title = lab_text_of(r, s, "title", t->name);
    t->caption = lab_text_of(r, s, "caption", "");
    t->source = lab_text_of(r, s, "source", "");
    t->claim = lab_text_of(r, s, "claim", NULL);
    lab_read_cited(r->arena, t->source, &t->cited);
    if (!*t->source)
        return lab_wrong(r, s->title.at, "expected source = where these numbers were published");
    if (!read_columns(r, s, t))
        return false;
    t->rows = arena_array(r->arena, struct lab_table_row, s->line_count);
    for (uint32_t i = 0; i < s->line_count; i++)
        if (is_row(&s->lines[i]) && !read_row(r, &s->lines[i], t))
            return false;
    return t->row_count || lab_wrong(r, s->title.at, "a table without rows: expected row.LABEL = VALUE, ...");
}

bool lab_read_tables(const struct lab_reader *r, struct experiment *x)
{
    x->tables = arena_array(r->arena, struct lab_table, r->section_count);
    for (uint32_t i = 0; i < r->section_count; i++)
        if (r->sections[i].kind == SECTION_TABLE && !read_table(r, &r->sections[i], &x->tables[x->table_count++]))
            return false;
    return true;
}
