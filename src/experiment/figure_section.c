/* [figure NAME]: what is drawn. The keys are read here; which items of the axes that means is figure_layout.c's, and
 * published values and expectations are claims.c's. */
#include "experiment/figure_section.h"
#include "experiment/figure_layout.h"
#include "experiment/paper_section.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PARTS = 64 };

static const char *const keys[] = {"kind",    "title",  "caption",   "x",      "y",      "series", "x_title",
                                   "y_title", "where",  "normalise", "mean",   "shares", "source", "published",
                                   "expect",  "launch", "kernel",    "robust", "claim"};
enum { KEY_COUNT = sizeof keys / sizeof *keys };
static const char *const kinds[] = {"bars", "stacked", "lines", "scatter", "heat"};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };
static const char *const means[] = {"none", "arithmetic", "geometric", "harmonic"};
enum { MEAN_COUNT = sizeof means / sizeof *means };

static bool check_keys(const struct lab_reader *r, const struct lab_section *s)
{
    for (uint32_t i = 0; i < s->line_count; i++) {
        struct lab_word name = s->lines[i].name;
        int key = 0;
        while (key < KEY_COUNT && !lab_word_is(name, keys[key]))
            key++;
        if (key == KEY_COUNT && !(name.length > 10 && memcmp(name.at, "published.", 10) == 0))
            return lab_unknown(r, name, "key of a figure", keys, KEY_COUNT);
    }
    return true;
}

/* A word out of a list; found: its number. */
static bool read_choice(const struct lab_reader *r, const struct lab_section *s, const char *key,
                        const char *const *names, size_t count, int *found)
{
    const struct lab_line *line = lab_find_line(s, key);
    for (size_t i = 0; line && i < count; i++)
        if (lab_word_is(line->value, names[i])) {
            *found = (int)i;
            return true;
        }
    return !line || lab_unknown(r, line->value, key, names, count);
}

/* "label: expression", or an expression that is its own label. */
static bool read_part(const struct lab_reader *r, const struct lab_metrics *metrics, struct lab_word piece,
                      const char **label, const char **y)
{
    const char *colon = lab_find_outside_quotes(piece, ":");
    struct lab_word expression = colon ? lab_trim(colon + 1, lab_end(piece)) : piece;
    *label = lab_label(r, colon ? lab_trim(piece.at, colon) : expression.length ? piece : (struct lab_word){"-", 1});
    *y = lab_copy(r, expression);
    return *label && lab_expression_check(r, metrics, expression);
}

static bool read_y(const struct lab_reader *r, const struct lab_section *s, const struct lab_metrics *metrics,
                   struct lab_figure *f)
{
    const struct lab_line *line = lab_find_line(s, "y");
    struct lab_word rest, piece;
    if (!line)
        return lab_wrong(r, s->title.at, "expected y = an expression over metrics");
    f->y = arena_array(r->arena, const char *, MOST_PARTS);
    f->y_labels = arena_array(r->arena, const char *, MOST_PARTS);
    for (rest = line->value; lab_next_piece(&rest, ',', &piece); f->y_count++) {
        if (f->y_count == MOST_PARTS)
            return lab_wrong(r, piece.at, "more than %d parts", MOST_PARTS);
        if (f->y_count && f->kind != FIGURE_STACKED && f->kind != FIGURE_BARS)
            return lab_wrong(r, piece.at, "expected one expression; only bars and stacked figures have several");
        if (!read_part(r, metrics, piece, &f->y_labels[f->y_count], &f->y[f->y_count]))
            return false;
        for (uint32_t i = 0; i < f->y_count; i++)
            if (strcmp(f->y_labels[i], f->y_labels[f->y_count]) == 0)
                return lab_wrong(r, piece.at, "the label '%s' is given twice", f->y_labels[i]);
    }
    return true;
}

/* shares = yes: each part over the sum of all. */
static bool read_shares(const struct lab_reader *r, const struct lab_section *s, struct lab_figure *f)
{
    static const char *const answers[] = {"no", "yes"};
    const struct lab_line *line = lab_find_line(s, "shares");
    int yes = 0;
    if (!read_choice(r, s, "shares", answers, 2, &yes) || !yes)
        return !line || !r->error->kind;
    if (f->kind != FIGURE_STACKED)
        return lab_wrong(r, line->name.at, "shares are of the parts of a stacked figure");
    const char *sum = "";
    for (uint32_t i = 0; i < f->y_count; i++)
        sum = arena_printf(r->arena, "%s%s(%s)", sum, i ? " + " : "", f->y[i]);
    for (uint32_t i = 0; i < f->y_count; i++) {
        f->y[i] = arena_printf(r->arena, "(%s) / (%s)", f->y[i], sum);
        if (!expression_parse(r->arena, f->y[i], r->source, line->number, 1, NULL))
            return lab_wrong(r, line->name.at, "the parts are too long to be divided by their sum");
    }
    return true;
}

