/* [paper]: whose figures and tables an experiment repeats, and how many there are. [shown elsewhere]: those that a file
 * of the repository shows. [left out]: those that nothing shows, and why. `heddle repro all` makes its table of them.
 */
#include "experiment/paper_section.h"

#include "experiment/figure_section.h"

#include <ctype.h>
#include <string.h>

enum { MOST_FIGURES = 1000 };
static const char *const keys[] = {"name", "title", "figures", "tables"};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

static bool check_keys(const struct lab_reader *r, const struct lab_section *s)
{
    for (uint32_t i = 0; i < s->line_count; i++) {
        int key = 0;
        while (key < KEY_COUNT && !lab_word_is(s->lines[i].name, keys[key]))
            key++;
        if (key == KEY_COUNT)
            return lab_unknown(r, s->lines[i].name, "key of [paper]", keys, KEY_COUNT);
    }
    return true;
}

static bool read_count(const struct lab_reader *r, const struct lab_section *s, const char *key, uint32_t *count)
{
    const struct lab_line *line = lab_find_line(s, key);
    double number = 0;
    *count = 0;
    if (!line)
        return true;
    if (!lab_number(line->value, &number) || number < 0 || number > MOST_FIGURES || number != (uint32_t)number)
        return lab_wrong(r, line->value.at, "expected how many %s the paper has, a whole number", key);
    *count = (uint32_t)number;
    return true;
}

static bool read_head(const struct lab_reader *r, const struct lab_section *s, struct lab_paper *paper)
{
    if (!check_keys(r, s))
        return false;
    paper->name = lab_text_of(r, s, "name", "");
    paper->title = lab_text_of(r, s, "title", "");
    if (!*paper->name || strcspn(paper->name, ", \t") != strlen(paper->name))
        return lab_wrong(r, s->title.at, "expected name = one word, with which the sources of its figures begin");
    if (!lab_find_line(s, "figures"))
        return lab_wrong(r, s->title.at, "expected figures = how many figures the paper has");
    return read_count(r, s, "figures", &paper->figures) && read_count(r, s, "tables", &paper->tables);
}

static bool check_range(const struct lab_reader *r, const char *at, const struct lab_paper *paper,
                        const struct lab_cited *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t last = c->items[i].table ? paper->tables : paper->figures;
        if (c->items[i].number > last)
            return lab_wrong(r, at, "%s %u is named, and [paper] says that %s has %u",
                             c->items[i].table ? "Table" : "Figure", c->items[i].number, paper->name, last);
    }
    return true;
}

/* The sources of this paper's figures and tables name what it has. */
static bool check_sources(const struct lab_reader *r, const struct experiment *x)
{
    uint32_t figure = 0, table = 0;
    for (uint32_t i = 0; i < r->section_count; i++) {
        const struct lab_section *s = &r->sections[i];
        if (s->kind != SECTION_FIGURE && s->kind != SECTION_TABLE)
            continue;
        const struct lab_cited *c = s->kind == SECTION_FIGURE ? &x->figures[figure++].cited : &x->tables[table++].cited;
        const struct lab_line *source = lab_find_line(s, "source");
        if (strcmp(c->paper, x->paper->name) == 0 && !check_range(r, source->value.at, x->paper, c))
            return false;
    }
    return true;
}

/* "Figure 6", "Tables 1 and 2", "Figure 4 (b)" in front of '='. */
static bool read_item_line(const struct lab_reader *r, const struct lab_line *line, const struct lab_paper *paper,
                           struct lab_paper_note *note)
{
    const char *name = lab_copy(r, line->name), *part = strchr(name, '(');
    lab_read_items(r->arena, name, &note->cited);
    if (!note->cited.count || (strncmp(name, "Figure", 6) != 0 && strncmp(name, "Table", 5) != 0))
        return lab_wrong(r, line->name.at, "expected Figure NUMBER, Table NUMBER, or several: Figures 3 and 4");
    if (!line->value.length)
        return lab_wrong(r, lab_end(line->value), "expected a text after '='");
    note->part = part ? part : "";
    note->line = line->number;
    return check_range(r, line->name.at, paper, &note->cited);
}

