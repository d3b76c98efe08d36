/* What each section of an experiment says about the figures and tables that its source names, and the rows of the
 * papers that follow from it. A section is judged on its own runs; a row takes all sections that name it together. */
#include "figure/papers.h"

#include "experiment/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double paper_near = 0.3;

const char *const paper_verdict_names[PAPER_VERDICTS] = {
    [PAPER_HOLDS] = "holds",     [PAPER_DIRECTION] = "direction",     [PAPER_FAILS] = "fails",
    [PAPER_SHOWN] = "shown",     [PAPER_BY_TEST] = "shown by a test", [PAPER_BY_FILE] = "shown by a file",
    [PAPER_NOT_RUN] = "not run", [PAPER_QUOTED] = "quoted",           [PAPER_LEFT_OUT] = "left out",
    [PAPER_MISSING] = "missing",
};

const char *const paper_verdict_rules[PAPER_VERDICTS] = {
    [PAPER_HOLDS] = ("every expectation is met, and every published mean is within 30% (where no mean is published: "
                     "the median of all values)"),
    [PAPER_DIRECTION] = "every expectation is met; the numbers are further off, or none is published",
    [PAPER_FAILS] = "an expectation is not met, or there is none and the numbers are further off than 30%",
    [PAPER_SHOWN] = "our figure is there, and nothing of it can be judged: no expectation, no published value",
    [PAPER_BY_TEST] = "a test of the repository shows it, and fails when it changes",
    [PAPER_BY_FILE] = "a file of the repository that is no test shows it",
    [PAPER_NOT_RUN] = "a run that it needs is not in the results, or has failed there",
    [PAPER_QUOTED] = "the paper's own numbers are given as text, and compared with nothing",
    [PAPER_LEFT_OUT] = "nothing shows it, for the reason that is given",
    [PAPER_MISSING] = "no experiment mentions it",
};

double paper_median(struct arena *a, const struct paper_value *values, uint32_t count)
{
    double *numbers = arena_array(a, double, count + 1);
    uint32_t compared = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!isnan(values[i].published) && values[i].published != 0)
            numbers[compared++] = fabs(values[i].ours / values[i].published - 1);
    return figure_median(numbers, compared);
}

/* ---------------------------------------------------------------- a section */

static bool is_mean(const struct figure_data *d, const struct figure_cell *c)
{
    return d->figure->mean != MEAN_NONE && c->x + 1 == d->x_count && strcmp(d->xs[c->x], "mean") == 0;
}

/* What a cell is called: "bfs CCWS", of a mean "CCWS", of a stacked bar "bfs CCWS misses". */
static const char *cell_label(struct arena *a, const struct figure_data *d, const struct figure_cell *c)
{
    const char *text = is_mean(d, c) ? "" : d->xs[c->x];
    if (*d->series[c->series])
        text = arena_printf(a, "%s%s%s", text, *text ? " " : "", d->series[c->series]);
    if (d->figure->kind == FIGURE_STACKED)
        text = arena_printf(a, "%s%s%s", text, *text ? " " : "", d->figure->y_labels[c->part]);
    return *text ? text : "mean";
}

/* What is divided by itself is 1, here and in the paper, and is no agreement. */
static bool is_base(const struct figure_data *d, const struct figure_cell *c)
{
    return d->figure->has_normalise && c->value == 1 && c->published == 1;
}

enum chosen { PUBLISHED_MEANS, PUBLISHED_VALUES, OWN_MEANS };

static bool is_chosen(const struct figure_data *d, const struct figure_cell *c, enum chosen chosen)
{
    if (isnan(c->value))
        return false;
    if (chosen == OWN_MEANS)
        return is_mean(d, c);
    return !isnan(c->published) && c->published != 0 && !is_base(d, c) && (chosen == PUBLISHED_VALUES || is_mean(d, c));
}

static void take_values(struct arena *a, const struct figure_data *d, enum chosen chosen, struct paper_section *s)
{
    s->values = arena_array(a, struct paper_value, d->cell_count + 1);
    s->value_count = 0;
    for (uint32_t i = 0; i < d->cell_count; i++)
        if (is_chosen(d, &d->cells[i], chosen))
            s->values[s->value_count++] =
                (struct paper_value){cell_label(a, d, &d->cells[i]), d->cells[i].value, d->cells[i].published};
}

