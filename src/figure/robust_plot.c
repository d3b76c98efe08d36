/* A tornado for gnuplot: for one pair of series, how far each factor moves the ratio of the two. The widest is on top;
 * a line at 1 is where the order turns, a dashed one the base machine; the dots at the bottom are the sample. */
#include "figure/plot.h"
#include "figure/robust.h"

#include <math.h>
#include <stdlib.h>

struct bar {
    const char *factor;
    double extent; /* of the logarithms of its ratios and the base's */
};

static int by_extent(const void *a, const void *b)
{
    double x = ((const struct bar *)a)->extent, y = ((const struct bar *)b)->extent;
    return (x > y) - (x < y);
}

static double extent(const struct robust_data *d, const struct robust_judgement *j, int factor)
{
    double low = j->ratios[0], high = low;
    for (uint32_t m = 1; m < d->machine_count; m++)
        if (d->machines[m].factor == factor && j->ratios[m] > 0) {
            low = fmin(low, j->ratios[m]);
            high = fmax(high, j->ratios[m]);
        }
    return low > 0 ? log(high / low) : 0;
}

/* Rows "from to y low high", those of the sample "ratio y" after two empty lines. */
static void put_data(FILE *data, const struct robust_data *d, const struct robust_judgement *j, const struct bar *bars)
{
    fprintf(data, "# base ratio y bottom top machine\n");
    for (uint32_t row = 0; row < d->factor_count; row++) {
        uint32_t n = 0;
        for (uint32_t m = 1; m < d->machine_count; m++)
            if (d->machines[m].factor >= 0 && d->factors[d->machines[m].factor] == bars[row].factor &&
                !isnan(j->ratios[m])) {
                double bottom = row + 1 - (n % 2 ? 0.35 : 0.0);
                fprintf(data, "%.6g %.6g %.3g %.3g %.3g \"%s\"\n", j->ratios[0], j->ratios[m], bottom + 0.17, bottom,
                        bottom + 0.33, d->machines[m].value);
                n++;
            }
    }
    fprintf(data, "\n\n# ratio y\n%.6g NaN\n", j->ratios[0]);
    for (uint32_t m = 1; m < d->machine_count; m++)
        if (d->machines[m].factor < 0 && !isnan(j->ratios[m]))
            fprintf(data, "%.6g 0\n", j->ratios[m]);
}

bool robust_plot_script(FILE *script, FILE *data, const struct robust_data *d, const struct robust_judgement *j,
                        const char *data_name, const char *pdf_name)
{
    struct bar *bars = calloc(d->factor_count + 1, sizeof *bars);
    if (!bars || j->is_claim || j->is_close) {
        free(bars);
        return false;
    }
    for (uint32_t i = 0; i < d->factor_count; i++)
        bars[i] = (struct bar){d->factors[i], extent(d, j, (int)i)};
    qsort(bars, d->factor_count, sizeof *bars, by_extent);
    put_data(data, d, j, bars);
    fprintf(script,
            "# gnuplot makes the PDF again, in this folder; change what you like.\n"
            "set terminal pdfcairo noenhanced size 3.4in,%gin font ',8'\nset datafile missing 'NaN'\n"
            "set border 1 lw 0.5\nset tics nomirror out scale 0.5\nunset key\nset xlabel ",
            0.9 + 0.2 * d->factor_count);
    plot_text(script, j->greater), fputs(".' / '.", script), plot_text(script, j->lesser);
    fputs("\nset ytics scale 0 ('sample' 0", script);
    for (uint32_t i = 0; i < d->factor_count; i++)
        fputs(", ", script), plot_text(script, bars[i].factor), fprintf(script, " %u", i + 1);
    fprintf(script,
            ")\nset yrange [-0.6:%g]\nset arrow from first 1, graph 0 to first 1, graph 1 nohead lw 1 lc rgb 'black'\n"
            "set arrow from first %.6g, graph 0 to first %.6g, graph 1 nohead dt 3 lw 1 lc rgb '#444444'\nset output ",
            d->factor_count + 0.6, j->ratios[0], j->ratios[0]);
    plot_text(script, pdf_name);
    fputs("\nset style fill solid\nplot ", script);
    plot_text(script, data_name);
    fputs(" index 0 using (($1+$2)/2):3:($1<$2?$1:$2):($1<$2?$2:$1):4:5 with boxxyerror lc rgb '#0072B2', \\\n    ",
          script);
    plot_text(script, data_name);
    fputs(" index 0 using 2:3:6 with labels font ',5' left offset 0.3,0, \\\n    ", script);
    plot_text(script, data_name);
    fputs(" index 1 using 1:2 with points pt 7 ps 0.3 lc rgb '#D55E00'\n", script);
    free(bars);
    return true;
}
