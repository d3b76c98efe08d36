/* Figures for papers: gnuplot scripts and their data. Sizes are those of a column (3.4 inches) or of a page (7 inches);
 * colours are Okabe and Ito's, hatched over a paler ground, so that they can be told apart without colour as well;
 * titles are left to the paper's captions. Positions of bars are computed here, not by gnuplot's histograms, because
 * the published values are drawn at the same places. */
#include "figure/plot.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *full, *pale;
} colours[] = {
    {"#0072B2", "#8CC1DF"}, {"#E69F00", "#F5D592"}, {"#009E73", "#8CD4C0"}, {"#CC79A7", "#E9C7DA"},
    {"#56B4E9", "#C3E3F7"}, {"#D55E00", "#EFBE99"}, {"#777777", "#D0D0D0"}, {"#C9BC00", "#F9F5B6"},
    {"#332288", "#ADA7CF"}, {"#882255", "#CFA7BB"}, {"#999933", "#D6D6AD"},
};
static const int patterns[] = {7, 4, 2, 5, 1, 6}; /* gnuplot's; 0 would be empty, 3 solid */
static const int shapes[] = {7, 5, 9, 11, 13, 15, 2, 1}, hollow[] = {6, 4, 8, 10, 12, 14, 2, 1};
enum {
    COLOURS = sizeof colours / sizeof *colours,
    PATTERNS = 6,
    SHAPES = 8,
    DENSE = 100 /* xs whose points would hide their line */
};
#define GROUP_WIDTH 0.82 /* of a group of bars, where 1 is the distance of groups */

struct plot {
    FILE *script, *data;
    const struct figure_data *d;
    const char *data_name;
    uint32_t block; /* of the data file, counted */
    bool has_published, numeric_x;
    bool comma; /* the plot command has an element already */
};

/* A string of gnuplot's: single quotes, which only need themselves doubled. */
void plot_text(FILE *out, const char *text)
{
    putc('\'', out);
    for (; text && *text; text++) {
        if (*text == '\'')
            putc('\'', out);
        putc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    putc('\'', out);
}

static void put_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, " %.10g", value);
    else
        fputs(" NaN", out);
}

/* A new block of the data file; its number is what `index` names. */
static uint32_t begin_block(struct plot *p, const char *what)
{
    fprintf(p->data, "%s# ", p->block ? "\n\n" : "");
    for (; *what; what++)
        putc((unsigned char)*what < ' ' ? ' ' : *what, p->data);
    putc('\n', p->data);
    return p->block++;
}

static void begin_element(struct plot *p, uint32_t block, const char *using)
{
    fputs(p->comma ? ", \\\n    " : "plot ", p->script);
    p->comma = true;
    plot_text(p->script, p->data_name);
    fprintf(p->script, " index %u using %s ", block, using);
}

static void element_title(struct plot *p, const char *title)
{
    if (!title) {
        fputs(" notitle", p->script);
        return;
    }
    fputs(" title ", p->script);
    plot_text(p->script, title);
}

static double slot_position(const struct figure_data *d, uint32_t x, uint32_t series)
{
    double slot = GROUP_WIDTH / (d->series_count ? d->series_count : 1);
    return x - GROUP_WIDTH / 2 + (series + 0.5) * slot;
}

static double slot_width(const struct figure_data *d)
{
    return GROUP_WIDTH / (d->series_count ? d->series_count : 1) * 0.92;
}

/* ------------------------------------------------------------- kinds */

/* The ground, which the key shows, and the hatching over it. The first is plain; where colours come again, the hatching
 * is another. */
static void put_boxes(struct plot *p, uint32_t block, const char *using, uint32_t number, const char *title)
{
    uint32_t colour = number % COLOURS;
    begin_element(p, block, using);
    fprintf(p->script, "fs solid border lc rgb 'black' fc rgb '%s' lw 0.5",
            number ? colours[colour].pale : colours[colour].full);
    element_title(p, title);
    if (!number)
        return;
    begin_element(p, block, using);
    fprintf(p->script, "fs transparent pattern %d border lc rgb 'black' fc rgb '%s' lw 0.5 notitle",
            patterns[number % PATTERNS], colours[colour].full);
}

static void published_ticks(struct plot *p, uint32_t block, bool first)
{
    begin_element(p, block, "1:3:($2/2)");
    fputs("with xerrorbars lc rgb 'black' lw 1.5 pt 0 ps 0", p->script);
    element_title(p, first ? "published" : NULL);
}