/* robust = yes: needs something to compare, and variants that are not compared themselves. */
static bool read_robust(const struct lab_reader *r, const struct lab_section *s, const struct figure_layout *l,
                        struct lab_figure *f)
{
    static const char *const answers[] = {"no", "yes"};
    const struct lab_line *line = lab_find_line(s, "robust");
    int yes = 0;
    if (!read_choice(r, s, "robust", answers, 2, &yes))
        return false;
    f->robust = yes;
    if (!yes)
        return true;
    if (f->kind == FIGURE_SCATTER || f->kind == FIGURE_STACKED || f->over != OVER_AXIS || l->parameter)
        return lab_wrong(r, line->name.at, "expected bars, lines or heat over an axis");
    if (l->series_count < 2 || l->x_axis == AXIS_VARIANT || l->series_axis == AXIS_VARIANT)
        return lab_wrong(r, line->name.at, "expected several series, and variants as neither x nor series");
    return true;
}

static bool read_x(const struct lab_reader *r, const struct lab_section *s, const struct lab_metrics *metrics,
                   struct lab_figure *f)
{
    const struct lab_line *line = lab_find_line(s, "x");
    if (!line)
        return lab_wrong(r, s->title.at, "expected x = %s",
                         f->kind == FIGURE_SCATTER ? "an expression over metrics"
                                                   : "an axis: program, machine, scheduler, l1, divergence or variant");
    f->x = lab_copy(r, line->value);
    return f->kind != FIGURE_SCATTER || lab_expression_check(r, metrics, line->value);
}

/* x = cycle, and which launch. */
static bool read_cycles(const struct lab_reader *r, const struct lab_section *s, const struct experiment *x,
                        struct lab_figure *f)
{
    const struct lab_line *line = lab_find_line(s, "x"), *launch = lab_find_line(s, "launch");
    if (f->kind != FIGURE_LINES)
        return lab_wrong(r, line->value.at, "over time there are lines: expected kind = lines");
    if (!x->interval_cycles)
        return lab_wrong(r, line->value.at,
                         "there are no samples over time: expected interval = CYCLES in [experiment]");
    f->launch = lab_text_of(r, s, "launch", "0");
    return *f->launch ||
           lab_wrong(r, launch->value.at, "expected the number of a launch, from 0, or the name of a kernel");
}

/* x = pc, and which kernel; x = bucket. */
static bool read_rows(const struct lab_reader *r, const struct lab_section *s, struct lab_figure *f)
{
    const struct lab_line *line = lab_find_line(s, "x"), *kernel = lab_find_line(s, "kernel");
    bool bars = f->kind == FIGURE_BARS || f->kind == FIGURE_STACKED;
    if (!bars && (f->over == OVER_PCS || f->kind != FIGURE_LINES))
        return lab_wrong(r, line->value.at, "expected kind = bars%s",
                         f->over == OVER_PCS ? " or stacked" : ", stacked or lines");
    if (f->over == OVER_PCS)
        f->launch = lab_text_of(r, s, "kernel", NULL);
    return !f->launch || *f->launch ||
           lab_wrong(r, kernel->value.at, "expected the name of a kernel, or the number of a launch, from 0");
}

/* What the xs are, where they are not an axis. */
static bool read_over(const struct lab_reader *r, const struct lab_section *s, const struct experiment *x,
                      struct lab_figure *f)
{
    static const char *const words[] = {[OVER_CYCLES] = "cycle", [OVER_PCS] = "pc", [OVER_BUCKETS] = "bucket"};
    const struct lab_line *line = lab_find_line(s, "x"), *launch = lab_find_line(s, "launch"),
                          *kernel = lab_find_line(s, "kernel");
    for (int over = OVER_CYCLES; line && f->kind != FIGURE_SCATTER && over <= OVER_BUCKETS; over++)
        if (lab_word_is(line->value, words[over]))
            f->over = (enum lab_over)over;
    if (launch && f->over != OVER_CYCLES)
        return lab_wrong(r, launch->name.at, "launch is for figures over time: x = cycle");
    if (kernel && f->over != OVER_PCS)
        return lab_wrong(r, kernel->name.at, "kernel is for figures over its instructions: x = pc");
    return f->over == OVER_AXIS || (f->over == OVER_CYCLES ? read_cycles(r, s, x, f) : read_rows(r, s, f));
}

static struct lab_metrics metrics_of(const struct lab_reader *r, const struct lab_metrics *known,
                                     const struct experiment *x, const struct lab_figure *f)
{
    return f->over == OVER_CYCLES ? lab_metrics_sampled(r->arena, x)
           : f->over == OVER_AXIS ? *known
                                  : lab_metrics_of_rows(r->arena, x, f->over);
}

static bool read_filters(const struct lab_reader *r, const struct lab_section *s, const struct experiment *x,
                         struct lab_figure *f)
{
    const struct lab_line *where = lab_find_line(s, "where"), *normalise = lab_find_line(s, "normalise");
    f->has_normalise = normalise != NULL;
    return (!where || lab_filter_read(r, x, where->value, &f->where)) &&
           (!normalise || lab_filter_read(r, x, normalise->value, &f->normalise));
}

