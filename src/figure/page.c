/* A page: web/report.html with its style, its script, Vega and the numbers put in, so that the file needs nothing else.
 * The whole page is made in a file beside its name, which then takes its place: one that could not be written leaves
 * the old one as it was. */
#include "figure/report_parts.h"

#include "base/whole_file.h"

#include <errno.h>
#include <string.h>

struct page {
    const struct report_page *content;
    const struct vega_module *modules;
    uint32_t module_count;
};

static void put_title(FILE *out, const struct page *p)
{
    escape_html(out, json_string_value(json_object_get(p->content->data, "title")));
}
static void put_css(FILE *out, const struct page *p)
{
    for (const char *const *style = p->content->styles; *style; style++)
        fputs(*style, out);
}
static void put_data(FILE *out, const struct page *p) { escape_json(out, p->content->data); }
static void put_script(FILE *out, const struct page *p)
{
    for (const char *const *script = p->content->scripts; *script; script++)
        escape_script(out, *script, strlen(*script));
}
static void put_vega(FILE *out, const struct page *p)
{
    vega_write(out, p->modules, p->module_count);
    escape_script(out, report_vega_js, strlen(report_vega_js));
}

/* {{NAME}} in web/report.html. */
static const struct {
    const char *name;
    void (*put)(FILE *out, const struct page *p);
} slots[] = {{"title", put_title}, {"css", put_css}, {"vega", put_vega}, {"data", put_data}, {"script", put_script}};

static void put_slot(FILE *out, const struct page *p, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (strlen(slots[i].name) == length && !memcmp(slots[i].name, name, length))
            slots[i].put(out, p);
}

static void put_page(FILE *out, const struct page *p)
{
    const char *at = report_html, *open, *close;
    while ((open = strstr(at, "{{")) && (close = strstr(open, "}}"))) {
        fwrite(at, 1, (size_t)(open - at), out);
        put_slot(out, p, open + 2, (size_t)(close - open - 2));
        at = close + 2;
    }
    fputs(at, out);
}

static bool cannot_write(const char *path, int reason, struct error *e)
{
    error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(reason));
    if (reason == EACCES || reason == EROFS || reason == ENOENT)
        error_note(e, "-o FILE puts the report elsewhere");
    if (reason == ENOSPC || reason == EDQUOT)
        error_note(e, "nothing was changed; make room, or put the report elsewhere with -o FILE");
    return false;
}

static bool write_page(const struct page *p, const char *path, struct error *e)
{
    struct whole_file out;
    if (!whole_file_open(&out, path))
        return cannot_write(path, errno, e);
    put_page(out.file, p);
    return whole_file_close(&out) || cannot_write(path, errno, e);
}

bool report_write_page(const struct report_page *content, const char *path, struct error *e)
{
    struct arena a = {0};
    struct vega_module *modules;
    struct page page = {.content = content};
    bool good = vega_load(&a, vega_folder(), &modules, &page.module_count, e);
    page.modules = modules;
    good = good && write_page(&page, path, e);
    arena_free(&a);
    return good;
}
