/* What a paper says, of a figure: published values (published.X = SERIES VALUE, ...) and expectations (expect = a > b,
 * ...). Every label must be one that the figure shows. */
#include "experiment/figure_layout.h"
#include "experiment/figure_section.h"

#include <ctype.h>
#include <string.h>

enum { MOST_PUBLISHED = 10000, MOST_EXPECTED = 100 };

/* Labels that claims may name: on the x axis, or what stands beside each other at one x. */
struct labels {
    const char **names;
    uint32_t count;
};

static struct labels with_mean(const struct lab_reader *r, const char **names, uint32_t count, bool mean)
{
    struct labels out = {arena_array(r->arena, const char *, count + 1), count};
    if (count)
        memcpy(out.names, names, count * sizeof *names);
    if (mean)
        out.names[out.count++] = "mean";
    return out;
}

static struct labels x_labels(const struct lab_reader *r, const struct figure_layout *l)
{
    return with_mean(r, l->xs, l->x_count, l->figure->mean != MEAN_NONE && !l->parameter);
}

/* "SERIES PART" for each part of each bar of a stacked figure; figure.c finds them again by both labels. */
static struct labels part_labels(const struct lab_reader *r, const struct figure_layout *l)
{
    const struct lab_figure *f = l->figure;
    struct labels out = {arena_array(r->arena, const char *, (size_t)l->series_count * f->y_count + 1), 0};
    for (uint32_t s = 0; s < l->series_count; s++)
        for (uint32_t part = 0; part < f->y_count; part++)
            out.names[out.count++] = arena_printf(r->arena, "%s %s", l->series[s], f->y_labels[part]);
    return out;
}

/* Series; the parts of a stacked figure that has none. */
static struct labels series_labels(const struct lab_reader *r, const struct figure_layout *l)
{
    const struct lab_figure *f = l->figure;
    if (f->kind == FIGURE_STACKED && !f->series)
        return with_mean(r, f->y_labels, f->y_count, false);
    if (f->kind == FIGURE_STACKED)
        return part_labels(r, l);
    return with_mean(r, l->series, f->series || l->beside > 1 ? l->series_count : 0,
                     f->mean != MEAN_NONE && l->parameter);
}

static const char *known_label(const struct lab_reader *r, struct lab_word word, const char *what,
                               const struct labels *known)
{
    struct lab_word plain = word;
    if (!lab_unquote(r, &plain))
        return NULL;
    for (uint32_t i = 0; i < known->count; i++)
        if (lab_word_is(plain, known->names[i]))
            return known->names[i];
    lab_unknown(r, plain, what, known->names, known->count);
    return NULL;
}

/* "LABEL NUMBER", the number being the last word. */
static bool split_value(const struct lab_reader *r, struct lab_word piece, struct lab_word *label, double *value)
{
    const char *at = lab_end(piece);
    while (at > piece.at && !isspace((unsigned char)at[-1]))
        at--;
    *label = lab_trim(piece.at, at);
    struct lab_word number = {at, (size_t)(lab_end(piece) - at)};
    return lab_number(number, value) || lab_wrong(r, at, "expected a number: LABEL NUMBER, LABEL NUMBER, ...");
}

static bool add_published(const struct lab_reader *r, struct lab_figure *f, uint32_t *room, const char *at,
                          struct lab_published p)
{
    for (uint32_t i = 0; i < f->published_count; i++)
        if (strcmp(f->published[i].x, p.x) == 0 && strcmp(f->published[i].series, p.series) == 0)
            return lab_wrong(r, at, "this value is given twice");
    if (f->published_count == MOST_PUBLISHED)
        return lab_wrong(r, at, "more than %d published values", MOST_PUBLISHED);
    f->published = lab_grow(r->arena, f->published, f->published_count, room, sizeof *f->published);
    f->published[f->published_count++] = p;
    return true;
}