/* The mean that is furthest off. */
static void find_worst(struct paper_section *s)
{
    s->deviation = -1;
    for (uint32_t i = 0; i < s->value_count; i++) {
        double off = fabs(s->values[i].ours / s->values[i].published - 1);
        if (off > s->deviation) {
            s->deviation = off;
            s->worst = s->values[i].label;
        }
    }
}

static void compare(struct arena *a, const struct figure_data *d, struct paper_section *s)
{
    s->deviation = NAN;
    take_values(a, d, PUBLISHED_MEANS, s);
    if (s->value_count) {
        find_worst(s);
        return;
    }
    take_values(a, d, PUBLISHED_VALUES, s);
    if (s->value_count)
        s->deviation = paper_median(a, s->values, s->value_count);
    else
        take_values(a, d, OWN_MEANS, s);
}

static void check_expectations(struct arena *a, const struct figure_data *d, struct paper_section *s)
{
    const struct lab_figure *f = d->figure;
    s->expected = f->expected_count;
    for (uint32_t i = 0; i < f->expected_count; i++) {
        int held = figure_expectation(d, f->expected[i]);
        if (held > 0)
            continue;
        s->unmet = arena_printf(a, "%s%s%s%s", s->unmet ? s->unmet : "", s->unmet ? ", " : "", f->expected[i],
                                held < 0 ? " (no value)" : "");
    }
}

static struct paper_section *add_section(struct papers *p, struct paper_section section)
{
    p->sections = lab_grow(p->arena, p->sections, p->section_count, &p->section_room, sizeof *p->sections);
    p->sections[p->section_count] = section;
    return &p->sections[p->section_count++];
}

static bool add_figure(struct papers *p, const struct experiment *x, struct figure_source *source,
                       const struct lab_figure *f, struct error *e)
{
    struct paper_section *s = add_section(
        p, (struct paper_section){
               .experiment = x->name, .name = f->name, .claim = f->claim, .cited = &f->cited, .deviation = NAN});
    struct figure_data d = {0};
    s->unknown = !source;
    if (!source)
        return true;
    if (!figure_missing_runs(p->arena, source, f, &s->missing_runs, e) || !figure_compute(p->arena, source, f, &d, e))
        return false;
    if (s->missing_runs)
        return true;
    check_expectations(p->arena, &d, s);
    if (f->over == OVER_AXIS && f->kind != FIGURE_SCATTER)
        compare(p->arena, &d, s);
    return true;
}

/* ---------------------------------------------------------------- an experiment */

static bool has_other_text(struct store *store, struct arena *a, const struct experiment *x, bool *other,
                           struct error *e)
{
    struct store_experiment *list;
    uint32_t count;
    *other = false;
    if (!store_experiments(store, a, &list, &count, e))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].name, x->name) == 0 && strcmp(list[i].size, x->size) == 0)
            *other = list[i].text_bytes != x->text_bytes || memcmp(list[i].text, x->text, x->text_bytes) != 0;
    return true;
}

static bool add_part(struct papers *p, const struct experiment *x, struct store *store, struct error *e)
{
    struct paper_part part = {.paper = x->paper, .experiment = x->name};
    for (uint32_t i = 0; i < p->part_count; i++)
        if (strcmp(p->parts[i].paper->name, x->paper->name) == 0)
            return error_set(e, ERROR_SYNTAX, "%s and %s both have a section [paper] with name = %s",
                             p->parts[i].experiment, x->name, x->paper->name);
    if (store && !has_other_text(store, p->arena, x, &part.other_text, e))
        return false;
    p->parts = lab_grow(p->arena, p->parts, p->part_count, &p->part_room, sizeof *p->parts);
    p->parts[p->part_count++] = part;
    return true;
}

bool papers_add(struct papers *p, const struct experiment *x, struct store *store, struct error *e)
{
    struct figure_source *source = NULL;
    if (x->paper && !add_part(p, x, store, e))
        return false;
    if (store && !(source = figure_source_open(p->arena, store, x, e)))
        return false;
    for (uint32_t i = 0; i < x->figure_count; i++)
        if (x->figures[i].cited.count && !add_figure(p, x, source, &x->figures[i], e))
            return false;
    for (uint32_t i = 0; i < x->table_count; i++) {
        const struct lab_table *t = &x->tables[i];
        if (t->cited.count)
            add_section(p, (struct paper_section){.experiment = x->name,
                                                  .name = t->name,
                                                  .claim = t->claim,
                                                  .cited = &t->cited,
                                                  .is_table = true,
                                                  .deviation = NAN});
    }
    return true;
}

