/* The table of `heddle repro all`: one row for each figure and table of each paper. As Markdown it is a page that says
 * by which rule the verdicts are given, so that no reader has to trust them. */
#include "cli/repro_all.h"
#include "figure/report_parts.h"

#include <math.h>
#include <string.h>

enum { MOST_PAIRS = 4 };

/* Three digits. */
static const char *number(struct arena *a, double value)
{
    double size = fabs(value);
    int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 || size == 0 ? 2 : 3;
    return arena_printf(a, "%.*f", digits, value);
}

static const char *joined(struct arena *a, const char *text, const char *between, const char *more)
{
    return *text ? arena_printf(a, "%s%s%s", text, between, more) : more;
}

static uint32_t published_count(const struct paper_row *row)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->section_count; i++)
        count += isnan(row->sections[i]->deviation) ? 0 : row->sections[i]->value_count;
    return count;
}

/* "CCWS 1.52 (1.62), LRR 0.37 (0.36)" */
static const char *pairs_text(struct arena *a, const struct paper_section *s)
{
    const char *text = "";
    for (uint32_t i = 0; i < s->value_count && i < MOST_PAIRS; i++) {
        const struct paper_value *v = &s->values[i];
        const char *pair = arena_printf(a, "%s %s", v->label, number(a, v->ours));
        if (!isnan(v->published))
            pair = arena_printf(a, "%s (%s)", pair, number(a, v->published));
        text = joined(a, text, ", ", pair);
    }
    return s->value_count > MOST_PAIRS ? arena_printf(a, "%s, ...", text) : text;
}

/* All compared values of the row in one number. */
static const char *median_text(struct arena *a, const struct paper_row *row, uint32_t count)
{
    struct paper_value *all = arena_array(a, struct paper_value, count);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < row->section_count; i++)
        for (uint32_t k = 0; k < row->sections[i]->value_count && !isnan(row->sections[i]->deviation); k++)
            all[taken++] = row->sections[i]->values[k];
    return arena_printf(a, "median of %u values: %.0f%% off", taken, 100 * paper_median(a, all, taken));
}

/* A section's name in front where a row has several. */
static const char *of_section(struct arena *a, const struct paper_row *row, const struct paper_section *s,
                              const char *text)
{
    return row->section_count > 1 ? arena_printf(a, "%s: %s", s->name, text) : text;
}

static const char *ours_text(struct arena *a, const struct paper_row *row)
{
    const char *text = "";
    uint32_t published = published_count(row), own = 0;
    if (published > MOST_PAIRS)
        return median_text(a, row, published);
    for (uint32_t i = 0; i < row->section_count; i++) {
        const struct paper_section *s = row->sections[i];
        bool shown = s->value_count && (!published || !isnan(s->deviation));
        if (shown && own < MOST_PAIRS)
            text = joined(a, text, "; ", of_section(a, row, s, pairs_text(a, s)));
        own += shown ? s->value_count : 0;
    }
    return text;
}

/* Sections of the paper's own experiment by their names, others with theirs in front. */
static const char *shown_by_text(struct arena *a, const struct paper_part *part, const struct paper_row *row)
{
    const char *text = "";
    for (uint32_t i = 0; i < row->section_count; i++) {
        const struct paper_section *s = row->sections[i];
        bool own = strcmp(s->experiment, part->experiment) == 0;
        text = joined(a, text, ", ", own ? s->name : arena_printf(a, "%s of %s", s->name, s->experiment));
    }
    for (uint32_t i = 0; i < row->elsewhere_count; i++)
        text = joined(a, text, ", ", row->elsewhere[i]->file);
    return text;
}

/* Why a section does not hold; "" where it does. */
static const char *complaint(struct arena *a, const struct paper_section *s)
{
    const char *text = "";
    if (s->is_table)
        return text;
    if (s->unknown)
        return "there are no results";
    if (s->missing_runs)
        return arena_printf(a, s->missing_runs == 1 ? "%u run is missing" : "%u runs are missing", s->missing_runs);
    if (s->unmet)
        text = arena_printf(a, "not met: %s", s->unmet);
    if (s->deviation > paper_near)
        text = joined(a, text, "; ",
                      s->worst ? arena_printf(a, "the mean of %s is %.0f%% off", s->worst, 100 * s->deviation)
                               : arena_printf(a, "the median of its values is %.0f%% off", 100 * s->deviation));
    return text;
}

static const char *complaints(struct arena *a, const struct paper_row *row)
{
    const char *text = "";
    for (uint32_t i = 0; i < row->section_count; i++) {
        const char *why = complaint(a, row->sections[i]);
        if (*why)
            text = joined(a, text, "; ", of_section(a, row, row->sections[i], why));
    }
    return text;
}

