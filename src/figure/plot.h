/* A figure as a gnuplot script and the data it draws. */
#ifndef HEDDLE_FIGURE_PLOT_H
#define HEDDLE_FIGURE_PLOT_H

#include "figure/figure.h"

#include <stdio.h>

/* Names are of the files as the script sees them, from the folder they stand in. False: the figure has no value at all,
 * and nothing was written. */
bool plot_script(FILE *script, FILE *data, const struct figure_data *d, const char *data_name, const char *pdf_name);
/* A string of gnuplot's. */
void plot_text(FILE *out, const char *text);

#endif