/* Keys that a kind of figure cannot have. */
static bool check_kind(const struct lab_reader *r, const struct lab_section *s, const struct lab_figure *f)
{
    static const char *const not_of_runs[] = {"normalise", "mean", "published", "expect"};
    static const char *const whys[] = {"a scatter has no %s: each of its points is a run",
                                       "a figure over time has no %s: each of its lines is a run",
                                       "a figure over instructions has no %s", "a figure over buckets has no %s"};
    const struct lab_line *line;
    for (size_t i = 0;
         (f->kind == FIGURE_SCATTER || f->over != OVER_AXIS) && i < sizeof not_of_runs / sizeof *not_of_runs; i++)
        if ((line = lab_find_line(s, not_of_runs[i])))
            return lab_wrong(r, line->name.at, whys[f->over], not_of_runs[i]);
    if (f->kind == FIGURE_HEAT && !f->series)
        return lab_wrong(r, s->title.at, "expected series = an axis: the rows of the heat map");
    if (f->kind == FIGURE_BARS && f->y_count > 1 && f->has_normalise)
        return lab_wrong(r, lab_find_line(s, "y")->value.at, "bars of several expressions are not normalised");
    if (f->kind == FIGURE_STACKED && f->mean != MEAN_NONE && f->mean != MEAN_ARITHMETIC)
        return lab_wrong(r, lab_find_line(s, "mean")->value.at,
                         "expected arithmetic: other means of the parts do not add up to the mean of the whole");
    return true;
}

static const char *join_labels(const struct lab_reader *r, const struct lab_filter *filter)
{
    const char *text = "";
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (filter->labels[axis])
            text = arena_printf(r->arena, "%s%s%s", text, *text ? ", " : "", filter->labels[axis]);
    return text;
}

static void read_texts(const struct lab_reader *r, const struct lab_section *s, struct lab_figure *f)
{
    const char *y_title = f->kind == FIGURE_STACKED ? (lab_find_line(s, "shares") ? "share" : "")
                          : f->y_count == 1         ? f->y_labels[0]
                                                    : "";
    if (f->has_normalise)
        y_title =
            arena_printf(r->arena, "%s%srelative to %s", y_title, *y_title ? ", " : "", join_labels(r, &f->normalise));
    f->title = lab_text_of(r, s, "title", f->name);
    f->caption = lab_text_of(r, s, "caption", "");
    f->source = lab_text_of(r, s, "source", NULL);
    f->claim = lab_text_of(r, s, "claim", NULL);
    lab_read_cited(r->arena, f->source, &f->cited);
    f->x_title = lab_text_of(r, s, "x_title", f->x);
    f->y_title = lab_text_of(r, s, "y_title", y_title);
    f->series = lab_text_of(r, s, "series", NULL);
}

/* Says what is wrong at the key that is to blame, or at the figure. */
static bool lay_out(const struct lab_reader *r, const struct lab_section *s, const struct experiment *x,
                    const struct lab_space *space, const struct lab_figure *f, struct figure_layout *l)
{
    struct figure_complaint why = {0};
    if (figure_layout_make(l, r->arena, x, space, f, &why))
        return true;
    const struct lab_line *line = why.key ? lab_find_line(s, why.key) : NULL;
    return lab_wrong(r, line ? line->value.at : s->title.at, "%s", why.text);
}

static bool read_figure(const struct lab_reader *r, const struct lab_section *s, const struct lab_metrics *metrics,
                        const struct experiment *x, const struct lab_space *space, struct lab_figure *f)
{
    struct figure_layout l;
    int kind = 0, mean = 0;
    f->name = lab_copy(r, s->title);
    f->line = s->number;
    if (!check_keys(r, s) || !read_choice(r, s, "kind", kinds, KIND_COUNT, &kind) ||
        !read_choice(r, s, "mean", means, MEAN_COUNT, &mean))
        return false;
    f->kind = (enum lab_figure_kind)kind;
    f->mean = (enum lab_mean)mean;
    if (!read_over(r, s, x, f) || !read_x(r, s, metrics, f))
        return false;
    struct lab_metrics counted = metrics_of(r, metrics, x, f);
    if (!read_y(r, s, &counted, f) || !read_shares(r, s, f) || !read_filters(r, s, x, f))
        return false;
    read_texts(r, s, f);
    return check_kind(r, s, f) && lay_out(r, s, x, space, f, &l) && lab_read_published(r, s, &l, f) &&
           lab_read_expected(r, s, &l, f) && read_robust(r, s, &l, f);
}

bool lab_read_figures(const struct lab_reader *r, const struct lab_metrics *metrics, struct experiment *x)
{
    struct lab_figure *figures = arena_array(r->arena, struct lab_figure, r->section_count);
    struct lab_space space;
    lab_space_make(&space, r->arena, x);
    for (uint32_t i = 0; i < r->section_count; i++)
        if (r->sections[i].kind == SECTION_FIGURE &&
            !read_figure(r, &r->sections[i], metrics, x, &space, &figures[x->figure_count++]))
            return false;
    x->figures = figures;
    return true;
}