/* ---------------------------------------------------------------- rows */

/* What the sections of a row say together. */
struct facts {
    bool figure, quoted, missing_runs, expected, unmet, compared, far;
};

static struct facts facts_of(const struct paper_row *row)
{
    struct facts f = {0};
    for (uint32_t i = 0; i < row->section_count; i++) {
        const struct paper_section *s = row->sections[i];
        f.figure |= !s->is_table;
        f.quoted |= s->is_table;
        f.missing_runs |= s->unknown || s->missing_runs;
        f.expected |= s->expected > 0;
        f.unmet |= s->unmet != NULL;
        f.compared |= !isnan(s->deviation);
        f.far |= s->deviation > paper_near;
    }
    return f;
}

static bool is_test(const struct lab_paper_note *note) { return strncmp(note->file, "tests/", 6) == 0; }

/* Of what no figure of ours shows. */
static enum paper_verdict verdict_without_figure(const struct paper_row *row, const struct facts *f)
{
    for (uint32_t i = 0; i < row->elsewhere_count; i++)
        if (is_test(row->elsewhere[i]))
            return PAPER_BY_TEST;
    if (row->elsewhere_count)
        return PAPER_BY_FILE;
    if (f->quoted)
        return PAPER_QUOTED;
    return row->left_out_count ? PAPER_LEFT_OUT : PAPER_MISSING;
}

static enum paper_verdict verdict_of(const struct paper_row *row)
{
    struct facts f = facts_of(row);
    if (!f.figure)
        return verdict_without_figure(row, &f);
    if (f.unmet)
        return PAPER_FAILS;
    if (f.missing_runs)
        return PAPER_NOT_RUN;
    if (f.compared && !f.far)
        return PAPER_HOLDS;
    if (f.expected)
        return PAPER_DIRECTION;
    return f.far ? PAPER_FAILS : PAPER_SHOWN;
}

static const struct lab_paper_note **notes_of(struct arena *a, const struct lab_paper_note *notes, uint32_t count,
                                              struct lab_cited_item item, uint32_t *found)
{
    const struct lab_paper_note **out = arena_array(a, const struct lab_paper_note *, count + 1);
    *found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (lab_cites(&notes[i].cited, item.table, item.number))
            out[(*found)++] = &notes[i];
    return out;
}

static struct paper_row make_row(struct papers *p, const struct lab_paper *paper, struct lab_cited_item item)
{
    struct paper_row row = {.item = item};
    row.sections = arena_array(p->arena, const struct paper_section *, p->section_count + 1);
    for (uint32_t i = 0; i < p->section_count; i++)
        if (strcmp(p->sections[i].cited->paper, paper->name) == 0 &&
            lab_cites(p->sections[i].cited, item.table, item.number))
            row.sections[row.section_count++] = &p->sections[i];
    row.elsewhere = notes_of(p->arena, paper->elsewhere, paper->elsewhere_count, item, &row.elsewhere_count);
    row.left_out = notes_of(p->arena, paper->left_out, paper->left_out_count, item, &row.left_out_count);
    row.verdict = verdict_of(&row);
    return row;
}

void papers_judge(struct papers *p)
{
    for (uint32_t i = 0; i < p->part_count; i++) {
        struct paper_part *part = &p->parts[i];
        const struct lab_paper *paper = part->paper;
        part->rows = arena_array(p->arena, struct paper_row, paper->figures + paper->tables + 1);
        for (uint32_t k = 0; k < paper->figures + paper->tables; k++) {
            bool table = k >= paper->figures;
            struct lab_cited_item item = {table, (table ? k - paper->figures : k) + 1};
            part->rows[part->row_count++] = make_row(p, paper, item);
            part->counts[part->rows[k].verdict]++;
            part->partial += part->rows[k].left_out_count && part->rows[k].verdict != PAPER_LEFT_OUT;
        }
    }
}

uint32_t paper_part_shown(const struct paper_part *part)
{
    return part->row_count - part->counts[PAPER_QUOTED] - part->counts[PAPER_LEFT_OUT] - part->counts[PAPER_MISSING];
}
