/* The report of a store: what is in the page, and which files of web/ show it. */
#include "figure/report_parts.h"

static const char *const styles[] = {report_css, report_compare_css, report_source_css, NULL};
static const char *const scripts[] = {report_figure_parts_js,
                                      report_figure_kinds_js,
                                      report_page_parts_js,
                                      report_runs_table_js,
                                      report_compare_js,
                                      report_compare_view_js,
                                      report_robust_js,
                                      report_source_js,
                                      report_js,
                                      NULL};

bool report_write_html(struct store *s, const char *store_path, const char *path, const struct report_options *o,
                       struct error *e)
{
    struct arena a = {0};
    json_t *data = report_data(&a, s, store_path, o, e);
    bool good = data && report_write_page(&(struct report_page){data, styles, scripts}, path, e);
    json_decref(data);
    arena_free(&a);
    return good;
}
