/* The page of a correlation with silicon: its numbers (correlation_json.c), and what they are of. */
#include "figure/correlate.h"

#include "base/version.h"
#include "figure/report_parts.h"

#include <time.h>

static const char *const styles[] = {report_css, report_correlate_css, NULL};
static const char *const scripts[] = {report_figure_parts_js, report_page_parts_js, report_correlate_js, NULL};

static json_t *now_json(void)
{
    char text[40];
    time_t now = time(NULL);
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return json_string(text);
}

bool correlate_write_page(const struct correlation *c, const struct correlate_page *p, const char *path,
                          struct error *e)
{
    char title[300];
    json_t *data = correlation_json(c);
    snprintf(title, sizeof title, "%s against silicon", p->machine);
    json_object_set_new(data, "title", text_json(title));
    json_object_set_new(data, "heddle", text_json(HEDDLE_VERSION));
    json_object_set_new(data, "commit", text_json(version_commit));
    json_object_set_new(data, "made", now_json());
    json_object_set_new(data, "machine", text_json(p->machine));
    json_object_set_new(data, "sets", text_json(p->sets));
    json_object_set_new(data, "recordings", text_json(p->recordings));
    json_object_set_new(data, "half", text_json(p->half));
    json_object_set_new(data, "command", text_json(p->command));
    json_object_set_new(data, "programs", json_integer(p->programs));
    bool good = report_write_page(&(struct report_page){data, styles, scripts}, path, e);
    json_decref(data);
    return good;
}