/* "tests/policy/ccws_test.c: what it shows". */
static bool read_file(const struct lab_reader *r, const struct lab_line *line, struct lab_paper_note *note)
{
    const char *colon = memchr(line->value.at, ':', line->value.length);
    struct lab_word file = {line->value.at, colon ? (size_t)(colon - line->value.at) : 0};
    bool blank = false;
    for (size_t i = 0; i < file.length; i++)
        blank |= isspace((unsigned char)file.at[i]) != 0;
    if (!file.length || blank)
        return lab_wrong(r, line->value.at, "expected FILE: what it shows, with FILE as seen from the repository");
    note->file = lab_copy(r, file);
    note->text = lab_copy(r, lab_trim(colon + 1, lab_end(line->value)));
    return *note->text || lab_wrong(r, lab_end(line->value), "expected what the file shows after ':'");
}

static bool read_notes(const struct lab_reader *r, int kind, const struct lab_paper *paper,
                       struct lab_paper_note **notes, uint32_t *count)
{
    const struct lab_section *s = lab_find_section(r, kind);
    *notes = arena_array(r->arena, struct lab_paper_note, s ? s->line_count : 0);
    *count = 0;
    for (uint32_t i = 0; s && i < s->line_count; i++) {
        struct lab_paper_note *note = &(*notes)[(*count)++];
        if (!read_item_line(r, &s->lines[i], paper, note))
            return false;
        if (kind == SECTION_ELSEWHERE && !read_file(r, &s->lines[i], note))
            return false;
        if (kind == SECTION_LEFT_OUT)
            note->text = lab_copy(r, s->lines[i].value);
    }
    return true;
}

/* Where this file itself shows the figure or table; NULL: nowhere. */
static const char *shown_by(const struct lab_reader *r, const struct experiment *x, struct lab_cited_item item)
{
    const struct lab_paper *p = x->paper;
    for (uint32_t i = 0; i < x->figure_count; i++)
        if (strcmp(x->figures[i].cited.paper, p->name) == 0 && lab_cites(&x->figures[i].cited, item.table, item.number))
            return arena_printf(r->arena, "[figure %s]", x->figures[i].name);
    for (uint32_t i = 0; i < x->table_count; i++)
        if (strcmp(x->tables[i].cited.paper, p->name) == 0 && lab_cites(&x->tables[i].cited, item.table, item.number))
            return arena_printf(r->arena, "[table %s]", x->tables[i].name);
    for (uint32_t i = 0; i < p->elsewhere_count; i++)
        if (lab_cites(&p->elsewhere[i].cited, item.table, item.number))
            return p->elsewhere[i].file;
    return NULL;
}

/* What is left out as a whole is not shown, too; a part of it may be left out: "Figure 4 (b)". */
static bool check_left_out(const struct lab_reader *r, const struct experiment *x)
{
    const struct lab_section *s = lab_find_section(r, SECTION_LEFT_OUT);
    for (uint32_t i = 0; i < x->paper->left_out_count; i++) {
        const struct lab_paper_note *note = &x->paper->left_out[i];
        for (uint32_t k = 0; k < note->cited.count && !*note->part; k++) {
            const char *shown = shown_by(r, x, note->cited.items[k]);
            if (shown)
                return lab_wrong(r, s->lines[i].name.at,
                                 "%s %u is left out, and %s shows it; a part is left out as %s %u (a)",
                                 note->cited.items[k].table ? "Table" : "Figure", note->cited.items[k].number, shown,
                                 note->cited.items[k].table ? "Table" : "Figure", note->cited.items[k].number);
        }
    }
    return true;
}

bool lab_read_paper(const struct lab_reader *r, struct experiment *x)
{
    const struct lab_section *s = lab_find_section(r, SECTION_PAPER);
    for (int kind = SECTION_ELSEWHERE; !s && kind <= SECTION_LEFT_OUT; kind++) {
        const struct lab_section *other = lab_find_section(r, kind);
        if (other)
            return lab_wrong(r, other->title.at, "expected a section [paper], which says whose figures these are");
    }
    if (!s)
        return true;
    struct lab_paper *paper = x->paper = arena_new(r->arena, struct lab_paper);
    return read_head(r, s, paper) && check_sources(r, x) &&
           read_notes(r, SECTION_ELSEWHERE, paper, &paper->elsewhere, &paper->elsewhere_count) &&
           read_notes(r, SECTION_LEFT_OUT, paper, &paper->left_out, &paper->left_out_count) && check_left_out(r, x);
}