static void put_bars(struct plot *p)
{
    const struct figure_data *d = p->d;
    for (uint32_t s = 0; s < d->series_count; s++) {
        uint32_t block = begin_block(p, d->series[s]);
        fputs("# position width published value\n", p->data);
        for (uint32_t i = 0; i < d->cell_count; i++) {
            const struct figure_cell *c = &d->cells[i];
            if (c->series != s)
                continue;
            fprintf(p->data, "%.6g %.6g", slot_position(d, c->x, s), slot_width(d));
            put_number(p->data, c->published);
            put_number(p->data, c->value);
            putc('\n', p->data);
        }
        put_boxes(p, block, "1:4:2 with boxes", s, d->series_count > 1 ? d->series[s] : NULL);
    }
    for (uint32_t s = 0; p->has_published && s < d->series_count; s++)
        published_ticks(p, s, s == 0); /* block s, counted from 0 */
}

static void put_stacked(struct plot *p)
{
    const struct figure_data *d = p->d;
    for (uint32_t part = 0; part < d->figure->y_count; part++) {
        uint32_t block = begin_block(p, d->figure->y_labels[part]);
        fputs("# position middle left right bottom top\n", p->data);
        double bottom = 0;
        for (uint32_t i = 0; i < d->cell_count; i++) {
            const struct figure_cell *c = &d->cells[i];
            if (c->part == 0)
                bottom = 0;
            if (c->part == part && isfinite(c->value)) {
                double at = slot_position(d, c->x, c->series), half = slot_width(d) / 2;
                fprintf(p->data, "%.6g %.10g %.6g %.6g %.10g %.10g\n", at, bottom + c->value / 2, at - half, at + half,
                        bottom, bottom + c->value);
            }
            if (isfinite(c->value))
                bottom += c->value;
        }
        put_boxes(p, block, "1:2:3:4:5:6 with boxxyerror", part, d->figure->y_labels[part]);
    }
}

static double cell_x(const struct plot *p, const struct figure_cell *c) { return p->numeric_x ? c->x_number : c->x; }

static void put_points(struct plot *p, bool joined)
{
    const struct figure_data *d = p->d;
    uint32_t count = d->series_count ? d->series_count : 1;
    for (uint32_t s = 0; s < count; s++) {
        const char *name = d->series_count ? d->series[s] : "";
        uint32_t block = begin_block(p, name);
        fputs("# x value published\n", p->data);
        bool gap = false, empty = true; /* one blank line ends a line, two end the block */
        for (uint32_t i = 0; i < d->cell_count; i++) {
            const struct figure_cell *c = &d->cells[i];
            if (c->series != s || !isfinite(cell_x(p, c)))
                continue;
            if (d->figure->over == OVER_CYCLES &&
                !isfinite(c->value)) { /* samples over time: what was not counted is not bridged over */
                gap = !empty;
                continue;
            }
            fputs(gap ? "\n" : "", p->data);
            gap = empty = false;
            fprintf(p->data, "%.10g", cell_x(p, c));
            put_number(p->data, c->value);
            put_number(p->data, c->published);
            putc('\n', p->data);
        }
        if (empty)
            fputs("NaN NaN NaN\n", p->data); /* a block without a line would not be counted */
        begin_element(p, block, "1:2");
        fprintf(p->script, "with %s lc rgb '%s' lw 1.5 pt %d ps 0.5",
                joined ? (d->x_count > DENSE ? "lines" : "linespoints") : "points", colours[s % COLOURS].full,
                shapes[s % SHAPES]);
        element_title(p, count > 1 ? name : NULL);
        if (!p->has_published)
            continue;
        begin_element(p, block, "1:3");
        fprintf(p->script, "with %s lc rgb '%s' lw 1 pt %d ps 0.5", joined ? "linespoints dt 2" : "points",
                colours[s % COLOURS].full, hollow[s % SHAPES]);
        element_title(p, s == 0 ? "published" : NULL);
    }
}

static void put_heat(struct plot *p)
{
    const struct figure_data *d = p->d;
    uint32_t block = begin_block(p, d->figure->y_title);
    fputs("# x y left right bottom top value\n", p->data);
    for (uint32_t i = 0; i < d->cell_count; i++) {
        const struct figure_cell *c = &d->cells[i];
        if (isfinite(c->value))
            fprintf(p->data, "%u %u %g %g %g %g %.10g\n", c->x, c->series, c->x - 0.5, c->x + 0.5, c->series - 0.5,
                    c->series + 0.5, c->value);
    }
    begin_element(p, block, "1:2:3:4:5:6:7");
    fputs("with boxxyerror fs solid fc palette notitle", p->script);
    if (d->cell_count > 150)
        return;
    begin_element(p, block, "1:2:(sprintf('%.3g', $7))");
    fputs("with labels font ',6' tc rgb 'black' notitle", p->script);
}

