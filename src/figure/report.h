/* Pages and plots out of a store. */
#ifndef HEDDLE_FIGURE_REPORT_H
#define HEDDLE_FIGURE_REPORT_H

#include "store/store.h"

#include <stdio.h>

struct report_options {
    const char *experiment; /* only this one; NULL: all in the store */
    const char *figure;     /* only this one; NULL: all */
    const char *title;      /* of the page; NULL: of the experiment */
};
/* report.c: one HTML file with everything inside (web/ and Debian's libjs-vega). Written beside and renamed. */
bool report_write_html(struct store *s, const char *store_path, const char *path, const struct report_options *o,
                       struct error *e);
/* plot.c: one PDF for each figure, made by gnuplot; the scripts and data are left beside them. Without gnuplot these
 * are all that is written: false, with ERROR_NOT_FOUND. */
bool report_write_pdf(struct store *s, const char *folder, const struct report_options *o, struct error *e);

#endif