/* A figure's values while they are read. */
struct published {
    struct labels xs, series;
    struct lab_figure *figure;
    uint32_t room;
};

/* x: of "published.X"; NULL: the pieces name their x, and the figure has one series. */
static bool read_published_line(const struct lab_reader *r, struct lab_word text, const char *x, struct published *to)
{
    const struct labels *series = &to->series;
    struct lab_word piece, label;
    double value;
    while (lab_next_piece(&text, ',', &piece)) {
        if (!split_value(r, piece, &label, &value))
            return false;
        struct lab_published p = {x, "", value};
        if (!x && !(p.x = known_label(r, label, "x", &to->xs)))
            return false;
        if (x && series->count && !(p.series = known_label(r, label, to->figure->series ? "series" : "part", series)))
            return false;
        if (x && !series->count && label.length)
            return lab_wrong(r, label.at, "expected a number alone: the figure has one series");
        if (!add_published(r, to->figure, &to->room, piece.at, p))
            return false;
    }
    return true;
}

bool lab_read_published(const struct lab_reader *r, const struct lab_section *s, const struct figure_layout *l,
                        struct lab_figure *f)
{
    static const char prefix[] = "published.";
    const size_t length = sizeof prefix - 1;
    struct published to = {x_labels(r, l), series_labels(r, l), f, 0};
    for (uint32_t i = 0; i < s->line_count; i++) {
        const struct lab_line *line = &s->lines[i];
        bool all = lab_word_is(line->name, "published"),
             one = line->name.length > length && memcmp(line->name.at, prefix, length) == 0;
        if (!all && !one)
            continue;
        if (f->kind == FIGURE_SCATTER || f->launch)
            return lab_wrong(r, line->name.at,
                             "published values of a scatter, or of a figure over time, have no place in it");
        if (all && to.series.count)
            return lab_wrong(r, line->name.at,
                             "expected published.X = LABEL NUMBER, ...: the figure has several values at an x");
        const char *x = all ? NULL : known_label(r, lab_trim(line->name.at + length, lab_end(line->name)), "x", &to.xs);
        if ((one && !x) || !read_published_line(r, line->value, x, &to))
            return false;
        if (!f->source)
            return lab_wrong(r, line->name.at, "expected source = where these values were published");
    }
    return true;
}

/* xs: at how many there are values beside each other; 0: the claim is about the xs. */
static bool check_claim(const struct lab_reader *r, struct lab_word piece, const char *what, const struct labels *known,
                        uint32_t xs)
{
    struct figure_claim claim;
    const char *at, *problem = figure_claim_read(&claim, piece, &at);
    if (problem)
        return lab_wrong(r, at, "%s", problem);
    if (claim.at_least > xs)
        return lab_wrong(
            r, piece.at,
            xs ? "the figure has only %u x" : "of one series every x is there once, and 'at least' counts them", xs);
    for (uint32_t i = 0; i < claim.count; i++)
        if (claim.sides[i].label.length && !known_label(r, claim.sides[i].label, what, known))
            return false;
    return true;
}

bool lab_read_expected(const struct lab_reader *r, const struct lab_section *s, const struct figure_layout *l,
                       struct lab_figure *f)
{
    const struct lab_line *line = lab_find_line(s, "expect");
    struct labels series = series_labels(r, l), xs = x_labels(r, l);
    struct lab_word rest, piece;
    if (!line)
        return true;
    f->expected = arena_array(r->arena, const char *, MOST_EXPECTED);
    for (rest = line->value; lab_next_piece(&rest, ',', &piece);) {
        if (f->expected_count == MOST_EXPECTED)
            return lab_wrong(r, piece.at, "more than %d expectations", MOST_EXPECTED);
        if (!check_claim(r, piece, series.count ? (f->series ? "series" : "part") : "x", series.count ? &series : &xs,
                         series.count ? l->x_count : 0))
            return false;
        f->expected[f->expected_count++] = lab_copy(r, piece);
    }
    return true;
}
