/* What the report is put together from: web/ (inside the command), Vega (a package's), the numbers (JSON). */
#ifndef HEDDLE_FIGURE_REPORT_PARTS_H
#define HEDDLE_FIGURE_REPORT_PARTS_H

#include "figure/figure.h"
#include "figure/report.h"
#include "figure/robust.h"

#include <stdio.h>

/* report_assets.c: the files of web/, each with a NUL after it. */
extern const char report_html[], report_css[], report_compare_css[], report_compare_js[], report_compare_view_js[],
    report_vega_js[], report_figure_parts_js[], report_figure_kinds_js[], report_page_parts_js[],
    report_runs_table_js[], report_robust_js[], report_source_css[], report_source_js[], report_js[],
    report_correlate_css[], report_correlate_js[];

/* page.c: one HTML file with everything inside. data has a member `title`; styles and scripts: texts, NULL after the
 * last. */
struct report_page {
    const json_t *data;
    const char *const *styles, *const *scripts;
};
bool report_write_page(const struct report_page *content, const char *path, struct error *e);

/* vega.c: writes Vega's modules as JavaScript. HEDDLE_VEGA names their folder; otherwise it is where Debian's
 * libjs-vega puts them. */
struct vega_module {
    const char *name, *text;
    size_t text_bytes;
};
bool vega_load(struct arena *a, const char *folder, struct vega_module **modules, uint32_t *count, struct error *e);
const char *vega_folder(void);
void vega_write(FILE *out, const struct vega_module *modules, uint32_t count);

/* report_escape.c: text that must not end the element it stands in. */
void escape_html(FILE *out, const char *text);
void escape_script(FILE *out, const char *text, size_t bytes); /* JavaScript inside <script> */
void escape_json(FILE *out, const json_t *json);               /* inside <script type="application/json"> */
json_t *text_json(const char *text); /* a string, or null; bytes that are no UTF-8 become U+FFFD */
json_t *number_json(double value);   /* null: NAN; whole numbers without a point */

/* report_select.c: the experiments and figures that the options name, with their numbers. */
struct report_experiment {
    struct experiment experiment;
    const struct store_experiment *stored;
    char (*keys)[KEY_BYTES]; /* one per point; "" where it was not swept */
    struct figure_data *figures;
    struct robust_data *robust; /* one per figure; without machines where it is not judged on others */
    uint32_t figure_count;
};
bool report_select(struct arena *a, struct store *s, const struct report_options *o, struct report_experiment **list,
                   uint32_t *count, struct error *e);

/* report_compare.c: what the page needs to compare runs: the rules, and counters of the runs that figures show. */
json_t *report_compare(struct arena *a, struct store *s, const struct report_experiment *list, uint32_t count,
                       struct error *e);

/* report_source.c: source lines of the runs that the page shows (the table of runs, as in the page's content). */
json_t *report_source(struct arena *a, struct store *store, const json_t *runs, struct error *e);

/* report_data.c: all of the page's content; docs/report.md has the format. */
json_t *report_data(struct arena *a, struct store *s, const char *store_path, const struct report_options *o,
                    struct error *e);

extern const char *const figure_kind_names[], *const mean_names[]; /* by enum lab_figure_kind, enum lab_mean */

#endif