/* ------------------------------------------------------------- axes */

static void put_tics(FILE *out, const char *axis, const char *const *labels, uint32_t count, bool turned)
{
    fprintf(out, "set %stics %s(", axis, turned ? "rotate by 45 right " : "");
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        plot_text(out, labels[i]);
        fprintf(out, " %u", i);
    }
    fputs(") scale 0\n", out);
}

/* Every bar of a stacked figure has its own label: the colours mean parts there. */
static void put_stacked_tics(FILE *out, const struct figure_data *d)
{
    char label[256];
    fputs("set xtics rotate by 45 right (", out);
    for (uint32_t x = 0; x < d->x_count; x++)
        for (uint32_t s = 0; s < d->series_count; s++) {
            snprintf(label, sizeof label, "%s %s", d->xs[x], d->series[s]);
            fputs(x || s ? ", " : "", out);
            plot_text(out, label);
            fprintf(out, " %.6g", slot_position(d, x, s));
        }
    fputs(") scale 0\n", out);
}

static size_t label_bytes(const struct figure_data *d)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < d->x_count; i++)
        bytes += strlen(d->xs[i]) + 2;
    return bytes;
}

static void put_axes(struct plot *p)
{
    const struct figure_data *d = p->d;
    FILE *out = p->script;
    enum lab_figure_kind kind = d->figure->kind;
    bool wide = kind == FIGURE_BARS || kind == FIGURE_STACKED ? d->x_count * d->series_count > 24
                                                              : kind == FIGURE_HEAT && d->x_count > 12;
    fprintf(out, "set terminal pdfcairo noenhanced size %s font ',8'\n", wide ? "7in,2.3in" : "3.4in,2.3in");
    fputs("set datafile missing 'NaN'\nset border 3 lw 0.5\nset tics nomirror out scale 0.5\nset key outside top "
          "center horizontal reverse Left samplen 1.5\n",
          out);
    fputs("set xlabel ", out), plot_text(out, d->figure->x_title), putc('\n', out);
    fputs("set ylabel ", out), plot_text(out, kind == FIGURE_HEAT ? "" : d->figure->y_title), putc('\n', out);
    if (!p->numeric_x) {
        bool turned = label_bytes(d) > (wide ? 110u : 50u);
        if (kind == FIGURE_STACKED && d->series_count > 1)
            put_stacked_tics(out, d);
        else
            put_tics(out, "x", d->xs, d->x_count, turned);
        fprintf(out, "set xrange [-0.6:%g]\n", d->x_count - 0.4);
    }
    if (kind == FIGURE_HEAT) {
        put_tics(out, "y", d->series, d->series_count, false);
        fprintf(out, "set yrange [%g:-0.5]\nset cblabel ", d->series_count - 0.5), plot_text(out, d->figure->y_title);
        fputs("\nset palette defined (0 '#f7fbff', 0.5 '#9ecae1', 1 '#2171b5')\nset border 0\n", out);
        return;
    }
    fputs("set grid ytics lc rgb '#dddddd' lw 0.5\n", out);
    if (kind == FIGURE_BARS || kind == FIGURE_STACKED)
        fputs("set yrange [0:*]\n", out);
    if (d->figure->has_normalise)
        fputs("set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 3 lw 1 lc rgb '#444444'\n", out);
}

bool plot_script(FILE *script, FILE *data, const struct figure_data *d, const char *data_name, const char *pdf_name)
{
    struct plot p = {.script = script,
                     .data = data,
                     .d = d,
                     .data_name = data_name,
                     .numeric_x = d->figure->kind == FIGURE_SCATTER || d->figure->kind == FIGURE_LINES};
    bool any = false;
    for (uint32_t i = 0; i < d->cell_count; i++) {
        any |= isfinite(d->cells[i].value);
        p.has_published |= isfinite(d->cells[i].published);
        if (isfinite(d->cells[i].value) && !isfinite(d->cells[i].x_number))
            p.numeric_x = false;
    }
    if (!any)
        return false;
    fputs("# ", script), plot_text(script, d->figure->title),
        fputs("\n# gnuplot makes the PDF again, in this folder; change what you like.\n", script);
    put_axes(&p);
    fputs("set output ", script), plot_text(script, pdf_name), putc('\n', script);
    switch (d->figure->kind) {
    case FIGURE_BARS: put_bars(&p); break;
    case FIGURE_STACKED: put_stacked(&p); break;
    case FIGURE_LINES: put_points(&p, true); break;
    case FIGURE_SCATTER: put_points(&p, false); break;
    case FIGURE_HEAT: put_heat(&p); break;
    }
    putc('\n', script);
    return true;
}