static const char *notes_text(struct arena *a, const struct paper_row *row)
{
    const char *text = "";
    for (uint32_t i = 0; i < row->elsewhere_count; i++)
        text = joined(a, text, "; ", row->elsewhere[i]->text);
    for (uint32_t i = 0; i < row->left_out_count; i++) {
        const struct lab_paper_note *note = row->left_out[i];
        const char *part = *note->part ? arena_printf(a, "%s is left out: %s", note->part, note->text) : note->text;
        text = joined(a, text, "; ", part);
    }
    return text;
}

/* No section of the row has any results. */
static bool is_unknown(const struct paper_row *row)
{
    bool unknown = row->section_count > 0;
    for (uint32_t i = 0; i < row->section_count; i++)
        unknown &= row->sections[i]->unknown;
    return unknown;
}

static const char *why_text(struct arena *a, const struct paper_row *row)
{
    const char *why = is_unknown(row) ? "there are no results" : complaints(a, row), *notes = notes_text(a, row);
    if (row->verdict == PAPER_DIRECTION && !*why)
        why = "no value is published";
    return *notes ? joined(a, why, "; ", notes) : why;
}

/* Each claim once, though several sections of a figure may repeat it. */
static const char *claim_text(struct arena *a, const struct paper_row *row)
{
    const char *text = "";
    for (uint32_t i = 0; i < row->section_count; i++) {
        const char *claim = row->sections[i]->claim;
        if (claim && !strstr(text, claim))
            text = joined(a, text, " ", claim);
    }
    return text;
}

static const char *item_text(struct arena *a, struct lab_cited_item item)
{
    return arena_printf(a, "%s %u", item.table ? "Table" : "Figure", item.number);
}

/* ---------------------------------------------------------------- Markdown */

static void put_cell(FILE *to, const char *text)
{
    fputs(" ", to);
    for (; *text; text++) {
        if (strchr("|*_<>`\\[]", *text))
            putc('\\', to);
        putc(*text, to);
    }
    fputs(" |", to);
}

static void put_row(struct arena *a, const struct paper_part *part, const struct paper_row *row, FILE *to)
{
    putc('|', to);
    put_cell(to, item_text(a, row->item));
    put_cell(to, claim_text(a, row));
    put_cell(to, ours_text(a, row));
    put_cell(to, paper_verdict_names[row->verdict]);
    put_cell(to, why_text(a, row));
    put_cell(to, shown_by_text(a, part, row));
    putc('\n', to);
}

const char *repro_table_sum(struct arena *a, const struct paper_part *part)
{
    const char *text = "";
    for (int v = 0; v < PAPER_VERDICTS; v++)
        if (part->counts[v])
            text = joined(a, text, ", ", arena_printf(a, "%u %s", part->counts[v], paper_verdict_names[v]));
    if (part->partial)
        text = arena_printf(a, "%s; %u lack a part", text, part->partial);
    return arena_printf(a, "%u of %u figures and tables are there: %s", paper_part_shown(part), part->row_count, text);
}

static void put_part(struct arena *a, const struct paper_part *part, FILE *to)
{
    fprintf(to, "\n## %s\n\n", part->paper->name);
    if (*part->paper->title)
        fprintf(to, "%s. ", part->paper->title);
    fprintf(to, "Experiment: `%s`.\n", part->experiment);
    if (part->other_text)
        fprintf(to, "The runs were made with another text of the experiment's file than it has now.\n");
    fputs("\n| | what the paper says | ours (published) | verdict | why | shown by |\n|---|---|---|---|---|---|\n", to);
    for (uint32_t i = 0; i < part->row_count; i++)
        put_row(a, part, &part->rows[i], to);
    fprintf(to, "\n%s.\n", repro_table_sum(a, part));
}

static void put_rules(FILE *to)
{
    fputs("\n| verdict | when |\n|---|---|\n", to);
    for (int v = 0; v < PAPER_VERDICTS; v++)
        fprintf(to, "| %s | %s |\n", paper_verdict_names[v], paper_verdict_rules[v]);
}

static void put_total(struct arena *a, const struct papers *p, FILE *to)
{
    struct paper_part all = {0};
    for (uint32_t i = 0; i < p->part_count; i++) {
        all.row_count += p->parts[i].row_count;
        all.partial += p->parts[i].partial;
        for (int v = 0; v < PAPER_VERDICTS; v++)
            all.counts[v] += p->parts[i].counts[v];
    }
    fprintf(to, "\nIn all, %s.\n", repro_table_sum(a, &all));
}

/* How to read the page, in two paragraphs. */
static const char head[] =
    "# Every figure and table of the papers\n\n"
    "`heddle repro all` wrote this page. Each figure and each table of a paper has a row, so that what is missing is\n"
    "seen as well as what is there. \"Ours (published)\" compares the means over programs where the paper gives them,\n"
    "and otherwise every value that it gives; above four values, it says how far ours are off in the median. A value\n"
    "that is divided by itself is not compared. \"Shown by\" names sections of the experiment, whose page has all\n"
    "numbers, or files of the repository.\n\n"
    "A program gives the verdict, by the rules below. An expectation is what the paper concludes from the figure, as\n"
    "the experiment states it ([experiments](../experiments.md#verdicts)). Where several sections show one figure, it\n"
    "`fails` when one of them fails, is `not run` when one lacks a run, and `holds` only when all sections with\n"
    "published values do. A verdict says nothing about inputs and machines that are not the authors': the page of "
    "each\n"
    "paper, beside this one, has the differences that are known.\n";

void repro_table_markdown(const struct papers *p, FILE *to)
{
    struct arena a = {0};
    fputs(head, to);
    put_rules(to);
    put_total(&a, p, to);
    for (uint32_t i = 0; i < p->part_count; i++)
        put_part(&a, &p->parts[i], to);
    arena_free(&a);
}

/* ---------------------------------------------------------------- JSON */

static json_t *section_json(const struct paper_section *s)
{
    json_t *section = json_object(), *values = json_array();
    for (uint32_t i = 0; i < s->value_count; i++) {
        json_t *value = json_object();
        json_object_set_new(value, "label", text_json(s->values[i].label));
        json_object_set_new(value, "ours", number_json(s->values[i].ours));
        json_object_set_new(value, "published", number_json(s->values[i].published));
        json_array_append_new(values, value);
    }
    json_object_set_new(section, "experiment", text_json(s->experiment));
    json_object_set_new(section, "name", text_json(s->name));
    json_object_set_new(section, "table", json_boolean(s->is_table));
    json_object_set_new(section, "unknown", json_boolean(s->unknown));
    json_object_set_new(section, "missing_runs", json_integer(s->missing_runs));
    json_object_set_new(section, "expected", json_integer(s->expected));
    json_object_set_new(section, "unmet", text_json(s->unmet));
    json_object_set_new(section, "deviation", number_json(s->deviation));
    json_object_set_new(section, "values", values);
    return section;
}

static json_t *row_json(struct arena *a, const struct paper_row *row)
{
    json_t *out = json_object(), *sections = json_array(), *files = json_array();
    for (uint32_t i = 0; i < row->section_count; i++)
        json_array_append_new(sections, section_json(row->sections[i]));
    for (uint32_t i = 0; i < row->elsewhere_count; i++)
        json_array_append_new(files, text_json(row->elsewhere[i]->file));
    json_object_set_new(out, "item", text_json(item_text(a, row->item)));
    json_object_set_new(out, "claim", text_json(claim_text(a, row)));
    json_object_set_new(out, "ours", text_json(ours_text(a, row)));
    json_object_set_new(out, "verdict", text_json(paper_verdict_names[row->verdict]));
    json_object_set_new(out, "why", text_json(why_text(a, row)));
    json_object_set_new(out, "sections", sections);
    json_object_set_new(out, "files", files);
    return out;
}

static json_t *part_json(struct arena *a, const struct paper_part *part)
{
    json_t *out = json_object(), *rows = json_array(), *counts = json_object();
    for (uint32_t i = 0; i < part->row_count; i++)
        json_array_append_new(rows, row_json(a, &part->rows[i]));
    for (int v = 0; v < PAPER_VERDICTS; v++)
        json_object_set_new(counts, paper_verdict_names[v], json_integer(part->counts[v]));
    json_object_set_new(out, "paper", text_json(part->paper->name));
    json_object_set_new(out, "title", text_json(part->paper->title));
    json_object_set_new(out, "experiment", text_json(part->experiment));
    json_object_set_new(out, "other_text", json_boolean(part->other_text));
    json_object_set_new(out, "there", json_integer(paper_part_shown(part)));
    json_object_set_new(out, "partial", json_integer(part->partial));
    json_object_set_new(out, "counts", counts);
    json_object_set_new(out, "rows", rows);
    return out;
}

json_t *repro_table_json(const struct papers *p)
{
    struct arena a = {0};
    json_t *all = json_object(), *parts = json_array();
    for (uint32_t i = 0; i < p->part_count; i++)
        json_array_append_new(parts, part_json(&a, &p->parts[i]));
    json_object_set_new(all, "papers", parts);
    arena_free(&a);
    return all;
}
